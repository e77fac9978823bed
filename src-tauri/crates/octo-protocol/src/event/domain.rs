//! What an event is about.

use super::Event;

/// What an event is about. The first two are of sessions; each of the others has a topic of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventDomain {
    /// What the person and the agent tell each other, and the turns of it. A chat and a headless run report it.
    Conversation,
    /// The progress of the work, which only a window shows.
    Progress,
    /// The list of sessions.
    Sessions,
    /// Settings and models.
    Settings,
    /// The trash.
    Trash,
}

impl Event {
    /// Returns what the event is about.
    pub fn domain(&self) -> EventDomain {
        match self {
            Event::TurnStarted { .. }
            | Event::MessageAdded { .. }
            | Event::MessageEnded { .. }
            | Event::QuestionAsked { .. }
            | Event::QuestionClosed { .. }
            | Event::BudgetReached { .. }
            | Event::BudgetAnswered
            | Event::TurnEnded { .. }
            | Event::CommandAnswered { .. } => EventDomain::Conversation,
            Event::SessionChanged { .. }
            | Event::MessageStarted { .. }
            | Event::BlockAdded { .. }
            | Event::MessageDiscarded { .. }
            | Event::CallChanged { .. }
            | Event::TodosChanged { .. }
            | Event::QueueChanged { .. }
            | Event::CommandsChanged { .. }
            | Event::RetryScheduled { .. }
            | Event::RetryStarted
            | Event::TurnStopping { .. }
            | Event::CallBilled { .. }
            | Event::Suggested { .. }
            | Event::CompactionStarted
            | Event::CompactionFailed { .. }
            | Event::ContextCompacted { .. }
            | Event::TasksChanged
            | Event::WentTo { .. } => EventDomain::Progress,
            Event::SessionListed { .. } | Event::SessionRemoved { .. } => EventDomain::Sessions,
            Event::SettingsChanged { .. } => EventDomain::Settings,
            Event::TrashChanged { .. } => EventDomain::Trash,
        }
    }
}
