//! Downloads of the page in use, into the folder that the person chose. A download without the person's consent
//! is stopped as soon as it begins. If the browser does not report downloads, Octo does nothing in a page.

mod guard;

use guard::{DownloadGuard, DownloadListener};

use octo_browser::{BrowserConnection, Page};
use octo_protocol::PageController;
use octo_tools::ToolError;
use parking_lot::Mutex;
use std::{
    collections::{HashMap, HashSet, VecDeque},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, timeout_at},
};

/// Timeout for a requested download to begin.
const BEGIN_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum wait for a requested download; one that takes longer is reported later.
const REQUESTED_WAIT: Duration = Duration::from_secs(10);
/// Maximum wait for a download that another act caused.
const INCIDENTAL_WAIT: Duration = Duration::from_secs(2);

/// The download that a call may cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ExpectedDownload {
    /// A file that the person was asked about.
    File,
    /// No file: a download of the page that begins anyway is stopped.
    #[default]
    Nothing,
}

/// The report on a download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DownloadReport {
    /// The name given by its server or page.
    pub name: String,
    pub status: DownloadStatus,
}

/// Progress of a download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DownloadStatus {
    /// It is complete.
    Done {
        /// The path, if the browser reports it.
        path: Option<PathBuf>,
        bytes: u64,
    },
    /// It is still in progress.
    InProgress,
    /// The person or the network stopped it.
    Stopped,
    /// The person was not asked about it, so it was stopped.
    WithoutConsent {
        /// The site it came from.
        from: String,
        /// Its path, if it could be neither stopped nor deleted.
        remaining_path: Option<PathBuf>,
    },
}

/// A download event of the page.
#[derive(Debug)]
enum DownloadUpdate {
    /// It began.
    Began { guid: String, name: String },
    /// It ended with this status.
    Ended { guid: String, status: DownloadStatus },
}

impl DownloadReport {
    /// Formats the report as one line. The line belongs in the block, because file names and text derived from them are
    /// page-controlled.
    pub fn line(&self) -> String {
        match &self.status {
            DownloadStatus::Done { path: Some(path), bytes } => {
                format!("there, {bytes} bytes: {}", path.display())
            }
            DownloadStatus::Done { path: None, bytes } => format!("there, {bytes} bytes: {}", self.name),
            DownloadStatus::InProgress => format!("still coming: {}", self.name),
            DownloadStatus::Stopped => format!("stopped, nothing was kept: {}", self.name),
            DownloadStatus::WithoutConsent { from, remaining_path: None } => {
                format!("not taken, nothing was kept: {} from {from}", self.name)
            }
            DownloadStatus::WithoutConsent { from, remaining_path: Some(path) } => {
                format!("it was there before it could be stopped: {} from {from}", path.display())
            }
        }
    }
}

/// Guard that accepts a download while it exists.
pub(crate) struct ExpectedDownloadGuard(Arc<Mutex<DownloadGuard>>);

impl Drop for ExpectedDownloadGuard {
    fn drop(&mut self) {
        self.0.lock().expected = ExpectedDownload::Nothing;
    }
}

/// The downloads of the pages that a session works in.
#[derive(Default)]
pub(crate) struct SessionDownloads {
    listener: Option<DownloadListener>,
    /// The page whose downloads are accepted, and which of them.
    guard: Arc<Mutex<DownloadGuard>>,
    /// Events received but not processed yet.
    updates: VecDeque<DownloadUpdate>,
    /// The names of the downloads in progress.
    in_progress: HashMap<String, String>,
}

impl SessionDownloads {
    /// Creates it for a session with this page control.
    pub fn new(controller: watch::Receiver<PageController>) -> Self {
        let guard = DownloadGuard { controller: Some(controller), ..DownloadGuard::default() };
        Self { guard: Arc::new(Mutex::new(guard)), ..Self::default() }
    }

    /// Starts listening to the downloads of this page.
    ///
    /// # Errors
    ///
    /// The browser does not report downloads. Nothing is done in a page whose downloads could not be stopped.
    pub async fn listen(&mut self, connection: &BrowserConnection, page: &Page) -> Result<(), ToolError> {
        self.guard.lock().page = Some(page.downgrade());
        self.drain();
        if self.listener.is_none() {
            self.in_progress.clear();
            let listener = DownloadListener::begin(connection, Arc::clone(&self.guard)).await;
            let unguarded = |error| {
                ToolError::new(format!(
                    "Nothing was done in the page: the browser does not tell of downloads ({error}), so a file that nobody was asked about could not be stopped. Try again once; if it stays so, tell the person."
                ))
            };
            self.listener = Some(listener.map_err(unguarded)?);
        }
        Ok(())
    }

    /// Sets whether the person was asked about a download by the current call. This applies until the call
    /// drops the guard, and to the first download that begins.
    pub fn expect(&self, expected: ExpectedDownload) -> ExpectedDownloadGuard {
        self.guard.lock().expected = expected;
        ExpectedDownloadGuard(Arc::clone(&self.guard))
    }

    /// Returns the downloads since the last query. Waits briefly for those that have just begun.
    pub async fn take_reports(&mut self, expected: ExpectedDownload) -> Vec<DownloadReport> {
        let started = Instant::now();
        let (mut deadline, limit) = match expected {
            ExpectedDownload::File => (started + BEGIN_TIMEOUT, started + REQUESTED_WAIT),
            ExpectedDownload::Nothing => (started, started + INCIDENTAL_WAIT),
        };
        let (mut reports, mut just_begun) = (Vec::new(), HashSet::new());
        loop {
            self.drain();
            while let Some(update) = self.updates.pop_front() {
                match update {
                    DownloadUpdate::Began { guid, name } => {
                        self.in_progress.insert(guid.clone(), name);
                        just_begun.insert(guid);
                        deadline = limit;
                    }
                    DownloadUpdate::Ended { guid, status } => {
                        just_begun.remove(&guid);
                        let name = self.in_progress.remove(&guid);
                        reports.extend(name.map(|name| DownloadReport { name, status }));
                    }
                }
            }
            if just_begun.is_empty() && (expected == ExpectedDownload::Nothing || !reports.is_empty()) {
                break;
            }
            let Some(listener) = &mut self.listener else { break };
            match timeout_at(deadline, listener.receiver.recv()).await {
                Ok(Some(update)) => self.updates.push_back(update),
                Ok(None) => self.listener = None,
                Err(_) => break,
            }
        }
        let downloads = just_begun.iter().filter_map(|guid| self.in_progress.get(guid));
        reports.extend(
            downloads.map(|name| DownloadReport { name: name.clone(), status: DownloadStatus::InProgress }),
        );
        reports
    }

    /// Processes the events received so far.
    fn drain(&mut self) {
        while let Some(listener) = &mut self.listener {
            match listener.receiver.try_recv() {
                Ok(update) => self.updates.push_back(update),
                Err(mpsc::error::TryRecvError::Disconnected) => self.listener = None,
                Err(mpsc::error::TryRecvError::Empty) => return,
            }
        }
    }
}
