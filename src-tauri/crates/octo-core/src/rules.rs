//! The person's `policy.toml` in use: read for each decision, watched, and told of when it changes.
//!
//! Whether it holds is never a matter of the watching: each decision reads the file. Watching is for the person, who
//! is to see at once that what they wrote does not hold. What became of the file cannot be an event, for events are
//! stored with the tables they are about, and this is a file of the person's; it is told beside them.
//!
//! Many programs empty a file before they write it anew, and some take it away first. What held until then holds for a
//! little longer: a decision in that moment must not find that nothing is forbidden.

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use octo_protocol::{ApiError, PolicyState};
use octo_shell::{Policy, PolicyChange, PolicyChangeError, PolicyContent, PolicyFile, PolicyReading};
use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::{Duration, Instant},
};
use tokio::sync::broadcast;

/// News a slow watcher may fall behind; each is the whole state, so that the last one is enough.
const NEWS: usize = 16;

/// How long a file must have been empty, or gone, until it counts as such. Programs write what they emptied within
/// milliseconds; a person who takes all rules away waits for this.
const SETTLES: Duration = Duration::from_secs(2);

/// The name of the file in Octo's home.
const NAME: &str = "policy.toml";

/// The person's own rules.
pub(crate) struct Rules {
    known: Arc<Known>,
    /// Ends with this; none where the system cannot watch a folder.
    _watcher: Option<RecommendedWatcher>,
}

struct Known {
    file: PolicyFile,
    held: Mutex<Held>,
    news: broadcast::Sender<PolicyState>,
    /// Held while the file is changed from here, so that two changes do not take each other for somebody else's.
    changing: Mutex<()>,
}

/// What is remembered of the file between two looks.
#[derive(Default)]
struct Held {
    /// As it was told last; nothing before the first look.
    told: Option<PolicyState>,
    /// What it said last when there was something in it, while that still holds.
    said: Option<PolicyReading>,
    /// Since when there is nothing in it.
    emptied: Option<Instant>,
}

impl Rules {
    /// Those in this home. Watches the home from now on.
    pub(crate) fn new(home: &Path) -> Self {
        let user = std::env::home_dir().filter(|home| home.is_absolute());
        let known = Arc::new(Known {
            file: PolicyFile::new(home.join(NAME), user),
            held: Mutex::default(),
            news: broadcast::channel(NEWS).0,
            changing: Mutex::default(),
        });
        known.look();
        let watcher = watch(&known, home)
            .inspect_err(|error| {
                tracing::warn!(%error, "changes of policy.toml are seen only with the next decision");
            })
            .ok();
        Self { known, _watcher: watcher }
    }

    /// The policy as of now. A file that cannot be used counts as the strict policy.
    pub(crate) fn policy(&self) -> Arc<Policy> {
        Arc::new(self.known.look().0)
    }

    /// The file as of now.
    pub(crate) fn state(&self) -> PolicyState {
        self.known.look().1
    }

    /// What becomes of the file from now on.
    pub(crate) fn watch(&self) -> broadcast::Receiver<PolicyState> {
        self.known.news.subscribe()
    }

    /// Changes the file, if it holds what `stamp` stands for. Blocks for as long as writing it takes.
    pub(crate) fn change(&self, change: &PolicyChange, stamp: &str) -> Result<PolicyState, ApiError> {
        let _alone = self.known.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.known.file.path().display();
        let about = |key: &str| ApiError::new(key).arg("path", &path);
        self.known.file.change(change, stamp).map_err(|error| match error {
            PolicyChangeError::Broken(fault) => about("policy.broken").detail(fault),
            PolicyChangeError::Changed => about("policy.changed"),
            PolicyChangeError::Layout => about("policy.layout"),
            PolicyChangeError::Rule(why) => ApiError::new(why.key()),
            PolicyChangeError::Unwritable(error) => about("policy.unwritable").detail(error),
        })?;
        Ok(self.state())
    }
}

impl Known {
    /// Reads the file and tells who watches if it is not what it was.
    fn look(self: &Arc<Self>) -> (Policy, PolicyState) {
        // Read under the lock, so that what is told last is what was read last.
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let read = self.file.read();
        let PolicyReading { policy, fault, stamp, .. } = match read.content {
            PolicyContent::Something => {
                held.emptied = None;
                held.said = Some(read.clone());
                read
            }
            PolicyContent::Nothing => match held.said.clone() {
                None => read,
                Some(said) => {
                    let since = *held.emptied.get_or_insert_with(|| {
                        let now = Instant::now();
                        look_later(Arc::downgrade(self));
                        now
                    });
                    if since.elapsed() < SETTLES {
                        said
                    } else {
                        (held.said, held.emptied) = (None, None);
                        read
                    }
                }
            },
        };
        let state = PolicyState {
            path: self.file.path().display().to_string(),
            stamp,
            rules: policy.rules().all(),
            fault: fault.as_ref().map(octo_shell::PolicyFault::told),
        };
        if held.told.as_ref() != Some(&state) {
            if let Some(fault) = fault {
                tracing::warn!(%fault, "the policy file does not hold; whatever does not only read asks");
            }
            held.told = Some(state.clone());
            // Nobody watching is no fault.
            let _nobody = self.news.send(state.clone());
        }
        (policy, state)
    }
}

/// Looks again when what was emptied counts as empty, for nothing else may happen to it then.
fn look_later(known: Weak<Known>) {
    let waits = move || {
        std::thread::sleep(SETTLES);
        if let Some(known) = known.upgrade() {
            known.look();
        }
    };
    if let Err(error) = std::thread::Builder::new().name("policy-settles".to_owned()).spawn(waits) {
        tracing::warn!(%error, "that policy.toml is empty is seen only with the next decision");
    }
}

/// Has the file looked at when something happens to it. The folder is watched, for editors put a new file in the place
/// of the old one.
fn watch(known: &Arc<Known>, home: &Path) -> notify::Result<RecommendedWatcher> {
    let weak = Arc::downgrade(known);
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let about = match &event {
            // The database beside it is written to all the time.
            Ok(event) => event.need_rescan() || event.paths.iter().any(|path| path.ends_with(NAME)),
            Err(_) => true,
        };
        // Reading the file is such a thing too, and would go on for ever.
        let read = matches!(&event, Ok(event) if event.kind.is_access());
        if about
            && !read
            && let Some(known) = weak.upgrade()
        {
            known.look();
        }
    })?;
    watcher.watch(home, RecursiveMode::NonRecursive)?;
    Ok(watcher)
}
