//! Data a process keeps about folders that are no longer in use.

use crate::world::{Home, World};
use std::fs;

/// Number of folders kept in memory: as many as are watched.
const KEPT: usize = 16;

/// Returns the number of a home's snapshot files this process has open.
fn open(home: &Home) -> usize {
    let pictures = home.octo().join("time").join("pictures");
    let descriptors = fs::read_dir("/proc/self/fd").unwrap().flatten();
    descriptors
        .filter(|entry| fs::read_link(entry.path()).is_ok_and(|path| path.starts_with(&pictures)))
        .count()
}

#[test]
fn idle_folders_are_dropped_and_loaded_again() {
    let home = Home::new();
    let machine = home.machine();
    let mut worlds: Vec<World> = Vec::new();
    for number in 0..KEPT * 3 {
        let world = World { machine: machine.clone(), ..home.world() };
        fs::write(world.path("old"), format!("{number}")).unwrap();
        // The first snapshot is written in full, later changes to a separate file that stays open.
        world.command(|folder| fs::write(folder.join("one"), "1").unwrap());
        world.command(|folder| fs::write(folder.join("two"), "2").unwrap());
        worlds.push(world);
        let pictures = open(&home);
        assert!(pictures <= KEPT, "after {number}: {pictures} pictures");
    }
    // The person's changes meanwhile are not attributed to the next command.
    let first = &worlds[0];
    fs::write(first.path("old"), "changed by the person").unwrap();
    let before = first.tree();
    let task = first.command(|folder| {
        fs::write(folder.join("one"), "changed").unwrap();
        fs::remove_file(folder.join("two")).unwrap();
    });
    let changes = first.machine.changes(first.session, task).unwrap();
    let mut changed: Vec<String> = changes.paths.iter().map(|one| one.path.clone()).collect();
    changed.sort();
    let path = |name: &str| first.path(name).display().to_string();
    assert_eq!(changed, [path("one"), path("two")]);
    let after = first.tree();
    first.switch(task - 1);
    assert_eq!(first.tree(), before);
    first.switch(task);
    assert_eq!(first.tree(), after);
}

#[test]
fn a_folder_with_a_running_command_is_not_dropped() {
    let home = Home::new();
    let machine = home.machine();
    let world = World { machine: machine.clone(), ..home.world() };
    let task = world.begin();
    let running = world.machine.before_command(task, &world.folder()).unwrap();
    for _ in 0..KEPT * 2 {
        World { machine: machine.clone(), ..home.world() }.command(|_| {});
    }
    fs::write(world.path("late"), "by the command").unwrap();
    assert_eq!(world.machine.after_command(&running).unwrap(), 1);
    world.machine.end_step(task).unwrap();
    assert_eq!(world.machine.changes(world.session, task.number).unwrap().paths.len(), 1);
}
