//! The time machine: what every task did to files, and going back to the end of any of them.
//!
//! * [`TimeMachine::begin_task`] … [`TimeMachine::end_task`] enclose one run. In between, [`Recorder`] records
//!   what file tools change before they change it, and [`TimeMachine::before_command`] and
//!   [`TimeMachine::after_command`] find what shell commands changed, by pictures of the session's folder.
//! * [`TimeMachine::plan`] says what going to a task would do; [`TimeMachine::restore`] does it, all or
//!   nothing; [`TimeMachine::recover`] ends what a killed process left in the middle of a session.
//! * [`TimeMachine::changes`] and [`TimeMachine::compare`] show what a task did.
//! * [`TimeMachine::collect`] removes what nothing refers to.
//!
//! The tree of tasks and what was recorded are tables of the store; content is in [`crate::Blobs`]; pictures
//! and the journals of restores are files in `time/` of the home. A task of the tree names its turn and not
//! the other way round: safety entries and checkpoints are tasks without a turn, and a turn knows its parent
//! from the tree, so there is one truth about what goes on from what.
//!
//! Kept of a file are its bytes and its permissions, of a link its target, of a folder its permissions. Not
//! kept are owners, times, access lists, attributes, and that two names are one file (hard links): a restored
//! file is a new one, and its time is now, which is what build tools need to see.
//!
//! Everything blocks: call it from `spawn_blocking`.

mod apply;
mod bytes;
mod collect;
mod commands;
mod compare;
mod error;
mod folder;
mod git;
mod journal;
mod keep;
mod lasting;
mod picture;
mod plan;
mod recorder;
mod recover;
mod restore;
mod tasks;
mod tree;
mod watch;

pub use commands::RunningCommand;
pub use error::TimeError;
pub use plan::{RestorePlan, Selection};
pub use recorder::{Recorded, Recorder};
pub use recover::{Recovered, RecoveredAs};

use crate::Blobs;
use journal::Journals;
use octo_protocol::{SessionId, TaskNumber};
use octo_store::Store;
use std::{
    collections::{HashMap, VecDeque},
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A task of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TaskId {
    /// The session: of sub-agents, the root one.
    pub session: SessionId,
    /// The task's number in it.
    pub number: TaskNumber,
}

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one file. Larger ones are recorded as not kept.
    pub largest: u64,
    /// Bytes of all files of one folder's picture. Small files come first; what is beyond is left out, and
    /// said so.
    pub picture: u64,
    /// Files and folders of one folder's picture. What is beyond is left out, and said so.
    pub entries: usize,
    /// Folders below one folder that are watched, so that a picture need not look at everything; 0 for none. A
    /// picture with more looks at everything.
    pub watched: usize,
}

impl Default for Limits {
    /// 128 MiB for a file, 2 GiB and 400,000 entries for a folder: more than nearly all source trees, and
    /// less than a person notices missing. 32,768 watched folders take the kernel about 40 MB.
    fn default() -> Self {
        Self { largest: 128 << 20, picture: 2 << 30, entries: 400_000, watched: 1 << 15 }
    }
}

/// The time machine of a home. Cheap to clone; clones are one.
#[derive(Clone)]
pub struct TimeMachine {
    inner: Arc<Inner>,
}

impl fmt::Debug for TimeMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimeMachine").finish_non_exhaustive()
    }
}

struct Inner {
    store: Store,
    blobs: Blobs,
    /// Octo's own home: never part of a picture.
    home: PathBuf,
    journals: Journals,
    limits: Limits,
    desks: Mutex<HashMap<SessionId, Arc<Mutex<tasks::Desk>>>>,
    albums: Mutex<HashMap<PathBuf, Arc<Mutex<commands::Album>>>>,
    /// Folders that are watched, those that have been longest first.
    watched: Mutex<VecDeque<PathBuf>>,
}

impl TimeMachine {
    /// The time machine of the home. Nothing is done yet: see [`TimeMachine::recover`].
    pub fn new(store: Store, blobs: Blobs, home: &Path, limits: Limits) -> Self {
        let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
        let journals = Journals::new(home.join("time").join("restores"));
        Self {
            inner: Arc::new(Inner {
                store,
                blobs,
                home,
                journals,
                limits,
                desks: Mutex::default(),
                albums: Mutex::default(),
                watched: Mutex::default(),
            }),
        }
    }
}

impl Inner {
    fn desk(&self, session: SessionId) -> Arc<Mutex<tasks::Desk>> {
        let mut desks = lock(&self.desks);
        if !desks.contains_key(&session) {
            // Those of sessions without a task hold nothing. While the table is held nobody can come to hold one.
            desks.retain(|_, desk| {
                Arc::strong_count(desk) > 1 || desk.try_lock().is_ok_and(|desk| desk.is_in_use())
            });
        }
        Arc::clone(desks.entry(session).or_default())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What the locks guard is only remembered; what matters is stored.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
