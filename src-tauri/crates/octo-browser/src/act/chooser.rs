//! The browser's own choice of files, which a page can open on the person's screen.

use crate::{
    Events, Heard, Page,
    cdp::browser_protocol::{
        page::{EventFileChooserOpened, SetInterceptFileChooserDialogParams},
        target::SessionId,
    },
};
use futures::FutureExt as _;

/// What a page asks files for.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Asked {
    #[serde(default)]
    pub mode: String,
    pub backend_node_id: Option<i64>,
}

/// While it is held, no choice of files opens: it would stand before the browser until the person closes it, for
/// something they did not press. It must end with the act: the person's own button would be dead.
pub(super) struct Chooser<'p> {
    page: &'p Page,
    on: SessionId,
    events: Events,
}

impl<'p> Chooser<'p> {
    /// Commands of one session are carried out in their order: what comes after this opens none.
    pub(super) fn held_back(page: &'p Page, on: SessionId) -> Self {
        let events = page.link().events(Some(&on));
        page.link().tell(Some(&on), SetInterceptFileChooserDialogParams::new(true));
        Self { page, on, events }
    }

    /// Waits until the page asks for files; none where it is gone.
    pub(super) async fn asked(&mut self) -> Option<Asked> {
        loop {
            match self.events.next().await {
                Heard::Event(event) if event.method == EventFileChooserOpened::IDENTIFIER => {
                    return event.read();
                }
                Heard::Event(_) | Heard::Missed(_) => {}
                Heard::Over => return None,
            }
        }
    }

    /// Whether it has asked for files by now.
    pub(super) fn has_asked(&mut self) -> bool {
        self.asked().now_or_never().flatten().is_some()
    }
}

impl Drop for Chooser<'_> {
    fn drop(&mut self) {
        self.page.link().tell(Some(&self.on), SetInterceptFileChooserDialogParams::new(false));
    }
}
