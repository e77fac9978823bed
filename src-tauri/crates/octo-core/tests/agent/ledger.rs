//! Every model call has its line: what it was for, what it used, what it should have read.

use super::rig::Rig;
use octo_protocol::{
    BilledCall, CallOutcome, CallsOfTurn, Event, Mode, Purpose, ReportSpending, SessionId, TurnEnd,
};
use octo_testkit::{Reply, Script};
use serde_json::json;
use std::time::Duration;

async fn lines(rig: &Rig, session: SessionId) -> Vec<BilledCall> {
    let mut lines = Vec::new();
    for turn in rig.snapshot(session).await.page.turns {
        lines.extend(rig.octo.call(CallsOfTurn { session, turn: turn.id }).await.unwrap().calls);
    }
    lines
}

#[tokio::test]
async fn calls_have_lines_and_the_second_reads_what_the_first_wrote() {
    let script = Script::new()
        .reply(Reply::error(529, "overloaded_error", "busy").header("retry-after", "0"))
        .call("write", json!({ "path": "a.txt", "content": "a\n" }))
        .text("done")
        .text("again");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Autonomous, &"Work with this long text. ".repeat(400)).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    rig.send(session, "and once more").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);

    let lines = lines(&rig, session).await;
    let outcomes: Vec<_> = lines.iter().map(|line| (line.outcome, line.usage.is_some())).collect();
    let answered = (CallOutcome::Answered, true);
    assert_eq!(outcomes, [(CallOutcome::Failed, false), answered, answered, answered]);
    assert!(lines.iter().all(|line| line.purpose == Purpose::Turn && line.name == "scripted"));
    assert!(lines.iter().all(|line| line.cost.is_none()), "nobody knows what a scripted model costs");
    assert!(lines[1..].iter().all(|line| line.first_byte_ms.is_some()));
    assert_eq!((lines[1].expected_read, lines[1].miss), (None, None), "nothing came before it");
    for pair in lines[1..].windows(2) {
        let (before, usage) = (pair[0].usage.unwrap(), pair[1].usage.unwrap());
        assert!(before.cache_read + before.cache_write > 1_024);
        assert_eq!(pair[1].expected_read, Some(before.cache_read + before.cache_write));
        assert_eq!(usage.cache_read, before.cache_read + before.cache_write);
        assert_eq!(pair[1].miss, None);
    }
    let snapshot = rig.snapshot(session).await;
    assert_eq!((snapshot.spending.calls, snapshot.spending.unpriced), (4, 4));
    assert_eq!(snapshot.spending.usage, snapshot.info.usage, "the two ways to count agree");
    let report = rig.octo.call(ReportSpending { from: 0, to: i64::MAX }).await.unwrap();
    let [line] = report.lines.as_slice() else { panic!("one day, one model: {report:?}") };
    assert_eq!(line.spending, snapshot.spending);
    rig.assert_sound();
}

#[tokio::test]
async fn the_first_call_after_a_restart_is_expected_to_read_what_the_last_one_left() {
    let mut rig = Rig::new(Script::new().text("one").text("two").text("three")).await;
    let session = rig.start(Mode::Ask, &"Work with this long text. ".repeat(400)).await;
    rig.turn_end().await;
    rig.restart().await;
    rig.send(session, "still there?").await;
    rig.turn_end().await;
    rig.restart().await;
    // The server forgot in between, and nothing on this side explains it.
    rig.server.advance(Duration::from_secs(301));
    rig.send(session, "and now?").await;
    rig.turn_end().await;
    let lines = lines(&rig, session).await;
    let wrote = |line: &BilledCall| line.usage.map(|usage| usage.cache_read + usage.cache_write);
    assert!(lines[0].usage.unwrap().cache_write > 1_024);
    for pair in lines.windows(2) {
        assert_eq!(pair[1].expected_read, wrote(&pair[0]));
    }
    let misses: Vec<_> = lines.iter().map(|line| line.miss).collect();
    assert_eq!(misses, [None, None, Some(octo_protocol::CacheMiss::ProviderSilent)]);
    rig.assert_sound();
}

#[tokio::test]
async fn a_pause_longer_than_the_cache_lives_is_named() {
    let mut rig = Rig::new(Script::new().text("one").text("two")).await;
    let session = rig.start(Mode::Ask, &"Work with this long text. ".repeat(400)).await;
    rig.turn_end().await;
    // The server's clock is ahead of ours from now on: it has forgotten, and we cannot know why.
    rig.server.advance(Duration::from_secs(301));
    rig.send(session, "still there?").await;
    let miss = rig
        .event("line with a miss", |event| match event {
            Event::CallBilled { call } => call.miss.map(|miss| (miss, call.expected_read)),
            _ => None,
        })
        .await;
    assert_eq!(miss.0, octo_protocol::CacheMiss::ProviderSilent);
    assert!(miss.1.is_some_and(|tokens| tokens > 1_024));
    rig.turn_end().await;
    rig.assert_sound();
}

#[tokio::test]
async fn what_was_asked_for_when_octo_ended_is_paid_for_and_counted() {
    let gate = octo_testkit::Gate::new();
    let script =
        Script::new().reply(Reply::text("half of").in_chunks(2).hold_after(1, &gate)).text("the whole");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Ask, &"Work with this long text. ".repeat(400)).await;
    super::rig::reached(&gate).await;
    // What the provider says at the beginning of its answer is on its way: wait until the answer is seen.
    while rig.snapshot(session).await.streaming.is_empty() {
        tokio::task::yield_now().await;
    }
    rig.restart().await;
    gate.open();
    while rig.snapshot(session).await.info.status != octo_protocol::SessionStatus::Idle {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let lines = lines(&rig, session).await;
    let outcomes: Vec<_> = lines.iter().map(|line| line.outcome).collect();
    assert_eq!(outcomes, [CallOutcome::Stopped, CallOutcome::Answered]);
    let first = lines[0].usage.expect("it was said at the beginning");
    assert!(first.total_input() > 2_000);
    let snapshot = rig.snapshot(session).await;
    assert!(snapshot.info.usage.total_input() >= first.total_input() + lines[1].usage.unwrap().total_input());
    assert_eq!(snapshot.info.usage, snapshot.spending.usage);
    rig.assert_sound();
}
