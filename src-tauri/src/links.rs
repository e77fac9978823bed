//! Links and files opened with Octo: at its start, by a second start, or by the system.

use crate::{
    quick_ask,
    shell_state::{ShellState, open_in_window},
    windows,
};
use octo_desktop::{WindowAtStart, parse_arguments};
use std::path::Path;
use tauri::{AppHandle, Manager as _};

/// Handles the arguments (without the program's name) passed on by a second start with the same home, or by the
/// system.
pub(crate) fn handle_arguments<'a>(
    app: &AppHandle,
    arguments: impl IntoIterator<Item = &'a str>,
    folder: &Path,
) {
    let start = parse_arguments(arguments, folder);
    match start.window {
        WindowAtStart::Hidden => return,
        WindowAtStart::QuickAsk => return quick_ask::show_soon(app),
        WindowAtStart::Shown => windows::bring_to_front(app),
    }
    for request in start.requests {
        open_in_window(app, request);
    }
}

/// Queues this process's own arguments for the page and returns whether the window is shown.
pub(crate) fn queue_own_arguments(app: &AppHandle) -> WindowAtStart {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    let folder = std::env::current_dir().unwrap_or_default();
    let start = parse_arguments(arguments.iter().map(String::as_str), &folder);
    let state = app.state::<ShellState>();
    for request in start.requests {
        state.push(request);
    }
    start.window
}
