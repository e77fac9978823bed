//! `cargo xtask bundle`: builds installable packages with Tauri's own command line.

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

/// Selection of packages.
#[derive(Args)]
pub(crate) struct BundleOptions {
    /// Build profile: `dev` is quick and large.
    #[arg(long, value_enum, default_value_t = BuildProfile::Release)]
    profile: BuildProfile,
    /// Package kinds, comma-separated; by default those that can be built offline on this system.
    #[arg(long)]
    kinds: Option<String>,
    /// JSON file merged over `tauri.conf.json`, for release-only settings: a certificate, an update address.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Check the .deb and the .rpm afterwards: install each into an empty root, open it on a private display,
    /// remove it.
    #[arg(long)]
    check: bool,
    /// Build nothing and check this package.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["profile", "kinds", "config"])]
    package: Vec<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BuildProfile {
    Release,
    Dev,
}

/// Does not include AppImage, whose tools are downloaded during the build.
const OFFLINE_KINDS: &str = if cfg!(target_os = "macos") {
    "dmg"
} else if cfg!(windows) {
    "msi"
} else {
    "deb,rpm"
};

/// Tauri's command line. It is fetched on demand, because only bundling needs it and its package contains a
/// large binary for the system it runs on.
const TAURI_CLI: &str = "@tauri-apps/cli@2.12.5";

/// Builds the packages, and checks them if requested.
///
/// # Errors
/// The first step that fails.
pub(crate) fn run(project: &Project, steps: &mut Steps, choice: &BundleOptions) -> Result<()> {
    if !choice.package.is_empty() {
        return check::run(project, steps, &choice.package);
    }
    make(project, steps, choice)?;
    if !choice.check {
        return Ok(());
    }
    let profile = match choice.profile {
        BuildProfile::Release => "release",
        BuildProfile::Dev => "debug",
    };
    check::run(project, steps, &newest(&project.target.join(profile).join("bundle"))?)
}

/// Returns the newest package of each kind that can be checked; older ones may be in the same folder.
fn newest(bundles: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for kind in ["deb", "rpm"] {
        let Ok(entries) = fs::read_dir(bundles.join(kind)) else { continue };
        let mut packages = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == kind) {
                let modified = path.metadata()?.modified().with_context(|| path.display().to_string())?;
                packages.push((modified, path));
            }
        }
        found.extend(packages.into_iter().max().map(|(_, path)| path));
    }
    Ok(found)
}

fn make(project: &Project, steps: &mut Steps, choice: &BundleOptions) -> Result<()> {
    setup::run(project, steps, Purpose::Bundle)?;
    let mut command = tool("npx");
    command.args([
        "--yes",
        TAURI_CLI,
        "build",
        "--ci",
        "--bundles",
        choice.kinds.as_deref().unwrap_or(OFFLINE_KINDS),
    ]);
    if choice.profile == BuildProfile::Dev {
        command.arg("--debug");
    }
    if let Some(config) = &choice.config {
        command.arg("--config").arg(std::path::absolute(config)?);
    }
    command.current_dir(&project.root);
    steps.run("bundle", command)
}
