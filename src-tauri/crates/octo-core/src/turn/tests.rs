//! The agent loop as a table, and its rules as properties.

use super::*;
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};

fn key(tool: &str) -> CallKey {
    CallKey { tool: tool.into(), arguments: "{}".into() }
}

fn answered(calls: &[CallId]) -> Input {
    let calls = calls.iter().enumerate().map(|(n, call)| (*call, key(&format!("tool{n}")))).collect();
    Input::Answered { calls, finish: Finish::Complete }
}

fn done() -> Input {
    Input::Answered { calls: Vec::new(), finish: Finish::Complete }
}

fn run(call: CallId, order: Order) -> Input {
    Input::Prepared { call, verdict: Verdict::Run(order) }
}

fn thinking() -> Turn {
    let mut turn = Turn::new(Limits::default());
    assert_eq!(turn.on(Input::Begin), [Action::CallModel]);
    turn
}

#[test]
fn an_answer_without_calls_ends_the_turn() {
    let mut turn = thinking();
    assert_eq!(turn.on(done()), [Action::End(Ending::Finished)]);
    assert_eq!(turn.on(Input::Stop), []);
}

#[test]
fn a_waiting_message_keeps_the_turn_going() {
    let mut turn = thinking();
    turn.on(Input::Queued(2));
    assert_eq!(turn.on(done()), [Action::DrainQueue, Action::CallModel]);
    assert_eq!(turn.on(done()), [Action::End(Ending::Finished)]);
}

#[test]
fn a_turn_may_begin_with_calls_of_the_persons_and_asks_the_model_after_them() {
    let call = CallId::new();
    let begin = || Input::BeginWith { calls: vec![(call, key("invoke_skill"))] };
    let mut turn = Turn::new(Limits::default());
    assert_eq!(turn.on(begin()), [Action::Prepare(call)]);
    assert_eq!(turn.on(begin()), [], "it begins once");
    assert_eq!(turn.on(run(call, Order::Parallel)), [Action::Start(call)]);
    assert_eq!(turn.on(Input::Ended { call }), [Action::CloseBatch, Action::CallModel]);
    assert_eq!(turn.on(done()), [Action::End(Ending::Finished)]);

    let mut stopped = Turn::new(Limits::default());
    stopped.on(begin());
    let settled = Action::Settle(call, Settle::Stopped);
    assert_eq!(stopped.on(Input::Stop), [settled, Action::CloseBatch, Action::End(Ending::Stopped)]);
}

#[test]
fn calls_that_read_run_together_and_the_one_that_writes_waits_for_them() {
    let mut turn = thinking();
    let [a, b, c] = [CallId::new(), CallId::new(), CallId::new()];
    assert_eq!(turn.on(answered(&[a, b, c])), [Action::Prepare(a)]);
    assert_eq!(turn.on(run(a, Order::Parallel)), [Action::Start(a), Action::Prepare(b)]);
    assert_eq!(turn.on(run(b, Order::Parallel)), [Action::Start(b), Action::Prepare(c)]);
    assert_eq!(turn.on(run(c, Order::Alone)), []);
    assert_eq!(turn.on(Input::Ended { call: b }), []);
    assert_eq!(turn.on(Input::Ended { call: a }), [Action::Start(c)]);
    assert_eq!(turn.on(Input::Ended { call: c }), [Action::CloseBatch, Action::CallModel]);
}

#[test]
fn a_call_behind_one_that_writes_is_prepared_only_after_it() {
    let mut turn = thinking();
    let [a, b] = [CallId::new(), CallId::new()];
    assert_eq!(turn.on(answered(&[a, b])), [Action::Prepare(a)]);
    assert_eq!(turn.on(run(a, Order::Alone)), [Action::Start(a)]);
    assert_eq!(turn.on(Input::Ended { call: a }), [Action::Prepare(b)]);
}

#[test]
fn a_no_settles_what_was_planned_behind_it_and_the_model_hears_of_it() {
    let mut turn = thinking();
    let [a, b] = [CallId::new(), CallId::new()];
    turn.on(answered(&[a, b]));
    assert_eq!(turn.on(Input::Prepared { call: a, verdict: Verdict::Ask(Order::Alone) }), [Action::Ask(a)]);
    assert_eq!(
        turn.on(Input::Declined { call: a }),
        [Action::Settle(b, Settle::Skipped), Action::CloseBatch, Action::CallModel]
    );
}

#[test]
fn a_yes_starts_the_call() {
    let mut turn = thinking();
    let a = CallId::new();
    turn.on(answered(&[a]));
    turn.on(Input::Prepared { call: a, verdict: Verdict::Ask(Order::Alone) });
    assert_eq!(turn.on(Input::Allowed { call: a }), [Action::Start(a)]);
    assert_eq!(turn.on(Input::Allowed { call: a }), [], "a second yes starts nothing twice");
}

#[test]
fn stop_while_thinking_cancels_and_gives_whole_calls_a_result() {
    let mut turn = thinking();
    let a = CallId::new();
    assert_eq!(turn.on(Input::Stop), [Action::CancelModel]);
    assert_eq!(turn.on(Input::Stop), [], "a second Stop adds nothing");
    assert_eq!(
        turn.on(Input::ModelStopped { calls: vec![a] }),
        [Action::Settle(a, Settle::Stopped), Action::CloseBatch, Action::End(Ending::Stopped)]
    );
}

#[test]
fn stop_while_acting_cancels_what_runs_and_settles_the_rest() {
    let mut turn = thinking();
    let [a, b] = [CallId::new(), CallId::new()];
    turn.on(answered(&[a, b]));
    turn.on(run(a, Order::Alone));
    assert_eq!(turn.on(Input::Stop), [Action::Cancel(a), Action::Settle(b, Settle::Stopped)]);
    assert_eq!(turn.on(Input::Ended { call: a }), [Action::CloseBatch, Action::End(Ending::Stopped)]);
}

#[test]
fn stop_while_asking_withdraws_the_question() {
    let mut turn = thinking();
    let a = CallId::new();
    turn.on(answered(&[a]));
    turn.on(Input::Prepared { call: a, verdict: Verdict::Ask(Order::Alone) });
    assert_eq!(
        turn.on(Input::Stop),
        [Action::Settle(a, Settle::Stopped), Action::CloseBatch, Action::End(Ending::Stopped)]
    );
    assert_eq!(turn.on(Input::Allowed { call: a }), [], "an answer after Stop starts nothing");
}

#[test]
fn a_cut_answer_is_hinted_at_twice_and_its_calls_never_run() {
    let mut turn = thinking();
    let a = CallId::new();
    let cut = |calls: Vec<(CallId, CallKey)>| Input::Answered { calls, finish: Finish::Truncated };
    assert_eq!(
        turn.on(cut(vec![(a, key("write"))])),
        [Action::Settle(a, Settle::Truncated), Action::CloseBatch, Action::HintTruncation, Action::CallModel]
    );
    assert_eq!(turn.on(cut(Vec::new())), [Action::HintTruncation, Action::CallModel]);
    assert_eq!(turn.on(cut(Vec::new())), [Action::End(Ending::Truncated)]);
}

#[test]
fn the_same_call_again_and_again_is_refused_and_then_ends_the_turn() {
    let limits = Limits { same_call: 2, refusals: 2, ..Limits::default() };
    let mut turn = Turn::new(limits);
    turn.on(Input::Begin);
    for _ in 0..2 {
        let call = CallId::new();
        turn.on(Input::Answered { calls: vec![(call, key("grep"))], finish: Finish::Complete });
        turn.on(run(call, Order::Parallel));
        turn.on(Input::Ended { call });
    }
    let again = |turn: &mut Turn| {
        let call = CallId::new();
        let actions = turn.on(Input::Answered { calls: vec![(call, key("grep"))], finish: Finish::Complete });
        assert_eq!(actions[0], Action::Settle(call, Settle::Repeated));
        actions
    };
    assert_eq!(again(&mut turn)[1..], [Action::CloseBatch, Action::CallModel]);
    assert_eq!(again(&mut turn)[1..], [Action::CloseBatch, Action::End(Ending::Looping)]);
}

#[test]
fn model_calls_are_bounded() {
    let mut turn = Turn::new(Limits { model_calls: 1, ..Limits::default() });
    turn.on(Input::Begin);
    let a = CallId::new();
    turn.on(answered(&[a]));
    turn.on(run(a, Order::Alone));
    assert_eq!(turn.on(Input::Ended { call: a }), [Action::CloseBatch, Action::End(Ending::TooLong)]);
}

#[test]
fn restore_table() {
    let [a, b, c, d] = [CallId::new(), CallId::new(), CallId::new(), CallId::new()];
    let base = Restored {
        model_calls: 1,
        past: Vec::new(),
        open: Vec::new(),
        message_ended: true,
        queued: 0,
        stop: Stop::NotPressed,
    };
    let limits = Limits::default();

    let (_, actions) = Turn::restore(limits, &base);
    assert_eq!(actions, [Action::CallModel], "nothing owed: the model is called");

    let open = vec![
        (a, key("1"), Known::Ended),
        (b, key("2"), Known::Started),
        (c, key("3"), Known::Asking),
        (d, key("4"), Known::Planned),
    ];
    let stopped = Restored { open: open.clone(), stop: Stop::Pressed, queued: 1, ..base.clone() };
    let (_, actions) = Turn::restore(limits, &stopped);
    let settled = [(b, Settle::Interrupted), (c, Settle::Stopped), (d, Settle::Stopped)];
    let mut ending: Vec<Action> = settled.map(|(call, how)| Action::Settle(call, how)).to_vec();
    ending.extend([Action::CloseBatch, Action::End(Ending::Stopped)]);
    assert_eq!(actions, ending, "what was stopped ends, and the queue stays");

    let (mut turn, actions) = Turn::restore(limits, &Restored { open, ..base.clone() });
    assert_eq!(actions, [Action::Settle(b, Settle::Interrupted)], "c waits again, d waits for c");
    assert_eq!(turn.on(Input::Allowed { call: c }), [Action::Start(c)]);
    assert_eq!(turn.on(Input::Ended { call: c }), [Action::Prepare(d)]);

    let open = vec![(a, key("1"), Known::Planned)];
    let (_, actions) =
        Turn::restore(limits, &Restored { open, message_ended: false, queued: 1, ..base.clone() });
    assert_eq!(
        actions,
        [Action::Settle(a, Settle::NotReached), Action::CloseBatch, Action::DrainQueue, Action::CallModel]
    );

    let open = vec![(a, key("1"), Known::Started)];
    let (_, actions) = Turn::restore(limits, &Restored { open, ..base });
    assert_eq!(actions, [Action::Settle(a, Settle::Interrupted), Action::CloseBatch, Action::CallModel]);
}

/// A driver as hostile as a real one may be: it answers in any order, repeats itself, presses Stop and
/// crashes at any moment.
struct World {
    turn: Turn,
    limits: Limits,
    /// Calls of the open message in order, with what a store would know.
    open: Vec<(CallId, CallKey, Known)>,
    past: Vec<CallKey>,
    results: HashSet<CallId>,
    all_calls: Vec<CallId>,
    preparing: Vec<CallId>,
    asking: Vec<CallId>,
    running: Vec<CallId>,
    cancelled: bool,
    thinking: bool,
    stopped: bool,
    ended: Option<Ending>,
    model_calls: u32,
    /// How often each call was started.
    starts: HashMap<CallKey, u32>,
    queued: usize,
}

impl World {
    fn new(limits: Limits) -> Self {
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

    fn known(&mut self, call: CallId, known: Known) {
        for slot in &mut self.open {
            if slot.0 == call {
                slot.2 = known;
            }
        }
    }

    fn result(&mut self, call: CallId) {
        assert!(self.results.insert(call), "a call got two results");
        self.known(call, Known::Ended);
    }

    fn feed(&mut self, input: Input) {
        let actions = self.turn.on(input);
        self.perform(actions);
    }

    fn perform(&mut self, actions: Vec<Action>) {
        for action in actions {
            assert!(self.ended.is_none(), "{action:?} after the end");
            if self.stopped {
                assert!(
                    matches!(
                        action,
                        Action::CancelModel
                            | Action::Cancel(_)
                            | Action::Settle(..)
                            | Action::CloseBatch
                            | Action::End(_)
                    ),
                    "{action:?} after a stop"
                );
            }
            match action {
                Action::CallModel => {
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
                Action::CancelModel => {
                    assert!(self.thinking);
                    self.cancelled = true;
                }
                Action::Prepare(call) => self.preparing.push(call),
                Action::Ask(call) => {
                    self.known(call, Known::Asking);
                    self.asking.push(call);
                }
                Action::Start(call) => {
                    assert!(!self.results.contains(&call), "started after its result");
                    let key = self.open.iter().find(|(id, ..)| *id == call).map(|(_, key, _)| key.clone());
                    let starts = self.starts.entry(key.expect("a call of the open message")).or_default();
                    *starts += 1;
                    assert!(*starts <= self.limits.same_call, "the same call was started {starts} times");
                    self.known(call, Known::Started);
                    self.running.push(call);
                }
                Action::Cancel(call) => assert!(self.running.contains(&call)),
                Action::Settle(call, _) => {
                    self.asking.retain(|open| *open != call);
                    self.preparing.retain(|open| *open != call);
                    self.result(call);
                }
                Action::CloseBatch => {
                    assert!(!self.open.is_empty());
                    assert!(self.open.iter().all(|(call, ..)| self.results.contains(call)));
                    self.past.extend(self.open.drain(..).map(|(_, key, _)| key));
                }
                Action::DrainQueue => self.queued = 0,
                Action::HintTruncation => {}
                Action::End(ending) => {
                    assert!(self.all_calls.iter().all(|call| self.results.contains(call)));
                    self.ended = Some(ending);
                }
            }
        }
    }

    fn answer(&mut self, tools: &[u8], finish: Finish) {
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
            (true, Finish::Complete) => self.feed(Input::ModelStopped { calls: ids }),
            (_, Finish::Refused) if tools.is_empty() => self.feed(Input::ModelFailed { calls: ids }),
            _ => self.feed(Input::Answered { calls, finish }),
        }
    }

    /// The process dies; `heard` is what of a message that was still coming is in the store.
    fn crash(&mut self, heard: &[u8]) {
        if self.ended.is_some() {
            return;
        }
        let cut = self.thinking && !heard.is_empty();
        if cut {
            self.open = planned(heard);
            self.all_calls.extend(self.open.iter().map(|(call, ..)| *call));
        }
        for (call, _, known) in &self.open {
            if *known == Known::Ended {
                assert!(self.results.contains(call));
            }
        }
        let stored = Restored {
            model_calls: self.model_calls,
            past: self.past.clone(),
            open: self.open.clone(),
            message_ended: !cut,
            queued: self.queued,
            stop: if self.stopped { Stop::Pressed } else { Stop::NotPressed },
        };
        self.preparing.clear();
        self.running.clear();
        self.asking = self.open.iter().filter(|slot| slot.2 == Known::Asking).map(|slot| slot.0).collect();
        (self.thinking, self.cancelled) = (false, false);
        let (turn, actions) = Turn::restore(self.limits, &stored);
        self.turn = turn;
        self.perform(actions);
    }
}

fn planned(tools: &[u8]) -> Vec<(CallId, CallKey, Known)> {
    tools.iter().map(|tool| (CallId::new(), key(&format!("tool{tool}")), Known::Planned)).collect()
}

#[derive(Clone, Debug)]
enum Move {
    Answer(Vec<u8>, Finish),
    Prepared(usize, Verdict),
    Allow(usize),
    Decline(usize),
    End(usize),
    Queue(usize),
    Stop,
    Crash(Vec<u8>),
    Stale,
}

fn order() -> impl Strategy<Value = Order> {
    prop_oneof![Just(Order::Parallel), Just(Order::Alone)]
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        6 => (
            prop::collection::vec(0..6u8, 0..5),
            prop_oneof![8 => Just(Finish::Complete), 1 => Just(Finish::Truncated), 1 => Just(Finish::Refused)]
        )
            .prop_map(|(tools, finish)| Move::Answer(tools, finish)),
        8 => (any::<usize>(), prop_oneof![
            order().prop_map(Verdict::Run),
            order().prop_map(Verdict::Ask),
            Just(Verdict::Failed)
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
        let limits = Limits { model_calls: 12, same_call: 3, refusals: 2, truncations: 2 };
        let mut world = World::new(limits);
        for step in moves {
            match step {
                Move::Answer(tools, finish) => world.answer(&tools, finish),
                Move::Prepared(at, verdict) => {
                    if let Some(call) = take(&mut world.preparing, at) {
                        if verdict == Verdict::Failed {
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
                    // Things that come too late or were never asked for change nothing.
                    let stranger = CallId::new();
                    for input in [
                        Input::Begin,
                        Input::Allowed { call: stranger },
                        Input::Declined { call: stranger },
                        Input::Ended { call: stranger },
                    ] {
                        prop_assert_eq!(world.turn.on(input), vec![]);
                    }
                }
            }
        }
        // Left alone from here on, with every call answered and ended, the turn comes to its end.
        for _ in 0..2_000 {
            if world.ended.is_some() {
                break;
            }
            if let Some(call) = take(&mut world.preparing, 0) {
                world.feed(Input::Prepared { call, verdict: Verdict::Run(Order::Alone) });
            } else if let Some(call) = take(&mut world.asking, 0) {
                world.feed(Input::Allowed { call });
            } else if let Some(call) = take(&mut world.running, 0) {
                world.result(call);
                world.feed(Input::Ended { call });
            } else {
                world.answer(&[], Finish::Complete);
            }
        }
        prop_assert!(world.ended.is_some(), "the turn hangs");
        prop_assert!(world.all_calls.iter().all(|call| world.results.contains(call)));
    }
}
