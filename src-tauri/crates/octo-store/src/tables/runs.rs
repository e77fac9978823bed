//! `task_runs`: the runs of scheduled tasks, and the times at which a run was skipped.

use crate::{
    Reader, StoreError, Tx,
    column::{count, from_json, from_word, id, id_or_null, read_count, to_json, to_word},
};
use octo_protocol::{
    BudgetStop, Cost, Millis, Role, RunId, RunStatus, RunTotals, SessionId, SessionStatus, TaskRun, TurnEnd,
};
use rusqlite::{Row, params, types::Value};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The number of runs kept per task: five weeks of one every five minutes. Older ones are deleted; their
/// sessions stay.
const KEPT_RUNS: u32 = 10_000;
/// The length of the stored excerpt of the last answer, in characters.
const RESULT_CHARS: usize = 300;
/// The number of messages at the end of a session that are searched for its last answer.
const ANSWER_SEARCH_MESSAGES: u32 = 6;

/// A run, with the data that only the scheduler needs.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    /// The run as clients see it.
    pub run: TaskRun,
    /// The time in the schedule that triggered it; `None` for a run by hand and for a retry. A task has one run
    /// per time.
    pub scheduled_at: Option<Millis>,
    /// Its budget, as of its start.
    pub budget: Option<Cost>,
    /// Its limit in minutes of work, as of its start.
    pub minutes: u32,
    /// The time it has worked, in milliseconds, without the time it waited for the person.
    pub worked: Millis,
    /// Why it is being stopped; `None` if it is not.
    pub stop_reason: Option<RunStopReason>,
}

/// Why a run is being stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStopReason {
    /// The person stopped it.
    Stopped,
    /// It exceeded its time limit.
    TimedOut,
    /// It reached its budget.
    OverBudget,
}

/// The state of a session, for observers outside it.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionDigest {
    /// Its current status.
    pub status: SessionStatus,
    /// How its last turn ended; `None` while it runs.
    pub end: Option<TurnEnd>,
    /// The budget at which it waits.
    pub budget: Option<BudgetStop>,
    /// Its total cost, sub-agents included.
    pub cost: Cost,
    /// The first words of its last answer.
    pub answer: Option<String>,
}

/// The columns [`run`] reads, in its order.
macro_rules! run_columns {
    () => {
        "id, task, name, cause_json, due, started_at, ended_at, status_json, \
         (SELECT id FROM sessions WHERE sessions.id = task_runs.session AND deleted_at IS NULL), \
         cost, result, slot, budget, minutes, worked, ending"
    };
}

fn run(row: &Row<'_>) -> Result<RunRow, StoreError> {
    Ok(RunRow {
        run: TaskRun {
            id: id(row, 0)?,
            task: row.get(1)?,
            name: row.get(2)?,
            cause: from_json(row, 3)?,
            due: row.get(4)?,
            started_at: row.get(5)?,
            ended_at: row.get(6)?,
            status: from_json(row, 7)?,
            session: id_or_null(row, 8)?,
            cost: Cost::from_nano_dollars(read_count(row, 9)?),
            result: row.get(10)?,
        },
        scheduled_at: row.get(11)?,
        budget: row.get::<_, Option<i64>>(12)?.map(|nano| Cost::from_nano_dollars(nano.unsigned_abs())),
        minutes: row.get(13)?,
        worked: row.get(14)?,
        stop_reason: row.get::<_, Option<String>>(15)?.map(from_word).transpose()?,
    })
}

impl Reader<'_> {
    /// Returns the runs that are not over, oldest first.
    pub fn open_runs(&self) -> Result<Vec<RunRow>, StoreError> {
        self.rows(
            concat!("SELECT ", run_columns!(), " FROM task_runs WHERE ended_at IS NULL ORDER BY key"),
            [],
            run,
        )
    }

    /// Returns one run.
    pub fn run(&self, id: RunId) -> Result<Option<RunRow>, StoreError> {
        self.row(concat!("SELECT ", run_columns!(), " FROM task_runs WHERE id = ?1"), [id.to_string()], run)
    }

    /// Returns runs of a task (of all tasks for `None`), newest first: those after a given run in this order,
    /// or from the newest on. Empty after an unknown run.
    pub fn runs(
        &self,
        task: Option<&str>,
        after: Option<RunId>,
        limit: u32,
    ) -> Result<Vec<TaskRun>, StoreError> {
        let position = |row: &Row<'_>| Ok((row.get::<_, Millis>(0)?, row.get::<_, i64>(1)?));
        let (due, key) = match after {
            None => (Millis::MAX, i64::MAX),
            Some(after) => {
                let position_of =
                    self.row("SELECT due, key FROM task_runs WHERE id = ?1", [after.to_string()], position)?;
                let Some(position) = position_of else { return Ok(Vec::new()) };
                position
            }
        };
        let rows = match task {
            Some(task) => self.rows(
                concat!(
                    "SELECT ",
                    run_columns!(),
                    " FROM task_runs WHERE task = ?1 AND (due, key) < (?2, ?3)
                      ORDER BY due DESC, key DESC LIMIT ?4"
                ),
                params![task, due, key, limit],
                run,
            ),
            None => self.rows(
                concat!(
                    "SELECT ",
                    run_columns!(),
                    " FROM task_runs WHERE (due, key) < (?1, ?2) ORDER BY due DESC, key DESC LIMIT ?3"
                ),
                params![due, key, limit],
                run,
            ),
        };
        Ok(rows?.into_iter().map(|row| row.run).collect())
    }

    /// Returns the run that determines a task's state: the one in progress, if any, else the one decided last.
    /// Not the one with the latest time: while a run waits for the person, later times are skipped, and a wrong
    /// clock gives times far in the future.
    pub fn last_run(&self, task: &str) -> Result<Option<TaskRun>, StoreError> {
        let found = self.row(
            concat!(
                "SELECT ",
                run_columns!(),
                " FROM task_runs WHERE key = coalesce(
                    (SELECT max(key) FROM task_runs WHERE task = ?1 AND ended_at IS NULL
                     AND (started_at IS NOT NULL OR json_extract(cause_json, '$.type') <> 'retry')),
                    (SELECT max(key) FROM task_runs WHERE task = ?1))"
            ),
            [task],
            run,
        )?;
        Ok(found.map(|row| row.run))
    }

    /// Returns the same for each task.
    pub fn last_runs(&self) -> Result<HashMap<String, TaskRun>, StoreError> {
        let tasks = self
            .rows("SELECT DISTINCT task FROM task_runs", [], |row| Ok(row.get::<_, String>(0)?))?
            .into_iter();
        tasks
            .filter_map(|task| self.last_run(&task).map(|run| run.map(|run| (task, run))).transpose())
            .collect()
    }

    /// Returns the outcomes of a task's runs (of all tasks for `None`) that were due from a moment on.
    pub fn run_totals(&self, task: Option<&str>, since: Millis) -> Result<RunTotals, StoreError> {
        let task = task.map_or(Value::Null, |task| Value::Text(task.to_owned()));
        let ended = self.rows(
            "SELECT status_json, cost FROM task_runs
             WHERE due >= ?2 AND (?1 IS NULL OR task = ?1)",
            params![task, since],
            |row| Ok((from_json::<RunStatus>(row, 0)?, Cost::from_nano_dollars(read_count(row, 1)?))),
        )?;
        let mut totals = RunTotals::default();
        for (status, cost) in ended {
            totals.cost += cost;
            match status {
                RunStatus::Finished => totals.finished += 1,
                RunStatus::Failed { .. }
                | RunStatus::TimedOut
                | RunStatus::OverBudget
                | RunStatus::Interrupted => totals.failed += 1,
                RunStatus::Skipped { .. } => totals.skipped += 1,
                RunStatus::Asked
                | RunStatus::Waiting { .. }
                | RunStatus::Running
                | RunStatus::NeedsYou
                | RunStatus::Stopped => {}
            }
        }
        Ok(totals)
    }

    /// Returns the state of a session; `None` if it does not exist or was deleted.
    pub fn session_digest(&self, session: SessionId) -> Result<Option<SessionDigest>, StoreError> {
        let Some(info) = self.session(session)? else { return Ok(None) };
        let key = self.require_key(session)?;
        let end = self.last_turn(key)?.and_then(|turn| turn.end);
        let page = self.page(session, None, ANSWER_SEARCH_MESSAGES)?;
        let answers = page.messages.iter().rev().filter(|message| message.role == Role::Assistant);
        let reply = answers.map(|message| message.text()).find(|text| !text.trim().is_empty());
        Ok(Some(SessionDigest {
            status: info.status,
            end,
            budget: self.suggestion_and_budget(key)?.1,
            cost: self.spending_of(key)?.cost,
            answer: reply.map(|text| excerpt(&text)),
        }))
    }
}

/// Returns the first words on one line.
fn excerpt(text: &str) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    one_line.chars().take(RESULT_CHARS).collect()
}

impl Tx<'_> {
    /// Adds a run. Returns whether it was added: a time in the schedule gets no second run.
    pub fn add_run(&mut self, row: &RunRow) -> Result<bool, StoreError> {
        let run = &row.run;
        let added = self.change(
            "INSERT INTO task_runs (id, task, name, cause_json, due, started_at, ended_at, status_json, session, cost,
               result, slot, budget, minutes, worked, ending)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
             ON CONFLICT (task, slot) WHERE slot IS NOT NULL DO NOTHING",
            params![
                run.id.to_string(),
                run.task,
                run.name,
                to_json(&run.cause)?,
                run.due,
                run.started_at,
                run.ended_at,
                to_json(&run.status)?,
                run.session.map(|id| id.to_string()),
                count(run.cost.as_nano_dollars()),
                run.result,
                row.scheduled_at,
                row.budget.map(|budget| count(budget.as_nano_dollars())),
                row.minutes,
                row.worked,
                row.stop_reason.as_ref().map(to_word).transpose()?,
            ],
        )?;
        if added > 0 {
            self.change(
                "DELETE FROM task_runs WHERE ended_at IS NOT NULL AND key IN (
                   SELECT key FROM task_runs WHERE task = ?1 ORDER BY due DESC, key DESC LIMIT -1 OFFSET ?2)",
                params![run.task, KEPT_RUNS],
            )?;
        }
        Ok(added > 0)
    }

    /// Replaces the data of a run. Its session stays if it has one.
    pub fn put_run(&mut self, row: &RunRow) -> Result<(), StoreError> {
        let run = &row.run;
        self.change_one(
            "the run",
            "UPDATE task_runs SET cause_json = ?2, due = ?3, started_at = ?4, ended_at = ?5, status_json = ?6,
               session = coalesce(?7, session), cost = ?8, result = ?9, budget = ?10, minutes = ?11, worked = ?12,
               ending = ?13
             WHERE id = ?1",
            params![
                run.id.to_string(),
                to_json(&run.cause)?,
                run.due,
                run.started_at,
                run.ended_at,
                to_json(&run.status)?,
                run.session.map(|id| id.to_string()),
                count(run.cost.as_nano_dollars()),
                run.result,
                row.budget.map(|budget| count(budget.as_nano_dollars())),
                row.minutes,
                row.worked,
                row.stop_reason.as_ref().map(to_word).transpose()?,
            ],
        )
    }
}
