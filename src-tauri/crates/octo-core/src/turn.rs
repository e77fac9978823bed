//! The turn machine: the agent's next action as a pure function of the past.
//!
//! [`Turn::handle`] takes an [`Input`] and answers with [`TurnAction`]s; it knows no clock, no I/O and no async, so the
//! whole agent loop is tested as a table. The session actor performs the actions and feeds the results back.
//!
//! A turn alternates between *thinking* (one model call) and *acting* (the calls of one model message, a
//! [`Batch`]). It follows these rules, which its property tests check:
//!
//! * every tool call gets exactly one result, including a stopped one;
//! * no model call is made while a result is missing;
//! * after a stop only results for open calls and the end of the turn follow;
//! * model calls and repeated identical calls per turn are limited.

mod batch;
#[cfg(test)]
mod tests;

use batch::Batch;
pub use batch::{CallOrder, SettleReason};
use octo_protocol::{CallId, ToolCall};
use std::collections::HashMap;

/// The limits of an autonomous turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnLimits {
    /// Model calls in one turn. Real work stays well below; a runaway does not.
    pub model_calls: u32,
    /// How many times the identical call may be made in one turn before it is refused.
    pub same_call: u32,
    /// Refused repetitions after which the turn ends.
    pub refusals: u32,
    /// Maximum number of consecutive answers that reach the output limit.
    pub truncations: u32,
}

impl Default for TurnLimits {
    fn default() -> Self {
        Self { model_calls: 250, same_call: 5, refusals: 3, truncations: 2 }
    }
}

/// The state of one turn. Never stored: [`Turn::restore`] rebuilds it from the store.
#[derive(Clone, Debug)]
pub struct Turn {
    phase: Phase,
    limits: TurnLimits,
    model_calls: u32,
    truncations: u32,
    refusals: u32,
    call_counts: HashMap<CallKey, u32>,
    queued: usize,
}

#[derive(Clone, Debug)]
enum Phase {
    /// Created, not begun.
    New,
    /// A model call is running. `stopping`: the person pressed Stop.
    Thinking { stopping: bool },
    /// The calls of a message are being processed.
    Acting(Batch),
    /// The turn has ended.
    Over,
}

/// The identity of a call: tool name and argument text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallKey {
    /// The tool's name as the model wrote it.
    pub tool: String,
    /// The argument text as the model wrote it.
    pub arguments: String,
}

impl CallKey {
    /// The key of a call.
    pub fn of(call: &ToolCall) -> Self {
        Self { tool: call.name.clone(), arguments: call.arguments.clone() }
    }
}

/// An event the machine reacts to.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// The turn begins; its first message is in the context.
    Begin,
    /// The turn begins with calls made by the person; they follow its first message in the context.
    BeginWith {
        /// The calls, in order.
        calls: Vec<(CallId, CallKey)>,
    },
    /// The model's message is complete.
    Answered {
        /// Its calls, in order.
        calls: Vec<(CallId, CallKey)>,
        /// Why it ended.
        finish: MessageFinish,
    },
    /// The model call failed for good: retries are used up or would not help. These calls had arrived
    /// completely before; none of them runs.
    ModelFailed {
        /// Its calls, in order.
        calls: Vec<CallId>,
    },
    /// The model call was cancelled as requested; these calls had arrived completely.
    ModelStopped {
        /// Its calls, in order.
        calls: Vec<CallId>,
    },
    /// A call's arguments were read and permission was looked up.
    Prepared {
        /// The call.
        call: CallId,
        /// The verdict on it.
        verdict: CallVerdict,
    },
    /// The person answered a call's question with yes.
    Allowed {
        /// The call.
        call: CallId,
    },
    /// The person answered a call's question with no; the result is stored.
    Declined {
        /// The call.
        call: CallId,
    },
    /// A call has its result.
    Ended {
        /// The call.
        call: CallId,
    },
    /// This many messages wait in the queue.
    Queued(usize),
    /// The person pressed Stop.
    Stop,
}

/// Why a model's message ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageFinish {
    /// The model is done or waits for results.
    Complete,
    /// It reached its output limit.
    Truncated,
    /// The provider refused to go on.
    Refused,
}

/// The verdict on a prepared call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallVerdict {
    /// Run it.
    Run(CallOrder),
    /// Ask first. A question that is itself the call's purpose ends the call when answered.
    Ask(CallOrder),
    /// It has already ended: unknown tool, wrong arguments.
    Failed,
}

/// An action for the session actor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnAction {
    /// Call the model with the current context. Never emitted while a result is missing.
    CallModel,
    /// Cancel the model call; [`Input::ModelStopped`] follows.
    CancelModel,
    /// Read a call's arguments and look up permission; [`Input::Prepared`] follows.
    Prepare(CallId),
    /// Ask the call's question; [`Input::Allowed`], [`Input::Declined`] or [`Input::Ended`] follows.
    Ask(CallId),
    /// Run the call; [`Input::Ended`] follows.
    Start(CallId),
    /// Cancel the running call; [`Input::Ended`] follows.
    Cancel(CallId),
    /// Give the call a result without running it, and withdraw its question if it has one.
    Settle(CallId, SettleReason),
    /// Put the results of all calls into the context as one message.
    CloseBatch,
    /// Put waiting messages into the context.
    DrainQueue,
    /// Tell the model that its answer was cut off at the output limit.
    HintTruncation,
    /// End the turn.
    End(TurnEnding),
}

/// How a turn ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnEnding {
    /// The model was done.
    Finished,
    /// The person stopped it.
    Stopped,
    /// The model call failed for good.
    ModelFailed,
    /// The provider refused.
    Refused,
    /// Too many answers in a row reached the output limit.
    Truncated,
    /// The same call was made again and again.
    Looping,
    /// Too many model calls.
    TooLong,
}

/// The stored state of an unfinished turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTurnState {
    /// Model messages of the turn, ended or not.
    pub model_calls: u32,
    /// Calls of the turn's closed batches, needed to continue counting repetitions.
    pub past: Vec<CallKey>,
    /// The calls of the last model message, in order, if their results are not in the context yet.
    pub open: Vec<(CallId, CallKey, StoredCallState)>,
    /// Whether that message had ended. Calls of an unfinished message were never planned.
    pub message_ended: bool,
    /// Number of messages in the queue.
    pub queued: usize,
    /// Whether the person had pressed Stop.
    pub stop: StopState,
}

/// Whether the person had pressed Stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopState {
    /// The turn ends.
    Pressed,
    /// The turn continues.
    NotPressed,
}

/// The stored state of an open call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredCallState {
    /// It had not begun.
    Planned,
    /// Its question was waiting.
    Asking,
    /// Its effect had begun.
    Started,
    /// It has its result.
    Ended,
}

impl Turn {
    /// Creates a turn that has not begun.
    pub fn new(limits: TurnLimits) -> Self {
        Self {
            phase: Phase::New,
            limits,
            model_calls: 0,
            truncations: 0,
            refusals: 0,
            call_counts: HashMap::new(),
            queued: 0,
        }
    }

    /// Rebuilds the turn from the store: questions wait again, started calls end as interrupted, other calls
    /// are prepared again. A turn that was being stopped ends at once.
    pub fn restore(limits: TurnLimits, stored: &StoredTurnState) -> (Self, Vec<TurnAction>) {
        let mut turn = Self::new(limits);
        turn.model_calls = stored.model_calls;
        turn.queued = stored.queued;
        for key in stored.past.iter().chain(stored.open.iter().map(|(_, key, _)| key)) {
            *turn.call_counts.entry(key.clone()).or_default() += 1;
        }
        let actions = if stored.stop == StopState::Pressed {
            turn.end_restored(stored)
        } else if stored.open.is_empty() {
            turn.think()
        } else if stored.message_ended {
            let (batch, mut actions) = Batch::restore(&stored.open);
            turn.phase = Phase::Acting(batch);
            actions.extend(turn.advance());
            actions
        } else {
            let mut actions: Vec<TurnAction> = stored
                .open
                .iter()
                .map(|(call, ..)| TurnAction::Settle(*call, SettleReason::NotReached))
                .collect();
            actions.push(TurnAction::CloseBatch);
            actions.extend(turn.think());
            actions
        };
        (turn, actions)
    }

    /// Ends a turn that was being stopped: every open call gets its result, and nothing is called again.
    fn end_restored(&mut self, stored: &StoredTurnState) -> Vec<TurnAction> {
        let settle_reason = |stored: &StoredCallState| match stored {
            StoredCallState::Ended => None,
            StoredCallState::Started => Some(SettleReason::Interrupted),
            StoredCallState::Planned | StoredCallState::Asking => Some(SettleReason::Stopped),
        };
        let mut actions: Vec<TurnAction> = stored
            .open
            .iter()
            .filter_map(|(call, _, stored)| {
                settle_reason(stored).map(|reason| TurnAction::Settle(*call, reason))
            })
            .collect();
        if !stored.open.is_empty() {
            actions.push(TurnAction::CloseBatch);
        }
        actions.extend(self.end(TurnEnding::Stopped));
        actions
    }

    /// Whether the person pressed Stop and the turn has not ended yet.
    pub fn is_stopping(&self) -> bool {
        match &self.phase {
            Phase::Thinking { stopping } => *stopping,
            Phase::Acting(batch) => batch.is_stopping(),
            Phase::New | Phase::Over => false,
        }
    }

    /// Takes an input and returns the actions. Inputs that no longer matter (an answer after Stop, a second end
    /// of a call) change nothing.
    pub fn handle(&mut self, input: Input) -> Vec<TurnAction> {
        match input {
            Input::Queued(count) => {
                self.queued = count;
                Vec::new()
            }
            Input::Begin => match self.phase {
                Phase::New => self.think(),
                Phase::Thinking { .. } | Phase::Acting(_) | Phase::Over => Vec::new(),
            },
            Input::BeginWith { calls } => match self.phase {
                Phase::New => self.act(calls),
                Phase::Thinking { .. } | Phase::Acting(_) | Phase::Over => Vec::new(),
            },
            Input::Stop => self.stop(),
            Input::Answered { calls, finish } => match self.phase {
                Phase::Thinking { stopping: false } => self.answered(calls, finish),
                // The answer won the race against Stop: its calls are settled anyway.
                Phase::Thinking { stopping: true } => {
                    self.end_with(ids(calls), SettleReason::Stopped, TurnEnding::Stopped)
                }
                Phase::New | Phase::Acting(_) | Phase::Over => Vec::new(),
            },
            Input::ModelStopped { calls } => match self.phase {
                Phase::Thinking { .. } => self.end_with(calls, SettleReason::Stopped, TurnEnding::Stopped),
                Phase::New | Phase::Acting(_) | Phase::Over => Vec::new(),
            },
            Input::ModelFailed { calls } => match self.phase {
                Phase::Thinking { stopping: true } => {
                    self.end_with(calls, SettleReason::Stopped, TurnEnding::Stopped)
                }
                Phase::Thinking { stopping: false } => {
                    self.end_with(calls, SettleReason::NotReached, TurnEnding::ModelFailed)
                }
                Phase::New | Phase::Acting(_) | Phase::Over => Vec::new(),
            },
            Input::Prepared { call, verdict } => self.in_batch(|batch| batch.prepared(call, verdict)),
            Input::Allowed { call } => self.in_batch(|batch| batch.allowed(call)),
            Input::Declined { call } => self.in_batch(|batch| batch.declined(call)),
            Input::Ended { call } => self.in_batch(|batch| batch.ended(call)),
        }
    }

    fn in_batch(&mut self, update: impl FnOnce(&mut Batch) -> Vec<TurnAction>) -> Vec<TurnAction> {
        let Phase::Acting(batch) = &mut self.phase else { return Vec::new() };
        let mut actions = update(batch);
        actions.extend(self.advance());
        actions
    }

    /// Advances the batch until it must wait.
    fn advance(&mut self) -> Vec<TurnAction> {
        let Phase::Acting(batch) = &mut self.phase else { return Vec::new() };
        let mut actions = batch.advance();
        if batch.is_done() {
            let stopping = batch.is_stopping();
            actions.push(TurnAction::CloseBatch);
            if stopping {
                actions.extend(self.end(TurnEnding::Stopped));
            } else if self.refusals >= self.limits.refusals {
                actions.extend(self.end(TurnEnding::Looping));
            } else {
                actions.extend(self.think());
            }
        }
        actions
    }

    /// Begins the next model call, after the queued messages.
    fn think(&mut self) -> Vec<TurnAction> {
        if self.model_calls >= self.limits.model_calls {
            return self.end(TurnEnding::TooLong);
        }
        self.model_calls += 1;
        self.phase = Phase::Thinking { stopping: false };
        if self.queued > 0 {
            self.queued = 0;
            vec![TurnAction::DrainQueue, TurnAction::CallModel]
        } else {
            vec![TurnAction::CallModel]
        }
    }

    fn answered(&mut self, calls: Vec<(CallId, CallKey)>, finish: MessageFinish) -> Vec<TurnAction> {
        match finish {
            MessageFinish::Complete if calls.is_empty() => {
                self.truncations = 0;
                if self.queued > 0 { self.think() } else { self.end(TurnEnding::Finished) }
            }
            MessageFinish::Complete => {
                self.truncations = 0;
                self.act(calls)
            }
            MessageFinish::Truncated => {
                self.truncations += 1;
                // A call at the end of a cut answer may contain half a file: none of them runs.
                let mut actions = settle_all(ids(calls), SettleReason::Truncated);
                if self.truncations > self.limits.truncations {
                    actions.extend(self.end(TurnEnding::Truncated));
                } else {
                    actions.push(TurnAction::HintTruncation);
                    actions.extend(self.think());
                }
                actions
            }
            MessageFinish::Refused => {
                self.end_with(ids(calls), SettleReason::NotReached, TurnEnding::Refused)
            }
        }
    }

    fn act(&mut self, calls: Vec<(CallId, CallKey)>) -> Vec<TurnAction> {
        let mut batch = Batch::new();
        let mut actions = Vec::new();
        for (call, key) in calls {
            let count = self.call_counts.entry(key).or_default();
            *count += 1;
            if *count > self.limits.same_call {
                self.refusals += 1;
                batch.push_settled(call);
                actions.push(TurnAction::Settle(call, SettleReason::Repeated));
            } else {
                batch.push(call);
            }
        }
        self.phase = Phase::Acting(batch);
        actions.extend(self.advance());
        actions
    }

    fn stop(&mut self) -> Vec<TurnAction> {
        match &mut self.phase {
            Phase::New => self.end(TurnEnding::Stopped),
            Phase::Thinking { stopping } => {
                if std::mem::replace(stopping, true) {
                    Vec::new()
                } else {
                    vec![TurnAction::CancelModel]
                }
            }
            Phase::Acting(batch) => {
                let mut actions = batch.stop();
                actions.extend(self.advance());
                actions
            }
            Phase::Over => Vec::new(),
        }
    }

    fn end_with(&mut self, calls: Vec<CallId>, reason: SettleReason, ending: TurnEnding) -> Vec<TurnAction> {
        let mut actions = settle_all(calls, reason);
        actions.extend(self.end(ending));
        actions
    }

    fn end(&mut self, ending: TurnEnding) -> Vec<TurnAction> {
        self.phase = Phase::Over;
        vec![TurnAction::End(ending)]
    }
}

fn settle_all(calls: Vec<CallId>, reason: SettleReason) -> Vec<TurnAction> {
    if calls.is_empty() {
        return Vec::new();
    }
    let mut actions: Vec<TurnAction> =
        calls.into_iter().map(|call| TurnAction::Settle(call, reason)).collect();
    actions.push(TurnAction::CloseBatch);
    actions
}

fn ids(calls: Vec<(CallId, CallKey)>) -> Vec<CallId> {
    calls.into_iter().map(|(call, _)| call).collect()
}
