//! The calls of one model message, taken through preparation, permission and running in their order.
//!
//! Calls that change nothing run in parallel with adjacent ones; every other call runs alone and in its turn,
//! and is prepared only when all before it have ended, so that its preview shows its real effect.

use super::{CallKey, CallVerdict, StoredCallState, TurnAction};
use octo_protocol::CallId;

/// Whether a call may run in parallel with adjacent calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOrder {
    /// It changes nothing.
    Parallel,
    /// It runs alone, in order.
    Alone,
}

/// Why a call gets a result without having run, or run to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettleReason {
    /// The person pressed Stop.
    Stopped,
    /// An earlier call of the message was declined.
    Skipped,
    /// The same call was made too often.
    Repeated,
    /// The message was cut off at the output limit.
    Truncated,
    /// The application ended while it ran: its effect is unknown.
    Interrupted,
    /// The application ended before the message was complete: the call never ran.
    NotReached,
}

#[derive(Clone, Debug)]
pub(super) struct Batch {
    slots: Vec<CallSlot>,
    stopping: bool,
    declined: bool,
}

#[derive(Clone, Debug)]
struct CallSlot {
    call: CallId,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Planned,
    Preparing,
    /// Prepared to run alone, waiting for the calls before it.
    Ready(CallVerdict),
    Asking(CallOrder),
    Running(CallOrder),
    Ended,
}

impl State {
    /// Whether the next call may already be prepared.
    fn allows_next(self) -> bool {
        matches!(
            self,
            State::Ended | State::Running(CallOrder::Parallel) | State::Asking(CallOrder::Parallel)
        )
    }
}

impl Batch {
    pub(super) fn new() -> Self {
        Self { slots: Vec::new(), stopping: false, declined: false }
    }

    /// Rebuilds a batch from the store, with the actions for calls that had started.
    pub(super) fn restore(open: &[(CallId, CallKey, StoredCallState)]) -> (Self, Vec<TurnAction>) {
        let mut batch = Self::new();
        let mut actions = Vec::new();
        for (call, _, stored) in open {
            let state = match stored {
                StoredCallState::Planned => State::Planned,
                // Its order is unknown until it is prepared again; running alone is the cautious guess.
                StoredCallState::Asking => State::Asking(CallOrder::Alone),
                StoredCallState::Started => {
                    actions.push(TurnAction::Settle(*call, SettleReason::Interrupted));
                    State::Ended
                }
                StoredCallState::Ended => State::Ended,
            };
            batch.slots.push(CallSlot { call: *call, state });
        }
        (batch, actions)
    }

    pub(super) fn push(&mut self, call: CallId) {
        self.slots.push(CallSlot { call, state: State::Planned });
    }

    pub(super) fn push_settled(&mut self, call: CallId) {
        self.slots.push(CallSlot { call, state: State::Ended });
    }

    pub(super) fn is_done(&self) -> bool {
        self.slots.iter().all(|slot| slot.state == State::Ended)
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping
    }

    fn slot(&mut self, call: CallId) -> Option<&mut CallSlot> {
        self.slots.iter_mut().find(|slot| slot.call == call)
    }

    pub(super) fn prepared(&mut self, call: CallId, verdict: CallVerdict) -> Vec<TurnAction> {
        if let Some(slot) = self.slot(call)
            && slot.state == State::Preparing
        {
            slot.state = match verdict {
                CallVerdict::Failed => State::Ended,
                CallVerdict::Run(_) | CallVerdict::Ask(_) => State::Ready(verdict),
            };
        }
        Vec::new()
    }

    pub(super) fn allowed(&mut self, call: CallId) -> Vec<TurnAction> {
        match self.slot(call) {
            Some(slot) => match slot.state {
                State::Asking(order) => {
                    slot.state = State::Running(order);
                    vec![TurnAction::Start(call)]
                }
                _ => Vec::new(),
            },
            None => Vec::new(),
        }
    }

    pub(super) fn declined(&mut self, call: CallId) -> Vec<TurnAction> {
        if let Some(slot) = self.slot(call)
            && matches!(slot.state, State::Asking(_))
        {
            slot.state = State::Ended;
            self.declined = true;
        }
        Vec::new()
    }

    pub(super) fn ended(&mut self, call: CallId) -> Vec<TurnAction> {
        if let Some(slot) = self.slot(call)
            && matches!(slot.state, State::Running(_) | State::Asking(_))
        {
            slot.state = State::Ended;
        }
        Vec::new()
    }

    /// Settles every call that has not begun and cancels every running one.
    pub(super) fn stop(&mut self) -> Vec<TurnAction> {
        if std::mem::replace(&mut self.stopping, true) {
            return Vec::new();
        }
        let mut actions = Vec::new();
        for slot in &mut self.slots {
            match slot.state {
                State::Planned | State::Preparing | State::Ready(_) | State::Asking(_) => {
                    slot.state = State::Ended;
                    actions.push(TurnAction::Settle(slot.call, SettleReason::Stopped));
                }
                State::Running(_) => actions.push(TurnAction::Cancel(slot.call)),
                State::Ended => {}
            }
        }
        actions
    }

    /// Prepares, asks about and starts the calls whose turn has arrived.
    pub(super) fn advance(&mut self) -> Vec<TurnAction> {
        let mut actions = Vec::new();
        if self.stopping {
            return actions;
        }
        if self.declined {
            // Calls planned after a "no" were planned for a "yes".
            for slot in &mut self.slots {
                if matches!(slot.state, State::Planned | State::Preparing | State::Ready(_)) {
                    slot.state = State::Ended;
                    actions.push(TurnAction::Settle(slot.call, SettleReason::Skipped));
                }
            }
            return actions;
        }
        for index in 0..self.slots.len() {
            let (before, following) = self.slots.split_at_mut(index);
            let slot = &mut following[0];
            let all_ended = before.iter().all(|earlier| earlier.state == State::Ended);
            let all_pass = before.iter().all(|earlier| earlier.state.allows_next());
            match slot.state {
                State::Planned if all_pass => {
                    slot.state = State::Preparing;
                    actions.push(TurnAction::Prepare(slot.call));
                }
                State::Ready(CallVerdict::Run(order))
                    if all_ended || (order == CallOrder::Parallel && all_pass) =>
                {
                    slot.state = State::Running(order);
                    actions.push(TurnAction::Start(slot.call));
                }
                State::Ready(CallVerdict::Ask(order))
                    if all_ended || (order == CallOrder::Parallel && all_pass) =>
                {
                    slot.state = State::Asking(order);
                    actions.push(TurnAction::Ask(slot.call));
                }
                State::Planned
                | State::Preparing
                | State::Ready(_)
                | State::Asking(_)
                | State::Running(_)
                | State::Ended => {}
            }
        }
        actions
    }
}
