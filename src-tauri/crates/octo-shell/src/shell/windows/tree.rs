//! Processes a command left. They are in its job and end with it.

use super::guard::GuardRegistration;

/// Processes that outlived their command.
pub(super) struct Survivors(GuardRegistration);

impl Survivors {
    /// Returns the living processes of a job, if there are some.
    pub(super) fn of(guarded: Option<GuardRegistration>) -> Option<Self> {
        guarded.filter(|guarded| !guarded.members().is_empty()).map(Self)
    }

    /// Returns whether all of them have ended.
    pub(super) fn is_over(&self) -> bool {
        self.0.members().is_empty()
    }

    /// Logs them; they end when this is dropped, which follows.
    pub(super) fn request_kill(&self) {
        for pid in self.0.members() {
            tracing::debug!(pid, "a process a command left behind is ended");
        }
    }

    /// Ends them.
    pub(super) fn finish(self) {
        drop(self);
    }
}
