//! Processes a command left. They are in its job and end with it.

/// A process a command left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    /// Its number, for the log.
    pub pid: usize,
}

/// Logs them; they end when their jobs are dropped, which follows.
pub(super) fn kill_survivors(survivors: &[Process]) {
    for process in survivors {
        tracing::debug!(pid = process.pid, "a process a command left behind is ended");
    }
}
