//! A session whose turn has sub-agents: the state it passes to them, and their cards.

use super::ParentState;
use crate::session::{calls::Batch, state::Session, step::Step};
use octo_protocol::{
    ApiError, CallId, CallView, MessageId, Mode, ModelId, SessionId, SessionInfo, SetMode, SubAgentStatus,
    SubAgentView, ToolView, TurnId, Usage,
};
use std::collections::HashMap;
use tokio::sync::oneshot;

/// The sub-agents of a turn, keyed by the call that started each.
#[derive(Default)]
pub(in crate::session) struct Children(HashMap<CallId, Child>);

/// A turn's view of a sub-agent.
#[derive(Default)]
struct Child {
    session: Option<SessionId>,
    /// Whether it is waiting for the person.
    is_waiting: bool,
    /// The part of its usage already counted in the turn's.
    counted_usage: Usage,
}

/// Progress of a sub-agent, for its parent.
pub(crate) struct ChildReport {
    turn: TurnId,
    call: CallId,
    view: SubAgentView,
    usage: Usage,
}

/// A starting sub-agent's query for its parent's current state.
pub(crate) struct ParentQuery {
    turn: TurnId,
    call: CallId,
    reply: oneshot::Sender<Parent>,
}

/// A parent's state at the start of its sub-agent.
pub(super) struct Parent {
    info: SessionInfo,
    /// The model in use now.
    model: Option<ModelId>,
    /// The message that contains the call; the sub-agent sees everything before it.
    message: MessageId,
    state: ParentState,
}

impl ChildReport {
    pub(super) fn new(turn: TurnId, call: CallId, view: SubAgentView, usage: Usage) -> Self {
        Self { turn, call, view, usage }
    }
}

impl ParentQuery {
    /// Creates the query of a call and the receiver of its answer. No answer arrives if the turn has ended.
    pub(super) fn new(turn: TurnId, call: CallId) -> (Self, oneshot::Receiver<Parent>) {
        let (reply, parent) = oneshot::channel();
        (Self { turn, call, reply }, parent)
    }
}

impl Parent {
    pub(super) fn info(&self) -> &SessionInfo {
        &self.info
    }

    /// Returns the model in use now.
    pub(super) fn model(&self) -> Option<ModelId> {
        self.model
    }

    /// Returns the message that contains the call.
    pub(super) fn message(&self) -> MessageId {
        self.message
    }

    pub(super) fn into_parts(self) -> (SessionInfo, ParentState) {
        (self.info, self.state)
    }
}

impl Children {
    /// Whether a sub-agent whose call is open waits for the person.
    pub(in crate::session) fn wait_for_person(&self, batch: &Batch) -> bool {
        self.0
            .iter()
            .any(|(call, child)| child.is_waiting && batch.get(*call).is_some_and(|open| open.is_open()))
    }

    /// Records a sub-agent's progress. Returns its usage since the last report.
    fn report(&mut self, call: CallId, view: &SubAgentView, usage: Usage) -> Usage {
        let child = self.0.entry(call).or_default();
        child.is_waiting = view.status == SubAgentStatus::NeedsYou;
        child.session = view.session;
        usage_difference(usage, std::mem::replace(&mut child.counted_usage, usage))
    }

    fn sessions(&self) -> impl Iterator<Item = SessionId> {
        self.0.values().filter_map(|child| child.session)
    }
}

impl Session {
    /// Answers the query of a starting sub-agent. Drops the query if its turn has ended.
    pub(in crate::session) fn describe_parent(&self, query: ParentQuery) {
        let ParentQuery { turn, call, reply } = query;
        let Some(running) = self.turn.get().filter(|running| running.id() == turn) else { return };
        let Some(open) = running.batch.get(call).filter(|open| open.is_open()) else { return };
        let state = self.parent_state(running.task().clone(), self.summary_of(turn), self.grants.sites());
        let (info, model, message) = (self.info.clone(), self.model(), open.message());
        // A call given up meanwhile no longer needs it.
        let _gone = reply.send(Parent { info, model, message, state });
    }

    /// Updates a sub-agent's card.
    pub(in crate::session) async fn child_progressed(&mut self, report: ChildReport) -> Result<(), ApiError> {
        let ChildReport { turn, call, view, usage } = report;
        let Some(running) = self.turn.get_by_id(turn) else { return Ok(()) };
        let Some(open) = running.batch.call(call).filter(|open| open.is_open()) else { return Ok(()) };
        let additional = running.children.report(call, &view, usage);
        open.show(ToolView::SubAgent(view));
        let step = Step::default().with(open.event());
        running.add_usage(additional);
        self.finish(step).await
    }

    /// Passes a new mode on to running sub-agents, because it applies to the whole turn.
    pub(in crate::session) fn pass_mode_on(&self, mode: Mode) {
        for child in self.turn.get().into_iter().flat_map(|turn| turn.children.sessions()) {
            let runtime = self.runtime.clone();
            tokio::spawn(async move {
                let handle = runtime.open.get(child).await;
                if let Some(handle) = handle
                    && let Err(error) = handle.call(SetMode { session: child, mode }).await
                {
                    tracing::warn!(session = %child, %error, "a sub-agent keeps its mode");
                }
            });
        }
    }
}

/// Returns the difference.
fn usage_difference(now: Usage, earlier: Usage) -> Usage {
    Usage {
        input: now.input.saturating_sub(earlier.input),
        cache_read: now.cache_read.saturating_sub(earlier.cache_read),
        cache_write: now.cache_write.saturating_sub(earlier.cache_write),
        output: now.output.saturating_sub(earlier.output),
    }
}

/// Sets the status on the card of an ended call whose sub-agent no longer runs.
pub(in crate::session) fn close_card(view: &mut CallView, status: SubAgentStatus) {
    if let Some(ToolView::SubAgent(card)) = &mut view.view
        && !card.status.is_over()
    {
        card.status = status;
    }
}
