//! Tool calls: reading their arguments, asking, running, ending.

mod open;

pub(crate) use open::OpenCall;

use super::{
    Report,
    lasting::{Deed, Held},
    ready::{Ready, facts, ready, with_words_of_hooks},
    state::{Change, Running, Session},
    sub_agent::close_card,
    tasks::goes_on,
    texts,
    turns::Step,
};
use crate::{
    builtin::BuiltinCommands,
    clock::now,
    hooks::Moment,
    permission::{self, Basis, Decision, Ground},
    turn::{Input, Order, Settle, Verdict},
};
use octo_protocol::{
    Ask, CallId, CallState, CallStatus, Event, MessageId, Mode, Question, QuestionId, StreamKind,
    SubAgentStatus, Todo, ToolResult, ToolView, TurnId,
};
use octo_shell::{PolicyPaths, StartupFiles};
use octo_tools::{Http, INVOKE_SKILL, Outcome, Tasks, TodoList, ToolContext, ToolError, ToolOutput, Vetted};
use octo_workspace::{Outputs, RunningCommand, Scripts, Sweep};
use open::result_of;
use std::{
    path::PathBuf,
    sync::{Arc, PoisonError},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

/// The most of a failed call's words that its card shows, in characters.
const SHOWN: usize = 4_000;

/// A call was prepared.
pub(crate) struct PreparedReport {
    turn: TurnId,
    call: CallId,
    outcome: Result<Ready, ToolError>,
}

/// A call ended.
pub(crate) struct EndedReport {
    turn: TurnId,
    call: CallId,
    outcome: Result<ToolOutput, ToolError>,
    /// A command whose changes are to be looked for.
    watched: Option<RunningCommand>,
    how: EndedHow,
    duration_ms: u64,
}

/// Whether a call came to its own end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EndedHow {
    ByItself,
    Stopped,
}

impl Session {
    /// What permission is decided on, as of now.
    pub(super) fn ground(&self) -> Ground {
        let unattended = self.is_unattended();
        Ground {
            // Whom nobody can be asked for does what the strictest mode lets pass, whatever the person allowed others.
            mode: if unattended { Mode::Ask } else { self.info.mode },
            folder: self.folder.clone(),
            shell_folder: self.shell.current_dir(&self.folder),
            readable: self.files_readable(),
            writable: vec![self.scratch.clone()],
            rules: if unattended { Vec::new() } else { self.rules.clone() },
            granted: self.granted_sites.clone(),
            home: self.runtime.base.paths.real_home(),
            home_others: self.runtime.base.paths.other_homes(),
            policy: self.runtime.services.rules.policy(),
            desk: self.desk_leave(),
            startup: StartupFiles::default(),
        }
    }

    fn files_readable(&self) -> Vec<PathBuf> {
        let mut readable = self.runtime.base.paths.readable();
        readable.push(self.shell_place.join("logs"));
        readable.push(self.runtime.base.paths.outputs(self.id()));
        if self.fork.is_some() {
            let root = self.root();
            readable.push(self.runtime.base.paths.outputs(root));
            readable.extend(self.runtime.base.paths.shell(root).ok().map(|place| place.join("logs")));
        }
        readable
    }

    pub(super) fn tool_context(
        &self,
        call: CallId,
        message: MessageId,
        vetted: Vetted,
        cancel: CancellationToken,
        tasks: Tasks,
    ) -> ToolContext {
        let live = self.live.clone();
        let ground = self.ground();
        // What the person closed stays closed below a folder that is searched.
        let closed = PolicyPaths::new(&ground.policy, &ground.around(&self.folder));
        ToolContext {
            session: self.id(),
            call,
            cwd: self.folder.clone(),
            files: self.files.closing(Arc::new(closed)),
            shell: self.shell.clone(),
            blobs: self.runtime.base.blobs.clone(),
            outputs: Outputs::new(self.runtime.base.paths.outputs(self.id())),
            documents: self.runtime.services.documents.clone(),
            scripts: Scripts::new(self.runtime.base.paths.scripts()),
            http: Http::new(self.runtime.services.models.reach()),
            search: self.runtime.services.search.clone(),
            shell_folder: None,
            rewritten: None,
            confinement: None,
            todos: self.todos.clone(),
            tasks: tasks.going_on_with(self.asking_turns()),
            trash: Arc::new(self.runtime.services.trash.clone()),
            browser: Arc::new(self.seat.clone()),
            browser_leave: None,
            desk: Arc::new(BuiltinCommands::new(
                self.runtime.base.clone(),
                &self.runtime.services,
                self.client(),
            )),
            skills: self.skills(ground),
            live: Arc::new(move |text: &str| live.push(message, 0, &StreamKind::Output { call }, text)),
            vetted,
            cancel,
        }
    }

    /// Reads a call's arguments, decides on it and makes its preview, beside the actor.
    pub(super) fn prepare(&mut self, id: CallId) {
        let (mut ground, hooks, barred) = (self.ground(), self.hooks(), self.barred());
        let unattended = self.is_unattended();
        let toolset = self.runtime.services.toolset.clone();
        let (runtime, folder, scope) = (self.runtime.clone(), self.info.folder.clone(), self.session_scope());
        let report = self.reporter();
        let Some(running) = &mut self.running else { return };
        let (turn, cancel) = (running.view.id, running.cancel.child_token());
        let Some(open) = running.call(id) else { return };
        let (call, message) = (open.call.clone(), open.message);
        let tasks = running.task.tools.clone();
        let context = self.tool_context(id, message, Vetted::Policy, cancel, tasks);
        tokio::spawn(async move {
            // A task of its own: a fault in reading a call ends the call and not the turn.
            let read = tokio::spawn(async move {
                // Another session of the same folder may have been given a rule meanwhile.
                if !unattended && let Ok(rules) = runtime.base.allowed(folder, scope).await {
                    ground.rules = rules;
                }
                let ready = ready(&toolset, &call, &ground, &hooks, &barred, &context).await?;
                Ok(if unattended { ready.unattended() } else { ready })
            });
            let outcome = read.await.unwrap_or_else(|error| {
                tracing::error!(call = %id, %error, "reading a call broke");
                Err(ToolError::new("The call could not be read; nothing was run."))
            });
            report(Report::Prepared(PreparedReport { turn, call: id, outcome }));
        });
    }

    /// A call was prepared.
    pub(super) async fn call_prepared(
        &mut self,
        report: PreparedReport,
    ) -> Result<(), octo_protocol::ApiError> {
        let PreparedReport { turn, call, outcome } = report;
        if let (Ok(ready), Some(running)) = (&outcome, &self.running)
            && running.view.id == turn
        {
            self.note_call(ready.tool);
            if ready.tool == INVOKE_SKILL {
                self.note_skill();
            }
        }
        let Some(running) = self.running.as_mut().filter(|running| running.view.id == turn) else {
            return Ok(());
        };
        let Some(open) = running.call(call).filter(|open| open.result.is_none()) else { return Ok(()) };
        let mut step = Step::default();
        let verdict = match outcome {
            Err(error) => {
                open.view.view = Some(plain(&error.text));
                let result = result_of(&open.call, CallStatus::Failed, error.text);
                open.end(result, 0, now(), &mut step);
                Verdict::Failed
            }
            Ok(Ready { tool, decision: Decision::Deny { refusal, subject, part }, .. }) => {
                open.view.tool = tool.to_owned();
                let words = texts::refused_with(refusal, part.as_deref());
                open.view.view = Some(ToolView::Refused { subject, part, refusal });
                let result = result_of(&open.call, CallStatus::Denied, words);
                open.end(result, 0, now(), &mut step);
                Verdict::Failed
            }
            Ok(ready) => {
                open.view.tool = ready.tool.to_owned();
                open.view.view = Some(ready.preview.clone());
                let order = match ready.effects.order {
                    octo_tools::Order::Parallel => Order::Parallel,
                    octo_tools::Order::Alone => Order::Alone,
                };
                let verdict = match ready.decision {
                    Decision::Run(_) => Verdict::Run(order),
                    Decision::Ask { .. } | Decision::Feedback | Decision::Deny { .. } => Verdict::Ask(order),
                };
                open.ready = Some(ready);
                verdict
            }
        };
        self.feed_with(Input::Prepared { call, verdict }, step).await
    }

    /// Puts a call's question.
    pub(super) fn ask(&mut self, call: CallId, step: &mut Step) {
        let Some(running) = &mut self.running else { return };
        let Some(open) = running.call(call) else { return };
        let Some(ready) = &open.ready else { return };
        let ask = match (&ready.decision, &ready.preview) {
            (Decision::Ask { reason, rule }, preview) => {
                Ask::Permission { preview: preview.clone(), reason: reason.clone(), rule: rule.clone() }
            }
            (_, ToolView::Feedback { question, context, options, .. }) => Ask::Feedback {
                question: question.clone(),
                context: context.clone(),
                options: options.clone(),
            },
            // `ready` lets no other question through.
            (Decision::Feedback | Decision::Run(_) | Decision::Deny { .. }, _) => return,
        };
        open.view.state = CallState::Asking;
        let question = Question { id: QuestionId::new(), call, tool: ready.tool.to_owned(), ask, at: now() };
        step.changes.push(Change::Event(Event::CallChanged { call: open.view.clone() }));
        step.changes.push(Change::Event(Event::QuestionAsked { question: question.clone() }));
        running.questions.push(question);
    }

    /// Marks a call as started; its effect begins once that is stored.
    pub(super) fn start(&mut self, call: CallId, step: &mut Step) {
        let ground = self.ground();
        let Some(running) = &mut self.running else { return };
        let cancel = running.cancel.child_token();
        let Some(open) = running.call(call) else { return };
        if open.ready.as_ref().is_some_and(|ready| ready.is_forbidden_by_now(&ground)) {
            let result = result_of(&open.call, CallStatus::Denied, texts::MODE_CHANGED.to_owned());
            open.end(result, 0, now(), step);
            return self.feed_step(Input::Ended { call }, step);
        }
        open.view.state = CallState::Started { at: now() };
        open.cancel = Some(cancel);
        step.changes.push(Change::Event(Event::CallChanged { call: open.view.clone() }));
        step.jobs.push(Box::new(move |session| session.spawn_call(call)));
    }

    fn spawn_call(&mut self, id: CallId) {
        let ground = self.ground();
        let (report, runtime) = (self.reporter(), self.runtime.clone());
        let Some(running) = &mut self.running else { return };
        let turn = running.view.id;
        let Some(open) = running.call(id) else { return };
        let (Some(cancel), Some(ready)) = (open.cancel.clone(), open.ready.take()) else { return };
        let message = open.message;
        let vetted = match ready.decision {
            Decision::Run(Basis::Policy) => Vetted::Policy,
            // Everything else ran because the person said so: by an answer, a rule or the mode.
            Decision::Run(Basis::Person) | Decision::Ask { .. } | Decision::Feedback => Vetted::Person,
            // It ended when it was decided on.
            Decision::Deny { .. } => return,
        };
        let task = running.task.clone();
        let summary = self.summary_of(turn);
        let mut context = self.tool_context(id, message, vetted, cancel.clone(), task.tools.clone());
        let looking = ToolContext { files: context.files.for_person(), ..context.clone() };
        context.files = context.files.granting(&ready.effects.reads, &ready.effects.writes);
        context.http =
            context.http.granting(permission::granted_sites(&ground, &ready.effects, &ready.decision));
        context.browser_leave = permission::browser_leave(&ground, &ready.effects);
        context.shell_folder = Some(ready.shell_folder.clone());
        context.rewritten.clone_from(&ready.rewritten);
        context.confinement = self.fence().confinement(&ready.decision, &ready.nature);
        let hooks = self.hooks();
        let deed = Deed {
            call: id,
            folder: self.folder.clone(),
            scratch: self.scratch.clone(),
            shell: self.shell.clone(),
            around: ground.around(&self.folder),
            held: if context.confinement.is_some() { Held::Yes } else { Held::No },
        };
        tokio::spawn(async move {
            let (began, tool) = (Instant::now(), ready.tool);
            let may_remove = ready.effects.command.is_some();
            // A task of its own, so that a fault in a tool ends the call and not the session.
            let stopped = cancel.clone();
            let run = tokio::spawn(async move {
                // Stop was pressed while it waited to be stored that this begins: then it does not.
                if stopped.is_cancelled() {
                    return (Err(ToolError::new(texts::settled(Settle::Stopped).1)), None);
                }
                if ready.was_shown() && !ready.is_still_shown(&looking).await {
                    return (Err(ToolError::new(texts::CHANGED)), None);
                }
                let lasting = deed.lasting(&ready.effects, &ready.nature).await;
                let watched = match task.before(&ready.effects, &ready.nature, lasting, summary).await {
                    Ok(watched) => watched,
                    Err(error) => return (Err(error), None),
                };
                // Looking at the folder may have taken longer than the person wanted to wait.
                if stopped.is_cancelled() {
                    return (Err(ToolError::new(texts::settled(Settle::Stopped).1)), watched);
                }
                let outcome = ready.prepared.run(context).await;
                let mut about = facts(tool, id, &ready.arguments);
                about.insert("failed".to_owned(), outcome.is_err().into());
                let heard = hooks.hear(Moment::AfterTool, Some(tool), about).await;
                let told = [ready.told, heard.context].into_iter().flatten().collect::<Vec<_>>().join("\n");
                (with_words_of_hooks(outcome, &told), watched)
            });
            let (outcome, watched) = run.await.unwrap_or_else(|error| {
                tracing::error!(call = %id, tool, %error, "a tool broke");
                let words =
                    "The tool itself broke while it ran. Its effect is unknown; check before you go on.";
                (Err(ToolError::new(words)), None)
            });
            if may_remove {
                // What the command removed is in the list by the time the call has ended.
                runtime.services.trash.look(Sweep::New).await;
            }
            let how = if cancel.is_cancelled() { EndedHow::Stopped } else { EndedHow::ByItself };
            let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            report(Report::CallEnded(EndedReport { turn, call: id, outcome, watched, how, duration_ms }));
        });
    }

    /// A call ended.
    pub(super) async fn call_ended(&mut self, report: EndedReport) -> Result<(), octo_protocol::ApiError> {
        let EndedReport { turn, call, outcome, watched, how, duration_ms } = report;
        if let Some(watched) = watched {
            self.command_returned(watched, goes_on(&outcome));
        }
        self.live.close_call(call);
        let is_open = |running: &mut Running| {
            running.view.id == turn && running.call(call).is_some_and(|open| open.result.is_none())
        };
        if !self.running.as_mut().is_some_and(is_open) {
            return self.ends_untold_by(call).await;
        }
        let mut step = Step::default();
        self.ends_told_by(call, &mut step);
        let Some(open) = self.running.as_mut().and_then(|running| running.call(call)) else { return Ok(()) };
        let mut result = match outcome {
            Ok(ToolOutput { text, images, view, outcome }) => {
                let is_plan = matches!(view, ToolView::Todos { .. });
                open.view.view = Some(view);
                if is_plan {
                    let todos = items(&self.todos);
                    step.changes.push(Change::Event(Event::TodosChanged { todos }));
                }
                let status = match outcome {
                    Outcome::Done | Outcome::AwaitsPerson => CallStatus::Done,
                };
                ToolResult { images, ..result_of(&open.call, status, text) }
            }
            Err(error) => {
                open.view.view = Some(failed_view(open.view.view.take(), &error.text));
                result_of(&open.call, CallStatus::Failed, error.text)
            }
        };
        if how == EndedHow::Stopped {
            result.status = CallStatus::Stopped;
            result.text = format!("{}\n\n{}", result.text.trim_end(), texts::STOPPED).trim_start().to_owned();
        }
        open.end(result, duration_ms, now(), &mut step);
        self.feed_with(Input::Ended { call }, step).await
    }

    /// Stop: the call's token is cancelled, its end is reported like any other.
    pub(super) fn cancel(&mut self, call: CallId, step: &mut Step) {
        step.jobs.push(Box::new(move |session| {
            if let Some(cancel) = session
                .running
                .as_mut()
                .and_then(|running| running.call(call))
                .and_then(|open| open.cancel.as_ref())
            {
                cancel.cancel();
            }
        }));
    }

    /// Gives a call its result without running it, and withdraws its question.
    pub(super) fn settle(&mut self, call: CallId, how: Settle, step: &mut Step) {
        let Some(running) = &mut self.running else { return };
        running.questions.retain(|question| {
            if question.call == call {
                let closed = Event::QuestionClosed { question: question.id, answer: None };
                step.changes.push(Change::Event(closed));
            }
            question.call != call
        });
        let Some(open) = running.call(call).filter(|open| open.result.is_none()) else { return };
        let (status, text) = texts::settled(how);
        let card =
            if how == Settle::Interrupted { SubAgentStatus::Interrupted } else { SubAgentStatus::Stopped };
        close_card(&mut open.view, card);
        let result = result_of(&open.call, status, text.to_owned());
        open.end(result, 0, now(), step);
    }

    /// Gives up calls that did not end in time after Stop.
    pub(super) fn abandon_calls(&mut self, step: &mut Step) {
        let Some(running) = &mut self.running else { return };
        let mut ended = Vec::new();
        for open in &mut running.calls {
            if open.result.is_none() && matches!(open.view.state, CallState::Started { .. }) {
                close_card(&mut open.view, SubAgentStatus::Stopped);
                let result = result_of(&open.call, CallStatus::Stopped, texts::STOP_OVERDUE.to_owned());
                open.end(result, 0, now(), step);
                ended.push(open.call.id);
            }
        }
        for call in ended {
            self.live.close_call(call);
            self.feed_step(Input::Ended { call }, step);
        }
    }

    /// Ends a call that waited, with what the person said.
    pub(super) fn end_asked(
        &mut self,
        call: CallId,
        status: CallStatus,
        text: String,
        view: Option<ToolView>,
        step: &mut Step,
    ) {
        let Some(open) = self.running.as_mut().and_then(|running| running.call(call)) else { return };
        if let Some(view) = view {
            open.view.view = Some(view);
        }
        let result = result_of(&open.call, status, text);
        open.end(result, 0, now(), step);
    }
}

impl Session {
    /// The plan as it is.
    pub(super) fn todos(&self) -> Vec<Todo> {
        items(&self.todos)
    }
}

fn items(todos: &TodoList) -> Vec<Todo> {
    todos.0.lock().unwrap_or_else(PoisonError::into_inner).items.clone()
}

pub(super) fn plain(text: &str) -> ToolView {
    ToolView::Plain { text: text.chars().take(SHOWN).collect() }
}

/// A failed command keeps its card; anything else shows what went wrong.
fn failed_view(before: Option<ToolView>, text: &str) -> ToolView {
    match before {
        Some(ToolView::Command(mut command)) => {
            command.output.get_or_insert_with(|| text.chars().take(SHOWN).collect());
            ToolView::Command(command)
        }
        _ => plain(text),
    }
}
