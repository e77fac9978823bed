//! `cargo xtask platforms`: checks the crates without a window for Windows and macOS, on Linux.

use crate::{
    project::Project,
    setup,
    steps::{Steps, say},
};
use anyhow::Result;
use std::process::Command;

/// The packages that are not checked: the window, whose libraries do not build here for another system, and the packages
/// that only tests use.
const EXCLUDED: [&str; 3] = ["octo", "octo-tests", "octo-testkit"];

/// A system other than Linux that Octo runs on.
#[derive(Clone, Copy)]
pub(crate) enum Platform {
    Windows,
    MacOs,
}

impl Platform {
    pub(crate) const ALL: [Self; 2] = [Self::Windows, Self::MacOs];

    /// The name of the target in Rust.
    pub(crate) fn target(self) -> &'static str {
        match self {
            Self::Windows => "x86_64-pc-windows-gnu",
            Self::MacOs => "aarch64-apple-darwin",
        }
    }

    fn step(self) -> &'static str {
        match self {
            Self::Windows => "clippy: Windows",
            Self::MacOs => "clippy: macOS",
        }
    }
}

/// Installs what is missing and checks every platform.
///
/// # Errors
/// The first step that fails.
pub(crate) fn run(project: &Project, steps: &mut Steps) -> Result<()> {
    if !cfg!(target_os = "linux") {
        say("not on this system: the check for other systems (it runs on Linux)");
        return Ok(());
    }
    steps.work("set-up: platforms", || setup::platforms(project))?;
    Platform::ALL.into_iter().try_for_each(|platform| steps.run(platform.step(), clippy(project, platform)))
}

/// Clippy reports what `cargo check` reports and more, so there is one pass for each platform. Libraries and binaries
/// only: the tests of all crates would add their own dependencies to the time.
fn clippy(project: &Project, platform: Platform) -> Command {
    let mut clippy = match platform {
        Platform::Windows => project.cargo([]),
        Platform::MacOs => setup::zigbuild(project),
    };
    clippy.args(["clippy", "--workspace", "--target", platform.target()]);
    clippy.args(EXCLUDED.iter().flat_map(|package| ["--exclude", package]));
    clippy.args(["--", "--deny", "warnings"]);
    // Incremental compilation stores more than the check itself, and these targets are rarely checked twice.
    clippy.env("CARGO_INCREMENTAL", "0");
    clippy
}
