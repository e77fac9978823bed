//! Processes a command left behind. They are in its job and end with it.

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    /// Its number, for the log.
    pub pid: usize,
}

/// They end when the jobs they are in are let go of, which follows.
pub(super) fn kill_left(left: &[Process]) {
    for process in left {
        tracing::debug!(pid = process.pid, "a process a command left behind is ended");
    }
}
