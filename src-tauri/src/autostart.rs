//! Starts Octo hidden at login if the settings say so; the entry is kept where the system looks for it.

use crate::shell_state::ShellState;
use octo_protocol::{ApiError, Switch};
use tauri::{AppHandle, Manager as _, Wry, plugin::TauriPlugin};
use tauri_plugin_autostart::ManagerExt as _;

/// Creates the plugin that registers this program, as it was started.
pub(crate) fn plugin() -> TauriPlugin<Wry> {
    tauri_plugin_autostart::Builder::new().arg("--hidden").build()
}

/// Updates the system's entry to match the setting.
pub(crate) fn apply(app: &AppHandle, wanted: Switch) {
    let entry = app.autolaunch();
    let outcome = match (wanted, entry.is_enabled()) {
        (Switch::On, Ok(true)) | (Switch::Off, Ok(false)) => Ok(()),
        (Switch::On, _) => entry.enable(),
        (Switch::Off, Ok(true)) => entry.disable(),
        // Autostart is off and the entry cannot be read: nothing needs to change.
        (Switch::Off, Err(_)) => Ok(()),
    };
    let outcome = outcome.map_err(|error| ApiError::new("desktop.no_autostart").detail(error));
    if let Err(error) = &outcome {
        tracing::warn!(%error, "starting at login could not be changed");
    }
    app.state::<ShellState>().set_autostart(outcome);
}
