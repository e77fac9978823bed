//! Recording what file tools change, before they change it.

use super::TimeMachine;
use octo_protocol::{SessionId, Unsaved};
use std::path::Path;

/// Records the state of paths for a session's running task, before they are changed. Given to
/// [`crate::Files::recording`]. Cheap to clone; blocking.
#[derive(Clone, Debug)]
pub struct Recorder {
    pub(super) machine: TimeMachine,
    pub(super) session: SessionId,
}

/// Whether a change can be undone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recorded {
    /// It can: the former state is kept.
    Kept,
    /// It cannot, because the former content was not kept.
    NotKept(Unsaved),
    /// Nobody records here.
    #[default]
    Off,
}

impl Recorder {
    /// Records what is at `path`, a real one, and which of its folders are missing. To be called before every
    /// change; only the first in a task costs more than a look into a table.
    ///
    /// # Errors
    /// When it cannot be recorded. The change must not be made then.
    pub fn before_change(&self, path: &Path) -> Result<Recorded, super::TimeError> {
        self.machine.record_before(self.session, path)
    }
}
