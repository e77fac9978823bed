//! New sessions that continue from a point in another conversation.

use super::rig::{Rig, answers, results, statuses, words};
use octo_protocol::{
    Block, BranchPoint, BranchSession, CallState, CallStatus, DeleteSession, Message, MessageId, Mode,
    Origin, SessionId, SessionInfo, SessionOrigin, SessionSnapshot, SessionStatus, StartDemo, TurnEnd,
};
use octo_testkit::Script;
use serde_json::json;

async fn branch(rig: &Rig, session: SessionId, at: BranchPoint) -> SessionInfo {
    rig.octo.call(BranchSession { session, at }).await.expect("the session can be branched")
}

fn asked(snapshot: &SessionSnapshot) -> Vec<&Message> {
    snapshot.page.messages.iter().filter(|message| message.meta.origin == Origin::Person).collect()
}

fn said(snapshot: &SessionSnapshot) -> Vec<String> {
    snapshot.page.messages.iter().map(Message::text).filter(|text| !text.is_empty()).collect()
}

/// Creates two turns, the first with a call and a plan.
async fn two_tasks() -> (Rig, SessionId) {
    let script = Script::new()
        .call("file_reader", json!({ "path": "a.txt" }))
        .call("todo_manager", json!({ "action": "add", "task": ["look", "write"] }))
        .text("It is a heron.")
        .text("Second answer.")
        .text("An answer elsewhere.")
        .text("And one here.");
    let mut rig = Rig::new(script).await;
    rig.home.write("a.txt", format!("heron\n{}", "All of it is known now.\n".repeat(600)));
    let session = rig.start(Mode::Autonomous, "What is in a.txt?").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    rig.send(session, "And now the second.").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    (rig, session)
}

#[tokio::test]
async fn a_branch_has_all_before_a_message_which_waits_in_it_and_the_provider_still_knows_it() {
    let (mut rig, session) = two_tasks().await;
    let before = rig.snapshot(session).await;
    let second = asked(&before)[1].id;
    let info = branch(&rig, session, BranchPoint::Before { message: second }).await;
    assert_ne!(info.id, session);
    assert_eq!((info.title.as_str(), info.status), ("What is in a.txt? (2)", SessionStatus::Idle));
    assert_eq!(
        (info.mode, info.model, &info.folder),
        (before.info.mode, before.info.model, &before.info.folder)
    );
    assert_eq!(info.usage, octo_protocol::Usage::default(), "nothing was spent in it");

    let branched = rig.snapshot(info.id).await;
    let last = before.page.messages.iter().take_while(|message| message.id != second).last().unwrap();
    assert_eq!(
        branched.origin,
        Some(SessionOrigin::Branch {
            session: Some(session),
            title: "What is in a.txt?".into(),
            message: Some(last.id)
        })
    );
    assert_eq!(branched.draft.text, "And now the second.");
    assert_eq!(said(&branched), said(&before)[..said(&before).len() - 2]);
    assert_eq!((statuses(&branched), results(&branched)), (vec![CallStatus::Done; 2], results(&before)));
    assert_eq!(branched.todos, before.todos, "the plan as the last call that changed it left it");
    assert_eq!(branched.todos.len(), 2);
    assert_eq!((branched.queue.len(), branched.questions.len(), branched.spending.calls), (0, 0, 0));
    // All ids are its own; calls and their views still belong together.
    let ids = |snapshot: &SessionSnapshot| -> Vec<MessageId> {
        snapshot.page.messages.iter().map(|message| message.id).collect()
    };
    assert!(ids(&branched).iter().all(|id| !ids(&before).contains(id)));
    let calls: Vec<_> = branched.page.messages.iter().flat_map(Message::calls).map(|call| call.id).collect();
    assert_eq!(branched.page.calls.iter().map(|call| call.id).collect::<Vec<_>>(), calls);
    assert!(branched.page.turns.iter().all(|turn| turn.end == Some(TurnEnd::Finished)));

    // The request begins with exactly the bytes sent before: the provider reads them from its cache.
    rig.send(info.id, &branched.draft.text).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let now = rig.snapshot(info.id).await;
    assert!(answers(&now).ends_with("An answer elsewhere."));
    let usage = now.info.usage;
    assert!(
        usage.cache_read > 2_000 && usage.cache_read > 4 * (usage.input + usage.cache_write),
        "{usage:?}"
    );
    let requests = rig.server.requests();
    let (old, new) = (&requests[3], &requests[4]);
    assert_eq!(old.messages().len(), new.messages().len());
    for part in ["tools", "system"] {
        assert_eq!(old.body[part], new.body[part], "{part}");
    }

    // The other session continues as if nothing had happened.
    assert_eq!(rig.snapshot(session).await.page, before.page);
    rig.send(session, "Third.").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert!(answers(&rig.snapshot(session).await).ends_with("And one here."));
    rig.assert_sound();

    // After a restart it is unchanged, and it outlives its source.
    rig.restart().await;
    assert_eq!(rig.snapshot(info.id).await.page, now.page);
    rig.octo.call(DeleteSession { session }).await.unwrap();
    let orphan = rig.snapshot(info.id).await;
    assert_eq!(orphan.page, now.page);
    let SessionOrigin::Branch { session: gone, title, .. } = orphan.origin.unwrap() else {
        panic!("a branch")
    };
    assert_eq!((gone, title.as_str()), (None, "What is in a.txt?"));
}

#[tokio::test]
async fn a_duplicate_has_everything_and_titles_are_told_apart() {
    let (rig, session) = two_tasks().await;
    let whole = branch(&rig, session, BranchPoint::Whole).await;
    let (before, copy) = (rig.snapshot(session).await, rig.snapshot(whole.id).await);
    assert_eq!(said(&copy), said(&before));
    assert_eq!((copy.todos, copy.context_tokens), (before.todos.clone(), before.context_tokens));
    assert!(copy.draft.is_empty());
    let again = branch(&rig, whole.id, BranchPoint::Whole).await;
    assert_eq!(
        (whole.title.as_str(), again.title.as_str()),
        ("What is in a.txt? (2)", "What is in a.txt? (3)")
    );

    // Through the first call: its result is included, and nothing after it.
    let call = before.page.messages.iter().find(|message| message.calls().next().is_some()).unwrap().id;
    let part = branch(&rig, session, BranchPoint::Through { message: call }).await;
    let part = rig.snapshot(part.id).await;
    assert_eq!(part.page.messages.len(), 3);
    assert_eq!(results(&part), results(&before)[..1]);
    assert!(part.todos.is_empty(), "the plan was made later");
    let start = branch(&rig, session, BranchPoint::Before { message: asked(&before)[0].id }).await;
    let start = rig.snapshot(start.id).await;
    assert_eq!((start.page.messages.len(), start.draft.text.as_str()), (0, "What is in a.txt?"));
    rig.assert_sound();
}

#[tokio::test]
async fn of_a_turn_that_runs_nothing_comes_along_that_is_not_over() {
    let script = Script::new().text("First.").call("terminal", json!({ "command": "rm -rf build" }));
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Ask, "First, please").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    rig.send(session, "Remove the build").await;
    let question = rig.question().await;
    let waiting = rig.snapshot(session).await;

    let whole = rig.snapshot(branch(&rig, session, BranchPoint::Whole).await.id).await;
    assert_eq!(said(&whole), ["First, please", "First."]);
    assert_eq!((whole.info.status, whole.questions.len()), (SessionStatus::Idle, 0));
    // Through the message that makes the call: the call is left out, so that it can never run twice.
    let making = waiting.page.messages.iter().find(|message| message.calls().next().is_some()).unwrap().id;
    let part = rig.snapshot(branch(&rig, session, BranchPoint::Through { message: making }).await.id).await;
    assert_eq!(said(&part), ["First, please", "First.", "Remove the build"]);
    assert_eq!(part.page.calls, []);
    assert!(part.page.turns.iter().all(|turn| turn.end.is_some()));
    // The question is still open in its own session.
    assert_eq!(rig.snapshot(session).await.questions, [question]);
    rig.stop(session).await;
    rig.turn_end().await;
    assert!(waiting.page.calls.iter().any(|call| call.state == CallState::Asking));
}

#[tokio::test]
async fn what_nothing_can_go_on_from_is_refused_and_nothing_is_made() {
    let (rig, session) = two_tasks().await;
    let unknown = BranchPoint::Through { message: MessageId::new() };
    let error = rig.octo.call(BranchSession { session, at: unknown }).await.unwrap_err();
    assert_eq!(error.key, "session.branch_unseen");
    let elsewhere = BranchSession { session: SessionId::new(), at: BranchPoint::Whole };
    assert_eq!(rig.octo.call(elsewhere).await.unwrap_err().key, "session.unknown");
    let demo = rig.octo.call(StartDemo {}).await.unwrap().id;
    let error = rig.octo.call(BranchSession { session: demo, at: BranchPoint::Whole }).await.unwrap_err();
    assert_eq!(error.key, "session.branch_demo");
    rig.stop(demo).await;
    let list =
        octo_protocol::ListSessions { query: String::new(), filter: Default::default(), offset: 0, limit: 9 };
    assert_eq!(rig.octo.call(list).await.unwrap().total, 2);
}

#[tokio::test]
async fn pictures_come_along_by_their_hash() {
    let script = Script::new().text("A heron.").text("Still a heron.");
    let mut rig = Rig::new(script).await;
    let png = b"\x89PNG\r\n\x1a\n and what follows";
    let path = rig.home.work().join("heron.png");
    std::fs::write(&path, png).unwrap();
    let paths = vec![path.display().to_string()];
    let attachments = rig.octo.call(octo_protocol::AttachFiles { paths }).await.unwrap();
    let blocks: Vec<Block> = words("What is it?").into_iter().chain(attachments.blocks).collect();
    let session = rig.start_with(Mode::Ask, blocks).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let first = asked(&rig.snapshot(session).await)[0].id;
    let info = branch(&rig, session, BranchPoint::Before { message: first }).await;
    let draft = rig.snapshot(info.id).await.draft;
    let [Block::Image { blob, .. }] = draft.attachments.as_slice() else { panic!("{draft:?}") };
    assert_eq!(rig.octo.blob(blob).await.unwrap().bytes, png);
}
