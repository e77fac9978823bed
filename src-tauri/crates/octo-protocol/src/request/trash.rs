//! Requests about the trash.

use super::{Request, TypedRequest};
use crate::{
    EmptyReport, OnConflict, TrashChoice, TrashId, TrashKind, TrashOverview, TrashPage, TrashPreview,
    TrashRestoreResult, TrashTotals,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

super::domain! {
    /// Requests about the trash.
    TrashRequest in Trash, TrashReplies {
        /// Returns the trash's totals and its projects.
        GetTrash {} -> TrashOverview;
        /// Returns a page of the trash, newest first.
        ListTrash {
            /// Only entries whose name or old folder contains this; empty for all.
            query: String,
            /// Only entries of this kind.
            kind: Option<TrashKind>,
            /// Only entries of this project.
            project: Option<String>,
            /// The number of entries to skip.
            offset: u32,
            /// The maximum number of entries (capped at 500).
            limit: u32,
        } -> TrashPage;
        /// Returns a preview of one entry.
        PreviewTrash {
            /// The entry.
            id: TrashId,
        } -> TrashPreview;
        /// Restores entries. Each succeeds or fails independently.
        RestoreTrash {
            /// The entries.
            ids: Vec<TrashId>,
            /// The absolute folder for restored files; `None` for their old folders.
            to: Option<String>,
            /// The action if a name is taken.
            #[serde(default)]
            on_conflict: OnConflict,
        } -> TrashRestoreResult;
        /// Returns the totals of entries that a deletion would remove.
        CountTrash {
            /// The entries.
            which: TrashChoice,
        } -> TrashTotals;
        /// Permanently deletes entries. The client must have asked the person.
        EmptyTrash {
            /// The entries.
            which: TrashChoice,
        } -> EmptyReport;
    }
}
