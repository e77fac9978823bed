//! The agent loop as a table; its rules as properties are in [`properties`].

mod properties;

use super::*;

fn key(tool: &str) -> CallKey {
    CallKey { tool: tool.into(), arguments: "{}".into() }
}

fn answered(calls: &[CallId]) -> Input {
    let calls = calls.iter().enumerate().map(|(n, call)| (*call, key(&format!("tool{n}")))).collect();
    Input::Answered { calls, finish: MessageFinish::Complete }
}

fn done() -> Input {
    Input::Answered { calls: Vec::new(), finish: MessageFinish::Complete }
}

fn run(call: CallId, order: CallOrder) -> Input {
    Input::Prepared { call, verdict: CallVerdict::Run(order) }
}

fn thinking() -> Turn {
    let mut turn = Turn::new(TurnLimits::default());
    assert_eq!(turn.handle(Input::Begin), [TurnAction::CallModel]);
    turn
}

#[test]
fn an_answer_without_calls_ends_the_turn() {
    let mut turn = thinking();
    assert_eq!(turn.handle(done()), [TurnAction::End(TurnEnding::Finished)]);
    assert_eq!(turn.handle(Input::Stop), []);
}

#[test]
fn a_waiting_message_keeps_the_turn_going() {
    let mut turn = thinking();
    turn.handle(Input::Queued(2));
    assert_eq!(turn.handle(done()), [TurnAction::DrainQueue, TurnAction::CallModel]);
    assert_eq!(turn.handle(done()), [TurnAction::End(TurnEnding::Finished)]);
}

#[test]
fn a_turn_may_begin_with_calls_of_the_persons_and_asks_the_model_after_them() {
    let call = CallId::new();
    let begin = || Input::BeginWith { calls: vec![(call, key("invoke_skill"))] };
    let mut turn = Turn::new(TurnLimits::default());
    assert_eq!(turn.handle(begin()), [TurnAction::Prepare(call)]);
    assert_eq!(turn.handle(begin()), [], "it begins once");
    assert_eq!(turn.handle(run(call, CallOrder::Parallel)), [TurnAction::Start(call)]);
    assert_eq!(turn.handle(Input::Ended { call }), [TurnAction::CloseBatch, TurnAction::CallModel]);
    assert_eq!(turn.handle(done()), [TurnAction::End(TurnEnding::Finished)]);

    let mut stopped = Turn::new(TurnLimits::default());
    stopped.handle(begin());
    let settled = TurnAction::Settle(call, SettleReason::Stopped);
    assert_eq!(
        stopped.handle(Input::Stop),
        [settled, TurnAction::CloseBatch, TurnAction::End(TurnEnding::Stopped)]
    );
}

#[test]
fn calls_that_read_run_together_and_the_one_that_writes_waits_for_them() {
    let mut turn = thinking();
    let [a, b, c] = [CallId::new(), CallId::new(), CallId::new()];
    assert_eq!(turn.handle(answered(&[a, b, c])), [TurnAction::Prepare(a)]);
    assert_eq!(turn.handle(run(a, CallOrder::Parallel)), [TurnAction::Start(a), TurnAction::Prepare(b)]);
    assert_eq!(turn.handle(run(b, CallOrder::Parallel)), [TurnAction::Start(b), TurnAction::Prepare(c)]);
    assert_eq!(turn.handle(run(c, CallOrder::Alone)), []);
    assert_eq!(turn.handle(Input::Ended { call: b }), []);
    assert_eq!(turn.handle(Input::Ended { call: a }), [TurnAction::Start(c)]);
    assert_eq!(turn.handle(Input::Ended { call: c }), [TurnAction::CloseBatch, TurnAction::CallModel]);
}

#[test]
fn a_call_behind_one_that_writes_is_prepared_only_after_it() {
    let mut turn = thinking();
    let [a, b] = [CallId::new(), CallId::new()];
    assert_eq!(turn.handle(answered(&[a, b])), [TurnAction::Prepare(a)]);
    assert_eq!(turn.handle(run(a, CallOrder::Alone)), [TurnAction::Start(a)]);
    assert_eq!(turn.handle(Input::Ended { call: a }), [TurnAction::Prepare(b)]);
}

#[test]
fn a_no_settles_what_was_planned_behind_it_and_the_model_hears_of_it() {
    let mut turn = thinking();
    let [a, b] = [CallId::new(), CallId::new()];
    turn.handle(answered(&[a, b]));
    assert_eq!(
        turn.handle(Input::Prepared { call: a, verdict: CallVerdict::Ask(CallOrder::Alone) }),
        [TurnAction::Ask(a)]
    );
    assert_eq!(
        turn.handle(Input::Declined { call: a }),
        [TurnAction::Settle(b, SettleReason::Skipped), TurnAction::CloseBatch, TurnAction::CallModel]
    );
}

#[test]
fn a_yes_starts_the_call() {
    let mut turn = thinking();
    let a = CallId::new();
    turn.handle(answered(&[a]));
    turn.handle(Input::Prepared { call: a, verdict: CallVerdict::Ask(CallOrder::Alone) });
    assert_eq!(turn.handle(Input::Allowed { call: a }), [TurnAction::Start(a)]);
    assert_eq!(turn.handle(Input::Allowed { call: a }), [], "a second yes starts nothing twice");
}

#[test]
fn stop_while_thinking_cancels_and_gives_whole_calls_a_result() {
    let mut turn = thinking();
    let a = CallId::new();
    assert_eq!(turn.handle(Input::Stop), [TurnAction::CancelModel]);
    assert_eq!(turn.handle(Input::Stop), [], "a second Stop adds nothing");
    assert_eq!(
        turn.handle(Input::ModelStopped { calls: vec![a] }),
        [
            TurnAction::Settle(a, SettleReason::Stopped),
            TurnAction::CloseBatch,
            TurnAction::End(TurnEnding::Stopped)
        ]
    );
}

#[test]
fn stop_while_acting_cancels_what_runs_and_settles_the_rest() {
    let mut turn = thinking();
    let [a, b] = [CallId::new(), CallId::new()];
    turn.handle(answered(&[a, b]));
    turn.handle(run(a, CallOrder::Alone));
    assert_eq!(
        turn.handle(Input::Stop),
        [TurnAction::Cancel(a), TurnAction::Settle(b, SettleReason::Stopped)]
    );
    assert_eq!(
        turn.handle(Input::Ended { call: a }),
        [TurnAction::CloseBatch, TurnAction::End(TurnEnding::Stopped)]
    );
}

#[test]
fn stop_while_asking_withdraws_the_question() {
    let mut turn = thinking();
    let a = CallId::new();
    turn.handle(answered(&[a]));
    turn.handle(Input::Prepared { call: a, verdict: CallVerdict::Ask(CallOrder::Alone) });
    assert_eq!(
        turn.handle(Input::Stop),
        [
            TurnAction::Settle(a, SettleReason::Stopped),
            TurnAction::CloseBatch,
            TurnAction::End(TurnEnding::Stopped)
        ]
    );
    assert_eq!(turn.handle(Input::Allowed { call: a }), [], "an answer after Stop starts nothing");
}

#[test]
fn a_cut_answer_is_hinted_at_twice_and_its_calls_never_run() {
    let mut turn = thinking();
    let a = CallId::new();
    let cut = |calls: Vec<(CallId, CallKey)>| Input::Answered { calls, finish: MessageFinish::Truncated };
    assert_eq!(
        turn.handle(cut(vec![(a, key("write"))])),
        [
            TurnAction::Settle(a, SettleReason::Truncated),
            TurnAction::CloseBatch,
            TurnAction::HintTruncation,
            TurnAction::CallModel
        ]
    );
    assert_eq!(turn.handle(cut(Vec::new())), [TurnAction::HintTruncation, TurnAction::CallModel]);
    assert_eq!(turn.handle(cut(Vec::new())), [TurnAction::End(TurnEnding::Truncated)]);
}

#[test]
fn the_same_call_again_and_again_is_refused_and_then_ends_the_turn() {
    let limits = TurnLimits { same_call: 2, refusals: 2, ..TurnLimits::default() };
    let mut turn = Turn::new(limits);
    turn.handle(Input::Begin);
    for _ in 0..2 {
        let call = CallId::new();
        turn.handle(Input::Answered { calls: vec![(call, key("grep"))], finish: MessageFinish::Complete });
        turn.handle(run(call, CallOrder::Parallel));
        turn.handle(Input::Ended { call });
    }
    let again = |turn: &mut Turn| {
        let call = CallId::new();
        let actions = turn
            .handle(Input::Answered { calls: vec![(call, key("grep"))], finish: MessageFinish::Complete });
        assert_eq!(actions[0], TurnAction::Settle(call, SettleReason::Repeated));
        actions
    };
    assert_eq!(again(&mut turn)[1..], [TurnAction::CloseBatch, TurnAction::CallModel]);
    assert_eq!(again(&mut turn)[1..], [TurnAction::CloseBatch, TurnAction::End(TurnEnding::Looping)]);
}

#[test]
fn model_calls_are_bounded() {
    let mut turn = Turn::new(TurnLimits { model_calls: 1, ..TurnLimits::default() });
    turn.handle(Input::Begin);
    let a = CallId::new();
    turn.handle(answered(&[a]));
    turn.handle(run(a, CallOrder::Alone));
    assert_eq!(
        turn.handle(Input::Ended { call: a }),
        [TurnAction::CloseBatch, TurnAction::End(TurnEnding::TooLong)]
    );
}

#[test]
fn restore_table() {
    let [a, b, c, d] = [CallId::new(), CallId::new(), CallId::new(), CallId::new()];
    let base = StoredTurnState {
        model_calls: 1,
        past: Vec::new(),
        open: Vec::new(),
        message_ended: true,
        queued: 0,
        stop: StopState::NotPressed,
    };
    let limits = TurnLimits::default();

    let (_, actions) = Turn::restore(limits, &base);
    assert_eq!(actions, [TurnAction::CallModel], "nothing owed: the model is called");

    let open = vec![
        (a, key("1"), StoredCallState::Ended),
        (b, key("2"), StoredCallState::Started),
        (c, key("3"), StoredCallState::Asking),
        (d, key("4"), StoredCallState::Planned),
    ];
    let stopped = StoredTurnState { open: open.clone(), stop: StopState::Pressed, queued: 1, ..base.clone() };
    let (_, actions) = Turn::restore(limits, &stopped);
    let settled = [(b, SettleReason::Interrupted), (c, SettleReason::Stopped), (d, SettleReason::Stopped)];
    let mut ending: Vec<TurnAction> = settled.map(|(call, how)| TurnAction::Settle(call, how)).to_vec();
    ending.extend([TurnAction::CloseBatch, TurnAction::End(TurnEnding::Stopped)]);
    assert_eq!(actions, ending, "what was stopped ends, and the queue stays");

    let (mut turn, actions) = Turn::restore(limits, &StoredTurnState { open, ..base.clone() });
    assert_eq!(actions, [TurnAction::Settle(b, SettleReason::Interrupted)], "c waits again, d waits for c");
    assert_eq!(turn.handle(Input::Allowed { call: c }), [TurnAction::Start(c)]);
    assert_eq!(turn.handle(Input::Ended { call: c }), [TurnAction::Prepare(d)]);

    let open = vec![(a, key("1"), StoredCallState::Planned)];
    let (_, actions) =
        Turn::restore(limits, &StoredTurnState { open, message_ended: false, queued: 1, ..base.clone() });
    assert_eq!(
        actions,
        [
            TurnAction::Settle(a, SettleReason::NotReached),
            TurnAction::CloseBatch,
            TurnAction::DrainQueue,
            TurnAction::CallModel
        ]
    );

    let open = vec![(a, key("1"), StoredCallState::Started)];
    let (_, actions) = Turn::restore(limits, &StoredTurnState { open, ..base });
    assert_eq!(
        actions,
        [TurnAction::Settle(a, SettleReason::Interrupted), TurnAction::CloseBatch, TurnAction::CallModel]
    );
}
