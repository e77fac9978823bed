//! The macOS menu bar, in the person's language. Other systems have none: its functions are in the window.
//!
//! Its own entries show no shortcuts: the page handles those, and the person may have changed them.

use crate::shell_state::{ShellState, fresh_session, open_in_window};
use octo_protocol::OpenRequest;
use tauri::{
    AppHandle, Manager as _, Wry,
    menu::{AboutMetadata, IsMenuItem, Menu, MenuItem, PredefinedMenuItem as Known, Submenu},
};

const NEW: &str = "menu-new";
const SETTINGS: &str = "menu-settings";

/// Shows the menu, and again in another language.
pub(crate) fn refresh(app: &AppHandle) {
    let handle = app.clone();
    let result = app.run_on_main_thread(move || {
        if let Err(error) = build(&handle).and_then(|menu| handle.set_menu(menu)) {
            tracing::warn!(%error, "the menu bar is not in the person's language");
        }
    });
    if let Err(error) = result {
        tracing::debug!(%error, "the application ends");
    }
}

/// Starts to handle menu events.
pub(crate) fn install(app: &AppHandle) {
    app.on_menu_event(|app, event| match event.id().as_ref() {
        NEW => open_in_window(app, fresh_session()),
        SETTINGS => open_in_window(app, OpenRequest::OpenSettings { page: String::new() }),
        _ => {}
    });
    refresh(app);
}

fn build(app: &AppHandle) -> tauri::Result<Menu<Wry>> {
    let state = app.state::<ShellState>();
    let label = |key: &str| state.text(key, &[]);
    let text = |key: &str| Some(label(key));
    let entry = |id: &str, key: &str| MenuItem::with_id(app, id, label(key), true, None::<&str>);
    let line = || Known::separator(app);
    let submenu =
        |title: &str, entries: &[&dyn IsMenuItem<Wry>]| Submenu::with_items(app, title, true, entries);
    let name = app.package_info().name.clone();
    let about_metadata = AboutMetadata {
        name: Some(name.clone()),
        version: Some(app.package_info().version.to_string()),
        ..AboutMetadata::default()
    };
    Menu::with_items(
        app,
        &[
            &submenu(
                &name,
                &[
                    &Known::about(app, text("menu.about").as_deref(), Some(about_metadata))?,
                    &line()?,
                    &entry(SETTINGS, "menu.settings")?,
                    &line()?,
                    &Known::services(app, text("menu.services").as_deref())?,
                    &line()?,
                    &Known::hide(app, text("menu.hide").as_deref())?,
                    &Known::hide_others(app, text("menu.hide_others").as_deref())?,
                    &Known::show_all(app, text("menu.show_all").as_deref())?,
                    &line()?,
                    &Known::quit(app, text("menu.quit").as_deref())?,
                ],
            )?,
            &submenu(
                &label("menu.file"),
                &[
                    &entry(NEW, "menu.new")?,
                    &line()?,
                    &Known::close_window(app, text("menu.close").as_deref())?,
                ],
            )?,
            &submenu(
                &label("menu.edit"),
                &[
                    &Known::undo(app, text("menu.undo").as_deref())?,
                    &Known::redo(app, text("menu.redo").as_deref())?,
                    &line()?,
                    &Known::cut(app, text("menu.cut").as_deref())?,
                    &Known::copy(app, text("menu.copy").as_deref())?,
                    &Known::paste(app, text("menu.paste").as_deref())?,
                    &Known::select_all(app, text("menu.select_all").as_deref())?,
                ],
            )?,
            &submenu(
                &label("menu.window"),
                &[
                    &Known::minimize(app, text("menu.minimize").as_deref())?,
                    &Known::maximize(app, text("menu.zoom").as_deref())?,
                    &Known::fullscreen(app, text("menu.full_screen").as_deref())?,
                ],
            )?,
        ],
    )
}
