//! `cargo xtask bundle`: installable packages, through Tauri's own command line.

mod check;

use crate::{
    project::{Project, tool},
    setup::{self, Purpose},
    steps::Steps,
};
use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// What to bundle.
#[derive(Args)]
pub(crate) struct Choice {
    /// How to build: `dev` is quick and large.
    #[arg(long, value_enum, default_value_t = Profile::Release)]
    profile: Profile,
    /// Which kinds of package, comma-separated; without it those that can be made offline on this system.
    #[arg(long)]
    kinds: Option<String>,
    /// A JSON file laid over `tauri.conf.json`, for what only a release has: a certificate, an address for updates.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Check the .deb and the .rpm afterwards: install each into an empty root, open it on a private display, remove it.
    #[arg(long)]
    check: bool,
    /// Make nothing, and check this package.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["profile", "kinds", "config"])]
    package: Vec<PathBuf>,
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

/// Tauri's command line. Fetched when it is needed, because only bundling needs it: its package holds a large
/// binary for the system it runs on.
const COMMAND_LINE: &str = "@tauri-apps/cli@2.12.5";

/// Makes the packages, and checks them where that is asked for.
///
/// # Errors
/// The first step that fails.
pub(crate) fn run(project: &Project, steps: &mut Steps, choice: &Choice) -> Result<()> {
    if !choice.package.is_empty() {
        return check::run(project, steps, &choice.package);
    }
    make(project, steps, choice)?;
    if !choice.check {
        return Ok(());
    }
    let profile = match choice.profile {
        Profile::Release => "release",
        Profile::Dev => "debug",
    };
    check::run(project, steps, &newest(&project.target.join(profile).join("bundle"))?)
}

/// The newest package of each kind that can be checked: older ones may lie beside it.
fn newest(bundles: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for kind in ["deb", "rpm"] {
        let Ok(entries) = fs::read_dir(bundles.join(kind)) else { continue };
        let mut packages = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|end| end == kind) {
                let made = path.metadata()?.modified().with_context(|| path.display().to_string())?;
                packages.push((made, path));
            }
        }
        found.extend(packages.into_iter().max().map(|(_, path)| path));
    }
    Ok(found)
}

fn make(project: &Project, steps: &mut Steps, choice: &Choice) -> Result<()> {
    setup::run(project, steps, Purpose::Bundle)?;
    let mut command = tool("npx");
    command.args([
        "--yes",
        COMMAND_LINE,
        "build",
        "--ci",
        "--bundles",
        choice.kinds.as_deref().unwrap_or(OFFLINE),
    ]);
    if choice.profile == Profile::Dev {
        command.arg("--debug");
    }
    if let Some(config) = &choice.config {
        command.arg("--config").arg(std::path::absolute(config)?);
    }
    command.current_dir(&project.root);
    steps.run("bundle", command)
}
