//! Telling that something changed, without telling what.

use tokio::sync::watch;

/// Tells its watchers that something changed. Clones are one.
#[derive(Clone)]
pub(crate) struct Change(watch::Sender<u64>);

impl Default for Change {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Change {
    pub fn tell(&self) {
        self.0.send_modify(|number| *number = number.wrapping_add(1));
    }

    /// Returns a counter that increases with every change.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }
}
