//! Which sessions are looked for, and where their words were found.

use crate::{Millis, Profile, Source};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Which sessions are meant; what is none lets every session through.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export)]
pub struct SessionFilter {
    /// Only those started by it.
    #[ts(optional)]
    pub source: Option<Source>,
    /// Only those of this profile.
    #[ts(optional)]
    pub profile: Option<Profile>,
    /// Only those that stand like this.
    #[ts(optional)]
    pub mark: Option<SessionMark>,
    /// Only those that work in exactly this folder.
    #[ts(optional)]
    pub folder: Option<String>,
    /// Only those whose last turn began or ended then or later.
    #[ts(optional, type = "number")]
    pub since: Option<Millis>,
    /// Only those whose last turn began or ended before this.
    #[ts(optional, type = "number")]
    pub until: Option<Millis>,
}

/// How a session stands, as its line shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum SessionMark {
    /// A turn runs.
    Running,
    /// A turn waits for the person.
    Waiting,
    /// The last turn failed.
    Failed,
    /// No turn runs, and the person has not looked since the last one.
    Unread,
}

/// The folders sessions work in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SessionFolders {
    /// The last used first.
    pub folders: Vec<SessionFolder>,
}

/// A folder sessions work in. Those that wait for the person and pinned ones are not counted: they stand apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SessionFolder {
    /// Its absolute path.
    pub path: String,
    /// How many sessions.
    pub sessions: u32,
    /// When the newest of them was last used.
    #[ts(type = "number")]
    pub updated_at: Millis,
}

/// A part of a text that matches, counted in UTF-16 units, as the page counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TextMark {
    /// Where it begins.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
}
