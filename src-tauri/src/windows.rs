//! The windows: the one Octo opens with, and those beside it which show a session each.

use crate::{appearance, desk::Desk, links, quick_ask, subscriptions::Subscriptions};
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

/// The label of the window Octo opens with; the capability names it too.
pub(crate) const MAIN: &str = "main";

/// The labels of further windows begin so, and a number follows. The capability names them too.
const BESIDE: &str = "beside-";

/// How long a window that was not to be seen at login waits for the tray to come.
const TRAY_PATIENCE: Duration = Duration::from_secs(30);

/// Octo's home, as far as there is one, for what the system's parts need a folder for.
pub(crate) struct Place(pub(crate) Option<PathBuf>);

impl Place {
    /// A folder of this name, closed to others; none where the home cannot be used.
    pub(crate) fn folder(&self, name: &str) -> Option<PathBuf> {
        octo_workspace::private_folder(&self.0.as_ref()?.join(name)).ok()
    }
}

/// Opens the window; hidden, where this start is not to be seen and there is a tray to bring it back from.
///
/// # Errors
/// When the system gives no window or no webview.
pub(crate) fn open(app: &AppHandle, start: WindowAtStart) -> tauri::Result<()> {
    let window = build_whole(app, MAIN, "index.html")?;
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

/// Shows a session in a window beside the others; where one shows it already, that one comes to the front.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_beside(app: &AppHandle, session: SessionId) -> tauri::Result<()> {
    let desk = app.state::<Desk>();
    if let Some(there) = desk.window_of(session).filter(|window| *window != WindowNumber::default()) {
        return front(app, &label(there));
    }
    let number = desk.next_window(session);
    let label = label(number);
    let built = build_whole(app, &label, &format!("index.html?window={}&session={session}", number.0));
    built.and_then(|_| front(app, &label)).inspect_err(|_| left(app, &label))
}

/// A window of the whole page, not shown yet.
fn build_whole(app: &AppHandle, label: &str, page: &str) -> tauri::Result<WebviewWindow> {
    let window = of_page(app, label, page)
        .title(words::say(Language::System, "window.title", &BTreeMap::new()))
        .inner_size(1180.0, 780.0)
        .min_inner_size(760.0, 480.0)
        .on_document_title_changed(|window, title| {
            if let Err(error) = window.set_title(&title) {
                tracing::debug!(%error, "a window did not take its title");
            }
        })
        .on_page_load(|window, load| {
            // What the page before had subscribed to, its successor cannot hear.
            match load.event() {
                PageLoadEvent::Started => {
                    window.state::<Subscriptions>().end_of(window.label());
                    if window.label() == MAIN {
                        window.state::<Desk>().page_left();
                    }
                }
                #[cfg(target_os = "linux")]
                PageLoadEvent::Finished => crate::resident::give_back_soon(),
                #[cfg(not(target_os = "linux"))]
                PageLoadEvent::Finished => {}
            }
        })
        .build()?;
    appearance::dress(&window)?;
    // On macOS the library does it; on Windows neither does.
    #[cfg(target_os = "linux")]
    crate::recovery::reload_when_the_page_dies(&window)?;
    Ok(window)
}

/// What all windows have in common: one page, which stays what it is, and one folder of the webview. It is shown once
/// it has its place and its ground.
pub(crate) fn of_page<'a>(
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
    // Where the home cannot be used, the webview keeps its few settings in the system's place for them: the
    // window is needed to say what is wrong with the home.
    match app.state::<Place>().folder("webview") {
        Some(folder) => builder.data_directory(folder),
        None => builder,
    }
}

/// Shows a window before all others, as far as the desktop lets it.
fn front(app: &AppHandle, label: &str) -> tauri::Result<()> {
    let Some(window) = app.get_webview_window(label) else { return Ok(()) };
    window.unminimize()?;
    window.show()?;
    window.set_focus()
}

fn label(window: WindowNumber) -> String {
    if window.0 == 0 { MAIN.to_owned() } else { format!("{BESIDE}{}", window.0) }
}

/// Which window of the whole page has this label; the small one has no number.
pub(crate) fn number(label: &str) -> Option<WindowNumber> {
    if label == MAIN {
        return Some(WindowNumber::default());
    }
    label.strip_prefix(BESIDE)?.parse().ok().map(WindowNumber)
}

/// The window of the whole page the person is at; none while they are elsewhere.
pub(crate) fn before_eyes(app: &AppHandle) -> Option<WebviewWindow> {
    app.webview_windows().into_values().find(|window| {
        number(window.label()).is_some()
            && window.is_focused().unwrap_or(false)
            && window.is_visible().unwrap_or(false)
            && !window.is_minimized().unwrap_or(false)
    })
}

/// A window is gone: nothing is sent to it any more, and what it showed is not looked at there.
pub(crate) fn left(app: &AppHandle, label: &str) {
    app.state::<Subscriptions>().end_of(label);
    if let Some(window) = number(label) {
        app.state::<Desk>().close_window(window);
        crate::attention::look(app);
    }
}

/// At login the tray may come after Octo, and a panel that is started anew is away for a moment; where none comes, the
/// window shows that Octo runs. One that the person hid where they can bring it back stays hidden.
pub(crate) fn show_without_tray(app: AppHandle) {
    tauri::async_runtime::spawn(async move {
        tokio::time::sleep(TRAY_PATIENCE).await;
        let hidden = |window: WebviewWindow| !window.is_visible().unwrap_or(false);
        let desk = app.state::<Desk>();
        if !desk.has_tray() && !desk.comes_back_by_start() && app.get_webview_window(MAIN).is_some_and(hidden)
        {
            bring_to_front(&app);
        }
    });
}

/// The page stays what it is: links go to the person's browser through a request.
fn is_own_page(url: &Url) -> bool {
    let web = matches!(url.scheme(), "http" | "https");
    match url.host_str() {
        Some("localhost") => url.scheme() == "tauri" || (tauri::is_dev() && web),
        Some("tauri.localhost") => web,
        _ => false,
    }
}

/// Hands over what a second start with the same home was for, and brings the window to the front.
pub(crate) fn single_instance(home: Option<&Path>, config: &Config) -> TauriPlugin<Wry> {
    let mut plugin = tauri_plugin_single_instance::Builder::new().callback(|app, arguments, folder| {
        links::opened(app, arguments.iter().skip(1).map(String::as_str), Path::new(&folder));
    });
    // Two homes are two Octos. Only D-Bus lets the name say so.
    if let Some(home) = home.filter(|_| std::env::var_os("OCTO_HOME").is_some()) {
        plugin = plugin.dbus_id(format!("{}.home-{}", config.identifier, fingerprint(home)));
    }
    plugin.build()
}

/// Shows the first window before all others.
pub(crate) fn bring_to_front(app: &AppHandle) {
    if let Err(error) = front(app, MAIN) {
        tracing::warn!(%error, "the window could not be brought to the front");
    }
}

/// A short name for a home, the same in every run of one build.
fn fingerprint(home: &Path) -> String {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    home.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Keeps the window's place and size, in the home like everything else.
pub(crate) fn remembered_place(home: Option<&Path>) -> TauriPlugin<Wry> {
    let mut plugin = tauri_plugin_window_state::Builder::new()
        .with_state_flags(
            StateFlags::SIZE | StateFlags::POSITION | StateFlags::MAXIMIZED | StateFlags::FULLSCREEN,
        )
        // The others are where they were put, once.
        .with_filter(|label| label == MAIN);
    if let Some(file) = home.map(|home| home.join("window.json")).as_deref().and_then(Path::to_str) {
        // An absolute name replaces the folder the plugin would put before it.
        plugin = plugin.with_filename(file);
    }
    plugin.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_own_page_is_gone_to() {
        for (url, own) in [
            ("tauri://localhost/index.html", true),
            ("http://tauri.localhost/", true),
            ("https://example.org/", false),
            ("https://tauri.localhost.example.org/", false),
            ("file:///etc/passwd", false),
            ("octo-blob://localhost/00", false),
            ("data:text/html,x", false),
        ] {
            assert_eq!(is_own_page(&url.parse().unwrap()), own, "{url}");
        }
    }

    #[test]
    fn windows_of_the_whole_page_have_numbers() {
        for window in [WindowNumber(0), WindowNumber(1), WindowNumber(12)] {
            assert_eq!(number(&label(window)), Some(window));
        }
        for label in ["quick", "beside-", "beside-x", "beside--1", ""] {
            assert_eq!(number(label), None, "{label}");
        }
    }

    #[test]
    fn homes_have_names_of_their_own() {
        assert_eq!(fingerprint(Path::new("/a")), fingerprint(Path::new("/a")));
        assert_ne!(fingerprint(Path::new("/a")), fingerprint(Path::new("/b")));
    }
}
