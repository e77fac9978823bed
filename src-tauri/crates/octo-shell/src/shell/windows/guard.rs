//! Ends a command's processes when Octo ends in any way: a job object whose last handle is Octo's.
//!
//! A command is assigned to its job right after it starts. Processes it starts in that moment are not in the
//! job; therefore ending a command also calls `taskkill` for its whole tree.

use std::process::{Command, Stdio};
use win32job::{ExtendedLimitInfo, Job, JobError};

/// Ends the processes in the job when it is dropped.
#[derive(Debug)]
pub(super) struct GuardRegistration(Job);

/// Assigns a command's process to a new job.
pub(super) fn guard(process: isize) -> Result<GuardRegistration, JobError> {
    let mut limits = ExtendedLimitInfo::new();
    limits.limit_kill_on_job_close();
    let job = Job::create_with_limit_info(&limits)?;
    job.assign_process(process)?;
    Ok(GuardRegistration(job))
}

impl GuardRegistration {
    /// Returns the living processes in it.
    pub(super) fn members(&self) -> Vec<usize> {
        self.0.query_process_id_list().unwrap_or_default()
    }
}

/// Ends a process and all its descendants, with the system's own program.
pub(crate) fn kill_tree(pid: u32) {
    let mut command = Command::new("taskkill");
    command.args(["/T", "/F", "/PID", &pid.to_string()]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Without a window.
    std::os::windows::process::CommandExt::creation_flags(&mut command, 0x0800_0000);
    // An ended process is fine too.
    let _ = command.status();
}
