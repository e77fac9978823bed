//! Closing and opening: everything is as it was, and what was under way goes on.

use super::rig::{Rig, statuses};
use octo_protocol::{Answer, CallState, CallStatus, Mode, SessionStatus, TurnEnd};
use octo_testkit::{Gate, Reply, Script};
use serde_json::json;

#[tokio::test]
async fn a_question_waits_again_after_a_restart_and_its_answer_counts() {
    let calls = [
        ("file_reader", json!({ "path": "a.txt" })),
        ("write", json!({ "path": "a.txt", "content": "new\n" })),
        ("glob", json!({ "pattern": "*.txt" })),
    ];
    let mut rig = Rig::new(Script::new().calls(calls).text("all done")).await;
    rig.home.write("a.txt", "old\n");
    let session = rig.start(Mode::Ask, "change it").await;
    let question = rig.question().await;
    let before = rig.snapshot(session).await;
    rig.restart().await;
    let after = rig.snapshot(session).await;
    assert_eq!(after.questions, std::slice::from_ref(&question), "the same question");
    assert_eq!(after.info.status, SessionStatus::Waiting);
    assert_eq!(after.page, before.page);
    rig.answer(session, &question, Answer::Once).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert_eq!(rig.home.read("a.txt"), "new\n");
    assert_eq!(statuses(&rig.snapshot(session).await), [CallStatus::Done; 3]);
    rig.assert_sound();
}

#[tokio::test]
async fn a_call_that_ran_when_octo_ended_is_interrupted_and_the_turn_goes_on() {
    let script = Script::new().call("terminal", json!({ "command": "sleep 300" })).text("I will check");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Autonomous, "run").await;
    rig.call_started("terminal").await;
    rig.restart().await;
    while rig.snapshot(session).await.info.status != SessionStatus::Idle {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let snapshot = rig.snapshot(session).await;
    assert_eq!(statuses(&snapshot), [CallStatus::Interrupted]);
    assert!(matches!(snapshot.page.calls[0].state, CallState::Ended { status: CallStatus::Interrupted, .. }));
    assert!(rig.server.requests()[1].results()[0].text.contains("effect unknown"));
    rig.assert_sound();
}

#[tokio::test]
async fn an_answer_that_was_streaming_when_octo_ended_is_asked_for_again() {
    let gate = Gate::new();
    let script = Script::new()
        .reply(Reply::text("half of").in_chunks(2).hold_after(1, &gate))
        .text("the whole answer");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Ask, "say it").await;
    gate.reached().await;
    rig.restart().await;
    while rig.snapshot(session).await.info.status != SessionStatus::Idle {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let snapshot = rig.snapshot(session).await;
    assert!(super::rig::answers(&snapshot).contains("the whole answer"));
    rig.assert_sound();
}

#[tokio::test]
async fn a_draft_and_a_queue_are_there_after_a_restart() {
    let gate = Gate::new();
    let script = Script::new().reply(Reply::text("abc").hold_after(1, &gate)).text("x").text("y");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Ask, "one").await;
    gate.reached().await;
    rig.send(session, "two").await;
    rig.stop(session).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Stopped);
    rig.octo.call(octo_protocol::SetDraft { session, text: "half a thou".into() }).await.unwrap();
    rig.restart().await;
    let snapshot = rig.snapshot(session).await;
    assert_eq!(snapshot.draft, "half a thou");
    assert_eq!(snapshot.queue.len(), 1);
}
