//! The app's attachment to the person's browser, and the browser sessions in it.

use crate::{
    BrowserSession, PersonSecrets, browser_session::BrowserSessionInner, page_knowledge::PageKnowledge, state,
};
use octo_browser::{
    AttachmentState, Browser, BrowserConnection, BrowserEnvironment, BrowserTarget, ConnectError,
    LaunchOptions, Probe, ProbedBrowser, TabNumber, candidates, executables,
};
use octo_protocol::{ApiError, BrowserChoice, BrowserState, LivePage, SessionId};
use octo_store::Store;
use octo_workspace::{Blobs, HomePaths};
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::sync::broadcast;

/// Number of events buffered for a slow watcher: pictures arrive twice a second.
const UPDATE_BUFFER: usize = 256;

/// Timeout for the release of all pages before the connection ends.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(1);

/// Browser events for watchers; not stored.
#[derive(Clone, Debug, PartialEq)]
pub enum BrowserUpdate {
    /// The attachment's state.
    State(BrowserState),
    /// A session's activity in a page, or `None` once it left the page.
    Page(SessionId, Option<Box<LivePage>>),
}

/// The app's single attachment to a browser. Clones share it.
#[derive(Clone)]
pub struct HomeBrowser(Arc<HomeBrowserInner>);

struct HomeBrowserInner {
    environment: BrowserEnvironment,
    browser: Browser,
    paths: HomePaths,
    blobs: Blobs,
    secrets: PersonSecrets,
    status: Mutex<AttachmentStatus>,
    sessions: Mutex<HashMap<SessionId, Weak<BrowserSessionInner>>>,
    /// The sessions' knowledge of pages, by root session.
    knowledge: Mutex<HashMap<SessionId, Weak<PageKnowledge>>>,
    /// The store that earlier messages to the model are read from.
    store: Store,
    /// The session that opened each tab, while the app runs: no number is reused.
    openers: Mutex<HashMap<TabNumber, SessionId>>,
    updates: broadcast::Sender<BrowserUpdate>,
    /// Number of attachments so far.
    attachments: AtomicU64,
}

/// The person's choice, and the state of the attachment.
struct AttachmentStatus {
    choice: BrowserChoice,
    /// The last reported state.
    published: BrowserState,
    /// The reason why the last attempt failed.
    failure: Option<ApiError>,
    /// Set if the person declined or cancelled, or the browser fell silent after asking them. The browser's
    /// question may still be open, so no tool raises another until the person acts.
    held_back: Option<ApiError>,
    /// Number of the person's own actions: after one, an earlier cancellation no longer counts.
    person_actions: u64,
    /// Ports that control a browser: no page may lead there.
    ports: Vec<u16>,
}

impl AttachmentStatus {
    fn record_person_action(&mut self) {
        self.person_actions += 1;
        self.held_back = None;
    }
}

impl HomeBrowser {
    /// Creates the browser of a home, without an attachment.
    pub fn new(
        paths: HomePaths,
        (store, blobs): (Store, Blobs),
        choice: BrowserChoice,
        secrets: PersonSecrets,
    ) -> Self {
        let environment = BrowserEnvironment::from_process();
        let browser = Browser::new(environment.clone(), BrowserTarget::Any);
        let status = AttachmentStatus {
            choice,
            published: BrowserState::Apart,
            failure: None,
            held_back: None,
            person_actions: 0,
            ports: Vec::new(),
        };
        let inner = HomeBrowserInner {
            environment,
            browser,
            paths,
            blobs,
            secrets,
            status: Mutex::new(status),
            sessions: Mutex::default(),
            knowledge: Mutex::default(),
            store,
            openers: Mutex::default(),
            updates: broadcast::channel(UPDATE_BUFFER).0,
            attachments: AtomicU64::new(0),
        };
        let home = Self(Arc::new(inner));
        let (weak, mut states) = (Arc::downgrade(&home.0), home.0.browser.state());
        tokio::spawn(async move {
            while states.changed().await.is_ok() {
                let Some(inner) = weak.upgrade() else { return };
                Self(inner).publish_state();
            }
        });
        home
    }

    /// Returns the browser session of a session, the same one as long as any handle of it exists. A session shares
    /// its knowledge of pages with its parent and all sub-agents of that parent, because a sub-agent's results
    /// are used by the others.
    pub fn session(&self, session: SessionId, root: SessionId) -> BrowserSession {
        let mut sessions = self.0.sessions.lock();
        if let Some(open) = sessions.get(&session).and_then(Weak::upgrade) {
            return BrowserSession(open);
        }
        sessions.retain(|_, open| open.strong_count() > 0);
        let browser_session = BrowserSession::new(self.clone(), (session, root), self.knowledge_of(root));
        sessions.insert(session, Arc::downgrade(&browser_session.0));
        browser_session
    }

    fn knowledge_of(&self, root: SessionId) -> Arc<PageKnowledge> {
        let mut knowledge = self.0.knowledge.lock();
        if let Some(existing) = knowledge.get(&root).and_then(Weak::upgrade) {
            return existing;
        }
        knowledge.retain(|_, existing| existing.strong_count() > 0);
        let existing = Arc::default();
        knowledge.insert(root, Arc::downgrade(&existing));
        existing
    }

    /// Returns the browser session of a session that already has one.
    pub fn existing_session(&self, session: SessionId) -> Option<BrowserSession> {
        self.0.sessions.lock().get(&session).and_then(Weak::upgrade).map(BrowserSession)
    }

    /// Records that a session opened a tab.
    pub(crate) fn record_opened(&self, tab: TabNumber, session: SessionId) {
        self.0.openers.lock().insert(tab, session);
    }

    /// Returns whether a session opened a tab. In another session's tab, the person may be continuing that
    /// work.
    pub(crate) fn has_opened(&self, tab: TabNumber, session: SessionId) -> bool {
        self.0.openers.lock().get(&tab) == Some(&session)
    }

    /// Returns the profile folder of Octo's own browser.
    fn profile(&self) -> PathBuf {
        self.0.paths.browser_profile()
    }

    pub(crate) fn environment(&self) -> &BrowserEnvironment {
        &self.0.environment
    }

    /// Returns the person's choice of browser.
    pub(crate) fn choice(&self) -> BrowserChoice {
        self.0.status.lock().choice.clone()
    }

    pub(crate) fn paths(&self) -> &HomePaths {
        &self.0.paths
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.store
    }

    /// Returns the secrets that may be typed by name.
    pub fn secrets(&self) -> &PersonSecrets {
        &self.0.secrets
    }

    /// Returns the attachment's state.
    pub fn state(&self) -> BrowserState {
        self.0.status.lock().published.clone()
    }

    /// Subscribes to events from now on.
    pub fn watch(&self) -> broadcast::Receiver<BrowserUpdate> {
        self.0.updates.subscribe()
    }

    /// Applies a choice of browser. Ends a connection to another browser.
    pub async fn choose(&self, choice: &BrowserChoice) {
        {
            let mut status = self.0.status.lock();
            if status.choice == *choice {
                return;
            }
            status.choice = choice.clone();
            status.record_person_action();
        }
        self.detach().await;
    }

    /// Returns the attachment for a tool. After the person declined or cancelled, or the browser fell silent, a
    /// tool does not ask them again until they attach on their own or send a new message.
    ///
    /// # Errors
    ///
    /// As [`Self::connect`].
    pub(crate) async fn connect_for_tool(&self) -> Result<BrowserConnection, ApiError> {
        let held_back = self.0.status.lock().held_back.clone();
        match held_back {
            Some(error) => Err(error),
            None => self.connect().await,
        }
    }

    /// Records an action of the person: tools may ask for the browser again.
    pub fn person_acted(&self) {
        self.0.status.lock().record_person_action();
    }

    /// Returns the attachment, making one if necessary. While the browser asks the person this waits as long as
    /// they take, together with all other callers.
    ///
    /// # Errors
    ///
    /// The reason for the failure. Nothing is retried automatically.
    pub async fn connect(&self) -> Result<BrowserConnection, ApiError> {
        let person_actions = self.0.status.lock().person_actions;
        let target = match self.target() {
            Ok(target) => target,
            Err(error) => return Err(self.record_failure(error)),
        };
        self.0.browser.set_target(target);
        let connection = match self.0.browser.connect().await {
            Ok(connection) => connection,
            Err(error) => {
                let api_error = state::connect_error(&error);
                let mut status = self.0.status.lock();
                let is_held_back = match error {
                    // The answer belongs to this question, whatever else the person did while it was open.
                    ConnectError::Declined => true,
                    // The person may have allowed it: another attempt would ask them again.
                    ConnectError::Silent(_) => true,
                    ConnectError::Cancelled => status.person_actions == person_actions,
                    ConnectError::NoBrowser
                    | ConnectError::PortTaken { .. }
                    | ConnectError::Unreachable(_)
                    | ConnectError::Launch(_) => false,
                };
                if is_held_back {
                    status.held_back = Some(api_error.clone());
                }
                drop(status);
                return Err(self.record_failure(api_error));
            }
        };
        {
            let mut status = self.0.status.lock();
            (status.failure, status.held_back) = (None, None);
        }
        if connection.freshness == octo_browser::Freshness::New {
            self.0.attachments.fetch_add(1, Ordering::Relaxed);
            let ports = self.0.browser.find_browsers().await.into_iter().map(|found| found.port).collect();
            self.0.status.lock().ports = ports;
        }
        Ok(connection)
    }

    /// Returns the current attachment, if any.
    pub(crate) fn current_connection(&self) -> Option<BrowserConnection> {
        self.0.browser.current_connection()
    }

    /// Ends the attachment, or cancels the attempt. Tabs stay as they are.
    pub async fn detach(&self) {
        let is_connecting = matches!(
            *self.0.browser.state().borrow(),
            AttachmentState::Looking | AttachmentState::WaitingForAllow { .. }
        );
        if is_connecting {
            // No page is in use yet. Waiting callers learn that the attempt was cancelled and that the
            // browser's own question may stay open.
            self.0.browser.disconnect();
            self.record_failure(state::connect_error(&ConnectError::Cancelled));
            return;
        }
        self.0.status.lock().failure = None;
        self.release_pages().await;
        self.0.browser.disconnect();
        self.publish_state();
        // Octo's own browser saves its data before it exits.
        self.0.browser.wait_closed().await;
    }

    /// Makes every session release its page. Waits a moment at most for their overlays to be cleared.
    async fn release_pages(&self) {
        let sessions: Vec<BrowserSession> =
            self.0.sessions.lock().values().filter_map(Weak::upgrade).map(BrowserSession).collect();
        let releases = futures::future::join_all(sessions.iter().map(BrowserSession::release_and_restore));
        // A page that does not answer keeps the pointer until it expires.
        let _timed_out = tokio::time::timeout(RELEASE_TIMEOUT, releases).await;
    }

    /// Finds browsers that accept a connection now, without asking the person.
    pub(crate) async fn running_browsers(&self) -> Vec<ProbedBrowser> {
        octo_browser::find(&self.0.environment, self.configured_folder().as_deref()).await
    }

    pub(crate) fn configured_folder(&self) -> Option<PathBuf> {
        match &self.0.status.lock().choice {
            BrowserChoice::Folder { path } => Some(PathBuf::from(path)),
            BrowserChoice::Automatic
            | BrowserChoice::Installed { .. }
            | BrowserChoice::Own
            | BrowserChoice::Off => None,
        }
    }

    fn target(&self) -> Result<BrowserTarget, ApiError> {
        match self.choice() {
            BrowserChoice::Automatic => Ok(BrowserTarget::Any),
            BrowserChoice::Folder { path } => Ok(BrowserTarget::Folder(PathBuf::from(path))),
            BrowserChoice::Off => Err(ApiError::new("browser.off")),
            BrowserChoice::Installed { id } => {
                let installed = candidates(&self.0.environment, None);
                let mut matching =
                    installed.into_iter().filter(|candidate| state::id_of(candidate.product) == id);
                let first =
                    matching.next().ok_or_else(|| ApiError::new("browser.unknown").arg("browser", &id))?;
                // The folder that this browser was used with.
                let chosen = std::iter::once(first.clone())
                    .chain(matching)
                    .find(|candidate| candidate.folder.is_dir());
                Ok(BrowserTarget::Folder(chosen.unwrap_or(first).folder))
            }
            BrowserChoice::Own => {
                let programs = executables(&self.0.environment);
                let (_, program) =
                    programs.into_iter().next().ok_or_else(|| ApiError::new("browser.none_installed"))?;
                let profile = octo_workspace::private_folder(&self.profile())
                    .map_err(|error| ApiError::new("browser.not_started").detail(error))?;
                Ok(BrowserTarget::OwnProfile(LaunchOptions { program, profile, arguments: Vec::new() }))
            }
        }
    }

    fn record_failure(&self, error: ApiError) -> ApiError {
        self.0.status.lock().failure = Some(error.clone());
        self.publish_state();
        error
    }

    /// Reports the state if it differs from the last reported one.
    fn publish_state(&self) {
        let current = self.0.browser.state().borrow().clone();
        let mut status = self.0.status.lock();
        let state = state::to_browser_state(current, status.failure.as_ref());
        if status.published != state {
            status.published = state.clone();
            // It is not an error if no client is watching.
            let _no_watcher = self.0.updates.send(BrowserUpdate::State(state));
        }
    }

    pub(crate) fn publish_page(&self, session: SessionId, page: Option<LivePage>) {
        let _no_watcher = self.0.updates.send(BrowserUpdate::Page(session, page.map(Box::new)));
    }

    pub(crate) fn blobs(&self) -> Blobs {
        self.0.blobs.clone()
    }

    /// Returns the number of the current or last attachment.
    pub(crate) fn attachment(&self) -> u64 {
        self.0.attachments.load(Ordering::Relaxed)
    }

    pub(crate) fn ports(&self) -> Vec<u16> {
        self.0.status.lock().ports.clone()
    }
}

/// Returns whether another program could connect to the found browser.
pub(crate) fn is_open(found: &ProbedBrowser) -> bool {
    matches!(found.probe, Probe::Flag { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use octo_keys::KeyRing;
    use octo_protocol::KeychainState;

    const PAGE: &str = "<browser_page origin=\"https://bank.example\">\nThe balance of the account 4711-0815-2233-9981 is rather low this month, says the bank.\n</browser_page>";

    #[tokio::test]
    async fn page_knowledge_is_shared_between_a_sub_agent_and_its_parent_only() {
        let home = tempfile::tempdir().unwrap();
        let secrets = PersonSecrets::new(KeyRing::of_system(KeychainState::Unavailable), &[]);
        let blobs = Blobs::new(home.path());
        let store = Store::open(&home.path().join("octo.db")).unwrap();
        let paths =
            HomePaths::new(home.path(), &octo_workspace::HomeLocation::by_variable(home.path().to_owned()));
        let browser = HomeBrowser::new(paths, (store, blobs), BrowserChoice::Automatic, secrets);
        let (root, child, unrelated) = (SessionId::new(), SessionId::new(), SessionId::new());
        let (parent, sub, unrelated_session) = (
            browser.session(root, root),
            browser.session(child, root),
            browser.session(unrelated, unrelated),
        );
        sub.work().await.knowledge().record_message(PAGE);
        let text = "The balance of the account 4711-0815-2233-9981 is rather low this month, says the bank.";
        let knows = async |session: &BrowserSession| {
            session.work().await.read_texts().memory.find_quote(text, None).is_some()
        };
        assert!(knows(&sub).await && knows(&parent).await);
        assert!(!knows(&unrelated_session).await);
    }
}
