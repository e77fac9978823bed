//! The running or waiting turn, if any.

use super::{
    after::{FinishedTurn, TurnFacts},
    before_call::TurnPermit,
    calls::{Batch, OpenCall},
    model_call::{CallAttempt, ModelCall, ModelCalls},
    sub_agent::Children,
    tasks::TurnStep,
};
use crate::turn::{Input, StoredTurnState, Turn, TurnAction, TurnLimits};
use octo_protocol::{CallId, Millis, TurnEnd, TurnId, TurnView, Usage};
use tokio_util::sync::CancellationToken;

/// The running or waiting turn. Without a turn, queries return defaults and changes have no effect.
#[derive(Default)]
pub(super) struct CurrentTurn(Option<RunningTurn>);

/// A running or waiting turn.
pub(super) struct RunningTurn {
    machine: Turn,
    view: TurnView,
    task: TurnStep,
    /// Data about the turn for the look back after it.
    facts: TurnFacts,
    cancel: CancellationToken,
    /// The person's message, once it has left the context.
    summary: Option<String>,
    pub(super) permit: TurnPermit,
    pub(super) model: ModelCalls,
    pub(super) batch: Batch,
    pub(super) children: Children,
}

impl CurrentTurn {
    pub(super) fn begin(&mut self, turn: RunningTurn) {
        self.0 = Some(turn);
    }

    /// Takes the turn to end it.
    pub(super) fn take(&mut self) -> Option<RunningTurn> {
        self.0.take()
    }

    pub(super) fn get(&self) -> Option<&RunningTurn> {
        self.0.as_ref()
    }

    /// Applies a function to the turn, if there is one.
    pub(super) fn with<T>(&mut self, update: impl FnOnce(&mut RunningTurn) -> T) -> Option<T> {
        self.0.as_mut().map(update)
    }

    /// Returns the turn if it still has this id.
    pub(super) fn get_by_id(&mut self, id: TurnId) -> Option<&mut RunningTurn> {
        self.0.as_mut().filter(|turn| turn.id() == id)
    }

    pub(super) fn is_running(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn is(&self, id: TurnId) -> bool {
        self.id() == Some(id)
    }

    pub(super) fn id(&self) -> Option<TurnId> {
        self.0.as_ref().map(RunningTurn::id)
    }

    /// Returns the running model call if it still is this attempt.
    pub(super) fn model_call(&mut self, attempt: CallAttempt) -> Option<&mut ModelCall> {
        self.0.as_mut()?.model.get(attempt)
    }

    /// Returns a call of the open batch.
    pub(super) fn call(&mut self, id: CallId) -> Option<&mut OpenCall> {
        self.0.as_mut()?.batch.call(id)
    }

    /// Returns a call of this turn that has no result yet.
    pub(super) fn open_call(&mut self, turn: TurnId, call: CallId) -> Option<&mut OpenCall> {
        self.get_by_id(turn)?.batch.call(call).filter(|open| open.is_open())
    }

    /// Feeds an input to the machine and returns the actions to perform.
    pub(super) fn on(&mut self, input: Input) -> Vec<TurnAction> {
        self.0.as_mut().map(|turn| turn.machine.handle(input)).unwrap_or_default()
    }

    /// Whether Stop was pressed and the turn has not ended yet.
    pub(super) fn is_stopping(&self) -> bool {
        self.0.as_ref().is_some_and(RunningTurn::is_stopping)
    }

    /// Whether nothing is left to cancel.
    pub(super) fn is_cancelled(&self) -> bool {
        self.0.as_ref().is_none_or(|turn| turn.cancel.is_cancelled())
    }
}

impl RunningTurn {
    /// Creates a turn that begins now.
    pub(super) fn new(id: TurnId, started_at: Millis, task: TurnStep, cancel: CancellationToken) -> Self {
        let view = TurnView::new(id, started_at);
        Self {
            machine: Turn::new(TurnLimits::default()),
            view,
            task,
            facts: TurnFacts::default(),
            cancel,
            summary: None,
            permit: TurnPermit::default(),
            model: ModelCalls::default(),
            batch: Batch::default(),
            children: Children::default(),
        }
    }

    /// Restores a turn that an earlier process left open, and returns it with its next actions.
    pub(super) fn restored(
        view: TurnView,
        state: &StoredTurnState,
        facts: TurnFacts,
        batch: Batch,
        task: TurnStep,
        cancel: CancellationToken,
    ) -> (Self, Vec<TurnAction>) {
        let (machine, actions) = Turn::restore(TurnLimits::default(), state);
        let permit = TurnPermit::restored(&batch);
        let fresh = Self::new(view.id, view.started_at, task, cancel);
        (Self { machine, view, facts, permit, batch, ..fresh }, actions)
    }

    pub(super) fn id(&self) -> TurnId {
        self.view.id
    }

    pub(super) fn view(&self) -> &TurnView {
        &self.view
    }

    /// Returns the step of the time machine that records its changes.
    pub(super) fn task(&self) -> &TurnStep {
        &self.task
    }

    pub(super) fn facts(&self) -> &TurnFacts {
        &self.facts
    }

    pub(super) fn facts_mut(&mut self) -> &mut TurnFacts {
        &mut self.facts
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.machine.is_stopping()
    }

    /// Whether a question waits for the person, its own or a sub-agent's.
    pub(super) fn waits_for_person(&self) -> bool {
        self.batch.has_questions() || self.children.wait_for_person(&self.batch)
    }

    /// Cancels everything that runs for it.
    pub(super) fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Returns a token that is cancelled when the turn's work ends.
    pub(super) fn child_token(&self) -> CancellationToken {
        self.cancel.child_token()
    }

    pub(super) fn add_usage(&mut self, usage: Usage) {
        self.view.usage += usage;
    }

    /// Returns the person's message, if it has left the context.
    pub(super) fn summary(&self) -> Option<&str> {
        self.summary.as_deref()
    }

    /// Stores the person's message, which is leaving the context.
    pub(super) fn keep_summary(&mut self, summary: String) {
        self.summary = Some(summary);
    }

    /// Ends the turn. Returns its stored view and the data for the look back.
    pub(super) fn end(self, end: TurnEnd, at: Millis, summary: String) -> (TurnView, FinishedTurn) {
        let view = TurnView { ended_at: Some(at), end: Some(end), ..self.view };
        let finished = FinishedTurn::new(view.id, self.facts, self.task, summary);
        (view, finished)
    }
}
