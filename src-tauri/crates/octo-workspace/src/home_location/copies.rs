//! Inspects a copy of the home.

use super::{HomePlanError, tree};
use crate::write_private;
use octo_protocol::Millis;
use octo_store::{OpenError, inspect};
use serde::{Deserialize, Serialize};
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

/// The file in a copy that describes it.
const NOTE: &str = "octo-copy.json";

/// The description a copy contains of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyManifest {
    /// The Octo version that made it.
    pub octo: String,
    /// The time it was made.
    pub at: Millis,
    /// The number of its files, not counting this one.
    pub files: u64,
    /// Their total size in bytes.
    pub bytes: u64,
}

/// The content of a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopySummary {
    /// The folder, without links.
    pub path: PathBuf,
    /// The time it was made: from its own description, else the time its database was last written.
    pub at: Option<Millis>,
    /// The Octo version that made it; `None` for a copy without a description (from early versions, or made by
    /// hand).
    pub octo: Option<String>,
    /// The number of sessions in it, including those in the trash.
    pub sessions: u64,
    /// The number of its files.
    pub files: u64,
    /// Their total size in bytes.
    pub bytes: u64,
}

/// Writes the description into a copy that was just made.
///
/// # Errors
///
/// I/O errors.
pub fn write_copy_manifest(copy: &Path, octo: &str, time: Millis) -> io::Result<()> {
    let amount = tree::measure(copy, &|name| name == NOTE).map_err(io::Error::other)?;
    let manifest = CopyManifest { octo: octo.to_owned(), at: time, files: amount.files, bytes: amount.bytes };
    write_private(&copy.join(NOTE), &serde_json::to_vec_pretty(&manifest)?)
}

/// Reads a copy through: its whole database, and the number and size of its files. Writes nothing.
///
/// # Errors
///
/// [`HomePlanError::NoCopy`], [`HomePlanError::Copy`] for a copy that is damaged or from a newer Octo,
/// [`HomePlanError::Incomplete`].
pub fn inspect_copy(copy: &Path) -> Result<CopySummary, HomePlanError> {
    let path = crate::resolve_links(copy).ok().filter(|path| path.is_dir());
    let path = path.ok_or_else(|| HomePlanError::NoCopy(copy.to_owned()))?;
    let database = path.join("octo.db");
    if !database.is_file() {
        return Err(HomePlanError::NoCopy(path));
    }
    let inspected = inspect(&database)?;
    let manifest = read_note(&path)?;
    let found = tree::measure(&path, &|name| name == NOTE)?;
    if let Some(manifest) =
        manifest.as_ref().filter(|manifest| (manifest.files, manifest.bytes) != (found.files, found.bytes))
    {
        // Extra files do no harm; fewer files or bytes mean loss.
        if found.files < manifest.files || found.bytes < manifest.bytes {
            return Err(HomePlanError::Incomplete { path, expected: manifest.files, found: found.files });
        }
    }
    let modified_time = || {
        let modified = database.metadata().and_then(|meta| meta.modified()).ok()?;
        Millis::try_from(modified.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
    };
    Ok(CopySummary {
        at: manifest.as_ref().map(|manifest| manifest.at).or_else(modified_time),
        octo: manifest.map(|manifest| manifest.octo),
        sessions: inspected.sessions,
        files: found.files,
        bytes: found.bytes,
        path,
    })
}

fn read_note(copy: &Path) -> Result<Option<CopyManifest>, HomePlanError> {
    let path = copy.join(NOTE);
    let damaged =
        |detail: String| HomePlanError::Copy(OpenError::Damaged { path: path.clone(), backup: None, detail });
    match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| damaged(error.to_string())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(damaged(error.to_string())),
    }
}

/// Whether a file in a copy or a home is left out of a home made from it: notes about the folder itself, and
/// files of one running process.
pub(super) fn is_folder_local(name: &str) -> bool {
    matches!(name, NOTE | "README.txt" | "octo.lock" | "octo.db-shm") || name == super::MOVED_NOTE
}
