//! Processes that leave their command's session and lose their parent. They end with Stop, with the session and with
//! Octo, however Octo ends.

use super::*;
use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

const ROOT: &str = "OCTO_TEST_LEAVING";

/// The script of the process that left, which ignores every request to end.
const STAY: &str = "trap '' HUP TERM INT QUIT; echo $$ >>\"@FOLDER@/pids\"; exec sleep 1000";

/// The ways to leave: the program each needs, its command line, and how many processes must be seen before the
/// end. `@` is the project's folder.
const FORMS: &[(&str, &str, usize)] = &[
    ("setsid", "setsid -f sh @/stay", 1),
    ("setsid", "(setsid sh @/stay &)", 1),
    ("setsid", "( ( setsid bash -c 'setsid bash @/stay & exit' & ) & )", 1),
    ("perl", "perl -MPOSIX -e 'fork and exit; POSIX::setsid(); fork and exit; exec qw(sh @/stay)'", 1),
    (
        "python3",
        "python3 -c 'import os\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\nos.execvp(\"sh\", [\"sh\", \"@/stay\"])'",
        1,
    ),
    // As daemon(3).
    (
        "python3",
        "python3 -c 'import os\nif os.fork(): os._exit(0)\nos.setsid(); os.chdir(\"/\"); n = os.open(\"/dev/null\", os.O_RDWR)\nfor at in range(3): os.dup2(n, at)\nos.execvp(\"sh\", [\"sh\", \"@/stay\"])'",
        1,
    ),
    ("nohup", "nohup sh @/stay >/dev/null 2>&1 &", 1),
    ("script", "(script -qc 'sh @/stay' /dev/null </dev/null >/dev/null 2>&1 &)", 1),
    ("bash", "sh @/stay & disown", 1),
    // This form still forks while it is being ended.
    (
        "setsid",
        "setsid -f bash -c 'trap \"\" TERM; for n in {1..200}; do (setsid sh @/stay &); done; exec sleep 1000'",
        20,
    ),
];

/// Returns how often each form is ended in each way: 40 kills, and a thousand in a soak.
fn rounds() -> usize {
    if std::env::var_os("OCTO_SOAK").is_some() { 25 } else { 1 }
}

/// Returns the forms whose programs this machine has, with the project's folder filled in.
fn forms(folder: &Path) -> Vec<(String, usize)> {
    let path = folder.display().to_string();
    fs::write(folder.join("stay"), STAY.replace("@FOLDER@", &path)).unwrap();
    let has = |program: &str| ["/usr/bin", "/bin"].iter().any(|bin| Path::new(bin).join(program).exists());
    let (present, missing): (Vec<_>, Vec<_>) = FORMS.iter().partition(|(program, _, _)| has(program));
    missing.iter().for_each(|(program, _, _)| println!("left out: {program} is not installed"));
    present.iter().map(|(_, line, count)| (line.replace('@', &path), *count)).collect()
}

fn pids(folder: &Path) -> Vec<String> {
    fs::read_to_string(folder.join("pids")).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Asserts that every recorded process is gone, and that no other process has this folder in its command line.
async fn assert_gone(folder: &Path, line: &str) {
    until(line, || pids(folder).iter().all(|pid| !is_alive(pid))).await;
    let path = folder.display().to_string();
    let is_left = |words: &str| words.contains(&path) && !words.contains("--ignored");
    // One that never wrote its number may be the last to end.
    until(line, || {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let mut words =
            processes.filter_map(|process| fs::read_to_string(process.path().join("cmdline")).ok());
        !words.any(|words| is_left(&words))
    })
    .await;
    let _ = fs::remove_file(folder.join("pids"));
}

/// Starts a line that continues after the form, and waits until its processes have left.
async fn start(
    fixture: &Fixture,
    line: &str,
    count: usize,
) -> (CancellationToken, tokio::task::JoinHandle<CommandReport>) {
    let run = fixture.command(&format!("{line}\nsleep 1000"));
    let (cancel, shell) = (run.cancel.clone(), fixture.shell.clone());
    let running = tokio::spawn(async move { shell.run(run).await.unwrap() });
    let folder = fixture.folder();
    until(line, || pids(&folder).len() >= count).await;
    (cancel, running)
}

#[tokio::test]
async fn stop_ends_processes_that_left() {
    let fixture = Fixture::new();
    for (line, count) in forms(&fixture.folder()).iter().cycle().take(rounds() * FORMS.len()) {
        let (cancel, running) = start(&fixture, line, *count).await;
        cancel.cancel();
        assert_eq!(running.await.unwrap().state, CommandState::Killed, "{line}");
        assert_gone(&fixture.folder(), line).await;
    }
}

#[tokio::test]
async fn the_end_of_the_session_ends_processes_that_left() {
    let fixture = Fixture::new();
    for (line, count) in forms(&fixture.folder()).iter().cycle().take(rounds() * FORMS.len()) {
        let shell = Fixture::shell_in(fixture.root.path());
        let mut run = fixture
            .command(&format!("{line}\nuntil [ \"$(wc -l <pids)\" -ge {count} ]; do sleep 0.01; done"));
        run.wait = Duration::from_secs(20);
        let report = shell.run(run).await.unwrap();
        assert_eq!(report.state, CommandState::Exited { code: 0 }, "{report:?}");
        let seen = pids(&fixture.folder());
        assert!(seen.iter().any(|pid| is_alive(pid)), "they go on until then: {line}");
        shell.shutdown().await;
        assert_gone(&fixture.folder(), line).await;
    }
}

#[tokio::test]
async fn a_killed_keeper_frees_no_process_and_is_replaced() {
    let fixture = Fixture::new();
    let Supervision::Keeper(keeper) = &fixture.supervision else { panic!("there is a keeper") };
    for (line, count) in forms(&fixture.folder()).iter().cycle().take(rounds() * FORMS.len()) {
        let (cancel, running) = start(&fixture, line, *count).await;
        let killed = keeper.pid().unwrap();
        nix::sys::signal::kill(
            nix::unistd::Pid::from_raw(i32::try_from(killed).unwrap()),
            nix::sys::signal::Signal::SIGKILL,
        )
        .unwrap();
        assert_eq!(fixture.output("echo on").await, "on\n");
        assert_ne!(keeper.pid().unwrap(), killed);
        cancel.cancel();
        assert_eq!(running.await.unwrap().state, CommandState::Killed, "{line}");
        assert_gone(&fixture.folder(), line).await;
    }
}

#[tokio::test]
async fn a_command_that_kills_its_reaper_counts_as_killed() {
    let fixture = Fixture::new();
    for (line, count) in forms(&fixture.folder()) {
        let wait = format!("until [ \"$(wc -l <pids)\" -ge {count} ]; do sleep 0.01; done");
        let report = fixture.run(&format!("{line}\n{wait}\nkill -9 $PPID; sleep 1000")).await;
        assert_eq!(report.state, CommandState::Killed, "{line}");
        assert_gone(&fixture.folder(), &line).await;
    }
    // Its keeper too: what left the session is beyond reach then, the rest is not.
    let report = fixture.run("echo $$ >>pids; kill -9 $(ps -o ppid= -p $PPID) $PPID; sleep 1000").await;
    assert_eq!(report.state, CommandState::Killed);
    assert_gone(&fixture.folder(), "both").await;
    assert_eq!(fixture.output("echo on").await, "on\n");
}

/// Not a test: the process that is killed.
#[tokio::test]
#[ignore = "run by the test below"]
async fn octo() {
    let Some(root) = std::env::var_os(ROOT) else { return };
    let shell = Fixture::shell_in(Path::new(&root));
    let fixture = Fixture::new();
    let mut run = fixture.command(&std::env::var("OCTO_TEST_LINE").unwrap());
    run.folder = Path::new(&root).join("project");
    run.wait = Duration::from_secs(20);
    shell.run(run).await.unwrap();
    println!("ready");
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn processes_that_left_end_when_octo_is_killed() {
    let fixture = Fixture::new();
    for (line, count) in forms(&fixture.folder()).iter().cycle().take(rounds() * FORMS.len()) {
        let whole = format!("{line}\nuntil [ \"$(wc -l <pids)\" -ge {count} ]; do sleep 0.01; done");
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "shell::tests::leaving::octo", "--ignored", "--nocapture", "--test-threads=1"])
            .env(ROOT, fixture.root.path())
            .env("OCTO_TEST_LINE", whole)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut child = ChildGuard(child);
        let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.any(|line| line.contains("ready")), "it came so far: {line}");
        assert!(pids(&fixture.folder()).iter().any(|pid| is_alive(pid)));
        child.0.kill().unwrap();
        child.0.wait().unwrap();
        assert_gone(&fixture.folder(), line).await;
    }
}
