//! A driver for a child process that speaks NDJSON: `octo-cli serve`.

use crate::board::Board;
use octo_protocol::{ApiError, Envelope, Request, ServerLine, TypedRequest};
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    ffi::OsStr,
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

/// Maximum wait for a reply.
const REPLY_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum wait for the last output of an ended child.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// A running child process that speaks NDJSON. Dropping it kills it.
#[derive(Debug)]
pub struct ServeProcess {
    child: Child,
    input: Option<ChildStdin>,
    board: Arc<Board<ServeOutput>>,
    next: u64,
}

/// How a child process ended.
#[derive(Debug)]
pub struct ServeExit {
    /// The exit status.
    pub status: ExitStatus,
    /// All durable events the child wrote.
    pub events: Vec<Envelope>,
    /// The child's standard error.
    pub stderr: String,
}

#[derive(Debug, Default)]
struct ServeOutput {
    replies: HashMap<u64, Result<Value, ApiError>>,
    /// Errors without an id.
    unmatched_errors: Vec<ApiError>,
    events: Vec<Envelope>,
    /// Lines that do not belong to the protocol.
    noise: Vec<String>,
    stderr: String,
    /// Whether standard output was closed.
    stdout_closed: bool,
    /// Whether standard error was closed.
    stderr_closed: bool,
}

impl ServeProcess {
    /// Starts `binary` with `arguments`; `environment` is added to this process's own and overrides it.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    pub fn start<A, K, V>(
        binary: &Path,
        arguments: impl IntoIterator<Item = A>,
        environment: impl IntoIterator<Item = (K, V)>,
    ) -> Self
    where
        A: AsRef<OsStr>,
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        let mut child = Command::new(binary)
            .args(arguments)
            .envs(environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", binary.display()));
        let board = Arc::new(Board::new(ServeOutput::default()));
        let (output, errors) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        thread::spawn({
            let board = board.clone();
            move || {
                // A killed child may leave a partial line behind, which is kept as noise.
                for output_line in BufReader::new(output).lines().map_while(Result::ok) {
                    board.update(|received| received.record_line(output_line));
                }
                board.update(|received| received.stdout_closed = true);
            }
        });
        thread::spawn({
            let board = board.clone();
            move || {
                let mut errors = errors;
                let mut bytes = [0; 4096];
                while let Ok(count @ 1..) = errors.read(&mut bytes) {
                    let text = String::from_utf8_lossy(bytes.get(..count).unwrap_or_default()).into_owned();
                    board.update(|received| received.stderr.push_str(&text));
                }
                board.update(|received| received.stderr_closed = true);
            }
        });
        let input = child.stdin.take();
        Self { child, input, board, next: 1 }
    }

    /// Sends a request without waiting and returns its id.
    pub fn send(&mut self, request: &Request) -> u64 {
        self.send_raw(&serde_json::to_value(request).expect("a request as JSON"))
    }

    /// Sends any JSON as a request without waiting and returns its id. Requests that carry a secret need this
    /// too, because a secret is never serialized to JSON.
    pub fn send_raw(&mut self, request: &Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.send_line(&json!({ "id": id, "request": request }).to_string());
        id
    }

    /// Sends a line as it is. A child that has ended does not read it; this shows when the reply is awaited.
    pub fn send_line(&mut self, line: &str) {
        if let Some(input) = &mut self.input {
            let _ = input.write_all(format!("{line}\n").as_bytes()).and_then(|()| input.flush());
        }
    }

    /// Blocks until the reply to `id` arrives.
    ///
    /// # Panics
    ///
    /// When the child ends first, or answers too late.
    pub fn reply(&self, id: u64) -> Result<Value, ApiError> {
        let found = self.board.wait(REPLY_TIMEOUT, |output| match output.replies.get(&id) {
            Some(reply) => Some(Some(reply.clone())),
            None => output.stdout_closed.then_some(None),
        });
        found.flatten().unwrap_or_else(|| self.fail(&format!("no reply to request {id}")))
    }

    /// Sends any JSON as a request and waits for the reply.
    ///
    /// # Errors
    ///
    /// The child's error reply.
    pub fn request(&mut self, request: &Value) -> Result<Value, ApiError> {
        let id = self.send_raw(request);
        self.reply(id)
    }

    /// Sends a typed request and waits for the reply.
    ///
    /// # Errors
    ///
    /// The child's error reply.
    pub fn call<C: TypedRequest>(&mut self, call: C) -> Result<C::Reply, ApiError> {
        let id = self.send(&call.into());
        self.reply(id).map(|reply| serde_json::from_value(reply).expect("a reply of the request's type"))
    }

    /// Returns all durable events so far.
    pub fn events(&self) -> Vec<Envelope> {
        self.board.lock().events.clone()
    }

    /// Returns the errors that answered no request.
    pub fn unmatched_errors(&self) -> Vec<ApiError> {
        self.board.lock().unmatched_errors.clone()
    }

    /// Returns the lines on standard output that do not belong to the protocol.
    pub fn noise(&self) -> Vec<String> {
        self.board.lock().noise.clone()
    }

    /// Returns the standard error output so far.
    pub fn stderr(&self) -> String {
        self.board.lock().stderr.clone()
    }

    /// Blocks until an event, old or new, matches, and returns the first match.
    ///
    /// # Panics
    ///
    /// When none arrives within `timeout`, or the child ends without it.
    pub fn wait_for(&self, timeout: Duration, fits: impl FnMut(&Envelope) -> bool) -> Envelope {
        self.wait_after(0, timeout, fits).1
    }

    /// Like [`ServeProcess::wait_for`], but searches only the events from the given index on and also returns the
    /// index after the match.
    ///
    /// # Panics
    ///
    /// Like [`ServeProcess::wait_for`].
    pub fn wait_after(
        &self,
        position: usize,
        timeout: Duration,
        mut fits: impl FnMut(&Envelope) -> bool,
    ) -> (usize, Envelope) {
        let mut seen_count = position;
        let found = self.board.wait(timeout, |output| {
            while let Some(event) = output.events.get(seen_count) {
                seen_count += 1;
                if fits(event) {
                    return Some(Some((seen_count, event.clone())));
                }
            }
            output.stdout_closed.then_some(None)
        });
        found.flatten().unwrap_or_else(|| self.fail("the awaited event did not come"))
    }

    /// Returns the child's process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills the child without warning (`SIGKILL`).
    pub fn kill(mut self) -> ServeExit {
        let _ = self.child.kill();
        self.finish()
    }

    /// Closes the child's input and waits until it exits; kills it after `timeout`.
    ///
    /// # Panics
    ///
    /// When it does not end.
    pub fn close(mut self, timeout: Duration) -> ServeExit {
        self.input = None;
        let deadline = Instant::now() + timeout;
        while self.child.try_wait().expect("the child's status").is_none() {
            if Instant::now() > deadline {
                let _ = self.child.kill();
                self.fail::<()>("the child did not end after its input was closed");
            }
            thread::sleep(Duration::from_millis(5));
        }
        self.finish()
    }

    fn finish(&mut self) -> ServeExit {
        let status = self.child.wait().expect("the child's status");
        // Its last output may still be in transit; a process it left behind may keep the output open.
        self.board.wait(DRAIN_TIMEOUT, |output| (output.stdout_closed && output.stderr_closed).then_some(()));
        let output = std::mem::take(&mut *self.board.lock());
        ServeExit { status, events: output.events, stderr: output.stderr }
    }

    fn fail<R>(&self, expectation: &str) -> R {
        let output = self.board.lock();
        let recent: Vec<String> =
            output.events.iter().rev().take(5).map(|event| format!("{:?}", event.event)).collect();
        panic!(
            "{expectation}\nended: {}\nlast events, newest first: {recent:#?}\ncomplaints: {:?}\nnoise: {:?}\nstandard error:\n{}",
            output.stdout_closed, output.unmatched_errors, output.noise, output.stderr
        );
    }
}

impl Drop for ServeProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl ServeOutput {
    fn record_line(&mut self, line: String) {
        match serde_json::from_str(&line) {
            Ok(ServerLine::Response { id, response }) => {
                self.replies.insert(id, Ok(response));
            }
            Ok(ServerLine::Error { id: Some(id), error }) => {
                self.replies.insert(id, Err(error));
            }
            Ok(ServerLine::Error { id: None, error }) => self.unmatched_errors.push(error),
            Ok(ServerLine::Event { event }) => self.events.push(event),
            Err(_) => self.noise.push(line),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use octo_protocol::{Event, StoredTopic};

    /// Starts a shell script in place of the child.
    fn child(script: &str) -> ServeProcess {
        ServeProcess::start(Path::new("/bin/sh"), ["-c", script], [("LC_ALL", "C")])
    }

    fn event(seq: u64) -> String {
        let event = Envelope { topic: StoredTopic::Settings, seq, at: 0, v: 1, event: Event::RetryStarted };
        json!({ "event": event }).to_string()
    }

    #[test]
    fn replies_reach_their_requests_and_events_their_waiters() {
        let script = format!(
            r#"read -r a; read -r b; echo oops >&2; echo '{}'; echo 'half a li'
            echo '{{"id":2,"response":{{"second":true}}}}'; echo '{}'
            echo '{{"id":1,"error":{{"key":"gone","retryable":false}}}}'; read -r c; echo '{}'"#,
            event(1),
            event(2),
            event(3),
        );
        let mut serve = child(&script);
        let response = serve.send_raw(&json!("first"));
        assert_eq!(serve.request(&json!("second")), Ok(json!({ "second": true })));
        assert_eq!(serve.reply(response).unwrap_err().key, "gone");
        assert_eq!(serve.noise(), ["half a li"]);
        assert_eq!(serve.wait_for(REPLY_TIMEOUT, |_| true).seq, 1);
        let (position, found) = serve.wait_after(1, REPLY_TIMEOUT, |_| true);
        assert_eq!((position, found.seq), (2, 2));
        let exit = serve.close(REPLY_TIMEOUT);
        assert!(exit.status.success());
        assert_eq!(exit.events.len(), 3);
        assert_eq!(exit.stderr, "oops\n");
    }

    #[test]
    fn the_output_of_a_killed_child_is_kept() {
        let serve = child(&format!("echo '{}'; exec sleep 1000", event(1)));
        serve.wait_for(REPLY_TIMEOUT, |envelope| envelope.seq == 1);
        let exit = serve.kill();
        assert!(!exit.status.success());
        assert_eq!(exit.events.len(), 1);
    }

    #[test]
    #[should_panic(expected = "no reply to request 1")]
    fn a_child_that_ends_without_a_reply_fails_the_test_at_once() {
        let mut serve = child("read -r a");
        let _ = serve.request(&json!({}));
    }
}
