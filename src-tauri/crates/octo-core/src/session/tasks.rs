//! The task of a turn: what the turn does to files is recorded as one step of the time machine.
//!
//! It begins with the first call that may change something, or when the turn ends. A command that may change something
//! is enclosed by two looks at the session's folder; the second happens beside the conversation, and so does the end of
//! the task, which waits for it. The next turn may begin meanwhile: its first change waits until the task before it
//! ended, so tasks are in the order of their turns.

use super::{
    Report,
    journey::{Asked, Extent, Target},
    state::{Change, Patience, Session},
};
use crate::permission::Nature;
use octo_protocol::{
    ApiError, Block, CommandState, Event, LastingMark, Message, Origin, Role, SessionId, ToolView, TurnId,
};
use octo_tools::{CommandEffect, Effects, TaskWish, Tasks, ToolError, ToolOutput};
use octo_workspace::{RunningCommand, TaskId, TimeError, TimeMachine};
use std::{collections::HashMap, path::PathBuf, sync::Arc, time::Duration};
use tokio::sync::OnceCell;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// How often what a command changed is looked for before the next command's look has to find it.
const LOOKS: u32 = 3;
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);
/// How long the end of a session waits for what its commands changed to be recorded; the next start does it otherwise.
const LAST_LOOK: Duration = Duration::from_secs(5);

/// The task of a turn. Clones are one.
#[derive(Clone)]
pub(super) struct TurnTask {
    machine: TimeMachine,
    session: SessionId,
    turn: TurnId,
    folder: PathBuf,
    begun: Arc<OnceCell<TaskId>>,
    /// Cancelled once the tasks before this one ended.
    before: CancellationToken,
    /// What its tools may ask of the tree.
    pub(super) tools: Tasks,
}

/// Commands whose changes are recorded when they end.
#[derive(Default)]
pub(super) struct Watch {
    /// In the background, by handle.
    running: HashMap<String, RunningCommand>,
    /// Ended ones whose changes are being looked for.
    looking: TaskTracker,
    /// Cancelled once the task of the last turn ended; none before the first turn.
    settled: Option<CancellationToken>,
}

/// What has to be over before files are put back.
#[derive(Clone)]
pub(super) struct Loose {
    looking: TaskTracker,
    settled: Option<CancellationToken>,
}

impl Watch {
    /// Of a sub-agent: its parent's task waits for what its commands changed.
    pub(super) fn beside(looking: TaskTracker) -> Self {
        Self { looking, ..Self::default() }
    }

    /// Where what ended commands changed is looked for.
    pub(super) fn looking(&self) -> TaskTracker {
        self.looking.clone()
    }
}

impl Loose {
    /// Waits until what ended commands changed is recorded.
    async fn looked(&self) {
        self.looking.close();
        self.looking.wait().await;
    }

    /// Waits until that is so, and the last turn's task has ended.
    pub(super) async fn over(&self) {
        self.looked().await;
        if let Some(settled) = &self.settled {
            settled.cancelled().await;
        }
    }
}

/// A turn's task that is to end.
pub(super) struct Ending {
    task: TurnTask,
    summary: String,
}

impl TurnTask {
    pub(super) fn new(session: &Session, turn: TurnId) -> Self {
        let machine = session.runtime.services.time.clone();
        Self {
            tools: Tasks::new(machine.clone(), session.id(), turn),
            machine,
            session: session.id(),
            turn,
            folder: session.folder.clone(),
            begun: Arc::default(),
            before: session.watch.settled.clone().unwrap_or_else(over),
        }
    }

    /// The task, begun if it was not yet.
    async fn begun(&self, summary: String) -> Result<TaskId, ApiError> {
        let begin = || async {
            self.before.cancelled().await;
            let (machine, session, turn, folder) =
                (self.machine.clone(), self.session, self.turn, self.folder.clone());
            beside(move || machine.begin_task(session, turn, &folder, &summary)).await
        };
        self.begun.get_or_try_init(begin).await.copied()
    }

    /// What has to be recorded before a call may run. A call that could not be undone for lack of it does not run.
    pub(super) async fn before(
        &self,
        effects: &Effects,
        nature: &Nature,
        lasting: Vec<LastingMark>,
        summary: String,
    ) -> Result<Option<RunningCommand>, ToolError> {
        let failed = |error: ApiError| {
            ToolError::new(format!(
                "Not run: what it changes could not be recorded, so it could not be undone ({error})."
            ))
        };
        let starts = match &effects.command {
            Some(CommandEffect::Start { .. }) => !nature.only_reads,
            Some(CommandEffect::Input { .. } | CommandEffect::Control) | None => false,
        };
        if !starts && effects.writes.is_empty() && lasting.is_empty() {
            return Ok(None);
        }
        let task = self.begun(summary).await.map_err(failed)?;
        if !lasting.is_empty() {
            let machine = self.machine.clone();
            beside(move || machine.record_lasting(task, lasting)).await.map_err(failed)?;
        }
        if !starts {
            return Ok(None);
        }
        let (machine, folder) = (self.machine.clone(), self.folder.clone());
        beside(move || machine.before_command(task, &folder)).await.map(Some).map_err(failed)
    }
}

/// The handle of a command that goes on after its call.
pub(super) fn goes_on(outcome: &Result<ToolOutput, ToolError>) -> Option<String> {
    match outcome {
        Ok(ToolOutput { view: ToolView::Command(view), .. }) => match view.state {
            Some(CommandState::Running | CommandState::Waiting) => view.handle.clone(),
            Some(_) | None => None,
        },
        Ok(_) | Err(_) => None,
    }
}

impl Session {
    /// The beginning of the person's message of a turn, or of the one it goes on from: what its task is called.
    pub(super) fn summary_of(&self, turn: TurnId) -> String {
        let kept = self.running.as_ref().filter(|running| running.view.id == turn);
        let kept = kept.and_then(|running| running.summary.clone());
        if let Some(summary) = self.summary_of_parent().or(kept) {
            return summary;
        }
        let said = |turn: TurnId| {
            self.context.iter().find(|message| message.turn == turn && message.meta.origin == Origin::Person)
        };
        self.turns_asking(turn).into_iter().find_map(said).map(Message::text).unwrap_or_default()
    }

    /// The turns that asked for what runs; see [`Session::turns_asking`].
    pub(super) fn asking_turns(&self) -> Vec<TurnId> {
        self.running.iter().flat_map(|running| self.turns_asking(running.view.id)).collect()
    }

    /// A turn, and those before it that it went on from where it has no words of its own: one begun again after it
    /// was stopped or failed answers what was said in an earlier one, and says nothing without it.
    pub(super) fn turns_asking(&self, turn: TurnId) -> Vec<TurnId> {
        turns_asking(&self.context, turn)
    }

    /// A call's command is over, or goes on in the background.
    pub(super) fn command_returned(&mut self, watched: RunningCommand, handle: Option<String>) {
        match handle.filter(|handle| self.is_in_background(handle)) {
            Some(handle) => {
                self.watch.running.insert(handle, watched);
            }
            None => self.look_after(watched),
        }
    }

    /// A command in the background ended.
    pub(super) fn command_over(&mut self, handle: &str) {
        if let Some(watched) = self.watch.running.remove(handle) {
            self.look_after(watched);
        }
    }

    fn look_after(&mut self, watched: RunningCommand) {
        let (machine, session) = (self.runtime.services.time.clone(), self.id());
        self.watch.looking.spawn_blocking(move || {
            // A file that changes while it is read, a folder that is gone for a moment: looked at again.
            for attempt in 0..LOOKS {
                match machine.after_command(&watched) {
                    Ok(_) => return,
                    Err(error) => tracing::warn!(%session, %error, attempt, "what a command changed is not recorded yet"),
                }
                std::thread::sleep(BETWEEN_LOOKS);
            }
        });
    }

    /// Whether a command goes on that may change files.
    pub(super) fn is_watching(&self) -> bool {
        !self.watch.running.is_empty()
    }

    /// What has to be over before files are put back.
    pub(super) fn loose(&self) -> Loose {
        Loose { looking: self.watch.looking.clone(), settled: self.watch.settled.clone() }
    }

    /// The session ends, and with it its commands: what they changed is recorded now, so that nothing the person does
    /// afterwards is taken for theirs.
    pub(super) async fn record_last(&mut self) {
        for (_handle, watched) in std::mem::take(&mut self.watch.running) {
            self.look_after(watched);
        }
        self.settle_task();
        if tokio::time::timeout(LAST_LOOK, self.loose().over()).await.is_err() {
            tracing::warn!(session = %self.id(), "what commands changed is recorded at the next start");
        }
    }

    /// The turn is over: its task ends next.
    pub(super) fn task_ends(&mut self, task: TurnTask) {
        if self.fork.is_some() {
            // It is its parent's, and ends with the parent's turn.
            return;
        }
        let summary = self.summary_of(task.turn);
        self.task_ending = Some(Ending { task, summary });
    }

    /// Begins to end the task of the turn that has just ended; what its tools asked for follows.
    pub(super) fn settle_task(&mut self) {
        let Some(Ending { task, summary }) = self.task_ending.take() else { return };
        let loose = self.loose();
        let settled = CancellationToken::new();
        self.watch.settled = Some(settled.clone());
        let (machine, session, report) = (task.machine.clone(), self.id(), self.reporter());
        if let Some(wish) = task.tools.take_wish() {
            let target = match wish {
                TaskWish::Undo { task, to } => Target::Undone { task, to },
                TaskWish::Go { to } => Target::Task(to),
            };
            // Nothing may begin before it is gone to; what asked for it stays visible to the model.
            let kept = self.turns_asking(task.turn);
            self.set_out(target, Extent::Everything { kept }, Vec::new(), Asked::Tool);
        }
        tokio::spawn(async move {
            // Told also when it breaks, so that nobody waits for it for ever.
            let settled = settled.drop_guard();
            loose.looked().await;
            let ended = async {
                let id = task.begun(summary).await?;
                beside(move || machine.end_task(id)).await
            };
            if let Err(error) = ended.await {
                // It is ended before the next one begins.
                tracing::warn!(%session, %error, "a task was not ended");
            }
            drop(settled);
            report(Report::Settled);
        });
    }

    /// The tree of tasks changed. Nothing is lost with this event: whoever looks at the tree sees it as it is.
    pub(super) async fn tasks_changed(&mut self) -> Result<(), ApiError> {
        self.patience = Patience::None;
        if let Err(error) = self.commit(vec![Change::Event(Event::TasksChanged)]).await {
            tracing::warn!(session = %self.id(), %error, "the end of a task was not told");
        }
        Ok(())
    }
}

/// See [`Session::turns_asking`]. A turn that has said nothing comes after everything.
fn turns_asking(context: &[Message], turn: TurnId) -> Vec<TurnId> {
    let mut turns = vec![turn];
    let mut at = turn;
    loop {
        let first = context.iter().position(|message| message.turn == at).unwrap_or(context.len());
        let has_words =
            context.iter().any(|message| message.turn == at && message.meta.origin == Origin::Person);
        let Some(before) = first.checked_sub(1).and_then(|before| context.get(before)) else { break };
        // One that began by itself comes after an answer; what is begun again after an answer is told so first.
        let tells_ends = |message: &Message| {
            message.blocks.iter().any(|block| matches!(block, Block::CommandsEnded { .. }))
        };
        let by_itself = before.role == Role::Assistant && context.get(first).is_some_and(tells_ends);
        if has_words || by_itself || turns.contains(&before.turn) {
            break;
        }
        at = before.turn;
        turns.push(at);
    }
    turns
}

/// Of what ended long ago.
fn over() -> CancellationToken {
    let over = CancellationToken::new();
    over.cancel();
    over
}

/// Work of the time machine, beside the async threads.
pub(super) async fn beside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, TimeError> + Send + 'static,
) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| ApiError::new("internal").detail(error))?.map_err(ApiError::from)
}
