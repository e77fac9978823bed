//! The state that one command of a session passes to the next: directory, exported variables, functions.
//!
//! Each command writes its state when it ends (in a trap, see [`SCRIPT`]). The session keeps the difference from the
//! login environment in memory, and in a file so that it survives the process. A command that ends without writing its
//! state (`exec`, a kill) changes nothing.

use super::current_dir::{ClosedFolders, CurrentDir};
use crate::environment::is_hidden;
use octo_policy::Variables;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeSet,
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

/// Maximum size of carried variables and functions, in bytes; far above any state set by hand.
const MAX_CARRIED: usize = 512 * 1024;

/// The format version of the file.
const VERSION: u32 = 1;

/// The carried state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CarriedState {
    version: u32,
    /// The session's folder when this was written. With another folder the directory is reset.
    folder: PathBuf,
    /// The current directory; `None` for the session's folder.
    directory: Option<PathBuf>,
    /// Variables that were added or changed.
    set: Variables,
    /// Variables of the login environment that were removed.
    unset: BTreeSet<String>,
    /// Function definitions, as bash prints them.
    functions: String,
}

/// The state a command wrote when it ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FinalState {
    /// The directory it stood in; `None` if that no longer exists at its path.
    directory: Option<PathBuf>,
    variables: Variables,
    functions: String,
}

/// The state a command started with, apart from the carried one.
pub(super) struct InitialState<'a> {
    /// The session's folder.
    pub folder: &'a Path,
    /// The directory that the call names. If the command ends in it, the carried directory stays.
    pub call_folder: Option<&'a Path>,
    /// The login environment.
    pub login: &'a Variables,
    /// Variables of this call only.
    pub overrides: &'a [(String, String)],
    /// Variables hidden from commands.
    pub secret: &'a [String],
    /// The folders in which no command is left standing.
    pub closed: &'a ClosedFolders,
}

/// The trap. `@STATE@` is the file. It works regardless of the command's changes to shell options, and it keeps
/// the command's exit status, because it does not call `exit` itself. It writes an empty directory if another one
/// is at the path by now: `pwd -P` follows the names, and a link may have replaced one.
pub(super) const SCRIPT: &str = r#"__octo_keep() {
builtin trap - EXIT
builtin set +a +e +u +x +v +n
builtin local __octo_directory=
{
__octo_directory=$(
builtin pwd -P
builtin printf x
)
__octo_directory=${__octo_directory%x}
[[ . -ef ${__octo_directory%$'\n'} ]] || __octo_directory=$'\n'
builtin printf '%s\0' "$__octo_directory"
IFS=$'\n'
builtin set -f
for __octo_name in $(builtin compgen -e); do builtin printf '%s=%s\0' "$__octo_name" "${!__octo_name}"; done
builtin printf '\0'
builtin unset -f __octo_keep
builtin declare -f
builtin printf '\0'
builtin declare -F
builtin printf '\0end\0'
} >| @STATE@ 2>/dev/null
}
builtin trap __octo_keep EXIT
"#;

/// Parses the trap's output; `None` if it is incomplete.
pub(super) fn read(state: &[u8]) -> Option<FinalState> {
    if state.len() > 4 * MAX_CARRIED {
        return None;
    }
    let state = std::str::from_utf8(state).ok()?.strip_suffix("\0end\0")?;
    let (directory, remaining) = state.split_once("\n\0")?;
    // Variables end with an empty one, where two NUL bytes meet.
    let (variables, remaining) = match remaining.strip_prefix('\0') {
        Some(remaining) => ("", remaining),
        None => remaining.split_once("\0\0")?,
    };
    let (functions, declarations) = remaining.split_once('\0')?;
    let exported = declarations.lines().filter_map(|line| line.strip_prefix("declare -fx "));
    let functions = exported.fold(functions.to_owned(), |joined, name| format!("{joined}export -f {name}\n"));
    let variables = variables
        .split('\0')
        .filter_map(|entry| entry.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let directory = Some(PathBuf::from(directory)).filter(|directory| !directory.as_os_str().is_empty());
    Some(FinalState { directory, variables, functions })
}

impl CarriedState {
    /// Loads the session's file; empty if it is missing or broken.
    pub(super) fn load(file: &Path) -> Self {
        let carry = fs::read(file).ok().and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        carry.filter(|carry| carry.version == VERSION).unwrap_or_default()
    }

    /// Writes the session's file atomically, readable only by its owner.
    pub(super) fn save(&self, file: &Path) -> io::Result<()> {
        let folder = file.parent().ok_or(io::ErrorKind::InvalidInput)?;
        // A temporary file is readable only by its owner.
        let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
        temporary.write_all(&serde_json::to_vec(self)?)?;
        temporary.persist(file)?;
        Ok(())
    }

    /// Returns the current directory of commands.
    pub(super) fn directory(&self, folder: &Path, closed: &ClosedFolders) -> CurrentDir {
        match self.directory.as_deref().filter(|_| self.folder == folder) {
            Some(directory) => closed.current_dir(directory, folder),
            None => CurrentDir { path: folder.to_owned(), lost: None },
        }
    }

    /// Makes a directory the current one.
    pub(super) fn enter(&mut self, folder: &Path, directory: PathBuf) {
        self.version = VERSION;
        self.folder = folder.to_owned();
        self.directory = Some(directory);
    }

    /// Returns the environment a command starts with.
    pub(super) fn variables(&self, login: &Variables) -> Variables {
        let mut variables = login.clone();
        variables.retain(|name, _| !self.unset.contains(name));
        variables.extend(self.set.clone());
        variables
    }

    /// Returns the function definitions to read before a command.
    pub(super) fn functions(&self) -> &str {
        &self.functions
    }

    /// Takes over the directory from an ended command. Returns the directory it ended in if no command can stand
    /// there: the nearest folder above it is the current directory then.
    pub(super) fn take_directory(
        &mut self,
        final_state: &FinalState,
        initial_state: &InitialState<'_>,
    ) -> Option<PathBuf> {
        let current = |directory: &Path| initial_state.closed.current_dir(directory, initial_state.folder);
        let last_directory = final_state.directory.as_deref().filter(|directory| directory.is_absolute());
        let last = match last_directory.map(current) {
            Some(found @ CurrentDir { lost: None, .. }) => found,
            // The shell's own variable has the path by which the command entered it.
            found => {
                match final_state.variables.get("PWD").map(Path::new).filter(|path| path.is_absolute()) {
                    Some(entered) => CurrentDir { lost: Some(entered.to_owned()), ..current(entered) },
                    None => found?,
                }
            }
        };
        let ended_in = Some(last.lost.as_deref().unwrap_or(&last.path));
        let current = self.directory.as_deref().filter(|_| self.folder == initial_state.folder);
        let lost_current = last.lost.is_some() && current == ended_in;
        if initial_state.call_folder == ended_in && !lost_current {
            return None;
        }
        self.enter(initial_state.folder, last.path);
        last.lost
    }

    /// Takes over everything from an ended command. Returns what [`CarriedState::take_directory`] returns.
    pub(super) fn take_state(
        &mut self,
        final_state: &FinalState,
        initial_state: &InitialState<'_>,
    ) -> Option<PathBuf> {
        let lost = self.take_directory(final_state, initial_state);
        let is_override = |name: &str| initial_state.overrides.iter().any(|(own, _)| own == name);
        let mut set: Variables = final_state
            .variables
            .iter()
            .filter(|(name, value)| initial_state.login.get(*name) != Some(*value))
            .filter(|(name, _)| {
                is_carried(name) && !is_override(name) && !is_hidden(name, initial_state.secret)
            })
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let mut unset: BTreeSet<String> = initial_state
            .login
            .keys()
            .filter(|name| {
                is_carried(name) && !is_override(name) && !final_state.variables.contains_key(*name)
            })
            .cloned()
            .collect();
        // A variable of one call hides the carried one, and does not remove it.
        for (name, _) in initial_state.overrides {
            if let Some(value) = self.set.get(name) {
                set.insert(name.clone(), value.clone());
            } else if self.unset.contains(name) {
                unset.insert(name.clone());
            }
        }
        let size: usize = set.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>()
            + final_state.functions.len();
        if size > MAX_CARRIED {
            tracing::warn!(size, "a command left too much to carry; its directory is kept");
            return lost;
        }
        self.version = VERSION;
        self.set = set;
        self.unset = unset;
        self.functions.clone_from(&final_state.functions);
        lost
    }
}

/// Returns whether a variable belongs to the person or the session, and not to the shell's own bookkeeping.
fn is_carried(name: &str) -> bool {
    const SHELL_VARIABLES: &[&str] =
        &["_", "SHLVL", "PWD", "SHELLOPTS", "BASHOPTS", "PPID", "EUID", "UID", "COLUMNS", "LINES"];
    !SHELL_VARIABLES.contains(&name)
        && !name.starts_with("BASH")
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Variables {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn initial_state<'a>(login: &'a Variables, overrides: &'a [(String, String)]) -> InitialState<'a> {
        let closed = &OPEN;
        InitialState { folder: Path::new("/work"), call_folder: None, login, overrides, secret: &[], closed }
    }

    static OPEN: ClosedFolders = ClosedFolders { closed: Vec::new(), open: Vec::new() };

    #[test]
    fn only_a_complete_state_parses() {
        let state = b"/work/a\nb\n\0A=1\0B=two\nlines\0\0f () \n{ \n    true\n}\n\0declare -f f\ndeclare -fx g\n\0end\0";
        let final_state = read(state).unwrap();
        assert_eq!(final_state.directory.as_deref(), Some(Path::new("/work/a\nb")));
        assert_eq!(final_state.variables, variables(&[("A", "1"), ("B", "two\nlines")]));
        assert_eq!(final_state.functions, "f () \n{ \n    true\n}\nexport -f g\n");
        for length in 0..state.len() {
            assert_eq!(read(&state[..length]), None, "{length}");
        }
        assert_eq!(read(b"/\n\0\0\0\0end\0").unwrap().variables, Variables::new());
        assert_eq!(read(b"\n\0\0\0\0end\0").unwrap().directory, None, "it is gone");
    }

    #[test]
    fn differences_from_the_login_environment_are_carried() {
        let login = variables(&[("PATH", "/bin"), ("GONE", "x"), ("SAME", "1")]);
        let final_state = FinalState {
            directory: Some("/work/sub".into()),
            variables: variables(&[
                ("PATH", "/opt:/bin"),
                ("SAME", "1"),
                ("NEW", "n"),
                ("OCTO_KEY", "no"),
                ("SHLVL", "2"),
                ("ONCE", "1"),
            ]),
            functions: "f () { :; }\n".into(),
        };
        let overrides = [("ONCE".to_owned(), "1".to_owned())];
        let mut carry = CarriedState::default();
        carry.take_state(&final_state, &initial_state(&login, &overrides));
        assert_eq!(carry.variables(&login), variables(&[("PATH", "/opt:/bin"), ("SAME", "1"), ("NEW", "n")]));
        assert_eq!(carry.functions(), "f () { :; }\n");
        let later = variables(&[("PATH", "/changed"), ("LATER", "l")]);
        assert_eq!(
            carry.variables(&later),
            variables(&[("PATH", "/opt:/bin"), ("NEW", "n"), ("LATER", "l")])
        );
    }

    #[test]
    fn a_variable_of_one_call_does_not_end_what_was_carried() {
        let login = Variables::new();
        let mut carry = CarriedState::default();
        let state_with = |value: &str| FinalState {
            directory: Some("/w".into()),
            variables: variables(&[("V", value)]),
            functions: String::new(),
        };
        carry.take_state(&state_with("carried"), &initial_state(&login, &[]));
        carry.take_state(&state_with("once"), &initial_state(&login, &[("V".to_owned(), "once".to_owned())]));
        assert_eq!(carry.variables(&login), variables(&[("V", "carried")]));
    }

    #[test]
    fn the_state_file_is_private_and_a_broken_one_is_ignored() {
        let folder = octo_testkit::test_folder();
        let file = folder.path().join("carried.json");
        let mut carry = CarriedState::default();
        let final_state = FinalState {
            directory: Some(folder.path().to_owned()),
            variables: variables(&[("A", "1")]),
            functions: String::new(),
        };
        let login = Variables::new();
        carry.take_state(
            &final_state,
            &InitialState {
                folder: folder.path(),
                call_folder: None,
                login: &login,
                overrides: &[],
                secret: &[],
                closed: &OPEN,
            },
        );
        carry.save(&file).unwrap();
        assert_eq!(CarriedState::load(&file), carry);
        #[cfg(unix)]
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&file).unwrap().permissions()) & 0o777,
            0o600
        );
        let content = fs::read(&file).unwrap();
        fs::write(&file, &content[..content.len() / 2]).unwrap();
        assert_eq!(CarriedState::load(&file), CarriedState::default());
        assert_eq!(CarriedState::load(&folder.path().join("none")), CarriedState::default());
    }

    #[test]
    fn with_another_folder_or_a_vanished_directory_commands_begin_in_the_folder() {
        let directory_path = octo_testkit::test_folder();
        let login = Variables::new();
        let state_in = |directory: &Path| FinalState {
            directory: Some(directory.to_owned()),
            variables: Variables::new(),
            functions: String::new(),
        };
        let mut carry = CarriedState::default();
        let initial_state = InitialState {
            folder: Path::new("/work"),
            call_folder: None,
            login: &login,
            overrides: &[],
            secret: &[],
            closed: &OPEN,
        };
        let directory = directory_path.path().canonicalize().unwrap();
        let current = |carry: &CarriedState, folder: &str| carry.directory(Path::new(folder), &OPEN).path;
        assert_eq!(carry.take_state(&state_in(&directory), &initial_state), None);
        assert_eq!(current(&carry, "/work"), directory);
        assert_eq!(current(&carry, "/other"), Path::new("/other"));
        let gone = Path::new("/no/such/folder");
        assert_eq!(carry.take_state(&state_in(gone), &initial_state).as_deref(), Some(gone));
        assert_eq!(current(&carry, "/work"), Path::new("/work"));
    }
}
