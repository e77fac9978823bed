//! Where Octo's home is, what is planned for it, and copies of it that can take its place.

use crate::{ApiError, Millis};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Where the home is, and what is planned for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ResidenceState {
    /// The home's absolute path.
    pub home: String,
    /// Why it cannot be moved from here, where it cannot.
    pub fixed: Option<ApiError>,
    /// What the next start does.
    pub planned: Option<HomePlan>,
    /// Homes that were put aside, until the person deletes them.
    pub kept: Vec<KeptHome>,
}

/// What becomes of the home at the next start. Until then it is as it was, and what is done in it still counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum HomePlan {
    /// A copy takes its place.
    Restore {
        /// The copy.
        from: String,
        /// Where the present home is put.
        aside: String,
    },
    /// It goes elsewhere.
    Move {
        /// There.
        to: String,
    },
}

/// A home that was put aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct KeptHome {
    /// Its absolute path.
    pub path: String,
    /// What it takes.
    #[ts(type = "number")]
    pub bytes: u64,
}

/// A copy of the home, looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct CopyLook {
    /// The folder it is in.
    pub path: String,
    /// When it was made, as far as that can be told.
    #[ts(type = "number | null")]
    pub at: Option<Millis>,
    /// The version of the Octo that made it; none where the copy does not say.
    pub octo: Option<String>,
    /// How many sessions are in it, those in the trash counted.
    #[ts(type = "number")]
    pub sessions: u64,
    /// Its files.
    #[ts(type = "number")]
    pub files: u64,
    /// Their bytes.
    #[ts(type = "number")]
    pub bytes: u64,
}

/// What became of deleting a home that was put aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct KeptHomeDropped {
    /// What is still in it, by name: what Octo did not put there, and what could not be deleted.
    pub left: Vec<String>,
    /// As it is now.
    pub state: ResidenceState,
}
