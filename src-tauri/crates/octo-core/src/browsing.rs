//! The agent in the person's browser: one attachment for the app, a [`Seat`] in it for each session.
//!
//! [`HomeBrowser`] attaches when a tool call or the person needs it, never by itself, and tells how that stands.
//! [`Seat`] is what a session's tool reaches: it weighs what a call would do at the live page (`weigh`), carries out
//! what was allowed and nothing else (`carry`, `acting`), and shows the person what happens (`live`).

mod acting;
mod card;
mod carry;
mod doctor;
mod facts;
mod faults;
mod fetching;
mod kept;
mod known;
mod live;
mod reading;
mod risks;
mod seat;
mod secrets;
mod state;
mod tabs;
mod weigh;

use known::Known;
use seat::Place;
pub(crate) use seat::Seat;
pub(crate) use secrets::Secrets;

use octo_browser::{
    Browser, ConnectError, Connected, Environment, Found, Launch, Probe, State, TabNumber, Wanted,
    candidates, executables,
};
use octo_protocol::{ApiError, BrowserChoice, BrowserState, LivePage, SessionId};
use octo_store::Store;
use octo_workspace::{Blobs, HomePaths};
use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::sync::broadcast;

/// News a slow watcher may fall behind: pictures come twice a second.
const NEWS: usize = 256;

/// How long pages are waited for before the connection ends.
const LEAVING: Duration = Duration::from_secs(1);

/// What is told of the browser, and not stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum News {
    /// How the attachment stands.
    State(BrowserState),
    /// What a session does in a page; none once it left it.
    Page(SessionId, Option<Box<LivePage>>),
}

/// The app's one attachment to a browser. Clones are one.
#[derive(Clone)]
pub(crate) struct HomeBrowser(Arc<Inner>);

struct Inner {
    environment: Environment,
    browser: Browser,
    paths: HomePaths,
    blobs: Blobs,
    secrets: Secrets,
    standing: Mutex<Standing>,
    seats: Mutex<HashMap<SessionId, Weak<Place>>>,
    /// What sessions know of pages, by their root.
    known: Mutex<HashMap<SessionId, Weak<Known>>>,
    /// Where it is looked up what they were told before.
    store: Store,
    /// Which session opened which tab, for as long as the app runs: no number is given twice.
    opened: Mutex<HashMap<TabNumber, SessionId>>,
    news: broadcast::Sender<News>,
    /// How often it was attached so far.
    attachments: AtomicU64,
}

/// What is kept beside the attachment.
struct Standing {
    choice: BrowserChoice,
    /// As it was told last.
    told: BrowserState,
    /// Why the last attempt came to nothing.
    failure: Option<ApiError>,
    /// That the person declined or gave up, or that the browser said nothing once it had asked them. Its own question may
    /// still stand there then, and no tool raises another before the person did something.
    held_back: Option<ApiError>,
    /// How often the person did something of their own: what they gave up before does not count after it.
    acted: u64,
    /// Ports at which browsers are controlled: no page leads there.
    ports: Vec<u16>,
}

impl Standing {
    fn hear(&mut self) {
        self.acted += 1;
        self.held_back = None;
    }
}

impl HomeBrowser {
    /// Attached to nothing yet.
    pub fn new(
        paths: HomePaths,
        (store, blobs): (Store, Blobs),
        choice: BrowserChoice,
        secrets: Secrets,
    ) -> Self {
        let environment = Environment::of_process();
        let browser = Browser::new(environment.clone(), Wanted::Any);
        let standing = Standing {
            choice,
            told: BrowserState::Apart,
            failure: None,
            held_back: None,
            acted: 0,
            ports: Vec::new(),
        };
        let inner = Inner {
            environment,
            browser,
            paths,
            blobs,
            secrets,
            standing: Mutex::new(standing),
            seats: Mutex::default(),
            known: Mutex::default(),
            store,
            opened: Mutex::default(),
            news: broadcast::channel(NEWS).0,
            attachments: AtomicU64::new(0),
        };
        let home = Self(Arc::new(inner));
        let (weak, mut states) = (Arc::downgrade(&home.0), home.0.browser.state());
        tokio::spawn(async move {
            while states.changed().await.is_ok() {
                let Some(inner) = weak.upgrade() else { return };
                Self(inner).tell();
            }
        });
        home
    }

    /// A session's place in it; the same for as long as somebody holds it. What was read is known to a session, the one
    /// it came from, and all that come from that one: what a sub-agent tells is carried on by the others.
    pub fn seat(&self, session: SessionId, root: SessionId) -> Seat {
        let mut seats = lock(&self.0.seats);
        if let Some(seat) = seats.get(&session).and_then(Weak::upgrade) {
            return Seat(seat);
        }
        seats.retain(|_, seat| seat.strong_count() > 0);
        let seat = Seat::new(self.clone(), (session, root), self.known_by(root));
        seats.insert(session, Arc::downgrade(&seat.0));
        seat
    }

    fn known_by(&self, root: SessionId) -> Arc<Known> {
        let mut all = lock(&self.0.known);
        if let Some(known) = all.get(&root).and_then(Weak::upgrade) {
            return known;
        }
        all.retain(|_, known| known.strong_count() > 0);
        let known = Arc::default();
        all.insert(root, Arc::downgrade(&known));
        known
    }

    /// The place of a session that has one.
    pub fn seated(&self, session: SessionId) -> Option<Seat> {
        lock(&self.0.seats).get(&session).and_then(Weak::upgrade).map(Seat)
    }

    /// Notes that a session opened a tab.
    fn note_opened(&self, tab: TabNumber, session: SessionId) {
        lock(&self.0.opened).insert(tab, session);
    }

    /// Whether a session opened a tab. What another one did there may be what its person goes on with.
    fn has_opened(&self, tab: TabNumber, session: SessionId) -> bool {
        lock(&self.0.opened).get(&tab) == Some(&session)
    }

    /// Where the profile of Octo's own browser is.
    fn profile(&self) -> PathBuf {
        self.0.paths.browser_profile()
    }

    fn paths(&self) -> &HomePaths {
        &self.0.paths
    }

    fn store(&self) -> &Store {
        &self.0.store
    }

    /// What may be typed by name.
    pub fn secrets(&self) -> &Secrets {
        &self.0.secrets
    }

    /// How the attachment stands.
    pub fn state(&self) -> BrowserState {
        lock(&self.0.standing).told.clone()
    }

    /// What is told from now on.
    pub fn watch(&self) -> broadcast::Receiver<News> {
        self.0.news.subscribe()
    }

    /// Takes a choice into use. A connection to another browser ends.
    pub async fn choose(&self, choice: &BrowserChoice) {
        {
            let mut standing = lock(&self.0.standing);
            if standing.choice == *choice {
                return;
            }
            standing.choice = choice.clone();
            standing.hear();
        }
        self.detach().await;
    }

    /// The attachment for a tool. Once the person declined or gave up, or the browser fell silent, a tool asks them no more
    /// until they attach by themselves or say something new.
    ///
    /// # Errors
    ///
    /// As [`Self::connect`].
    pub async fn connect_for_tool(&self) -> Result<Connected, ApiError> {
        let held_back = lock(&self.0.standing).held_back.clone();
        match held_back {
            Some(error) => Err(error),
            None => self.connect().await,
        }
    }

    /// The person did something of their own: tools may ask for the browser again.
    pub fn person_acted(&self) {
        lock(&self.0.standing).hear();
    }

    /// The attachment, made now if there is none. While the browser asks the person this waits for as long as they
    /// take, with everyone else who needs it.
    ///
    /// # Errors
    ///
    /// Why not. Nothing is tried again by itself.
    pub async fn connect(&self) -> Result<Connected, ApiError> {
        let acted = lock(&self.0.standing).acted;
        let wanted = match self.wanted() {
            Ok(wanted) => wanted,
            Err(error) => return Err(self.failed(error)),
        };
        self.0.browser.want(wanted);
        let connected = match self.0.browser.connect().await {
            Ok(connected) => connected,
            Err(error) => {
                let told = state::not_connected(&error);
                let mut standing = lock(&self.0.standing);
                let is_held_back = match error {
                    // Their answer is to this very question, whatever else they did while it stood.
                    ConnectError::Declined => true,
                    // They may have allowed it: the next attempt would ask them once more.
                    ConnectError::Silent(_) => true,
                    ConnectError::Cancelled => standing.acted == acted,
                    ConnectError::NoBrowser
                    | ConnectError::PortTaken { .. }
                    | ConnectError::Unreachable(_)
                    | ConnectError::Launch(_) => false,
                };
                if is_held_back {
                    standing.held_back = Some(told.clone());
                }
                drop(standing);
                return Err(self.failed(told));
            }
        };
        {
            let mut standing = lock(&self.0.standing);
            (standing.failure, standing.held_back) = (None, None);
        }
        if connected.fresh == octo_browser::Freshness::New {
            self.0.attachments.fetch_add(1, Ordering::Relaxed);
            let ports = self.0.browser.look().await.into_iter().map(|found| found.port).collect();
            lock(&self.0.standing).ports = ports;
        }
        Ok(connected)
    }

    /// The attachment, if there is one now.
    pub fn connected(&self) -> Option<Connected> {
        self.0.browser.connected()
    }

    /// Ends the attachment, or gives up waiting for it. Tabs stay as they are.
    pub async fn detach(&self) {
        let begun =
            matches!(*self.0.browser.state().borrow(), State::Looking | State::WaitingForAllow { .. });
        if begun {
            // No page is worked in yet: whoever waits is told that it was given up, and of the browser's own question,
            // which may stay.
            self.0.browser.disconnect();
            self.failed(state::not_connected(&ConnectError::Cancelled));
            return;
        }
        lock(&self.0.standing).failure = None;
        self.let_go().await;
        self.0.browser.disconnect();
        self.tell();
        // One of Octo's own writes out what it holds before it ends.
        self.0.browser.closed().await;
    }

    /// Every session lets go of its page. Waits until what was drawn in them is gone, for a moment at most.
    async fn let_go(&self) {
        let seats: Vec<Seat> = lock(&self.0.seats).values().filter_map(Weak::upgrade).map(Seat).collect();
        let leaving = futures::future::join_all(seats.iter().map(Seat::leave));
        // A page that does not answer keeps the pointer until it goes by itself.
        let _late = tokio::time::timeout(LEAVING, leaving).await;
    }

    /// Where browsers can be attached to now, asked without the person hearing of it.
    async fn found(&self) -> Vec<Found> {
        octo_browser::find(&self.0.environment, self.named_folder().as_deref()).await
    }

    fn named_folder(&self) -> Option<PathBuf> {
        match &lock(&self.0.standing).choice {
            BrowserChoice::Folder { path } => Some(PathBuf::from(path)),
            BrowserChoice::Automatic
            | BrowserChoice::Installed { .. }
            | BrowserChoice::Own
            | BrowserChoice::Off => None,
        }
    }

    fn wanted(&self) -> Result<Wanted, ApiError> {
        let choice = lock(&self.0.standing).choice.clone();
        match choice {
            BrowserChoice::Automatic => Ok(Wanted::Any),
            BrowserChoice::Folder { path } => Ok(Wanted::Folder(PathBuf::from(path))),
            BrowserChoice::Off => Err(ApiError::new("browser.off")),
            BrowserChoice::Installed { id } => {
                let known = candidates(&self.0.environment, None);
                let mut of_it = known.into_iter().filter(|one| state::id_of(one.product) == id);
                let first =
                    of_it.next().ok_or_else(|| ApiError::new("browser.unknown").arg("browser", &id))?;
                // The one of its folders it was used with.
                let chosen = std::iter::once(first.clone()).chain(of_it).find(|one| one.folder.is_dir());
                Ok(Wanted::Folder(chosen.unwrap_or(first).folder))
            }
            BrowserChoice::Own => {
                let programs = executables(&self.0.environment);
                let (_, program) =
                    programs.into_iter().next().ok_or_else(|| ApiError::new("browser.none_installed"))?;
                let profile = octo_workspace::private_folder(&self.profile())
                    .map_err(|error| ApiError::new("browser.not_started").detail(error))?;
                Ok(Wanted::OwnProfile(Launch { program, profile, arguments: Vec::new() }))
            }
        }
    }

    fn failed(&self, error: ApiError) -> ApiError {
        lock(&self.0.standing).failure = Some(error.clone());
        self.tell();
        error
    }

    /// Tells how it stands, if that is not what was told last.
    fn tell(&self) {
        let now = self.0.browser.state().borrow().clone();
        let mut standing = lock(&self.0.standing);
        let state = state::told(now, standing.failure.as_ref());
        if standing.told != state {
            standing.told = state.clone();
            // Nobody watching is no fault.
            let _nobody = self.0.news.send(News::State(state));
        }
    }

    fn tell_page(&self, session: SessionId, page: Option<LivePage>) {
        let _nobody = self.0.news.send(News::Page(session, page.map(Box::new)));
    }

    fn blobs(&self) -> Blobs {
        self.0.blobs.clone()
    }

    /// The number of the attachment that is there, or was last.
    fn attachment(&self) -> u64 {
        self.0.attachments.load(Ordering::Relaxed)
    }

    fn ports(&self) -> Vec<u16> {
        lock(&self.0.standing).ports.clone()
    }
}

/// Whether somebody could come in besides the person, at what was found.
fn is_open(found: &Found) -> bool {
    matches!(found.probe, Probe::Flag { .. })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that is done under these locks can panic half-way.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::KeyRing;

    const PAGE: &str = "<browser_page origin=\"https://bank.example\">\nThe balance of the account 4711-0815-2233-9981 is rather low this month, says the bank.\n</browser_page>";

    #[tokio::test]
    async fn what_a_sub_agent_read_is_known_to_the_session_it_came_from_and_to_no_other() {
        let home = tempfile::tempdir().unwrap();
        let secrets = Secrets::new(KeyRing::without_keychain(), &[]);
        let blobs = Blobs::new(home.path());
        let store = Store::open(&home.path().join("octo.db")).unwrap();
        let paths =
            HomePaths::new(home.path(), &octo_workspace::Residence::by_variable(home.path().to_owned()));
        let browser = HomeBrowser::new(paths, (store, blobs), BrowserChoice::Automatic, secrets);
        let (root, child, stranger) = (SessionId::new(), SessionId::new(), SessionId::new());
        let (parent, sub, other) =
            (browser.seat(root, root), browser.seat(child, root), browser.seat(stranger, stranger));
        sub.work().await.known().told(PAGE);
        let carried =
            "The balance of the account 4711-0815-2233-9981 is rather low this month, says the bank.";
        let knows = async |seat: &Seat| seat.work().await.read().memory.quoted(carried, None).is_some();
        assert!(knows(&sub).await && knows(&parent).await);
        assert!(!knows(&other).await);
    }
}
