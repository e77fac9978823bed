//! The locations of `bash`, of the files from which a command starts, and of the logs.

use super::carry;
use crate::{CarryScope, interpreter::Interpreter};
use octo_policy::Language;
use std::{
    fs,
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    time::Duration,
};

/// The age at which logs are removed: a person reads the reports that name them within a week.
const MAX_LOG_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Returns the first `bash` on the path, or the one at its usual location.
pub(crate) fn interpreter(path: Option<&str>) -> Option<Interpreter> {
    let program = std::env::split_paths(path.unwrap_or_default())
        .filter(|folder| folder.is_absolute())
        .chain(["/bin", "/usr/bin", "/usr/local/bin"].map(PathBuf::from))
        .map(|folder| folder.join("bash"))
        .find(|bash| {
            bash.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        })?;
    Some(Interpreter { program, language: Language::Bash })
}

/// A command's own files, which are removed when the command has ended.
pub(super) struct CommandFiles {
    line: PathBuf,
    functions: PathBuf,
    state: PathBuf,
}

impl CommandFiles {
    pub(super) fn write(scratch: &Path, handle: &str, line: &str, functions: &str) -> io::Result<Self> {
        for folder in ["commands", "logs"] {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(scratch.join(folder))?;
        }
        for folder in ["logs", "commands"] {
            prune([scratch.join(folder).as_path()]);
        }
        let file = |kind: &str| scratch.join("commands").join(format!("{handle}.{kind}"));
        let files = Self { line: file("line"), functions: file("functions"), state: file("state") };
        for (path, text) in [(&files.line, line), (&files.functions, functions), (&files.state, "")] {
            fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(path)?
                .write_all(text.as_bytes())?;
        }
        Ok(files)
    }

    /// Returns the arguments of `bash`, which reads the line from a file and passes the whole line to `eval`. `bash`
    /// then reports an unterminated quote or here-document as an error, and does not wait for more input.
    pub(super) fn arguments(&self, _bash: &Interpreter, scope: CarryScope) -> Vec<String> {
        let prelude = match scope {
            CarryScope::All => format!("builtin source {} 2>/dev/null\n", quote(&self.functions)),
            CarryScope::FolderOnly => octo_policy::PATTERN_SETUP.to_owned(),
        };
        let save_script = carry::SCRIPT.replace("@STATE@", &quote(&self.state));
        let script = format!("{prelude}{save_script}builtin eval -- \"$(<{})\"", quote(&self.line));
        ["--noprofile", "--norc", "-c", &script, "bash"].map(str::to_owned).to_vec()
    }

    /// Returns the state the command wrote when it ended.
    pub(super) fn state(&self) -> Option<Vec<u8>> {
        fs::read(&self.state).ok().filter(|state| !state.is_empty())
    }
}

impl Drop for CommandFiles {
    fn drop(&mut self) {
        for path in [&self.line, &self.functions, &self.state] {
            let _ = fs::remove_file(path);
        }
    }
}

fn quote(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"))
}

/// Removes the files in these folders that are no longer needed.
fn prune<'a>(folders: impl IntoIterator<Item = &'a Path>) {
    for expired in octo_workspace::expired_files(folders, MAX_LOG_AGE) {
        let _ = fs::remove_file(expired);
    }
}

/// Removes old logs of all sessions.
pub(super) fn prune_all(shells: &Path) {
    let Ok(entries) = fs::read_dir(shells) else { return };
    let folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path().join("logs")).collect();
    prune(folders.iter().map(PathBuf::as_path));
}
