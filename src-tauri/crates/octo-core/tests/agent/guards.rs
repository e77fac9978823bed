//! Checks between a call and its effect other than the policy: the person's hooks, and limits of the system.

use super::rig::{Rig, results, statuses};
use octo_protocol::{Answer, CallStatus, Mode, Refusal, ToolView, TurnEnd};
use octo_testkit::Script;
use serde_json::json;
use std::fs;

#[tokio::test]
async fn a_hook_denies_adds_words_and_hears_the_end() {
    let script = Script::new()
        .calls([
            ("write", json!({ "path": "a", "content": "x" })),
            ("write", json!({ "path": "b", "content": "x" })),
        ])
        .text("done");
    let mut rig = Rig::new(script).await;
    let work = rig.home.work();
    let hooks = r#"
        [[hook]]
        on = "before_tool"
        tools = ["write"]
        command = '''grep -q '"path":"a"' && { echo "a is mine" >&2; exit 2; }; true'''
        [[hook]]
        on = "after_tool"
        command = '''echo '{"context": "now run the tests"}' '''
        [[hook]]
        on = "session_start"
        command = '''echo '{"context": "be brief"}' '''
        [[hook]]
        on = "finish"
        command = "cat > finished.json"
    "#;
    fs::write(rig.home.octo().join("hooks.toml"), hooks).unwrap();
    let session = rig.start(Mode::Autonomous, "Write").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let snapshot = rig.snapshot(session).await;
    assert_eq!(statuses(&snapshot), [CallStatus::Denied, CallStatus::Done]);
    let tool_results = results(&snapshot);
    assert!(
        tool_results[0].contains("a is mine") && tool_results[1].contains("now run the tests"),
        "{tool_results:?}"
    );
    assert!(!work.join("a").exists() && work.join("b").exists());
    assert!(rig.server.requests()[0].body.to_string().contains("be brief"));
    // It runs in parallel to the session and has only just started.
    let finished = work.join("finished.json");
    while !fs::read_to_string(&finished).is_ok_and(|reported| reported.contains("finish")) {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    rig.assert_sound();
}

#[tokio::test]
async fn a_hook_that_says_no_after_a_restart_tells_the_model_as_much() {
    let script = Script::new().call("write", json!({ "path": "a", "content": "x" })).text("done");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Ask, "Write").await;
    let question = rig.question().await;
    rig.restart().await;
    let hook = "[[hook]]\non = 'before_tool'\ncommand = 'echo \"not on Sundays\" >&2; exit 2'\n";
    fs::write(rig.home.octo().join("hooks.toml"), hook).unwrap();
    rig.answer(session, &question, Answer::Once).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let snapshot = rig.snapshot(session).await;
    assert_eq!(statuses(&snapshot), [CallStatus::Denied]);
    assert!(results(&snapshot)[0].contains("It said: not on Sundays"), "{:?}", results(&snapshot));
    let view = &snapshot.page.calls[0].view;
    assert!(
        matches!(view, Some(ToolView::Refused { refusal: Refusal::Hook, part: Some(part), .. }) if part == "not on Sundays"),
        "{view:?}"
    );
    assert!(!rig.home.work().join("a").exists());
    rig.assert_sound();
}

#[tokio::test]
async fn a_command_is_held_to_the_folder_and_says_so() {
    if !octo_shell::confines() {
        println!("left out: this system cannot hold commands back");
        return;
    }
    for base in ["/var", "/tmp"] {
        let outside = tempfile::tempdir_in(base).unwrap();
        let line = format!("sh -c 'echo in > inside; echo out > {}/file'", outside.path().display());
        let script = Script::new().call("terminal", json!({ "command": line })).text("done");
        let mut rig = Rig::new(script).await;
        let session = rig.start(Mode::Autonomous, "Try").await;
        assert_eq!(rig.turn_end().await, TurnEnd::Finished);
        let tool_results = results(&rig.snapshot(session).await);
        assert!(tool_results[0].contains("held this command back"), "{tool_results:?}");
        assert!(rig.home.work().join("inside").exists());
        assert!(!outside.path().join("file").exists());
        rig.assert_sound();
    }
}
