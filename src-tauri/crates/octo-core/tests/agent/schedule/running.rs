//! Runs, from their time to their end.

use super::world::*;
use crate::agent::rig::{Rig, reached};
use octo_protocol::{
    Answer, Budgets, ChangeSettings, Cost, ListSessions, LiveTopic, MissedAnswer, MissedRun, Mode,
    OpenSession, RunCause, RunStatus, RunTask, SessionFilter, SettingsPatch, SkipReason, Snapshot, Source,
    StopRun, Switch, SwitchTask, TaskNotifications, TaskRetry, TaskState, TasksState, Timing, TurnEnd,
    Update,
};
use octo_testkit::{Gate, Reply, Script};
use serde_json::json;

#[tokio::test]
async fn a_task_runs_at_its_time_with_no_window_and_its_history_says_so() {
    let (rig, clock) = world(Script::new().text("The brief is written."), DAY + 9 * HOUR).await;
    let saved = save(&rig, at_ten(&rig)).await;
    assert_eq!((saved.file.as_str(), saved.state, saved.last), ("morning-brief", TaskState::Active, None));
    assert_eq!(saved.next, [DAY + 10 * HOUR, DAY + 34 * HOUR, DAY + 58 * HOUR]);
    settled(&rig, &clock, 0).await;
    clock.set(DAY + 10 * HOUR + 7);
    let run = last_run(&rig, "finished", |status| *status == RunStatus::Finished).await;
    assert_eq!((run.cause, run.due, run.name.as_str()), (RunCause::Time, DAY + 10 * HOUR, "Morning brief"));
    assert_eq!(run.result.as_deref(), Some("The brief is written."));
    assert!(run.cost > Cost::ZERO);
    let session = run.session.expect("its session");
    let info = rig.octo.call(OpenSession { session }).await.unwrap().info;
    assert_eq!(
        (info.source, info.title.as_str(), info.mode),
        (Source::Task, "Morning brief", Mode::Autonomous)
    );
    assert_eq!(
        rig.octo.task_notifications(session).await,
        Some(TaskNotifications::Trouble),
        "what the plan says"
    );
    assert_eq!(
        rig.octo.task_notifications(octo_protocol::SessionId::new()).await,
        None,
        "no session of a task"
    );
    let list = rig
        .octo
        .call(ListSessions { query: String::new(), filter: SessionFilter::default(), offset: 0, limit: 9 })
        .await
        .unwrap();
    assert_eq!(list.sessions.first().map(|info| info.id), Some(session), "it is in the list");
    settled(&rig, &clock, 1).await;
    // The clock is set back and the time comes again, but it has had its run.
    clock.set(DAY + 9 * HOUR + 59 * MINUTE);
    settled(&rig, &clock, 1).await;
    clock.set(DAY + 10 * HOUR + MINUTE);
    settled(&rig, &clock, 1).await;
    assert_eq!(rig.server.requests().len(), 1);
    assert_eq!(card(&rig, "morning-brief").await.last.map(|last| last.id), Some(run.id));
    rig.assert_sound();
}

#[tokio::test]
async fn a_task_whose_model_is_gone_says_so_when_its_time_comes() {
    let (rig, clock) = world(Script::new(), DAY + 9 * HOUR).await;
    let model = rig.octo.call(octo_protocol::GetSettings {}).await.unwrap().models[0].id;
    save(&rig, octo_protocol::TaskPlan { model: Some(model), ..at_ten(&rig) }).await;
    rig.octo.call(octo_protocol::RemoveModel { model }).await.unwrap();
    settled(&rig, &clock, 0).await;
    assert_eq!(card(&rig, "morning-brief").await.state, TaskState::Active, "it is still one, to be changed");
    clock.set(DAY + 10 * HOUR + 7);
    let skipped = |status: &RunStatus| {
        matches!(status, RunStatus::Skipped { reason: SkipReason::CouldNotStart { .. } })
    };
    last_run(&rig, "left out, with the reason", skipped).await;
    assert_eq!(rig.server.requests().len(), 0);
}

#[tokio::test]
async fn after_a_sleep_the_policy_counts_and_the_history_says_so() {
    for (missed, requests) in [(MissedRun::Skip, 0), (MissedRun::RunOnce, 1), (MissedRun::Ask, 0)] {
        let (rig, clock) = world(Script::new().text("late"), DAY + 9 * HOUR).await;
        let mut plan = at_ten(&rig);
        plan.missed = missed;
        save(&rig, plan).await;
        clock.set(DAY + 61 * HOUR);
        let cause = RunCause::Missed { times: 3 };
        let run = match missed {
            MissedRun::Skip => {
                let reason = SkipReason::Missed { times: 3 };
                last_run(&rig, "left out", |status| *status == RunStatus::Skipped { reason: reason.clone() })
                    .await
            }
            MissedRun::RunOnce => last_run(&rig, "finished", |status| *status == RunStatus::Finished).await,
            MissedRun::Ask => last_run(&rig, "asked", |status| *status == RunStatus::Asked).await,
        };
        assert_eq!((run.cause, run.due), (cause, DAY + 58 * HOUR), "{missed:?}");
        assert_eq!(rig.server.requests().len(), requests);
        if missed == MissedRun::Ask {
            rig.octo
                .call(octo_protocol::AnswerMissed { run: run.id, answer: MissedAnswer::Run })
                .await
                .unwrap();
            last_run(&rig, "finished", |status| *status == RunStatus::Finished).await;
            let again = octo_protocol::AnswerMissed { run: run.id, answer: MissedAnswer::Skip };
            assert_eq!(rig.octo.call(again).await.unwrap_err().key, "task.run_gone");
        }
        settled(&rig, &clock, 1).await;
    }
}

#[tokio::test]
async fn run_now_runs_at_once_and_never_twice_at_a_time() {
    let gate = Gate::new();
    let script = Script::new().reply(Reply::text("long work").hold_after(1, &gate)).text("again");
    let (rig, clock) = world(script, DAY + 9 * HOUR).await;
    let mut plan = at_ten(&rig);
    plan.when = Timing::ByHand;
    let task = save(&rig, plan).await;
    assert_eq!((task.state, task.next.len()), (TaskState::Resting, 0));
    let run = rig.octo.call(RunTask { task: task.file.clone() }).await.unwrap();
    assert_eq!(run.cause, RunCause::Hand);
    reached(&gate).await;
    last_run(&rig, "running", |status| *status == RunStatus::Running).await;
    let second = rig.octo.call(RunTask { task: task.file.clone() }).await;
    assert_eq!(second.unwrap_err().key, "task.running");
    rig.octo.call(StopRun { run: run.id }).await.unwrap();
    let stopped = last_run(&rig, "stopped", |status| *status == RunStatus::Stopped).await;
    assert_eq!(stopped.id, run.id);
    assert_eq!(rig.octo.call(StopRun { run: run.id }).await.unwrap_err().key, "task.run_gone");
    rig.octo.call(RunTask { task: task.file }).await.unwrap();
    last_run(&rig, "finished", |status| *status == RunStatus::Finished).await;
    settled(&rig, &clock, 2).await;
}

#[tokio::test]
async fn a_time_that_comes_while_the_run_before_goes_on_is_left_out() {
    let gate = Gate::new();
    let script = Script::new().reply(Reply::text("long work").hold_after(1, &gate));
    let (rig, clock) = world(script, DAY + 9 * HOUR).await;
    let mut plan = at_ten(&rig);
    plan.when = Timing::Cron { expression: "0,10 10 * * *".to_owned() };
    save(&rig, plan).await;
    clock.set(DAY + 10 * HOUR);
    reached(&gate).await;
    clock.set(DAY + 10 * HOUR + 10 * MINUTE);
    let still = RunStatus::Skipped { reason: SkipReason::StillRunning };
    let left_out = last_run(&rig, "left out", |status| *status == still).await;
    assert_eq!(left_out.due, DAY + 10 * HOUR + 10 * MINUTE);
    gate.open();
    runs_when(&rig, "finished", |runs| runs[0].status == RunStatus::Finished).await;
    assert_eq!(rig.server.requests().len(), 1);
}

#[tokio::test]
async fn a_run_that_takes_too_long_is_stopped_and_a_sleep_is_no_work() {
    let gate = Gate::new();
    let script = Script::new().reply(Reply::text("long work").hold_after(1, &gate));
    let (rig, clock) = world(script, DAY + 9 * HOUR).await;
    let mut plan = at_ten(&rig);
    plan.minutes = 5;
    save(&rig, plan).await;
    clock.set(DAY + 10 * HOUR);
    reached(&gate).await;
    // The computer sleeps: the clock advances, the work does not.
    clock.set(DAY + 15 * HOUR);
    for _ in 0..4 {
        clock.pass(MINUTE);
        settled(&rig, &clock, 1).await;
        assert_eq!(runs(&rig).await[0].status, RunStatus::Running);
    }
    clock.pass(MINUTE);
    let run = last_run(&rig, "timed out", |status| *status == RunStatus::TimedOut).await;
    let session = run.session.unwrap();
    let snapshot = rig.octo.call(OpenSession { session }).await.unwrap();
    assert_eq!(snapshot.page.turns[0].end, Some(TurnEnd::Stopped));
}

#[tokio::test]
async fn a_run_that_used_its_budget_is_stopped_before_the_next_call() {
    let script = Script::new().call("write", json!({ "path": "a.txt", "content": "x\n" })).text("never");
    let (rig, clock) = world(script, DAY + 9 * HOUR).await;
    let mut plan = at_ten(&rig);
    plan.budget = Some(Cost::from_nano_dollars(1_000));
    save(&rig, plan).await;
    clock.set(DAY + 10 * HOUR);
    let run = last_run(&rig, "over its budget", |status| *status == RunStatus::OverBudget).await;
    assert!(run.cost >= Cost::from_nano_dollars(1_000));
    assert_eq!(rig.server.requests().len(), 1);
    assert_eq!(rig.home.read("a.txt"), "x\n", "what was done stays");
}

#[tokio::test]
async fn with_the_days_money_gone_a_run_is_left_out() {
    let (rig, clock) = world(Script::new().text("one"), DAY + 9 * HOUR).await;
    let mut plan = at_ten(&rig);
    let task = save(&rig, plan.clone()).await;
    rig.octo.call(RunTask { task: task.file }).await.unwrap();
    last_run(&rig, "finished", |status| *status == RunStatus::Finished).await;
    let budgets = Budgets { day: Some(Cost::from_nano_dollars(1)), ..Budgets::default() };
    let patch = SettingsPatch { budgets: Some(budgets), ..SettingsPatch::default() };
    rig.octo.call(ChangeSettings { patch }).await.unwrap();
    clock.set(DAY + 10 * HOUR);
    let none = RunStatus::Skipped { reason: SkipReason::DayBudget };
    last_run(&rig, "left out", |status| *status == none).await;
    assert_eq!(rig.server.requests().len(), 1);
    plan.folder = "/nowhere/at/all".to_owned();
    let refused = octo_protocol::SaveTask { task: None, plan: Box::new(plan), version: None };
    assert_eq!(rig.octo.call(refused).await.unwrap_err().key, "session.folder_gone");
}

#[tokio::test]
async fn a_failed_run_is_tried_again_after_its_time() {
    let script = Script::new().reply(Reply::error(400, "invalid_request_error", "no")).text("better");
    let (rig, clock) = world(script, DAY + 9 * HOUR).await;
    let mut plan = at_ten(&rig);
    plan.retry = TaskRetry { times: 1, minutes: 10 };
    save(&rig, plan).await;
    clock.set(DAY + 10 * HOUR);
    let until = DAY + 10 * HOUR + 10 * MINUTE;
    let retry = last_run(&rig, "a retry", |status| *status == RunStatus::Waiting { until }).await;
    let first = runs(&rig).await.remove(0);
    assert!(matches!(first.status, RunStatus::Failed { .. }), "{first:?}");
    assert_eq!(retry.cause, RunCause::Retry { of: first.id, number: 1 });
    settled(&rig, &clock, 2).await;
    assert_eq!(rig.server.requests().len(), 1);
    clock.set(until);
    let run = last_run(&rig, "finished", |status| *status == RunStatus::Finished).await;
    assert_eq!((run.id, run.result.as_deref()), (retry.id, Some("better")));
    let totals =
        rig.octo.call(octo_protocol::ListRuns { task: None, after: None, limit: 0 }).await.unwrap().month;
    assert_eq!((totals.finished, totals.failed, totals.skipped), (1, 1, 0));
}

#[tokio::test]
async fn run_now_takes_the_place_of_a_try_that_waits_and_the_history_says_so() {
    let script = Script::new().reply(Reply::error(400, "invalid_request_error", "no")).text("better");
    let (rig, clock) = world(script, DAY + 9 * HOUR).await;
    let mut plan = at_ten(&rig);
    plan.retry = TaskRetry { times: 1, minutes: 720 };
    let task = save(&rig, plan).await;
    clock.set(DAY + 10 * HOUR);
    let waits = RunStatus::Waiting { until: DAY + 22 * HOUR };
    let retry = last_run(&rig, "a retry", |status| *status == waits).await;
    let by_hand = rig.octo.call(RunTask { task: task.file.clone() }).await.unwrap();
    last_run(&rig, "finished", |status| *status == RunStatus::Finished).await;
    let all_runs = runs(&rig).await;
    let statuses: Vec<_> = all_runs.iter().map(|run| (run.id, run.status.clone())).skip(1).collect();
    let replaced = RunStatus::Skipped { reason: SkipReason::Replaced };
    assert_eq!(statuses, [(retry.id, replaced), (by_hand.id, RunStatus::Finished)]);
    assert_eq!(card(&rig, &task.file).await.last.map(|run| run.id), Some(by_hand.id));
    clock.set(DAY + 23 * HOUR);
    settled(&rig, &clock, 3).await;
    assert_eq!(rig.server.requests().len(), 2);
}

#[tokio::test]
async fn a_time_that_comes_takes_the_place_of_a_try_that_waits() {
    let script = Script::new().reply(Reply::error(400, "invalid_request_error", "no")).text("better");
    let (rig, clock) = world(script, DAY + 9 * HOUR).await;
    let mut plan = at_ten(&rig);
    plan.when = Timing::Cron { expression: "0 10,11 * * *".to_owned() };
    plan.retry = TaskRetry { times: 1, minutes: 720 };
    save(&rig, plan).await;
    clock.set(DAY + 10 * HOUR);
    let waits = RunStatus::Waiting { until: DAY + 22 * HOUR };
    let retry = last_run(&rig, "a retry", |status| *status == waits).await;
    clock.set(DAY + 11 * HOUR);
    let run = last_run(&rig, "finished", |status| *status == RunStatus::Finished).await;
    assert_eq!((run.cause, run.due), (RunCause::Time, DAY + 11 * HOUR));
    let dropped = runs(&rig).await.into_iter().find(|run| run.id == retry.id).unwrap();
    assert_eq!(dropped.status, RunStatus::Skipped { reason: SkipReason::Replaced });
    clock.set(DAY + 23 * HOUR);
    settled(&rig, &clock, 3).await;
    assert_eq!(rig.server.requests().len(), 2);
}

async fn state(rig: &Rig) -> TasksState {
    let mut updates = rig.octo.subscribe(LiveTopic::Tasks).await.unwrap();
    match updates.next().await.unwrap().remove(0) {
        Update::Snapshot { snapshot: Snapshot::Tasks { state } } => state,
        other => panic!("no snapshot: {other:?}"),
    }
}

#[tokio::test]
async fn a_run_that_asks_waits_for_the_person_and_goes_on_with_the_answer() {
    let script = Script::new().call("write", json!({ "path": "a.txt", "content": "x\n" })).text("done");
    let (mut rig, clock) = world(script, DAY + 9 * HOUR).await;
    let mut plan = at_ten(&rig);
    plan.mode = Mode::Ask;
    plan.minutes = 1;
    save(&rig, plan).await;
    let mut updates = rig.octo.subscribe(LiveTopic::Tasks).await.unwrap();
    updates.next().await.unwrap();
    clock.set(DAY + 10 * HOUR);
    let question = rig.question().await;
    let run = last_run(&rig, "waiting", |status| *status == RunStatus::NeedsYou).await;
    assert_eq!((state(&rig).await.running, state(&rig).await.waiting), (0, 1));
    assert!(matches!(updates.next().await.unwrap()[0], Update::Tasks { .. }), "who watches is told");
    // Time the person takes does not count.
    clock.pass(3 * HOUR);
    settled(&rig, &clock, 1).await;
    assert_eq!(runs(&rig).await[0].status, RunStatus::NeedsYou);
    rig.answer(run.session.unwrap(), &question, Answer::Once).await;
    last_run(&rig, "finished", |status| *status == RunStatus::Finished).await;
    assert_eq!(state(&rig).await.waiting, 0);
    assert_eq!(rig.home.read("a.txt"), "x\n");
}

#[tokio::test]
async fn a_paused_task_does_not_run_and_what_passed_is_over() {
    let (rig, clock) = world(Script::new().text("x"), DAY + 9 * HOUR).await;
    let task = save(&rig, at_ten(&rig)).await;
    let paused = rig.octo.call(SwitchTask { task: task.file.clone(), on: Switch::Off }).await.unwrap();
    assert_eq!(paused.state, TaskState::Paused);
    clock.set(DAY + 11 * HOUR);
    settled(&rig, &clock, 0).await;
    rig.octo.call(SwitchTask { task: task.file, on: Switch::On }).await.unwrap();
    settled(&rig, &clock, 0).await;
    clock.set(DAY + 34 * HOUR);
    last_run(&rig, "finished", |status| *status == RunStatus::Finished).await;
}
