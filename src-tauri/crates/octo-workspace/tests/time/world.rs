//! A home with a store, a session's folder and a location outside it.

use octo_protocol::{Mode, RestoreReport, SessionId, SessionInfo, Source, StepNumber, TurnId};
use octo_store::{NewSession, Store, ToolsetRow};
use octo_workspace::{Blobs, FileScope, Files, RestoreSelection, StepId, TimeLimits, TimeMachine};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// A store shared by several worlds: opening one takes longer than a sequence of turns.
pub struct Home {
    _keep: Option<TempDir>,
    pub base: PathBuf,
    pub store: Store,
    pub blobs: Blobs,
    pub limits: TimeLimits,
}

impl Home {
    pub fn new() -> Self {
        let folder = octo_testkit::test_folder();
        let mut home = Self::at(&folder.path().canonicalize().unwrap());
        home._keep = Some(folder);
        home
    }

    pub fn at(base: &Path) -> Self {
        let octo = base.join("octo");
        let store = Store::open(&octo).unwrap();
        let blobs = Blobs::new(octo.join("blobs"));
        Self { _keep: None, base: base.to_owned(), store, blobs, limits: TimeLimits::default() }
    }

    pub fn octo(&self) -> PathBuf {
        self.base.join("octo")
    }

    pub fn machine(&self) -> TimeMachine {
        TimeMachine::new(self.store.clone(), self.blobs.clone(), &self.octo(), self.limits)
    }

    /// Creates a separate session with a separate folder.
    pub fn world(&self) -> World {
        let session = SessionId::new();
        let base = self.base.join(session.to_string());
        self.world_at(session, &base)
    }

    pub fn world_at(&self, session: SessionId, base: &Path) -> World {
        for name in ["in", "out"] {
            fs::create_dir_all(base.join(name)).unwrap();
        }
        let info = SessionInfo {
            mode: Mode::Autonomous,
            ..SessionInfo::new(session, base.join("in").to_string_lossy(), Source::Window, 0)
        };
        let toolset = ToolsetRow { hash: "t".to_owned(), version: 1, tools_json: "[]".to_owned() };
        let new = NewSession { info, system: String::new(), toolset };
        self.store.write_blocking(move |tx| tx.create_session(&new)).unwrap();
        World { machine: self.machine(), session, base: base.to_owned() }
    }
}

pub struct World {
    pub machine: TimeMachine,
    pub session: SessionId,
    pub base: PathBuf,
}

/// The kind and content of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    File { mode: u32, content: Vec<u8> },
    Link(PathBuf),
    Folder { mode: u32 },
}

/// Everything below a folder, by path.
pub type Tree = BTreeMap<PathBuf, Node>;

pub fn tree(folder: &Path) -> Tree {
    let mut nodes = Tree::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = fs::symlink_metadata(&path).unwrap();
            let mode = meta.mode() & 0o7777;
            let node = if meta.is_symlink() {
                Node::Link(fs::read_link(&path).unwrap())
            } else if meta.is_dir() {
                pending.push(path.clone());
                Node::Folder { mode }
            } else {
                Node::File { mode, content: fs::read(&path).unwrap() }
            };
            nodes.insert(path, node);
        }
    }
    nodes
}

impl World {
    pub fn folder(&self) -> PathBuf {
        self.base.join("in")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// Returns files with grants for all given paths in `out`.
    pub fn files(&self, outside_paths: &[PathBuf]) -> Files {
        let scope = FileScope { folder: self.folder(), readable: vec![], writable: vec![] };
        let own_paths = [self.path(".env")];
        let granted: Vec<PathBuf> = outside_paths.iter().chain(&own_paths).cloned().collect();
        Files::new(scope).with_grants(&[], &granted).with_recorder(self.machine.recorder(self.session))
    }

    pub fn tree(&self) -> Tree {
        let mut nodes = tree(&self.folder());
        nodes.extend(tree(&self.base.join("out")));
        nodes
    }

    pub fn begin(&self) -> StepId {
        self.machine.begin_step(self.session, TurnId::new(), &self.folder(), "do something").unwrap()
    }

    /// Records one turn that runs a command.
    pub fn command(&self, work: impl FnOnce(&Path)) -> StepNumber {
        let task = self.begin();
        let running = self.machine.before_command(task, &self.folder()).unwrap();
        work(&self.folder());
        self.machine.after_command(&running).unwrap();
        self.machine.end_step(task).unwrap();
        task.number
    }

    /// Records one turn that writes one file with a tool.
    pub fn write(&self, path: &Path, content: &[u8]) -> StepNumber {
        let task = self.begin();
        self.files(&[path.to_owned()]).write(path, content).unwrap();
        self.machine.end_step(task).unwrap();
        task.number
    }

    /// Restores a turn; nothing may be in the way.
    pub fn switch(&self, target: StepNumber) -> RestoreReport {
        let plan = self.machine.plan(self.session, target, RestoreSelection::All).unwrap();
        let preview = plan.preview();
        assert_eq!((preview.conflicts, preview.impossible), (vec![], vec![]), "to {target}");
        self.machine.restore(&plan, &BTreeSet::new()).unwrap()
    }
}

/// The paths that a restore overwrites although they changed: none.
pub fn none() -> BTreeSet<PathBuf> {
    BTreeSet::new()
}

/// Returns the prepared files a restore left behind; there should be none.
pub fn leftovers(tree: &Tree) -> Vec<&PathBuf> {
    let is_ours = |path: &&PathBuf| {
        path.file_name()
            .is_some_and(|name| name.as_bytes().starts_with(b".octo-") && name.as_bytes().ends_with(b".tmp"))
    };
    tree.keys().filter(is_ours).collect()
}

/// Returns the number of cases in a campaign: a tenth, or all in a soak. `OCTO_CAMPAIGN` may be `full` or a
/// number.
pub fn cases(full_count: usize) -> usize {
    match std::env::var("OCTO_CAMPAIGN").as_deref() {
        Ok("full") => full_count,
        Ok(number) if !number.is_empty() => number.parse().expect("OCTO_CAMPAIGN is `full` or a number"),
        _ if std::env::var_os("OCTO_SOAK").is_some() => full_count,
        _ => full_count / 10,
    }
}
