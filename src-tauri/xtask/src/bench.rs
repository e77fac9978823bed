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

#[derive(Clone, Copy, ValueEnum)]
enum Part {
    /// Opening, listing and searching sessions.
    Sessions,
    /// The window's start and the memory of its processes.
    Window,
    /// What Octo costs between two calls of the model.
    Turn,
    /// Searching files, against ripgrep.
    Grep,
}

/// The profile of the root manifest, and the folder its build is in.
const PROFILE: &str = "bench-run";

/// Sets up, builds, measures.
///
/// # Errors
/// The first step that fails.
pub(crate) fn run(project: &Project, steps: &mut Steps, choice: &Choice) -> Result<()> {
    setup::run(project, steps, Purpose::Bench)?;
    steps.run("page", project.npm(["run", "build"]))?;
    // The same packages and features in both, so that what they share is compiled once.
    let packages = ["--profile", PROFILE, "--package", "octo", "--package", "octo-tests"];
    let mut build = project.cargo(["build"]);
    build.args(packages).args(WITH_PAGE).args(["--bin", "octo", "--bench", "figures"]);
    steps.run("build", build)?;
    let binary = project.target.join(PROFILE).join(format!("octo{}", env::consts::EXE_SUFFIX));
    let mut bench = project.cargo(["bench"]);
    bench.args(packages).args(WITH_PAGE).args(["--bench", "figures", "--"]);
    for part in choice.parts.iter().filter_map(Part::to_possible_value) {
        bench.arg(part.get_name());
    }
    bench.env("OCTO_APP", binary).env("RUST_LIB_BACKTRACE", "0");
    steps.run("figures", bench)
}
