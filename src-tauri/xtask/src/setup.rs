//! Brings a machine from "has Rust and Node" to "can build and test Octo".

mod platforms;

pub(crate) use platforms::{platforms, zigbuild};

use crate::{
    licences,
    project::{Project, succeeds, tool},
    steps::{self, Steps, say},
};
use anyhow::{Context as _, Result, bail};
use std::{fs, path::Path, process::Command};

/// The purpose of the setup.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Build and open the app.
    App,
    /// Build and open the app, and run every test.
    Test,
    /// Build, open and measure the app.
    Bench,
    /// Build the app and its packages.
    Bundle,
    /// Install packages into a separate root, inspect them and open them.
    Packages,
}

/// Packages the app is built from, by their Debian names.
const APP_PACKAGES: &[&str] = &[
    "build-essential",
    "pkg-config",
    "libdbus-1-dev",
    "libwebkit2gtk-4.1-dev",
    "libsoup-3.0-dev",
    "librsvg2-dev",
];

/// Additional packages for the tests: a private desktop with a keychain, a driver for the real webview, the
/// library for tray icons, a browser for the page's own tests and for attaching to, with framed windows and
/// simulated input to answer its questions, the fonts used in screenshots, and what the policy is compared with:
/// other versions of the programs it knows, and a tracer.
const TEST_PACKAGES: &[&str] = &[
    "webkit2gtk-driver",
    "libayatana-appindicator3-1",
    "xvfb",
    "dbus",
    "gnome-keyring",
    "chromium",
    "openbox",
    "xdotool",
    "python3-pip",
    "strace",
    "busybox",
    "gawk",
    "tree",
    "jq",
    "fonts-inter",
    "fonts-jetbrains-mono",
    "fonts-noto-cjk",
];

/// Additional packages for the benchmarks: the tests' private desktop with its driver and fonts, and ripgrep,
/// the comparison for the file search.
const BENCH_PACKAGES: &[&str] =
    &["webkit2gtk-driver", "xvfb", "dbus", "gnome-keyring", "fonts-inter", "fonts-jetbrains-mono", "ripgrep"];

/// Additional packages for bundling: Tauri's command line asks which library creates tray icons, so that a
/// package can depend on it.
const BUNDLE_PACKAGES: &[&str] = &["libayatana-appindicator3-dev"];

/// Additional packages for inspecting packages; those that open them are not included.
const CHECK_PACKAGES: &[&str] = &["rpm", "desktop-file-utils", "appstream"];

/// Installs the missing packages, or says what to install and stops.
///
/// # Errors
/// When a missing package cannot be installed from here.
pub(crate) fn run(project: &Project, steps: &mut Steps, purpose: Purpose) -> Result<()> {
    steps.work("set-up: system", || system(purpose))?;
    steps.work("set-up: tools", || tools(project, purpose))?;
    steps.work("set-up: page", || page(project))?;
    steps.work("set-up: licences", || licences::write(project))?;
    if purpose == Purpose::Test {
        steps.work("set-up: pages to play", || fetch_miniwob(project))
    } else {
        Ok(())
    }
}

/// Installs the tools Octo's browser is compared with, pinned by the versions and hashes of their lock file,
/// and the browser they all drive. None of their install scripts run, so none of them downloads a browser.
///
/// # Errors
/// When they cannot be installed.
pub(crate) fn install_bench_tools(project: &Project) -> Result<()> {
    if cfg!(target_os = "linux") && succeeds(command("dpkg-query", &["--version"])) {
        debian(&["chromium"])?;
    }
    let folder = project.root.join("tests/bench/peers");
    install_if_changed(&folder, || {
        let mut install = tool("npm");
        install.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(&folder);
        install.env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1");
        install
    })
}

fn system(purpose: Purpose) -> Result<()> {
    if cfg!(target_os = "macos") {
        return macos();
    }
    if cfg!(windows) {
        return windows();
    }
    let packages: Vec<&str> = match purpose {
        Purpose::App => APP_PACKAGES.to_vec(),
        Purpose::Test => APP_PACKAGES.iter().chain(TEST_PACKAGES).copied().collect(),
        Purpose::Bench => APP_PACKAGES.iter().chain(BENCH_PACKAGES).copied().collect(),
        Purpose::Bundle => APP_PACKAGES.iter().chain(BUNDLE_PACKAGES).copied().collect(),
        Purpose::Packages => {
            APP_PACKAGES.iter().chain(BENCH_PACKAGES).chain(CHECK_PACKAGES).copied().collect()
        }
    };
    if succeeds(command("dpkg-query", &["--version"])) { debian(&packages) } else { other_linux(&packages) }
}

fn debian(packages: &[&str]) -> Result<()> {
    let missing: Vec<&str> = packages.iter().copied().filter(|package| !is_installed(package)).collect();
    if missing.is_empty() {
        say("all system packages are there");
        return Ok(());
    }
    let apt = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"];
    let prefix: Vec<&str> = match may_install() {
        Privilege::Root => apt.to_vec(),
        Privilege::Sudo => ["sudo", "-n"].iter().chain(&apt).copied().collect(),
        Privilege::None => bail!(
            "system packages are missing and this needs root. Run this, then try again:\n\n    \
             sudo apt-get update && sudo apt-get install --no-install-recommends -y {}",
            missing.join(" ")
        ),
    };
    let update = [&prefix[..], &["update"]].concat();
    steps::run(&mut command(update[0], &update[1..]))?;
    let install = [&prefix[..], &["install", "--no-install-recommends", "-y"], &missing[..]].concat();
    steps::run(&mut command(install[0], &install[1..]))
}

enum Privilege {
    Root,
    Sudo,
    None,
}

fn may_install() -> Privilege {
    let id = command("id", &["-u"]).output();
    if id.is_ok_and(|output| output.stdout.trim_ascii() == b"0") {
        Privilege::Root
    } else if succeeds(command("sudo", &["-n", "true"])) {
        Privilege::Sudo
    } else {
        Privilege::None
    }
}

fn is_installed(package: &str) -> bool {
    let status = command("dpkg-query", &["--show", "--showformat=${db:Status-Status}", package]).output();
    status.is_ok_and(|output| output.status.success() && output.stdout == b"installed")
}

/// Other distributions name these packages differently; the most important ones can still be checked.
fn other_linux(packages: &[&str]) -> Result<()> {
    if succeeds(command("pkg-config", &["--exists", "webkit2gtk-4.1", "librsvg-2.0", "dbus-1"])) {
        say("this is not Debian or Ubuntu: only the webview's libraries were checked");
        return Ok(());
    }
    bail!(
        "the libraries the window is built from were not found, and packages can only be installed from here \
         on Debian and Ubuntu. Install what your distribution calls these, then try again:\n\n    {}",
        packages.join(" ")
    )
}

fn macos() -> Result<()> {
    if succeeds(command("xcode-select", &["--print-path"])) {
        say("Xcode's command line tools are there");
        return Ok(());
    }
    bail!("Xcode's command line tools are missing. Run this, then try again:\n\n    xcode-select --install")
}

fn windows() -> Result<()> {
    // Rust's own installer asks for the C++ build tools, and without them this program could not have been
    // linked. The webview is part of Windows 11 and of an updated Windows 10.
    let key = r"SOFTWARE\WOW6432Node\Microsoft\EdgeUpdate\Clients\{F3017226-FE2A-4295-8BDF-00C3A9A7E4C5}";
    let is_present = [format!(r"HKLM\{key}"), format!(r"HKCU\{}", key.replace(r"WOW6432Node\", ""))]
        .iter()
        .any(|key| succeeds(command("reg", &["query", key, "/v", "pv"])));
    if is_present {
        say("the WebView2 runtime is there");
        return Ok(());
    }
    bail!(
        "the WebView2 runtime is missing. Run this, then try again:\n\n    \
         winget install --exact --id Microsoft.EdgeWebView2Runtime"
    )
}

fn tools(project: &Project, purpose: Purpose) -> Result<()> {
    node()?;
    if purpose != Purpose::Test {
        return Ok(());
    }
    component(project, "fmt")?;
    component(project, "clippy")?;
    if !succeeds(project.cargo(["nextest", "--version"])) {
        let mut install = project.cargo(["install", "cargo-nextest", "--locked"]);
        steps::run(&mut install).context("cargo-nextest runs the tests")?;
    }
    Ok(())
}

/// Installs cargo's rustfmt or clippy.
fn component(project: &Project, component: &str) -> Result<()> {
    if succeeds(project.cargo([component, "--version"])) {
        return Ok(());
    }
    let name = if component == "fmt" { "rustfmt" } else { component };
    steps::run(&mut command("rustup", &["component", "add", name]))
        .with_context(|| format!("cargo {component} is missing"))
}

fn node() -> Result<()> {
    let output = command("node", &["--version"])
        .output()
        .context("Node is not installed or not on the path; Octo is built with Node 20.19 or newer")?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if !is_new_enough(&version) {
        bail!("Node {version} is too old: install 20.19 or newer (of 22, 22.12 or newer)");
    }
    say(&format!("Node {version}"));
    Ok(())
}

/// Vite's requirement: `^20.19.0 || >=22.12.0`.
fn is_new_enough(version: &str) -> bool {
    let mut numbers =
        version.trim_start_matches('v').split('.').map_while(|number| number.parse::<u32>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(20), Some(minor)) => minor >= 19,
        (Some(22), Some(minor)) => minor >= 12,
        (Some(major), _) => major > 22,
        _ => false,
    }
}

fn page(project: &Project) -> Result<()> {
    install_if_changed(&project.ui(), || project.npm(["ci", "--no-audit", "--no-fund"]))
}

/// Runs `npm ci` in a folder if its lock file differs from the last one installed.
fn install_if_changed(folder: &Path, install: impl FnOnce() -> Command) -> Result<()> {
    let lock = folder.join("package-lock.json");
    let lock_content = fs::read(&lock).with_context(|| lock.display().to_string())?;
    // Inside the folder it describes, so that both are deleted together.
    let stamp = folder.join("node_modules").join(".installed-lock.json");
    if fs::read(&stamp).is_ok_and(|installed| installed == lock_content) {
        say("the packages are those of the lock file");
        return Ok(());
    }
    steps::run(&mut install())?;
    fs::write(&stamp, lock_content).with_context(|| stamp.display().to_string())
}

/// Fetches the MiniWoB++ pages the browser tests use: the wheel of a list with its hash, unpacked but not
/// installed. None of its code runs here. Without a network the tests report that they were skipped; in
/// continuous integration they fail.
fn fetch_miniwob(project: &Project) -> Result<()> {
    let requirements =
        project.root.join("src-tauri/crates/octo-browser/tests/chromium/miniwob/requirements.txt");
    let folder = project.target.join("tmp").join("miniwob");
    fetch_if_changed(&requirements, &folder, || {
        let mut fetch = pip("download");
        fetch.arg("--dest").arg(&folder).arg("--requirement").arg(&requirements);
        if let Err(error) = steps::run(&mut fetch) {
            say(&format!(
                "the pages of MiniWoB++ could not be fetched, and their tests are left out: {error:#}"
            ));
            return Ok(Fetch::Unavailable);
        }
        let wheel = fs::read_dir(&folder)?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
            .context("pip fetched no wheel")?;
        let mut unpack = command("python3", &["-m", "zipfile", "--extract"]);
        steps::run(unpack.arg(&wheel).arg(&folder))?;
        Ok(Fetch::Complete)
    })
}

/// The outcome of a fetch that may fail.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fetch {
    Complete,
    Unavailable,
}

/// Fetches the packages of a list into an empty folder, unless the folder holds those of the same list.
fn fetch_if_changed(requirements: &Path, folder: &Path, fetch: impl FnOnce() -> Result<Fetch>) -> Result<()> {
    let content = fs::read(requirements).with_context(|| requirements.display().to_string())?;
    // Written last: a fetch that was cut off starts again.
    let stamp = folder.join("fetched");
    if fs::read(&stamp).is_ok_and(|fetched| fetched == content) {
        say("the packages are those of the list");
        return Ok(());
    }
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    match fetch()? {
        Fetch::Complete => fs::write(&stamp, content).with_context(|| stamp.display().to_string()),
        Fetch::Unavailable => Ok(()),
    }
}

/// Returns a command of pip that takes only wheels, checks their hashes and runs none of their code.
fn pip(subcommand: &str) -> Command {
    let mut pip = command("python3", &["-m", "pip", subcommand, "--quiet", "--disable-pip-version-check"]);
    pip.args(["--no-input", "--no-deps", "--only-binary", ":all:", "--require-hashes"]);
    pip
}

fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = tool(program);
    command.args(arguments);
    if program == "dpkg-query" {
        // The output is compared, so it must not be translated.
        command.env("LC_ALL", "C");
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_is_as_new_as_the_page_needs() {
        for version in ["v20.19.0", "v20.20.2", "v22.12.0", "v23.0.0", "v24.1.0-nightly"] {
            assert!(is_new_enough(version), "{version}");
        }
        for version in ["v20.18.3", "v18.20.0", "v21.7.0", "v22.11.0", "", "v", "node", "v20"] {
            assert!(!is_new_enough(version), "{version}");
        }
    }
}
