//! `cargo xtask test`: runs every check.

use crate::{
    bindings, platforms,
    project::Project,
    setup::{self, Purpose},
    steps::{Steps, say},
};
use anyhow::Result;
use clap::Args;
use std::process::Command;

/// Selection of tests to skip.
#[derive(Args)]
pub(crate) struct TestOptions {
    /// Skip the end-to-end tests in a real window.
    #[arg(long)]
    without_window: bool,
}

/// The examples that tests open: for long use and for updates.
const WINDOW_EXAMPLES: [&str; 2] = ["fast_window", "updating_window"];

/// The example that runs the core for the page in a browser.
const PAGE_EXAMPLE: &str = "page_core";

/// The test binary that opens real windows; it only runs in its own step. Its long-use test runs only in a
/// soak.
const WINDOW_TESTS: &str = "binary(window) and not test(/^long::/)";

/// Runs the gate. Quick checks run first; the Rust part compiles dependencies twice in all, once to check and
/// once to run, because every command selects the same packages and features.
///
/// # Errors
/// The first step that fails.
pub(crate) fn run(project: &Project, steps: &mut Steps, choice: &TestOptions) -> Result<()> {
    setup::run(project, steps, Purpose::Test)?;
    steps.run("rustfmt", project.cargo(["fmt", "--all", "--check"]))?;
    page(project, steps)?;
    let mut clippy = project.workspace(["clippy", "--all-targets"]);
    clippy.args(["--", "--deny", "warnings"]);
    steps.run("clippy", clippy)?;
    platforms::run(project, steps)?;
    steps.run("test build", build(project))?;
    bindings::check(project, steps)?;
    steps.run("doc tests", project.workspace(["test", "--quiet", "--doc"]))?;
    // The window runs before the rest, so that the last line is the count of the large run.
    if choice.without_window {
        say("left out: the tests in a real window");
    } else if cfg!(target_os = "linux") {
        steps.run("window", window(project, WINDOW_TESTS))?;
        // In the system's Chromium, which the setup installs on Debian only.
        steps.run("page: in a browser", project.npm(["run", "e2e"]))?;
    } else {
        say("not on this system: the tests in a real window (only Linux has a driver for its webview)");
    }
    #[cfg(target_os = "linux")]
    steps.work("tests as a person", || crate::person::run(project))?;
    let tests = project.workspace(["nextest", "run"]);
    steps.run("tests", tests)
}

fn page(project: &Project, steps: &mut Steps) -> Result<()> {
    steps.run("page: types", project.npm(["run", "check"]))?;
    steps.run("page: lint", project.npm(["run", "lint"]))?;
    steps.run("page: tests", project.npm(["run", "test"]))?;
    steps.run("page: build", project.npm(["run", "build"]))?;
    steps.run("page: size", project.npm(["run", "size"]))
}

/// Builds the tests and the programs they start: the binaries, and windows with options a regular window lacks.
pub(crate) fn build(project: &Project) -> Command {
    let mut build = project.workspace(["build", "--bin", "octo", "--bin", "octo-cli", "--tests"]);
    build.args(WINDOW_EXAMPLES.iter().chain([&PAGE_EXAMPLE]).flat_map(|example| ["--example", example]));
    build
}

/// Runs these tests in a real window. Their screenshots are saved in `target/e2e`.
pub(crate) fn window(project: &Project, test_name: &str) -> Command {
    let mut tests = project.workspace(["nextest", "run", "--run-ignored", "only", "--test-threads", "1"]);
    tests
        .args(["-E", test_name])
        .env("OCTO_APP", project.binary("octo"))
        .env("OCTO_PICTURES", project.target.join("e2e"))
        // The page's content says more than a backtrace.
        .env("RUST_LIB_BACKTRACE", "0");
    tests
}
