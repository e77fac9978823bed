//! The application.

mod activity;
mod apps;
mod attachments;
mod browser;
mod certificates;
mod chats;
mod closed;
mod damage;
mod dating;
mod home;
mod hosts;
mod ledger;
mod library;
mod mending;
mod models;
mod neighbours;
mod policies;
mod reach;
mod residence;
mod schedule;
mod searches;
mod sessions;
mod time;
mod transcripts;
mod trash;

pub use damage::request_of_damaged;
pub(crate) use time::recover;

use crate::{
    Config, OpenTurns, Subscription,
    activity::{Board, Change},
    admission::Admission,
    browsing::{self, HomeBrowser, Secrets},
    chats::{self as chat_services, Chats},
    clock::{Clock, SystemClock},
    forks::Forks,
    keys::KeyRing,
    library::Library,
    models::Models,
    rules::Rules,
    schedule::{Schedule, Tasks, Tender},
    searching::Searching,
    session::{SessionHandle, let_idle_rest, resumes_at_start},
    shared::{OpenSessions, Shared},
    subscription,
    trash::{HomeTrash, look_after},
    troubles::Troubles,
    waking::Waking,
};
use octo_documents::Reader;
use octo_llm::Presets;
use octo_protocol::{
    ApiError, BlobHash, Call, Delta, Envelope, ErrorCode, PolicyState, Request, SessionId, Snapshot, Topic,
    TroubleStage,
};
use octo_shell::LoginEnvironment;
use octo_store::{Holder, Store};
use octo_tools::{BUNDLED_FOLDER, SHIPPED_SCRIPTS, Search, Toolset, install_bundled};
use octo_workspace::{Blobs, HomePaths, Installed, Limits, Scripts, TimeMachine, Unfinished};
use serde_json::Value;
use std::{
    sync::{Arc, Weak},
    time::Duration,
};
use tokio::sync::{Mutex, broadcast};
use tokio_util::sync::CancellationToken;

/// Deltas a slow subscription may fall behind before it gets a snapshot instead.
const DELTAS: usize = 4_096;
/// Messages in a session's snapshot; earlier ones come in pages.
const SNAPSHOT_MESSAGES: u32 = 200;
/// The shortest between two looks for sessions nobody works in.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);
/// Sessions in the list's snapshot; more come in pages.
const SNAPSHOT_SESSIONS: u32 = 200;

/// The whole application without a face. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Octo {
    shared: Arc<Shared>,
    /// Sessions whose actor runs. Held while one is opened, so that none is opened twice.
    open: OpenSessions,
    /// Held while something interrupted is ended in a session that is not open.
    mending: Arc<Mutex<()>>,
    /// See [`Octo::remarks`].
    remarks: Arc<[ApiError]>,
}

/// An application that is not kept by whoever holds this.
pub(crate) struct FaintOcto {
    shared: Weak<Shared>,
    open: OpenSessions,
    mending: Arc<Mutex<()>>,
    remarks: Arc<[ApiError]>,
}

impl FaintOcto {
    /// The application; none once it is gone.
    pub(crate) fn whole(&self) -> Option<Octo> {
        Some(Octo {
            shared: self.shared.upgrade()?,
            open: self.open.clone(),
            mending: self.mending.clone(),
            remarks: self.remarks.clone(),
        })
    }
}

/// A blob, as the page shows it.
#[derive(Clone, Debug)]
pub struct BlobBytes {
    /// Its media type, found from its bytes.
    pub media_type: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl Octo {
    /// Opens the home and goes on where it was left. Fails with a clear error (`start.*`, `store.*`) and
    /// changes nothing when the home cannot be used: not writable, from a newer Octo, or damaged.
    pub async fn start(config: Config) -> Result<Self, ApiError> {
        Self::start_by_clock(config, Arc::new(SystemClock::default())).await
    }

    /// The same by another clock, which tells when tasks run and when things in the trash have had their time.
    ///
    /// # Errors
    /// As [`Octo::start`].
    pub async fn start_by_clock(config: Config, clock: Arc<dyn Clock>) -> Result<Self, ApiError> {
        let home = config.home.clone();
        let opened = tokio::task::spawn_blocking(move || {
            octo_workspace::private_folder(&home).map_err(|error| {
                ApiError::new("start.home_unwritable").arg("home", home.display()).detail(error)
            })?;
            let store = Store::open(&home)?;
            // Only now: whoever moves a home keeps everybody from opening it meanwhile.
            residence::must_not_have_moved(&home)?;
            // Documents are read without them too, as far as Octo's own readers go.
            match Scripts::new(home.join("scripts")).install(SHIPPED_SCRIPTS) {
                Ok(done) => report(&done),
                Err(error) => tracing::warn!(%error, "the scripts that read documents are not installed"),
            }
            let skills = home.join("skills");
            if skills.is_dir()
                && let Err(error) = octo_skills::clear_unfinished(&skills)
            {
                tracing::warn!(%error, "the folder of skills cannot be looked through");
            }
            let bundled = install_bundled(&home).unwrap_or_else(|error| {
                tracing::warn!(%error, "the skills that come with Octo are not there");
                home.join(BUNDLED_FOLDER)
            });
            Ok::<_, ApiError>((store, bundled))
        });
        let (store, bundled) = opened.await.map_err(|error| ApiError::new("internal").detail(error))??;
        let keys = KeyRing::open(config.keys).await;
        let site_keys = keys.clone();
        let mut remarks = config.settled.remarks.clone();
        remarks.extend(mending::mend_settings(&store, &config.home, keys.state()).await?);
        remarks.extend(dating::doubted(&store).await?);
        let state = store.read(|reader| reader.settings_state()).await?;
        let searching = Arc::new(Searching::new(keys.clone(), &state.settings.search));
        let chats = Chats::new(keys.clone(), &state.settings.chats);
        let (presets, warnings) = Presets::load(&config.home.join("presets.json"));
        for warning in warnings {
            tracing::warn!(%warning, "the presets in the home are not used");
            remarks.push((&warning).into());
        }
        let blobs = Blobs::new(config.home.join("blobs"));
        let time = TimeMachine::new(store.clone(), blobs.clone(), &config.home, Limits::default());
        let unfinished = Unfinished::begin(&config.home);
        let paths = HomePaths::new(&config.home, &config.settled.residence);
        let library = Library::new(&config.home, bundled, store.clone(), unfinished.clone(), &state.settings);
        let trash = HomeTrash::new(&config.settled.residence, &config.home, store.clone(), clock.clone());
        trash.install(&config.remover)?;
        let board = Board::default();
        let places = state.settings.live_turns.effective();
        let shared = Shared {
            admission: Admission::new(places, board.change().clone()),
            board,
            trash,
            time,
            unfinished,
            models: Models::new(keys, presets, state.models, &state.settings),
            toolset: Toolset::standard(),
            forks: Forks::new(Arc::new(library.clone())),
            library,
            schedule: Schedule::new(&config.home, clock),
            open: OpenSessions::default(),
            search: Search::new(searching.clone()),
            searching,
            chats,
            browser: HomeBrowser::new(
                paths.clone(),
                (store.clone(), blobs.clone()),
                state.settings.browser.clone(),
                Secrets::new(site_keys, &state.settings.site_secrets),
            ),
            documents: Reader::of_this_program(),
            login: LoginEnvironment::capture(),
            lease: Holder::of_this_process(),
            neighbours: Change::default(),
            deltas: broadcast::channel(DELTAS).0,
            changing: tokio::sync::Mutex::default(),
            planning: tokio::sync::Mutex::default(),
            troubles: Troubles::new(),
            rules: Rules::new(&config.home),
            report: tokio::sync::Mutex::default(),
            blobs,
            paths,
            preferences: std::sync::RwLock::new(state.settings.clone()),
            waking: Waking::default(),
            closing: CancellationToken::new(),
            store,
            config,
        };
        let octo = Self {
            open: shared.open.clone(),
            shared: Arc::new(shared),
            mending: Arc::default(),
            remarks: remarks.into(),
        };
        let home = octo.shared.config.home.clone();
        // Beside the start; nobody waits for it.
        tokio::task::spawn_blocking(move || {
            octo_shell::prune_logs(&home.join("shells"));
            Unfinished::sweep(&home);
        });
        look_after(&octo.shared).await;
        octo.tend_time();
        match octo.shared.config.open_turns {
            OpenTurns::GoOnAtStart => {
                octo.tidy_time();
                octo.tend_backups();
                Schedule::take_up(&octo.shared).await?;
                octo.resume().await?;
                Tender::begin(&octo, octo.shared.closing.clone());
                octo.tend_sessions();
                chat_services::begin(&octo, &octo.shared.closing);
            }
            OpenTurns::WaitForUse => {}
        }
        octo.heed_neighbours();
        octo.shared.admission.open();
        Ok(octo)
    }

    /// Goes on with the turns that a crash or a shutdown of a process of this kind left open. One that
    /// cannot be gone on with is left for when it is opened.
    async fn resume(&self) -> Result<(), ApiError> {
        for source in resumes_at_start(self.shared.config.source) {
            let source = *source;
            let unfinished = self.shared.store.read(move |reader| reader.unfinished_sessions(source));
            for session in unfinished.await? {
                if let Err(error) = self.session(session).await {
                    tracing::warn!(%session, %error, "an open turn is not gone on with");
                }
            }
        }
        Ok(())
    }

    /// Lets sessions rest that nobody works in, for as long as the application runs.
    fn tend_sessions(&self) {
        let (open, closing) = (self.open.clone(), self.shared.closing.clone());
        let idle_after = self.shared.config.idle_after;
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = closing.cancelled() => return,
                    () = tokio::time::sleep(idle_after.max(BETWEEN_LOOKS)) => {}
                }
                let_idle_rest(&open, idle_after).await;
            }
        });
    }

    /// The same application, not kept.
    pub(crate) fn faint(&self) -> FaintOcto {
        FaintOcto {
            shared: Arc::downgrade(&self.shared),
            open: self.open.clone(),
            mending: self.mending.clone(),
            remarks: self.remarks.clone(),
        }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Carries out a request; the reply is of the request's reply type.
    pub async fn request(&self, request: Request) -> Result<Value, ApiError> {
        match request {
            Request::Sessions(request) => self.sessions(request).await,
            Request::Models(request) => self.models(request).await,
            Request::Ledger(request) => self.ledger(request).await,
            Request::Trash(request) => self.trash(request).await,
            Request::App(request) => self.app(request).await,
            Request::Browser(request) => self.browser(request).await,
            Request::Time(request) => self.time(request).await,
            Request::Policy(request) => self.policy(request).await,
            Request::Skills(request) => self.skills(request).await,
            Request::Memory(request) => self.memory(request).await,
            Request::Schedule(request) => self.schedule(request).await,
            Request::Chats(request) => self.chats(request).await,
            Request::Activity(request) => self.activity(request).await,
            Request::Home(request) => self.home(request).await,
            Request::Transcripts(request) => self.transcripts(request).await,
            Request::Host(request) => self.host(request).await,
        }
    }

    /// [`Octo::request`], typed.
    pub async fn call<C: Call>(&self, call: C) -> Result<C::Reply, ApiError> {
        let reply = self.request(call.into()).await?;
        serde_json::from_value(reply).map_err(|error| ApiError::new("internal").detail(error))
    }

    /// Watches a topic: first a snapshot, then what changes; deltas are merged for about 30 ms.
    pub async fn subscribe(&self, topic: Topic) -> Result<Subscription, ApiError> {
        if let Topic::Session { id } = topic {
            // Opening it goes on with what was left open. In use elsewhere, it can still be looked at.
            match self.session(id).await {
                Ok(_) => {}
                Err(error) if error.code == Some(ErrorCode::InUse) => {}
                Err(error) => return Err(error),
            }
        }
        subscription::subscribe(self.clone(), topic).await
    }

    /// All durable events of all topics from now on, in the order they were stored.
    pub fn events(&self) -> broadcast::Receiver<Arc<Envelope>> {
        self.shared.store.published()
    }

    /// Stored events of a topic after `seq`, oldest first, at most `limit`: for a client that fell behind.
    pub async fn events_since(&self, topic: Topic, seq: u64, limit: u32) -> Result<Vec<Envelope>, ApiError> {
        self.shared
            .store
            .read(move |reader| reader.events_since(&topic, seq, limit))
            .await
            .map_err(ApiError::from)
    }

    /// A blob's bytes.
    pub async fn blob(&self, hash: &BlobHash) -> Result<BlobBytes, ApiError> {
        let (blobs, wanted) = (self.shared.blobs.clone(), hash.clone());
        let read = tokio::task::spawn_blocking(move || blobs.get(&wanted));
        let bytes = read
            .await
            .map_err(|error| ApiError::new("internal").detail(error))?
            .map_err(|error| ApiError::new("blob.missing").detail(error))?;
        Ok(BlobBytes { media_type: octo_workspace::media_type(&bytes).to_owned(), bytes })
    }

    /// What could not be used at the start and was left aside, for whoever started it to say.
    pub fn remarks(&self) -> &[ApiError] {
        &self.remarks
    }

    /// The machine slept, or its clock was set: what is due by the time of day is done now.
    pub fn woke(&self) {
        self.shared.waking.woke();
    }

    /// Ends everything that runs, keeps it, and lets go of the home. Running turns are left so that the
    /// next start goes on with them; their commands are killed.
    pub async fn shutdown(&self) {
        self.shared.closing.cancel();
        // Places that become free now are nobody's.
        self.shared.admission.close();
        Schedule::let_go(&self.shared).await;
        self.shared.browser.detach().await;
        let handles: Vec<SessionHandle> = self.open.lock().await.drain().map(|(_, handle)| handle).collect();
        futures::future::join_all(handles.iter().map(SessionHandle::shut_down)).await;
        // What is being ended just now keeps its session's lease until it is.
        let _mended = self.mending.lock().await;
        let store = self.shared.store.clone();
        // Writes out what waits; a thread that is gone already has nothing left to write.
        let _ended = tokio::task::spawn_blocking(move || store.close()).await;
    }

    /// The state of a topic.
    pub(crate) async fn snapshot(&self, topic: &Topic) -> Result<Snapshot, ApiError> {
        match *topic {
            Topic::Session { id } => Ok(Snapshot::Session(Box::new(self.session_snapshot(id).await?))),
            Topic::Sessions => {
                let list = self.shared.store.read(|reader| reader.list_snapshot(SNAPSHOT_SESSIONS));
                let list = list.await?;
                Ok(Snapshot::Sessions { seq: list.seq, sessions: list.sessions, total: list.total })
            }
            Topic::Trash => {
                let read = self.shared.store.read(|reader| reader.trash_snapshot()).await;
                let (seq, totals) = read?;
                Ok(Snapshot::Trash { seq, totals })
            }
            Topic::Settings => {
                let (seq, snapshot) = self.settings_snapshot().await?;
                Ok(Snapshot::Settings { seq, snapshot: Box::new(snapshot) })
            }
            Topic::Ledger => Ok(Snapshot::Ledger {}),
            Topic::Library => Ok(Snapshot::Library { state: self.shared.library.state().await? }),
            Topic::Tasks => Ok(Snapshot::Tasks { state: Tasks::of(&self.shared).state().await? }),
            Topic::Browser => Ok(Snapshot::Browser { state: self.shared.browser.state() }),
            Topic::Activity => Ok(Snapshot::Activity { state: self.activity_state().await? }),
        }
    }

    pub(crate) fn deltas(&self) -> broadcast::Receiver<Arc<Delta>> {
        self.shared.deltas.subscribe()
    }

    pub(crate) fn policies(&self) -> broadcast::Receiver<PolicyState> {
        self.shared.rules.watch()
    }

    /// What is told of skills and memories from now on.
    pub(crate) fn library_news(&self) -> broadcast::Receiver<octo_protocol::LibraryState> {
        self.shared.library.watch()
    }

    /// What is told of tasks from now on.
    pub(crate) fn task_news(&self) -> broadcast::Receiver<octo_protocol::TasksState> {
        self.shared.schedule.watch()
    }

    /// What is told of the browser from now on.
    pub(crate) fn browser_news(&self) -> broadcast::Receiver<browsing::News> {
        self.shared.browser.watch()
    }

    /// The page a session works in now.
    pub(crate) fn live_page(&self, session: SessionId) -> Option<octo_protocol::LivePage> {
        self.shared.browser.seated(session)?.live()
    }

    /// A picture of the page a session works in, as JPEG; none for one that is gone. It is kept in memory only.
    pub fn live_picture(&self, session: SessionId, number: u32) -> Option<Arc<[u8]>> {
        self.shared.browser.seated(session)?.picture(number)
    }

    pub(crate) fn troubles(&self) -> &Troubles {
        &self.shared.troubles
    }

    /// The session's actor, started if it does not run.
    pub(crate) async fn session(&self, id: SessionId) -> Result<SessionHandle, ApiError> {
        open_session(&self.shared, id).await
    }
}

/// The session's actor, started if it does not run. None is started once the application ends: nobody would end it, and
/// the one that is being ended still works on the same turn.
pub(crate) async fn open_session(shared: &Arc<Shared>, id: SessionId) -> Result<SessionHandle, ApiError> {
    let mut open = shared.open.lock().await;
    if shared.closing.is_cancelled() {
        return Err(ApiError::new("store.closed"));
    }
    if let Some(handle) = open.get(&id) {
        if handle.is_open() {
            return Ok(handle.clone());
        }
        // One that is ending still holds the lease and the session's commands.
        handle.ended().await;
    }
    let opened = SessionHandle::open(shared.clone(), id).await;
    match &opened {
        Ok(handle) => {
            open.insert(id, handle.clone());
            shared.troubles.over(id);
        }
        Err(error) if error.is_of_the_store() => {
            shared.troubles.begin(id, error.clone(), TroubleStage::Ended);
        }
        Err(_) => {}
    }
    opened
}

/// Says which scripts of the person's were put aside for newer ones.
fn report(installed: &[(&'static str, Installed)]) {
    for (name, outcome) in installed {
        if let Installed::PutAside { backup } = outcome {
            tracing::warn!(name, backup = %backup.display(), "a changed script was put aside for a newer one");
        }
    }
}

/// A reply as JSON.
pub(crate) fn json<T: serde::Serialize>(reply: T) -> Result<Value, ApiError> {
    serde_json::to_value(reply).map_err(|error| ApiError::new("internal").detail(error))
}
