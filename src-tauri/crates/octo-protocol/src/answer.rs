//! Questions for the person, and the person's answers.

use crate::{CallId, Millis, NetworkScope, PageElement, PageRisk, QuestionId, ToolView, TrashTotals};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A decision the person must make before a call can continue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct Question {
    /// Its id.
    pub id: QuestionId,
    /// The call that waits.
    pub call: CallId,
    /// The tool's name.
    pub tool: String,
    /// The content of the question.
    pub ask: QuestionContent,
    /// When the question was asked.
    #[ts(type = "number")]
    pub at: Millis,
}

/// The content of a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
#[expect(clippy::large_enum_variant, reason = "few questions are held at a time, and most are permissions")]
pub enum QuestionContent {
    /// Asks whether this call may run.
    Permission {
        /// A preview of the call: a diff, a command line, a path.
        preview: ToolView,
        /// Why Octo asks.
        reason: AskReason,
        /// The rule "always" would add for this folder; `None` if no rule is safe.
        rule: Option<Rule>,
    },
    /// A question from the model.
    Feedback {
        /// The question.
        question: String,
        /// Background for the question.
        context: Option<String>,
        /// The answers offered.
        options: Vec<String>,
    },
}

/// Why Octo asks for permission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum AskReason {
    /// The mode requires permission for all changes.
    Mode,
    /// The call reads a path outside the session's folder.
    ReadsOutside {
        /// The path.
        path: String,
    },
    /// The call changes a path outside the session's folder.
    WritesOutside {
        /// The path.
        path: String,
    },
    /// The call touches a file that usually contains secrets.
    Secret {
        /// The path.
        path: String,
    },
    /// The call changes a file that can make later commands run something else (`.git/…`).
    Protected {
        /// The path.
        path: String,
    },
    /// The call changes a file of Octo's home whose text instructs the agent: a skill, a memory, a task,
    /// SOUL.md. Octo asks in every mode.
    Instructs {
        /// The path.
        path: String,
    },
    /// A file is changed that a shell runs at its start. Asked in every mode.
    Startup {
        /// The path.
        path: String,
    },
    /// The call changes a file that a program other than a shell runs, or whose settings name what it runs. Octo asks
    /// in every mode.
    RunsLater {
        /// The path.
        path: String,
    },
    /// The call changes a file that agents in its folder are told to follow.
    ProjectRules {
        /// The path.
        path: String,
    },
    /// The command is not known to be read-only.
    Command {
        /// The part that is not known to be read-only, if one part can be named.
        part: Option<String>,
    },
    /// Octo cannot parse the command with certainty.
    Unparsed,
    /// The call and a running command, both harmless by themselves, could make each other touch something else: one
    /// places, moves or replaces what the other names.
    Redirects {
        /// The command line of the running command, or the paths that the running call changes.
        command: String,
    },
    /// The call would permanently delete entries of the trash. Octo asks in every mode.
    EmptiesTrash {
        /// The number and size of the entries.
        totals: TrashTotals,
        /// The minimum age of the entries, in days.
        days: u32,
    },
    /// The call fetches an address of this machine or of the private network.
    PrivateAddress {
        /// The host and port.
        host: String,
    },
    /// A running command wants to reach a host that is not on the folder's network allow list. Octo asks in every
    /// mode.
    Network {
        /// The host and port, as `example.com:443`.
        host: String,
        /// The part of the network it belongs to.
        scope: NetworkScope,
    },
    /// The agent wants to work on a site.
    Site {
        /// The site: `https://shop.example`.
        site: String,
    },
    /// An action in a page would have a consequence. Octo asks in every mode.
    Page {
        /// The most serious consequence.
        risk: PageRisk,
        /// The other consequences.
        #[serde(default)]
        besides: Vec<PageRisk>,
        /// The site.
        site: String,
        /// The element, under its real name in the page.
        target: Option<PageElement>,
        /// Warnings about files that the action would give away. The preview lists all the files.
        #[serde(default)]
        files: Vec<PageFile>,
    },
    /// The command has an effect that always requires permission.
    Risky {
        /// The effect.
        risk: Risk,
        /// The part with that effect, if one part can be named.
        part: Option<String>,
        /// A safer command line to run instead, if one exists.
        instead: Option<String>,
    },
    /// The call would change Octo's own data: its skills, memories, SOUL.md or USER.md.
    Library {
        /// The change.
        change: LibraryChange,
    },
}

/// A file that the call would give to a page and whose reading always requires permission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum PageFile {
    /// It is outside the session's folder.
    Outside {
        /// Its path.
        path: String,
    },
    /// It usually contains secrets.
    Secret {
        /// Its path.
        path: String,
    },
}

/// A change of Octo's own data that the agent makes through a builtin command. No rule covers any of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum LibraryChange {
    /// Fetches skills from an address for inspection. Installs nothing.
    FetchSkills,
    /// Installs skills. Octo asks in every mode: they become instructions.
    InstallSkills,
    /// Proposes a skill to the person.
    ProposeSkill,
    /// Writes a skill as an archive.
    ExportSkill,
    /// Writes a memory.
    SaveMemory,
    /// Moves a memory to the trash.
    DeleteMemory,
    /// Writes SOUL.md or USER.md. Octo asks in every mode: every later session starts with it.
    WritePersona,
    /// Writes a scheduled task. Octo asks in every mode: the task becomes instructions that run unattended.
    SaveTask,
    /// Runs a task now.
    RunTask,
    /// Pauses or resumes a task.
    SwitchTask,
    /// Moves a task to the trash.
    DeleteTask,
}

impl LibraryChange {
    /// Returns whether Octo asks in every mode: the person must approve everything that becomes instructions.
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

/// An effect of a command that always requires permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum Risk {
    /// Runs a program it has just downloaded, unseen.
    RunsDownload,
    /// Publishes a package, an image or a release.
    Publishes,
    /// Sends commits to another repository.
    Pushes,
    /// Rewrites or drops history of a repository.
    RewritesHistory,
    /// Installs packages, whose own scripts run.
    Installs,
    /// Runs with another user's rights.
    Privileged,
    /// Changes services, timers, accounts, mounts, permissions or processes of the machine.
    System,
    /// Deletes files that the trash does not capture.
    Deletes,
    /// Works on another machine.
    Remote,
    /// Reads or writes stored passwords.
    Keychain,
    /// The person's own `policy.toml` requires permission.
    Ruled,
}

/// Why Octo refuses a call, regardless of mode and rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum Refusal {
    /// It would wipe the root, a system folder or a home folder.
    Wipes,
    /// It would write to a disk below its file system.
    Device,
    /// It would spawn copies of itself until the machine hangs.
    ForkBomb,
    /// It would end Octo.
    EndsOcto,
    /// It would touch Octo's own keys, database or policy.
    OctoOwn,
    /// The person's own `policy.toml` denies it.
    Ruled,
    /// One of the person's hooks denied it, or failed.
    Hook,
    /// An address no task has any business with: it runs code, controls the browser, or has no owner.
    Address,
    /// A sub-agent may not use the tool.
    SubAgent,
}

/// A permanent permission, bound to a folder when stored.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum Rule {
    /// Simple commands that start with exactly these words may run.
    Command {
        /// The words, for example `["cargo", "test"]`.
        words: Vec<String>,
    },
    /// Exactly this command line may run. Offered for the session if no prefix is safe.
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
    /// Commands may reach this host, if they are limited to the folder's network allow list.
    Network {
        /// The host and port, as `example.com:443`; see `octo_network::HostPattern`.
        host: String,
        /// The part of the network it may belong to.
        scope: NetworkScope,
    },
    /// The agent may work on this site in the person's browser.
    Site {
        /// The site: `https://shop.example`.
        site: String,
    },
}

/// The person's answer to a [`Question`]. Silence never means yes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum Answer {
    /// Yes, this time.
    Once,
    /// Yes, and the rule applies until the session ends.
    Session,
    /// Yes, and the rule applies to this folder from now on.
    Always,
    /// No.
    No {
        /// The reason, in words that reach the model.
        reason: Option<String>,
    },
    /// The answer to a [`QuestionContent::Feedback`].
    Text {
        /// The person's words, or the option they chose.
        text: String,
    },
}
