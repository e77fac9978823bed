//! Invoking skills: with commands in their text, as a session's first words, and during a turn.

use super::{
    library::{begin, own, put, text},
    rig::{Rig, reached, results, statuses},
    sub_agent_rig::{cards, end_of, is_sub_agent},
};
use octo_protocol::{CallStatus, Mode, SendOutcome, SessionStatus, StartSession, ToolView, TurnEnd};
use octo_testkit::{Gate, Reply, Script};
use serde_json::json;
use std::fs;

#[cfg(unix)]
#[tokio::test]
async fn commands_in_a_skill_run_before_it_is_read_where_they_only_look() {
    let replies = Script::new()
        .text("looked")
        .call("terminal", json!({ "command": "pwd" }))
        .text("there")
        .text("hello");
    let mut rig = Rig::new(replies.text("forked").text("done").text("denied")).await;
    let outside = put(rig.home.work().parent().unwrap().join("outside.txt"), "not for skills\n");
    put(rig.home.work().join("notes.txt"), "three things\n");
    put(rig.home.work().join("sub/empty.txt"), "");
    put(rig.home.work().join(".env"), "KEY=x\n");
    let body = format!(
        "Notes: !`cat notes.txt`\nThere: !`cd sub && pwd`\nNone: !`cat missing.txt`\nWaits: !`cat`\n\
         Makes: !`touch made`\nOutside: !`cat {}`\nUnknown: !`notes-tool --all`\nKeys: !`cat .env`",
        outside.display()
    );
    own(&rig, "status", &text("status", "Looks", &body));

    let session = rig.octo.call(begin(&rig, "/status")).await.unwrap().id;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let snapshot = rig.snapshot(session).await;
    let [tool_result] = results(&snapshot).try_into().unwrap();
    let of = |name: &str| {
        let (_, tail) = tool_result.split_once(&format!("{name}: ")).expect(name);
        tail.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(of("Notes"), "three things");
    assert!(of("There").ends_with("/sub"), "{tool_result}");
    assert!(tool_result.contains("No such file") && tool_result.contains("(exit code 1)"), "{tool_result}");
    assert!(of("Waits").starts_with("(ended after"), "{tool_result}");
    for left in ["Makes", "Outside", "Unknown", "Keys"] {
        assert!(of(left).starts_with("(not run here"), "{left}: {tool_result}");
    }
    assert!(!rig.home.work().join("made").exists());
    let shown_calls = snapshot.page.calls.iter().find_map(|call| match &call.view {
        Some(ToolView::Skill(skill)) => Some(skill.commands.clone()),
        _ => None,
    });
    let expected = ["cat notes.txt", "cd sub && pwd", "cat missing.txt", "cat"].map(str::to_owned);
    assert_eq!(shown_calls, Some(expected.to_vec()), "the card says which ran");

    // A directory change by a command in the text does not affect the session.
    rig.send(session, "Where are you?").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let tool_result = results(&rig.snapshot(session).await).pop().unwrap();
    assert!(
        tool_result.starts_with(&rig.home.work().display().to_string()) && !tool_result.contains("/sub"),
        "{tool_result}"
    );

    // In a mode that asks for each command, none of them runs without a question.
    let careful = StartSession { mode: Mode::Ask, ..begin(&rig, "/status") };
    let session = rig.octo.call(careful).await.unwrap().id;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let [tool_result] = results(&rig.snapshot(session).await).try_into().unwrap();
    assert_eq!(tool_result.matches("(not run here").count(), 8, "{tool_result}");

    // A sub-agent's instructions are expanded the same way, and its card says so.
    let forked = "---\nname: forked\ndescription: Forks.\ncontext: fork\n---\n\nNotes: !`cat notes.txt`\n";
    own(&rig, "forked", forked);
    let session = rig.octo.call(begin(&rig, "/forked")).await.unwrap().id;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    let [card] = cards(&rig, session).await.try_into().unwrap();
    assert_eq!(card.commands, ["cat notes.txt"]);
    let sub_agent_request = rig.server.requests().into_iter().find(is_sub_agent).unwrap();
    assert!(
        sub_agent_request.user_text().contains("Notes: three things"),
        "{}",
        sub_agent_request.user_text()
    );

    // The person's hooks run for each of them, as for a command of the agent.
    let hook = "[[hook]]\non = 'before_tool'\ntools = ['terminal']\ncommand = 'grep -q notes && { echo no notes >&2; exit 2; }; true'\n";
    fs::write(rig.home.octo().join("hooks.toml"), hook).unwrap();
    let session = rig.octo.call(begin(&rig, "/status")).await.unwrap().id;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    let [tool_result] = results(&rig.snapshot(session).await).try_into().unwrap();
    assert!(
        tool_result.contains("Notes: (not run, and do not run it") && tool_result.contains("no notes"),
        "{tool_result}"
    );
    rig.assert_sound();
}

#[tokio::test]
async fn a_skill_is_a_sessions_first_message_and_goes_on_after_a_restart() {
    let gate = Gate::new();
    let script = Script::new()
        .reply(Reply::text("half of").in_chunks(2).hold_after(1, &gate))
        .text("notes of v2")
        .text("and more");
    let mut rig = Rig::new(script).await;
    own(&rig, "notes", &text("notes", "Writes notes", "Write them for $ARGUMENTS."));
    let session = rig.octo.call(begin(&rig, "/notes v2\nand be brief")).await.unwrap().id;
    reached(&gate).await;
    rig.restart().await;
    while rig.snapshot(session).await.info.status != SessionStatus::Idle {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let snapshot = rig.snapshot(session).await;
    assert_eq!(statuses(&snapshot), [CallStatus::Done], "it was invoked once");
    assert!(results(&snapshot)[0].contains("Write them for v2\nand be brief."), "{:?}", results(&snapshot));
    assert!(super::rig::answers(&snapshot).contains("notes of v2"));
    let requests = rig.server.requests();
    assert_eq!(requests.len(), 2);
    let first = requests[0].body.to_string();
    assert!(first.contains("Write them for v2"), "the skill came before the model was asked: {first}");
    assert_eq!(requests[0].all_results().len(), 0, "and is no call of the model's");
    rig.send(session, "go on").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    rig.assert_sound();
}

#[tokio::test]
async fn a_skill_called_while_a_turn_runs_is_asked_for_when_its_message_is_read() {
    let gate = Gate::new();
    let script = Script::new()
        .reply(Reply::text("One moment").and_call("glob", json!({ "pattern": "*" })).hold_after(1, &gate))
        .text("Both done.");
    let mut rig = Rig::new(script).await;
    own(&rig, "notes", &text("notes", "Writes notes", "Write them."));
    let session = rig.octo.call(begin(&rig, "first")).await.unwrap().id;
    reached(&gate).await;
    for typed in ["/notes v2", "/home is where the heron is"] {
        let sent = rig.send(session, typed).await;
        // An unknown skill is answered at once.
        assert_eq!(matches!(sent, SendOutcome::Queued { .. }), typed.starts_with("/notes"), "{sent:?}");
    }
    gate.open();
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let user_text = rig.server.requests()[1].user_text();
    let reported = user_text.split_once("/notes v2").expect("the message").1;
    assert!(
        reported.contains("the person calls the skill notes.") && reported.contains("the task \"v2\""),
        "{user_text}"
    );
    rig.assert_sound();
}
