//! The `rm` of a session's commands: what it removes goes to the trash.
//!
//! [`install`] puts links named `rm` and `unlink` to Octo's own program into `<home>/bin`, the first folder of every
//! command's `PATH`; the program sees by its name what it is ([`Program::named`]) and [`run`]s as that. To a script it
//! is GNU `rm`: options, prompts, words and exit statuses are the same, and only three things differ on purpose.
//! Homes, system folders, mount points and Octo's own state are refused whatever the options. A folder is moved in
//! one step, so nothing in it is asked about one by one unless `-i` says so. And `rmdir` stays the system's: an empty
//! folder holds nothing to keep.
//!
//! Whatever the trash cannot take stays where it is, with the status of a failed `rm`.

mod options;
mod quote;
mod remove;

#[cfg(test)]
mod tests;

use crate::{Removal, Trash, private_folder};
use octo_protocol::{RemovedBy, SessionId};
use options::{Asked, Options};
use std::{
    ffi::{OsStr, OsString},
    fs, io,
    io::{BufRead, IsTerminal, Write},
    path::{Path, PathBuf},
};

/// Where the trash is.
const HOME: &str = "OCTO_TRASH_HOME";
/// The session a command belongs to.
const SESSION: &str = "OCTO_TRASH_SESSION";
/// The folder that session works in.
const PROJECT: &str = "OCTO_TRASH_PROJECT";

/// The most of a command line that is remembered, in characters.
const REMEMBERED: usize = 200;

/// Which program Octo's is run as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// `rm`.
    Rm,
    /// `unlink`.
    Unlink,
}

impl Program {
    const ALL: &[(Self, &'static str)] = &[(Self::Rm, "rm"), (Self::Unlink, "unlink")];

    /// What a process was started as, by its own name (the first of its arguments).
    pub fn named(name: &OsStr) -> Option<Self> {
        let name = Path::new(name).file_name()?;
        Self::ALL.iter().find(|(_, known)| name == *known).map(|(program, _)| *program)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Rm => "rm",
            Self::Unlink => "unlink",
        }
    }
}

/// Makes `<home>/bin` with links to `program`, the running program's file; the folder. Links that lead there already
/// stay as they are.
///
/// # Errors
/// Those of the system. A command must not run without the folder: its `rm` would delete for good.
pub fn install(home: &Path, program: &Path) -> io::Result<PathBuf> {
    let folder = private_folder(&home.join("bin"))?;
    for (_, name) in Program::ALL {
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

/// The variables a command needs for its `rm` to know where the trash is and whose command it is. None is secret.
pub fn environment(home: &Path, session: SessionId, project: &Path) -> Vec<(String, String)> {
    vec![
        (HOME.to_owned(), home.to_string_lossy().into_owned()),
        (SESSION.to_owned(), session.to_string()),
        (PROJECT.to_owned(), project.to_string_lossy().into_owned()),
    ]
}

/// Runs as `program` with the arguments after its name, in the process's own environment; the exit status.
pub fn run(program: Program, arguments: &[OsString]) -> u8 {
    let stdin = io::stdin();
    let terminal = stdin.is_terminal();
    let mut run = Run {
        program: program.name(),
        input: &mut stdin.lock(),
        output: &mut io::stdout().lock(),
        errors: &mut io::stderr().lock(),
        terminal: if terminal { Terminal::Yes } else { Terminal::No },
        trash: None,
        removal: removal(program, arguments),
        failed: false,
    };
    run.everything(program, arguments)
}

/// Whether somebody sits at the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Terminal {
    Yes,
    No,
}

/// One run, and where its words go.
struct Run<'a> {
    program: &'static str,
    input: &'a mut dyn BufRead,
    output: &'a mut dyn Write,
    errors: &'a mut dyn Write,
    terminal: Terminal,
    trash: Option<Trash>,
    removal: Removal,
    failed: bool,
}

impl Run<'_> {
    fn everything(&mut self, program: Program, arguments: &[OsString]) -> u8 {
        let asked = match program {
            Program::Rm => options::rm(arguments),
            Program::Unlink => options::unlink(arguments),
        };
        let (options, paths) = match asked {
            Ok(Asked::Remove(options, paths)) => (options, paths),
            Ok(Asked::Say(text)) => {
                self.say(&text);
                return 0;
            }
            Err(wrong) => {
                self.complain(&wrong);
                let name = self.program;
                self.tell(&format!("Try '{name} --help' for more information.\n"));
                return 1;
            }
        };
        if options.prompt_once && (paths.len() > 3 || (options.recursive && !paths.is_empty())) {
            let how = if options.recursive { " recursively" } else { "" };
            let many = if paths.len() == 1 { "argument" } else { "arguments" };
            let question = format!("{}: remove {} {many}{how}? ", self.program, paths.len());
            if !self.agrees(&question) {
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
            self.trash = home().map(|home| Trash::of_home(&home));
        }
        self.trash.clone()
    }

    /// Words for standard output. A closed one is nobody's fault.
    fn say(&mut self, text: &str) {
        let _ = self.output.write_all(text.as_bytes());
    }

    /// Words for standard error.
    fn tell(&mut self, text: &str) {
        let _ = self.errors.write_all(text.as_bytes());
    }

    /// What went wrong, as the program says such things.
    fn complain(&mut self, text: &str) {
        self.failed = true;
        let line = format!("{}: {text}\n", self.program);
        self.tell(&line);
    }

    /// Asks; only words that begin with a y are a yes.
    fn agrees(&mut self, question: &str) -> bool {
        self.tell(question);
        let _ = self.errors.flush();
        let mut answer = Vec::new();
        let read = self.input.read_until(b'\n', &mut answer);
        read.is_ok() && matches!(answer.first(), Some(b'y' | b'Y'))
    }

    fn remove(&mut self, options: &Options, path: &OsStr) {
        remove::remove(self, options, path);
    }
}

fn removal(program: Program, arguments: &[OsString]) -> Removal {
    let session = std::env::var(SESSION).ok().and_then(|id| id.parse().ok());
    let words = arguments.iter().map(|word| word.to_string_lossy().into_owned());
    let line = std::iter::once(program.name().to_owned()).chain(words).collect::<Vec<_>>().join(" ");
    Removal {
        who: if session.is_some() { RemovedBy::Agent } else { RemovedBy::Person },
        session,
        project: std::env::var(PROJECT).ok().filter(|project| !project.is_empty()),
        command: Some(line.chars().take(REMEMBERED).collect()),
    }
}

/// The home whose trash this is: the variable's, else the one whose `bin` in `PATH` leads to this program. A
/// command that cleared its environment still finds the trash.
fn home() -> Option<PathBuf> {
    if let Some(home) = std::env::var_os(HOME).filter(|home| Path::new(home).is_absolute()) {
        return Some(PathBuf::from(home));
    }
    let own = std::env::current_exe().ok()?.canonicalize().ok()?;
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute() && folder.file_name().is_some_and(|name| name == "bin"))
        .find(|folder| {
            let link = folder.join("rm");
            fs::symlink_metadata(&link).is_ok_and(|meta| meta.is_symlink())
                && link.canonicalize().is_ok_and(|target| target == own)
        })
        .and_then(|folder| folder.parent().map(Path::to_owned))
}
