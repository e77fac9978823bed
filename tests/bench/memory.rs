//! What the processes of an application take of the memory.

use anyhow::{Context as _, Result};
use std::{
    collections::{BTreeMap, HashMap},
    fs,
};

/// The proportional memory (PSS: what is shared counts in parts) of a process and all its descendants, in
/// millions of bytes, summed by the name of the program.
///
/// # Errors
/// When the process itself is gone or may not be looked at.
pub fn proportional(process: u32) -> Result<BTreeMap<String, f64>> {
    let mut sums = BTreeMap::new();
    for id in family(process)? {
        // A descendant that has just ended takes nothing.
        let (Ok(program), Ok(maps)) = (
            fs::read_link(format!("/proc/{id}/exe")),
            fs::read_to_string(format!("/proc/{id}/smaps_rollup")),
        ) else {
            continue;
        };
        let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        *sums.entry(name).or_default() += pss(&maps)?;
    }
    Ok(sums)
}

/// The same for this process alone.
///
/// # Errors
/// When the system does not say.
pub fn own() -> Result<f64> {
    pss(&fs::read_to_string("/proc/self/smaps_rollup")?)
}

fn pss(maps: &str) -> Result<f64> {
    let line = maps.lines().find_map(|line| line.strip_prefix("Pss:")).context("a line of Pss")?;
    let kibibytes: f64 = line.trim().trim_end_matches("kB").trim().parse().context("a number of kB")?;
    Ok(kibibytes * 1024.0 / 1e6)
}

/// The process and all its descendants.
fn family(process: u32) -> Result<Vec<u32>> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for entry in fs::read_dir("/proc")? {
        let Some(id) = entry?.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        if let Some(parent) = stat(id, 1).and_then(|field| field.parse().ok()) {
            children.entry(parent).or_default().push(id);
        }
    }
    let mut family = vec![process];
    let mut next = 0;
    while let Some(id) = family.get(next) {
        family.extend(children.get(id).into_iter().flatten().copied().collect::<Vec<u32>>());
        next += 1;
    }
    Ok(family)
}

/// A field of what the system says of a process, counted from its state, which is 0; none if it has ended.
pub fn stat(process: u32, field: usize) -> Option<String> {
    let line = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name before it is in brackets and may hold anything.
    let (_, fields) = line.rsplit_once(')')?;
    fields.split_whitespace().nth(field).map(str::to_owned)
}
