//! Installs the compilers of C for Windows and macOS and Rust's libraries for both, for `cargo xtask platforms`.

use super::{Fetch, command, component, debian, fetch_if_changed, pip};
use crate::{
    platforms::Platform,
    project::{Project, succeeds},
    steps::{self, say},
};
use anyhow::{Context as _, Result, bail};
use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// Debian's names of MinGW, which compiles C and C++ for Windows, and of pip, which fetches Zig.
const PACKAGES: &[&str] = &["gcc-mingw-w64-x86-64", "g++-mingw-w64-x86-64", "python3-pip"];

/// The compilers in those packages.
const COMPILERS: &[&str] = &["x86_64-w64-mingw32-gcc", "x86_64-w64-mingw32-g++"];

/// Installs what is missing, or says what to install and stops.
///
/// # Errors
/// When something is missing that cannot be installed from here.
pub(crate) fn platforms(project: &Project) -> Result<()> {
    if succeeds(command("dpkg-query", &["--version"])) {
        debian(PACKAGES)?;
    } else if !COMPILERS.iter().all(|compiler| succeeds(command(compiler, &["--version"]))) {
        bail!(
            "the compilers for Windows were not found, and packages can only be installed from here on Debian and \
             Ubuntu. Install what your distribution calls these, then try again:\n\n    {}",
            PACKAGES.join(" ")
        );
    }
    component(project, "clippy")?;
    Platform::ALL.into_iter().try_for_each(|platform| libraries(platform.target()))?;
    zig(project)
}

/// Installs Rust's own libraries for a target.
fn libraries(target: &str) -> Result<()> {
    let output = command("rustc", &["--print", "target-libdir", "--target", target]).output();
    let folder = output.context("rustc could not be started")?.stdout;
    if Path::new(String::from_utf8_lossy(&folder).trim()).is_dir() {
        say(&format!("Rust's libraries for {target} are there"));
        return Ok(());
    }
    steps::run(&mut command("rustup", &["target", "add", target]))
        .with_context(|| format!("Rust's libraries for {target} are missing"))
}

/// Installs Zig, which compiles C for macOS, and its driver for cargo into the build folder: wheels of a list with their
/// hashes.
fn zig(project: &Project) -> Result<()> {
    let requirements = project.root.join("src-tauri/xtask/zig/requirements.txt");
    let folder = folder(project);
    fetch_if_changed(&requirements, &folder, || {
        let mut install = pip("install");
        // It installs into a folder of the project, so its warning about root does not apply.
        install.env("PIP_ROOT_USER_ACTION", "ignore");
        install.arg("--target").arg(&folder).arg("--requirement").arg(&requirements);
        steps::run(&mut install)?;
        Ok(Fetch::Complete)
    })
}

fn folder(project: &Project) -> PathBuf {
    project.target.join("tmp").join("zig")
}

/// Returns cargo with Zig as the compiler of C. Both keep their caches in the build folder.
pub(crate) fn zigbuild(project: &Project) -> Command {
    let folder = folder(project);
    let mut command = project.program(folder.join("bin").join("cargo-zigbuild"));
    command
        .env("CARGO_ZIGBUILD_ZIG_PATH", folder.join("ziglang").join("zig"))
        .env("CARGO_ZIGBUILD_CACHE_DIR", folder.join("cache"))
        .env("ZIG_GLOBAL_CACHE_DIR", folder.join("cache").join("zig"));
    command
}
