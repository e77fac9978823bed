//! Shows the number of items that wait for the person on the application's icon in the dock or task bar. Not
//! every desktop shows it.

use tauri::AppHandle;

/// The count at the icon.
#[derive(Default)]
pub(crate) struct Badge {
    #[cfg(target_os = "linux")]
    bus: Option<zbus::Connection>,
}

impl Badge {
    /// Shows this number; zero removes the badge.
    pub(crate) async fn show(&mut self, app: &AppHandle, count: usize) {
        if let Err(error) = self.set(app, i64::try_from(count).unwrap_or(i64::MAX)).await {
            tracing::debug!(%error, "this desktop shows no count at the icon");
        }
    }

    /// Sends the count over the bus. Docks remove it when the connection that sent it ends.
    #[cfg(target_os = "linux")]
    async fn set(&mut self, _app: &AppHandle, count: i64) -> zbus::Result<()> {
        use std::collections::HashMap;
        use zbus::zvariant::Value;

        /// The interface allows any path below this one: docks identify the application by its desktop entry.
        const PATH: &str = "/com/canonical/unity/launcherentry/octo";
        const INTERFACE: &str = "com.canonical.Unity.LauncherEntry";

        let bus = match &self.bus {
            Some(bus) => bus,
            None => self.bus.insert(zbus::Connection::session().await?),
        };
        let entry = format!("application://{}.desktop", crate::notifications::DESKTOP_ENTRY);
        let count = HashMap::from([("count", Value::from(count)), ("count-visible", Value::from(count > 0))]);
        bus.emit_signal(None::<&str>, PATH, INTERFACE, "Update", &(entry, count)).await
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_async, reason = "on Linux it waits for the bus")]
    async fn set(&mut self, app: &AppHandle, count: i64) -> tauri::Result<()> {
        use tauri::Manager as _;

        match app.get_webview_window(crate::windows::MAIN) {
            Some(window) => window.set_badge_count(Some(count).filter(|count| *count > 0)),
            None => Ok(()),
        }
    }
}
