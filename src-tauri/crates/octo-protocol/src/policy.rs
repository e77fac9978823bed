//! The person's own rules: `policy.toml`, and permanent grants.

use crate::{ApiError, AskReason, Refusal, Rule};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A list of `policy.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum PolicyList {
    /// Commands that run without asking.
    Allow,
    /// Commands that always ask.
    Ask,
    /// Commands that never run.
    Deny,
    /// Paths that count as secret.
    Secret,
    /// Paths that the agent never touches.
    DenyPath,
}

/// A rule of `policy.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct PolicyRule {
    /// The list that contains it.
    pub list: PolicyList,
    /// The first words of a command, a path, or a file name pattern.
    pub text: String,
}

/// The current state of `policy.toml` on disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct PolicyState {
    /// The file's path, whether or not it exists.
    pub path: String,
    /// Identifies the file's content; a request to change the file names the content it was based on.
    pub stamp: String,
    /// Its rules, list by list, in the file's order; empty while the file is broken.
    pub rules: Vec<PolicyRule>,
    /// Why the rules are not in effect; meanwhile everything that is not read-only asks.
    pub fault: Option<ApiError>,
}

/// A permanent permission and the folder it applies to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct Grant {
    /// The absolute working folder of the sessions.
    pub folder: String,
    /// The permission granted there.
    pub rule: Rule,
}

/// Permissions granted with "always".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct Grants {
    /// By folder, oldest first within each.
    pub grants: Vec<Grant>,
}

/// The verdict on a command, in the mode that asks about risky actions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct CommandTrial {
    /// The folder assumed for the test.
    pub folder: String,
    /// The verdict.
    pub outcome: TrialOutcome,
    /// The command line that would run instead: removals use the trash.
    pub rewritten: Option<String>,
}

/// The verdict on a tested command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum TrialOutcome {
    /// It would run without asking.
    Runs {
        /// The reason.
        because: RunsBecause,
    },
    /// Octo would ask the person.
    Asks {
        /// The reason.
        reason: AskReason,
    },
    /// Octo would refuse it.
    Refused {
        /// The reason.
        refusal: Refusal,
        /// The refused part, if one part can be named.
        part: Option<String>,
    },
}

/// Why a command would run without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum RunsBecause {
    /// All of it is known to be read-only.
    OnlyReads,
    /// All of it is known, and changes nothing outside the folder.
    StaysInside,
    /// One of the person's rules allows it.
    Allowed,
}
