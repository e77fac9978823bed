//! Tasks that Octo runs by itself, at their time.
//!
//! | Part | What it is |
//! | --- | --- |
//! | [`timing`] | the moments a timing means, in its zone |
//! | [`wording`], [`file`] | a task's file, and its timing in words |
//! | [`plan`] | what is wrong with a plan, and what is unusual |
//! | [`decide`] | what becomes of times and runs: pure |
//! | [`calm`] | how long nothing has to be read: pure |
//! | [`tasks`] | what the person and the agent do with tasks |
//! | [`revive`] | tasks that come back from the trash |
//! | [`tend`] | the part that waits, begins runs and follows them |
//!
//! A task is a file of the home; what it says runs only as the person wrote or accepted it, which its hash in the store
//! tells. Its times are claimed in the store before anything begins, each at most once, by the one process that has the
//! schedule's lease. A run is stored as begun in the transaction that makes its session. So whenever a process ends, a
//! run either waits, and the next process begins it (or by the policy leaves it out), or has a session, which the next
//! process goes on with as with any other, and the run follows it: a run is interrupted only where its session is gone.

mod calm;
mod decide;
mod desk;
mod file;
mod plan;
mod revive;
mod tasks;
mod tend;
mod timing;
mod wording;

pub(crate) use tasks::Tasks;
pub(crate) use tend::{Tender, must_hold};

use crate::{clock::Clock, shared::Shared};
use file::TaskFiles;
use octo_protocol::{ApiError, Cost, Millis, SessionId, TasksState};
use octo_skills::Watch;
use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, PoisonError, Weak, atomic::AtomicU64},
};
use tokio::sync::{Notify, broadcast};

/// News a slow watcher may fall behind; each is the whole state, so that the last one is enough.
const NEWS: usize = 16;

/// What all parts of the application share of tasks.
pub(crate) struct Schedule {
    files: TaskFiles,
    clock: Arc<dyn Clock>,
    /// Something is to be looked at now.
    wake: Arc<Notify>,
    revision: AtomicU64,
    news: broadcast::Sender<TasksState>,
    /// What the run of each session may cost.
    limits: Mutex<HashMap<SessionId, Cost>>,
    /// Held while files are written, so that what is written stands on what was read.
    writing: tokio::sync::Mutex<()>,
    /// Held while runs are begun and followed.
    tending: tokio::sync::Mutex<Tending>,
    watch: Mutex<Option<Watch>>,
    /// What the person is asked about.
    asked: Mutex<Vec<desk::Shown>>,
    /// When tasks were deleted since the start, by this clock. Of those before, the trash says it by the system's.
    deleted: Mutex<HashMap<String, Millis>>,
}

/// Whether runs are begun here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tending {
    Open,
    Over,
}

impl Schedule {
    pub(crate) fn new(home: &Path, clock: Arc<dyn Clock>) -> Self {
        Self {
            files: TaskFiles::of_home(home),
            clock,
            wake: Arc::default(),
            revision: AtomicU64::new(0),
            news: broadcast::channel(NEWS).0,
            limits: Mutex::default(),
            writing: tokio::sync::Mutex::default(),
            tending: tokio::sync::Mutex::new(Tending::Open),
            watch: Mutex::default(),
            asked: Mutex::default(),
            deleted: Mutex::default(),
        }
    }

    /// What is told of tasks from now on.
    pub(crate) fn watch(&self) -> broadcast::Receiver<TasksState> {
        self.news.subscribe()
    }

    /// What a session's turn may cost besides what the person's budgets say; none for a session that is no task's run.
    pub(crate) fn budget_of(&self, session: SessionId) -> Option<Cost> {
        self.limits(|limits| limits.get(&session).copied())
    }

    /// What a session's turn may cost from now on.
    pub(crate) fn limit(&self, session: SessionId, budget: Option<Cost>) {
        self.limits(|limits| match budget {
            Some(budget) => limits.insert(session, budget),
            None => limits.remove(&session),
        });
    }

    fn deleted<T>(&self, act: impl FnOnce(&mut HashMap<String, Millis>) -> T) -> T {
        act(&mut self.deleted.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn limits<T>(&self, act: impl FnOnce(&mut HashMap<SessionId, Cost>) -> T) -> T {
        act(&mut self.limits.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Watches the folder of tasks from now on.
    pub(crate) fn watch_folder(shared: &Arc<Shared>) {
        let schedule = &shared.schedule;
        let folder = schedule.files.folder().to_owned();
        if let Err(error) = octo_workspace::private_folder(&folder) {
            tracing::warn!(folder = %folder.display(), %error, "a folder of the home cannot be made");
        }
        let weak: Weak<Shared> = Arc::downgrade(shared);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let watch = Watch::folders(std::iter::once(folder.as_path()), move || {
            let _in = runtime.enter();
            if let Some(shared) = weak.upgrade() {
                Tasks::of(&shared).changed();
            }
        });
        match watch {
            Ok(watch) => {
                *schedule.watch.lock().unwrap_or_else(PoisonError::into_inner) = Some(watch);
            }
            Err(error) => tracing::warn!(%error, "changes of tasks are seen when they are looked at"),
        }
    }

    /// Whether what happens in the folder of tasks is told.
    fn is_watched(&self) -> bool {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// What runs may cost that an earlier process began: known before their sessions go on.
    pub(crate) async fn take_up(shared: &Shared) -> Result<(), ApiError> {
        let open = shared.store.read(|reader| reader.open_runs()).await?;
        for row in open {
            if let Some(session) = row.run.session {
                shared.schedule.limit(session, row.budget);
            }
        }
        Ok(())
    }

    /// Begins nothing any more, and lets other processes.
    pub(crate) async fn let_go(shared: &Shared) {
        *shared.schedule.tending.lock().await = Tending::Over;
        let token = shared.lease.token.clone();
        if let Err(error) = shared.store.write(move |tx| tx.release_schedule_lease(&token)).await {
            // A lease that stays is found dead by the next process.
            tracing::warn!(%error, "the schedule's lease is not released");
        }
    }
}
