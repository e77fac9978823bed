//! The loop of the scheduler. It checks the tasks when a scheduled time is reached, when something changed, when
//! a followed session had an event, and at least every [`MAX_INTERVAL`], so that it notices when the computer
//! slept or its clock changed. If only the timer woke it, no run is open and nothing is due, it reads nothing and
//! waits again ([`QuietPeriod`]).
//!
//! Of all processes on a home, the one with the schedule's lease does this. The others only check whether that
//! process has ended, and notify their watchers of its stored changes. [`decide`] decides the actions of each
//! check.

use super::{Scheduler, SchedulerState};
use crate::schedule::check_lease;
use octo_protocol::{
    ApiError, Envelope, ErrorCode, Event, Millis, RunCause, RunId, RunStatus, SessionId, SkipReason,
    StoredTopic, Switch, TaskPlan,
};
use octo_schedule::{
    CheckKind, QuietPeriod, RunSessionAction, TaskFile, TaskInputs, TimesDecision, ZonedTiming, decide,
    end_run, follow, is_accepted, is_starting, skip_times, unrunnable_reason,
};
use octo_store::{LeaseOutcome, RunRow, SessionDigest, TaskStateRow, probe};
use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Weak},
    time::Duration,
};
use tokio::sync::{
    broadcast::{Receiver, error::RecvError},
    watch,
};

/// Maximum time between two checks.
const MAX_INTERVAL: Duration = Duration::from_secs(30);
/// Minimum time between two checks.
const MIN_INTERVAL: Duration = Duration::from_millis(200);
const MINUTE: Millis = 60 * 1_000;
/// Maximum delay before a retry that a plan may specify: a day.
const MAX_RETRY_DELAY: Millis = 24 * 60 * MINUTE;
/// The reason for skipping a run when the day's budget is used up.
const DAY_BUDGET: &str = "task.day_budget";

/// Starts and follows the runs of tasks for as long as the application runs.
pub(super) struct SchedulerLoop {
    scheduler: Weak<Scheduler>,
    check_kind: CheckKind,
    /// The steady clock at the last check.
    steady: Duration,
    followed: HashSet<SessionId>,
    /// Sessions among them whose turn was waiting for a permit at the last check.
    queued: HashSet<SessionId>,
    /// The state stored by the process with the lease, as read at this process's last check.
    last_seen: Option<StoredSchedule>,
    /// Signals that another process stored something.
    other_processes: watch::Receiver<u64>,
    quiet: Option<QuietPeriod>,
}

/// The cause of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CheckCause {
    /// The wait ended.
    Time,
    /// An event, or the start.
    Event,
}

type StoredSchedule = (Vec<RunRow>, HashMap<String, TaskStateRow>, Vec<octo_protocol::TaskRun>);

/// The data of one check.
struct CheckInputs {
    now: Millis,
    elapsed: Millis,
    files: Vec<TaskFile>,
    states: HashMap<String, TaskStateRow>,
    open: Vec<RunRow>,
}

impl SchedulerLoop {
    /// Starts the loop, which runs until the application ends.
    pub(super) fn begin(scheduler: &Arc<Scheduler>) {
        let closing = scheduler.base.shutdown.clone();
        let (wake, clock) = (scheduler.tasks.schedule().wake(), Arc::clone(&scheduler.base.clock));
        let mut events = scheduler.base.store.published();
        let mut scheduler_loop = Self {
            scheduler: Arc::downgrade(scheduler),
            check_kind: CheckKind::First,
            steady: clock.steady(),
            followed: HashSet::new(),
            queued: HashSet::new(),
            last_seen: None,
            other_processes: scheduler.base.other_processes.watch(),
            quiet: None,
        };
        tokio::spawn(async move {
            let mut cause = CheckCause::Event;
            loop {
                // Not kept during the wait, so that a dropped application can end.
                let Some(scheduler) = scheduler_loop.scheduler.upgrade() else { return };
                let wait = tokio::select! {
                    () = closing.cancelled() => return,
                    wait = scheduler_loop.check_if_due(&scheduler, cause) => wait,
                };
                drop(scheduler);
                let delay = wait.unwrap_or_else(|error| {
                    tracing::warn!(%error, "tasks could not be looked at; it is tried again");
                    MAX_INTERVAL
                });
                cause = tokio::select! {
                    () = closing.cancelled() => return,
                    () = clock.wait(delay.clamp(MIN_INTERVAL, MAX_INTERVAL)) => CheckCause::Time,
                    () = wake.notified() => CheckCause::Event,
                    () = wait_for_event(&mut events, &scheduler_loop.followed) => CheckCause::Event,
                }
            }
        });
    }

    /// Makes a check if it is necessary. Returns the time until the next one is needed.
    async fn check_if_due(&mut self, scheduler: &Scheduler, cause: CheckCause) -> Result<Duration, ApiError> {
        // Before anything is read: changes stored from here on cause another check.
        let other_changed = self.other_processes.has_changed().unwrap_or(true);
        self.other_processes.mark_unchanged();
        let quiet = self.quiet.take().filter(|_| cause == CheckCause::Time && !other_changed);
        let now = scheduler.base.clock.now();
        if let Some(mut quiet) = quiet
            && let Some(remaining) = quiet.remaining(now)
        {
            self.steady = scheduler.base.clock.steady();
            self.quiet = Some(quiet);
            return Ok(remaining);
        }
        self.check(scheduler).await
    }

    async fn check(&mut self, scheduler: &Scheduler) -> Result<Duration, ApiError> {
        // First of all: events from here on cause another check.
        let steady = scheduler.base.clock.steady();
        let elapsed = Millis::try_from(steady.saturating_sub(self.steady).as_millis()).unwrap_or(Millis::MAX);
        self.steady = steady;
        let state = scheduler.state.lock().await;
        if *state == SchedulerState::Closed {
            return Ok(MAX_INTERVAL);
        }
        let tasks = &scheduler.tasks;
        if !self.has_lease(scheduler).await? {
            self.check_kind = CheckKind::First;
            self.followed.clear();
            self.report_other_process(scheduler).await?;
            return Ok(MAX_INTERVAL);
        }
        let open = scheduler.base.store.read(|reader| reader.open_runs()).await?;
        let (files, states) = tasks.files_and_states().await?;
        let states = match scheduler.base.preferences().tasks.at_their_times {
            Switch::On => states,
            Switch::Off => states.into_iter().map(paused).collect(),
        };
        let mut inputs = CheckInputs { now: tasks.now(), elapsed, files, states, open };
        let mut changed = self.claim(scheduler, &mut inputs).await?;
        self.check_kind = CheckKind::Later;
        changed |= self.begin_runs(scheduler, &inputs).await?;
        changed |= self.follow_runs(scheduler, &inputs).await?;
        if changed {
            tasks.notify();
        }
        self.wait(scheduler, &inputs).await
    }

    async fn has_lease(&self, scheduler: &Scheduler) -> Result<bool, ApiError> {
        let (store, holder) = (&scheduler.base.store, scheduler.base.lease.clone());
        let holder_now = store.read(|reader| reader.schedule_lease()).await?;
        if holder_now.is_some_and(|holder_now| holder_now.token == holder.token) {
            return Ok(true);
        }
        let result = store.write(move |tx| tx.take_schedule_lease(&holder, probe)).await;
        match result? {
            LeaseOutcome::Taken | LeaseOutcome::TakenOver(_) => Ok(true),
            LeaseOutcome::HeldBy(_) => Ok(false),
        }
    }

    /// Reports changes made by another process, which does the work.
    async fn report_other_process(&mut self, scheduler: &Scheduler) -> Result<(), ApiError> {
        let result = scheduler
            .base
            .store
            .read(|reader| Ok((reader.open_runs()?, reader.task_states()?, reader.runs(None, None, 1)?)));
        let stored_schedule = Some(result.await?);
        if self.last_seen.is_some() && self.last_seen != stored_schedule {
            scheduler.tasks.notify();
        }
        self.last_seen = stored_schedule;
        Ok(())
    }

    /// Decides on all times up to now and stores the results.
    async fn claim(&self, scheduler: &Scheduler, inputs: &mut CheckInputs) -> Result<bool, ApiError> {
        let mut decisions: Vec<(String, TimesDecision)> = Vec::new();
        let mut changed_tasks: Vec<(String, Option<RunRow>)> = Vec::new();
        for (task, state) in &inputs.states {
            let file = inputs.files.iter().find(|file| file.file == *task);
            let runnable = file.and_then(|file| runnable(file, Some(state)));
            match runnable {
                Some((plan, times)) => {
                    let open: Vec<RunRow> =
                        inputs.open.iter().filter(|row| row.run.task == *task).cloned().collect();
                    let task_inputs = TaskInputs {
                        task,
                        plan,
                        times: &times,
                        on: state.on,
                        decided_until: state.decided_until,
                        open_runs: &open,
                    };
                    let decision = decide(&task_inputs, inputs.now, self.check_kind);
                    if decision != TimesDecision::default() {
                        decisions.push((task.clone(), decision));
                    }
                }
                // Times missed while it cannot run have passed; the reason is reported once.
                None if state.decided_until.is_some() => {
                    let problem = file.and_then(|file| Some((file, unrunnable_reason(file, Some(state))?)));
                    let skip_record = problem.filter(|_| state.on == Switch::On).map(|(file, error)| {
                        let name = file.plan.as_ref().map_or(task, |plan| &plan.name);
                        skip_times(task, name, error, inputs.now)
                    });
                    changed_tasks.push((task.clone(), skip_record));
                }
                None => {}
            }
        }
        if decisions.is_empty() && changed_tasks.is_empty() {
            return Ok(false);
        }
        let token = scheduler.base.lease.token.clone();
        let claimed = scheduler.base.store.write(move |tx| {
            check_lease(tx, &token)?;
            let mut changed = false;
            for (task, skip_record) in changed_tasks {
                tx.set_task_decided(&task, None)?;
                if let Some(row) = skip_record {
                    changed |= tx.add_run(&row)?;
                }
            }
            for (task, decision) in decisions {
                for row in &decision.changed {
                    tx.put_run(row)?;
                    changed = true;
                }
                let mut has_begun = false;
                for row in &decision.added {
                    let added = tx.add_run(row)?;
                    changed |= added;
                    has_begun |= added && is_starting(row);
                }
                // A time that already had its run replaces nothing.
                for row in decision.replaced_retries.iter().filter(|_| has_begun) {
                    tx.put_run(row)?;
                }
                if decision.decided_until.is_some() {
                    tx.set_task_decided(&task, decision.decided_until)?;
                }
            }
            Ok((changed, tx.open_runs()?))
        });
        let (changed, open) = claimed.await?;
        inputs.open = open;
        Ok(changed)
    }

    /// Begins the due runs, up to the limit.
    async fn begin_runs(&self, scheduler: &Scheduler, inputs: &CheckInputs) -> Result<bool, ApiError> {
        let mut busy: HashSet<&str> =
            inputs.open.iter().filter(|row| is_in_progress(row)).map(|row| row.run.task.as_str()).collect();
        // A run that waits for the person does not count.
        let running = inputs.open.iter().filter(|row| row.run.status == RunStatus::Running).count();
        // As many as the person allows to work at once; the turn limiter counts their turns.
        let limit = scheduler.base.preferences().live_turns.effective() as usize;
        let mut free_slots = limit.saturating_sub(running);
        let mut changed = false;
        for row in &inputs.open {
            let RunStatus::Waiting { until } = row.run.status else { continue };
            // A clock that was set back must not delay a run for longer than its plan says.
            let is_early = until > inputs.now && until.saturating_sub(inputs.now) <= MAX_RETRY_DELAY;
            if is_early || busy.contains(row.run.task.as_str()) {
                continue;
            }
            if free_slots == 0 {
                break;
            }
            match self.begin_run(scheduler, inputs, row).await {
                Ok(()) => {
                    free_slots -= 1;
                    busy.insert(&row.run.task);
                    changed = true;
                }
                // Nothing was stored: it will be retried.
                Err(error) if error.is_store_error() => return Err(error),
                Err(error) => {
                    let reason = match error.key.as_str() {
                        DAY_BUDGET => SkipReason::DayBudget,
                        _ => SkipReason::CouldNotStart { error },
                    };
                    let row = end_run(row, RunStatus::Skipped { reason }, inputs.now);
                    scheduler.base.store.write(move |tx| tx.put_run(&row)).await?;
                    changed = true;
                }
            }
        }
        Ok(changed)
    }

    async fn begin_run(
        &self,
        scheduler: &Scheduler,
        inputs: &CheckInputs,
        row: &RunRow,
    ) -> Result<(), ApiError> {
        let task = &row.run.task;
        let file = inputs.files.iter().find(|file| file.file == *task);
        let file = file.ok_or_else(|| ApiError::new("task.missing").arg("file", task))?;
        let plan = file.plan.as_ref().map_err(Clone::clone)?;
        if !is_accepted(file, inputs.states.get(task)) {
            return Err(ApiError::new("task.unseen").arg("name", &plan.name));
        }
        if row.run.cause != RunCause::Hand && scheduler.is_day_spent().await? {
            return Err(ApiError::new(DAY_BUDGET));
        }
        scheduler.start_run(plan, row, inputs.now).await
    }

    /// Follows the runs in progress.
    async fn follow_runs(&mut self, scheduler: &Scheduler, inputs: &CheckInputs) -> Result<bool, ApiError> {
        let store = &scheduler.base.store;
        let open = store.read(|reader| reader.open_runs()).await?;
        let known_runs: HashSet<RunId> =
            inputs.open.iter().filter(|row| is_in_progress(row)).map(|row| row.run.id).collect();
        self.followed =
            open.iter().filter(|row| is_in_progress(row)).filter_map(|row| row.run.session).collect();
        let is_queued = |session: &SessionId| scheduler.runtime.board.is_queued(*session);
        let queued: HashSet<SessionId> = self.followed.iter().copied().filter(is_queued).collect();
        let waited = std::mem::replace(&mut self.queued, queued.clone());
        let mut changed = false;
        for row in open.iter().filter(|row| is_in_progress(row)) {
            // A turn waiting for a permit is not working.
            let waits =
                row.run.session.is_some_and(|session| queued.contains(&session) || waited.contains(&session));
            let elapsed = if known_runs.contains(&row.run.id) && !waits { inputs.elapsed } else { 0 };
            let digest = match row.run.session {
                Some(session) => {
                    let result = store.read(move |reader| reader.session_digest(session)).await;
                    result?
                }
                None => None,
            };
            if let (Some(session), Some(SessionDigest { end: None, .. })) = (row.run.session, &digest) {
                self.resume_session(scheduler, session).await;
            }
            let file = inputs.files.iter().find(|file| file.file == row.run.task);
            let plan = file.and_then(|file| {
                let state = inputs.states.get(&file.file);
                let on = state.is_some_and(|state| state.on == Switch::On);
                file.plan.as_ref().ok().filter(|_| on && is_accepted(file, state))
            });
            let update = follow(row, digest.as_ref(), elapsed, plan, inputs.now);
            changed |= self.store_followed(scheduler, row, update.row.clone(), update.retry).await?;
            if update.session == RunSessionAction::Stop
                && let Some(session) = row.run.session
                && let Err(error) = scheduler.sessions.stop(session).await
            {
                // It may be in use elsewhere: the next check tries again.
                tracing::warn!(%session, %error, "the session of a run is not stopped yet");
            }
        }
        Ok(changed)
    }

    /// Resumes a session whose actor has ended (its process ended, or it could not be stored).
    async fn resume_session(&self, scheduler: &Scheduler, session: SessionId) {
        match scheduler.sessions.open(session).await {
            Ok(_) => {}
            Err(error) if error.code == Some(ErrorCode::InUse) => {}
            Err(error) => tracing::warn!(%session, %error, "the session of a run is not open"),
        }
    }

    /// Persists a run's progress. Returns whether watchers should be notified.
    async fn store_followed(
        &self,
        scheduler: &Scheduler,
        old: &RunRow,
        new: RunRow,
        retry: Option<RunRow>,
    ) -> Result<bool, ApiError> {
        if *old == new {
            return Ok(false);
        }
        if let (Some(_), Some(session)) = (new.run.ended_at, old.run.session) {
            scheduler.tasks.schedule().limit(session, None);
        }
        let changed = old.run != new.run;
        let token = scheduler.base.lease.token.clone();
        let result = scheduler.base.store.write(move |tx| {
            check_lease(tx, &token)?;
            // The person may have stopped it since it was read.
            let stop_reason = tx.run(new.run.id)?.and_then(|row| row.stop_reason).or(new.stop_reason);
            tx.put_run(&RunRow { stop_reason, ..new })?;
            if let Some(retry) = retry {
                tx.add_run(&retry)?;
            }
            Ok(())
        });
        result.await?;
        Ok(changed)
    }

    /// Returns the time until something is due.
    async fn wait(&mut self, scheduler: &Scheduler, inputs: &CheckInputs) -> Result<Duration, ApiError> {
        let open = scheduler.base.store.read(|reader| reader.open_runs()).await?;
        // Without a watcher the files themselves must be checked.
        let is_quiet = open.is_empty() && scheduler.tasks.schedule().is_watched();
        let runs = open.into_iter().filter_map(|row| match row.run.status {
            RunStatus::Waiting { until } => Some(until.saturating_sub(inputs.now)),
            RunStatus::Running => Some(Millis::from(row.minutes) * MINUTE - row.worked),
            _ => None,
        });
        // Runs waiting for a permit or being stopped are reported when they change.
        let runs = runs.filter(|time| *time > 0);
        // Includes paused tasks: a passed time is recorded, so that it does not count after they are resumed.
        let times = inputs.files.iter().filter_map(|file| {
            let (_, times) = runnable(file, inputs.states.get(&file.file))?;
            times.after(inputs.now).next().map(|time| time - inputs.now)
        });
        let next = runs.chain(times).min().unwrap_or(Millis::MAX);
        self.quiet = is_quiet.then(|| QuietPeriod::new(inputs.now, next));
        Ok(Duration::from_millis(u64::try_from(next.max(0)).unwrap_or(u64::MAX)))
    }
}

/// Returns the plan and times of a file, if it may be followed.
fn runnable<'a>(file: &'a TaskFile, state: Option<&TaskStateRow>) -> Option<(&'a TaskPlan, ZonedTiming)> {
    let plan = file.plan.as_ref().ok().filter(|_| is_accepted(file, state))?;
    Some((plan, ZonedTiming::new(&plan.when, &plan.zone).ok()?))
}

/// Returns the state as if the person had paused the task.
fn paused((task, state): (String, TaskStateRow)) -> (String, TaskStateRow) {
    (task, TaskStateRow { on: Switch::Off, ..state })
}

fn is_in_progress(row: &RunRow) -> bool {
    matches!(row.run.status, RunStatus::Running | RunStatus::NeedsYou)
}

/// Waits for an event of a followed session, or for missed events.
async fn wait_for_event(events: &mut Receiver<Arc<Envelope>>, watched: &HashSet<SessionId>) {
    loop {
        match events.recv().await {
            Ok(envelope) if matters(&envelope, watched) => return,
            Ok(_) => {}
            Err(RecvError::Lagged(_)) => return,
            // The store is closed: the application is ending and signals this itself.
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

fn matters(envelope: &Envelope, watched: &HashSet<SessionId>) -> bool {
    match (&envelope.topic, &envelope.event) {
        (_, Event::SessionRemoved { id }) => watched.contains(id),
        (
            StoredTopic::Session { id },
            Event::SessionChanged { .. }
            | Event::CallBilled { .. }
            | Event::QuestionAsked { .. }
            | Event::QuestionClosed { .. }
            | Event::BudgetReached { .. }
            | Event::BudgetAnswered
            | Event::TurnEnded { .. },
        ) => watched.contains(id),
        _ => false,
    }
}
