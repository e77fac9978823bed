//! The rules of the agent loop as properties, checked in ten thousand random runs.

use super::*;
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};

/// A driver as hostile as a real one may be: it answers in any order, repeats itself, presses Stop and crashes
/// at any moment.
struct World {
    turn: Turn,
    limits: TurnLimits,
    /// Calls of the open message in order, with their stored state.
    open: Vec<(CallId, CallKey, StoredCallState)>,
    past: Vec<CallKey>,
    results: HashSet<CallId>,
    all_calls: Vec<CallId>,
    preparing: Vec<CallId>,
    asking: Vec<CallId>,
    running: Vec<CallId>,
    cancelled: bool,
    thinking: bool,
    stopped: bool,
    ended: Option<TurnEnding>,
    model_calls: u32,
    /// How many times each call was started.
    starts: HashMap<CallKey, u32>,
    queued: usize,
}

impl World {
    fn new(limits: TurnLimits) -> Self {
        let mut world = Self {
            turn: Turn::new(limits),
            limits,
            open: Vec::new(),
            past: Vec::new(),
            results: HashSet::new(),
            all_calls: Vec::new(),
            preparing: Vec::new(),
            asking: Vec::new(),
            running: Vec::new(),
            cancelled: false,
            thinking: false,
            stopped: false,
            ended: None,
            model_calls: 0,
            starts: HashMap::new(),
            queued: 0,
        };
        world.feed(Input::Begin);
        world
    }

    fn known(&mut self, call: CallId, known: StoredCallState) {
        for slot in &mut self.open {
            if slot.0 == call {
                slot.2 = known;
            }
        }
    }

    fn result(&mut self, call: CallId) {
        assert!(self.results.insert(call), "a call got two results");
        self.known(call, StoredCallState::Ended);
    }

    fn feed(&mut self, input: Input) {
        let actions = self.turn.handle(input);
        self.perform(actions);
    }

    fn perform(&mut self, actions: Vec<TurnAction>) {
        for action in actions {
            assert!(self.ended.is_none(), "{action:?} after the end");
            if self.stopped {
                assert!(
                    matches!(
                        action,
                        TurnAction::CancelModel
                            | TurnAction::Cancel(_)
                            | TurnAction::Settle(..)
                            | TurnAction::CloseBatch
                            | TurnAction::End(_)
                    ),
                    "{action:?} after a stop"
                );
            }
            match action {
                TurnAction::CallModel => {
                    assert!(!self.thinking);
                    assert!(
                        self.all_calls.iter().all(|call| self.results.contains(call)),
                        "a model call while a result is owed"
                    );
                    assert!(self.open.is_empty(), "a model call before the batch was closed");
                    self.model_calls += 1;
                    assert!(self.model_calls <= self.limits.model_calls);
                    self.thinking = true;
                }
                TurnAction::CancelModel => {
                    assert!(self.thinking);
                    self.cancelled = true;
                }
                TurnAction::Prepare(call) => self.preparing.push(call),
                TurnAction::Ask(call) => {
                    self.known(call, StoredCallState::Asking);
                    self.asking.push(call);
                }
                TurnAction::Start(call) => {
                    assert!(!self.results.contains(&call), "started after its result");
                    let key = self.open.iter().find(|(id, ..)| *id == call).map(|(_, key, _)| key.clone());
                    let starts = self.starts.entry(key.expect("a call of the open message")).or_default();
                    *starts += 1;
                    assert!(*starts <= self.limits.same_call, "the same call was started {starts} times");
                    self.known(call, StoredCallState::Started);
                    self.running.push(call);
                }
                TurnAction::Cancel(call) => assert!(self.running.contains(&call)),
                TurnAction::Settle(call, _) => {
                    self.asking.retain(|open| *open != call);
                    self.preparing.retain(|open| *open != call);
                    self.result(call);
                }
                TurnAction::CloseBatch => {
                    assert!(!self.open.is_empty());
                    assert!(self.open.iter().all(|(call, ..)| self.results.contains(call)));
                    self.past.extend(self.open.drain(..).map(|(_, key, _)| key));
                }
                TurnAction::DrainQueue => self.queued = 0,
                TurnAction::HintTruncation => {}
                TurnAction::End(ending) => {
                    assert!(self.all_calls.iter().all(|call| self.results.contains(call)));
                    self.ended = Some(ending);
                }
            }
        }
    }

    fn answer(&mut self, tools: &[u8], finish: MessageFinish) {
        if !self.thinking {
            return;
        }
        self.thinking = false;
        self.open = planned(tools);
        let calls: Vec<(CallId, CallKey)> =
            self.open.iter().map(|(call, key, _)| (*call, key.clone())).collect();
        self.all_calls.extend(calls.iter().map(|(call, _)| *call));
        let ids = calls.iter().map(|(call, _)| *call).collect();
        match (self.cancelled, finish) {
            (true, MessageFinish::Complete) => self.feed(Input::ModelStopped { calls: ids }),
            (_, MessageFinish::Refused) if tools.is_empty() => self.feed(Input::ModelFailed { calls: ids }),
            _ => self.feed(Input::Answered { calls, finish }),
        }
    }

    /// Kills the process; `survivors` is the stored part of a message that was still streaming.
    fn crash(&mut self, survivors: &[u8]) {
        if self.ended.is_some() {
            return;
        }
        let cut = self.thinking && !survivors.is_empty();
        if cut {
            self.open = planned(survivors);
            self.all_calls.extend(self.open.iter().map(|(call, ..)| *call));
        }
        for (call, _, known) in &self.open {
            if *known == StoredCallState::Ended {
                assert!(self.results.contains(call));
            }
        }
        let stored = StoredTurnState {
            model_calls: self.model_calls,
            past: self.past.clone(),
            open: self.open.clone(),
            message_ended: !cut,
            queued: self.queued,
            stop: if self.stopped { StopState::Pressed } else { StopState::NotPressed },
        };
        self.preparing.clear();
        self.running.clear();
        self.asking =
            self.open.iter().filter(|slot| slot.2 == StoredCallState::Asking).map(|slot| slot.0).collect();
        (self.thinking, self.cancelled) = (false, false);
        let (turn, actions) = Turn::restore(self.limits, &stored);
        self.turn = turn;
        self.perform(actions);
    }
}

fn planned(tools: &[u8]) -> Vec<(CallId, CallKey, StoredCallState)> {
    tools.iter().map(|tool| (CallId::new(), key(&format!("tool{tool}")), StoredCallState::Planned)).collect()
}

#[derive(Clone, Debug)]
enum Move {
    Answer(Vec<u8>, MessageFinish),
    Prepared(usize, CallVerdict),
    Allow(usize),
    Decline(usize),
    End(usize),
    Queue(usize),
    Stop,
    Crash(Vec<u8>),
    Stale,
}

fn order() -> impl Strategy<Value = CallOrder> {
    prop_oneof![Just(CallOrder::Parallel), Just(CallOrder::Alone)]
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        6 => (
            prop::collection::vec(0..6u8, 0..5),
            prop_oneof![8 => Just(MessageFinish::Complete), 1 => Just(MessageFinish::Truncated), 1 => Just(MessageFinish::Refused)]
        )
            .prop_map(|(tools, finish)| Move::Answer(tools, finish)),
        8 => (any::<usize>(), prop_oneof![
            order().prop_map(CallVerdict::Run),
            order().prop_map(CallVerdict::Ask),
            Just(CallVerdict::Failed)
        ])
            .prop_map(|(at, verdict)| Move::Prepared(at, verdict)),
        5 => any::<usize>().prop_map(Move::Allow),
        2 => any::<usize>().prop_map(Move::Decline),
        8 => any::<usize>().prop_map(Move::End),
        1 => (0..3usize).prop_map(Move::Queue),
        1 => Just(Move::Stop),
        1 => prop::collection::vec(0..6u8, 0..3).prop_map(Move::Crash),
        1 => Just(Move::Stale),
    ];
    prop::collection::vec(one, 1..80)
}

fn take(list: &mut Vec<CallId>, at: usize) -> Option<CallId> {
    if list.is_empty() { None } else { Some(list.remove(at % list.len())) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    #[test]
    fn every_call_gets_one_result_and_no_model_is_called_while_one_is_owed(moves in moves()) {
        let limits = TurnLimits { model_calls: 12, same_call: 3, refusals: 2, truncations: 2 };
        let mut world = World::new(limits);
        for step in moves {
            match step {
                Move::Answer(tools, finish) => world.answer(&tools, finish),
                Move::Prepared(at, verdict) => {
                    if let Some(call) = take(&mut world.preparing, at) {
                        if verdict == CallVerdict::Failed {
                            world.result(call);
                        }
                        world.feed(Input::Prepared { call, verdict });
                    }
                }
                Move::Allow(at) => {
                    if let Some(call) = take(&mut world.asking, at) {
                        world.feed(Input::Allowed { call });
                    }
                }
                Move::Decline(at) => {
                    if let Some(call) = take(&mut world.asking, at) {
                        world.result(call);
                        world.feed(Input::Declined { call });
                    }
                }
                Move::End(at) => {
                    if let Some(call) = take(&mut world.running, at) {
                        world.result(call);
                        world.feed(Input::Ended { call });
                    }
                }
                Move::Queue(count) => {
                    world.queued = count;
                    world.feed(Input::Queued(count));
                }
                Move::Stop => {
                    world.stopped = world.ended.is_none();
                    world.feed(Input::Stop);
                }
                Move::Crash(heard) => world.crash(&heard),
                Move::Stale => {
                    // Inputs that arrive too late or were never requested change nothing.
                    let stranger = CallId::new();
                    for input in [
                        Input::Begin,
                        Input::Allowed { call: stranger },
                        Input::Declined { call: stranger },
                        Input::Ended { call: stranger },
                    ] {
                        prop_assert_eq!(world.turn.handle(input), vec![]);
                    }
                }
            }
        }
        // Left alone from here, with every call answered and ended, the turn ends.
        for _ in 0..2_000 {
            if world.ended.is_some() {
                break;
            }
            if let Some(call) = take(&mut world.preparing, 0) {
                world.feed(Input::Prepared { call, verdict: CallVerdict::Run(CallOrder::Alone) });
            } else if let Some(call) = take(&mut world.asking, 0) {
                world.feed(Input::Allowed { call });
            } else if let Some(call) = take(&mut world.running, 0) {
                world.result(call);
                world.feed(Input::Ended { call });
            } else {
                world.answer(&[], MessageFinish::Complete);
            }
        }
        prop_assert!(world.ended.is_some(), "the turn hangs");
        prop_assert!(world.all_calls.iter().all(|call| world.results.contains(call)));
    }
}
