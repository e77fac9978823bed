//! The tab in use: attached to, watched and, in the end, left as it was.

mod attach;
mod dialog;
mod error;
mod frames;
mod listen;
mod liveness;
mod navigate;
mod origin;
mod picture;
mod steady;
mod window;

#[cfg(test)]
mod tests;

pub use dialog::{Answer, Dialog, DialogKind};
pub use error::PageError;
pub use frames::Frame;
pub use liveness::Liveness;
pub use navigate::{Arrival, History, NavigateError};
pub(crate) use picture::Framed;
pub use picture::{Area, Front, Picture, PictureFormat};

use crate::{
    CallError, Link,
    cdp::browser_protocol::{
        page::FrameId,
        target::{DetachFromTargetParams, SessionId, TargetId},
    },
};
use chromiumoxide::Command;
use dialog::NoDialog;
use frames::FrameNames;
use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::{broadcast, watch},
    task::JoinHandle,
};

/// How many events of a page are kept for a slow reader.
const NEWS: usize = 256;

/// What happens to a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageEvent {
    /// The main frame shows another document, or the same one under another address. Whoever grants sites looks at
    /// each of these.
    Committed(Committed),
    /// The main document and all it needs came.
    Loaded,
    /// A dialog stands open: nothing else of the page answers.
    DialogOpened(Dialog),
    /// It is closed, by whomever.
    DialogClosed,
    /// The page's process died.
    Crashed,
    /// A frame of another site came, with a session of its own.
    FrameAttached(FrameId),
    /// One went.
    FrameDetached(FrameId),
    /// Events were missed; what is known of the page was read anew.
    Missed,
    /// The tab was closed, or the connection is over.
    Detached,
}

/// What the main frame shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The address, with its fragment.
    pub url: String,
    /// Its origin, `https://example.org`; `null` for what has none, an error page above all. An empty page that
    /// another page opened has the origin of that one; `://` where the browser does not tell whose it is.
    pub origin: String,
    /// Whether the document is another one.
    pub document: Document,
}

/// Whether a commit brought another document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Document {
    /// Another one: all refs of the old one are gone. This is its loader's name.
    New(String),
    /// The same, under another address.
    Same,
}

/// The tab in use. Clones are one; when the last is dropped, the tab is detached from and left as it was.
#[derive(Clone)]
pub struct Page(Arc<Attached>);

/// A page that is not held: it is gone with the last that holds it.
#[derive(Clone)]
pub struct WeakPage(Weak<Attached>);

impl WeakPage {
    /// The page, if somebody holds it still.
    pub fn upgrade(&self) -> Option<Page> {
        self.0.upgrade().map(Page)
    }
}

impl fmt::Debug for WeakPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakPage").finish_non_exhaustive()
    }
}

struct Attached {
    core: Arc<Core>,
    listening: JoinHandle<()>,
}

/// What the page's listener shares with its handles.
struct Core {
    link: Link,
    target: TargetId,
    session: SessionId,
    main_frame: FrameId,
    known: Mutex<Known>,
    dialog: watch::Sender<Option<Dialog>>,
    /// How often what was drawn was taken away: what was to be drawn before is not drawn any more.
    cleared: AtomicU64,
    news: broadcast::Sender<PageEvent>,
}

struct Known {
    committed: Committed,
    loader: String,
    health: Health,
    /// Frames of other sites: each has a session of its own.
    children: HashMap<SessionId, Child>,
    /// All frames, by their names.
    frames: FrameNames,
}

#[derive(Clone)]
struct Child {
    frame: FrameId,
    parent: Option<FrameId>,
}

/// Whether the page's process is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    Well,
    Crashed,
    Gone,
}

impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page").field("target", &self.0.core.target).finish_non_exhaustive()
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        self.listening.abort();
        self.core.detach();
    }
}

impl Page {
    /// The page, not held.
    pub fn downgrade(&self) -> WeakPage {
        WeakPage(Arc::downgrade(&self.0))
    }

    /// The page's name in the protocol.
    pub fn target(&self) -> &TargetId {
        &self.0.core.target
    }

    /// The session of its main frame.
    pub fn session(&self) -> &SessionId {
        &self.0.core.session
    }

    /// Its main frame.
    pub fn main_frame(&self) -> &FrameId {
        &self.0.core.main_frame
    }

    /// The line it is attached over.
    pub fn link(&self) -> &Link {
        &self.0.core.link
    }

    /// What the main frame shows now.
    pub fn committed(&self) -> Committed {
        self.0.core.known().committed.clone()
    }

    /// The origin of what the main frame shows now.
    pub fn origin(&self) -> String {
        self.0.core.known().committed.origin.clone()
    }

    /// The name of the main frame's document: another one means that the old document's nodes are gone.
    pub fn document(&self) -> String {
        self.0.core.known().loader.clone()
    }

    /// Whether the tab is there and attached to. A page that crashed is.
    pub fn is_attached(&self) -> bool {
        self.0.core.known().health != Health::Gone
    }

    /// How often what was drawn onto it was taken away.
    pub(crate) fn cleared(&self) -> u64 {
        self.0.core.cleared.load(Ordering::Relaxed)
    }

    pub(crate) fn begin_clearing(&self) {
        self.0.core.cleared.fetch_add(1, Ordering::Relaxed);
    }

    fn has_crashed(&self) -> bool {
        self.0.core.known().health == Health::Crashed
    }

    /// What happens to the page from now on.
    pub fn events(&self) -> broadcast::Receiver<PageEvent> {
        self.0.core.news.subscribe()
    }

    /// Sends a command to the page's main frame. A dialog that opens meanwhile, or that is open, ends the wait: the
    /// page answers nothing until it is closed.
    ///
    /// # Errors
    ///
    /// [`PageError`]. After [`PageError::Dialog`] the page may still do what it was told.
    pub async fn call<C: Command>(&self, command: C, limit: Duration) -> Result<C::Response, PageError> {
        self.call_in(self.session(), command, limit).await
    }

    /// The same, to the frame of another site that has this session.
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
        self.unless_dialog(async { Ok(self.0.core.link.call(Some(session), command, limit).await?) }).await
    }

    /// Waits for something of the page, or for a dialog to stop it.
    ///
    /// # Errors
    ///
    /// What the future's are, and [`PageError::Dialog`], [`PageError::Crashed`] and [`PageError::Detached`].
    pub async fn unless_dialog<T>(
        &self,
        doing: impl Future<Output = Result<T, PageError>>,
    ) -> Result<T, PageError> {
        match self.0.core.known().health {
            Health::Well => {}
            Health::Crashed => return Err(PageError::Crashed),
            Health::Gone => return Err(PageError::Detached),
        }
        let mut events = self.events();
        if let Some(dialog) = self.dialog() {
            return Err(PageError::Dialog(dialog));
        }
        let stopped = async {
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
            result = doing => match result {
                // The session's calls fail when the page goes, at the same moment as that is told.
                Err(PageError::Call(CallError::Gone { .. })) if self.0.core.known().health == Health::Gone => {
                    Err(PageError::Detached)
                }
                result => result,
            },
            stop = stopped => Err(stop),
        }
    }

    /// The dialog that stands open.
    pub fn dialog(&self) -> Option<Dialog> {
        self.0.core.dialog.borrow().clone()
    }

    /// Closes the dialog that stands open.
    ///
    /// # Errors
    ///
    /// [`PageError::NoDialog`] when there is none (any more).
    pub async fn answer(&self, answer: Answer) -> Result<(), PageError> {
        match dialog::answer(&self.0.core, answer).await {
            Ok(()) => Ok(()),
            Err(NoDialog::None) => Err(PageError::NoDialog),
            Err(NoDialog::Call(error)) => Err(PageError::Call(error)),
        }
    }
}

impl Core {
    fn known(&self) -> MutexGuard<'_, Known> {
        // Nothing that is done under this lock can panic half-way.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, event: PageEvent) {
        // Nobody needs to listen.
        let _ = self.news.send(event);
    }

    /// Ends the session, and with it everything that was switched on in it.
    fn detach(&self) {
        if self.known().health != Health::Gone {
            let session = Some(self.session.clone());
            self.link.tell(None, DetachFromTargetParams { session_id: session });
        }
    }
}
