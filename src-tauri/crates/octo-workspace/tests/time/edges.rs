//! Obstacles to a restore: other people's changes, links and damage.

use crate::world::{Home, none};
use octo_protocol::{ApiError, ConflictSource, FileImage, UnrestorableReason, UnsavedReason};
use octo_store::{RecordedState, StateMoment, StateSource};
use octo_workspace::{BlobError, RecordOutcome, RestoreSelection, TimeError, TimeLimits};
use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

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
    let chosen: BTreeSet<PathBuf> = plan.conflicts().map(Path::to_owned).collect();
    let report = world.machine.restore(&plan, &chosen).unwrap();
    let reasons: Vec<_> = report.impossible.iter().map(|it| it.why).collect();
    assert_eq!(reasons, [UnrestorableReason::ParentNotFolder; 2]);
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
    let row = |moment, image| RecordedState {
        path: bytes.clone(),
        number: 1,
        side: moment,
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
    let reasons: Vec<_> =
        report.impossible.iter().map(|it| (it.path.rsplit('/').next().unwrap(), it.why)).collect();
    assert_eq!(
        reasons,
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
