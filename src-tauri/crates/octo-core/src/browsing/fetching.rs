//! Files that the page in use fetches, into the folder its person chose for that. One that nobody was asked about is
//! stopped as it begins. Where the browser tells of none, nothing is done in a page.

mod guard;

use guard::{Guard, Listening};

use octo_browser::{Connected, Page};
use octo_protocol::PageHand;
use octo_tools::ToolError;
use std::{
    collections::{HashMap, HashSet, VecDeque},
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, timeout_at},
};

/// How long a file that was asked for may take to begin.
const BEGINNING: Duration = Duration::from_secs(5);
/// How long one that was asked for is waited for; a longer one is told of later.
const COMING: Duration = Duration::from_secs(10);
/// The same for one that came of something else.
const IN_PASSING: Duration = Duration::from_secs(2);

/// Whether a call is for a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Awaiting {
    /// It is.
    AFile,
    /// One may come of it.
    #[default]
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
    /// Nobody was asked about it, so it was stopped.
    Unasked {
        /// The site it came from.
        from: String,
        /// Where it is, if it could be neither stopped nor taken away again.
        kept: Option<PathBuf>,
    },
}

/// Something that became of a file of the page.
#[derive(Debug)]
enum News {
    /// It began.
    Began { guid: String, name: String },
    /// It went so far.
    Came { guid: String, course: Course },
}

impl Fetched {
    /// In one line. It goes into the block: names, and what is made of them, are the page's words.
    pub fn line(&self) -> String {
        match &self.course {
            Course::Done { path: Some(path), bytes } => format!("there, {bytes} bytes: {}", path.display()),
            Course::Done { path: None, bytes } => format!("there, {bytes} bytes: {}", self.name),
            Course::Coming => format!("still coming: {}", self.name),
            Course::Stopped => format!("stopped, nothing was kept: {}", self.name),
            Course::Unasked { from, kept: None } => {
                format!("not taken, nothing was kept: {} from {from}", self.name)
            }
            Course::Unasked { from, kept: Some(path) } => {
                format!("it was there before it could be stopped: {} from {from}", path.display())
            }
        }
    }
}

/// A file is taken while this is held.
pub(super) struct Expecting(Arc<Mutex<Guard>>);

impl Drop for Expecting {
    fn drop(&mut self) {
        super::lock(&self.0).awaiting = Awaiting::Nothing;
    }
}

/// The files of the pages a session works in.
#[derive(Default)]
pub(super) struct Fetching {
    listening: Option<Listening>,
    /// Which files are taken, and of which page.
    guard: Arc<Mutex<Guard>>,
    /// What was told and is not taken in yet.
    news: VecDeque<News>,
    /// The names of those that are coming.
    coming: HashMap<String, String>,
}

impl Fetching {
    /// Of a session whose page is in this hand.
    pub fn new(hand: watch::Receiver<PageHand>) -> Self {
        let guard = Guard { hand: Some(hand), ..Guard::default() };
        Self { guard: Arc::new(Mutex::new(guard)), ..Self::default() }
    }

    /// Listens from now on to the files of this page.
    ///
    /// # Errors
    ///
    /// The browser does not tell of files. Nothing is done in a page whose files could not be stopped.
    pub async fn listen(&mut self, connected: &Connected, page: &Page) -> Result<(), ToolError> {
        super::lock(&self.guard).page = Some(page.downgrade());
        self.drain();
        if self.listening.is_none() {
            self.coming.clear();
            let listening = Listening::begin(connected, Arc::clone(&self.guard)).await;
            let unguarded = |error| {
                ToolError::new(format!(
                    "Nothing was done in the page: the browser does not tell of downloads ({error}), so a file that nobody was asked about could not be stopped. Try again once; if it stays so, tell the person."
                ))
            };
            self.listening = Some(listening.map_err(unguarded)?);
        }
        Ok(())
    }

    /// Whether the person was asked about a file that may come of the call that is carried out now. It holds for as
    /// long as the call does, which holds this, and for the first file that begins.
    pub fn expect(&self, awaiting: Awaiting) -> Expecting {
        super::lock(&self.guard).awaiting = awaiting;
        Expecting(Arc::clone(&self.guard))
    }

    /// What came of the page's files since this was asked last. Those that have just begun are waited for a little.
    pub async fn told(&mut self, awaiting: Awaiting) -> Vec<Fetched> {
        let began = Instant::now();
        let (mut until, limit) = match awaiting {
            Awaiting::AFile => (began + BEGINNING, began + COMING),
            Awaiting::Nothing => (began, began + IN_PASSING),
        };
        let (mut told, mut fresh) = (Vec::new(), HashSet::new());
        loop {
            self.drain();
            while let Some(news) = self.news.pop_front() {
                match news {
                    News::Began { guid, name } => {
                        self.coming.insert(guid.clone(), name);
                        fresh.insert(guid);
                        until = limit;
                    }
                    News::Came { guid, course } => {
                        fresh.remove(&guid);
                        let name = self.coming.remove(&guid);
                        told.extend(name.map(|name| Fetched { name, course }));
                    }
                }
            }
            if fresh.is_empty() && (awaiting == Awaiting::Nothing || !told.is_empty()) {
                break;
            }
            let Some(listening) = &mut self.listening else { break };
            match timeout_at(until, listening.heard.recv()).await {
                Ok(Some(news)) => self.news.push_back(news),
                Ok(None) => self.listening = None,
                Err(_) => break,
            }
        }
        let coming = fresh.iter().filter_map(|guid| self.coming.get(guid));
        told.extend(coming.map(|name| Fetched { name: name.clone(), course: Course::Coming }));
        told
    }

    /// Takes what was told already.
    fn drain(&mut self) {
        while let Some(listening) = &mut self.listening {
            match listening.heard.try_recv() {
                Ok(news) => self.news.push_back(news),
                Err(mpsc::error::TryRecvError::Disconnected) => self.listening = None,
                Err(mpsc::error::TryRecvError::Empty) => return,
            }
        }
    }
}
