//! Requests about a damaged database. No Octo runs in its home, so the program that tried to start it sends its
//! requests here.

use crate::reply::json;
use octo_protocol::{ApiError, DatabaseBackup, DatabaseDamage, DatabaseReplacement, ErrorCode, HomeRequest};
use octo_runtime::blocking;
use octo_store::{ReplaceError, Replacement, replace_damaged, sound_backup};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Carries out a request for a home in which Octo did not start because of `error`: about a replacement for a
/// damaged database, and the replacement.
///
/// # Errors
/// `error` for anything else.
pub async fn request_of_damaged(
    home: PathBuf,
    request: HomeRequest,
    error: ApiError,
) -> Result<Value, ApiError> {
    match request {
        HomeRequest::InspectDamage(_) if is_damage(&error) => {
            json(blocking(move || Ok(inspect_damage(&home))).await?)
        }
        HomeRequest::ReplaceDatabase(call) if is_damage(&error) => {
            json(blocking(move || Ok(replace_database(&home, call.backup.map(PathBuf::from))?)).await?)
        }
        _ => Err(error),
    }
}

/// A database that could be opened must not be replaced.
pub(super) fn not_damaged() -> ApiError {
    ReplaceError::Sound.into()
}

fn is_damage(error: &ApiError) -> bool {
    error.code == Some(ErrorCode::Damaged)
}

fn inspect_damage(home: &Path) -> DatabaseDamage {
    let backup = sound_backup(home).map(|backup| DatabaseBackup {
        path: backup.path.display().to_string(),
        at: backup.at,
        sessions: backup.sessions,
    });
    DatabaseDamage { backup }
}

fn replace_database(home: &Path, backup: Option<PathBuf>) -> Result<DatabaseReplacement, ReplaceError> {
    let replacement = match backup {
        None => Replacement::Empty,
        // Only the inspected backup: no other file becomes the database.
        Some(path) => match sound_backup(home) {
            Some(sound) if sound.path == path => Replacement::Backup(path),
            Some(_) | None => return Err(ReplaceError::NoBackup(path)),
        },
    };
    let stamp = jiff::Zoned::now().strftime("%Y-%m-%d-%H%M%S").to_string();
    let set_aside = replace_damaged(home, &replacement, &stamp)?;
    tracing::warn!(aside = %set_aside.display(), ?replacement, "the damaged database was replaced, as the person asked");
    Ok(DatabaseReplacement { aside: set_aside.display().to_string() })
}
