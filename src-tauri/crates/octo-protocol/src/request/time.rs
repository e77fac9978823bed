//! Requests to the time machine.

use super::{Request, TypedRequest};
use crate::{
    ComparisonTarget, FileComparison, FileSelection, RestorePreview, RestoreReport, RestoreScope, SessionId,
    StepChanges, StepNumber, StepTree, StepView, TimeCleanup, TimeSpace,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

super::domain! {
    /// Requests to the time machine.
    TimeRequest in Time, TimeReplies {
        /// Returns the step tree of a session.
        GetTaskTree {
            /// The session.
            session: SessionId,
        } -> StepTree;
        /// Returns the changes a step made to files.
        GetTaskChanges {
            /// The session.
            session: SessionId,
            /// The step.
            task: StepNumber,
        } -> StepChanges;
        /// Compares a file at the end of a step with another state of it.
        CompareFile {
            /// The session.
            session: SessionId,
            /// The step.
            task: StepNumber,
            /// The path, as [`GetTaskChanges`] writes it.
            path: String,
            /// The other state.
            with: ComparisonTarget,
        } -> FileComparison;
        /// Previews the file changes of restoring a step. Changes nothing.
        PreviewRestore {
            /// The session.
            session: SessionId,
            /// The step.
            task: StepNumber,
            /// The files.
            selection: FileSelection,
        } -> RestorePreview;
        /// Restores a step, or chosen files of it.
        RestoreTask {
            /// The session.
            session: SessionId,
            /// The step.
            task: StepNumber,
            /// The scope of the restore.
            scope: RestoreScope,
            /// The files.
            selection: FileSelection,
            /// Paths in conflict that Octo may overwrite, as the preview writes them.
            overwrite: Vec<String>,
        } -> RestoreReport;
        /// Names the current state as a checkpoint.
        AddCheckpoint {
            /// The session.
            session: SessionId,
            /// The name.
            name: String,
        } -> StepView;
        /// Returns the time machine's disk usage.
        GetTimeSpace {} -> TimeSpace;
        /// Deletes unreferenced content, then the oldest until the rest fits this many bytes.
        CollectTime {
            /// The budget in bytes.
            #[ts(type = "number")]
            budget: u64,
        } -> TimeCleanup;
    }
}
