//! Opens a stored session and resumes a turn that a crash or a shutdown left open.

use super::{
    Runtime,
    actor::Actor,
    after::{LookBackState, TurnFacts},
    attached::AttachmentMode,
    background::BackgroundCommands,
    before_call::Budget,
    calls::{Batch, OpenCall},
    compacting::Compaction,
    conversation::Conversation,
    current_turn::{CurrentTurn, RunningTurn},
    fallback::Fallback,
    file_restore::Restoring,
    grants::Grants,
    network::SessionGate,
    observers::Observers,
    prefix::Prefix,
    queue::Queue,
    recovery::recover,
    state::Session,
    step::{Change, Step},
    sub_agent::SubAgent,
    tasks::TurnRecords,
    warmth::Warmth,
    workspace::{Owner, Workspace},
};
use crate::{
    compaction::ContextSize,
    live::LiveStreams,
    turn::{CallKey, StopState, StoredCallState, StoredTurnState},
};
use octo_protocol::{ApiError, ErrorCode, Event, MessageEnd, MessageId, SessionId, Source};
use octo_store::{LeaseOutcome, StoredTurn, probe};
use octo_tools::{TodoList, TodoState};
use parking_lot::Mutex;
use std::{collections::HashMap, path::PathBuf, sync::Arc};

impl Session {
    /// Loads a session, takes its lease and resumes its open turn.
    pub(super) async fn load(
        runtime: Arc<Runtime>,
        id: SessionId,
        live: LiveStreams,
        actor: Actor,
    ) -> Result<Self, ApiError> {
        let holder = runtime.base.lease.clone();
        let outcome = runtime.base.store.write(move |tx| tx.take_lease(id, &holder, probe)).await?;
        if let LeaseOutcome::HeldBy(_) = outcome {
            return Err(ApiError::new("session.in_use").code(ErrorCode::InUse));
        }
        // The process that was working here before has died.
        recover(&runtime.services.time, id).await;
        let result = runtime.base.store.read(move |reader| reader.resume(id)).await?;
        let stored_session =
            result.ok_or_else(|| ApiError::new("session.unknown").code(ErrorCode::UnknownSession))?;
        // The session it shares state with, for a sub-agent.
        let root = stored_session.sub_agent.as_ref().map_or(id, |sub_agent| sub_agent.origin.session);
        let ancestors = runtime.base.store.read(move |reader| reader.ancestors(id)).await?;
        let parent = runtime.sub_agents.take_link(id);
        let scope = format!("session/{root}");
        let rules = runtime.base.load_rules(stored_session.info.folder.clone(), scope).await?;
        let folder = PathBuf::from(&stored_session.info.folder);
        let (prefix, sent_requests) = Prefix::load(&runtime, &stored_session).await?;
        let is_same_prefix = sent_requests.is_same_prefix();
        let mut unfinished = stored_session.unfinished;
        if stored_session.sub_agent.is_some() && parent.is_none() {
            // No parent waits for its summary any more.
            unfinished = unfinished.map(|turn| StoredTurn { stopping: true, ..turn });
        }
        let todos = TodoState { items: stored_session.todos, last_id: stored_session.todo_last_id };
        let mut grants = Grants::new(rules);
        let asking = grants.connections().asking();
        let gate = Arc::new(SessionGate::new(runtime.base.clone(), actor.reporter(), asking));
        let owner = Owner::new(id, root, ancestors);
        let mut session = Self {
            workspace: Workspace::open(&runtime, owner, folder, &actor, gate)?,
            browser_session: runtime.services.browser.session(id, root),
            observers: Observers::new(runtime.board.entry(id)),
            runtime,
            actor,
            live,
            info: stored_session.info,
            prefix,
            compaction: Compaction::new(ContextSize::restored(
                stored_session.context_tokens,
                &stored_session.context,
            )),
            conversation: Conversation::new(stored_session.context),
            queue: Queue::new(stored_session.queue),
            background: BackgroundCommands::restored(&stored_session.commands),
            todos: TodoList(Arc::new(Mutex::new(todos))),
            skill_set: None,
            grants,
            turn: CurrentTurn::default(),
            warmth: Warmth::new(sent_requests),
            side_call: None,
            budget: Budget::default(),
            fallback: Fallback::default(),
            attachment_mode: AttachmentMode::default(),
            records: TurnRecords::default(),
            restoring: Restoring::default(),
            sub_agent: stored_session.sub_agent.map(SubAgent::new),
            look_back_state: LookBackState::default(),
        };
        if let Some(parent) = parent {
            session.inherit(parent);
        }
        if is_same_prefix {
            session.recall(&stored_session.last_calls);
        }
        session.store_restored(&stored_session.commands).await?;
        session.recover_restore().await?;
        if let Some(turn) = unfinished {
            session
                .resume_turn(
                    turn,
                    stored_session.questions,
                    stored_session.retry.is_some(),
                    stored_session.budget.is_some(),
                )
                .await?;
        }
        // A turn that was being stopped ended just now: its step ends before any other request.
        session.end_step();
        Ok(session)
    }

    /// Resumes an unfinished turn.
    async fn resume_turn(
        &mut self,
        stored: StoredTurn,
        questions: Vec<octo_protocol::Question>,
        was_pausing: bool,
        was_over_budget: bool,
    ) -> Result<(), ApiError> {
        let mut step = Step::once();
        if was_pausing {
            step.event(Event::RetryStarted);
        }
        if was_over_budget {
            // The budget is checked again before anything is sent.
            step.event(Event::BudgetAnswered);
        }
        if let Some(open) = stored.open_message {
            self.close_cut_message(open, &mut step);
        }
        let turn_calls = self.conversation.calls_of(stored.turn.id);
        let open_message = turn_calls.open_message();
        let is_cut = open_message.is_some() && open_message == stored.open_message;
        let stored_calls: HashMap<_, _> = stored.calls.iter().map(|call| (call.view.id, call)).collect();
        let (mut calls, mut states) = (Vec::new(), Vec::new());
        for (message, call) in turn_calls.open() {
            let (id, key) = (call.id, CallKey::of(call));
            let (restored, state) = match stored_calls.get(&id) {
                Some(stored) => OpenCall::restored(message, call.clone(), stored, &questions),
                None => {
                    let planned = OpenCall::planned(stored.turn.id, message, call.clone());
                    step.event(planned.event());
                    (planned, StoredCallState::Planned)
                }
            };
            states.push((id, key, state));
            calls.push(restored);
        }
        let restored = StoredTurnState {
            model_calls: u32::try_from(turn_calls.answer_count()).unwrap_or(u32::MAX),
            past: turn_calls.closed_calls().iter().map(CallKey::of).collect(),
            open: states,
            message_ended: !is_cut,
            queued: self.waiting_count(),
            stop: if stored.stopping { StopState::Pressed } else { StopState::NotPressed },
        };
        let id = stored.turn.id;
        let (turn, actions) = RunningTurn::restored(
            stored.turn,
            &restored,
            TurnFacts::from_messages(&self.conversation, id),
            Batch::restored(calls, questions),
            self.turn_task(id),
            self.actor.child_token(),
        );
        self.turn.begin(turn);
        self.perform(actions, &mut step);
        self.finish(step).await
    }

    /// Ends a message that was still streaming where it was cut; an empty one is removed.
    fn close_cut_message(&mut self, open: MessageId, step: &mut Step) {
        if self.conversation.ends_empty(open) {
            self.conversation.remove_last(open);
            step.change(Change::OutOfContext(open));
            step.event(Event::MessageDiscarded { message: open });
            return;
        }
        if let Some(last_message) = self.conversation.last_mut(open) {
            last_message.meta.end = Some(MessageEnd::Cut);
        }
        step.event(Event::MessageEnded { message: open, end: MessageEnd::Cut, usage: None });
        if self.conversation.ends_without_calls(open) {
            // It was never part of a request, and a request must not end with the model's own words.
            self.conversation.remove_last(open);
            step.change(Change::OutOfContext(open));
        }
    }

    /// Makes a folder the session's own: files and commands start from it from now on. Commands in the background
    /// continue where they are.
    pub(super) async fn enter_folder(&mut self, folder: PathBuf) -> Result<(), ApiError> {
        let rules = self.runtime.base.load_rules(folder.display().to_string(), self.session_scope()).await?;
        self.workspace.enter(&self.runtime, folder)?;
        self.grants.replace_rules(rules);
        Ok(())
    }
}

/// Returns the sources of sessions that a process of this kind resumes at its start.
pub(crate) fn resumes_at_start(source: Source) -> &'static [Source] {
    match source {
        // Sub-agents are then ended, as no parent waits for them.
        Source::Window | Source::Demo | Source::SubAgent | Source::Task | Source::Chat => {
            &[Source::SubAgent, Source::Window, Source::Demo, Source::Task, Source::Chat]
        }
        // A run begun by a process of either kind resumes in the next process of either kind.
        Source::Headless => &[Source::SubAgent, Source::Headless, Source::Task],
    }
}
