//! What runs, as the sessions of this process tell it: each actor writes what it does onto a board, so that nobody who
//! wants to know has to wait for one that is busy. What other processes of the home do is read from the store.

use crate::{admission::Places, change::Change};
use octo_protocol::{
    ActivityId, ActivityOrigin, ActivityRow, ActivityState, ActivityStatus, BackgroundCommand, ForkOrigin,
    Millis, RunStatus, SessionId, SessionStatus, Spending, TaskRun, TurnId, Usage,
};
use octo_store::NeighbourWork;
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

/// What all sessions of this process do. Clones are one.
#[derive(Clone, Default)]
pub(crate) struct Board {
    lines: Arc<Mutex<BTreeMap<SessionId, Doing>>>,
    change: Change,
}

/// A session's line on the board; gone when it is dropped.
pub(crate) struct Entry {
    session: SessionId,
    board: Board,
}

/// What a session does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Doing {
    pub title: String,
    pub folder: String,
    /// What it is a part of, for a sub-agent.
    pub fork: Option<ForkOrigin>,
    pub turn: Option<TurnDoing>,
    /// Commands that run in the background.
    pub commands: Vec<BackgroundCommand>,
}

/// A turn under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TurnDoing {
    pub turn: TurnId,
    pub since: Millis,
    pub stands: Stands,
    /// Answers of its model.
    pub steps: u32,
    /// What it used, sub-agents included: with another number the ledger has another line.
    pub used: Usage,
}

/// How a turn stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stands {
    Working,
    NeedsYou,
    /// It waits for a place.
    Queued,
}

impl Board {
    /// A session's line, empty.
    pub fn entry(&self, session: SessionId) -> Entry {
        Entry { session, board: self.clone() }
    }

    pub fn change(&self) -> &Change {
        &self.change
    }

    /// Everything on it.
    pub fn lines(&self) -> BTreeMap<SessionId, Doing> {
        self.with(|lines| lines.clone())
    }

    /// Whether a session's turn waits for a place.
    pub fn is_queued(&self, session: SessionId) -> bool {
        self.with(|lines| {
            let turn = lines.get(&session).and_then(|doing| doing.turn);
            turn.is_some_and(|turn| turn.stands == Stands::Queued)
        })
    }

    /// Whether a session is at this turn.
    pub fn is_in(&self, session: SessionId, turn: TurnId) -> bool {
        self.with(|lines| {
            lines.get(&session).and_then(|doing| doing.turn).is_some_and(|doing| doing.turn == turn)
        })
    }

    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<SessionId, Doing>) -> T) -> T {
        act(&mut self.lines.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Entry {
    /// What the session does now; none for nothing.
    pub fn tell(&self, doing: Option<Doing>) {
        let changed = self.board.with(|lines| {
            if lines.get(&self.session) == doing.as_ref() {
                return false;
            }
            match doing {
                Some(doing) => lines.insert(self.session, doing),
                None => lines.remove(&self.session),
            };
            true
        });
        if changed {
            self.board.change.tell();
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.tell(None);
    }
}

/// What is known beside the board when rows are made of it.
pub(crate) struct Known {
    /// Runs of tasks that are not over.
    pub runs: Vec<TaskRun>,
    /// What each session's turn cost so far.
    pub spent: HashMap<SessionId, Spending>,
    /// How many turns get a place before one that waits for it.
    pub ahead: HashMap<TurnId, u32>,
    pub places: Places,
    /// The clock of the tasks, if this process begins their runs.
    pub tends: Option<Millis>,
    /// What other living processes do.
    pub neighbours: Vec<NeighbourWork>,
}

/// All that runs: pure.
pub(crate) fn state(lines: &BTreeMap<SessionId, Doing>, known: &Known) -> ActivityState {
    let mut rows: Vec<ActivityRow> = Vec::new();
    for (session, doing) in lines {
        rows.extend(doing.turn.map(|turn| turn_row(*session, doing, turn, lines, known)));
        let of = || origin(*session, lines, &doing.title);
        rows.extend(doing.commands.iter().map(|command| command_row(*session, of(), command)));
    }
    for work in &known.neighbours {
        rows.extend(neighbour_rows(work, known));
    }
    rows.extend(waiting_runs(known));
    rows.sort_by(|a, b| (kind(&a.id), a.since, &a.id).cmp(&(kind(&b.id), b.since, &b.id)));
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    ActivityState { rows, taken: number(known.places.taken), places: number(known.places.limit) }
}

/// In which order kinds are told.
fn kind(id: &ActivityId) -> u8 {
    match id {
        ActivityId::Session { .. } => 0,
        ActivityId::Task { .. } => 1,
        ActivityId::SubAgent { .. } => 2,
        ActivityId::Command { .. } => 3,
    }
}

fn turn_row(
    session: SessionId,
    doing: &Doing,
    turn: TurnDoing,
    lines: &BTreeMap<SessionId, Doing>,
    known: &Known,
) -> ActivityRow {
    let (id, name, task) = called(session, doing.fork.as_ref(), &doing.title, known);
    let status = match turn.stands {
        Stands::Working => ActivityStatus::Working,
        Stands::NeedsYou => ActivityStatus::NeedsYou,
        // One that was let in a moment ago has not said so yet.
        Stands::Queued => match known.ahead.get(&turn.turn) {
            Some(ahead) => ActivityStatus::Queued { ahead: *ahead },
            None => ActivityStatus::Working,
        },
    };
    ActivityRow {
        id,
        name,
        of: doing.fork.as_ref().map(|fork| origin(fork.session, lines, &fork.title)),
        folder: doing.folder.clone(),
        session: Some(session),
        task,
        status,
        since: turn.since,
        steps: Some(turn.steps),
        spending: Some(known.spent.get(&session).copied().unwrap_or_default()),
        process: None,
    }
}

/// What a turn is: a sub-agent's, a task's run, or its session's; with its name and the task's file.
fn called(
    session: SessionId,
    fork: Option<&ForkOrigin>,
    title: &str,
    known: &Known,
) -> (ActivityId, String, Option<String>) {
    let run = known.runs.iter().find(|run| run.session == Some(session) && is_on(run));
    match (fork, run) {
        (Some(fork), _) => (ActivityId::SubAgent { session }, fork.name.clone(), None),
        (None, Some(run)) => (ActivityId::Task { run: run.id }, run.name.clone(), Some(run.task.clone())),
        (None, None) => (ActivityId::Session { session }, title.to_owned(), None),
    }
}

/// What another process does in a session.
fn neighbour_rows(work: &NeighbourWork, known: &Known) -> impl Iterator<Item = ActivityRow> {
    let (session, process) = (work.info.id, Some(work.holder.process));
    let turn = work.turn.map(|(_, since, steps)| {
        let (id, name, task) = called(session, work.fork.as_ref(), &work.info.title, known);
        let of = work.fork.as_ref();
        ActivityRow {
            id,
            name,
            of: of.map(|fork| ActivityOrigin { session: fork.session, title: fork.title.clone() }),
            folder: work.info.folder.clone(),
            session: Some(session),
            task,
            status: match work.info.status {
                SessionStatus::Waiting => ActivityStatus::NeedsYou,
                // Whether it waits for a place there is known there alone.
                SessionStatus::Running | SessionStatus::Idle | SessionStatus::Failed => {
                    ActivityStatus::Working
                }
            },
            since,
            steps: Some(steps),
            spending: Some(known.spent.get(&session).copied().unwrap_or_default()),
            process,
        }
    });
    let commands = work.commands.iter().map(move |command| {
        let of = ActivityOrigin { session, title: work.info.title.clone() };
        ActivityRow { process, ..command_row(session, of, command) }
    });
    turn.into_iter().chain(commands)
}

fn command_row(session: SessionId, of: ActivityOrigin, command: &BackgroundCommand) -> ActivityRow {
    ActivityRow {
        id: ActivityId::Command { session, handle: command.handle.clone() },
        name: command.command.clone(),
        of: Some(of),
        folder: command.cwd.clone(),
        session: Some(session),
        task: None,
        status: ActivityStatus::Working,
        since: command.started_at,
        steps: None,
        spending: None,
        process: None,
    }
}

/// The session something belongs to, by its title of now where it is known.
fn origin(session: SessionId, lines: &BTreeMap<SessionId, Doing>, title: &str) -> ActivityOrigin {
    let now = lines.get(&session).map(|doing| doing.title.as_str());
    ActivityOrigin { session, title: now.unwrap_or(title).to_owned() }
}

/// Runs that are due and wait for their turn: as many as go on at once do.
fn waiting_runs(known: &Known) -> impl Iterator<Item = ActivityRow> {
    let now = known.tends;
    let due = known.runs.iter().filter(move |run| match run.status {
        RunStatus::Waiting { until } => now.is_some_and(|now| until <= now),
        _ => false,
    });
    due.zip(0..).map(|(run, ahead)| ActivityRow {
        id: ActivityId::Task { run: run.id },
        name: run.name.clone(),
        of: None,
        folder: String::new(),
        session: None,
        task: Some(run.task.clone()),
        status: ActivityStatus::Queued { ahead },
        since: run.due,
        steps: None,
        spending: None,
        process: None,
    })
}

fn is_on(run: &TaskRun) -> bool {
    matches!(run.status, RunStatus::Running | RunStatus::NeedsYou)
}

#[cfg(test)]
mod tests;
