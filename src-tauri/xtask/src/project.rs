//! Locations of the checkout and its build folder.

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::{
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Command,
};

/// The feature that embeds the page in the binary. Every cargo command of the gate sets it, so that
/// dependencies are compiled once.
pub(crate) const WITH_PAGE: [&str; 2] = ["--features", "octo/custom-protocol"];

/// The checkout and its build folder.
pub(crate) struct Project {
    /// The checkout's folder.
    pub(crate) root: PathBuf,
    /// Cargo's build folder.
    pub(crate) target: PathBuf,
}

impl Project {
    /// Asks cargo for the locations.
    ///
    /// # Errors
    /// When cargo does not find the workspace.
    pub(crate) fn find() -> Result<Self> {
        let output = Command::new(cargo())
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .current_dir(manifest())
            .output()
            .context("cargo could not be started")?;
        if !output.status.success() {
            bail!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata")?;
        let folder = |name: &str| {
            metadata[name]
                .as_str()
                .map(PathBuf::from)
                .with_context(|| format!("cargo metadata names no {name}"))
        };
        Ok(Self { root: folder("workspace_root")?, target: folder("target_directory")? })
    }

    /// Returns the page's folder.
    pub(crate) fn ui(&self) -> PathBuf {
        self.root.join("ui")
    }

    /// Returns the path of a binary built with the dev profile.
    pub(crate) fn binary(&self, name: &str) -> PathBuf {
        self.target.join("debug").join(format!("{name}{}", env::consts::EXE_SUFFIX))
    }

    /// Creates a cargo command in the checkout.
    pub(crate) fn cargo<const N: usize>(&self, arguments: [&str; N]) -> Command {
        let mut command = self.program(cargo());
        command.args(arguments);
        command
    }

    /// Creates a command that runs cargo in the checkout.
    pub(crate) fn program(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        // Set by the cargo that runs this program, and wrong for the cargo it starts.
        for inherited in ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", "CARGO_PKG_VERSION", "TS_RS_EXPORT_DIR"] {
            command.env_remove(inherited);
        }
        command
    }

    /// Creates a cargo command for the whole workspace, always with the same features.
    pub(crate) fn workspace<const N: usize>(&self, arguments: [&str; N]) -> Command {
        let mut command = self.cargo(arguments);
        command.arg("--workspace").args(WITH_PAGE);
        command
    }

    /// Creates an npm command in the page's folder.
    pub(crate) fn npm<const N: usize>(&self, arguments: [&str; N]) -> Command {
        let mut command = tool("npm");
        command.args(arguments).current_dir(self.ui());
        command
    }
}

/// Returns the folder of this program's manifest, as reported by the cargo that runs it: with a build folder
/// shared by several checkouts, it may have been compiled in another one.
fn manifest() -> PathBuf {
    env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from)
}

fn cargo() -> PathBuf {
    env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

/// Returns the host platform as the compiler names it.
///
/// # Errors
/// When the compiler does not report it.
pub(crate) fn host() -> Result<String> {
    let output = Command::new("rustc").arg("-vV").output().context("rustc could not be started")?;
    let output_text = String::from_utf8_lossy(&output.stdout);
    let host =
        output_text.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    Ok(host.to_owned())
}

/// Creates a command for a program on `PATH`. On Windows Node's tools are scripts, which only start by their
/// full name.
pub(crate) fn tool(name: &str) -> Command {
    if cfg!(windows) && matches!(name, "npm" | "npx") {
        Command::new(format!("{name}.cmd"))
    } else {
        Command::new(name)
    }
}

/// Returns whether a program can be started with its version argument.
pub(crate) fn succeeds(mut command: Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// Returns a path relative to the checkout if it lies inside.
pub(crate) fn short<'a>(root: &Path, path: &'a Path) -> &'a Path {
    path.strip_prefix(root).unwrap_or(path)
}
