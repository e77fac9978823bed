//! What a process and its home take.

use octo_testkit::TempHome;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt, fs,
    path::Path,
};

/// One look at a process, all its descendants, and its home.
#[derive(Clone, Debug)]
pub struct Measure {
    /// Proportional memory (PSS: what is shared counts in parts) of all processes, in kB.
    pub memory: u64,
    /// The part of it that is no file's: heaps and stacks. The rest is the program itself, of which less counts
    /// while others run the same program, and more when they end.
    pub own: u64,
    /// Open file descriptors and threads of the process itself.
    pub descriptors: u64,
    pub threads: u64,
    /// All processes.
    pub processes: u64,
    /// The database with its log, in bytes.
    pub database: u64,
    /// Files in the home, by its folders.
    pub files: BTreeMap<String, u64>,
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { memory, own, descriptors, threads, processes, database, files } = self;
        write!(
            f,
            "{:.1} MB ({:.1} MB its own), {descriptors} descriptors, {threads} threads, {processes} processes, {:.2} MB of database, files {files:?}",
            *memory as f64 / 1e3,
            *own as f64 / 1e3,
            *database as f64 / 1e6,
        )
    }
}

impl Measure {
    pub fn of(process: u32, home: &TempHome) -> Self {
        let family = family(process);
        let count =
            |folder: &str| fs::read_dir(format!("/proc/{process}/{folder}")).map_or(0, Iterator::count);
        let size = |name: &str| fs::metadata(home.octo().join(name)).map_or(0, |data| data.len());
        Self {
            memory: family.iter().filter_map(|id| pss(*id, "Pss:")).sum(),
            own: family.iter().filter_map(|id| pss(*id, "Pss_Anon:")).sum(),
            descriptors: count("fd") as u64,
            threads: count("task") as u64,
            processes: family.len() as u64,
            database: size("octo.db") + size("octo.db-wal"),
            files: files(&home.octo()),
        }
    }

    /// The least of two looks, figure by figure.
    pub fn least(self, other: Self) -> Self {
        Self {
            memory: self.memory.min(other.memory),
            own: self.own.min(other.own),
            descriptors: self.descriptors.min(other.descriptors),
            threads: self.threads.min(other.threads),
            processes: self.processes.min(other.processes),
            ..other
        }
    }
}

/// The process and all its descendants.
fn family(process: u32) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for id in all() {
        if let Some(parent) = parent(id) {
            children.entry(parent).or_default().push(id);
        }
    }
    let mut family = vec![process];
    let mut next = 0;
    while let Some(id) = family.get(next) {
        family.extend(children.get(id).into_iter().flatten().copied().collect::<Vec<u32>>());
        next += 1;
    }
    family
}

fn all() -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("the processes").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn parent(process: u32) -> Option<u32> {
    let line = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name before it is in brackets and may hold anything.
    let (_, fields) = line.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    // One that only waits to be reaped takes nothing.
    if fields.next()? == "Z" {
        return None;
    }
    fields.next()?.parse().ok()
}

fn pss(process: u32, kind: &str) -> Option<u64> {
    let maps = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).ok()?;
    let line = maps.lines().find_map(|line| line.strip_prefix(kind))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

/// Processes that work in the home and descend from no process of ours: `process` and what it began.
pub fn strays(home: &TempHome, process: u32) -> Vec<u32> {
    let root = home.work().parent().expect("a folder above").to_owned();
    let family: HashSet<u32> =
        if process == 0 { HashSet::new() } else { family(process).into_iter().collect() };
    let inside = |id: &u32| {
        fs::read_link(format!("/proc/{id}/cwd")).is_ok_and(|cwd| cwd.starts_with(&root))
            || fs::read(format!("/proc/{id}/environ")).is_ok_and(|all| mentions(&all, &root))
    };
    all().into_iter().filter(|id| !family.contains(id) && parent(*id).is_some()).filter(inside).collect()
}

fn mentions(environment: &[u8], folder: &Path) -> bool {
    String::from_utf8_lossy(environment).contains(&folder.display().to_string())
}

/// How many files each folder of the home holds, all below it counted.
fn files(home: &Path) -> BTreeMap<String, u64> {
    fn below(folder: &Path) -> u64 {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| if entry.path().is_dir() { below(&entry.path()) } else { 1 }).sum()
    }
    let entries = fs::read_dir(home).into_iter().flatten().flatten().filter(|entry| entry.path().is_dir());
    entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), below(&entry.path()))).collect()
}

/// What was measured after each wave of work.
pub struct Table {
    turns: usize,
    rows: Vec<Measure>,
}

impl Table {
    /// Waves of so many turns.
    pub fn new(turns: usize) -> Self {
        Self { turns, rows: Vec::new() }
    }

    pub fn add(&mut self, measure: Measure) {
        self.rows.push(measure);
    }

    /// From the end of the warm-up on nothing grows but the database, and that evenly: by how many bytes a turn, wave by
    /// wave.
    pub fn check(&self, warm_up: usize) -> Vec<u64> {
        let warm = &self.rows[warm_up - 1..];
        let (first, last) = (&warm[0], &warm[warm.len() - 1]);
        let flat = |what: &str, of: fn(&Measure) -> u64, slack: u64| {
            let all: Vec<u64> = warm.iter().map(of).collect();
            assert!(of(last) <= of(first) + slack, "{what} grows: {all:?}");
        };
        flat("the number of processes", |row| row.processes, 0);
        flat("open descriptors", |row| row.descriptors, DESCRIPTORS);
        flat("threads", |row| row.threads, THREADS);
        flat("memory", |row| row.own, MEMORY);
        let grown: Vec<u64> =
            warm.windows(2).map(|pair| (pair[1].database - pair[0].database) / self.turns as u64).collect();
        let (least, most) = (grown.iter().min().expect("a wave"), grown.iter().max().expect("a wave"));
        assert!(*most <= least * 3 / 2, "the database grows by more and more: {grown:?}");
        grown
    }
}

/// Connections of the store and of the model server that happen to be open.
const DESCRIPTORS: u64 = 4;
/// Threads for blocking work that have not ended yet.
const THREADS: u64 = 4;
/// What the allocator keeps of what was given back, and caches of the database that fill up, in kB. What a session
/// holds, times the sessions of a wave, is more over all waves.
const MEMORY: u64 = 8_000;

/// The database holds no more than what is in it: made anew it is hardly smaller. Its bytes, and those made anew.
pub fn check_database(home: &TempHome) -> (u64, u64) {
    let path = home.octo().join("octo.db");
    let size = |path: &Path| fs::metadata(path).expect("the database").len();
    let anew = home.home().join("anew.db");
    let connection = rusqlite::Connection::open(&path).expect("the database opens");
    connection.execute("VACUUM INTO ?1", [anew.to_str().expect("a path")]).expect("it is made anew");
    let (now, least) = (size(&path), size(&anew));
    assert!(now <= least * 5 / 4, "room that is not used: {now} bytes, {least} made anew");
    (now, least)
}
