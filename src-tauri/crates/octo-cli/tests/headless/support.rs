//! Running the binary inside a temporary home.

use octo_protocol::{Envelope, ModelDraft, ModelEntry, Protocol, SaveModel, SessionId};
use octo_testkit::{ModelServer, ServeProcess, TempHome};
use std::{
    ffi::OsString,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, ChildStderr, ChildStdout, Command, Output, Stdio},
    time::{Duration, Instant},
};

/// Timeout for any step, after which the test fails.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The binary under test.
pub const BINARY: &str = env!("CARGO_BIN_EXE_octo-cli");

/// Returns a child's environment: inside the home, in English, without a keychain and without a key.
pub fn environment(home: &TempHome) -> Vec<(OsString, OsString)> {
    let mut environment = home.env();
    for (name, value) in [
        ("LC_ALL", "C.UTF-8"),
        ("LANG", "C.UTF-8"),
        ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent"),
        ("OCTO_API_KEY", ""),
        ("SHELL", "/bin/bash"),
        ("RUST_BACKTRACE", "1"),
    ] {
        environment.push((name.into(), value.into()));
    }
    environment
}

/// Creates `octo-cli exec` with these arguments, not started yet, in the home's work folder.
pub fn exec(home: &TempHome, arguments: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command.arg("exec").args(arguments).envs(environment(home)).current_dir(home.work()).stdin(Stdio::null());
    command
}

/// Returns the options that configure a scripted server as an Anthropic one.
pub fn model(server: &ModelServer) -> Vec<String> {
    ["--protocol", "anthropic", "--base-url", &server.url(), "--model", "scripted"]
        .map(str::to_owned)
        .to_vec()
}

/// A finished run.
#[derive(Debug)]
pub struct ExecResult {
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

impl ExecResult {
    pub fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8 output");
        let exec_result =
            Self { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) };
        assert!(!exec_result.err.contains("panicked"), "{}", exec_result.err);
        exec_result
    }

    /// Returns the session named on standard error.
    pub fn session(&self) -> SessionId {
        session_in(&self.err).unwrap_or_else(|| panic!("no session in {:?}", self.err))
    }

    /// Returns the events on standard output; every line must be one event.
    pub fn events(&self) -> Vec<Envelope> {
        let result =
            |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        self.out.lines().map(result).collect()
    }

    #[track_caller]
    pub fn expect(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "{self:#?}");
        self
    }
}

fn session_in(text: &str) -> Option<SessionId> {
    text.lines().find_map(|line| line.strip_prefix("session: ")).and_then(|id| id.parse().ok())
}

/// Runs `exec` against a scripted server.
pub fn run(home: &TempHome, server: &ModelServer, arguments: &[&str]) -> ExecResult {
    let mut all = model(server);
    all.extend(arguments.iter().map(|&argument| argument.to_owned()));
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    ExecResult::of(exec(home, &all).output().expect("the binary runs"))
}

/// A running `exec`, with its output being read.
pub struct RunningExec {
    child: Child,
    output: Option<StreamCapture<ChildStdout>>,
    errors: StreamCapture<ChildStderr>,
}

/// A stream and the part read so far.
struct StreamCapture<R> {
    stream: BufReader<R>,
    text: String,
}

impl<R: Read> StreamCapture<R> {
    fn new(stream: Option<R>) -> Self {
        Self { stream: BufReader::new(stream.expect("a piped stream")), text: String::new() }
    }

    /// Reads up to a line that contains this.
    fn wait(&mut self, part: &str) {
        loop {
            let before = self.text.len();
            self.stream.read_line(&mut self.text).expect("the run's output");
            assert!(self.text.len() > before, "the run ended without {part:?}: {:?}", self.text);
            if self.text.get(before..).is_some_and(|line| line.contains(part)) {
                return;
            }
        }
    }

    fn end(mut self) -> Vec<u8> {
        self.stream.read_to_string(&mut self.text).expect("the run's output");
        self.text.into_bytes()
    }
}

impl RunningExec {
    pub fn start(command: &mut Command) -> Self {
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs");
        let (output, errors) =
            (StreamCapture::new(child.stdout.take()), StreamCapture::new(child.stderr.take()));
        Self { child, output: Some(output), errors }
    }

    /// Reads standard error up to a line that contains `part`.
    pub fn wait_error(&mut self, part: &str) {
        self.errors.wait(part);
    }

    /// Reads standard output up to a line that contains this.
    pub fn wait_output(&mut self, part: &str) {
        self.output.as_mut().expect("standard output").wait(part);
    }

    /// Its process id.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: nix::sys::signal::Signal) {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).expect("a pid"));
        nix::sys::signal::kill(pid, signal).expect("the run takes the signal");
    }

    /// Waits until the process handles a signal itself.
    pub fn wait_handles(&self, signal: nix::sys::signal::Signal) {
        let bit = 1_u64 << (signal as i32 - 1);
        let status = format!("/proc/{}/status", self.child.id());
        until("a handler for the signal", || {
            let status = std::fs::read_to_string(&status).ok()?;
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
            (u64::from_str_radix(caught.trim(), 16).ok()? & bit != 0).then_some(())
        });
    }

    pub fn drop_stdout(&mut self) {
        self.output = None;
    }

    /// Waits for its end.
    pub fn end(mut self) -> ExecResult {
        let stdout = self.output.take().map(StreamCapture::end).unwrap_or_default();
        let stderr = self.errors.end();
        let status = self.child.wait().expect("the run's status");
        ExecResult::of(Output { status, stdout, stderr })
    }
}

/// Waits until the condition is true.
#[track_caller]
pub fn until<T>(description: &str, mut so: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(value) = so() {
            return value;
        }
        assert!(Instant::now() < deadline, "{description} did not come to be");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns whether a process has ended; a process that only waits to be reaped counts.
pub fn is_gone(pid: i32) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat.rsplit(')').next().is_some_and(|tail| tail.trim_start().starts_with('Z')),
        Err(_) => true,
    }
}

/// `octo-cli serve` in a home.
pub fn serve(home: &TempHome) -> ServeProcess {
    ServeProcess::start(Path::new(BINARY), ["serve"], environment(home))
}

/// Configures a scripted server as the home's model.
pub fn connect(serve: &mut ServeProcess, server: &ModelServer) -> ModelEntry {
    let draft = ModelDraft {
        id: None,
        protocol: Protocol::Anthropic,
        base_url: server.url(),
        model: "scripted".to_owned(),
        key: None,
        headers: None,
    };
    serve.call(SaveModel { draft }).expect("the model is saved")
}
