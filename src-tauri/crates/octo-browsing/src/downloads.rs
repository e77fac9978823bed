//! Downloads of the page in use, into the folder that the person chose. A download without the person's consent
//! is stopped as soon as it begins. If the browser reports no downloads, nothing is done in a page.

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

/// How long a requested download may take to begin.
const BEGIN_TIMEOUT: Duration = Duration::from_secs(5);
/// How long to wait for a requested download; a longer one is reported later.
const REQUESTED_WAIT: Duration = Duration::from_secs(10);
/// How long to wait for a download that another act caused.
const INCIDENTAL_WAIT: Duration = Duration::from_secs(2);

/// Whether a call requests a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ExpectedDownload {
    /// It requests a file.
    AFile,
    /// It may cause a download.
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
    Coming,
    /// The person or the network stopped it.
    Stopped,
    /// The person was not asked about it, so it was stopped.
    Unasked {
        /// The site it came from.
        from: String,
        /// Its path, if it could be neither stopped nor deleted.
        kept: Option<PathBuf>,
    },
}

/// A download event of the page.
#[derive(Debug)]
enum DownloadUpdate {
    /// It began.
    Began { guid: String, name: String },
    /// It reached this state.
    Came { guid: String, course: DownloadStatus },
}

impl DownloadReport {
    /// Formats it as one line. It is put into the block, because file names and text derived from them are
    /// page-controlled.
    pub fn line(&self) -> String {
        match &self.status {
            DownloadStatus::Done { path: Some(path), bytes } => {
                format!("there, {bytes} bytes: {}", path.display())
            }
            DownloadStatus::Done { path: None, bytes } => format!("there, {bytes} bytes: {}", self.name),
            DownloadStatus::Coming => format!("still coming: {}", self.name),
            DownloadStatus::Stopped => format!("stopped, nothing was kept: {}", self.name),
            DownloadStatus::Unasked { from, kept: None } => {
                format!("not taken, nothing was kept: {} from {from}", self.name)
            }
            DownloadStatus::Unasked { from, kept: Some(path) } => {
                format!("it was there before it could be stopped: {} from {from}", path.display())
            }
        }
    }
}

/// Guard under which a download is accepted.
pub(crate) struct ExpectedDownloadGuard(Arc<Mutex<DownloadGuard>>);

impl Drop for ExpectedDownloadGuard {
    fn drop(&mut self) {
        self.0.lock().awaiting = ExpectedDownload::Nothing;
    }
}

/// The downloads of the pages that a session works in.
#[derive(Default)]
pub(crate) struct SessionDownloads {
    listening: Option<DownloadListener>,
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
        let guard = DownloadGuard { hand: Some(controller), ..DownloadGuard::default() };
        Self { guard: Arc::new(Mutex::new(guard)), ..Self::default() }
    }

    /// Starts listening to the downloads of this page.
    ///
    /// # Errors
    ///
    /// The browser does not report downloads. Nothing is done in a page whose downloads could not be stopped.
    pub async fn listen(&mut self, connected: &BrowserConnection, page: &Page) -> Result<(), ToolError> {
        self.guard.lock().page = Some(page.downgrade());
        self.drain();
        if self.listening.is_none() {
            self.in_progress.clear();
            let listening = DownloadListener::begin(connected, Arc::clone(&self.guard)).await;
            let unguarded = |error| {
                ToolError::new(format!(
                    "Nothing was done in the page: the browser does not tell of downloads ({error}), so a file that nobody was asked about could not be stopped. Try again once; if it stays so, tell the person."
                ))
            };
            self.listening = Some(listening.map_err(unguarded)?);
        }
        Ok(())
    }

    /// Sets whether the person was asked about a download by the current call. This applies until the call
    /// drops the guard, and to the first download that begins.
    pub fn expect(&self, awaiting: ExpectedDownload) -> ExpectedDownloadGuard {
        self.guard.lock().awaiting = awaiting;
        ExpectedDownloadGuard(Arc::clone(&self.guard))
    }

    /// Returns the downloads since the last query. Waits briefly for those that have just begun.
    pub async fn take_reports(&mut self, awaiting: ExpectedDownload) -> Vec<DownloadReport> {
        let started = Instant::now();
        let (mut deadline, limit) = match awaiting {
            ExpectedDownload::AFile => (started + BEGIN_TIMEOUT, started + REQUESTED_WAIT),
            ExpectedDownload::Nothing => (started, started + INCIDENTAL_WAIT),
        };
        let (mut reports, mut fresh) = (Vec::new(), HashSet::new());
        loop {
            self.drain();
            while let Some(news) = self.updates.pop_front() {
                match news {
                    DownloadUpdate::Began { guid, name } => {
                        self.in_progress.insert(guid.clone(), name);
                        fresh.insert(guid);
                        deadline = limit;
                    }
                    DownloadUpdate::Came { guid, course: status } => {
                        fresh.remove(&guid);
                        let name = self.in_progress.remove(&guid);
                        reports.extend(name.map(|name| DownloadReport { name, status }));
                    }
                }
            }
            if fresh.is_empty() && (awaiting == ExpectedDownload::Nothing || !reports.is_empty()) {
                break;
            }
            let Some(listening) = &mut self.listening else { break };
            match timeout_at(deadline, listening.receiver.recv()).await {
                Ok(Some(news)) => self.updates.push_back(news),
                Ok(None) => self.listening = None,
                Err(_) => break,
            }
        }
        let downloads = fresh.iter().filter_map(|guid| self.in_progress.get(guid));
        reports.extend(
            downloads.map(|name| DownloadReport { name: name.clone(), status: DownloadStatus::Coming }),
        );
        reports
    }

    /// Processes the events received so far.
    fn drain(&mut self) {
        while let Some(listening) = &mut self.listening {
            match listening.receiver.try_recv() {
                Ok(news) => self.updates.push_back(news),
                Err(mpsc::error::TryRecvError::Disconnected) => self.listening = None,
                Err(mpsc::error::TryRecvError::Empty) => return,
            }
        }
    }
}
