//! The leading process of a command: its shell, its pseudo-console, and the threads that watch them.
//!
//! A pseudo-console never ends on its own: Octo closes it when the shell has ended and the console was silent for a
//! moment. The system does not show why a program waits, so only a last line that looks like a question counts as
//! waiting for input.

use super::{
    guard::{self, GuardRegistration},
    process::{
        DRAIN_QUIET, LIVE_INTERVAL, LeaderEnd, LeaderStart, MAX_DRAIN, QUESTION_QUIET, TERMINAL_SIZE,
        is_question, send_live, start_error,
    },
    tree::Survivors,
};
use crate::{ShellError, output::Transcript};
use octo_protocol::CommandState;
use parking_lot::Mutex;
use portable_pty::{CommandBuilder, native_pty_system};
use std::{
    io::{self, Read, Write},
    sync::{
        Arc,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

/// The time between Ctrl+C and the kill.
const GRACE_PERIOD: Duration = Duration::from_secs(1);

/// Interval between two checks whether the command has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The answer to the console's initial query for the cursor position, for which it waits: the top-left corner.
const CURSOR: &[u8] = b"\x1b[1;1R";

/// The leading process of a command: a shell with a pseudo-console and a job of its own.
pub(super) struct Leader {
    pid: Option<u32>,
    /// The guard, which ends all of the command's processes when it is dropped.
    registration: Arc<Mutex<Option<GuardRegistration>>>,
    keyboard: Arc<Mutex<Option<Box<dyn Write + Send>>>>,
}

impl Leader {
    pub(super) fn start(start: LeaderStart<'_>) -> Result<Self, ShellError> {
        if start.confinement.is_some() {
            // The system cannot confine the command, so it is safer not to start it.
            return Err(start_error(&"this system cannot hold a command to what was allowed"));
        }
        let pty = native_pty_system().openpty(TERMINAL_SIZE).map_err(|error| start_error(&error))?;
        let mut builder = CommandBuilder::new(start.program);
        builder.args(start.arguments);
        builder.cwd(start.cwd);
        builder.env_clear();
        for (name, value) in start.variables {
            builder.env(name, value);
        }
        let reader = pty.master.try_clone_reader().map_err(|error| start_error(&error))?;
        let mut writer = pty.master.take_writer().map_err(|error| start_error(&error))?;
        writer.write_all(CURSOR).map_err(ShellError::Start)?;
        let mut child = pty.slave.spawn_command(builder).map_err(|error| start_error(&error))?;
        drop(pty.slave);
        let pid = child.process_id();
        let registration = child
            .as_raw_handle()
            .ok_or_else(|| "no process".to_owned())
            .and_then(|process| guard::guard(process as isize).map_err(|error| error.to_string()))
            .inspect_err(|error| tracing::warn!(%error, "a command is not ended with Octo if it is killed"))
            .ok();
        let registration = Arc::new(Mutex::new(registration));
        let keyboard = Arc::new(Mutex::new(Some(writer)));
        let started = Instant::now();

        let name = |kind: &str| format!("{kind}-{}", start.handle);
        let (sender, receiver) = mpsc::channel();
        let output = Arc::clone(&start.transcript);
        let started_threads =
            thread::Builder::new().name(name("reads")).spawn(move || read(reader, &sender)).and_then(|_| {
                thread::Builder::new().name(name("output")).spawn(move || pump(&receiver, &output))
            });
        let (on_end, output) = (start.on_end, start.transcript);
        let master = pty.master;
        let wait_for_exit = {
            let (registration, keyboard) = (Arc::clone(&registration), Arc::clone(&keyboard));
            move || {
                let status = child.wait();
                let after = started.elapsed();
                let drain_started = Instant::now();
                while drain_started.elapsed() < MAX_DRAIN
                    && output.lock().last_output().elapsed() < DRAIN_QUIET
                {
                    thread::sleep(POLL_INTERVAL);
                }
                // Closing the console ends the reading.
                drop(keyboard.lock().take());
                drop(master);
                if let Ok(pump) = started_threads {
                    // A panic of the thread does not affect the command, whose end still counts.
                    let _ = pump.join();
                }
                let survivors = Survivors::of(registration.lock().take());
                let state = match status {
                    // The system's codes fill all 32 bits.
                    Ok(status) => CommandState::Exited { code: status.exit_code().cast_signed() },
                    Err(error) => {
                        tracing::error!(%error, "a command's end could not be learned");
                        CommandState::Signalled { signal: 0 }
                    }
                };
                on_end(LeaderEnd { state, after, survivors });
            }
        };
        if let Err(error) = thread::Builder::new().name(name("end")).spawn(wait_for_exit) {
            drop(registration.lock().take());
            return Err(ShellError::Start(error));
        }
        Ok(Self { pid, registration, keyboard })
    }

    /// Types bytes.
    pub(super) fn write_input(&self, bytes: &[u8]) -> Result<(), ShellError> {
        let closed = || ShellError::Input(io::ErrorKind::BrokenPipe.into());
        self.keyboard.lock().as_mut().ok_or_else(closed)?.write_all(bytes).map_err(ShellError::Input)
    }

    /// Returns whether the command appears to wait for the person to type. `quiet` is the time since the console last
    /// changed, and `partial` its unfinished last line.
    pub(super) fn waits_for_input(&self, quiet: Duration, partial: &str) -> bool {
        quiet >= QUESTION_QUIET && is_question(partial)
    }

    /// Asks its processes to end, and kills those that do not.
    pub(super) fn terminate(&self, has_ended: &dyn Fn() -> bool) {
        // Ctrl+C; a command that ignores it is killed.
        let _ = self.write_input(b"\x03");
        let deadline = Instant::now() + GRACE_PERIOD;
        while Instant::now() < deadline {
            if has_ended() {
                return;
            }
            thread::sleep(POLL_INTERVAL);
        }
        self.kill();
    }

    /// Kills its processes at once.
    pub(super) fn kill(&self) {
        if let Some(pid) = self.pid {
            guard::kill_tree(pid);
        }
        drop(self.registration.lock().take());
    }
}

/// Reads the console until it is closed. It blocks, so another thread handles timing.
fn read(mut console: Box<dyn Read + Send>, sender: &mpsc::Sender<Vec<u8>>) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = console.read(&mut buffer) {
        if sender.send(buffer.get(..length).unwrap_or_default().to_vec()).is_err() {
            return;
        }
    }
}

/// Passes the output on in batches.
fn pump(receiver: &mpsc::Receiver<Vec<u8>>, transcript: &Mutex<Transcript>) {
    let mut pending: Option<Instant> = None;
    loop {
        let chunk = match pending {
            None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(since) => receiver.recv_timeout(LIVE_INTERVAL.saturating_sub(since.elapsed())),
        };
        match chunk {
            Ok(chunk) => {
                transcript.lock().feed(&chunk);
                pending.get_or_insert_with(Instant::now);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if pending.is_some_and(|since| since.elapsed() >= LIVE_INTERVAL) {
            send_live(transcript);
            pending = None;
        }
    }
    send_live(transcript);
}
