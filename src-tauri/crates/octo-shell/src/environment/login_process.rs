//! The process of a queried login shell.

use super::login_shell::QUERY_TIMEOUT;
use crate::{Confinement, Supervision, shell};
#[cfg(target_os = "linux")]
use octo_keeper::{Keeper, ProgramStart, StandardStreams};
use octo_policy::Variables;
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use std::{
    ffi::OsString,
    fs,
    io::{self, Read},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// The bytes of its output that are read. The kernel accepts variables of 6 MiB at most.
#[cfg(target_os = "linux")]
const MAX_OUTPUT_BYTES: usize = 8 * 1024 * 1024;

/// How often to check whether it has finished.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// A login shell to query.
pub(super) struct LoginStart<'a> {
    /// Its program.
    pub(super) shell: &'a Path,
    /// The line it runs after its start-up files.
    pub(super) question: String,
    /// What the line prints twice, at its beginning and at its end.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "its process ends there first"))]
    pub(super) end: String,
    /// Its whole environment.
    pub(super) variables: &'a Variables,
    /// The folder it runs in.
    pub(super) folder: &'a Path,
    /// The folder it may write to.
    pub(super) temporary: &'a Path,
    /// The access the system allows it.
    pub(super) confinement: Confinement,
    /// How its processes are started and ended.
    pub(super) supervision: &'a Supervision,
}

/// Runs the shell and returns its output. Ends all its processes.
///
/// # Errors
///
/// When the system cannot confine the shell, or it cannot be started or takes too long.
pub(super) fn run(start: &LoginStart<'_>) -> io::Result<Vec<u8>> {
    if !crate::confine::is_available() {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no sandbox"));
    }
    match start.supervision {
        #[cfg(target_os = "linux")]
        Supervision::Keeper(keeper) => under_keeper(start, keeper),
        Supervision::Session => in_session(start),
    }
}

/// Runs the shell by a keeper, in a session without a terminal.
#[cfg(target_os = "linux")]
fn under_keeper(start: &LoginStart<'_>, keeper: &Keeper) -> io::Result<Vec<u8>> {
    use nix::{
        fcntl::{OFlag, open},
        sys::stat::Mode,
    };

    let null = || open("/dev/null", OFlag::O_RDWR | OFlag::O_CLOEXEC, Mode::empty());
    let (output, theirs) = io::pipe()?;
    let mut grants = start.confinement.grants();
    // Not even the caches: start-up files that fill one do without.
    grants.write.retain(|path| start.confinement.writable.contains(path));
    let tree = keeper.start(ProgramStart {
        program: start.shell.to_owned(),
        arguments: ["-l", "-i", "-c", &start.question].map(Into::into).to_vec(),
        environment: start.variables.iter().map(|(name, value)| (name.into(), value.into())).collect(),
        folder: start.folder.to_owned(),
        grants: Some(grants),
        streams: StandardStreams::Separate([null()?, theirs.into(), null()?]),
        network: None,
    })?;
    let output = read_answer(output, &start.end);
    tree.kill();
    output
}

/// Reads until the end of the answer, which processes that keep the pipe open do not delay.
#[cfg(target_os = "linux")]
fn read_answer(mut output: io::PipeReader, end: &str) -> io::Result<Vec<u8>> {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use std::os::fd::AsFd;

    let deadline = Instant::now() + QUERY_TIMEOUT;
    let mut answer = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let mut watched = [PollFd::new(output.as_fd(), PollFlags::POLLIN)];
        if poll(&mut watched, timeout).unwrap_or(0) == 0 {
            continue;
        }
        let length = output.read(&mut buffer)?;
        if length == 0 {
            return Ok(answer);
        }
        let from = answer.len().saturating_sub(end.len());
        answer.extend_from_slice(buffer.get(..length).unwrap_or_default());
        let is_new_end = answer.get(from..).is_some_and(|new| contains(new, end.as_bytes()));
        if is_new_end && has_two(&answer, end.as_bytes()) {
            return Ok(answer);
        }
        if answer.len() > MAX_OUTPUT_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
    }
}

#[cfg(target_os = "linux")]
fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[cfg(target_os = "linux")]
fn has_two(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).filter(|window| *window == part).nth(1).is_some()
}

/// Runs the shell without a keeper, in a terminal of its own: interactive shells must not take the one Octo may have
/// been started in.
fn in_session(start: &LoginStart<'_>) -> io::Result<Vec<u8>> {
    let file = start.temporary.join("answer");
    let script = "exec \"$0\" -l -i -c \"$1\" </dev/null >\"$2\" 2>/dev/null";
    let sh = ["/bin/sh", "-c", script].map(OsString::from);
    let arguments = [start.shell.as_os_str(), start.question.as_ref(), file.as_os_str()].map(OsString::from);
    let launcher = start.confinement.launcher()?;
    let launcher = launcher.map(|launcher| (launcher.program.into_os_string(), launcher.arguments));
    let launcher =
        launcher.into_iter().flat_map(|(program, arguments)| [program].into_iter().chain(arguments));
    let line: Vec<OsString> = launcher.chain(sh).chain(arguments).collect();
    let mut command = CommandBuilder::from_argv(line);
    command.cwd(start.folder);
    command.env_clear();
    for (name, value) in start.variables {
        command.env(name, value);
    }
    let pty = native_pty_system().openpty(PtySize::default()).map_err(io::Error::other)?;
    let mut screen = pty.master.try_clone_reader().map_err(io::Error::other)?;
    let mut child =
        shell::spawn_confined(pty.slave, command, Some(&start.confinement)).map_err(io::Error::other)?;
    // The terminal must be read, or start-up files that write to it would block. While no process has it
    // open, reading fails; it must stay open on this side, or its session would receive a hang-up.
    let is_over = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&is_over);
    let drain = thread::Builder::new().name("login-shell".to_owned()).spawn(move || {
        let mut buffer = [0; 4096];
        while !stop.load(Ordering::SeqCst) {
            if !matches!(screen.read(&mut buffer), Ok(1..)) {
                thread::sleep(POLL_INTERVAL);
            }
        }
    });
    let deadline = Instant::now() + QUERY_TIMEOUT;
    let ended = drain.is_ok()
        && loop {
            match child.try_wait() {
                Ok(Some(_)) => break true,
                Ok(None) if Instant::now() < deadline => thread::sleep(POLL_INTERVAL),
                Ok(None) | Err(_) => break false,
            }
        };
    is_over.store(true, Ordering::SeqCst);
    shell::processes::kill_now(child.id());
    if !ended {
        let _ = child.wait();
        return Err(io::ErrorKind::TimedOut.into());
    }
    fs::read(file)
}
