//! The environment of commands.
//!
//! Octo may have been started from an icon, with almost no environment: version managers, `PATH` entries and
//! the like are only in the person's login shell. Octo therefore queries that shell once, on first use, and
//! passes the result to every command. When a start-up file changes, it queries the shell again.

mod capture;
mod startup;

use octo_workspace::is_inside;
use startup::StartupStamp;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
};
use tokio::sync::Mutex;

/// Variables by name.
pub(crate) type Variables = BTreeMap<String, String>;

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
    own: Variables,
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
    LazyLock::new(|| Arc::new(LoginShellCache::new(capture::own())));

impl LoginShellCache {
    fn new(own: Variables) -> Self {
        Self { own, answer: Mutex::default() }
    }

    /// Returns the shell's variables; queries the shell first if it was not queried yet or its start-up files
    /// changed. If the shell fails later, its last answer is kept.
    async fn variables(&self, secret: &[String]) -> Arc<Variables> {
        let mut answer = self.answer.lock().await;
        let own = self.own.clone();
        let looked = tokio::task::spawn_blocking(move || StartupStamp::now(&own)).await;
        if let (Some(known), Ok(stamp)) = (answer.as_ref(), &looked)
            && known.stamp == *stamp
        {
            return Arc::clone(&known.variables);
        }
        let stamp = looked.unwrap_or_else(|_| StartupStamp::now(&self.own));
        let asked = capture::login(&self.own, secret).await;
        let variables = match (asked, answer.as_ref()) {
            (Some(variables), _) => Arc::new(variables),
            (None, Some(known)) => Arc::clone(&known.variables),
            (None, None) => Arc::new(self.own.clone()),
        };
        *answer = Some(LoginShellAnswer { stamp, variables: Arc::clone(&variables) });
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
    pub fn fixed(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(EnvironmentSource::Fixed(Arc::new(variables.into_iter().collect())))
    }

    /// Returns the variables, plus those every command gets and minus the hidden ones.
    pub(crate) async fn variables(&self, secret: &[String]) -> Variables {
        let source = match &self.0 {
            EnvironmentSource::Fixed(variables) => Arc::clone(variables),
            EnvironmentSource::Shell(asked) => asked.variables(secret).await,
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

/// The start-up files of shells of a person with this home, and of the machine: those by name, and what the person's
/// variables name. Their login shell's variables count once it was asked, the process's own until then.
pub(crate) fn startup_files(home: Option<&Path>) -> Vec<PathBuf> {
    let answered =
        PERSON_CACHE.answer.try_lock().ok().and_then(|answer| Some(Arc::clone(&answer.as_ref()?.variables)));
    startup_files_of(answered.as_deref().unwrap_or(&PERSON_CACHE.own), home)
}

fn startup_files_of(variables: &Variables, home: Option<&Path>) -> Vec<PathBuf> {
    let named = |name: &str| expanded(variables.get(name)?, home);
    let zsh = named("ZDOTDIR");
    let sourced = ["BASH_ENV", "ENV"].into_iter().filter_map(named);
    startup::files(home, zsh.as_deref()).chain(sourced).collect()
}

/// The absolute path a variable's value names; shells expand the home in it.
fn expanded(value: &str, home: Option<&Path>) -> Option<PathBuf> {
    let below_home = ["~/", "$HOME/", "${HOME}/"].iter().find_map(|start| value.strip_prefix(start));
    let path = match below_home {
        Some(rest) => home?.join(rest),
        None => PathBuf::from(value),
    };
    path.is_absolute().then_some(path)
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

/// Returns the environment of a command that runs without approval, derived from the login environment: in it,
/// the words [`crate::judge`] examined have their usual meaning.
pub(crate) fn vetted(login: Variables, folder: &Path) -> Variables {
    let mut variables: Variables = login.into_iter().filter(|(name, _)| !alters_commands(name)).collect();
    let path = variables.get("PATH").cloned().unwrap_or_default();
    variables.insert("PATH".to_owned(), searched(&path, folder));
    variables.extend(git_overrides());
    variables.extend(
        [
            ("GIT_PAGER", "cat"),
            // A single-byte locale may have blanks the policy does not know.
            ("LC_ALL", "C.UTF-8"),
            // A query for a version must not download a tool.
            ("GOTOOLCHAIN", "local"),
            ("RUSTUP_AUTO_INSTALL", "0"),
            ("COREPACK_ENABLE_DOWNLOAD_PROMPT", "0"),
            ("COREPACK_ENABLE_STRICT", "0"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    variables
}

/// Whether a variable changes the behaviour of a command in the policy's table: start-up files and options of
/// bash, exported functions, tool options, settings files.
fn alters_commands(name: &str) -> bool {
    #[rustfmt::skip]
    const NAMES: &[&str] = &[
        "BASH_ENV", "BASHOPTS", "SHELLOPTS", "ENV", "CDPATH", "GLOBIGNORE", "IFS", "POSIXLY_CORRECT", "PS4",
        "GREP_OPTIONS", "RIPGREP_CONFIG_PATH", "MAGIC", "NODE_OPTIONS", "PYTHONSTARTUP", "RUBYOPT", "MAKEFLAGS",
        "EXECIGNORE", "RUSTUP_TOOLCHAIN", "LS_OPTIONS",
    ];
    NAMES.contains(&name) || name.starts_with("BASH_FUNC_") || alters_git(name)
}

/// Whether a variable sets git's settings, folders or programs.
pub(crate) fn alters_git(name: &str) -> bool {
    name.starts_with("GIT_")
}

/// Returns git settings that override a repository's own: no program named in the repository is started.
pub(crate) fn git_overrides() -> Variables {
    const SETTINGS: &[(&str, &str)] = &[
        ("core.fsmonitor", "false"),
        ("core.hooksPath", "/dev/null"),
        ("core.pager", "cat"),
        ("core.editor", "false"),
        ("core.sshCommand", "false"),
        // `git diff` would write the index.
        ("diff.autoRefreshIndex", "false"),
        ("interactive.diffFilter", "cat"),
        ("log.showSignature", "false"),
        ("gpg.program", "false"),
        ("gpg.openpgp.program", "false"),
        ("gpg.x509.program", "false"),
        ("gpg.ssh.program", "false"),
        // A folder that looks like a bare repository does not count as one.
        ("safe.bareRepository", "explicit"),
        ("status.submoduleSummary", "false"),
        ("submodule.recurse", "false"),
    ];
    let mut variables = Variables::from([
        ("GIT_CONFIG_COUNT".to_owned(), SETTINGS.len().to_string()),
        // No incidental writes, no fetches.
        ("GIT_OPTIONAL_LOCKS".to_owned(), "0".to_owned()),
        ("GIT_NO_LAZY_FETCH".to_owned(), "1".to_owned()),
        ("GIT_ALLOW_PROTOCOL".to_owned(), "none".to_owned()),
        ("GIT_TERMINAL_PROMPT".to_owned(), "0".to_owned()),
    ]);
    for (at, (name, value)) in SETTINGS.iter().enumerate() {
        variables.insert(format!("GIT_CONFIG_KEY_{at}"), (*name).to_owned());
        variables.insert(format!("GIT_CONFIG_VALUE_{at}"), (*value).to_owned());
    }
    variables
}

/// Makes `folder` the first entry of `PATH`, without repeating it.
pub(crate) fn prepend_to_path(variables: &mut Variables, folder: &Path) {
    let path = variables.get("PATH").map_or(DEFAULT_PATH, String::as_str);
    let others = std::env::split_paths(path).filter(|entry| entry != folder);
    let all = std::iter::once(folder.to_owned()).chain(others);
    // Only a folder with a colon in its name cannot be joined, and no shell would find it.
    if let Ok(joined) = std::env::join_paths(all) {
        variables.insert("PATH".to_owned(), joined.to_string_lossy().into_owned());
    }
}

/// The `PATH` of commands if none is set.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Returns `path` without entries that are relative or inside `folder`: files the session may write must not
/// pose as tools.
pub(crate) fn searched(path: &str, folder: &Path) -> String {
    let folder = octo_workspace::real(folder).unwrap_or_else(|_| folder.to_owned());
    let kept: Vec<PathBuf> = std::env::split_paths(path)
        .filter(|entry| entry.is_absolute())
        .filter(|entry| octo_workspace::real(entry).is_ok_and(|entry| !is_inside(&folder, &entry)))
        .collect();
    let joined = std::env::join_paths(kept).unwrap_or_default().to_string_lossy().into_owned();
    if joined.is_empty() { DEFAULT_PATH.to_owned() } else { joined }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
