//! Questions that wait for the person, and what the person says.

use crate::{CallId, Millis, PageElement, PageRisk, QuestionId, ToolView, TrashTotals};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Something the person must decide before a call goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Question {
    /// Its id.
    pub id: QuestionId,
    /// The call that waits.
    pub call: CallId,
    /// The tool's name.
    pub tool: String,
    /// What is asked.
    pub ask: Ask,
    /// When it was asked.
    #[ts(type = "number")]
    pub at: Millis,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
#[expect(clippy::large_enum_variant, reason = "few questions are held at a time, and most are permissions")]
pub enum Ask {
    /// May this call run?
    Permission {
        /// What it would do: a diff, a command line, a path.
        preview: ToolView,
        /// Why it is asked.
        reason: AskReason,
        /// The rule "always" would add for this folder; none where there is no safe rule.
        rule: Option<Rule>,
    },
    /// The model asks something.
    Feedback {
        /// The question.
        question: String,
        /// What it is about.
        context: Option<String>,
        /// Offered answers.
        options: Vec<String>,
    },
}

/// Why a permission is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum AskReason {
    /// The mode asks for every change.
    Mode,
    /// A path outside the session's folder is read.
    ReadsOutside {
        /// The path.
        path: String,
    },
    /// A path outside the session's folder is changed.
    WritesOutside {
        /// The path.
        path: String,
    },
    /// A file that usually holds secrets is touched.
    Secret {
        /// The path.
        path: String,
    },
    /// A file that can make later commands run something else is changed (`.git/…`).
    Protected {
        /// The path.
        path: String,
    },
    /// A file of Octo's home is changed whose text instructs the agent: a skill, a memory, a task, SOUL.md. Asked in
    /// every mode.
    Instructs {
        /// The path.
        path: String,
    },
    /// A file is changed that a shell runs at its start. Asked in every mode.
    Startup {
        /// The path.
        path: String,
    },
    /// The command is not known to only read.
    Command {
        /// The part that is not known to only read, where one part can be named.
        part: Option<String>,
    },
    /// The command cannot be read with certainty.
    Unparsed,
    /// Things in the trash would be deleted for good. Asked in every mode.
    EmptiesTrash {
        /// How much.
        totals: TrashTotals,
        /// How old the things are at least, in days.
        days: u32,
    },
    /// An address of this machine or of the private network is fetched.
    PrivateAddress {
        /// The host and port.
        host: String,
    },
    /// The agent wants to work on a site.
    Site {
        /// The site: `https://shop.example`.
        site: String,
    },
    /// An act in a page would set something off. Asked in every mode.
    Page {
        /// What, the weightiest of it.
        risk: PageRisk,
        /// What else.
        #[serde(default)]
        besides: Vec<PageRisk>,
        /// The site.
        site: String,
        /// The element, by its real name in the page.
        target: Option<PageElement>,
        /// What is to be said of files that it would give away. All of them are in the preview.
        #[serde(default)]
        files: Vec<PageFile>,
    },
    /// The command does something that always asks.
    Risky {
        /// What.
        risk: Risk,
        /// The part that does it, where one part can be named.
        part: Option<String>,
        /// A safer line to run instead, where there is one.
        instead: Option<String>,
    },
    /// Something of Octo's own would change: its skills, memories, SOUL.md or USER.md.
    Library {
        /// What.
        change: LibraryChange,
    },
}

/// A file that a page would be given and that is asked about wherever it is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum PageFile {
    /// It is outside the session's folder.
    Outside {
        /// Its path.
        path: String,
    },
    /// It usually holds secrets.
    Secret {
        /// Its path.
        path: String,
    },
}

/// What the agent would change of Octo's own, by a command Octo answers itself. No rule covers any of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum LibraryChange {
    /// Skills are fetched from an address, to be looked at. Installs nothing.
    FetchSkills,
    /// Skills are installed. Asked in every mode: they become instructions.
    InstallSkills,
    /// A skill is put before the person as a suggestion.
    ProposeSkill,
    /// A skill is written as an archive.
    ExportSkill,
    /// A memory is written.
    SaveMemory,
    /// A memory goes to the trash.
    DeleteMemory,
    /// SOUL.md or USER.md is written. Asked in every mode: every later session starts with it.
    WritePersona,
    /// A task that runs at its time is written. Asked in every mode: it becomes instructions nobody watches.
    SaveTask,
    /// A task runs now.
    RunTask,
    /// A task is paused, or runs at its times again.
    SwitchTask,
    /// A task goes to the trash.
    DeleteTask,
}

impl LibraryChange {
    /// Whether it is asked about in every mode: what becomes instructions needs the person's yes.
    pub fn asks_in_every_mode(self) -> bool {
        match self {
            Self::InstallSkills | Self::WritePersona | Self::SaveTask => true,
            Self::FetchSkills
            | Self::ProposeSkill
            | Self::ExportSkill
            | Self::SaveMemory
            | Self::DeleteMemory
            | Self::RunTask
            | Self::SwitchTask
            | Self::DeleteTask => false,
        }
    }
}

/// What a command does that always asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Risk {
    /// Runs a program it has just downloaded, unseen.
    RunsDownload,
    /// Publishes a package, an image or a release.
    Publishes,
    /// Sends commits to another place.
    Pushes,
    /// Rewrites or drops history of a repository.
    RewritesHistory,
    /// Installs packages, whose own scripts run.
    Installs,
    /// Runs with the rights of another user.
    Privileged,
    /// Changes services, timers, accounts, mounts, permissions or processes of the machine.
    System,
    /// Deletes what the trash does not get.
    Deletes,
    /// Works on another machine.
    Remote,
    /// Reads or writes stored passwords.
    Keychain,
    /// The person's own `policy.toml` says to ask.
    Ruled,
}

/// Why a call is refused, whatever the mode and the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Refusal {
    /// It would wipe the root, a system folder or a home.
    Wipes,
    /// It would write to a disk beneath its file system.
    Device,
    /// It would multiply itself until the machine stands still.
    ForkBomb,
    /// It would end Octo.
    EndsOcto,
    /// It would touch Octo's own keys, database or policy.
    OctoOwn,
    /// The person's own `policy.toml` says no.
    Ruled,
    /// One of the person's hooks says no, or failed.
    Hook,
    /// An address no task has business at: one that runs code, controls the browser, or belongs to nobody.
    Address,
    /// A sub-agent may not use the tool.
    SubAgent,
}

/// A standing permission, bound to a folder when stored.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum Rule {
    /// Simple commands that start with exactly these words may run.
    Command {
        /// The words, for example `["cargo", "test"]`.
        words: Vec<String>,
    },
    /// Exactly this command line may run. Offered for the session where no prefix is safe.
    Line {
        /// The line.
        line: String,
    },
    /// This file may be changed.
    Write {
        /// The absolute path.
        path: String,
    },
    /// Files below this path may be read.
    Read {
        /// The absolute path.
        path: String,
    },
    /// Pages of this host of the private network may be fetched.
    Host {
        /// The host and port, as `localhost:3000`.
        host: String,
    },
    /// The agent may work on this site in the person's browser.
    Site {
        /// The site: `https://shop.example`.
        site: String,
    },
}

/// What the person says to a [`Question`]. No answer is never yes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum Answer {
    /// Yes, this time.
    Once,
    /// Yes, and the rule holds until the session ends.
    Session,
    /// Yes, and the rule holds for this folder from now on.
    Always,
    /// No.
    No {
        /// Why, in words that reach the model.
        reason: Option<String>,
    },
    /// The answer to a [`Ask::Feedback`].
    Text {
        /// The person's words, or the option they chose.
        text: String,
    },
}
