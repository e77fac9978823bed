//! Files that the page in use fetches, into the folder its person chose for that.

use futures::FutureExt as _;
use octo_browser::{
    Connected, DownloadEvent, Downloads, Link, Page, Tab, cdp::browser_protocol::page::FrameId,
};
use std::{
    collections::{HashMap, HashSet, VecDeque},
    path::PathBuf,
    time::Duration,
};
use tokio::time::{Instant, timeout_at};

/// How long a file that was asked for may take to begin.
const BEGINNING: Duration = Duration::from_secs(5);
/// How long one that was asked for is waited for; a longer one is told of later.
const COMING: Duration = Duration::from_secs(10);
/// The same for one that came of something else.
const IN_PASSING: Duration = Duration::from_secs(2);

/// Whether a call is for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Awaiting {
    /// It is.
    AFile,
    /// One may come of it.
    Nothing,
}

/// What is told of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fetched {
    /// The name its server or page gave it.
    pub name: String,
    pub course: Course,
}

/// How far a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Course {
    /// It is there.
    Done {
        /// Where, if the browser says so.
        path: Option<PathBuf>,
        bytes: u64,
    },
    /// It is still coming.
    Coming,
    /// The person or the network ended it.
    Stopped,
}

impl Fetched {
    /// In one line. It goes into the block: names, and what is made of them, are the page's words.
    pub fn line(&self) -> String {
        match &self.course {
            Course::Done { path: Some(path), bytes } => format!("there, {bytes} bytes: {}", path.display()),
            Course::Done { path: None, bytes } => format!("there, {bytes} bytes: {}", self.name),
            Course::Coming => format!("still coming: {}", self.name),
            Course::Stopped => format!("stopped, nothing was kept: {}", self.name),
        }
    }
}

/// The files of the pages a session works in.
#[derive(Debug, Default)]
pub(super) struct Fetching {
    downloads: Option<Downloads>,
    /// What was told and is not taken in yet.
    news: VecDeque<DownloadEvent>,
    /// The names of those that are coming.
    coming: HashMap<String, String>,
}

impl Fetching {
    /// Listens from now on, unless it does.
    pub async fn listen(&mut self, link: &Link) {
        self.drain();
        if self.downloads.is_some() {
            return;
        }
        self.coming.clear();
        match Downloads::watch(link).await {
            Ok(downloads) => self.downloads = Some(downloads),
            // The page can be worked in without.
            Err(error) => tracing::debug!(%error, "the browser does not tell of downloads"),
        }
    }

    /// What came of the page's files since this was asked last. Those that have just begun are waited for a little.
    pub async fn told(
        &mut self,
        connected: &Connected,
        tab: &Tab,
        page: &Page,
        awaiting: Awaiting,
    ) -> Vec<Fetched> {
        let began = Instant::now();
        let (mut until, limit) = match awaiting {
            Awaiting::AFile => (began + BEGINNING, began + COMING),
            Awaiting::Nothing => (began, began + IN_PASSING),
        };
        let (mut told, mut fresh) = (Vec::new(), HashSet::new());
        loop {
            self.drain();
            while let Some(event) = self.news.pop_front() {
                match event {
                    DownloadEvent::Began { guid, frame, name, .. } => {
                        if is_of(connected, tab, page, &frame).await {
                            self.coming.insert(guid.clone(), name);
                            fresh.insert(guid);
                            until = limit;
                        }
                    }
                    DownloadEvent::Done { guid, path, bytes } => {
                        fresh.remove(&guid);
                        let name = self.coming.remove(&guid);
                        told.extend(name.map(|name| Fetched { name, course: Course::Done { path, bytes } }));
                    }
                    DownloadEvent::Stopped { guid } => {
                        fresh.remove(&guid);
                        let name = self.coming.remove(&guid);
                        told.extend(name.map(|name| Fetched { name, course: Course::Stopped }));
                    }
                }
            }
            if fresh.is_empty() && (awaiting == Awaiting::Nothing || !told.is_empty()) {
                break;
            }
            let Some(downloads) = &mut self.downloads else { break };
            match timeout_at(until, downloads.next()).await {
                Ok(Some(event)) => self.news.push_back(event),
                Ok(None) => self.downloads = None,
                Err(_) => break,
            }
        }
        let coming = fresh.iter().filter_map(|guid| self.coming.get(guid));
        told.extend(coming.map(|name| Fetched { name: name.clone(), course: Course::Coming }));
        told
    }

    /// Takes what was told already.
    fn drain(&mut self) {
        while let Some(downloads) = &mut self.downloads {
            match downloads.next().now_or_never() {
                Some(Some(event)) => self.news.push_back(event),
                Some(None) => self.downloads = None,
                None => return,
            }
        }
    }
}

/// Whether a frame is of the page, or of a tab that the page opened. The browser tells of everybody's files.
async fn is_of(connected: &Connected, tab: &Tab, page: &Page, frame: &FrameId) -> bool {
    if page.main_frame() == frame
        || page.frames().await.is_ok_and(|frames| frames.iter().any(|one| one.id == *frame))
    {
        return true;
    }
    // The name of a tab is that of its main frame.
    let tabs = connected.tabs.list().await.unwrap_or_default();
    tabs.iter().any(|one| one.target.inner() == frame.inner() && one.opener.as_ref() == Some(&tab.target))
}
