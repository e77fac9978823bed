//! Tasks that Octo runs by itself, at their time.
//!
//! `octo_schedule` has the files, the times and the decisions, which are pure. This has the state that the application
//! shares ([`Schedule`]), what the person and the agent do with tasks ([`HomeTasks`]), and the plans that the person is
//! asked about ([`ShownPlan`]).
//!
//! What waits for times, begins runs and follows them is [`crate::scheduler`], above sessions.
//!
//! A task is a file of the home; what it says runs only as the person wrote or accepted it, which its hash in the store
//! tells. Its times are claimed in the store before anything begins, each at most once, by the one process that has the
//! schedule's lease. A run is stored as begun in the transaction that makes its session. So whenever a process ends, a
//! run either waits, and the next process begins it (or by the policy leaves it out), or has a session, which the next
//! process goes on with as with any other, and the run follows it: a run is interrupted only where its session is gone.

mod restore;
mod runs;
mod shown_plan;
mod tasks;

pub(crate) use runs::{check_lease, check_waiting, with_session};
pub(crate) use shown_plan::ShownPlan;
pub(crate) use tasks::HomeTasks;

use octo_protocol::{Cost, Millis, SessionId, TasksState};
use octo_schedule::TaskFiles;
use octo_skills::SkillWatch;
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, atomic::AtomicU64},
};
use tokio::sync::{Notify, broadcast};

/// Capacity of the news channel; each item is the whole state, so a slow watcher needs only the last one.
const UPDATE_CAPACITY: usize = 16;

/// The schedule state shared by all parts of the application.
pub(crate) struct Schedule {
    files: TaskFiles,
    /// Wakes the scheduler for an immediate look.
    wake: Arc<Notify>,
    revision: AtomicU64,
    updates: broadcast::Sender<TasksState>,
    /// Cost limit of the run of each session.
    limits: Mutex<HashMap<SessionId, Cost>>,
    /// Locked while files are written, so that each write is based on the latest read.
    write_lock: tokio::sync::Mutex<()>,
    watch: Mutex<Option<SkillWatch>>,
    /// Plans the person is being asked about.
    shown_plans: Mutex<Vec<ShownPlan>>,
    /// When tasks were deleted since the start, by this clock. For earlier deletions the trash has the time by
    /// the system's clock.
    deletion_times: Mutex<HashMap<String, Millis>>,
}

impl Schedule {
    fn new(home: &Path) -> Self {
        Self {
            files: TaskFiles::in_home(home),
            wake: Arc::default(),
            revision: AtomicU64::new(0),
            updates: broadcast::channel(UPDATE_CAPACITY).0,
            limits: Mutex::default(),
            write_lock: tokio::sync::Mutex::default(),
            watch: Mutex::default(),
            shown_plans: Mutex::default(),
            deletion_times: Mutex::default(),
        }
    }

    /// Subscribes to changes of scheduled tasks.
    pub(crate) fn watch(&self) -> broadcast::Receiver<TasksState> {
        self.updates.subscribe()
    }

    /// Returns the signal that wakes the scheduler.
    pub(crate) fn wake(&self) -> Arc<Notify> {
        Arc::clone(&self.wake)
    }

    /// Returns the cost limit of a session's turn in addition to the person's budgets, or `None` if the session
    /// is not a scheduled run.
    pub(crate) fn budget_of(&self, session: SessionId) -> Option<Cost> {
        self.with_limits(|limits| limits.get(&session).copied())
    }

    /// Sets the cost limit of a session's turn.
    pub(crate) fn limit(&self, session: SessionId, budget: Option<Cost>) {
        self.with_limits(|limits| match budget {
            Some(budget) => limits.insert(session, budget),
            None => limits.remove(&session),
        });
    }

    fn with_deletion_times<T>(&self, update: impl FnOnce(&mut HashMap<String, Millis>) -> T) -> T {
        update(&mut self.deletion_times.lock())
    }

    fn with_limits<T>(&self, update: impl FnOnce(&mut HashMap<SessionId, Cost>) -> T) -> T {
        update(&mut self.limits.lock())
    }

    /// Whether changes of the folder of tasks are reported.
    pub(crate) fn is_watched(&self) -> bool {
        self.watch.lock().is_some()
    }
}
