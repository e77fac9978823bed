//! Random trees of turns against a model that keeps a full copy of everything: every restore is exact to the
//! byte. Seeded; a tenth of the full number unless it is a soak.

use crate::world::{Home, Tree, World, cases, leftovers, none};
use octo_protocol::{StepKind, StepNumber};
use octo_workspace::{RestoreSelection, StepId};
use proptest::{
    prelude::*,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use std::{
    collections::{BTreeMap, BTreeSet},
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
    /// The person works between turns: writes these files, with content that nothing else writes.
    Person(Vec<usize>),
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

/// Returns sequences of 2 to 8 steps, in which a person takes part with this weight.
fn steps(person: u32) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        5 => proptest::collection::vec(work(), 0..4).prop_map(Step::Task),
        2 => Just(Step::Undo),
        1 => Just(Step::Redo),
        2 => any::<usize>().prop_map(Step::Switch),
        person => proptest::collection::vec(0..NAMES.len(), 1..4).prop_map(Step::Person),
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
            Step::Person(_) => unreachable!("the exact model is of turns alone"),
        }
    }
    if model.copies.len() > 1 {
        // All the way back, from any state.
        model.switch(&world, 0);
    }
    fs::remove_dir_all(&world.base).unwrap();
    (model.switches, model.files)
}

/// The content a person wrote, and the part of it that the disk still has.
#[derive(Default)]
struct PersonModel {
    written: BTreeMap<PathBuf, BTreeSet<Vec<u8>>>,
    /// The part of it that the disk has now.
    present: BTreeMap<PathBuf, Vec<u8>>,
    /// The part of it that the disk had when each step began: redoing the step replaces this, and nothing newer.
    begun_from: BTreeMap<StepNumber, BTreeMap<PathBuf, Vec<u8>>>,
    count: usize,
    /// How often a restore met it.
    met: usize,
}

impl PersonModel {
    fn write(&mut self, folder: &Path, names: &[usize]) {
        for name in names {
            let path = folder.join(OsStr::from_bytes(NAMES[*name]));
            self.count += 1;
            let content = format!("by hand {}\n", self.count).into_bytes();
            // Not through a link, and not where a folder is: their content is another path's, or none.
            let is_taken = fs::symlink_metadata(&path).is_ok_and(|meta| !meta.is_file());
            let is_direct = path.parent().is_some_and(|parent| {
                parent
                    .ancestors()
                    .take_while(|above| *above != folder)
                    .all(|above| fs::symlink_metadata(above).map_or(true, |meta| meta.is_dir()))
            });
            if is_taken || !is_direct || fs::create_dir_all(path.parent().unwrap()).is_err() {
                continue;
            }
            // As editors do, so that no other name of the file changes with it.
            let fresh = path.with_extension("fresh");
            if fs::write(&fresh, &content).is_ok() && fs::rename(&fresh, &path).is_ok() {
                self.written.entry(path).or_default().insert(content);
            }
        }
        self.look();
    }

    /// Notes which of the person's content the disk has now.
    fn look(&mut self) {
        self.present.clear();
        for (path, contents) in &self.written {
            let is_file = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file());
            if let Some(content) = fs::read(path).ok().filter(|content| is_file && contents.contains(content))
            {
                self.present.insert(path.clone(), content);
            }
        }
    }

    /// Restores a step with nothing chosen: none of the person's content may go.
    fn restore(&mut self, world: &World, to: StepNumber) {
        self.look();
        let before = self.present.clone();
        let redone = redone(world, to);
        let plan = world.machine.plan(world.session, to, RestoreSelection::All).unwrap();
        world.machine.restore(&plan, &none()).unwrap();
        self.look();
        self.met += before.len();
        for (path, content) in before {
            let is_base =
                |step| self.begun_from.get(step).is_some_and(|had| had.get(&path) == Some(&content));
            if redone.iter().any(is_base) {
                continue;
            }
            assert_eq!(self.present.get(&path), Some(&content), "{} at step {to}", path.display());
        }
    }
}

/// Returns the steps that a restore enters.
fn redone(world: &World, to: StepNumber) -> Vec<StepNumber> {
    let tree = world.machine.tree(world.session).unwrap();
    let chain = |from: StepNumber| {
        let parent = |number: &StepNumber| tree.tasks.iter().find(|step| step.number == *number)?.parent;
        std::iter::successors(Some(from), parent).collect::<Vec<_>>()
    };
    let leaving = chain(tree.active);
    chain(to).into_iter().take_while(|number| !leaving.contains(number)).collect()
}

fn sequence_with_person(home: &Home, steps: &[Step]) -> usize {
    let world = home.world();
    run(&world.folder(), &[ShellStep::Create(0, b"mine\n".to_vec()), ShellStep::Create(3, vec![0, 255, 1])]);
    let mut model = PersonModel::default();
    for step in steps {
        match step {
            Step::Task(all) => {
                let task = world.begin();
                model.look();
                model.begun_from.insert(task.number, model.present.clone());
                all.iter().for_each(|work| work_on(&world, task, work));
                world.machine.end_step(task).unwrap();
            }
            Step::Undo => {
                if let Ok(to) = world.machine.undo_target(world.session) {
                    model.restore(&world, to);
                }
            }
            Step::Redo => {
                if let Ok(to) = world.machine.redo_target(world.session) {
                    model.restore(&world, to);
                }
            }
            Step::Switch(number) => {
                let steps = world.machine.tree(world.session).unwrap().tasks;
                // A safety entry is the person's own way back, to exactly what was there.
                let known: Vec<StepNumber> = steps
                    .iter()
                    .filter(|step| step.kind != StepKind::Safety)
                    .map(|step| step.number)
                    .collect();
                if known.len() > 1 {
                    model.restore(&world, known[number % known.len()]);
                }
            }
            Step::Person(names) => model.write(&world.folder(), names),
        }
    }
    if world.machine.tree(world.session).unwrap().tasks.len() > 1 {
        model.restore(&world, 0);
    }
    fs::remove_dir_all(&world.base).unwrap();
    model.met
}

#[test]
fn no_restore_takes_what_a_person_wrote_between_turns() {
    let cases = cases(FULL);
    let home = Home::new();
    let config =
        Config { cases: u32::try_from(cases).unwrap(), failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[11; 32]);
    let met = std::cell::Cell::new(0);
    TestRunner::new_with_rng(config, rng)
        .run(&steps(4), |steps| {
            met.set(met.get() + sequence_with_person(&home, &steps));
            Ok(())
        })
        .unwrap();
    eprintln!("{cases} sequences, {} files of the person met by restores", met.get());
    assert!(met.get() > cases, "{} files", met.get());
    home.store.close();
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
        .run(&steps(0), |steps| {
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
