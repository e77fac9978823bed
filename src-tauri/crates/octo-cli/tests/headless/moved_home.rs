//! A home that moves or is restored from a copy: every process finds it, and a kill leaves it intact.

use crate::support::{BINARY, environment, exec, model};
use octo_protocol::{
    BackUpHome, GetHomeState, HomePlan, ListSessions, MoveHome, RestoreHome, SessionFilter, SetNewDraft,
};
use octo_testkit::{ModelServer, Script, ServeProcess, TempHome};
use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

/// Returns the environment for the default home: the variable is not set.
fn usual(home: &TempHome) -> Vec<(OsString, OsString)> {
    let mut environment = environment(home);
    environment.push(("OCTO_HOME".into(), "".into()));
    environment
}

fn serve(home: &TempHome) -> ServeProcess {
    ServeProcess::start(Path::new(BINARY), ["serve"], usual(home))
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

fn folder(home: &TempHome, name: &str) -> PathBuf {
    let folder = home.work().join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn sessions(core: &mut ServeProcess) -> usize {
    let list = ListSessions { query: String::new(), filter: SessionFilter::default(), offset: 0, limit: 9 };
    core.call(list).unwrap().sessions.len()
}

/// Runs `exec` in the default home.
fn work(home: &TempHome) {
    let server = ModelServer::start(Script::new().text("Done."));
    let mut all = model(&server);
    all.push("hello".to_owned());
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let exec_result = exec(home, &all).env("OCTO_HOME", "").output().unwrap();
    assert!(exec_result.status.success(), "{exec_result:?}");
}

#[test]
fn every_process_finds_a_moved_home() {
    let home = TempHome::new();
    work(&home);
    let to = folder(&home, "new");
    let mut core = serve(&home);
    assert_eq!(
        core.call(MoveHome { to: text(&to) }).unwrap().planned,
        Some(HomePlan::Move { to: text(&to) })
    );
    core.close(Duration::from_secs(30));
    // The first process to start moves it.
    work(&home);
    let mut core = serve(&home);
    let state = core.call(GetHomeState {}).unwrap();
    assert_eq!((state.home.as_str(), state.planned), (text(&to).as_str(), None));
    assert_eq!(sessions(&mut core), 2, "both runs are in it");
    core.close(Duration::from_secs(30));
    assert!(home.home().join(".octo/MOVED.txt").is_file());

    // Its disk is gone: no new home is created in its place.
    fs::rename(&to, home.work().join("away")).unwrap();
    let exec_result = exec(&home, &["--protocol", "demo", "hello"]).env("OCTO_HOME", "").output().unwrap();
    let said = String::from_utf8(exec_result.stderr).unwrap();
    assert!(exec_result.status.code() == Some(1) && said.contains(&text(&to)), "{said}");
    assert!(!to.exists());
}

/// SplitMix64, as elsewhere: the same moments for a seed.
fn mixed(seed: u64) -> u64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    state ^ (state >> 27)
}

/// Starts a process that carries the plan out, and kills it after a while.
fn killed(home: &TempHome, fuse: Duration) {
    let mut child = Command::new(BINARY)
        .arg("serve")
        .envs(usual(home))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(fuse);
    // If it has already ended, that is fine.
    let _over = child.kill();
    child.wait().unwrap();
}

#[test]
fn kill_9_leaves_the_home_whole_and_the_move_resumes() {
    let home = TempHome::new();
    work(&home);
    for number in 0..300 {
        let skill = home.home().join(format!(".octo/skills/one-{number}"));
        fs::create_dir_all(&skill).unwrap();
        fs::write(skill.join("notes.md"), "herons nest here\n".repeat(200)).unwrap();
    }
    let (copies, to) = (folder(&home, "copies"), folder(&home, "new"));
    let mut core = serve(&home);
    let copy = core.call(BackUpHome { to: text(&copies) }).unwrap().path;
    core.call(SetNewDraft {
        draft: octo_protocol::Draft { text: "since".into(), attachments: vec![], foreign: false },
    })
    .unwrap();
    core.call(MoveHome { to: text(&to) }).unwrap();
    core.close(Duration::from_secs(30));
    for number in 0..12 {
        killed(&home, Duration::from_micros(mixed(number) % 120_000));
    }
    let mut core = serve(&home);
    let state = core.call(GetHomeState {}).unwrap();
    assert_eq!((state.home.as_str(), state.planned), (text(&to).as_str(), None));
    assert_eq!((sessions(&mut core), fs::read_dir(to.join("skills")).unwrap().count()), (1, 300));
    fs::remove_dir_all(to.join("skills/one-7")).unwrap();
    core.call(RestoreHome { from: copy }).unwrap();
    core.close(Duration::from_secs(30));
    for number in 0..6 {
        killed(&home, Duration::from_micros(mixed(100 + number) % 30_000));
    }
    let mut core = serve(&home);
    let state = core.call(GetHomeState {}).unwrap();
    assert_eq!((state.home.as_str(), state.planned, state.kept.len()), (text(&to).as_str(), None, 2));
    assert_eq!((sessions(&mut core), fs::read_dir(to.join("skills")).unwrap().count()), (1, 300));
    core.close(Duration::from_secs(30));
}
