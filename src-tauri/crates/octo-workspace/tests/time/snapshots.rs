//! The contents of a snapshot, its omissions, and content it need not store twice.

use crate::world::Home;
use octo_protocol::UnsavedReason;
use octo_workspace::{RestoreSelection, TimeLimits};
use std::{
    fs::{self, File},
    path::Path,
    process::Command,
    time::SystemTime,
};

fn blobs(home: &Home) -> u64 {
    home.blobs.for_each(|_, _, _| {}).unwrap().blobs
}

#[test]
fn excluded_folders_are_reported_and_ignored_files_included() {
    let home = Home::new();
    let world = home.world();
    let folder = world.folder();
    for (path, content) in [
        (".gitignore", ".env\nlocal/\n"),
        (".env", "SECRET=1"),
        ("local/settings", "mine"),
        (".git/HEAD", "ref: refs/heads/main"),
        ("node_modules/a/b.js", "x"),
        ("web/node_modules/c.js", "x"),
        ("Cargo.toml", "[package]"),
        ("target/debug/x", "x"),
        ("docs/target/kept", "no build makes this"),
        ("cache/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n"),
        ("cache/x", "x"),
        ("nocache/CACHEDIR.TAG", "something else"),
        ("dist/kept", "may exist only once"),
    ] {
        fs::create_dir_all(folder.join(path).parent().unwrap()).unwrap();
        fs::write(folder.join(path), content).unwrap();
    }
    let before = world.tree();
    world.command(|folder| {
        for path in [".env", "local/settings", "docs/target/kept", "dist/kept", "nocache/CACHEDIR.TAG"] {
            fs::write(folder.join(path), "overwritten").unwrap();
        }
        fs::remove_file(folder.join(".gitignore")).unwrap();
    });
    let (left_out, count) = world.machine.omitted_paths(&folder);
    let paths: Vec<_> = left_out
        .iter()
        .map(|it| (Path::new(&it.path).strip_prefix(&folder).unwrap().to_str().unwrap(), it.why))
        .collect();
    assert_eq!(
        paths,
        [
            (".git", UnsavedReason::VersionControl),
            ("cache", UnsavedReason::Cache),
            ("node_modules", UnsavedReason::Dependencies),
            ("target", UnsavedReason::BuildOutput),
            ("web/node_modules", UnsavedReason::Dependencies),
        ]
    );
    assert_eq!(count, 5);
    world.switch(0);
    assert_eq!(world.tree(), before);
}

#[test]
fn octos_home_is_never_in_a_snapshot() {
    let home = Home::new();
    let world = home.world();
    // The session works in the folder that holds the home.
    let task =
        world.machine.begin_step(world.session, octo_protocol::TurnId::new(), &home.base, "x").unwrap();
    let running = world.machine.before_command(task, &home.base).unwrap();
    assert_eq!(world.machine.after_command(&running).unwrap(), 0);
    let (left_out, _) = world.machine.omitted_paths(&home.base);
    let in_home: Vec<_> =
        left_out.iter().filter(|it| it.why == UnsavedReason::OctoHome).map(|it| it.path.clone()).collect();
    assert_eq!(in_home, [home.octo().to_str().unwrap()]);
}

#[test]
fn small_files_come_first_and_the_rest_is_reported() {
    let mut home = Home::new();
    home.limits = TimeLimits { max_snapshot_bytes: 10_000, ..TimeLimits::default() };
    let world = home.world();
    for (name, len) in [("a", 9_000), ("b", 100), ("c", 8_000), ("d", 100)] {
        fs::write(world.path(name), vec![1; len]).unwrap();
    }
    world.command(|folder| {
        fs::write(folder.join("a"), "x").unwrap();
        fs::write(folder.join("c"), "x").unwrap();
        fs::write(folder.join("d"), "x").unwrap();
    });
    let changes = world.machine.changes(world.session, 1).unwrap();
    let unsaved: Vec<_> =
        changes.paths.iter().map(|it| (it.path.rsplit('/').next().unwrap(), it.unsaved)).collect();
    assert_eq!(unsaved, [("a", Some(UnsavedReason::Budget)), ("c", None), ("d", None)]);
}

#[test]
fn a_limit_of_entries_never_makes_known_things_absent() {
    let mut home = Home::new();
    home.limits = TimeLimits { max_entries: 3, ..TimeLimits::default() };
    let world = home.world();
    for folder in ["a", "b", "c", "d"] {
        fs::create_dir(world.path(folder)).unwrap();
        for file in 0..3 {
            fs::write(world.path(&format!("{folder}/{file}")), "kept").unwrap();
        }
    }
    world.command(|folder| fs::write(folder.join("new"), "x").unwrap());
    // Another process with space for all: files it sees for the first time were not created by a command.
    home.limits = TimeLimits::default();
    let world = crate::world::World { machine: home.machine(), ..world };
    let before = world.tree();
    world.command(|folder| fs::write(folder.join("d/0"), "changed").unwrap());
    let plan = world.machine.plan(world.session, 1, RestoreSelection::All).unwrap();
    assert!(plan.preview().changes.len() <= 1);
    world.machine.restore(&plan, &Default::default()).unwrap();
    assert_eq!(world.tree().len(), before.len());
}

#[test]
fn a_change_within_one_clock_tick_is_detected() {
    let home = Home::new();
    let world = home.world();
    let path = world.path("a");
    // Right before the snapshot, then the same length within the same tick, with the old time restored.
    for round in 0..20 {
        let former = format!("old {round:02}");
        fs::write(&path, &former).unwrap();
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        let number = world.command(|_| {
            fs::write(&path, format!("new {round:02}")).unwrap();
            File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        });
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), time);
        let changes = world.machine.changes(world.session, number).unwrap();
        assert_eq!(changes.paths.len(), 1, "round {round}");
        let parent = world.machine.tree(world.session).unwrap().undo.unwrap();
        world.switch(parent);
        assert_eq!(fs::read_to_string(&path).unwrap(), former);
    }
    assert!(SystemTime::now() > fs::metadata(&path).unwrap().modified().unwrap());
}

#[test]
fn a_second_process_continues_from_the_firsts_snapshot() {
    let home = Home::new();
    let world = home.world();
    fs::write(world.path("a"), "old").unwrap();
    world.command(|folder| fs::write(folder.join("b"), "b").unwrap());
    // The complete snapshot, and the later changes in a separate file.
    let mut pictures: Vec<_> =
        fs::read_dir(home.octo().join("time/pictures")).unwrap().map(|entry| entry.unwrap().path()).collect();
    pictures.sort();
    assert_eq!(pictures.len(), 2);
    let path = pictures.swap_remove(0);
    for damage in [false, true] {
        if damage {
            let mut bytes = fs::read(&path).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(&path, bytes).unwrap();
        }
        let world =
            crate::world::World { machine: home.machine(), session: world.session, base: world.base.clone() };
        let number = world.command(|folder| fs::write(folder.join("a"), format!("{damage}")).unwrap());
        assert_eq!(world.machine.changes(world.session, number).unwrap().paths.len(), 1, "damaged: {damage}");
    }
}

fn git(folder: &Path, arguments: &[&str]) {
    let status = Command::new("git")
        .args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "-c",
            "gc.auto=0",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    assert!(status.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&status.stderr));
}

#[test]
fn content_in_git_is_not_stored_twice_and_is_restored() {
    for index_version in ["2", "4"] {
        let home = Home::new();
        let world = home.world();
        let folder = world.folder();
        git(&folder, &["init", "--quiet"]);
        fs::create_dir_all(folder.join("src/deep")).unwrap();
        for number in 0..30 {
            fs::write(
                folder.join(format!("src/deep/file{number}")),
                format!("content {number}\n").repeat(50),
            )
            .unwrap();
        }
        fs::write(folder.join("unix.txt"), "a\r\nb\r\n").unwrap();
        fs::write(folder.join(".gitattributes"), "*.txt text\n").unwrap();
        git(&folder, &["add", "."]);
        git(&folder, &["commit", "--quiet", "-m", "x"]);
        git(&folder, &["update-index", "--index-version", index_version]);
        git(&folder, &["repack", "-a", "-d", "--quiet"]);
        fs::write(folder.join("src/deep/file3"), "changed and not added\n").unwrap();
        fs::write(folder.join("untracked"), "mine").unwrap();
        let own_files = |tree: crate::world::Tree| -> Vec<_> {
            tree.into_iter().filter(|(path, _)| !path.starts_with(folder.join(".git"))).collect()
        };
        let before = own_files(world.tree());
        let task = world.begin();
        let running = world.machine.before_command(task, &folder).unwrap();
        // Files whose bytes in git differ (line ends), are older, or are missing: nothing else.
        assert_eq!(blobs(&home), 3, "index version {index_version}");
        for number in 0..10 {
            fs::write(folder.join(format!("src/deep/file{number}")), "broken").unwrap();
        }
        fs::remove_dir_all(folder.join("src")).unwrap();
        fs::write(folder.join("unix.txt"), "broken").unwrap();
        world.machine.after_command(&running).unwrap();
        world.machine.end_step(task).unwrap();
        // From now on the repository is not needed.
        fs::remove_dir_all(folder.join(".git")).unwrap();
        world.switch(0);
        assert_eq!(own_files(world.tree()), before);
    }
}

#[test]
fn content_pruned_from_git_is_reported_as_lost() {
    let home = Home::new();
    let world = home.world();
    let folder = world.folder();
    git(&folder, &["init", "--quiet"]);
    fs::write(folder.join("a"), "old").unwrap();
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "-m", "x"]);
    world.command(|folder| {
        fs::write(folder.join("a"), "new").unwrap();
        fs::remove_dir_all(folder.join(".git")).unwrap();
    });
    let changes = world.machine.changes(world.session, 1).unwrap();
    let paths: Vec<_> =
        changes.paths.iter().map(|it| (it.path.rsplit('/').next().unwrap(), it.unsaved)).collect();
    assert_eq!(paths, [(".git", Some(UnsavedReason::VersionControl)), ("a", Some(UnsavedReason::Forgotten))]);
}

/// Returns everything below a folder except its repository's data.
fn without_data(world: &crate::world::World) -> crate::world::Tree {
    let data = world.path(".git");
    let is_data = |path: &Path| path.starts_with(&data) && path != data;
    let is_own = |(path, _): &(std::path::PathBuf, crate::world::Node)| !is_data(path);
    crate::world::tree(&world.folder()).into_iter().filter(is_own).collect()
}

#[test]
fn a_linked_worktree_is_not_stored_twice() {
    let home = Home::new();
    let world = home.world();
    let main = world.base.join("out/main");
    fs::create_dir_all(main.join("src")).unwrap();
    git(&main, &["init", "--quiet"]);
    for number in 0..20 {
        fs::write(main.join(format!("src/file{number}")), format!("content {number}\n").repeat(30)).unwrap();
    }
    git(&main, &["add", "."]);
    git(&main, &["commit", "--quiet", "-m", "x"]);
    git(&main, &["worktree", "add", "--quiet", world.folder().to_str().unwrap()]);
    assert!(world.path(".git").is_file());
    let before = without_data(&world);
    let task = world.begin();
    let running = world.machine.before_command(task, &world.folder()).unwrap();
    assert_eq!(blobs(&home), 1, "only the file that says where the data lies");
    fs::remove_dir_all(world.path("src")).unwrap();
    world.machine.after_command(&running).unwrap();
    world.machine.end_step(task).unwrap();
    world.switch(0);
    assert_eq!(without_data(&world), before);
    git(&world.folder(), &["diff", "--quiet", "HEAD"]);
}

#[test]
fn nested_submodules_and_worktrees_are_restored() {
    let home = Home::new();
    let world = home.world();
    let (folder, library) = (world.folder(), world.base.join("out/library"));
    fs::create_dir_all(&library).unwrap();
    for (place, name) in [(&library, "lib.c"), (&folder, "main.c")] {
        git(place, &["init", "--quiet"]);
        fs::write(place.join(name), format!("int of_{};\n", name.len())).unwrap();
        git(place, &["add", "."]);
        git(place, &["commit", "--quiet", "-m", "x"]);
    }
    let source = library.to_str().unwrap();
    git(
        &folder,
        &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", source, "deps/library"],
    );
    git(&folder, &["commit", "--quiet", "-m", "with a library"]);
    git(&folder, &["worktree", "add", "--quiet", "beside"]);
    assert!(folder.join("deps/library/.git").is_file() && folder.join("beside/.git").is_file());
    fs::write(folder.join("deps/library/lib.c"), "changed and not added\n").unwrap();
    let before = without_data(&world);
    world.command(|folder| {
        fs::write(folder.join("beside/main.c"), "broken").unwrap();
        fs::remove_dir_all(folder.join("deps")).unwrap();
        fs::remove_file(folder.join("beside/.git")).unwrap();
        fs::remove_file(folder.join("main.c")).unwrap();
    });
    world.switch(0);
    assert_eq!(without_data(&world), before);
    // For git, too, everything is unchanged.
    git(&folder.join("beside"), &["diff", "--quiet", "HEAD"]);
    git(&folder, &["diff", "--quiet", "--ignore-submodules=dirty", "HEAD"]);
    git(&folder.join("deps/library"), &["log", "--quiet"]);
}
