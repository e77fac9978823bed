//! The notice a sub-agent receives before its task, and the texts its parent's model receives in place of a
//! summary. They are part of requests: the words are frozen into sessions.

/// The task of a sub-agent whose notice contains all instructions.
pub(super) const PROCEED: &str = "Please proceed.";

/// Returns the notice for a sub-agent before its task.
pub(super) fn instructions(name: &str, instructions: &str, forbidden: &[String]) -> String {
    let tools = if forbidden.is_empty() {
        String::new()
    } else {
        format!(" Calls of these tools are refused: {}.", forbidden.join(", "))
    };
    format!(
        "From here on you are a sub-agent: you do the one task below by the instructions of the skill {name}, and then \
         end. What came before is background; do not go on with it. What you say last goes back to the main \
         conversation as your summary, at most 3,500 characters: results, file paths and what is left to do, not the \
         way there. You cannot invoke skills or undo tasks, and commands you leave running end with you.{tools}\n\n\
         {}",
        instructions.trim()
    )
}

/// The text after a summary that was too long.
pub(super) const TRUNCATED: &str = "\n[Cut; the rest is in the sub-agent's session.]";

/// The text about a sub-agent the person stopped.
pub(super) const STOPPED: &str =
    "What it had done until then remains. Do not start it again unless the person asks.";

/// The result of a sub-agent whose session failed.
pub(super) const LOST: &str = "Its session could not go on, so there is no summary. What it had done until then remains; check before you go on.";
