//! The home's library: skills and memories, which are files, and what the store knows of them besides.
//!
//! The disk is the truth and is read whenever something is asked, so that a skill somebody writes is there at once.
//! That something changed is told, not what: whoever shows the library asks again. A session is told of new skills by a
//! notice at its end (see [`Shelf::news_for`]); what was sent before stays as it is.

mod cards;
mod memory;
mod offers;
mod skill;
mod source;
mod suggestions;

pub(crate) use offers::Offers;

use crate::prompt::Agents;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use octo_protocol::{ApiError, LibraryState, Settings, SkillRef, Switch};
use octo_skills::{Catalogue, Foreign, Memories, Reading, Roots, Skill, Switches, Trust, discover};
use octo_store::{SkillChoice, Store};
use std::{
    collections::{HashMap, HashSet},
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
/// Several changes on the disk within this time are told once.
const PAUSE: Duration = Duration::from_millis(200);
/// Folders whose own skills are watched; sessions in more of them are told with their next message all the same.
const WATCHED_FOLDERS: usize = 32;
/// The most tokens, estimated, that the list of skills takes of every request of a session.
const LISTED_TOKENS: usize = 800;

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
    memories: Memories,
    agents: Agents,
    offers: Offers,
    foreign: RwLock<Foreign>,
    revision: AtomicU64,
    news: broadcast::Sender<LibraryState>,
    watcher: Mutex<Watched>,
}

/// What is watched on the disk.
#[derive(Default)]
struct Watched {
    /// None where the system cannot watch a folder.
    watcher: Option<RecommendedWatcher>,
    folders: HashSet<PathBuf>,
}

/// The skills as one folder sees them, with what the person chose for each.
pub(crate) struct Shelf {
    pub(crate) catalogue: Catalogue,
    choices: HashMap<SkillRef, SkillChoice>,
    folder: Option<PathBuf>,
}

impl Library {
    /// That of this home. Watches it from now on.
    pub(crate) fn new(home: &Path, bundled: PathBuf, store: Store, settings: &Settings) -> Self {
        let inner = Inner {
            home: home.to_owned(),
            bundled,
            person: std::env::home_dir().filter(|home| home.is_absolute()),
            store,
            memories: Memories::new(home.join("memories")),
            agents: Agents::new(home),
            offers: Offers::default(),
            foreign: RwLock::default(),
            revision: AtomicU64::new(0),
            news: broadcast::channel(NEWS).0,
            watcher: Mutex::default(),
        };
        let library = Self(Arc::new(inner));
        library.follow(settings);
        library.watch_home();
        library
    }

    /// Takes settings into use.
    pub(crate) fn follow(&self, settings: &Settings) {
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
        let waiting = self.0.store.read(|reader| reader.suggestions()).await.map_err(ApiError::from)?;
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

    /// The skills as a folder sees them, as of now.
    pub(crate) async fn shelf(&self, folder: Option<PathBuf>) -> Result<Shelf, ApiError> {
        if let Some(folder) = &folder {
            self.watch_folder(folder);
        }
        let choices = self.0.store.read(|reader| reader.skill_choices()).await.map_err(ApiError::from)?;
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
            let catalogue = discover(&roots, &accepted);
            let catalogue = catalogue.switched(|skill| {
                let choice = choices.get(&named(skill, folder.as_deref()));
                Switches {
                    on: choice.and_then(|choice| choice.on).unwrap_or_default(),
                    automatic: choice.and_then(|choice| choice.automatic),
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

    fn watch_home(&self) {
        let weak = Arc::downgrade(&self.0);
        let (touched, mut touches) = tokio::sync::mpsc::channel::<()>(1);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // Looking is such a thing too, and would go on for ever.
            if !matches!(&event, Ok(event) if event.kind.is_access()) {
                // One that waits already tells of this one too.
                let _waiting = touched.try_send(());
            }
        });
        let mut watched = Watched::default();
        match watcher {
            Ok(mut watcher) => {
                for name in ["skills", "memories", "agents"] {
                    let folder = self.0.home.join(name);
                    let watch = octo_workspace::private_folder(&folder)
                        .map_err(notify::Error::io)
                        .and_then(|folder| watcher.watch(&folder, RecursiveMode::Recursive));
                    if let Err(error) = watch {
                        tracing::warn!(folder = %folder.display(), %error, "not watched");
                    }
                }
                watched.watcher = Some(watcher);
            }
            Err(error) => tracing::warn!(%error, "changes of skills and memories are seen when they are asked for"),
        }
        *self.0.watcher.lock().unwrap_or_else(PoisonError::into_inner) = watched;
        tokio::spawn(async move {
            while touches.recv().await.is_some() {
                tokio::time::sleep(PAUSE).await;
                // What came meanwhile is told with it.
                let _told = touches.try_recv();
                let Some(inner) = weak.upgrade() else { return };
                Library(inner).changed();
            }
        });
    }

    /// Watches the folders of a project's own skills, where it has any.
    fn watch_folder(&self, folder: &Path) {
        let mut watched = self.0.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        let Watched { watcher: Some(watcher), folders } = &mut *watched else { return };
        for name in [".octo/skills", ".claude/skills", ".agents/skills"] {
            let place = folder.join(name);
            if folders.len() < WATCHED_FOLDERS && !folders.contains(&place) && place.is_dir() {
                match watcher.watch(&place, RecursiveMode::Recursive) {
                    Ok(()) => {
                        folders.insert(place);
                    }
                    Err(error) => tracing::warn!(folder = %place.display(), %error, "not watched"),
                }
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
    pub(crate) fn news_for<'a>(&self, profile: &str, told: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
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

    /// What a skill is called, as this folder sees it.
    pub(crate) fn named(&self, skill: &Skill) -> SkillRef {
        named(skill, self.folder.as_deref())
    }

    fn choice(&self, skill: &Skill) -> SkillChoice {
        self.choices.get(&self.named(skill)).cloned().unwrap_or_default()
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

/// Runs `work` where it may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(ApiError::new("internal").detail(error)))
}
