//! Closing and opening: everything is unchanged, and work in progress continues.

use super::rig::{Rig, statuses};
use octo_protocol::{
    Answer, Block, CallState, CallStatus, DeleteSession, Draft, Event, ListSessions, Mode, OpenSession,
    PinSession, RenameSession, RestoreSession, SessionStatus, Stop, StoredTopic, TurnEnd,
};
use octo_testkit::{Gate, Reply, Script};
use octo_workspace::TemporaryFolders;
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
    let image = Block::Image {
        blob: octo_protocol::BlobHash("00".repeat(32)),
        media_type: "image/png".into(),
        name: "a.png".into(),
    };
    let draft = Draft {
        text: "half a thou".into(),
        attachments: vec![image, Block::File { path: "/home/me/notes.txt".into() }],
        foreign: true,
    };
    let new = Draft { text: "for another day".into(), attachments: Vec::new(), foreign: false };
    rig.octo.call(octo_protocol::SetDraft { session, draft: draft.clone() }).await.unwrap();
    rig.octo.call(octo_protocol::SetNewDraft { draft: new.clone() }).await.unwrap();
    rig.restart().await;
    let snapshot = rig.snapshot(session).await;
    assert_eq!(snapshot.draft, draft);
    assert_eq!(rig.octo.call(octo_protocol::GetNewDraft {}).await.unwrap(), new);
    assert_eq!(snapshot.queue.len(), 1);
}

/// Starts the application as a process that leaves open turns alone until they are used.
async fn open_waiting(home: &octo_testkit::TempHome) -> octo_core::Octo {
    let config =
        octo_core::Config { open_turns: octo_core::OpenTurnPolicy::WaitForUse, ..super::rig::config(home) };
    octo_core::Octo::start(config).await.expect("the application starts")
}

/// Returns a session whose answer was streaming when Octo ended, and an application that has not touched it.
async fn left_open() -> (Rig, octo_protocol::SessionId, octo_core::Octo) {
    let gate = Gate::new();
    let script =
        Script::new().reply(Reply::text("half of").in_chunks(2).hold_after(1, &gate)).text("no more");
    let rig = Rig::new(script).await;
    let session = rig.start(Mode::Ask, "say it").await;
    super::rig::reached(&gate).await;
    rig.octo.shutdown().await;
    let octo = open_waiting(&rig.home).await;
    (rig, session, octo)
}

#[tokio::test]
async fn what_is_renamed_pinned_or_deleted_does_not_go_on_for_that() {
    let (rig, session, octo) = left_open().await;
    octo.call(RenameSession { session, title: "  Another   name ".into() }).await.unwrap();
    octo.call(PinSession { session, pinned: true }).await.unwrap();
    let list = octo
        .call(ListSessions { query: String::new(), filter: Default::default(), offset: 0, limit: 10 })
        .await
        .unwrap();
    assert_eq!(list.sessions[0].title, "Another name");
    assert!(list.sessions[0].pinned);
    octo.call(DeleteSession { session }).await.unwrap();
    assert_eq!(
        octo.call(ListSessions { query: String::new(), filter: Default::default(), offset: 0, limit: 10 })
            .await
            .unwrap()
            .total,
        0
    );
    assert_eq!(rig.server.requests().len(), 1, "nothing was asked of the model");

    // Restored and opened, it looks as if it had been stopped before it was deleted.
    octo.call(RestoreSession { session }).await.unwrap();
    let _watched = octo.subscribe(StoredTopic::Session { id: session }).await.unwrap();
    let snapshot = octo.call(OpenSession { session }).await.unwrap();
    assert_eq!(snapshot.page.turns.last().and_then(|turn| turn.end.clone()), Some(TurnEnd::Stopped));
    assert_eq!(snapshot.info.status, SessionStatus::Idle);
    assert_eq!(rig.server.requests().len(), 1);
    octo.shutdown().await;
}

#[tokio::test]
async fn stop_ends_a_turn_that_was_left_open_without_going_on_with_it() {
    let (rig, session, octo) = left_open().await;
    octo.call(Stop { session }).await.unwrap();
    let snapshot = octo.call(OpenSession { session }).await.unwrap();
    assert_eq!(snapshot.page.turns.last().and_then(|turn| turn.end.clone()), Some(TurnEnd::Stopped));
    assert_eq!(rig.server.requests().len(), 1);
    octo.shutdown().await;
}

#[tokio::test]
async fn a_try_that_waited_when_octo_ended_is_made_at_the_next_start() {
    let busy = Reply::error(529, "overloaded_error", "busy").header("retry-after", "200");
    let mut rig = Rig::new(Script::new().reply(busy).text("there")).await;
    let session = rig.start(Mode::Ask, "say it").await;
    rig.event("scheduled retry", |event| matches!(event, Event::RetryScheduled { .. }).then_some(())).await;
    rig.restart().await;
    while rig.snapshot(session).await.info.status != SessionStatus::Idle {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let snapshot = rig.snapshot(session).await;
    assert_eq!(snapshot.retry, None, "no mark is left over");
    assert!(super::rig::answers(&snapshot).contains("there"));
    assert_eq!(rig.server.requests().len(), 2);
    rig.assert_sound();
}

#[tokio::test]
async fn an_update_of_the_tools_freezes_the_prefix_anew_once_and_the_ledger_says_so() {
    let mut rig = Rig::new(Script::new().text("one").text("two").text("three")).await;
    let session = rig.start(Mode::Ask, &"A long beginning. ".repeat(500)).await;
    rig.turn_end().await;
    let context = rig.snapshot(session).await.context_tokens;
    rig.octo.shutdown().await;
    // As an older Octo would have left it.
    let store = octo_store::Store::open(&rig.home.octo()).unwrap();
    let older = octo_store::ToolsetRow {
        hash: "older".into(),
        version: 0,
        tools_json: r#"[{"name":"x","description":"","parameters":{}}]"#.into(),
    };
    store.write(move |tx| tx.replace_frozen_prompt(session, "You were Octo.", &older)).await.unwrap();
    store.close();

    rig.restart().await;
    let billed = |event: &Event| match event {
        Event::CallBilled { call } => Some((call.miss, call.expected_read)),
        _ => None,
    };
    rig.send(session, "go on").await;
    assert_eq!(rig.event("line", billed).await, (Some(octo_protocol::CacheMiss::Tools), Some(context)));
    rig.turn_end().await;
    rig.restart().await;
    rig.send(session, "and on").await;
    assert_eq!(rig.event("line", billed).await.0, None, "once");
    rig.turn_end().await;
    let requests = rig.server.requests();
    assert_eq!(requests[0].tools(), requests[1].tools(), "today's tools");
    rig.assert_sound();
}

#[tokio::test]
async fn no_session_is_opened_again_while_octo_ends() {
    let gate = Gate::new();
    let held_reply = Reply::text("half of").in_chunks(2).hold_after(1, &gate);
    let rig = Rig::new(Script::from_fn(move |_| held_reply.clone())).await;
    let session = rig.start(Mode::Ask, "say it").await;
    super::rig::reached(&gate).await;
    // A page that is still open keeps sending requests.
    let asking = async {
        loop {
            let blocks = super::rig::words("and this");
            match rig.octo.call(octo_protocol::Send { session, blocks }).await {
                Ok(_) => tokio::task::yield_now().await,
                Err(error) if error.key == "store.closed" => return,
                // The actor is just ending.
                Err(error) => assert_eq!(error.key, "session.unavailable", "{error:?}"),
            }
        }
    };
    tokio::join!(rig.octo.shutdown(), asking);
    assert_eq!(rig.server.requests().len(), 1, "no second actor worked on the turn");
}

#[cfg(unix)]
#[tokio::test]
async fn the_temporary_folder_of_a_session_is_removed_with_it() {
    let command =
        json!({ "command": "echo x > \"$TMPDIR/file\" && cat \"$TMPDIR/file\" && echo \"$TMPDIR\"" });
    let script =
        Script::new().call("terminal", command.clone()).text("done").call("terminal", command).text("done");
    let mut rig = Rig::new(script).await;
    let folders = TemporaryFolders::of_home(&rig.home.octo().canonicalize().unwrap());
    let deleted = rig.start(Mode::Autonomous, "go").await;
    rig.turn_end().await;
    let kept = rig.start(Mode::Autonomous, "go").await;
    rig.turn_end().await;
    let said = super::rig::results(&rig.snapshot(kept).await).join("\n");
    assert!(said.contains(&rig.home.temporary().display().to_string()), "{said}");
    assert_eq!(folders.sessions().len(), 2);
    rig.octo.call(DeleteSession { session: deleted }).await.unwrap();
    assert_eq!(folders.sessions(), [kept]);

    // The folder of a session that is gone, as one that was killed leaves it, goes with the next start.
    let gone = octo_protocol::SessionId::new();
    folders.of_session(gone, rig.home.work()).create().unwrap();
    std::fs::write(folders.of_session(kept, rig.home.work()).path().join("more"), "").unwrap();
    rig.restart().await;
    assert_eq!(folders.sessions(), [kept]);
    assert!(folders.of_session(kept, rig.home.work()).path().join("more").exists());
}
