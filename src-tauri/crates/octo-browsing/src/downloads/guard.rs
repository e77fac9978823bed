//! Handles a download at the moment it begins, independent of any caller.

use super::{DownloadStatus, DownloadUpdate, ExpectedDownload};
use futures::FutureExt as _;
use octo_browser::{
    BrowserConnection, CallError, DownloadEvent, Downloads, OpenedTabs, Page, Tabs, WeakPage,
    cdp::browser_protocol::{page::FrameId, target::TargetId},
    safety::PageAddress,
};
use octo_protocol::PageController;
use parking_lot::Mutex;
use std::{collections::HashMap, path::PathBuf, sync::Arc, time::Duration};
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
    time::Instant,
};

/// How long a tab opened by the page counts as the page's: a tab that stays longer may be in the person's use.
const OPENED_TAB_WINDOW: Duration = Duration::from_secs(20);

/// How long to wait for a frame event to be processed, and the polling interval. It is already processed unless
/// another query of the page is running.
const FRAME_EVENT_TIMEOUT: Duration = Duration::from_secs(1);
const GLANCE: Duration = Duration::from_millis(20);

/// The page whose downloads are watched, and which of them are accepted.
#[derive(Debug, Default)]
pub(super) struct DownloadGuard {
    /// The page in use, as a weak handle: downloads of a released page are its person's.
    pub page: Option<WeakPage>,
    /// The download that the person was asked about and that has not begun yet.
    pub awaiting: ExpectedDownload,
    /// Who controls the page.
    pub hand: Option<watch::Receiver<PageController>>,
}

impl DownloadGuard {
    /// Returns whether a download that begins now lacks the person's consent. Downloads that begin while the
    /// person controls the page are theirs.
    ///
    /// Consent covers one file: the first download that begins uses it up.
    fn stops(&mut self) -> bool {
        let is_agents = self.hand.as_ref().is_none_or(|hand| *hand.borrow() == PageController::Agent);
        is_agents && std::mem::take(&mut self.awaiting) == ExpectedDownload::Nothing
    }
}

/// Listens until it is dropped.
pub(super) struct DownloadListener {
    pub heard: mpsc::UnboundedReceiver<DownloadUpdate>,
    task: JoinHandle<()>,
}

impl Drop for DownloadListener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl DownloadListener {
    /// Starts listening.
    ///
    /// # Errors
    ///
    /// The browser does not report downloads, or the tabs opened for them, so none could be stopped.
    pub async fn begin(
        connected: &BrowserConnection,
        guard: Arc<Mutex<DownloadGuard>>,
    ) -> Result<Self, CallError> {
        let (downloads, opened) = tokio::join!(Downloads::watch(&connected.link), connected.tabs.watch());
        let (tell, heard) = mpsc::unbounded_channel();
        let watcher = DownloadWatcher {
            downloads: downloads?,
            opened: opened?,
            tabs: connected.tabs.clone(),
            openers: HashMap::new(),
            guard,
            unasked: HashMap::new(),
            known: HashMap::new(),
            tell,
        };
        Ok(Self { heard, task: tokio::spawn(watcher.watch()) })
    }
}

/// Watches downloads. The browser reports those of all pages; the ones of other pages are ignored and not
/// reported.
struct DownloadWatcher {
    downloads: Downloads,
    opened: OpenedTabs,
    tabs: Tabs,
    /// The opener of each tab, with the time: a tab opened for a download is gone before it could be queried.
    openers: HashMap<TargetId, (TargetId, Instant)>,
    guard: Arc<Mutex<DownloadGuard>>,
    /// The source sites of downloads being stopped.
    unasked: HashMap<String, String>,
    /// The page's downloads in progress, with their names.
    known: HashMap<String, String>,
    tell: mpsc::UnboundedSender<DownloadUpdate>,
}

impl DownloadWatcher {
    async fn watch(mut self) {
        while let Some(event) = self.downloads.next().await {
            let news = match event {
                DownloadEvent::Began { guid, frame, url, name } => self.began(guid, &frame, &url, name).await,
                DownloadEvent::Done { guid, path, bytes } => self.done(guid, path, bytes).await,
                DownloadEvent::Stopped { guid } => self.known.remove(&guid).map(|_| {
                    let unasked = self.unasked.remove(&guid);
                    let course = unasked
                        .map_or(DownloadStatus::Stopped, |from| DownloadStatus::Unasked { from, kept: None });
                    DownloadUpdate::Came { guid, course }
                }),
            };
            if news.is_some_and(|news| self.tell.send(news).is_err()) {
                return;
            }
        }
    }

    async fn done(&mut self, guid: String, path: Option<PathBuf>, bytes: u64) -> Option<DownloadUpdate> {
        let name = self.known.remove(&guid)?;
        let Some(from) = self.unasked.remove(&guid) else {
            return Some(DownloadUpdate::Came { guid, course: DownloadStatus::Done { path, bytes } });
        };
        // It completed before the browser received the cancellation.
        let gone = match &path {
            Some(path) => tokio::fs::remove_file(path).await,
            None => Err(std::io::ErrorKind::NotFound.into()),
        };
        let kept = gone.err().map(|error| {
            tracing::debug!(%error, "a file that nobody was asked about stays");
            path.unwrap_or_else(|| PathBuf::from(name))
        });
        Some(DownloadUpdate::Came { guid, course: DownloadStatus::Unasked { from, kept } })
    }

    async fn began(
        &mut self,
        guid: String,
        frame: &FrameId,
        url: &str,
        name: String,
    ) -> Option<DownloadUpdate> {
        let page = self.guard.lock().page.as_ref().and_then(WeakPage::upgrade)?;
        if !self.is_of(&page, frame).await {
            return None;
        }
        // A download of another page uses up no consent.
        if self.guard.lock().stops() {
            self.downloads.stop(&guid);
            let from = PageAddress::of(url);
            let from = from.site().map_or_else(|| "the page itself".to_owned(), ToString::to_string);
            self.unasked.insert(guid.clone(), from);
        }
        self.known.insert(guid.clone(), name.clone());
        Some(DownloadUpdate::Began { guid, name })
    }

    /// Returns whether a frame belongs to the page, or to a tab that the page opened.
    async fn is_of(&mut self, page: &Page, frame: &FrameId) -> bool {
        if page.has_frame(frame) {
            return true;
        }
        // New tabs are reported before their downloads.
        while let Some(Some(tab)) = self.opened.next().now_or_never() {
            self.openers.extend(tab.opener.map(|opener| (tab.target, (opener, Instant::now()))));
        }
        self.openers.retain(|_, (_, opened)| opened.elapsed() < OPENED_TAB_WINDOW);
        // A tab's target id equals its main frame's id.
        let tab = TargetId::new(frame.inner().clone());
        if self.openers.get(&tab).is_some_and(|(opener, _)| opener == page.target()) {
            return true;
        }
        if self.tabs.list().await.is_ok_and(|tabs| tabs.iter().any(|other| other.target == tab)) {
            return false;
        }
        if page.frames().await.is_ok_and(|frames| frames.iter().any(|one| one.id == *frame)) {
            return true;
        }
        // The frame may be gone, or the page may be blocked by a dialog or its own script. But the page
        // reported each frame before its download, so wait for pending events. A download without a matching
        // frame belongs to another page.
        let until = Instant::now() + FRAME_EVENT_TIMEOUT;
        while !page.has_frame(frame) {
            if Instant::now() >= until || !page.is_attached() {
                return false;
            }
            tokio::time::sleep(GLANCE).await;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_yes_is_for_one_file_and_what_the_person_fetches_uses_none_up() {
        let hand = watch::Sender::new(PageController::Person);
        let mut guard = DownloadGuard {
            awaiting: ExpectedDownload::AFile,
            hand: Some(hand.subscribe()),
            ..DownloadGuard::default()
        };
        assert!(!guard.stops(), "the person's own");
        hand.send_replace(PageController::Agent);
        assert!(!guard.stops(), "the one that was asked about");
        assert!(guard.stops(), "and no other");
    }
}
