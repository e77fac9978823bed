//! Tool calls: reading their arguments, asking, running and ending them.

mod batch;
mod open;
mod run;

pub(super) use batch::Batch;
pub(super) use open::OpenCall;

use super::{
    JobReport,
    current_turn::RunningTurn,
    ready::{ReadyCall, ready},
    state::Session,
    step::Step,
    tasks::continuing_handle,
};
use crate::{
    builtin::HomeCommands,
    permission::PermissionContext,
    turn::{Input, SettleReason},
};
use octo_policy::PolicyPaths;
use octo_protocol::{ApiError, CallId, Event, MessageId, Mode, StreamKind, Todo, ToolView, TurnId};
use octo_tools::{Approver, Http, INVOKE_SKILL, TodoList, ToolContext, ToolError, ToolOutput, TurnHistory};
use octo_workspace::{Outputs, RunningCommand, Scripts};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Maximum length of a failed call's text on its card, in characters.
const MAX_CARD_CHARS: usize = 4_000;

/// The report of a prepared call.
pub(crate) struct PreparedReport {
    turn: TurnId,
    call: CallId,
    outcome: Result<ReadyCall, ToolError>,
}

/// The report of an ended call.
pub(crate) struct EndedReport {
    turn: TurnId,
    call: CallId,
    outcome: Result<ToolOutput, ToolError>,
    /// A command whose changes must be detected.
    running_command: Option<RunningCommand>,
    ending: CallEnding,
    duration_ms: u64,
}

/// Whether a call ran to its own end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CallEnding {
    Completed,
    Stopped,
}

impl Session {
    /// Returns the current basis for permission decisions.
    pub(super) fn permission_context(&self) -> PermissionContext {
        let unattended = self.is_unattended();
        PermissionContext {
            // An unattended session, which cannot ask, may do only what the strictest mode allows, whatever the
            // person allowed others.
            mode: if unattended { Mode::Ask } else { self.info.mode },
            folder: self.workspace.folder().to_owned(),
            shell_folder: self.workspace.shell_folder(),
            readable: self.workspace.readable(&self.runtime),
            writable: self.workspace.writable(),
            rules: if unattended { Vec::new() } else { self.grants.rules() },
            granted_to_turn: self.grants.sites(),
            home: self.runtime.base.paths.resolved_home(),
            other_home_paths: self.runtime.base.paths.other_homes(),
            policy: self.runtime.services.rules.policy(),
            builtin: self.builtin_grant(),
            startup_files: octo_shell::startup_files(),
            running: self.runtime.services.running.clone(),
        }
    }

    /// Returns the context of a call of the running turn, before any grants.
    pub(super) fn tool_context(
        &self,
        call: CallId,
        message: MessageId,
        vetted: Approver,
        cancel: CancellationToken,
        tasks: TurnHistory,
    ) -> ToolContext {
        let live = self.live.clone();
        let context = self.permission_context();
        // Paths the person closed stay closed inside a folder that a tool searches.
        let closed = PolicyPaths::new(&context.policy, &context.shell_context(self.workspace.folder()));
        ToolContext {
            session: self.id(),
            call,
            cwd: self.workspace.folder().to_owned(),
            files: self.workspace.files().with_closed_paths(Arc::new(closed)),
            shell: self.workspace.shell().clone(),
            blobs: self.runtime.base.blobs.clone(),
            outputs: Outputs::new(self.runtime.base.paths.outputs(self.id())),
            documents: self.runtime.services.documents.clone(),
            scripts: Scripts::new(self.runtime.base.paths.scripts()),
            http: Http::new(self.runtime.services.models.network_config()),
            search: self.runtime.services.search.clone(),
            shell_folder: None,
            rewritten: None,
            confinement: None,
            running: None,
            todos: self.todos.clone(),
            tasks: tasks.continuing(self.asking_turns()),
            trash: Arc::new(self.runtime.services.trash.clone()),
            browser: Arc::new(self.browser_session.clone()),
            browser_permission: None,
            builtin: Arc::new(HomeCommands::new(
                self.runtime.base.clone(),
                &self.runtime.services,
                self.client(),
            )),
            skills: self.skills(context),
            live: Arc::new(move |text: &str| live.push(message, 0, &StreamKind::Output { call }, text)),
            approved_by: vetted,
            cancel,
        }
    }

    /// Reads a call's arguments, decides on it and makes its preview, off the actor.
    pub(super) fn prepare(&self, id: CallId) {
        let (mut permissions, hooks, forbidden_tools) =
            (self.permission_context(), self.hooks(), self.forbidden_tools());
        let unattended = self.is_unattended();
        let toolset = self.runtime.services.toolset.clone();
        let (runtime, folder, scope) = (self.runtime.clone(), self.info.folder.clone(), self.session_scope());
        let report = self.reporter();
        let Some(running) = self.turn.get() else { return };
        let (turn, cancel, tasks) = (running.id(), running.child_token(), running.task().tools());
        let Some(open) = running.batch.get(id) else { return };
        let (call, message) = (open.request().clone(), open.message());
        let context = self.tool_context(id, message, Approver::Policy, cancel, tasks);
        tokio::spawn(async move {
            // A separate task, so that a panic while reading a call ends the call and not the turn.
            let result = tokio::spawn(async move {
                // Another session of the same folder may have received a rule meanwhile.
                if !unattended && let Ok(rules) = runtime.base.load_rules(folder, scope).await {
                    permissions.rules = rules;
                }
                let ready = ready(&toolset, &call, &permissions, &hooks, &forbidden_tools, &context).await?;
                Ok(if unattended { ready.unattended() } else { ready })
            });
            let outcome = result.await.unwrap_or_else(|error| {
                tracing::error!(call = %id, %error, "reading a call broke");
                Err(ToolError::new("The call could not be read; nothing was run."))
            });
            report.send(JobReport::Prepared(PreparedReport { turn, call: id, outcome }));
        });
    }

    /// Takes the report of a prepared call.
    pub(super) async fn call_prepared(&mut self, report: PreparedReport) -> Result<(), ApiError> {
        let PreparedReport { turn, call, outcome } = report;
        if !self.turn.is(turn) {
            return Ok(());
        }
        if let Ok(ready) = &outcome {
            self.record_call(ready.tool());
            if ready.tool() == INVOKE_SKILL {
                self.turn.with(|turn| turn.facts_mut().record_skill());
            }
        }
        let Some(open) = self.turn.open_call(turn, call) else { return Ok(()) };
        let mut step = Step::default();
        let verdict = open.prepare(outcome, &mut step);
        self.feed_with(Input::Prepared { call, verdict }, step).await
    }

    /// Asks the person a call's question.
    pub(super) fn ask(&mut self, call: CallId, step: &mut Step) {
        self.turn.with(|turn| turn.batch.ask(call, step));
    }

    /// Marks a call as started; its effect begins once this is stored.
    pub(super) fn start(&mut self, call: CallId, step: &mut Step) {
        let context = self.permission_context();
        let Some(cancel) = self.turn.get().map(RunningTurn::child_token) else { return };
        let Some(open) = self.turn.call(call) else { return };
        if open.start(&context, cancel, step) {
            step.job(move |session| session.spawn_call(call));
        } else {
            self.feed(Input::Ended { call }, step);
        }
    }

    /// Takes the report of an ended call.
    pub(super) async fn call_ended(&mut self, report: EndedReport) -> Result<(), ApiError> {
        let EndedReport { turn, call, outcome, running_command, ending, duration_ms } = report;
        if let Some(running_command) = running_command {
            self.command_returned(running_command, continuing_handle(&outcome));
        }
        self.live.close_call(call);
        let mut step = Step::default();
        self.end_connections(call, &mut step);
        if self.turn.open_call(turn, call).is_none() {
            return self.report_ends_later(call).await;
        }
        self.mark_ends_reported(call, &mut step);
        if let Ok(ToolOutput { view: ToolView::Todos { .. }, .. }) = &outcome {
            step.event(Event::TodosChanged { todos: self.todos() });
        }
        if let Some(open) = self.turn.call(call) {
            open.finish(outcome, ending, duration_ms, &mut step);
        }
        self.feed_with(Input::Ended { call }, step).await
    }

    /// Cancels a call's token on Stop; its end is reported like any other.
    pub(super) fn cancel(&self, call: CallId, step: &mut Step) {
        step.job(move |session| {
            if let Some(open) = session.turn.call(call) {
                open.cancel();
            }
        });
    }

    /// Gives a call its result without running it, and withdraws its question.
    pub(super) fn settle(&mut self, call: CallId, reason: SettleReason, step: &mut Step) {
        self.turn.with(|turn| turn.batch.settle(call, reason, step));
    }

    /// Gives up calls that did not end in time after Stop.
    pub(super) fn abandon_calls(&mut self, step: &mut Step) {
        for call in self.turn.with(|turn| turn.batch.abandon(step)).unwrap_or_default() {
            self.live.close_call(call);
            self.end_connections(call, step);
            self.feed(Input::Ended { call }, step);
        }
    }

    /// Returns the current plan.
    pub(super) fn todos(&self) -> Vec<Todo> {
        let TodoList(state) = &self.todos;
        state.lock().items.clone()
    }
}

pub(super) fn plain(text: &str) -> ToolView {
    ToolView::Plain { text: text.chars().take(MAX_CARD_CHARS).collect() }
}
