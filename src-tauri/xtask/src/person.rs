//! Tests run as by a person: homes and projects outside the temporary folders, and another user than root.
//!
//! The system treats temporary folders differently, and root passes every permission: a fault that every person has
//! can be invisible to tests.

use crate::{project::Project, project::host, steps::say};
use anyhow::{Context as _, Result};
use std::{
    env, fs,
    os::unix::fs::{MetadataExt, chown},
    path::{Path, PathBuf},
    process::{self, Command},
};

/// The tests that run once more this way: those of files, of commands and of their confinement, without the
/// campaigns, which take longer than all of them.
const TESTS: &str = "(package(octo-keeper) or package(octo-shell) or package(octo-store) or package(octo-workspace)) \
                     and not test(/^campaign::/)";

/// Read by the tests: the folder below which they create homes and projects.
const HOMES_VARIABLE: &str = "OCTO_TEST_HOMES";

/// The user and group of the tests where the gate runs as root: the last id that Debian assigns to people. It has no
/// account, so programs start `/bin/sh` as its shell; the shell of `nobody` refuses to start.
const PERSON: u32 = 59_999;

/// The folders that a Linux system uses for temporary files, besides the one that `TMPDIR` names.
const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// A folder with the homes of tests. Dropping it removes it.
struct HomesFolder(PathBuf);

/// Runs the tests as by a person.
///
/// # Errors
/// When a test fails, or the folder for the homes cannot be made.
pub(crate) fn run(project: &Project) -> Result<()> {
    let is_root = fs::metadata("/proc/self").context("the own process")?.uid() == 0;
    let above = if is_root { PathBuf::from("/home") } else { env::home_dir().context("no home")? };
    if let Some(temporary) = temporary_above(&above) {
        say(&format!("left out: {} lies in {}", above.display(), temporary.display()));
        return Ok(());
    }
    fs::create_dir_all(&above).with_context(|| above.display().to_string())?;
    let homes = HomesFolder(above.join(format!("octo-tests-{}", process::id())));
    let home = homes.0.join("home");
    fs::create_dir_all(&home).with_context(|| home.display().to_string())?;
    let mut runner: Vec<String> = Vec::new();
    if is_root && can_anyone_reach(&project.target) && can_anyone_reach(&project.root) {
        for folder in [&homes.0, &home] {
            chown(folder, Some(PERSON), Some(PERSON)).with_context(|| folder.display().to_string())?;
        }
        runner.push("setpriv".to_owned());
        runner.extend([
            format!("--reuid={PERSON}"),
            format!("--regid={PERSON}"),
            "--clear-groups".to_owned(),
        ]);
    } else if is_root {
        say("as root: no other user can read the checkout or the build folder");
    }
    runner.push("env".to_owned());
    runner.extend(["CONFIG", "DATA", "STATE", "CACHE"].map(|name| format!("--unset=XDG_{name}_HOME")));
    // The folders of the person who runs the gate.
    runner.extend(["--unset=XDG_RUNTIME_DIR", "--unset=TMPDIR"].map(str::to_owned));
    runner.extend([format!("HOME={}", home.display()), format!("{HOMES_VARIABLE}={}", homes.0.display())]);
    crate::steps::run(&mut tests(project, &runner)?)
}

fn tests(project: &Project, runner: &[String]) -> Result<Command> {
    let runner = serde_json::to_string(runner).context("the runner's arguments")?;
    let mut tests = project.workspace(["nextest", "run"]);
    tests.args(["--config", &format!("target.{}.runner={runner}", host()?), "-E", TESTS]);
    Ok(tests)
}

/// Returns the temporary folder that contains a path.
fn temporary_above(path: &Path) -> Option<PathBuf> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let temporary = TEMPORARY.map(PathBuf::from).into_iter().chain([env::temp_dir()]);
    temporary.filter_map(|folder| folder.canonicalize().ok()).find(|folder| path.starts_with(folder))
}

/// Returns whether every user may enter a folder.
fn can_anyone_reach(folder: &Path) -> bool {
    folder.ancestors().all(|folder| folder.metadata().is_ok_and(|folder| folder.mode() & 0o001 != 0))
}

impl Drop for HomesFolder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            say(&format!("{} could not be removed: {error}", self.0.display()));
        }
    }
}
