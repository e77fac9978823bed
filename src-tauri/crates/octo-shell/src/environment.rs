//! The environment of commands.
//!
//! Octo may have been started from an icon, with almost no environment: version managers, `PATH` entries and
//! the like are only in the person's login shell. Octo therefore queries that shell once, on first use, and
//! passes the result to every command. When a start-up file changes, it queries the shell again.
//!
//! The agent may have changed what the shell reads: the start-up files of a session whose folder is the home, or files
//! they read in turn. So the shell runs in a sandbox, always, and its answer is trusted no more than a command's output:
//! see [`LoginEnvironment::of_unattended`] and [`LoginEnvironment::of_hook`].

mod capture;
#[cfg(unix)]
mod login_process;
#[cfg(unix)]
mod login_shell;
mod startup;

pub use capture::LoginSandbox;

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
    Shell(Arc<LoginShellCache>, Arc<LoginSandbox>),
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
    async fn variables(&self, secret: &[String], sandbox: &LoginSandbox) -> Arc<Variables> {
        let mut cached = self.answer.lock().await;
        let process_variables = self.process_variables.clone();
        let looked = tokio::task::spawn_blocking(move || StartupStamp::now(&process_variables)).await;
        if let (Some(answer), Ok(stamp)) = (cached.as_ref(), &looked)
            && answer.stamp == *stamp
        {
            return Arc::clone(&answer.variables);
        }
        let stamp = looked.unwrap_or_else(|_| StartupStamp::now(&self.process_variables));
        let queried = capture::query_login_shell(&self.process_variables, secret, sandbox).await;
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
    /// `bash`). Octo queries it in a sandbox when the first command needs it, and again when a start-up file changed,
    /// for at most ten seconds (and `bash` for as long if it does not answer); if none does, or the system has no
    /// sandbox, commands get the process's own environment.
    pub fn capture(sandbox: LoginSandbox) -> Self {
        Self(EnvironmentSource::Shell(Arc::clone(&PERSON_CACHE), Arc::new(sandbox)))
    }

    /// Returns an environment of exactly these variables.
    pub fn from_variables(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(EnvironmentSource::Fixed(Arc::new(variables.into_iter().collect())))
    }

    /// Returns the variables, plus those every command gets and minus the hidden ones.
    pub(crate) async fn variables(&self, secret: &[String]) -> Variables {
        let source = match &self.0 {
            EnvironmentSource::Fixed(variables) => Arc::clone(variables),
            EnvironmentSource::Shell(cache, sandbox) => cache.variables(secret, sandbox).await,
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

    /// Returns the environment of a command that runs without approval, derived from [`Self::variables`]. The home and
    /// the folder of settings are those Octo itself has: the policy judged the line with these.
    pub(crate) fn of_unattended(&self, variables: Variables, folder: &Path) -> Variables {
        let mut unattended = octo_policy::unattended(variables, folder);
        if let EnvironmentSource::Shell(cache, _) = &self.0 {
            for name in ["HOME", "XDG_CONFIG_HOME"] {
                match cache.process_variables.get(name) {
                    Some(value) => drop(unattended.insert(name.to_owned(), value.clone())),
                    // Without one, the account's home is the home to both.
                    None if name == "HOME" => {}
                    None => drop(unattended.remove(name)),
                }
            }
        }
        unattended
    }

    /// Returns the environment of a hook, which nothing confines, derived from [`Self::variables`]: without variables
    /// that make its programs load or run files they do not name.
    pub(crate) fn of_hook(&self, mut variables: Variables) -> Variables {
        const LOADING: &[&str] = &[
            "BASH_ENV",
            "ENV",
            "BASHOPTS",
            "SHELLOPTS",
            "PS4",
            "PERL5OPT",
            "PYTHONSTARTUP",
            "RUBYOPT",
            "NODE_OPTIONS",
        ];
        const LOADING_PREFIXES: &[&str] = &["LD_", "DYLD_", "BASH_FUNC_", "GIT_"];
        let own = match &self.0 {
            EnvironmentSource::Shell(cache, _) => &cache.process_variables,
            EnvironmentSource::Fixed(fixed) => fixed.as_ref(),
        };
        // What Octo was started with is the person's.
        variables.retain(|name, value| {
            let is_loading = LOADING.contains(&name.as_str())
                || LOADING_PREFIXES.iter().any(|start| name.starts_with(start));
            !is_loading
                || own.get(name) == Some(value)
                || ALWAYS_SET.contains(&(name.as_str(), value.as_str()))
        });
        variables
    }
}

/// Returns the start-up files of the person's shells and of the machine. Those that variables name are taken from
/// the process's own variables, and from the login shell once it was queried.
pub fn startup_files() -> StartupFiles {
    let answered =
        PERSON_CACHE.answer.try_lock().ok().and_then(|cached| Some(Arc::clone(&cached.as_ref()?.variables)));
    let environments: Vec<&Variables> =
        [&PERSON_CACHE.process_variables].into_iter().chain(answered.as_deref()).collect();
    StartupFiles::new(&environments)
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
