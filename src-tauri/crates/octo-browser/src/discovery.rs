//! Finds the person's browsers and whether they accept a connection. Nothing here asks the person anything.

mod candidates;
mod environment;
mod probe;
mod table;

pub use candidates::{BrowserCandidate, PortFile, candidates, executables};
pub use environment::{BrowserEnvironment, HostSystem};
pub use probe::{Probe, probe};
pub use table::{BrowserFamily, BrowserProduct, ReleaseChannel};

use std::{cmp::Reverse, path::Path};

/// A browser that was found, with its probe result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbedBrowser {
    /// The browser.
    pub candidate: BrowserCandidate,
    /// The port that was probed.
    pub port: u16,
    /// The probe's result.
    pub probe: Probe,
}

/// Port to try for a browser without a port file; the protocol's well-known port.
pub const DEFAULT_PORT: u16 = 9222;

/// Probes every possible browser in the order of [`candidates`]. Each port is probed once, for the browser that
/// wrote it last; browsers that are off are left out. If the person configured a folder, only that one is
/// probed.
pub async fn find(environment: &BrowserEnvironment, configured: Option<&Path>) -> Vec<ProbedBrowser> {
    let mut found: Vec<ProbedBrowser> = Vec::new();
    let (with_file, without_file): (Vec<BrowserCandidate>, Vec<BrowserCandidate>) =
        candidates(environment, configured)
            .into_iter()
            .partition(|candidate| candidate.port_file().is_some());
    let mut files: Vec<(usize, BrowserCandidate, PortFile)> = with_file
        .into_iter()
        .enumerate()
        .filter_map(|(index, candidate)| {
            let file = candidate.port_file()?;
            Some((index, candidate, file))
        })
        .collect();
    // Two browsers cannot listen on one port: of two files that name it, the older is stale.
    files.sort_by_key(|(_, candidate, _)| Reverse(candidate.port_file_modified()));
    let mut ports: Vec<u16> = Vec::new();
    files.retain(|(_, _, file)| {
        let is_first = !ports.contains(&file.port);
        ports.push(file.port);
        is_first
    });
    files.sort_by_key(|(index, ..)| *index);
    for (_, candidate, file) in files {
        probe_and_push(&mut found, candidate, file.port, Some(&file)).await;
    }
    // A browser with a fixed port writes no file, so attribute the port to the first installed browser.
    if !ports.contains(&DEFAULT_PORT)
        && let Some(candidate) = without_file.into_iter().find(|candidate| candidate.folder.is_dir())
    {
        probe_and_push(&mut found, candidate, DEFAULT_PORT, None).await;
    }
    found
}

async fn probe_and_push(
    found: &mut Vec<ProbedBrowser>,
    candidate: BrowserCandidate,
    port: u16,
    file: Option<&PortFile>,
) {
    let probe = probe(port, file).await;
    tracing::debug!(browser = %candidate.product.name(), port, ?probe, "probed a browser");
    if probe != Probe::Off {
        found.push(ProbedBrowser { candidate, port, probe });
    }
}
