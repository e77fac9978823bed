//! The time machine: tasks of a session, what they did to files, and going back.

use crate::{BlobHash, DiffView, Lasting, Millis, TurnId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A task's number in its session: from 1, never used twice. 0 is the state before the first task.
pub type TaskNumber = u32;

/// What a path was like at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FileImage {
    /// There was nothing.
    Absent,
    /// An ordinary file whose content is kept.
    File {
        /// Where its content is.
        blob: BlobHash,
        /// Its length in bytes.
        len: u64,
        /// Its permission bits (`0o7777`); 0 where the system has none.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// Where it points, in the system's own bytes.
        target: Vec<u8>,
    },
    /// A folder, apart from what is in it.
    Folder {
        /// Its permission bits.
        mode: u32,
    },
    /// Something whose content was not kept, so it cannot be brought back.
    Unsaved {
        /// Why.
        why: Unsaved,
        /// Its length in bytes; 0 where unknown.
        len: u64,
        /// When it was changed last, in nanoseconds since the Unix epoch; 0 where unknown.
        modified: i64,
    },
}

/// Why the content of a file or folder was not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Unsaved {
    /// The file is larger than one file may be.
    TooLarge,
    /// All files together are more than may be kept.
    Budget,
    /// It may not be read.
    Unreadable,
    /// A device, a pipe or a socket.
    Special,
    /// It lies outside the folder that is looked at, and was changed by something else than a file tool.
    Outside,
    /// Data of version control itself.
    VersionControl,
    /// Installed packages, which can be installed again.
    Dependencies,
    /// What a build made, which can be built again.
    BuildOutput,
    /// A cache.
    Cache,
    /// Octo's own data.
    OctoHome,
    /// It was kept and had to go to stay within the time machine's space.
    Forgotten,
}

/// What a line of the tree stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum TaskKind {
    /// The state before the first task.
    Start,
    /// One run of the agent.
    Run,
    /// The files as they were right before going to another task.
    Safety,
    /// Chosen files that were brought back, the session staying where it was.
    Files,
    /// A state the person gave a name.
    Checkpoint,
}

/// Where a task stands, seen from the active one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum TaskStatus {
    /// It is the active one.
    Current,
    /// It is on the way from the start to the active one.
    Past,
    /// Its work is not in the files now.
    Undone,
}

/// A task as clients see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TaskView {
    /// Its number.
    pub number: TaskNumber,
    /// The task it went on from; none for the start.
    pub parent: Option<TaskNumber>,
    /// What it stands for.
    pub kind: TaskKind,
    /// The turn, of a run.
    pub turn: Option<TurnId>,
    /// The beginning of its first message, or the checkpoint's name; at most 60 characters.
    pub summary: String,
    /// Where it stands.
    pub status: TaskStatus,
    /// Whether work went on from its parent in another way too.
    pub branch: bool,
    /// When it began.
    #[ts(type = "number")]
    pub started_at: Millis,
    /// When it ended; none while it runs.
    #[ts(type = "number | null")]
    pub ended_at: Option<Millis>,
    /// How many paths it changed, as far as is known.
    pub changed: u32,
    /// How many things it did that no undo takes back.
    pub lasting: u32,
    /// The task whose conversation it went on from, where that is not `parent`.
    pub said_after: Option<TaskNumber>,
}

/// The tasks of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TaskTree {
    /// By number, the start first. Empty before the first task.
    pub tasks: Vec<TaskView>,
    /// The active one: the files are as at its end, or as it makes them.
    pub active: TaskNumber,
    /// The task the conversation is at: another one after only files, or only the conversation, went elsewhere.
    pub conversation: TaskNumber,
    /// Where an undo would go; none at the start.
    pub undo: Option<TaskNumber>,
    /// Where a redo would go: the newest task that went on from the active one.
    pub redo: Option<TaskNumber>,
}

/// What a task did to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum TaskChange {
    /// It was not there before.
    Created,
    /// Its content is another.
    Edited,
    /// It is not there any more.
    Deleted,
    /// Only its permissions are others.
    Mode,
    /// It became another kind of thing.
    Replaced,
}

/// A path a task changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ChangedPath {
    /// The absolute path; bytes that are not text are shown replaced.
    pub path: String,
    /// What happened.
    pub change: TaskChange,
    /// Whether it is a folder.
    pub folder: bool,
    /// Lines added; none where lines mean nothing (not text, too large, a link).
    pub added: Option<u32>,
    /// Lines removed.
    pub removed: Option<u32>,
    /// Set when it cannot be undone because the former state was not kept.
    pub unsaved: Option<Unsaved>,
}

/// What a task did to files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TaskChanges {
    /// By path.
    pub paths: Vec<ChangedPath>,
    /// What the newest look at the folder left out, by path; at most 200.
    pub left_out: Vec<LeftOut>,
    /// How much was left out in all.
    pub left_out_total: u32,
    /// What it did that no undo takes back.
    pub lasting: Lasting,
}

/// A file or folder whose content is not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct LeftOut {
    /// The absolute path; bytes that are not text are shown replaced.
    pub path: String,
    /// Why.
    pub why: Unsaved,
}

/// What a task's end is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum CompareWith {
    /// The state before the task.
    Before,
    /// What is on the disk now.
    Present,
}

/// Two states of one file beside each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct FileComparison {
    /// The earlier side.
    pub old: ComparedSide,
    /// The later side.
    pub new: ComparedSide,
    /// Line by line, where both are text (or not there).
    pub diff: Option<DiffView>,
}

/// One side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum ComparedSide {
    /// There is nothing.
    Absent,
    /// A file.
    File {
        /// Its length in bytes.
        #[ts(type = "number")]
        len: u64,
        /// Its permission bits.
        mode: u32,
        /// Whether it can be read as text.
        text: bool,
    },
    /// A symbolic link; its target is in the diff.
    Link,
    /// A folder.
    Folder,
    /// Its content is not kept.
    Unsaved {
        /// Why.
        why: Unsaved,
    },
}

/// What going to another task would do to files. Nothing is done yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct RestorePreview {
    /// The active task, which would be left.
    pub from: TaskNumber,
    /// The task to go to.
    pub to: TaskNumber,
    /// What would be written, deleted or changed, by path.
    pub changes: Vec<ChangedPath>,
    /// Files somebody changed since. They stay as they are unless they are named.
    pub conflicts: Vec<RestoreConflict>,
    /// What cannot be brought back, and stays as it is.
    pub impossible: Vec<Impossible>,
    /// What the tasks in between did that neither way takes back or repeats. Nothing where only chosen files come back.
    pub lasting: Lasting,
}

/// A path that is not as the task that is left had left it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct RestoreConflict {
    /// The absolute path.
    pub path: String,
    /// What overwriting it would do.
    pub change: TaskChange,
    /// Whether the tasks in between changed it too.
    pub source: ConflictSource,
}

/// Who changed a path that is in conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum ConflictSource {
    /// Only somebody else: between the two tasks it is the same.
    OthersOnly,
    /// Somebody else, and the tasks in between.
    Both,
}

/// A path that cannot be brought back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Impossible {
    /// The absolute path.
    pub path: String,
    /// Why.
    pub why: ImpossibleReason,
}

/// Why a path cannot be brought back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum ImpossibleReason {
    /// The wanted state was not kept.
    NotKept {
        /// Why.
        why: Unsaved,
    },
    /// What is there now could not be saved, so it is not destroyed.
    PresentNotSaved {
        /// Why.
        why: Unsaved,
    },
    /// A folder on the way is a link or a file now.
    ParentNotFolder,
    /// The folder holds things that no task made.
    FolderNotEmpty,
    /// It lies outside everything this session recorded.
    OutsideRoots,
}

/// What of a task is brought back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum RestoreScope {
    /// Files and conversation.
    #[default]
    Both,
    /// Only the files.
    Files,
    /// Only the conversation.
    Conversation,
}

/// Which files are brought back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum FileSelection {
    /// All; the session goes to the task.
    #[default]
    All,
    /// Only these, as they are written in a preview; the session stays at its task.
    Chosen {
        /// The paths.
        paths: Vec<String>,
    },
}

/// What a restore did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct RestoreReport {
    /// The active task now.
    pub active: TaskNumber,
    /// The entry that holds the files as they were before; none when no file had to change.
    pub safety: Option<TaskNumber>,
    /// Paths that were changed.
    pub changed: u32,
    /// Paths in conflict that stayed as they were.
    pub kept: Vec<String>,
    /// Paths that could not be brought back.
    pub impossible: Vec<Impossible>,
}

/// What the time machine takes on the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TimeSpace {
    /// Bytes of all kept content, attachments included.
    #[ts(type = "number")]
    pub bytes: u64,
    /// Pieces of content.
    #[ts(type = "number")]
    pub blobs: u64,
    /// Bytes it may take.
    #[ts(type = "number")]
    pub budget: u64,
}

/// What tidying up did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TimeCollected {
    /// Bytes freed.
    #[ts(type = "number")]
    pub freed_bytes: u64,
    /// Pieces of content removed.
    #[ts(type = "number")]
    pub freed_blobs: u64,
    /// Bytes kept.
    #[ts(type = "number")]
    pub kept_bytes: u64,
    /// Tasks whose files can no longer be brought back, to stay within the budget.
    pub forgotten_tasks: u32,
}
