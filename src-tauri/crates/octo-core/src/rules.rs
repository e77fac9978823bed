//! The person's `policy.toml`: read for each decision, watched, and reported when it changes.
//!
//! Enforcement never depends on watching: each decision reads the file. Watching is for the person, who should
//! see at once that their text has no effect. The state of the file cannot be an event, because events are
//! stored with the tables they concern, and this is a file of the person's; it is reported separately.
//!
//! Many programs empty a file before they rewrite it, and some remove it first. The former contents therefore
//! stay in effect a little longer: a decision at that moment must not find that nothing is forbidden.

mod requests;

use crate::updates::Updates;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use octo_policy::{Policy, PolicyChange, PolicyChangeError, PolicyContent, PolicyFile, PolicyReading};
use octo_protocol::{ApiError, PolicyState, StoredTopic, Update};
use parking_lot::Mutex;
use std::{
    path::Path,
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

/// How long a file must be empty or missing before it counts as such. Programs rewrite an emptied file within
/// milliseconds; a person who removes all rules waits for this.
const EMPTY_AFTER: Duration = Duration::from_secs(2);

/// The name of the file in Octo's home.
const NAME: &str = "policy.toml";

/// The person's own rules.
pub(crate) struct PersonRules {
    known: Arc<WatchedPolicy>,
    /// The watcher, dropped with this; `None` if the system cannot watch a folder.
    _watcher: Option<RecommendedWatcher>,
}

struct WatchedPolicy {
    file: PolicyFile,
    held: Mutex<PolicyMemory>,
    updates: Updates,
    /// Locked while Octo changes the file, so that two of its changes do not mistake each other for outside
    /// changes.
    changing: Mutex<()>,
}

/// The memory of the file between two reads.
#[derive(Default)]
struct PolicyMemory {
    /// The last reported state; `None` before the first read.
    told: Option<PolicyState>,
    /// The last non-empty content, while it is still in effect.
    said: Option<PolicyReading>,
    /// Since when the file has been empty.
    emptied: Option<Instant>,
}

impl PersonRules {
    /// Creates the rules of this home and begins to watch it.
    pub(crate) fn new(home: &Path, updates: Updates) -> Self {
        let user = std::env::home_dir().filter(|home| home.is_absolute());
        let watched_policy = Arc::new(WatchedPolicy {
            file: PolicyFile::new(home.join(NAME), user),
            held: Mutex::default(),
            updates,
            changing: Mutex::default(),
        });
        watched_policy.read_and_notify();
        let watcher = watch(&watched_policy, home)
            .inspect_err(|error| {
                tracing::warn!(%error, "changes of policy.toml are seen only with the next decision");
            })
            .ok();
        Self { known: watched_policy, _watcher: watcher }
    }

    /// Returns the current policy. An unusable file counts as the strict policy.
    pub(crate) fn policy(&self) -> Arc<Policy> {
        Arc::new(self.known.read_and_notify().0)
    }

    /// Returns the current state of the file.
    pub(crate) fn state(&self) -> PolicyState {
        self.known.read_and_notify().1
    }

    /// Changes the file if its content matches `stamp`. Blocks while writing.
    pub(crate) fn change(&self, change: &PolicyChange, stamp: &str) -> Result<PolicyState, ApiError> {
        let _alone = self.known.changing.lock();
        let path = self.known.file.path().display();
        let for_path = |key: &str| ApiError::new(key).arg("path", &path);
        self.known.file.change(change, stamp).map_err(|error| match error {
            PolicyChangeError::Broken(fault) => for_path("policy.broken").detail(fault),
            PolicyChangeError::Changed => for_path("policy.changed"),
            PolicyChangeError::Layout => for_path("policy.layout"),
            PolicyChangeError::Rule(reason) => ApiError::new(reason.key()),
            PolicyChangeError::Unwritable(error) => for_path("policy.unwritable").detail(error),
        })?;
        Ok(self.state())
    }
}

impl WatchedPolicy {
    /// Reads the file and notifies subscribers if it changed.
    fn read_and_notify(self: &Arc<Self>) -> (Policy, PolicyState) {
        // Read under the lock, so that the last report is the last state read.
        let mut memory = self.held.lock();
        let reading = self.file.read();
        let PolicyReading { policy, fault, stamp, .. } = match reading.content {
            PolicyContent::Something => {
                memory.emptied = None;
                memory.said = Some(reading.clone());
                reading
            }
            PolicyContent::Nothing => match memory.said.clone() {
                None => reading,
                Some(reported) => {
                    let emptied_at = *memory.emptied.get_or_insert_with(|| {
                        let now = Instant::now();
                        read_later(Arc::downgrade(self));
                        now
                    });
                    if emptied_at.elapsed() < EMPTY_AFTER {
                        reported
                    } else {
                        (memory.said, memory.emptied) = (None, None);
                        reading
                    }
                }
            },
        };
        let state = PolicyState {
            path: self.file.path().display().to_string(),
            stamp,
            rules: policy.rules().all(),
            fault: fault.as_ref().map(octo_policy::PolicyFault::to_api_error),
        };
        if memory.told.as_ref() != Some(&state) {
            if let Some(fault) = fault {
                tracing::warn!(%fault, "the policy file does not hold; whatever does not only read asks");
            }
            memory.told = Some(state.clone());
            self.updates.send(StoredTopic::Settings, Update::Policy { policy: Box::new(state.clone()) });
        }
        (policy, state)
    }
}

/// Reads the file again when the emptied file counts as empty, because no further event may occur then.
fn read_later(policy: Weak<WatchedPolicy>) {
    let waits = move || {
        std::thread::sleep(EMPTY_AFTER);
        if let Some(policy) = policy.upgrade() {
            policy.read_and_notify();
        }
    };
    if let Err(error) = std::thread::Builder::new().name("policy-settles".to_owned()).spawn(waits) {
        tracing::warn!(%error, "that policy.toml is empty is seen only with the next decision");
    }
}

/// Watches the file and reads it after an event. The folder is watched, because editors replace the old file
/// with a new one.
fn watch(policy: &Arc<WatchedPolicy>, home: &Path) -> notify::Result<RecommendedWatcher> {
    let weak = Arc::downgrade(policy);
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let concerns = match &event {
            // The database in the same folder is written all the time.
            Ok(event) => event.need_rescan() || event.paths.iter().any(|path| path.ends_with(NAME)),
            Err(_) => true,
        };
        // Reading the file is an event too, and would cause an endless loop.
        let is_access = matches!(&event, Ok(event) if event.kind.is_access());
        if concerns
            && !is_access
            && let Some(policy) = weak.upgrade()
        {
            policy.read_and_notify();
        }
    })?;
    watcher.watch(home, RecursiveMode::NonRecursive)?;
    Ok(watcher)
}
