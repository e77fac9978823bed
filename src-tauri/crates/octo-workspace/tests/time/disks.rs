//! Restores on full and read-only disks, and steps that fail.

use crate::world::{Home, leftovers, none};
use octo_protocol::ApiError;
use octo_workspace::{RestoreSelection, TimeError};
use std::{
    collections::BTreeSet,
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

/// A separate file system; unmounted when dropped.
struct Disk(PathBuf);

impl Disk {
    fn mount(path: &Path, options: &str) -> Option<Self> {
        fs::create_dir_all(path).unwrap();
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", options, "octo-test"]).arg(path).output();
        match mounted {
            Ok(output) if output.status.success() => Some(Self(path.to_owned())),
            other => {
                eprintln!("skipped: a file system of its own needs root and mount: {other:?}");
                None
            }
        }
    }

    fn remount(&self, options: &str) {
        let status = Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(&self.0).status();
        assert!(status.unwrap().success());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg("-l").arg(&self.0).status();
        if !unmounted.is_ok_and(|status| status.success()) {
            eprintln!("{} could not be unmounted", self.0.display());
        }
    }
}

#[test]
fn a_full_or_read_only_disk_changes_nothing_and_the_restore_works_later() {
    let home = Home::new();
    let world = home.world();
    let Some(disk) = Disk::mount(&world.folder(), "size=3m") else { return };
    fs::write(world.path("large"), vec![1; 1_500_000]).unwrap();
    fs::write(world.path("first"), "old").unwrap();
    let before = world.tree();
    world.command(|folder| {
        fs::write(folder.join("first"), "new").unwrap();
        fs::write(folder.join("large"), "new").unwrap();
    });
    let filler = world.path("filler");
    fs::write(&filler, vec![0; 2_500_000]).unwrap();
    let after = world.tree();
    let plan = world.machine.plan(world.session, 0, RestoreSelection::All).unwrap();
    let error = world.machine.restore(&plan, &none()).unwrap_err();
    assert_eq!(ApiError::from(error).key, "time.full");
    assert_eq!(world.tree(), after, "nothing changed, nothing stayed behind");

    disk.remount("ro");
    let plan = world.machine.plan(world.session, 0, RestoreSelection::All).unwrap();
    let error = world.machine.restore(&plan, &none()).unwrap_err();
    assert!(matches!(error, TimeError::Disk { .. }), "{error:?}");
    assert_eq!(world.tree(), after);
    disk.remount("rw");

    fs::remove_file(&filler).unwrap();
    world.switch(0);
    assert_eq!(world.tree(), before);
    assert_eq!(leftovers(&world.tree()), Vec::<&PathBuf>::new());
}

#[test]
fn a_failed_step_undoes_the_others() {
    let home = Home::new();
    let world = home.world();
    fs::write(world.path("a"), "old").unwrap();
    fs::write(world.path("z"), "old").unwrap();
    world.command(|folder| {
        fs::write(folder.join("a"), "new").unwrap();
        fs::remove_file(folder.join("z")).unwrap();
        fs::create_dir(folder.join("z")).unwrap();
        fs::write(folder.join("z/x"), "new").unwrap();
    });
    // A mount cannot be removed, and looks like any folder until it is tried.
    let place = world.path("z");
    fs::remove_file(place.join("x")).unwrap();
    let Some(disk) = Disk::mount(&place, "size=1m,mode=755") else { return };
    fs::write(place.join("x"), "new").unwrap();
    fs::set_permissions(&place, Permissions::from_mode(0o755)).unwrap();
    let before = world.tree();
    let plan = world.machine.plan(world.session, 0, RestoreSelection::All).unwrap();
    let chosen: BTreeSet<PathBuf> = plan.conflicts().map(Path::to_owned).collect();
    let error = world.machine.restore(&plan, &chosen).unwrap_err();
    assert!(matches!(&error, TimeError::Disk { path, .. } if *path == place), "{error:?}");
    assert_eq!(world.tree(), before);
    let tree = world.machine.tree(world.session).unwrap();
    assert_eq!((tree.active, tree.tasks.len()), (1, 2), "an entry for what did not happen does not stay");
    drop(disk);
}
