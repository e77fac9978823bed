//! Octo's home as the person sees it: what is in it, copies of it, its end, and a report of its state.

use crate::{ApiError, DiagnosticsId, Millis};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A part of the home.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum HomePart {
    /// The database: sessions, settings, usage.
    Database,
    /// Pictures and files that were attached, and earlier contents of files.
    Blobs,
    /// The trash.
    Trash,
    /// Long results, archives of conversations and what commands wrote.
    Outputs,
    /// Skills, the person's and Octo's own.
    Skills,
    /// Memories, SOUL.md, USER.md and profiles.
    Memories,
    /// Logs and crash reports.
    Logs,
    /// Copies of the database, of the last days and from before updates.
    Backups,
    /// The profile of the browser Octo starts by itself, and what the window keeps.
    Browser,
    /// The person's own rules, hooks, presets and tasks.
    Configuration,
    /// What Octo does not know.
    Other,
}

/// What a part of the home takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct HomePartSize {
    /// Which.
    pub part: HomePart,
    /// Its bytes.
    #[ts(type = "number")]
    pub bytes: u64,
    /// Its files.
    #[ts(type = "number")]
    pub files: u64,
}

/// What the home takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct HomeSizes {
    /// Its absolute path.
    pub path: String,
    /// The parts that are there, the largest first.
    pub parts: Vec<HomePartSize>,
    /// All their bytes.
    #[ts(type = "number")]
    pub bytes: u64,
    /// How many sessions are in the database, those in the trash counted.
    #[ts(type = "number")]
    pub sessions: u64,
    /// How many models are connected.
    pub models: u32,
}

/// A copy of the home.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct HomeBackup {
    /// The folder it is in.
    pub path: String,
    /// Its files.
    #[ts(type = "number")]
    pub files: u64,
    /// Their bytes.
    #[ts(type = "number")]
    pub bytes: u64,
    /// Files that could not be read, by their paths in the home.
    pub missing: Vec<String>,
}

/// What became of deleting everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct HomeErased {
    /// What is still in the home, by name: what Octo did not put there, and what could not be deleted.
    pub left: Vec<String>,
    /// Why keys are still in the keychain, where they are.
    pub keys: Option<ApiError>,
}

/// What can take the place of a database that is damaged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct DatabaseDamage {
    /// The newest backup that is whole; none where there is none.
    pub backup: Option<DatabaseBackup>,
}

/// A copy of the database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct DatabaseBackup {
    /// Its absolute path.
    pub path: String,
    /// When it was made.
    #[ts(type = "number")]
    pub at: Millis,
    /// How many sessions are in it, those in the trash counted.
    #[ts(type = "number")]
    pub sessions: u64,
}

/// A damaged database that was set aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct DatabaseReplaced {
    /// Where it is now; its logs are beside it.
    pub aside: String,
}

/// A report of this Octo's state, for whoever looks into a fault. Nothing is sent anywhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Diagnostics {
    /// What it is called when it is saved; good until Octo ends or another one is made.
    pub id: DiagnosticsId,
    /// When it was made.
    #[ts(type = "number")]
    pub at: Millis,
    /// Its parts: all that is saved, word for word.
    pub parts: Vec<DiagnosticsPart>,
}

/// A part of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct DiagnosticsPart {
    /// What it is about.
    pub about: DiagnosticsAbout,
    /// Its text.
    pub text: String,
}

/// What a part of a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum DiagnosticsAbout {
    /// Version and system.
    System,
    /// Whether the database, the keychain and the browser are well.
    Checks,
    /// The settings, without secrets, folders and words of the person's.
    Settings,
    /// The last lines of the newest log, with paths and whatever looks like a secret taken out.
    Log,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SavedFile {
    /// Its absolute path.
    pub path: String,
}
