//! Requests about Octo's home and its state.

use super::{Request, TypedRequest};
use crate::{
    CopyInspection, DatabaseDamage, DatabaseReplacement, Diagnostics, DiagnosticsId, HomeBackup,
    HomeDeletion, HomeSizes, HomeState, OldHomeDeletion, SavedFile,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

super::domain! {
    /// Requests about Octo's home and its state.
    HomeRequest in Home, HomeReplies {
        /// Returns the disk usage of the home, part by part.
        MeasureHome {} -> HomeSizes;
        /// Copies the home into a new folder: the database as of one moment, and the files. Keys stay in the
        /// keychain.
        BackUpHome {
            /// The absolute folder in which to create that folder; it must not be inside the home.
            to: String,
        } -> HomeBackup;
        /// Stops everything and deletes it: every session, setting, skill, memory and key. This cannot be
        /// undone, and this Octo answers no further requests.
        EraseHome {
            /// The home's absolute path, as in [`crate::About`], to prevent an accidental deletion.
            confirm: String,
        } -> HomeDeletion;
        /// Returns the location of the home, the plan for its next start, and the old homes.
        GetHomeState as "get_residence" {} -> HomeState;
        /// Inspects a copy of a home: reads all of it, and changes nothing.
        InspectHomeCopy as "look_at_copy" {
            /// The absolute folder that contains it.
            from: String,
        } -> CopyInspection;
        /// Replaces the home with a copy at the next start. Octo prepares the copy next to the home now; it
        /// keeps the whole current home under another name. No copy contains keys: those in the keychain stay
        /// as they are.
        RestoreHome {
            /// The absolute folder of the copy.
            from: String,
        } -> HomeState;
        /// Moves the home at the next start. The current one is kept until the person deletes it.
        MoveHome {
            /// The absolute path of an existing, empty folder.
            to: String,
        } -> HomeState;
        /// Cancels the planned restore or move.
        CancelHomePlan {} -> HomeState;
        /// Permanently deletes an old home.
        DeleteOldHome as "drop_kept_home" {
            /// Its absolute path, as in [`HomeState::kept`].
            path: String,
        } -> OldHomeDeletion;
        /// Returns the replacements for the database, if it is damaged and this Octo did not start.
        InspectDamage as "look_at_damage" {} -> DatabaseDamage;
        /// Moves the damaged database away and replaces it. Octo then starts with the next request.
        ReplaceDatabase {
            /// The absolute path of the inspected backup; `None` for an empty database.
            backup: Option<String>,
        } -> DatabaseReplacement;
        /// Makes a diagnostic report for inspection. Writes nothing.
        MakeDiagnostics {} -> Diagnostics;
        /// Writes an inspected report to disk.
        SaveDiagnostics {
            /// The report.
            id: DiagnosticsId,
            /// The absolute folder to write to.
            to: String,
        } -> SavedFile;
    }
}
