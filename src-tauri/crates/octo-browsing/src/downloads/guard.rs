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

/// Time for which a tab that the page opened counts as part of the page: the person may use a tab that stays
/// longer.
const OPENED_TAB_WINDOW: Duration = Duration::from_secs(20);

/// Maximum wait until a frame event is processed. It is already processed unless another query of the page is
/// running.
const FRAME_EVENT_TIMEOUT: Duration = Duration::from_secs(1);
/// Interval at which the page's frames are polled.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The page whose downloads are watched, and which of them are accepted.
#[derive(Debug, Default)]
pub(super) struct DownloadGuard {
    /// The page in use, as a weak handle: downloads of a released page are the person's.
    pub page: Option<WeakPage>,
    /// The download that the person was asked about and that has not begun yet.
    pub expected: ExpectedDownload,
    /// Who controls the page.
    pub controller: Option<watch::Receiver<PageController>>,
}

impl DownloadGuard {
    /// Returns whether a download that begins now lacks the person's consent. Downloads that begin while the
    /// person controls the page are theirs.
    ///
    /// Consent covers one file: the first download that begins uses it up.
    fn needs_consent(&mut self) -> bool {
        let agent_controls =
            self.controller.as_ref().is_none_or(|controller| *controller.borrow() == PageController::Agent);
        agent_controls && std::mem::take(&mut self.expected) == ExpectedDownload::Nothing
    }
}

/// Listens to downloads until it is dropped.
pub(super) struct DownloadListener {
    pub receiver: mpsc::UnboundedReceiver<DownloadUpdate>,
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
        connection: &BrowserConnection,
        guard: Arc<Mutex<DownloadGuard>>,
    ) -> Result<Self, CallError> {
        let (downloads, opened_tabs) =
            tokio::join!(Downloads::watch(&connection.link), connection.tabs.watch());
        let (sender, receiver) = mpsc::unbounded_channel();
        let watcher = DownloadWatcher {
            downloads: downloads?,
            opened_tabs: opened_tabs?,
            tabs: connection.tabs.clone(),
            openers: HashMap::new(),
            guard,
            cancelled_sites: HashMap::new(),
            names: HashMap::new(),
            sender,
        };
        Ok(Self { receiver, task: tokio::spawn(watcher.watch()) })
    }
}

/// Watches downloads. The browser reports those of all pages; the ones of other pages are ignored and not
/// reported.
struct DownloadWatcher {
    downloads: Downloads,
    opened_tabs: OpenedTabs,
    tabs: Tabs,
    /// The opener of each tab, with the time: a tab that was opened for a download closes before it can be queried.
    openers: HashMap<TargetId, (TargetId, Instant)>,
    guard: Arc<Mutex<DownloadGuard>>,
    /// The source sites of downloads that are being cancelled, by the download's id.
    cancelled_sites: HashMap<String, String>,
    /// The names of the page's downloads in progress, by the download's id.
    names: HashMap<String, String>,
    sender: mpsc::UnboundedSender<DownloadUpdate>,
}

impl DownloadWatcher {
    async fn watch(mut self) {
        while let Some(event) = self.downloads.next().await {
            let update = match event {
                DownloadEvent::Began { guid, frame, url, name } => {
                    self.begin_download(guid, &frame, &url, name).await
                }
                DownloadEvent::Done { guid, path, bytes } => self.finish_download(guid, path, bytes).await,
                DownloadEvent::Stopped { guid } => self.names.remove(&guid).map(|_| {
                    let origin = self.cancelled_sites.remove(&guid);
                    let status = origin.map_or(DownloadStatus::Stopped, |origin| {
                        DownloadStatus::WithoutConsent { from: origin, remaining_path: None }
                    });
                    DownloadUpdate::Ended { guid, status }
                }),
            };
            if update.is_some_and(|update| self.sender.send(update).is_err()) {
                return;
            }
        }
    }

    async fn finish_download(
        &mut self,
        guid: String,
        path: Option<PathBuf>,
        bytes: u64,
    ) -> Option<DownloadUpdate> {
        let name = self.names.remove(&guid)?;
        let Some(origin) = self.cancelled_sites.remove(&guid) else {
            return Some(DownloadUpdate::Ended { guid, status: DownloadStatus::Done { path, bytes } });
        };
        // It completed before the browser received the cancellation.
        let removed = match &path {
            Some(path) => tokio::fs::remove_file(path).await,
            None => Err(std::io::ErrorKind::NotFound.into()),
        };
        let remaining_path = removed.err().map(|error| {
            tracing::debug!(%error, "a file that nobody was asked about stays");
            path.unwrap_or_else(|| PathBuf::from(name))
        });
        Some(DownloadUpdate::Ended {
            guid,
            status: DownloadStatus::WithoutConsent { from: origin, remaining_path },
        })
    }

    async fn begin_download(
        &mut self,
        guid: String,
        frame: &FrameId,
        url: &str,
        name: String,
    ) -> Option<DownloadUpdate> {
        let page = self.guard.lock().page.as_ref().and_then(WeakPage::upgrade)?;
        if !self.belongs_to_page(&page, frame).await {
            return None;
        }
        // A download of another page uses up no consent.
        if self.guard.lock().needs_consent() {
            self.downloads.stop(&guid);
            let origin = PageAddress::of(url);
            let origin = origin.site().map_or_else(|| "the page itself".to_owned(), ToString::to_string);
            self.cancelled_sites.insert(guid.clone(), origin);
        }
        self.names.insert(guid.clone(), name.clone());
        Some(DownloadUpdate::Began { guid, name })
    }

    /// Returns whether a frame belongs to the page, or to a tab that the page opened.
    async fn belongs_to_page(&mut self, page: &Page, frame: &FrameId) -> bool {
        if page.has_frame(frame) {
            return true;
        }
        // New tabs are reported before their downloads.
        while let Some(Some(tab)) = self.opened_tabs.next().now_or_never() {
            self.openers.extend(tab.opener.map(|opener| (tab.target, (opener, Instant::now()))));
        }
        self.openers.retain(|_, (_, opened)| opened.elapsed() < OPENED_TAB_WINDOW);
        // A tab's target id equals its main frame's id.
        let tab = TargetId::new(frame.inner().clone());
        if self.openers.get(&tab).is_some_and(|(opener, _)| opener == page.target()) {
            return true;
        }
        if self.tabs.list().await.is_ok_and(|tabs| tabs.iter().any(|listed| listed.target == tab)) {
            return false;
        }
        if page.frames().await.is_ok_and(|frames| frames.iter().any(|present| present.id == *frame)) {
            return true;
        }
        // The frame may be gone, or the page may be blocked by a dialog or its own script. But the page
        // reported each frame before its download, so wait for pending events. A download without a matching
        // frame belongs to another page.
        let deadline = Instant::now() + FRAME_EVENT_TIMEOUT;
        while !page.has_frame(frame) {
            if Instant::now() >= deadline || !page.is_attached() {
                return false;
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_consent_covers_one_file_and_the_persons_downloads_use_none() {
        let controller = watch::Sender::new(PageController::Person);
        let mut guard = DownloadGuard {
            expected: ExpectedDownload::File,
            controller: Some(controller.subscribe()),
            ..DownloadGuard::default()
        };
        assert!(!guard.needs_consent(), "the person's own");
        controller.send_replace(PageController::Agent);
        assert!(!guard.needs_consent(), "the one that was asked about");
        assert!(guard.needs_consent(), "and no other");
    }
}
