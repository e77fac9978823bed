//! Scans restricted to reported changes find the same as full scans.

use crate::world::{Home, World};
use octo_protocol::TurnId;
use octo_workspace::TimeLimits;
use std::{
    fs,
    io::{Seek, Write},
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

/// Returns the names of a turn's changed files.
fn changed(world: &World, task: u32) -> Vec<String> {
    let folder = world.folder();
    let name = |path: &str| Path::new(path).strip_prefix(&folder).unwrap().display().to_string();
    world.machine.changes(world.session, task).unwrap().paths.iter().map(|it| name(&it.path)).collect()
}

/// Returns a folder with content that already has a snapshot.
fn pictured(limits: TimeLimits) -> (Home, World) {
    let mut home = Home::new();
    home.limits = limits;
    let world = home.world();
    for folder in ["a", "a/b", "a/b/c", "d", "e"] {
        fs::create_dir_all(world.path(folder)).unwrap();
        fs::write(world.path(folder).join("file"), format!("in {folder}")).unwrap();
    }
    world.command(|_| {});
    (home, world)
}

#[test]
fn created_deleted_and_moved_folders_are_watched() {
    for watched in [TimeLimits::default().max_watched, 2, 0] {
        let (_home, world) = pictured(TimeLimits { max_watched: watched, ..TimeLimits::default() });
        let before = world.tree();
        let first_command = world.command(|folder| {
            fs::create_dir_all(folder.join("new/deep/deeper")).unwrap();
            fs::write(folder.join("new/deep/deeper/x"), "x").unwrap();
            fs::rename(folder.join("a/b"), folder.join("d/b")).unwrap();
            fs::write(folder.join("d/b/c/after the move"), "x").unwrap();
            // Two entries swap places.
            fs::rename(folder.join("d"), folder.join("between")).unwrap();
            fs::rename(folder.join("e"), folder.join("d")).unwrap();
            fs::rename(folder.join("between"), folder.join("e")).unwrap();
        });
        let middle = world.tree();
        let second = world.command(|folder| {
            // In folders created by the previous command, under their new names.
            fs::write(folder.join("new/deep/deeper/x"), "y").unwrap();
            fs::write(folder.join("e/b/c/file"), "other").unwrap();
            fs::remove_dir_all(folder.join("a")).unwrap();
            fs::write(folder.join("a"), "a file now").unwrap();
            fs::set_permissions(folder.join("d"), fs::Permissions::from_mode(0o700)).unwrap();
            symlink("new", folder.join("new/deep/link")).unwrap();
        });
        let expected = ["a", "a/file", "d", "e/b/c/file", "new/deep/deeper/x", "new/deep/link"];
        assert_eq!(changed(&world, second), expected, "{watched} watched");
        let after = world.tree();
        for (task, expected) in [(first_command, &middle), (1, &before), (second, &after), (1, &before)] {
            world.switch(task);
            assert_eq!(&world.tree(), expected, "task {task}, {watched} watched");
        }
    }
}

#[test]
fn concurrent_changes_are_never_lost() {
    let (_home, world) = pictured(TimeLimits::default());
    let before = world.tree();
    let task = world.begin();
    let background = world.machine.before_command(task, &world.folder()).unwrap();
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        for writer in 0..3 {
            let (folder, ended) = (world.folder(), &ended);
            scope.spawn(move || {
                for round in 0.. {
                    let place = folder.join(format!("w{writer}/{}", round % 7));
                    fs::create_dir_all(place.join("deep")).unwrap();
                    fs::write(place.join("deep/file"), format!("{round}")).unwrap();
                    fs::write(folder.join(format!("a/b/{writer}-{}", round % 5)), format!("{round}"))
                        .unwrap();
                    if round % 3 == 0 {
                        fs::rename(&place, folder.join(format!("w{writer}/moved{round}"))).unwrap();
                    }
                    if round % 11 == 0 {
                        fs::remove_dir_all(folder.join(format!("w{writer}"))).unwrap();
                    }
                    if round > 60 && ended.load(Ordering::Relaxed) {
                        break;
                    }
                }
            });
        }
        for _ in 0..15 {
            let running = world.machine.before_command(task, &world.folder()).unwrap();
            world.machine.after_command(&running).unwrap();
        }
        ended.store(true, Ordering::Relaxed);
    });
    world.machine.after_command(&background).unwrap();
    world.machine.end_step(task).unwrap();
    let after = world.tree();
    let recorded = changed(&world, task.number);
    for path in after.keys().filter(|path| !before.contains_key(*path)) {
        let name = path.strip_prefix(world.folder()).unwrap().display().to_string();
        assert!(recorded.contains(&name), "{name} is recorded");
    }
    world.switch(1);
    assert_eq!(world.tree(), before);
    world.switch(task.number);
    assert_eq!(world.tree(), after);
}

#[test]
fn an_event_overflow_checks_everything() {
    let (_home, world) = pictured(TimeLimits::default());
    let capacity: usize =
        fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap().trim().parse().unwrap();
    let task = world.command(|folder| {
        let open = |name: &str| fs::File::options().write(true).open(folder.join(name)).unwrap();
        let mut files = [open("a/file"), open("d/file")];
        for round in 0..=capacity {
            let file = &mut files[round % 2];
            file.rewind().unwrap();
            file.write_all(b"x").unwrap();
        }
        fs::create_dir(folder.join("late")).unwrap();
        fs::write(folder.join("late/file"), "late").unwrap();
    });
    assert_eq!(changed(&world, task), ["a/file", "d/file", "late", "late/file"]);
    // And then it is watched again.
    let next_command = world.command(|folder| fs::write(folder.join("late/file"), "later").unwrap());
    assert_eq!(changed(&world, next_command), ["late/file"]);
}

#[test]
fn a_change_by_another_name_is_found_at_once_or_when_the_task_ends() {
    let (_home, world) = pictured(TimeLimits::default());
    let other_path = world.base.join("out/elsewhere");
    let task = world.begin();
    let running = world.machine.before_command(task, &world.folder()).unwrap();
    fs::hard_link(world.path("a/file"), &other_path).unwrap();
    fs::write(&other_path, "by another name").unwrap();
    let paths = world.machine.after_command(&running).unwrap();
    if cfg!(target_os = "linux") {
        assert_eq!(paths, 0, "no event tells of it: only what was told is looked at");
    }
    world.machine.end_step(task).unwrap();
    assert_eq!(changed(&world, task.number), ["a/file"]);
    // Now its two names are known.
    let task = world.begin();
    let running = world.machine.before_command(task, &world.folder()).unwrap();
    fs::write(&other_path, "once more").unwrap();
    assert_eq!(world.machine.after_command(&running).unwrap(), 1);
    world.machine.end_step(task).unwrap();
}

#[test]
fn changes_between_commands_stay_the_persons() {
    let (_home, world) = pictured(TimeLimits::default());
    let task = world.begin();
    let running = world.machine.before_command(task, &world.folder()).unwrap();
    fs::write(world.path("a/file"), "the command's").unwrap();
    world.machine.after_command(&running).unwrap();
    fs::write(world.path("d/file"), "the person's").unwrap();
    world.machine.end_step(task).unwrap();
    assert_eq!(changed(&world, task.number), ["a/file"]);
    let next_command = world.command(|folder| fs::write(folder.join("d/file"), "the command's").unwrap());
    world.switch(task.number);
    assert_eq!(fs::read_to_string(world.path("d/file")).unwrap(), "the person's");
    assert_eq!(changed(&world, next_command), ["d/file"]);
}

#[test]
fn a_replaced_folder_is_checked_completely() {
    let (_home, world) = pictured(TimeLimits::default());
    let task = world.machine.begin_step(world.session, TurnId::new(), &world.folder(), "x").unwrap();
    let running = world.machine.before_command(task, &world.folder()).unwrap();
    fs::rename(world.folder(), world.base.join("away")).unwrap();
    fs::create_dir(world.folder()).unwrap();
    fs::write(world.path("only"), "x").unwrap();
    world.machine.after_command(&running).unwrap();
    world.machine.end_step(task).unwrap();
    let names = changed(&world, task.number);
    assert!(names.contains(&"only".to_owned()) && names.contains(&"a/b/c/file".to_owned()), "{names:?}");
    world.switch(1);
    assert_eq!(fs::read_to_string(world.path("a/b/c/file")).unwrap(), "in a/b/c");
}

#[test]
fn a_change_of_an_exclusion_marker_is_noticed() {
    let (_home, world) = pictured(TimeLimits::default());
    let first_command = world.command(|folder| {
        fs::create_dir(folder.join("target")).unwrap();
        fs::write(folder.join("target/kept"), "no build made this").unwrap();
    });
    assert_eq!(changed(&world, first_command), ["target", "target/kept"]);
    world.command(|folder| fs::write(folder.join("Cargo.toml"), "[package]").unwrap());
    let (left_out, _) = world.machine.omitted_paths(&world.folder());
    assert_eq!(left_out.len(), 1, "{left_out:?}");
    world.command(|folder| fs::write(folder.join("e/CACHEDIR.TAG"), TAG).unwrap());
    let (left_out, _) = world.machine.omitted_paths(&world.folder());
    assert_eq!(left_out.len(), 2, "{left_out:?}");
}

const TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n";
