//! The summary a sub-agent returns, and the contents of its card.

use super::{Progress, prompt};
use octo_protocol::{Language, SubAgentStatus, SubAgentView, ToolView, TurnEnd, words};
use octo_tools::{MAX_SUMMARY, Outcome, ToolOutput};

/// Builds the result for the parent's model.
pub(super) fn summed_up(mut view: SubAgentView, progress: Option<&Progress>) -> ToolOutput {
    let Some((end, said)) = progress.and_then(Progress::end) else {
        view.status = SubAgentStatus::Failed;
        let text = format!("{}\n\n{}", head(&view, "broke off"), prompt::LOST);
        return output(view, text);
    };
    let (how, hint) = match end {
        TurnEnd::Finished => ("finished", None),
        TurnEnd::Stopped => ("stopped by the person", Some(prompt::STOPPED.to_owned())),
        TurnEnd::Failed { error } => ("could not go on", Some(words::explain(Language::En, error))),
    };
    let said = said.trim();
    let said = if said.is_empty() { "(It said nothing.)" } else { said };
    let start = [Some(head(&view, how)), hint].into_iter().flatten().collect::<Vec<_>>().join("\n");
    let room = MAX_SUMMARY.saturating_sub(start.chars().count() + 2);
    let said = cut(said, room);
    let text = format!("{start}\n\n{said}");
    view.summary = Some(said);
    output(view, text)
}

/// Shortens a text to at most `most` characters and marks the cut.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(prompt::CUT.chars().count())).collect();
    kept + prompt::CUT
}

fn head(view: &SubAgentView, how: &str) -> String {
    let mut head = format!(
        "Sub-agent {}: {how}. Steps: {}.",
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
        head.push_str(&format!(" Tools: {}.", tools.join(", ")));
    }
    if let Some(cost) = view.cost {
        head.push_str(&format!(" Cost: {cost}."));
    }
    if let Some(session) = view.session {
        head.push_str(&format!(" Session: {session}."));
    }
    head
}

pub(super) fn output(view: SubAgentView, text: String) -> ToolOutput {
    ToolOutput { text, images: Vec::new(), view: ToolView::SubAgent(view), outcome: Outcome::Done }
}
