//! A signal that something changed, without saying what changed.

use tokio::sync::watch;

/// Notifies its watchers of a change. Clones share the signal.
#[derive(Clone)]
pub struct Change(watch::Sender<u64>);

impl Default for Change {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Change {
    /// Notifies the watchers.
    pub fn notify(&self) {
        self.0.send_modify(|number| *number = number.wrapping_add(1));
    }

    /// Returns a counter that increases with every change.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }
}
