//! A turn's step of the time machine: all file changes of a turn are recorded as one step.
//!
//! It begins with the first call that may change something, or when the turn ends. A command that may change
//! something is enclosed by two scans of the session's folder; the second runs in parallel with the
//! conversation, and so does the end of the step, which waits for it. The next turn may begin meanwhile: its
//! first change waits until the previous step has ended, so steps are in the order of their turns.

use super::{
    JobReport,
    current_turn::RunningTurn,
    file_restore::{RestoreExtent, RestoreRequester, RestoreTarget},
    state::Session,
    step::Step,
};
use crate::permission::CommandFacts;
use octo_protocol::{ApiError, CommandState, Event, LastingEffect, SessionId, ToolView, TurnId};
use octo_shell::ShellError;
use octo_tools::{CommandEffect, Effects, RestoreRequest, ToolError, ToolOutput, TurnHistory};
use octo_workspace::{RunningCommand, StepId, TimeError, TimeMachine, is_real_folder};
use std::{collections::HashMap, path::PathBuf, sync::Arc, time::Duration};
use tokio::sync::OnceCell;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// How many scans for a command's changes are tried before they are left to the scan before the next command.
const SCAN_ATTEMPTS: u32 = 3;
const SCAN_DELAY: Duration = Duration::from_millis(500);
/// How long the end of a session waits until its commands' changes are recorded; otherwise the next start
/// records them.
const LAST_SCAN_TIMEOUT: Duration = Duration::from_secs(5);

/// A turn's step. Clones share it.
#[derive(Clone)]
pub(super) struct TurnStep {
    machine: TimeMachine,
    session: SessionId,
    turn: TurnId,
    folder: PathBuf,
    step: Arc<OnceCell<StepId>>,
    /// Cancelled once the earlier steps have ended.
    earlier_steps: CancellationToken,
    /// Access to the tree for its tools.
    tools: TurnHistory,
}

/// The changes of a session's turns that are still to be recorded.
#[derive(Default)]
pub(super) struct TurnRecords {
    /// Commands in the background whose changes are recorded when they end, by handle.
    running: HashMap<String, RunningCommand>,
    /// Tracks the scans for changes of ended commands.
    scans: TaskTracker,
    /// The step of the turn that has just ended.
    ending: Option<EndingStep>,
    /// Cancelled once the step of the last turn has ended; `None` before the first turn.
    last_step: Option<CancellationToken>,
}

/// Work that must end before files are restored.
#[derive(Clone)]
pub(super) struct PendingRecords {
    scans: TaskTracker,
    last_step: Option<CancellationToken>,
}

impl TurnRecords {
    /// Creates the records of a sub-agent: its parent's step waits for the changes of its commands.
    pub(super) fn with_scans(scans: TaskTracker) -> Self {
        Self { scans, ..Self::default() }
    }

    /// Returns the tracker of scans for ended commands.
    pub(super) fn scans(&self) -> TaskTracker {
        self.scans.clone()
    }

    /// Whether a running command or an ending step must still be recorded.
    pub(super) fn has_work(&self) -> bool {
        self.is_watching() || self.ending.is_some()
    }

    /// Whether a command that may change files is running.
    pub(super) fn is_watching(&self) -> bool {
        !self.running.is_empty()
    }

    /// Returns the work that must end before files are restored.
    pub(super) fn pending(&self) -> PendingRecords {
        PendingRecords { scans: self.scans.clone(), last_step: self.last_step.clone() }
    }

    /// Returns a token that is cancelled once the steps before the next one have ended.
    fn earlier_steps_ended(&self) -> CancellationToken {
        self.last_step.clone().unwrap_or_else(fired_signal)
    }

    /// Scans for the changes of an ended command.
    fn scan_changes(&self, machine: TimeMachine, session: SessionId, running_command: RunningCommand) {
        self.scans.spawn_blocking(move || {
            // The file changed while it was read, or the folder vanished for a moment: scan again.
            for attempt in 0..SCAN_ATTEMPTS {
                match machine.after_command(&running_command) {
                    Ok(_) => return,
                    Err(error) => tracing::warn!(%session, %error, attempt, "what a command changed is not recorded yet"),
                }
                std::thread::sleep(SCAN_DELAY);
            }
        });
    }
}

impl PendingRecords {
    /// Waits until the changes of ended commands are recorded.
    async fn wait_for_scans(&self) {
        self.scans.close();
        self.scans.wait().await;
    }

    /// Waits until that is done and the last turn's step has ended.
    pub(super) async fn wait(&self) {
        self.wait_for_scans().await;
        if let Some(last_step) = &self.last_step {
            last_step.cancelled().await;
        }
    }
}

/// A turn's step that is about to end.
pub(super) struct EndingStep {
    task: TurnStep,
    summary: String,
}

impl TurnStep {
    pub(super) fn new(session: &Session, turn: TurnId) -> Self {
        let machine = session.runtime.services.time.clone();
        Self {
            tools: TurnHistory::new(machine.clone(), session.id(), turn),
            machine,
            session: session.id(),
            turn,
            folder: session.workspace.folder().to_owned(),
            step: Arc::default(),
            earlier_steps: session.records.earlier_steps_ended(),
        }
    }

    /// Returns the turn's tools' access to the tree.
    pub(super) fn tools(&self) -> TurnHistory {
        self.tools.clone()
    }

    /// Returns the step, beginning it if necessary.
    async fn begin_once(&self, summary: String) -> Result<StepId, ApiError> {
        let begin_step = || async {
            self.earlier_steps.cancelled().await;
            let (machine, session, turn, folder) =
                (self.machine.clone(), self.session, self.turn, self.folder.clone());
            run_blocking(move || machine.begin_step(session, turn, &folder, &summary)).await
        };
        self.step.get_or_try_init(begin_step).await.copied()
    }

    /// Records the state a call needs before it may run. A call that could not be undone because this failed
    /// does not run.
    pub(super) async fn record_before(
        &self,
        effects: &Effects,
        facts: &CommandFacts,
        lasting: Vec<LastingEffect>,
        summary: String,
    ) -> Result<Option<RunningCommand>, ToolError> {
        let record_error = |error: ApiError| {
            ToolError::new(format!(
                "Not run: what it changes could not be recorded, so it could not be undone ({error})."
            ))
        };
        let starts = match &effects.command {
            Some(CommandEffect::Start { .. }) => !facts.only_reads,
            Some(CommandEffect::Input { .. } | CommandEffect::Control) | None => false,
        };
        if !starts && effects.writes.is_empty() && lasting.is_empty() {
            return Ok(None);
        }
        let task = self.begin_once(summary).await.map_err(record_error)?;
        if !lasting.is_empty() {
            let machine = self.machine.clone();
            run_blocking(move || machine.record_lasting(task, lasting)).await.map_err(record_error)?;
        }
        if !starts {
            return Ok(None);
        }
        if !is_real_folder(&self.folder) {
            let gone = ShellError::SessionFolderGone { path: self.folder.clone() };
            return Err(ToolError::new(format!("Not run: {gone}.")));
        }
        let (machine, folder) = (self.machine.clone(), self.folder.clone());
        run_blocking(move || machine.before_command(task, &folder)).await.map(Some).map_err(record_error)
    }
}

/// Returns the handle of a command that continues after its call.
pub(super) fn continuing_handle(outcome: &Result<ToolOutput, ToolError>) -> Option<String> {
    match outcome {
        Ok(ToolOutput { view: ToolView::Command(view), .. }) => match view.state {
            Some(CommandState::Running | CommandState::Waiting) => view.handle.clone(),
            Some(_) | None => None,
        },
        Ok(_) | Err(_) => None,
    }
}

impl Session {
    /// Returns the person's message of a turn, or of the turn it continues, as the summary of its step.
    pub(super) fn summary_of(&self, turn: TurnId) -> String {
        let summary = self.turn.get().filter(|running| running.id() == turn).and_then(RunningTurn::summary);
        if let Some(summary) = self.summary_of_parent().or(summary) {
            return summary.to_owned();
        }
        self.conversation.request_of(turn).unwrap_or_default()
    }

    /// Returns the turns that requested the running work; see
    /// [`super::conversation::Conversation::requesting_turns`].
    pub(super) fn asking_turns(&self) -> Vec<TurnId> {
        self.turn.id().map(|turn| self.conversation.requesting_turns(turn)).unwrap_or_default()
    }

    /// Records that a call's command has ended or continues in the background.
    pub(super) fn command_returned(&mut self, running_command: RunningCommand, handle: Option<String>) {
        match handle.filter(|handle| self.background.is_running(handle)) {
            Some(handle) => {
                self.records.running.insert(handle, running_command);
            }
            None => self.scan_changes_of(running_command),
        }
    }

    /// Records the end of a background command.
    pub(super) fn end_command(&mut self, handle: &str) {
        if let Some(running_command) = self.records.running.remove(handle) {
            self.scan_changes_of(running_command);
        }
    }

    fn scan_changes_of(&self, running_command: RunningCommand) {
        self.records.scan_changes(self.runtime.services.time.clone(), self.id(), running_command);
    }

    /// Records the changes of the commands that end with the session, so that later changes by the person are
    /// not attributed to them.
    pub(super) async fn record_last(&mut self) {
        for (_handle, running_command) in std::mem::take(&mut self.records.running) {
            self.scan_changes_of(running_command);
        }
        self.end_step();
        if tokio::time::timeout(LAST_SCAN_TIMEOUT, self.records.pending().wait()).await.is_err() {
            tracing::warn!(session = %self.id(), "what commands changed is recorded at the next start");
        }
    }

    /// Marks the turn's step as ending next.
    pub(super) fn step_ends(&mut self, task: TurnStep) {
        if self.sub_agent.is_some() {
            // It is the parent's step and ends with the parent's turn.
            return;
        }
        let summary = self.summary_of(task.turn);
        self.records.ending = Some(EndingStep { task, summary });
    }

    /// Begins to end the step of the turn that has just ended; the restores its tools requested follow.
    pub(super) fn end_step(&mut self) {
        let Some(EndingStep { task, summary }) = self.records.ending.take() else { return };
        let pending = self.records.pending();
        let ended = CancellationToken::new();
        self.records.last_step = Some(ended.clone());
        let (machine, session, report) = (task.machine.clone(), self.id(), self.reporter());
        if let Some(request) = task.tools.take_restore() {
            let target = match request {
                RestoreRequest::Undo { task, to } => RestoreTarget::UndoStep { task, to },
                RestoreRequest::Redo { to: target } => RestoreTarget::Task(target),
            };
            // Nothing may begin before the restore; the turns that asked for it stay visible to the model.
            let kept_turns = self.conversation.requesting_turns(task.turn);
            self.start_restore(
                target,
                RestoreExtent::Everything { kept_turns },
                Vec::new(),
                RestoreRequester::Tool,
            );
        }
        tokio::spawn(async move {
            // Also fired on a panic, so no waiter blocks forever.
            let guard = ended.drop_guard();
            pending.wait_for_scans().await;
            let ended = async {
                let id = task.begin_once(summary).await?;
                run_blocking(move || machine.end_step(id)).await
            };
            if let Err(error) = ended.await {
                // The step is ended before the next one begins.
                tracing::warn!(%session, %error, "a task was not ended");
            }
            drop(guard);
            report.send(JobReport::StepEnded);
        });
    }

    /// Announces that the tree of steps changed. Losing this event loses no data: a client that reads the tree
    /// sees its current state.
    pub(super) async fn tasks_changed(&mut self) -> Result<(), ApiError> {
        if let Err(error) = self.finish(Step::once().with(Event::TasksChanged)).await {
            tracing::warn!(session = %self.id(), %error, "the end of a task was not told");
        }
        Ok(())
    }
}

/// Returns a signal that has already fired.
fn fired_signal() -> CancellationToken {
    let fired = CancellationToken::new();
    fired.cancel();
    fired
}

/// Runs work of the time machine off the async threads.
pub(super) async fn run_blocking<T: Send + 'static>(
    job: impl FnOnce() -> Result<T, TimeError> + Send + 'static,
) -> Result<T, ApiError> {
    let result = tokio::task::spawn_blocking(job).await;
    result.map_err(|error| ApiError::new("internal").detail(error))?.map_err(ApiError::from)
}
