//! Opening a stored session, and going on with a turn that a crash or a shutdown left open.

use super::{
    Calls, Inbox, Runtime,
    after::{After, Course},
    attached::Attached,
    background::Background,
    budget::Allowance,
    calls::OpenCall,
    compacting::Restraint,
    entry::Entrance,
    fallback::Fallback,
    idle::Pause,
    meter::Seen,
    recovery::recover,
    state::{Change, Patience, Running, Session},
    sub_agent::{Attendance, Forked, FromParent, Lifeline},
    tasks::Watch,
    turns::Step,
};
use crate::{
    compaction::Size,
    library::LOOK,
    live::Live,
    turn::{CallKey, Known, Limits, Restored, Stop, Turn},
};
use octo_protocol::{
    ApiError, Block, CallState, ErrorCode, Event, MessageEnd, MessageId, Role, SessionId, Source, ToolCall,
};
use octo_shell::{Shell, ShellConfig};
use octo_store::{LeaseOutcome, StoredSession, StoredTurn, probe};
use octo_tools::{TodoList, TodoState, ToolDefinition};
use octo_workspace::{Files, Scope};
use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

impl Session {
    /// Loads a session, takes its lease and goes on with its open turn.
    pub(super) async fn load(
        runtime: Arc<Runtime>,
        id: SessionId,
        live: Live,
        calls: Calls,
        inbox: mpsc::UnboundedSender<Inbox>,
    ) -> Result<Self, ApiError> {
        let holder = runtime.base.lease.clone();
        let outcome = runtime.base.store.write(move |tx| tx.take_lease(id, &holder, probe)).await?;
        if let LeaseOutcome::HeldBy(_) = outcome {
            return Err(ApiError::new("session.in_use").code(ErrorCode::InUse));
        }
        // Whoever was in the middle of something here is dead now.
        recover(&runtime.services.time, id).await;
        let stored = runtime.base.store.read(move |reader| reader.resume(id)).await?;
        let stored =
            stored.ok_or_else(|| ApiError::new("session.unknown").code(ErrorCode::UnknownSession))?;
        // What it shares with its parent, for a sub-agent.
        let root = stored.fork.as_ref().map_or(id, |fork| fork.origin.session);
        let ancestors = runtime.base.store.read(move |reader| reader.ancestors(id)).await?;
        let line = runtime.forks.take(id);
        let scope = format!("session/{root}");
        let rules = runtime.base.allowed(stored.info.folder.clone(), scope).await?;
        let (scratch, shell_place) = (runtime.base.paths.scratch(root)?, runtime.base.paths.shell(id)?);
        let folder = PathBuf::from(&stored.info.folder);
        let frozen = Frozen::of(&runtime, &stored).await?;
        let mut unfinished = stored.unfinished.clone();
        if stored.fork.is_some() && line.is_none() {
            // Nobody waits for its summary any more.
            unfinished = unfinished.map(|turn| StoredTurn { stopping: true, ..turn });
        }
        let todos = TodoList(Arc::new(Mutex::new(TodoState {
            items: stored.todos.clone(),
            last_id: stored.todo_last_id,
        })));
        let size = Size::restored(stored.context_tokens, &stored.context);
        let seat = runtime.services.browser.seat(id, root);
        let entry = runtime.board.entry(id);
        let mut session = Self {
            entry,
            letter: None,
            files: files_of(&runtime, (id, root, &ancestors), &folder, &scratch, &shell_place)?,
            shell: shell_of(&runtime, id, &shell_place, &inbox),
            runtime,
            inbox,
            live,
            info: stored.info,
            ancestors,
            system: frozen.system,
            tools: frozen.tools,
            context: stored.context,
            queue: stored.queue,
            background: Background::restored(&stored.commands),
            todos,
            shelf: None,
            rules,
            granted_sites: Vec::new(),
            seat,
            folder,
            scratch,
            shell_place,
            ending: CancellationToken::new(),
            running: None,
            seen: frozen.seen,
            size,
            side: None,
            swap: None,
            restraint: Restraint::default(),
            card: None,
            pause: Pause::default(),
            allowance: Allowance::default(),
            fallback: Fallback::default(),
            attached: Attached::default(),
            watch: Watch::default(),
            task_ending: None,
            away: None,
            calls,
            patience: Patience::None,
            fork: None,
            after: After::default(),
            waiting_for_idle: Vec::new(),
        };
        let kept = line.map(|line| session.take_over(line));
        session.fork = stored.fork.map(|fork| Forked::new(fork, kept));
        if session.seen.is_same_prefix() {
            session.recall(&stored.last_calls);
        }
        session.store_restored(&stored.commands).await?;
        session.end_journey().await?;
        if let Some(turn) = unfinished {
            session
                .go_on_with(turn, stored.questions, stored.retry.is_some(), stored.budget.is_some())
                .await?;
        }
        // A turn that was being stopped ended just now: its task ends with it, before anything else is asked.
        session.settle_task();
        Ok(session)
    }

    /// Goes on with a turn that had not ended.
    async fn go_on_with(
        &mut self,
        stored: StoredTurn,
        questions: Vec<octo_protocol::Question>,
        was_pausing: bool,
        was_over_budget: bool,
    ) -> Result<(), ApiError> {
        let mut step = Step::default();
        if was_pausing {
            step.changes.push(Change::Event(Event::RetryStarted));
        }
        if was_over_budget {
            // It is looked at again before anything is sent.
            step.changes.push(Change::Event(Event::BudgetAnswered));
        }
        if let Some(open) = stored.open_message {
            self.close_cut_message(open, &mut step);
        }
        let (batch, closed) = self.last_batch(stored.turn.id);
        let cut = batch.as_ref().is_some_and(|batch| Some(batch.message) == stored.open_message);
        let known: HashMap<_, _> = stored.calls.iter().map(|call| (call.view.id, call)).collect();
        let mut calls = Vec::new();
        let mut open = Vec::new();
        for call in batch.iter().flat_map(|batch| &batch.calls) {
            let key = key_of(call);
            let mut restored = OpenCall::planned(
                stored.turn.id,
                batch.as_ref().map_or_else(MessageId::new, |batch| batch.message),
                call.clone(),
            );
            let state = match known.get(&call.id) {
                Some(stored) => {
                    restored.view = stored.view.clone();
                    restored.result = stored.result.clone();
                    match stored.view.state {
                        CallState::Planned => Known::Planned,
                        CallState::Asking if questions.iter().any(|question| question.call == call.id) => {
                            Known::Asking
                        }
                        CallState::Asking => Known::Planned,
                        CallState::Started { .. } => Known::Started,
                        CallState::Ended { .. } if stored.result.is_some() => Known::Ended,
                        CallState::Ended { .. } => Known::Started,
                    }
                }
                None => {
                    step.changes.push(Change::Event(Event::CallChanged { call: restored.view.clone() }));
                    Known::Planned
                }
            };
            open.push((call.id, key, state));
            calls.push(restored);
        }
        let restored = Restored {
            model_calls: u32::try_from(closed.messages).unwrap_or(u32::MAX),
            past: closed.keys,
            open,
            message_ended: !cut,
            queued: self.waiting(),
            stop: if stored.stopping { Stop::Pressed } else { Stop::NotPressed },
        };
        let (machine, actions) = Turn::restore(Limits::default(), &restored);
        let course = Course::of(&self.context, stored.turn.id);
        self.running = Some(Running {
            machine,
            course,
            task: self.turn_task(stored.turn.id),
            view: stored.turn,
            cancel: self.ending.child_token(),
            entrance: Entrance::restored(questions.len()),
            model: None,
            pause: None,
            calls,
            questions,
            forks: HashMap::new(),
            answered: HashSet::new(),
            checking: None,
            budget: None,
            overflows: 0,
            summary: None,
            failure: None,
        });
        self.perform(actions, &mut step);
        self.finish(step).await
    }

    /// A message that was still streaming ends where it was cut; one with nothing in it is taken back.
    fn close_cut_message(&mut self, open: MessageId, step: &mut Step) {
        let is_empty = self.context.last().is_some_and(|last| last.id == open && last.blocks.is_empty());
        if is_empty {
            self.context.pop();
            step.changes.push(Change::OutOfContext(open));
            step.changes.push(Change::Event(Event::MessageDiscarded { message: open }));
            return;
        }
        if let Some(last) = self.context.last_mut().filter(|last| last.id == open) {
            last.meta.end = Some(MessageEnd::Cut);
        }
        step.changes.push(Change::Event(Event::MessageEnded {
            message: open,
            end: MessageEnd::Cut,
            usage: None,
        }));
        if self.context.last().is_some_and(|last| last.id == open && last.calls().next().is_none()) {
            // It never was part of a request, and a request must not end with the model's own words.
            self.context.pop();
            step.changes.push(Change::OutOfContext(open));
        }
    }

    /// Takes what its parent hands over.
    fn take_over(&mut self, line: Lifeline) -> FromParent {
        let Lifeline { kept, looking, granted, allowance, attached, seen } = line;
        self.watch = Watch::beside(looking);
        self.granted_sites = granted;
        self.allowance = allowance;
        self.attached = attached;
        self.seen = seen;
        if let Attendance::Nobody(_) = kept.attendance {
            // Drafts belong to no task, and nothing else may be written.
            let writable = vec![self.scratch.clone()];
            let readable = self.runtime.base.paths.readable();
            self.files = Files::new(Scope { folder: self.scratch.clone(), readable, writable });
        }
        kept
    }

    /// The calls of the turn's last message, if their results are not in the context yet, and what came
    /// before them.
    fn last_batch(&self, turn: octo_protocol::TurnId) -> (Option<StoredBatch>, Closed) {
        let mut keys = Vec::new();
        let mut messages = 0;
        let mut open: Option<StoredBatch> = None;
        for message in self.context.iter().filter(|message| message.turn == turn) {
            if message.role == Role::Assistant {
                messages += 1;
                let calls: Vec<ToolCall> = message.calls().cloned().collect();
                open = (!calls.is_empty()).then_some(StoredBatch { message: message.id, calls });
            } else if message.blocks.iter().any(|block| matches!(block, Block::ToolResult(_)))
                && let Some(closed) = open.take()
            {
                keys.extend(closed.calls.iter().map(key_of));
            }
        }
        (open, Closed { messages, keys })
    }

    /// Makes a folder the session's own: files and commands start from it from now on. Commands in the background
    /// go on where they are.
    pub(super) async fn enter_folder(&mut self, folder: PathBuf) -> Result<(), ApiError> {
        let ids = (self.id(), self.root(), self.ancestors.as_slice());
        self.files = files_of(&self.runtime, ids, &folder, &self.scratch, &self.shell_place)?;
        self.rules = self.runtime.base.allowed(folder.display().to_string(), self.session_scope()).await?;
        self.folder = folder;
        Ok(())
    }
}

struct StoredBatch {
    message: MessageId,
    calls: Vec<ToolCall>,
}

struct Closed {
    messages: usize,
    keys: Vec<CallKey>,
}

fn key_of(call: &ToolCall) -> CallKey {
    CallKey { tool: call.name.clone(), arguments: call.arguments.clone() }
}

/// A session's frozen prefix.
struct Frozen {
    system: Arc<str>,
    tools: Arc<[octo_llm::ToolSchema]>,
    seen: Seen,
}

impl Frozen {
    /// As it was stored. Where an update of Octo changed the tools it is made anew, once, and the ledger says so: what
    /// the model is told must be what the tools do. Where the folder does not answer that waits for the next opening.
    async fn of(runtime: &Runtime, stored: &StoredSession) -> Result<Self, ApiError> {
        let newest = runtime.services.toolset_row()?;
        let as_stored = || -> Result<Self, ApiError> {
            let (system, tools) = (stored.system.as_str().into(), schemas(&stored.toolset.tools_json)?);
            Ok(Self { system, tools, seen: Seen::default() })
        };
        if stored.toolset.hash == newest.hash {
            return as_stored();
        }
        let (profile, folder) = (stored.info.profile.clone(), PathBuf::from(&stored.info.folder));
        let made = async {
            let shelf = runtime.services.library.shelf(Some(folder.clone())).await?;
            // A profile that is gone since stays what it was to this session.
            Ok::<_, ApiError>(runtime.services.library.system_prompt(profile, folder, &shelf).await.unwrap_or_else(|error| {
                tracing::warn!(session = %stored.info.id, %error, "the system prompt is kept as it was");
                stored.system.clone()
            }))
        };
        let Ok(system) = tokio::time::timeout(LOOK, made).await else {
            tracing::warn!(session = %stored.info.id, "its folder does not answer: tools and system prompt stay");
            return as_stored();
        };
        let system = system?;
        let tools = schemas(&newest.tools_json)?;
        let (id, text) = (stored.info.id, system.clone());
        let refrozen = runtime.base.store.write(move |tx| tx.refreeze(id, &text, &newest)).await;
        refrozen?;
        tracing::info!(session = %id, from = stored.toolset.version, "tools and system prompt frozen anew");
        Ok(Self { system: system.into(), tools, seen: Seen::refrozen(stored.context_tokens) })
    }
}

/// Tools as providers are told of them.
fn schemas(tools_json: &str) -> Result<Arc<[octo_llm::ToolSchema]>, ApiError> {
    let definitions: Vec<ToolDefinition> =
        serde_json::from_str(tools_json).map_err(|error| ApiError::new("session.damaged").detail(error))?;
    Ok(definitions
        .into_iter()
        .map(|tool| octo_llm::ToolSchema {
            name: tool.name,
            description: tool.description,
            parameters: tool.parameters,
        })
        .collect())
}

/// The files of a session, of the one whose task it works on, and of those its conversation comes from.
fn files_of(
    runtime: &Runtime,
    (id, root, ancestors): (SessionId, SessionId, &[SessionId]),
    folder: &Path,
    scratch: &Path,
    shell_place: &Path,
) -> Result<Files, ApiError> {
    let mut readable = runtime.base.paths.readable();
    readable.push(runtime.base.paths.outputs(id));
    readable.push(shell_place.join("logs"));
    if root != id {
        // What its parent's conversation speaks of.
        readable.push(runtime.base.paths.outputs(root));
        readable.push(runtime.base.paths.shell(root)?.join("logs"));
    }
    for ancestor in ancestors {
        // What was said there speaks of them.
        readable.push(runtime.base.paths.outputs(*ancestor));
        readable.push(runtime.base.paths.shell(*ancestor)?.join("logs"));
    }
    let scope = Scope { folder: folder.to_owned(), readable, writable: vec![scratch.to_owned()] };
    Ok(Files::new(scope)
        .recording(runtime.services.time.recorder(root))
        .noting(runtime.base.unfinished.clone()))
}

fn shell_of(
    runtime: &Runtime,
    session: SessionId,
    place: &Path,
    inbox: &mpsc::UnboundedSender<Inbox>,
) -> Shell {
    Shell::new(ShellConfig {
        session,
        scratch: place.to_owned(),
        login: runtime.services.login.clone(),
        secret_variables: runtime.base.config.secret_variables.clone(),
        news: Session::listener(inbox),
        ceiling: octo_shell::CEILING,
        removals: runtime.services.trash.removals(&runtime.base.config.remover),
    })
}

/// Whether a session left open by an earlier process of this kind is gone on with at the start.
pub(crate) fn resumes_at_start(own: Source) -> &'static [Source] {
    match own {
        // Sub-agents are ended then: nobody waits for them any more.
        Source::Window | Source::Demo | Source::SubAgent | Source::Task | Source::Chat => {
            &[Source::SubAgent, Source::Window, Source::Demo, Source::Task, Source::Chat]
        }
        // A run that a process of either kind began goes on in the next of either.
        Source::Headless => &[Source::SubAgent, Source::Headless, Source::Task],
    }
}
