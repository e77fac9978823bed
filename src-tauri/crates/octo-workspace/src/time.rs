//! The time machine: records the changes of every turn to files, and restores the end of any turn.
//!
//! * [`TimeMachine::begin_step`] … [`TimeMachine::end_step`] enclose one step. In between, [`ChangeRecorder`] records
//!   files before the file tools change them, and [`TimeMachine::before_command`] and
//!   [`TimeMachine::after_command`] find the changes of shell commands by comparing snapshots of the session's
//!   folder.
//! * [`TimeMachine::plan`] computes a restore; [`TimeMachine::restore`] carries it out, all or nothing;
//!   [`TimeMachine::recover`] completes the work of a killed process in a session.
//! * [`TimeMachine::changes`] and [`TimeMachine::compare`] show the changes of a step.
//! * [`TimeMachine::collect`] removes unreferenced content.
//!
//! The step tree and the recorded states are tables of the store; content is in [`crate::Blobs`]; snapshots and
//! restore journals are files in `time/` of the home. A step refers to its turn and not vice versa: safety
//! entries and checkpoints are steps without a turn, and a turn finds its parent through the tree, so each fact
//! about ancestry is stored once.
//!
//! A recorded file consists of its bytes and permissions, a link of its target, a folder of its permissions.
//! Owners, times, access lists, attributes and hard links are not recorded: a restored file is a new one with
//! the present time, which build tools need to see.
//!
//! Everything blocks: call it from `spawn_blocking`.

mod apply;
mod bytes;
mod collect;
mod commands;
mod compare;
mod content;
mod error;
mod folder;
pub(crate) mod git;
mod journal;
mod lasting;
mod others;
mod plan;
mod recorder;
mod recover;
mod restore;
mod snapshot;
mod steps;
mod tree;
mod watch;

pub use commands::RunningCommand;
pub use error::TimeError;
pub(crate) use folder::{DiskEntry, Folder};
pub use plan::{RestorePlan, RestoreSelection};
pub use recorder::{ChangeRecorder, RecordOutcome};
pub use recover::{RecoveredRestore, RecoveryOutcome};

use crate::Blobs;
use journal::Journals;
use octo_protocol::{SessionId, StepNumber};
use octo_store::Store;
use parking_lot::Mutex;
use std::{
    collections::{HashMap, VecDeque},
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

/// A step of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StepId {
    /// The session; for sub-agents, the root session.
    pub session: SessionId,
    /// The step's number in it.
    pub number: StepNumber,
}

/// Limits on recorded content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimits {
    /// The maximum bytes of one file. Larger files are recorded as not kept.
    pub max_file_bytes: u64,
    /// The maximum total bytes of one folder's snapshot. Small files come first; the rest is left out and
    /// reported.
    pub max_snapshot_bytes: u64,
    /// The maximum number of files and folders in one folder's snapshot. The rest is left out and reported.
    pub max_entries: usize,
    /// The maximum number of watched subfolders per folder, which spares a snapshot from checking everything; 0
    /// disables watching. A folder with more subfolders is always checked completely.
    pub max_watched: usize,
}

impl Default for TimeLimits {
    /// 128 MiB for a file, 2 GiB and 400,000 entries for a folder: more than nearly all source trees need, and
    /// less disk space than a person would miss. 32,768 watched folders take about 40 MB in the kernel.
    fn default() -> Self {
        Self {
            max_file_bytes: 128 << 20,
            max_snapshot_bytes: 2 << 30,
            max_entries: 400_000,
            max_watched: 1 << 15,
        }
    }
}

/// The time machine of a home. Cheap to clone; clones share one state.
#[derive(Clone)]
pub struct TimeMachine {
    inner: Arc<TimeMachineInner>,
}

impl fmt::Debug for TimeMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimeMachine").finish_non_exhaustive()
    }
}

struct TimeMachineInner {
    store: Store,
    blobs: Blobs,
    /// Octo's own home, which snapshots never include.
    home: PathBuf,
    journals: Journals,
    limits: TimeLimits,
    sessions: Mutex<HashMap<SessionId, Arc<Mutex<steps::SessionSteps>>>>,
    folders: Mutex<HashMap<PathBuf, Arc<Mutex<commands::FolderHistory>>>>,
    /// The watched folders, the longest watched first.
    watched: Mutex<VecDeque<PathBuf>>,
    /// Locked last, and not while anything else is.
    own: Mutex<others::OwnStates>,
}

impl TimeMachine {
    /// Returns the time machine of the home. It does nothing yet: see [`TimeMachine::recover`].
    pub fn new(store: Store, blobs: Blobs, home: &Path, limits: TimeLimits) -> Self {
        let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
        let journals = Journals::new(home.join("time").join("restores"));
        Self {
            inner: Arc::new(TimeMachineInner {
                store,
                blobs,
                home,
                journals,
                limits,
                sessions: Mutex::default(),
                folders: Mutex::default(),
                watched: Mutex::default(),
                own: Mutex::default(),
            }),
        }
    }
}

impl TimeMachineInner {
    fn session_steps(&self, session: SessionId) -> Arc<Mutex<steps::SessionSteps>> {
        let mut desks = self.sessions.lock();
        if !desks.contains_key(&session) {
            // Sessions without an open step have no state. While this table is locked, no caller can start to
            // use an entry.
            desks.retain(|_, steps| {
                Arc::strong_count(steps) > 1 || steps.try_lock().is_some_and(|steps| steps.is_in_use())
            });
        }
        Arc::clone(desks.entry(session).or_default())
    }
}
