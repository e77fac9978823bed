//! The person's own rules: `policy.toml`, and what was always allowed.

use crate::{ApiError, AskReason, Refusal, Rule};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A list of `policy.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum PolicyList {
    /// Commands that run unasked.
    Allow,
    /// Commands that ask in any case.
    Ask,
    /// Commands that never run.
    Deny,
    /// Paths that count as secret.
    Secret,
    /// Paths that are never touched.
    DenyPath,
}

/// A rule of `policy.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct PolicyRule {
    /// The list it is in.
    pub list: PolicyList,
    /// The first words of a command, or a path or a pattern for a file's name.
    pub text: String,
}

/// `policy.toml` as it stands on the disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct PolicyState {
    /// Where the file is, or would be.
    pub path: String,
    /// Stands for what the file holds; a change of it says which content it was made to.
    pub stamp: String,
    /// Its rules, list by list, in the file's order; none while it is broken.
    pub rules: Vec<PolicyRule>,
    /// Why it does not hold, in which case everything that does not only read asks.
    pub fault: Option<ApiError>,
}

/// A standing permission and the folder it holds in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Grant {
    /// The absolute folder sessions work in.
    pub folder: String,
    /// What is allowed there.
    pub rule: Rule,
}

/// What was allowed with "always".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Grants {
    /// By folder, oldest first within one.
    pub grants: Vec<Grant>,
}

/// What would be done with a command, in the mode that asks when something is risky.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct CommandTrial {
    /// The folder it was looked at in.
    pub folder: String,
    /// What would be done.
    pub outcome: TrialOutcome,
    /// The line that would run in its place: removals go through the trash.
    pub rewritten: Option<String>,
}

/// What would be done with a command that is tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum TrialOutcome {
    /// It would run unasked.
    Runs {
        /// Why.
        because: RunsBecause,
    },
    /// The person would be asked.
    Asks {
        /// Why.
        reason: AskReason,
    },
    /// It would be refused.
    Refused {
        /// Why.
        refusal: Refusal,
        /// The part it is refused for, where one part can be named.
        part: Option<String>,
    },
}

/// Why a command would run unasked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum RunsBecause {
    /// Everything in it is known to only read.
    OnlyReads,
    /// Everything in it is known, and changes nothing outside the folder.
    StaysInside,
    /// A rule of the person's allows it.
    Allowed,
}
