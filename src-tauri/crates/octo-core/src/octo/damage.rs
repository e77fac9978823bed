//! Requests about a damaged database. No Octo runs in its home, so the program that tried to start it sends its
//! requests here.

use crate::reply::json;
use octo_protocol::{ApiError, DatabaseBackup, DatabaseDamage, DatabaseReplacement, ErrorCode, HomeRequest};
use octo_runtime::blocking;
use octo_store::{ReplaceError, Replacement, replace_damaged, sound_backup};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Carries out a request for a home in which Octo did not start because of `why`: about a replacement for a
/// damaged database, and the replacement.
///
/// # Errors
/// `why` for anything else.
pub async fn request_of_damaged(
    home: PathBuf,
    request: HomeRequest,
    why: ApiError,
) -> Result<Value, ApiError> {
    match request {
        HomeRequest::InspectDamage(_) if is_damage(&why) => json(blocking(move || Ok(look(&home))).await?),
        HomeRequest::ReplaceDatabase(call) if is_damage(&why) => {
            json(blocking(move || Ok(replace(&home, call.backup.map(PathBuf::from))?)).await?)
        }
        _ => Err(why),
    }
}

/// A database that could be opened must not be replaced.
pub(super) fn not_damaged() -> ApiError {
    ReplaceError::Sound.into()
}

fn is_damage(why: &ApiError) -> bool {
    why.code == Some(ErrorCode::Damaged)
}

fn look(home: &Path) -> DatabaseDamage {
    let backup = sound_backup(home).map(|found| DatabaseBackup {
        path: found.path.display().to_string(),
        at: found.at,
        sessions: found.sessions,
    });
    DatabaseDamage { backup }
}

fn replace(home: &Path, backup: Option<PathBuf>) -> Result<DatabaseReplacement, ReplaceError> {
    let with = match backup {
        None => Replacement::Empty,
        // Only the inspected backup: no other file becomes the database.
        Some(place) => match sound_backup(home) {
            Some(found) if found.path == place => Replacement::Backup(place),
            Some(_) | None => return Err(ReplaceError::NoBackup(place)),
        },
    };
    let stamp = jiff::Zoned::now().strftime("%Y-%m-%d-%H%M%S").to_string();
    let aside = replace_damaged(home, &with, &stamp)?;
    tracing::warn!(aside = %aside.display(), ?with, "the damaged database was replaced, as the person asked");
    Ok(DatabaseReplacement { aside: aside.display().to_string() })
}
