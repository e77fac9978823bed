//! Whether Octo starts, hidden, when the person logs in: as the settings say, kept where the system looks.

use crate::desk::Desk;
use octo_protocol::{ApiError, Switch};
use tauri::{AppHandle, Manager as _, Wry, plugin::TauriPlugin};
use tauri_plugin_autostart::ManagerExt as _;

/// Enters this program as it was started.
pub(crate) fn plugin() -> TauriPlugin<Wry> {
    tauri_plugin_autostart::Builder::new().arg("--hidden").build()
}

/// Keeps the system's entry as the person wants it.
pub(crate) fn keep(app: &AppHandle, wanted: Switch) {
    let entry = app.autolaunch();
    let outcome = match (wanted, entry.is_enabled()) {
        (Switch::On, Ok(true)) | (Switch::Off, Ok(false)) => Ok(()),
        (Switch::On, _) => entry.enable(),
        (Switch::Off, Ok(true)) => entry.disable(),
        // Nobody wanted it, and whether it is there cannot be seen: nothing is to be changed.
        (Switch::Off, Err(_)) => Ok(()),
    };
    let outcome = outcome.map_err(|error| ApiError::new("desktop.no_autostart").detail(error));
    if let Err(error) = &outcome {
        tracing::warn!(%error, "starting at login could not be changed");
    }
    app.state::<Desk>().set_autostart(outcome);
}
