//! The application.

mod clock_check;
mod damage;
mod home;
mod home_move;
mod settings_repair;
mod upkeep;

pub use damage::request_of_damaged;

use crate::{
    base::Base,
    chat_bridge::ChatBridge,
    chats::Chats,
    config::{Config, OpenTurnPolicy},
    ledger,
    library::Library,
    models::Models,
    reply::json,
    rules::PersonRules,
    schedule::HomeTasks,
    scheduler::Scheduler,
    searching::SearchConfig,
    services::Services,
    session::Runtime,
    sessions::Sessions,
    settings::LiveSettings,
    subscription::{self, Subscription},
    topics::Topics,
};
use octo_browsing::{HomeBrowser, PersonSecrets};
use octo_documents::DocumentReader;
use octo_keys::KeyRing;
use octo_llm::{Network, Presets};
use octo_policy::RunningCalls;
use octo_protocol::{
    ApiError, BlobHash, Block, Diagnostics, Envelope, ErrorCode, Request, SendOutcome, SessionId,
    StoredTopic, TaskNotifications, Topic, TypedRequest,
};
use octo_runtime::{Clock, SystemClock};
use octo_shell::{LoginEnvironment, LoginSandbox};
use octo_store::{SettingsState, Store};
use octo_tools::{BUNDLED_FOLDER, SHIPPED_SCRIPTS, SkillTask, Toolset, WebSearch, install_bundled};
use octo_trash::HomeTrash;
use octo_workspace::{ScriptInstallOutcome, Scripts, TimeLimits, TimeMachine, UnfinishedWrites};
use serde_json::Value;
use std::{path::PathBuf, sync::Arc};
use tokio::sync::{Mutex, broadcast};

/// The whole application without a user interface. Cheap to clone; all clones share it.
#[derive(Clone)]
pub struct Octo {
    base: Arc<Base>,
    services: Arc<Services>,
    runtime: Arc<Runtime>,
    sessions: Sessions,
    settings: LiveSettings,
    topics: Topics,
    scheduler: Arc<Scheduler>,
    bridge: Arc<ChatBridge>,
    /// Plans for the home are made one after the other. Not under the lock for settings: a copy may take minutes.
    plan_lock: Arc<Mutex<()>>,
    /// The latest diagnostic report, for the client that viewed it.
    report: Arc<Mutex<Option<Diagnostics>>>,
    /// See [`Octo::remarks`].
    remarks: Arc<[ApiError]>,
}

/// A blob in the form the page shows.
#[derive(Clone, Debug)]
pub struct BlobBytes {
    /// Its media type, detected from its bytes.
    pub media_type: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl Octo {
    /// Opens the home and resumes the earlier work. Fails with a clear error (`start.*`, `store.*`) and changes
    /// nothing if the home cannot be used: not writable, from a newer Octo, or damaged.
    pub async fn start(config: Config) -> Result<Self, ApiError> {
        Self::start_by_clock(config, Arc::new(SystemClock::default())).await
    }

    /// Starts with another clock, which decides when scheduled tasks run and entries in the trash expire.
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
            // Checked only now: a process that moves a home prevents all others from opening it meanwhile.
            home_move::check_not_moved(&home)?;
            // Octo's own readers can read documents without them too.
            match Scripts::new(home.join("scripts")).install(SHIPPED_SCRIPTS) {
                Ok(replacement) => log_replaced_scripts(&replacement),
                Err(error) => tracing::warn!(%error, "the scripts that read documents are not installed"),
            }
            let skills = home.join("skills");
            if skills.is_dir()
                && let Err(error) = octo_skills::remove_unfinished(&skills)
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
        let mut remarks = config.home_at_start.remarks.clone();
        remarks.extend(settings_repair::repair_settings(&store, &config.home, keys.state()).await?);
        remarks.extend(clock_check::clock_remark(&store).await?);
        let state = store.read(|reader| reader.settings_state()).await?;
        let (presets, warnings) = Presets::load(&config.home.join("presets.json"));
        for warning in warnings {
            tracing::warn!(%warning, "the presets in the home are not used");
            remarks.push((&warning).into());
        }
        let base = Arc::new(Base::new(config, store, clock, state.settings.clone()));
        let services = Arc::new(services(&base, bundled, keys, presets, state)?);
        let runtime = Arc::new(Runtime::new(Arc::clone(&base), Arc::clone(&services)));
        let settings = LiveSettings::new(Arc::clone(&runtime));
        let sessions = Sessions::new(Arc::clone(&runtime), settings.clone());
        let octo = Self {
            topics: Topics::new(sessions.clone(), settings.clone()),
            scheduler: Arc::new(Scheduler::new(sessions.clone())),
            bridge: Arc::new(ChatBridge::new(sessions.clone(), settings.clone())),
            base,
            services,
            runtime,
            sessions,
            settings,
            plan_lock: Arc::default(),
            report: Arc::default(),
            remarks: remarks.into(),
        };
        let home = octo.base.config.home.clone();
        // In parallel with the start, which does not wait for it.
        tokio::task::spawn_blocking(move || {
            octo_shell::prune_logs(&home.join("shells"));
            UnfinishedWrites::sweep(&home);
        });
        octo.tend_trash().await;
        if let Err(error) = octo.sessions.sweep_temporary_folders().await {
            tracing::warn!(%error, "temporary files of deleted sessions stay until the next start");
        }
        octo.sessions.recover_interrupted();
        match octo.base.config.open_turns {
            OpenTurnPolicy::GoOnAtStart => {
                octo.collect_daily();
                octo.back_up_daily();
                octo.services.tasks.load_limits().await?;
                octo.sessions.resume_interrupted().await?;
                octo.scheduler.begin();
                octo.sessions.close_idle();
                octo.bridge.begin();
            }
            OpenTurnPolicy::WaitForUse => {}
        }
        octo.sessions.poll_other_processes();
        octo.runtime.admission.open();
        Ok(octo)
    }

    /// Carries out a request; the reply has the request's reply type.
    pub async fn request(&self, request: Request) -> Result<Value, ApiError> {
        match request {
            Request::Sessions(request) => self.sessions.request(request).await,
            Request::Time(request) => self.sessions.time(request).await,
            Request::Transcripts(request) => self.sessions.transcripts(request).await,
            Request::App(request) => self.settings.app(request).await,
            Request::Models(request) => self.settings.models(request).await,
            Request::Browser(request) => self.settings.browser(request).await,
            Request::Ledger(request) => ledger::request(&self.base.store, request).await,
            Request::Trash(request) => self.services.trash_request(&self.base, request).await,
            Request::Policy(request) => self.services.rules.request(&self.base, request).await,
            Request::Skills(request) => {
                self.services.library.skill_request(request, &self.services.trash).await
            }
            Request::Memory(request) => {
                self.services.library.memory_request(request, &self.services.trash).await
            }
            Request::Schedule(request) => self.scheduler.request(request).await,
            Request::Chats(request) => self.bridge.request(request).await,
            Request::Activity(request) => self.topics.activity_request(request).await,
            Request::Home(request) => self.home(request).await,
            Request::Host(request) => json(self.base.config.host.perform(request).await?),
        }
    }

    /// [`Octo::request`], typed.
    pub async fn call<C: TypedRequest>(&self, call: C) -> Result<C::Reply, ApiError> {
        let reply = self.request(call.into()).await?;
        serde_json::from_value(reply).map_err(|error| ApiError::new("internal").detail(error))
    }

    /// Watches a topic: first a snapshot, then changes; deltas are merged for about 30 ms.
    pub async fn subscribe(&self, topic: impl Into<Topic>) -> Result<Subscription, ApiError> {
        let topic = topic.into();
        if let Topic::Stored(StoredTopic::Session { id }) = topic {
            // Opening it resumes its unfinished work. If another process uses it, it can still be viewed.
            match self.sessions.open(id).await {
                Ok(_) => {}
                Err(error) if error.code == Some(ErrorCode::InUse) => {}
                Err(error) => return Err(error),
            }
        }
        subscription::subscribe(self.topics.clone(), topic).await
    }

    /// Begins a turn whose first step is a skill: the person's text, then the skill, then the model's answer to
    /// its result. For a command of the person that names a skill.
    ///
    /// # Errors
    /// `session.running` while a turn is running. The model is informed if the skill does not exist.
    pub async fn invoke_skill(
        &self,
        session: SessionId,
        typed: Vec<Block>,
        skill_task: SkillTask,
    ) -> Result<SendOutcome, ApiError> {
        self.sessions.invoke_skill(session, typed, skill_task).await
    }

    /// Returns which news of a scheduled session the person wants, or `None` for any other session or a deleted
    /// task. For code that shows notices.
    pub async fn task_notifications(&self, session: SessionId) -> Option<TaskNotifications> {
        self.scheduler.task_notifications(session).await
    }

    /// Returns the network configuration for requests of the shell.
    pub fn network(&self) -> Network {
        self.services.models.network_config()
    }

    /// Returns all durable events of all topics from now on, in the order they were stored.
    pub fn events(&self) -> broadcast::Receiver<Arc<Envelope>> {
        self.base.store.published()
    }

    /// Returns stored events of a topic after `seq`, oldest first, at most `limit`: for a client that fell
    /// behind.
    pub async fn events_since(
        &self,
        topic: StoredTopic,
        seq: u64,
        limit: u32,
    ) -> Result<Vec<Envelope>, ApiError> {
        self.topics.events_since(topic, seq, limit).await
    }

    /// Returns a blob's bytes.
    pub async fn blob(&self, hash: &BlobHash) -> Result<BlobBytes, ApiError> {
        let (blobs, requested) = (self.base.blobs.clone(), hash.clone());
        let result = tokio::task::spawn_blocking(move || blobs.get(&requested));
        let bytes = result
            .await
            .map_err(|error| ApiError::new("internal").detail(error))?
            .map_err(|error| ApiError::new("blob.missing").detail(error))?;
        Ok(BlobBytes { media_type: octo_workspace::media_type(&bytes).to_owned(), bytes })
    }

    /// Returns the parts that could not be used at the start and were skipped, for the caller to report.
    pub fn remarks(&self) -> &[ApiError] {
        &self.remarks
    }

    /// Handles a wake-up of the machine or a change of its clock: due work runs now.
    pub fn handle_wake_up(&self) {
        self.runtime.waking.notify();
    }

    /// Ends and stores everything that runs, and releases the home. Running turns are left so that the next
    /// start resumes them; their commands are killed.
    pub async fn shutdown(&self) {
        self.base.shutdown.cancel();
        // Permits released now are given to no turn.
        self.runtime.admission.close();
        self.scheduler.release().await;
        self.services.browser.detach().await;
        self.sessions.shut_down().await;
        let store = self.base.store.clone();
        // Flushes pending writes; a thread that has already ended has none.
        let _ended = tokio::task::spawn_blocking(move || store.close()).await;
    }

    /// Returns a picture of the page a session is working in, as JPEG, or `None` for an expired one. Kept in
    /// memory only.
    pub fn live_picture(&self, session: SessionId, number: u32) -> Option<Arc<[u8]>> {
        self.services.browser.existing_session(session)?.picture(number)
    }
}

/// Creates the parts of the application that know no session, and installs the program that replaces `rm` where
/// commands find it.
fn services(
    base: &Arc<Base>,
    bundled: PathBuf,
    keys: KeyRing,
    presets: Presets,
    state: SettingsState,
) -> Result<Services, ApiError> {
    let (config, store, settings) = (&base.config, &base.store, &state.settings);
    let searching = Arc::new(SearchConfig::new(keys.clone(), &settings.search));
    let library = Library::new(
        &config.home,
        bundled,
        store.clone(),
        base.unfinished_writes.clone(),
        settings,
        base.updates.clone(),
    );
    let trash =
        HomeTrash::new(&config.home_at_start.location, &config.home, store.clone(), Arc::clone(&base.clock));
    trash.install(&config.remover)?;
    let chats = Arc::new(Chats::new(store.clone(), keys.clone(), &settings.chats, base.updates.clone()));
    let browser = HomeBrowser::new(
        base.paths.clone(),
        (store.clone(), base.blobs.clone()),
        settings.browser.clone(),
        PersonSecrets::new(keys.clone(), &settings.site_secrets),
    );
    let models = Arc::new(Models::new(keys, presets, state.models, settings));
    Ok(Services {
        toolset: Toolset::standard(),
        search: WebSearch::new(searching.clone()),
        searching,
        browser,
        documents: DocumentReader::from_this_program(),
        login: LoginEnvironment::capture(LoginSandbox {
            octo: base.paths.resolved_home(),
            octo_others: base.paths.other_homes(),
            supervision: config.supervision.clone(),
        }),
        rules: Arc::new(PersonRules::new(&config.home, base.updates.clone())),
        running: RunningCalls::default(),
        time: TimeMachine::new(store.clone(), base.blobs.clone(), &config.home, TimeLimits::default()),
        tasks: HomeTasks::new(Arc::clone(base), Arc::clone(&models), library.agents().clone(), trash.clone()),
        models,
        library,
        trash,
        chats,
    })
}

/// Logs which of the person's scripts were replaced by newer ones.
fn log_replaced_scripts(installed: &[(&'static str, ScriptInstallOutcome)]) {
    for (name, outcome) in installed {
        if let ScriptInstallOutcome::BackedUp { backup } = outcome {
            tracing::warn!(name, backup = %backup.display(), "a changed script was put aside for a newer one");
        }
    }
}
