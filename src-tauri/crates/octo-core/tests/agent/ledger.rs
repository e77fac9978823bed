//! Every model call has its ledger line: its purpose, its usage, and the tokens it should have read.

use super::rig::Rig;
use octo_protocol::{
    AboveIdeal, BilledCall, CallOutcome, CallsOfTurn, Cost, DeleteSession, Event, LiveTopic, MissClass, Mode,
    Purpose, ReportSpending, SessionId, Snapshot, TurnEnd, Update,
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
    // The server evicted the cache in between, and nothing on this side explains it.
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
    // The server's clock is ahead of ours from now on: it has evicted the cache, and we cannot know why.
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

const IDLE: Duration = Duration::from_secs(90);

#[tokio::test]
async fn what_was_paid_again_is_reported_by_its_reason_with_what_it_cost_above_reading() {
    let script = Script::new().text("one").text("two").text("three");
    let mut rig = Rig::priced(script, IDLE).await;
    let session = rig.start(Mode::Ask, &"Work with this long text. ".repeat(400)).await;
    rig.turn_end().await;
    rig.send(session, "and now?").await;
    rig.turn_end().await;
    let all = ReportSpending { from: 0, to: i64::MAX };
    let report = rig.octo.call(all.clone()).await.unwrap();
    assert_eq!((report.misses.as_slice(), report.dearest.as_slice()), (&[][..], &[][..]));
    assert_eq!(report.above, AboveIdeal::default());

    rig.server.advance(Duration::from_secs(301));
    rig.send(session, "still there?").await;
    rig.turn_end().await;
    let lines = lines(&rig, session).await;
    let (missed, usage) = (&lines[2], lines[2].usage.unwrap());
    assert_eq!(usage.cache_read, 0);
    assert_eq!(Some(missed.again), missed.expected_read, "nothing was read: all of it was paid again");
    // Written for 3.75 dollars per million, read for 0.30.
    assert_eq!(missed.again_cost, Some(Cost::from_nano_dollars(missed.again * 3_450)));

    let report = rig.octo.call(all).await.unwrap();
    let [line] = report.misses.as_slice() else { panic!("one reason: {report:?}") };
    assert_eq!((line.class, line.calls, line.unpriced), (MissClass::ProviderSilent, 1, 0));
    assert_eq!((line.again, Some(line.cost)), (missed.again, missed.again_cost));
    let [call] = report.dearest.as_slice() else { panic!("one call: {report:?}") };
    assert_eq!((call.session, call.at, call.cost), (session, missed.at, missed.again_cost));
    assert!(call.title.as_ref().is_some_and(|title| title.starts_with("Work with")), "{call:?}");
    assert_eq!((Some(report.above.total()), report.above.unpriced), (missed.again_cost, 0));
    // Another period contains none of it.
    let before = rig.octo.call(ReportSpending { from: 0, to: missed.at }).await.unwrap();
    assert_eq!((before.misses.len(), before.above), (0, AboveIdeal::default()));
    // A deleted session's words are not shown, but its spending is.
    rig.octo.call(DeleteSession { session }).await.unwrap();
    let left = rig.octo.call(ReportSpending { from: 0, to: i64::MAX }).await.unwrap();
    assert_eq!((left.dearest[0].title.clone(), left.misses), (None, report.misses));
    rig.assert_sound();
}

#[tokio::test]
async fn what_is_kept_for_an_hour_is_counted_and_paid_as_that() {
    let markers = json!({ "limit": 4, "lookback": 20, "lives": ["hour"] });
    let caching = json!({ "kind": { "markers": markers }, "minimum": 1024 });
    let mut rig = Rig::priced_with(Script::new().text("one"), IDLE, &caching).await;
    let session = rig.start(Mode::Ask, &"Work with this long text. ".repeat(400)).await;
    rig.turn_end().await;
    let line = lines(&rig, session).await.remove(0);
    let usage = line.usage.unwrap();
    assert!(usage.cache_write > 1_024);
    assert_eq!(line.written_for_an_hour, usage.cache_write, "every marker asked for an hour");
    let cost = usage.input * 3_000 + usage.cache_write * 6_000 + usage.output * 15_000;
    assert_eq!(line.cost, Some(Cost::from_nano_dollars(cost)));
    rig.assert_sound();
}

#[tokio::test]
async fn who_watches_the_ledger_is_told_of_every_call_of_every_session_once() {
    let script = Script::from_fn(|_| octo_testkit::Reply::text("fine"));
    let mut rig = Rig::new(script).await;
    let mut ledger = rig.octo.subscribe(LiveTopic::Ledger).await.unwrap();
    let first = ledger.next().await.unwrap();
    assert_eq!(first, [Update::Snapshot { snapshot: Snapshot::Ledger {} }]);
    let mut started = Vec::new();
    for text in ["hello", "good day"] {
        started.push(rig.start(Mode::Ask, text).await);
        rig.turn_end().await;
    }
    let mut reported = Vec::new();
    while reported.len() < 2 {
        for update in tokio::time::timeout(super::rig::PATIENCE, ledger.next()).await.unwrap().unwrap() {
            let Update::Billed { session, call } = update else { panic!("nothing else: {update:?}") };
            reported.push((session, call.message));
        }
    }
    let mut stored = Vec::new();
    for session in started {
        stored.extend(lines(&rig, session).await.into_iter().map(|line| (session, line.message)));
    }
    assert_eq!(reported, stored);
}

#[tokio::test]
async fn what_was_asked_for_when_octo_ended_is_paid_for_and_counted() {
    let gate = octo_testkit::Gate::new();
    let script =
        Script::new().reply(Reply::text("half of").in_chunks(2).hold_after(1, &gate)).text("the whole");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Ask, &"Work with this long text. ".repeat(400)).await;
    super::rig::reached(&gate).await;
    // The provider's first piece of the answer is in transit: wait until it is visible.
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
