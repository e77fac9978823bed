//! The window's end and Octo's: what closing does is as the person chose, and running work is let go in good order,
//! but the end is not held up for it.

use crate::{
    attention,
    desk::{Desk, run_errand},
    quick_ask,
    setup::Core,
    windows,
};
use octo_desktop::CloseStep;
use octo_protocol::Errand;
use std::time::Duration;
use tauri::{AppHandle, CloseRequestApi, Manager as _, RunEvent, WindowEvent};

/// How long the end waits for the core. What was finished is stored by then; a kill after this loses no more
/// than a power cut would, and the next start repairs that.
const PATIENCE: Duration = Duration::from_secs(3);

/// Where the end of the application stands.
#[derive(Default)]
pub(crate) enum Closing {
    /// Nobody asked for it.
    #[default]
    Open,
    /// The core is being let go; the next request to exit is our own.
    LettingGo,
}

impl Closing {
    /// Follows the application's events.
    pub(crate) fn on(&mut self, app: &AppHandle, event: &RunEvent) {
        match event {
            RunEvent::WindowEvent { label, event, .. } => on_window(app, label, event),
            RunEvent::ExitRequested { code, api, .. } => match self {
                Self::LettingGo => {}
                // It cannot be held up: `restart` let the core go before.
                Self::Open if *code == Some(tauri::RESTART_EXIT_CODE) => *self = Self::LettingGo,
                Self::Open => {
                    api.prevent_exit();
                    *self = Self::LettingGo;
                    let_go(app, code.unwrap_or(0));
                }
            },
            #[cfg(target_os = "macos")]
            RunEvent::Reopen { .. } => windows::bring_to_front(app),
            #[cfg(target_os = "macos")]
            RunEvent::Opened { urls } => {
                crate::links::opened(app, urls.iter().map(tauri::Url::as_str), std::path::Path::new("/"));
            }
            _ => {}
        }
    }
}

fn let_go(app: &AppHandle, code: i32) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        let_core_go(&app).await;
        app.exit(code);
    });
}

/// Ends Octo and starts it anew.
pub(crate) fn restart(app: &AppHandle) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        let_core_go(&app).await;
        app.request_restart();
    });
}

/// The same for one who cannot wait otherwise, in whatever thread.
pub(crate) fn let_core_go_now(app: &AppHandle) {
    let app = app.clone();
    let gone = std::thread::spawn(move || tauri::async_runtime::block_on(let_core_go(&app))).join();
    if gone.is_err() {
        tracing::error!("letting the core go broke");
    }
}

/// What runs is stopped and written down.
async fn let_core_go(app: &AppHandle) {
    let core = app.try_state::<Core>().and_then(|core| core.running());
    if let Some(octo) = core
        && tokio::time::timeout(PATIENCE, octo.shutdown()).await.is_err()
    {
        tracing::warn!(?PATIENCE, "the core did not end in time");
    }
}

fn on_window(app: &AppHandle, label: &str, event: &WindowEvent) {
    match event {
        WindowEvent::Focused(_) if windows::number(label).is_some() => attention::look(app),
        WindowEvent::CloseRequested { api, .. } if label == windows::MAIN => close(app, api),
        // Its frame has no button, but systems have keys.
        WindowEvent::CloseRequested { api, .. } if label == quick_ask::QUICK => {
            api.prevent_close();
            quick_ask::leave(app);
        }
        WindowEvent::Destroyed => windows::left(app, label),
        _ => {}
    }
}

/// The person closes the window.
fn close(app: &AppHandle, api: &CloseRequestApi) {
    match app.state::<Desk>().close() {
        CloseStep::Ask(back) => {
            api.prevent_close();
            run_errand(app, Errand::AskClosing { back });
        }
        CloseStep::Hide => {
            api.prevent_close();
            hide(app);
        }
        // With its last window the application ends.
        CloseStep::Quit => {
            for (label, window) in app.webview_windows() {
                if label != windows::MAIN
                    && let Err(error) = window.destroy()
                {
                    tracing::warn!(%error, label, "a window did not go");
                }
            }
        }
    }
}

/// The window goes; Octo goes on without it.
pub(crate) fn hide(app: &AppHandle) {
    app.state::<Desk>().hid();
    if let Some(window) = app.get_webview_window(windows::MAIN)
        && let Err(error) = window.hide()
    {
        tracing::warn!(%error, "the window was not hidden");
    }
    #[cfg(target_os = "linux")]
    crate::resident::give_back_soon();
    attention::look(app);
}
