//! A sub-agent's progress, as its parent sees it.

use octo_protocol::{
    BilledCall, Cost, Message, SessionStatus, SubAgentStatus, SubAgentView, ToolCount, TurnEnd, Usage,
};

/// Maximum length of the last line on a card, in characters.
const MAX_LINE: usize = 200;

/// The progress of a sub-agent.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::session) struct Progress {
    status: SessionStatus,
    /// Number of answers of its model.
    steps: u32,
    tools: Vec<ToolCount>,
    usage: Usage,
    cost: Option<Cost>,
    last_line: String,
    /// Whether one of its calls is running.
    is_acting: bool,
    /// The end of its turn and its last words; `None` until then.
    end: Option<(TurnEnd, String)>,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self {
            status: SessionStatus::Running,
            steps: 0,
            tools: Vec::new(),
            usage: Usage::default(),
            cost: Some(Cost::ZERO),
            last_line: String::new(),
            is_acting: false,
            end: None,
        }
    }

    /// Records an answer of its model.
    pub(super) fn record_answer(&mut self, message: &Message) {
        self.steps = self.steps.saturating_add(1);
        let text = message.text();
        if let Some(line) = text.lines().rev().map(str::trim).find(|line| !line.is_empty()) {
            self.last_line = line.chars().take(MAX_LINE).collect();
        }
    }

    /// Records the start of a call of this tool.
    pub(super) fn record_call(&mut self, tool: &str) {
        match self.tools.iter_mut().find(|usage| usage.tool == tool) {
            Some(usage) => usage.count = usage.count.saturating_add(1),
            None => self.tools.push(ToolCount { tool: tool.to_owned(), count: 1 }),
        }
    }

    /// Records a billed model call.
    pub(super) fn record_bill(&mut self, call: &BilledCall) {
        self.usage += call.usage.unwrap_or_default();
        // A call without reported usage costs nothing.
        let cost = if call.usage.is_some() { call.cost } else { Some(Cost::ZERO) };
        self.cost = self.cost.zip(cost).map(|(sum, cost)| sum.saturating_add(cost));
    }

    /// Records the end of its turn, with its last words.
    pub(super) fn record_end(&mut self, end: TurnEnd, last_words: String) {
        self.end = Some((end, last_words));
    }

    /// Records the stored state of its session.
    pub(super) fn set_stored(&mut self, status: SessionStatus, acts: bool) {
        self.status = status;
        self.is_acting = acts;
    }

    /// Returns the number of answers of its model.
    pub(in crate::session) fn steps(&self) -> u32 {
        self.steps
    }

    /// Whether it waits for the person.
    pub(in crate::session) fn is_waiting(&self) -> bool {
        self.status == SessionStatus::Waiting
    }

    /// Whether one of its calls is running.
    pub(in crate::session) fn is_acting(&self) -> bool {
        self.is_acting
    }

    pub(super) fn usage(&self) -> Usage {
        self.usage
    }

    /// Returns its cost; `None` if a price is unknown.
    pub(in crate::session) fn cost(&self) -> Option<Cost> {
        self.cost
    }

    /// Returns the end of its turn and its last words, once the turn has ended.
    pub(in crate::session) fn end(&self) -> Option<&(TurnEnd, String)> {
        self.end.as_ref()
    }

    /// Updates its card.
    pub(super) fn update_view(&self, view: &mut SubAgentView) {
        view.status = match (&self.end, self.status) {
            (Some((TurnEnd::Finished, _)), _) => SubAgentStatus::Done,
            (Some((TurnEnd::Stopped, _)), _) => SubAgentStatus::Stopped,
            (Some((TurnEnd::Failed { .. }, _)), _) => SubAgentStatus::Failed,
            (None, SessionStatus::Waiting) => SubAgentStatus::NeedsYou,
            (None, SessionStatus::Running | SessionStatus::Idle | SessionStatus::Failed) => {
                SubAgentStatus::Running
            }
        };
        view.steps = self.steps;
        view.tools.clone_from(&self.tools);
        view.cost = self.cost;
        view.last_line.clone_from(&self.last_line);
    }
}
