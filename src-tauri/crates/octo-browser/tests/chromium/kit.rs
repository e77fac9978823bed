//! A display, a browser with a profile of its own, and sites to visit.

mod browser;
mod display;
mod recording;
mod site;

pub(crate) use browser::{Chromium, Start};
pub(crate) use display::{Desk, Frame};
pub(crate) use recording::Recording;
pub(crate) use site::Site;

use std::{path::PathBuf, time::Duration};

/// How long anything may take on a busy machine before a test gives up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// How often a condition without a signal of its own is looked at.
const GLANCE: Duration = Duration::from_millis(20);

/// The installed Chromium. `None` where there is none and nobody promised one.
pub(crate) fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").expect("a PATH");
    let found = std::env::split_paths(&path).map(|folder| folder.join("chromium")).find(|it| it.is_file());
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "Chromium is missing; cargo xtask test installs it");
        eprintln!("skipped: Chromium is not installed; cargo xtask test installs it");
    }
    found
}

/// Waits until something is there.
pub(crate) async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let looking = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(GLANCE).await;
        }
    };
    tokio::time::timeout(PATIENCE, looking).await.unwrap_or_else(|_| panic!("{what} never came"))
}
