//! Reloads the page when its rendering process crashes; no work is lost because none lives there. Linux only:
//! on macOS the webview library does it, and on Windows nothing does yet.

use std::{
    cell::Cell,
    rc::Rc,
    time::{Duration, Instant},
};
use tauri::WebviewWindow;
use webkit2gtk::WebViewExt as _;

/// A second crash within this time suggests that the page will keep crashing.
const CRASH_LOOP_TIME: Duration = Duration::from_secs(30);
/// Delay before such a page is reloaded, so that it does not keep a machine short of memory busy.
const RELOAD_DELAY: Duration = Duration::from_secs(10);
/// Query that tells the page it was reloaded, so that it can inform the person.
const RELOADED_QUERY: &str = "reloaded";
/// Address of the built page.
const PAGE: &str = "tauri://localhost/";

/// Reloads the page of a window whenever it crashes. Uses WebKit's own signal, because the webview library does not
/// report a crash on Linux.
pub(crate) fn reload_after_crash(window: &WebviewWindow) -> tauri::Result<()> {
    let page_window = window.clone();
    window.with_webview(move |webview| {
        let last_reload: Rc<Cell<Option<Instant>>> = Rc::default();
        webview.inner().connect_web_process_terminated(move |view, reason| {
            let is_crash_loop = last_reload
                .replace(Some(Instant::now()))
                .is_some_and(|reloaded_at| reloaded_at.elapsed() < CRASH_LOOP_TIME);
            tracing::error!(?reason, again = is_crash_loop, "the page's process ended");
            let page = reload_address(view.uri().as_deref());
            if is_crash_loop {
                load_later(page_window.clone(), page);
            } else {
                view.load_uri(&page);
            }
        });
    })
}

fn load_later(window: WebviewWindow, page: String) {
    tauri::async_runtime::spawn(async move {
        tokio::time::sleep(RELOAD_DELAY).await;
        if let Err(error) = window.with_webview(move |webview| webview.inner().load_uri(&page)) {
            tracing::warn!(%error, "the page could not be loaded again");
        }
    });
}

/// Returns the address of the page that replaces the one at `address`. There is only one page, but its windows
/// differ in their queries; a view that lost its process may no longer know its address.
fn reload_address(address: Option<&str>) -> String {
    let page = address.and_then(|address| address.split('#').next()).filter(|page| !page.is_empty());
    let page = page.unwrap_or(PAGE);
    match page.split_once('?') {
        None => format!("{page}?{RELOADED_QUERY}"),
        Some((_, query)) if query.split('&').any(|parameter| parameter == RELOADED_QUERY) => page.to_owned(),
        Some(_) => format!("{page}&{RELOADED_QUERY}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reloaded_page_is_marked() {
        for (address, expected) in [
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
            assert_eq!(reload_address(address), expected, "{address:?}");
        }
    }
}
