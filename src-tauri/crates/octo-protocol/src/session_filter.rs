//! Filters for sessions, and the marks of matching words.

use crate::{Millis, Profile, Source};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A filter for sessions; a field that is `None` lets every session through.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export, export_to = "protocol.ts")]
pub struct SessionFilter {
    /// Only those started by this source.
    #[ts(optional)]
    pub source: Option<Source>,
    /// Only those of this profile.
    #[ts(optional)]
    pub profile: Option<Profile>,
    /// Only those with this status.
    #[serde(rename = "mark")]
    #[ts(optional)]
    pub status: Option<SessionMark>,
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

/// A session's status, as its entry in the list shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum SessionMark {
    /// A turn runs.
    Running,
    /// A turn waits for the person.
    Waiting,
    /// The last turn failed.
    Failed,
    /// No turn runs, and the person has not looked at the session since the last one.
    Unread,
}

/// Folders in which sessions work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SessionFolders {
    /// The folders, most recently used first.
    pub folders: Vec<SessionFolder>,
}

/// A folder in which sessions work. Sessions that wait for the person and pinned ones are not counted: the list
/// shows them separately.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SessionFolder {
    /// Its absolute path.
    pub path: String,
    /// The number of sessions.
    pub sessions: u32,
    /// When the newest of them was last used.
    #[ts(type = "number")]
    pub updated_at: Millis,
}

/// A matching part of a text, in UTF-16 units, which the page uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct TextMark {
    /// The start.
    pub start: u32,
    /// The end.
    pub end: u32,
}
