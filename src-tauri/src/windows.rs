//! The windows: the main window and further windows that show one session each.

use crate::{appearance, links, quick_ask, shell_state::ShellState, subscriptions::Subscriptions};
use octo_desktop::WindowAtStart;
use octo_protocol::{Language, SessionId, WindowNumber, words};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};
use tauri::{
    AppHandle, Config, Manager, Url, WebviewUrl, WebviewWindow, WebviewWindowBuilder, Wry,
    plugin::TauriPlugin,
    webview::{NewWindowResponse, PageLoadEvent},
};
use tauri_plugin_window_state::StateFlags;

/// The label of the main window; the capability names it too.
pub(crate) const MAIN: &str = "main";

/// Prefix of further windows' labels; a number follows. The capability names them too.
const FURTHER_PREFIX: &str = "beside-";

/// Maximum time that a window hidden at login waits for the tray to appear.
const TRAY_TIMEOUT: Duration = Duration::from_secs(30);

/// Octo's home, if known, for plugins that need a folder.
pub(crate) struct WindowDataFolder(pub(crate) Option<PathBuf>);

impl WindowDataFolder {
    /// Returns a private folder of this name, or `None` if the home cannot be used.
    pub(crate) fn folder(&self, name: &str) -> Option<PathBuf> {
        octo_workspace::private_folder(&self.0.as_ref()?.join(name)).ok()
    }
}

/// Opens the main window; hidden if this start should not show it and a tray can bring it back.
///
/// # Errors
/// When the system provides no window or no webview.
pub(crate) fn open(app: &AppHandle, start: WindowAtStart) -> tauri::Result<()> {
    let window = build_page_window(app, MAIN, "index.html")?;
    match start {
        WindowAtStart::Shown => window.show(),
        WindowAtStart::Hidden => {
            show_without_tray(app.clone());
            Ok(())
        }
        WindowAtStart::QuickAsk => {
            show_without_tray(app.clone());
            quick_ask::show_soon(app);
            Ok(())
        }
    }
}

/// Shows a session in a further window; if a window already shows it, brings that one to the front.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_further(app: &AppHandle, session: SessionId) -> tauri::Result<()> {
    let state = app.state::<ShellState>();
    if let Some(existing) = state.window_of(session).filter(|window| *window != WindowNumber::default()) {
        return raise(app, &label(existing));
    }
    let number = state.next_window(session);
    let label = label(number);
    let built = build_page_window(app, &label, &format!("index.html?window={}&session={session}", number.0));
    built.and_then(|_| raise(app, &label)).inspect_err(|_| handle_closed(app, &label))
}

/// Creates a window with the complete page, not shown yet.
fn build_page_window(app: &AppHandle, label: &str, page: &str) -> tauri::Result<WebviewWindow> {
    let window = page_window(app, label, page)
        .title(words::say(Language::System, "window.title", &BTreeMap::new()))
        .inner_size(1180.0, 780.0)
        .min_inner_size(760.0, 480.0)
        .on_document_title_changed(|window, title| {
            if let Err(error) = window.set_title(&title) {
                tracing::debug!(%error, "the title of a window could not be set");
            }
        })
        .on_page_load(|window, load| {
            // A new page does not receive the previous page's subscriptions.
            match load.event() {
                PageLoadEvent::Started => {
                    window.state::<Subscriptions>().end_window(window.label());
                    if window.label() == MAIN {
                        window.state::<ShellState>().mark_page_gone();
                    }
                }
                #[cfg(target_os = "linux")]
                PageLoadEvent::Finished => crate::memory_release::release_soon(),
                #[cfg(not(target_os = "linux"))]
                PageLoadEvent::Finished => {}
            }
        })
        .build()?;
    appearance::apply_to_new(&window)?;
    // On macOS the library does it; on Windows nothing does.
    #[cfg(target_os = "linux")]
    crate::recovery::reload_after_crash(&window)?;
    Ok(window)
}

/// Sets the options all windows share: the page, which cannot navigate away, and one webview folder. The window
/// is shown once it has its position and background.
pub(crate) fn page_window<'a>(
    app: &'a AppHandle,
    label: &str,
    page: &str,
) -> WebviewWindowBuilder<'a, Wry, AppHandle> {
    let builder = WebviewWindowBuilder::new(app, label, WebviewUrl::App(page.into()))
        .center()
        .visible(false)
        .on_navigation(is_own_page)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .on_download(|_, _| false);
    // If the home cannot be used, the webview keeps its few settings in the system's default location: the
    // window is needed to report the problem.
    match app.state::<WindowDataFolder>().folder("webview") {
        Some(folder) => builder.data_directory(folder),
        None => builder,
    }
}

/// Brings the window with this label to the front, if the desktop allows it.
fn raise(app: &AppHandle, label: &str) -> tauri::Result<()> {
    let Some(window) = app.get_webview_window(label) else { return Ok(()) };
    window.unminimize()?;
    window.show()?;
    window.set_focus()
}

fn label(window: WindowNumber) -> String {
    if window.0 == 0 { MAIN.to_owned() } else { format!("{FURTHER_PREFIX}{}", window.0) }
}

/// Returns the number of the window with this label; the quick ask window has none.
pub(crate) fn number(label: &str) -> Option<WindowNumber> {
    if label == MAIN {
        return Some(WindowNumber::default());
    }
    label.strip_prefix(FURTHER_PREFIX)?.parse().ok().map(WindowNumber)
}

/// Returns the focused window with the complete page; `None` while the focus is elsewhere.
pub(crate) fn focused(app: &AppHandle) -> Option<WebviewWindow> {
    app.webview_windows().into_values().find(|window| {
        number(window.label()).is_some()
            && window.is_focused().unwrap_or(false)
            && window.is_visible().unwrap_or(false)
            && !window.is_minimized().unwrap_or(false)
    })
}

/// Handles a closed window: nothing is sent to it any more, and its session no longer counts as seen.
pub(crate) fn handle_closed(app: &AppHandle, label: &str) {
    app.state::<Subscriptions>().end_window(label);
    if let Some(window) = number(label) {
        app.state::<ShellState>().close_window(window);
        crate::attention::update_focus(app);
    }
}

/// Shows the window if no tray appears, to tell the person that Octo runs; at login the tray may start after
/// Octo, and a panel that restarts is away for a moment. A window that the person hid and can bring back stays
/// hidden.
pub(crate) fn show_without_tray(app: AppHandle) {
    tauri::async_runtime::spawn(async move {
        tokio::time::sleep(TRAY_TIMEOUT).await;
        let is_hidden = |window: WebviewWindow| !window.is_visible().unwrap_or(false);
        let state = app.state::<ShellState>();
        if !state.has_tray()
            && !state.restores_by_start()
            && app.get_webview_window(MAIN).is_some_and(is_hidden)
        {
            bring_to_front(&app);
        }
    });
}

/// Returns whether an address belongs to the page. The window shows only that; links open in the person's
/// browser through a request.
fn is_own_page(url: &Url) -> bool {
    let web = matches!(url.scheme(), "http" | "https");
    match url.host_str() {
        Some("localhost") => url.scheme() == "tauri" || (tauri::is_dev() && web),
        Some("tauri.localhost") => web,
        _ => false,
    }
}

/// Passes on the arguments of a second start with the same home, and brings the window to the front.
pub(crate) fn single_instance(home: Option<&Path>, config: &Config) -> TauriPlugin<Wry> {
    let mut plugin = tauri_plugin_single_instance::Builder::new().callback(|app, arguments, folder| {
        links::handle_arguments(app, arguments.iter().skip(1).map(String::as_str), Path::new(&folder));
    });
    // Each home has its own Octo. Only D-Bus lets the instance name include the home.
    if let Some(home) = home.filter(|_| std::env::var_os("OCTO_HOME").is_some()) {
        plugin = plugin.dbus_id(format!("{}.home-{}", config.identifier, fingerprint(home)));
    }
    plugin.build()
}

/// Brings the main window to the front.
pub(crate) fn bring_to_front(app: &AppHandle) {
    if let Err(error) = raise(app, MAIN) {
        tracing::warn!(%error, "the window could not be brought to the front");
    }
}

/// Returns a short name for a home, the same in every run of one build.
fn fingerprint(home: &Path) -> String {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    home.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Saves the window's position and size, in the home like everything else.
pub(crate) fn window_state(home: Option<&Path>) -> TauriPlugin<Wry> {
    let mut plugin = tauri_plugin_window_state::Builder::new()
        .with_state_flags(
            StateFlags::SIZE | StateFlags::POSITION | StateFlags::MAXIMIZED | StateFlags::FULLSCREEN,
        )
        // Other windows are positioned only once.
        .with_filter(|label| label == MAIN);
    if let Some(file) = home.map(|home| home.join("window.json")).as_deref().and_then(Path::to_str) {
        // An absolute name replaces the folder the plugin would prepend.
        plugin = plugin.with_filename(file);
    }
    plugin.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn navigation_is_limited_to_the_own_page() {
        for (url, is_own) in [
            ("tauri://localhost/index.html", true),
            ("http://tauri.localhost/", true),
            ("https://example.org/", false),
            ("https://tauri.localhost.example.org/", false),
            ("file:///etc/passwd", false),
            ("octo-blob://localhost/00", false),
            ("data:text/html,x", false),
        ] {
            assert_eq!(is_own_page(&url.parse().unwrap()), is_own, "{url}");
        }
    }

    #[test]
    fn further_windows_have_numbers() {
        for window in [WindowNumber(0), WindowNumber(1), WindowNumber(12)] {
            assert_eq!(number(&label(window)), Some(window));
        }
        for label in ["quick", "beside-", "beside-x", "beside--1", ""] {
            assert_eq!(number(label), None, "{label}");
        }
    }

    #[test]
    fn each_home_has_its_own_fingerprint() {
        assert_eq!(fingerprint(Path::new("/a")), fingerprint(Path::new("/a")));
        assert_ne!(fingerprint(Path::new("/a")), fingerprint(Path::new("/b")));
    }
}
