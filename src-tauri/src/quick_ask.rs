//! The quick ask window, opened by a global shortcut: one field that starts a session.

use crate::{appearance, shell_state::ShellState, windows};
use octo_protocol::ApiError;
use tauri::{AppHandle, Manager as _};
use tauri_plugin_global_shortcut::{GlobalShortcutExt as _, Shortcut, ShortcutState};

/// The window's label; the capability names it too.
pub(crate) const QUICK: &str = "quick";

/// The page, with a query that selects the small form.
const PAGE: &str = "index.html?quick";

/// The window's size in logical pixels: wide enough for a sentence.
const SIZE: (f64, f64) = (680.0, 176.0);

/// Replaces the registered shortcut; `None` removes it.
pub(crate) fn set_shortcut(app: &AppHandle, keys: Option<String>) {
    let handle = app.clone();
    // Some systems deliver shortcuts only on the thread that serves their windows.
    let result = app.run_on_main_thread(move || {
        let outcome = register(&handle, keys.as_deref());
        if let Err(error) = &outcome {
            tracing::info!(%error, "the shortcut of the quick ask window was not registered");
        }
        handle.state::<ShellState>().set_shortcut(outcome);
    });
    if let Err(error) = result {
        tracing::debug!(%error, "the application ends");
    }
}

fn register(app: &AppHandle, keys: Option<&str>) -> Result<(), ApiError> {
    let error_with_keys = |key: &str, keys: &str| ApiError::new(key).arg("keys", keys);
    if app.try_state::<ShortcutPluginLoaded>().is_some() {
        app.global_shortcut().unregister_all().map_err(|error| ApiError::new("host.failed").detail(error))?;
    }
    let Some(keys) = keys else { return Ok(()) };
    if is_wayland() {
        return Err(error_with_keys("desktop.no_shortcuts", keys));
    }
    let shortcut: Shortcut =
        keys.parse().map_err(|error| error_with_keys("desktop.shortcut_unreadable", keys).detail(error))?;
    if shortcut.mods.is_empty() {
        // A key without a modifier would be taken from every other program.
        return Err(error_with_keys("desktop.shortcut_unreadable", keys));
    }
    if app.try_state::<ShortcutPluginLoaded>().is_none() {
        let plugin = tauri_plugin_global_shortcut::Builder::new().build();
        app.plugin(plugin).map_err(|error| error_with_keys("desktop.no_shortcuts", keys).detail(error))?;
        app.manage(ShortcutPluginLoaded);
    }
    let registered = app.global_shortcut().on_shortcut(shortcut, |app, _, event| {
        if event.state() == ShortcutState::Pressed {
            let app = app.clone();
            // Not on this thread: on Windows a webview cannot be created in an event handler.
            tauri::async_runtime::spawn(async move { toggle(&app) });
        }
    });
    registered.map_err(|error| error_with_keys("desktop.shortcut_taken", keys).detail(error))
}

/// Marks that the plugin is loaded, which only happens for a person who wants the shortcut.
struct ShortcutPluginLoaded;

/// Returns whether the desktop is Wayland, where a program cannot receive keys meant for others.
fn is_wayland() -> bool {
    cfg!(target_os = "linux")
        && std::env::var_os("GDK_BACKEND").is_none_or(|backend| backend != "x11")
        && std::env::var_os("WAYLAND_DISPLAY").is_some_and(|display| !display.is_empty())
}

/// Shows the quick ask window, or hides it if it has focus.
fn toggle(app: &AppHandle) {
    match app.get_webview_window(QUICK) {
        Some(window) if window.is_visible().unwrap_or(false) => hide_window(app),
        _ => show(app),
    }
}

/// Shows the quick ask window; for threads that cannot create its webview.
pub(crate) fn show_soon(app: &AppHandle) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move { show(&app) });
}

fn show(app: &AppHandle) {
    let outcome = match app.get_webview_window(QUICK) {
        Some(window) => window.show().and_then(|()| window.set_focus()),
        None => open(app),
    };
    if let Err(error) = outcome {
        tracing::warn!(%error, "the quick ask window could not be opened");
    }
}

fn open(app: &AppHandle) -> tauri::Result<()> {
    let title = app.state::<ShellState>().text("quick.title", &[]);
    let window = windows::page_window(app, QUICK, PAGE)
        .title(title)
        .inner_size(SIZE.0, SIZE.1)
        .resizable(false)
        .decorations(false)
        .always_on_top(true)
        .skip_taskbar(true)
        .build()?;
    appearance::apply_to_new(&window)?;
    #[cfg(target_os = "linux")]
    crate::recovery::reload_after_crash(&window)?;
    window.show()?;
    window.set_focus()
}

/// Hides the quick ask window. Unsent text stays.
pub(crate) fn hide_window(app: &AppHandle) {
    if let Some(window) = app.get_webview_window(QUICK)
        && let Err(error) = window.hide()
    {
        tracing::warn!(%error, "the quick ask window could not be hidden");
    }
}
