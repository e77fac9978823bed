//! A session's workspace: its folder, the files it may access, and the shell of its commands.

use super::{Runtime, actor::Actor, confined::SessionConfinement};
use octo_protocol::{ApiError, SessionId};
use octo_shell::{ClosedFolders, NetworkGate, Shell, ShellConfig};
use octo_workspace::{FileScope, Files, TemporaryFolder, is_real_folder, resolve_links};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// A session's folder, files and shell.
pub(super) struct Workspace {
    owner: Owner,
    folder: PathBuf,
    scratch: PathBuf,
    temporary: TemporaryFolder,
    /// The folder for the shell's own data; see `HomePaths::shell`.
    shell_data: PathBuf,
    files: Files,
    shell: Shell,
}

/// The owners of the outputs and logs that a session may read.
pub(super) struct Owner {
    session: SessionId,
    /// The session whose turn it works for: its own id, or its parent's.
    root: SessionId,
    /// The sessions its conversation was branched from, nearest first.
    ancestors: Vec<SessionId>,
}

impl Owner {
    pub(super) fn new(session: SessionId, root: SessionId, ancestors: Vec<SessionId>) -> Self {
        Self { session, root, ancestors }
    }

    /// Returns the outputs and logs of the session and of the session it works for.
    fn readable(&self, runtime: &Runtime, shell_place: &Path) -> Result<Vec<PathBuf>, ApiError> {
        let mut readable = runtime.base.paths.readable();
        readable.push(runtime.base.paths.outputs(self.session));
        readable.push(shell_place.join("logs"));
        if self.root != self.session {
            // Its parent's conversation mentions them.
            readable.push(runtime.base.paths.outputs(self.root));
            readable.push(runtime.base.paths.shell(self.root)?.join("logs"));
        }
        Ok(readable)
    }

    /// Returns the files of a folder, with the outputs and logs that the conversation mentions.
    fn files(
        &self,
        runtime: &Runtime,
        folder: &Path,
        writable: Vec<PathBuf>,
        shell_place: &Path,
    ) -> Result<Files, ApiError> {
        let mut readable = self.readable(runtime, shell_place)?;
        for ancestor in &self.ancestors {
            // The conversation was branched from theirs, which mentions them.
            readable.push(runtime.base.paths.outputs(*ancestor));
            readable.push(runtime.base.paths.shell(*ancestor)?.join("logs"));
        }
        let scope = FileScope { folder: folder.to_owned(), readable, writable };
        Ok(Files::new(scope)
            .with_recorder(runtime.services.time.recorder(self.root))
            .with_write_notes(runtime.base.unfinished_writes.clone()))
    }
}

impl Workspace {
    /// Opens the workspace of a session.
    pub(super) fn open(
        runtime: &Runtime,
        owner: Owner,
        folder: PathBuf,
        actor: &Actor,
        network: Arc<dyn NetworkGate>,
    ) -> Result<Self, ApiError> {
        let (scratch, shell_place) =
            (runtime.base.paths.scratch(owner.root)?, runtime.base.paths.shell(owner.session)?);
        let temporary = runtime.base.paths.temporary(owner.root)?;
        let writable = vec![scratch.clone(), temporary.path().to_owned()];
        let files = owner.files(runtime, &folder, writable, &shell_place)?;
        let paths = &runtime.base.paths;
        let closed = std::iter::once(paths.resolved_home()).chain(paths.other_homes()).collect();
        let open = paths.readable().into_iter().chain([scratch.clone()]);
        let open = open.filter_map(|folder| resolve_links(&folder).ok()).collect();
        let shell = Shell::new(ShellConfig {
            session: owner.session,
            scratch: shell_place.clone(),
            temporary: temporary.clone(),
            login: runtime.services.login.clone(),
            secret_variables: runtime.base.config.secret_variables.clone(),
            news: actor.command_listener(),
            time_limit: octo_shell::COMMAND_TIME_LIMIT,
            removals: runtime.services.trash.removals(&runtime.base.config.remover),
            supervision: runtime.base.config.supervision.clone(),
            closed_folders: ClosedFolders { closed, open },
            network: Some(network),
        });
        Ok(Self { owner, folder, scratch, temporary, shell_data: shell_place, files, shell })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether the folder exists and no link replaced it.
    pub(super) fn has_folder(&self) -> bool {
        is_real_folder(&self.folder)
    }

    /// Returns the session's own temporary folder, which is removed with it.
    pub(super) fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// Returns the folders outside the session's that it may write: its scratch folder, and the one that `TMPDIR`
    /// names for its commands.
    pub(super) fn writable(&self) -> Vec<PathBuf> {
        vec![self.scratch.clone(), self.temporary.path().to_owned()]
    }

    pub(super) fn files(&self) -> &Files {
        &self.files
    }

    pub(super) fn shell(&self) -> &Shell {
        &self.shell
    }

    /// Returns the folder in which the shell runs its next command.
    pub(super) fn shell_folder(&self) -> PathBuf {
        self.shell.current_dir(&self.folder)
    }

    /// Returns the paths the session may read outside its folder.
    pub(super) fn readable(&self, runtime: &Runtime) -> Vec<PathBuf> {
        let Owner { session, root, .. } = self.owner;
        let mut readable = runtime.base.paths.readable();
        readable.push(self.shell_data.join("logs"));
        readable.push(runtime.base.paths.outputs(session));
        if root != session {
            readable.push(runtime.base.paths.outputs(root));
            readable
                .extend(runtime.base.paths.shell(root).ok().map(|shell_folder| shell_folder.join("logs")));
        }
        readable
    }

    /// Returns the limits of the session's commands.
    pub(super) fn fence(&self, runtime: &Runtime) -> SessionConfinement {
        SessionConfinement::new(runtime.base.clone(), self.folder.clone(), self.scratch.clone())
    }

    /// Makes a folder the session's own: files and commands start from it from now on. Commands in the background
    /// continue where they are.
    pub(super) fn enter(&mut self, runtime: &Runtime, folder: PathBuf) -> Result<(), ApiError> {
        self.files = self.owner.files(runtime, &folder, self.writable(), &self.shell_data)?;
        self.folder = folder;
        Ok(())
    }

    /// Limits writing to the scratch folder, without recording it: drafts belong to no turn.
    pub(super) fn limit_to_drafts(&mut self, runtime: &Runtime) {
        let writable = vec![self.scratch.clone()];
        self.files = Files::new(FileScope {
            folder: self.scratch.clone(),
            readable: runtime.base.paths.readable(),
            writable,
        });
    }
}
