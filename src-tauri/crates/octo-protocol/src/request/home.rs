//! Requests about Octo's home and its state.

use super::{Call, Request};
use crate::{Diagnostics, DiagnosticsId, HomeBackup, HomeErased, HomeSizes, SavedFile};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

super::domain! {
    /// Requests about Octo's home and its state.
    HomeRequest in Home, HomeReplies {
        /// What the home takes, part by part.
        MeasureHome {} -> HomeSizes;
        /// Copy the home into a new folder: the database as of one moment, and the files. Keys stay in the keychain.
        BackUpHome {
            /// The absolute folder to make that folder in; it must not lie in the home.
            to: String,
        } -> HomeBackup;
        /// End everything and delete it: every session, setting, skill, memory and key. There is no way back, and
        /// this Octo answers nothing afterwards.
        EraseHome {
            /// The home's absolute path, as [`crate::About`] says it: nothing is deleted by mistake.
            confirm: String,
        } -> HomeErased;
        /// Make a report of the state, to be looked at. Nothing is written.
        MakeDiagnostics {} -> Diagnostics;
        /// Write a report that was looked at.
        SaveDiagnostics {
            /// Which.
            id: DiagnosticsId,
            /// The absolute folder to write it into.
            to: String,
        } -> SavedFile;
    }
}
