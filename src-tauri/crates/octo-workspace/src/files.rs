//! [`Files`]: the capability to read and write files, and the only way to write them.

mod closed;
mod error;
mod ledger;
mod write;

pub use closed::{Closed, ClosedPaths};
pub use error::{Access, FilesError};
pub use ledger::ReadLedger;
pub use write::{FileState, WriteReport};

use crate::{Recorder, Unfinished, is_inside, is_secret, paths};
use ledger::Stamp;
use std::{
    fs::{self, File, Metadata},
    io::Read,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

/// What may be touched without asking. All paths real (see [`crate::resolve`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The session's folder: readable and writable.
    pub folder: PathBuf,
    /// Further folders below which files may be read.
    pub readable: Vec<PathBuf>,
    /// Further folders below which files may be read and written: the session's temporary folder.
    pub writable: Vec<PathBuf>,
}

/// The files of a session. Cheap to clone; clones share what the session has seen of its files.
///
/// Whatever a caller decided beforehand, every operation looks again, at the moment it happens, where its
/// path really leads, and refuses what is neither in the [`Scope`] nor granted. A file that usually holds
/// secrets ([`is_secret`]) or was closed as one ([`Files::closing`]) is refused even inside the scope unless it
/// was granted itself.
#[derive(Clone, Debug)]
pub struct Files {
    scope: Arc<Scope>,
    grants: Arc<Grants>,
    closed: Option<Arc<dyn ClosedPaths>>,
    seen: ReadLedger,
    recorder: Option<Recorder>,
    unfinished: Option<Unfinished>,
}

#[derive(Clone, Debug, Default)]
struct Grants {
    reads: Vec<PathBuf>,
    writes: Vec<PathBuf>,
    person: ForPerson,
}

/// Whether what is read goes to the person only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ForPerson {
    #[default]
    No,
    Yes,
}

/// What kind of thing a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// An ordinary file.
    File,
    /// A folder.
    Folder,
    /// A device, pipe or socket.
    Special,
}

/// What is known of a file without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStat {
    /// What it is.
    pub kind: FileKind,
    /// Its length in bytes.
    pub len: u64,
    /// When it was last changed, where the system knows.
    pub modified: Option<SystemTime>,
}

/// A folder's entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Folders first, then files, each sorted by name; cut at the asked limit.
    pub entries: Vec<ListEntry>,
    /// Folders in all.
    pub folders: usize,
    /// Everything else in all.
    pub files: usize,
}

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListEntry {
    /// Its name, bytes that are not text replaced.
    pub name: String,
    /// Whether it is a folder. A link to a folder is not.
    pub kind: FileKind,
}

impl Files {
    /// The files of a session with nothing granted beyond the scope.
    pub fn new(scope: Scope) -> Self {
        Self {
            scope: Arc::new(scope),
            grants: Arc::default(),
            closed: None,
            seen: ReadLedger::default(),
            recorder: None,
            unfinished: None,
        }
    }

    /// The same files without what is closed: neither opened nor found by a search, wherever it lies.
    pub fn closing(&self, closed: Arc<dyn ClosedPaths>) -> Self {
        Self { closed: Some(closed), ..self.clone() }
    }

    /// The same files, with the state of everything recorded before it is changed. What cannot be recorded is
    /// not changed.
    pub fn recording(&self, recorder: Recorder) -> Self {
        Self { recorder: Some(recorder), ..self.clone() }
    }

    /// The same files, with every temporary file noted, so that one a kill leaves behind is taken away later.
    pub fn noting(&self, unfinished: Unfinished) -> Self {
        Self { unfinished: Some(unfinished), ..self.clone() }
    }

    /// The same files with `reads` (each path and what lies below it) and `writes` (exactly these paths,
    /// also readable) permitted too: what was allowed for one call.
    pub fn granting(&self, reads: &[PathBuf], writes: &[PathBuf]) -> Self {
        let mut grants = (*self.grants).clone();
        grants.reads.extend_from_slice(reads);
        grants.writes.extend_from_slice(writes);
        Self { grants: Arc::new(grants), ..self.clone() }
    }

    /// The same files, able to read everything that is not denied and write nothing: for what is shown to the
    /// person who is asked (the difference a change would make), and never to the model.
    pub fn for_person(&self) -> Self {
        let person = Grants { person: ForPerson::Yes, ..Grants::default() };
        Self { grants: Arc::new(person), ..self.clone() }
    }

    /// The session's folder.
    pub fn folder(&self) -> &Path {
        &self.scope.folder
    }

    /// Whether the path lies in the session's folder or its writable folders, secret or not.
    pub fn in_writable_scope(&self, path: &Path) -> bool {
        self.writable_roots().any(|root| is_inside(root, path))
    }

    /// Whether the path lies where this session may read without asking, secret or not.
    pub fn in_readable_scope(&self, path: &Path) -> bool {
        self.in_writable_scope(path) || self.scope.readable.iter().any(|root| is_inside(root, path))
    }

    fn writable_roots(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(&self.scope.folder).chain(&self.scope.writable).map(PathBuf::as_path)
    }

    /// What is said about a real path, whether by its name or by who closed it.
    pub(crate) fn closed(&self, path: &Path) -> Closed {
        match self.closed.as_ref().map_or(Closed::No, |closed| closed.closed(path)) {
            Closed::No if is_secret(path) => Closed::Secret,
            said => said,
        }
    }

    /// Where `path` really leads now, if it may be read.
    pub fn check_read(&self, path: &Path) -> Result<PathBuf, FilesError> {
        let real = paths::real(path)?;
        let closed = self.closed(&real);
        if closed == Closed::Denied {
            return Err(FilesError::Closed { path: real });
        }
        let granted = self.grants.person == ForPerson::Yes
            || self.grants.writes.iter().any(|grant| paths::is_same(grant, &real))
            || self.grants.reads.iter().any(|grant| {
                // Who granted a secret folder meant what is in it.
                paths::is_same(grant, &real)
                    || (is_inside(grant, &real) && (closed == Closed::No || self.closed(grant) != Closed::No))
            });
        if granted || (self.in_readable_scope(&real) && closed == Closed::No) {
            return Ok(real);
        }
        Err(FilesError::Outside { path: real, access: Access::Read })
    }

    /// Where `path` really leads now, if it may be written.
    pub fn check_write(&self, path: &Path) -> Result<PathBuf, FilesError> {
        let real = paths::real(path)?;
        let closed = self.closed(&real);
        if closed == Closed::Denied {
            return Err(FilesError::Closed { path: real });
        }
        let granted = self.grants.writes.iter().any(|grant| paths::is_same(grant, &real));
        let in_scope =
            self.grants.person == ForPerson::No && self.in_writable_scope(&real) && closed == Closed::No;
        if granted || in_scope {
            return Ok(real);
        }
        Err(FilesError::Outside { path: real, access: Access::Write })
    }

    /// What the path is.
    pub fn stat(&self, path: &Path) -> Result<FileStat, FilesError> {
        let path = self.check_read(path)?;
        let meta = fs::metadata(&path).map_err(|error| self.failed(&path, Access::Read, &error))?;
        Ok(FileStat { kind: kind(&meta), len: meta.len(), modified: meta.modified().ok() })
    }

    /// The whole content of an ordinary file of at most `limit` bytes. The session has seen it then.
    pub fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, FilesError> {
        let (content, path, meta) = self.content(path, limit)?;
        if self.grants.person == ForPerson::No {
            self.seen.note(&path, Stamp::new(&meta, Some(&content)));
        }
        Ok(content)
    }

    /// The content of a file that is about to be changed: as [`Files::read`], but refused with
    /// [`FilesError::Changed`] when the file is no longer what the session saw last. What the change is made of is
    /// what it then must still be when it is written.
    pub fn read_to_change(&self, path: &Path, limit: u64) -> Result<Vec<u8>, FilesError> {
        let (content, path, meta) = self.content(path, limit)?;
        let hash = blake3::hash(&content);
        if !self.seen.is_current(&path, &meta, hash) {
            return Err(FilesError::Changed { path });
        }
        if self.grants.person == ForPerson::No {
            self.seen.note(&path, Stamp::of_hash(&meta, hash));
        }
        Ok(content)
    }

    fn content(&self, path: &Path, limit: u64) -> Result<(Vec<u8>, PathBuf, Metadata), FilesError> {
        let (file, path, meta) = self.open_file(path)?;
        if meta.len() > limit {
            return Err(FilesError::TooLarge { path, len: meta.len(), limit });
        }
        let mut content = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or_default());
        // The length may be wrong (a file of /proc) or grow meanwhile: the limit holds all the same.
        file.take(limit.saturating_add(1))
            .read_to_end(&mut content)
            .map_err(|error| self.failed(&path, Access::Read, &error))?;
        let len = content.len() as u64;
        if len > limit {
            return Err(FilesError::TooLarge { path, len, limit });
        }
        Ok((content, path, meta))
    }

    /// An ordinary file for reading in pieces. The session counts as having seen it as it is now.
    pub fn open(&self, path: &Path) -> Result<(File, FileStat), FilesError> {
        let (file, path, meta) = self.open_file(path)?;
        if self.grants.person == ForPerson::No {
            self.seen.note(&path, Stamp::new(&meta, None));
        }
        Ok((file, FileStat { kind: FileKind::File, len: meta.len(), modified: meta.modified().ok() }))
    }

    /// The entries of a folder, at most `limit` of them kept.
    pub fn list(&self, path: &Path, limit: usize) -> Result<Listing, FilesError> {
        let path = self.check_read(path)?;
        let meta = fs::metadata(&path).map_err(|error| self.failed(&path, Access::Read, &error))?;
        if !meta.is_dir() {
            return Err(FilesError::NotFolder { path });
        }
        let entries = fs::read_dir(&path).map_err(|error| self.failed(&path, Access::Read, &error))?;
        let (mut folders, mut files) = (FirstNames::new(limit), FirstNames::new(limit));
        for entry in entries {
            let entry = entry.map_err(|error| self.failed(&path, Access::Read, &error))?;
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
        Ok(Listing { entries, folders: folder_count, files: file_count })
    }

    fn open_file(&self, path: &Path) -> Result<(File, PathBuf, Metadata), FilesError> {
        let path = self.check_read(path)?;
        // Looked at before it is opened: opening a pipe would wait for its other end.
        let meta = fs::metadata(&path).map_err(|error| self.failed(&path, Access::Read, &error))?;
        self.must_be_file(&path, &meta)?;
        let file = File::open(&path).map_err(|error| self.failed(&path, Access::Read, &error))?;
        let meta = file.metadata().map_err(|error| self.failed(&path, Access::Read, &error))?;
        self.must_be_file(&path, &meta)?;
        Ok((file, path, meta))
    }

    fn must_be_file(&self, path: &Path, meta: &Metadata) -> Result<(), FilesError> {
        match kind(meta) {
            FileKind::File => Ok(()),
            FileKind::Folder => Err(FilesError::IsFolder { path: path.to_owned() }),
            FileKind::Special => Err(FilesError::Special { path: path.to_owned() }),
        }
    }

    /// The error, or the reason behind it: everything in the session's folder is missing when the folder is.
    fn failed(&self, path: &Path, access: Access, error: &std::io::Error) -> FilesError {
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
        // Seldom enough that sorting costs little, often enough that a million names are never held.
        if self.entries.len() > 2 * self.limit + 1_024 {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        self.entries.truncate(self.limit);
    }

    fn finish(mut self) -> Vec<ListEntry> {
        self.cut();
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
