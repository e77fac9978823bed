//! The browser's file chooser, which a page can open on the person's screen.

use crate::{
    NextEvent, Page, SessionEvents,
    cdp::browser_protocol::{
        page::{EventFileChooserOpened, SetInterceptFileChooserDialogParams},
        target::SessionId,
    },
};
use futures::FutureExt as _;

/// A page's request for files.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileRequest {
    #[serde(default)]
    pub mode: String,
    pub backend_node_id: Option<i64>,
}

/// Guard that keeps file choosers from opening. A chooser would block the browser until the person closes it,
/// although they did not press anything. Drop the guard with the act; otherwise the person's own file buttons
/// stop working.
pub(super) struct ChooserGuard<'p> {
    page: &'p Page,
    session: SessionId,
    events: SessionEvents,
}

impl<'p> ChooserGuard<'p> {
    /// Suppresses choosers from the next command on: the browser executes the commands of a session in order.
    pub(super) fn suppress(page: &'p Page, session_id: SessionId) -> Self {
        let events = page.link().events(Some(&session_id));
        page.link().send(Some(&session_id), SetInterceptFileChooserDialogParams::new(true));
        Self { page, session: session_id, events }
    }

    /// Waits until the page asks for files. Returns `None` if the page is gone.
    pub(super) async fn file_request(&mut self) -> Option<FileRequest> {
        loop {
            match self.events.next().await {
                NextEvent::Event(event) if event.method == EventFileChooserOpened::IDENTIFIER => {
                    return event.read();
                }
                NextEvent::Event(_) | NextEvent::Missed(_) => {}
                NextEvent::Ended => return None,
            }
        }
    }

    /// Returns whether the page has asked for files by now.
    pub(super) fn has_asked(&mut self) -> bool {
        self.file_request().now_or_never().flatten().is_some()
    }
}

impl Drop for ChooserGuard<'_> {
    fn drop(&mut self) {
        self.page.link().send(Some(&self.session), SetInterceptFileChooserDialogParams::new(false));
    }
}
