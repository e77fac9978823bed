//! Stop halts within three seconds, kills running processes, and keeps all results.

use super::rig::{Rig, answers, statuses};
use octo_protocol::{Block, CallStatus, MessageEnd, Mode, NoticeKind, RetryTurn, SessionStatus, TurnEnd};
use octo_testkit::{Gate, Reply, Script};
use serde_json::json;
use std::time::{Duration, Instant};

#[tokio::test]
async fn stopped_while_it_streams_the_text_stays_and_the_session_goes_on() {
    let gate = Gate::new();
    let script = Script::new()
        .reply(Reply::text("The first part and the rest").in_chunks(3).hold_after(1, &gate))
        .text("again");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Ask, "tell").await;
    gate.reached().await;
    rig.event("nothing but time", |event| {
        matches!(event, octo_protocol::Event::MessageStarted { .. }).then_some(())
    })
    .await;
    // The piece before the gate is in transit: wait until it is visible, then stop.
    while rig.snapshot(session).await.streaming.is_empty() {
        tokio::task::yield_now().await;
    }
    let started = Instant::now();
    rig.stop(session).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Stopped);
    assert!(started.elapsed() < Duration::from_secs(3));
    let snapshot = rig.snapshot(session).await;
    assert_eq!(answers(&snapshot), "The first");
    assert_eq!(snapshot.page.messages.last().and_then(|message| message.meta.end), Some(MessageEnd::Stopped));
    assert_eq!(snapshot.info.status, SessionStatus::Idle);
    rig.send(session, "go on").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    rig.assert_sound();
}

#[cfg(unix)]
#[tokio::test]
async fn stopped_while_a_command_runs_its_processes_are_gone() {
    let line = "echo $$ > pid; (sleep 300 & echo $! > child; wait) ; echo never > after";
    let script = Script::new()
        .calls([("terminal", json!({ "command": line })), ("write", json!({ "path": "x", "content": "x" }))])
        .text("next");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Autonomous, "run").await;
    rig.call_started("terminal").await;
    let child = rig.home.work().join("child");
    while std::fs::read_to_string(&child).unwrap_or_default().trim().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let started = Instant::now();
    rig.stop(session).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Stopped);
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    for file in ["pid", "child"] {
        let pid = rig.home.read(file);
        let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        assert!(state.is_empty() || state.contains(") Z "), "{file} {pid} still runs: {state}");
    }
    assert!(!rig.home.work().join("after").exists() && !rig.home.work().join("x").exists());
    assert_eq!(statuses(&rig.snapshot(session).await), [CallStatus::Stopped; 2]);
    rig.send(session, "and now?").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    rig.assert_sound();
}

#[tokio::test]
async fn stopped_while_a_question_waits_it_is_withdrawn() {
    let script = Script::new().call("write", json!({ "path": "x", "content": "x" })).text("ok");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Ask, "write").await;
    let question = rig.question().await;
    rig.stop(session).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Stopped);
    let late =
        octo_protocol::AnswerQuestion { session, question: question.id, answer: octo_protocol::Answer::Once };
    assert_eq!(rig.octo.call(late).await.unwrap_err().key, "question.gone");
    assert!(!rig.home.work().join("x").exists());
    rig.assert_sound();
}

#[tokio::test]
async fn messages_that_waited_at_stop_stay_and_go_along_with_the_next_one() {
    let gate = Gate::new();
    let script = Script::new().reply(Reply::text("abc").hold_after(1, &gate)).text("done");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Ask, "one").await;
    gate.reached().await;
    rig.send(session, "two").await;
    rig.stop(session).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Stopped);
    assert_eq!(rig.snapshot(session).await.queue.len(), 1);
    rig.send(session, "three").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let last = rig.server.requests().last().unwrap().user_text();
    assert!(last.find("two").unwrap() < last.find("three").unwrap());
    rig.assert_sound();
}

#[tokio::test]
async fn retry_goes_on_from_where_it_was_stopped() {
    let gate = Gate::new();
    let script =
        Script::new().reply(Reply::text("abcdef").in_chunks(3).hold_after(2, &gate)).text("finished");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Ask, "work").await;
    gate.reached().await;
    while rig.snapshot(session).await.streaming.is_empty() {
        tokio::task::yield_now().await;
    }
    rig.stop(session).await;
    rig.turn_end().await;
    rig.octo.call(RetryTurn { session }).await.unwrap();
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let snapshot = rig.snapshot(session).await;
    let matching = snapshot
        .page
        .messages
        .iter()
        .flat_map(|message| &message.blocks)
        .any(|block| matches!(block, Block::Notice { kind: NoticeKind::Interrupted, .. }));
    assert!(matching, "no message is made up in the person's name");
    rig.assert_sound();
}

#[cfg(unix)]
#[tokio::test]
async fn what_was_stopped_does_not_come_back_with_the_next_start() {
    // It ignores its termination, so Octo is closed while still stopping it.
    let script = Script::new()
        .call("terminal", json!({ "command": "trap '' TERM; touch up; while :; do sleep 1; done" }))
        .text("never asked for");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Autonomous, "run").await;
    rig.call_started("terminal").await;
    while !rig.home.work().join("up").exists() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    rig.stop(session).await;
    rig.restart().await;
    let snapshot = rig.snapshot(session).await;
    assert_eq!(snapshot.info.status, SessionStatus::Idle);
    assert_eq!(statuses(&snapshot), [CallStatus::Stopped]);
    assert_eq!(rig.server.requests().len(), 1);
    rig.assert_sound();
}

#[tokio::test]
async fn stopped_while_a_failed_call_waits_for_its_next_try_nothing_more_is_sent() {
    let busy = Reply::error(529, "overloaded_error", "busy").header("retry-after", "200");
    let mut rig = Rig::new(Script::new().reply(busy).text("never asked for")).await;
    let session = rig.start(Mode::Ask, "say it").await;
    rig.event("scheduled retry", |event| {
        matches!(event, octo_protocol::Event::RetryScheduled { .. }).then_some(())
    })
    .await;
    rig.stop(session).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Stopped);
    let snapshot = rig.snapshot(session).await;
    assert_eq!((snapshot.retry, snapshot.info.status), (None, SessionStatus::Idle));
    assert_eq!(rig.server.requests().len(), 1);
    rig.assert_sound();
}
