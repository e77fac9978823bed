//! The parent process: starts a child for one document, with limited time and limited memory for its text.

use crate::{
    DocumentError, Format,
    capped::MAX_TEXT,
    child::{GREETING, REFUSED_STATUS},
};
use std::{
    ffi::OsString,
    fs::File,
    io::{Read, Write},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Memory that a child may use in addition to its initial usage.
#[cfg(unix)]
pub(crate) const CHILD_MEMORY: u64 = 1 << 30;
/// Wall-clock timeout of a child.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// Interval between checks of a running child.
const CHECK_INTERVAL: Duration = Duration::from_millis(5);
/// Maximum bytes read of a child's standard error.
const MAX_ERROR_OUTPUT: u64 = 64 << 10;
/// Environment variables passed to a child: those a program may need to find its own libraries, and none of the
/// person's.
const VARIABLES: &[&str] = &["LD_LIBRARY_PATH", "SystemRoot"];

/// Reads documents in child processes.
#[derive(Clone, Debug)]
pub struct DocumentReader {
    program: PathBuf,
    arguments: Vec<OsString>,
    timeout: Duration,
}

/// Source of a document's bytes.
#[derive(Debug)]
pub enum DocumentSource {
    /// An open file; read from its beginning.
    File(File),
    /// Bytes in memory.
    Bytes(Vec<u8>),
}

impl DocumentReader {
    /// Creates a reader that starts `program` with `arguments` and the format's name; the program must call
    /// [`crate::serve`] with that name.
    pub fn new(program: impl Into<PathBuf>, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(OsString::from).collect();
        Self { program: program.into(), arguments, timeout: TIME_LIMIT }
    }

    /// Creates a reader that starts this same program, with `read-document` and the format's name.
    pub fn from_this_program() -> Self {
        // The running file itself, even if an update has replaced it.
        #[cfg(target_os = "linux")]
        let program = PathBuf::from("/proc/self/exe");
        #[cfg(not(target_os = "linux"))]
        let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("octo"));
        Self::new(program, &["read-document"])
    }

    /// Sets another time limit.
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Returns the text of a document. Blocks until the child has ended. `stop` is polled, and the child is
    /// ended once it returns true.
    ///
    /// # Errors
    ///
    /// Returns a [`DocumentError`]: a fault of the document, or a limit. In any case, no child is left behind.
    pub fn read(
        &self,
        format: Format,
        source: DocumentSource,
        stop: &dyn Fn() -> bool,
    ) -> Result<String, DocumentError> {
        let failed = |error: std::io::Error| DocumentError::Failed(error.to_string());
        let (input, bytes) = match source {
            DocumentSource::File(file) => (Stdio::from(file), None),
            DocumentSource::Bytes(bytes) => (Stdio::piped(), Some(bytes)),
        };
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(format.name()).env_clear();
        command.envs(VARIABLES.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = ChildGuard(command.spawn().map_err(failed)?);
        let child = &mut running.0;
        if let (Some(bytes), Some(mut pipe)) = (bytes, child.stdin.take()) {
            // The thread ends with the child, which closes the pipe.
            thread::spawn(move || pipe.write_all(&bytes));
        }
        let text = child.stdout.take().map(|out| collect(out, MAX_TEXT as u64 + 4_096));
        let error_output = child.stderr.take().map(|error| collect(error, MAX_ERROR_OUTPUT));
        let status = wait(child, self.timeout, stop)?;
        let joined = |thread: Option<thread::JoinHandle<Vec<u8>>>| {
            thread.and_then(|thread| thread.join().ok()).unwrap_or_default()
        };
        let (text, error_output) = (joined(text), joined(error_output));
        if status.code() == Some(i32::from(REFUSED_STATUS))
            && let Ok(error) = serde_json::from_slice::<DocumentError>(&error_output)
        {
            return Err(error);
        }
        if !status.success() {
            return Err(end_error(status));
        }
        let text = String::from_utf8_lossy(&text);
        match text.strip_prefix(GREETING) {
            Some(text) => Ok(text.to_owned()),
            None => Err(DocumentError::Failed("the program that was started reads no documents".to_owned())),
        }
    }
}

/// A child that is killed when it is no longer awaited.
struct ChildGuard(Child);

impl Drop for ChildGuard {
    fn drop(&mut self) {
        // If it has ended already, both calls have no effect.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn collect(source: impl Read + Send + 'static, limit: u64) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // Output that a child wrote before it broke is not used.
        let _ = source.take(limit).read_to_end(&mut bytes);
        bytes
    })
}

fn wait(child: &mut Child, timeout: Duration, stop: &dyn Fn() -> bool) -> Result<ExitStatus, DocumentError> {
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if stop() => return Err(DocumentError::Stopped),
            Ok(None) if started.elapsed() > timeout => return Err(timeout_error()),
            Ok(None) => thread::sleep(CHECK_INTERVAL),
            Err(error) => return Err(DocumentError::Failed(error.to_string())),
        }
    }
}

fn timeout_error() -> DocumentError {
    DocumentError::Limit("took too long and was stopped".to_owned())
}

/// Returns the error for a child that ended without a message.
fn end_error(status: ExitStatus) -> DocumentError {
    #[cfg(unix)]
    {
        use nix::sys::signal::Signal;
        use std::os::unix::process::ExitStatusExt;
        match status.signal().and_then(|signal| Signal::try_from(signal).ok()) {
            Some(Signal::SIGXCPU) => return timeout_error(),
            // Rust's reaction to exhausted memory, and to calls nested too deeply.
            Some(Signal::SIGABRT | Signal::SIGSEGV | Signal::SIGKILL | Signal::SIGBUS) => {
                return DocumentError::Limit(format!(
                    "needed more than the {} MB of memory it may have, or too deep a nesting",
                    CHILD_MEMORY >> 20
                ));
            }
            Some(_) | None => {}
        }
    }
    match status.code() {
        // Exit status of a Rust program that panicked: a library of the reader did.
        Some(101) => DocumentError::Broken("the reader could not make sense of it".to_owned()),
        _ => DocumentError::Failed(status.to_string()),
    }
}
