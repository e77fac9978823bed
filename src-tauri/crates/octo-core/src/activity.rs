//! The running work of this process: each session actor publishes its activity to a board, so a reader never
//! waits for a busy actor. The work of other processes of the home is read from the store.

use octo_protocol::{
    ActivityId, ActivityOrigin, ActivityRow, ActivityState, ActivityStatus, BackgroundCommand, Millis,
    RunStatus, SessionId, SessionStatus, Spending, SubAgentOrigin, TaskRun, TurnId, Usage,
};
use octo_runtime::{Change, PermitCount};
use octo_store::OtherProcessSession;
use parking_lot::Mutex;
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// The activity of all sessions of this process. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct ActivityBoard {
    sessions: Arc<Mutex<BTreeMap<SessionId, SessionActivity>>>,
    change: Change,
}

/// A session's entry on the board; dropping it removes the entry.
pub(crate) struct BoardEntry {
    session: SessionId,
    board: ActivityBoard,
}

/// The current activity of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SessionActivity {
    pub title: String,
    pub folder: String,
    /// The session and call that started it, if it is a sub-agent.
    pub sub_agent: Option<SubAgentOrigin>,
    pub turn: Option<TurnActivity>,
    /// Commands running in the background.
    pub commands: Vec<BackgroundCommand>,
}

/// A running turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TurnActivity {
    pub turn: TurnId,
    pub since: Millis,
    pub status: TurnActivityStatus,
    /// Number of answers of its model.
    pub steps: u32,
    /// Token usage including sub-agents. A change means that the ledger has a new row.
    pub usage: Usage,
}

/// The status of a running turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnActivityStatus {
    Working,
    NeedsYou,
    /// Waiting for a permit.
    Queued,
}

impl ActivityBoard {
    /// Creates an empty entry for a session.
    pub fn entry(&self, session: SessionId) -> BoardEntry {
        BoardEntry { session, board: self.clone() }
    }

    pub fn change(&self) -> &Change {
        &self.change
    }

    /// Returns all entries.
    pub fn sessions(&self) -> BTreeMap<SessionId, SessionActivity> {
        self.with(|lines| lines.clone())
    }

    /// Whether a session's turn waits for a permit.
    pub fn is_queued(&self, session: SessionId) -> bool {
        self.with(|lines| {
            let turn = lines.get(&session).and_then(|activity| activity.turn);
            turn.is_some_and(|turn| turn.status == TurnActivityStatus::Queued)
        })
    }

    /// Whether a session is running this turn.
    pub fn is_running(&self, session: SessionId, turn: TurnId) -> bool {
        self.with(|lines| {
            lines
                .get(&session)
                .and_then(|activity| activity.turn)
                .is_some_and(|activity| activity.turn == turn)
        })
    }

    fn with<T>(&self, update: impl FnOnce(&mut BTreeMap<SessionId, SessionActivity>) -> T) -> T {
        update(&mut self.sessions.lock())
    }
}

impl BoardEntry {
    /// Publishes the session's current activity; `None` removes the entry.
    pub fn publish(&self, activity: Option<SessionActivity>) {
        let changed = self.board.with(|lines| {
            if lines.get(&self.session) == activity.as_ref() {
                return false;
            }
            match activity {
                Some(activity) => lines.insert(self.session, activity),
                None => lines.remove(&self.session),
            };
            true
        });
        if changed {
            self.board.change.notify();
        }
    }
}

impl Drop for BoardEntry {
    fn drop(&mut self) {
        self.publish(None);
    }
}

/// Data from outside the board that activity rows are built from.
pub(crate) struct ActivityInputs {
    /// Runs of scheduled tasks that have not ended.
    pub runs: Vec<TaskRun>,
    /// Cost of each session's turn so far.
    pub spent: HashMap<SessionId, Spending>,
    /// For each waiting turn, how many turns get a permit before it.
    pub queue_positions: HashMap<TurnId, u32>,
    pub permits: PermitCount,
    /// The scheduler's time, if this process starts the scheduled runs.
    pub schedule_time: Option<Millis>,
    /// The activity of other living processes.
    pub other_processes: Vec<OtherProcessSession>,
}

/// Builds the list of all running work. Pure.
pub(crate) fn activity_state(
    lines: &BTreeMap<SessionId, SessionActivity>,
    inputs: &ActivityInputs,
) -> ActivityState {
    let mut rows: Vec<ActivityRow> = Vec::new();
    for (session, activity) in lines {
        rows.extend(activity.turn.map(|turn| turn_row(*session, activity, turn, lines, inputs)));
        let task_origin = || origin(*session, lines, &activity.title);
        rows.extend(activity.commands.iter().map(|command| command_row(*session, task_origin(), command)));
    }
    for other in &inputs.other_processes {
        rows.extend(other_process_rows(other, inputs));
    }
    rows.extend(waiting_runs(inputs));
    rows.sort_by(|a, b| (kind(&a.id), a.since, &a.id).cmp(&(kind(&b.id), b.since, &b.id)));
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    ActivityState { rows, taken: number(inputs.permits.taken), places: number(inputs.permits.limit) }
}

/// Returns the sort position of a kind.
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
    activity: &SessionActivity,
    turn: TurnActivity,
    lines: &BTreeMap<SessionId, SessionActivity>,
    inputs: &ActivityInputs,
) -> ActivityRow {
    let (id, name, task) = turn_label(session, activity.sub_agent.as_ref(), &activity.title, inputs);
    let status = match turn.status {
        TurnActivityStatus::Working => ActivityStatus::Working,
        TurnActivityStatus::NeedsYou => ActivityStatus::NeedsYou,
        // A turn that has just been admitted has not published it yet.
        TurnActivityStatus::Queued => match inputs.queue_positions.get(&turn.turn) {
            Some(position) => ActivityStatus::Queued { ahead: *position },
            None => ActivityStatus::Working,
        },
    };
    ActivityRow {
        id,
        name,
        of: activity.sub_agent.as_ref().map(|sub_agent| origin(sub_agent.session, lines, &sub_agent.title)),
        folder: activity.folder.clone(),
        session: Some(session),
        task,
        status,
        since: turn.since,
        steps: Some(turn.steps),
        spending: Some(inputs.spent.get(&session).copied().unwrap_or_default()),
        process: None,
    }
}

/// Returns the kind of a turn (a sub-agent's, a scheduled run or the session's own), its name and the task's
/// file.
fn turn_label(
    session: SessionId,
    sub_agent: Option<&SubAgentOrigin>,
    title: &str,
    inputs: &ActivityInputs,
) -> (ActivityId, String, Option<String>) {
    let run = inputs.runs.iter().find(|run| run.session == Some(session) && is_on(run));
    match (sub_agent, run) {
        (Some(sub_agent), _) => (ActivityId::SubAgent { session }, sub_agent.name.clone(), None),
        (None, Some(run)) => (ActivityId::Task { run: run.id }, run.name.clone(), Some(run.task.clone())),
        (None, None) => (ActivityId::Session { session }, title.to_owned(), None),
    }
}

/// Builds the rows for another process's work in a session.
fn other_process_rows(
    other: &OtherProcessSession,
    inputs: &ActivityInputs,
) -> impl Iterator<Item = ActivityRow> {
    let (session, process) = (other.info.id, Some(other.holder.process));
    let turn = other.turn.map(|(_, since, steps)| {
        let (id, name, task) = turn_label(session, other.fork.as_ref(), &other.info.title, inputs);
        let sub_agent = other.fork.as_ref();
        ActivityRow {
            id,
            name,
            of: sub_agent.map(|sub_agent| ActivityOrigin {
                session: sub_agent.session,
                title: sub_agent.title.clone(),
            }),
            folder: other.info.folder.clone(),
            session: Some(session),
            task,
            status: match other.info.status {
                SessionStatus::Waiting => ActivityStatus::NeedsYou,
                // Only that process knows whether the turn waits for a permit.
                SessionStatus::Running | SessionStatus::Idle | SessionStatus::Failed => {
                    ActivityStatus::Working
                }
            },
            since,
            steps: Some(steps),
            spending: Some(inputs.spent.get(&session).copied().unwrap_or_default()),
            process,
        }
    });
    let commands = other.commands.iter().map(move |command| {
        let origin = ActivityOrigin { session, title: other.info.title.clone() };
        ActivityRow { process, ..command_row(session, origin, command) }
    });
    turn.into_iter().chain(commands)
}

fn command_row(session: SessionId, origin: ActivityOrigin, command: &BackgroundCommand) -> ActivityRow {
    ActivityRow {
        id: ActivityId::Command { session, handle: command.handle.clone() },
        name: command.command.clone(),
        of: Some(origin),
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

/// Returns the session the work belongs to, with its current title if known.
fn origin(session: SessionId, lines: &BTreeMap<SessionId, SessionActivity>, title: &str) -> ActivityOrigin {
    let now = lines.get(&session).map(|activity| activity.title.as_str());
    ActivityOrigin { session, title: now.unwrap_or(title).to_owned() }
}

/// Returns the due runs that wait because the maximum number of runs is already in progress.
fn waiting_runs(inputs: &ActivityInputs) -> impl Iterator<Item = ActivityRow> {
    let now = inputs.schedule_time;
    let due = inputs.runs.iter().filter(move |run| match run.status {
        RunStatus::Waiting { until } => now.is_some_and(|now| until <= now),
        _ => false,
    });
    due.zip(0..).map(|(run, position)| ActivityRow {
        id: ActivityId::Task { run: run.id },
        name: run.name.clone(),
        of: None,
        folder: String::new(),
        session: None,
        task: Some(run.task.clone()),
        status: ActivityStatus::Queued { ahead: position },
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
