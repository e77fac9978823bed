//! Operations of the person and the agent on tasks.

use super::Schedule;
use crate::{base::Base, models::Models, prompt::AgentFiles};
use octo_protocol::{
    ApiError, Language, Millis, MissedAnswer, Profile, RemovedBy, RunCause, RunId, RunStatus, SessionId,
    Settings, SkipReason, Switch, TaskCard, TaskCards, TaskPlan, TaskPreview, TaskRun, TaskRuns, TaskState,
    TasksState,
};
use octo_runtime::blocking;
use octo_schedule::{
    TaskFile, blocks_other_runs, card, end_run, file, is_accepted, is_waiting_retry, own_zone, preview,
    replace_retry, run_of, unrunnable_reason,
};
use octo_skills::SkillWatch;
use octo_store::{RunRow, RunStopReason, Store, StoreError, TaskStateRow, Tx};
use octo_trash::HomeTrash;
use octo_workspace::Removal;
use std::{
    collections::HashMap,
    sync::{Arc, atomic::Ordering},
};

/// Maximum number of runs returned at once.
const RUNS: u32 = 200;
/// The period of the totals: thirty days.
const MONTH: Millis = 30 * 24 * 60 * 60 * 1_000;

/// The tasks of a home. Clones are one.
#[derive(Clone)]
pub(crate) struct HomeTasks(Arc<HomeTasksInner>);

struct HomeTasksInner {
    schedule: Schedule,
    base: Arc<Base>,
    models: Arc<Models>,
    agents: AgentFiles,
    trash: HomeTrash,
}

impl HomeTasks {
    /// Those of a home.
    pub(crate) fn new(base: Arc<Base>, models: Arc<Models>, agents: AgentFiles, trash: HomeTrash) -> Self {
        let schedule = Schedule::new(base.paths.home());
        Self(Arc::new(HomeTasksInner { schedule, base, models, agents, trash }))
    }

    /// What all parts of the application share of them.
    pub(crate) fn schedule(&self) -> &Schedule {
        &self.0.schedule
    }

    pub(super) fn store(&self) -> &Store {
        &self.0.base.store
    }

    pub(crate) fn models(&self) -> &Models {
        &self.0.models
    }

    pub(crate) fn language(&self) -> Language {
        self.0.base.preferences().language
    }

    pub(crate) fn preferences(&self) -> Settings {
        self.0.base.preferences()
    }

    /// Begins to watch the folder of tasks.
    pub(crate) fn watch_folder(&self) {
        let folder = self.schedule().files.folder().to_owned();
        if let Err(error) = octo_workspace::private_folder(&folder) {
            tracing::warn!(folder = %folder.display(), %error, "a folder of the home cannot be made");
        }
        let weak = Arc::downgrade(&self.0);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let watch = SkillWatch::folders(std::iter::once(folder.as_path()), move || {
            let _in = runtime.enter();
            if let Some(inner) = weak.upgrade() {
                Self(inner).notify_change();
            }
        });
        match watch {
            Ok(watch) => {
                *self.schedule().watch.lock() = Some(watch);
            }
            Err(error) => tracing::warn!(%error, "changes of tasks are seen when they are looked at"),
        }
    }

    /// Loads the cost limits of runs begun by an earlier process, before their sessions resume.
    pub(crate) async fn load_limits(&self) -> Result<(), ApiError> {
        let open = self.store().read(|reader| reader.open_runs()).await?;
        for row in open {
            if let Some(session) = row.run.session {
                self.schedule().limit(session, row.budget);
            }
        }
        Ok(())
    }

    /// Returns the time of the schedule's clock.
    pub(crate) fn now(&self) -> Millis {
        self.0.base.clock.now()
    }

    /// Wakes the scheduler and notifies watchers of a change.
    pub(crate) fn notify_change(&self) {
        self.schedule().wake.notify_one();
        self.notify();
    }

    /// Notifies watchers of a change.
    pub(crate) fn notify(&self) {
        self.schedule().revision.fetch_add(1, Ordering::Relaxed);
        let tasks = self.clone();
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            if let Ok(state) = tasks.state().await {
                // It is not an error if no client is watching.
                let _nobody = tasks.schedule().updates.send(state);
            }
        });
    }

    /// Returns the state of all tasks.
    pub(crate) async fn state(&self) -> Result<TasksState, ApiError> {
        let (files, states) = (self.files().await?, self.states().await?);
        let open = self.store().read(|reader| reader.open_runs()).await?;
        let count =
            |predicate: fn(&RunStatus) -> bool| open.iter().filter(|row| predicate(&row.run.status)).count();
        // An unreadable one counts too: it does not run, and only the person can fix it.
        let unrunnable =
            files.iter().filter(|file| unrunnable_reason(file, states.get(&file.file)).is_some()).count();
        let waiting_count =
            count(|status| matches!(status, RunStatus::NeedsYou | RunStatus::Asked)) + unrunnable;
        Ok(TasksState {
            revision: self.schedule().revision.load(Ordering::Relaxed),
            running: to_u32(count(|status| matches!(status, RunStatus::Running))),
            waiting: to_u32(waiting_count),
        })
    }

    /// Returns all of them: first those that need the person, then by next time.
    pub(crate) async fn list(&self) -> Result<TaskCards, ApiError> {
        let (files, states) = (self.files().await?, self.states().await?);
        let result = self.store().read(|reader| Ok((reader.last_runs()?, reader.open_runs()?)));
        let (mut last_runs, open) = result.await?;
        let now = self.now();
        let mut tasks: Vec<TaskCard> = files
            .into_iter()
            .map(|file| {
                let (state, last_run) = (states.get(&file.file), last_runs.remove(&file.file));
                card(file, state, last_run, now)
            })
            .collect();
        let waits = |card: &TaskCard| {
            open.iter().any(|row| {
                row.run.task == card.file && matches!(row.run.status, RunStatus::NeedsYou | RunStatus::Asked)
            })
        };
        tasks.sort_by_cached_key(|card| {
            let needs_the_person = matches!(card.state, TaskState::Unseen | TaskState::Broken) || waits(card);
            let next_times = match card.state {
                TaskState::Active => card.next.first().copied(),
                TaskState::Paused | TaskState::Resting | TaskState::Broken | TaskState::Unseen => None,
            };
            (!needs_the_person, next_times.unwrap_or(Millis::MAX), card.file.clone())
        });
        let timing_choice = self.preferences().tasks.at_their_times;
        Ok(TaskCards { tasks, zone: own_zone(), at_their_times: timing_choice })
    }

    /// Returns one of them.
    pub(crate) async fn get(&self, task: String) -> Result<TaskCard, ApiError> {
        let file = self.file(task.clone()).await?;
        let result =
            self.store().read(move |reader| Ok((reader.task_state(&task)?, reader.last_run(&task)?)));
        let (state, last_run) = result.await?;
        Ok(card(file, Some(&state), last_run, self.now()))
    }

    /// Returns the preview of a plan.
    pub(crate) async fn preview(&self, plan: TaskPlan) -> Result<TaskPreview, ApiError> {
        let (tasks, now) = (self.clone(), self.now());
        blocking(move || {
            let profiles: Vec<Profile> =
                tasks.0.agents.profiles().into_iter().map(|info| info.profile).collect();
            Ok(preview(&plan, now, tasks.models(), &profiles))
        })
        .await
    }

    /// Writes a task the person has seen, which also accepts it.
    ///
    /// # Errors
    /// The first fault of the plan; `task.changed` if the file differs from the edited version.
    pub(crate) async fn save(
        &self,
        task: Option<String>,
        plan: TaskPlan,
        version: Option<String>,
    ) -> Result<TaskCard, ApiError> {
        let plan = normalise(plan);
        if let Some(fault) = self.preview(plan.clone()).await?.errors.into_iter().next() {
            return Err(fault.error);
        }
        let _one_at_a_time = self.schedule().write_lock.lock().await;
        let tasks = self.clone();
        let (file, hash, previous) = blocking(move || {
            let (files, models) = (&tasks.schedule().files, tasks.models());
            let (file, previous) = match task {
                None => (files.free_name(&plan.name), None),
                Some(file) => {
                    let previous = files.get(&file, models)?;
                    if version.as_deref() != Some(previous.version.as_str()) {
                        return Err(ApiError::new("task.changed").arg("file", &file));
                    }
                    (file, Some(previous))
                }
            };
            let known_text = previous
                .as_ref()
                .filter(|previous| previous.plan.is_ok())
                .map(|previous| previous.text.as_str());
            let text = file::text(&plan, known_text, models);
            files.write(&file, &text)?;
            let hash = file::version(text.as_bytes());
            // Its times continue from where they were, unless the timing changed.
            let old_plan = previous.and_then(|old_plan| old_plan.plan.ok());
            let unchanged =
                old_plan.filter(|old_plan| old_plan.when == plan.when && old_plan.zone == plan.zone);
            Ok((file, hash, unchanged))
        })
        .await?;
        self.accept_now(file.clone(), hash, previous.is_some()).await?;
        self.get(file).await
    }

    /// Accepts a task in the version the person saw, so that it may run.
    pub(crate) async fn accept(&self, task: String, version: &str) -> Result<TaskCard, ApiError> {
        let _one_at_a_time = self.schedule().write_lock.lock().await;
        let file = self.file(task.clone()).await?;
        if file.version != version {
            return Err(ApiError::new("task.changed").arg("file", &task));
        }
        file.plan?;
        self.accept_now(task.clone(), file.version, false).await?;
        self.get(task).await
    }

    async fn accept_now(&self, task: String, hash: String, keeps_time: bool) -> Result<(), ApiError> {
        let now = self.now();
        let accepted = self.store().write(move |tx| {
            let state = tx.task_state(&task)?;
            let decided_until = state.decided_until.filter(|_| keeps_time).or(Some(now));
            tx.put_task_state(&task, &TaskStateRow { on: state.on, accepted: Some(hash), decided_until })
        });
        accepted.await?;
        self.notify_change();
        Ok(())
    }

    /// Turns a task on or off. Times that passed while it was off are over.
    pub(crate) async fn switch(&self, task: String, on: Switch) -> Result<TaskCard, ApiError> {
        self.file(task.clone()).await?;
        let (now, name) = (self.now(), task.clone());
        let switched = self.store().write(move |tx| {
            let state = tx.task_state(&name)?;
            tx.put_task_state(&name, &TaskStateRow { on, decided_until: Some(now), ..state })
        });
        switched.await?;
        self.notify_change();
        self.get(task).await
    }

    /// Starts a run now. It begins in the process with the schedule: usually this one, at once.
    ///
    /// # Errors
    /// `task.unseen`, `task.broken`; `task.running` while a run of it is in progress or waits.
    pub(crate) async fn run_now(&self, task: String) -> Result<TaskRun, ApiError> {
        let file = self.file(task.clone()).await?;
        let state = self.store().read(move |reader| reader.task_state(&task)).await?;
        let is_accepted = is_accepted(&file, Some(&state));
        let task = file.file;
        let plan = file.plan.map_err(|_| ApiError::new("task.broken").arg("file", &task))?;
        if !is_accepted {
            return Err(ApiError::new("task.unseen").arg("name", &plan.name));
        }
        let now = self.now();
        let row = run_of(&task, &plan, RunCause::Hand, None, RunStatus::Waiting { until: now }, now);
        let run = row.run.clone();
        let added = self.store().write(move |tx| {
            if replace_waiting_retry(tx, &row, now)? { tx.add_run(&row) } else { Ok(false) }
        });
        if !added.await? {
            return Err(ApiError::new("task.running").arg("name", &plan.name));
        }
        self.notify_change();
        Ok(run)
    }

    /// Writes a paused copy of a task.
    pub(crate) async fn duplicate(&self, task: String) -> Result<TaskCard, ApiError> {
        let _one_at_a_time = self.schedule().write_lock.lock().await;
        let file = self.file(task.clone()).await?;
        let state = self.store().read(move |reader| reader.task_state(&task)).await?;
        // Copying does not accept a file the person has not seen.
        if !is_accepted(&file, Some(&state)) {
            return Err(ApiError::new("task.unseen").arg("name", &file.file));
        }
        let plan = file.plan?;
        let tasks = self.clone();
        let (file, hash) = blocking(move || {
            let (files, models) = (&tasks.schedule().files, tasks.models());
            let name = files.free_name(&plan.name);
            let text = file::text(&plan, None, models);
            files.write(&name, &text)?;
            Ok((name, file::version(text.as_bytes())))
        })
        .await?;
        let (name, now) = (file.clone(), self.now());
        let row = TaskStateRow { on: Switch::Off, accepted: Some(hash), decided_until: Some(now) };
        self.store().write(move |tx| tx.put_task_state(&name, &row)).await?;
        self.notify_change();
        self.get(file).await
    }

    /// Moves a task to the trash and stops its run.
    pub(crate) async fn delete(
        &self,
        task: String,
        remover: RemovedBy,
        session: Option<SessionId>,
    ) -> Result<(), ApiError> {
        let _one_at_a_time = self.schedule().write_lock.lock().await;
        let path = self.schedule().files.path(&task)?;
        let (target, name) = (path.clone(), task.clone());
        blocking(move || {
            let missing_error = |_| ApiError::new("task.missing").arg("file", &name);
            target.symlink_metadata().map(drop).map_err(missing_error)
        })
        .await?;
        let removal = Removal { remover, session, project: None, command: None };
        self.0.trash.move_in(path, removal).await?;
        let now = self.now();
        self.schedule().with_deletion_times(|deleted| deleted.insert(task.clone(), now));
        let result = self.store().write(move |tx| {
            // Its end is recorded: if it is restored, the times missed meanwhile are over.
            tx.set_task_decided(&task, Some(now))?;
            for row in tx.open_runs()?.into_iter().filter(|row| row.run.task == task) {
                tx.put_run(&stop_run(row, now))?;
            }
            Ok(())
        });
        result.await?;
        self.notify_change();
        Ok(())
    }

    /// Returns the runs of a task (of all tasks for `None`), newest first.
    pub(crate) async fn runs(
        &self,
        task: Option<String>,
        after_run: Option<RunId>,
        limit: u32,
    ) -> Result<TaskRuns, ApiError> {
        let since = self.now().saturating_sub(MONTH);
        let result = self.store().read(move |reader| {
            let runs = reader.runs(task.as_deref(), after_run, limit.min(RUNS))?;
            Ok(TaskRuns { runs, month: reader.run_totals(task.as_deref(), since)? })
        });
        result.await.map_err(ApiError::from)
    }

    /// Decides on a missed run that asks.
    pub(crate) async fn answer(&self, run: RunId, answer: MissedAnswer) -> Result<(), ApiError> {
        let now = self.now();
        let answered = self.store().write(move |tx| {
            let Some(row) = tx.run(run)?.filter(|row| row.run.status == RunStatus::Asked) else {
                return Ok(Err(ApiError::new("task.run_gone")));
            };
            match answer {
                MissedAnswer::Run => {
                    if !replace_waiting_retry(tx, &row, now)? {
                        return Ok(Err(ApiError::new("task.running").arg("name", &row.run.name)));
                    }
                    let mut row = row;
                    row.run.status = RunStatus::Waiting { until: now };
                    tx.put_run(&row)?;
                }
                MissedAnswer::Skip => {
                    let status = RunStatus::Skipped { reason: SkipReason::Declined };
                    tx.put_run(&end_run(&row, status, now))?;
                }
            }
            Ok(Ok(()))
        });
        answered.await??;
        self.notify_change();
        Ok(())
    }

    /// Stops a run in progress, or withdraws a waiting one.
    pub(crate) async fn stop(&self, run: RunId) -> Result<(), ApiError> {
        let now = self.now();
        let stopped = self.store().write(move |tx| match tx.run(run)? {
            Some(row) if row.run.ended_at.is_none() => tx.put_run(&stop_run(row, now)).map(|()| true),
            Some(_) | None => Ok(false),
        });
        if !stopped.await? {
            return Err(ApiError::new("task.run_gone"));
        }
        self.notify_change();
        Ok(())
    }

    /// Returns all files and their stored states, read while no file is written: a file that is being saved must not
    /// look like one that cannot run, whose times would be dropped.
    pub(crate) async fn files_and_states(
        &self,
    ) -> Result<(Vec<TaskFile>, HashMap<String, TaskStateRow>), ApiError> {
        let _whole = self.schedule().write_lock.lock().await;
        Ok((self.files().await?, self.states().await?))
    }

    /// Returns all current files.
    pub(super) async fn files(&self) -> Result<Vec<TaskFile>, ApiError> {
        let tasks = self.clone();
        blocking(move || Ok(tasks.schedule().files.list(tasks.models()))).await
    }

    pub(super) async fn file(&self, task: String) -> Result<TaskFile, ApiError> {
        let tasks = self.clone();
        blocking(move || tasks.schedule().files.get(&task, tasks.models())).await
    }

    pub(super) async fn states(&self) -> Result<HashMap<String, TaskStateRow>, ApiError> {
        self.store().read(|reader| reader.task_states()).await.map_err(ApiError::from)
    }
}

/// Returns whether a run may begin alongside the task's other runs. A waiting retry is replaced by it.
fn replace_waiting_retry(tx: &mut Tx<'_>, row: &RunRow, now: Millis) -> Result<bool, StoreError> {
    let other_runs: Vec<RunRow> =
        tx.open_runs()?.into_iter().filter(|other_run| other_run.run.task == row.run.task).collect();
    if other_runs.iter().any(blocks_other_runs) {
        return Ok(false);
    }
    for other_run in other_runs.iter().filter(|other_run| is_waiting_retry(other_run)) {
        tx.put_run(&replace_retry(other_run, row.run.due, now))?;
    }
    Ok(true)
}

/// Returns an unwanted run: ended if it has not begun, otherwise to be stopped.
fn stop_run(row: RunRow, now: Millis) -> RunRow {
    match row.run.status {
        RunStatus::Running | RunStatus::NeedsYou => {
            RunRow { stop_reason: row.stop_reason.or(Some(RunStopReason::Stopped)), ..row }
        }
        RunStatus::Asked => end_run(&row, RunStatus::Skipped { reason: SkipReason::Declined }, now),
        _ => end_run(&row, RunStatus::Stopped, now),
    }
}

/// Returns the plan in the form its file will have, so that the preview matches.
fn normalise(plan: TaskPlan) -> TaskPlan {
    TaskPlan {
        name: plan.name.split_whitespace().collect::<Vec<_>>().join(" "),
        prompt: plan.prompt.replace("\r\n", "\n").trim().to_owned(),
        ..plan
    }
}

fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
