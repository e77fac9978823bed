//! Blobs: content stored under its own hash.

mod sweep;

pub use sweep::{BlobSweepReport, BlobTotals};

use crate::flush::{FlushTiming, MAX_SINGLE_FLUSHES};
use octo_protocol::BlobHash;
use parking_lot::Mutex;
use std::{
    fs::{self, File},
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};
use tempfile::NamedTempFile;

/// Content stored under the BLAKE3 hash of its bytes, as `ab/cd…` below one folder. The same content is stored
/// once. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Blobs {
    root: PathBuf,
    /// Files that were put but not flushed yet.
    unflushed: Arc<Mutex<Vec<PathBuf>>>,
}

/// An error of storing or reading a blob.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// The text is not a hash: 64 lower-case hex digits.
    #[error("not a blob's hash")]
    NotAHash,
    /// There is no such blob.
    #[error("blob {0} is missing")]
    Missing(String),
    /// The bytes on disk do not match the hash.
    #[error("blob {0} is damaged")]
    Damaged(String),
    /// The content is larger than the limit, or kept changing while it was read.
    #[error("the file changed while it was read")]
    Changed,
    /// An I/O error.
    #[error("blob: {0}")]
    Io(#[from] io::Error),
}

/// The largest content that is read into memory at once, which reads it from its file only once.
const MAX_IN_MEMORY: u64 = 1 << 20;

/// How long an unreferenced blob is safe from collection. The reference follows within seconds; an hour covers
/// a machine that sleeps in between.
pub(crate) const GRACE: Duration = Duration::from_secs(3_600);

/// Name prefix of a blob file that is not complete yet.
const TEMPORARY_PREFIX: &str = ".blob-";

impl Blobs {
    /// Returns the blobs below `root` (`blobs/` of the home), which the first blob creates.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), unflushed: Arc::default() }
    }

    /// Stores the bytes and returns their hash. They are flushed to disk when this returns.
    pub fn put(&self, bytes: &[u8]) -> Result<BlobHash, BlobError> {
        self.put_bytes(bytes, FlushTiming::Now)
    }

    /// Like [`Blobs::put`], but flushes as requested.
    pub fn put_bytes(&self, bytes: &[u8], flush: FlushTiming) -> Result<BlobHash, BlobError> {
        let hash = BlobHash(blake3::hash(bytes).to_hex().to_string());
        let path = self.path(&hash)?;
        if renew_if_present(&path, bytes.len() as u64) {
            return Ok(hash);
        }
        let (mut temporary, _) = self.temporary(&path)?;
        temporary.write_all(bytes)?;
        self.persist(temporary, &path, flush)?;
        Ok(hash)
    }

    /// Stores the content of the open file, from its start, and returns its hash and length. A large file is
    /// never read into memory whole. Fails with [`BlobError::Changed`] if the file is longer than `limit` bytes
    /// or reads differently the second time.
    pub fn put_file(
        &self,
        file: &mut File,
        limit: u64,
        flush: FlushTiming,
    ) -> Result<(BlobHash, u64), BlobError> {
        if file.metadata()?.len() <= MAX_IN_MEMORY {
            let mut bytes = Vec::new();
            file.rewind()?;
            let read = file.take(limit.saturating_add(1)).read_to_end(&mut bytes)? as u64;
            if read > limit {
                return Err(BlobError::Changed);
            }
            return Ok((self.put_bytes(&bytes, flush)?, read));
        }
        // Most large files are stored already, so this checks before it writes.
        let (hash, len) = hash_of(file, limit)?;
        let path = self.path(&hash)?;
        if renew_if_present(&path, len) {
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
        self.persist(temporary, &path, flush)?;
        Ok((hash, len))
    }

    /// Flushes everything put with [`FlushTiming::Deferred`] to disk.
    pub fn flush(&self) -> Result<(), BlobError> {
        let files = std::mem::take(&mut *self.unflushed.lock());
        if files.len() > MAX_SINGLE_FLUSHES {
            return Ok(flush_all(&File::open(&self.root)?)?);
        }
        for file in files {
            match octo_store::flush_file(&file) {
                Ok(()) => {}
                // A collection removed it meanwhile: it was unreferenced.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn persist(&self, temporary: NamedTempFile, path: &Path, flush: FlushTiming) -> Result<(), BlobError> {
        if flush == FlushTiming::Now || cfg!(not(unix)) {
            temporary.as_file().sync_all()?;
        }
        temporary.persist(path).map_err(|error| error.error)?;
        if flush == FlushTiming::Deferred && cfg!(unix) {
            self.unflushed.lock().push(path.to_owned());
        }
        Ok(())
    }

    /// Returns the bytes of a blob, checked against its hash.
    pub fn get(&self, hash: &BlobHash) -> Result<Vec<u8>, BlobError> {
        let mut bytes = Vec::new();
        self.open(hash)?.read_to_end(&mut bytes)?;
        if blake3::hash(&bytes).to_hex().as_str() != hash.0 {
            return Err(BlobError::Damaged(hash.0.clone()));
        }
        Ok(bytes)
    }

    /// Checks that the blob exists and is undamaged, and returns its length, without reading it into memory
    /// whole.
    pub fn verify(&self, hash: &BlobHash) -> Result<u64, BlobError> {
        let (found, len) = hash_of(&mut self.open(hash)?, u64::MAX)?;
        if found != *hash {
            return Err(BlobError::Damaged(hash.0.clone()));
        }
        Ok(len)
    }

    /// Writes a blob's bytes to `output` while checking them against its hash. If this fails, the caller must not
    /// use the bytes already written.
    pub fn copy(&self, hash: &BlobHash, output: &mut impl Write) -> Result<u64, BlobError> {
        let mut file = self.open(hash)?;
        let mut hasher = blake3::Hasher::new();
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = file.read(&mut buffer)?;
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
            hasher.update(bytes);
            output.write_all(bytes)?;
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

    /// Returns the path of a blob's file, which need not exist. Fails for any text other than a hash, so no
    /// text can name an arbitrary path.
    pub fn path(&self, hash: &BlobHash) -> Result<PathBuf, BlobError> {
        let is_hash = hash.0.len() == 64 && hash.0.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        match (hash.0.get(..2), hash.0.get(2..4), hash.0.get(4..)) {
            (Some(first), Some(second), Some(rest)) if is_hash => {
                Ok(self.root.join(first).join(second).join(Path::new(rest)))
            }
            _ => Err(BlobError::NotAHash),
        }
    }

    /// Creates an empty file in the blob's folder, removed on drop unless persisted. Returns it with the
    /// folder.
    fn temporary<'a>(&'a self, path: &'a Path) -> io::Result<(NamedTempFile, &'a Path)> {
        let folder = path.parent().unwrap_or(&self.root);
        let mut builder = tempfile::Builder::new();
        builder.prefix(TEMPORARY_PREFIX);
        // The folder nearly always exists.
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

/// Whether the blob exists with this length; if so, renews it, which protects it from collection for [`GRACE`].
/// A shorter file, left by a disk that lied about a flush, is replaced.
fn renew_if_present(path: &Path, len: u64) -> bool {
    let is_complete = |meta: &fs::Metadata| meta.is_file() && meta.len() == len;
    let Some(meta) = fs::symlink_metadata(path).ok().filter(is_complete) else { return false };
    let young = |time: SystemTime| time.elapsed().map_or(true, |age| age < GRACE / 4);
    if meta.modified().is_ok_and(young) {
        return true;
    }
    // The collector moves a blob, checks its modification time, then removes it. It is therefore enough to set
    // the time of the open file and to check afterwards that it still has its name.
    let renewed =
        File::options().write(true).open(path).and_then(|file| file.set_modified(SystemTime::now()));
    renewed.is_ok() && fs::symlink_metadata(path).is_ok_and(|meta| is_complete(&meta))
}

/// Returns the hash and length of an open file's content, from its start.
fn hash_of(file: &mut File, limit: u64) -> Result<(BlobHash, u64), BlobError> {
    file.rewind()?;
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(file.take(limit.saturating_add(1)))?;
    if hasher.count() > limit {
        return Err(BlobError::Changed);
    }
    Ok((BlobHash(hasher.finalize().to_hex().to_string()), hasher.count()))
}

/// Flushes the file system that contains the folder.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn flush_all(folder: &File) -> io::Result<()> {
    Ok(nix::unistd::syncfs(folder)?)
}

/// Flushes all file systems: there is no call to flush one.
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
fn flush_all(_: &File) -> io::Result<()> {
    nix::unistd::sync();
    Ok(())
}

/// Does nothing: each file was flushed when it was put.
#[cfg(not(unix))]
fn flush_all(_: &File) -> io::Result<()> {
    Ok(())
}

/// Returns the media type detected from the bytes; `application/octet-stream` if unknown.
pub fn media_type(bytes: &[u8]) -> &'static str {
    infer::get(bytes).map_or("application/octet-stream", |kind| kind.mime_type())
}

#[cfg(test)]
mod tests;
