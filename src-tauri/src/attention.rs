//! Follows activity and settings, and updates tray, notices, badge, shortcut and autostart accordingly.

use crate::{autostart, badge::Badge, notices, quick_ask, shell_state::ShellState, tray, windows};
use octo_core::{Octo, Subscription};
use octo_desktop::{NoticeCommand, NoticeSubject, SleepDetector, TICK};
use octo_protocol::{
    ApiError, DesktopSettings, Event, GetTask, Language, ListRuns, LiveTopic, Settings, Snapshot, Stop,
    StopAllActivity, StoredTopic, TaskContent, TaskNotifications, Update,
};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use tauri::{AppHandle, Manager as _};

/// Number of newest runs that are read: the most one request returns.
const RECENT_RUNS: u32 = 200;

/// Starts to follow.
pub(crate) fn follow(app: &AppHandle, octo: &Octo) {
    tauri::async_runtime::spawn(follow_settings(app.clone(), octo.clone()));
    tauri::async_runtime::spawn(follow_work(app.clone(), octo.clone()));
    tauri::async_runtime::spawn(follow_clocks(octo.clone()));
}

async fn follow_settings(app: AppHandle, octo: Octo) {
    let mut settings = match octo.subscribe(StoredTopic::Settings).await {
        Ok(settings) => settings,
        Err(error) => return tracing::warn!(%error, "the desktop's settings are not followed"),
    };
    let mut has_settings = false;
    while let Some(batch) = settings.next().await {
        let Some((settings, language)) = batch.iter().rev().find_map(settings_in) else { continue };
        let previous = app.state::<ShellState>().set_settings(settings.clone(), language);
        let is_first = !std::mem::replace(&mut has_settings, true);
        if is_first || previous.quick_ask != settings.quick_ask {
            quick_ask::listen(&app, settings.quick_ask.clone());
        }
        if is_first || previous.autostart != settings.autostart {
            autostart::keep(&app, settings.autostart);
        }
        tray::refresh(&app);
        #[cfg(target_os = "macos")]
        crate::menu::refresh(&app);
    }
}

fn settings_in(update: &Update) -> Option<(DesktopSettings, Language)> {
    let relevant = |settings: &Settings| Some((settings.desktop.clone(), settings.language));
    match update {
        Update::Snapshot { snapshot: Snapshot::Settings { snapshot, .. } } => relevant(&snapshot.settings),
        Update::Event { envelope } => match &envelope.event {
            Event::SettingsChanged { snapshot } => relevant(&snapshot.settings),
            _ => None,
        },
        _ => None,
    }
}

/// Current activity: sessions, task runs and other running work.
struct ActivityFeed {
    sessions: Subscription,
    tasks: Subscription,
    activity: Subscription,
}

impl ActivityFeed {
    async fn watch(octo: &Octo) -> Result<Self, ApiError> {
        Ok(Self {
            sessions: octo.subscribe(StoredTopic::Sessions).await?,
            tasks: octo.subscribe(LiveTopic::Tasks).await?,
            activity: octo.subscribe(LiveTopic::Activity).await?,
        })
    }

    async fn next(&mut self) -> Option<Vec<Update>> {
        tokio::select! {
            batch = self.sessions.next() => batch,
            batch = self.tasks.next() => batch,
            batch = self.activity.next() => batch,
        }
    }
}

async fn follow_work(app: AppHandle, octo: Octo) {
    let mut feed = match ActivityFeed::watch(&octo).await {
        Ok(feed) => feed,
        Err(error) => return tracing::warn!(%error, "the desktop does not follow what goes on"),
    };
    let mut badge = Badge::default();
    while let Some(batch) = feed.next().await {
        let work_before = app.state::<ShellState>().work();
        for update in &batch {
            for command in notice_commands(&app.state::<ShellState>(), &octo, update).await {
                let notifications = task_notifications(&octo, &command).await;
                notices::carry_out(&app, command.with_task_setting(notifications));
            }
        }
        let work = app.state::<ShellState>().work();
        if work != work_before {
            tray::refresh(&app);
            badge.show(&app, work.waiting_for_person()).await;
        }
    }
}

/// Returns the notification setting of the task an act is about; `None` if it is about no task or the task no
/// longer exists.
async fn task_notifications(octo: &Octo, command: &NoticeCommand) -> Option<TaskNotifications> {
    match command {
        NoticeCommand::Show { subject: NoticeSubject::Session(session), .. } => {
            octo.task_notifications(*session).await
        }
        NoticeCommand::Show { subject: NoticeSubject::Run(_), run, .. } => {
            let task = run.as_ref()?.task.clone();
            match octo.call(GetTask { task }).await.ok()?.content {
                TaskContent::Plan { plan } => Some(plan.tell),
                TaskContent::Broken { .. } => None,
            }
        }
        NoticeCommand::Withdraw { .. } => None,
    }
}

async fn notice_commands(shell: &ShellState, octo: &Octo, update: &Update) -> Vec<NoticeCommand> {
    match update {
        Update::Snapshot { snapshot: Snapshot::Sessions { sessions, .. } } => {
            let mut acts = run_commands(shell, octo).await;
            acts.extend(shell.replace_sessions(sessions));
            acts
        }
        Update::Event { envelope } => match &envelope.event {
            Event::SessionListed { info } => {
                // The run reports its own end, and that report may not have arrived yet.
                let mut acts =
                    if shell.needs_runs_first(info) { run_commands(shell, octo).await } else { Vec::new() };
                acts.extend(shell.update_session(info));
                acts
            }
            Event::SessionRemoved { id } => shell.remove_session(*id).into_iter().collect(),
            _ => Vec::new(),
        },
        Update::Snapshot { snapshot: Snapshot::Tasks { .. } } | Update::Tasks { .. } => {
            run_commands(shell, octo).await
        }
        Update::Snapshot { snapshot: Snapshot::Activity { state } } | Update::Activity { state } => {
            shell.set_activity(&state.rows);
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// Returns the acts for new task runs.
async fn run_commands(state: &ShellState, octo: &Octo) -> Vec<NoticeCommand> {
    match octo.call(ListRuns { task: None, after: None, limit: RECENT_RUNS }).await {
        Ok(runs) => state.update_runs(&runs.runs),
        Err(error) => {
            tracing::warn!(%error, "the runs of tasks could not be looked at; the next change does");
            Vec::new()
        }
    }
}

/// Notifies the core after the machine slept.
async fn follow_clocks(octo: Octo) {
    let started = Instant::now();
    let wall = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut detector = SleepDetector::new(wall(), started.elapsed());
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    ticks.tick().await;
    loop {
        ticks.tick().await;
        if let Some(sleep) = detector.tick(wall(), started.elapsed()) {
            tracing::info!(seconds = sleep.as_secs(), "the machine slept");
            octo.handle_wake_up();
        }
    }
}

/// Checks which window has the person's attention.
pub(crate) fn update_focus(app: &AppHandle) {
    let number = windows::focused(app).and_then(|window| windows::number(window.label()));
    if let Some(command) = app.state::<ShellState>().set_focused_window(number) {
        notices::carry_out(app, command);
    }
}

/// Stops everything that runs or waits: first the work of this process, then the sessions that have waited
/// since an earlier start.
pub(crate) fn stop_all(app: &AppHandle, octo: Octo) {
    let sessions = app.state::<ShellState>().stop_all();
    tauri::async_runtime::spawn(async move {
        if let Err(error) = octo.call(StopAllActivity {}).await {
            tracing::warn!(%error, "not everything was stopped");
        }
        for session in sessions {
            if let Err(error) = octo.call(Stop { session }).await {
                tracing::warn!(%session, %error, "a session was not stopped");
            }
        }
    });
}
