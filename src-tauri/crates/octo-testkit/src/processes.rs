//! What processes are there and what they take of the memory, as Linux tells it.

use std::{
    collections::{HashMap, HashSet},
    fs,
    path::{Path, PathBuf},
};

/// What a process takes of the memory, in kB; what it shares with others counts in parts (PSS). What the system moved out
/// of the memory for now, because nobody used it, counts too: it is the process's all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// All of it.
    pub all: u64,
    /// The part of it that is no file's: heaps and stacks. The rest is the program itself, of which less counts while
    /// others run the same program, and more when they end.
    pub own: u64,
}

impl Memory {
    /// What a process takes; none if it has ended.
    pub fn of(process: u32) -> Option<Self> {
        let maps = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).ok()?;
        let part = |kind: &str| -> Option<u64> {
            let line = maps.lines().find_map(|line| line.strip_prefix(kind))?;
            line.trim().trim_end_matches("kB").trim().parse().ok()
        };
        // There are no such lines where the system cannot move anything out.
        let away = |kind| part(kind).unwrap_or(0);
        // Not shared out: a child that is just being started has all of it too until it runs its own program, and a
        // look at that moment would find half.
        Some(Self { all: part("Pss:")? + away("SwapPss:"), own: part("Anonymous:")? + away("Swap:") })
    }

    /// The memory of this process.
    pub fn own() -> Self {
        Self::of(std::process::id()).expect("this process runs")
    }

    /// Of two looks the least, figure by figure.
    #[must_use]
    pub fn least(self, other: Self) -> Self {
        Self { all: self.all.min(other.all), own: self.own.min(other.own) }
    }
}

impl std::ops::AddAssign for Memory {
    fn add_assign(&mut self, other: Self) {
        self.all += other.all;
        self.own += other.own;
    }
}

/// A field of what the system says of a process, counted from its state, which is 0; none if it has ended.
pub fn stat(process: u32, field: usize) -> Option<String> {
    let line = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    after_name(&line)?.into_iter().nth(field)
}

/// The fields of such a line from its state on: the name before it is in brackets and may hold anything.
fn after_name(line: &str) -> Option<Vec<String>> {
    let (_, fields) = line.rsplit_once(')')?;
    Some(fields.split_whitespace().map(str::to_owned).collect())
}

/// The file name of the program a process runs; none if it has ended.
pub fn program(process: u32) -> Option<String> {
    let program = fs::read_link(format!("/proc/{process}/exe")).ok()?;
    Some(program.file_name()?.to_string_lossy().into_owned())
}

/// The process that started it; none for one that has ended.
pub fn parent(process: u32) -> Option<u32> {
    stat(process, 1)?.parse().ok()
}

/// Whether it has ended and nobody has asked for its end yet: it takes nothing but its number.
pub fn is_unreaped(process: u32) -> bool {
    stat(process, 0).is_some_and(|state| state == "Z")
}

/// What a process, or one of its threads, has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// The processor's time it took, in ticks of the clock (`USER_HZ`, 100 a second on every Linux there is).
    pub ticks: u64,
    /// How often it waited for something and was woken.
    pub wakes: u64,
}

impl Work {
    /// The processor's time a process took up to now, in such ticks, also that of threads that ended; none if it has
    /// ended.
    pub fn ticks(process: u32) -> Option<u64> {
        let number = |field| stat(process, field)?.parse::<u64>().ok();
        Some(number(11)? + number(12)?)
    }

    /// The work of each thread of a process up to now, by its number, with its name; none if the process has ended.
    pub fn of_threads(process: u32) -> HashMap<u32, (String, Self)> {
        let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { return HashMap::new() };
        threads.flatten().filter_map(|thread| Self::of_thread(&thread.path())).collect()
    }

    fn of_thread(folder: &Path) -> Option<(u32, (String, Self))> {
        let id = folder.file_name()?.to_str()?.parse().ok()?;
        let fields = after_name(&fs::read_to_string(folder.join("stat")).ok()?)?;
        let number = |field: usize| fields.get(field)?.parse::<u64>().ok();
        let status = fs::read_to_string(folder.join("status")).ok()?;
        let line = |kind| status.lines().find_map(|line| Some(line.strip_prefix(kind)?.trim()));
        let wakes = line("voluntary_ctxt_switches:")?.parse().ok()?;
        Some((id, (line("Name:")?.to_owned(), Self { ticks: number(11)? + number(12)?, wakes })))
    }

    /// What was done since an earlier moment.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            ticks: self.ticks.saturating_sub(earlier.ticks),
            wakes: self.wakes.saturating_sub(earlier.wakes),
        }
    }
}

impl std::ops::AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        self.ticks += other.ticks;
        self.wakes += other.wakes;
    }
}

/// The process and all its descendants.
pub fn family(process: u32) -> Vec<u32> {
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

/// Processes that work in one of the folders, or know it by their environment, and are none of `process` (where one
/// is named), what it began, and what began it.
pub fn strays(folders: &[PathBuf], process: Option<u32>) -> Vec<u32> {
    let mut spared: HashSet<u32> = process.map(family).unwrap_or_default().into_iter().collect();
    let mut above = process;
    while let Some(id) = above.filter(|id| *id != 0) {
        spared.insert(id);
        above = parent(id);
    }
    let inside = |id: &u32| {
        let cwd = fs::read_link(format!("/proc/{id}/cwd"));
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        let environment = String::from_utf8_lossy(&environment);
        let mentioned = |folder: &Path| environment.contains(&folder.display().to_string());
        folders
            .iter()
            .any(|folder| cwd.as_ref().is_ok_and(|cwd| cwd.starts_with(folder)) || mentioned(folder))
    };
    all().into_iter().filter(|id| !spared.contains(id) && !is_unreaped(*id)).filter(inside).collect()
}

fn all() -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("the processes").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}
