//! Shared state that both blocking and async tests can wait on.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

#[derive(Debug, Default)]
pub(crate) struct Board<T> {
    state: Mutex<T>,
    changed: Condvar,
    notify: Notify,
}

impl<T> Board<T> {
    pub(crate) fn new(state: T) -> Self {
        Self { state: Mutex::new(state), changed: Condvar::new(), notify: Notify::new() }
    }

    /// A panic in another test fails that test; the state it left is good enough to report on.
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.state.lock()
    }

    /// Changes the state and wakes all waiters.
    pub(crate) fn update<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let result = change(&mut self.lock());
        self.changed.notify_all();
        self.notify.notify_waiters();
        result
    }

    /// Blocks until `found` returns something, for at most `timeout`.
    pub(crate) fn wait<R>(&self, timeout: Duration, mut found: impl FnMut(&T) -> Option<R>) -> Option<R> {
        let deadline = Instant::now() + timeout;
        let mut state = self.lock();
        loop {
            if let Some(result) = found(&state) {
                return Some(result);
            }
            let remaining = deadline.checked_duration_since(Instant::now())?;
            self.changed.wait_for(&mut state, remaining);
        }
    }

    /// Waits until `found` returns something.
    pub(crate) async fn until<R>(&self, mut found: impl FnMut(&T) -> Option<R>) -> R {
        loop {
            let notified = self.notify.notified();
            tokio::pin!(notified);
            notified.as_mut().enable();
            let result = found(&self.lock());
            if let Some(result) = result {
                return result;
            }
            notified.await;
        }
    }
}
