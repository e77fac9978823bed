//! Undo, redo, checkpoints and chosen files over a real disk.

use crate::world::{Home, World, none};
use octo_protocol::{ComparedSide, ComparisonTarget, StepChange, StepKind, StepPosition};
use octo_workspace::{RestoreSelection, TimeError};
use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, symlink},
};

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
    // Both turns at once: turn 2 is undone, and the person decides about what lies before their own change.
    for chosen in [vec![], vec![path.clone()]] {
        let plan = world.machine.plan(world.session, 0, RestoreSelection::All).unwrap();
        assert_eq!(plan.conflicts().collect::<Vec<_>>(), [path.as_path()]);
        let report = world.machine.restore(&plan, &chosen.iter().cloned().collect()).unwrap();
        let (kept, content) = if chosen.is_empty() { (1, "mine") } else { (0, "0") };
        assert_eq!((report.kept.len(), fs::read_to_string(&path).unwrap().as_str()), (kept, content));
        // Back to what was there; at step 0 the person's file now differs from that step's.
        let back = world.machine.plan(world.session, report.safety.unwrap(), RestoreSelection::All).unwrap();
        world.machine.restore(&back, &std::iter::once(path.clone()).collect()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "2");
    }
    // Turn 1 shows only its own changes.
    let changes = world.machine.changes(world.session, 1).unwrap();
    assert_eq!((changes.paths[0].added, changes.paths[0].removed), (Some(1), Some(1)));
    let compared = world.machine.compare(world.session, 1, &path, ComparisonTarget::Before).unwrap();
    let text: String =
        compared.diff.unwrap().hunks[0].lines[1].parts.iter().map(|part| part.text.as_str()).collect();
    assert_eq!(text, "1");
}

#[test]
fn an_undo_of_turns_one_by_one_keeps_what_the_person_changed_in_between() {
    let home = Home::new();
    let world = home.world();
    let path = world.path("a");
    fs::write(&path, "0").unwrap();
    world.write(&path, b"1");
    fs::write(&path, "mine").unwrap();
    world.write(&path, b"2");
    world.switch(1);
    let plan = world.machine.plan(world.session, 0, RestoreSelection::All).unwrap();
    assert_eq!(plan.preview().changes, []);
    let report = world.machine.restore(&plan, &none()).unwrap();
    assert_eq!((report.active, report.kept.len(), report.changed), (0, 1, 0));
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    // And redone as it was, because turn 2 began from it.
    for (turn, content) in [(1, "mine"), (2, "2")] {
        let plan = world.machine.plan(world.session, turn, RestoreSelection::All).unwrap();
        world.machine.restore(&plan, &none()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), content, "at turn {turn}");
    }
}

/// What the person changes while a turn runs, by the moment: between two of its commands, two of its tools, and
/// after the last one.
#[test]
fn an_undo_keeps_what_the_person_changed_while_the_turn_ran() {
    let home = Home::new();
    let world = home.world();
    let paths: Vec<_> = ["command", "tool", "mixed", "late"].map(|name| world.path(name)).into();
    paths.iter().for_each(|path| fs::write(path, "0").unwrap());
    let [command, tool, mixed, late] = &paths[..] else { unreachable!() };
    let step = world.begin();
    let run = |work: &dyn Fn()| {
        let running = world.machine.before_command(step, &world.folder()).unwrap();
        work();
        world.machine.after_command(&running).unwrap();
    };
    let files = world.files(&[]);
    run(&|| {
        fs::write(command, "1").unwrap();
        fs::write(late, "1").unwrap();
    });
    files.write(tool, b"1").unwrap();
    files.write(mixed, b"1").unwrap();
    for path in [command, tool, mixed] {
        fs::write(path, "mine, long before").unwrap();
        fs::write(path, "mine").unwrap();
    }
    run(&|| {
        fs::write(command, "2").unwrap();
        fs::write(mixed, "2").unwrap();
    });
    files.read(tool, 100).unwrap();
    files.write(tool, b"2").unwrap();
    fs::write(late, "mine").unwrap();
    world.machine.end_step(step).unwrap();

    let read = || paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect::<Vec<_>>();
    assert_eq!(read(), ["2", "2", "2", "mine"]);
    let plan = world.machine.plan(world.session, 0, RestoreSelection::All).unwrap();
    assert_eq!(plan.conflicts().count(), 4);
    let report = world.machine.restore(&plan, &none()).unwrap();
    assert_eq!(report.kept.len(), 4);
    assert_eq!(read(), ["mine"; 4]);
    // Chosen, they are all as they were before the turn.
    let plan = world.machine.plan(world.session, report.safety.unwrap(), RestoreSelection::All).unwrap();
    world.machine.restore(&plan, &paths.iter().cloned().collect()).unwrap();
    assert_eq!(read(), ["2", "2", "2", "mine"]);
    let plan = world.machine.plan(world.session, 0, RestoreSelection::All).unwrap();
    world.machine.restore(&plan, &paths.iter().cloned().collect()).unwrap();
    assert_eq!(read(), ["0"; 4]);
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
    let steps: Vec<_> =
        tree.tasks.iter().map(|it| (it.number, it.parent, it.kind, it.status, it.branch)).collect();
    assert_eq!(
        steps,
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
        [tree.tasks[2].turn.unwrap()],
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
    assert_eq!((report.active, tree.active, tree.tasks[3].kind), (3, 3, StepKind::Files));
    assert_eq!(tree.undo, Some(2));
    world.switch(2);
    assert_eq!(read(), ("2".to_owned(), "2".to_owned()));
    world.switch(3);
    assert_eq!(read(), ("1".to_owned(), "2".to_owned()));
}

#[test]
fn a_checkpoint_can_be_restored() {
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
fn nothing_is_written_without_a_task_or_a_record() {
    let home = Home::new();
    let world = home.world();
    let path = world.path("sub/a");
    let error = world.files(&[]).write(&path, b"1").unwrap_err();
    assert!(matches!(error, octo_workspace::FilesError::NotRecorded { .. }), "{error:?}");
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
    let paths: Vec<_> = changes
        .paths
        .iter()
        .map(|it| (it.path.rsplit('/').next().unwrap(), it.change, it.added, it.removed))
        .collect();
    assert_eq!(
        paths,
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
    let compare = |target| world.machine.compare(world.session, 1, &world.path("edited"), target).unwrap();
    let before = compare(ComparisonTarget::Before);
    assert_eq!(before.old, ComparedSide::File { len: 6, mode: 0o644, text: true });
    assert_eq!(before.diff.map(|diff| (diff.added, diff.removed)), Some((2, 1)));
    let present = compare(ComparisonTarget::Present);
    assert_eq!(present.diff.map(|diff| (diff.added, diff.removed)), Some((0, 3)));
    let unknown = world.machine.compare(world.session, 1, &world.path("same2"), ComparisonTarget::Before);
    assert!(matches!(unknown, Err(TimeError::UnknownPath(_))));
    assert!(matches!(world.machine.changes(world.session, 9), Err(TimeError::UnknownTask(9))));
}
