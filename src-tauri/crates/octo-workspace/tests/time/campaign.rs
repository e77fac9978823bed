//! Random trees of turns against a model that keeps a full copy of everything: every restore is exact to the
//! byte. Seeded; a tenth of the full number unless it is a soak.

use crate::world::{Home, Tree, World, cases, leftovers};
use octo_protocol::StepNumber;
use octo_workspace::StepId;
use proptest::{
    prelude::*,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::{self, Permissions},
    io::{Seek, Write},
    os::unix::{
        ffi::OsStrExt,
        fs::{PermissionsExt, symlink},
    },
    path::{Path, PathBuf},
};

const FULL: usize = 5_000;

/// Few names, so that they collide often: nested, hidden, not ASCII, not even text.
const NAMES: [&[u8]; 12] = [
    b"a.txt",
    b".env",
    b"d",
    b"d/x.bin",
    b"d/y",
    b"d/e",
    b"d/e/z",
    b"d/e/f/deep",
    "\u{fc}n\u{ef} \u{4e2d}".as_bytes(),
    b"not\xfftext",
    b"l",
    b"target",
];
const OUTSIDE: [&str; 3] = ["o", "sub/p", "sub/sub/q"];
const TARGETS: [&str; 5] = ["a.txt", "d", "d/x.bin", "nowhere", "../in/d/e"];

#[derive(Clone, Debug)]
enum ShellStep {
    Create(usize, Vec<u8>),
    /// The same number of other bytes, in place: only the times reveal it.
    Flip(usize),
    Append(usize, Vec<u8>),
    Delete(usize),
    Rename(usize, usize),
    Mode(usize, usize),
    Link(usize, usize),
    Folder(usize),
    Hard(usize, usize),
}

#[derive(Clone, Debug)]
enum TurnWork {
    Write(usize, Vec<u8>),
    WriteOutside(usize, Vec<u8>),
    Command(Vec<ShellStep>),
    /// A command that still runs during the next steps.
    Background(Vec<ShellStep>, Vec<ShellStep>),
}

#[derive(Clone, Debug)]
enum Step {
    Task(Vec<TurnWork>),
    Undo,
    Redo,
    Switch(usize),
}

fn content() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        3 => "[a-c\n]{0,12}".prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 0..40),
        1 => (any::<u8>(), 1_000usize..200_000).prop_map(|(byte, len)| vec![byte; len]),
    ]
}

fn shell() -> impl Strategy<Value = ShellStep> {
    let name = 0..NAMES.len();
    prop_oneof![
        4 => (name.clone(), content()).prop_map(|(name, content)| ShellStep::Create(name, content)),
        3 => name.clone().prop_map(ShellStep::Flip),
        1 => (name.clone(), content()).prop_map(|(name, content)| ShellStep::Append(name, content)),
        3 => name.clone().prop_map(ShellStep::Delete),
        3 => (name.clone(), name.clone()).prop_map(|(source, to)| ShellStep::Rename(source, to)),
        2 => (name.clone(), 0usize..4).prop_map(|(name, mode)| ShellStep::Mode(name, mode)),
        2 => (name.clone(), 0..TARGETS.len()).prop_map(|(name, target)| ShellStep::Link(name, target)),
        1 => name.clone().prop_map(ShellStep::Folder),
        1 => (name.clone(), name).prop_map(|(source, to)| ShellStep::Hard(source, to)),
    ]
}

fn work() -> impl Strategy<Value = TurnWork> {
    let commands = || proptest::collection::vec(shell(), 1..5);
    prop_oneof![
        3 => (0..NAMES.len(), content()).prop_map(|(name, content)| TurnWork::Write(name, content)),
        1 => (0..OUTSIDE.len(), content()).prop_map(|(name, content)| TurnWork::WriteOutside(name, content)),
        5 => commands().prop_map(TurnWork::Command),
        1 => (commands(), commands()).prop_map(|(first_commands, second)| TurnWork::Background(first_commands, second)),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        5 => proptest::collection::vec(work(), 0..4).prop_map(Step::Task),
        2 => Just(Step::Undo),
        1 => Just(Step::Redo),
        2 => any::<usize>().prop_map(Step::Switch),
    ];
    proptest::collection::vec(step, 2..9)
}

/// Runs the commands if the disk allows it: failed ones change nothing the model would not see.
fn run(folder: &Path, commands: &[ShellStep]) {
    let path_of = |name: usize| folder.join(OsStr::from_bytes(NAMES[name]));
    let with_parents = |path: &Path| {
        let _ = fs::create_dir_all(path.parent().unwrap());
    };
    let is_missing = |path: &Path| match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => {}
    };
    for command in commands {
        match command {
            ShellStep::Create(name, content) => {
                with_parents(&path_of(*name));
                let _ = fs::write(path_of(*name), content);
            }
            ShellStep::Flip(name) => {
                if let Ok(mut file) = fs::File::options().read(true).write(true).open(path_of(*name)) {
                    let content: Vec<u8> =
                        fs::read(path_of(*name)).unwrap().iter().map(|byte| !byte).collect();
                    file.rewind().unwrap();
                    file.write_all(&content).unwrap();
                }
            }
            ShellStep::Append(name, content) => {
                if let Ok(mut file) = fs::File::options().append(true).open(path_of(*name)) {
                    file.write_all(content).unwrap();
                }
            }
            ShellStep::Delete(name) => is_missing(&path_of(*name)),
            ShellStep::Rename(source, to) => {
                with_parents(&path_of(*to));
                let _ = fs::rename(path_of(*source), path_of(*to));
            }
            ShellStep::Mode(name, mode) => {
                if let Ok(meta) = fs::symlink_metadata(path_of(*name)) {
                    let modes = if meta.is_dir() {
                        [0o755, 0o700, 0o750, 0o775]
                    } else {
                        [0o644, 0o600, 0o755, 0o444]
                    };
                    if !meta.is_symlink() {
                        fs::set_permissions(path_of(*name), Permissions::from_mode(modes[*mode])).unwrap();
                    }
                }
            }
            ShellStep::Link(name, target) => {
                is_missing(&path_of(*name));
                with_parents(&path_of(*name));
                let _ = symlink(TARGETS[*target], path_of(*name));
            }
            ShellStep::Folder(name) => {
                let _ = fs::create_dir_all(path_of(*name));
            }
            ShellStep::Hard(source, to) => {
                with_parents(&path_of(*to));
                let _ = fs::hard_link(path_of(*source), path_of(*to));
            }
        }
    }
}

fn work_on(world: &World, task: StepId, work: &TurnWork) {
    let folder = world.folder();
    match work {
        // Changes the tool refuses (a folder in its place, a link that leads outside) do not happen.
        TurnWork::Write(name, content) => {
            let path = folder.join(OsStr::from_bytes(NAMES[*name]));
            let _ = world.files(&[]).write(&path, content);
        }
        TurnWork::WriteOutside(name, content) => {
            let path = world.base.join("out").join(OUTSIDE[*name]);
            world.files(std::slice::from_ref(&path)).write(&path, content).unwrap();
        }
        TurnWork::Command(commands) => {
            let running = world.machine.before_command(task, &folder).unwrap();
            run(&folder, commands);
            world.machine.after_command(&running).unwrap();
        }
        TurnWork::Background(first_commands, second) => {
            let background = world.machine.before_command(task, &folder).unwrap();
            run(&folder, first_commands);
            let running = world.machine.before_command(task, &folder).unwrap();
            run(&folder, second);
            world.machine.after_command(&running).unwrap();
            run(&folder, first_commands);
            world.machine.after_command(&background).unwrap();
        }
    }
}

/// State of the disk at the end of every turn.
#[derive(Default)]
struct TreeModel {
    copies: BTreeMap<StepNumber, Tree>,
    switches: usize,
    files: usize,
}

impl TreeModel {
    fn switch(&mut self, world: &World, target: StepNumber) {
        let before = world.tree();
        let report = world.switch(target);
        assert_eq!(report.active, target);
        if let Some(safety) = report.safety {
            self.copies.insert(safety, before);
        }
        let current = world.tree();
        assert_eq!(leftovers(&current), Vec::<&PathBuf>::new());
        assert_eq!(current, self.copies[&target], "at task {target}");
        self.switches += 1;
        self.files += report.changed as usize;
    }
}

fn sequence(home: &Home, steps: &[Step]) -> (usize, usize) {
    let world = home.world();
    // The files before the first turn.
    run(
        &world.folder(),
        &[
            ShellStep::Create(0, b"mine\n".to_vec()),
            ShellStep::Create(3, vec![0, 255, 1]),
            ShellStep::Link(10, 0),
            ShellStep::Create(1, b"SECRET=1\n".to_vec()),
        ],
    );
    let mut model = TreeModel::default();
    model.copies.insert(0, world.tree());
    for step in steps {
        match step {
            Step::Task(commands) => {
                let task = world.begin();
                commands.iter().for_each(|work| work_on(&world, task, work));
                world.machine.end_step(task).unwrap();
                model.copies.insert(task.number, world.tree());
            }
            Step::Undo => {
                if let Ok(target) = world.machine.undo_target(world.session) {
                    model.switch(&world, target);
                }
            }
            Step::Redo => {
                if let Ok(target) = world.machine.redo_target(world.session) {
                    model.switch(&world, target);
                }
            }
            Step::Switch(number) => {
                let numbers: Vec<StepNumber> = model.copies.keys().copied().collect();
                if numbers.len() > 1 {
                    model.switch(&world, numbers[number % numbers.len()]);
                }
            }
        }
    }
    if model.copies.len() > 1 {
        // All the way back, from any state.
        model.switch(&world, 0);
    }
    fs::remove_dir_all(&world.base).unwrap();
    (model.switches, model.files)
}

#[test]
fn every_switch_is_exact_to_the_byte() {
    let cases = cases(FULL);
    // Half of them check only reported changes, half check everything.
    let (watched, mut unwatched) = (Home::new(), Home::new());
    unwatched.limits.max_watched = 0;
    let config =
        Config { cases: u32::try_from(cases).unwrap(), failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let (mut switches, mut files, mut run) = (0, 0, 0_usize);
    let counted = std::cell::RefCell::new((&mut switches, &mut files, &mut run));
    TestRunner::new_with_rng(config, rng)
        .run(&steps(), |steps| {
            let mut counted = counted.borrow_mut();
            let home = if *counted.2 % 2 == 0 { &watched } else { &unwatched };
            *counted.2 += 1;
            let (more, changed) = sequence(home, &steps);
            *counted.0 += more;
            *counted.1 += changed;
            Ok(())
        })
        .unwrap();
    eprintln!("{cases} sequences, {switches} switches, {files} paths changed by them");
    assert!(switches > cases && files > cases, "{switches} switches, {files} paths");
    watched.store.close();
    unwatched.store.close();
}
