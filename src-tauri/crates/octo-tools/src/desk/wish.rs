//! What can be asked for at the desk.

use octo_protocol::{LibraryChange, PersonaKind};
use std::path::PathBuf;

/// What is wanted, read and known to be well-formed. Paths are absolute, links followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeskWish {
    /// Of skills.
    Skill(SkillWish),
    /// Of memories.
    Memory(MemoryWish),
    /// Of SOUL.md and USER.md.
    Persona(PersonaWish),
    /// Of the browser.
    Browser(BrowserQuery),
    /// Of settings.
    Settings(SettingsQuery),
}

/// What is wanted of skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkillWish {
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
        source: SkillSource,
    },
    /// Skills of a place become the person's. Never replaces one that is not named in `replace`.
    Install {
        /// The place.
        source: SkillSource,
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
pub enum SkillSource {
    /// A folder or an archive.
    Path(PathBuf),
    /// An archive or a git repository, by an address that begins with `https://`.
    Address(String),
}

/// What is wanted of memories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryWish {
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
pub enum PersonaWish {
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
    },
}

impl DeskWish {
    /// What it would change; none where it only looks.
    pub fn change(&self) -> Option<LibraryChange> {
        match self {
            Self::Skill(wish) => match wish {
                SkillWish::List | SkillWish::Show { .. } | SkillWish::Validate { .. } => None,
                SkillWish::Inspect { source: SkillSource::Path(_) } => None,
                SkillWish::Inspect { source: SkillSource::Address(_) } => Some(LibraryChange::FetchSkills),
                SkillWish::Install { .. } => Some(LibraryChange::InstallSkills),
                SkillWish::Propose { .. } => Some(LibraryChange::ProposeSkill),
                SkillWish::Export { .. } => Some(LibraryChange::ExportSkill),
            },
            Self::Memory(MemoryWish::List { .. } | MemoryWish::Read { .. }) => None,
            Self::Memory(MemoryWish::Save { .. }) => Some(LibraryChange::SaveMemory),
            Self::Memory(MemoryWish::Delete { .. }) => Some(LibraryChange::DeleteMemory),
            Self::Persona(PersonaWish::Show) => None,
            Self::Persona(PersonaWish::Write { .. }) => Some(LibraryChange::WritePersona),
            Self::Browser(BrowserQuery::Status | BrowserQuery::Doctor) => None,
            Self::Settings(
                SettingsQuery::List | SettingsQuery::Show { .. } | SettingsQuery::Open { .. },
            ) => None,
        }
    }
}
