//! Effects no undo reverts are listed: in the tree, in a turn's changes, before every restore, and to the
//! model.

use super::{
    rig::{PATIENCE, Rig, results},
    time::{settled, turn},
};
use octo_protocol::{
    ChangeSettings, FileSelection, GetTaskChanges, GetTaskTree, LastingEffects, LastingKind, Mode,
    PreviewRestore, SessionId, SettingsPatch, Switch, TurnEnd,
};
use octo_testkit::{RecordedRequest, Reply, Script};
use serde_json::json;
use std::fs;

/// Returns kind, text and count of each effect.
fn listed(lasting: &LastingEffects) -> Vec<(LastingKind, &str, u32)> {
    lasting.effects.iter().map(|mark| (mark.kind, mark.what.as_str(), mark.times)).collect()
}

async fn preview(rig: &Rig, session: SessionId, task: u32) -> LastingEffects {
    let call = PreviewRestore { session, task, selection: FileSelection::All };
    rig.octo.call(call).await.unwrap().lasting
}

#[tokio::test]
async fn pushes_and_paths_outside_are_listed_and_what_stays_inside_is_not() {
    let outside = tempfile::tempdir().unwrap();
    let outside = outside.path().canonicalize().unwrap().join("outside");
    let line = format!("touch inside; touch {}", outside.display());
    let script = Script::new()
        .call("write", json!({ "path": "a", "content": "x\n" }))
        .calls([
            ("terminal", json!({ "command": "git push origin main; echo tried" })),
            ("terminal", json!({ "command": line })),
            ("terminal", json!({ "command": "ls; cat a" })),
        ])
        .text("done")
        .call("terminal", json!({ "command": "git push origin main" }))
        .text("again")
        .calls([("list_tasks", json!({})), ("undo_task", json!({}))])
        .text("undone");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Autonomous, "Push it").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    settled(&mut rig).await;
    let path = outside.display().to_string();
    assert!(outside.exists(), "it was really made");
    let push = "git push origin main";
    let changes = rig.octo.call(GetTaskChanges { session, task: 1 }).await.unwrap();
    let first = [(LastingKind::Pushed, push, 1), (LastingKind::Outside, path.as_str(), 1)];
    let named: Vec<_> =
        listed(&changes.lasting).into_iter().filter(|effect| effect.0 != LastingKind::Unheld).collect();
    assert_eq!(named, first);
    let calls = rig.snapshot(session).await.page.calls;
    assert_eq!(changes.lasting.effects[0].call, calls[1].id, "the call that did it");

    turn(&mut rig, session, "Push it again").await;
    let tree = rig.octo.call(GetTaskTree { session }).await.unwrap();
    assert_eq!((tree.tasks[2].changed, tree.tasks[2].lasting), (0, 1), "no file, and one thing that stays");
    // Before a restore: the effects of the turns in between, each once.
    assert_eq!(listed(&preview(&rig, session, 1).await), [(LastingKind::Pushed, push, 1)]);
    let both = preview(&rig, session, 0).await;
    assert_eq!(listed(&both)[0], (LastingKind::Pushed, push, 2));
    assert!(listed(&both).contains(&(LastingKind::Outside, path.as_str(), 1)));
    assert!(preview(&rig, session, 2).await.is_empty(), "nothing lies in between");
    let chosen = FileSelection::Chosen { paths: changes.paths.iter().map(|one| one.path.clone()).collect() };
    let one = PreviewRestore { session, task: 1, selection: chosen };
    assert!(rig.octo.call(one).await.unwrap().lasting.is_empty(), "a single file is only a file");

    // And the model says so.
    rig.send(session, "Undo that").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    settled(&mut rig).await;
    let tool_results = results(&rig.snapshot(session).await);
    let (list, undo) = (&tool_results[tool_results.len() - 2], &tool_results[tool_results.len() - 1]);
    assert!(list.contains("→ 2 Push it again [no files; 1 not undoable]"), "{list}");
    assert!(
        undo.contains("it changed no files") && undo.contains("pushed by git push origin main"),
        "{undo}"
    );
    assert!(outside.exists(), "it stayed, as was said");
    rig.assert_sound();
}

#[tokio::test]
async fn a_command_nothing_holds_is_listed_itself_and_a_list_has_an_end() {
    let commands: String = (0..30).map(|n| format!("git push r{n}\n")).collect();
    let script = Script::new()
        .call("terminal", json!({ "command": "sh -c 'echo x > made'" }))
        .text("done")
        .call("terminal", json!({ "command": commands }))
        .text("pushed");
    let mut rig = Rig::new(script).await;
    let off = SettingsPatch { confinement: Some(Switch::Off), ..SettingsPatch::default() };
    rig.octo.call(ChangeSettings { patch: off }).await.unwrap();
    let session = rig.start(Mode::Autonomous, "Make it").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    settled(&mut rig).await;
    assert_eq!(fs::read_to_string(rig.home.work().join("made")).unwrap(), "x\n");
    let changes = rig.octo.call(GetTaskChanges { session, task: 1 }).await.unwrap();
    assert_eq!(listed(&changes.lasting), [(LastingKind::Unheld, "sh -c 'echo x > made'", 1)]);

    turn(&mut rig, session, "Push it everywhere").await;
    let lasting = rig.octo.call(GetTaskChanges { session, task: 2 }).await.unwrap().lasting;
    let pushed = lasting.effects.iter().filter(|mark| mark.kind == LastingKind::Pushed).count();
    assert_eq!((pushed, lasting.more), (20, 10), "{lasting:?}");
    let unheld = lasting.effects.iter().find(|mark| mark.kind == LastingKind::Unheld).unwrap();
    assert!(unheld.what.starts_with("git push r0 git push r1 ") && unheld.what.ends_with('…'), "{unheld:?}");
    rig.assert_sound();
}

#[tokio::test]
async fn a_command_the_system_holds_is_not_listed_for_what_it_cannot_do() {
    if !octo_shell::confines() {
        return;
    }
    let script = Script::new().call("terminal", json!({ "command": "sh -c 'echo x > made'" })).text("done");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Autonomous, "Make it").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    settled(&mut rig).await;
    let changes = rig.octo.call(GetTaskChanges { session, task: 1 }).await.unwrap();
    assert_eq!((listed(&changes.lasting), changes.paths.len()), (vec![], 1));
    rig.assert_sound();
}

/// The handle in the newest result the model was given.
fn handle_in(request: &RecordedRequest) -> String {
    let results = request.all_results();
    let text = &results.last().expect("a result").text;
    let (_, after) = text.split_once("handle_id ").expect("a handle");
    after.chars().take_while(char::is_ascii_alphanumeric).collect()
}

#[tokio::test]
async fn what_is_typed_into_a_running_program_is_listed_by_the_program() {
    let script = Script::from_fn(|request| match request.answers() {
        0 => Reply::call("terminal", json!({ "command": "cat > typed", "async": true })),
        1 => Reply::call(
            "terminal",
            json!({ "handle_id": handle_in(request), "input": "git push; echo hunter2\n" }),
        ),
        2 => Reply::call("terminal", json!({ "handle_id": handle_in(request), "kill": true })),
        _ => Reply::text("done"),
    });
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Autonomous, "Type it").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    settled(&mut rig).await;
    let lasting = rig.octo.call(GetTaskChanges { session, task: 1 }).await.unwrap().lasting;
    assert!(listed(&lasting).contains(&(LastingKind::Pushed, "cat > typed", 1)), "{lasting:?}");
    assert!(!format!("{lasting:?}").contains("hunter2"), "what is typed may be a password");
    rig.assert_sound();
}

#[tokio::test]
async fn what_was_noted_outlasts_a_restart_and_a_call_that_never_came_to_its_end() {
    let script = Script::new()
        .call("terminal", json!({ "command": "ssh nowhere.invalid; touch up; sleep 600" }))
        .text("never");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Autonomous, "Go there").await;
    let up = rig.home.work().join("up");
    let wait = async {
        while !up.exists() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("it runs");
    // Known while it still runs.
    let lasting = rig.octo.call(GetTaskChanges { session, task: 1 }).await.unwrap().lasting;
    assert_eq!(listed(&lasting)[0].0, LastingKind::Remote);
    rig.stop(session).await;
    rig.restart().await;
    let after = rig.octo.call(GetTaskChanges { session, task: 1 }).await.unwrap().lasting;
    assert_eq!(after, lasting);
}
