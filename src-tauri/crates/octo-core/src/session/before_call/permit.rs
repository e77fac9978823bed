//! The permit of the turn limiter (see [`crate::admission`]).
//!
//! A turn asks for its permit before its first step and keeps it until it ends, but for the time it waits for the
//! person. What the model has asked for by then is not held up half-way: the call that an answer lets run runs at once,
//! for it is about what the person sees now, and the rest of its batch follows; the next call of the model waits for a
//! permit. So it does not hold a permit that others could use, and no turn waits for a person who is away.
//!
//! Sub-agents take none: they work for a turn that has one, which would otherwise wait for them for ever. While one of
//! them asks the person, that turn has given its permit back and its other sub-agents go on: for so long more turns may
//! be at work than there are permits, as many as a turn may have sub-agents at once. Nor does the demo take one, which
//! asks no model.

use super::{Gate, Next, Passage};
use crate::{
    admission::Permit,
    session::{Report, calls::Batch, state::Session, step::Step},
    turn::Input,
};
use octo_protocol::{ApiError, CallId, SessionStatus, TurnId};

/// What a turn knows of its permit.
#[derive(Default)]
pub(in crate::session) struct TurnPermit {
    /// `None` while it asks for none.
    ticket: Option<Permit>,
    /// The steps to take once it has one.
    waiting: Vec<Waiting>,
    progress: Progress,
}

/// Whether a turn has taken a step since it began or was resumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Progress {
    #[default]
    NotBegun,
    Begun,
}

/// A step that needs a permit.
#[derive(Clone, Copy)]
enum Waiting {
    /// A model is called, after the gates from this one on.
    Call(Gate, Next),
    /// Prepare a call, which may be a turn's first step.
    Prepare(CallId),
}

impl TurnPermit {
    /// Of a turn that is gone on with. A turn that waits for the person was in the middle of a step.
    pub(in crate::session) fn restored(batch: &Batch) -> Self {
        let progress = if batch.has_questions() { Progress::Begun } else { Progress::NotBegun };
        Self { progress, ..Self::default() }
    }

    /// Whether a step of the turn waits for a permit.
    pub(in crate::session) fn holds(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether the permit is there. If so, the turn has begun.
    fn enter(&mut self) -> bool {
        let admitted = self.ticket.as_ref().is_some_and(Permit::is_admitted);
        if admitted {
            self.progress = Progress::Begun;
        }
        admitted
    }
}

impl Session {
    fn needs_permit(&self) -> bool {
        self.is_counted() && self.sub_agent.is_none()
    }

    /// The gate of a new model call.
    pub(super) fn has_permit(&mut self, next: Next) -> Passage {
        self.permits(Waiting::Call(Gate::Model, next))
    }

    /// Makes a model call, which the person let exceed a budget, once the turn has a permit.
    pub(super) fn call_allowed(&mut self, next: Next, step: &mut Step) {
        let call = Waiting::Call(Gate::Budget, next);
        if self.permits(call) == Passage::Open {
            self.resume(call, step);
        }
    }

    /// Prepares a call once the turn has a permit.
    pub(in crate::session) fn prepare_permitted(&mut self, call: CallId, step: &mut Step) {
        let call = Waiting::Prepare(call);
        if self.permits(call) == Passage::Open {
            self.resume(call, step);
        }
    }

    /// Whether a step may be taken now. One that may not is taken when the permit is there.
    fn permits(&mut self, waiting: Waiting) -> Passage {
        if !self.needs_permit() {
            return Passage::Open;
        }
        let Some(turn) = self.turn.get() else { return Passage::Closed };
        if let (Waiting::Prepare(_), Progress::Begun) = (waiting, turn.permit.progress) {
            return Passage::Open;
        }
        self.ask_for_permit();
        let Some(turn) = self.turn.get_mut() else { return Passage::Closed };
        if turn.permit.enter() {
            return Passage::Open;
        }
        turn.permit.waiting.push(waiting);
        Passage::Closed
    }

    fn resume(&mut self, waiting: Waiting, step: &mut Step) {
        match waiting {
            Waiting::Call(gate, next) => self.before_call(gate, next, step),
            Waiting::Prepare(call) => step.job(move |session| session.prepare(call)),
        }
    }

    fn ask_for_permit(&mut self) {
        let report = self.reporter();
        let Some(running) = self.turn.get_mut() else { return };
        let turn = running.id();
        let ask = || self.runtime.admission.ask(turn, move || report.send(Report::Admitted(turn)));
        running.permit.ticket.get_or_insert_with(ask);
    }

    /// The turn has its permit.
    pub(in crate::session) async fn admitted(&mut self, turn: TurnId) -> Result<(), ApiError> {
        let Some(running) = self.turn.of(turn) else { return Ok(()) };
        if !running.permit.enter() {
            return Ok(());
        }
        let waiting = std::mem::take(&mut running.permit.waiting);
        let mut step = Step::default();
        if waiting.iter().any(|waiting| matches!(waiting, Waiting::Call(Gate::Model, _))) {
            // Messages sent meanwhile become part of the request.
            self.drain_queue(turn, &mut step);
            self.feed(Input::Queued(self.waiting()), &mut step);
        }
        for waiting in waiting {
            self.resume(waiting, &mut step);
        }
        self.finish(step).await
    }

    /// Stop while a model call waits for a permit; whether it did.
    pub(in crate::session) fn stop_waiting_for_permit(&mut self) -> bool {
        let Some(turn) = self.turn.get_mut() else { return false };
        !std::mem::take(&mut turn.permit.waiting).is_empty()
    }

    /// A turn that waits for the person gives its permit to others, and asks for one again with the answer.
    pub(in crate::session) fn keep_permit(&mut self, status: SessionStatus) {
        if !self.needs_permit() {
            return;
        }
        let Some(turn) = self.turn.get_mut() else { return };
        match status {
            SessionStatus::Waiting => turn.permit.ticket = None,
            SessionStatus::Running if turn.permit.progress == Progress::Begun && !turn.is_stopping() => {
                self.ask_for_permit();
            }
            SessionStatus::Running | SessionStatus::Idle | SessionStatus::Failed => {}
        }
    }
}
