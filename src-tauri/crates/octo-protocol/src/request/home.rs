//! Requests about Octo's home and its state.

use super::{Call, Request};
use crate::{
    CopyLook, DatabaseDamage, DatabaseReplaced, Diagnostics, DiagnosticsId, HomeBackup, HomeErased,
    HomeSizes, KeptHomeDropped, ResidenceState, SavedFile,
};
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
        /// Where the home is, what is planned for it, and what was put aside.
        GetResidence {} -> ResidenceState;
        /// Look at a copy of a home: it is read through, and nothing is changed.
        LookAtCopy {
            /// The absolute folder it is in.
            from: String,
        } -> CopyLook;
        /// Let a copy take the home's place at the next start. What it needs is made beside the home now; the present
        /// home is put aside whole. Keys are in no copy: those in the keychain stay as they are.
        RestoreHome {
            /// The absolute folder of the copy.
            from: String,
        } -> ResidenceState;
        /// Move the home at the next start. The present one is kept until the person deletes it.
        MoveHome {
            /// The absolute folder it goes into, which is there and empty.
            to: String,
        } -> ResidenceState;
        /// Do neither after all.
        CancelHomePlan {} -> ResidenceState;
        /// Delete a home that was put aside, for good.
        DropKeptHome {
            /// Its absolute path, as [`ResidenceState::kept`] says it.
            path: String,
        } -> KeptHomeDropped;
        /// What can take the place of the database, where it is damaged and this Octo did not start.
        LookAtDamage {} -> DatabaseDamage;
        /// Set the damaged database aside and put another in its place. Octo then starts with the next request.
        ReplaceDatabase {
            /// The backup that was looked at, by its absolute path; none for a database with nothing in it.
            backup: Option<String>,
        } -> DatabaseReplaced;
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
