//! Octo's home as the person sees it: its contents, copies, deletion, and a diagnostic report.

use crate::{ApiError, DiagnosticsId, Millis};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A part of the home.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum HomePart {
    /// The database: sessions, settings, usage.
    Database,
    /// Attached pictures and files, and earlier contents of files.
    Blobs,
    /// The trash.
    Trash,
    /// Long results, conversation archives and command output.
    Outputs,
    /// Skills, the person's and Octo's own.
    Skills,
    /// Memories, SOUL.md, USER.md and profiles.
    Memories,
    /// Logs and crash reports.
    Logs,
    /// Copies of the database: recent daily ones, and those from before updates.
    Backups,
    /// The profile of the browser Octo starts, and the window's own data.
    Browser,
    /// The person's own rules, hooks, presets and tasks.
    Configuration,
    /// Files unknown to Octo.
    Other,
}

/// The size of a part of the home.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct HomePartSize {
    /// The part.
    pub part: HomePart,
    /// Its bytes.
    #[ts(type = "number")]
    pub bytes: u64,
    /// The number of files.
    #[ts(type = "number")]
    pub files: u64,
}

/// The disk usage of the home.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct HomeSizes {
    /// Its absolute path.
    pub path: String,
    /// The existing parts, largest first.
    pub parts: Vec<HomePartSize>,
    /// The total size in bytes.
    #[ts(type = "number")]
    pub bytes: u64,
    /// The number of sessions in the database, including those in the trash.
    #[ts(type = "number")]
    pub sessions: u64,
    /// The number of connected models.
    pub models: u32,
}

/// A copy of the home.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct HomeBackup {
    /// The folder that contains it.
    pub path: String,
    /// Its files.
    #[ts(type = "number")]
    pub files: u64,
    /// The total size in bytes.
    #[ts(type = "number")]
    pub bytes: u64,
    /// Files that could not be read, as paths in the home.
    pub missing: Vec<String>,
}

/// The result of deleting the home.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct HomeDeletion {
    /// Names still in the home: files Octo did not create, and files it could not delete.
    pub left: Vec<String>,
    /// Why keys remain in the keychain, if any do.
    pub keys: Option<ApiError>,
}

/// The replacements available for a damaged database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct DatabaseDamage {
    /// The newest intact backup; `None` if there is none.
    pub backup: Option<DatabaseBackup>,
}

/// A copy of the database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct DatabaseBackup {
    /// Its absolute path.
    pub path: String,
    /// When it was made.
    #[ts(type = "number")]
    pub at: Millis,
    /// The number of sessions in it, including those in the trash.
    #[ts(type = "number")]
    pub sessions: u64,
}

/// A damaged database that Octo moved away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct DatabaseReplacement {
    /// Its new path; its logs are in the same folder.
    pub aside: String,
}

/// A diagnostic report on this Octo, for investigating a fault. Octo sends it nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct Diagnostics {
    /// The id for saving it; valid until Octo ends or another report is made.
    pub id: DiagnosticsId,
    /// When it was made.
    #[ts(type = "number")]
    pub at: Millis,
    /// Its parts: the exact text that is saved.
    pub parts: Vec<DiagnosticsPart>,
}

/// A part of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct DiagnosticsPart {
    /// The subject.
    pub about: DiagnosticsAbout,
    /// Its text.
    pub text: String,
}

/// The subject of a part of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum DiagnosticsAbout {
    /// Version and system.
    System,
    /// The health of the database, the keychain and the browser.
    Checks,
    /// The settings, without secrets, folders and the person's own words.
    Settings,
    /// The last lines of the newest log, without paths and anything that looks like a secret.
    Log,
}

/// A file Octo wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SavedFile {
    /// Its absolute path.
    pub path: String,
}
