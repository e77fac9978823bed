//! What is done about a file in the moment it begins, whoever waits for news of it.

use super::{Awaiting, Course, News};
use futures::FutureExt as _;
use octo_browser::{
    CallError, Connected, DownloadEvent, Downloads, Opened, Page, Tabs, WeakPage,
    cdp::browser_protocol::{page::FrameId, target::TargetId},
    safety::Address,
};
use octo_protocol::PageHand;
use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
    time::Instant,
};

/// How long a tab that the page opened counts as the page's: one that stays may be its person's by then.
const OPENING: Duration = Duration::from_secs(20);

/// How long what the page was told of may take to be heard, and how often it is looked whether it has. It is there
/// already unless something else of the page is being found out.
const TELLING: Duration = Duration::from_secs(1);
const GLANCE: Duration = Duration::from_millis(20);

/// Whose files are looked after, and which of them are taken.
#[derive(Debug, Default)]
pub(super) struct Guard {
    /// The page in use. It is not held: files of a page that was let go of are its person's.
    pub page: Option<WeakPage>,
    /// What the person was asked about, and has not come yet.
    pub awaiting: Awaiting,
    /// Who has the page.
    pub hand: Option<watch::Receiver<PageHand>>,
}

impl Guard {
    /// Whether a file that begins now is one that nobody was asked about. What the person fetches while they have the
    /// page in hand is theirs.
    ///
    /// What the person was asked about is one file: the first that begins uses their yes up.
    fn stops(&mut self) -> bool {
        let is_agents = self.hand.as_ref().is_none_or(|hand| *hand.borrow() == PageHand::Agent);
        is_agents && std::mem::take(&mut self.awaiting) == Awaiting::Nothing
    }
}

/// Listens for as long as it is held.
pub(super) struct Listening {
    pub heard: mpsc::UnboundedReceiver<News>,
    task: JoinHandle<()>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Listening {
    /// Begins.
    ///
    /// # Errors
    ///
    /// The browser does not tell of files, or not of the tabs that open for one: none could be stopped.
    pub async fn begin(connected: &Connected, guard: Arc<Mutex<Guard>>) -> Result<Self, CallError> {
        let (downloads, opened) = tokio::join!(Downloads::watch(&connected.link), connected.tabs.watch());
        let (tell, heard) = mpsc::unbounded_channel();
        let watcher = Watcher {
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

/// The browser tells of everybody's files. Of others than the page's nothing is done, and nothing is told.
struct Watcher {
    downloads: Downloads,
    opened: Opened,
    tabs: Tabs,
    /// Which tab opened which, and when: one that opens for a file is gone before it could be asked.
    openers: HashMap<TargetId, (TargetId, Instant)>,
    guard: Arc<Mutex<Guard>>,
    /// Where those came from that were stopped, until they have.
    unasked: HashMap<String, String>,
    /// The page's that are coming, with their names.
    known: HashMap<String, String>,
    tell: mpsc::UnboundedSender<News>,
}

impl Watcher {
    async fn watch(mut self) {
        while let Some(event) = self.downloads.next().await {
            let news = match event {
                DownloadEvent::Began { guid, frame, url, name } => self.began(guid, &frame, &url, name).await,
                DownloadEvent::Done { guid, path, bytes } => self.done(guid, path, bytes).await,
                DownloadEvent::Stopped { guid } => self.known.remove(&guid).map(|_| {
                    let unasked = self.unasked.remove(&guid);
                    let course = unasked.map_or(Course::Stopped, |from| Course::Unasked { from, kept: None });
                    News::Came { guid, course }
                }),
            };
            if news.is_some_and(|news| self.tell.send(news).is_err()) {
                return;
            }
        }
    }

    async fn done(&mut self, guid: String, path: Option<PathBuf>, bytes: u64) -> Option<News> {
        let name = self.known.remove(&guid)?;
        let Some(from) = self.unasked.remove(&guid) else {
            return Some(News::Came { guid, course: Course::Done { path, bytes } });
        };
        // It was there before the browser heard that nobody wants it.
        let gone = match &path {
            Some(path) => tokio::fs::remove_file(path).await,
            None => Err(std::io::ErrorKind::NotFound.into()),
        };
        let kept = gone.err().map(|error| {
            tracing::debug!(%error, "a file that nobody was asked about stays");
            path.unwrap_or_else(|| PathBuf::from(name))
        });
        Some(News::Came { guid, course: Course::Unasked { from, kept } })
    }

    async fn began(&mut self, guid: String, frame: &FrameId, url: &str, name: String) -> Option<News> {
        let page = crate::browsing::lock(&self.guard).page.as_ref().and_then(WeakPage::upgrade)?;
        if !self.is_of(&page, frame).await {
            return None;
        }
        // A file of somebody else's uses nothing up.
        if crate::browsing::lock(&self.guard).stops() {
            self.downloads.stop(&guid);
            let from = Address::of(url);
            let from = from.site().map_or_else(|| "the page itself".to_owned(), ToString::to_string);
            self.unasked.insert(guid.clone(), from);
        }
        self.known.insert(guid.clone(), name.clone());
        Some(News::Began { guid, name })
    }

    /// Whether a frame is of the page, or of a tab that the page opened.
    async fn is_of(&mut self, page: &Page, frame: &FrameId) -> bool {
        if page.has_frame(frame) {
            return true;
        }
        // Told before their files are.
        while let Some(Some(tab)) = self.opened.next().now_or_never() {
            self.openers.extend(tab.opener.map(|opener| (tab.target, (opener, Instant::now()))));
        }
        self.openers.retain(|_, (_, opened)| opened.elapsed() < OPENING);
        // The name of a tab is that of its main frame.
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
        // It may be gone, or the page may not say, held by a dialog or its own script. But each frame was told of before
        // its file was, by the page itself: what is on its way is waited for. What comes of none is somebody else's.
        let until = Instant::now() + TELLING;
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
        let hand = watch::Sender::new(PageHand::Person);
        let mut guard = Guard { awaiting: Awaiting::AFile, hand: Some(hand.subscribe()), ..Guard::default() };
        assert!(!guard.stops(), "the person's own");
        hand.send_replace(PageHand::Agent);
        assert!(!guard.stops(), "the one that was asked about");
        assert!(guard.stops(), "and no other");
    }
}
