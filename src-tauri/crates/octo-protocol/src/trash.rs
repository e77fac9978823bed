//! The trash: deleted items that can be restored.

use crate::{ApiError, BlobHash, Millis, SessionId, TrashId, TurnId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The kind of a deleted item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum TrashKind {
    /// A file, folder or link.
    File,
    /// A session.
    Session,
    /// One of the person's skills.
    Skill,
    /// A memory.
    Memory,
    /// A scheduled task: its file. Its runs and whether it was paused stay in the store.
    Task,
}

impl TrashKind {
    /// Returns whether its content is a file or a folder, and not rows of the store.
    pub fn is_on_disk(self) -> bool {
        match self {
            TrashKind::File | TrashKind::Skill | TrashKind::Memory | TrashKind::Task => true,
            TrashKind::Session => false,
        }
    }
}

/// The form of a deleted file on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum TrashForm {
    /// An ordinary file.
    File,
    /// A folder with all its contents.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe or a socket.
    Special,
}

/// Who deleted an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum RemovedBy {
    /// The agent.
    Agent,
    /// The person.
    Person,
}

/// An entry in the trash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct TrashEntry {
    /// Its id.
    pub id: TrashId,
    /// Its kind.
    pub kind: TrashKind,
    /// Its form; a session counts as a folder.
    pub form: TrashForm,
    /// The file's name or the session's title, with invalid UTF-8 replaced.
    pub name: String,
    /// The absolute folder it was in; for a session, its working folder.
    pub folder: String,
    /// Its total size in bytes.
    #[ts(type = "number")]
    pub size: u64,
    /// The number of files in it; for a session, of messages.
    #[ts(type = "number")]
    pub files: u64,
    /// For a link, its target as written.
    pub link: Option<String>,
    /// When it was deleted.
    #[ts(type = "number")]
    pub at: Millis,
    /// Who deleted it.
    pub who: RemovedBy,
    /// The session in which it was deleted, or the deleted session.
    pub session: Option<SessionId>,
    /// The turn in which it was deleted, if known.
    pub turn: Option<TurnId>,
    /// The working folder of the session.
    pub project: Option<String>,
    /// The command that deleted it.
    pub command: Option<String>,
}

/// The totals of the trash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct TrashTotals {
    /// The number of entries.
    #[ts(type = "number")]
    pub things: u64,
    /// Their size in bytes.
    #[ts(type = "number")]
    pub bytes: u64,
}

/// A page of the trash, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct TrashPage {
    /// The page.
    pub entries: Vec<TrashEntry>,
    /// The totals of all matching entries.
    pub found: TrashTotals,
}

/// The trash as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct TrashOverview {
    /// The totals of all entries.
    pub totals: TrashTotals,
    /// The projects with deletions, most recently used first, at most 200.
    pub projects: Vec<String>,
}

/// A selection of entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum TrashChoice {
    /// The entries with these ids.
    These {
        /// Their ids.
        ids: Vec<TrashId>,
    },
    /// All entries deleted before a moment.
    Before {
        /// The moment; later entries are excluded.
        #[ts(type = "number")]
        at: Millis,
    },
}

/// The action if a restored file's name is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum OnConflict {
    /// Leave both unchanged and report the conflict.
    #[default]
    Ask,
    /// Move the existing file to the trash.
    Replace,
    /// Restore under a name with a number.
    KeepBoth,
}

/// A file in the way of a restore.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct ConflictingFile {
    /// Its absolute path.
    pub path: String,
    /// Its form.
    pub form: TrashForm,
    /// Its own size in bytes; 0 for a folder.
    #[ts(type = "number")]
    pub size: u64,
    /// When it was last changed, if known.
    #[ts(type = "number | null")]
    pub modified: Option<Millis>,
}

/// The result of restoring one entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum RestoreOutcome {
    /// It is restored.
    Done {
        /// The entry.
        id: TrashId,
        /// Its path; for a session, its id.
        at: String,
    },
    /// A task is restored, and paused: one of its run times passed meanwhile.
    Paused {
        /// The entry.
        id: TrashId,
        /// The path of its file.
        at: String,
        /// The name of its file, which identifies the task in requests.
        task: String,
    },
    /// Another file is in the way; nothing was changed.
    Taken {
        /// The entry.
        id: TrashId,
        /// The existing file.
        present: ConflictingFile,
    },
    /// It could not be restored; it is still in the trash.
    Failed {
        /// The entry.
        id: TrashId,
        /// The error.
        error: ApiError,
    },
}

/// The result of a restore.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct TrashRestoreResult {
    /// One per entry, in the order of the request.
    pub outcomes: Vec<RestoreOutcome>,
}

/// The result of a permanent deletion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct EmptyReport {
    /// The totals of the deleted entries.
    pub removed: TrashTotals,
    /// The number of entries that could not be deleted.
    #[ts(type = "number")]
    pub kept: u64,
    /// Why the first of them could not be deleted.
    pub error: Option<ApiError>,
}

/// The preview of an entry in the trash, capped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum TrashExcerpt {
    /// The beginning of a text file.
    Text {
        /// Its first lines.
        text: String,
        /// Whether there is more.
        more: bool,
    },
    /// A picture.
    Picture {
        /// The blob with its bytes.
        blob: BlobHash,
    },
    /// The contents of a folder.
    Folder {
        /// Names, folders with a trailing slash.
        entries: Vec<String>,
        /// The total number of entries, listed or not.
        #[ts(type = "number")]
        total: u64,
    },
    /// The target of a link.
    Link {
        /// The target as written.
        target: String,
    },
    /// The end of a session.
    Session {
        /// The beginnings of its last messages, oldest first.
        lines: Vec<String>,
    },
    /// No preview is available.
    Nothing,
}

/// An entry in the trash with its preview.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct TrashPreview {
    /// The entry.
    pub entry: TrashEntry,
    /// The preview.
    pub look: TrashExcerpt,
    /// The file now at its old path.
    pub present: Option<ConflictingFile>,
    /// When its retention by age ends; `None` for no limit.
    #[ts(type = "number | null")]
    pub until: Option<Millis>,
    /// The title of the session in which it was deleted, if it is still in the list.
    pub session_title: Option<String>,
}

/// The limits of the trash. The oldest entry is deleted first, and entries of the last day stay, except for
/// folders that can be made again (dependencies, build output, caches).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export, export_to = "protocol.ts")]
pub struct TrashLimits {
    /// The retention in days; `None` for no limit.
    pub days: Option<u32>,
    /// The total size in bytes; `None` for no limit.
    #[ts(type = "number | null")]
    pub bytes: Option<u64>,
}

impl Default for TrashLimits {
    fn default() -> Self {
        Self { days: Some(30), bytes: Some(5 << 30) }
    }
}
