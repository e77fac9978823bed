//! Background commands, and the notices of their ends to the model.
//!
//! The model learns of an end exactly once, even after a crash: the table keeps the command until the
//! transaction in which the model's context receives the notice or the result of the call that asked for it.
//!
//! * While a turn is running, ends are reported at its next step, several in one notice.
//! * While no turn is running, an end starts a turn automatically, but only after a turn that finished. After a
//!   turn that failed or that the person stopped, nothing starts automatically; the notice is part of the next
//!   turn. The same applies to the end of a command that the person stopped and of commands that ended with
//!   Octo, as no work waits for them. The number of consecutive automatic turns is limited.
//! * Stop ends a turn and everything it waits for. Background commands continue; each has its own Stop, and
//!   closing the session ends them all.

mod notice;

use super::{
    JobReport, ReplySender,
    state::Session,
    step::{Step, StoreRetry},
    turns::TurnCause,
};
use crate::turn::Input;
use octo_protocol::{
    ApiError, BackgroundCommand, Block, CallId, CommandState, ErrorCode, Event, Origin, Role, TurnEnd, TurnId,
};
use octo_shell::BackgroundNews;
use std::{collections::HashMap, time::Duration};

/// How long ends are gathered before an automatic turn starts: related commands often end together.
const GATHER: Duration = Duration::from_millis(300);

/// Maximum number of consecutive automatic turns. This limits the bill of a person who was away, whatever the
/// model keeps starting.
const MAX_AUTO_TURNS: u32 = 50;

/// The session's background commands.
pub(super) struct BackgroundCommands {
    /// As they are stored.
    commands: Vec<BackgroundCommand>,
    /// Ends that the result of a running call will report, by handle.
    assigned_to_calls: HashMap<String, CallId>,
    auto_turns: AutoTurnState,
    /// Number of automatic turns since the person's last message.
    auto_turn_count: u32,
}

/// The state of a session without a turn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AutoTurnState {
    /// The last turn finished: the next may start automatically.
    Open,
    /// The last turn was stopped, failed or belongs to an earlier process: the person must act first.
    Halted,
}

impl BackgroundCommands {
    /// Restores the stored commands. Commands stored as running were running when Octo ended.
    pub(super) fn restored(commands: &[BackgroundCommand]) -> Self {
        let mut commands = commands.to_vec();
        for command in commands.iter_mut().filter(|command| !command.state.is_over()) {
            command.state = CommandState::EndedWithOcto;
        }
        Self {
            commands,
            assigned_to_calls: HashMap::new(),
            auto_turns: AutoTurnState::Halted,
            auto_turn_count: 0,
        }
    }

    /// Returns the list as an event.
    pub(super) fn event(&self) -> Event {
        Event::CommandsChanged { commands: self.commands.clone() }
    }

    /// Whether any command is still running.
    pub(super) fn has_running(&self) -> bool {
        self.commands.iter().any(|command| !command.state.is_over())
    }

    /// Returns the number of ends to report to the model.
    pub(super) fn unreported_count(&self) -> usize {
        self.commands.iter().filter(|command| self.is_unreported(command)).count()
    }

    fn is_unreported(&self, command: &BackgroundCommand) -> bool {
        command.state.is_over() && !self.assigned_to_calls.contains_key(&command.handle)
    }

    /// Whether one of these ends justifies a turn of its own.
    fn needs_turn(&self) -> bool {
        let is_requested = |state| matches!(state, CommandState::Killed | CommandState::EndedWithOcto);
        let unreported = self.commands.iter().filter(|command| self.is_unreported(command));
        self.auto_turns == AutoTurnState::Open
            && self.auto_turn_count < MAX_AUTO_TURNS
            && unreported.filter(|command| !is_requested(command.state)).count() > 0
    }

    /// Returns the running commands.
    pub(super) fn running(&self) -> Vec<BackgroundCommand> {
        self.commands.iter().filter(|command| !command.state.is_over()).cloned().collect()
    }

    fn insert(&mut self, command: BackgroundCommand) {
        match self.commands.iter_mut().find(|existing| existing.handle == command.handle) {
            Some(existing) => *existing = command,
            None => self.commands.push(command),
        }
    }

    /// Whether this command has not ended.
    pub(super) fn is_running(&self, handle: &str) -> bool {
        self.commands.iter().any(|command| command.handle == handle && !command.state.is_over())
    }

    /// Takes the ends the model has not learned of, in their order.
    fn take_unreported(&mut self) -> Vec<BackgroundCommand> {
        let (mut unreported, remaining): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.commands).into_iter().partition(|command| self.is_unreported(command));
        self.commands = remaining;
        unreported.sort_by_key(|command| command.ended_at);
        unreported
    }

    /// Records that the result of a call will report this end.
    fn assign_to_call(&mut self, command: &BackgroundCommand, call: CallId) {
        self.assigned_to_calls.insert(command.handle.clone(), call);
    }

    /// Removes the ends that the result of a call reported. Returns whether there were any.
    fn remove_reported_by(&mut self, call: CallId) -> bool {
        let Self { commands, assigned_to_calls, .. } = self;
        let count = commands.len();
        commands.retain(|command| assigned_to_calls.get(&command.handle) != Some(&call));
        assigned_to_calls.retain(|_, reporting_call| *reporting_call != call);
        commands.len() < count
    }

    /// Records that the result of a call will report no end. Returns whether it would have reported one.
    fn release_from_call(&mut self, call: CallId) -> bool {
        let count = self.assigned_to_calls.len();
        self.assigned_to_calls.retain(|_, reporting_call| *reporting_call != call);
        self.assigned_to_calls.len() < count
    }

    /// Records the start of a turn.
    pub(super) fn turn_began(&mut self, cause: TurnCause) {
        self.auto_turn_count = match cause {
            TurnCause::Person => 0,
            TurnCause::Automatic => self.auto_turn_count.saturating_add(1),
        };
    }

    /// Prevents automatic turns after the person pressed Stop while no turn was running.
    pub(super) fn halt(&mut self) {
        self.auto_turns = AutoTurnState::Halted;
    }

    /// Records the end of a turn.
    pub(super) fn turn_ended(&mut self, end: &TurnEnd) {
        self.auto_turns = match end {
            TurnEnd::Finished => AutoTurnState::Open,
            TurnEnd::Stopped | TurnEnd::Failed { .. } => AutoTurnState::Halted,
        };
    }
}

impl Session {
    /// Takes the shell's news of a command.
    pub(super) async fn handle_command_news(&mut self, news: BackgroundNews) -> Result<(), ApiError> {
        if let BackgroundNews::Reported { command, .. } | BackgroundNews::Ended(command) = &news {
            self.end_command(&command.handle);
        }
        match news {
            BackgroundNews::StateChanged(command) => self.background.insert(command),
            BackgroundNews::Reported { command, call: by } => {
                self.background.assign_to_call(&command, by);
                self.background.insert(command);
            }
            BackgroundNews::Ended(command) => self.background.insert(command),
        }
        self.commands_changed().await
    }

    async fn commands_changed(&mut self) -> Result<(), ApiError> {
        let step = Step::default().with(self.background.event());
        self.feed_with(Input::Queued(self.waiting_count()), step).await?;
        if self.may_start_turn() {
            let (report, cancelled) = (self.reporter(), self.actor.ended());
            tokio::spawn(async move {
                tokio::select! {
                    () = tokio::time::sleep(GATHER) => report.send(JobReport::Wake),
                    () = cancelled => {}
                }
            });
        }
        Ok(())
    }

    /// Returns how much waits for the turn's next step: messages of the person and ends of commands.
    pub(super) fn waiting_count(&self) -> usize {
        self.queue.len() + self.background.unreported_count()
    }

    fn may_start_turn(&self) -> bool {
        !self.turn.is_running()
            && self.sub_agent.is_none()
            && !self.restoring.is_under_way()
            && self.background.needs_turn()
            && self.workspace.has_folder()
    }

    /// Starts a turn for the gathered ends, unless one has started meanwhile.
    pub(super) async fn start_auto_turn(&mut self, retry: StoreRetry) -> Result<(), ApiError> {
        if self.may_start_turn() { self.begin_queued_turn(TurnCause::Automatic, retry).await } else { Ok(()) }
    }

    /// Adds the unreported ends to the conversation, as one message.
    pub(super) fn report_ends(&mut self, turn: TurnId, step: &mut Step) {
        let commands = self.background.take_unreported();
        if commands.is_empty() {
            return;
        }
        let text = notice::notice_text(&commands);
        let block = Block::CommandsEnded { commands, text };
        let message = self.message(turn, Role::User, Origin::Octo, vec![block]);
        self.add_message(message, step);
        step.event(self.background.event());
    }

    /// Marks the ends reported by a call's result as reported, in the same transaction.
    pub(super) fn mark_ends_reported(&mut self, call: CallId, step: &mut Step) {
        if self.background.remove_reported_by(call) {
            step.event(self.background.event());
        }
    }

    /// Reports ends in another way if a call's result is not used.
    pub(super) async fn report_ends_later(&mut self, call: CallId) -> Result<(), ApiError> {
        if self.background.release_from_call(call) { self.commands_changed().await } else { Ok(()) }
    }

    /// Stops a command for the person. Its end is reported like any other.
    pub(super) fn stop_command(&self, handle: String, reply: ReplySender<()>) {
        let shell = self.workspace.shell().clone();
        // The command may take a second or two to obey.
        tokio::spawn(async move {
            let stopped = shell.stop(&handle).await;
            let _gone = reply.send(stopped.map_err(|error| command_gone().detail(error)));
        });
    }

    /// Stores the state of commands that a restart has ended.
    pub(super) async fn store_restored(&mut self, commands: &[BackgroundCommand]) -> Result<(), ApiError> {
        if self.background.commands == commands {
            return Ok(());
        }
        self.finish(Step::once().with(self.background.event())).await
    }
}

/// The error for stopping a command that no longer runs.
pub(crate) fn command_gone() -> ApiError {
    ApiError::new("background.gone").code(ErrorCode::Gone)
}

#[cfg(test)]
mod tests;
