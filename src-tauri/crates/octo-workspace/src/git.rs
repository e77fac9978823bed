//! Git as Octo runs it itself.
//!
//! A repository's settings and attributes make git start programs, and so do the settings in the person's home. The
//! agent may have written them, and nothing confines what Octo starts. [`git_command`] therefore makes every git
//! command of Octo's own: it only reads, and starts no program that a setting names. [`git_answer`] adds
//! what depends on the repository.

use crate::{is_inside, resolve_links};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The `PATH` of commands if none is set.
pub const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A file without settings.
const NO_SETTINGS: &str = if cfg!(windows) { "NUL" } else { "/dev/null" };

/// Settings that replace those of the repository, the person and the system.
const OVERRIDES: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    // A commit would print differences.
    ("commit.verbose", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.editor", "false"),
    ("core.sshCommand", "false"),
    ("core.askPass", "false"),
    ("core.alternateRefsCommand", "false"),
    ("sequence.editor", "false"),
    // An empty value removes the helpers named before.
    ("credential.helper", ""),
    // `git diff` would write the index.
    ("diff.autoRefreshIndex", "false"),
    ("interactive.diffFilter", "cat"),
    ("log.showSignature", "false"),
    ("gpg.program", "false"),
    ("gpg.openpgp.program", "false"),
    ("gpg.x509.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.ssh.defaultKeyCommand", "false"),
    // A folder that looks like a bare repository does not count as one.
    ("safe.bareRepository", "explicit"),
    ("status.submoduleSummary", "false"),
    ("submodule.recurse", "false"),
];

/// The person's own settings in a git command of Octo's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PersonalSettings {
    /// They apply, as to a command of the person's.
    Apply,
    /// They do not, nor do those of the system.
    Ignored,
}

/// Whether a variable sets git's settings, folders or programs.
pub fn alters_git(name: &str) -> bool {
    name.starts_with("GIT_")
}

/// Returns variables with which no setting that applies to every repository makes git start a program, write
/// incidentally, or fetch. Filters, converters and merge drivers have names of their own, so variables cannot switch
/// them off; nor can they switch off `diff.external`.
pub fn git_overrides() -> BTreeMap<String, String> {
    overrides(OVERRIDES.iter().map(|(name, value)| ((*name).to_owned(), *value)))
}

fn overrides<'a>(settings: impl Iterator<Item = (String, &'a str)>) -> BTreeMap<String, String> {
    let mut variables: BTreeMap<String, String> = [
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_ALLOW_PROTOCOL", "none"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_PAGER", "cat"),
        // Settings may name files to write traces to.
        ("GIT_TRACE2", "0"),
        ("GIT_TRACE2_EVENT", "0"),
        ("GIT_TRACE2_PERF", "0"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    let mut count = 0;
    for (name, value) in settings {
        variables.insert(format!("GIT_CONFIG_KEY_{count}"), name);
        variables.insert(format!("GIT_CONFIG_VALUE_{count}"), value.to_owned());
        count += 1;
    }
    variables.insert("GIT_CONFIG_COUNT".to_owned(), count.to_string());
    variables
}

/// Returns the variables of a git command of Octo's own.
pub fn git_variables(personal: PersonalSettings) -> BTreeMap<String, String> {
    let mut variables = git_overrides();
    if personal == PersonalSettings::Ignored {
        variables.extend(
            [("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", NO_SETTINGS), ("GIT_ATTR_NOSYSTEM", "1")]
                .map(|(name, value)| (name.to_owned(), value.to_owned())),
        );
    }
    variables
}

/// Returns `path` without entries that are relative or inside `folder`: files the session may write must not
/// pose as tools.
pub fn trusted_path(path: &str, folder: &Path) -> String {
    let folder = resolve_links(folder).unwrap_or_else(|_| folder.to_owned());
    let trusted: Vec<PathBuf> = std::env::split_paths(path)
        // An entry that is not UTF-8 would become another one.
        .filter(|entry| entry.is_absolute() && entry.to_str().is_some())
        .filter(|entry| resolve_links(entry).is_ok_and(|entry| !is_inside(&folder, &entry)))
        .collect();
    let joined = std::env::join_paths(trusted).unwrap_or_default();
    let joined = joined.to_str().unwrap_or_default().to_owned();
    if joined.is_empty() { DEFAULT_PATH.to_owned() } else { joined }
}

/// Returns a git command of Octo's own, which runs in `folder`: the machine's git, no file of the folder, and without
/// the variables of this process that alter git. `None` if there is no git.
pub fn git_command(folder: &Path, personal: PersonalSettings) -> Option<Command> {
    let path = std::env::var("PATH").unwrap_or_else(|_| DEFAULT_PATH.to_owned());
    let path = trusted_path(&path, folder);
    let name = if cfg!(windows) { "git.exe" } else { "git" };
    let program = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|git| git.is_file())?;
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os().filter(|(name, _)| alters_git(&name.to_string_lossy())) {
        command.env_remove(name);
    }
    command.envs(git_variables(personal)).env("PATH", path).current_dir(folder).stdin(Stdio::null());
    Some(command)
}

/// Returns what `git` with these arguments prints in a folder, or `None` if it fails. It applies the person's settings,
/// as the command does that the answer is about, and starts no program that they or the repository name: no filter,
/// converter, external diff, hook, monitor, pager or helper.
pub fn git_answer(folder: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = git_command(folder, PersonalSettings::Apply)?;
    if reads_files(arguments) {
        let off = filters_off(folder)?;
        let off = off.iter().flat_map(|filter| {
            let setting = |end: &str, value| (format!("{filter}.{end}"), value);
            [
                setting("clean", ""),
                setting("smudge", ""),
                setting("process", ""),
                setting("required", "false"),
            ]
        });
        let fixed = OVERRIDES.iter().map(|(name, value)| ((*name).to_owned(), *value));
        command.envs(overrides(fixed.chain(off)));
    }
    let output = command.args(harmless_arguments(arguments)).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a query may read files of the working tree, for which git starts filters.
fn reads_files(arguments: &[&str]) -> bool {
    const WITHOUT_FILES: &[&str] = &["cat-file", "config", "rev-parse"];
    arguments.first().is_some_and(|verb| !WITHOUT_FILES.contains(verb))
}

/// Returns the filters that any setting names, as `filter.NAME`.
fn filters_off(folder: &Path) -> Option<BTreeSet<String>> {
    let mut command = git_command(folder, PersonalSettings::Apply)?;
    let output =
        command.args(["config", "--list", "--null", "--name-only"]).stderr(Stdio::null()).output().ok()?;
    if !output.status.success() {
        return None;
    }
    // A name that is not text cannot be switched off.
    let names = String::from_utf8(output.stdout).ok()?;
    let filters = names.split('\0').filter(|name| name.starts_with("filter."));
    Some(filters.filter_map(|name| Some(name.rsplit_once('.')?.0.to_owned())).collect())
}

/// Returns the arguments with those added that keep git from starting external diffs and converters, and from looking
/// into submodules, which have settings of their own.
fn harmless_arguments<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    const NO_PROGRAMS: &[&str] = &["--no-ext-diff", "--no-textconv"];
    let (verbs, added) = match arguments {
        ["diff" | "diff-tree" | "log" | "show", ..] => (1, NO_PROGRAMS),
        ["stash", "show" | "list", ..] => (2, NO_PROGRAMS),
        ["grep", ..] => (1, &["--no-textconv"][..]),
        _ => (0, &[][..]),
    };
    let (before, after) = arguments.split_at(verbs.min(arguments.len()));
    let submodules = (verbs > 0 && added == NO_PROGRAMS).then_some("--ignore-submodules=all");
    before.iter().chain(added).copied().chain(submodules).chain(after.iter().copied()).collect()
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
