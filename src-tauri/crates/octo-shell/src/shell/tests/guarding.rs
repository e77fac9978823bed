//! No command continues when Octo is killed without warning.

use super::*;
use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

const ROOT: &str = "OCTO_TEST_GUARDING";

/// Commands whose processes ignore the signals of a hung-up terminal. One ended and left a process; one started
/// its own session.
const LINES: &[&str] = &[
    "trap '' HUP TERM; (trap '' HUP TERM; echo $BASHPID >>pids; while :; do sleep 0.2; done) & echo $$ >>pids; while :; do sleep 0.2; done",
    "trap '' HUP; setsid sh -c 'trap \"\" HUP; echo $$ >>pids; sleep 1000; :' & echo $$ >>pids; while :; do sleep 0.2; done",
    "nohup sh -c 'echo $$ >>pids; touch left; sleep 1000; :' >/dev/null 2>&1 & until [ -e left ]; do sleep 0.01; done",
];

/// Not a test: the process that is killed.
#[tokio::test]
#[ignore = "run by the test below"]
async fn octo() {
    let Some(root) = std::env::var_os(ROOT) else { return };
    let shell = Fixture::shell_in(Path::new(&root));
    let folder = Path::new(&root).join("project");
    for line in LINES {
        let run = CommandRun {
            call: CallId::new(),
            command: (*line).to_owned(),
            folder: folder.clone(),
            cwd: None,
            env: Vec::new(),
            carry_scope: CarryScope::All,
            live: Arc::new(|_| {}),
            cancel: CancellationToken::new(),
            wait: Duration::from_millis(200),
            mode: RunMode::Background,
            confinement: None,
            guard: None,
        };
        shell.run(run).await.unwrap();
    }
    until("all run", || fs::read_to_string(folder.join("pids")).unwrap_or_default().lines().count() == 5)
        .await;
    println!("ready");
    std::future::pending::<()>().await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn all_processes_of_commands_end_when_octo_is_killed() {
    let root = octo_testkit::test_folder();
    let folder = root.path().join("project");
    fs::create_dir(&folder).unwrap();
    // A process that belongs to no command, to prove that not everything is killed.
    let bystander = ChildGuard(Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap());
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "shell::tests::guarding::octo", "--ignored", "--nocapture", "--test-threads=1"])
        .env(ROOT, root.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut child = ChildGuard(child);
    let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("ready")), "it came so far");
    let pids = fs::read_to_string(folder.join("pids")).unwrap();
    assert!(pids.lines().all(is_alive), "{pids}");
    child.0.kill().unwrap();
    child.0.wait().unwrap();
    until("all of them are gone", || pids.lines().all(|pid| !is_alive(pid))).await;
    assert!(is_alive(&bystander.0.id().to_string()));
}
