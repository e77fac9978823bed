//! [`Files`]: the capability to read and write files, and the only way to write them.

mod closed;
mod error;
mod ledger;
mod write;

pub use closed::{ClosedPaths, PathRestriction};
pub use error::{Access, FilesError};
pub use ledger::ReadLedger;
pub use write::{FileState, WriteReport};

use crate::{
    ChangeRecorder, UnfinishedWrites, is_inside, is_secret, paths,
    time::{DiskEntry, Folder},
};
use ledger::SeenFileStamp;
use std::{
    fs::{self, File, Metadata},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

/// The paths that may be accessed without asking. All are real paths (see [`crate::resolve`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileScope {
    /// The session's folder: readable and writable.
    pub folder: PathBuf,
    /// More folders below which files may be read.
    pub readable: Vec<PathBuf>,
    /// More folders below which files may be read and written: the session's temporary folder.
    pub writable: Vec<PathBuf>,
}

/// The files of a session. Cheap to clone; clones share the record of files the session has read.
///
/// Regardless of earlier decisions, every operation resolves its path again when it runs, and refuses a path
/// that is neither in the [`FileScope`] nor granted. A file that usually contains secrets ([`is_secret`]) or was
/// closed as one ([`Files::with_closed_paths`]) is refused even inside the scope unless the grant names it.
#[derive(Clone, Debug)]
pub struct Files {
    scope: Arc<FileScope>,
    grants: Arc<FileGrants>,
    closed: Option<Arc<dyn ClosedPaths>>,
    ledger: ReadLedger,
    recorder: Option<ChangeRecorder>,
    unfinished: Option<UnfinishedWrites>,
}

#[derive(Clone, Debug, Default)]
struct FileGrants {
    reads: Vec<PathBuf>,
    writes: Vec<PathBuf>,
    person: PersonOnly,
}

/// Whether the content read is shown to the person only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PersonOnly {
    #[default]
    No,
    Yes,
}

/// The kind of file system object at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// An ordinary file.
    File,
    /// A folder.
    Folder,
    /// A device, pipe or socket.
    Special,
}

/// Metadata of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStat {
    /// Its kind.
    pub kind: FileKind,
    /// Its length in bytes.
    pub len: u64,
    /// The time of its last change, or `None` if the system does not know.
    pub modified: Option<SystemTime>,
}

/// A folder's entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderListing {
    /// Folders first, then files, each sorted by name; cut at the requested limit.
    pub entries: Vec<ListEntry>,
    /// The total number of folders.
    pub folders: usize,
    /// The total number of other entries.
    pub files: usize,
}

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListEntry {
    /// Its name, with bytes that are not text replaced.
    pub name: String,
    /// Its kind. A link to a folder does not count as a folder.
    pub kind: FileKind,
}

impl Files {
    /// Returns the files of a session without grants outside the scope.
    pub fn new(scope: FileScope) -> Self {
        Self {
            scope: Arc::new(scope),
            grants: Arc::default(),
            closed: None,
            ledger: ReadLedger::default(),
            recorder: None,
            unfinished: None,
        }
    }

    /// Returns these files without the closed paths: they cannot be opened, and no search finds them, wherever
    /// they are.
    pub fn with_closed_paths(&self, closed: Arc<dyn ClosedPaths>) -> Self {
        Self { closed: Some(closed), ..self.clone() }
    }

    /// Returns these files with a recorder, which stores the state of each file before a change. A file that
    /// cannot be recorded is not changed.
    pub fn with_recorder(&self, recorder: ChangeRecorder) -> Self {
        Self { recorder: Some(recorder), ..self.clone() }
    }

    /// Returns these files with every temporary file noted: a file left by a killed process is removed later.
    pub fn with_write_notes(&self, unfinished: UnfinishedWrites) -> Self {
        Self { unfinished: Some(unfinished), ..self.clone() }
    }

    /// Returns these files with `reads` (each path and everything below it) and `writes` (exactly these paths,
    /// also readable) permitted too: the grants of one call.
    pub fn with_grants(&self, reads: &[PathBuf], writes: &[PathBuf]) -> Self {
        let mut grants = (*self.grants).clone();
        grants.reads.extend_from_slice(reads);
        grants.writes.extend_from_slice(writes);
        Self { grants: Arc::new(grants), ..self.clone() }
    }

    /// Returns these files with permission to read everything except denied paths and to write nothing. The
    /// content (the diff of a change) is shown to the person who is asked, never to the model.
    pub fn for_person(&self) -> Self {
        let person = FileGrants { person: PersonOnly::Yes, ..FileGrants::default() };
        Self { grants: Arc::new(person), ..self.clone() }
    }

    /// The session's folder.
    pub fn folder(&self) -> &Path {
        &self.scope.folder
    }

    /// Whether the path is in the session's folder or its writable folders, secret or not.
    pub fn in_writable_scope(&self, path: &Path) -> bool {
        self.writable_roots().any(|root| is_inside(root, path))
    }

    /// Whether this session may read the path without asking, ignoring secrecy.
    pub fn in_readable_scope(&self, path: &Path) -> bool {
        self.in_writable_scope(path) || self.scope.readable.iter().any(|root| is_inside(root, path))
    }

    fn writable_roots(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(&self.scope.folder).chain(&self.scope.writable).map(PathBuf::as_path)
    }

    /// Returns the restriction of a real path, by its name or by the person's rules.
    pub(crate) fn restriction(&self, path: &Path) -> PathRestriction {
        match self.closed.as_ref().map_or(PathRestriction::No, |closed| closed.restriction(path)) {
            PathRestriction::No if is_secret(path) => PathRestriction::Secret,
            restriction => restriction,
        }
    }

    /// Resolves `path` now and checks that it may be read.
    pub fn check_read(&self, path: &Path) -> Result<PathBuf, FilesError> {
        let resolved = paths::resolve_links(path)?;
        let closed = self.restriction(&resolved);
        if closed == PathRestriction::Denied {
            return Err(FilesError::Closed { path: resolved });
        }
        let granted = self.grants.person == PersonOnly::Yes
            || self.grants.writes.iter().any(|grant| paths::is_same(grant, &resolved))
            || self.grants.reads.iter().any(|grant| {
                // A grant for a secret folder includes its content.
                paths::is_same(grant, &resolved)
                    || (is_inside(grant, &resolved)
                        && (closed == PathRestriction::No || self.restriction(grant) != PathRestriction::No))
            });
        if granted || (self.in_readable_scope(&resolved) && closed == PathRestriction::No) {
            return Ok(resolved);
        }
        Err(FilesError::Outside { path: resolved, access: Access::Read })
    }

    /// Resolves `path` now and checks that it may be written.
    pub fn check_write(&self, path: &Path) -> Result<PathBuf, FilesError> {
        let resolved = paths::resolve_links(path)?;
        let closed = self.restriction(&resolved);
        if closed == PathRestriction::Denied {
            return Err(FilesError::Closed { path: resolved });
        }
        let granted = self.grants.writes.iter().any(|grant| paths::is_same(grant, &resolved));
        let in_scope = self.grants.person == PersonOnly::No
            && self.in_writable_scope(&resolved)
            && closed == PathRestriction::No;
        if granted || in_scope {
            return Ok(resolved);
        }
        Err(FilesError::Outside { path: resolved, access: Access::Write })
    }

    /// Returns the metadata of the path.
    pub fn stat(&self, path: &Path) -> Result<FileStat, FilesError> {
        let path = self.check_read(path)?;
        let meta = fs::metadata(&path).map_err(|error| self.access_error(&path, Access::Read, &error))?;
        Ok(FileStat { kind: kind(&meta), len: meta.len(), modified: meta.modified().ok() })
    }

    /// Returns the whole content of an ordinary file of at most `limit` bytes, and records that the session has
    /// seen it.
    pub fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, FilesError> {
        let (content, path, meta) = self.content(path, limit)?;
        if self.grants.person == PersonOnly::No {
            self.ledger.record(&path, SeenFileStamp::new(&meta, Some(&content)));
        }
        Ok(content)
    }

    /// Returns the content of a file that is about to be changed. Like [`Files::read`], but fails with
    /// [`FilesError::Changed`] if the file differs from the version the session saw last. The write later
    /// requires the content returned here.
    pub fn read_to_change(&self, path: &Path, limit: u64) -> Result<Vec<u8>, FilesError> {
        let (content, path, meta) = self.content(path, limit)?;
        let hash = blake3::hash(&content);
        if !self.ledger.is_current(&path, &meta, hash) {
            return Err(FilesError::Changed { path });
        }
        if self.grants.person == PersonOnly::No {
            self.ledger.record(&path, SeenFileStamp::of_hash(&meta, hash));
        }
        Ok(content)
    }

    fn content(&self, path: &Path, limit: u64) -> Result<(Vec<u8>, PathBuf, Metadata), FilesError> {
        let (file, path, meta) = self.open_file(path)?;
        if meta.len() > limit {
            return Err(FilesError::TooLarge { path, len: meta.len(), limit });
        }
        let mut content = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or_default());
        // The length may be wrong (a file in /proc) or grow meanwhile: the limit applies anyway.
        file.take(limit.saturating_add(1))
            .read_to_end(&mut content)
            .map_err(|error| self.access_error(&path, Access::Read, &error))?;
        let len = content.len() as u64;
        if len > limit {
            return Err(FilesError::TooLarge { path, len, limit });
        }
        Ok((content, path, meta))
    }

    /// Opens an ordinary file for reading in pieces. The session counts as having seen its present version.
    pub fn open(&self, path: &Path) -> Result<(File, FileStat), FilesError> {
        let (file, path, meta) = self.open_file(path)?;
        if self.grants.person == PersonOnly::No {
            self.ledger.record(&path, SeenFileStamp::new(&meta, None));
        }
        Ok((file, FileStat { kind: FileKind::File, len: meta.len(), modified: meta.modified().ok() }))
    }

    /// Returns the entries of a folder, at most `limit` of them.
    pub fn list(&self, path: &Path, limit: usize) -> Result<FolderListing, FilesError> {
        let path = self.check_read(path)?;
        let meta = fs::metadata(&path).map_err(|error| self.access_error(&path, Access::Read, &error))?;
        if !meta.is_dir() {
            return Err(FilesError::NotFolder { path });
        }
        let entries = fs::read_dir(&path).map_err(|error| self.access_error(&path, Access::Read, &error))?;
        let (mut folders, mut files) = (FirstNames::new(limit), FirstNames::new(limit));
        for entry in entries {
            let entry = entry.map_err(|error| self.access_error(&path, Access::Read, &error))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.add(ListEntry { name, kind: FileKind::Folder }),
                Ok(kind) if kind.is_file() || kind.is_symlink() => {
                    files.add(ListEntry { name, kind: FileKind::File });
                }
                _ => files.add(ListEntry { name, kind: FileKind::Special }),
            }
        }
        let (folder_count, file_count) = (folders.count, files.count);
        let mut entries = folders.finish();
        entries.append(&mut files.finish());
        entries.truncate(limit);
        Ok(FolderListing { entries, folders: folder_count, files: file_count })
    }

    fn open_file(&self, path: &Path) -> Result<(File, PathBuf, Metadata), FilesError> {
        let path = self.check_read(path)?;
        let failed = |error: &io::Error| self.access_error(&path, Access::Read, error);
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(FilesError::IsFolder { path });
        };
        // Opened without following links: a link that replaced a folder since the check leads nowhere.
        let entry = Folder::open(folder).and_then(|folder| folder.read_entry(name));
        match entry.map_err(|error| failed(&error))? {
            DiskEntry::File(file, _) => {
                let meta = file.metadata().map_err(|error| failed(&error))?;
                Ok((file, path, meta))
            }
            DiskEntry::Folder(_) => Err(FilesError::IsFolder { path }),
            DiskEntry::Special(_) => Err(FilesError::Special { path }),
            DiskEntry::Unreadable(_) => Err(FilesError::Denied { path, access: Access::Read }),
            DiskEntry::Absent => Err(failed(&io::ErrorKind::NotFound.into())),
            DiskEntry::Link(..) => Err(FilesError::Outside { path, access: Access::Read }),
        }
    }

    /// Returns the error, or its cause: if the session's folder is missing, everything in it is.
    fn access_error(&self, path: &Path, access: Access, error: &std::io::Error) -> FilesError {
        if error.kind() == std::io::ErrorKind::NotFound
            && is_inside(&self.scope.folder, path)
            && !self.scope.folder.is_dir()
        {
            return FilesError::FolderVanished { folder: self.scope.folder.clone() };
        }
        FilesError::from_io(path, access, error)
    }
}

/// The first entries by name of a folder of any size, in bounded memory.
struct FirstNames {
    entries: Vec<ListEntry>,
    count: usize,
    limit: usize,
}

impl FirstNames {
    fn new(limit: usize) -> Self {
        Self { entries: Vec::new(), count: 0, limit }
    }

    fn add(&mut self, entry: ListEntry) {
        self.count += 1;
        self.entries.push(entry);
        // Rarely enough to keep sorting cheap, often enough never to keep a million names in memory.
        if self.entries.len() > 2 * self.limit + 1_024 {
            self.truncate();
        }
    }

    fn truncate(&mut self) {
        self.entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        self.entries.truncate(self.limit);
    }

    fn finish(mut self) -> Vec<ListEntry> {
        self.truncate();
        self.entries
    }
}

fn kind(meta: &Metadata) -> FileKind {
    if meta.is_file() {
        FileKind::File
    } else if meta.is_dir() {
        FileKind::Folder
    } else {
        FileKind::Special
    }
}

#[cfg(test)]
mod tests;
