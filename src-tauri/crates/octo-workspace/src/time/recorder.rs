//! Records files before the file tools change them.

use super::TimeMachine;
use octo_protocol::{SessionId, UnsavedReason};
use std::path::Path;

/// Records the state of paths for a session's open step, before they change. Passed to
/// [`crate::Files::recording`]. Cheap to clone; blocking.
#[derive(Clone, Debug)]
pub struct ChangeRecorder {
    pub(super) machine: TimeMachine,
    pub(super) session: SessionId,
}

/// Whether a change can be undone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordOutcome {
    /// Yes: the former state is stored.
    Kept,
    /// No: the former content was not stored.
    NotKept(UnsavedReason),
    /// Recording is off.
    #[default]
    Off,
}

impl ChangeRecorder {
    /// Records the state of `path` (a real path) and which of its parents are missing. Call it before every
    /// change; after the first call in a step, it costs only a table lookup.
    ///
    /// # Errors
    ///
    /// When the state cannot be recorded. The change must then not be made.
    pub fn before_change(&self, path: &Path) -> Result<RecordOutcome, super::TimeError> {
        self.machine.record_before(self.session, path)
    }

    /// Notes the state in which a change left `path`, to tell it from what others make of it later.
    ///
    /// # Errors
    ///
    /// When the state cannot be read. The change then counts as anybody's.
    pub fn after_change(&self, path: &Path) -> Result<(), super::TimeError> {
        self.machine.note_after(self.session, path)
    }
}
