//! What can be asked for at the desk.

use octo_protocol::{LibraryChange, PersonaKind, Switch};
use std::path::PathBuf;

/// What is wanted, read and known to be well-formed. Paths are absolute, links followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Errand {
    /// Of skills.
    Skill(SkillErrand),
    /// Of memories.
    Memory(MemoryErrand),
    /// Of SOUL.md and USER.md.
    Persona(PersonaErrand),
    /// Of tasks that run at their time.
    Task(TaskErrand),
    /// Of the browser.
    Browser(BrowserQuery),
    /// Of settings.
    Settings(SettingsQuery),
}

/// What is wanted of skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkillErrand {
    /// All there are.
    List,
    /// One, whole.
    Show {
        /// Its name.
        name: String,
    },
    /// Whether a folder, or its `SKILL.md`, is a good skill.
    Validate {
        /// The folder or the file.
        path: PathBuf,
    },
    /// What skills a place holds, with their files, scripts and tools. Installs nothing.
    Inspect {
        /// The place.
        source: SkillPlace,
    },
    /// Skills of a place become the person's. Never replaces one that is not named in `replace`.
    Install {
        /// The place.
        source: SkillPlace,
        /// Which; empty for all.
        names: Vec<String>,
        /// Those that may replace one the person has.
        replace: Vec<String>,
    },
    /// A skill is put before the person, who decides on it later.
    Propose {
        /// Its folder or its `SKILL.md`.
        path: PathBuf,
        /// Why, for the person.
        reason: String,
    },
    /// A skill is written as an archive of the public format.
    Export {
        /// Its name.
        name: String,
        /// The archive; it must not exist.
        file: PathBuf,
    },
}

/// Where skills come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkillPlace {
    /// A folder or an archive.
    Path(PathBuf),
    /// An archive or a git repository, by an address that begins with `https://`.
    Address(String),
}

/// What is wanted of memories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryErrand {
    /// Those there are, newest first.
    List {
        /// Only those that contain this.
        query: Option<String>,
    },
    /// One, whole. Reading it counts as recalling it.
    Read {
        /// The name of its file.
        file: String,
    },
    /// One is written.
    Save {
        /// The name of its file; none for a new one, named after its topic.
        file: Option<String>,
        /// Its topic.
        topic: String,
        /// What is in it, one line.
        description: String,
        /// Its body.
        body: String,
    },
    /// One goes to the trash.
    Delete {
        /// The name of its file.
        file: String,
    },
}

/// What is wanted of SOUL.md and USER.md.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PersonaErrand {
    /// Both.
    Show,
    /// One is written.
    Write {
        /// Which.
        kind: PersonaKind,
        /// What it will say; empty brings Octo's own words back.
        text: String,
    },
}

/// What is wanted of tasks that run at their time. A task is named by its file, without `.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskErrand {
    /// All of them.
    List,
    /// One, with its last runs.
    Show {
        /// Which.
        task: String,
    },
    /// One is written.
    Save {
        /// Which is changed; none for a new one.
        task: Option<String>,
        /// What it is to say.
        draft: Box<TaskDraft>,
    },
    /// One runs now.
    Run {
        /// Which.
        task: String,
    },
    /// One is paused, or runs at its times again.
    Switch {
        /// Which.
        task: String,
        /// Whether it runs.
        on: Switch,
    },
    /// One goes to the trash.
    Delete {
        /// Which.
        task: String,
    },
}

/// What is said of a task, in the words its file has for it; what is not said stays, or is as usual.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskDraft {
    /// What it is called.
    pub name: Option<String>,
    /// When it runs.
    pub when: Option<String>,
    /// What the agent is asked to do.
    pub prompt: Option<String>,
    /// The folder it works in, absolute.
    pub folder: Option<PathBuf>,
    /// The IANA name of its time zone.
    pub zone: Option<String>,
    /// Its profile.
    pub profile: Option<String>,
    /// Its mode.
    pub mode: Option<String>,
    /// Its model, by name.
    pub model: Option<String>,
    /// What one run may cost, in dollars.
    pub budget: Option<String>,
    /// After how many minutes a run is stopped.
    pub minutes: Option<u32>,
    /// How often a failed run is tried again.
    pub retries: Option<u32>,
    /// How many minutes later.
    pub retry_minutes: Option<u32>,
    /// What becomes of a missed time.
    pub missed: Option<String>,
    /// Of what the person is told.
    pub tell: Option<String>,
}

/// What is asked about the browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrowserQuery {
    /// How the connection stands. Connects to nothing.
    Status,
    /// What could stand in its way, check by check.
    Doctor,
}

/// What is asked about settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsQuery {
    /// All, by name and value.
    List,
    /// One.
    Show {
        /// Its name.
        key: String,
    },
    /// A page of the settings is shown to the person. Changes no setting.
    Open {
        /// The page.
        page: String,
        /// A setting of it to be proposed there, and its value.
        proposal: Option<(String, String)>,
    },
}

impl Errand {
    /// What it would change; none where it only looks.
    pub fn change(&self) -> Option<LibraryChange> {
        match self {
            Self::Skill(errand) => match errand {
                SkillErrand::List | SkillErrand::Show { .. } | SkillErrand::Validate { .. } => None,
                SkillErrand::Inspect { source: SkillPlace::Path(_) } => None,
                SkillErrand::Inspect { source: SkillPlace::Address(_) } => Some(LibraryChange::FetchSkills),
                SkillErrand::Install { .. } => Some(LibraryChange::InstallSkills),
                SkillErrand::Propose { .. } => Some(LibraryChange::ProposeSkill),
                SkillErrand::Export { .. } => Some(LibraryChange::ExportSkill),
            },
            Self::Memory(MemoryErrand::List { .. } | MemoryErrand::Read { .. }) => None,
            Self::Memory(MemoryErrand::Save { .. }) => Some(LibraryChange::SaveMemory),
            Self::Memory(MemoryErrand::Delete { .. }) => Some(LibraryChange::DeleteMemory),
            Self::Persona(PersonaErrand::Show) => None,
            Self::Persona(PersonaErrand::Write { .. }) => Some(LibraryChange::WritePersona),
            Self::Task(errand) => match errand {
                TaskErrand::List | TaskErrand::Show { .. } => None,
                TaskErrand::Save { .. } => Some(LibraryChange::SaveTask),
                TaskErrand::Run { .. } => Some(LibraryChange::RunTask),
                TaskErrand::Switch { .. } => Some(LibraryChange::SwitchTask),
                TaskErrand::Delete { .. } => Some(LibraryChange::DeleteTask),
            },
            Self::Browser(BrowserQuery::Status | BrowserQuery::Doctor) => None,
            Self::Settings(SettingsQuery::List | SettingsQuery::Show { .. } | SettingsQuery::Open { .. }) => {
                None
            }
        }
    }
}
