//! Holds a stream open until the test lets it continue.

use crate::board::Board;
use std::{sync::Arc, time::Duration};

/// A gate in a stream. Initially closed; clones share one gate.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    board: Arc<Board<State>>,
}

#[derive(Debug, Default)]
struct State {
    reached: bool,
    open: bool,
}

impl Gate {
    /// Creates a closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens the gate, before or after the stream reaches it.
    pub fn open(&self) {
        self.board.update(|state| state.open = true);
    }

    /// Waits until the stream has reached the gate and everything before it was sent.
    pub async fn reached(&self) {
        self.board.until(|state| state.reached.then_some(())).await;
    }

    /// Blocks until the stream has reached the gate.
    ///
    /// # Panics
    ///
    /// When it does not within `timeout`.
    pub fn wait_reached(&self, timeout: Duration) {
        let reached = self.board.wait(timeout, |state| state.reached.then_some(()));
        assert!(reached.is_some(), "the stream did not reach the gate within {timeout:?}");
    }

    /// Called by the stream: reports its arrival and waits.
    pub(crate) async fn pass(&self) {
        self.board.update(|state| state.reached = true);
        self.board.until(|state| state.open.then_some(())).await;
    }
}
