//! The builtin commands.

use octo_protocol::{LibraryChange, PersonaKind, SettingsPage, Switch};
use std::path::PathBuf;

/// A builtin command, parsed and well-formed. Paths are absolute, with links resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuiltinCommand {
    /// About skills.
    Skill(SkillCommand),
    /// About memories.
    Memory(MemoryCommand),
    /// About SOUL.md and USER.md.
    Persona(PersonaCommand),
    /// About scheduled tasks.
    Task(TaskCommand),
    /// About the browser.
    Browser(BrowserQuery),
    /// About settings.
    Settings(SettingsQuery),
}

/// Command about skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkillCommand {
    /// Lists all of them.
    List,
    /// Shows one in full.
    Show {
        /// Its name.
        name: String,
    },
    /// Checks whether a folder, or its `SKILL.md`, is a valid skill.
    Validate {
        /// The folder or the file.
        path: PathBuf,
    },
    /// Lists the skills at a source, with their files, scripts and tools. Installs nothing.
    Inspect {
        /// The source.
        source: SkillSourceRef,
    },
    /// Installs skills from a source. Never replaces a skill that `replace` does not name.
    Install {
        /// The source.
        source: SkillSourceRef,
        /// Names of the skills; empty for all.
        names: Vec<String>,
        /// Skills that may replace an existing one.
        replace: Vec<String>,
    },
    /// Proposes a skill to the person, who decides later.
    Propose {
        /// Its folder or its `SKILL.md`.
        path: PathBuf,
        /// Reason, for the person.
        reason: String,
    },
    /// Writes a skill as an archive in the public format.
    Export {
        /// Its name.
        name: String,
        /// Path of the archive; it must not exist.
        file: PathBuf,
    },
}

/// Source of skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkillSourceRef {
    /// A folder or an archive.
    Path(PathBuf),
    /// An archive or a git repository, at an address that begins with `https://`.
    Address(String),
}

/// Command about memories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryCommand {
    /// Lists them, newest first.
    List {
        /// Text that they must contain.
        query: Option<String>,
    },
    /// Reads one in full. This counts as recalling it.
    Read {
        /// Its file name.
        file: String,
    },
    /// Writes one.
    Save {
        /// Its file name; `None` for a new one, named after its topic.
        file: Option<String>,
        /// Its topic.
        topic: String,
        /// Summary of its content, one line.
        description: String,
        /// Its body.
        body: String,
    },
    /// Moves one to the trash.
    Delete {
        /// Its file name.
        file: String,
    },
}

/// Command about SOUL.md and USER.md.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PersonaCommand {
    /// Shows both.
    Show,
    /// Writes one.
    Write {
        /// Which of the two.
        kind: PersonaKind,
        /// New text; empty restores Octo's default.
        text: String,
    },
}

/// Command about scheduled tasks. A task is named by its file, without `.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskCommand {
    /// Lists all of them.
    List,
    /// Shows one, with its last runs.
    Show {
        /// Name of the task.
        task: String,
    },
    /// Creates or changes one.
    Save {
        /// Task to change, or `None` to create one.
        task: Option<String>,
        /// New content.
        draft: Box<TaskFields>,
    },
    /// Runs one now.
    Run {
        /// Name of the task.
        task: String,
    },
    /// Pauses or resumes one.
    Switch {
        /// Name of the task.
        task: String,
        /// Whether it runs on schedule.
        on: Switch,
    },
    /// Moves one to the trash.
    Delete {
        /// Name of the task.
        task: String,
    },
}

/// Fields of a scheduled task, as spelled in its file; `None` keeps the current value or uses the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskFields {
    /// Its name.
    pub name: Option<String>,
    /// Its schedule.
    pub when: Option<String>,
    /// Prompt for the agent.
    pub prompt: Option<String>,
    /// Working folder, absolute.
    pub folder: Option<PathBuf>,
    /// IANA name of its time zone.
    pub zone: Option<String>,
    /// Its profile.
    pub profile: Option<String>,
    /// Its mode.
    pub mode: Option<String>,
    /// Its model, by name.
    pub model: Option<String>,
    /// Budget of one run, in dollars.
    pub budget: Option<String>,
    /// Time limit of a run, in minutes.
    pub minutes: Option<u32>,
    /// Number of retries after a failed run.
    pub retries: Option<u32>,
    /// Minutes between retries.
    pub retry_minutes: Option<u32>,
    /// Handling of missed times.
    pub missed: Option<String>,
    /// Events the person is notified about.
    pub tell: Option<String>,
}

/// Command about the browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrowserQuery {
    /// Reports the state of the connection. Connects to nothing.
    Status,
    /// Checks for possible obstacles, one by one.
    Doctor,
}

/// Command about settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsQuery {
    /// Lists all, by name and value.
    List,
    /// Shows one.
    Show {
        /// Its name.
        key: String,
    },
    /// Shows a settings page to the person. Changes no setting.
    Open {
        /// The page.
        page: SettingsPage,
        /// A setting to propose there, and its value.
        proposal: Option<(String, String)>,
    },
}

impl BuiltinCommand {
    /// Returns the change it would make; `None` if it only reads.
    pub fn change(&self) -> Option<LibraryChange> {
        match self {
            Self::Skill(command) => match command {
                SkillCommand::List | SkillCommand::Show { .. } | SkillCommand::Validate { .. } => None,
                SkillCommand::Inspect { source: SkillSourceRef::Path(_) } => None,
                SkillCommand::Inspect { source: SkillSourceRef::Address(_) } => {
                    Some(LibraryChange::FetchSkills)
                }
                SkillCommand::Install { .. } => Some(LibraryChange::InstallSkills),
                SkillCommand::Propose { .. } => Some(LibraryChange::ProposeSkill),
                SkillCommand::Export { .. } => Some(LibraryChange::ExportSkill),
            },
            Self::Memory(MemoryCommand::List { .. } | MemoryCommand::Read { .. }) => None,
            Self::Memory(MemoryCommand::Save { .. }) => Some(LibraryChange::SaveMemory),
            Self::Memory(MemoryCommand::Delete { .. }) => Some(LibraryChange::DeleteMemory),
            Self::Persona(PersonaCommand::Show) => None,
            Self::Persona(PersonaCommand::Write { .. }) => Some(LibraryChange::WritePersona),
            Self::Task(command) => match command {
                TaskCommand::List | TaskCommand::Show { .. } => None,
                TaskCommand::Save { .. } => Some(LibraryChange::SaveTask),
                TaskCommand::Run { .. } => Some(LibraryChange::RunTask),
                TaskCommand::Switch { .. } => Some(LibraryChange::SwitchTask),
                TaskCommand::Delete { .. } => Some(LibraryChange::DeleteTask),
            },
            Self::Browser(BrowserQuery::Status | BrowserQuery::Doctor) => None,
            Self::Settings(SettingsQuery::List | SettingsQuery::Show { .. } | SettingsQuery::Open { .. }) => {
                None
            }
        }
    }
}
