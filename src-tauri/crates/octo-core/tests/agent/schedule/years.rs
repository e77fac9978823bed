//! A computer whose clock is a year off in either direction when Octo starts, and is corrected later.

use super::world::*;
use crate::agent::rig::Rig;
use octo_protocol::{Millis, MissedAnswer, MissedRun, RunCause, RunStatus, SkipReason, TaskPlan, TaskRun};
use octo_testkit::{Reply, Script};
use std::sync::Arc;

const YEAR: Millis = 365 * DAY_LONG;
const DAY_LONG: Millis = 24 * HOUR;

/// Returns a home in which the task's first time had its run, without a process.
async fn after_a_day(missed: MissedRun) -> (Rig, Arc<HandClock>) {
    let script = Script::from_fn(|_| Reply::text("brief"));
    let (mut rig, clock) = world(script, DAY + 9 * HOUR).await;
    let plan = TaskPlan { missed, ..at_ten(&rig) };
    save(&rig, plan).await;
    clock.set(DAY + 10 * HOUR);
    last_run(&rig, "finished", |status| *status == RunStatus::Finished).await;
    settled(&rig, &clock, 1).await;
    rig.end().await;
    (rig, clock)
}

fn finished(runs: &[TaskRun]) -> usize {
    runs.iter().filter(|run| run.status == RunStatus::Finished).count()
}

/// Checks that after the correction the plan's next time runs, on time and once.
async fn goes_on(rig: &Rig, clock: &Arc<HandClock>, before: usize) {
    clock.set(DAY + 2 * DAY_LONG + 9 * HOUR);
    let known = settled_runs(rig, clock).await;
    let slot = DAY + 2 * DAY_LONG + 10 * HOUR;
    clock.set(slot);
    let runs = runs_when(rig, "on time", |runs| {
        runs.iter().any(|run| run.due == slot && run.status == RunStatus::Finished)
    })
    .await;
    assert_eq!(runs.len(), known + 1, "{runs:#?}");
    assert!(finished(&runs) > before);
    assert_eq!(runs.iter().filter(|run| run.due == slot).count(), 1);
    settled(rig, clock, known + 1).await;
}

/// Counts the runs once the present moment has no further effect and no run is in progress.
async fn settled_runs(rig: &Rig, clock: &Arc<HandClock>) -> usize {
    clock.pass(1);
    let mut known = (runs(rig).await.len(), 0);
    while known.1 < 20 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        let over = |run: &TaskRun| run.ended_at.is_some() || run.status == RunStatus::Asked;
        let now = runs_when(rig, "over", |runs| runs.iter().all(over)).await.len();
        known = if now == known.0 { (now, known.1 + 1) } else { (now, 0) };
    }
    known.0
}

#[tokio::test]
async fn a_year_ahead_at_the_start_is_one_run_or_line_and_set_right_it_goes_on() {
    for missed in [MissedRun::RunOnce, MissedRun::Skip, MissedRun::Ask] {
        let (mut rig, clock) = after_a_day(missed).await;
        clock.set(DAY + YEAR + 9 * HOUR);
        rig.begin_by_clock(clock.clone()).await;
        let cause = RunCause::Missed { times: 364 };
        let runs = runs_when(&rig, "told of", |runs| runs.len() == 2).await;
        assert_eq!(runs[1].cause, cause, "{missed:?}");
        match missed {
            MissedRun::RunOnce => {
                last_run(&rig, "finished", |status| *status == RunStatus::Finished).await;
            }
            MissedRun::Skip => {
                let reason = SkipReason::Missed { times: 364 };
                assert_eq!(runs[1].status, RunStatus::Skipped { reason });
            }
            MissedRun::Ask => {
                assert_eq!(runs[1].status, RunStatus::Asked);
                let call = octo_protocol::AnswerMissed { run: runs[1].id, answer: MissedAnswer::Skip };
                rig.octo.call(call).await.unwrap();
            }
        }
        settled(&rig, &clock, 2).await;
        // Restarted at the right time, or running when the clock is corrected: both continue.
        clock.set(DAY + DAY_LONG + 9 * HOUR);
        rig.end().await;
        rig.begin_by_clock(clock.clone()).await;
        settled(&rig, &clock, 2).await;
        goes_on(&rig, &clock, usize::from(missed == MissedRun::RunOnce)).await;
        rig.end().await;
    }
}

#[tokio::test]
async fn a_year_behind_at_the_start_runs_nothing_again_and_set_right_it_goes_on() {
    for missed in [MissedRun::RunOnce, MissedRun::Skip, MissedRun::Ask] {
        let (mut rig, clock) = after_a_day(missed).await;
        clock.set(DAY - YEAR + 9 * HOUR);
        rig.begin_by_clock(clock.clone()).await;
        settled(&rig, &clock, 1).await;
        // For this computer it is that day: the scheduled time arrives.
        clock.set(DAY - YEAR + 10 * HOUR);
        runs_when(&rig, "run by the wrong clock", |runs| finished(runs) == 2).await;
        settled(&rig, &clock, 2).await;
        // Corrected within the minutes after a time that had its run: that time gets no second run.
        clock.set(DAY + 10 * HOUR + MINUTE);
        let known = settled_runs(&rig, &clock).await;
        let all = runs(&rig).await;
        assert_eq!(all.iter().filter(|run| run.due == DAY + 10 * HOUR).count(), 1, "{all:#?}");
        assert_eq!(finished(&all), 2, "{missed:?}: {all:#?}");
        assert!(known <= 3, "at most a line about the year that was jumped over: {all:#?}");
        goes_on(&rig, &clock, 2).await;
        rig.end().await;
    }
}
