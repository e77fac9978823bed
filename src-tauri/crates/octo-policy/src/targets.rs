//! Finds the files with a role that a line would write, even if its other effects are unknown.

use crate::{
    context::LineContext,
    roles::{self, FileRole},
    scan::{Call, Scan},
    script::RedirectKind,
    startup::StartupFiles,
};
use std::path::PathBuf;

/// A file with a role that a line would write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleChange {
    /// The file.
    pub path: PathBuf,
    /// Its role.
    pub role: FileRole,
}

/// Returns the first file that a line would write and that a shell or another program runs; `None` if it writes none.
pub(crate) fn changed_role(scan: &Scan, context: &LineContext, startup: &StartupFiles) -> Option<RoleChange> {
    scan.calls.iter().find_map(|call| {
        let targets = targets(call);
        let paths = targets
            .iter()
            .flat_map(|text| call.directories.iter().filter_map(|directory| context.locate(text, directory)))
            .filter_map(|path| octo_workspace::resolve_links(&path).ok());
        paths.into_iter().find_map(|path| {
            let role = roles::role(&path, context, startup)?;
            matches!(role, FileRole::Startup | FileRole::Code).then_some(RoleChange { path, role })
        })
    })
}

/// Returns the paths that a call of a common writing program writes, from its words.
fn targets(call: &Call) -> Vec<String> {
    let written = call.redirects.iter().filter(|(kind, _)| *kind == RedirectKind::Write);
    let mut all: Vec<String> = written.map(|(_, target)| target.clone()).collect();
    let operands = call.operands();
    match call.name().as_str() {
        "tee" | "sponge" | "truncate" | "touch" | "ed" | "ex" | "patch" | "vi" | "vim" | "nvim" | "nano" => {
            all.extend(operands.iter().map(|text| (*text).to_owned()));
        }
        "sed" | "gsed" | "perl" | "ruby" if call.has_option(Some('i'), "in-place") => {
            all.extend(operands.iter().map(|text| (*text).to_owned()));
        }
        "cp" | "mv" | "ln" | "install" | "rsync" | "scp" => {
            // The target is the last word, or the value of `-t`, which is among the words too.
            let folders = operands.last().copied().into_iter().chain(target_folder(call));
            for folder in folders {
                all.push(folder.to_owned());
                all.extend(operands.iter().map(|source| crate::changes::below(folder, source)));
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
