//! The environment of commands.
//!
//! Octo may have been started from an icon, with almost no environment: version managers, `PATH` entries and
//! the like are only in the person's login shell. Octo therefore queries that shell once, on first use, and
//! passes the result to every command. When a start-up file changes, it queries the shell again.

mod capture;
mod startup;

use octo_policy::{StartupFiles, Variables};
use octo_workspace::DEFAULT_PATH;
use startup::StartupStamp;
use std::{
    path::Path,
    sync::{Arc, LazyLock},
};
use tokio::sync::Mutex;

/// The person's login environment. Cheap to clone.
#[derive(Clone, Debug)]
pub struct LoginEnvironment(EnvironmentSource);

#[derive(Clone, Debug)]
enum EnvironmentSource {
    /// From the login shell.
    Shell(Arc<LoginShellCache>),
    /// Fixed.
    Fixed(Arc<Variables>),
}

/// The login shell's environment, cached.
#[derive(Debug)]
struct LoginShellCache {
    /// The process's own variables, with which the shell is started.
    process_variables: Variables,
    answer: Mutex<Option<LoginShellAnswer>>,
}

#[derive(Debug)]
struct LoginShellAnswer {
    /// The start-up files that produced it.
    stamp: StartupStamp,
    variables: Arc<Variables>,
}

/// Cached once per process.
static PERSON_CACHE: LazyLock<Arc<LoginShellCache>> =
    LazyLock::new(|| Arc::new(LoginShellCache::new(capture::process_variables())));

impl LoginShellCache {
    fn new(process_variables: Variables) -> Self {
        Self { process_variables, answer: Mutex::default() }
    }

    /// Returns the shell's variables; queries the shell first if it was not queried yet or its start-up files
    /// changed. If the shell fails later, its last answer is kept.
    async fn variables(&self, secret: &[String]) -> Arc<Variables> {
        let mut cached = self.answer.lock().await;
        let process_variables = self.process_variables.clone();
        let looked = tokio::task::spawn_blocking(move || StartupStamp::now(&process_variables)).await;
        if let (Some(answer), Ok(stamp)) = (cached.as_ref(), &looked)
            && answer.stamp == *stamp
        {
            return Arc::clone(&answer.variables);
        }
        let stamp = looked.unwrap_or_else(|_| StartupStamp::now(&self.process_variables));
        let queried = capture::query_login_shell(&self.process_variables, secret).await;
        let variables = match (queried, cached.as_ref()) {
            (Some(variables), _) => Arc::new(variables),
            (None, Some(answer)) => Arc::clone(&answer.variables),
            (None, None) => Arc::new(self.process_variables.clone()),
        };
        *cached = Some(LoginShellAnswer { stamp, variables: Arc::clone(&variables) });
        variables
    }
}

impl LoginEnvironment {
    /// Returns the environment of the person's login shell (`$SHELL`, else the one of their account, else
    /// `bash`). Octo queries it when the first command needs it, and again when a start-up file changed, for at
    /// most ten seconds (and `bash` for as long if it does not answer); if none does, commands get the
    /// process's own environment.
    pub fn capture() -> Self {
        Self(EnvironmentSource::Shell(Arc::clone(&PERSON_CACHE)))
    }

    /// Returns an environment of exactly these variables.
    pub fn from_variables(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(EnvironmentSource::Fixed(Arc::new(variables.into_iter().collect())))
    }

    /// Returns the variables, plus those every command gets and minus the hidden ones.
    pub(crate) async fn variables(&self, secret: &[String]) -> Variables {
        let source = match &self.0 {
            EnvironmentSource::Fixed(variables) => Arc::clone(variables),
            EnvironmentSource::Shell(shell_environment) => shell_environment.variables(secret).await,
        };
        let mut variables: Variables = source
            .iter()
            .filter(|(name, _)| !is_hidden(name, secret))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        for name in ALWAYS_UNSET {
            variables.remove(*name);
        }
        variables.extend(ALWAYS_SET.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        variables
    }
}

/// Returns the start-up files of the person's shells and of the machine. Those that variables name are taken from
/// the login shell once it was queried, and from the process's own variables until then.
pub fn startup_files() -> StartupFiles {
    let answered =
        PERSON_CACHE.answer.try_lock().ok().and_then(|cached| Some(Arc::clone(&cached.as_ref()?.variables)));
    StartupFiles::new(answered.as_deref().unwrap_or(&PERSON_CACHE.process_variables))
}

/// Whether a variable is hidden from commands.
pub(crate) fn is_hidden(name: &str, secret: &[String]) -> bool {
    name.starts_with("OCTO_") || secret.iter().any(|secret| secret == name)
}

/// Variables of every command: a terminal with colours, and no pager that waits for a key.
const ALWAYS_SET: &[(&str, &str)] = &[
    ("TERM", "xterm-256color"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("HISTFILE", "/dev/null"),
];

/// Variables removed from every command: leftovers of the queried shell. Git may ask for a password, because
/// the question is visible.
const ALWAYS_UNSET: &[&str] =
    &["_", "SHLVL", "PWD", "OLDPWD", "GIT_TERMINAL_PROMPT", "PROMPT_COMMAND", "PS1", "COLUMNS", "LINES"];

/// Makes `folder` the first entry of `PATH`, without repeating it.
pub(crate) fn prepend_to_path(variables: &mut Variables, folder: &Path) {
    let path = variables.get("PATH").map_or(DEFAULT_PATH, String::as_str);
    let other_folders = std::env::split_paths(path).filter(|entry| entry != folder);
    let folders = std::iter::once(folder.to_owned()).chain(other_folders);
    // Only a folder with a colon in its name cannot be joined, and no shell would find it.
    if let Ok(joined) = std::env::join_paths(folders) {
        variables.insert("PATH".to_owned(), joined.to_string_lossy().into_owned());
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
