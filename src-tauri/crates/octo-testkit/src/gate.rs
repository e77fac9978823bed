//! Holding a stream open until the test lets it go on.

use crate::board::Board;
use std::{sync::Arc, time::Duration};

/// A gate in a stream. Closed at first; clones are one gate.
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
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets the stream go on, now or when it comes.
    pub fn open(&self) {
        self.board.update(|state| state.open = true);
    }

    /// Waits until the stream stands at the gate: everything before it was sent.
    pub async fn reached(&self) {
        self.board.until(|state| state.reached.then_some(())).await;
    }

    /// Blocks until the stream stands at the gate.
    ///
    /// # Panics
    ///
    /// When it does not within `patience`.
    pub fn wait_reached(&self, patience: Duration) {
        let reached = self.board.wait(patience, |state| state.reached.then_some(()));
        assert!(reached.is_some(), "the stream did not reach the gate within {patience:?}");
    }

    /// The stream's side: arrives and waits.
    pub(crate) async fn pass(&self) {
        self.board.update(|state| state.reached = true);
        self.board.until(|state| state.open.then_some(())).await;
    }
}
