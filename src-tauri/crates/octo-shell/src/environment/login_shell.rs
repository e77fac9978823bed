//! The login shell that is queried, in a sandbox in which it changes nothing.
//!
//! The shell reads what a command of a session may read, and writes only to a private temporary folder, which is
//! removed afterwards. It has no terminal of Octo's, and its processes end with the query.

use super::{
    capture::LoginSandbox,
    login_process::{self, LoginStart},
};
use crate::Confinement;
use nix::unistd::{Uid, User};
use octo_policy::Variables;
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// The time limit of a login shell. Heavy start-up files take a second or two.
pub(super) const QUERY_TIMEOUT: Duration = Duration::from_secs(10);

/// Variables that name where temporary files belong. The last one is zsh's, for its here-documents.
const TEMPORARY: &[&str] = &["TMPDIR", "TMPPREFIX"];

/// Queries the person's shell, and `bash` if that one does not understand. `None` if none answers, or the system
/// cannot confine it.
pub(super) fn query(inherited: &Variables, sandbox: &LoginSandbox) -> Option<Variables> {
    let account = User::from_uid(Uid::current()).ok().flatten();
    let mut inherited = inherited.clone();
    // Variables set by a login, but perhaps not for an icon.
    if let Some(account) = &account {
        for (name, value) in [("HOME", account.dir.display().to_string()), ("USER", account.name.clone())] {
            inherited.entry(name.to_owned()).or_insert(value);
        }
        inherited.entry("LOGNAME".to_owned()).or_insert_with(|| account.name.clone());
    }
    inherited.entry("PATH".to_owned()).or_insert_with(|| "/usr/local/bin:/usr/bin:/bin".to_owned());
    let preferred = inherited.get("SHELL").map(PathBuf::from).or(account.map(|user| user.shell));
    let mut shells: Vec<PathBuf> = preferred.into_iter().filter(|shell| shell.is_file()).collect();
    if !shells.iter().any(|shell| shell.ends_with("bash")) {
        shells.push(PathBuf::from("/bin/bash"));
    }
    shells.iter().find_map(|shell| query_shell(shell, &inherited, sandbox))
}

/// Runs the shell and returns its environment. Its input is empty, so start-up files that ask a question get no
/// answer instead of waiting.
pub(super) fn query_shell(shell: &Path, inherited: &Variables, sandbox: &LoginSandbox) -> Option<Variables> {
    // In Octo's home, where no command of a session can put something else in its place.
    let temporary = tempfile::Builder::new()
        .prefix(".login-")
        .tempdir_in(&sandbox.octo)
        .inspect_err(|error| tracing::warn!(%error, "the login shell has no folder for temporary files"))
        .ok()?;
    let folder = octo_workspace::resolve_links(temporary.path()).ok()?;
    let home = inherited.get("HOME").map(PathBuf::from);
    let home = home.and_then(|home| octo_workspace::resolve_links(&home).ok());
    let mut variables = inherited.clone();
    variables.insert("TERM".to_owned(), "xterm-256color".to_owned());
    variables.insert("HISTFILE".to_owned(), "/dev/null".to_owned());
    variables.insert("TMPDIR".to_owned(), folder.display().to_string());
    variables.insert("TMPPREFIX".to_owned(), folder.join("zsh").display().to_string());
    let marker = uuid::Uuid::new_v4().simple().to_string();
    let started = login_process::run(&LoginStart {
        shell,
        question: format!("printf '%s\\n' {marker}; command env -0; printf '%s\\n' {marker}"),
        end: format!("{marker}\n"),
        variables: &variables,
        folder: home.as_deref().filter(|home| home.is_dir()).unwrap_or(Path::new("/")),
        temporary: &folder,
        confinement: Confinement {
            writable: vec![folder.clone()],
            enterable: Vec::new(),
            secrets: Vec::new(),
            home: home.clone(),
            octo: sandbox.octo.clone(),
            octo_others: sandbox.octo_others.clone(),
            octo_readable: Vec::new(),
        },
        supervision: &sandbox.supervision,
    });
    let output = started
        .inspect_err(
            |error| tracing::warn!(shell = %shell.display(), %error, "the login shell was not queried"),
        )
        .ok()?;
    let mut answer = parse(&output, &marker)?;
    // fish notes here that it could not write.
    answer.retain(|name, _| !name.starts_with("_FISH_WARNED"));
    // A path of the temporary folder, as a value or within it, means nothing from now on.
    let names = |value: &String| value.contains(&*folder.to_string_lossy());
    let stale: Vec<String> =
        answer.iter().filter(|(_, value)| names(value)).map(|(name, _)| name.clone()).collect();
    for name in stale.iter().map(String::as_str).chain(TEMPORARY.iter().copied()) {
        match inherited.get(name) {
            Some(value) => drop(answer.insert(name.to_owned(), value.clone())),
            None => drop(answer.remove(name)),
        }
    }
    Some(answer)
}

/// Returns the variables between two markers, without other output of start-up files.
fn parse(output: &[u8], marker: &str) -> Option<Variables> {
    let output = String::from_utf8_lossy(output);
    let (_, after) = output.split_once(&format!("{marker}\n"))?;
    let (listing, _) = after.split_once(marker)?;
    let variables: Variables = listing
        .split('\0')
        .filter_map(|entry| entry.split_once('='))
        // A value that is not UTF-8 would be altered.
        .filter(|(name, value)| !name.is_empty() && !value.contains('\u{fffd}'))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    variables.contains_key("PATH").then_some(variables)
}

#[cfg(test)]
mod tests;
