//! Requests about the trash.

use super::{Call, Request};
use crate::{
    EmptyReport, OnConflict, TrashChoice, TrashId, TrashKind, TrashOverview, TrashPage, TrashPreview,
    TrashRestored, TrashTotals,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

super::domain! {
    /// Requests about the trash.
    TrashRequest in Trash, TrashReplies {
        /// How much there is, and of which projects.
        GetTrash {} -> TrashOverview;
        /// A page of what is in the trash, newest first.
        ListTrash {
            /// Only things whose name or old folder contains this; empty for all.
            query: String,
            /// Only things of this kind.
            kind: Option<TrashKind>,
            /// Only things of this project.
            project: Option<String>,
            /// How many to skip.
            offset: u32,
            /// How many at most (capped at 500).
            limit: u32,
        } -> TrashPage;
        /// Look at one thing.
        PreviewTrash {
            /// Which.
            id: TrashId,
        } -> TrashPreview;
        /// Bring things back. Each is restored or not, on its own.
        RestoreTrash {
            /// Which.
            ids: Vec<TrashId>,
            /// The absolute folder to put files into; none for where they were.
            to: Option<String>,
            /// What to do where a name is taken.
            #[serde(default)]
            on_conflict: OnConflict,
        } -> TrashRestored;
        /// How much would go.
        CountTrash {
            /// What.
            which: TrashChoice,
        } -> TrashTotals;
        /// Delete for good. The client has asked the person.
        EmptyTrash {
            /// What.
            which: TrashChoice,
        } -> EmptyReport;
    }
}
