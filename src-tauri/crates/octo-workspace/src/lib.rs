//! Files: their paths and access rules, and reading, searching, comparing and writing them.
//!
//! * [`resolve`] returns the file a text names, links followed; [`is_inside`] and [`is_secret`] classify it.
//! * [`Files`] is the capability to read and write: the only way Octo changes a person's file.
//! * [`git_command`] makes every git command that Octo runs itself.
//! * [`glob`] and [`grep`] search; [`diff`] compares; [`Blobs`] stores content under its hash, [`Archives`]
//!   stores messages that left a model's view, [`Outputs`] stores long tool results.
//! * [`TimeMachine`] records the changes of every turn to files, and restores the end of any turn.
//! * [`measure_home`], [`copy_home`] and [`erase_home`] work on Octo's home as a whole; [`HomeLocation`] is its
//!   location, and [`settle`] carries out a planned change of it at startup.
//! * [`HomePaths`] says where things are in it; [`TemporaryFolders`] are outside it.
//! * [`UnfinishedWrites`] notes temporary files in the person's folders, and removes those a killed process left.
//! * [`Trash`] keeps deleted files; [`rm`] is the `rm` of a session's commands, which moves files there.

mod archives;
mod blobs;
mod bundle;
mod diff;
mod expiry;
mod files;
mod flush;
mod git;
mod home;
mod home_location;
mod home_paths;
mod links;
mod outputs;
mod parallel;
mod paths;
mod private;
pub mod rm;
mod scripts;
mod search;
mod secrets;
mod temporary;
mod time;
mod trash;
mod unfinished;

pub use archives::Archives;
pub use blobs::{BlobError, BlobSweepReport, BlobTotals, Blobs, media_type};
pub use bundle::{BundleState, BundledFile, install_bundle};
pub use diff::diff;
pub use expiry::expired_files;
pub use files::{
    Access, ClosedPaths, FileKind, FileScope, FileStat, FileState, Files, FilesError, FolderListing,
    ListEntry, PathRestriction, ReadLedger, WriteReport,
};
pub use flush::FlushTiming;
pub use git::{
    DEFAULT_PATH, PersonalSettings, alters_git, git_answer, git_command, git_overrides, git_variables,
    trusted_path,
};
pub use home::{HomeCopy, copy_home, erase_home, measure_home};
pub use home_location::{
    CopyManifest, CopySummary, FORMER_HOME_INFIX, FormerHome, HOME_SIBLING_SUFFIXES, HomeAtStart,
    HomeAuthority, HomeChange, HomeLocation, HomePlanError, MOVED_NOTE, PendingHomePlan, cancel_plan,
    carry_out_home_plan, delete_former_home, erase_all, former_homes, inspect_copy, plan_move, plan_restore,
    write_copy_manifest,
};
pub use home_paths::{HomePaths, session_folder};
pub use links::linked_file;
pub use outputs::Outputs;
pub use paths::{PathError, display_path, is_inside, is_real_folder, resolve, resolve_links};
pub use private::{PrivateDraft, private_folder, write_draft, write_private};
pub use scripts::{ScriptInstallOutcome, Scripts, ShippedScript};
pub use search::{
    CaseSensitivity, FileHits, GlobMatches, GlobQuery, GrepMatches, GrepQuery, ReachedLimit, SearchError,
    SkippedFiles, glob, glob_base, grep,
};
pub use secrets::is_secret;
pub use temporary::{TemporaryFolder, TemporaryFolders};
pub use time::{
    ChangeRecorder, RecordOutcome, RecoveredRestore, RecoveryOutcome, RestorePlan, RestoreSelection,
    RunningCommand, StepId, TimeError, TimeLimits, TimeMachine,
};
pub use trash::{
    DeleteRefusal, ItemPreview, ItemProperties, MAX_COPY_BYTES, MAX_COPY_FILES, OccupyingItem, PendingEntry,
    Removal, RestoredItem, TakenNamePolicy, Trash, TrashError, TrashScan, TrashSlip, path_bytes, path_of,
};
pub use unfinished::UnfinishedWrites;
