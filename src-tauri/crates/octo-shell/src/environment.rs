//! The environment commands run in.
//!
//! Octo may have been started from an icon, with almost no environment: version managers, `PATH` entries and
//! the like are only in the person's login shell. So that shell is asked once, lazily, and every command gets
//! what it answered. When a start-up file was changed since, it is asked again.

mod capture;
mod startup;

use octo_workspace::is_inside;
use startup::Stamp;
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
pub struct LoginEnvironment(Source);

#[derive(Clone, Debug)]
enum Source {
    /// Asked of the login shell.
    Shell(Arc<Asked>),
    /// Given.
    Fixed(Arc<Variables>),
}

/// What the login shell answered.
#[derive(Debug)]
struct Asked {
    /// What it is started with: the process's own variables.
    own: Variables,
    answer: Mutex<Option<Answer>>,
}

#[derive(Debug)]
struct Answer {
    /// The start-up files it came from.
    stamp: Stamp,
    variables: Arc<Variables>,
}

/// The answer all of this process share.
static PERSON: LazyLock<Arc<Asked>> = LazyLock::new(|| Arc::new(Asked::new(capture::own())));

impl Asked {
    fn new(own: Variables) -> Self {
        Self { own, answer: Mutex::default() }
    }

    /// What the shell answered, asked first where it was not yet, or where its start-up files are not what they were.
    /// A shell that does not answer again keeps its last answer.
    async fn variables(&self, secret: &[String]) -> Arc<Variables> {
        let mut answer = self.answer.lock().await;
        let own = self.own.clone();
        let looked = tokio::task::spawn_blocking(move || Stamp::now(&own)).await;
        if let (Some(known), Ok(stamp)) = (answer.as_ref(), &looked)
            && known.stamp == *stamp
        {
            return Arc::clone(&known.variables);
        }
        let stamp = looked.unwrap_or_else(|_| Stamp::now(&self.own));
        let asked = capture::login(&self.own, secret).await;
        let variables = match (asked, answer.as_ref()) {
            (Some(variables), _) => Arc::new(variables),
            (None, Some(known)) => Arc::clone(&known.variables),
            (None, None) => Arc::new(self.own.clone()),
        };
        *answer = Some(Answer { stamp, variables: Arc::clone(&variables) });
        variables
    }
}

impl LoginEnvironment {
    /// The environment of the person's login shell (`$SHELL`, else the one of their account, else `bash`). It is
    /// asked when the first command needs it, and again when a start-up file was changed, for at most ten seconds
    /// (and `bash` for as long where it does not answer); if none does, the process's own environment is what
    /// commands get.
    pub fn capture() -> Self {
        Self(Source::Shell(Arc::clone(&PERSON)))
    }

    /// Exactly these variables.
    pub fn fixed(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(Source::Fixed(Arc::new(variables.into_iter().collect())))
    }

    /// The variables, with those every command gets and without those none may see.
    pub(crate) async fn variables(&self, secret: &[String]) -> Variables {
        let source = match &self.0 {
            Source::Fixed(variables) => Arc::clone(variables),
            Source::Shell(asked) => asked.variables(secret).await,
        };
        let mut variables: Variables = source
            .iter()
            .filter(|(name, _)| !is_hidden(name, secret))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        for name in UNSET {
            variables.remove(*name);
        }
        variables.extend(SET.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        variables
    }
}

/// The start-up files of shells of a person with this home, and of the machine: those by name, and what the person's
/// variables name. Their login shell's variables count once it was asked, the process's own until then.
pub(crate) fn startup_files(home: Option<&Path>) -> Vec<PathBuf> {
    let answered =
        PERSON.answer.try_lock().ok().and_then(|answer| Some(Arc::clone(&answer.as_ref()?.variables)));
    startup_files_of(answered.as_deref().unwrap_or(&PERSON.own), home)
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

/// Whether commands must not see a variable.
pub(crate) fn is_hidden(name: &str, secret: &[String]) -> bool {
    name.starts_with("OCTO_") || secret.iter().any(|secret| secret == name)
}

/// What every command gets: a terminal that knows colours, and no program that waits for a key between pages.
const SET: &[(&str, &str)] = &[
    ("TERM", "xterm-256color"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("HISTFILE", "/dev/null"),
];

/// What no command gets: leftovers of the shell that was asked. Git may ask for a password: the question shows.
const UNSET: &[&str] =
    &["_", "SHLVL", "PWD", "OLDPWD", "GIT_TERMINAL_PROMPT", "PROMPT_COMMAND", "PS1", "COLUMNS", "LINES"];

/// The environment of a command nobody was asked about, out of the login environment: one in which the words
/// [`crate::judge`] looked at mean what they usually mean.
pub(crate) fn vetted(login: Variables, folder: &Path) -> Variables {
    let mut variables: Variables = login.into_iter().filter(|(name, _)| !bends(name)).collect();
    let path = variables.get("PATH").cloned().unwrap_or_default();
    variables.insert("PATH".to_owned(), searched(&path, folder));
    variables.extend(git_overrides());
    variables.extend(
        [
            ("GIT_PAGER", "cat"),
            // A single-byte locale may have blanks the policy does not know.
            ("LC_ALL", "C.UTF-8"),
            // No tool is fetched to answer a question for a version.
            ("GOTOOLCHAIN", "local"),
            ("RUSTUP_AUTO_INSTALL", "0"),
            ("COREPACK_ENABLE_DOWNLOAD_PROMPT", "0"),
            ("COREPACK_ENABLE_STRICT", "0"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    variables
}

/// Variables that change what a command of the policy's table does: start-up files and options of bash, exported
/// functions, options of the tools by environment, settings files they read.
fn bends(name: &str) -> bool {
    #[rustfmt::skip]
    const NAMES: &[&str] = &[
        "BASH_ENV", "BASHOPTS", "SHELLOPTS", "ENV", "CDPATH", "GLOBIGNORE", "IFS", "POSIXLY_CORRECT", "PS4",
        "GREP_OPTIONS", "RIPGREP_CONFIG_PATH", "MAGIC", "NODE_OPTIONS", "PYTHONSTARTUP", "RUBYOPT", "MAKEFLAGS",
        "EXECIGNORE", "RUSTUP_TOOLCHAIN", "LS_OPTIONS",
    ];
    NAMES.contains(&name) || name.starts_with("BASH_FUNC_") || bends_git(name)
}

/// Git takes settings, folders and programs from the environment.
pub(crate) fn bends_git(name: &str) -> bool {
    name.starts_with("GIT_")
}

/// Settings of git that hold over a repository's own: nothing named in the repository is started.
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
        // A folder that looks like a bare repository is none.
        ("safe.bareRepository", "explicit"),
        ("status.submoduleSummary", "false"),
        ("submodule.recurse", "false"),
    ];
    let mut variables = Variables::from([
        ("GIT_CONFIG_COUNT".to_owned(), SETTINGS.len().to_string()),
        // Nothing is written by the way, nothing is fetched.
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

/// Makes `folder` the first in which commands are looked for, and names it once.
pub(crate) fn put_first(variables: &mut Variables, folder: &Path) {
    let path = variables.get("PATH").map_or(USUAL_PATH, String::as_str);
    let others = std::env::split_paths(path).filter(|entry| entry != folder);
    let all = std::iter::once(folder.to_owned()).chain(others);
    // Only a folder with a colon in its name cannot be joined, and nothing would find it.
    if let Ok(joined) = std::env::join_paths(all) {
        variables.insert("PATH".to_owned(), joined.to_string_lossy().into_owned());
    }
}

/// Where commands are looked for when nobody says.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// `path` without entries that are relative or lie inside `folder`: what the session may write must not pose as
/// a tool.
pub(crate) fn searched(path: &str, folder: &Path) -> String {
    let folder = octo_workspace::real(folder).unwrap_or_else(|_| folder.to_owned());
    let kept: Vec<PathBuf> = std::env::split_paths(path)
        .filter(|entry| entry.is_absolute())
        .filter(|entry| octo_workspace::real(entry).is_ok_and(|entry| !is_inside(&folder, &entry)))
        .collect();
    let joined = std::env::join_paths(kept).unwrap_or_default().to_string_lossy().into_owned();
    if joined.is_empty() { USUAL_PATH.to_owned() } else { joined }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
