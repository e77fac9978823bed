//! Every way a process can end while the home changes, and every possible obstacle.

mod scene;

use super::{carry_out::carry_out_observed, prepare::restore, *};
use crate::copy_home;
use octo_protocol::{Draft, Millis};
use octo_store::{Holder, Store, probe};
use scene::{AT, STAMP, Scene, killed_at, names, which};
use std::{
    collections::BTreeMap,
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    process::Command,
};

#[test]
fn a_copy_replaces_the_home_and_the_former_home_is_kept() {
    let scene = Scene::with_copy();
    let found = inspect_copy(&scene.copy()).unwrap();
    assert_eq!((found.octo.as_deref(), found.at, found.sessions), (Some("0.9.0"), Some(AT), 0));
    assert_eq!(found.files, 5, "the database, three files and how to go back");
    let (planned, _) = plan_restore(&scene.location(), &scene.copy(), AT, STAMP).unwrap();
    assert_eq!(which(&scene.home()).unwrap(), "old", "until the next start nothing changes");
    assert_eq!(PendingHomePlan::read(&scene.location()).unwrap().as_ref(), Some(&planned));
    assert!(matches!(plan_restore(&scene.location(), &scene.copy(), AT, STAMP), Err(HomePlanError::Planned)));
    let outcome = carry_out_home_plan(scene.location()).unwrap();
    assert_eq!((outcome.location.home.clone(), outcome.remarks), (scene.home(), vec![]));
    assert_eq!(which(&scene.home()).unwrap(), "new");
    assert!(!scene.home().join("README.txt").exists() && !scene.home().join("octo-copy.json").exists());
    let former = former_homes(&scene.location());
    assert_eq!(
        former.iter().map(|former| former.path.clone()).collect::<Vec<_>>(),
        [scene.base.join(format!(".octo-before-{STAMP}"))]
    );
    assert_eq!(which(&former[0].path).unwrap(), "old");
    assert_eq!(scene.siblings(), [format!(".octo-before-{STAMP}")]);
    // The second time, the same name is taken.
    plan_restore(&scene.location(), &scene.copy(), AT, STAMP).unwrap();
    carry_out_home_plan(scene.location()).unwrap();
    assert_eq!(former_homes(&scene.location()).len(), 2);
    // Only a former home is deleted, and only Octo's files in it.
    assert!(delete_former_home(&scene.location(), &scene.base.join("other")).is_err());
    assert!(delete_former_home(&scene.location(), &scene.home()).is_err());
    assert_eq!(delete_former_home(&scene.location(), &former[0].path).unwrap(), ["diary.md"]);
    assert_eq!(former_homes(&scene.location()).len(), 1);
}

#[test]
fn a_moved_home_is_found_and_the_former_one_kept() {
    let scene = Scene::new();
    #[cfg(unix)]
    std::os::unix::fs::symlink("/nowhere", scene.home().join("skills/linked")).unwrap();
    plan_move(&scene.location(), &scene.to(), AT).unwrap();
    assert_eq!(scene.location().home, scene.home(), "until the next start nothing changes");
    let outcome = carry_out_home_plan(scene.location()).unwrap();
    assert_eq!((outcome.location.home.clone(), outcome.remarks), (scene.to(), vec![]));
    assert_eq!(which(&scene.to()).unwrap(), "old");
    #[cfg(unix)]
    assert_eq!(fs::read_link(scene.to().join("skills/linked")).unwrap(), Path::new("/nowhere"));
    assert!(
        fs::read_to_string(scene.home().join(MOVED_NOTE)).unwrap().contains(scene.to().to_str().unwrap())
    );
    assert_eq!(scene.siblings(), [".octo.place"]);
    // Every process finds it, and so does a path stored under the old location.
    let location = carry_out_home_plan(scene.location()).unwrap().location;
    assert_eq!(location.home, scene.to());
    assert_eq!(location.current_path(&scene.home().join("skills/notes")), scene.to().join("skills/notes"));
    assert_eq!(location.current_path(Path::new("/elsewhere/a")), Path::new("/elsewhere/a"));
    // A copy can replace the moved home, too.
    let former: Vec<PathBuf> = former_homes(&location).into_iter().map(|former| former.path).collect();
    assert_eq!(former, [scene.home()]);
    assert_eq!(delete_former_home(&location, &scene.home()).unwrap(), ["diary.md"]);
    fs::remove_dir_all(scene.home()).unwrap();
    // And back to its old location.
    fs::create_dir(scene.home()).unwrap();
    plan_move(&location, &scene.home(), AT).unwrap();
    let restored = carry_out_home_plan(scene.location()).unwrap().location;
    assert_eq!((restored.home.clone(), restored.former), (scene.home(), vec![scene.to()]));
    assert_eq!(which(&scene.home()).unwrap(), "old");
    assert!(!scene.home().join(MOVED_NOTE).exists());
}

#[test]
fn a_kill_during_a_home_restore_leaves_one_home_or_the_other() {
    let mut outcomes = BTreeMap::new();
    for n in 0.. {
        let scene = Scene::with_copy();
        let is_over = killed_at(n, |watch| {
            restore(&scene.location(), &scene.copy(), AT, STAMP, watch).unwrap();
            carry_out_observed(scene.location(), watch).unwrap();
        });
        let outcome = carry_out_home_plan(scene.location()).unwrap();
        assert_eq!(outcome.remarks, [], "killed at {n}");
        let found = which(&outcome.location.home).unwrap_or_else(|error| panic!("killed at {n}: {error}"));
        let former = former_homes(&outcome.location);
        match found.as_str() {
            "old" => assert_eq!(former, [], "killed at {n}"),
            _ => assert_eq!(which(&former[0].path).as_deref(), Ok("old"), "killed at {n}"),
        }
        assert!(scene.siblings().iter().all(|name| name.contains("-before-")), "{n}: {:?}", scene.siblings());
        *outcomes.entry(found).or_insert(0) += 1;
        if is_over {
            break;
        }
    }
    assert!(outcomes["old"] >= 5 && outcomes["new"] >= 4, "{outcomes:?}");
}

#[test]
fn a_kill_during_a_home_move_leaves_it_at_one_location() {
    let mut outcomes = BTreeMap::new();
    for n in 0.. {
        let scene = Scene::new();
        plan_move(&scene.location(), &scene.to(), AT).unwrap();
        let is_over = killed_at(n, |watch| {
            carry_out_observed(scene.location(), watch).unwrap();
        });
        // After the kill, the old home is intact; a start that cannot continue opens it there.
        let location = scene.location();
        assert_eq!(which(&location.home).as_deref(), Ok("old"), "killed at {n}");
        *outcomes.entry(location.home == scene.to()).or_insert(0) += 1;
        // The next start continues; it is killed too, and the one after it is not.
        killed_at(3, |watch| {
            carry_out_observed(scene.location(), watch).unwrap();
        });
        let outcome = carry_out_home_plan(scene.location()).unwrap();
        assert_eq!((outcome.location.home, outcome.remarks), (scene.to(), vec![]), "killed at {n}");
        assert_eq!(which(&scene.to()).as_deref(), Ok("old"), "killed at {n}");
        assert_eq!(which(&scene.home()).as_deref(), Ok("old"), "the one before is kept, killed at {n}");
        assert!(!scene.to().join(".octo-arriving").exists() && scene.home().join(MOVED_NOTE).exists());
        assert_eq!(scene.siblings(), [".octo.place"]);
        if is_over {
            break;
        }
    }
    assert!(outcomes[&false] >= 5 && outcomes[&true] >= 2, "{outcomes:?}");
}

#[test]
fn a_copy_that_cannot_be_used_is_refused_and_nothing_changes() {
    let scene = Scene::with_copy();
    let key = |path: &Path| {
        let error = plan_restore(&scene.location(), path, AT, STAMP).unwrap_err();
        assert_eq!(scene.siblings(), Vec::<String>::new(), "nothing is left of it");
        ApiError::from(error).key
    };
    let copy = scene.copy();
    assert_eq!(key(&scene.base.join("gone")), "home.no_copy");
    assert_eq!(key(&copy.join("skills")), "home.no_copy");
    assert_eq!(key(&scene.base), "home.no_copy");
    assert_eq!(key(&scene.home()), "home.inside");
    let lost = copy.join("memories/nest.md");
    let text = fs::read(&lost).unwrap();
    fs::remove_file(&lost).unwrap();
    assert_eq!(key(&copy), "home.copy_incomplete");
    fs::write(&lost, text).unwrap();
    let content = fs::read(copy.join("octo.db")).unwrap();
    fs::write(copy.join("octo.db"), &content[..content.len() / 2]).unwrap();
    assert_eq!(key(&copy), "home.copy_damaged");
    // The schema version is four bytes of the header.
    let mut newer = content.clone();
    newer[60..64].copy_from_slice(&9_999_u32.to_be_bytes());
    fs::write(copy.join("octo.db"), newer).unwrap();
    assert_eq!(key(&copy), "home.copy_newer");
    fs::write(copy.join("octo.db"), content).unwrap();
    fs::write(copy.join("octo-copy.json"), "{").unwrap();
    assert_eq!(key(&copy), "home.copy_damaged");
    // A copy without a description, like Octo's first copies, can be used.
    fs::remove_file(copy.join("octo-copy.json")).unwrap();
    let found = inspect_copy(&copy).unwrap();
    assert!(found.octo.is_none() && found.at.is_some());
    assert_eq!(which(&scene.home()).unwrap(), "old");
}

#[test]
fn a_vanished_copy_leaves_the_home_unchanged() {
    let scene = Scene::with_copy();
    plan_restore(&scene.location(), &scene.copy(), AT, STAMP).unwrap();
    fs::remove_dir_all(scene.base.join(".octo.incoming")).unwrap();
    let outcome = carry_out_home_plan(scene.location()).unwrap();
    let keys: Vec<&str> = outcome.remarks.iter().map(|error| error.key.as_str()).collect();
    assert_eq!(keys, ["home.not_restored", "home.no_copy"]);
    assert_eq!(which(&scene.home()).unwrap(), "old");
    assert_eq!(carry_out_home_plan(scene.location()).unwrap().remarks, [], "it is said once");
}

#[test]
fn a_cancelled_plan_leaves_nothing() {
    let scene = Scene::with_copy();
    plan_restore(&scene.location(), &scene.copy(), AT, STAMP).unwrap();
    cancel_plan(&scene.location()).unwrap();
    assert_eq!(scene.siblings(), Vec::<String>::new());
    cancel_plan(&scene.location()).unwrap();
    assert_eq!(carry_out_home_plan(scene.location()).unwrap().remarks, []);
    assert_eq!(which(&scene.home()).unwrap(), "old");
    // So does the unpacked copy of a plan that was never completed.
    fs::create_dir(scene.base.join(".octo.incoming")).unwrap();
    carry_out_home_plan(scene.location()).unwrap();
    assert_eq!(scene.siblings(), Vec::<String>::new());
}

#[test]
fn a_folder_that_cannot_be_moved_into_is_refused() {
    let scene = Scene::new();
    let full_folder = scene.base.join("full");
    fs::create_dir(&full_folder).unwrap();
    fs::write(full_folder.join("letter"), "mine").unwrap();
    for (target, key) in [
        (full_folder.clone(), "home.not_empty"),
        (scene.home(), "home.inside"),
        (scene.home().join("skills"), "home.inside"),
        (scene.base.clone(), "home.inside"),
        (scene.base.join("gone"), "home.unusable"),
        (full_folder.join("letter"), "home.unusable"),
        (PathBuf::from("to"), "home.unusable"),
    ] {
        let error = plan_move(&scene.location(), &target, AT).unwrap_err();
        assert_eq!(ApiError::from(error).key, key, "{}", target.display());
    }
    let by_variable = HomeLocation::by_variable(scene.home());
    let error = plan_move(&by_variable, &scene.to(), AT).unwrap_err();
    assert_eq!(ApiError::from(error).key, "home.by_variable");
    assert_eq!(carry_out_home_plan(by_variable).unwrap().location.home, scene.home());
    // Files added to the folder since then stay, and so does the home.
    plan_move(&scene.location(), &scene.to(), AT).unwrap();
    fs::write(scene.to().join("letter"), "mine").unwrap();
    let outcome = carry_out_home_plan(scene.location()).unwrap();
    assert_eq!((outcome.location.home, outcome.remarks[1].key.as_str()), (scene.home(), "home.not_empty"));
    assert_eq!(names(&scene.to()), ["letter"]);
    assert_eq!(scene.siblings(), Vec::<String>::new());
}

#[test]
fn a_home_in_use_stays_and_the_plan_waits() {
    let scene = Scene::new();
    plan_move(&scene.location(), &scene.to(), AT).unwrap();
    let store = Store::open(&scene.home()).unwrap();
    let outcome = carry_out_home_plan(scene.location()).unwrap();
    assert_eq!((outcome.location.home, outcome.remarks[0].key.as_str()), (scene.home(), "home.plan_waits"));
    assert_eq!(names(&scene.to()), Vec::<String>::new());
    let me = Holder::current();
    store.write_blocking(move |tx| tx.take_schedule_lease(&me, probe)).unwrap();
    store.close();
    drop(store);
    assert_eq!(carry_out_home_plan(scene.location()).unwrap().location.home, scene.to());
}

#[test]
fn a_missing_moved_home_is_never_recreated() {
    let scene = Scene::new();
    plan_move(&scene.location(), &scene.to(), AT).unwrap();
    carry_out_home_plan(scene.location()).unwrap();
    fs::rename(scene.to(), scene.base.join("unplugged")).unwrap();
    // The mount point may exist without the disk.
    for empty in [false, true] {
        if empty {
            fs::create_dir(scene.base.join("to")).unwrap();
        }
        let error = carry_out_home_plan(scene.location()).unwrap_err();
        assert_eq!(ApiError::from(error).key, "start.home_away");
    }
    fs::remove_dir(scene.base.join("to")).unwrap();
    fs::rename(scene.base.join("unplugged"), scene.base.join("to")).unwrap();
    assert_eq!(carry_out_home_plan(scene.location()).unwrap().location.home, scene.base.join("to"));
    fs::write(scene.base.join(".octo.place"), "{ half").unwrap();
    assert_eq!(ApiError::from(HomeLocation::by_octo(scene.home()).unwrap_err()).key, "start.plan_unreadable");
}

#[cfg(unix)]
#[test]
fn a_moved_home_is_restricted_to_its_owner() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::new();
    fs::set_permissions(scene.to(), fs::Permissions::from_mode(0o777)).unwrap();
    plan_move(&scene.location(), &scene.to(), AT).unwrap();
    assert_eq!(carry_out_home_plan(scene.location()).unwrap().location.home, scene.to());
    assert_eq!(fs::metadata(scene.to()).unwrap().permissions().mode() & 0o777, 0o700);
}

#[cfg(unix)]
#[test]
fn a_copy_that_was_protected_becomes_a_home_that_can_be_written() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::with_copy();
    let database = scene.copy().join("octo.db");
    fs::set_permissions(&database, fs::Permissions::from_mode(0o444)).unwrap();
    plan_restore(&scene.location(), &scene.copy(), AT, STAMP).unwrap();
    carry_out_home_plan(scene.location()).unwrap();
    let mode = fs::metadata(scene.home().join("octo.db")).unwrap().permissions().mode();
    assert_eq!(mode & 0o600, 0o600, "{mode:o}");
}

#[test]
fn a_plan_waits_for_the_disk_its_home_is_on() {
    let scene = Scene::new();
    plan_move(&scene.location(), &scene.to(), AT).unwrap();
    carry_out_home_plan(scene.location()).unwrap();
    let (target, third_folder, away) = (scene.to(), scene.base.join("third"), scene.base.join("unplugged"));
    fs::create_dir(&third_folder).unwrap();
    plan_move(&scene.location(), &third_folder, AT).unwrap();
    // The mount point still exists as a folder.
    fs::rename(&target, &away).unwrap();
    fs::create_dir(&target).unwrap();
    assert!(matches!(carry_out_home_plan(scene.location()), Err(HomePlanError::Missing { .. })));
    assert!(names(&third_folder).is_empty(), "nothing is not a home");
    assert!(PendingHomePlan::read(&scene.location()).unwrap().is_some());
    fs::remove_dir_all(&target).unwrap();
    fs::rename(&away, &target).unwrap();
    assert_eq!(carry_out_home_plan(scene.location()).unwrap().location.home, third_folder);
    assert_eq!(which(&third_folder).unwrap(), "old");
}

#[test]
fn a_second_process_waits_until_the_plan_is_done() {
    let scene = Scene::new();
    plan_move(&scene.location(), &scene.to(), AT).unwrap();
    let (first_location, second) = (scene.location(), scene.location());
    let found = std::thread::scope(|threads| {
        let mut second_process = None;
        carry_out_observed(first_location, &mut || {
            let location = second.clone();
            second_process
                .get_or_insert_with(|| threads.spawn(move || carry_out_home_plan(location).unwrap()));
        })
        .unwrap();
        second_process.unwrap().join().unwrap()
    });
    assert_eq!((found.location.home, found.remarks), (scene.to(), vec![]));
}

/// A separate file system; unmounted when dropped.
struct Disk(PathBuf);

impl Disk {
    fn mount(path: PathBuf, options: &str) -> Option<Self> {
        fs::create_dir_all(&path).unwrap();
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", options, "octo-test"]).arg(&path).output();
        match mounted {
            Ok(output) if output.status.success() => Some(Self(path)),
            other => {
                eprintln!("skipped: a file system of its own needs root and mount: {other:?}");
                None
            }
        }
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
fn another_disk_takes_the_home_and_a_full_or_read_only_one_leaves_it_whole() {
    let scene = Scene::with_copy();
    let Some(small_disk) = Disk::mount(scene.base.join("small"), "size=3m") else { return };
    let error = plan_move(&scene.location(), &small_disk.0, AT).unwrap_err();
    assert!(matches!(error, HomePlanError::NoRoom { needed: Some(_), .. }), "{error}");

    let Some(disk) = Disk::mount(scene.base.join("disk"), "size=90m") else { return };
    let target = disk.0.join("octo");
    fs::create_dir(&target).unwrap();
    plan_move(&scene.location(), &target, AT).unwrap();
    // It fills up while the home is being copied.
    let hog = disk.0.join("hog");
    let outcome = carry_out_observed(scene.location(), &mut || {
        if !hog.exists() && target.join("diary.md").exists() {
            let _full = fs::write(&hog, vec![1; 100 << 20]);
        }
    })
    .unwrap();
    assert_eq!((outcome.location.home, outcome.remarks[0].key.as_str()), (scene.home(), "home.not_moved"));
    assert_eq!(outcome.remarks[1].key, "home.no_room");
    assert_eq!(names(&target), Vec::<String>::new(), "half a home is worse than none");
    assert_eq!(which(&scene.home()).unwrap(), "old");

    let remount = |options: &str| {
        let status = Command::new("mount").args(["-o", options]).arg(&disk.0).status();
        assert!(status.unwrap().success());
    };
    fs::remove_file(&hog).unwrap();
    remount("remount,ro");
    let error = plan_move(&scene.location(), &target, AT).unwrap_err();
    assert_eq!(ApiError::from(error).key, "home.unusable");
    remount("remount,rw");
    plan_move(&scene.location(), &target, AT).unwrap();
    remount("remount,ro");
    let outcome = carry_out_home_plan(scene.location()).unwrap();
    assert_eq!((outcome.location.home, outcome.remarks[0].key.as_str()), (scene.home(), "home.not_moved"));
    remount("remount,rw");
    plan_move(&scene.location(), &target, AT).unwrap();
    assert_eq!(carry_out_home_plan(scene.location()).unwrap().location.home, target);
    assert_eq!(which(&target).unwrap(), "old");

    // A home that is a mount point has no name that a copy could take.
    let error =
        plan_restore(&HomeLocation::by_variable(disk.0.clone()), &scene.copy(), AT, STAMP).unwrap_err();
    assert!(matches!(error, HomePlanError::Fixed(_)), "{error}");
    // A copy on a read-only disk is read like any other.
    let copy = disk.0.join("copy");
    fs::create_dir(&copy).unwrap();
    for name in ["octo.db", "diary.md"] {
        fs::copy(scene.copy().join(name), copy.join(name)).unwrap();
    }
    remount("remount,ro");
    assert_eq!(inspect_copy(&copy).unwrap().files, 2);
}

#[test]
fn a_home_whose_database_is_being_replaced_is_there() {
    let scene = Scene::new();
    plan_move(&scene.location(), &scene.to(), AT).unwrap();
    carry_out_home_plan(scene.location()).unwrap();
    // Killed between renaming the damaged database and moving the other one to its path.
    fs::rename(scene.to().join("octo.db"), scene.to().join("octo.db-ready-now")).unwrap();
    assert_eq!(carry_out_home_plan(scene.location()).unwrap().location.home, scene.to());
    assert_eq!(which(&scene.to()).unwrap(), "old");
    assert!(scene.to().join("octo.db").is_file());
}

#[test]
fn a_kill_while_the_mark_is_made_does_not_end_the_plan() {
    let scene = Scene::new();
    plan_move(&scene.location(), &scene.to(), AT).unwrap();
    fs::write(scene.to().join(".new-x1y2z3"), "half a ma").unwrap();
    let outcome = carry_out_home_plan(scene.location()).unwrap();
    assert_eq!((outcome.location.home, outcome.remarks), (scene.to(), vec![]));
    assert!(!scene.to().join(".new-x1y2z3").exists());
    // The person's own files are a different matter.
    let scene = Scene::new();
    plan_move(&scene.location(), &scene.to(), AT).unwrap();
    fs::write(scene.to().join("diary.md"), "mine").unwrap();
    let outcome = carry_out_home_plan(scene.location()).unwrap();
    assert_eq!(outcome.location.home, scene.home());
    assert_eq!(outcome.remarks.len(), 2, "{:?}", outcome.remarks);
    assert!(scene.to().join("diary.md").exists());
}
