//! The resources a program and its home use over a long run: after a warm-up only stored data may grow, and
//! only in proportion to the work done.

use crate::processes::{self, ProcessMemory};
use std::{collections::BTreeMap, fmt, fs, path::Path};

/// One measurement of a process, all its descendants, and its home.
#[derive(Clone, Debug)]
pub struct ResourceMeasure {
    /// Number and memory of the processes, by program name.
    pub programs: BTreeMap<String, (u64, ProcessMemory)>,
    /// Open file descriptors of the first process.
    pub descriptors: u64,
    /// Threads of the first process.
    pub threads: u64,
    /// Size of the database with its log, in bytes.
    pub database: u64,
    /// Number of files in the home, by folder.
    pub files: BTreeMap<String, u64>,
}

impl fmt::Display for ResourceMeasure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (program, (count, memory)) in &self.programs {
            let (total, anonymous) = (memory.all as f64 / 1e3, memory.anonymous as f64 / 1e3);
            write!(f, "{count} {program} {total:.1} MB ({anonymous:.1} MB its own), ")?;
        }
        let Self { descriptors, threads, database, files, .. } = self;
        let database = *database as f64 / 1e6;
        write!(
            f,
            "{descriptors} descriptors, {threads} threads, {database:.2} MB of database, files {files:?}"
        )
    }
}

impl ResourceMeasure {
    /// Takes a measurement.
    pub fn sample(process: u32, home: &Path) -> Self {
        let mut programs: BTreeMap<String, (u64, ProcessMemory)> = BTreeMap::new();
        for id in processes::with_descendants(process) {
            let name =
                if processes::is_unreaped(id) { Some(UNREAPED.to_owned()) } else { processes::program(id) };
            // A process that has just ended uses nothing.
            let Some(name) = name else { continue };
            let (count, memory) = programs.entry(name).or_default();
            *count += 1;
            *memory += ProcessMemory::of(id).unwrap_or_default();
        }
        let count =
            |folder: &str| fs::read_dir(format!("/proc/{process}/{folder}")).map_or(0, Iterator::count);
        let size = |name: &str| fs::metadata(home.join(name)).map_or(0, |data| data.len());
        Self {
            programs,
            descriptors: count("fd") as u64,
            threads: count("task") as u64,
            database: size("octo.db") + size("octo.db-wal"),
            files: files(home),
        }
    }

    /// Returns the minimum of each figure of several measurements, which leaves out whatever exists only
    /// temporarily.
    pub fn minimum(measures: impl IntoIterator<Item = Self>) -> Self {
        measures.into_iter().reduce(Self::min_with).expect("a look")
    }

    fn min_with(self, other: Self) -> Self {
        let both = |(name, (count, memory)): (String, (u64, ProcessMemory))| {
            let (other_count, other_memory) = other.programs.get(&name)?;
            Some((name, (count.min(*other_count), memory.min_with(*other_memory))))
        };
        Self {
            programs: self.programs.into_iter().filter_map(both).collect(),
            descriptors: self.descriptors.min(other.descriptors),
            threads: self.threads.min(other.threads),
            ..other
        }
    }

    /// Returns the number of processes.
    pub fn processes(&self) -> u64 {
        self.programs.values().map(|(count, _)| count).sum()
    }
}

/// Program name given to processes that have ended and were not reaped.
const UNREAPED: &str = "(ended)";

/// Returns the number of files below each folder of the home.
fn files(home: &Path) -> BTreeMap<String, u64> {
    fn below(folder: &Path) -> u64 {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| if entry.path().is_dir() { below(&entry.path()) } else { 1 }).sum()
    }
    let entries = fs::read_dir(home).into_iter().flatten().flatten().filter(|entry| entry.path().is_dir());
    entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), below(&entry.path()))).collect()
}

/// The measurements taken after each wave of work.
#[derive(Debug)]
pub struct GrowthCheck {
    turns: usize,
    rows: Vec<ResourceMeasure>,
}

impl GrowthCheck {
    /// Creates an empty series for waves of `turns` turns.
    pub fn new(turns: usize) -> Self {
        Self { turns, rows: Vec::new() }
    }

    /// Adds the measurement taken after a wave.
    pub fn add(&mut self, measure: ResourceMeasure) {
        self.rows.push(measure);
    }

    /// Checks that after the warm-up (in waves) only the database grows, and that evenly. Returns its growth
    /// per turn in bytes, wave by wave. Each program's own memory may grow by its entry in `slack`, in kB.
    pub fn check(&self, warm_up: usize, slack: &[(&str, u64)]) -> Vec<u64> {
        let warm = &self.rows[warm_up - 1..];
        let (first, last) = (&warm[0], &warm[warm.len() - 1]);
        let assert_flat = |quantity: &str, value: &dyn Fn(&ResourceMeasure) -> u64, slack: u64| {
            let values: Vec<u64> = warm.iter().map(value).collect();
            assert!(value(last) <= value(first) + slack, "{quantity} grows: {values:?}");
        };
        assert_flat("the number of processes", &ResourceMeasure::processes, 0);
        assert!(last.programs.keys().eq(first.programs.keys()), "other programs run: {last}");
        assert!(!last.programs.contains_key(UNREAPED), "some ended and were not asked for their end: {last}");
        assert_flat("open descriptors", &|row| row.descriptors, DESCRIPTOR_SLACK);
        assert_flat("threads", &|row| row.threads, THREAD_SLACK);
        for program in last.programs.keys() {
            let slack = slack.iter().find_map(|(name, slack)| (name == program).then_some(*slack));
            let slack = slack.unwrap_or(DEFAULT_SLACK);
            let value =
                |row: &ResourceMeasure| row.programs.get(program).map_or(0, |(_, memory)| memory.anonymous);
            assert_flat(&format!("the memory of {program}"), &value, slack);
        }
        let growth: Vec<u64> =
            warm.windows(2).map(|pair| (pair[1].database - pair[0].database) / self.turns as u64).collect();
        let (least, largest) = (growth.iter().min().expect("a wave"), growth.iter().max().expect("a wave"));
        assert!(*largest <= least * 3 / 2, "the database grows by more and more: {growth:?}");
        growth
    }
}

/// Allowed memory growth of a program without an entry, in kB: the shell that watches commands, whose name
/// depends on the system.
const DEFAULT_SLACK: u64 = 200;
/// Connections of the store and the model server that happen to be open.
const DESCRIPTOR_SLACK: u64 = 4;
/// Threads for blocking work that have not ended yet.
const THREAD_SLACK: u64 = 4;

/// Checks that the database wastes no space: a fresh copy at the given path is hardly smaller. Returns its size
/// and the copy's size in bytes.
pub fn check_database(home: &Path, copy: &Path) -> (u64, u64) {
    let path = home.join("octo.db");
    let size = |path: &Path| fs::metadata(path).expect("the database").len();
    let connection = rusqlite::Connection::open(&path).expect("the database opens");
    connection.execute("VACUUM INTO ?1", [copy.to_str().expect("a path")]).expect("it is made anew");
    let (current_size, least) = (size(&path), size(copy));
    assert!(current_size <= least * 5 / 4, "room that is not used: {current_size} bytes, {least} made anew");
    (current_size, least)
}
