//! Starts and ends the processes of a command.
//!
//! With a keeper, these are the command's `bash` and everything it started. Without a keeper (on macOS, and in programs
//! that cannot run as one) they are the processes that [`processes`] finds.

use super::{
    process::{LeaderStart, start_error},
    processes,
};
use crate::{Confinement, ShellError};
#[cfg(target_os = "linux")]
use octo_keeper::{Keeper, ProcessTree, ProgramEnd, ProgramStart, StandardStreams};
use octo_keeper::{Supervision, process_table::Process};
use octo_protocol::CommandState;
use parking_lot::Mutex;
use portable_pty::{CommandBuilder, PtyPair, SlavePty};
use std::{
    io,
    os::unix::process::ExitStatusExt,
    process::{Child, ExitStatus},
    sync::Arc,
    thread,
};

/// A command's processes.
#[derive(Clone)]
pub(super) enum CommandTree {
    #[cfg(target_os = "linux")]
    Keeper(Arc<ProcessTree>),
    Session(Arc<SessionTree>),
}

/// The processes of a terminal's session.
pub(super) struct SessionTree {
    leader: u32,
    child: Mutex<Child>,
}

/// Processes that outlived their command.
pub(super) enum Survivors {
    #[cfg(target_os = "linux")]
    Keeper(Arc<ProcessTree>),
    Session(Vec<Process>),
}

impl CommandTree {
    /// Starts a command in a terminal, under its confinement.
    pub(super) fn start(start: &LeaderStart<'_>, pty: PtyPair) -> Result<Self, ShellError> {
        match start.supervision {
            #[cfg(target_os = "linux")]
            Supervision::Keeper(keeper) => {
                under_keeper(start, keeper, pty).map(Arc::new).map(Self::Keeper).map_err(ShellError::Start)
            }
            Supervision::Session => {
                let child = spawn(start, pty)?;
                Ok(Self::Session(Arc::new(SessionTree { leader: child.id(), child: Mutex::new(*child) })))
            }
        }
    }

    /// Returns the first process, which leads the terminal's session.
    pub(super) fn leader(&self) -> u32 {
        match self {
            #[cfg(target_os = "linux")]
            Self::Keeper(tree) => tree.pid(),
            Self::Session(session) => session.leader,
        }
    }

    /// Waits for the end of the first process.
    pub(super) fn wait(&self) -> CommandState {
        match self {
            #[cfg(target_os = "linux")]
            Self::Keeper(tree) => match tree.wait() {
                ProgramEnd::Exited { code } => CommandState::Exited { code },
                ProgramEnd::Signalled { signal } => CommandState::Signalled { signal },
                ProgramEnd::Lost => {
                    tracing::warn!(leader = tree.pid(), "a command ended the process that supervised it");
                    // Once the leader has been collected, its ID may belong to another process.
                    if processes::start_of(tree.pid()).is_none_or(|started| started == tree.started()) {
                        processes::kill_now(tree.pid());
                    }
                    CommandState::Killed
                }
            },
            Self::Session(session) => state(session.child.lock().wait()),
        }
    }

    /// Asks the processes to end, and kills those that do not.
    pub(super) fn terminate(&self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Keeper(tree) => tree.terminate(),
            Self::Session(session) => processes::terminate(session.leader),
        }
    }

    /// Kills the processes at once.
    pub(super) fn kill(&self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Keeper(tree) => tree.kill(),
            Self::Session(session) => processes::kill_now(session.leader),
        }
    }

    /// Returns the processes that outlived the first one, if there are any.
    pub(super) fn survivors(&self) -> Option<Survivors> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Keeper(tree) => (!tree.is_over()).then(|| Survivors::Keeper(Arc::clone(tree))),
            Self::Session(session) => {
                let survivors = processes::members(session.leader);
                (!survivors.is_empty()).then_some(Survivors::Session(survivors))
            }
        }
    }
}

impl Survivors {
    /// Returns whether all of them are known to have ended.
    pub(super) fn is_over(&self) -> bool {
        match self {
            #[cfg(target_os = "linux")]
            Self::Keeper(tree) => tree.is_over(),
            Self::Session(_) => false,
        }
    }

    /// Requests that they be killed.
    pub(super) fn request_kill(&self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Keeper(tree) => tree.request_kill(),
            Self::Session(survivors) => processes::kill_survivors(survivors),
        }
    }

    /// Waits for their end, within a few seconds, after [`Self::request_kill`].
    pub(super) fn finish(self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Keeper(tree) => tree.kill(),
            Self::Session(_) => {}
        }
    }
}

#[cfg(target_os = "linux")]
fn under_keeper(start: &LeaderStart<'_>, keeper: &Keeper, pty: PtyPair) -> io::Result<ProcessTree> {
    use nix::{
        fcntl::{OFlag, open},
        sys::stat::Mode,
        unistd::{Uid, User},
    };
    let name = pty.master.tty_name().ok_or(io::ErrorKind::Unsupported)?;
    let terminal = open(&name, OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC, Mode::empty())?;
    let mut environment: Vec<_> =
        start.variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
    // Sets it as a terminal does.
    if !start.variables.contains_key("SHELL") {
        let user = User::from_uid(Uid::current()).ok().flatten();
        let shell = user.map_or_else(|| "/bin/sh".into(), |user| user.shell.into_os_string());
        environment.push(("SHELL".into(), shell));
    }
    keeper.start(ProgramStart {
        program: start.program.to_owned(),
        arguments: start.arguments.iter().map(Into::into).collect(),
        environment,
        folder: start.cwd.to_owned(),
        grants: start.confinement.as_ref().map(Confinement::grants),
        streams: StandardStreams::Terminal(terminal),
        network: start.network.clone(),
    })
}

/// Starts the process without a keeper.
fn spawn(start: &LeaderStart<'_>, pty: PtyPair) -> Result<Box<Child>, ShellError> {
    let launcher = match &start.confinement {
        Some(confinement) => confinement.launcher().map_err(ShellError::Start)?,
        None => None,
    };
    let mut builder = match launcher {
        None => CommandBuilder::new(start.program),
        Some(launcher) => {
            let mut builder = CommandBuilder::new(launcher.program);
            builder.args(launcher.arguments);
            builder.arg(start.program);
            builder
        }
    };
    builder.args(start.arguments);
    builder.cwd(start.cwd);
    builder.env_clear();
    for (name, value) in start.variables {
        builder.env(name, value);
    }
    // In this process only the leader's descriptor of the terminal stays open.
    drop(pty.master);
    spawn_confined(pty.slave, builder, start.confinement.as_ref())
}

/// Starts a process in a terminal, under its confinement. A launcher must be in the command already.
pub(crate) fn spawn_confined(
    terminal: Box<dyn SlavePty + Send>,
    command: CommandBuilder,
    confinement: Option<&Confinement>,
) -> Result<Box<Child>, ShellError> {
    let spawn = move || terminal.spawn_command(command).map_err(|error| start_error(&error));
    let child = match confinement {
        None => spawn()?,
        // A separate thread that ends right after: its child processes inherit the confinement, and it cannot
        // be removed.
        Some(confinement) => thread::scope(|scope| {
            let confined = scope.spawn(move || {
                confinement.enforce().map_err(ShellError::Start)?;
                spawn()
            });
            confined.join().unwrap_or_else(|_| Err(start_error(&"the command's thread broke")))
        })?,
    };
    let child: Box<dyn portable_pty::Child> = child;
    child.downcast::<Child>().map_err(|_| start_error(&"no process"))
}

fn state(status: io::Result<ExitStatus>) -> CommandState {
    match status {
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => CommandState::Exited { code },
            (None, signal) => CommandState::Signalled { signal: signal.unwrap_or(0) },
        },
        Err(error) => {
            tracing::error!(%error, "a command's end could not be learned");
            CommandState::Signalled { signal: 0 }
        }
    }
}
