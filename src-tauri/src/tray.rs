//! The tray icon: shows the current activity and brings back a hidden window.

#[cfg(target_os = "linux")]
mod availability;

use crate::{
    attention, quick_ask,
    setup::Core,
    shell_state::{ShellState, new_session_request, open_in_window},
    windows,
};
use octo_desktop::{CurrentWork, Dot, with_dot};
use octo_protocol::ApiError;
use tauri::{
    AppHandle, Manager as _, Wry,
    image::Image,
    menu::{Menu, MenuItem, PredefinedMenuItem},
    tray::{MouseButton, MouseButtonState, TrayIcon, TrayIconBuilder, TrayIconEvent},
};

/// The icon's id.
const ID: &str = "octo";

/// The application's icon at the size trays use.
const ICON: Image<'static> = tauri::include_image!("icons/32x32.png");

/// The ids of the menu's entries.
const OPEN: &str = "open";
const NEW: &str = "new";
const ASK: &str = "ask";
const STATE: &str = "state";
const STOP: &str = "stop";
const QUIT: &str = "quit";

/// The icon with its menu.
struct TrayItem {
    icon: TrayIcon,
    state: MenuItem<Wry>,
    stop: MenuItem<Wry>,
    other_items: [(MenuItem<Wry>, &'static str); 4],
}

/// Shows the icon once the desktop has a tray, now or later.
pub(crate) fn start(app: &AppHandle) {
    #[cfg(target_os = "linux")]
    tauri::async_runtime::spawn(availability::follow(app.clone()));
    #[cfg(not(target_os = "linux"))]
    show(app);
}

/// Shows the icon, unless it is shown already.
fn show(app: &AppHandle) {
    let handle = app.clone();
    // Menus must be created on the thread that owns the windows.
    let scheduled = app.run_on_main_thread(move || {
        let state = handle.state::<ShellState>();
        if handle.try_state::<TrayItem>().is_none() {
            match build(&handle) {
                Ok(item) => {
                    handle.manage(item);
                }
                Err(error) => {
                    tracing::warn!(%error, "there is no icon in the tray");
                    return state.set_tray(Err(ApiError::new("desktop.no_tray").detail(error)));
                }
            }
        }
        state.set_tray(Ok(()));
        refresh(&handle);
    });
    if let Err(error) = scheduled {
        tracing::warn!(%error, "there is no icon in the tray");
    }
}

fn build(app: &AppHandle) -> tauri::Result<TrayItem> {
    let shell = app.state::<ShellState>();
    let entry = |id: &str, key: &str| MenuItem::with_id(app, id, shell.text(key, &[]), true, None::<&str>);
    let (open, new) = (entry(OPEN, "tray.open")?, entry(NEW, "tray.new")?);
    let (ask, quit) = (entry(ASK, "tray.ask")?, entry(QUIT, "tray.quit")?);
    let (state, stop) = (entry(STATE, "tray.idle")?, entry(STOP, "tray.stop_all")?);
    state.set_enabled(false)?;
    let separator = || PredefinedMenuItem::separator(app);
    let menu =
        Menu::with_items(app, &[&open, &new, &ask, &separator()?, &state, &stop, &separator()?, &quit])?;
    let mut builder = TrayIconBuilder::with_id(ID)
        .icon(ICON)
        .menu(&menu)
        .show_menu_on_left_click(cfg!(target_os = "linux"))
        .on_menu_event(|app, event| handle_entry(app, event.id().as_ref()))
        .on_tray_icon_event(|tray, event| {
            if let TrayIconEvent::Click {
                button: MouseButton::Left,
                button_state: MouseButtonState::Up,
                ..
            } = event
            {
                windows::bring_to_front(tray.app_handle());
            }
        });
    // On Linux the tray reads the icon from a file. Two Octos would share the default one.
    if let Some(folder) =
        app.try_state::<windows::WindowDataFolder>().and_then(|folder| folder.folder("tray"))
    {
        builder = builder.temp_dir_path(folder);
    }
    let items = [(open, "tray.open"), (new, "tray.new"), (ask, "tray.ask"), (quit, "tray.quit")];
    Ok(TrayItem { icon: builder.build(app)?, state, stop, other_items: items })
}

/// Updates the icon's text to the current activity, in the person's language.
pub(crate) fn refresh(app: &AppHandle) {
    let handle = app.clone();
    let scheduled = app.run_on_main_thread(move || {
        if let Some(item) = handle.try_state::<TrayItem>()
            && let Err(error) = update_menu(&handle.state::<ShellState>(), &item)
        {
            tracing::warn!(%error, "the icon in the tray is not up to date");
        }
    });
    if let Err(error) = scheduled {
        tracing::debug!(%error, "the application ends");
    }
}

fn update_menu(shell: &ShellState, item: &TrayItem) -> tauri::Result<()> {
    let work = shell.work();
    for (entry, key) in &item.other_items {
        entry.set_text(shell.text(key, &[]))?;
    }
    let waiting = work.waiting_for_person();
    let state = shell
        .text(status_key(work), &[("running", work.running.to_string()), ("waiting", waiting.to_string())]);
    item.state.set_text(&state)?;
    item.stop.set_text(shell.text("tray.stop_all", &[]))?;
    item.stop.set_enabled(work.can_stop())?;
    item.icon.set_tooltip(Some(format!("Octo: {state}")))?;
    item.icon.set_icon(Some(icon(work)))
}

/// Returns the message key for an amount of work.
fn status_key(work: CurrentWork) -> &'static str {
    match (work.running, work.waiting_for_person()) {
        (0, 0) => "tray.idle",
        (_, 0) => "tray.running",
        (0, _) => "tray.waiting",
        (_, _) => "tray.both",
    }
}

fn icon(work: CurrentWork) -> Image<'static> {
    let dot = match (work.running, work.waiting_for_person()) {
        (0, 0) => return ICON,
        (_, 0) => Dot::Running,
        (_, _) => Dot::Waiting,
    };
    let width = ICON.width();
    let pixels = with_dot(ICON.rgba(), usize::try_from(width).unwrap_or_default(), dot);
    Image::new_owned(pixels, width, ICON.height())
}

fn handle_entry(app: &AppHandle, entry: &str) {
    match entry {
        OPEN => windows::bring_to_front(app),
        NEW => open_in_window(app, new_session_request()),
        ASK => quick_ask::show_soon(app),
        STOP => {
            if let Some(octo) = app.try_state::<Core>().and_then(|core| core.running()) {
                attention::stop_all(app, octo);
            }
        }
        QUIT => app.exit(0),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_icon_shows_the_current_work() {
        let work = |running, waiting| CurrentWork { running, waiting, missed_runs: 0 };
        for (work, key) in [
            (work(0, 0), "tray.idle"),
            (work(2, 0), "tray.running"),
            (work(0, 1), "tray.waiting"),
            (work(2, 1), "tray.both"),
            (CurrentWork { missed_runs: 1, ..work(0, 0) }, "tray.waiting"),
        ] {
            assert_eq!(status_key(work), key, "{work:?}");
        }
        let [idle, running, waiting] =
            [work(0, 0), work(1, 0), work(1, 1)].map(|work| icon(work).rgba().to_vec());
        assert_eq!(idle, ICON.rgba());
        assert!(running != idle && waiting != idle && running != waiting);
    }
}
