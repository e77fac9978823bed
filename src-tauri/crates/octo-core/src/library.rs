//! The home's library: skills and memories, which are files, and what the store knows of them besides.
//!
//! The disk is the truth and is read whenever something is asked, so that a skill somebody writes is there at once.
//! That something changed is told, not what: whoever shows the library asks again. A session is told of new skills by a
//! notice at its end (see [`Shelf::news_for`]); what was sent before stays as it is.

mod cards;
mod memory;
mod offers;
mod others;
mod skill;
mod source;
mod suggestions;

pub(crate) use cards::{label, told as remark};
pub(crate) use memory::MemoryDraft;
use offers::Offers;
pub(crate) use skill::{SKILL_FILE, text_of};
pub(crate) use suggestions::Proposal;

use crate::{
    blocking::blocking,
    prompt::{self, Agents},
    slash,
};
use octo_protocol::{
    ApiError, Block, CommandInfo, LibraryState, Profile, ProxyChoice, Settings, SkillRef, Switch,
    TrustedCertificates,
};
use octo_skills::{
    CallRefusal, Caller, Catalogue, Foreign, Invocable, Memories, Reading, Roots, Skill, Trust, Usage, Watch,
    discover,
};
use octo_store::{SkillChoice, Store};
use octo_tools::SkillWish;
use octo_workspace::Unfinished;
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::sync::broadcast;

/// News a slow watcher may fall behind; each is the whole state, so that the last one is enough.
const NEWS: usize = 16;
/// Folders whose own skills are watched, those that were asked for last; each takes two threads. Sessions in others are
/// told with their next message all the same.
const WATCHED_FOLDERS: usize = 8;
/// The most tokens, estimated, that the list of skills takes of every request of a session.
const LISTED_TOKENS: usize = 800;

/// How long a folder's skills are looked for before something goes without: one that does not answer must not hold up
/// what comes behind, Stop among it.
pub(crate) const LOOK: Duration = Duration::from_secs(1);

/// The skills and memories of a home. Clones are one.
#[derive(Clone)]
pub(crate) struct Library(Arc<Inner>);

struct Inner {
    home: PathBuf,
    /// The skills that came with Octo.
    bundled: PathBuf,
    /// The person's own home, for what other agents left there.
    person: Option<PathBuf>,
    store: Store,
    /// What is being written outside the home.
    unfinished: Unfinished,
    memories: Memories,
    agents: Agents,
    offers: Offers,
    foreign: RwLock<Foreign>,
    way: RwLock<Way>,
    revision: AtomicU64,
    news: broadcast::Sender<LibraryState>,
    /// What is watched on the disk: the home (no folder), and projects whose skills were asked for, the last of them last.
    watches: Mutex<Vec<(Option<PathBuf>, Watch)>>,
}

/// How repositories of skills are reached, as the settings say.
#[derive(Clone, Default)]
struct Way {
    proxy: ProxyChoice,
    certificates: Option<Box<TrustedCertificates>>,
}

/// The skills as one folder sees them, with what the person chose for each.
pub(crate) struct Shelf {
    pub(crate) catalogue: Catalogue,
    choices: HashMap<SkillRef, SkillChoice>,
    folder: Option<PathBuf>,
}

impl Library {
    /// That of this home. Watches it from now on.
    pub(crate) fn new(
        home: &Path,
        bundled: PathBuf,
        store: Store,
        unfinished: Unfinished,
        settings: &Settings,
    ) -> Self {
        let inner = Inner {
            home: home.to_owned(),
            bundled,
            unfinished,
            person: std::env::home_dir().filter(|home| home.is_absolute()),
            store,
            memories: Memories::new(home.join("memories")),
            agents: Agents::new(home),
            offers: Offers::default(),
            foreign: RwLock::default(),
            way: RwLock::default(),
            revision: AtomicU64::new(0),
            news: broadcast::channel(NEWS).0,
            watches: Mutex::default(),
        };
        let library = Self(Arc::new(inner));
        library.follow(settings);
        library.watch_home();
        library
    }

    /// Takes settings into use.
    pub(crate) fn follow(&self, settings: &Settings) {
        let way = Way { proxy: settings.proxy.clone(), certificates: settings.certificates.clone() };
        *self.0.way.write().unwrap_or_else(PoisonError::into_inner) = way;
        let reading = match settings.library.other_agents {
            Switch::On => Reading::On,
            Switch::Off => Reading::Off,
        };
        let foreign = Foreign { claude: reading, agents: reading };
        let mut known = self.0.foreign.write().unwrap_or_else(PoisonError::into_inner);
        let changed = *known != foreign;
        *known = foreign;
        drop(known);
        if changed {
            self.changed();
        }
    }

    /// SOUL.md, USER.md and profiles.
    pub(crate) fn agents(&self) -> &Agents {
        &self.0.agents
    }

    /// What becomes of the library from now on.
    pub(crate) fn watch(&self) -> broadcast::Receiver<LibraryState> {
        self.0.news.subscribe()
    }

    /// How it is.
    pub(crate) async fn state(&self) -> Result<LibraryState, ApiError> {
        let waiting = self.0.store.read(|reader| reader.suggestions()).await?;
        let suggestions = u32::try_from(waiting.len()).unwrap_or(u32::MAX);
        Ok(LibraryState { revision: self.0.revision.load(Ordering::Relaxed), suggestions })
    }

    /// Something changed: whoever watches hears of it.
    pub(crate) fn changed(&self) {
        self.0.revision.fetch_add(1, Ordering::Relaxed);
        let library = self.clone();
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            if let Ok(state) = library.state().await {
                // Nobody watching is no fault.
                let _nobody = library.0.news.send(state);
            }
        });
    }

    /// The system prompt of a session that begins now in this folder.
    pub(crate) async fn system_prompt(
        &self,
        profile: Profile,
        folder: PathBuf,
        shelf: &Shelf,
    ) -> Result<String, ApiError> {
        let (agents, listing) = (self.agents().clone(), shelf.listing(profile.name()));
        blocking(move || prompt::system_prompt(&profile, &folder, &agents, &listing)).await
    }

    /// The skills as a folder sees them, as of now.
    pub(crate) async fn shelf(&self, folder: Option<PathBuf>) -> Result<Shelf, ApiError> {
        if let Some(folder) = &folder {
            self.watch_project(folder);
        }
        let choices = self.0.store.read(|reader| reader.skill_choices()).await?;
        let roots = self.roots(folder.as_deref());
        blocking(move || {
            let accepted = |skill: &Skill| {
                let choice = choices.get(&named(skill, folder.as_deref()));
                let print = skill.fingerprint.as_ref().map(octo_skills::Fingerprint::to_hex);
                match (choice.and_then(|choice| choice.accepted.as_ref()), print) {
                    (Some(accepted), Some(print)) if *accepted == print => Trust::Trusted,
                    _ => Trust::Untrusted,
                }
            };
            let mut catalogue = discover(&roots, &accepted);
            catalogue.set_usage(&|skill| {
                let choice = choices.get(&named(skill, folder.as_deref()));
                match (choice.and_then(|choice| choice.on), choice.and_then(|choice| choice.automatic)) {
                    (Some(Switch::Off), _) => Usage::Off,
                    (_, Some(Switch::Off)) => Usage::OnRequest,
                    (_, Some(Switch::On)) => Usage::Automatic,
                    (_, None) => Usage::Full,
                }
            });
            Ok(Shelf { catalogue, choices, folder })
        })
        .await
    }

    fn roots(&self, folder: Option<&Path>) -> Roots {
        let foreign = *self.0.foreign.read().unwrap_or_else(PoisonError::into_inner);
        let mut roots = Roots::new(Some(&self.0.bundled), &self.0.home);
        if let Some(folder) = folder {
            roots = roots.with_project(folder);
        }
        roots.with_foreign(foreign, self.0.person.as_deref(), folder)
    }

    /// Watches memories, profiles, and the skills that need no folder.
    fn watch_home(&self) {
        for name in ["skills", "memories", "agents"] {
            let folder = self.0.home.join(name);
            if let Err(error) = octo_workspace::private_folder(&folder) {
                tracing::warn!(folder = %folder.display(), %error, "a folder of the home cannot be made");
            }
        }
        let beside = [self.0.memories.folder().to_owned(), self.0.agents.folder().to_owned()];
        let roots = self.roots(None);
        let folders = roots.iter().map(|root| root.path.as_path()).chain(beside.iter().map(PathBuf::as_path));
        self.watch_folders(None, folders);
    }

    /// Watches a project's own skills.
    fn watch_project(&self, folder: &Path) {
        let roots = self.roots(Some(folder));
        let own = roots.iter().map(|root| root.path.as_path()).filter(|path| path.starts_with(folder));
        self.watch_folders(Some(folder), own);
    }

    fn watch_folders<'a>(&self, of: Option<&Path>, folders: impl Iterator<Item = &'a Path>) {
        let mut watches = self.0.watches.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = watches.iter().position(|(known, _)| known.as_deref() == of) {
            let known = watches.remove(known);
            watches.push(known);
            return;
        }
        let weak = Arc::downgrade(&self.0);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let watch = Watch::folders(folders, move || {
            let _in = runtime.enter();
            if let Some(inner) = weak.upgrade() {
                Library(inner).changed();
            }
        });
        match watch {
            Ok(watch) => {
                watches.push((of.map(Path::to_owned), watch));
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

impl Shelf {
    /// What the system prompt of a session says of skills.
    pub(crate) fn listing(&self, profile: &str) -> String {
        octo_skills::listing(&self.catalogue, profile, LISTED_TOKENS)
    }

    /// A notice of the skills a session was not told of: `told` is what it was told so far, its system prompt and
    /// earlier notices. None where there are none.
    pub(crate) fn news_for<'a>(
        &self,
        profile: &str,
        told: impl Iterator<Item = &'a str> + Clone,
    ) -> Option<String> {
        let is_told = |skill: &Skill| {
            let line = format!("- {}: ", skill.name);
            told.clone().any(|text| text.lines().any(|told| told.starts_with(&line)))
        };
        // A prompt without a list of skills is of a session that has no tool for them.
        let new: Vec<&Skill> =
            self.catalogue.for_model(profile).into_iter().filter(|skill| !is_told(skill)).collect();
        let text = octo_skills::announce(&new);
        (!text.is_empty()).then_some(text)
    }

    /// The skill a message of the person's calls, if it calls one they may use.
    pub(crate) fn wish_in(&self, typed: &[Block], profile: &Profile) -> Option<SkillWish> {
        self.called(typed, "", &[], profile).ok()
    }

    /// The skill a person called by a slash, with its task: all that stands behind the name.
    ///
    /// # Errors
    /// Why it cannot be called, in words for the person; of one that there is not, with names near it, `built_in`
    /// commands among them.
    pub(crate) fn called(
        &self,
        typed: &[Block],
        name: &str,
        built_in: &[&str],
        profile: &Profile,
    ) -> Result<SkillWish, ApiError> {
        let call = match typed {
            [Block::Text { text }] => octo_skills::skill_call(text),
            _ => None,
        };
        let Some(call) = call else { return Err(slash::unknown(name.to_owned(), built_in)) };
        match self.catalogue.call(&call.name, profile.name(), Caller::Person) {
            Ok(skill) => Ok(SkillWish { name: skill.name.clone(), task: call.arguments }),
            Err(CallRefusal::Unknown { name, near }) => {
                let near: Vec<&str> =
                    built_in.iter().copied().chain(near.iter().map(String::as_str)).collect();
                Err(slash::unknown(name, &near))
            }
            Err(refusal) => Err(ApiError::from(&refusal)),
        }
    }

    /// The skills a person may call by a slash, in whatever profile.
    pub(crate) fn commands(&self) -> impl Iterator<Item = CommandInfo> {
        let skills = self.catalogue.skills().iter().filter(|skill| {
            skill.error.is_none()
                && skill.usage != Usage::Off
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

    /// What a skill is called, as this folder sees it.
    pub(crate) fn named(&self, skill: &Skill) -> SkillRef {
        named(skill, self.folder.as_deref())
    }

    fn choice(&self, skill: &Skill) -> SkillChoice {
        self.choices.get(&self.named(skill)).cloned().unwrap_or_default()
    }

    /// Whether the person wants a better version of a skill proposed.
    pub(crate) fn wants_proposals(&self, skill: &Skill) -> Switch {
        self.choice(skill).proposals
    }

    /// The skill a client means, also one another stands in front of.
    fn find(&self, wanted: &SkillRef) -> Result<&Skill, ApiError> {
        let all = self.catalogue.skills().iter().chain(self.catalogue.shadowed());
        let mut found = all.filter(|skill| self.named(skill) == *wanted);
        found.next().ok_or_else(|| ApiError::new("skills.gone").arg("name", &wanted.name))
    }
}

fn named(skill: &Skill, folder: Option<&Path>) -> SkillRef {
    let origin = skill.source;
    let project = folder.filter(|_| origin.is_of_a_folder()).map(|folder| folder.display().to_string());
    SkillRef { name: skill.name.clone(), origin, project }
}
