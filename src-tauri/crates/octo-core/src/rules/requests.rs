//! Requests about the person's own rules.

use super::PersonRules;
use crate::{
    base::Base,
    permission::{self, CallDecision, Decision, PermissionContext, RunBasis},
    reply::json,
};
use octo_policy::{PolicyChange, RunningCalls};
use octo_protocol::{
    ApiError, AskReason, CommandTrial, Grant, Grants, Mode, PolicyRequest, PolicyState, RunsBecause,
    TrialOutcome, TryCommand,
};
use octo_runtime::blocking;
use octo_tools::{BuiltinGrant, CommandEffect, Effects};
use octo_workspace::session_folder;
use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

impl PersonRules {
    /// Carries out a request.
    pub(crate) async fn request(
        self: &Arc<Self>,
        base: &Base,
        request: PolicyRequest,
    ) -> Result<Value, ApiError> {
        match request {
            PolicyRequest::GetPolicy(_) => json(self.current().await?),
            PolicyRequest::AddPolicyRule(call) => {
                json(self.change_policy(PolicyChange::Add(call.rule), call.stamp).await?)
            }
            PolicyRequest::RemovePolicyRule(call) => {
                json(self.change_policy(PolicyChange::Remove(call.rule), call.stamp).await?)
            }
            PolicyRequest::ListGrants(_) => json(grants(base).await?),
            PolicyRequest::RemoveGrant(call) => {
                let result = base.store.write(move |tx| tx.remove_rule(&call.folder, &call.rule));
                result.await?;
                json(grants(base).await?)
            }
            PolicyRequest::TryCommand(call) => json(self.try_command(base, call).await?),
        }
    }

    /// Returns the current state of the file, without blocking the caller's thread.
    pub(crate) async fn current(self: &Arc<Self>) -> Result<PolicyState, ApiError> {
        let rules = Arc::clone(self);
        blocking(move || Ok(rules.state())).await
    }

    async fn change_policy(
        self: &Arc<Self>,
        change: PolicyChange,
        stamp: String,
    ) -> Result<PolicyState, ApiError> {
        let rules = Arc::clone(self);
        blocking(move || rules.change(&change, &stamp)).await
    }

    /// Decides on a command as a session of the folder would, and runs nothing.
    async fn try_command(self: &Arc<Self>, base: &Base, call: TryCommand) -> Result<CommandTrial, ApiError> {
        let TryCommand { line, folder } = call;
        if line.trim().is_empty() {
            return Err(ApiError::new("policy.try_empty"));
        }
        let folder = match folder {
            Some(folder) => session_folder(Path::new(&folder))?,
            None => usual_folder(base),
        };
        let path_text = folder.display().to_string();
        let rules = Arc::clone(self);
        let policy = blocking(move || Ok(rules.policy()));
        let context = PermissionContext {
            mode: Mode::AskRisky,
            shell_folder: folder.clone(),
            folder,
            readable: base.paths.readable(),
            writable: Vec::new(),
            rules: base.folder_rules(path_text.clone()).await?,
            granted_to_turn: Vec::new(),
            home: base.paths.resolved_home(),
            other_home_paths: base.paths.other_homes(),
            policy: policy.await?,
            builtin: BuiltinGrant::Ask,
            startup_files: octo_shell::startup_files(),
            // As if no other call ran.
            running: RunningCalls::default(),
        };
        let command = CommandEffect::Start { line, cwd: None, env: Vec::new() };
        let effects = Effects { command: Some(command), ..Effects::none() };
        let CallDecision { decision, rewritten, facts } =
            permission::decide_off_thread(&context, &effects).await;
        let outcome = match decision {
            Decision::Run(RunBasis::Person) => TrialOutcome::Runs { because: RunsBecause::Allowed },
            Decision::Run(RunBasis::Policy) if facts.only_reads => {
                TrialOutcome::Runs { because: RunsBecause::OnlyReads }
            }
            Decision::Run(RunBasis::Policy) => TrialOutcome::Runs { because: RunsBecause::StaysInside },
            Decision::Ask { reason, .. } => TrialOutcome::Asks { reason },
            // A command is not a question in itself; if it were, it would be asked.
            Decision::Feedback => TrialOutcome::Asks { reason: AskReason::Mode },
            Decision::Deny { refusal, part, .. } => TrialOutcome::Refused { refusal, part },
        };
        Ok(CommandTrial { folder: path_text, outcome, rewritten })
    }
}

async fn grants(base: &Base) -> Result<Grants, ApiError> {
    let rules = base.store.read(|reader| reader.all_rules()).await?;
    // Permissions for a single session end with it and are not shown.
    let lasting = rules.into_iter().filter(|(folder, _)| Path::new(folder).is_absolute());
    Ok(Grants { grants: lasting.map(|(folder, rule)| Grant { folder, rule }).collect() })
}

/// Returns the last used folder if it still exists, otherwise the person's home folder.
fn usual_folder(base: &Base) -> PathBuf {
    let recent = base.preferences().recent_folders;
    let existing = recent.iter().find_map(|folder| session_folder(Path::new(folder)).ok());
    let home = || std::env::home_dir().filter(|home| home.is_dir());
    existing.or_else(home).unwrap_or_else(|| base.config.home.clone())
}
