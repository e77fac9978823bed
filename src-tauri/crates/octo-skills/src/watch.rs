//! Watches the folders of skills for changes.

use crate::Roots;
use notify::{Config, RecommendedWatcher, RecursiveMode, Watcher};
use std::{
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread,
    time::{Duration, Instant},
};

/// Quiet time before a change is reported: an editor saves in several steps.
const QUIET_TIME: Duration = Duration::from_millis(200);
/// Maximum delay of a report while changes continue.
const MAX_DELAY: Duration = Duration::from_secs(2);
/// Number of folders watched above a root that does not exist: `.octo` and its parent.
const WATCHED_PARENTS: usize = 2;

/// Watches the folders of skills until it is dropped.
#[derive(Debug)]
pub struct SkillWatch {
    messages: Sender<WatchMessage>,
}

#[derive(Debug)]
enum WatchMessage {
    Event(notify::Result<notify::Event>),
    Stop,
}

impl SkillWatch {
    /// Calls `changed` after a change below one of the roots, including the appearance of a missing root.
    /// Changes in quick succession count as one. `changed` is called on a thread of its own.
    ///
    /// # Errors
    /// Fails if the system cannot watch at all. A folder that cannot be watched is skipped.
    pub fn new(roots: &Roots, changed: impl Fn() + Send + 'static) -> notify::Result<Self> {
        Self::folders(roots.iter().map(|root| root.path.as_path()), changed)
    }

    /// Watches folders of another kind in the same way.
    ///
    /// # Errors
    /// Fails like [`SkillWatch::new`].
    pub fn folders<'a>(
        folders: impl Iterator<Item = &'a Path>,
        changed: impl Fn() + Send + 'static,
    ) -> notify::Result<Self> {
        let (sender, receiver) = mpsc::channel();
        let events = sender.clone();
        let watcher = RecommendedWatcher::new(
            move |event| {
                // There is no listener after the watch has ended.
                let _ended = events.send(WatchMessage::Event(event));
            },
            Config::default().with_follow_symlinks(false),
        )?;
        // Some systems report only real paths.
        let resolve = |path: &Path| octo_workspace::resolve_links(path).unwrap_or_else(|_| path.to_owned());
        let roots = folders.map(resolve).collect();
        let mut watching = WatchLoop { watcher, roots };
        watching.watch_roots();
        thread::Builder::new()
            .name("skills-watch".to_owned())
            .spawn(move || watching.run(&receiver, &changed))
            .map_err(notify::Error::io)?;
        Ok(Self { messages: sender })
    }
}

impl Drop for SkillWatch {
    fn drop(&mut self) {
        // It may have ended already.
        let _ended = self.messages.send(WatchMessage::Stop);
    }
}

struct WatchLoop {
    watcher: RecommendedWatcher,
    roots: Vec<PathBuf>,
}

impl WatchLoop {
    fn run(&mut self, receiver: &Receiver<WatchMessage>, changed: &dyn Fn()) {
        while let Ok(message) = receiver.recv() {
            match message {
                WatchMessage::Stop => return,
                WatchMessage::Event(event) if !self.concerns(&event) => continue,
                WatchMessage::Event(_) => {}
            }
            let started = Instant::now();
            while started.elapsed() < MAX_DELAY {
                match receiver.recv_timeout(QUIET_TIME) {
                    Ok(WatchMessage::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                    Ok(WatchMessage::Event(_)) => {}
                    Err(RecvTimeoutError::Timeout) => break,
                }
            }
            // Before the report, so later changes are noticed.
            self.watch_roots();
            changed();
        }
    }

    /// Watches each root and the folders it would appear in. Adds all of them each time: to the system, a
    /// removed and recreated folder is a different one.
    fn watch_roots(&mut self) {
        for root in self.roots.clone() {
            for ancestor in
                root.ancestors().skip(1).take(WATCHED_PARENTS).filter(|ancestor| ancestor.is_dir())
            {
                self.add(ancestor, RecursiveMode::NonRecursive);
            }
            if root.is_dir() {
                self.add(&root, RecursiveMode::Recursive);
            }
        }
    }

    fn add(&mut self, path: &Path, mode: RecursiveMode) {
        if let Err(error) = self.watcher.watch(path, mode) {
            tracing::debug!(%error, "a folder of skills is not watched");
        }
    }

    /// Returns whether an event may have changed a skill: it happened below a root, or to a folder above one.
    /// Reads do not count.
    fn concerns(&self, event: &notify::Result<notify::Event>) -> bool {
        let Ok(event) = event else { return true };
        if event.kind.is_access() {
            return false;
        }
        event.need_rescan()
            || event
                .paths
                .iter()
                .any(|path| self.roots.iter().any(|root| path.starts_with(root) || root.starts_with(path)))
    }
}
