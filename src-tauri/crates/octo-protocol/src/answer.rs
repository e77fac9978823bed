//! Questions that wait for the person, and what the person says.

use crate::{CallId, Millis, QuestionId, ToolView, TrashTotals};
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
