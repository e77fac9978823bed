//! The locations of commands and their files: the files a command is started from, and the kept logs. They are
//! in the person's own profile, which other users of the machine cannot read.

use super::{carry, powershell};
use crate::{
    CarryScope,
    interpreter::{INTERPRETER, Interpreter},
};
use octo_policy::Language;
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

/// How long logs are kept: reports that name them are read within a week.
const MAX_LOG_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Returns the program that runs command lines. It does not depend on a command's path.
pub(super) fn interpreter(_path: Option<&str>) -> Option<Interpreter> {
    Some(INTERPRETER.clone())
}

/// A command's own files; they are removed when it has ended.
pub(super) struct CommandFiles {
    line: PathBuf,
    functions: PathBuf,
    begin: PathBuf,
    state: PathBuf,
}

impl CommandFiles {
    pub(super) fn write(scratch: &Path, handle: &str, line: &str, functions: &str) -> io::Result<Self> {
        for folder in ["commands", "logs"] {
            fs::create_dir_all(scratch.join(folder))?;
        }
        for folder in ["logs", "commands"] {
            prune([scratch.join(folder).as_path()]);
        }
        let file = |kind: &str| scratch.join("commands").join(format!("{handle}.{kind}"));
        let files = Self {
            line: file("line"),
            functions: file("functions"),
            begin: file("begin"),
            state: file("state"),
        };
        fs::write(&files.line, line)?;
        fs::write(&files.functions, functions)?;
        fs::write(&files.begin, powershell::script(&files.line, &files.state))?;
        fs::write(&files.state, "")?;
        Ok(files)
    }

    /// Returns the interpreter's arguments.
    pub(super) fn arguments(&self, interpreter: &Interpreter, scope: CarryScope) -> Vec<String> {
        match interpreter.language {
            Language::PowerShell => powershell::arguments(&self.begin),
            Language::Bash => {
                let begin = match scope {
                    CarryScope::All => format!("builtin source {} 2>/dev/null\n", quote(&self.functions)),
                    CarryScope::FolderOnly => octo_policy::PATTERN_SETUP.to_owned(),
                };
                let save_script = carry::SCRIPT
                    .replace("@STATE@", &quote(&self.state))
                    // Paths in Windows format, because a Windows program reads them.
                    .replace("builtin pwd -P\n", "builtin pwd -W\n")
                    .replace("builtin set -f\n", "builtin set -f\nPATH=\"$(cygpath -wp \"$PATH\")\"\n");
                let script = format!("{begin}{save_script}builtin eval -- \"$(<{})\"", quote(&self.line));
                ["--noprofile", "--norc", "-c", &script, "bash"].map(str::to_owned).to_vec()
            }
        }
    }

    /// Returns the state the command wrote when it ended.
    pub(super) fn state(&self) -> Option<Vec<u8>> {
        fs::read(&self.state).ok().filter(|state| !state.is_empty())
    }
}

impl Drop for CommandFiles {
    fn drop(&mut self) {
        for path in [&self.line, &self.functions, &self.begin, &self.state] {
            let _ = fs::remove_file(path);
        }
    }
}

/// Returns a path for bash, with forward slashes: a backslash is not special in single quotes, but is to
/// programs.
fn quote(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\\', "/").replace('\'', r"'\''"))
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
