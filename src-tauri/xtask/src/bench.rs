//! `cargo xtask bench`: figures of an optimised build, as a Markdown table on standard output.

use crate::{
    project::{Project, WITH_PAGE},
    setup::{self, Purpose},
    steps::Steps,
};
use anyhow::Result;
use clap::{Args, ValueEnum};
use std::env;

/// What to measure.
#[derive(Args)]
pub(crate) struct Choice {
    /// Only these parts; all of them if none is named.
    parts: Vec<Part>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Opening, listing and searching sessions.
    Sessions,
    /// The window's start and the memory of its processes.
    Window,
    /// What Octo costs between two calls of the model.
    Turn,
    /// Searching files, against ripgrep.
    Grep,
    /// What providers' prompt caches make of Octo's requests.
    Cache,
}

/// The profile of the root manifest, and the folder its build is in.
const PROFILE: &str = "bench-run";

/// Sets up, builds, measures.
///
/// # Errors
/// The first step that fails.
pub(crate) fn run(project: &Project, steps: &mut Steps, choice: &Choice) -> Result<()> {
    setup::run(project, steps, Purpose::Bench)?;
    let mut bench = project.cargo(["bench"]);
    bench.args(["--profile", PROFILE, "--package", "octo-tests"]);
    if choice.parts.is_empty() || choice.parts.contains(&Part::Window) {
        steps.run("page", project.npm(["run", "build"]))?;
        // The same packages and features in both, so that what they share is compiled once.
        let mut build = project.cargo(["build"]);
        build.args(["--profile", PROFILE, "--package", "octo-tests", "--package", "octo"]);
        build.args(WITH_PAGE).args(["--bin", "octo", "--bench", "figures"]);
        steps.run("build", build)?;
        bench.args(["--package", "octo"]).args(WITH_PAGE);
    }
    let binary = project.target.join(PROFILE).join(format!("octo{}", env::consts::EXE_SUFFIX));
    bench.args(["--bench", "figures", "--"]);
    for part in choice.parts.iter().filter_map(Part::to_possible_value) {
        bench.arg(part.get_name());
    }
    bench.env("OCTO_APP", binary).env("RUST_LIB_BACKTRACE", "0");
    steps.run("figures", bench)
}
