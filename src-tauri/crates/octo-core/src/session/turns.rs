//! Drives the turn machine: begins turns, performs its actions, ends turns.
//!
//! One step is: feed an input, turn the actions into changes and jobs, store the changes in one
//! transaction, and only then start the jobs. So "call started" is always stored before its effect begins.

use super::{
    Report,
    after::{Course, Over},
    calls::OpenCall,
    entry::{Entrance, Held},
    inbox::Said,
    state::{Change, Running, Session},
    texts,
};
use crate::{
    clock::now,
    naming,
    prompt::Surroundings,
    turn::{Action, Ending, Input, Limits, Turn},
};
use octo_protocol::{
    ApiError, Block, ChatService, Event, Message, MessageEnd, NoticeKind, Origin, Queued, Role,
    SessionStatus, TurnEnd, TurnId, TurnView, Usage,
};
use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

/// How long a stopped call may take to end before it is given up. The promise is three seconds in all.
const STOP_PATIENCE: Duration = Duration::from_millis(2_500);

/// What one step leads to, besides changes: started only after they are stored.
#[derive(Default)]
pub(super) struct Step {
    pub(super) changes: Vec<Change>,
    pub(super) jobs: Vec<Job>,
}

/// Why a turn begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Began {
    /// The person said something.
    ByThePerson,
    /// Commands in the background ended.
    ByItself,
}

/// Something to start once a step is stored.
pub(super) type Job = Box<dyn FnOnce(&mut Session) + Send>;

impl Session {
    /// Begins a turn with a message of the person, what waited in the queue before it.
    pub(super) async fn begin_turn(&mut self, said: Said) -> Result<(), ApiError> {
        let turn = TurnId::new();
        let mut step = Step::default();
        self.open_turn(turn, Began::ByThePerson, &mut step);
        self.drain_queue(turn, &mut step);
        self.add_said(turn, said, &mut step);
        self.feed_into(Input::Begin, &mut step);
        self.finish(step).await
    }

    /// Begins a turn with what ended in the background, and what waited in the queue.
    pub(super) async fn begin_by_itself(&mut self) -> Result<(), ApiError> {
        self.begin_with_what_waits(Began::ByItself).await
    }

    /// Begins a turn with what waited in the queue.
    pub(super) async fn begin_with_what_waits(&mut self, began: Began) -> Result<(), ApiError> {
        let turn = TurnId::new();
        let mut step = Step::default();
        self.open_turn(turn, began, &mut step);
        self.drain_queue(turn, &mut step);
        self.feed_into(Input::Begin, &mut step);
        self.finish(step).await
    }

    /// Begins a turn that goes on from where the last one was stopped or failed.
    pub(super) async fn go_on(&mut self) -> Result<(), ApiError> {
        if self.running.is_some() {
            return Err(ApiError::new("session.running"));
        }
        if self.away.is_some() {
            return Err(ApiError::new("time.going"));
        }
        self.must_be_own()?;
        let Some(last) = self.context.last() else { return Err(ApiError::new("session.nothing_to_retry")) };
        let (role, id, has_calls) = (last.role, last.id, last.calls().next().is_some());
        let was_cut = matches!(last.meta.end, Some(MessageEnd::Cut) | None);
        let turn = TurnId::new();
        let mut step = Step::default();
        self.open_turn(turn, Began::ByThePerson, &mut step);
        let waits = !self.queue.is_empty();
        if role == Role::Assistant && !has_calls {
            if was_cut {
                // It never was part of a request: without it the model answers anew.
                self.context.pop();
                step.changes.push(Change::OutOfContext(id));
            } else if !waits {
                let notice = Block::Notice { kind: NoticeKind::Interrupted, text: texts::GO_ON.to_owned() };
                let message = self.message(turn, Role::User, Origin::Octo, vec![notice]);
                self.add_message(message, &mut step.changes);
            }
        }
        self.drain_queue(turn, &mut step);
        self.feed_into(Input::Begin, &mut step);
        self.finish(step).await
    }

    pub(super) fn open_turn(&mut self, turn: TurnId, began: Began, step: &mut Step) {
        self.background.turn_began(began);
        // A new task, however it begins: what was granted to the one before is over.
        self.granted_sites.clear();
        // What goes on beside the conversation between turns gives way to the turn.
        self.end_side_call(step);
        self.swap = None;
        self.pause.end();
        self.after.give_way();
        self.reset_task_budget();
        let view = TurnView {
            id: turn,
            started_at: now(),
            ended_at: None,
            end: None,
            usage: Usage::default(),
            undone: false,
        };
        step.changes.push(Change::Event(Event::TurnStarted { turn: view.clone() }));
        self.info.updated_at = view.started_at;
        self.running = Some(Running {
            machine: Turn::new(Limits::default()),
            course: Course::default(),
            task: self.turn_task(turn),
            view,
            cancel: self.ending.child_token(),
            entrance: Entrance::default(),
            model: None,
            pause: None,
            calls: Vec::new(),
            questions: Vec::new(),
            forks: HashMap::new(),
            answered: HashSet::new(),
            checking: None,
            budget: None,
            overflows: 0,
            summary: None,
            failure: None,
        });
        self.info.status = SessionStatus::Running;
        self.push_head(&mut step.changes);
    }

    /// Feeds an input to the machine and carries out what it says, with changes that belong into the same
    /// transaction.
    pub(super) async fn feed_with(&mut self, input: Input, mut step: Step) -> Result<(), ApiError> {
        self.feed_into(input, &mut step);
        self.finish(step).await
    }

    fn feed_into(&mut self, input: Input, step: &mut Step) {
        let Some(running) = &mut self.running else { return };
        let actions = running.machine.on(input);
        self.perform(actions, step);
    }

    /// Stores a step, then starts its jobs.
    pub(super) async fn finish(&mut self, step: Step) -> Result<(), ApiError> {
        self.commit(step.changes).await?;
        for job in step.jobs {
            job(self);
        }
        Ok(())
    }

    /// Turns actions into changes and jobs.
    pub(super) fn perform(&mut self, actions: Vec<Action>, step: &mut Step) {
        for action in actions {
            match action {
                Action::CallModel => self.once_admitted(Held::Model, step),
                Action::CancelModel => self.cancel_model(step),
                Action::Prepare(call) => self.once_admitted(Held::Prepare(call), step),
                Action::Ask(call) => self.ask(call, step),
                Action::Start(call) => self.start(call, step),
                Action::Cancel(call) => self.cancel(call, step),
                Action::Settle(call, how) => self.settle(call, how, step),
                Action::CloseBatch => self.close_batch(step),
                Action::DrainQueue => {
                    if let Some(turn) = self.running.as_ref().map(|running| running.view.id) {
                        self.drain_queue(turn, step);
                    }
                }
                Action::HintTruncation => self.hint_truncation(step),
                Action::End(ending) => self.end_turn(ending, step),
            }
        }
    }

    /// All calls have results: they become one message, in the order of the calls.
    fn close_batch(&mut self, step: &mut Step) {
        let Some(running) = &mut self.running else { return };
        let turn = running.view.id;
        let calls = std::mem::take(&mut running.calls);
        let blocks: Vec<Block> =
            calls.into_iter().map(OpenCall::into_result).map(Block::ToolResult).collect();
        let message = self.message(turn, Role::User, Origin::Octo, blocks);
        self.add_message(message, &mut step.changes);
    }

    /// Puts what waits into the conversation: the ends of commands, then the person's messages, one each, in their
    /// order.
    pub(super) fn drain_queue(&mut self, turn: TurnId, step: &mut Step) {
        self.tell_ends(turn, step);
        if self.queue.is_empty() {
            return;
        }
        for Queued { mut blocks, via, .. } in std::mem::take(&mut self.queue) {
            // A call cannot be put between those of the model: it is told to make it.
            let wish = self.shelf.as_ref().and_then(|shelf| shelf.wish_in(&blocks, &self.info.profile));
            blocks.extend(
                wish.filter(|_| self.fork.is_none())
                    .map(|wish| Block::Notice { kind: NoticeKind::Skill, text: texts::skill_called(&wish) }),
            );
            self.add_person_message(turn, blocks, via, step);
        }
        step.changes.push(Change::Event(Event::QueueChanged { queue: Vec::new() }));
    }

    /// Adds what the person says now; the letter it came in is done with in the same step.
    pub(super) fn add_said(&mut self, turn: TurnId, said: Said, step: &mut Step) {
        let service = said.service();
        step.changes.extend(said.letter_done());
        self.add_person_message(turn, said.blocks, service, step);
    }

    /// Adds the person's message, told about the surroundings if they changed, and names the session by
    /// its first one.
    fn add_person_message(
        &mut self,
        turn: TurnId,
        blocks: Vec<Block>,
        via: Option<ChatService>,
        step: &mut Step,
    ) {
        let is_first = self.context.is_empty();
        if is_first
            && self.info.title.is_empty()
            && let Some(title) = naming::title_from(&blocks)
        {
            self.info.title = title;
            self.push_head(&mut step.changes);
        }
        let mut all = Vec::with_capacity(blocks.len() + 1);
        let notice = self.surroundings_notice();
        if last_context_notice(&self.context) != Some(&notice) {
            all.push(notice);
        }
        all.extend(self.new_skills());
        all.extend(blocks);
        let mut message = self.message(turn, Role::User, Origin::Person, all);
        message.meta.via = via;
        self.add_message(message, &mut step.changes);
    }

    /// What the model is told of skills that came since it was told of skills last.
    fn new_skills(&self) -> Option<Block> {
        let shelf = self.shelf.as_ref().filter(|_| self.fork.is_none())?;
        let notices =
            self.context.iter().flat_map(|message| &message.blocks).filter_map(|block| match block {
                Block::Notice { kind: NoticeKind::NewSkills, text } => Some(text.as_str()),
                _ => None,
            });
        let told = std::iter::once(&*self.system).chain(notices);
        let text = shelf.news_for(self.info.profile.name(), told)?;
        Some(Block::Notice { kind: NoticeKind::NewSkills, text })
    }

    /// What the model is told of date, model and folder.
    pub(super) fn surroundings_notice(&self) -> Block {
        let model = self.info.model.and_then(|id| self.runtime.services.models.vendor_name(id));
        Surroundings::now(model, self.info.folder.clone()).notice()
    }

    fn hint_truncation(&mut self, step: &mut Step) {
        let Some(turn) = self.running.as_ref().map(|running| running.view.id) else { return };
        let notice = Block::Notice { kind: NoticeKind::Truncation, text: texts::TRUNCATED.to_owned() };
        let message = self.message(turn, Role::User, Origin::Octo, vec![notice]);
        self.add_message(message, &mut step.changes);
    }

    fn end_turn(&mut self, ending: Ending, step: &mut Step) {
        let Some(mut running) = self.running.take() else { return };
        let failed = |key: &str| TurnEnd::Failed { error: ApiError::new(key) };
        let end = match ending {
            Ending::Finished => TurnEnd::Finished,
            Ending::Stopped => TurnEnd::Stopped,
            Ending::ModelFailed => {
                TurnEnd::Failed { error: running.failure.take().unwrap_or_else(|| ApiError::new("internal")) }
            }
            Ending::Refused => failed("turn.refused"),
            Ending::Truncated => failed("turn.truncated"),
            Ending::Looping => failed("turn.looping"),
            Ending::TooLong => failed("turn.too_long"),
        };
        self.background.turn_ended(&end);
        let at = now();
        self.info.status = match &end {
            TurnEnd::Failed { .. } => SessionStatus::Failed,
            TurnEnd::Finished | TurnEnd::Stopped => SessionStatus::Idle,
        };
        self.info.updated_at = at;
        self.info.usage += running.view.usage;
        let (finished, id) = (end == TurnEnd::Finished, running.view.id);
        self.note_end(id, &end);
        let turn = TurnView { ended_at: Some(at), end: Some(end), ..running.view };
        let ended = turn.clone();
        step.changes.push(Change::Event(Event::TurnEnded { turn }));
        let over = Over {
            turn: id,
            course: running.course,
            task: running.task.clone(),
            summary: self.summary_of(id),
        };
        self.task_ends(running.task);
        // What a sub-agent finished is a step of its parent's turn.
        if self.fork.is_none() {
            step.jobs.push(Box::new(move |session| session.hear_hooks_at_end(ended)));
        }
        step.jobs.push(Box::new(Session::begin_pause));
        step.jobs.push(Box::new(|session| session.seat.let_go()));
        if finished && self.queue.is_empty() {
            step.jobs.push(Box::new(move |session| {
                let report = session.reporter();
                report(Report::Finished(id));
                report(Report::Over(over));
            }));
        }
        self.push_head(&mut step.changes);
    }

    /// The person pressed Stop. Nothing running is no fault: the turn may just have ended.
    pub(super) async fn stop(&mut self) -> Result<(), ApiError> {
        self.after.stop();
        let Some(running) = &self.running else {
            self.background.halt();
            self.stay();
            return Ok(());
        };
        if running.machine.is_stopping() {
            return Ok(());
        }
        let turn = running.view.id;
        // Everything that runs ends now, also when there is no room to store that it does.
        running.cancel.cancel();
        self.seat.let_go();
        let report = self.reporter();
        tokio::spawn(async move {
            tokio::time::sleep(STOP_PATIENCE).await;
            report(Report::StopOverdue(turn));
        });
        // Stored before anything ends, so that no crash brings the turn back.
        let stopping = Change::Event(Event::TurnStopping { turn });
        self.feed_with(Input::Stop, Step { changes: vec![stopping], jobs: Vec::new() }).await
    }

    /// Gives up what did not end in time after Stop.
    pub(super) async fn give_up_stopping(&mut self, turn: TurnId) -> Result<(), ApiError> {
        if self.running.as_ref().is_none_or(|running| running.view.id != turn) {
            return Ok(());
        }
        self.end_stopping().await
    }

    /// Ends a turn that is being stopped, whatever still runs of it.
    pub(super) async fn end_stopping(&mut self) -> Result<(), ApiError> {
        let mut step = Step::default();
        self.abandon_calls(&mut step);
        self.abandon_model(&mut step);
        self.finish(step).await
    }

    /// Feeds an input as part of a step.
    pub(super) fn feed_step(&mut self, input: Input, step: &mut Step) {
        self.feed_into(input, step);
    }
}

fn last_context_notice(context: &[Message]) -> Option<&Block> {
    context
        .iter()
        .rev()
        .flat_map(|message| message.blocks.iter().rev())
        .find(|block| matches!(block, Block::Notice { kind: NoticeKind::Context, .. }))
}
