//! Ends what a command started when Octo ends, however it ends: a job object whose last handle is Octo's.
//!
//! A command is put into its job right after it was started. What it starts in the moment between is not in the job; for
//! that, ending a command also asks `taskkill` for its whole tree.

use std::process::{Command, Stdio};
use win32job::{ExtendedLimitInfo, Job, JobError};

/// Ends what is in the job when it is dropped.
#[derive(Debug)]
pub(super) struct Guarded(Job);

/// Puts a command's process into a job of its own.
pub(super) fn guard(process: isize) -> Result<Guarded, JobError> {
    let mut limits = ExtendedLimitInfo::new();
    limits.limit_kill_on_job_close();
    let job = Job::create_with_limit_info(&limits)?;
    job.assign_process(process)?;
    Ok(Guarded(job))
}

impl Guarded {
    /// The processes in it that are alive.
    pub(super) fn members(&self) -> Vec<usize> {
        self.0.query_process_id_list().unwrap_or_default()
    }
}

/// Ends a process and all below it, by the system's own program.
pub(crate) fn kill_tree(pid: u32) {
    let mut command = Command::new("taskkill");
    command.args(["/T", "/F", "/PID", &pid.to_string()]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // No window of its own.
    std::os::windows::process::CommandExt::creation_flags(&mut command, 0x0800_0000);
    // One that has ended by now is what is wanted.
    let _ = command.status();
}
