//! The inputs of a decision.

use super::CommandFacts;
use octo_policy::{LineContext, OpenPaths, Policy, RunningCall, RunningCalls, StartupFiles};
use octo_protocol::{Mode, Rule};
use octo_tools::{BuiltinGrant, CommandEffect, Effects};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// The inputs of a decision, apart from the call itself.
#[derive(Clone, Debug)]
pub(crate) struct PermissionContext {
    /// The session's mode.
    pub mode: Mode,
    /// The session's folder, resolved.
    pub folder: PathBuf,
    /// The resolved working directory of a command that names none.
    pub shell_folder: PathBuf,
    /// Folders that may be read without asking: Octo's own logs, outputs, skills and memories, and the
    /// session's scratch folder.
    pub readable: Vec<PathBuf>,
    /// Folders in addition to the session's that may be written without asking: its scratch folder and its temporary
    /// one.
    pub writable: Vec<PathBuf>,
    /// Grants for the session or the folder.
    pub rules: Vec<Rule>,
    /// Sites the person granted to the running turn.
    pub granted_to_turn: Vec<String>,
    /// Octo's home, resolved.
    pub home: PathBuf,
    /// Other paths of the home, including former ones.
    pub other_home_paths: Vec<PathBuf>,
    /// The person's own policy.
    pub policy: Arc<Policy>,
    /// Octo's own data that may be changed without asking; non-empty only for Octo's own sub-agents.
    pub builtin: BuiltinGrant,
    /// The start-up files of shells.
    pub startup_files: StartupFiles,
    /// The calls that run because the policy judged them.
    pub running: RunningCalls,
}

impl PermissionContext {
    pub(crate) fn shell_context(&self, folder: &Path) -> LineContext {
        LineContext {
            folder: folder.to_owned(),
            home: std::env::home_dir().filter(|home| home.is_absolute()),
            octo_home: self.home.clone(),
            octo_others: self.other_home_paths.clone(),
            processes: vec![std::process::id()],
            language: octo_shell::language(),
        }
    }

    /// Returns a call for the register of running ones.
    pub(crate) fn running_call(&self, effects: &Effects, facts: &CommandFacts) -> RunningCall {
        let (description, footprint) = match &effects.command {
            Some(CommandEffect::Start { line, .. }) => (line.clone(), facts.footprint),
            Some(CommandEffect::Input { .. } | CommandEffect::Control) | None => {
                let paths: Vec<String> =
                    effects.writes.iter().map(|path| path.display().to_string()).collect();
                (paths.join(", "), effects.footprint)
            }
        };
        let folders = [std::slice::from_ref(&self.folder), &self.writable].concat();
        RunningCall { folders, description, footprint }
    }

    pub(super) fn open(&self) -> OpenPaths<'_> {
        OpenPaths { folder: &self.folder, readable: &self.readable, writable: &self.writable }
    }
}
