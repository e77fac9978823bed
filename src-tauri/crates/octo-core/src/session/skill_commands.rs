//! Commands embedded in a skill's instructions (`` !`git status` ``), run before the model reads them.
//!
//! Only commands that the policy knows to be read-only, and that read nothing closed, run here, and none in a
//! mode that asks about every command: the person is not asked about the contents of a text, and no mode
//! vouches for it. All other commands are left to the model, whose terminal asks as for any command.

use super::{confined::SessionConfinement, ready::facts, state::Session};
use crate::{
    hooks::{HookMoment, Hooks},
    permission::{self, CallDecision, Decision, PermissionContext, RunBasis},
    skills::{SkillCommandOutcome, SkillCommands},
};
use futures::future::BoxFuture;
use octo_protocol::{CallId, CommandState, Mode};
use octo_shell::{
    CarryScope, CommandReport, CommandRun, Confinement, DEFAULT_WAIT, RunGuard, RunMode, Shell, ShellError,
};
use octo_tools::{CommandEffect, Effects, TERMINAL};
use serde_json::Map;
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Time limit of one command.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(10);
/// Time limit of all commands of a skill together.
const TOTAL_TIMEOUT: Duration = Duration::from_secs(30);

const LEFT: &str =
    "(not run here: run it with the terminal tool if it is needed, under the same permission as any command)";
const HOOK: &str = "(not run, and do not run it: a hook of the person's forbids it";
const STOPPED: &str = "(not run: the work was stopped)";
const TOO_LATE: &str = "(not run: the commands before it took too long)";

/// Runs the commands the policy allows without asking.
#[derive(Clone)]
pub(super) struct PolicyRunner {
    context: PermissionContext,
    confinement: SessionConfinement,
    shell: Shell,
    hooks: Hooks,
}

/// The same, for a call.
pub(super) struct CallRunner {
    runner: PolicyRunner,
    call: CallId,
    cancel: CancellationToken,
}

impl Session {
    pub(super) fn policy_runner(&self, mut context: PermissionContext) -> PolicyRunner {
        if context.mode == Mode::Autonomous {
            context.mode = Mode::AskRisky;
        }
        PolicyRunner {
            context,
            confinement: self.workspace.fence(&self.runtime),
            shell: self.workspace.shell().clone(),
            hooks: self.hooks(),
        }
    }
}

impl PolicyRunner {
    pub(super) fn of_call(&self, call: CallId, cancel: CancellationToken) -> CallRunner {
        CallRunner { runner: self.clone(), call, cancel }
    }
}

impl SkillCommands for CallRunner {
    fn run(&self, lines: Vec<String>) -> BoxFuture<'_, Vec<SkillCommandOutcome>> {
        Box::pin(async move {
            let deadline = Instant::now() + TOTAL_TIMEOUT;
            let mut outcomes = Vec::with_capacity(lines.len());
            for line in lines {
                outcomes.push(self.run_one(line, deadline).await);
            }
            outcomes
        })
    }
}

impl CallRunner {
    async fn run_one(&self, line: String, deadline: Instant) -> SkillCommandOutcome {
        let left_to_model = |reason: &str| SkillCommandOutcome::LeftToModel(reason.to_owned());
        let PolicyRunner { context, confinement, hooks, .. } = &self.runner;
        if self.cancel.is_cancelled() {
            return left_to_model(STOPPED);
        }
        let timeout = deadline.saturating_duration_since(Instant::now()).min(COMMAND_TIMEOUT);
        if timeout.is_zero() {
            return left_to_model(TOO_LATE);
        }
        let start = CommandEffect::Start { line, cwd: Some(context.folder.clone()), env: Vec::new() };
        let effects = Effects { command: Some(start), ..Effects::none() };
        let CallDecision { decision, rewritten, facts: command_facts } =
            permission::decide_off_thread(context, &effects).await;
        let running_call = context.running_call(&effects, &command_facts);
        let Some(CommandEffect::Start { line, .. }) = effects.command else { return left_to_model(LEFT) };
        if decision != Decision::Run(RunBasis::Policy) || !command_facts.only_reads || rewritten.is_some() {
            return left_to_model(LEFT);
        }
        let Ok(entry) = context.running.enter(running_call) else { return left_to_model(LEFT) };
        let hook_facts =
            || facts(TERMINAL, self.call, &Map::from_iter([("command".to_owned(), line.as_str().into())]));
        let before_hooks = hooks.run_all(HookMoment::BeforeTool, Some(TERMINAL), hook_facts()).await;
        if let Some(reason) = before_hooks.deny {
            return SkillCommandOutcome::LeftToModel(format!("{HOOK}: {reason})"));
        }
        let confinement = confinement.confinement(&decision, &command_facts);
        let report = self.output(&line, confinement, Arc::new(entry), timeout).await;
        let mut facts = hook_facts();
        facts.insert("failed".to_owned(), report.is_err().into());
        let after_hooks = hooks.run_all(HookMoment::AfterTool, Some(TERMINAL), facts).await;
        match report {
            Ok(report) => {
                let notes = [before_hooks.context, after_hooks.context].into_iter().flatten();
                SkillCommandOutcome::Ran(
                    std::iter::once(outcome_text(&report)).chain(notes).collect::<Vec<_>>().join("\n"),
                )
            }
            Err(error) => SkillCommandOutcome::LeftToModel(format!("(not run: {error})")),
        }
    }

    async fn output(
        &self,
        line: &str,
        confinement: Option<Confinement>,
        guard: RunGuard,
        timeout: Duration,
    ) -> Result<CommandReport, ShellError> {
        let PolicyRunner { context, shell, .. } = &self.runner;
        let cancel = self.cancel.child_token();
        let run = CommandRun {
            call: self.call,
            // In a subshell: its directory and variables must not affect the session's next command.
            command: format!("(\n{line}\n)"),
            folder: context.folder.clone(),
            cwd: Some(context.folder.clone()),
            env: Vec::new(),
            carry_scope: CarryScope::FolderOnly,
            live: Arc::new(|_| {}),
            cancel: cancel.clone(),
            wait: DEFAULT_WAIT,
            mode: RunMode::Foreground,
            confinement,
            guard: Some(guard),
        };
        let mut running = std::pin::pin!(shell.run(run));
        let report = tokio::select! {
            report = &mut running => report?,
            () = tokio::time::sleep(timeout) => {
                cancel.cancel();
                running.await?
            }
        };
        // A command that waits for input would wait in vain.
        match &report.handle {
            Some(handle) => shell.kill(handle, self.call).await,
            None => Ok(report),
        }
    }
}

/// Returns the text for the instructions: the output, and the status unless it succeeded.
fn outcome_text(report: &CommandReport) -> String {
    let output = report.output_model.trim_end();
    let status = match report.state {
        CommandState::Exited { code: 0 } => return output.to_owned(),
        CommandState::Exited { code } => format!("(exit code {code})"),
        CommandState::Signalled { signal } => format!("(ended by signal {signal})"),
        CommandState::Killed
        | CommandState::Waiting
        | CommandState::Running
        | CommandState::TimedOut
        | CommandState::EndedWithOcto => {
            format!(
                "(ended after {:.0} s: it took too long or waited for input)",
                report.duration.as_secs_f64()
            )
        }
    };
    if output.is_empty() { status } else { format!("{output}\n{status}") }
}
