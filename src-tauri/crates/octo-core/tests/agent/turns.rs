//! Whole turns.

use super::rig::{Rig, answers, statuses};
use octo_protocol::{
    Block, CallStatus, Envelope, Event, Language, Mode, Note, NoticeKind, Profile, SendOutcome,
    SessionStatus, StartSession, ToolView, TurnEnd, words,
};
use octo_testkit::{Gate, Reply, Script};
use serde_json::json;

#[tokio::test]
async fn a_task_reads_edits_and_runs_and_everything_is_kept() {
    let script = Script::new()
        .reply(
            Reply::reasoning("Let me look.", "sig-1")
                .and_text("I'll look first.")
                .and_call("file_reader", json!({ "path": "notes.txt" })),
        )
        .calls([("edit", json!({ "path": "notes.txt", "old_string": "two", "new_string": "2" }))])
        .call("terminal", json!({ "command": "cat notes.txt && exit 3" }))
        .text("Done: it says 2 now.");
    let mut rig = Rig::new(script).await;
    rig.home.write("notes.txt", "one\ntwo\nthree\n");
    let session = rig.start(Mode::Autonomous, "Replace two by 2\nin notes.txt").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);

    assert_eq!(rig.home.read("notes.txt"), "one\n2\nthree\n");
    let snapshot = rig.snapshot(session).await;
    assert_eq!(statuses(&snapshot), [CallStatus::Done; 3]);
    assert_eq!(snapshot.info.title, "Replace two by 2");
    assert_eq!(snapshot.info.status, SessionStatus::Idle);
    assert!(answers(&snapshot).ends_with("Done: it says 2 now."));
    let views: Vec<&ToolView> = snapshot.page.calls.iter().filter_map(|call| call.view.as_ref()).collect();
    assert!(matches!(views[0], ToolView::Text { .. }), "{:?}", views[0]);
    assert!(
        matches!(views[1], ToolView::Diff(diff) if diff.added == 1 && diff.removed == 1),
        "{:?}",
        views[1]
    );
    let ToolView::Command(command) = views[2] else { panic!("a command: {:?}", views[2]) };
    assert_eq!(command.state, Some(octo_protocol::CommandState::Exited { code: 3 }));

    let requests = rig.server.requests();
    assert_eq!(requests.len(), 4);
    assert!(requests[1].results()[0].text.contains("two"), "{:?}", requests[1].results());
    assert!(
        snapshot.info.usage.cache_read > 0,
        "the prefix was read from the cache: {:?}",
        snapshot.info.usage
    );
    rig.assert_sound();

    // The state after a restart comes from the same stored data.
    rig.event("the task's end", |event| matches!(event, Event::TasksChanged).then_some(())).await;
    let snapshot = rig.snapshot(session).await;
    rig.restart().await;
    assert_eq!(rig.snapshot(session).await, snapshot);
}

#[tokio::test]
async fn a_session_begins_with_what_was_chosen_for_it() {
    let mut rig = Rig::new(Script::new().text("One.").text("Two.").text("Three.")).await;
    let call = |title: &str| StartSession {
        folder: rig.home.work().display().to_string(),
        profile: Profile::CODING,
        mode: Mode::Autonomous,
        model: Some(rig.seen_models()[0]),
        effort: None,
        title: Some(title.into()),
        blocks: vec![Block::Text { text: "Say one".into() }],
    };
    let (named, unnamed) = (call("  The  release\nof May "), call(" \n "));
    let info = rig.octo.call(named).await.unwrap();
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    rig.send(info.id, "Say two").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let kept = rig.snapshot(info.id).await.info;
    assert_eq!(kept.title, "The release of May", "no message gives it another");
    assert_eq!((kept.profile, kept.mode, kept.model), (info.profile, Mode::Autonomous, info.model));
    assert_eq!(kept.folder, rig.home.work().canonicalize().unwrap().display().to_string());
    let unnamed = rig.octo.call(unnamed).await.unwrap();
    assert_eq!(unnamed.title, "Say one");
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
}

#[tokio::test]
async fn calls_that_read_come_back_in_the_order_they_were_made() {
    let reads: Vec<(&str, serde_json::Value)> =
        ["c.txt", "a.txt", "b.txt"].iter().map(|name| ("file_reader", json!({ "path": name }))).collect();
    let mut rig = Rig::new(Script::new().calls(reads).text("ok")).await;
    for name in ["a", "b", "c"] {
        rig.home.write(format!("{name}.txt"), format!("this is {name}\n"));
    }
    rig.start(Mode::Ask, "read them").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let results = rig.server.requests()[1].results();
    for (result, name) in results.iter().zip(["c", "a", "b"]) {
        assert!(result.text.contains(&format!("this is {name}")), "{results:?}");
    }
    rig.assert_sound();
}

#[tokio::test]
async fn a_message_sent_meanwhile_waits_and_is_read_at_the_next_step() {
    let gate = Gate::new();
    let script = Script::new()
        .reply(Reply::text("One moment").and_call("glob", json!({ "pattern": "*" })).hold_after(1, &gate))
        .text("Both done.");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Ask, "first").await;
    gate.reached().await;
    let SendOutcome::Queued { id } = rig.send(session, "second").await else { panic!("it waits") };
    let SendOutcome::Queued { id: third } = rig.send(session, "third").await else { panic!("it waits") };
    rig.octo.call(octo_protocol::RemoveQueued { session, queued: third }).await.unwrap();
    let blocks = super::rig::words("second, edited");
    rig.octo.call(octo_protocol::EditQueued { session, queued: id, blocks }).await.unwrap();
    assert_eq!(rig.snapshot(session).await.queue.len(), 1);
    gate.open();
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let requests = rig.server.requests();
    assert!(!requests[0].user_text().contains("second"));
    assert!(requests[1].user_text().contains("second, edited") && !requests[1].user_text().contains("third"));
    assert!(rig.snapshot(session).await.queue.is_empty());
    rig.assert_sound();
}

#[tokio::test]
async fn streamed_text_is_in_the_snapshot_of_whoever_opens_meanwhile() {
    let gate = Gate::new();
    let mut rig = Rig::new(Reply::text("abcdefghi").hold_after(2, &gate)).await;
    let session = rig.start(Mode::Ask, "go").await;
    gate.reached().await;
    let mut subscription =
        rig.octo.subscribe(octo_protocol::StoredTopic::Session { id: session }).await.unwrap();
    let mut text = String::new();
    let mut updates = subscription.next().await.unwrap();
    // The piece before the gate may still be in transit: the received text is a beginning, and the rest
    // follows.
    gate.open();
    let mut whole = None;
    loop {
        for update in updates {
            match update {
                octo_protocol::Update::Snapshot { snapshot: octo_protocol::Snapshot::Session(snapshot) } => {
                    text = snapshot.streaming.first().map(|one| one.text.clone()).unwrap_or_default();
                }
                octo_protocol::Update::Delta { delta } => {
                    assert!(delta.offset as usize <= text.len(), "a hole before {delta:?}");
                    text.truncate(delta.offset as usize);
                    text.push_str(&delta.text);
                }
                octo_protocol::Update::Event { envelope } => {
                    if let Event::BlockAdded { block: Block::Text { text }, .. } = envelope.event {
                        whole = Some(text);
                    }
                }
                other => panic!("unexpected {other:?}"),
            }
        }
        if whole.is_some() {
            break;
        }
        updates = tokio::time::timeout(super::rig::PATIENCE, subscription.next()).await.unwrap().unwrap();
    }
    assert_eq!(whole.as_deref(), Some("abcdefghi"));
    assert!("abcdefghi".starts_with(&text));
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
}

#[tokio::test]
async fn the_plan_is_kept_and_its_numbers_are_never_used_twice() {
    let script = Script::new()
        .call("todo_manager", json!({ "action": "add", "task": ["look", "change"] }))
        .call("todo_manager", json!({ "action": "complete", "id": [1, 2] }))
        .call("todo_manager", json!({ "action": "add", "task": "again" }))
        .text("planned");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Ask, "plan").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let todos = rig.snapshot(session).await.todos;
    assert_eq!(todos.last().map(|todo| (todo.id, todo.task.as_str())), Some((3, "again")));
    rig.restart().await;
    assert_eq!(rig.snapshot(session).await.todos, todos);
    rig.assert_sound();
}

#[tokio::test]
async fn surroundings_are_told_once_and_the_system_prompt_holds_none_of_them() {
    let mut rig = Rig::new(Script::new().text("one").text("two")).await;
    rig.home.write("AGENTS.md", "Always say please.");
    let session = rig.start(Mode::Ask, "first").await;
    rig.turn_end().await;
    rig.send(session, "second").await;
    rig.turn_end().await;
    let snapshot = rig.snapshot(session).await;
    let notices = snapshot
        .page
        .messages
        .iter()
        .flat_map(|message| &message.blocks)
        .filter(|block| matches!(block, Block::Notice { kind: NoticeKind::Context, .. }))
        .count();
    assert_eq!(notices, 1);
    let system = rig.server.requests()[1].system();
    assert!(system.contains("Always say please."));
    assert!(!system.contains(&rig.home.work().display().to_string()));
    rig.assert_sound();
}

#[tokio::test]
async fn slash_commands_are_answered_without_the_model() {
    let mut rig = Rig::new(Script::new().text("hello")).await;
    let session = rig.start(Mode::Ask, "hi").await;
    rig.turn_end().await;
    assert_eq!(rig.send(session, "/modle x").await, SendOutcome::Command);
    let note = rig
        .event("note", |event| match event {
            Event::CommandAnswered { note } => Some(note.clone()),
            _ => None,
        })
        .await;
    assert_eq!(note.key, "command.unknown_near");
    let said = words::explain(Language::En, &note);
    assert!(said.contains("/mode, /model"), "{said}");
    assert_eq!(rig.send(session, "/mode autonomous").await, SendOutcome::Command);
    assert_eq!(rig.snapshot(session).await.info.mode, Mode::Autonomous);
    assert_eq!(rig.send(session, "/new").await, SendOutcome::New);
    assert_eq!(rig.server.requests().len(), 1);
    rig.assert_sound();

    let said = |envelope: &Envelope| match &envelope.event {
        Event::CommandAnswered { note } => Some(Note {
            seq: envelope.seq,
            at: envelope.at,
            kind: octo_protocol::NoteKind::Answer,
            note: note.clone(),
        }),
        _ => None,
    };
    let live: Vec<Note> = rig.seen.iter().filter_map(|envelope| said(envelope)).collect();
    assert_eq!(live.len(), 1);
    rig.restart().await;
    assert_eq!(rig.snapshot(session).await.notes, live, "what was shown live is there after a restart");
}
