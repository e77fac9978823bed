//! A program of the person's own, run beside the session: given its input at once, heard out, and ended with all it
//! started when its time is over.

use crate::LoginEnvironment;
use std::{io, path::Path, process::Stdio, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::Command,
};

/// What is kept of each of its two outputs, in bytes. What it says beyond is read and dropped.
const KEPT: usize = 64 * 1024;

/// What is to be run.
#[derive(Clone, Debug)]
pub struct Aside<'a> {
    /// A bash command line.
    pub line: &'a str,
    /// Where it runs.
    pub folder: &'a Path,
    /// What it reads on its standard input.
    pub input: Vec<u8>,
    /// How long it may take.
    pub patience: Duration,
    /// The environment.
    pub login: &'a LoginEnvironment,
    /// Variables it must not see, besides all that begin with `OCTO_`.
    pub secret_variables: &'a [String],
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsideEnd {
    /// Its exit status; none when a signal ended it.
    pub code: Option<i32>,
    /// The beginning of its standard output.
    pub output: String,
    /// The beginning of its standard error.
    pub errors: String,
}

impl Aside<'_> {
    /// Runs it to its end.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::TimedOut`] when its time was over: all of it is ended then. Otherwise when it could not be
    /// started.
    pub async fn run(self) -> io::Result<AsideEnd> {
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-c", self.line]).current_dir(self.folder).env_clear();
        command.envs(self.login.variables(self.secret_variables).await);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        let group = Group(child.id());
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let telling = async {
            if let Some(mut stdin) = stdin {
                // A program that does not want to know closes its input; that is no fault.
                let _ = stdin.write_all(&self.input).await;
            }
        };
        let whole = async {
            let (status, (), output, errors) =
                tokio::join!(child.wait(), telling, kept(stdout), kept(stderr));
            status.map(|status| AsideEnd { code: status.code(), output, errors })
        };
        let ended = tokio::time::timeout(self.patience, whole).await;
        drop(group);
        ended.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
    }
}

/// Ends what is left of a process group.
struct Group(Option<u32>);

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(leader) = self.0.and_then(|leader| i32::try_from(leader).ok()) {
            // One that is empty by now is what is wanted.
            let _ = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(leader), nix::sys::signal::SIGKILL);
        }
    }
}

async fn kept(pipe: Option<impl tokio::io::AsyncRead + Unpin>) -> String {
    let (mut kept, mut piece) = (Vec::new(), vec![0; 8 * 1024]);
    if let Some(mut pipe) = pipe {
        while let Ok(length @ 1..) = pipe.read(&mut piece).await {
            let room = KEPT.saturating_sub(kept.len()).min(length);
            kept.extend_from_slice(piece.get(..room).unwrap_or_default());
        }
    }
    String::from_utf8_lossy(&kept).into_owned()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::time::Instant;

    async fn run(line: &str, patience: Duration) -> io::Result<AsideEnd> {
        let login = LoginEnvironment::fixed([
            ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
            ("KEY".to_owned(), "secret".to_owned()),
        ]);
        let secret_variables = ["KEY".to_owned()];
        let folder = std::env::temp_dir();
        let input = b"{\"a\":1}".to_vec();
        Aside { line, folder: &folder, input, patience, login: &login, secret_variables: &secret_variables }
            .run()
            .await
    }

    #[tokio::test]
    async fn it_is_told_and_heard_and_sees_no_secret() {
        let end = run("cat; echo \" [$KEY]\"; echo oh >&2; exit 3", Duration::from_secs(30)).await.unwrap();
        assert_eq!(end, AsideEnd { code: Some(3), output: "{\"a\":1} []\n".into(), errors: "oh\n".into() });
        let end = run("head -c 1000000 /dev/zero | tr '\\0' x", Duration::from_secs(30)).await.unwrap();
        assert_eq!((end.code, end.output.len()), (Some(0), KEPT));
    }

    #[tokio::test]
    async fn its_time_over_nothing_of_it_is_left() {
        let mark = tempfile::tempdir().unwrap();
        let alive = mark.path().join("alive");
        let line = format!("(while :; do echo > '{}'; sleep 0.02; done) & sleep 60", alive.display());
        let began = Instant::now();
        let error = run(&line, Duration::from_millis(300)).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(began.elapsed() < Duration::from_secs(20));
        // Whatever it had begun when it was ended is over by now or never; then nothing writes any more.
        tokio::time::sleep(Duration::from_millis(200)).await;
        let _ = std::fs::remove_file(&alive);
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(!alive.exists());
    }
}
