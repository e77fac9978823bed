//! Detects whether a Linux desktop can show a tray icon: it needs a library that creates the icon and a panel
//! that shows it.
//!
//! Not every desktop has one, and at login the panel may start after Octo. Without a tray, a second start
//! brings back a hidden window, which needs the desktop's bus; without the bus, nothing is hidden.

use super::show;
use crate::{shell_state::ShellState, windows};
use futures::{StreamExt as _, stream};
use octo_protocol::ApiError;
use tauri::{AppHandle, Manager as _};
use zbus::{Connection, Proxy, fdo::DBusProxy, proxy::CacheProperties};

/// Bus name under which panels announce that they show icons; KDE's name, used by all.
const WATCHER: &str = "org.kde.StatusNotifierWatcher";
const WATCHER_PATH: &str = "/StatusNotifierWatcher";

/// The libraries tried, in this order, when an icon is created; if none is found, the process ends.
const LIBRARIES: [&str; 2] = ["libayatana-appindicator3.so.1", "libappindicator3.so.1"];

/// Watches for a tray, and shows the icon once there is one.
pub(super) async fn follow(app: AppHandle) {
    let connection = match Connection::session().await {
        Ok(connection) => connection,
        Err(error) => {
            tracing::info!(%error, "there is no desktop bus");
            return app.state::<ShellState>().set_tray(Err(ApiError::new("desktop.no_bus")));
        }
    };
    app.state::<ShellState>().set_reachable(true);
    if !has_library() {
        tracing::info!("no library for an icon in the tray is installed");
        return app.state::<ShellState>().set_tray(Err(ApiError::new("desktop.no_tray_library")));
    }
    if let Err(error) = watch(&app, &connection).await {
        return tracing::info!(%error, "the tray cannot be watched");
    }
    // The bus is gone, and with it the icon and the means by which a second start reaches this one.
    let state = app.state::<ShellState>();
    state.set_reachable(false);
    state.set_tray(Err(ApiError::new("desktop.no_bus")));
    windows::show_without_tray(app.clone());
}

async fn watch(app: &AppHandle, connection: &Connection) -> zbus::Result<()> {
    let bus = DBusProxy::new(connection).await?;
    let watcher: Proxy<'_> = zbus::proxy::Builder::new(connection)
        .destination(WATCHER)?
        .path(WATCHER_PATH)?
        .interface(WATCHER)?
        // Panels announce hosts by their own signals, so a cached property would be stale.
        .cache_properties(CacheProperties::No)
        .build()
        .await?;
    let owners = bus.receive_name_owner_changed_with_args(&[(0, WATCHER)]).await?.map(|_| ());
    let hosts = watcher.receive_all_signals().await?.map(|_| ());
    let mut changes = std::pin::pin!(stream::select(owners, hosts));
    let mut has_panel = false;
    loop {
        let had_panel = has_panel;
        // Without a panel the property cannot be read.
        has_panel = watcher.get_property("IsStatusNotifierHostRegistered").await.unwrap_or(false);
        match (had_panel, has_panel) {
            (false, true) => show(app),
            (true, false) => {
                app.state::<ShellState>().set_tray(Err(ApiError::new("desktop.no_tray")));
                windows::show_without_tray(app.clone());
            }
            (false, false) | (true, true) => {}
        }
        if changes.next().await.is_none() {
            return Ok(());
        }
    }
}

/// Returns whether the library exists. The crate that creates the icon panics without it, so it is checked first.
/// The library stays loaded.
fn has_library() -> bool {
    LIBRARIES.iter().any(|name| {
        #[expect(
            unsafe_code,
            reason = "loading runs the library's own start; it is the one GTK programs use"
        )]
        let loaded = unsafe { libloading::Library::new(name) };
        loaded.map(std::mem::forget).is_ok()
    })
}
