//! The window.

use crate::{appearance, desk::Desk, links, subscriptions::Subscriptions};
use octo_desktop::WindowAtStart;
use octo_protocol::{Language, words};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};
use tauri::{
    App, AppHandle, Config, Manager, Url, WebviewUrl, WebviewWindowBuilder, Wry,
    plugin::TauriPlugin,
    webview::{NewWindowResponse, PageLoadEvent},
};
use tauri_plugin_window_state::StateFlags;

/// The window's label; the capability names it too.
pub(crate) const MAIN: &str = "main";

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
pub(crate) fn open(app: &App, start: WindowAtStart) -> tauri::Result<()> {
    let title = words::say(Language::System, "window.title", &BTreeMap::new());
    let mut builder = WebviewWindowBuilder::new(app, MAIN, WebviewUrl::default())
        .title(title)
        .inner_size(1180.0, 780.0)
        .min_inner_size(760.0, 480.0)
        .center()
        // Shown once it has its place and its ground.
        .visible(false)
        .on_navigation(is_own_page)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .on_download(|_, _| false)
        .on_page_load(|window, load| {
            // What the page before had subscribed to, its successor cannot hear.
            if load.event() == PageLoadEvent::Started {
                window.state::<Subscriptions>().end_all();
                window.state::<Desk>().page_left();
            }
        });
    // Where the home cannot be used, the webview keeps its few settings in the system's place for them: the
    // window is needed to say what is wrong with the home.
    if let Some(folder) = app.state::<Place>().folder("webview") {
        builder = builder.data_directory(folder);
    }
    let window = builder.build()?;
    appearance::dress(&window)?;
    #[cfg(target_os = "linux")]
    recovery::reload_when_the_page_dies(&window)?;
    match start {
        WindowAtStart::Shown => window.show(),
        WindowAtStart::Hidden => {
            show_without_tray(app.handle().clone());
            Ok(())
        }
    }
}

/// At login the tray may come after Octo; where none comes, the window is the only way to it.
fn show_without_tray(app: AppHandle) {
    tauri::async_runtime::spawn(async move {
        tokio::time::sleep(TRAY_PATIENCE).await;
        if !app.state::<Desk>().has_tray() {
            bring_to_front(&app);
        }
    });
}

/// The page stays what it is: links go to the person's browser through a request.
pub(crate) fn is_own_page(url: &Url) -> bool {
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

/// Shows the window before all others, as far as the desktop lets it.
pub(crate) fn bring_to_front(app: &AppHandle) {
    if let Some(window) = app.get_webview_window(MAIN)
        && let Err(error) = window.unminimize().and_then(|()| window.show()).and_then(|()| window.set_focus())
    {
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
    let mut plugin = tauri_plugin_window_state::Builder::new().with_state_flags(
        StateFlags::SIZE | StateFlags::POSITION | StateFlags::MAXIMIZED | StateFlags::FULLSCREEN,
    );
    if let Some(file) = home.map(|home| home.join("window.json")).as_deref().and_then(Path::to_str) {
        // An absolute name replaces the folder the plugin would put before it.
        plugin = plugin.with_filename(file);
    }
    plugin.build()
}

#[cfg(target_os = "linux")]
mod recovery {
    //! When the process that draws the page dies, the page is loaded again; nothing of the work is in it.

    use std::{
        cell::Cell,
        rc::Rc,
        time::{Duration, Instant},
    };
    use tauri::WebviewWindow;
    use webkit2gtk::WebViewExt as _;

    /// A page that dies again this soon may go on doing so.
    const AGAIN: Duration = Duration::from_secs(30);
    /// How long such a page is left alone, so that a machine short of memory is not kept busy by it.
    const PAUSE: Duration = Duration::from_secs(10);
    /// Tells the page that it is not the first one; it says so to the person.
    const MARK: &str = "?reloaded";
    /// Where the built page is.
    const PAGE: &str = "tauri://localhost/";

    /// The webview library does not report this on Linux, so WebKit's own signal is used.
    pub(super) fn reload_when_the_page_dies(window: &WebviewWindow) -> tauri::Result<()> {
        let own = window.clone();
        window.with_webview(move |webview| {
            let last: Rc<Cell<Option<Instant>>> = Rc::default();
            webview.inner().connect_web_process_terminated(move |view, reason| {
                let soon = last.replace(Some(Instant::now())).is_some_and(|last| last.elapsed() < AGAIN);
                tracing::error!(?reason, again = soon, "the page's process ended");
                let page = successor(view.uri().as_deref());
                if soon {
                    load_later(own.clone(), page);
                } else {
                    view.load_uri(&page);
                }
            });
        })
    }

    fn load_later(window: WebviewWindow, page: String) {
        tauri::async_runtime::spawn(async move {
            tokio::time::sleep(PAUSE).await;
            if let Err(error) = window.with_webview(move |webview| webview.inner().load_uri(&page)) {
                tracing::warn!(%error, "the page could not be loaded again");
            }
        });
    }

    /// The page that comes in the place of the one at `address`. There is only one page; a view that lost its
    /// process may not know its address any more.
    fn successor(address: Option<&str>) -> String {
        let page = address.and_then(|address| address.split(['?', '#']).next());
        format!("{}{MARK}", page.filter(|page| !page.is_empty()).unwrap_or(PAGE))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn the_successor_of_a_page_is_that_page_marked() {
            for (address, marked) in [
                (Some("tauri://localhost"), "tauri://localhost?reloaded"),
                (Some("tauri://localhost/?reloaded"), "tauri://localhost/?reloaded"),
                (Some("http://localhost:5173/#x"), "http://localhost:5173/?reloaded"),
                (Some(""), "tauri://localhost/?reloaded"),
                (None, "tauri://localhost/?reloaded"),
            ] {
                assert_eq!(successor(address), marked, "{address:?}");
            }
        }
    }
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
    fn homes_have_names_of_their_own() {
        assert_eq!(fingerprint(Path::new("/a")), fingerprint(Path::new("/a")));
        assert_ne!(fingerprint(Path::new("/a")), fingerprint(Path::new("/b")));
    }
}
