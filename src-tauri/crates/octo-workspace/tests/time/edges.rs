//! Obstacles to a restore: other people's changes, links, damage, full and read-only disks.

use crate::world::{Home, World, leftovers};
use octo_protocol::{
    ApiError, ComparedSide, ComparisonTarget, ConflictSource, FileImage, StepChange, StepKind, StepPosition,
    UnrestorableReason, UnsavedReason,
};
use octo_store::{RecordedState, StateMoment, StateSource};
use octo_workspace::{BlobError, RecordOutcome, RestoreSelection, TimeError, TimeLimits};
use std::{
    collections::BTreeSet,
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Command,
};

fn none() -> BTreeSet<PathBuf> {
    BTreeSet::new()
}

fn blob_of(home: &Home, content: &[u8]) -> PathBuf {
    home.blobs.path(&octo_protocol::BlobHash(blake3::hash(content).to_hex().to_string())).unwrap()
}

#[test]
fn later_changes_are_conflicts_and_stay_unless_chosen() {
    let home = Home::new();
    let world = home.world();
    let (both, only) = (world.path("both"), world.path("only"));
    fs::write(&both, "0").unwrap();
    fs::write(&only, "0").unwrap();
    world.command(|_| fs::write(&only, "1").unwrap());
    world.command(|_| fs::write(&both, "2").unwrap());
    fs::write(&both, "mine").unwrap();
    fs::write(&only, "mine too").unwrap();
    fs::write(world.path("unrelated"), "mine alone").unwrap();

    let plan = world.machine.plan(world.session, 1, RestoreSelection::All).unwrap();
    let preview = plan.preview();
    let found: Vec<_> = preview.conflicts.iter().map(|it| (Path::new(&it.path), it.source)).collect();
    assert_eq!(found, [(both.as_path(), ConflictSource::Both), (only.as_path(), ConflictSource::OthersOnly)]);
    assert_eq!(preview.changes, []);
    let report = world.machine.restore(&plan, &none()).unwrap();
    assert_eq!((report.active, report.kept.len(), report.changed), (1, 2, 0));
    assert_eq!(fs::read_to_string(&both).unwrap(), "mine");

    let plan = world.machine.plan(world.session, 0, RestoreSelection::All).unwrap();
    let report = world.machine.restore(&plan, &BTreeSet::from([both.clone()])).unwrap();
    assert_eq!(report.kept, [only.to_str().unwrap()]);
    assert_eq!(fs::read_to_string(&both).unwrap(), "0");
    assert_eq!(fs::read_to_string(&only).unwrap(), "mine too");
    assert_eq!(fs::read_to_string(world.path("unrelated")).unwrap(), "mine alone");
    // The overwritten content is in the safety entry.
    let safety = report.safety.unwrap();
    let plan = world
        .machine
        .plan(world.session, safety, RestoreSelection::Files(BTreeSet::from([both.clone()])))
        .unwrap();
    world.machine.restore(&plan, &none()).unwrap();
    assert_eq!(fs::read_to_string(&both).unwrap(), "mine");
}

#[test]
fn an_undo_reverts_the_tasks_changes_and_not_the_persons() {
    let home = Home::new();
    let world = home.world();
    let path = world.path("a");
    fs::write(&path, "0").unwrap();
    world.write(&path, b"1");
    fs::write(&path, "mine").unwrap();
    world.command(|_| fs::write(&path, "2").unwrap());
    world.switch(1);
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    world.switch(2);
    assert_eq!(fs::read_to_string(&path).unwrap(), "2");
    world.switch(0);
    assert_eq!(fs::read_to_string(&path).unwrap(), "0");
    // Turn 1 shows only its own changes.
    let changes = world.machine.changes(world.session, 1).unwrap();
    assert_eq!((changes.paths[0].added, changes.paths[0].removed), (Some(1), Some(1)));
    let compared = world.machine.compare(world.session, 1, &path, ComparisonTarget::Before).unwrap();
    let text: String =
        compared.diff.unwrap().hunks[0].lines[1].parts.iter().map(|part| part.text.as_str()).collect();
    assert_eq!(text, "1");
}

#[test]
fn an_undo_can_be_undone_and_new_work_branches() {
    let home = Home::new();
    let world = home.world();
    let path = world.path("a");
    assert!(matches!(world.machine.undo_target(world.session), Err(TimeError::AtStart)));
    world.write(&path, b"1");
    world.write(&path, b"2");
    assert_eq!(world.machine.undo_target(world.session).unwrap(), 1);
    let report = world.switch(1);
    assert_eq!(report.safety, Some(3));
    assert_eq!(world.machine.redo_target(world.session).unwrap(), 2);
    assert_eq!(world.write(&path, b"4"), 4);
    let tree = world.machine.tree(world.session).unwrap();
    let told: Vec<_> =
        tree.steps.iter().map(|it| (it.number, it.parent, it.kind, it.status, it.branch)).collect();
    assert_eq!(
        told,
        [
            (0, None, StepKind::Start, StepPosition::Past, false),
            (1, Some(0), StepKind::Run, StepPosition::Past, false),
            (2, Some(1), StepKind::Run, StepPosition::Undone, true),
            (3, Some(2), StepKind::Safety, StepPosition::Undone, false),
            (4, Some(1), StepKind::Run, StepPosition::Current, true),
        ]
    );
    assert_eq!(
        world.machine.undone_turns(world.session).unwrap(),
        [tree.steps[2].turn.unwrap()],
        "the model does not see what is undone"
    );
    world.switch(2);
    assert_eq!(fs::read_to_string(&path).unwrap(), "2");
    world.switch(0);
    assert!(!path.exists());
    assert_eq!(world.machine.redo_target(world.session).unwrap(), 1);
}

#[test]
fn chosen_files_come_back_and_the_session_stays() {
    let home = Home::new();
    let world = home.world();
    let (one, other) = (world.path("one"), world.path("other"));
    world.command(|_| {
        fs::write(&one, "1").unwrap();
        fs::write(&other, "1").unwrap();
    });
    world.command(|_| {
        fs::write(&one, "2").unwrap();
        fs::write(&other, "2").unwrap();
    });
    let chosen = world.machine.paths_named(world.session, &[one.to_str().unwrap().to_owned()]).unwrap();
    assert_eq!(chosen, std::slice::from_ref(&one));
    let plan =
        world.machine.plan(world.session, 1, RestoreSelection::Files(chosen.into_iter().collect())).unwrap();
    let report = world.machine.restore(&plan, &none()).unwrap();
    let read = || (fs::read_to_string(&one).unwrap(), fs::read_to_string(&other).unwrap());
    assert_eq!(read(), ("1".to_owned(), "2".to_owned()));
    let tree = world.machine.tree(world.session).unwrap();
    assert_eq!((report.active, tree.active, tree.steps[3].kind), (3, 3, StepKind::Files));
    assert_eq!(tree.undo, Some(2));
    world.switch(2);
    assert_eq!(read(), ("2".to_owned(), "2".to_owned()));
    world.switch(3);
    assert_eq!(read(), ("1".to_owned(), "2".to_owned()));
}

#[test]
fn a_checkpoint_is_a_place_to_come_back_to() {
    let home = Home::new();
    let world = home.world();
    let path = world.path("a");
    world.write(&path, b"1");
    fs::write(&path, "by hand").unwrap();
    let checkpoint =
        world.machine.checkpoint(world.session, &world.folder(), "  before the\nbig change ").unwrap();
    assert_eq!((checkpoint.number, checkpoint.summary.as_str()), (2, "before the big change"));
    assert_eq!(checkpoint.kind, StepKind::Checkpoint);
    world.write(&path, b"3");
    world.switch(2);
    assert_eq!(fs::read_to_string(&path).unwrap(), "by hand");
    assert_eq!(world.machine.undo_target(world.session).unwrap(), 0, "a checkpoint is no work");
}

#[test]
fn a_planted_link_is_not_followed() {
    let home = Home::new();
    let world = home.world();
    let victim = world.base.join("out");
    fs::create_dir(world.path("d")).unwrap();
    fs::write(world.path("d/f"), "old").unwrap();
    fs::write(world.path("d/gone"), "old").unwrap();
    world.command(|folder| {
        fs::write(folder.join("d/f"), "new").unwrap();
        fs::remove_file(folder.join("d/gone")).unwrap();
    });
    // Planted before the plan.
    fs::rename(world.path("d"), world.path("moved")).unwrap();
    fs::write(victim.join("f"), "new").unwrap();
    symlink(&victim, world.path("d")).unwrap();
    let plan = world.machine.plan(world.session, 0, RestoreSelection::All).unwrap();
    let all: BTreeSet<PathBuf> = plan.conflicts().map(Path::to_owned).collect();
    let report = world.machine.restore(&plan, &all).unwrap();
    let refused: Vec<_> = report.impossible.iter().map(|it| it.why).collect();
    assert_eq!(refused, [UnrestorableReason::ParentNotFolder; 2]);
    assert_eq!(fs::read_to_string(victim.join("f")).unwrap(), "new");
    assert!(!victim.join("gone").exists());

    // Planted between the plan and the restore.
    fs::remove_file(world.path("d")).unwrap();
    fs::rename(world.path("moved"), world.path("d")).unwrap();
    world.switch(1);
    let plan = world.machine.plan(world.session, 0, RestoreSelection::All).unwrap();
    assert_eq!(plan.preview().changes.len(), 2);
    fs::rename(world.path("d"), world.path("moved")).unwrap();
    symlink(&victim, world.path("d")).unwrap();
    assert!(matches!(world.machine.restore(&plan, &none()), Err(TimeError::ChangedSincePlan(_))));
    assert_eq!(fs::read_to_string(victim.join("f")).unwrap(), "new");
    assert_eq!(fs::read_dir(&victim).unwrap().count(), 1);
}

#[test]
fn nothing_outside_the_recorded_paths_is_written() {
    let home = Home::new();
    let world = home.world();
    world.write(&world.path("a"), b"1");
    // A row no recorder writes: the path is neither in a folder of the session nor named by a tool.
    let path = world.base.join("out/stranger");
    fs::write(&path, "theirs").unwrap();
    let (session, bytes) = (world.session, path.to_str().unwrap().as_bytes().to_vec());
    let row = |side, image| RecordedState {
        path: bytes.clone(),
        number: 1,
        side,
        source: StateSource::Found,
        image,
    };
    let blob = home.blobs.put(b"theirs").unwrap();
    let rows = [
        row(StateMoment::Before, FileImage::Absent),
        row(StateMoment::After, FileImage::File { blob, len: 6, mode: 0o644 }),
    ];
    home.store.write_blocking(move |tx| tx.record_time_states(session, &rows)).unwrap();
    let plan = world.machine.plan(world.session, 0, RestoreSelection::All).unwrap();
    let report = world.machine.restore(&plan, &none()).unwrap();
    assert_eq!(
        report.impossible.iter().map(|it| it.why).collect::<Vec<_>>(),
        [UnrestorableReason::OutsideRoots]
    );
    assert!(path.exists() && !world.path("a").exists());
}

#[test]
fn missing_or_damaged_content_is_found_before_anything_changes() {
    for damage in ["missing", "damaged"] {
        let home = Home::new();
        let world = home.world();
        fs::write(world.path("a"), "old a").unwrap();
        fs::write(world.path("b"), "old b").unwrap();
        world.command(|folder| {
            fs::write(folder.join("a"), "new").unwrap();
            fs::write(folder.join("b"), "new").unwrap();
        });
        let blob = blob_of(&home, b"old b");
        if damage == "missing" {
            fs::remove_file(&blob).unwrap()
        } else {
            fs::write(&blob, "old c").unwrap()
        }
        let before = world.tree();
        let plan = world.machine.plan(world.session, 0, RestoreSelection::All).unwrap();
        let error = world.machine.restore(&plan, &none()).unwrap_err();
        match damage {
            "missing" => assert!(matches!(error, TimeError::Blob(BlobError::Missing(_))), "{error:?}"),
            _ => assert!(matches!(error, TimeError::Blob(BlobError::Damaged(_))), "{error:?}"),
        }
        assert_eq!(ApiError::from(error).key, format!("time.{damage}"));
        assert_eq!(world.tree(), before);
        // A single intact file can still be restored.
        let plan = world
            .machine
            .plan(world.session, 0, RestoreSelection::Files(BTreeSet::from([world.path("a")])))
            .unwrap();
        world.machine.restore(&plan, &none()).unwrap();
        assert_eq!(fs::read_to_string(world.path("a")).unwrap(), "old a");
    }
}

#[test]
fn unsaved_content_is_reported_and_never_destroyed() {
    let mut home = Home::new();
    home.limits = TimeLimits { max_file_bytes: 1_000, ..TimeLimits::default() };
    let world = home.world();
    fs::write(world.path("large"), vec![1; 2_000]).unwrap();
    fs::write(world.path("small"), "old").unwrap();
    let task = world.begin();
    let report = world.files(&[]).write(&world.path("large"), b"now small").unwrap();
    assert_eq!(report.recorded, RecordOutcome::NotKept(UnsavedReason::TooLarge));
    let report = world.files(&[]).write(&world.path("small"), b"new").unwrap();
    assert_eq!(report.recorded, RecordOutcome::Kept);
    let running = world.machine.before_command(task, &world.folder()).unwrap();
    fs::create_dir_all(world.path("node_modules/x")).unwrap();
    fs::write(world.path("node_modules/x/y"), "y").unwrap();
    fs::write(world.path("grown"), vec![2; 2_000]).unwrap();
    world.machine.after_command(&running).unwrap();
    world.machine.end_step(task).unwrap();

    let changes = world.machine.changes(world.session, 1).unwrap();
    let left_out: Vec<_> = changes.left_out.iter().map(|it| (Path::new(&it.path), it.why)).collect();
    assert_eq!(
        left_out,
        [
            (world.path("grown").as_path(), UnsavedReason::TooLarge),
            (world.path("node_modules").as_path(), UnsavedReason::Dependencies),
        ]
    );
    let unsaved: Vec<_> = changes.paths.iter().filter_map(|it| it.unsaved).collect();
    assert_eq!(unsaved, [UnsavedReason::TooLarge]);

    let plan = world.machine.plan(world.session, 0, RestoreSelection::All).unwrap();
    let report = world.machine.restore(&plan, &none()).unwrap();
    let told: Vec<_> =
        report.impossible.iter().map(|it| (it.path.rsplit('/').next().unwrap(), it.why)).collect();
    assert_eq!(
        told,
        [
            ("grown", UnrestorableReason::PresentNotSaved { why: UnsavedReason::TooLarge }),
            ("large", UnrestorableReason::NotKept { why: UnsavedReason::TooLarge }),
            ("node_modules", UnrestorableReason::PresentNotSaved { why: UnsavedReason::Dependencies }),
        ]
    );
    assert_eq!(fs::read_to_string(world.path("small")).unwrap(), "old");
    assert_eq!(fs::read_to_string(world.path("large")).unwrap(), "now small");
    assert!(world.path("node_modules/x/y").exists() && world.path("grown").exists());
}

#[test]
fn nothing_is_written_without_a_task_or_a_record() {
    let home = Home::new();
    let world = home.world();
    let path = world.path("sub/a");
    let refused = world.files(&[]).write(&path, b"1").unwrap_err();
    assert!(matches!(refused, octo_workspace::FilesError::NotRecorded { .. }), "{refused:?}");
    assert!(!world.path("sub").exists());
    let task = world.begin();
    world.files(&[]).write(&path, b"1").unwrap();
    world.machine.end_step(task).unwrap();
    assert!(world.files(&[]).write(&path, b"2").is_err());
    assert_eq!(fs::read(&path).unwrap(), b"1");
    // Folders created for it are removed with it.
    world.switch(0);
    assert!(!world.path("sub").exists());
}

#[test]
fn a_folder_with_other_files_stays() {
    let home = Home::new();
    let world = home.world();
    world.command(|folder| {
        fs::create_dir(folder.join("made")).unwrap();
        fs::write(folder.join("made/by octo"), "1").unwrap();
    });
    fs::write(world.path("made/by me"), "mine").unwrap();
    let plan = world.machine.plan(world.session, 0, RestoreSelection::All).unwrap();
    assert_eq!(plan.preview().changes.len(), 1);
    let report = world.machine.restore(&plan, &none()).unwrap();
    assert_eq!(
        report.impossible.iter().map(|it| it.why).collect::<Vec<_>>(),
        [UnrestorableReason::FolderNotEmpty]
    );
    assert_eq!(fs::read_to_string(world.path("made/by me")).unwrap(), "mine");
    assert!(!world.path("made/by octo").exists());
}

#[test]
fn a_running_command_and_an_open_task_survive_a_restart() {
    let home = Home::new();
    let world = home.world();
    fs::write(world.path("a"), "old").unwrap();
    let turn = octo_protocol::TurnId::new();
    let task = world.machine.begin_step(world.session, turn, &world.folder(), "x").unwrap();
    let _running = world.machine.before_command(task, &world.folder()).unwrap();
    fs::write(world.path("a"), "new").unwrap();
    // The process ends here; another one starts.
    let machine = home.machine();
    assert_eq!(machine.recover(world.session).unwrap(), []);
    assert_eq!(machine.begin_step(world.session, turn, &world.folder(), "x").unwrap(), task, "it goes on");
    machine.end_step(task).unwrap();
    let world = World { machine, ..world };
    world.switch(0);
    assert_eq!(fs::read_to_string(world.path("a")).unwrap(), "old");
}

/// A separate file system; unmounted when dropped.
struct Disk(PathBuf);

impl Disk {
    fn mount(at: &Path, options: &str) -> Option<Self> {
        fs::create_dir_all(at).unwrap();
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", options, "octo-test"]).arg(at).output();
        match mounted {
            Ok(output) if output.status.success() => Some(Self(at.to_owned())),
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
    let all: BTreeSet<PathBuf> = plan.conflicts().map(Path::to_owned).collect();
    let error = world.machine.restore(&plan, &all).unwrap_err();
    assert!(matches!(&error, TimeError::Disk { path, .. } if *path == place), "{error:?}");
    assert_eq!(world.tree(), before);
    let tree = world.machine.tree(world.session).unwrap();
    assert_eq!((tree.active, tree.steps.len()), (1, 2), "an entry for what did not happen does not stay");
    drop(disk);
}

#[test]
fn the_changes_of_a_task_are_listed_by_path() {
    let home = Home::new();
    let world = home.world();
    for (name, content) in [("edited", "a\nb\nc\n"), ("deleted", "x\ny\n"), ("mode", "m"), ("kind", "k")] {
        fs::write(world.path(name), content).unwrap();
    }
    fs::write(world.path("binary"), [0, 1]).unwrap();
    fs::write(world.path("same"), "s").unwrap();
    world.command(|folder| {
        fs::write(folder.join("edited"), "a\nB\nc\nd\n").unwrap();
        fs::remove_file(folder.join("deleted")).unwrap();
        fs::set_permissions(folder.join("mode"), Permissions::from_mode(0o755)).unwrap();
        fs::remove_file(folder.join("kind")).unwrap();
        symlink("mode", folder.join("kind")).unwrap();
        fs::write(folder.join("binary"), [0, 2, 3]).unwrap();
        fs::write(folder.join("created"), "1\n2\n").unwrap();
        fs::write(folder.join("same"), "other").unwrap();
        fs::write(folder.join("same"), "s").unwrap();
    });
    let changes = world.machine.changes(world.session, 1).unwrap();
    let told: Vec<_> = changes
        .paths
        .iter()
        .map(|it| (it.path.rsplit('/').next().unwrap(), it.change, it.added, it.removed))
        .collect();
    assert_eq!(
        told,
        [
            ("binary", StepChange::Edited, None, None),
            ("created", StepChange::Created, Some(2), Some(0)),
            ("deleted", StepChange::Deleted, Some(0), Some(2)),
            ("edited", StepChange::Edited, Some(2), Some(1)),
            ("kind", StepChange::Replaced, None, None),
            ("mode", StepChange::Mode, Some(0), Some(0)),
        ]
    );
    fs::write(world.path("edited"), "a\n").unwrap();
    let compare = |with| world.machine.compare(world.session, 1, &world.path("edited"), with).unwrap();
    let before = compare(ComparisonTarget::Before);
    assert_eq!(before.old, ComparedSide::File { len: 6, mode: 0o644, text: true });
    assert_eq!(before.diff.map(|diff| (diff.added, diff.removed)), Some((2, 1)));
    let present = compare(ComparisonTarget::Present);
    assert_eq!(present.diff.map(|diff| (diff.added, diff.removed)), Some((0, 3)));
    let unknown = world.machine.compare(world.session, 1, &world.path("same2"), ComparisonTarget::Before);
    assert!(matches!(unknown, Err(TimeError::UnknownPath(_))));
    assert!(matches!(world.machine.changes(world.session, 9), Err(TimeError::UnknownTask(9))));
}
