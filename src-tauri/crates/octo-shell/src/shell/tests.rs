use crate::{
    CarryScope, CommandReport, CommandRun, LiveSink, LoginEnvironment, ProcessInput, RunMode, Shell,
    ShellConfig, ShellError, Supervision,
};
use octo_protocol::{CallId, CommandState, SessionId};
use octo_workspace::TemporaryFolder;
use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

mod background;
mod carrying;
mod ending;
mod guarding;
#[cfg(target_os = "linux")]
mod leaving;
#[cfg(target_os = "linux")]
mod network;
mod talking;
#[cfg(target_os = "linux")]
mod temporary;

/// A session's shell in its own folder.
struct Fixture {
    root: tempfile::TempDir,
    shell: Shell,
    supervision: Supervision,
}

fn login(home: &Path) -> LoginEnvironment {
    LoginEnvironment::from_variables(
        [
            ("HOME", home.display().to_string()),
            ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("OCTO_API_KEY", "sk-octo".to_owned()),
            ("MY_KEY", "sk-mine".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value)),
    )
}

/// Returns the configuration of a shell whose files lie next to its project in `root`.
fn config(root: &Path, supervision: Supervision) -> ShellConfig {
    ShellConfig {
        session: SessionId::new(),
        scratch: root.join("scratch"),
        temporary: TemporaryFolder::at(root.join("tmp")),
        login: login(root),
        secret_variables: vec!["MY_KEY".to_owned()],
        news: Arc::new(|_| {}),
        time_limit: crate::COMMAND_TIME_LIMIT,
        removals: crate::Removals::System,
        supervision,
        closed_folders: crate::ClosedFolders::default(),
        network: None,
    }
}

impl Fixture {
    fn new() -> Self {
        let root = octo_testkit::test_folder();
        fs::create_dir(root.path().join("project")).unwrap();
        let supervision = crate::testing::supervision();
        let shell = Self::supervised(root.path(), supervision.clone());
        Self { root, shell, supervision }
    }

    fn shell_in(root: &Path) -> Shell {
        Self::supervised(root, crate::testing::supervision())
    }

    fn supervised(root: &Path, supervision: Supervision) -> Shell {
        Shell::new(config(root, supervision))
    }

    /// Returns the session's folder, as the system names it.
    fn folder(&self) -> PathBuf {
        self.root.path().join("project").canonicalize().unwrap()
    }

    fn command(&self, command: &str) -> CommandRun {
        CommandRun {
            call: CallId::new(),
            command: command.to_owned(),
            folder: self.folder(),
            cwd: None,
            env: Vec::new(),
            carry_scope: CarryScope::All,
            live: Arc::new(|_| {}),
            cancel: CancellationToken::new(),
            wait: Duration::from_secs(30),
            mode: RunMode::Foreground,
            confinement: None,
            guard: None,
        }
    }

    async fn run(&self, command: &str) -> CommandReport {
        self.shell.run(self.command(command)).await.unwrap()
    }

    /// Returns a command's output if it succeeds.
    async fn output(&self, command: &str) -> String {
        let report = self.run(command).await;
        assert_eq!(report.state, CommandState::Exited { code: 0 }, "{report:?}");
        report.output_model
    }

    async fn input(&self, handle: &str, text: &str) -> Result<CommandReport, ShellError> {
        let (live, cancel) = (Arc::new(|_: &str| {}), CancellationToken::new());
        let input = ProcessInput {
            call: CallId::new(),
            handle: handle.to_owned(),
            text: text.to_owned(),
            live,
            cancel,
            wait: Duration::from_secs(30),
        };
        self.shell.input(input).await
    }
}

/// Collects live output.
fn recorder() -> (LiveSink, Arc<Mutex<String>>) {
    let text = Arc::new(Mutex::new(String::new()));
    let recorded = Arc::clone(&text);
    (Arc::new(move |more: &str| recorded.lock().unwrap().push_str(more)), text)
}

/// A process of a test, ended with the test however that ends.
#[cfg(target_os = "linux")]
struct ChildGuard(std::process::Child);

#[cfg(target_os = "linux")]
impl Drop for ChildGuard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whether a process exists and is not a zombie.
#[cfg(target_os = "linux")]
fn is_alive(pid: &str) -> bool {
    fs::read_to_string(format!("/proc/{}/stat", pid.trim())).is_ok_and(|stat| !stat.contains(") Z "))
}

/// Waits until a condition is true; fails the test if it takes too long.
async fn until(expectation: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !condition() {
        assert!(Instant::now() < deadline, "{expectation}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_command_runs_and_its_end_is_reported() {
    let fixture = Fixture::new();
    for (command, code) in [("bash -c 'exit 42'", 42), ("true | false", 1), ("exit 3", 3), ("true", 0)] {
        let report = fixture.run(command).await;
        assert_eq!((report.state, report.handle), (CommandState::Exited { code }, None), "{command}");
    }
    assert_eq!(fixture.run("kill -9 $$").await.state, CommandState::Signalled { signal: 9 });
    assert_eq!(fixture.run("exec true").await.state, CommandState::Exited { code: 0 });
    assert_eq!(fixture.run("exec false").await.state, CommandState::Exited { code: 1 });
    assert_eq!(fixture.run("set -e; false; echo no").await.state, CommandState::Exited { code: 1 });
    assert_eq!(fixture.run("no-such-command").await.state, CommandState::Exited { code: 127 });
}

#[tokio::test]
async fn output_is_cleaned_and_kept_apart_for_model_and_person() {
    let fixture = Fixture::new();
    let report = fixture
        .run("printf '50%%\\r100%%\\n\\033[31mred\\033[0m\\n'; echo err >&2; tty >/dev/null && echo terminal")
        .await;
    assert_eq!(report.output_model, "100%\nred\nerr\nterminal\n");
    assert_eq!(report.output_view, "100%\n\x1b[0;31mred\x1b[0m\nerr\nterminal\n");
    assert_eq!((report.truncated, report.log), (false, None));
    assert_eq!(fixture.output("echo '__OCTO_DONE_x_0__'").await, "__OCTO_DONE_x_0__\n");
    assert_eq!(fixture.output("printf 'no end'").await, "no end");
}

#[tokio::test]
async fn long_output_is_excerpted_for_the_model_and_complete_in_the_log() {
    let fixture = Fixture::new();
    let report = fixture.run("for n in {1..20000}; do echo \"line $n\"; done").await;
    assert!(report.truncated);
    assert!(report.output_model.len() < crate::MODEL_OUTPUT_BYTES + 300);
    assert!(report.output_model.starts_with("line 1\nline 2\n"));
    assert!(report.output_model.ends_with("line 19999\nline 20000\n"));
    let log = report.log.unwrap();
    assert!(report.output_model.contains(&log.display().to_string()));
    let full: String = (1..=20_000).map(|n| format!("line {n}\n")).collect();
    assert_eq!(fs::read_to_string(&log).unwrap(), full);
    assert_eq!(report.output_bytes, full.len() as u64);
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(log).unwrap().permissions()) & 0o777,
        0o600
    );
    let files: Vec<_> = fs::read_dir(fixture.root.path().join("scratch/commands")).unwrap().collect();
    assert!(files.is_empty(), "a command's own files go with it: {files:?}");
}

#[tokio::test]
async fn live_output_is_the_output() {
    let fixture = Fixture::new();
    let (live, text) = recorder();
    let mut run =
        fixture.command("echo one; printf tw; read -t 0.2 -r x; echo o; printf '\\033[32mgreen\\033[m\\n'");
    run.live = live;
    let report = fixture.shell.run(run).await.unwrap();
    assert_eq!(text.lock().unwrap().replace("\x1b[0;32mgreen\x1b[0m", "green"), "one\ntwo\ngreen\n");
    assert_eq!(report.output_model, "one\ntwo\ngreen\n");
}

#[tokio::test]
async fn a_line_bash_cannot_read_ends_with_its_error() {
    let fixture = Fixture::new();
    for command in ["echo \"never closed", "echo 'never closed", "if true; then echo x", "echo $(", "(echo x"]
    {
        let report = fixture.run(command).await;
        assert!(matches!(report.state, CommandState::Exited { code: 1 | 2 }), "{command}: {report:?}");
        assert!(report.output_model.contains("unexpected"), "{command}: {}", report.output_model);
        assert!(report.duration < Duration::from_secs(5));
    }
    let report = fixture.run("cat <<END\nnever ended").await;
    assert_eq!(report.state, CommandState::Exited { code: 0 });
    assert!(report.output_model.contains("never ended"));
}

#[tokio::test]
async fn a_heredoc_is_written_unchanged() {
    let fixture = Fixture::new();
    fixture.output("cat > f <<'EOF'\nrm is just a word here\n`x` $(y) \"z\" '\n\\n\tend\nEOF").await;
    assert_eq!(
        fs::read_to_string(fixture.folder().join("f")).unwrap(),
        "rm is just a word here\n`x` $(y) \"z\" '\n\\n\tend\n"
    );
    let long_text = "x".repeat(300_000);
    fixture.output(&format!("cat > g <<'EOF'\n{long_text}\nEOF")).await;
    assert_eq!(fs::read_to_string(fixture.folder().join("g")).unwrap().len(), 300_001);
}

#[tokio::test]
async fn secrets_and_octos_own_variables_do_not_reach_commands() {
    let fixture = Fixture::new();
    let output = fixture.output("env; echo; cat /proc/self/environ | tr '\\0' '\\n'").await;
    assert!(output.contains("HOME="));
    assert!(!output.contains("sk-"), "{output}");
    let mut run = fixture.command("env");
    run.env = vec![("MY_KEY".to_owned(), "sk-again".to_owned())];
    assert!(!fixture.shell.run(run).await.unwrap().output_model.contains("sk-"));
    assert_eq!(
        fixture.output("echo $PAGER $GIT_PAGER $TERM $HISTFILE").await,
        "cat cat xterm-256color /dev/null\n"
    );
}

#[tokio::test]
async fn what_cannot_be_run_is_an_error() {
    let fixture = Fixture::new();
    let mut run = fixture.command("true");
    run.cwd = Some("/no/such/folder".into());
    assert!(matches!(fixture.shell.run(run).await, Err(ShellError::NoFolder { .. })));
    assert!(matches!(fixture.shell.run(fixture.command("echo a\0b")).await, Err(ShellError::NulByte)));
    for name in ["", "A B", "1A", "A=B", "é"] {
        let mut run = fixture.command("true");
        run.env = vec![(name.to_owned(), String::new())];
        assert!(matches!(fixture.shell.run(run).await, Err(ShellError::BadVariable { .. })), "{name}");
    }
    for handle in ["", "nonexistent-uuid"] {
        let error = fixture.input(handle, "hi\n").await.unwrap_err();
        assert!(matches!(error, ShellError::UnknownHandle { .. }) && error.to_string().contains("not found"));
        assert!(matches!(
            fixture.shell.kill(handle, CallId::new()).await,
            Err(ShellError::UnknownHandle { .. })
        ));
    }
    fixture.shell.shutdown().await;
    assert!(matches!(fixture.shell.run(fixture.command("true")).await, Err(ShellError::Closed)));
}

#[tokio::test]
async fn the_trashs_programs_come_first_in_the_path() {
    let root = octo_testkit::test_folder();
    fs::create_dir(root.path().join("project")).unwrap();
    let home = root.path().join("octo");
    let supervision = crate::testing::supervision();
    let shell = Shell::new(ShellConfig {
        removals: crate::Removals::Trash { home: home.clone() },
        ..config(root.path(), supervision.clone())
    });
    let fixture = Fixture { root, shell, supervision };
    let bin = home.join("bin").display().to_string();
    let usual = format!("{bin}:/usr/local/bin:/usr/bin:/bin");
    // The second command starts with the state of the first one.
    for _ in 0..2 {
        assert_eq!(fixture.output("echo $PATH").await.trim(), usual);
    }
    let stored = fs::read_to_string(fixture.root.path().join("scratch/carried.json")).unwrap();
    assert!(!stored.contains("PATH"), "{stored}");
    fixture.output("export PATH=/opt/mine:$PATH").await;
    assert_eq!(
        fixture.output("echo $PATH").await.trim(),
        format!("{bin}:/opt/mine:/usr/local/bin:/usr/bin:/bin")
    );
    let folder = fixture.folder().display().to_string();
    assert_eq!(fixture.output("echo $OCTO_TRASH_PROJECT").await.trim(), folder);
    let stored = fs::read_to_string(fixture.root.path().join("scratch/carried.json")).unwrap();
    assert!(!stored.contains("OCTO_"), "{stored}");
}
