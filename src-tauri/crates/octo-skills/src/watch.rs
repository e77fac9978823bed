//! Telling that something changed where skills are.

use crate::Roots;
use notify::{Config, RecommendedWatcher, RecursiveMode, Watcher};
use std::{
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread,
    time::{Duration, Instant},
};

/// How long nothing must happen before it is told: an editor saves in several steps.
const QUIET: Duration = Duration::from_millis(200);
/// After how long it is told though it goes on.
const LONGEST: Duration = Duration::from_secs(2);
/// How many folders above a root are watched while it does not exist: `.octo` and the folder it lies in.
const ABOVE: usize = 2;

/// Watches the folders of skills until it is dropped.
#[derive(Debug)]
pub struct Watch {
    tell: Sender<Heard>,
}

#[derive(Debug)]
enum Heard {
    Event(notify::Result<notify::Event>),
    Stop,
}

impl Watch {
    /// Calls `changed` after something changed below one of the roots, also where a root appears that was not there.
    /// Several changes at once are one. It is called on a thread of its own.
    ///
    /// # Errors
    /// The system cannot watch at all. A folder that cannot be watched is left out.
    pub fn new(roots: &Roots, changed: impl Fn() + Send + 'static) -> notify::Result<Self> {
        Self::folders(roots.iter().map(|root| root.path.as_path()), changed)
    }

    /// The same for folders of another kind.
    ///
    /// # Errors
    /// As of [`Watch::new`].
    pub fn folders<'a>(
        folders: impl Iterator<Item = &'a Path>,
        changed: impl Fn() + Send + 'static,
    ) -> notify::Result<Self> {
        let (tell, hear) = mpsc::channel();
        let events = tell.clone();
        let watcher = RecommendedWatcher::new(
            move |event| {
                // Nobody listens when the watch is over.
                let _over = events.send(Heard::Event(event));
            },
            Config::default().with_follow_symlinks(false),
        )?;
        // Some systems tell of real paths only.
        let place = |path: &Path| octo_workspace::real(path).unwrap_or_else(|_| path.to_owned());
        let roots = folders.map(place).collect();
        let mut watching = Watching { watcher, roots };
        watching.arm();
        thread::Builder::new()
            .name("skills-watch".to_owned())
            .spawn(move || watching.run(&hear, &changed))
            .map_err(notify::Error::io)?;
        Ok(Self { tell })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _over = self.tell.send(Heard::Stop);
    }
}

struct Watching {
    watcher: RecommendedWatcher,
    roots: Vec<PathBuf>,
}

impl Watching {
    fn run(&mut self, hear: &Receiver<Heard>, changed: &dyn Fn()) {
        while let Ok(heard) = hear.recv() {
            match heard {
                Heard::Stop => return,
                Heard::Event(event) if !self.concerns(&event) => continue,
                Heard::Event(_) => {}
            }
            let since = Instant::now();
            while since.elapsed() < LONGEST {
                match hear.recv_timeout(QUIET) {
                    Ok(Heard::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                    Ok(Heard::Event(_)) => {}
                    Err(RecvTimeoutError::Timeout) => break,
                }
            }
            // Before it is told: what appears from now on is heard.
            self.arm();
            changed();
        }
    }

    /// Watches each root and the folders it would appear in. All of them each time: one that was removed and made again
    /// is another one to the system.
    fn arm(&mut self) {
        for root in self.roots.clone() {
            for above in root.ancestors().skip(1).take(ABOVE).filter(|above| above.is_dir()) {
                self.add(above, RecursiveMode::NonRecursive);
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

    /// Whether it may have changed a skill: it happened below a root, or to a folder above one. Reading is no change.
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
