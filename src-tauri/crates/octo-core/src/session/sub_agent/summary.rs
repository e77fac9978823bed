//! The summary a sub-agent returns, and the contents of its card.

use super::{Progress, prompt};
use octo_protocol::{Language, SubAgentStatus, SubAgentView, ToolView, TurnEnd, words};
use octo_tools::{MAX_SUMMARY, Outcome, ToolOutput};

/// Builds the result for the parent's model.
pub(super) fn summary_output(mut view: SubAgentView, progress: Option<&Progress>) -> ToolOutput {
    let Some((turn_end, last_words)) = progress.and_then(Progress::end) else {
        view.status = SubAgentStatus::Failed;
        let text = format!("{}\n\n{}", heading(&view, "broke off"), prompt::LOST);
        return output(view, text);
    };
    let (outcome, hint) = match turn_end {
        TurnEnd::Finished => ("finished", None),
        TurnEnd::Stopped => ("stopped by the person", Some(prompt::STOPPED.to_owned())),
        TurnEnd::Failed { error } => ("could not go on", Some(words::explain(Language::En, error))),
    };
    let last_words = last_words.trim();
    let last_words = if last_words.is_empty() { "(It said nothing.)" } else { last_words };
    let start = [Some(heading(&view, outcome)), hint].into_iter().flatten().collect::<Vec<_>>().join("\n");
    let limit = MAX_SUMMARY.saturating_sub(start.chars().count() + 2);
    let last_words = shorten(last_words, limit);
    let text = format!("{start}\n\n{last_words}");
    view.summary = Some(last_words);
    output(view, text)
}

/// Shortens a text to at most `limit` characters and marks the cut.
fn shorten(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let beginning: String =
        text.chars().take(limit.saturating_sub(prompt::TRUNCATED.chars().count())).collect();
    beginning + prompt::TRUNCATED
}

fn heading(view: &SubAgentView, outcome: &str) -> String {
    let mut text = format!(
        "Sub-agent {}: {outcome}. Steps: {}.",
        view.name.chars().take(100).collect::<String>(),
        view.steps
    );
    if !view.tools.is_empty() {
        let tools: Vec<String> = view
            .tools
            .iter()
            .map(|tool| format!("{} {}", tool.tool.chars().take(40).collect::<String>(), tool.count))
            .take(20)
            .collect();
        text.push_str(&format!(" Tools: {}.", tools.join(", ")));
    }
    if let Some(cost) = view.cost {
        text.push_str(&format!(" Cost: {cost}."));
    }
    if let Some(session) = view.session {
        text.push_str(&format!(" Session: {session}."));
    }
    text
}

pub(super) fn output(view: SubAgentView, text: String) -> ToolOutput {
    ToolOutput { text, images: Vec::new(), view: ToolView::SubAgent(view), outcome: Outcome::Done }
}
