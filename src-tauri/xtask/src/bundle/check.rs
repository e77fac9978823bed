//! Checks packages from a user's view: installs them into an empty root, opens them on a private display, and
//! removes them.

mod contents;

use crate::{
    project::{Project, succeeds, tool},
    setup::{self, Purpose},
    steps::{Steps, say},
};
use anyhow::{Context as _, Result, bail};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Files a package does not and should not remove, because they belong to the person.
const KEPT_FILES_NOTE: &str = "what stays when Octo is removed: its home, and an entry in ~/.config/autostart if it was to start at \
                     login; Settings takes that one away";

/// The test that opens the installed app.
const OPEN_TEST: [&str; 2] =
    ["installed", "the_installed_program_opens_in_a_fresh_home_and_ends_with_its_window"];

/// A kind of package that can be installed into a separate root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PackageFormat {
    Deb,
    Rpm,
}

impl PackageFormat {
    fn of(package: &Path) -> Option<Self> {
        match package.extension()?.to_str()? {
            "deb" => Some(Self::Deb),
            "rpm" => Some(Self::Rpm),
            _ => None,
        }
    }

    /// Returns the program that installs it.
    fn installer(self) -> &'static str {
        match self {
            Self::Deb => "dpkg",
            Self::Rpm => "rpm",
        }
    }

    /// Returns the package's name as the installer knows it.
    fn name(self, package: &Path) -> Result<String> {
        let mut command = match self {
            Self::Deb => tool("dpkg-deb"),
            Self::Rpm => tool("rpm"),
        };
        match self {
            Self::Deb => command.arg("--field").arg(package).arg("Package"),
            Self::Rpm => command.args(["--query", "--queryformat", "%{NAME}", "--package"]).arg(package),
        };
        output_of(command)
    }

    /// Creates the installer's own state in an empty root.
    fn prepare(self, root: &Path) -> Result<()> {
        match self {
            Self::Deb => {
                let state = root.join("var/lib/dpkg");
                for folder in ["info", "updates", "triggers"] {
                    fs::create_dir_all(state.join(folder))?;
                }
                fs::write(state.join("status"), "")?;
                Ok(())
            }
            Self::Rpm => {
                fs::create_dir_all(root)?;
                let mut command = as_root("rpm");
                command.arg("--root").arg(root).arg("--initdb");
                output_of(command).map(drop)
            }
        }
    }

    /// Returns the install command. Dependencies are not in the root and are not checked: the app is opened on
    /// this system, which has them.
    fn install(self, package: &Path, root: &Path) -> Command {
        let mut command = self.in_root(root);
        match self {
            Self::Deb => command.arg("--install"),
            Self::Rpm => command.args(["--nosignature", "--install"]),
        };
        command.arg(package);
        command
    }

    fn remove(self, name: &str, root: &Path) -> Command {
        let mut command = self.in_root(root);
        match self {
            Self::Deb => command.arg("--purge"),
            Self::Rpm => command.arg("--erase"),
        };
        command.arg(name);
        command
    }

    fn in_root(self, root: &Path) -> Command {
        let mut command = as_root(self.installer());
        match self {
            Self::Deb => {
                command.args(["--force-depends", "--force-not-root", "--force-bad-path"]);
                command.arg(option("--root=", root)).arg(option("--log=", &root.join("var/dpkg.log")));
            }
            Self::Rpm => {
                command.arg("--nodeps").arg("--root").arg(root);
            }
        }
        command
    }
}

/// Checks packages, each in its own step.
///
/// # Errors
/// The first package's missing files, leftovers or failures.
pub(crate) fn run(project: &Project, steps: &mut Steps, packages: &[PathBuf]) -> Result<()> {
    if !cfg!(target_os = "linux") {
        bail!("packages are checked on Linux");
    }
    let stated: Vec<_> = packages
        .iter()
        .filter_map(|package| Some((PackageFormat::of(package)?, package.as_path())))
        .collect();
    if stated.is_empty() {
        bail!("there is no .deb and no .rpm to check");
    }
    setup::run(project, steps, Purpose::Packages)?;
    for (kind, package) in stated {
        let mut version = tool(kind.installer());
        version.arg("--version");
        if !succeeds(version) {
            say(&format!("not checked, since {} is not installed: {}", kind.installer(), package.display()));
            continue;
        }
        let root = project.target.join("package-check");
        let step = match kind {
            PackageFormat::Deb => "the .deb",
            PackageFormat::Rpm => "the .rpm",
        };
        steps.work(step, || check(kind, package, &root, |root| open(project, root)))?;
    }
    say(KEPT_FILES_NOTE);
    Ok(())
}

/// Installs a package into an empty root, checks the installed files, opens the app, and removes the package.
fn check(
    kind: PackageFormat,
    package: &Path,
    root: &Path,
    open: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    let package = std::path::absolute(package)?;
    if root.exists() {
        fs::remove_dir_all(root).with_context(|| format!("emptying {}", root.display()))?;
    }
    let name = kind.name(&package)?;
    kind.prepare(root)?;
    let files_before = files(root)?;
    output_of(kind.install(&package, root)).context("installing it")?;
    let installed: BTreeSet<String> = files(root)?.difference(&files_before).cloned().collect();
    say(&format!("{name}: {} files installed", installed.len()));
    let text_of = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
    let faults = contents::faults(&installed, &text_of(contents::DESKTOP), &text_of(contents::MIME));
    if !faults.is_empty() {
        bail!("{}:\n  {}", package.display(), faults.join("\n  "));
    }
    validate("desktop-file-validate", &[], &root.join(contents::DESKTOP))?;
    validate("appstreamcli", &["validate", "--no-net"], &root.join(contents::METAINFO))?;
    open(root)?;
    output_of(kind.remove(&name, root)).context("removing it")?;
    let leftover: Vec<String> = files(root)?.difference(&files_before).cloned().collect();
    if !leftover.is_empty() {
        bail!("it leaves behind:\n  {}", leftover.join("\n  "));
    }
    fs::remove_dir_all(root).with_context(|| format!("emptying {}", root.display()))
}

/// Opens the installed app in a separate desktop and home, and waits until its window shows the page.
fn open(project: &Project, root: &Path) -> Result<()> {
    let mut tests = project.workspace(["test", "--test", "window"]);
    tests
        .args(["--", "--ignored", "--exact", &OPEN_TEST.join("::")])
        .env("OCTO_APP", root.join(contents::PROGRAM))
        .env("RUST_LIB_BACKTRACE", "0");
    crate::steps::run(&mut tests)
}

/// Validates a file with the program for its format, if that is installed.
fn validate(program: &str, arguments: &[&str], file: &Path) -> Result<()> {
    let mut version = tool(program);
    version.arg("--version");
    // The validator for desktop files rejects the version option but runs, so it is installed.
    if version.output().is_err() {
        say(&format!("{program} is not installed: {} is not looked at by it", file.display()));
        return Ok(());
    }
    let mut command = tool(program);
    command.args(arguments).arg(file);
    output_of(command).map(drop)
}

/// Returns all files below a folder by their relative path, without the installer's own state.
fn files(root: &Path) -> Result<BTreeSet<String>> {
    let mut paths = BTreeSet::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))? {
            let entry = entry?;
            let path = entry.path();
            let relative = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            if relative == "var" {
                continue;
            }
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else {
                paths.insert(relative);
            }
        }
    }
    Ok(paths)
}

/// Runs a program as root, or as root of a user namespace, because only root can use another root folder.
fn as_root(program: &str) -> Command {
    let mut id = tool("id");
    id.arg("--user");
    if output_of(id).is_ok_and(|id| id == "0") {
        return tool(program);
    }
    let mut command = tool("unshare");
    command.args(["--map-root-user", "--", program]);
    command
}

fn option(name: &str, value: &Path) -> std::ffi::OsString {
    let mut option = std::ffi::OsString::from(name);
    option.push(value);
    option
}

/// Runs a command and returns its output.
///
/// # Errors
/// When it does not succeed, with its error output.
fn output_of(mut command: Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("{program} could not be started"))?;
    let [out, err] =
        [&output.stdout, &output.stderr].map(|stream| String::from_utf8_lossy(stream).into_owned());
    if !output.status.success() {
        bail!("{program}: {}\n{}{}", output.status, out.trim(), err.trim());
    }
    Ok(out.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_that_opens_the_package_exists() {
        let [_, name] = OPEN_TEST;
        // If no test had this name, none would run and the check would pass.
        assert!(include_str!("../../../../tests/window/installed.rs").contains(&format!("fn {name}()")));
    }

    #[test]
    fn a_package_format_follows_its_extension() {
        for (name, kind) in [
            ("Octo_0.1.0_amd64.deb", Some(PackageFormat::Deb)),
            ("Octo-0.1.0-1.x86_64.rpm", Some(PackageFormat::Rpm)),
            ("Octo_0.1.0_amd64.AppImage", None),
            ("deb", None),
        ] {
            assert_eq!(PackageFormat::of(Path::new(name)), kind, "{name}");
        }
    }

    /// Returns an empty folder for this test.
    #[cfg(target_os = "linux")]
    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("octo-xtask-{}-{name}", std::process::id()));
        if folder.exists() {
            fs::remove_dir_all(&folder).unwrap();
        }
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// Builds a package with these files in addition to the standard ones.
    #[cfg(target_os = "linux")]
    fn package(folder: &Path, extra_files: &[(&str, &str)]) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;

        let tree = folder.join("tree");
        let icons = ["32x32", "128x128", "512x512"]
            .map(|size| (format!("usr/share/icons/hicolor/{size}/apps/octo.png"), String::new()));
        let control = "Package: octo\nVersion: 1\nArchitecture: all\nMaintainer: x <x@example.org>\nDepends: nothing-like-it\nDescription: x\n";
        let usual_files = [
            ("DEBIAN/control", control),
            (contents::PROGRAM, "#!/bin/sh\n"),
            (contents::DESKTOP, contents::tests::DESKTOP_FILE),
            (contents::MIME, "<glob pattern=\"*.skill\"/>"),
            (contents::METAINFO, include_str!("../../../packaging/io.github.octo-agent.octo.metainfo.xml")),
            ("usr/share/doc/octo/copyright", "MIT"),
        ]
        .map(|(path, text)| (path.to_owned(), text.to_owned()));
        let extra_files = extra_files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        for (path, text) in usual_files.into_iter().chain(icons).chain(extra_files) {
            let path = tree.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let package = folder.join("octo.deb");
        let mut build = tool("dpkg-deb");
        build.args(["--root-owner-group", "--build"]).arg(&tree).arg(&package);
        output_of(build).unwrap();
        package
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_package_is_installed_opened_and_removed_without_a_trace() {
        let mut dpkg = tool("dpkg-deb");
        dpkg.arg("--version");
        if !succeeds(dpkg) {
            return;
        }
        let folder = folder("whole");
        let root = folder.join("root");
        let complete = package(&folder, &[]);
        let mut opened = false;
        check(PackageFormat::Deb, &complete, &root, |root| {
            opened = root.join(contents::PROGRAM).is_file();
            Ok(())
        })
        .unwrap();
        assert!(opened && !root.exists());

        // A package that creates a file and does not remove it.
        let leftover = check(PackageFormat::Deb, &complete, &root, |root| {
            fs::write(root.join("usr/bin/octo-left"), "")?;
            Ok(())
        });
        assert!(format!("{:#}", leftover.unwrap_err()).contains("usr/bin/octo-left"));
        assert!(check(PackageFormat::Deb, &complete, &root, |_| bail!("no window")).is_err());

        let stray = package(&folder, &[("opt/octo/stray", "")]);
        let error = check(PackageFormat::Deb, &stray, &root, |_| Ok(())).unwrap_err();
        assert!(format!("{error:#}").contains("opt/octo/stray"), "{error:#}");
        fs::remove_dir_all(folder).unwrap();
    }
}
