//! The trash: what was deleted and can be brought back.

use crate::{ApiError, BlobHash, Millis, SessionId, TrashId, TurnId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What kind of thing was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum TrashKind {
    /// A file, folder or link.
    File,
    /// A session.
    Session,
    /// A skill of the person's.
    Skill,
    /// A memory.
    Memory,
    /// A task: its file. Its runs and whether it was paused stay in the store.
    Task,
}

impl TrashKind {
    /// Whether its content is a file or a folder, and not rows of the store.
    pub fn is_on_disk(self) -> bool {
        match self {
            TrashKind::File | TrashKind::Skill | TrashKind::Memory | TrashKind::Task => true,
            TrashKind::Session => false,
        }
    }
}

/// The form a deleted file has on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum TrashForm {
    /// An ordinary file.
    File,
    /// A folder with all that is in it.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe or a socket.
    Special,
}

/// Who deleted something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum RemovedBy {
    /// The agent.
    Agent,
    /// The person.
    Person,
}

/// A thing in the trash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TrashEntry {
    /// Its id.
    pub id: TrashId,
    /// What it is.
    pub kind: TrashKind,
    /// Its form; a session counts as a folder.
    pub form: TrashForm,
    /// The file's name or the session's title, bytes that are not text replaced.
    pub name: String,
    /// The folder it was in, absolute; of a session the folder it worked in.
    pub folder: String,
    /// Its size in bytes, everything in it included.
    #[ts(type = "number")]
    pub size: u64,
    /// How many files it holds; of a session how many messages.
    #[ts(type = "number")]
    pub files: u64,
    /// Where a link leads, as it was written.
    pub link: Option<String>,
    /// When it was deleted.
    #[ts(type = "number")]
    pub at: Millis,
    /// Who deleted it.
    pub who: RemovedBy,
    /// The session it was deleted in, or the one that was deleted.
    pub session: Option<SessionId>,
    /// The turn it was deleted in, where that is known.
    pub turn: Option<TurnId>,
    /// The folder the session worked in.
    pub project: Option<String>,
    /// The command that deleted it.
    pub command: Option<String>,
}

/// How much is in the trash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TrashTotals {
    /// How many things.
    #[ts(type = "number")]
    pub things: u64,
    /// Their size in bytes.
    #[ts(type = "number")]
    pub bytes: u64,
}

/// A page of the trash, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TrashPage {
    /// The page.
    pub entries: Vec<TrashEntry>,
    /// All that match.
    pub found: TrashTotals,
}

/// The trash as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TrashOverview {
    /// All there is.
    pub totals: TrashTotals,
    /// The projects things were deleted in, most recently used first, at most 200.
    pub projects: Vec<String>,
}

/// Which things are meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum TrashChoice {
    /// These.
    These {
        /// Their ids.
        ids: Vec<TrashId>,
    },
    /// Everything deleted before a moment.
    Before {
        /// The moment; what comes later is not meant.
        #[ts(type = "number")]
        at: Millis,
    },
}

/// What to do where a restored file's name is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum OnConflict {
    /// Leave both as they are and say so.
    #[default]
    Ask,
    /// Put what is there into the trash.
    Replace,
    /// Restore under a name with a number.
    KeepBoth,
}

/// A thing that is where another one is to be restored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct PresentThing {
    /// Its absolute path.
    pub path: String,
    /// Its form.
    pub form: TrashForm,
    /// Its own size in bytes; of a folder 0.
    #[ts(type = "number")]
    pub size: u64,
    /// When it was last changed, where that is known.
    #[ts(type = "number | null")]
    pub modified: Option<Millis>,
}

/// What came of restoring one thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum Restored {
    /// It is back.
    Done {
        /// Which.
        id: TrashId,
        /// Where it is; of a session its id.
        at: String,
    },
    /// A task is back, and paused: a time at which it would have run passed meanwhile.
    Paused {
        /// Which.
        id: TrashId,
        /// Where its file is.
        at: String,
        /// The name of its file, by which it is asked for.
        task: String,
    },
    /// Something else is there; nothing was changed.
    Taken {
        /// Which.
        id: TrashId,
        /// What is there.
        present: PresentThing,
    },
    /// It could not be restored; it is still in the trash.
    Failed {
        /// Which.
        id: TrashId,
        /// Why.
        error: ApiError,
    },
}

/// What came of restoring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TrashRestored {
    /// One for each thing, in the order they were named.
    pub outcomes: Vec<Restored>,
}

/// What came of deleting for good.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct EmptyReport {
    /// What is gone.
    pub removed: TrashTotals,
    /// How many things could not be removed and stay.
    #[ts(type = "number")]
    pub kept: u64,
    /// Why the first of them stays.
    pub error: Option<ApiError>,
}

/// What is shown of a thing in the trash, capped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum TrashLook {
    /// The beginning of a text file.
    Text {
        /// Its first lines.
        text: String,
        /// Whether there is more.
        more: bool,
    },
    /// A picture.
    Picture {
        /// Where its bytes are.
        blob: BlobHash,
    },
    /// What a folder holds.
    Folder {
        /// Names, folders with a trailing slash.
        entries: Vec<String>,
        /// Entries in the folder, listed or not.
        #[ts(type = "number")]
        total: u64,
    },
    /// Where a link leads.
    Link {
        /// As it was written.
        target: String,
    },
    /// A session's last words.
    Session {
        /// The beginnings of its last messages, oldest first.
        lines: Vec<String>,
    },
    /// Nothing can be shown.
    Nothing,
}

/// A thing in the trash, looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TrashPreview {
    /// It.
    pub entry: TrashEntry,
    /// What is in it.
    pub look: TrashLook,
    /// What is at its old place now.
    pub present: Option<PresentThing>,
    /// Until when it is kept by age; none for no limit.
    #[ts(type = "number | null")]
    pub until: Option<Millis>,
    /// The title of the session it was deleted in, where that is still in the list.
    pub session_title: Option<String>,
}

/// How long and how much is kept in the trash. The oldest goes first, and what was deleted within the last day
/// stays, except for folders that can be made again (dependencies, build output, caches).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export)]
pub struct TrashLimits {
    /// Days; none for no limit.
    pub days: Option<u32>,
    /// Bytes in all; none for no limit.
    #[ts(type = "number | null")]
    pub bytes: Option<u64>,
}

impl Default for TrashLimits {
    fn default() -> Self {
        Self { days: Some(30), bytes: Some(5 << 30) }
    }
}
