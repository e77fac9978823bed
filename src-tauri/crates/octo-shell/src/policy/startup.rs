//! Start-up files of shells. A shell runs them unconfined, so a line in one of them is a command that runs
//! without the person's approval: in the person's next terminal, and in the login shell that Octo itself
//! queries.

use super::{
    places::LineContext,
    scan::{Call, Scan},
    script::RedirectKind,
};
use crate::environment;
use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// Paths below the person's home, in addition to those of [`environment::startup_files`]. A folder includes
/// everything below it.
const OF_THE_PERSON: &[&str] = &[
    ".bash_aliases",
    ".bash_logout",
    ".config/fish",
    ".config/nushell",
    ".config/powershell",
    ".config/zsh",
    ".cshrc",
    ".inputrc",
    ".kshrc",
    ".login",
    ".logout",
    ".mkshrc",
    ".pam_environment",
    ".shrc",
    ".tcshrc",
    ".xonshrc",
    ".xprofile",
    ".xsessionrc",
    ".yashrc",
    ".zlogout",
    "Documents/PowerShell",
    "Documents/WindowsPowerShell",
    "Library/Application Support/nushell",
];

/// Paths of the machine.
const OF_THE_MACHINE: &[&str] = &[
    "/etc/csh.cshrc",
    "/etc/csh.login",
    "/etc/fish",
    "/etc/inputrc",
    "/etc/zlogin",
    "/etc/zsh",
    "/etc/zshrc",
];

/// The start-up files of the person's shells and of the machine, looked up on the disk once.
#[derive(Clone, Debug, Default)]
pub struct StartupFiles(OnceLock<Vec<PathBuf>>);

impl StartupFiles {
    /// Returns whether creating, changing or removing a real path changes the commands a shell runs at its
    /// start.
    pub(super) fn include(&self, path: &Path, around: &LineContext) -> bool {
        self.0.get_or_init(|| look_up(around)).iter().any(|file| {
            // A replacement of a parent folder also replaces the file; a new file in a parent folder does not.
            is_below(file, path) || (is_below(path, file) && !path.is_dir())
        })
    }

    /// Returns the first start-up file that a line would write, judging by its words.
    pub(super) fn written(&self, scan: &Scan, around: &LineContext) -> Option<PathBuf> {
        scan.calls.iter().find_map(|call| {
            let targets = targets(call);
            let places = targets
                .iter()
                .flat_map(|text| call.bases.iter().filter_map(|base| around.locate(text, base)))
                .filter_map(|place| octo_workspace::real(&place).ok());
            places.into_iter().find(|place| self.include(place, around))
        })
    }
}

/// Returns the real paths of all start-up files: a file of a dotfiles repository that the home links to is
/// included.
fn look_up(around: &LineContext) -> Vec<PathBuf> {
    let home = around.home.as_deref();
    let named = home.into_iter().flat_map(|home| OF_THE_PERSON.iter().map(|name| home.join(name)));
    let mut files: Vec<PathBuf> = environment::startup_files(home)
        .into_iter()
        .chain(named)
        .chain(OF_THE_MACHINE.iter().map(PathBuf::from))
        .map(|file| octo_workspace::real(&file).unwrap_or(file))
        .collect();
    files.sort();
    files.dedup();
    files
}

/// Whether a path equals another or lies below it. Ignores case, as many file systems do.
fn is_below(above: &Path, path: &Path) -> bool {
    let mut parts = path.components();
    above.components().all(|part| {
        parts.next().is_some_and(|other| OsStr::eq_ignore_ascii_case(part.as_os_str(), other.as_os_str()))
    })
}

/// Returns the targets a call writes, read from the words of common writing programs.
fn targets(call: &Call) -> Vec<String> {
    let written = call.redirects.iter().filter(|(kind, _)| *kind == RedirectKind::Write);
    let mut all: Vec<String> = written.map(|(_, target)| target.clone()).collect();
    let operands = call.operands();
    match call.name().as_str() {
        "tee" | "sponge" | "truncate" | "touch" | "ed" | "ex" | "patch" | "vi" | "vim" | "nvim" | "nano" => {
            all.extend(operands.iter().map(|text| (*text).to_owned()));
        }
        "sed" | "gsed" | "perl" | "ruby" if call.has(Some('i'), "in-place") => {
            all.extend(operands.iter().map(|text| (*text).to_owned()));
        }
        "cp" | "mv" | "ln" | "install" | "rsync" | "scp" => {
            // The target is the last word, or the value of `-t`, which is among the words too.
            let folders = operands.last().copied().into_iter().chain(target_folder(call));
            for folder in folders {
                all.push(folder.to_owned());
                all.extend(operands.iter().map(|source| super::changes::below(folder, source)));
            }
        }
        "dd" => all.extend(call.arguments().filter_map(|text| text.strip_prefix("of=")).map(str::to_owned)),
        "curl" | "wget" => {
            let words: Vec<&str> = call.arguments().collect();
            let named = words.windows(2).filter_map(|pair| match pair {
                ["-o" | "--output" | "-O" | "--output-document", file] => Some((*file).to_owned()),
                _ => None,
            });
            all.extend(named);
        }
        _ => {}
    }
    all
}

/// Returns the value of `-t` or `--target-directory`.
fn target_folder(call: &Call) -> Option<&str> {
    let mut words = call.arguments();
    words.find_map(|text| text.strip_prefix("--target-directory=")).or_else(|| {
        let mut words = call.arguments().skip_while(|text| !matches!(*text, "-t" | "--target-directory"));
        words.nth(1)
    })
}
