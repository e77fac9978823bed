//! The location of Octo's home, a planned change of it, and copies that can replace it.

use crate::{ApiError, Millis};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The location of the home, and a planned change of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct HomeState {
    /// The home's absolute path.
    pub home: String,
    /// Why it cannot be moved, if so.
    #[serde(rename = "fixed")]
    pub move_obstacle: Option<ApiError>,
    /// The change that the next start makes.
    pub planned: Option<HomePlan>,
    /// Old homes, kept until the person deletes them.
    pub kept: Vec<OldHome>,
}

/// A change of the home at the next start. Until then the home is unchanged, and work in it still counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum HomePlan {
    /// Replace it with a copy.
    Restore {
        /// The path of the copy.
        from: String,
        /// The path to which the current home moves.
        aside: String,
    },
    /// Move it.
    Move {
        /// The destination.
        to: String,
    },
}

/// An old home, kept after a restore or a move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct OldHome {
    /// Its absolute path.
    pub path: String,
    /// Its size in bytes.
    #[ts(type = "number")]
    pub bytes: u64,
}

/// The result of inspecting a copy of the home.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct CopyInspection {
    /// The folder that contains it.
    pub path: String,
    /// When it was made, if known.
    #[ts(type = "number | null")]
    pub at: Option<Millis>,
    /// The version of the Octo that made it; `None` if the copy does not record it.
    pub octo: Option<String>,
    /// The number of sessions in it, including those in the trash.
    #[ts(type = "number")]
    pub sessions: u64,
    /// The number of files.
    #[ts(type = "number")]
    pub files: u64,
    /// The total size in bytes.
    #[ts(type = "number")]
    pub bytes: u64,
}

/// The result of deleting an old home.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct OldHomeDeletion {
    /// Names still in it: files Octo did not create, and files it could not delete.
    pub left: Vec<String>,
    /// The state after the deletion.
    pub state: HomeState,
}
