use super::{Keeper, KeeperProgram, ProcessTree, ProgramEnd, ProgramStart, StandardStreams};
use crate::{CONFINES, PathGrants, process_table};
use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs,
    io::{self, Read},
    os::unix::ffi::OsStringExt,
    path::Path,
    time::{Duration, Instant},
};

mod network;

/// Returns a keeper that runs this test's executable.
fn keeper() -> Keeper {
    Keeper::new(KeeperProgram { program: "/proc/self/exe".into(), arguments: vec!["keep".into()] })
}

/// Runs before the test harness, which has several threads, because the keeper must have a single one.
#[used]
#[expect(unsafe_code, reason = "nothing else runs before the test harness")]
// SAFETY: the section holds pointers to functions of this type.
#[unsafe(link_section = ".init_array")]
static KEEP: extern "C" fn() = {
    extern "C" fn keep() {
        if crate::run_as_keeper(std::env::args_os()).is_some() {
            std::process::exit(0);
        }
    }
    keep
};

struct TestProgram {
    tree: ProcessTree,
    output: io::PipeReader,
    /// The folder that [`start_with_escape`] writes to.
    folder: Option<tempfile::TempDir>,
}

impl TestProgram {
    fn output(&mut self) -> String {
        let mut output = String::new();
        self.output.read_to_string(&mut output).unwrap();
        output
    }
}

fn shell(line: &str) -> (ProgramStart, io::PipeReader) {
    let (input, _) = io::pipe().unwrap();
    let (read, output) = io::pipe().unwrap();
    let errors = output.try_clone().unwrap();
    let start = ProgramStart {
        program: "/bin/bash".into(),
        arguments: ["--norc", "--noprofile", "-c", line].map(Into::into).to_vec(),
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        folder: "/tmp".into(),
        grants: None,
        streams: StandardStreams::Separate([input.into(), output.into(), errors.into()]),
        network: None,
    };
    (start, read)
}

fn start(keeper: &Keeper, line: &str) -> TestProgram {
    let (start, output) = shell(line);
    TestProgram { tree: keeper.start(start).unwrap(), output, folder: None }
}

fn is_alive(pid: &str) -> bool {
    fs::read_to_string(format!("/proc/{}/stat", pid.trim())).is_ok_and(|stat| !stat.contains(") Z "))
}

fn wait_until(description: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "{description}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Starts a line that leaves one process in its own session. Returns the ID of that process.
fn start_with_escape(keeper: &Keeper, rest: &str) -> (TestProgram, String) {
    let folder = octo_testkit::test_folder();
    let pid = folder.path().join("pid");
    let line = format!(
        "setsid -f sh -c 'trap \"\" HUP TERM; echo $$ > {0}.new; mv {0}.new {0}; exec sleep 1000' >/dev/null 2>&1; \
         until [ -e {0} ]; do sleep 0.01; done; {rest}",
        pid.display()
    );
    let mut started = start(keeper, &line);
    wait_until("it has left", || pid.exists());
    let pid = fs::read_to_string(&pid).unwrap();
    started.folder = Some(folder);
    (started, pid)
}

#[test]
fn a_program_gets_only_its_parameters() {
    let keeper = keeper();
    let (mut program_start, mut output) = shell(
        "printf '%s\\n' \"$1\" \"$A\"; pwd; env | sort; echo /proc/self/fd/*; grep -E '^Sig(Blk|Ign)' /proc/self/status; ps -o sid= -p $$; echo $$; exit 7",
    );
    program_start.arguments.extend([OsString::from("name"), OsString::from_vec(b"a b\n\xff".to_vec())]);
    program_start.environment.push(("A".into(), "1\n2".into()));
    let tree = keeper.start(program_start).unwrap();
    assert_eq!(tree.wait(), ProgramEnd::Exited { code: 7 });
    wait_until("nothing is left", || tree.is_over());
    let mut bytes = Vec::new();
    output.read_to_end(&mut bytes).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let (first, rest) = text.split_once("/tmp\n").unwrap();
    assert_eq!(first, "a b\n\u{fffd}\n1\n2\n");
    let lines: Vec<&str> = rest.lines().collect();
    assert_eq!(lines[..2], ["2", "A=1"], "{rest}");
    assert!(lines.iter().filter(|line| line.contains('=')).count() <= 5, "{rest}");
    // The fourth descriptor is the folder that the glob reads.
    assert!(rest.contains("/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3\n"), "{rest}");
    // The C library reserves two signals and lets no program reset them.
    let reserved = 0b11 << 31;
    let signals: Vec<u64> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("SigBlk:\t").or(line.strip_prefix("SigIgn:\t")))
        .map(|bits| u64::from_str_radix(bits, 16).unwrap() & !reserved)
        .collect();
    assert_eq!(signals, [0, 0], "{rest}");
    assert_eq!(lines[lines.len() - 2].trim(), lines[lines.len() - 1], "it leads a session: {rest}");
    assert_eq!(lines[lines.len() - 1], tree.pid().to_string());
}

#[test]
fn the_end_of_a_program_is_reported() {
    let keeper = keeper();
    for (line, end) in [
        ("exit 0", ProgramEnd::Exited { code: 0 }),
        ("kill -9 $$", ProgramEnd::Signalled { signal: 9 }),
        ("kill -TERM $$", ProgramEnd::Signalled { signal: 15 }),
        ("kill -40 $$", ProgramEnd::Signalled { signal: 40 }),
    ] {
        assert_eq!(start(&keeper, line).tree.wait(), end, "{line}");
    }
}

#[test]
fn a_failed_start_is_an_error_and_runs_nothing() {
    let keeper = keeper();
    let (mut missing, _) = shell("");
    missing.program = "/no/such/program".into();
    assert_eq!(keeper.start(missing).unwrap_err().kind(), io::ErrorKind::NotFound);
    let (mut bad_folder, _) = shell("");
    bad_folder.folder = "/no/such/folder".into();
    assert_eq!(keeper.start(bad_folder).unwrap_err().kind(), io::ErrorKind::NotFound);
    let (mut forbidden, _) = shell("");
    let file = tempfile::NamedTempFile::new().unwrap();
    forbidden.program = file.path().to_owned();
    assert_eq!(keeper.start(forbidden).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    assert_eq!(start(&keeper, "echo on").output(), "on\n");
    let failed_keeper =
        Keeper::new(KeeperProgram { program: "/bin/false".into(), arguments: Vec::new() }).start(shell("").0);
    assert!(failed_keeper.is_err());
}

#[test]
fn a_confined_program_writes_only_to_granted_paths() {
    if !*CONFINES {
        println!("left out: this kernel has no Landlock");
        return;
    }
    let keeper = keeper();
    let folder = octo_testkit::test_folder();
    for name in ["open", "closed"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    let (mut program_start, _output) =
        shell("echo x > open/x; echo x > closed/x; setsid sh -c 'echo x > closed/y'; :");
    program_start.folder = folder.path().to_owned();
    let read = ["/usr", "/bin", "/lib", "/lib64", "/etc", "/dev"].map(Into::into);
    program_start.grants = Some(PathGrants {
        write: BTreeSet::from([folder.path().join("open")]),
        read: BTreeSet::from(read),
        ..PathGrants::default()
    });
    assert_eq!(keeper.start(program_start).unwrap().wait(), ProgramEnd::Exited { code: 0 });
    assert!(folder.path().join("open/x").exists());
    assert_eq!(fs::read_dir(folder.path().join("closed")).unwrap().count(), 0);
    // The keeper itself and its next program are not confined.
    let free = folder.path().join("closed/z");
    start(&keeper, &format!("echo x > {}", free.display())).tree.wait();
    assert!(free.exists());
}

#[test]
fn the_keeper_is_one_process_without_environment_and_terminal() {
    let keeper = keeper();
    assert_eq!(keeper.pid(), None);
    let running = start(&keeper, "sleep 1000");
    let own = keeper.pid().unwrap();
    let reaper = process_table::list()
        .into_iter()
        .find(|process| process.pid == i32::try_from(running.tree.pid()).unwrap())
        .unwrap()
        .parent;
    for pid in [own.to_string(), reaper.to_string()] {
        let process_folder = Path::new("/proc").join(&pid);
        let environment = fs::read_to_string(process_folder.join("environ")).unwrap();
        let mut variables = environment.split('\0').filter(|variable| !variable.is_empty());
        // Cargo sets this variable for tests.
        assert!(variables.all(|variable| variable.starts_with("LD_LIBRARY_PATH=")), "{environment}");
        assert_eq!(fs::read_link(process_folder.join("cwd")).unwrap(), Path::new("/"));
    }
    // The reaper's only socket is the one to Octo.
    let sockets = |pid: i32| {
        let entries = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
        let targets = entries.filter_map(|entry| fs::read_link(entry.path()).ok());
        targets.filter(|target| target.to_string_lossy().starts_with("socket:")).count()
    };
    assert_eq!(sockets(reaper), 1);
    let second = start(&keeper, "exit 0");
    assert_eq!((keeper.pid(), second.tree.wait()), (Some(own), ProgramEnd::Exited { code: 0 }));
    drop((running, second));
    drop(keeper);
    assert!(!is_alive(&own.to_string()) && !is_alive(&reaper.to_string()));
}

#[test]
fn an_escaped_process_ends_with_its_tree() {
    let keeper = keeper();
    for ending in ["terminate", "kill", "drop", "keeper"] {
        let (started, pid) = start_with_escape(&keeper, "exit 0");
        assert_eq!(started.tree.wait(), ProgramEnd::Exited { code: 0 });
        assert!(!started.tree.is_over() && is_alive(&pid));
        match ending {
            "terminate" => started.tree.terminate(),
            "kill" => started.tree.kill(),
            "drop" => drop(started),
            _ => {
                let process = nix::unistd::Pid::from_raw(i32::try_from(keeper.pid().unwrap()).unwrap());
                nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGKILL).unwrap();
                started.tree.kill();
            }
        }
        wait_until(ending, || !is_alive(&pid));
    }
    assert_eq!(start(&keeper, "echo on").output(), "on\n", "the keeper was replaced");
}

#[test]
fn the_descendants_of_a_killed_reaper_end() {
    let keeper = keeper();
    let (started, pid) = start_with_escape(&keeper, "kill -9 $PPID; sleep 1000");
    assert_eq!(started.tree.wait(), ProgramEnd::Lost);
    wait_until("the keeper ends them", || !is_alive(&pid) && !is_alive(&started.tree.pid().to_string()));
    // A stopped reaper is killed too.
    let (started, pid) = start_with_escape(&keeper, "kill -STOP $PPID; sleep 1000");
    std::thread::sleep(Duration::from_millis(100));
    started.tree.kill();
    wait_until("the keeper ends them", || !is_alive(&pid) && !is_alive(&started.tree.pid().to_string()));
}

#[test]
fn a_reaper_ends_with_its_last_process() {
    let keeper = keeper();
    let started = start(&keeper, "(sleep 0.1; exit 1) & exit 0");
    assert_eq!(started.tree.wait(), ProgramEnd::Exited { code: 0 });
    wait_until("the last is gone", || started.tree.is_over());
    let own = i32::try_from(keeper.pid().unwrap()).unwrap();
    wait_until("its reaper is gone too", || {
        process_table::list().iter().all(|process| process.parent != own)
    });
}
