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
use octo_workspace::{Blobs, TimeMachine, Unfinished};
use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
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

/// Where a session's long results are kept whole, in a home.
pub(crate) fn outputs_of(home: &Path, session: SessionId) -> PathBuf {
    home.join("outputs").join(session.to_string())
}

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

    /// Where a session's summed-up messages are written out.
    pub fn archives(&self, session: SessionId) -> PathBuf {
        self.config.home.join("archives").join(session.to_string())
    }

    /// Where a session's long results are kept whole.
    pub fn outputs(&self, session: SessionId) -> PathBuf {
        outputs_of(&self.config.home, session)
    }

    /// The person's hooks, for a session in this folder.
    pub fn hooks(&self, folder: PathBuf) -> Hooks {
        Hooks {
            file: self.config.home.join("hooks.toml"),
            folder,
            tools: self.toolset.names().collect(),
            login: self.login.clone(),
            secret_variables: self.config.secret_variables.clone(),
        }
    }

    /// Where files are kept that a session was sent through a chat service.
    pub fn received(&self, session: SessionId) -> PathBuf {
        self.config.home.join("received").join(session.to_string())
    }

    /// Octo's own folders that any session may read: archives, logs, skills, memories, scripts, and what was sent to it.
    pub fn readable(&self) -> Vec<PathBuf> {
        ["archives", "logs", "skills", "memories", "scripts", "received"]
            .map(|name| self.config.home.join(name))
            .to_vec()
    }

    /// Octo's home, links followed.
    pub fn home(&self) -> PathBuf {
        octo_workspace::real(&self.config.home).unwrap_or_else(|_| self.config.home.clone())
    }

    /// Other paths of Octo's home, and where it was before: as written, with the links above followed, and real. What
    /// lies beside a home is named after the path as written.
    pub fn home_others(&self) -> Vec<PathBuf> {
        let (home, residence) = (self.home(), &self.config.settled.residence);
        let mut others = Vec::new();
        for place in residence.former.iter().chain([&residence.home, &self.config.home]) {
            let above = place.parent().and_then(|above| octo_workspace::real(above).ok());
            others.extend(above.zip(place.file_name()).map(|(above, name)| above.join(name)));
            others.extend(octo_workspace::real(place).ok());
            others.push(place.clone());
        }
        others.sort();
        others.dedup();
        others.retain(|other| *other != home);
        others
    }

    /// The person's own policy as it stands in the home. A file that cannot be used counts as the strict policy.
    pub fn policy(&self) -> Arc<Policy> {
        self.rules.policy()
    }

    /// A session's own temporary folder, which its agent may write without asking.
    pub fn scratch(&self, session: SessionId) -> Result<PathBuf, ApiError> {
        self.session_place("scratch", session)
    }

    /// Where a session's shell keeps what carries over between commands, and their logs. Apart from the
    /// temporary folder: who may write here decides what the next command is.
    pub fn shell_place(&self, session: SessionId) -> Result<PathBuf, ApiError> {
        self.session_place("shells", session)
    }

    fn session_place(&self, kind: &str, session: SessionId) -> Result<PathBuf, ApiError> {
        let folder = self.config.home.join(kind).join(session.to_string());
        octo_workspace::private_folder(&folder).map_err(|error| {
            ApiError::new("start.home_unwritable").arg("home", self.config.home.display()).detail(error)
        })
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

/// The real path of a folder a session may work in. Fails when it is not there or not a folder.
pub(crate) fn session_folder(folder: &Path) -> Result<PathBuf, ApiError> {
    let text = folder.display().to_string();
    let wrong = |key: &str| ApiError::new(key).arg("folder", &text);
    let home = std::env::home_dir().unwrap_or_else(|| PathBuf::from("/"));
    let real =
        octo_workspace::resolve(&text, &home).map_err(|error| wrong("session.folder_wrong").detail(error))?;
    if real.is_dir() { Ok(real) } else { Err(wrong("session.folder_gone")) }
}
