//! Runs a call in parallel with the actor.

use super::{CallEnding, EndedReport, OpenCall};
use crate::{
    hooks::Hooks,
    session::{JobReport, lasting::LastingCall, ready::ReadyCall, state::Session, tasks::TurnStep, texts},
    turn::SettleReason,
};
use octo_protocol::CallId;
use octo_shell::RunGuard;
use octo_tools::{ToolContext, ToolError, ToolOutput};
use octo_workspace::{RunningCommand, TrashScan};
use std::{sync::Arc, time::Instant};
use tokio_util::sync::CancellationToken;

/// A call and the state needed to run it.
struct CallRun {
    id: CallId,
    ready: ReadyCall,
    hooks: Hooks,
    lasting: LastingCall,
    task: TurnStep,
    /// The summary of the turn's step.
    summary: String,
    context: ToolContext,
    /// The context in which the person views files, to check what they were shown.
    view_context: ToolContext,
    cancel: CancellationToken,
}

impl Session {
    /// Runs a call that is stored as started.
    pub(super) fn spawn_call(&mut self, id: CallId) {
        let permissions = self.permission_context();
        let (report, runtime) = (self.reporter(), self.runtime.clone());
        let Some((turn, task)) = self.turn.get().map(|turn| (turn.id(), turn.task().clone())) else { return };
        let start = self.turn.call(id).and_then(OpenCall::take_start);
        let Some((ready, message, cancel, entry)) = start else { return };
        // A refused call ended when it was decided on.
        let Some(vetted) = ready.approver() else { return };
        let context = self.tool_context(id, message, vetted, cancel.clone(), task.tools());
        let view_context = ToolContext { files: context.files.for_person(), ..context.clone() };
        let confinement = ready.confinement(&self.workspace.fence(&self.runtime));
        let line_context = permissions.shell_context(self.workspace.folder());
        let lasting_call = LastingCall::new(id, &self.workspace, line_context, confinement.as_ref());
        let context = ready.add_grants(context, &permissions, confinement);
        let running = entry.map(|entry| -> RunGuard { Arc::new(entry) });
        let context = ToolContext { running, ..context };
        let (tool, may_remove) = (ready.tool(), ready.effects().command.is_some());
        let (hooks, summary) = (self.hooks(), self.summary_of(turn));
        let run = CallRun {
            id,
            ready,
            hooks,
            lasting: lasting_call,
            task,
            summary,
            context,
            view_context,
            cancel: cancel.clone(),
        };
        tokio::spawn(async move {
            let started = Instant::now();
            // A separate task, so that a panic in a tool ends the call and not the session.
            let (outcome, running_command) = tokio::spawn(run.run()).await.unwrap_or_else(|error| {
                tracing::error!(call = %id, tool, %error, "a tool broke");
                let message =
                    "The tool itself broke while it ran. Its effect is unknown; check before you go on.";
                (Err(ToolError::new(message)), None)
            });
            if may_remove {
                // The trash lists the command's removals before the call ends.
                runtime.services.trash.scan_and_log(TrashScan::New).await;
            }
            let ending = if cancel.is_cancelled() { CallEnding::Stopped } else { CallEnding::Completed };
            let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            report.send(JobReport::CallEnded(EndedReport {
                turn,
                call: id,
                outcome,
                running_command,
                ending,
                duration_ms,
            }));
        });
    }
}

impl CallRun {
    /// Runs the call. Returns its outcome, and a command whose changes must be detected.
    async fn run(self) -> (Result<ToolOutput, ToolError>, Option<RunningCommand>) {
        let Self { id, ready, hooks, lasting, task, summary, context, view_context, cancel } = self;
        // Stop was pressed while the start was waiting to be stored: the call does not begin.
        if cancel.is_cancelled() {
            return (Err(ToolError::new(texts::settled_call(SettleReason::Stopped).1)), None);
        }
        if ready.has_changed(&view_context).await {
            return (Err(ToolError::new(texts::CHANGED)), None);
        }
        let lasting = lasting.lasting_effects(ready.effects(), ready.command_facts()).await;
        let watched_command =
            match task.record_before(ready.effects(), ready.command_facts(), lasting, summary).await {
                Ok(running_command) => running_command,
                Err(error) => return (Err(error), None),
            };
        // Scanning the folder may have taken longer than the person wanted to wait.
        if cancel.is_cancelled() {
            return (Err(ToolError::new(texts::settled_call(SettleReason::Stopped).1)), watched_command);
        }
        (ready.run(id, &hooks, context).await, watched_command)
    }
}
