//! The macOS menu bar, in the person's language. Other systems have none: its functions are in the window.
//!
//! Its own entries show no shortcuts: the page handles those, and the person may have changed them.

use crate::shell_state::{ShellState, new_session_request, open_in_window};
use octo_protocol::OpenRequest;
use tauri::{
    AppHandle, Manager as _, Wry,
    menu::{AboutMetadata, IsMenuItem, Menu, MenuItem, PredefinedMenuItem as Predefined, Submenu},
};

const NEW: &str = "menu-new";
const SETTINGS: &str = "menu-settings";

/// Shows the menu in the person's language, replacing an earlier menu.
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
        NEW => open_in_window(app, new_session_request()),
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
    let separator = || Predefined::separator(app);
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
                    &Predefined::about(app, text("menu.about").as_deref(), Some(about_metadata))?,
                    &separator()?,
                    &entry(SETTINGS, "menu.settings")?,
                    &separator()?,
                    &Predefined::services(app, text("menu.services").as_deref())?,
                    &separator()?,
                    &Predefined::hide(app, text("menu.hide").as_deref())?,
                    &Predefined::hide_others(app, text("menu.hide_others").as_deref())?,
                    &Predefined::show_all(app, text("menu.show_all").as_deref())?,
                    &separator()?,
                    &Predefined::quit(app, text("menu.quit").as_deref())?,
                ],
            )?,
            &submenu(
                &label("menu.file"),
                &[
                    &entry(NEW, "menu.new")?,
                    &separator()?,
                    &Predefined::close_window(app, text("menu.close").as_deref())?,
                ],
            )?,
            &submenu(
                &label("menu.edit"),
                &[
                    &Predefined::undo(app, text("menu.undo").as_deref())?,
                    &Predefined::redo(app, text("menu.redo").as_deref())?,
                    &separator()?,
                    &Predefined::cut(app, text("menu.cut").as_deref())?,
                    &Predefined::copy(app, text("menu.copy").as_deref())?,
                    &Predefined::paste(app, text("menu.paste").as_deref())?,
                    &Predefined::select_all(app, text("menu.select_all").as_deref())?,
                ],
            )?,
            &submenu(
                &label("menu.window"),
                &[
                    &Predefined::minimize(app, text("menu.minimize").as_deref())?,
                    &Predefined::maximize(app, text("menu.zoom").as_deref())?,
                    &Predefined::fullscreen(app, text("menu.full_screen").as_deref())?,
                ],
            )?,
        ],
    )
}
