//! Runs a person's own program outside the session's commands: passes its input at once, reads its output, and
//! kills it with all its child processes when its time is up.

mod process;

use crate::LoginEnvironment;
use octo_keeper::Supervision;
use octo_policy::Language;
use parking_lot::Mutex;
use process::{HookProcess, HookStart};
use std::{io, path::Path, time::Duration};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// The bytes kept of each of its two output streams. The rest is read and dropped.
const MAX_KEPT_BYTES: usize = 64 * 1024;

/// How long its output is read after it ended: processes it left running may keep the pipes open without end.
const DRAIN_TIME: Duration = Duration::from_secs(1);

/// A program to run.
#[derive(Clone, Debug)]
pub struct HookProgram<'a> {
    /// A command line: for bash, or for PowerShell on machines without bash.
    pub line: &'a str,
    /// The folder it runs in.
    pub folder: &'a Path,
    /// The content of its standard input.
    pub input: Vec<u8>,
    /// Its time limit.
    pub timeout: Duration,
    /// The environment.
    pub login: &'a LoginEnvironment,
    /// Variables it must not see, in addition to all that begin with `OCTO_`.
    pub secret_variables: &'a [String],
    /// How its processes are started and ended.
    pub supervision: &'a Supervision,
}

/// The result of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookProgramEnd {
    /// Its exit status; `None` if a signal killed it.
    pub code: Option<i32>,
    /// The beginning of its standard output.
    pub output: String,
    /// The beginning of its standard error.
    pub errors: String,
}

impl HookProgram<'_> {
    /// Runs it to its end.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::TimedOut`] when its time was up: all its processes are killed then. Otherwise when
    /// it could not be started.
    pub async fn run(self) -> io::Result<HookProgramEnd> {
        let flags = match crate::language() {
            Language::Bash => ["--noprofile", "--norc", "-c"],
            Language::PowerShell => ["-NoLogo", "-NoProfile", "-Command"],
        };
        let variables = self.login.of_hook(self.login.variables(self.secret_variables).await);
        let start = HookStart { flags, line: self.line, folder: self.folder, variables };
        let HookProcess { input, output: stdout, errors: stderr, mut tree } = match self.supervision {
            #[cfg(target_os = "linux")]
            Supervision::Keeper(keeper) => HookProcess::under_keeper(start, keeper).await?,
            Supervision::Session => HookProcess::in_group(start)?,
        };
        let telling = async {
            if let Some(mut stdin) = input {
                // A program that ignores its input closes it; that is no error.
                let _ = stdin.write_all(&self.input).await;
            }
        };
        let (output, errors) = (CapturedStream::default(), CapturedStream::default());
        let exchange = async {
            let reading = async { tokio::join!(telling, output.read_all(stdout), errors.read_all(stderr)) };
            let mut reading = std::pin::pin!(reading);
            let code = tokio::select! {
                biased;
                code = tree.wait() => {
                    // Everything the program itself wrote has been read by then.
                    let _rest = tokio::time::timeout(DRAIN_TIME, &mut reading).await;
                    code
                }
                _ = &mut reading => tree.wait().await,
            };
            code.map(|code| HookProgramEnd { code, output: output.text(), errors: errors.text() })
        };
        let ended = tokio::time::timeout(self.timeout, exchange).await;
        drop(tree);
        ended.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
    }
}

/// The output read from one stream so far.
#[derive(Default)]
struct CapturedStream(Mutex<Vec<u8>>);

impl CapturedStream {
    /// Reads until the stream is closed.
    async fn read_all(&self, pipe: Option<impl tokio::io::AsyncRead + Unpin>) {
        let mut buffer = vec![0; 8 * 1024];
        if let Some(mut pipe) = pipe {
            while let Ok(length @ 1..) = pipe.read(&mut buffer).await {
                let mut stored = self.0.lock();
                let room = MAX_KEPT_BYTES.saturating_sub(stored.len()).min(length);
                stored.extend_from_slice(buffer.get(..room).unwrap_or_default());
            }
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock()).into_owned()
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
