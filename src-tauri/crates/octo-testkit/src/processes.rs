//! Processes and their memory use, as Linux reports them.

use std::{
    collections::{HashMap, HashSet},
    fs,
    path::{Path, PathBuf},
};

/// Memory used by a process, in kB; shared memory counts proportionally (PSS). Unused memory that the system
/// swapped out counts too, because it still belongs to the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessMemory {
    /// Total memory.
    pub all: u64,
    /// The part not backed by a file: heaps and stacks. The rest is the program itself; its share shrinks while
    /// others run the same program and grows when they end.
    pub anonymous: u64,
}

impl ProcessMemory {
    /// Returns a process's memory, or `None` if it has ended.
    pub fn of(process: u32) -> Option<Self> {
        let maps = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).ok()?;
        let part = |kind: &str| -> Option<u64> {
            let value = maps.lines().find_map(|value| value.strip_prefix(kind))?;
            value.trim().trim_end_matches("kB").trim().parse().ok()
        };
        // These lines are missing on systems without swap.
        let optional_part = |kind| part(kind).unwrap_or(0);
        // Anonymous memory is not divided among the processes that share it. A child that is just being started
        // shares all of its parent's until it runs its own program; a divided figure would then be half.
        Some(Self {
            all: part("Pss:")? + optional_part("SwapPss:"),
            anonymous: part("Anonymous:")? + optional_part("Swap:"),
        })
    }

    /// Returns the memory of this process.
    pub fn of_this_process() -> Self {
        Self::of(std::process::id()).expect("this process runs")
    }

    /// Returns the minimum of each figure of two measurements.
    #[must_use]
    pub fn min_with(self, other: Self) -> Self {
        Self { all: self.all.min(other.all), anonymous: self.anonymous.min(other.anonymous) }
    }
}

impl std::ops::AddAssign for ProcessMemory {
    fn add_assign(&mut self, other: Self) {
        self.all += other.all;
        self.anonymous += other.anonymous;
    }
}

/// Returns a field of a process's `stat` line, counted from its state, which is 0. `None` if the process has
/// ended.
pub fn stat(process: u32, field: usize) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    fields_after_name(&stat)?.into_iter().nth(field)
}

/// Returns the fields of a `stat` line from the state on. The name before it is in parentheses and may contain
/// anything.
fn fields_after_name(stat: &str) -> Option<Vec<String>> {
    let (_, fields) = stat.rsplit_once(')')?;
    Some(fields.split_whitespace().map(str::to_owned).collect())
}

/// Returns the file name of a process's program, or `None` if the process has ended.
pub fn program(process: u32) -> Option<String> {
    let program = fs::read_link(format!("/proc/{process}/exe")).ok()?;
    Some(program.file_name()?.to_string_lossy().into_owned())
}

/// Returns the parent process, or `None` if the process has ended.
pub fn parent(process: u32) -> Option<u32> {
    stat(process, 1)?.parse().ok()
}

/// Returns whether the process has ended and was not reaped yet; it then uses nothing but its number.
pub fn is_unreaped(process: u32) -> bool {
    stat(process, 0).is_some_and(|state| state == "Z")
}

/// The work a process, or one of its threads, has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessWork {
    /// CPU time in clock ticks (`USER_HZ`, 100 per second on every Linux).
    pub ticks: u64,
    /// Number of times it waited and was woken.
    pub wakes: u64,
}

impl ProcessWork {
    /// Returns a process's CPU time so far in ticks, ended threads included. `None` if the process has ended.
    pub fn ticks(process: u32) -> Option<u64> {
        let number = |field| stat(process, field)?.parse::<u64>().ok();
        Some(number(11)? + number(12)?)
    }

    /// Returns the name and work of each thread of a process by thread id; empty if the process has ended.
    pub fn by_thread(process: u32) -> HashMap<u32, (String, Self)> {
        let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { return HashMap::new() };
        threads.flatten().filter_map(|thread| Self::of_thread(&thread.path())).collect()
    }

    fn of_thread(folder: &Path) -> Option<(u32, (String, Self))> {
        let id = folder.file_name()?.to_str()?.parse().ok()?;
        let fields = fields_after_name(&fs::read_to_string(folder.join("stat")).ok()?)?;
        let number = |field: usize| fields.get(field)?.parse::<u64>().ok();
        let status = fs::read_to_string(folder.join("status")).ok()?;
        let value_of = |kind| status.lines().find_map(|line| Some(line.strip_prefix(kind)?.trim()));
        let wakes = value_of("voluntary_ctxt_switches:")?.parse().ok()?;
        Some((id, (value_of("Name:")?.to_owned(), Self { ticks: number(11)? + number(12)?, wakes })))
    }

    /// Returns the work done since an earlier measurement.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            ticks: self.ticks.saturating_sub(earlier.ticks),
            wakes: self.wakes.saturating_sub(earlier.wakes),
        }
    }
}

impl std::ops::AddAssign for ProcessWork {
    fn add_assign(&mut self, other: Self) {
        self.ticks += other.ticks;
        self.wakes += other.wakes;
    }
}

/// Returns the process and all its descendants.
pub fn with_descendants(process: u32) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for id in all() {
        if let Some(parent) = parent(id) {
            children.entry(parent).or_default().push(id);
        }
    }
    let mut family = vec![process];
    let mut index = 0;
    while let Some(id) = family.get(index) {
        family.extend(children.get(id).into_iter().flatten().copied().collect::<Vec<u32>>());
        index += 1;
    }
    family
}

/// Returns the processes that run in one of the folders, or mention one in their environment, and are neither
/// `process` (if given) nor its descendants or ancestors.
pub fn stray_processes(folders: &[PathBuf], process: Option<u32>) -> Vec<u32> {
    let mut spared: HashSet<u32> = process.map(with_descendants).unwrap_or_default().into_iter().collect();
    let mut ancestor = process;
    while let Some(id) = ancestor.filter(|id| *id != 0) {
        spared.insert(id);
        ancestor = parent(id);
    }
    let is_inside = |id: &u32| {
        let cwd = fs::read_link(format!("/proc/{id}/cwd"));
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        let environment = String::from_utf8_lossy(&environment);
        let mentioned = |folder: &Path| environment.contains(&folder.display().to_string());
        folders
            .iter()
            .any(|folder| cwd.as_ref().is_ok_and(|cwd| cwd.starts_with(folder)) || mentioned(folder))
    };
    all().into_iter().filter(|id| !spared.contains(id) && !is_unreaped(*id)).filter(is_inside).collect()
}

fn all() -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("the processes").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}
