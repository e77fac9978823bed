//! The permit of the turn limiter (see [`octo_runtime::TurnLimiter`]).
//!
//! A turn asks for its permit before its first step and keeps it until the turn ends, except while it waits for
//! the person. Calls the model made by then are not held up: the call that an answer allows runs at once,
//! because it concerns what the person sees now, and the rest of the batch follows. Only the next model call
//! waits for a permit. So a waiting turn does not hold a permit that others could use, and no turn waits for a
//! person who is away.
//!
//! Sub-agents take no permit: they work for a turn that has one and would otherwise wait forever for them.
//! While a sub-agent asks the person, that turn has given its permit back and its other sub-agents continue.
//! During that time more turns may work than there are permits, by as many as a turn may have sub-agents at
//! once. The demo takes no permit either, because it calls no model.

use super::{Gate, GatedCall, Passage};
use crate::{
    session::{JobReport, calls::Batch, current_turn::RunningTurn, state::Session, step::Step},
    turn::Input,
};
use octo_protocol::{ApiError, CallId, SessionStatus, TurnId};
use octo_runtime::Permit;

/// A turn's permit and the steps that wait for it.
#[derive(Default)]
pub(in crate::session) struct TurnPermit {
    /// `None` if the turn has not asked for one.
    permit: Option<Permit>,
    /// The steps to take once the turn has its permit.
    waiting: Vec<WaitingStep>,
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
enum WaitingStep {
    /// Call a model, starting at this gate.
    Call(Gate, GatedCall),
    /// Prepare a call, which may be a turn's first step.
    Prepare(CallId),
}

impl TurnPermit {
    /// Creates the state of a resumed turn. A turn that waits for the person was in the middle of a step.
    pub(in crate::session) fn restored(batch: &Batch) -> Self {
        let progress = if batch.has_questions() { Progress::Begun } else { Progress::NotBegun };
        Self { progress, ..Self::default() }
    }

    /// Whether a step of the turn waits for a permit.
    pub(in crate::session) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Returns whether the turn has its permit, and if so marks the turn as begun.
    fn begin_if_admitted(&mut self) -> bool {
        let is_admitted = self.permit.as_ref().is_some_and(Permit::is_admitted);
        if is_admitted {
            self.progress = Progress::Begun;
        }
        is_admitted
    }

    /// Returns whether a step may be taken now. Otherwise the step waits for the permit.
    fn pass_or_wait(&mut self, step: WaitingStep) -> Passage {
        if self.begin_if_admitted() {
            return Passage::Open;
        }
        self.waiting.push(step);
        Passage::Closed
    }

    /// Whether the turn has taken a step since it began or was resumed.
    fn has_begun(&self) -> bool {
        self.progress == Progress::Begun
    }

    fn take_waiting(&mut self) -> Vec<WaitingStep> {
        std::mem::take(&mut self.waiting)
    }

    fn give_back(&mut self) {
        self.permit = None;
    }
}

impl Session {
    fn needs_permit(&self) -> bool {
        self.is_counted() && self.sub_agent.is_none()
    }

    /// Checks the permit of a new model call.
    pub(super) fn has_permit(&mut self, next: GatedCall) -> Passage {
        self.pass_permit_gate(WaitingStep::Call(Gate::Model, next))
    }

    /// Makes a model call that the person let exceed a budget, once the turn has a permit.
    pub(super) fn call_allowed(&mut self, next: GatedCall, step: &mut Step) {
        let call = WaitingStep::Call(Gate::Budget, next);
        if self.pass_permit_gate(call) == Passage::Open {
            self.resume(call, step);
        }
    }

    /// Prepares a call once the turn has a permit.
    pub(in crate::session) fn prepare_permitted(&mut self, call: CallId, step: &mut Step) {
        let call = WaitingStep::Prepare(call);
        if self.pass_permit_gate(call) == Passage::Open {
            self.resume(call, step);
        }
    }

    /// Returns whether a step may be taken now. Otherwise the step is stored until the turn has its permit.
    fn pass_permit_gate(&mut self, gated: WaitingStep) -> Passage {
        if !self.needs_permit() {
            return Passage::Open;
        }
        if let WaitingStep::Prepare(_) = gated
            && self.turn.get().is_some_and(|turn| turn.permit.has_begun())
        {
            return Passage::Open;
        }
        self.ask_for_permit();
        self.turn.with(|turn| turn.permit.pass_or_wait(gated)).unwrap_or(Passage::Closed)
    }

    fn resume(&mut self, waiting_step: WaitingStep, step: &mut Step) {
        match waiting_step {
            WaitingStep::Call(gate, next) => self.before_call(gate, next, step),
            WaitingStep::Prepare(call) => step.job(move |session| session.prepare(call)),
        }
    }

    fn ask_for_permit(&mut self) {
        let report = self.reporter();
        let limiter = &self.runtime.admission;
        self.turn.with(|turn| {
            let id = turn.id();
            let request = || limiter.request_permit(id, move || report.send(JobReport::Admitted(id)));
            turn.permit.permit.get_or_insert_with(request);
        });
    }

    /// Takes the waiting steps now that the turn has its permit.
    pub(in crate::session) async fn resume_waiting(&mut self, turn: TurnId) -> Result<(), ApiError> {
        let Some(running) = self.turn.get_by_id(turn) else { return Ok(()) };
        if !running.permit.begin_if_admitted() {
            return Ok(());
        }
        let steps = running.permit.take_waiting();
        let mut step = Step::default();
        if steps.iter().any(|step| matches!(step, WaitingStep::Call(Gate::Model, _))) {
            // Messages sent meanwhile become part of the request.
            self.drain_queue(turn, &mut step);
            self.feed(Input::Queued(self.waiting_count()), &mut step);
        }
        for waiting_step in steps {
            self.resume(waiting_step, &mut step);
        }
        self.finish(step).await
    }

    /// Cancels the wait for a permit on Stop. Returns whether a step was waiting.
    pub(in crate::session) fn stop_waiting_for_permit(&mut self) -> bool {
        self.turn.with(|turn| !turn.permit.take_waiting().is_empty()).unwrap_or(false)
    }

    /// Releases the permit while the turn waits for the person, and asks for one again after the answer.
    pub(in crate::session) fn keep_permit(&mut self, status: SessionStatus) {
        if !self.needs_permit() {
            return;
        }
        let is_working = |turn: &RunningTurn| turn.permit.has_begun() && !turn.is_stopping();
        match status {
            SessionStatus::Waiting => {
                self.turn.with(|turn| turn.permit.give_back());
            }
            SessionStatus::Running if self.turn.get().is_some_and(is_working) => self.ask_for_permit(),
            SessionStatus::Running | SessionStatus::Idle | SessionStatus::Failed => {}
        }
    }
}
