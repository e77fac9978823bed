//! Follows what goes on and what the person wants, and keeps tray, notices, badge, keys and autostart as that says.

use crate::{autostart, desk::Desk, notices, quick_ask, tray, windows};
use octo_core::Octo;
use octo_desktop::{Act, Attention, TICK, Waking};
use octo_protocol::{DesktopSettings, Event, Language, Settings, Snapshot, Stop, Topic, Update};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use tauri::{AppHandle, Manager as _};

/// Follows from now on.
pub(crate) fn follow(app: &AppHandle, octo: &Octo) {
    tauri::async_runtime::spawn(follow_settings(app.clone(), octo.clone()));
    tauri::async_runtime::spawn(follow_sessions(app.clone(), octo.clone()));
    tauri::async_runtime::spawn(follow_clocks(octo.clone()));
}

async fn follow_settings(app: AppHandle, octo: Octo) {
    let mut settings = match octo.subscribe(Topic::Settings).await {
        Ok(settings) => settings,
        Err(error) => return tracing::warn!(%error, "the desktop's settings are not followed"),
    };
    let mut heard = false;
    while let Some(batch) = settings.next().await {
        let Some((wanted, language)) = batch.iter().rev().find_map(chosen) else { continue };
        let before = app.state::<Desk>().set_settings(wanted.clone(), language);
        let first = !std::mem::replace(&mut heard, true);
        if first || before.quick_ask != wanted.quick_ask {
            quick_ask::listen(&app, wanted.quick_ask.clone());
        }
        if first || before.autostart != wanted.autostart {
            autostart::keep(&app, wanted.autostart);
        }
        tray::refresh(&app);
    }
}

fn chosen(update: &Update) -> Option<(DesktopSettings, Language)> {
    let of = |settings: &Settings| Some((settings.desktop.clone(), settings.language));
    match update {
        Update::Snapshot { snapshot: Snapshot::Settings { snapshot, .. } } => of(&snapshot.settings),
        Update::Event { envelope } => match &envelope.event {
            Event::SettingsChanged { snapshot } => of(&snapshot.settings),
            _ => None,
        },
        _ => None,
    }
}

async fn follow_sessions(app: AppHandle, octo: Octo) {
    let mut sessions = match octo.subscribe(Topic::Sessions).await {
        Ok(sessions) => sessions,
        Err(error) => return tracing::warn!(%error, "the desktop does not follow the sessions"),
    };
    while let Some(batch) = sessions.next().await {
        let before = app.state::<Desk>().work();
        for update in &batch {
            for act in acts(&app.state::<Desk>(), update) {
                if is_wanted(&octo, &act).await {
                    notices::carry_out(&app, act);
                }
            }
        }
        let work = app.state::<Desk>().work();
        if work != before {
            tray::refresh(&app);
            badge(&app, work.waiting);
        }
    }
}

/// Whether a task whose session it is has it told.
async fn is_wanted(octo: &Octo, act: &Act) -> bool {
    match act {
        Act::Show { session, kind, .. } => {
            octo.told_of(*session).await.is_none_or(|task| kind.is_news_of(task))
        }
        Act::Withdraw { .. } => true,
    }
}

fn acts(desk: &Desk, update: &Update) -> Vec<Act> {
    match update {
        Update::Snapshot { snapshot: Snapshot::Sessions { sessions, .. } } => desk.start_over(sessions),
        Update::Event { envelope } => match &envelope.event {
            Event::SessionListed { info } => desk.listed(info).into_iter().collect(),
            Event::SessionRemoved { id } => desk.removed(*id).into_iter().collect(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// How many sessions wait, at the application's icon. Not every desktop shows it.
fn badge(app: &AppHandle, waiting: usize) {
    let count = i64::try_from(waiting).ok().filter(|count| *count > 0);
    if let Some(window) = app.get_webview_window(windows::MAIN)
        && let Err(error) = window.set_badge_count(count)
    {
        tracing::debug!(%error, "this desktop shows no count at the icon");
    }
}

/// Tells the core when the machine slept.
async fn follow_clocks(octo: Octo) {
    let started = Instant::now();
    let wall = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut waking = Waking::new(wall(), started.elapsed());
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    ticks.tick().await;
    loop {
        ticks.tick().await;
        if let Some(slept) = waking.tick(wall(), started.elapsed()) {
            tracing::info!(seconds = slept.as_secs(), "the machine slept");
            octo.woke();
        }
    }
}

/// Looks where the person's attention is.
pub(crate) fn look(app: &AppHandle) {
    let here = app.get_webview_window(windows::MAIN).is_some_and(|window| {
        window.is_focused().unwrap_or(false)
            && window.is_visible().unwrap_or(false)
            && !window.is_minimized().unwrap_or(false)
    });
    let attention = if here { Attention::Here } else { Attention::Elsewhere };
    if let Some(act) = app.state::<Desk>().attend(attention) {
        notices::carry_out(app, act);
    }
}

/// Stops everything that runs or waits.
pub(crate) fn stop_all(app: &AppHandle, octo: Octo) {
    for session in app.state::<Desk>().stop_all() {
        let octo = octo.clone();
        tauri::async_runtime::spawn(async move {
            if let Err(error) = octo.call(Stop { session }).await {
                tracing::warn!(%session, %error, "a session was not stopped");
            }
        });
    }
}
