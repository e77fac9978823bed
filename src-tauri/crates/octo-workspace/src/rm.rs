//! The `rm` of a session's commands, which moves files to the trash.
//!
//! [`install`] puts links named `rm` and `unlink` to Octo's own program into `<home>/bin`, the first folder of
//! every command's `PATH`; the program detects its role by its name ([`RmProgram::named`]) and [`run`]s in it. To
//! a script it is GNU `rm`: options, prompts, messages and exit statuses are the same, and only three things
//! differ on purpose. Homes, system folders, mount points and Octo's own state are refused regardless of the
//! options. A folder is moved in one step, so its content is not confirmed one by one unless `-i` is given. And
//! `rmdir` remains the system's: an empty folder contains nothing to keep.
//!
//! Anything the trash cannot take stays in its folder, with the status of a failed `rm`.

mod options;
mod quote;
mod remove;

#[cfg(test)]
mod tests;

use crate::{Removal, Trash, private_folder};
use octo_protocol::{RemovedBy, SessionId};
use options::{RmOptions, RmRequest};
use std::{
    ffi::{OsStr, OsString},
    fs, io,
    io::{BufRead, IsTerminal, Write},
    path::{Path, PathBuf},
};

/// The variable with the home whose trash is used.
const HOME: &str = "OCTO_TRASH_HOME";
/// The variable with the session a command belongs to.
const SESSION: &str = "OCTO_TRASH_SESSION";
/// The variable with the folder that session works in.
const PROJECT: &str = "OCTO_TRASH_PROJECT";

/// The maximum length of a stored command line, in characters.
const MAX_COMMAND_CHARS: usize = 200;

/// The program Octo's binary runs as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RmProgram {
    /// `rm`.
    Rm,
    /// `unlink`.
    Unlink,
}

impl RmProgram {
    const ALL: &[(Self, &'static str)] = &[(Self::Rm, "rm"), (Self::Unlink, "unlink")];

    /// Returns the program for the name a process was started with (its first argument).
    pub fn named(name: &OsStr) -> Option<Self> {
        let name = Path::new(name).file_name()?;
        Self::ALL.iter().find(|(_, program_name)| name == *program_name).map(|(program, _)| *program)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Rm => "rm",
            Self::Unlink => "unlink",
        }
    }
}

/// Creates `<home>/bin` with links to `program`, the running binary, and returns the folder. Correct links stay
/// unchanged.
///
/// # Errors
///
/// I/O errors. A command must not run without the folder: its `rm` would delete for good.
pub fn install(home: &Path, program: &Path) -> io::Result<PathBuf> {
    let folder = private_folder(&home.join("bin"))?;
    for (_, name) in RmProgram::ALL {
        let link = folder.join(name);
        if fs::read_link(&link).is_ok_and(|target| target == program) {
            continue;
        }
        let fresh = folder.join(format!(".{name}-{}", std::process::id()));
        let _ = fs::remove_file(&fresh);
        symlink(program, &fresh)?;
        fs::rename(&fresh, &link)?;
    }
    Ok(folder)
}

#[cfg(unix)]
fn symlink(program: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(program, link)
}

#[cfg(not(unix))]
fn symlink(program: &Path, link: &Path) -> io::Result<()> {
    fs::hard_link(program, link)
}

/// Returns the variables that tell a command's `rm` where the trash is and which session it belongs to. None is
/// secret.
pub fn environment(home: &Path, session: SessionId, project: &Path) -> Vec<(String, String)> {
    vec![
        (HOME.to_owned(), home.to_string_lossy().into_owned()),
        (SESSION.to_owned(), session.to_string()),
        (PROJECT.to_owned(), project.to_string_lossy().into_owned()),
    ]
}

/// Runs as `program` with the arguments after its name, in the process's own environment, and returns the exit
/// status.
pub fn run(program: RmProgram, arguments: &[OsString]) -> u8 {
    let stdin = io::stdin();
    let terminal = stdin.is_terminal();
    let mut run = RmRun {
        program: program.name(),
        input: &mut stdin.lock(),
        output: &mut io::stdout().lock(),
        errors: &mut io::stderr().lock(),
        terminal: if terminal { InputIsTerminal::Yes } else { InputIsTerminal::No },
        trash: None,
        removal: removal(program, arguments),
        failed: false,
    };
    run.run_all(program, arguments)
}

/// Whether the input is a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InputIsTerminal {
    Yes,
    No,
}

/// One run, with its output streams.
struct RmRun<'a> {
    program: &'static str,
    input: &'a mut dyn BufRead,
    output: &'a mut dyn Write,
    errors: &'a mut dyn Write,
    terminal: InputIsTerminal,
    trash: Option<Trash>,
    removal: Removal,
    failed: bool,
}

impl RmRun<'_> {
    fn run_all(&mut self, program: RmProgram, arguments: &[OsString]) -> u8 {
        let request = match program {
            RmProgram::Rm => options::parse_rm(arguments),
            RmProgram::Unlink => options::parse_unlink(arguments),
        };
        let (options, paths) = match request {
            Ok(RmRequest::Remove(options, paths)) => (options, paths),
            Ok(RmRequest::Print(text)) => {
                self.print(&text);
                return 0;
            }
            Err(message) => {
                self.report_error(&message);
                let name = self.program;
                self.print_error(&format!("Try '{name} --help' for more information.\n"));
                return 1;
            }
        };
        if options.prompt_once && (paths.len() > 3 || (options.recursive && !paths.is_empty())) {
            let suffix = if options.recursive { " recursively" } else { "" };
            let noun = if paths.len() == 1 { "argument" } else { "arguments" };
            let question = format!("{}: remove {} {noun}{suffix}? ", self.program, paths.len());
            if !self.confirm(&question) {
                return 0;
            }
        }
        for path in &paths {
            self.remove(&options, path);
        }
        u8::from(self.failed)
    }

    fn trash(&mut self) -> Option<Trash> {
        if self.trash.is_none() {
            self.trash = home().map(|home| Trash::in_home(&home));
        }
        self.trash.clone()
    }

    /// Prints to standard output. A closed one is ignored.
    fn print(&mut self, text: &str) {
        let _ = self.output.write_all(text.as_bytes());
    }

    /// Prints to standard error.
    fn print_error(&mut self, text: &str) {
        let _ = self.errors.write_all(text.as_bytes());
    }

    /// Prints an error message in the program's format.
    fn report_error(&mut self, text: &str) {
        self.failed = true;
        let message = format!("{}: {text}\n", self.program);
        self.print_error(&message);
    }

    /// Asks a question; only an answer that begins with y counts as yes.
    fn confirm(&mut self, question: &str) -> bool {
        self.print_error(question);
        let _ = self.errors.flush();
        let mut reply = Vec::new();
        let read = self.input.read_until(b'\n', &mut reply);
        read.is_ok() && matches!(reply.first(), Some(b'y' | b'Y'))
    }

    fn remove(&mut self, options: &RmOptions, path: &OsStr) {
        remove::remove(self, options, path);
    }
}

fn removal(program: RmProgram, arguments: &[OsString]) -> Removal {
    let session = std::env::var(SESSION).ok().and_then(|id| id.parse().ok());
    let words = arguments.iter().map(|word| word.to_string_lossy().into_owned());
    let command_line = std::iter::once(program.name().to_owned()).chain(words).collect::<Vec<_>>().join(" ");
    Removal {
        remover: if session.is_some() { RemovedBy::Agent } else { RemovedBy::Person },
        session,
        project: std::env::var(PROJECT).ok().filter(|project| !project.is_empty()),
        command: Some(command_line.chars().take(MAX_COMMAND_CHARS).collect()),
    }
}

/// Returns the home whose trash is used: from the variable, else the one whose `bin` in `PATH` leads to this
/// program. A command that cleared its environment still finds the trash.
fn home() -> Option<PathBuf> {
    if let Some(home) = std::env::var_os(HOME).filter(|home| Path::new(home).is_absolute()) {
        return Some(PathBuf::from(home));
    }
    let executable = std::env::current_exe().ok()?.canonicalize().ok()?;
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute() && folder.file_name().is_some_and(|name| name == "bin"))
        .find(|folder| {
            let link = folder.join("rm");
            fs::symlink_metadata(&link).is_ok_and(|meta| meta.is_symlink())
                && link.canonicalize().is_ok_and(|target| target == executable)
        })
        .and_then(|folder| folder.parent().map(Path::to_owned))
}
