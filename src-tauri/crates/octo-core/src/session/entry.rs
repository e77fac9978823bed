//! A turn's place among those that work at once (see [`crate::admission`]), and the session's line on the board of what
//! runs.
//!
//! A turn asks for its place before its first step and keeps it until it ends, but for the time it waits for the
//! person. What the model has asked for by then is not held up half-way: the call that an answer lets run runs at once,
//! for it is about what the person sees now, and the rest of its batch follows; the next call of the model waits for a
//! place. So it does not hold a place that others could use, and nobody waits for a person who is away.
//!
//! Sub-agents take none: they work for a turn that has one, which would otherwise wait for them for ever. While one of
//! them asks the person, that turn has given its place away and its other sub-agents go on: for so long there may be
//! more at work than places, as many as a turn may have sub-agents at once. Nor does the demo take one, which asks no
//! model.

use super::{
    Report,
    budget::Next,
    state::{Running, Session},
    turns::Step,
};
use crate::{
    activity::{Doing, Stands, TurnDoing},
    admission::Ticket,
    turn::Input,
};
use octo_protocol::{ApiError, CallId, SessionStatus, TurnId};

/// What a turn knows of its place.
#[derive(Default)]
pub(crate) struct Entrance {
    /// None while it asks for no place.
    ticket: Option<Ticket>,
    /// What follows once it has one.
    held: Vec<Held>,
    entered: Entered,
}

/// Whether a turn took a step since it began or was gone on with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Entered {
    #[default]
    NotYet,
    Yes,
}

/// A step that needs a place.
#[derive(Clone, Copy)]
pub(super) enum Held {
    /// The model is called.
    Model,
    /// The model is called as the person let a budget be exceeded for.
    Allowed(Next),
    /// A call is prepared: a turn's first step may be one.
    Prepare(CallId),
}

impl Entrance {
    /// Of a turn that is gone on with. One that waits for the person was in the middle of its step.
    pub(super) fn restored(questions: usize) -> Self {
        let entered = if questions > 0 { Entered::Yes } else { Entered::NotYet };
        Self { entered, ..Self::default() }
    }

    /// Whether a step of the turn waits for a place.
    pub(super) fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    fn is_admitted(&self) -> bool {
        self.ticket.as_ref().is_some_and(Ticket::is_admitted)
    }
}

impl Session {
    fn takes_places(&self) -> bool {
        self.is_counted() && self.fork.is_none()
    }

    /// Does a step once the turn has a place: now, where it has.
    pub(super) fn once_admitted(&mut self, held: Held, step: &mut Step) {
        if self.may_go_on(held) {
            return self.go_in(held, step);
        }
        if let Some(running) = &mut self.running {
            running.entrance.held.push(held);
        }
    }

    fn may_go_on(&mut self, held: Held) -> bool {
        if !self.takes_places() {
            return true;
        }
        let entered = self.running.as_ref().map(|running| running.entrance.entered);
        if let (Held::Prepare(_), Some(Entered::Yes)) = (held, entered) {
            return true;
        }
        self.ask_for_place();
        let Some(running) = &mut self.running else { return false };
        let admitted = running.entrance.is_admitted();
        if admitted {
            running.entrance.entered = Entered::Yes;
        }
        admitted
    }

    fn go_in(&mut self, held: Held, step: &mut Step) {
        match held {
            Held::Model => self.call_model(step),
            Held::Allowed(next) => self.call_within_budget(next, step),
            Held::Prepare(call) => step.jobs.push(Box::new(move |session| session.prepare(call))),
        }
    }

    fn ask_for_place(&mut self) {
        let report = self.reporter();
        let Some(running) = &mut self.running else { return };
        let turn = running.view.id;
        let ask = || self.runtime.admission.ask(turn, move || report(Report::Admitted(turn)));
        running.entrance.ticket.get_or_insert_with(ask);
    }

    /// The turn has its place.
    pub(super) async fn admitted(&mut self, turn: TurnId) -> Result<(), ApiError> {
        let Some(running) = self.running.as_mut().filter(|running| running.view.id == turn) else {
            return Ok(());
        };
        if !running.entrance.is_admitted() {
            return Ok(());
        }
        running.entrance.entered = Entered::Yes;
        let held = std::mem::take(&mut running.entrance.held);
        let mut step = Step::default();
        if held.iter().any(|held| matches!(held, Held::Model)) {
            // What was said meanwhile is part of what is asked now.
            self.drain_queue(turn, &mut step);
            self.feed_step(Input::Queued(self.waiting()), &mut step);
        }
        for held in held {
            self.go_in(held, &mut step);
        }
        self.finish(step).await
    }

    /// Stop while a model call waits for a place; whether it did.
    pub(super) fn leave_line(&mut self) -> bool {
        let Some(running) = &mut self.running else { return false };
        let waits = running.entrance.holds();
        running.entrance.held.clear();
        waits
    }

    /// Whoever waits for the person gives the place to others, and asks for one again with the answer.
    pub(super) fn keep_place(&mut self, status: SessionStatus) {
        if !self.takes_places() {
            return;
        }
        let Some(running) = &mut self.running else { return };
        match status {
            SessionStatus::Waiting => running.entrance.ticket = None,
            SessionStatus::Running
                if running.entrance.entered == Entered::Yes && !running.machine.is_stopping() =>
            {
                self.ask_for_place();
            }
            SessionStatus::Running | SessionStatus::Idle | SessionStatus::Failed => {}
        }
    }

    /// Writes onto the board what the session does.
    pub(super) fn tell_board(&self) {
        self.entry.tell(self.doing());
    }

    fn doing(&self) -> Option<Doing> {
        let turn = self.running.as_ref().map(|running| TurnDoing {
            turn: running.view.id,
            since: running.view.started_at,
            stands: self.stands(running),
            steps: running.course.answers(),
            used: running.view.usage,
        });
        let commands = self.background.running();
        if turn.is_none() && commands.is_empty() {
            return None;
        }
        Some(Doing {
            title: self.info.title.clone(),
            folder: self.info.folder.clone(),
            fork: self.fork.as_ref().map(|fork| fork.origin.clone()),
            turn,
            commands,
        })
    }

    fn stands(&self, running: &Running) -> Stands {
        match self.info.status {
            SessionStatus::Waiting => Stands::NeedsYou,
            _ if running.entrance.holds() => Stands::Queued,
            SessionStatus::Running | SessionStatus::Idle | SessionStatus::Failed => Stands::Working,
        }
    }
}
