//! Turns as entries of the time machine: their changes to files, commands included, are undone and redone.

use super::rig::{Rig, answers, config, results};
use octo_core::{Config, Octo, OpenTurnPolicy};
use octo_protocol::{
    CompareFile, ComparisonTarget, Event, FileSelection, GetTaskChanges, GetTaskTree, Mode, PreviewRestore,
    RestoreScope, RestoreTask, Send, SendOutcome, SessionId, Source, StepChange, StepPosition, TurnEnd,
};
use octo_store::{Holder, LeaseOutcome, Store, probe};
use octo_testkit::Script;
use serde_json::json;
use std::{collections::BTreeMap, fs, path::Path, time::Duration};

/// Returns every file below a folder by its relative name.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                files.insert(name, fs::read(path).unwrap());
            }
        }
    }
    files
}

pub async fn settled(rig: &mut Rig) {
    rig.event("the task's end", |event| matches!(event, Event::TasksChanged).then_some(())).await;
}

pub async fn turn(rig: &mut Rig, session: SessionId, text: &str) {
    rig.send(session, text).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    settled(rig).await;
}

pub fn go(session: SessionId, task: u32, scope: RestoreScope) -> RestoreTask {
    RestoreTask { session, task, scope, selection: FileSelection::All, overwrite: Vec::new() }
}

#[tokio::test]
async fn edits_and_commands_of_three_turns_are_undone_branched_and_redone() {
    let script = Script::new()
        .call("write", json!({ "path": "src/a.txt", "content": "one\n" }))
        .text("made")
        .call("terminal", json!({ "command": "sed -i s/one/two/ src/a.txt; printf x > new.bin; rm -r docs" }))
        .text("changed")
        .call("edit", json!({ "path": "src/a.txt", "old_string": "two", "new_string": "three" }))
        .text("edited")
        .call("terminal", json!({ "command": "echo other > src/a.txt" }))
        .text("otherwise");
    let mut rig = Rig::new(script).await;
    rig.server.allow_steps_back();
    let work = rig.home.work();
    fs::create_dir(work.join("docs")).unwrap();
    fs::write(work.join("docs/guide"), "read me").unwrap();
    fs::write(work.join(".env"), "KEY=1").unwrap();
    let mut states = vec![tree(&work)];
    let session = rig.start(Mode::Autonomous, "Make a file").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    settled(&mut rig).await;
    states.push(tree(&work));
    for text in ["Change it by a command", "Edit it"] {
        turn(&mut rig, session, text).await;
        states.push(tree(&work));
    }
    assert!(!work.join("docs").exists(), "the command really did it");

    // One, two, three.
    for task in [2, 1, 0] {
        let report = rig.octo.call(go(session, task, RestoreScope::Both)).await.unwrap();
        assert_eq!((report.active, report.kept.len(), report.impossible.len()), (task, 0, 0));
        assert_eq!(tree(&work), states[task as usize], "byte for byte the end of task {task}");
    }
    let undone: Vec<bool> = rig.snapshot(session).await.page.turns.iter().map(|turn| turn.undone).collect();
    assert_eq!(undone, [true, true, true]);

    // A branch, whose model sees only its own history.
    rig.octo.call(go(session, 1, RestoreScope::Both)).await.unwrap();
    turn(&mut rig, session, "Do it otherwise").await;
    assert_eq!(fs::read_to_string(work.join("src/a.txt")).unwrap(), "other\n");
    let request_body = rig.server.requests().last().unwrap().body.to_string();
    assert!(
        request_body.contains("Make a file") && !request_body.contains("Change it by a command"),
        "{request_body}"
    );

    // And the first branch again, files and conversation.
    let branch = rig.octo.call(GetTaskTree { session }).await.unwrap();
    assert!(branch.tasks.iter().any(|task| task.branch));
    rig.octo.call(go(session, 3, RestoreScope::Both)).await.unwrap();
    assert_eq!(tree(&work), states[3]);
    rig.server.push(octo_testkit::Reply::text("again"));
    turn(&mut rig, session, "Where are we?").await;
    let request_body = rig.server.requests().last().unwrap().body.to_string();
    assert!(request_body.contains("Edit it") && !request_body.contains("Do it otherwise"), "{request_body}");

    let changes = rig.octo.call(GetTaskChanges { session, task: 2 }).await.unwrap();
    let by_name =
        |end: &str| changes.paths.iter().find(|path| path.path.ends_with(end)).map(|path| path.change);
    assert_eq!(by_name("src/a.txt"), Some(StepChange::Edited));
    assert_eq!(by_name("new.bin"), Some(StepChange::Created));
    assert_eq!(by_name("docs/guide"), Some(StepChange::Deleted));
    let path = work.join("src/a.txt").display().to_string();
    let compared =
        rig.octo.call(CompareFile { session, task: 2, path, with: ComparisonTarget::Before }).await.unwrap();
    assert_eq!(compared.diff.map(|diff| (diff.added, diff.removed)), Some((1, 1)));
    rig.assert_sound();
}

#[tokio::test]
async fn what_the_person_changed_is_kept_unless_it_is_named_and_one_file_comes_back_alone() {
    let script = Script::new()
        .calls([
            ("write", json!({ "path": "a", "content": "mine\n" })),
            ("write", json!({ "path": "b", "content": "mine\n" })),
        ])
        .text("made");
    let mut rig = Rig::new(script).await;
    let work = rig.home.work();
    let session = rig.start(Mode::Autonomous, "Make two files").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    settled(&mut rig).await;
    fs::write(work.join("a"), "the person's\n").unwrap();
    let preview =
        rig.octo.call(PreviewRestore { session, task: 0, selection: FileSelection::All }).await.unwrap();
    let a = work.join("a").display().to_string();
    assert_eq!(preview.conflicts.iter().map(|one| &one.path).collect::<Vec<_>>(), [&a]);
    let report = rig.octo.call(go(session, 0, RestoreScope::Files)).await.unwrap();
    assert_eq!(report.kept, std::slice::from_ref(&a));
    assert_eq!(fs::read_to_string(&a).unwrap(), "the person's\n");
    assert!(!work.join("b").exists());
    assert!(rig.snapshot(session).await.page.turns.iter().all(|turn| !turn.undone), "files only");
    // The undo is undone, and one file alone is restored.
    let chosen = FileSelection::Chosen { paths: vec![work.join("b").display().to_string()] };
    let one = RestoreTask { selection: chosen, ..go(session, 1, RestoreScope::Both) };
    rig.octo.call(one).await.unwrap();
    assert_eq!(fs::read_to_string(work.join("b")).unwrap(), "mine\n");
    assert_eq!(fs::read_to_string(&a).unwrap(), "the person's\n");
    let named = RestoreTask { overwrite: vec![a.clone()], ..go(session, 0, RestoreScope::Both) };
    rig.octo.call(named).await.unwrap();
    assert!(!Path::new(&a).exists() && !work.join("b").exists());
}

#[tokio::test]
async fn the_model_undoes_at_the_end_of_its_turn_and_still_sees_that_it_was_asked() {
    let script = Script::new()
        .call("write", json!({ "path": "a", "content": "wrong\n" }))
        .text("made")
        .calls([("list_tasks", json!({})), ("undo_task", json!({}))])
        .text("It is taken back.")
        .text("Yes.");
    let mut rig = Rig::new(script).await;
    let work = rig.home.work();
    let session = rig.start(Mode::Autonomous, "Make a").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    settled(&mut rig).await;
    rig.send(session, "Undo that").await;
    let outcome = rig
        .event("the journey", |event| match event {
            Event::WentTo { task, undone } => Some((*task, undone.len())),
            _ => None,
        })
        .await;
    assert_eq!(outcome, (0, 1), "the turn that asked is not undone");
    assert!(!work.join("a").exists());
    let tool_results = results(&rig.snapshot(session).await);
    assert!(tool_results[1].contains("→ 1 Make a"), "{tool_results:?}");
    assert!(tool_results[2].contains("task 1 is undone"), "{tool_results:?}");
    rig.send(session, "Is it gone?").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let request_body = rig.server.requests().last().unwrap().body.to_string();
    assert!(request_body.contains("Undo that") && !request_body.contains("Make a\\\""), "{request_body}");
    assert!(answers(&rig.snapshot(session).await).ends_with("Yes."));
}

#[tokio::test]
async fn undo_is_a_command_too_and_holds_over_a_restart() {
    let script = Script::new().call("write", json!({ "path": "a", "content": "x\n" })).text("made");
    let mut rig = Rig::new(script).await;
    let work = rig.home.work();
    let session = rig.start(Mode::Autonomous, "Make a").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    settled(&mut rig).await;
    rig.octo.call(Send { session, blocks: super::rig::words("/undo") }).await.unwrap();
    assert!(!work.join("a").exists());
    rig.restart().await;
    let tasks = rig.octo.call(GetTaskTree { session }).await.unwrap();
    assert_eq!((tasks.active, tasks.redo), (0, Some(1)));
    assert!(tasks.tasks.iter().any(|task| task.number == 1 && task.status == StepPosition::Undone));
    assert!(rig.snapshot(session).await.page.turns[0].undone);
    rig.octo.call(Send { session, blocks: super::rig::words("/redo") }).await.unwrap();
    assert!(work.join("a").exists());
    assert!(!rig.snapshot(session).await.page.turns[0].undone);
    // Nothing is left to redo: this is reported, and nothing happens.
    rig.octo.call(Send { session, blocks: super::rig::words("/redo") }).await.unwrap();
    let note = rig.snapshot(session).await.notes.pop().unwrap();
    assert_eq!(note.note.key, "time.nothing_to_redo");
}

/// Returns the sessions with commands whose end was not recorded.
async fn open_commands(store: &Store) -> Vec<SessionId> {
    let commands = store.read(|reader| reader.time_commands()).await.unwrap();
    commands.into_iter().map(|command| command.session).collect()
}

#[tokio::test]
async fn what_a_living_process_is_in_the_middle_of_is_left_to_it() {
    let script = Script::new()
        .call("write", json!({ "path": "a", "content": "x\n" }))
        .text("made")
        .call("write", json!({ "path": "b", "content": "x\n" }))
        .text("made")
        .text("gone on");
    let mut rig = Rig::new(script).await;
    let mut sessions = Vec::new();
    for text in ["Make a", "Make b"] {
        sessions.push(rig.start(Mode::Autonomous, text).await);
        assert_eq!(rig.turn_end().await, TurnEnd::Finished);
        settled(&mut rig).await;
    }
    rig.octo.shutdown().await;
    let (living, dead) = (sessions[0], sessions[1]);
    let store = Store::open(&rig.home.octo()).unwrap();
    let folder = rig.home.work().display().to_string().into_bytes();
    let (other, whose) = (Holder::current(), folder.clone());
    let token = other.token.clone();
    let result = store.write(move |tx| {
        tx.add_time_command(living, 1, &whose)?;
        tx.take_lease(living, &other, probe)
    });
    assert_eq!(result.await.unwrap(), LeaseOutcome::Taken);
    // Both the window and a headless run end the work the dead process left, and nothing else.
    for (source, open_turns) in
        [(Source::Window, OpenTurnPolicy::GoOnAtStart), (Source::Headless, OpenTurnPolicy::WaitForUse)]
    {
        let whose = folder.clone();
        store.write(move |tx| tx.add_time_command(dead, 1, &whose)).await.unwrap();
        let octo = Octo::start(Config { source, open_turns, ..config(&rig.home) }).await.unwrap();
        // It looks at the older session first.
        while open_commands(&store).await.contains(&dead) {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        assert_eq!(open_commands(&store).await, [living]);
        octo.shutdown().await;
        let free = store.read(move |reader| reader.lease(dead)).await.unwrap();
        assert_eq!(free, None, "its lease is given back");
    }
    // Once the other process is gone, work in the session suffices, however late the check of all sessions
    // runs: merely viewing the session opens nothing.
    store.write(move |tx| tx.release_lease(living, &token)).await.unwrap();
    rig.restart().await;
    rig.send(living, "Go on").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert_eq!(open_commands(&store).await, []);
}

#[tokio::test]
async fn messages_that_come_while_files_are_put_back_wait_for_it() {
    let script =
        Script::new().call("write", json!({ "path": "a", "content": "x\n" })).text("made").text("I see.");
    let mut rig = Rig::new(script).await;
    let work = rig.home.work();
    let session = rig.start(Mode::Autonomous, "Make a").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    settled(&mut rig).await;
    // Another process writes: the restore is in progress, and cannot finish before that.
    let other = Store::open(&rig.home.octo()).unwrap();
    let (release, held) = std::sync::mpsc::channel::<()>();
    let (begun, holds) = tokio::sync::oneshot::channel();
    let holding = tokio::spawn(async move {
        let held = move |_: &mut octo_store::Tx<'_>| -> Result<(), octo_store::StoreError> {
            begun.send(()).unwrap();
            held.recv().unwrap();
            Ok(())
        };
        other.write(held).await
    });
    holds.await.unwrap();
    let (gone, sent, ()) = tokio::join!(
        rig.octo.call(go(session, 0, RestoreScope::Both)),
        rig.octo.call(Send { session, blocks: super::rig::words("What now?") }),
        async {
            // A second restore is refused at once, until the message was stored, which must come first.
            let again = || rig.octo.call(go(session, 1, RestoreScope::Both));
            while let Ok(refused) = tokio::time::timeout(Duration::from_millis(500), again()).await {
                assert_eq!(refused.unwrap_err().key, "time.going");
                tokio::task::yield_now().await;
            }
            release.send(()).unwrap();
        },
    );
    holding.await.unwrap().unwrap();
    assert_eq!(gone.unwrap().active, 0);
    assert!(matches!(sent.unwrap(), SendOutcome::Queued { .. }));
    // The queued message starts automatically, and sees the restored state.
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert!(!work.join("a").exists());
    let request_body = rig.server.requests().last().unwrap().body.to_string();
    assert!(request_body.contains("What now?") && !request_body.contains("Make a\""), "{request_body}");
    rig.assert_sound();
}

/// Returns the last request's text.
fn asked(rig: &Rig) -> String {
    rig.server.requests().last().unwrap().body.to_string()
}

fn makes(name: &str) -> octo_testkit::Reply {
    octo_testkit::Reply::call("write", json!({ "path": name, "content": "x\n" }))
}

#[tokio::test]
async fn a_conversation_put_elsewhere_stays_there_when_files_are_undone_and_redone() {
    let script = Script::new()
        .reply(makes("a"))
        .text("made")
        .reply(makes("b"))
        .text("made")
        .reply(makes("c"))
        .text("made")
        .reply(makes("d"))
        .text("made")
        .text("I see.");
    let mut rig = Rig::new(script).await;
    rig.server.allow_steps_back();
    let work = rig.home.work();
    let there =
        || ["a", "b", "c", "d"].into_iter().filter(|name| work.join(name).exists()).collect::<String>();
    let session = rig.start(Mode::Autonomous, "Make one").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    settled(&mut rig).await;
    turn(&mut rig, session, "Make two").await;
    turn(&mut rig, session, "Make three").await;
    let reported = async |rig: &Rig| -> Vec<bool> {
        rig.snapshot(session).await.page.turns.iter().map(|turn| !turn.undone).collect()
    };
    let command = async |rig: &Rig, text: &str| {
        rig.octo.call(Send { session, blocks: super::rig::words(text) }).await.unwrap();
    };

    // Only the conversation goes back to the first turn; the files stay at the third.
    rig.octo.call(go(session, 1, RestoreScope::Conversation)).await.unwrap();
    assert_eq!((there().as_str(), reported(&rig).await), ("abc", vec![true, false, false]));
    let tree = rig.octo.call(GetTaskTree { session }).await.unwrap();
    assert_eq!((tree.active, tree.conversation), (3, 1));
    // Undoing and redoing files restores nothing that is not in the conversation.
    command(&rig, "/undo").await;
    assert_eq!((there().as_str(), reported(&rig).await), ("ab", vec![true, false, false]));
    command(&rig, "/redo").await;
    assert_eq!((there().as_str(), reported(&rig).await), ("abc", vec![true, false, false]));
    rig.restart().await;

    // Work continues from both, and its undo leads back to both.
    turn(&mut rig, session, "Make four").await;
    assert!(asked(&rig).contains("Make one") && !asked(&rig).contains("Make two"), "{}", asked(&rig));
    let tree = rig.octo.call(GetTaskTree { session }).await.unwrap();
    let last = tree.tasks.iter().find(|task| task.number == tree.active).unwrap();
    assert_eq!((last.parent, last.said_after, tree.conversation), (Some(3), Some(1), tree.active));
    command(&rig, "/undo").await;
    assert_eq!((there().as_str(), reported(&rig).await), ("abc", vec![true, false, false, false]));
    command(&rig, "/redo").await;
    assert_eq!((there().as_str(), reported(&rig).await), ("abcd", vec![true, false, false, true]));
    // Changes contained in the conversation are undone with the files.
    for (files, turns) in [
        ("abc", [true, false, false, false]),
        ("ab", [true, false, false, false]),
        ("a", [true, false, false, false]),
        ("", [false; 4]),
    ] {
        command(&rig, "/undo").await;
        assert_eq!((there().as_str(), reported(&rig).await), (files, turns.to_vec()));
    }

    // Files alone: the conversation stays, and keeps its position when the next turn starts.
    rig.octo.call(go(session, 3, RestoreScope::Both)).await.unwrap();
    assert_eq!((there().as_str(), reported(&rig).await), ("abc", vec![true, true, true, false]));
    rig.octo.call(go(session, 1, RestoreScope::Files)).await.unwrap();
    assert_eq!((there().as_str(), reported(&rig).await), ("a", vec![true, true, true, false]));
    turn(&mut rig, session, "What is there?").await;
    assert!(asked(&rig).contains("Make three") && !asked(&rig).contains("Make four"), "{}", asked(&rig));
    command(&rig, "/undo").await;
    assert_eq!((there().as_str(), reported(&rig).await), ("a", vec![true, true, true, false, false]));
    rig.assert_sound();
}

#[tokio::test]
async fn an_undo_asked_again_after_a_failure_keeps_the_words_that_asked_for_it() {
    let busy = || octo_testkit::Reply::error(401, "authentication_error", "invalid x-api-key");
    let script = Script::new()
        .reply(makes("a"))
        .text("made")
        .reply(busy())
        .reply(busy())
        .calls([("list_tasks", json!({})), ("undo_task", json!({}))])
        .text("It is taken back.")
        .text("Yes.");
    let mut rig = Rig::new(script).await;
    let work = rig.home.work();
    let session = rig.start(Mode::Autonomous, "Make it").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    settled(&mut rig).await;
    rig.send(session, "Undo that, please").await;
    assert!(matches!(rig.turn_end().await, TurnEnd::Failed { .. }));
    settled(&mut rig).await;
    rig.octo.call(octo_protocol::RetryTurn { session }).await.unwrap();
    assert!(matches!(rig.turn_end().await, TurnEnd::Failed { .. }));
    settled(&mut rig).await;
    rig.octo.call(octo_protocol::RetryTurn { session }).await.unwrap();
    let outcome = rig
        .event("the journey", |event| match event {
            Event::WentTo { task, undone } => Some((*task, undone.len())),
            _ => None,
        })
        .await;
    // The undone turn is the one before the message, not the attempts to answer it.
    assert_eq!(outcome, (0, 1));
    assert!(!work.join("a").exists());
    let tool_results = results(&rig.snapshot(session).await);
    assert!(
        tool_results[1].contains("→ 1 Make it") && !tool_results[1].contains("Undo that"),
        "{tool_results:?}"
    );
    assert!(tool_results[2].contains("task 1 is undone"), "{tool_results:?}");
    rig.send(session, "Is it gone?").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let request = rig.server.requests().last().unwrap().body.clone();
    assert_eq!(request["messages"][0]["role"], "user");
    let first = request["messages"][0]["content"].to_string();
    assert!(first.contains("Undo that, please"), "the person's words come first: {first}");
    assert!(!request.to_string().contains("Make it\""), "{request}");
    // The attempts are listed as turns of the message they answer.
    let tree = rig.octo.call(GetTaskTree { session }).await.unwrap();
    let named = tree.tasks.iter().filter(|task| task.summary == "Undo that, please").count();
    assert_eq!(named, 3, "{tree:?}");
    rig.assert_sound();
}
