//! Files of tasks: written, changed by others, deleted and brought back.

use super::world::*;
use crate::agent::rig::Rig;
use octo_protocol::{
    AcceptTask, ChangeSettings, DeleteTask, DuplicateTask, ListTasks, ListTrash, LiveTopic, OnConflict,
    PreviewTask, RestoreOutcome, RestoreTrash, RunStatus, RunTask, SaveTask, SettingsPatch, SkipReason,
    Snapshot, Switch, SwitchTask, TaskContent, TaskSettings, TaskState, Timing, TrashKind, Update,
};
use octo_testkit::Script;
use std::path::PathBuf;

fn file(rig: &Rig, task: &str) -> PathBuf {
    rig.home.octo().join("tasks").join(format!("{task}.md"))
}

#[tokio::test]
async fn what_another_program_writes_does_not_run_before_the_person_accepts_it() {
    let (rig, clock) = world(Script::new().text("one").text("two"), DAY + 9 * HOUR).await;
    let text = format!(
        "---\nwhen: daily at 10:00\nzone: UTC\nmode: autonomous\nfolder: {}\n---\n\nDo something.\n",
        rig.home.work().display()
    );
    std::fs::write(file(&rig, "foreign"), &text).unwrap();
    let seen = card(&rig, "foreign").await;
    assert_eq!(seen.state, TaskState::Unseen);
    assert_eq!(rig.octo.call(RunTask { task: "foreign".into() }).await.unwrap_err().key, "task.unseen");
    assert_eq!(rig.octo.call(DuplicateTask { task: "foreign".into() }).await.unwrap_err().key, "task.unseen");
    clock.set(DAY + 10 * HOUR);
    settled(&rig, &clock, 0).await;
    // It changes after the review: either the reviewed version is accepted, or nothing.
    std::fs::write(file(&rig, "foreign"), text.replace("something", "something else")).unwrap();
    let late = AcceptTask { task: "foreign".into(), version: seen.version };
    assert_eq!(rig.octo.call(late).await.unwrap_err().key, "task.changed");
    let seen = card(&rig, "foreign").await;
    let accepted = rig.octo.call(AcceptTask { task: "foreign".into(), version: seen.version }).await.unwrap();
    assert_eq!(accepted.state, TaskState::Active);
    settled(&rig, &clock, 0).await;
    clock.set(DAY + 34 * HOUR);
    last_run(&rig, "finished", |status| *status == RunStatus::Finished).await;
    // Changed again, it waits for review again.
    std::fs::write(file(&rig, "foreign"), text).unwrap();
    assert_eq!(card(&rig, "foreign").await.state, TaskState::Unseen);
    clock.set(DAY + 58 * HOUR);
    // Only one entry says that it does not run from here on.
    let left_out = last_run(&rig, "left out", |status| unrunnable(status).is_some()).await;
    assert_eq!(unrunnable(&left_out.status), Some("task.unseen"));
    clock.set(DAY + 82 * HOUR);
    settled(&rig, &clock, 2).await;
}

/// Returns why a run says that its task's times are skipped from there on.
fn unrunnable(status: &RunStatus) -> Option<&str> {
    match status {
        RunStatus::Skipped { reason: SkipReason::Unrunnable { error } } => Some(&error.key),
        _ => None,
    }
}

#[tokio::test]
async fn a_broken_file_is_shown_left_as_it_is_and_does_not_run() {
    let (rig, clock) = world(Script::new().text("one"), DAY + 9 * HOUR).await;
    let task = save(&rig, at_ten(&rig)).await;
    let broken = "---\nwhen: at some point\nfolder: /tmp\n---\n\nDo it.\n";
    std::fs::write(file(&rig, &task.file), broken).unwrap();
    let shown = card(&rig, &task.file).await;
    assert_eq!(shown.state, TaskState::Broken);
    let TaskContent::Broken { error, text } = shown.content else { panic!("{shown:?}") };
    assert_eq!((error.key.as_str(), text.as_str()), ("task.line", broken));
    assert_eq!(rig.octo.call(RunTask { task: task.file.clone() }).await.unwrap_err().key, "task.broken");
    clock.set(DAY + 10 * HOUR);
    let left_out = last_run(&rig, "left out", |status| unrunnable(status).is_some()).await;
    assert_eq!(
        (unrunnable(&left_out.status), left_out.task.as_str()),
        (Some("task.line"), task.file.as_str())
    );
    clock.set(DAY + 34 * HOUR);
    settled(&rig, &clock, 1).await;
    let mut tasks = rig.octo.subscribe(LiveTopic::Tasks).await.unwrap();
    let reported = tasks.next().await.unwrap();
    let waiting = match &reported[0] {
        Update::Snapshot { snapshot: Snapshot::Tasks { state } } => state.waiting,
        other => panic!("{other:?}"),
    };
    assert_eq!(waiting, 1, "only the person can mend it");
    assert_eq!(std::fs::read_to_string(file(&rig, &task.file)).unwrap(), broken);
}

#[tokio::test]
async fn where_tasks_do_not_run_at_their_times_none_does_and_what_passes_is_over() {
    let (rig, clock) = world(Script::new().text("by hand").text("one"), DAY + 9 * HOUR).await;
    let task = save(&rig, at_ten(&rig)).await;
    let set = async |at_their_times| {
        let tasks = Some(TaskSettings { at_their_times, ..TaskSettings::default() });
        rig.octo
            .call(ChangeSettings { patch: SettingsPatch { tasks, ..SettingsPatch::default() } })
            .await
            .unwrap();
    };
    set(Switch::Off).await;
    assert_eq!(rig.octo.call(ListTasks {}).await.unwrap().at_their_times, Switch::Off);
    clock.set(DAY + 10 * HOUR);
    settled(&rig, &clock, 0).await;
    rig.octo.call(RunTask { task: task.file.clone() }).await.unwrap();
    last_run(&rig, "finished by hand", |status| *status == RunStatus::Finished).await;
    set(Switch::On).await;
    settled(&rig, &clock, 1).await;
    clock.set(DAY + 34 * HOUR);
    runs_when(&rig, "one", |runs| runs.len() == 2 && runs[1].status == RunStatus::Finished).await;
    // A week in which nothing else triggered a check.
    set(Switch::Off).await;
    for day in 2..9 {
        clock.set(day * DAY + 10 * HOUR);
        settled(&rig, &clock, 2).await;
    }
    set(Switch::On).await;
    settled(&rig, &clock, 2).await;
}

#[tokio::test]
async fn an_edit_goes_over_what_was_edited_and_nothing_else() {
    let (rig, clock) = world(Script::new().text("one"), DAY + 9 * HOUR).await;
    let task = save(&rig, at_ten(&rig)).await;
    let mut plan = at_ten(&rig);
    plan.when = Timing::Cron { expression: "30 9 * * *".to_owned() };
    let save = |version: &str, plan| SaveTask {
        task: Some(task.file.clone()),
        plan: Box::new(plan),
        version: Some(version.to_owned()),
    };
    let edited = rig.octo.call(save(&task.version, plan.clone())).await.unwrap();
    assert_eq!((edited.file.as_str(), edited.next[0]), (task.file.as_str(), DAY + 9 * HOUR + 30 * MINUTE));
    assert_eq!(rig.octo.call(save(&task.version, plan.clone())).await.unwrap_err().key, "task.changed");
    // A past time of the new plan was not a time of the task.
    clock.set(DAY + 9 * HOUR + 45 * MINUTE);
    last_run(&rig, "finished", |status| *status == RunStatus::Finished).await;
    plan.when = Timing::Cron { expression: "40 9 * * *".to_owned() };
    let edited = rig.octo.call(save(&edited.version, plan)).await.unwrap();
    settled(&rig, &clock, 1).await;
    assert_eq!(edited.next[0], DAY + 33 * HOUR + 40 * MINUTE);
}

#[tokio::test]
async fn a_deleted_task_comes_back_as_it_was_and_what_passed_meanwhile_is_over() {
    let (rig, clock) = world(Script::new().text("one").text("two"), DAY + 9 * HOUR).await;
    let task = save(&rig, at_ten(&rig)).await;
    clock.set(DAY + 10 * HOUR);
    last_run(&rig, "finished", |status| *status == RunStatus::Finished).await;
    rig.octo.call(DeleteTask { task: task.file.clone() }).await.unwrap();
    assert!(rig.octo.call(ListTasks {}).await.unwrap().tasks.is_empty());
    assert_eq!(rig.octo.call(DeleteTask { task: task.file.clone() }).await.unwrap_err().key, "task.missing");
    // Before its next time: it continues as if nothing had happened.
    clock.set(DAY + 20 * HOUR);
    settled(&rig, &clock, 1).await;
    assert!(matches!(bring_back(&rig, OnConflict::Ask).await, RestoreOutcome::Done { .. }));
    assert_eq!(card(&rig, &task.file).await.state, TaskState::Active);
    // One of its times passes: it is restored with its runs, and paused.
    rig.octo.call(DeleteTask { task: task.file.clone() }).await.unwrap();
    clock.set(DAY + 40 * HOUR);
    settled(&rig, &clock, 1).await;
    let back = bring_back(&rig, OnConflict::Ask).await;
    assert!(matches!(&back, RestoreOutcome::Paused { task: name, .. } if *name == task.file), "{back:?}");
    assert_eq!(card(&rig, &task.file).await.state, TaskState::Paused);
    assert_eq!(card(&rig, &task.file).await.last.map(|run| run.status), Some(RunStatus::Finished));
    settled(&rig, &clock, 1).await;
    rig.octo.call(SwitchTask { task: task.file.clone(), on: Switch::On }).await.unwrap();
    clock.set(DAY + 58 * HOUR);
    runs_when(&rig, "two", |runs| runs.len() == 2 && runs[1].status == RunStatus::Finished).await;
}

/// Restores the only task in the trash.
async fn bring_back(rig: &Rig, on_conflict: OnConflict) -> RestoreOutcome {
    let kind = Some(TrashKind::Task);
    let list = ListTrash { query: String::new(), kind, project: None, offset: 0, limit: 9 };
    let mut entries = rig.octo.call(list).await.unwrap().entries;
    assert_eq!(entries.len(), 1, "{entries:?}");
    let ids = vec![entries.remove(0).id];
    rig.octo.call(RestoreTrash { ids, to: None, on_conflict }).await.unwrap().outcomes.remove(0)
}

#[tokio::test]
async fn a_task_comes_back_beside_one_that_has_its_name_and_waits_to_be_seen() {
    let (rig, _clock) = world(Script::new(), DAY + 9 * HOUR).await;
    let first = save(&rig, at_ten(&rig)).await;
    rig.octo.call(SwitchTask { task: first.file.clone(), on: Switch::Off }).await.unwrap();
    rig.octo.call(DeleteTask { task: first.file.clone() }).await.unwrap();
    let second = save(&rig, at_ten(&rig)).await;
    assert_eq!(second.file, first.file);
    assert!(matches!(bring_back(&rig, OnConflict::Ask).await, RestoreOutcome::Taken { .. }));
    let RestoreOutcome::Done { at, .. } = bring_back(&rig, OnConflict::KeepBoth).await else {
        panic!("both are kept")
    };
    assert_eq!(PathBuf::from(at), file(&rig, "morning-brief-2").canonicalize().unwrap());
    // The state recorded under that name belongs to a different task.
    assert_eq!(card(&rig, "morning-brief-2").await.state, TaskState::Unseen);
    // A paused task stays paused, whatever times passed.
    rig.octo.call(DeleteTask { task: "morning-brief-2".into() }).await.unwrap();
    assert!(matches!(bring_back(&rig, OnConflict::Ask).await, RestoreOutcome::Done { .. }));
}

#[tokio::test]
async fn a_second_like_one_is_paused_and_the_list_is_in_order() {
    let (rig, _clock) = world(Script::new(), DAY + 9 * HOUR).await;
    let first = save(&rig, at_ten(&rig)).await;
    let second = rig.octo.call(DuplicateTask { task: first.file }).await.unwrap();
    assert_eq!((second.file.as_str(), second.state), ("morning-brief-2", TaskState::Paused));
    let mut early = at_ten(&rig);
    early.name = "Zebra".to_owned();
    early.when = Timing::Cron { expression: "30 9 * * *".to_owned() };
    save(&rig, early).await;
    std::fs::write(file(&rig, "yonder"), "Only words.").unwrap();
    let listed = rig.octo.call(ListTasks {}).await.unwrap();
    let names: Vec<&str> = listed.tasks.iter().map(|task| task.file.as_str()).collect();
    assert_eq!(names, ["yonder", "zebra", "morning-brief", "morning-brief-2"]);
    assert!(!listed.zone.is_empty());
}

#[tokio::test]
async fn a_preview_says_what_is_wrong_and_saves_nothing() {
    let (rig, _clock) = world(Script::new(), DAY + 9 * HOUR).await;
    let good = rig.octo.call(PreviewTask { plan: Box::new(at_ten(&rig)) }).await.unwrap();
    assert_eq!((good.next.len(), good.errors.len()), (3, 0));
    assert_eq!(
        good.remarks.iter().map(|remark| remark.key.as_str()).collect::<Vec<_>>(),
        ["task.remark.autonomous"]
    );
    let mut bad = at_ten(&rig);
    bad.name = " ".to_owned();
    bad.prompt = String::new();
    bad.folder = "/nowhere/at/all".to_owned();
    bad.profile = "nobody".parse().unwrap();
    bad.model = Some(octo_protocol::ModelId::new());
    bad.minutes = 0;
    bad.when = Timing::Cron { expression: "*/2 * * * *".to_owned() };
    let shown = rig.octo.call(PreviewTask { plan: Box::new(bad.clone()) }).await.unwrap();
    let mut fields: Vec<&str> = shown.errors.iter().map(|fault| fault.field.as_str()).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["folder", "minutes", "model", "name", "profile", "prompt", "when"]);
    assert!(
        rig.octo.call(SaveTask { task: None, plan: Box::new(bad.clone()), version: None }).await.is_err()
    );
    bad = at_ten(&rig);
    bad.when = Timing::Once { at: "2020-01-01T08:00".to_owned() };
    let over = rig.octo.call(PreviewTask { plan: Box::new(bad) }).await.unwrap();
    assert!(over.errors.is_empty() && over.remarks.iter().any(|remark| remark.key == "task.remark.over"));
    assert!(rig.octo.call(ListTasks {}).await.unwrap().tasks.is_empty());
}
