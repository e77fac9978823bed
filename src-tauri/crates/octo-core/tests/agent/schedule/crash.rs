//! Processes that end at any point, and two at once.

use super::world::*;
use crate::agent::rig::{Rig, config, reached};
use octo_core::{Config, Octo, OpenTurnPolicy};
use octo_protocol::{MissedRun, RunCause, RunId, RunStatus, RunTask, SkipReason, TaskRun};
use octo_store::{Holder, RunRow, Store};
use octo_testkit::{Gate, Reply, Script};
use std::sync::Arc;

/// Returns a holder that surely does not run: no process has this number.
pub fn dead() -> Holder {
    Holder { process: u32::MAX - 1, ..Holder::current() }
}

/// Changes the store of an application that ended into the state a crash would have left.
async fn left_by_a_crash(
    rig: &Rig,
    change: impl FnOnce(&mut octo_store::Tx<'_>) -> Result<(), octo_store::StoreError> + Send + 'static,
) {
    let home = rig.home.octo();
    let store = tokio::task::spawn_blocking(move || Store::open(&home)).await.unwrap().unwrap();
    store.write(change).await.unwrap();
    tokio::task::spawn_blocking(move || store.close()).await.unwrap();
}

/// A run of the morning brief that was claimed and has not begun.
fn claimed(slot: i64) -> RunRow {
    RunRow {
        run: TaskRun {
            id: RunId::new(),
            task: "morning-brief".to_owned(),
            name: "Morning brief".to_owned(),
            cause: RunCause::Time,
            due: slot,
            started_at: None,
            ended_at: None,
            status: RunStatus::Waiting { until: slot },
            session: None,
            cost: octo_protocol::Cost::ZERO,
            result: None,
        },
        scheduled_at: Some(slot),
        budget: None,
        minutes: 30,
        worked: 0,
        stop_reason: None,
    }
}

/// Before a time is claimed; after it, with or without the mark of the last check; each at the time itself and
/// much later. Whatever the point, the time has one run or the policy's entry.
#[tokio::test]
async fn whenever_a_process_ends_before_a_run_begins_its_time_fires_once_or_goes_by_the_policy() {
    for missed in [MissedRun::RunOnce, MissedRun::Skip] {
        for is_claimed in [false, true] {
            for is_marked in [false, true] {
                if is_marked && !is_claimed {
                    // They are one transaction.
                    continue;
                }
                for late in [MOMENT, 5 * HOUR] {
                    let (mut rig, clock) = world(Script::new().text("brief"), DAY + 9 * HOUR).await;
                    let mut plan = at_ten(&rig);
                    plan.missed = missed;
                    save(&rig, plan).await;
                    settled(&rig, &clock, 0).await;
                    rig.end().await;
                    let slot = DAY + 10 * HOUR;
                    left_by_a_crash(&rig, move |tx| {
                        // kill -9 leaves the lease behind.
                        tx.take_schedule_lease(&dead(), octo_store::probe)?;
                        if is_claimed {
                            assert!(tx.add_run(&claimed(slot))?);
                        }
                        if is_marked {
                            tx.set_task_decided("morning-brief", Some(slot))?;
                        }
                        Ok(())
                    })
                    .await;
                    clock.set(slot + late);
                    rig.begin_by_clock(clock.clone()).await;
                    let run = last_run(&rig, "over", |status| {
                        matches!(status, RunStatus::Finished | RunStatus::Skipped { .. })
                    })
                    .await;
                    let case = (missed, is_claimed, is_marked, late);
                    let skips = missed == MissedRun::Skip && late > MOMENT;
                    let reason = SkipReason::Missed { times: 1 };
                    let status = if skips { RunStatus::Skipped { reason } } else { RunStatus::Finished };
                    assert_eq!(run.status, status, "{case:?}");
                    assert_eq!(run.due, slot, "{case:?}");
                    settled(&rig, &clock, 1).await;
                    assert_eq!(rig.server.requests().len(), usize::from(!skips), "{case:?}");
                    rig.end().await;
                }
            }
        }
    }
}

/// Late, but not late enough to count.
const MOMENT: i64 = MINUTE;

#[tokio::test]
async fn a_run_whose_process_ended_goes_on_with_its_session_and_is_one_run() {
    let gate = Gate::new();
    let script = Script::new().reply(Reply::text("half of").in_chunks(2).hold_after(1, &gate)).text("whole");
    let (mut rig, clock) = world(script, DAY + 9 * HOUR).await;
    save(&rig, at_ten(&rig)).await;
    clock.set(DAY + 10 * HOUR);
    reached(&gate).await;
    let before = last_run(&rig, "running", |status| *status == RunStatus::Running).await;
    rig.end().await;
    left_by_a_crash(&rig, |tx| tx.take_schedule_lease(&dead(), octo_store::probe).map(|_| ())).await;
    clock.set(DAY + 12 * HOUR);
    rig.begin_by_clock(clock.clone()).await;
    let after = last_run(&rig, "finished", |status| *status == RunStatus::Finished).await;
    assert_eq!((after.id, after.session), (before.id, before.session));
    assert!(after.result.unwrap().contains("whole"));
    settled(&rig, &clock, 1).await;
}

#[tokio::test]
async fn a_run_that_was_being_stopped_is_stopped_by_the_next_process() {
    let gate = Gate::new();
    let script =
        Script::new().reply(Reply::text("half of").in_chunks(2).hold_after(1, &gate)).reply(Reply::hang());
    let (mut rig, clock) = world(script, DAY + 9 * HOUR).await;
    save(&rig, at_ten(&rig)).await;
    clock.set(DAY + 10 * HOUR);
    reached(&gate).await;
    let run = last_run(&rig, "running", |status| *status == RunStatus::Running).await;
    rig.end().await;
    left_by_a_crash(&rig, move |tx| {
        let row = tx.run(run.id)?.unwrap();
        tx.put_run(&RunRow { stop_reason: Some(octo_store::RunStopReason::TimedOut), ..row })
    })
    .await;
    rig.begin_by_clock(clock.clone()).await;
    last_run(&rig, "timed out", |status| *status == RunStatus::TimedOut).await;
}

#[tokio::test]
async fn a_run_whose_session_was_deleted_is_interrupted() {
    let gate = Gate::new();
    let script = Script::new().reply(Reply::text("long").hold_after(1, &gate));
    let (rig, clock) = world(script, DAY + 9 * HOUR).await;
    save(&rig, at_ten(&rig)).await;
    clock.set(DAY + 10 * HOUR);
    reached(&gate).await;
    let run = last_run(&rig, "running", |status| *status == RunStatus::Running).await;
    rig.octo.call(octo_protocol::DeleteSession { session: run.session.unwrap() }).await.unwrap();
    let over =
        last_run(&rig, "over", |status| matches!(status, RunStatus::Interrupted | RunStatus::Stopped)).await;
    assert_eq!(over.session, None, "there is no session to go to");
}

async fn beside(rig: &Rig, clock: &Arc<HandClock>, open_turns: OpenTurnPolicy) -> Octo {
    let config = Config { open_turns, ..config(&rig.home) };
    Octo::start_by_clock(config, clock.clone()).await.expect("a second application starts")
}

#[tokio::test]
async fn of_two_on_one_home_one_runs_tasks_and_when_it_ends_the_other_does() {
    let script = Script::new().text("one").text("two").text("three");
    let (mut rig, clock) = world(script, DAY + 9 * HOUR).await;
    save(&rig, at_ten(&rig)).await;
    settled(&rig, &clock, 0).await;
    let other = beside(&rig, &clock, OpenTurnPolicy::GoOnAtStart).await;
    clock.set(DAY + 10 * HOUR);
    last_run(&rig, "finished", |status| *status == RunStatus::Finished).await;
    settled(&rig, &clock, 1).await;
    rig.end().await;
    rig.octo = other;
    clock.set(DAY + 34 * HOUR);
    runs_when(&rig, "two runs", |runs| {
        runs.len() == 2 && runs.iter().all(|run| run.status == RunStatus::Finished)
    })
    .await;
    assert_eq!(rig.server.requests().len(), 2);
    rig.end().await;
}

#[tokio::test]
async fn a_process_for_one_session_runs_no_task_and_leaves_it_to_the_next() {
    let (mut rig, clock) = world(Script::new().text("one"), DAY + 9 * HOUR).await;
    let mut plan = at_ten(&rig);
    plan.missed = MissedRun::Skip;
    let task = save(&rig, plan).await;
    rig.end().await;
    rig.octo = beside(&rig, &clock, OpenTurnPolicy::WaitForUse).await;
    clock.set(DAY + 11 * HOUR);
    settled(&rig, &clock, 0).await;
    rig.octo.call(RunTask { task: task.file }).await.unwrap();
    settled(&rig, &clock, 1).await;
    assert_eq!(rig.server.requests().len(), 0);
    rig.end().await;
    rig.begin_by_clock(clock.clone()).await;
    let runs = runs_when(&rig, "both", |runs| runs.len() == 2).await;
    assert!(runs.iter().any(|run| run.status == RunStatus::Skipped { reason: SkipReason::StillRunning }
        || run.status == RunStatus::Skipped { reason: SkipReason::Missed { times: 1 } }));
    runs_when(&rig, "finished", |runs| runs.iter().any(|run| run.status == RunStatus::Finished)).await;
    assert_eq!(rig.server.requests().len(), 1);
}
