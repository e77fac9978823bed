//! `cargo xtask bundle`: installable packages, through Tauri's own command line.

use crate::{
    project::Project,
    setup::{self, Purpose},
    steps::Steps,
};
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use std::process::Command;

/// What to bundle.
#[derive(Args)]
pub(crate) struct Choice {
    /// How to build: `dev` is quick and large.
    #[arg(long, value_enum, default_value_t = Profile::Release)]
    profile: Profile,
    /// Which kinds of package, comma-separated; without it those that can be made offline on this system.
    #[arg(long)]
    kinds: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Profile {
    Release,
    Dev,
}

/// An AppImage is not among them: its tools are downloaded while it is made.
const OFFLINE: &str = if cfg!(target_os = "macos") {
    "dmg"
} else if cfg!(windows) {
    "msi"
} else {
    "deb,rpm"
};

/// Makes the packages.
///
/// # Errors
/// The first step that fails.
pub(crate) fn run(project: &Project, steps: &mut Steps, choice: &Choice) -> Result<()> {
    setup::run(project, steps, Purpose::App)?;
    let tauri = project.ui().join("node_modules").join("@tauri-apps").join("cli").join("tauri.js");
    if !tauri.is_file() {
        bail!("Tauri's command line is not installed: {} is missing", tauri.display());
    }
    let mut command = Command::new("node");
    command.arg(tauri).args(["build", "--ci", "--bundles", choice.kinds.as_deref().unwrap_or(OFFLINE)]);
    if choice.profile == Profile::Dev {
        command.arg("--debug");
    }
    command.current_dir(&project.root);
    steps.run("bundle", command)
}
