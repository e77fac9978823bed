//! Texts for the model about calls that did not simply run. Part of the request: once sent, the words are
//! frozen into sessions, so they never contain anything dynamic.

use crate::turn::SettleReason;
use octo_protocol::{CallStatus, Refusal};
use octo_tools::SkillTask;
use std::path::Path;

/// Returns status and text of a call that gets its result without having run to its end.
pub(super) fn settled_call(reason: SettleReason) -> (CallStatus, &'static str) {
    match reason {
        SettleReason::Stopped => {
            (CallStatus::Stopped, "Not run: the person stopped the work before this call began.")
        }
        SettleReason::Skipped => (
            CallStatus::Denied,
            "Not run: the person declined an earlier call of the same message, so what was planned behind it was not done either.",
        ),
        SettleReason::Repeated => (
            CallStatus::Failed,
            "Not run: this very call was made several times in this turn already. Its result will not change. Try another way, or say what stands in the way.",
        ),
        SettleReason::Truncated => (
            CallStatus::Failed,
            "Not run: the message was cut off by the output limit, so the arguments may be incomplete. Make the call again with less in it: write long files in parts.",
        ),
        SettleReason::Interrupted => (
            CallStatus::Interrupted,
            "Interrupted, effect unknown: the application ended while this call ran. Check what it did before you go on.",
        ),
        SettleReason::NotReached => (
            CallStatus::Interrupted,
            "Not run: the connection or the application ended before the message was whole.",
        ),
    }
}

/// Added to the result of a call that was stopped while it ran.
pub(super) const STOPPED: &str =
    "Stopped by the person while it ran. What it had done until then may remain.";

/// The result of a call that did not react to Stop in time.
pub(super) const STOP_OVERDUE: &str =
    "Stopped by the person. The call did not end in time and was given up; its effect is unknown.";

/// The result of an allowed call whose effect would have changed by now.
pub(super) const CHANGED: &str =
    "Not run: what this call would touch changed since the person was asked. Make the call again.";

/// The result of a call that an earlier mode allowed and the present one does not.
pub(super) const MODE_CHANGED: &str =
    "Not run: the person changed the mode before this call began. Make the call again; they will be asked.";

/// Returns the result of a call that conflicts with a call started after the decision.
pub(super) fn conflict(running: &str) -> String {
    format!(
        "Not run: `{running}` runs now, and what the one changes could make the other touch something else. Make the \
         call again when that has ended, or the person will be asked."
    )
}

/// Returns the result of a denied call, with the hook's reason.
pub(super) fn refusal_text_with(refusal: Refusal, part: Option<&str>) -> String {
    match (refusal, part) {
        (Refusal::Hook, Some(detail)) => format!("{} It said: {detail}", refusal_text(refusal)),
        (Refusal::Address, Some(detail)) => format!("{} Why: {detail}.", refusal_text(refusal)),
        _ => refusal_text(refusal).to_owned(),
    }
}

/// Returns the result of a call that is denied whatever the mode and the rules.
fn refusal_text(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::Wipes => {
            "Refused, nothing was done: this would wipe a system folder or a home. It cannot be allowed in any mode. Name the exact files inside the session's folder instead."
        }
        Refusal::Device => {
            "Refused, nothing was done: this would write to a disk beneath its file system. It cannot be allowed in any mode. Work on a file instead, or ask the person to do it themselves."
        }
        Refusal::Hook => {
            "Refused, nothing was done: a check the person set up before this tool said no. Do not try to get around it; ask the person if it is needed."
        }
        Refusal::ForkBomb => {
            "Refused, nothing was done: this would start itself over and over until the machine stands still. It cannot be allowed in any mode. Write it with a bound."
        }
        Refusal::EndsOcto => {
            "Refused, nothing was done: this would end the application you run in. It cannot be allowed in any mode. End only processes you started, by their id or handle; to restart Octo, ask the person."
        }
        Refusal::OctoOwn => {
            "Refused, nothing was done: this would touch the application's own keys, database or policy. It cannot be allowed in any mode. Do without, or ask the person to look themselves."
        }
        Refusal::Address => {
            "Refused, nothing was done: no task may go to this address, in any mode. Do not try it in another form; find another way or ask the person."
        }
        Refusal::SubAgent => {
            "Refused, nothing was done: a sub-agent may not use this tool here. Do without it, and say in your summary what is left to do."
        }
        Refusal::Ruled => {
            "Refused, nothing was done: the person's own policy says this never runs. Do not try it in another form; find another way or ask the person."
        }
    }
}

/// Returns the result of a declined call.
pub(super) fn declined_text(reason: Option<&str>) -> String {
    match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("Declined: nothing was done. The person says: {reason}"),
        None => "Declined: nothing was done. The person gave no reason.".to_owned(),
    }
}

/// Returns the result of a question the person did not want to answer.
pub(super) fn unanswered_text(reason: Option<&str>) -> String {
    match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("The person did not choose. They say: {reason}"),
        None => "The person did not answer. Decide yourself and say what you assumed.".to_owned(),
    }
}

/// Sent after an answer that reached the output limit.
pub(super) const TRUNCATED: &str = "Your last message reached the output limit and was cut off. Go on from where it ended, in smaller steps: write long files in parts, keep each call's arguments short.";

/// Sent when the person resumes a stopped or failed turn.
pub(super) const RESUME_NOTICE: &str =
    "The work was interrupted here. The person asks you to go on from where you were.";

/// Returns the text before a skill's instructions, in the result of the call that asked for them.
pub(super) fn skill_loaded(name: &str) -> String {
    format!("Instructions of the skill {name}. Follow them now for the task you invoked it with.\n\n")
}

/// Returns the text after a message that calls a skill and was sent while a turn was running.
pub(super) fn skill_called(skill_task: &SkillTask) -> String {
    let task = if skill_task.task.is_empty() {
        "no task of its own".to_owned()
    } else {
        format!("the task {:?}", skill_task.task)
    };
    format!(
        "By this message the person calls the skill {}. Invoke it now with invoke_skill, with {task}.",
        skill_task.name
    )
}

/// Returns the text after instructions that were too long.
pub(super) fn skill_cut(path: Option<&Path>) -> String {
    match path {
        Some(path) => format!("\n\n[Cut here. The whole is in {}; read on there.]", path.display()),
        None => "\n\n[Cut here: the instructions are too long, and the rest could not be kept.]".to_owned(),
    }
}
