//! The slip: the metadata of a trash entry, stored with it on disk.

use octo_protocol::{Millis, RemovedBy, SessionId, TrashId};
use serde::{Deserialize, Serialize};
use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

/// The format version of the slip.
const VERSION: u32 = 1;

/// The author and context of a deletion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Removal {
    /// The author.
    #[serde(rename = "who")]
    pub remover: RemovedBy,
    /// The session it happens in, if any.
    pub session: Option<SessionId>,
    /// The folder that session works in.
    pub project: Option<String>,
    /// The command that deletes.
    pub command: Option<String>,
}

/// The metadata of an item in the trash. Form, mode and size are read from its content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrashSlip {
    v: u32,
    /// Its id.
    pub id: TrashId,
    /// Its original path: absolute, with its parents' links followed.
    #[serde(with = "raw")]
    pub path: PathBuf,
    /// The time of deletion, in milliseconds since 1970.
    pub at: Millis,
    /// The author and context.
    pub removal: Removal,
    #[serde(rename = "how")]
    pub(super) method: MoveMethod,
}

/// The way an item moves into the trash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum MoveMethod {
    /// By a rename.
    Rename,
    /// By a copy; the original is then renamed to [`TrashSlip::aside_path`] and removed.
    Copy,
}

impl TrashSlip {
    pub(super) fn new(id: TrashId, path: PathBuf, removal: Removal, method: MoveMethod) -> Self {
        Self { v: VERSION, id, path, at: now(), removal, method }
    }

    /// Returns the path of a copied item's original once it may be removed.
    pub(super) fn aside_path(&self) -> PathBuf {
        self.path.with_file_name(format!(".octo-removing-{}", self.id))
    }

    /// Returns the item's name, as bytes.
    pub fn name(&self) -> OsString {
        self.path.file_name().map(OsString::from).unwrap_or_default()
    }
}

/// The result of opening a slip.
pub(super) enum SlipAccess {
    /// Another process works on the entry.
    Locked,
    /// The slip is missing or unreadable.
    Unreadable,
    /// The slip, with the lock that keeps other processes away.
    Read(Box<TrashSlip>, File),
}

impl SlipAccess {
    pub(super) fn of(entry: &Path) -> Self {
        let Ok(mut file) = File::open(entry.join("slip.json")) else { return Self::Unreadable };
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Self::Locked,
            // A file system without locks: the entry counts as free.
            Err(fs::TryLockError::Error(_)) => {}
        }
        let mut text = Vec::new();
        if file.read_to_end(&mut text).is_err() {
            return Self::Unreadable;
        }
        match serde_json::from_slice::<TrashSlip>(&text) {
            Ok(slip) if slip.v == VERSION => Self::Read(Box::new(slip), file),
            Ok(_) | Err(_) => Self::Unreadable,
        }
    }
}

/// Whether a process works on the entry.
pub(super) fn is_locked(entry: &Path) -> bool {
    matches!(SlipAccess::of(entry), SlipAccess::Locked)
}

/// Writes a slip into its folder and keeps it locked. It is flushed to disk when this returns.
pub(super) fn write(folder: &Path, slip: &TrashSlip) -> io::Result<File> {
    use std::io::Write;
    let mut file = File::options().create_new(true).write(true).open(folder.join("slip.json"))?;
    if let Err(fs::TryLockError::WouldBlock) = file.try_lock() {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    file.write_all(&serde_json::to_vec(slip)?)?;
    file.sync_data()?;
    Ok(file)
}

/// Returns the milliseconds since 1970.
pub(super) fn now() -> Millis {
    let elapsed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    elapsed.map_or(0, |elapsed| Millis::try_from(elapsed.as_millis()).unwrap_or(Millis::MAX))
}

/// A path in JSON: its text, or its bytes if it is not text.
pub(super) mod raw {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::path::{Path, PathBuf};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum RawPath {
        Text(String),
        Bytes(Vec<u8>),
    }

    pub(in crate::trash) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = match path.to_str() {
            Some(text) => RawPath::Text(text.to_owned()),
            None => RawPath::Bytes(super::super::path_bytes(path)),
        };
        raw.serialize(serializer)
    }

    pub(in crate::trash) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<PathBuf, D::Error> {
        Ok(match RawPath::deserialize(deserializer)? {
            RawPath::Text(text) => PathBuf::from(text),
            RawPath::Bytes(bytes) => super::super::path_of(bytes),
        })
    }
}
