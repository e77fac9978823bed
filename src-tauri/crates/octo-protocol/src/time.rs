//! The time machine: steps of a session, their changes to files, and restoring them.

use crate::{BlobHash, DiffView, LastingEffects, Millis, TurnId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A step's number in its session: from 1, never reused. 0 is the state before the first step.
pub type StepNumber = u32;

/// The recorded state of a path at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FileImage {
    /// The path did not exist.
    Absent,
    /// An ordinary file whose content is stored.
    File {
        /// The blob with its content.
        blob: BlobHash,
        /// Its length in bytes.
        len: u64,
        /// Its permission bits (`0o7777`); 0 where the system has none.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// Its target, in the system's own bytes.
        target: Vec<u8>,
    },
    /// A folder, without its contents.
    Folder {
        /// Its permission bits.
        mode: u32,
    },
    /// An entry whose content was not stored and which therefore cannot be restored.
    Unsaved {
        /// The reason.
        why: UnsavedReason,
        /// Its length in bytes; 0 where unknown.
        len: u64,
        /// When it was last modified, in nanoseconds since the Unix epoch; 0 where unknown.
        modified: i64,
    },
}

/// Why the content of a file or folder was not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum UnsavedReason {
    /// The file exceeds the limit for one file.
    TooLarge,
    /// All files together exceed the limit.
    Budget,
    /// Octo cannot read it.
    Unreadable,
    /// A device, a pipe or a socket.
    Special,
    /// It is outside the recorded folder, and a program other than a file tool changed it.
    Outside,
    /// Data of version control itself.
    VersionControl,
    /// Installed packages, which can be installed again.
    Dependencies,
    /// Build output, which can be built again.
    BuildOutput,
    /// A cache.
    Cache,
    /// Octo's own data.
    OctoHome,
    /// Its content was stored, and later deleted to stay within the time machine's space.
    Forgotten,
}

/// The kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum StepKind {
    /// The state before the first step.
    Start,
    /// The work of one turn.
    Run,
    /// The files as they were right before a restore.
    Safety,
    /// A restore of chosen files, which left the session at its step.
    Files,
    /// A state named by the person.
    Checkpoint,
}

/// The position of a step relative to the active one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum StepPosition {
    /// It is the active step.
    Current,
    /// It is on the path from the start to the active step.
    Past,
    /// Its changes are not in the current files.
    Undone,
}

/// A step of the time machine as clients see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct StepView {
    /// Its number.
    pub number: StepNumber,
    /// The preceding step; `None` for the start.
    pub parent: Option<StepNumber>,
    /// Its kind.
    pub kind: StepKind,
    /// For a run, the turn that did it.
    pub turn: Option<TurnId>,
    /// The beginning of its first message, or the checkpoint's name; at most 60 characters.
    pub summary: String,
    /// Its position relative to the active step.
    pub status: StepPosition,
    /// Whether its parent also has another successor.
    pub branch: bool,
    /// When it began.
    #[ts(type = "number")]
    pub started_at: Millis,
    /// When it ended; `None` while it runs.
    #[ts(type = "number | null")]
    pub ended_at: Option<Millis>,
    /// The known number of paths it changed.
    pub changed: u32,
    /// The number of its effects that no undo takes back.
    pub lasting: u32,
    /// The step whose conversation it continues, if that is not `parent`.
    pub said_after: Option<StepNumber>,
}

/// The steps of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct StepTree {
    /// By number, the start first. Empty before the first step.
    pub tasks: Vec<StepView>,
    /// The active step: the files match its end, or it is changing them now.
    pub active: StepNumber,
    /// The step of the conversation: it differs after a restore of only the files, or only the conversation.
    pub conversation: StepNumber,
    /// The step an undo would restore; `None` at the start.
    pub undo: Option<StepNumber>,
    /// The step a redo would restore: the newest successor of the active one.
    pub redo: Option<StepNumber>,
}

/// The kind of change a step made to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum StepChange {
    /// The path did not exist before.
    Created,
    /// Its content changed.
    Edited,
    /// The path no longer exists.
    Deleted,
    /// Only its permissions changed.
    Mode,
    /// It became another kind of file.
    Replaced,
}

/// A path that a step changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct ChangedPath {
    /// The absolute path, with invalid UTF-8 replaced.
    pub path: String,
    /// The kind of change.
    pub change: StepChange,
    /// Whether it is a folder.
    pub folder: bool,
    /// Lines added; `None` if lines are meaningless (not text, too large, a link).
    pub added: Option<u32>,
    /// Lines removed.
    pub removed: Option<u32>,
    /// Set if it cannot be undone because its earlier state was not stored.
    pub unsaved: Option<UnsavedReason>,
}

/// The changes a step made to files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct StepChanges {
    /// By path.
    pub paths: Vec<ChangedPath>,
    /// The paths omitted by the newest scan of the folder, by path; at most 200.
    pub left_out: Vec<OmittedPath>,
    /// The total number of omitted paths.
    pub left_out_total: u32,
    /// Its effects that no undo takes back.
    pub lasting: LastingEffects,
}

/// A file or folder whose content is not stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct OmittedPath {
    /// The absolute path, with invalid UTF-8 replaced.
    pub path: String,
    /// The reason.
    pub why: UnsavedReason,
}

/// The other side of a comparison with a step's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum ComparisonTarget {
    /// The state before the step.
    Before,
    /// The current content on disk.
    Present,
}

/// A comparison of two states of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct FileComparison {
    /// The earlier side.
    pub old: ComparedSide,
    /// The later side.
    pub new: ComparedSide,
    /// The line diff, if both sides are text (or absent).
    pub diff: Option<DiffView>,
}

/// One side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum ComparedSide {
    /// The file does not exist.
    Absent,
    /// A file.
    File {
        /// Its length in bytes.
        #[ts(type = "number")]
        len: u64,
        /// Its permission bits.
        mode: u32,
        /// Whether it is text.
        text: bool,
    },
    /// A symbolic link; its target is in the diff.
    Link,
    /// A folder.
    Folder,
    /// Its content is not stored.
    Unsaved {
        /// The reason.
        why: UnsavedReason,
    },
}

/// A preview of the file changes of a restore. Nothing is changed yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct RestorePreview {
    /// The active step, from which the restore starts.
    pub from: StepNumber,
    /// The step to restore.
    pub to: StepNumber,
    /// The paths that would be written, deleted or changed, by path.
    pub changes: Vec<ChangedPath>,
    /// Files changed by others since then. They stay as they are unless the request names them.
    pub conflicts: Vec<RestoreConflict>,
    /// Paths that cannot be restored, and stay as they are.
    pub impossible: Vec<UnrestorablePath>,
    /// The effects of the steps in between that the restore neither takes back nor repeats. Empty for a restore
    /// of chosen files.
    pub lasting: LastingEffects,
}

/// A path that changed after the step being left recorded it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct RestoreConflict {
    /// The absolute path.
    pub path: String,
    /// The effect of overwriting it.
    pub change: StepChange,
    /// Whether the steps in between changed it too.
    pub source: ConflictSource,
}

/// The origin of a conflicting change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum ConflictSource {
    /// Only others changed it: it is the same in both steps.
    OthersOnly,
    /// Others and the steps in between changed it.
    Both,
}

/// A path that cannot be restored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct UnrestorablePath {
    /// The absolute path.
    pub path: String,
    /// The reason.
    pub why: UnrestorableReason,
}

/// Why a path cannot be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum UnrestorableReason {
    /// The wanted state was not stored.
    NotKept {
        /// The reason.
        why: UnsavedReason,
    },
    /// The current content could not be saved, and Octo therefore does not destroy it.
    PresentNotSaved {
        /// The reason.
        why: UnsavedReason,
    },
    /// A parent folder is now a link or a file.
    ParentNotFolder,
    /// The folder contains files that no step created.
    FolderNotEmpty,
    /// It is outside everything this session recorded.
    OutsideRoots,
}

/// The scope of a restore.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum RestoreScope {
    /// Files and conversation.
    #[default]
    Both,
    /// Only the files.
    Files,
    /// Only the conversation.
    Conversation,
}

/// The selection of files to restore.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum FileSelection {
    /// All; the session moves to the step.
    #[default]
    All,
    /// Only these, as a preview writes them; the session stays at its step.
    Chosen {
        /// The paths.
        paths: Vec<String>,
    },
}

/// The result of a restore.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct RestoreReport {
    /// The active step after the restore.
    pub active: StepNumber,
    /// The safety entry with the earlier files; `None` if no file had to change.
    pub safety: Option<StepNumber>,
    /// The number of changed paths.
    pub changed: u32,
    /// Paths in conflict that were left unchanged.
    pub kept: Vec<String>,
    /// Paths that could not be restored.
    pub impossible: Vec<UnrestorablePath>,
}

/// The time machine's disk usage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct TimeSpace {
    /// The size of all stored content, attachments included, in bytes.
    #[ts(type = "number")]
    pub bytes: u64,
    /// The number of stored blobs.
    #[ts(type = "number")]
    pub blobs: u64,
    /// The limit in bytes.
    #[ts(type = "number")]
    pub budget: u64,
}

/// The result of a cleanup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct TimeCleanup {
    /// Bytes freed.
    #[ts(type = "number")]
    pub freed_bytes: u64,
    /// The number of blobs removed.
    #[ts(type = "number")]
    pub freed_blobs: u64,
    /// The bytes still stored.
    #[ts(type = "number")]
    pub kept_bytes: u64,
    /// The number of steps whose files can no longer be restored, to stay within the limit.
    pub forgotten_tasks: u32,
}
