//! `octo task …` in a session.

use super::world::*;
use crate::agent::rig::{results, words};
use octo_protocol::{
    Answer, AskReason, LibraryChange, ListTasks, Mode, QuestionContent, RunStatus, TaskContent, TaskState,
    ToolView,
};
use octo_testkit::Script;
use serde_json::json;

const ADD: &str = "octo task add --name 'Morning brief' --when 'weekdays at 10:00' --zone UTC --prompt '- look' --mode autonomous";

fn script(commands: &[&str]) -> Script {
    let calls = commands
        .iter()
        .fold(Script::new(), |script, command| script.call("terminal", json!({ "command": command })));
    calls.text("so it is").text("by itself")
}

#[tokio::test]
async fn a_task_is_put_before_the_person_in_every_mode_with_its_words_and_next_times() {
    let list = "octo task list";
    // A Sunday; the next working day is Monday.
    let (mut rig, clock) = world(script(&[ADD, list]), DAY + 9 * HOUR).await;
    let session = rig.start_with(Mode::Autonomous, words("every working day at ten, look")).await;
    let question = rig.question().await;
    let QuestionContent::Permission { preview, reason, rule } = &question.ask else { panic!("{question:?}") };
    assert_eq!(*reason, AskReason::Library { change: LibraryChange::SaveTask });
    assert_eq!(*rule, None);
    let ToolView::Plain { text } = preview else { panic!("{preview:?}") };
    for said in [
        "Morning brief",
        "10:00",
        "UTC",
        "- look",
        "Model: the default one at the time of the run",
        "Profile: General",
        "If a run fails: it is not tried again",
        "If a time is missed: Runs once when the computer wakes",
        "Notices: When it fails or asks",
        "Monday 2026-11-23 10:00",
        "Tuesday 2026-11-24",
        "Wednesday 2026-11-25",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(rig.octo.call(ListTasks {}).await.unwrap().tasks.is_empty(), "nothing is saved before the yes");
    rig.answer(session, &question, Answer::Once).await;
    rig.turn_end().await;
    let task = rig.octo.call(ListTasks {}).await.unwrap().tasks.remove(0);
    assert_eq!((task.state, task.next[0]), (TaskState::Active, DAY + 34 * HOUR));
    let TaskContent::Plan { plan } = &task.content else { panic!("{task:?}") };
    assert_eq!(
        (plan.prompt.as_str(), plan.folder.clone()),
        ("- look", rig.home.work().display().to_string())
    );
    let tool_results = results(&rig.snapshot(session).await);
    assert!(
        tool_results[1].contains("morning-brief") && tool_results[1].contains("weekdays at 10:00"),
        "{tool_results:?}"
    );
    clock.set(DAY + 34 * HOUR);
    last_run(&rig, "finished", |status| *status == RunStatus::Finished).await;
    rig.assert_sound();
}

#[tokio::test]
async fn a_no_saves_nothing_and_what_makes_no_sense_is_told_before_anybody_is_asked() {
    let bad = "octo task add --name x --when 'now and then' --prompt y";
    let often = "octo task add --name x --when 'every 1 minutes' --prompt y";
    let half = "octo task add --name x --when 'daily at 10:00'";
    let (mut rig, _clock) = world(script(&[bad, often, half, ADD]), DAY + 9 * HOUR).await;
    let session = rig.start_with(Mode::Autonomous, words("do it")).await;
    let question = rig.question().await;
    rig.answer(session, &question, Answer::No { reason: None }).await;
    rig.turn_end().await;
    assert!(rig.octo.call(ListTasks {}).await.unwrap().tasks.is_empty());
    let tool_results = results(&rig.snapshot(session).await);
    assert!(tool_results[0].contains("Write one of"), "{tool_results:?}");
    assert!(tool_results[1].contains("five minutes"), "{tool_results:?}");
    assert!(tool_results[2].contains("--prompt"), "{tool_results:?}");
}

#[tokio::test]
async fn a_task_is_changed_paused_run_shown_and_deleted() {
    let commands = [
        "octo task edit morning-brief --when 'daily at 11:00' --budget 0.50",
        "octo task pause morning-brief",
        "octo task show morning-brief",
        "octo task delete morning-brief",
        "octo task show morning-brief",
        "octo task show ../../x",
    ];
    let (mut rig, _clock) = world(script(&commands), DAY + 9 * HOUR).await;
    save(&rig, at_ten(&rig)).await;
    let session = rig.start_with(Mode::Autonomous, words("change it")).await;
    let question = rig.question().await;
    rig.answer(session, &question, Answer::Once).await;
    rig.turn_end().await;
    let tool_results = results(&rig.snapshot(session).await);
    assert!(tool_results[0].contains("daily at 11:00"), "{tool_results:?}");
    assert!(tool_results[1].contains("paused"), "{tool_results:?}");
    assert!(
        tool_results[2].contains("budget: 0.5") && tool_results[2].contains("Write the brief."),
        "{tool_results:?}"
    );
    assert!(tool_results[3].contains("trash"), "{tool_results:?}");
    assert!(
        tool_results[4].contains("no longer exists") && tool_results[5].contains("not a valid"),
        "{tool_results:?}"
    );
    assert!(rig.octo.call(ListTasks {}).await.unwrap().tasks.is_empty());
}
