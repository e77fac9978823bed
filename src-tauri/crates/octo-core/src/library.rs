//! The home's library: skills and memories, which are files, and the store's data about them.
//!
//! The disk is the source of truth and is read on each request, so a newly written skill is available at once.
//! Notifications say that something changed, not which part: clients that show the library ask again. A session
//! learns of new skills through a notice at its end (see [`SkillSet::new_skills_notice`]); text sent before stays as it is.

mod cards;
mod memory;
mod offers;
mod others;
mod requests;
mod skill;
mod source;
mod suggestions;

pub(crate) use cards::{label, warning_to_error as remark};
pub(crate) use memory::MemoryDraft;
use offers::InspectedSkills;
pub(crate) use requests::absolute;
pub(crate) use skill::{SKILL_FILE, skill_text};
pub(crate) use suggestions::Proposal;

use crate::{
    prompt::{self, AgentFiles},
    slash,
    updates::Updates,
};
use octo_protocol::{
    ApiError, Block, CommandInfo, LibraryState, LiveTopic, Profile, ProxyChoice, Settings, SkillRef, Switch,
    TrustedCertificates, Update,
};
use octo_runtime::blocking;
use octo_skills::{
    CallRefusal, Catalogue, FolderReading, ForeignFolders, Invocable, Memories, Roots, Skill,
    SkillCallOrigin, SkillUsage, SkillWatch, Trust, discover,
};
use octo_store::{SkillChoice, Store};
use octo_tools::SkillTask;
use octo_workspace::UnfinishedWrites;
use parking_lot::{Mutex, RwLock};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// Maximum number of folders whose own skills are watched, most recently requested first; each takes two
/// threads. Sessions in other folders still learn of new skills with their next message.
const WATCHED_FOLDERS: usize = 8;
/// Maximum size of the skill list in every request of a session, in estimated tokens.
const LISTED_TOKENS: usize = 800;

/// Time limit for the search for a folder's skills, after which work continues without them: a folder that does
/// not respond must not block subsequent work, including Stop.
pub(crate) const SEARCH_TIMEOUT: Duration = Duration::from_secs(1);

/// The skills and memories of a home. Clones share them.
#[derive(Clone)]
pub(crate) struct Library(Arc<LibraryInner>);

struct LibraryInner {
    home: PathBuf,
    /// The folder of bundled skills.
    bundled: PathBuf,
    /// The person's home folder, where other agents keep files.
    person: Option<PathBuf>,
    store: Store,
    /// Unfinished writes outside the home.
    unfinished: UnfinishedWrites,
    memories: Memories,
    agents: AgentFiles,
    offers: InspectedSkills,
    foreign_folders: RwLock<ForeignFolders>,
    network: RwLock<RepositoryNetwork>,
    revision: AtomicU64,
    updates: Updates,
    /// The watched folders: the home (`None`), and projects whose skills were requested, most recent last.
    watches: Mutex<Vec<(Option<PathBuf>, SkillWatch)>>,
}

/// The network settings for repositories of skills.
#[derive(Clone, Default)]
struct RepositoryNetwork {
    proxy: ProxyChoice,
    certificates: Option<Box<TrustedCertificates>>,
}

/// The skills visible in one folder, with the person's choices for each.
pub(crate) struct SkillSet {
    pub(crate) catalogue: Catalogue,
    choices: HashMap<SkillRef, SkillChoice>,
    folder: Option<PathBuf>,
}

impl Library {
    /// Creates the library of this home and begins to watch it.
    pub(crate) fn new(
        home: &Path,
        bundled: PathBuf,
        store: Store,
        unfinished: UnfinishedWrites,
        settings: &Settings,
        updates: Updates,
    ) -> Self {
        let inner = LibraryInner {
            home: home.to_owned(),
            bundled,
            unfinished,
            person: std::env::home_dir().filter(|home| home.is_absolute()),
            store,
            memories: Memories::new(home.join("memories")),
            agents: AgentFiles::new(home),
            offers: InspectedSkills::default(),
            foreign_folders: RwLock::default(),
            network: RwLock::default(),
            revision: AtomicU64::new(0),
            updates,
            watches: Mutex::default(),
        };
        let library = Self(Arc::new(inner));
        library.apply_settings(settings);
        library.watch_home();
        library
    }

    /// Puts settings into effect.
    pub(crate) fn apply_settings(&self, settings: &Settings) {
        let network =
            RepositoryNetwork { proxy: settings.proxy.clone(), certificates: settings.certificates.clone() };
        *self.0.network.write() = network;
        let reading = match settings.library.other_agents {
            Switch::On => FolderReading::On,
            Switch::Off => FolderReading::Off,
        };
        let foreign = ForeignFolders { claude: reading, agents: reading };
        let mut current = self.0.foreign_folders.write();
        let changed = *current != foreign;
        *current = foreign;
        drop(current);
        if changed {
            self.notify_change();
        }
    }

    /// Returns the access to SOUL.md, USER.md and profiles.
    pub(crate) fn agents(&self) -> &AgentFiles {
        &self.0.agents
    }

    /// Returns the library's state.
    pub(crate) async fn state(&self) -> Result<LibraryState, ApiError> {
        let suggestions = self.0.store.read(|reader| reader.suggestions()).await?;
        let suggestions = u32::try_from(suggestions.len()).unwrap_or(u32::MAX);
        Ok(LibraryState { revision: self.0.revision.load(Ordering::Relaxed), suggestions })
    }

    /// Notifies watchers of a change.
    pub(crate) fn notify_change(&self) {
        self.0.revision.fetch_add(1, Ordering::Relaxed);
        let library = self.clone();
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            if let Ok(state) = library.state().await {
                library.0.updates.send(LiveTopic::Library, Update::Library { state });
            }
        });
    }

    /// Returns the system prompt of a session that begins now in this folder.
    pub(crate) async fn system_prompt(
        &self,
        profile: Profile,
        folder: PathBuf,
        skill_set: &SkillSet,
    ) -> Result<String, ApiError> {
        let (agents, listing) = (self.agents().clone(), skill_set.listing(profile.name()));
        blocking(move || prompt::system_prompt(&profile, &folder, &agents, &listing)).await
    }

    /// Returns the skills currently visible in a folder.
    pub(crate) async fn skill_set(&self, folder: Option<PathBuf>) -> Result<SkillSet, ApiError> {
        if let Some(folder) = &folder {
            self.watch_project(folder);
        }
        let choices = self.0.store.read(|reader| reader.skill_choices()).await?;
        let roots = self.roots(folder.as_deref());
        blocking(move || {
            let accepted = |skill: &Skill| {
                let choice = choices.get(&skill_reference(skill, folder.as_deref()));
                let print = skill.fingerprint.as_ref().map(octo_skills::Fingerprint::to_hex);
                match (choice.and_then(|choice| choice.accepted.as_ref()), print) {
                    (Some(accepted), Some(print)) if *accepted == print => Trust::Trusted,
                    _ => Trust::Untrusted,
                }
            };
            let mut catalogue = discover(&roots, &accepted);
            catalogue.set_usage(&|skill| {
                let choice = choices.get(&skill_reference(skill, folder.as_deref()));
                match (choice.and_then(|choice| choice.on), choice.and_then(|choice| choice.automatic)) {
                    (Some(Switch::Off), _) => SkillUsage::Off,
                    (_, Some(Switch::Off)) => SkillUsage::OnRequest,
                    (_, Some(Switch::On)) => SkillUsage::Automatic,
                    (_, None) => SkillUsage::Full,
                }
            });
            Ok(SkillSet { catalogue, choices, folder })
        })
        .await
    }

    fn roots(&self, folder: Option<&Path>) -> Roots {
        let foreign = *self.0.foreign_folders.read();
        let mut roots = Roots::new(Some(&self.0.bundled), &self.0.home);
        if let Some(folder) = folder {
            roots = roots.with_project(folder);
        }
        roots.with_foreign(foreign, self.0.person.as_deref(), folder)
    }

    /// Watches memories, profiles, and the skills that belong to no folder.
    fn watch_home(&self) {
        for name in ["skills", "memories", "agents"] {
            let folder = self.0.home.join(name);
            if let Err(error) = octo_workspace::private_folder(&folder) {
                tracing::warn!(folder = %folder.display(), %error, "a folder of the home cannot be made");
            }
        }
        let further_folders = [self.0.memories.folder().to_owned(), self.0.agents.folder().to_owned()];
        let roots = self.roots(None);
        let folders =
            roots.iter().map(|root| root.path.as_path()).chain(further_folders.iter().map(PathBuf::as_path));
        self.watch_folders(None, folders);
    }

    /// Watches a project's own skills.
    fn watch_project(&self, folder: &Path) {
        let roots = self.roots(Some(folder));
        let own_roots = roots.iter().map(|root| root.path.as_path()).filter(|path| path.starts_with(folder));
        self.watch_folders(Some(folder), own_roots);
    }

    fn watch_folders<'a>(&self, folder: Option<&Path>, folders: impl Iterator<Item = &'a Path>) {
        let mut watches = self.0.watches.lock();
        if let Some(watched_folder) =
            watches.iter().position(|(watched_folder, _)| watched_folder.as_deref() == folder)
        {
            let watch = watches.remove(watched_folder);
            watches.push(watch);
            return;
        }
        let weak = Arc::downgrade(&self.0);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let watch = SkillWatch::folders(folders, move || {
            let _in = runtime.enter();
            if let Some(inner) = weak.upgrade() {
                Library(inner).notify_change();
            }
        });
        match watch {
            Ok(watch) => {
                watches.push((folder.map(Path::to_owned), watch));
                let projects = watches.iter().filter(|(folder, _)| folder.is_some()).count();
                let oldest = watches.iter().position(|(folder, _)| folder.is_some());
                if let Some(oldest) = oldest.filter(|_| projects > WATCHED_FOLDERS) {
                    watches.remove(oldest);
                }
            }
            Err(error) => {
                tracing::warn!(%error, "changes of skills and memories are seen when they are asked for")
            }
        }
    }
}

impl SkillSet {
    /// Returns the part of a session's system prompt about skills.
    pub(crate) fn listing(&self, profile: &str) -> String {
        octo_skills::listing(&self.catalogue, profile, LISTED_TOKENS)
    }

    /// Returns a notice of the skills new to a session, or `None` without any: `sent_texts` contains the texts sent
    /// so far, its system prompt and earlier notices.
    pub(crate) fn new_skills_notice<'a>(
        &self,
        profile: &str,
        sent_texts: impl Iterator<Item = &'a str> + Clone,
    ) -> Option<String> {
        let is_told = |skill: &Skill| {
            let line = format!("- {}: ", skill.name);
            sent_texts.clone().any(|text| text.lines().any(|sent_line| sent_line.starts_with(&line)))
        };
        // A prompt without a list of skills belongs to a session that has no tool for them.
        let new: Vec<&Skill> =
            self.catalogue.for_model(profile).into_iter().filter(|skill| !is_told(skill)).collect();
        let text = octo_skills::announce(&new);
        (!text.is_empty()).then_some(text)
    }

    /// Returns the skill a message of the person calls, if they may use it.
    pub(crate) fn skill_in_message(&self, blocks: &[Block], profile: &Profile) -> Option<SkillTask> {
        self.skill_for_command(blocks, "", &[], profile).ok()
    }

    /// Returns the skill a person called by a slash command, with its task: all text after the name.
    ///
    /// # Errors
    /// Why it cannot be called, in words for the person; for an unknown name, with similar names, `built_in`
    /// commands among them.
    pub(crate) fn skill_for_command(
        &self,
        blocks: &[Block],
        name: &str,
        built_in: &[&str],
        profile: &Profile,
    ) -> Result<SkillTask, ApiError> {
        let call = match blocks {
            [Block::Text { text }] => octo_skills::parse_skill_call(text),
            _ => None,
        };
        let Some(call) = call else { return Err(slash::unknown(name.to_owned(), built_in)) };
        match self.catalogue.call(&call.name, profile.name(), SkillCallOrigin::Person) {
            Ok(skill) => Ok(SkillTask { name: skill.name.clone(), task: call.arguments }),
            Err(CallRefusal::Unknown { name, similar }) => {
                let similar: Vec<&str> =
                    built_in.iter().copied().chain(similar.iter().map(String::as_str)).collect();
                Err(slash::unknown(name, &similar))
            }
            Err(refusal) => Err(ApiError::from(&refusal)),
        }
    }

    /// Returns the skills a person may call by a slash command, in any profile.
    pub(crate) fn commands(&self) -> impl Iterator<Item = CommandInfo> {
        let skills = self.catalogue.skills().iter().filter(|skill| {
            skill.error.is_none()
                && skill.usage != SkillUsage::Off
                && skill.fields.person_invocation == Invocable::Yes
        });
        skills.map(|skill| CommandInfo {
            name: skill.name.clone(),
            description: Some(skill.fields.description.clone()),
            description_zh: skill.fields.description_zh.clone(),
            argument: skill.fields.argument_hint.clone().unwrap_or_default(),
            argument_zh: skill.fields.argument_hint_zh.clone(),
        })
    }

    /// Returns the reference of a skill, as seen from this folder.
    pub(crate) fn reference(&self, skill: &Skill) -> SkillRef {
        skill_reference(skill, self.folder.as_deref())
    }

    fn choice(&self, skill: &Skill) -> SkillChoice {
        self.choices.get(&self.reference(skill)).cloned().unwrap_or_default()
    }

    /// Whether the person wants proposals to improve a skill.
    pub(crate) fn wants_proposals(&self, skill: &Skill) -> Switch {
        self.choice(skill).proposals
    }

    /// Finds the skill a client refers to, even if another one hides it.
    fn find(&self, skill_ref: &SkillRef) -> Result<&Skill, ApiError> {
        let skills = self.catalogue.skills().iter().chain(self.catalogue.shadowed());
        let mut matches = skills.filter(|skill| self.reference(skill) == *skill_ref);
        matches.next().ok_or_else(|| ApiError::new("skills.gone").arg("name", &skill_ref.name))
    }
}

fn skill_reference(skill: &Skill, folder: Option<&Path>) -> SkillRef {
    let origin = skill.source;
    let project = folder.filter(|_| origin.is_from_folder()).map(|folder| folder.display().to_string());
    SkillRef { name: skill.name.clone(), origin, project }
}
