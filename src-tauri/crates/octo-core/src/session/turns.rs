//! Drives the turn machine: begins turns, performs its actions, ends turns.
//!
//! One step is: feed an input, turn the actions into changes and jobs, store the changes in one transaction,
//! and only then start the jobs. So "call started" is always stored before its effect begins.

use super::{
    JobReport,
    before_call::{Gate, GatedCall},
    current_turn::RunningTurn,
    inbox::UserMessage,
    state::Session,
    step::{Change, Step, StoreRetry},
    texts,
};
use crate::{
    naming,
    prompt::Surroundings,
    turn::{Input, TurnAction, TurnEnding},
};
use octo_protocol::{
    ApiError, Block, ChatService, Event, MessageEnd, NoticeKind, Origin, QueuedMessage, Role, SessionStatus,
    TurnEnd, TurnId,
};
use octo_runtime::now;
use std::time::Duration;

/// How long a stopped call may take to end before it is given up. Stop promises three seconds in total.
const STOP_TIMEOUT: Duration = Duration::from_millis(2_500);

/// The cause of a turn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TurnCause {
    /// A message of the person.
    Person,
    /// The end of background commands.
    Automatic,
}

impl Session {
    /// Begins a turn with a message of the person, preceded by the queued messages.
    pub(super) async fn begin_turn(&mut self, message: UserMessage) -> Result<(), ApiError> {
        let turn = TurnId::new();
        let mut step = Step::once();
        self.open_turn(turn, TurnCause::Person, &mut step);
        self.drain_queue(turn, &mut step);
        self.add_user_message(turn, message, &mut step);
        self.feed_with(Input::Begin, step).await
    }

    /// Begins a turn with the commands that ended and the messages that waited.
    pub(super) async fn begin_queued_turn(
        &mut self,
        cause: TurnCause,
        retry: StoreRetry,
    ) -> Result<(), ApiError> {
        let turn = TurnId::new();
        let mut step = Step::with_retry(retry);
        self.open_turn(turn, cause, &mut step);
        self.drain_queue(turn, &mut step);
        self.feed_with(Input::Begin, step).await
    }

    /// Begins a turn that continues from where the last one was stopped or failed.
    pub(super) async fn go_on(&mut self) -> Result<(), ApiError> {
        if self.turn.is_running() {
            return Err(ApiError::new("session.running"));
        }
        if self.restoring.is_under_way() {
            return Err(ApiError::new("time.going"));
        }
        self.check_owned_here()?;
        let Some(last_message) = self.conversation.last() else {
            return Err(ApiError::new("session.nothing_to_retry"));
        };
        let (role, id, has_calls) =
            (last_message.role, last_message.id, last_message.calls().next().is_some());
        let was_cut = matches!(last_message.meta.end, Some(MessageEnd::Cut) | None);
        let turn = TurnId::new();
        let mut step = Step::once();
        self.open_turn(turn, TurnCause::Person, &mut step);
        let waits = !self.queue.is_empty();
        if role == Role::Assistant && !has_calls {
            if was_cut {
                // It was never part of a request: without it the model answers again.
                self.conversation.remove_last(id);
                step.change(Change::OutOfContext(id));
            } else if !waits {
                let notice =
                    Block::Notice { kind: NoticeKind::Interrupted, text: texts::RESUME_NOTICE.to_owned() };
                let message = self.message(turn, Role::User, Origin::Octo, vec![notice]);
                self.add_message(message, &mut step);
            }
        }
        self.drain_queue(turn, &mut step);
        self.feed_with(Input::Begin, step).await
    }

    pub(super) fn open_turn(&mut self, turn: TurnId, cause: TurnCause, step: &mut Step) {
        self.background.turn_began(cause);
        // New work, however it begins: the grants to the previous work expire.
        self.grants.begin_turn();
        // Side calls between turns give way to the turn.
        self.end_side_call(step);
        self.compaction.cancel();
        self.warmth.end_pause();
        self.look_back_state.yield_to_turn();
        self.budget.begin_turn();
        let running = RunningTurn::new(turn, now(), self.turn_task(turn), self.actor.child_token());
        step.event(Event::TurnStarted { turn: running.view().clone() });
        self.info.updated_at = running.view().started_at;
        self.turn.begin(running);
        self.info.status = SessionStatus::Running;
        step.change(self.head());
    }

    /// Feeds an input to the machine and performs its actions, together with changes that belong to the same
    /// transaction.
    pub(super) async fn feed_with(&mut self, input: Input, mut step: Step) -> Result<(), ApiError> {
        self.feed(input, &mut step);
        self.finish(step).await
    }

    /// Feeds an input to the machine as part of a step.
    pub(super) fn feed(&mut self, input: Input, step: &mut Step) {
        let actions = self.turn.on(input);
        self.perform(actions, step);
    }

    /// Turns actions into changes and jobs.
    pub(super) fn perform(&mut self, actions: Vec<TurnAction>, step: &mut Step) {
        for action in actions {
            match action {
                TurnAction::CallModel => self.before_call(Gate::Permit, GatedCall::Call, step),
                TurnAction::CancelModel => self.cancel_model(step),
                TurnAction::Prepare(call) => self.prepare_permitted(call, step),
                TurnAction::Ask(call) => self.ask(call, step),
                TurnAction::Start(call) => self.start(call, step),
                TurnAction::Cancel(call) => self.cancel(call, step),
                TurnAction::Settle(call, how) => self.settle(call, how, step),
                TurnAction::CloseBatch => self.close_batch(step),
                TurnAction::DrainQueue => {
                    if let Some(turn) = self.turn.id() {
                        self.drain_queue(turn, step);
                    }
                }
                TurnAction::HintTruncation => self.hint_truncation(step),
                TurnAction::End(ending) => self.end_turn(ending, step),
            }
        }
    }

    /// Combines the results of all calls into one message, in the order of the calls.
    fn close_batch(&mut self, step: &mut Step) {
        let results = self.turn.with(|turn| (turn.id(), turn.batch.take_results()));
        let Some((turn, blocks)) = results else { return };
        let message = self.message(turn, Role::User, Origin::Octo, blocks);
        self.add_message(message, step);
    }

    /// Moves the waiting items into the conversation: the ends of commands, then the person's messages, one
    /// each, in their order.
    pub(super) fn drain_queue(&mut self, turn: TurnId, step: &mut Step) {
        self.report_ends(turn, step);
        if self.queue.is_empty() {
            return;
        }
        for QueuedMessage { mut blocks, via, .. } in self.queue.take() {
            // A call cannot be inserted between those of the model, so a text asks the model to make it.
            let skill_task = self
                .skill_set
                .as_ref()
                .and_then(|skill_set| skill_set.skill_in_message(&blocks, &self.info.profile));
            blocks.extend(skill_task.filter(|_| self.sub_agent.is_none()).map(|skill_task| Block::Notice {
                kind: NoticeKind::Skill,
                text: texts::skill_called(&skill_task),
            }));
            self.add_person_message(turn, blocks, via, step);
        }
        step.event(self.queue.event());
    }

    /// Adds what the person says now; an inbound message is handled in the same step.
    pub(super) fn add_user_message(&mut self, turn: TurnId, message: UserMessage, step: &mut Step) {
        step.extend(message.inbound_handled());
        let service = message.service();
        self.add_person_message(turn, message.into_blocks(), service, step);
    }

    /// Adds the person's message, with a notice of the surroundings if they changed, and names the session
    /// after its first message.
    fn add_person_message(
        &mut self,
        turn: TurnId,
        blocks: Vec<Block>,
        via: Option<ChatService>,
        step: &mut Step,
    ) {
        let is_first = self.conversation.is_empty();
        if is_first
            && self.info.title.is_empty()
            && let Some(title) = naming::title_from(&blocks)
        {
            self.info.title = title;
            step.change(self.head());
        }
        let mut result = Vec::with_capacity(blocks.len() + 1);
        let notice = self.surroundings_notice();
        if self.conversation.surroundings() != Some(&notice) {
            result.push(notice);
        }
        result.extend(self.new_skills());
        result.extend(blocks);
        let mut message = self.message(turn, Role::User, Origin::Person, result);
        message.meta.via = via;
        self.add_message(message, step);
    }

    /// Returns the notice of skills added since the model's last notice of skills.
    fn new_skills(&self) -> Option<Block> {
        let skill_set = self.skill_set.as_ref().filter(|_| self.sub_agent.is_none())?;
        let sent_texts = std::iter::once(self.prefix.system()).chain(self.conversation.skill_notices());
        let text = skill_set.new_skills_notice(self.info.profile.name(), sent_texts)?;
        Some(Block::Notice { kind: NoticeKind::NewSkills, text })
    }

    /// Returns the notice of date, model and folder.
    pub(super) fn surroundings_notice(&self) -> Block {
        let model = self.info.model.and_then(|id| self.runtime.services.models.vendor_name(id));
        Surroundings::now(model, self.info.folder.clone()).notice()
    }

    fn hint_truncation(&mut self, step: &mut Step) {
        let Some(turn) = self.turn.id() else { return };
        let notice = Block::Notice { kind: NoticeKind::Truncation, text: texts::TRUNCATED.to_owned() };
        let message = self.message(turn, Role::User, Origin::Octo, vec![notice]);
        self.add_message(message, step);
    }

    fn end_turn(&mut self, ending: TurnEnding, step: &mut Step) {
        let Some(mut running) = self.turn.take() else { return };
        let failure = |key: &str| TurnEnd::Failed { error: ApiError::new(key) };
        let turn_end = match ending {
            TurnEnding::Finished => TurnEnd::Finished,
            TurnEnding::Stopped => TurnEnd::Stopped,
            TurnEnding::ModelFailed => TurnEnd::Failed {
                error: running.model.failure().unwrap_or_else(|| ApiError::new("internal")),
            },
            TurnEnding::Refused => failure("turn.refused"),
            TurnEnding::Truncated => failure("turn.truncated"),
            TurnEnding::Looping => failure("turn.looping"),
            TurnEnding::TooLong => failure("turn.too_long"),
        };
        self.background.turn_ended(&turn_end);
        self.budget.end_turn();
        let ended_at = now();
        self.info.status = match &turn_end {
            TurnEnd::Failed { .. } => SessionStatus::Failed,
            TurnEnd::Finished | TurnEnd::Stopped => SessionStatus::Idle,
        };
        self.info.updated_at = ended_at;
        self.info.usage += running.view().usage;
        let (id, is_finished) = (running.id(), turn_end == TurnEnd::Finished);
        self.record_end(id, &turn_end);
        let task = running.task().clone();
        let (turn, finished) = running.end(turn_end, ended_at, self.summary_of(id));
        step.event(Event::TurnEnded { turn: turn.clone() });
        self.step_ends(task);
        // The finished work of a sub-agent is part of its parent's turn.
        if self.sub_agent.is_none() {
            step.job(move |session| session.run_end_hooks(turn));
        }
        step.job(Session::begin_pause);
        step.job(|session| session.browser_session.release());
        if is_finished && self.queue.is_empty() {
            step.job(move |session| {
                let report = session.reporter();
                report.send(JobReport::Finished(id));
                report.send(JobReport::TurnFinished(finished));
            });
        }
        step.change(self.head());
    }

    /// Stops the turn at the person's request. It is not an error if none is running: the turn may just have
    /// ended.
    pub(super) async fn stop(&mut self) -> Result<(), ApiError> {
        self.look_back_state.stop();
        let Some(turn) = self.turn.id() else {
            self.background.halt();
            self.restoring.cancel_follow_up();
            return Ok(());
        };
        if self.turn.is_stopping() {
            return Ok(());
        }
        // Everything running ends now, even if there is no room to store that.
        self.cancel_turn();
        let report = self.reporter();
        tokio::spawn(async move {
            tokio::time::sleep(STOP_TIMEOUT).await;
            report.send(JobReport::StopOverdue(turn));
        });
        // Stored before anything ends, so that no crash revives the turn.
        self.feed_with(Input::Stop, Step::default().with(Event::TurnStopping { turn })).await
    }

    /// Gives up everything that did not end in time after Stop.
    pub(super) async fn give_up_stopping(&mut self, turn: TurnId) -> Result<(), ApiError> {
        if self.turn.is(turn) { self.end_stopping(Step::default()).await } else { Ok(()) }
    }

    /// Ends a turn that is being stopped, even if parts of it still run.
    pub(super) async fn end_stopping(&mut self, mut step: Step) -> Result<(), ApiError> {
        self.abandon_calls(&mut step);
        self.abandon_model(&mut step);
        self.finish(step).await
    }
}
