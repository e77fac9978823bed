//! Start-up files of shells. A shell runs them where nothing confines it, so a line in one of them is a command
//! nobody was asked about: in the person's next terminal, and in the login shell that Octo itself asks.

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

/// Below the person's home, besides those [`environment::startup_files`] names. A folder stands for all below it.
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

/// Of the machine.
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
    /// Whether making, changing or removing a real path changes what a shell runs at its start.
    pub(super) fn include(&self, path: &Path, around: &LineContext) -> bool {
        self.0.get_or_init(|| look_up(around)).iter().any(|file| {
            // What takes the place of a folder above brings the file along; what is put into one does not.
            is_below(file, path) || (is_below(path, file) && !path.is_dir())
        })
    }

    /// The first start-up file a line would write, as far as its words tell.
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

/// All of them, real: a file of a dotfiles repository that the home links to is one.
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

/// Whether a path is another one or lies below it. Case is ignored, as many file systems do.
fn is_below(above: &Path, path: &Path) -> bool {
    let mut parts = path.components();
    above.components().all(|part| {
        parts.next().is_some_and(|other| OsStr::eq_ignore_ascii_case(part.as_os_str(), other.as_os_str()))
    })
}

/// What a call writes, by the words of those programs that are used for it.
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

/// What `-t` or `--target-directory` names.
fn target_folder(call: &Call) -> Option<&str> {
    let mut words = call.arguments();
    words.find_map(|text| text.strip_prefix("--target-directory=")).or_else(|| {
        let mut words = call.arguments().skip_while(|text| !matches!(*text, "-t" | "--target-directory"));
        words.nth(1)
    })
}
