//! When the process that draws the page dies, the page is loaded again; nothing of the work is in it. For Linux only: on
//! macOS the webview library does so, and on Windows nothing does yet.

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
const MARK: &str = "reloaded";
/// Where the built page is.
const PAGE: &str = "tauri://localhost/";

/// The webview library does not report this on Linux, so WebKit's own signal is used.
pub(crate) fn reload_when_the_page_dies(window: &WebviewWindow) -> tauri::Result<()> {
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

/// The page that comes in the place of the one at `address`. There is only one page, but its windows differ in what
/// they ask of it; a view that lost its process may not know its address any more.
fn successor(address: Option<&str>) -> String {
    let page = address.and_then(|address| address.split('#').next()).filter(|page| !page.is_empty());
    let page = page.unwrap_or(PAGE);
    match page.split_once('?') {
        None => format!("{page}?{MARK}"),
        Some((_, query)) if query.split('&').any(|part| part == MARK) => page.to_owned(),
        Some(_) => format!("{page}&{MARK}"),
    }
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
            (
                Some("tauri://localhost/index.html?window=1&session=x"),
                "tauri://localhost/index.html?window=1&session=x&reloaded",
            ),
            (Some("tauri://localhost/?window=1&reloaded#x"), "tauri://localhost/?window=1&reloaded"),
            (Some(""), "tauri://localhost/?reloaded"),
            (None, "tauri://localhost/?reloaded"),
        ] {
            assert_eq!(successor(address), marked, "{address:?}");
        }
    }
}
