//! Blobs: content kept under its own hash.

mod sweep;

pub use sweep::{Kept, Swept};

use octo_protocol::BlobHash;
use std::{
    fs::{self, File},
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};
use tempfile::NamedTempFile;

/// Content kept under the BLAKE3 hash of its bytes, in `ab/cd…` below one folder. Writing the same content
/// twice keeps it once. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Blobs {
    root: PathBuf,
    /// Files that were put and not flushed yet.
    unflushed: Arc<Mutex<Vec<PathBuf>>>,
}

/// Why a blob cannot be kept or given.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// The text is not a hash: 64 lower-case hex digits.
    #[error("not a blob's hash")]
    NotAHash,
    /// There is no such blob.
    #[error("blob {0} is missing")]
    Missing(String),
    /// The bytes on disk are not those the name stands for.
    #[error("blob {0} is damaged")]
    Damaged(String),
    /// What was to be kept is larger than asked for, or did not stop changing.
    #[error("the file changed while it was read")]
    Changed,
    /// The system says no.
    #[error("blob: {0}")]
    Io(#[from] io::Error),
}

/// When what is put has to be on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// When the call returns.
    Now,
    /// When [`Blobs::flush`] returns: for many at once, where a flush for each would take minutes.
    Later,
}

/// Content up to this length is read whole, so that it is read from its file once.
const SMALL: u64 = 1 << 20;

/// Up to so many files are flushed one by one. Flushing the whole file system costs less for more of them, but
/// waits for everything others are writing, too.
const ONE_BY_ONE: usize = 256;

/// How long a blob nobody refers to yet is safe from collection. The reference follows within seconds; an
/// hour covers a machine that sleeps in between.
pub(crate) const GRACE: Duration = Duration::from_secs(3_600);

/// What the name of a blob begins with until it is whole.
const HALF: &str = ".blob-";

impl Blobs {
    /// The blobs below `root` (`blobs/` of the home); the folder is created with the first blob.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), unflushed: Arc::default() }
    }

    /// Keeps the bytes and gives their name. They are on the disk when this returns.
    pub fn put(&self, bytes: &[u8]) -> Result<BlobHash, BlobError> {
        self.put_bytes(bytes, Flush::Now)
    }

    /// As [`Blobs::put`], flushed as asked.
    pub fn put_bytes(&self, bytes: &[u8], flush: Flush) -> Result<BlobHash, BlobError> {
        let hash = BlobHash(blake3::hash(bytes).to_hex().to_string());
        let path = self.path(&hash)?;
        if is_there(&path, bytes.len() as u64) {
            return Ok(hash);
        }
        let (mut temporary, _) = self.temporary(&path)?;
        temporary.write_all(bytes)?;
        self.keep(temporary, &path, flush)?;
        Ok(hash)
    }

    /// Keeps what the open file holds, from its beginning, without ever holding a large one in memory. Its
    /// name and length. [`BlobError::Changed`] when it holds more than `limit` bytes, or other bytes on a
    /// second look.
    pub fn put_file(&self, file: &mut File, limit: u64, flush: Flush) -> Result<(BlobHash, u64), BlobError> {
        if file.metadata()?.len() <= SMALL {
            let mut bytes = Vec::new();
            file.rewind()?;
            let read = file.take(limit.saturating_add(1)).read_to_end(&mut bytes)? as u64;
            if read > limit {
                return Err(BlobError::Changed);
            }
            return Ok((self.put_bytes(&bytes, flush)?, read));
        }
        // Most large files are kept already: found out before anything is written.
        let (hash, len) = hash_of(file, limit)?;
        let path = self.path(&hash)?;
        if is_there(&path, len) {
            return Ok((hash, len));
        }
        file.rewind()?;
        let (mut temporary, _) = self.temporary(&path)?;
        let mut hasher = blake3::Hasher::new();
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = file.read(&mut buffer)?;
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
            hasher.update(bytes);
            if hasher.count() > len {
                return Err(BlobError::Changed);
            }
            temporary.write_all(bytes)?;
        }
        if hasher.finalize().to_hex().as_str() != hash.0 {
            return Err(BlobError::Changed);
        }
        self.keep(temporary, &path, flush)?;
        Ok((hash, len))
    }

    /// Makes sure that everything put with [`Flush::Later`] is on the disk.
    pub fn flush(&self) -> Result<(), BlobError> {
        let files = std::mem::take(&mut *self.unflushed.lock().unwrap_or_else(PoisonError::into_inner));
        if files.len() > ONE_BY_ONE {
            return Ok(flush_all(&File::open(&self.root)?)?);
        }
        for file in files {
            match octo_store::flush_file(&file) {
                Ok(()) => {}
                // Collected meanwhile: nobody wanted it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn keep(&self, temporary: NamedTempFile, path: &Path, flush: Flush) -> Result<(), BlobError> {
        if flush == Flush::Now || cfg!(not(unix)) {
            temporary.as_file().sync_all()?;
        }
        temporary.persist(path).map_err(|error| error.error)?;
        if flush == Flush::Later && cfg!(unix) {
            self.unflushed.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
        }
        Ok(())
    }

    /// The bytes of a blob, checked against its name.
    pub fn get(&self, hash: &BlobHash) -> Result<Vec<u8>, BlobError> {
        let mut bytes = Vec::new();
        self.open(hash)?.read_to_end(&mut bytes)?;
        if blake3::hash(&bytes).to_hex().as_str() != hash.0 {
            return Err(BlobError::Damaged(hash.0.clone()));
        }
        Ok(bytes)
    }

    /// Whether the blob is there and whole. Its length. Never holds it in memory.
    pub fn verify(&self, hash: &BlobHash) -> Result<u64, BlobError> {
        let (found, len) = hash_of(&mut self.open(hash)?, u64::MAX)?;
        if found != *hash {
            return Err(BlobError::Damaged(hash.0.clone()));
        }
        Ok(len)
    }

    /// Writes a blob's bytes to `to`, checked against its name on the way. What was written of a damaged one
    /// must not be used.
    pub fn copy(&self, hash: &BlobHash, to: &mut impl Write) -> Result<u64, BlobError> {
        let mut file = self.open(hash)?;
        let mut hasher = blake3::Hasher::new();
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = file.read(&mut buffer)?;
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
            hasher.update(bytes);
            to.write_all(bytes)?;
        }
        if hasher.finalize().to_hex().as_str() != hash.0 {
            return Err(BlobError::Damaged(hash.0.clone()));
        }
        Ok(hasher.count())
    }

    fn open(&self, hash: &BlobHash) -> Result<File, BlobError> {
        match File::open(self.path(hash)?) {
            Ok(file) => Ok(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(BlobError::Missing(hash.0.clone())),
            Err(error) => Err(error.into()),
        }
    }

    /// Where a blob's file is, or would be. Fails for what is not a hash, so no text can name a path.
    pub fn path(&self, hash: &BlobHash) -> Result<PathBuf, BlobError> {
        let is_hash = hash.0.len() == 64 && hash.0.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        match (hash.0.get(..2), hash.0.get(2..4), hash.0.get(4..)) {
            (Some(first), Some(second), Some(rest)) if is_hash => {
                Ok(self.root.join(first).join(second).join(Path::new(rest)))
            }
            _ => Err(BlobError::NotAHash),
        }
    }

    /// An empty file in the blob's folder, removed unless it is kept, and the folder.
    fn temporary<'a>(&'a self, path: &'a Path) -> io::Result<(NamedTempFile, &'a Path)> {
        let folder = path.parent().unwrap_or(&self.root);
        let mut builder = tempfile::Builder::new();
        builder.prefix(HALF);
        // The folder is nearly always there.
        match builder.tempfile_in(folder) {
            Ok(temporary) => Ok((temporary, folder)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(folder)?;
                Ok((builder.tempfile_in(folder)?, folder))
            }
            Err(error) => Err(error),
        }
    }
}

/// Whether the blob is there in its length; it is then safe from collection for [`GRACE`]. A shorter file is
/// what a disk that lied about a flush leaves behind; it is replaced.
fn is_there(path: &Path, len: u64) -> bool {
    let whole = |meta: &fs::Metadata| meta.is_file() && meta.len() == len;
    let Some(meta) = fs::symlink_metadata(path).ok().filter(whole) else { return false };
    let young = |time: SystemTime| time.elapsed().map_or(true, |age| age < GRACE / 4);
    if meta.modified().is_ok_and(young) {
        return true;
    }
    // The collector moves a blob away, then looks at its time, then removes it. So it is enough to set the
    // time of what was opened and to look afterwards whether it still has its name.
    let renewed =
        File::options().write(true).open(path).and_then(|file| file.set_modified(SystemTime::now()));
    renewed.is_ok() && fs::symlink_metadata(path).is_ok_and(|meta| whole(&meta))
}

/// The hash and length of what an open file holds from its beginning.
fn hash_of(file: &mut File, limit: u64) -> Result<(BlobHash, u64), BlobError> {
    file.rewind()?;
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(file.take(limit.saturating_add(1)))?;
    if hasher.count() > limit {
        return Err(BlobError::Changed);
    }
    Ok((BlobHash(hasher.finalize().to_hex().to_string()), hasher.count()))
}

/// Flushes the file system that holds the folder.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn flush_all(folder: &File) -> io::Result<()> {
    Ok(nix::unistd::syncfs(folder)?)
}

/// Flushes all file systems; there is no call for one.
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
fn flush_all(_: &File) -> io::Result<()> {
    nix::unistd::sync();
    Ok(())
}

/// Each was flushed when it was put.
#[cfg(not(unix))]
fn flush_all(_: &File) -> io::Result<()> {
    Ok(())
}

/// The media type of the bytes, found from the bytes themselves; `application/octet-stream` when unknown.
pub fn media_type(bytes: &[u8]) -> &'static str {
    infer::get(bytes).map_or("application/octet-stream", |kind| kind.mime_type())
}

#[cfg(test)]
mod tests;
