//! Where the person's browsers are, and whether one can be attached to. Nothing here asks the person anything.

mod environment;
mod places;
mod probe;
mod table;

pub use environment::{Environment, System};
pub use places::{Candidate, PortFile, candidates, executables};
pub use probe::{Probe, probe};
pub use table::{Channel, Family, Product};

use std::{cmp::Reverse, path::Path};

/// A browser that was found, and what it said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Which one.
    pub candidate: Candidate,
    /// The port that was asked.
    pub port: u16,
    /// What was heard there.
    pub probe: Probe,
}

/// The port of a browser whose file names none, and the one the protocol is known for.
pub const DEFAULT_PORT: u16 = 9222;

/// Asks at every place a browser may be, in the order of [`candidates`]. Each port is asked once, for the browser that
/// wrote it down last; what is off is left out. `named` is a folder the person named: it is then the only one.
pub async fn find(environment: &Environment, named: Option<&Path>) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let (with_file, without): (Vec<Candidate>, Vec<Candidate>) =
        candidates(environment, named).into_iter().partition(|candidate| candidate.port_file().is_some());
    let mut files: Vec<(usize, Candidate, PortFile)> = with_file
        .into_iter()
        .enumerate()
        .filter_map(|(place, candidate)| {
            let file = candidate.port_file()?;
            Some((place, candidate, file))
        })
        .collect();
    // Two browsers cannot listen at one port: of two files that name it, the older one was left behind.
    files.sort_by_key(|(_, candidate, _)| Reverse(candidate.port_written()));
    let mut asked: Vec<u16> = Vec::new();
    files.retain(|(_, _, file)| {
        let is_first = !asked.contains(&file.port);
        asked.push(file.port);
        is_first
    });
    files.sort_by_key(|(place, ..)| *place);
    for (_, candidate, file) in files {
        push(&mut found, candidate, file.port, Some(&file)).await;
    }
    // A fixed port leaves no file. Whose it is cannot be told: the first installed browser stands for it.
    if !asked.contains(&DEFAULT_PORT)
        && let Some(candidate) = without.into_iter().find(|candidate| candidate.folder.is_dir())
    {
        push(&mut found, candidate, DEFAULT_PORT, None).await;
    }
    found
}

async fn push(found: &mut Vec<Found>, candidate: Candidate, port: u16, file: Option<&PortFile>) {
    let probe = probe(port, file).await;
    tracing::debug!(browser = %candidate.product.name(), port, ?probe, "asked a browser");
    if probe != Probe::Off {
        found.push(Found { candidate, port, probe });
    }
}
