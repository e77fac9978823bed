//! Whether what was looked at is of one document: commands that wait when a page goes to another process are sent
//! again there, and answered by the page that came.

use super::Page;
use crate::{Events, Heard, cdp::browser_protocol::page::EventFrameNavigated, wire::FrameNavigated};
use futures::FutureExt as _;

/// The main frame's document from a moment on.
pub(crate) struct Steady {
    document: String,
    events: Events,
    frame: crate::cdp::browser_protocol::page::FrameId,
}

impl Page {
    pub(crate) fn steady(&self) -> Steady {
        // Heard from before the name is read: a page that goes in between is heard of.
        let events = self.link().events(Some(self.session()));
        Steady { document: self.document(), events, frame: self.main_frame().clone() }
    }

    /// Looks at the page in several commands, and says whether all of them were answered by one document.
    pub async fn in_one_document<T>(&self, looking: impl Future<Output = T>) -> Option<T> {
        let mut steady = self.steady();
        let seen = looking.await;
        (steady.holds() && self.document() == steady.document).then_some(seen)
    }
}

impl Steady {
    /// Whether no other document came, one that is gone again included. News that were missed may have told of one.
    pub(crate) fn holds(&mut self) -> bool {
        while let Some(heard) = self.events.next().now_or_never() {
            match heard {
                Heard::Event(event) if event.method == EventFrameNavigated::IDENTIFIER => {
                    let navigated = event.read::<FrameNavigated>();
                    if navigated.is_none_or(|navigated| navigated.frame.id == self.frame) {
                        return false;
                    }
                }
                Heard::Event(_) => {}
                Heard::Missed(_) | Heard::Over => return false,
            }
        }
        true
    }
}
