//! Commands that go on in the background, and telling the model of their ends.
//!
//! An end is told exactly once, also over a crash: the table holds the command until the transaction in which the
//! model's context gets the notice, or the result of the call that asked after it.
//!
//! * While a turn runs, ends are told at its next step, several in one notice.
//! * While none runs, an end begins a turn by itself: but only after a turn that finished. After one the person
//!   stopped, or that failed, nothing begins by itself; the notice goes along with the next turn. So does the end of
//!   a command the person stopped, and of those that ended with Octo: nobody waits for these. How many turns may begin
//!   by themselves in a row is bounded.
//! * Stop ends a turn and what it waits for. Commands in the background go on; each has a Stop of its own, and closing
//!   the session ends them all.

mod notice;

use super::{
    Reply, Report,
    state::Session,
    step::{Step, StoreRetry},
    turns::Began,
};
use crate::turn::Input;
use octo_protocol::{
    ApiError, BackgroundCommand, Block, CallId, CommandState, ErrorCode, Event, Origin, Role, TurnEnd, TurnId,
};
use octo_shell::News;
use std::{collections::HashMap, time::Duration};

/// How long ends are gathered before a turn begins by itself: what was waited for often ends together.
const GATHER: Duration = Duration::from_millis(300);

/// Turns in a row that may begin by themselves. A person who comes back finds a bounded bill, whatever the model
/// starts over and over.
const ALONE: u32 = 50;

/// The session's commands in the background.
pub(super) struct Background {
    /// As they are stored.
    commands: Vec<BackgroundCommand>,
    /// Ends that the result of a call will tell, by handle.
    in_hand: HashMap<String, CallId>,
    rest: Rest,
    /// Turns that began by themselves since the person's last word.
    alone: u32,
}

/// What a session without a turn is like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    /// The last turn came to its end: the next may begin by itself.
    Open,
    /// It was stopped or failed, or was before this process: the person comes first.
    Halted,
}

impl Background {
    /// What was stored. What is still there as running was running when Octo ended.
    pub(super) fn restored(stored: &[BackgroundCommand]) -> Self {
        let mut commands = stored.to_vec();
        for command in commands.iter_mut().filter(|command| !command.state.is_over()) {
            command.state = CommandState::EndedWithOcto;
        }
        Self { commands, in_hand: HashMap::new(), rest: Rest::Halted, alone: 0 }
    }

    /// The list as an event.
    pub(super) fn event(&self) -> Event {
        Event::CommandsChanged { commands: self.commands.clone() }
    }

    /// Whether one of them has not ended.
    pub(super) fn go_on(&self) -> bool {
        self.commands.iter().any(|command| !command.state.is_over())
    }

    /// How many ends the model is to be told of.
    pub(super) fn untold(&self) -> usize {
        self.commands.iter().filter(|command| self.is_untold(command)).count()
    }

    fn is_untold(&self, command: &BackgroundCommand) -> bool {
        command.state.is_over() && !self.in_hand.contains_key(&command.handle)
    }

    /// Whether one of these ends is worth a turn of its own.
    fn wakes(&self) -> bool {
        let asked_for = |state| matches!(state, CommandState::Killed | CommandState::EndedWithOcto);
        let untold = self.commands.iter().filter(|command| self.is_untold(command));
        self.rest == Rest::Open
            && self.alone < ALONE
            && untold.filter(|command| !asked_for(command.state)).count() > 0
    }

    /// Those that run.
    pub(super) fn running(&self) -> Vec<BackgroundCommand> {
        self.commands.iter().filter(|command| !command.state.is_over()).cloned().collect()
    }

    fn put(&mut self, command: BackgroundCommand) {
        match self.commands.iter_mut().find(|known| known.handle == command.handle) {
            Some(known) => *known = command,
            None => self.commands.push(command),
        }
    }

    /// Whether this command has not ended.
    pub(super) fn is_running(&self, handle: &str) -> bool {
        self.commands.iter().any(|command| command.handle == handle && !command.state.is_over())
    }

    /// Takes the ends that the model was not told of, in their order.
    fn take_untold(&mut self) -> Vec<BackgroundCommand> {
        let (mut untold, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.commands).into_iter().partition(|command| self.is_untold(command));
        self.commands = rest;
        untold.sort_by_key(|command| command.ended_at);
        untold
    }

    /// The result of a call tells this end.
    fn tell_by(&mut self, command: &BackgroundCommand, call: CallId) {
        self.in_hand.insert(command.handle.clone(), call);
    }

    /// Ends that the result of a call told are told; whether there were any.
    fn told_by(&mut self, call: CallId) -> bool {
        let Self { commands, in_hand, .. } = self;
        let before = commands.len();
        commands.retain(|command| in_hand.get(&command.handle) != Some(&call));
        in_hand.retain(|_, by| *by != call);
        commands.len() < before
    }

    /// The result of a call will tell no end; whether it would have.
    fn untold_by(&mut self, call: CallId) -> bool {
        let before = self.in_hand.len();
        self.in_hand.retain(|_, by| *by != call);
        self.in_hand.len() < before
    }

    /// A turn begins.
    pub(super) fn turn_began(&mut self, began: Began) {
        self.alone = match began {
            Began::ByThePerson => 0,
            Began::ByItself => self.alone.saturating_add(1),
        };
    }

    /// The person pressed Stop while no turn ran: none is to begin by itself.
    pub(super) fn halt(&mut self) {
        self.rest = Rest::Halted;
    }

    /// A turn ended.
    pub(super) fn turn_ended(&mut self, end: &TurnEnd) {
        self.rest = match end {
            TurnEnd::Finished => Rest::Open,
            TurnEnd::Stopped | TurnEnd::Failed { .. } => Rest::Halted,
        };
    }
}

impl Session {
    /// The shell tells what becomes of a command.
    pub(super) async fn command_news(&mut self, news: News) -> Result<(), ApiError> {
        if let News::Reported { command, .. } | News::Ended(command) = &news {
            self.command_over(&command.handle);
        }
        match news {
            News::Stands(command) => self.background.put(command),
            News::Reported { command, by } => {
                self.background.tell_by(&command, by);
                self.background.put(command);
            }
            News::Ended(command) => self.background.put(command),
        }
        self.commands_changed().await
    }

    async fn commands_changed(&mut self) -> Result<(), ApiError> {
        let step = Step::default().with(self.background.event());
        self.feed_with(Input::Queued(self.waiting()), step).await?;
        if self.may_wake() {
            let (report, ending) = (self.reporter(), self.actor.ended());
            tokio::spawn(async move {
                tokio::select! {
                    () = tokio::time::sleep(GATHER) => report.send(Report::Wake),
                    () = ending => {}
                }
            });
        }
        Ok(())
    }

    /// How much waits for the turn's next step: the person's messages, and ends of commands.
    pub(super) fn waiting(&self) -> usize {
        self.queue.len() + self.background.untold()
    }

    fn may_wake(&self) -> bool {
        !self.turn.is_running()
            && self.sub_agent.is_none()
            && !self.restoring.is_under_way()
            && self.background.wakes()
            && self.workspace.has_folder()
    }

    /// Ends of commands were gathered: a turn begins, if none did meanwhile.
    pub(super) async fn wake(&mut self, retry: StoreRetry) -> Result<(), ApiError> {
        if self.may_wake() { self.begin_with_what_waits(Began::ByItself, retry).await } else { Ok(()) }
    }

    /// Puts the ends the model was not told of into the conversation, as one message.
    pub(super) fn tell_ends(&mut self, turn: TurnId, step: &mut Step) {
        let told = self.background.take_untold();
        if told.is_empty() {
            return;
        }
        let text = notice::of(&told);
        let block = Block::CommandsEnded { commands: told, text };
        let message = self.message(turn, Role::User, Origin::Octo, vec![block]);
        self.add_message(message, step);
        step.event(self.background.event());
    }

    /// A call has its result: ends it told of are told, in the same transaction.
    pub(super) fn ends_told_by(&mut self, call: CallId, step: &mut Step) {
        if self.background.told_by(call) {
            step.event(self.background.event());
        }
    }

    /// A call ended whose result nobody takes: ends it would have told of are told otherwise.
    pub(super) async fn ends_untold_by(&mut self, call: CallId) -> Result<(), ApiError> {
        if self.background.untold_by(call) { self.commands_changed().await } else { Ok(()) }
    }

    /// The person stops a command. Its end is heard of as every other.
    pub(super) fn stop_command(&self, handle: String, reply: Reply<()>) {
        let shell = self.workspace.shell().clone();
        // It may take a second or two until the command obeys.
        tokio::spawn(async move {
            let stopped = shell.stop(&handle).await;
            let _gone = reply.send(stopped.map_err(|error| command_gone().detail(error)));
        });
    }

    /// Stores what a restart makes of commands that ran.
    pub(super) async fn store_restored(&mut self, stored: &[BackgroundCommand]) -> Result<(), ApiError> {
        if self.background.commands == stored {
            return Ok(());
        }
        self.finish(Step::once().with(self.background.event())).await
    }
}

/// A command that does not run any more cannot be stopped.
pub(crate) fn command_gone() -> ApiError {
    ApiError::new("background.gone").code(ErrorCode::Gone)
}

#[cfg(test)]
mod tests;
