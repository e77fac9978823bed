//! What all sessions share.

use crate::{
    Config,
    activity::{Board, Change},
    admission::Admission,
    browsing::HomeBrowser,
    chats::Chats,
    forks::Forks,
    hooks::Hooks,
    library::{Library, Shelf},
    models::Models,
    prompt,
    rules::Rules,
    schedule::Schedule,
    searching::Searching,
    session::SessionHandle,
    trash::HomeTrash,
    troubles::Troubles,
    waking::Waking,
};
use octo_documents::Reader;
use octo_protocol::{
    ApiError, BlobHash, Block, Delta, Diagnostics, Message, Profile, Rule, SessionId, Settings,
};
use octo_shell::{LoginEnvironment, Policy};
use octo_store::{Holder, Store, ToolsetRow};
use octo_tools::{Search, Toolset};
use octo_workspace::{Blobs, HomePaths, TimeMachine, Unfinished};
use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

/// What all sessions share.
pub(crate) struct Shared {
    pub config: Config,
    pub store: Store,
    pub blobs: Blobs,
    /// Where things are in the home.
    pub paths: HomePaths,
    pub time: TimeMachine,
    /// What is being written outside the home.
    pub unfinished: Unfinished,
    pub trash: HomeTrash,
    pub models: Models,
    pub toolset: Toolset,
    /// Who is asked when the web is searched, and the capability to ask them.
    pub searching: Arc<Searching>,
    pub search: Search,
    /// The chat services a person can write to Octo through.
    pub chats: Chats,
    /// The attachment to the person's browser.
    pub browser: HomeBrowser,
    /// Reads documents in processes of their own.
    pub documents: Reader,
    pub login: LoginEnvironment,
    /// This process, as it holds leases.
    pub lease: Holder,
    /// Told whenever another process wrote into the home.
    pub neighbours: Change,
    pub deltas: broadcast::Sender<Arc<Delta>>,
    /// The settings as they are stored; see [`Shared::preferences`].
    pub preferences: RwLock<Settings>,
    /// Held while settings are changed.
    pub changing: tokio::sync::Mutex<()>,
    /// Plans for the home are made one after the other. Not under the one for changes: a copy may take minutes.
    pub planning: tokio::sync::Mutex<()>,
    /// Sessions that cannot be stored.
    pub troubles: Troubles,
    /// The report of the state that was made last, for whoever looked at it.
    pub report: tokio::sync::Mutex<Option<Diagnostics>>,
    /// The person's own rules.
    pub rules: Rules,
    /// Skills and memories.
    pub library: Library,
    /// Tasks that run at their time.
    pub schedule: Schedule,
    /// Sub-agents, and the skills they work by.
    pub forks: Forks,
    /// How many turns work at once.
    pub admission: Admission,
    /// What runs in this process.
    pub board: Board,
    /// Sessions whose actor runs. Held while one is opened, so that none is opened twice.
    pub open: OpenSessions,
    /// Whether the machine slept.
    pub waking: Waking,
    /// The application ends.
    pub closing: CancellationToken,
}

/// How long a folder's skills are looked for before something goes without: one that does not answer must not hold up
/// what comes behind, Stop among it.
pub(crate) const LOOK: Duration = Duration::from_secs(1);

/// Sessions whose actor runs.
pub(crate) type OpenSessions = Arc<tokio::sync::Mutex<HashMap<SessionId, SessionHandle>>>;

impl Shared {
    /// The settings as of now.
    pub fn preferences(&self) -> Settings {
        self.preferences.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes stored settings into use.
    pub fn prefer(&self, settings: Settings) {
        self.admission.set_limit(settings.live_turns.effective());
        *self.preferences.write().unwrap_or_else(PoisonError::into_inner) = settings;
        self.forks.slots.look_again();
    }

    /// The tools as they are now.
    pub fn toolset_row(&self) -> Result<ToolsetRow, ApiError> {
        let tools_json = serde_json::to_string(&self.toolset.definitions())
            .map_err(|error| ApiError::new("internal").detail(error))?;
        Ok(ToolsetRow { hash: self.toolset.hash(), version: self.toolset.version(), tools_json })
    }

    /// The system prompt of a session that begins now in this folder.
    pub async fn system_prompt(
        &self,
        profile: Profile,
        folder: PathBuf,
        shelf: &Shelf,
    ) -> Result<String, ApiError> {
        let (agents, listing) = (self.library.agents().clone(), shelf.listing(profile.name()));
        let made =
            tokio::task::spawn_blocking(move || prompt::system_prompt(&profile, &folder, &agents, &listing));
        made.await.map_err(|error| ApiError::new("internal").detail(error))?
    }

    /// The person's hooks, for a session in this folder.
    pub fn hooks(&self, folder: PathBuf) -> Hooks {
        Hooks {
            file: self.paths.hooks(),
            folder,
            tools: self.toolset.names().collect(),
            login: self.login.clone(),
            secret_variables: self.config.secret_variables.clone(),
        }
    }

    /// The person's own policy as it stands in the home. A file that cannot be used counts as the strict policy.
    pub fn policy(&self) -> Arc<Policy> {
        self.rules.policy()
    }

    /// What the person always allowed in a folder.
    pub async fn folder_rules(&self, folder: String) -> Result<Vec<Rule>, ApiError> {
        self.store.read(move |reader| reader.rules(&folder)).await.map_err(ApiError::from)
    }

    /// What the person allowed in a folder and, under its own scope, in one session.
    pub async fn allowed(&self, folder: String, scope: String) -> Result<Vec<Rule>, ApiError> {
        let read = self.store.read(move |reader| {
            let mut rules = reader.rules(&folder)?;
            rules.extend(reader.rules(&scope)?);
            Ok(rules)
        });
        read.await.map_err(ApiError::from)
    }

    /// The bytes of all pictures and documents these messages mention. One that is gone is left out: the codec says so.
    pub async fn images_of(&self, messages: &[Message]) -> HashMap<BlobHash, Arc<[u8]>> {
        let hashes: HashSet<BlobHash> =
            messages.iter().flat_map(|message| &message.blocks).flat_map(pictures).collect();
        if hashes.is_empty() {
            return HashMap::new();
        }
        let blobs = self.blobs.clone();
        let read = tokio::task::spawn_blocking(move || {
            hashes
                .into_iter()
                .filter_map(|hash| blobs.get(&hash).ok().map(|bytes| (hash, Arc::from(bytes))))
                .collect::<HashMap<BlobHash, Arc<[u8]>>>()
        });
        read.await.unwrap_or_default()
    }
}

fn pictures(block: &Block) -> Vec<BlobHash> {
    match block {
        Block::Image { blob, .. } | Block::Document { blob, .. } => vec![blob.clone()],
        Block::ToolResult(result) => result.images.iter().map(|image| image.blob.clone()).collect(),
        Block::Text { .. }
        | Block::Reasoning { .. }
        | Block::File { .. }
        | Block::ToolCall(_)
        | Block::Summary { .. }
        | Block::Notice { .. }
        | Block::CommandsEnded { .. } => Vec::new(),
    }
}
