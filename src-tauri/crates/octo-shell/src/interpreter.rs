//! The program that runs command lines: bash everywhere, except on Windows without Git Bash.

use octo_policy::Language;
use std::path::PathBuf;

/// The program that runs command lines on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Interpreter {
    pub program: PathBuf,
    pub language: Language,
}

/// Returns the language of command lines on this machine. Determined once.
pub fn language() -> Language {
    #[cfg(windows)]
    return windows::INTERPRETER.language;
    #[cfg(not(windows))]
    Language::Bash
}

#[cfg(windows)]
pub(crate) use windows::INTERPRETER;

/// Returns the paths at which Git Bash may be: those of its installer, of Scoop, and of a plain `git` on the
/// path. A `bash.exe` of Windows itself (`System32`) belongs to another system (WSL) and does not count.
/// `folders` are those of `PATH`, `programs` are the folders of installed applications.
#[cfg(any(windows, test))]
pub(crate) fn git_bash_places(folders: &[PathBuf], programs: &[PathBuf]) -> Vec<PathBuf> {
    let installed = programs.iter().map(|folder| folder.join("Git"));
    // `…\Git\cmd\git.exe`, `…\Git\bin\git.exe`, `…\Git\mingw64\bin\git.exe`.
    let beside_git = folders.iter().filter(|folder| folder.join("git.exe").is_file()).flat_map(|folder| {
        folder.ancestors().skip(1).take(2).map(std::path::Path::to_owned).collect::<Vec<_>>()
    });
    installed
        .chain(beside_git)
        .flat_map(|git| [git.join("bin").join("bash.exe"), git.join("usr").join("bin").join("bash.exe")])
        .collect()
}

#[cfg(windows)]
mod windows {
    use super::{Interpreter, git_bash_places};
    use octo_policy::Language;
    use std::{path::PathBuf, sync::LazyLock};

    /// Git Bash if installed, otherwise PowerShell 7, otherwise the PowerShell included in Windows.
    pub(crate) static INTERPRETER: LazyLock<Interpreter> = LazyLock::new(|| {
        let folders: Vec<PathBuf> = std::env::var_os("PATH")
            .map(|path| std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect())
            .unwrap_or_default();
        let programs: Vec<PathBuf> = ["ProgramFiles", "ProgramW6432", "ProgramFiles(x86)"]
            .iter()
            .filter_map(std::env::var_os)
            .map(PathBuf::from)
            .chain(std::env::var_os("LOCALAPPDATA").map(|data| PathBuf::from(data).join("Programs")))
            .collect();
        let bash = git_bash_places(&folders, &programs).into_iter().find(|path| path.is_file());
        if let Some(program) = bash {
            return Interpreter { program, language: Language::Bash };
        }
        let core = folders.iter().map(|folder| folder.join("pwsh.exe")).find(|path| path.is_file());
        let system =
            std::env::var_os("SystemRoot").map_or_else(|| PathBuf::from(r"C:\Windows"), PathBuf::from);
        let own = system.join(r"System32\WindowsPowerShell\v1.0\powershell.exe");
        Interpreter { program: core.unwrap_or(own), language: Language::PowerShell }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn git_bash_is_found_in_its_folder_and_next_to_git() {
        let folder = octo_testkit::test_folder();
        let git = folder.path().join("tools").join("Git");
        fs::create_dir_all(git.join("cmd")).unwrap();
        fs::write(git.join("cmd").join("git.exe"), "").unwrap();
        let (path, programs) =
            ([git.join("cmd"), folder.path().join("System32")], [folder.path().join("Programs")]);
        let paths = git_bash_places(&path, &programs);
        assert_eq!(paths.first(), Some(&folder.path().join("Programs/Git/bin/bash.exe")));
        assert!(paths.contains(&git.join("bin").join("bash.exe")));
        assert!(!paths.iter().any(|candidate| candidate.to_string_lossy().contains("System32")), "{paths:?}");
    }
}
