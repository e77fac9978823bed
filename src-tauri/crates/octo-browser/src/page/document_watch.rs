//! Checks that several answers describe one document. When a page moves to another process, the
//! browser sends pending commands again there, and the new page answers them.

use super::Page;
use crate::{
    NextEvent, SessionEvents, cdp::browser_protocol::page::EventFrameNavigated, wire::FrameNavigated,
};
use futures::FutureExt as _;

/// Detects whether the main frame has loaded another document since the watch began.
pub(crate) struct DocumentWatch {
    document: String,
    events: SessionEvents,
    frame: crate::cdp::browser_protocol::page::FrameId,
}

impl Page {
    pub(crate) fn watch_document(&self) -> DocumentWatch {
        // Subscribe before reading the document's id, so that a navigation in between is noticed.
        let events = self.link().events(Some(self.session()));
        DocumentWatch { document: self.document(), events, frame: self.main_frame().clone() }
    }

    /// Runs several queries and returns the result only if one document answered all of them.
    pub async fn in_one_document<T>(&self, queries: impl Future<Output = T>) -> Option<T> {
        let mut watch = self.watch_document();
        let result = queries.await;
        (watch.is_unchanged() && self.document() == watch.document).then_some(result)
    }
}

impl DocumentWatch {
    /// Returns whether no other document was loaded, even temporarily. Missed events count as a possible
    /// change.
    pub(crate) fn is_unchanged(&mut self) -> bool {
        while let Some(received) = self.events.next().now_or_never() {
            match received {
                NextEvent::Event(event) if event.method == EventFrameNavigated::IDENTIFIER => {
                    let navigated = event.read::<FrameNavigated>();
                    if navigated.is_none_or(|navigated| navigated.frame.id == self.frame) {
                        return false;
                    }
                }
                NextEvent::Event(_) => {}
                NextEvent::Missed(_) | NextEvent::Ended => return false,
            }
        }
        true
    }
}
