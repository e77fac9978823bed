//! Requests to the time machine.

use super::{Call, Request};
use crate::{
    CompareWith, FileComparison, FileSelection, RestorePreview, RestoreReport, RestoreScope, SessionId,
    TaskChanges, TaskNumber, TaskTree, TaskView, TimeCollected, TimeSpace,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

super::domain! {
    /// Requests to the time machine.
    TimeRequest in Time, TimeReplies {
        /// The tasks of a session.
        GetTaskTree {
            /// Which session.
            session: SessionId,
        } -> TaskTree;
        /// What a task did to files.
        GetTaskChanges {
            /// Which session.
            session: SessionId,
            /// Which task.
            task: TaskNumber,
        } -> TaskChanges;
        /// A file at the end of a task beside another state of it.
        CompareFile {
            /// Which session.
            session: SessionId,
            /// Which task.
            task: TaskNumber,
            /// The path, as [`GetTaskChanges`] writes it.
            path: String,
            /// The other state.
            with: CompareWith,
        } -> FileComparison;
        /// What going to a task would do to files. Nothing is done.
        PreviewRestore {
            /// Which session.
            session: SessionId,
            /// The task.
            task: TaskNumber,
            /// Which files.
            selection: FileSelection,
        } -> RestorePreview;
        /// Go to a task, or bring chosen files of it back.
        RestoreTask {
            /// Which session.
            session: SessionId,
            /// The task.
            task: TaskNumber,
            /// What of it.
            scope: RestoreScope,
            /// Which files.
            selection: FileSelection,
            /// Paths in conflict that may be overwritten, as the preview writes them.
            overwrite: Vec<String>,
        } -> RestoreReport;
        /// Give the present state a name.
        AddCheckpoint {
            /// Which session.
            session: SessionId,
            /// The name.
            name: String,
        } -> TaskView;
        /// What the time machine takes on the disk.
        GetTimeSpace {} -> TimeSpace;
        /// Remove what nothing refers to, and the oldest beyond this many bytes.
        CollectTime {
            /// The budget in bytes.
            #[ts(type = "number")]
            budget: u64,
        } -> TimeCollected;
    }
}
