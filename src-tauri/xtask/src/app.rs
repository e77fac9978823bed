//! `cargo xtask app`: from a fresh checkout to the open window.

use crate::{
    project::{Project, WITH_PAGE},
    setup::{self, Purpose},
    steps::Steps,
};
use anyhow::{Result, bail};
use std::{env, process::Command};

/// Sets up, builds and opens the app; returns when its window is closed.
///
/// # Errors
/// The first step that fails.
pub(crate) fn run(project: &Project, steps: &mut Steps) -> Result<()> {
    setup::run(project, steps, Purpose::App)?;
    steps.run("page", project.npm(["run", "build"]))?;
    let mut build = project.cargo(["build", "--package", "octo"]);
    build.args(WITH_PAGE);
    steps.run("build", build)?;
    if cfg!(target_os = "linux")
        && !["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| env::var_os(name).is_some())
    {
        bail!(
            "Octo is built, but there is no display to open it on (DISPLAY and WAYLAND_DISPLAY are not set). \
             Without a window: {} exec --help",
            project.binary("octo").display()
        );
    }
    steps.run("window", Command::new(project.binary("octo")))
}
