//! The tab in use: Octo attaches to it, observes it, and finally detaches from it without having changed it.

mod attach;
mod dialog;
mod document_watch;
mod error;
mod frames;
mod listen;
mod liveness;
mod navigate;
mod origin;
mod picture;
mod window;

#[cfg(test)]
mod tests;

pub use dialog::{Dialog, DialogKind, DialogReply};
pub use error::PageError;
pub use frames::Frame;
pub use liveness::Liveness;
pub use navigate::{HistoryDirection, NavigateError, NavigationOutcome};
pub(crate) use picture::MeasuredArea;
pub use picture::{BringToFront, PagePicture, PictureArea, PictureFormat};

use crate::{
    CallError, Link,
    cdp::browser_protocol::{
        page::FrameId,
        target::{DetachFromTargetParams, SessionId, TargetId},
    },
};
use chromiumoxide::Command;
use dialog::DialogCloseError;
use frames::FrameIds;
use parking_lot::{Mutex, MutexGuard};
use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::{broadcast, watch},
    task::JoinHandle,
};

/// Number of page events buffered for a slow reader.
const EVENT_BUFFER: usize = 256;

/// A page event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageEvent {
    /// The main frame shows another document, or the same one under another address. Site permissions are
    /// checked at each of these.
    Committed(CommittedDocument),
    /// The main document and its resources have loaded.
    Loaded,
    /// A dialog is open: nothing else in the page answers.
    DialogOpened(Dialog),
    /// The dialog was closed, by the person or by Octo.
    DialogClosed,
    /// The page's process crashed.
    Crashed,
    /// A cross-site frame with its own session was added.
    FrameAttached(FrameId),
    /// A cross-site frame with its own session was removed.
    FrameDetached(FrameId),
    /// Events were missed; the page's state was read again.
    Missed,
    /// The tab was closed, or the connection ended.
    Detached,
}

/// The document that the main frame shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommittedDocument {
    /// The address, with its fragment.
    pub url: String,
    /// The origin, such as `https://example.org`; `null` if it has none, above all for an error page. An empty
    /// page that another page opened has its opener's origin; `://` if the browser does not disclose it.
    pub origin: String,
    /// The document: a new one, or the same under another address.
    pub document: DocumentChange,
}

/// The effect of a commit on the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentChange {
    /// Replaced: all references into the old one are invalid. Contains the new loader's id.
    New(String),
    /// The same document under another address.
    Same,
}

/// The tab in use. Clones share it; dropping the last one detaches from the tab and leaves it as it was.
#[derive(Clone)]
pub struct Page(Arc<PageInner>);

/// A weak handle on a page, which does not keep it attached.
#[derive(Clone)]
pub struct WeakPage(Weak<PageInner>);

impl WeakPage {
    /// Returns the page if a strong handle still exists.
    pub fn upgrade(&self) -> Option<Page> {
        self.0.upgrade().map(Page)
    }
}

impl fmt::Debug for WeakPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakPage").finish_non_exhaustive()
    }
}

struct PageInner {
    core: Arc<PageCore>,
    listener: JoinHandle<()>,
}

/// State shared between the page's listener and its handles.
struct PageCore {
    link: Link,
    target: TargetId,
    session: SessionId,
    main_frame: FrameId,
    state: Mutex<PageState>,
    dialog: watch::Sender<Option<Dialog>>,
    /// Generation counter, bumped when the overlay is cleared; stale draw requests are dropped.
    overlay_generation: AtomicU64,
    event_sender: broadcast::Sender<PageEvent>,
}

struct PageState {
    committed: CommittedDocument,
    loader: String,
    health: PageHealth,
    /// Cross-site frames, each with its own session.
    child_frames: HashMap<SessionId, ChildFrame>,
    /// The ids of all frames.
    frame_ids: FrameIds,
}

#[derive(Clone)]
struct ChildFrame {
    frame: FrameId,
    parent: Option<FrameId>,
}

/// State of the page's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PageHealth {
    Alive,
    Crashed,
    Gone,
}

impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page").field("target", &self.0.core.target).finish_non_exhaustive()
    }
}

impl Drop for PageInner {
    fn drop(&mut self) {
        self.listener.abort();
        self.core.detach();
    }
}

impl Page {
    /// Returns a weak handle.
    pub fn downgrade(&self) -> WeakPage {
        WeakPage(Arc::downgrade(&self.0))
    }

    /// Returns the page's target id.
    pub fn target(&self) -> &TargetId {
        &self.0.core.target
    }

    /// Returns the session of the main frame.
    pub fn session(&self) -> &SessionId {
        &self.0.core.session
    }

    /// Returns the main frame.
    pub fn main_frame(&self) -> &FrameId {
        &self.0.core.main_frame
    }

    /// Returns the link over which the page is attached.
    pub fn link(&self) -> &Link {
        &self.0.core.link
    }

    /// Returns the document that the main frame shows now.
    pub fn committed(&self) -> CommittedDocument {
        self.0.core.state().committed.clone()
    }

    /// Returns the origin of the main frame's document.
    pub fn origin(&self) -> String {
        self.0.core.state().committed.origin.clone()
    }

    /// Returns the id of the main frame's document. If it changes, the old document's nodes are gone.
    pub fn document(&self) -> String {
        self.0.core.state().loader.clone()
    }

    /// Returns whether the tab exists and is attached; true for a crashed page.
    pub fn is_attached(&self) -> bool {
        self.0.core.state().health != PageHealth::Gone
    }

    /// Returns how often the overlay was cleared.
    pub(crate) fn overlay_generation(&self) -> u64 {
        self.0.core.overlay_generation.load(Ordering::Relaxed)
    }

    pub(crate) fn invalidate_overlay(&self) {
        self.0.core.overlay_generation.fetch_add(1, Ordering::Relaxed);
    }

    fn has_crashed(&self) -> bool {
        self.0.core.state().health == PageHealth::Crashed
    }

    /// Subscribes to the page's events from now on.
    pub fn events(&self) -> broadcast::Receiver<PageEvent> {
        self.0.core.event_sender.subscribe()
    }

    /// Sends a command to the page's main frame. An open or newly opened dialog ends the wait, because the page
    /// answers nothing until it is closed.
    ///
    /// # Errors
    ///
    /// [`PageError`]. After [`PageError::Dialog`] the page may still execute the command.
    pub async fn call<C: Command>(&self, command: C, limit: Duration) -> Result<C::Response, PageError> {
        self.call_in(self.session(), command, limit).await
    }

    /// Sends a command to the cross-site frame with this session.
    ///
    /// # Errors
    ///
    /// As [`Self::call`].
    pub async fn call_in<C: Command>(
        &self,
        session: &SessionId,
        command: C,
        limit: Duration,
    ) -> Result<C::Response, PageError> {
        self.until_dialog(async { Ok(self.0.core.link.call(Some(session), command, limit).await?) }).await
    }

    /// Waits for a future, or until a dialog blocks the page.
    ///
    /// # Errors
    ///
    /// The future's own errors, and [`PageError::Dialog`], [`PageError::Crashed`] and [`PageError::Detached`].
    pub async fn until_dialog<T>(
        &self,
        action: impl Future<Output = Result<T, PageError>>,
    ) -> Result<T, PageError> {
        match self.0.core.state().health {
            PageHealth::Alive => {}
            PageHealth::Crashed => return Err(PageError::Crashed),
            PageHealth::Gone => return Err(PageError::Detached),
        }
        let mut events = self.events();
        if let Some(dialog) = self.dialog() {
            return Err(PageError::Dialog(dialog));
        }
        let interrupted = async {
            loop {
                match events.recv().await {
                    Ok(PageEvent::DialogOpened(dialog)) => return PageError::Dialog(dialog),
                    Ok(PageEvent::Crashed) => return PageError::Crashed,
                    Ok(PageEvent::Detached) | Err(broadcast::error::RecvError::Closed) => {
                        return PageError::Detached;
                    }
                    Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
                }
            }
        };
        tokio::select! {
            biased;
            result = action => match result {
                // The calls of a page's session fail at the moment the page is reported as gone.
                Err(PageError::Call(CallError::Gone { .. })) if self.0.core.state().health == PageHealth::Gone => {
                    Err(PageError::Detached)
                }
                result => result,
            },
            stop = interrupted => Err(stop),
        }
    }

    /// Returns the open dialog, if any.
    pub fn dialog(&self) -> Option<Dialog> {
        self.0.core.dialog.borrow().clone()
    }

    /// Closes the open dialog.
    ///
    /// # Errors
    ///
    /// [`PageError::NoDialog`] if no dialog is open any more.
    pub async fn answer(&self, reply: DialogReply) -> Result<(), PageError> {
        match dialog::answer(&self.0.core, reply).await {
            Ok(()) => Ok(()),
            Err(DialogCloseError::NotOpen) => Err(PageError::NoDialog),
            Err(DialogCloseError::Call(error)) => Err(PageError::Call(error)),
        }
    }
}

impl PageCore {
    fn state(&self) -> MutexGuard<'_, PageState> {
        // No code under this lock can panic half-way.
        self.state.lock()
    }

    fn publish(&self, event: PageEvent) {
        // Sending fails only if there is no receiver.
        let _ = self.event_sender.send(event);
    }

    /// Ends the session, and with it everything that was enabled in it.
    fn detach(&self) {
        if self.state().health != PageHealth::Gone {
            let session = Some(self.session.clone());
            self.link.send(None, DetachFromTargetParams { session_id: session });
        }
    }
}
