//! `kill -9` at random moments of restores, and of their recovery at the next start: never a mixed state.

use crate::world::{Home, Tree, World, cases, leftovers};
use octo_workspace::{RecoveryOutcome, RestoreSelection};
use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    fs::{self, Permissions},
    io::{BufRead, BufReader},
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

const FULL: usize = 200;
/// Phases that must have been interrupted at least once.
const PARTS: [&str; 2] = ["finished", "not begun"];
const BASE: &str = "OCTO_TIME_CRASH_BASE";
const SESSION: &str = "OCTO_TIME_CRASH_SESSION";
const TARGET: &str = "OCTO_TIME_CRASH_TARGET";

/// The process that is killed. It restores the given turn or, without one, finishes the interrupted restore.
#[test]
#[ignore = "run by the crash test as a process of its own"]
fn restorer() {
    let (Ok(base), Ok(session)) = (env::var(BASE), env::var(SESSION)) else { return };
    let home = Home::at(Path::new(&base));
    let machine = home.machine();
    let session = session.parse().unwrap();
    match env::var(TARGET) {
        Ok(target) => {
            let plan = machine.plan(session, target.parse().unwrap(), RestoreSelection::All).unwrap();
            println!("now");
            machine.restore(&plan, &BTreeSet::new()).unwrap();
        }
        Err(_) => {
            println!("now");
            machine.recover(session).unwrap();
        }
    }
    println!("done");
}

fn start(home: &Home, world: &World, target: Option<u32>) -> (Child, impl Iterator<Item = String> + use<>) {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", "crash::restorer", "--ignored", "--nocapture", "--test-threads=1"])
        .env(BASE, &home.base)
        .env(SESSION, world.session.to_string())
        .env_remove(TARGET)
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    if let Some(target) = target {
        command.env(TARGET, target.to_string());
    }
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.ends_with("now")), "it began");
    (child, lines)
}

/// Creates everything that can happen to a path, many times over.
fn fill(folder: &Path) {
    for number in 0..12 {
        let path = folder.join(format!("d{number}"));
        fs::create_dir_all(path.join("deep")).unwrap();
        fs::write(path.join("edited"), format!("before {number}\n").repeat(200)).unwrap();
        fs::write(path.join("deleted"), vec![number; 3_000]).unwrap();
        fs::write(path.join("mode"), "x").unwrap();
        fs::write(path.join("deep/becomes folder"), "x").unwrap();
        symlink("edited", path.join("link")).unwrap();
    }
}

fn change(folder: &Path) {
    for number in 0..12 {
        let path = folder.join(format!("d{number}"));
        fs::write(path.join("edited"), format!("after {number}\n").repeat(300)).unwrap();
        fs::remove_file(path.join("deleted")).unwrap();
        fs::write(path.join("created"), vec![number; 5_000]).unwrap();
        fs::set_permissions(path.join("mode"), Permissions::from_mode(0o750)).unwrap();
        fs::remove_file(path.join("link")).unwrap();
        symlink("created", path.join("link")).unwrap();
        fs::remove_file(path.join("deep/becomes folder")).unwrap();
        fs::create_dir_all(path.join("deep/becomes folder/new")).unwrap();
        fs::write(path.join("deep/becomes folder/new/file"), "y").unwrap();
    }
    fs::remove_dir_all(folder.join("d0")).unwrap();
    fs::write(folder.join("d0"), "a file now").unwrap();
}

/// Gives every folder more files than a restore flushes one by one.
fn write_many(folder: &Path, content: &str) {
    for number in 0..12 {
        let path = folder.join(format!("d{number}/many"));
        fs::create_dir_all(&path).unwrap();
        for file in 0..30 {
            fs::write(path.join(file.to_string()), format!("{content} {number} {file}\n")).unwrap();
        }
    }
}

/// Returns the journals of a restore's planned changes.
fn journals(home: &Home) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(home.octo().join("time/restores")).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// Returns whether a restore is preparing its changes and not yet applying them.
fn is_preparing(home: &Home) -> bool {
    journals(home).next().is_some()
}

/// Whether a restore has begun to change files.
fn is_changing_files(home: &Home) -> bool {
    journals(home).any(|path| path.extension().is_some_and(|it| it == "forward"))
}

#[test]
fn kill_9_at_any_moment_leaves_one_state_or_the_other() {
    kill_at_any_moment(fill, change);
}

#[test]
fn kill_9_at_any_moment_of_a_restore_that_is_flushed_at_once_leaves_one_state_or_the_other() {
    let fill_all = |folder: &Path| {
        fill(folder);
        write_many(folder, "before");
    };
    kill_at_any_moment(fill_all, |folder| {
        write_many(folder, "after");
        change(folder);
    });
}

fn kill_at_any_moment(fill: impl FnOnce(&Path), change: impl FnOnce(&Path)) {
    let kills = cases(FULL);
    let home = Home::new();
    let world = home.world();
    fill(&world.folder());
    let mut copies: BTreeMap<u32, Tree> = BTreeMap::from([(0, world.tree())]);
    let task = world.command(change);
    copies.insert(task, world.tree());
    let active = |world: &World| world.machine.tree(world.session).unwrap().active;

    // Its duration without interruptions.
    let mut longest = Duration::ZERO;
    for target in [0, task] {
        let (mut child, mut lines) = start(&home, &world, Some(target));
        let started = Instant::now();
        assert!(lines.any(|line| line == "done"));
        longest = longest.max(started.elapsed());
        child.wait().unwrap();
        assert_eq!((active(&world), &world.tree()), (target, &copies[&target]));
    }

    // A fixed series of numbers; the machine's timing around them decides where each kill happens.
    let mut salt = 0x9e37_79b9_u64;
    let mut random = move |limit: u64| {
        salt ^= salt << 13;
        salt ^= salt >> 7;
        salt ^= salt << 17;
        salt % limit.max(1)
    };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let is_missed = |counts: &BTreeMap<&str, usize>| PARTS.iter().any(|part| !counts.contains_key(part));
    // The machine decides where a kill happens, so kills are repeated until each phase of a restore was met.
    for kill in 0..kills * 10 {
        if kill >= kills && !is_missed(&counts) {
            break;
        }
        let from = active(&world);
        let to = if from == 0 { task } else { 0 };
        let (mut child, _lines) = start(&home, &world, Some(to));
        let micros = u64::try_from(longest.as_micros()).unwrap() * 11 / 10;
        // One in three happens anywhere, one during the preparation, and one in the short time in which files
        // change: on a busy machine, chance alone would miss these.
        let (reached, fraction): (fn(&Home) -> bool, _) = match kill % 3 {
            0 => (|_| true, 1),
            1 => (is_preparing, 100),
            _ => (is_changing_files, 20),
        };
        while !reached(&home) && child.try_wait().unwrap().is_none() {
            std::hint::spin_loop();
        }
        // The random moment is the point of the test; nothing waits for it.
        std::thread::sleep(Duration::from_micros(random(micros / fraction)));
        child.kill().unwrap();
        child.wait().unwrap();
        if random(3) == 0 {
            let (mut child, _lines) = start(&home, &world, None);
            std::thread::sleep(Duration::from_micros(random(micros / 2)));
            child.kill().unwrap();
            child.wait().unwrap();
            *counts.entry("recovery killed too").or_default() += 1;
        }
        let recovered = world.machine.recover(world.session).unwrap();
        assert!(recovered.len() <= 1);
        let outcome = match recovered.first() {
            None => "nothing to recover",
            Some(recovered) => {
                assert_eq!(recovered.skipped, Vec::<std::path::PathBuf>::new(), "kill {kill}");
                match recovered.outcome {
                    RecoveryOutcome::NotBegun => "not begun",
                    RecoveryOutcome::Finished => "finished",
                    RecoveryOutcome::Undone => "taken back",
                }
            }
        };
        *counts.entry(outcome).or_default() += 1;
        let current = active(&world);
        let tree = world.tree();
        assert!(current == from || current == to, "kill {kill}: at {current}");
        assert_eq!(leftovers(&tree), Vec::<&std::path::PathBuf>::new(), "kill {kill}: {outcome}");
        assert!(tree == copies[&current], "kill {kill}: mixed, {outcome}");
    }
    eprintln!("{kills} kills within {longest:?}: {counts:?}");
    assert!(!is_missed(&counts), "no kill fell into a part of a restore: {counts:?}");
    home.store.close();
}

#[test]
fn changes_after_the_crash_are_not_overwritten() {
    let home = Home::new();
    let world = home.world();
    fill(&world.folder());
    let before = world.tree();
    world.command(change);
    // Killed when everything was about to change: the journal exists, and nothing else happened.
    let (mut child, mut lines) = start(&home, &world, Some(0));
    let journals = home.octo().join("time/restores");
    let forward = || {
        fs::read_dir(&journals).is_ok_and(|mut entries| {
            entries.any(|entry| entry.unwrap().path().extension().is_some_and(|kind| kind == "forward"))
        })
    };
    while !forward() && child.try_wait().unwrap().is_none() {
        std::hint::spin_loop();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    if lines.any(|line| line == "done") || !forward() {
        return; // It was done before it could be killed.
    }
    let own_path = world.path("d5/edited");
    fs::write(&own_path, "mine, after the crash").unwrap();
    assert!(
        world.machine.plan(world.session, 0, RestoreSelection::All).is_err(),
        "refused until it is finished"
    );
    let recovered = world.machine.recover(world.session).unwrap();
    assert_eq!(recovered[0].outcome, RecoveryOutcome::Finished);
    assert_eq!(recovered[0].skipped, std::slice::from_ref(&own_path));
    assert_eq!(fs::read(&own_path).unwrap(), b"mine, after the crash");
    let mut current = world.tree();
    current.insert(own_path.clone(), before[&own_path].clone());
    assert_eq!(current, before);
    home.store.close();
}
