//! Where the checkout and its build are.

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// The feature that carries the page inside the binary. Every cargo command of the gate sets it, so that
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
    /// Asks cargo.
    ///
    /// # Errors
    /// When cargo does not know the workspace.
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

    /// The page's folder.
    pub(crate) fn ui(&self) -> PathBuf {
        self.root.join("ui")
    }

    /// A binary of the dev profile.
    pub(crate) fn binary(&self, name: &str) -> PathBuf {
        self.target.join("debug").join(format!("{name}{}", env::consts::EXE_SUFFIX))
    }

    /// A cargo command in the checkout.
    pub(crate) fn cargo<const N: usize>(&self, arguments: [&str; N]) -> Command {
        let mut command = Command::new(cargo());
        command.args(arguments).current_dir(&self.root);
        // Set by the cargo that runs this program, and wrong for the one it starts.
        for inherited in ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", "CARGO_PKG_VERSION", "TS_RS_EXPORT_DIR"] {
            command.env_remove(inherited);
        }
        command
    }

    /// A cargo command over the whole workspace, always with the same features.
    pub(crate) fn workspace<const N: usize>(&self, arguments: [&str; N]) -> Command {
        let mut command = self.cargo(arguments);
        command.arg("--workspace").args(WITH_PAGE);
        command
    }

    /// An npm command in the page's folder.
    pub(crate) fn npm<const N: usize>(&self, arguments: [&str; N]) -> Command {
        let mut command = tool("npm");
        command.args(arguments).current_dir(self.ui());
        command
    }
}

/// The folder of this program's manifest, as the cargo that runs it says: with a build folder that several checkouts
/// share, the one it was compiled in is not always the one it is run in.
fn manifest() -> PathBuf {
    env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from)
}

fn cargo() -> PathBuf {
    env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

/// The system that is built on, as the compiler names it.
///
/// # Errors
/// When the compiler does not say.
pub(crate) fn host() -> Result<String> {
    let output = Command::new("rustc").arg("-vV").output().context("rustc could not be started")?;
    let said = String::from_utf8_lossy(&output.stdout);
    let host = said.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    Ok(host.to_owned())
}

/// A program of the path. Node's tools are scripts on Windows, which only start by their full name.
pub(crate) fn tool(name: &str) -> Command {
    if cfg!(windows) && matches!(name, "npm" | "npx") {
        Command::new(format!("{name}.cmd"))
    } else {
        Command::new(name)
    }
}

/// Whether a program answers to be asked its version.
pub(crate) fn answers(mut command: Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// A path as short as it can be written from the checkout.
pub(crate) fn short<'a>(root: &Path, path: &'a Path) -> &'a Path {
    path.strip_prefix(root).unwrap_or(path)
}
