//! Memory of an application's processes.

use anyhow::{Result, ensure};
use octo_testkit::processes::{ProcessMemory, program, with_descendants};
use std::collections::BTreeMap;

pub use octo_testkit::processes::stat;

/// Returns the proportional memory (PSS: shared memory counts proportionally) of a process and all its
/// descendants, in millions of bytes, summed by program name.
///
/// # Errors
/// When the process itself is gone or may not be inspected.
pub fn proportional(process: u32) -> Result<BTreeMap<String, f64>> {
    ensure!(ProcessMemory::of(process).is_some(), "the memory of process {process} cannot be looked at");
    let mut sums = BTreeMap::new();
    for id in with_descendants(process) {
        // A descendant that has just ended uses nothing.
        let (Some(name), Some(memory)) = (program(id), ProcessMemory::of(id)) else { continue };
        *sums.entry(name).or_default() += megabytes(memory);
    }
    Ok(sums)
}

/// The same for this process alone.
pub fn own() -> f64 {
    megabytes(ProcessMemory::of_this_process())
}

fn megabytes(memory: ProcessMemory) -> f64 {
    memory.all as f64 * 1024.0 / 1e6
}
