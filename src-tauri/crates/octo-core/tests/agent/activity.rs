//! The number of turns that run at once, the queue of waiting turns, and the list of all running work.

mod parts;

use super::{
    rig::{PATIENCE, Rig, reached, words},
    schedule::world::{DAY, HOUR, MINUTE, at_ten, last_run, runs, save, settled, world},
    sub_agent_rig::{TestSkills, cards, end_of, is_sub_agent, skill, sub_agent_script},
};
use octo_core::SkillTask;
use octo_protocol::{
    ActivityId, ActivityRow, ActivityState, ActivityStatus, Answer, AnswerBudget, BudgetAnswer, Budgets,
    ChangeSettings, Cost, Event, GetActivity, LiveTopic, LiveTurnLimit, Message, Mode, RetryTurn, RunStatus,
    SendOutcome, SettingsPatch, SkipReason, Snapshot, Source, StartDemo, StopActivity, StopAllActivity,
    SubAgentLimit, SubAgentStatus, Timing, TurnEnd, Update,
};
use octo_testkit::{Gate, RecordedRequest, Reply, Script};
use serde_json::json;
use std::{collections::HashMap, time::Duration};
use tokio::time::timeout;

const WORKS: ActivityStatus = ActivityStatus::Working;

fn queued(ahead: u32) -> ActivityStatus {
    ActivityStatus::Queued { ahead }
}

/// Creates a gate for each name, and a script that holds the answer to a message with that name and answers all
/// others.
fn gated<const N: usize>(names: [&'static str; N]) -> (Script, [Gate; N]) {
    let gates = names.map(|_| Gate::new());
    let by_name: HashMap<&str, Gate> = names.into_iter().zip(gates.clone()).collect();
    let script = Script::from_fn(move |request| {
        let said = asked(request);
        match by_name.get(said.as_str()) {
            Some(gate) => Reply::text(format!("answer to {said}")).hold_after(1, gate),
            None => Reply::text(format!("answer to {said}")),
        }
    });
    (script, gates)
}

/// Returns the person's last message.
fn asked(request: &RecordedRequest) -> String {
    request.user_text().lines().last().unwrap_or_default().trim().to_owned()
}

async fn set(rig: &Rig, patch: SettingsPatch) {
    rig.octo.call(ChangeSettings { patch }).await.unwrap();
}

async fn limit(rig: &Rig, limit: u32) {
    set(rig, SettingsPatch { live_turns: Some(LiveTurnLimit(limit)), ..SettingsPatch::default() }).await;
}

async fn state(rig: &Rig) -> ActivityState {
    rig.octo.call(GetActivity {}).await.unwrap()
}

/// Returns the status of each session's turn, by its title, in the order of the list.
async fn standing(rig: &Rig) -> Vec<(String, ActivityStatus)> {
    state(rig).await.rows.into_iter().map(|row| (row.name, row.status)).collect()
}

fn told(rows: &[(&str, ActivityStatus)]) -> Vec<(String, ActivityStatus)> {
    rows.iter().map(|(name, status)| ((*name).to_owned(), *status)).collect()
}

/// Returns the list as a window receives it, once it matches.
async fn heard(rig: &Rig, description: &str, predicate: impl Fn(&ActivityState) -> bool) -> ActivityState {
    let mut updates = rig.octo.subscribe(LiveTopic::Activity).await.unwrap();
    let mut last = None;
    let wait = async {
        loop {
            for update in updates.next().await.expect("it goes on") {
                let state = match update {
                    Update::Snapshot { snapshot: Snapshot::Activity { state } }
                    | Update::Activity { state } => state,
                    other => panic!("not of what runs: {other:?}"),
                };
                if predicate(&state) {
                    return state;
                }
                last = Some(state);
            }
        }
    };
    match timeout(PATIENCE, wait).await {
        Ok(state) => state,
        Err(_) => panic!("never {description}: {last:#?}"),
    }
}

async fn rows_when(rig: &Rig, description: &str, expected: &[(&str, ActivityStatus)]) {
    let expected = told(expected);
    heard(rig, description, |state| {
        let rows: Vec<_> = state.rows.iter().map(|row| (row.name.clone(), row.status)).collect();
        rows == expected
    })
    .await;
}

/// Returns the person's messages in the requests so far, in order.
fn said(rig: &Rig) -> Vec<String> {
    rig.server.requests().iter().map(asked).collect()
}

#[tokio::test]
async fn more_turns_than_may_work_wait_in_the_order_in_which_they_began() {
    let (script, [a, b, c, d]) = gated(["a", "b", "c", "d"]);
    let mut rig = Rig::new(script).await;
    limit(&rig, 2).await;
    let mut sessions = Vec::new();
    for name in ["a", "b", "c", "d"] {
        sessions.push(rig.start(Mode::Ask, name).await);
    }
    reached(&a).await;
    reached(&b).await;
    let all = [("a", WORKS), ("b", WORKS), ("c", queued(0)), ("d", queued(1))];
    assert_eq!(standing(&rig).await, told(&all));
    let now = state(&rig).await;
    assert_eq!((now.taken, now.places), (2, 2));
    assert_eq!(said(&rig), ["a", "b"], "nothing is sent for those that wait");

    b.open();
    assert_eq!(end_of(&mut rig, sessions[1]).await, TurnEnd::Finished);
    reached(&c).await;
    rows_when(&rig, "one place on", &[("a", WORKS), ("c", WORKS), ("d", queued(0))]).await;
    // A message to a waiting session belongs to the same turn; a message to a finished session is queued
    // behind.
    rig.send(sessions[1], "b again").await;
    rows_when(
        &rig,
        "the newest at the end",
        &[("a", WORKS), ("c", WORKS), ("d", queued(0)), ("b", queued(1))],
    )
    .await;
    for gate in [&a, &c, &d] {
        gate.open();
    }
    rows_when(&rig, "empty", &[]).await;
    assert_eq!(said(&rig), ["a", "b", "c", "d", "b again"]);
    rig.assert_sound();
}

#[tokio::test]
async fn stop_takes_a_turn_out_of_the_line_and_it_can_stand_in_it_again() {
    let (script, [a]) = gated(["a"]);
    let mut rig = Rig::new(script).await;
    limit(&rig, 1).await;
    rig.start(Mode::Ask, "a").await;
    reached(&a).await;
    let second = rig.start(Mode::Ask, "second").await;
    rig.start(Mode::Ask, "third").await;
    assert_eq!(standing(&rig).await[1..], told(&[("second", queued(0)), ("third", queued(1))]));
    rig.octo.call(StopActivity { id: ActivityId::Session { session: second } }).await.unwrap();
    assert_eq!(end_of(&mut rig, second).await, TurnEnd::Stopped);
    assert_eq!(standing(&rig).await, told(&[("a", WORKS), ("third", queued(0))]));
    let messages = rig.snapshot(second).await.page.messages;
    assert_eq!(messages.len(), 1, "what was said stays, and nothing is answered");
    // When it is stopped again it no longer exists, which is not an error.
    rig.octo.call(StopActivity { id: ActivityId::Session { session: second } }).await.unwrap();

    rig.octo.call(RetryTurn { session: second }).await.unwrap();
    assert_eq!(standing(&rig).await[1..], told(&[("third", queued(0)), ("second", queued(1))]));
    a.open();
    assert_eq!(end_of(&mut rig, second).await, TurnEnd::Finished);
    assert_eq!(said(&rig), ["a", "third", "second"]);
    rig.assert_sound();
}

#[tokio::test]
async fn after_a_restart_the_line_is_as_it_was_and_nothing_is_lost_or_doubled() {
    let (script, [a, b]) = gated(["a", "b"]);
    let mut rig = Rig::new(script).await;
    limit(&rig, 1).await;
    let mut sessions = Vec::new();
    for name in ["a", "b", "c", "d"] {
        sessions.push(rig.start(Mode::Ask, name).await);
    }
    reached(&a).await;
    rig.restart().await;
    let line = [("a", WORKS), ("b", queued(0)), ("c", queued(1)), ("d", queued(2))];
    assert_eq!(standing(&rig).await, told(&line));
    reached(&a).await;
    a.open();
    reached(&b).await;
    rig.restart().await;
    assert_eq!(standing(&rig).await, told(&[("b", WORKS), ("c", queued(0)), ("d", queued(1))]));
    b.open();
    rows_when(&rig, "empty", &[]).await;
    assert_eq!(said(&rig), ["a", "a", "b", "b", "c", "d"]);
    for (session, name) in sessions.into_iter().zip(["a", "b", "c", "d"]) {
        let snapshot = rig.snapshot(session).await;
        let whole: Vec<String> = snapshot.page.messages.iter().map(Message::text).collect();
        assert_eq!(whole, [name.to_owned(), format!("answer to {name}")]);
        assert_eq!(snapshot.page.turns.len(), 1);
    }
    rig.assert_sound();
}

fn writes_then(gate: &Gate) -> Script {
    let gate = gate.clone();
    Script::from_fn(move |request| match (asked(request).as_str(), request.results().len()) {
        ("ask me", 0) => Reply::call("write", json!({ "path": "a.txt", "content": "x\n" })),
        ("long", _) => Reply::text("long work").hold_after(1, &gate),
        _ => Reply::text("done"),
    })
}

#[tokio::test]
async fn a_turn_that_waits_for_the_person_gives_its_place_to_others() {
    let gate = Gate::new();
    let mut rig = Rig::new(writes_then(&gate)).await;
    limit(&rig, 1).await;
    let asks = rig.start(Mode::Ask, "ask me").await;
    let question = rig.question().await;
    let short = rig.start(Mode::Ask, "short").await;
    assert_eq!(end_of(&mut rig, short).await, TurnEnd::Finished);
    let long = rig.start(Mode::Ask, "long").await;
    reached(&gate).await;
    assert_eq!(standing(&rig).await, told(&[("ask me", ActivityStatus::NeedsYou), ("long", WORKS)]));

    // An allowed action runs at once; the model is called again once a permit is free.
    rig.answer(asks, &question, Answer::Once).await;
    rows_when(&rig, "waiting with its result", &[("ask me", queued(0)), ("long", WORKS)]).await;
    assert_eq!(rig.home.read("a.txt"), "x\n");
    assert_eq!(said(&rig), ["ask me", "short", "long"]);
    gate.open();
    assert_eq!(end_of(&mut rig, long).await, TurnEnd::Finished);
    assert_eq!(end_of(&mut rig, asks).await, TurnEnd::Finished);
    rig.assert_sound();
}

#[tokio::test]
async fn all_questions_of_a_batch_are_asked_while_the_place_is_another_turns() {
    let gate = Gate::new();
    let held_gate = gate.clone();
    let script = Script::from_fn(move |request| match (asked(request).as_str(), request.results().len()) {
        ("ask me", 0) => Reply::nothing()
            .and_call("write", json!({ "path": "a.txt", "content": "x\n" }))
            .and_call("write", json!({ "path": "b.txt", "content": "y\n" })),
        ("long", _) => Reply::text("long work").hold_after(1, &held_gate),
        _ => Reply::text("done"),
    });
    let mut rig = Rig::new(script).await;
    limit(&rig, 1).await;
    let asks = rig.start(Mode::Ask, "ask me").await;
    let first = rig.question().await;
    rig.start(Mode::Ask, "long").await;
    reached(&gate).await;
    rig.answer(asks, &first, Answer::Once).await;
    let second = rig.question().await;
    rig.answer(asks, &second, Answer::Once).await;
    rows_when(&rig, "waiting with its results", &[("ask me", queued(0)), ("long", WORKS)]).await;
    assert_eq!((rig.home.read("a.txt"), rig.home.read("b.txt")), ("x\n".to_owned(), "y\n".to_owned()));
    // It can still be stopped there, with all its work kept.
    rig.stop(asks).await;
    assert_eq!(end_of(&mut rig, asks).await, TurnEnd::Stopped);
    gate.open();
    rows_when(&rig, "empty", &[]).await;
    rig.assert_sound();
}

#[tokio::test]
async fn a_used_up_budget_holds_no_place_and_its_answer_waits_for_one() {
    let gate = Gate::new();
    let script = Script::from_fn({
        let gate = gate.clone();
        move |request| match (asked(request).as_str(), request.results().len()) {
            ("costly", 0) => Reply::call("glob", json!({ "pattern": "*" })),
            ("long", _) => Reply::text("long work").hold_after(1, &gate),
            _ => Reply::text("done"),
        }
    });
    let mut rig = Rig::priced(script, Duration::from_secs(90)).await;
    limit(&rig, 1).await;
    let budgets = Budgets { task: Some(Cost::from_nano_dollars(1_000)), ..Budgets::default() };
    set(&rig, SettingsPatch { budgets: Some(budgets), ..SettingsPatch::default() }).await;
    let costly = rig.start(Mode::Ask, "costly").await;
    rig.event("used-up budget", |event| matches!(event, Event::BudgetReached { .. }).then_some(())).await;
    let long = rig.start(Mode::Ask, "long").await;
    reached(&gate).await;
    let spent = state(&rig).await.rows[0].spending.unwrap();
    assert!(spent.cost >= Cost::from_nano_dollars(1_000) && spent.calls == 1, "{spent:?}");
    rig.octo.call(AnswerBudget { session: costly, answer: BudgetAnswer::NoLimit }).await.unwrap();
    rows_when(&rig, "waiting with its leave", &[("costly", queued(0)), ("long", WORKS)]).await;
    assert_eq!(rig.server.requests().len(), 2);
    gate.open();
    assert_eq!(end_of(&mut rig, long).await, TurnEnd::Finished);
    assert_eq!(end_of(&mut rig, costly).await, TurnEnd::Finished);
    rig.assert_sound();
}

#[tokio::test]
async fn a_higher_limit_counts_at_once_and_the_demo_takes_no_place() {
    let (script, [a, b]) = gated(["a", "b"]);
    let mut rig = Rig::new(script).await;
    limit(&rig, 1).await;
    rig.start(Mode::Ask, "a").await;
    rig.start(Mode::Ask, "b").await;
    reached(&a).await;
    let demo = rig.octo.call(StartDemo {}).await.unwrap();
    assert_eq!(demo.source, Source::Demo);
    rig.event("answer of the demo", |event| matches!(event, Event::BlockAdded { .. }).then_some(())).await;
    let now = state(&rig).await;
    assert_eq!((now.taken, now.places), (1, 1));
    rig.stop(demo.id).await;
    limit(&rig, 2).await;
    reached(&b).await;
    a.open();
    b.open();
    rows_when(&rig, "empty", &[]).await;
    // With zero nothing would ever start: the minimum is one.
    limit(&rig, 0).await;
    let last = rig.start(Mode::Ask, "last").await;
    assert_eq!(end_of(&mut rig, last).await, TurnEnd::Finished);
    rig.assert_sound();
}

#[cfg(unix)]
#[tokio::test]
async fn everything_is_in_one_list_and_stopped_by_its_row_or_all_at_once() {
    let gate = Gate::new();
    let held_gate = gate.clone();
    let endless = json!({ "command": "while :; do sleep 1; done", "async": true });
    let script = Script::from_fn(move |request| match (asked(request).as_str(), request.results().len()) {
        _ if is_sub_agent(request) => Reply::text("looking around").hold_after(1, &held_gate),
        ("serve", 0) => Reply::nothing()
            .and_call("terminal", endless.clone())
            .and_call("terminal", json!({ "command": "exec sleep 4000", "async": true })),
        ("fork", 0) => {
            Reply::nothing().and_call("invoke_skill", json!({ "skill_name": "explore", "task": "x" }))
        }
        _ => Reply::text("done"),
    });
    let mut rig = Rig::skilled(script, TestSkills::new()).await;
    let serve = rig.start(Mode::Autonomous, "serve").await;
    assert_eq!(end_of(&mut rig, serve).await, TurnEnd::Finished);
    let sub_agent = rig.start(Mode::Autonomous, "fork").await;
    reached(&gate).await;
    let all = heard(&rig, "four rows", |state| state.rows.len() == 4).await;
    let [turn, agent, first, second] = &all.rows[..] else { panic!("{all:#?}") };
    assert_eq!(turn.id, ActivityId::Session { session: sub_agent });
    assert_eq!((agent.name.as_str(), agent.of.as_ref().unwrap().title.as_str()), ("explore", "fork"));
    assert_eq!((first.name.as_str(), first.session), ("while :; do sleep 1; done", Some(serve)));
    assert_eq!(first.of.as_ref().unwrap().title, "serve");
    let known = |row: &ActivityRow| (row.steps, row.spending.map(|spent| spent.calls));
    assert_eq!([known(turn), known(first)], [(Some(1), Some(1)), (None, None)]);
    assert_eq!((all.taken, all.places), (1, 4), "commands take none, nor does a sub-agent");

    // Only the sub-agent stops: its parent continues.
    rig.octo.call(StopActivity { id: agent.id.clone() }).await.unwrap();
    assert_eq!(end_of(&mut rig, sub_agent).await, TurnEnd::Finished);
    rig.octo.call(StopActivity { id: first.id.clone() }).await.unwrap();
    let left = heard(&rig, "one row", |state| state.rows.len() == 1).await;
    assert_eq!(left.rows[0].id, second.id);

    // And all the rest, waiting turns first.
    limit(&rig, 1).await;
    let again = rig.start(Mode::Autonomous, "fork").await;
    reached(&gate).await;
    let waits = rig.start(Mode::Ask, "waits").await;
    heard(&rig, "four rows", |state| state.rows.len() == 4).await;
    assert_eq!(rig.octo.call(StopAllActivity {}).await.unwrap().count, 4);
    heard(&rig, "none", |state| state.rows.is_empty()).await;
    for session in [again, waits] {
        let turns = rig.snapshot(session).await.page.turns;
        assert_eq!(turns.last().unwrap().end, Some(TurnEnd::Stopped));
    }
    assert!(!said(&rig).contains(&"waits".to_owned()), "it never got a place");
    rig.assert_sound();
}

#[tokio::test]
async fn a_watcher_hears_of_each_change_and_a_session_that_is_deleted_leaves_the_line() {
    let (script, [a]) = gated(["a"]);
    let rig = Rig::new(script).await;
    limit(&rig, 1).await;
    let mut updates = rig.octo.subscribe(LiveTopic::Activity).await.unwrap();
    let first = updates.next().await.unwrap();
    assert_eq!(
        first,
        [Update::Snapshot {
            snapshot: Snapshot::Activity { state: ActivityState { rows: vec![], taken: 0, places: 1 } }
        }]
    );
    rig.start(Mode::Ask, "a").await;
    reached(&a).await;
    let doomed = rig.start(Mode::Ask, "doomed").await;
    rows_when(&rig, "two", &[("a", WORKS), ("doomed", queued(0))]).await;
    rig.octo.call(octo_protocol::DeleteSession { session: doomed }).await.unwrap();
    rows_when(&rig, "one", &[("a", WORKS)]).await;
    a.open();
    let mut last = None;
    while last.as_ref().is_none_or(|state: &ActivityState| !state.rows.is_empty()) {
        for update in timeout(PATIENCE, updates.next()).await.unwrap().unwrap() {
            if let Update::Activity { state } = update {
                last = Some(state);
            }
        }
    }
    assert_eq!(said(&rig), ["a"]);
    rig.assert_sound();
}

#[tokio::test]
async fn what_is_said_while_a_turn_waits_is_part_of_what_is_asked_then() {
    let (script, [a]) = gated(["a"]);
    let mut rig = Rig::new(script).await;
    limit(&rig, 1).await;
    rig.start(Mode::Ask, "a").await;
    reached(&a).await;
    let (kept, waits) = (rig.start(Mode::Ask, "kept").await, rig.start(Mode::Ask, "b").await);
    for (session, more) in [(kept, "and more"), (waits, "and c")] {
        assert!(matches!(rig.send(session, more).await, SendOutcome::Queued { .. }));
        assert_eq!(rig.snapshot(session).await.queue.len(), 1);
    }
    // A restart preserves it too.
    rig.restart().await;
    rig.send(waits, "and d").await;
    a.open();
    rows_when(&rig, "empty", &[]).await;
    for (session, expected) in [(kept, ["kept", "and more"].as_slice()), (waits, &["b", "and c", "and d"])] {
        let snapshot = rig.snapshot(session).await;
        let texts: Vec<String> = snapshot.page.messages.iter().map(Message::text).collect();
        let (answer, earlier) = texts.split_last().unwrap();
        assert_eq!(earlier, expected, "each once");
        assert_eq!(*answer, format!("answer to {}", expected.last().unwrap()), "with one answer");
        assert!(snapshot.queue.is_empty());
    }
    assert_eq!(said(&rig), ["a", "a", "and more", "and d"]);
    rig.assert_sound();
}
