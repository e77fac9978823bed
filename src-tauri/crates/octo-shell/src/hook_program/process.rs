//! The process of a hook's program, and all it started.

use crate::shell;
use std::{io, process::Stdio};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    process::{Child, Command},
};
#[cfg(target_os = "linux")]
use {
    octo_keeper::{Keeper, ProcessTree, ProgramEnd, ProgramStart, StandardStreams},
    std::{os::fd::OwnedFd, sync::Arc},
    tokio::{net::unix::pipe, task::spawn_blocking},
};

/// The parameters of a program to start.
pub(super) struct HookStart<'a> {
    pub(super) flags: [&'static str; 3],
    pub(super) line: &'a str,
    pub(super) folder: &'a std::path::Path,
    pub(super) variables: octo_policy::Variables,
}

/// A started program, with its input and outputs.
pub(super) struct HookProcess {
    pub(super) input: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    pub(super) output: Option<Box<dyn AsyncRead + Send + Unpin>>,
    pub(super) errors: Option<Box<dyn AsyncRead + Send + Unpin>>,
    pub(super) tree: HookTree,
}

/// The processes of a program. Dropping it kills them.
pub(super) enum HookTree {
    #[cfg(target_os = "linux")]
    Keeper(Arc<ProcessTree>),
    Group {
        child: Child,
        leader: Option<u32>,
    },
}

impl HookProcess {
    /// Starts a program without a keeper.
    pub(super) fn in_group(start: HookStart<'_>) -> io::Result<Self> {
        #[cfg(windows)]
        let program = crate::interpreter::INTERPRETER.program.clone();
        // The login shell's path may lead elsewhere.
        #[cfg(not(windows))]
        let program =
            shell::interpreter(std::env::var("PATH").ok().as_deref()).ok_or(io::ErrorKind::NotFound)?.program;
        let mut command = Command::new(program);
        command.args(start.flags).arg(start.line).current_dir(start.folder).env_clear().envs(start.variables);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        Ok(Self {
            input: child.stdin.take().map(|pipe| Box::new(pipe) as _),
            output: child.stdout.take().map(|pipe| Box::new(pipe) as _),
            errors: child.stderr.take().map(|pipe| Box::new(pipe) as _),
            tree: HookTree::Group { leader: child.id(), child },
        })
    }

    /// Starts a program by a keeper.
    #[cfg(target_os = "linux")]
    pub(super) async fn under_keeper(start: HookStart<'_>, keeper: &Keeper) -> io::Result<Self> {
        // The login shell's path may lead elsewhere.
        let bash = shell::interpreter(std::env::var("PATH").ok().as_deref());
        let (input, our_input) = io::pipe()?;
        let (our_output, output) = io::pipe()?;
        let (our_errors, errors) = io::pipe()?;
        let start = ProgramStart {
            program: bash.ok_or(io::ErrorKind::NotFound)?.program,
            arguments: start.flags.into_iter().chain([start.line]).map(Into::into).collect(),
            environment: start
                .variables
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            folder: start.folder.to_owned(),
            grants: None,
            streams: StandardStreams::Separate([input.into(), output.into(), errors.into()]),
            network: None,
        };
        let keeper = keeper.clone();
        let tree = spawn_blocking(move || keeper.start(start)).await.map_err(io::Error::other)??;
        let tree = HookTree::Keeper(Arc::new(tree));
        let receiver = |pipe: io::PipeReader| pipe::Receiver::from_owned_fd(OwnedFd::from(pipe));
        Ok(Self {
            input: Some(Box::new(pipe::Sender::from_owned_fd(OwnedFd::from(our_input))?)),
            output: Some(Box::new(receiver(our_output)?)),
            errors: Some(Box::new(receiver(our_errors)?)),
            tree,
        })
    }
}

impl HookTree {
    /// Waits for the program's end and returns its exit status; `None` if a signal ended it.
    pub(super) async fn wait(&mut self) -> io::Result<Option<i32>> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Keeper(tree) => {
                let tree = Arc::clone(tree);
                match spawn_blocking(move || tree.wait()).await.map_err(io::Error::other)? {
                    ProgramEnd::Exited { code } => Ok(Some(code)),
                    ProgramEnd::Signalled { .. } | ProgramEnd::Lost => Ok(None),
                }
            }
            Self::Group { child, .. } => Ok(child.wait().await?.code()),
        }
    }
}

impl Drop for HookTree {
    fn drop(&mut self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Keeper(tree) => tree.request_kill(),
            #[cfg(unix)]
            Self::Group { leader, .. } => {
                if let Some(leader) = leader.and_then(|leader| i32::try_from(leader).ok()) {
                    // An empty group is fine too.
                    let _ = nix::sys::signal::killpg(
                        nix::unistd::Pid::from_raw(leader),
                        nix::sys::signal::SIGKILL,
                    );
                }
            }
            #[cfg(windows)]
            Self::Group { leader, .. } => {
                if let Some(leader) = leader {
                    shell::kill_tree(*leader);
                }
            }
        }
    }
}
