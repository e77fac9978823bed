//! Closes the window as the settings say, and exits the application: running work is stopped in good order, but
//! the exit does not wait long for it.

use crate::{
    attention, quick_ask,
    setup::Core,
    shell_state::{ShellState, open_in_window},
    windows,
};
use octo_desktop::CloseStep;
use octo_protocol::OpenRequest;
use std::time::Duration;
use tauri::{AppHandle, CloseRequestApi, Manager as _, RunEvent, WindowEvent};

/// Maximum time the exit waits for the core. Finished work is stored by then; a kill after this loses no more than
/// a power cut would, and the next start repairs that.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// Progress of the application's exit.
#[derive(Default)]
pub(crate) enum ExitState {
    /// No exit was requested.
    #[default]
    NotRequested,
    /// The core is shutting down; the next exit request comes from Octo itself.
    ShuttingDown,
}

impl ExitState {
    /// Handles an event of the application.
    pub(crate) fn handle(&mut self, app: &AppHandle, event: &RunEvent) {
        match event {
            RunEvent::WindowEvent { label, event, .. } => handle_window_event(app, label, event),
            RunEvent::ExitRequested { code, api, .. } => match self {
                Self::ShuttingDown => {}
                // A restart cannot be delayed: `restart` shut the core down before.
                Self::NotRequested if *code == Some(tauri::RESTART_EXIT_CODE) => *self = Self::ShuttingDown,
                Self::NotRequested => {
                    api.prevent_exit();
                    *self = Self::ShuttingDown;
                    shut_down_and_exit(app, code.unwrap_or(0));
                }
            },
            #[cfg(target_os = "macos")]
            RunEvent::Reopen { .. } => windows::bring_to_front(app),
            #[cfg(target_os = "macos")]
            RunEvent::Opened { urls } => {
                crate::links::handle_arguments(
                    app,
                    urls.iter().map(tauri::Url::as_str),
                    std::path::Path::new("/"),
                );
            }
            _ => {}
        }
    }
}

/// Shuts the core down, then exits with this code.
fn shut_down_and_exit(app: &AppHandle, code: i32) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        shut_core_down(&app).await;
        app.exit(code);
    });
}

/// Restarts Octo.
pub(crate) fn restart(app: &AppHandle) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        shut_core_down(&app).await;
        app.request_restart();
    });
}

/// Shuts the core down for a caller that can only block, on any thread.
pub(crate) fn shut_core_down_blocking(app: &AppHandle) {
    let app = app.clone();
    let outcome = std::thread::spawn(move || tauri::async_runtime::block_on(shut_core_down(&app))).join();
    if outcome.is_err() {
        tracing::error!("shutting the core down panicked");
    }
}

/// Shuts the core down: stops running work and stores it.
async fn shut_core_down(app: &AppHandle) {
    let core = app.try_state::<Core>().and_then(|core| core.running());
    if let Some(octo) = core
        && tokio::time::timeout(SHUTDOWN_TIMEOUT, octo.shutdown()).await.is_err()
    {
        tracing::warn!(?SHUTDOWN_TIMEOUT, "the core did not end in time");
    }
}

fn handle_window_event(app: &AppHandle, label: &str, event: &WindowEvent) {
    match event {
        WindowEvent::Focused(_) if windows::number(label).is_some() => attention::update_focus(app),
        WindowEvent::CloseRequested { api, .. } if label == windows::MAIN => close(app, api),
        // Its frame has no close button, but systems have shortcuts for it.
        WindowEvent::CloseRequested { api, .. } if label == quick_ask::QUICK => {
            api.prevent_close();
            quick_ask::hide_window(app);
        }
        WindowEvent::Destroyed => windows::handle_closed(app, label),
        _ => {}
    }
}

/// Handles a request to close the window.
fn close(app: &AppHandle, api: &CloseRequestApi) {
    match app.state::<ShellState>().close() {
        CloseStep::Ask(recovery) => {
            api.prevent_close();
            open_in_window(app, OpenRequest::AskClosing { back: recovery });
        }
        CloseStep::Hide => {
            api.prevent_close();
            hide(app);
        }
        // The application exits with its last window.
        CloseStep::Quit => {
            for (label, window) in app.webview_windows() {
                if label != windows::MAIN
                    && let Err(error) = window.destroy()
                {
                    tracing::warn!(%error, label, "a window could not be closed");
                }
            }
        }
    }
}

/// Hides the window; Octo keeps running.
pub(crate) fn hide(app: &AppHandle) {
    app.state::<ShellState>().mark_hidden();
    if let Some(window) = app.get_webview_window(windows::MAIN)
        && let Err(error) = window.hide()
    {
        tracing::warn!(%error, "the window was not hidden");
    }
    #[cfg(target_os = "linux")]
    crate::memory_release::release_soon();
    attention::update_focus(app);
}
