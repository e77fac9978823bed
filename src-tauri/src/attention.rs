//! Follows activity and settings, and updates tray, notifications, badge, shortcut and autostart accordingly.

use crate::{autostart, badge::Badge, notifications, quick_ask, shell_state::ShellState, tray, windows};
use octo_core::{Octo, Subscription};
use octo_desktop::{NotificationCommand, NotificationSubject, SleepDetector, TICK};
use octo_protocol::{
    ApiError, DesktopSettings, Event, GetTask, Language, ListRuns, LiveTopic, Settings, Snapshot, Stop,
    StopAllActivity, StoredTopic, TaskContent, TaskNotifications, Update,
};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use tauri::{AppHandle, Manager as _};

/// Number of newest runs that are read: the maximum that one request returns.
const RECENT_RUNS: u32 = 200;

/// Starts to follow activity, settings and the clock.
pub(crate) fn follow(app: &AppHandle, octo: &Octo) {
    tauri::async_runtime::spawn(follow_settings(app.clone(), octo.clone()));
    tauri::async_runtime::spawn(follow_work(app.clone(), octo.clone()));
    tauri::async_runtime::spawn(detect_sleep(octo.clone()));
}

async fn follow_settings(app: AppHandle, octo: Octo) {
    let mut settings = match octo.subscribe(StoredTopic::Settings).await {
        Ok(settings) => settings,
        Err(error) => return tracing::warn!(%error, "changes of the desktop settings are not followed"),
    };
    let mut has_settings = false;
    while let Some(batch) = settings.next().await {
        let Some((settings, language)) = batch.iter().rev().find_map(settings_in) else { continue };
        let previous = app.state::<ShellState>().set_settings(settings.clone(), language);
        let is_first = !std::mem::replace(&mut has_settings, true);
        if is_first || previous.quick_ask != settings.quick_ask {
            quick_ask::set_shortcut(&app, settings.quick_ask.clone());
        }
        if is_first || previous.autostart != settings.autostart {
            autostart::apply(&app, settings.autostart);
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
    async fn subscribe(octo: &Octo) -> Result<Self, ApiError> {
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
    let mut feed = match ActivityFeed::subscribe(&octo).await {
        Ok(feed) => feed,
        Err(error) => return tracing::warn!(%error, "activity is not followed"),
    };
    let mut badge = Badge::default();
    while let Some(batch) = feed.next().await {
        let work_before = app.state::<ShellState>().work();
        for update in &batch {
            for command in notification_commands(&app.state::<ShellState>(), &octo, update).await {
                let notifications = task_notifications(&octo, &command).await;
                notifications::carry_out(&app, command.with_task_setting(notifications));
            }
        }
        let work = app.state::<ShellState>().work();
        if work != work_before {
            tray::refresh(&app);
            badge.show(&app, work.waiting_for_person()).await;
        }
    }
}

/// Returns the notification setting of the task that a command concerns; `None` if it concerns no task or the
/// task no longer exists.
async fn task_notifications(octo: &Octo, command: &NotificationCommand) -> Option<TaskNotifications> {
    match command {
        NotificationCommand::Show { subject: NotificationSubject::Session(session), .. } => {
            octo.task_notifications(*session).await
        }
        NotificationCommand::Show { subject: NotificationSubject::Run(_), run, .. } => {
            let task = run.as_ref()?.task.clone();
            match octo.call(GetTask { task }).await.ok()?.content {
                TaskContent::Plan { plan } => Some(plan.tell),
                TaskContent::Broken { .. } => None,
            }
        }
        NotificationCommand::Withdraw { .. } => None,
    }
}

async fn notification_commands(shell: &ShellState, octo: &Octo, update: &Update) -> Vec<NotificationCommand> {
    match update {
        Update::Snapshot { snapshot: Snapshot::Sessions { sessions, .. } } => {
            let mut commands = commands_for_runs(shell, octo).await;
            commands.extend(shell.replace_sessions(sessions));
            commands
        }
        Update::Event { envelope } => match &envelope.event {
            Event::SessionListed { info } => {
                // The run reports its own end, and that report may not have arrived yet.
                let mut commands = if shell.needs_runs_first(info) {
                    commands_for_runs(shell, octo).await
                } else {
                    Vec::new()
                };
                commands.extend(shell.update_session(info));
                commands
            }
            Event::SessionRemoved { id } => shell.remove_session(*id).into_iter().collect(),
            _ => Vec::new(),
        },
        Update::Snapshot { snapshot: Snapshot::Tasks { .. } } | Update::Tasks { .. } => {
            commands_for_runs(shell, octo).await
        }
        Update::Snapshot { snapshot: Snapshot::Activity { state } } | Update::Activity { state } => {
            shell.set_activity(&state.rows);
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// Returns the notification commands for new runs of tasks.
async fn commands_for_runs(shell: &ShellState, octo: &Octo) -> Vec<NotificationCommand> {
    match octo.call(ListRuns { task: None, after: None, limit: RECENT_RUNS }).await {
        Ok(runs) => shell.update_runs(&runs.runs),
        Err(error) => {
            tracing::warn!(%error, "the runs of tasks could not be read; the next change tries again");
            Vec::new()
        }
    }
}

/// Notifies the core after the machine slept.
async fn detect_sleep(octo: Octo) {
    let started = Instant::now();
    let wall_time = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut detector = SleepDetector::new(wall_time(), started.elapsed());
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    ticks.tick().await;
    loop {
        ticks.tick().await;
        if let Some(sleep) = detector.tick(wall_time(), started.elapsed()) {
            tracing::info!(seconds = sleep.as_secs(), "the machine slept");
            octo.handle_wake_up();
        }
    }
}

/// Records which window has the focus.
pub(crate) fn update_focus(app: &AppHandle) {
    let number = windows::focused(app).and_then(|window| windows::number(window.label()));
    if let Some(command) = app.state::<ShellState>().set_focused_window(number) {
        notifications::carry_out(app, command);
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
