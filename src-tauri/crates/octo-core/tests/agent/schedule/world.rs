//! A manually moved clock, and an application that uses it.

use crate::agent::rig::{PATIENCE, Rig};
use futures::future::BoxFuture;
use octo_core::Clock;
use octo_protocol::{
    GetTask, ListRuns, Millis, MissedRun, Mode, Profile, RunStatus, SaveTask, TaskCard, TaskNotifications,
    TaskPlan, TaskRetry, TaskRun, Timing,
};
use octo_testkit::Script;
use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::sync::watch;

pub const MINUTE: Millis = 60_000;
pub const HOUR: Millis = 60 * MINUTE;
/// 2026-11-22T00:00:00Z.
pub const DAY: Millis = 1_795_305_600_000;

/// A clock that only moves when the test moves it.
pub struct HandClock {
    now: AtomicI64,
    steady: AtomicI64,
    moves: watch::Sender<u64>,
    seen: AtomicU64,
}

impl HandClock {
    pub fn at(now: Millis) -> Arc<Self> {
        Arc::new(Self {
            now: AtomicI64::new(now),
            steady: AtomicI64::new(0),
            moves: watch::Sender::new(0),
            seen: AtomicU64::new(0),
        })
    }

    /// Lets time pass.
    pub fn pass(&self, time: Millis) {
        self.steady.fetch_add(time, Ordering::SeqCst);
        self.set(self.now() + time);
    }

    /// Sets the clock, or ends a sleep of the computer.
    pub fn set(&self, now: Millis) {
        self.now.store(now, Ordering::SeqCst);
        self.moves.send_modify(|moves| *moves += 1);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Millis {
        self.now.load(Ordering::SeqCst)
    }

    fn steady(&self) -> Duration {
        // Every check reads this first: a move from here on ends its wait.
        self.seen.store(*self.moves.borrow(), Ordering::SeqCst);
        Duration::from_millis(self.steady.load(Ordering::SeqCst).unsigned_abs())
    }

    fn wait(&self, _time: Duration) -> BoxFuture<'static, ()> {
        let (mut moves, seen) = (self.moves.subscribe(), self.seen.load(Ordering::SeqCst));
        Box::pin(async move {
            // The clock may be dropped before its waiter.
            let _gone = moves.wait_for(|moves| *moves != seen).await;
        })
    }
}

pub async fn world(script: impl Into<Script>, now: Millis) -> (Rig, Arc<HandClock>) {
    let clock = HandClock::at(now);
    (Rig::by_clock(script, clock.clone()).await, clock)
}

/// Every day at ten, in UTC, in the folder of the test.
pub fn at_ten(rig: &Rig) -> TaskPlan {
    TaskPlan {
        name: "Morning brief".to_owned(),
        prompt: "Write the brief.".to_owned(),
        when: Timing::Cron { expression: "0 10 * * *".to_owned() },
        zone: "UTC".to_owned(),
        folder: rig.home.work().display().to_string(),
        profile: Profile::GENERAL,
        mode: Mode::Autonomous,
        model: None,
        budget: None,
        minutes: 30,
        retry: TaskRetry { times: 0, minutes: 10 },
        missed: MissedRun::RunOnce,
        tell: TaskNotifications::Trouble,
    }
}

pub async fn save(rig: &Rig, plan: TaskPlan) -> TaskCard {
    let call = SaveTask { task: None, plan: Box::new(plan), version: None };
    rig.octo.call(call).await.expect("the task is saved")
}

pub async fn card(rig: &Rig, task: &str) -> TaskCard {
    rig.octo.call(GetTask { task: task.to_owned() }).await.expect("the task is there")
}

/// All runs, oldest first.
pub async fn runs(rig: &Rig) -> Vec<TaskRun> {
    let listed = rig.octo.call(ListRuns { task: None, after: None, limit: 100 }).await;
    let mut runs = listed.expect("the runs are listed").runs;
    runs.reverse();
    runs
}

/// Returns the runs once they match.
pub async fn runs_when(rig: &Rig, description: &str, predicate: impl Fn(&[TaskRun]) -> bool) -> Vec<TaskRun> {
    let wait = async {
        loop {
            let runs = runs(rig).await;
            if predicate(&runs) {
                return runs;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    match tokio::time::timeout(PATIENCE, wait).await {
        Ok(runs) => runs,
        Err(_) => panic!("never {description}: {:#?}", runs(rig).await),
    }
}

/// Returns the newest run once its status matches.
pub async fn last_run(rig: &Rig, description: &str, predicate: impl Fn(&RunStatus) -> bool) -> TaskRun {
    let is_expected = |runs: &[TaskRun]| runs.last().is_some_and(|run| predicate(&run.status));
    runs_when(rig, description, is_expected).await.pop().expect("a run")
}

/// Waits until the present moment has no further effect: another task, triggered now, has run.
pub async fn settled(rig: &Rig, clock: &HandClock, count: usize) {
    clock.pass(1);
    for _ in 0..20 {
        assert_eq!(runs(rig).await.len(), count);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
