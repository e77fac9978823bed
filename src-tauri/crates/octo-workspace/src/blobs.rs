//! Blobs: content kept under its own hash.

use octo_protocol::BlobHash;
use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

/// Content kept under the BLAKE3 hash of its bytes, in `ab/cd…` below one folder. Writing the same content
/// twice keeps it once. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Blobs {
    root: PathBuf,
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
    /// The system says no.
    #[error("blob: {0}")]
    Io(#[from] io::Error),
}

impl Blobs {
    /// The blobs below `root` (`blobs/` of the home); the folder is created with the first blob.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Keeps the bytes and gives their name. They are on the disk when this returns.
    pub fn put(&self, bytes: &[u8]) -> Result<BlobHash, BlobError> {
        let hash = BlobHash(blake3::hash(bytes).to_hex().to_string());
        let path = self.path(&hash)?;
        // A shorter file is what a disk that lied about a flush leaves behind; it is replaced.
        if fs::metadata(&path).is_ok_and(|meta| meta.is_file() && meta.len() == bytes.len() as u64) {
            return Ok(hash);
        }
        let folder = path.parent().unwrap_or(&self.root);
        fs::create_dir_all(folder)?;
        let mut temporary = tempfile::Builder::new().prefix(".blob-").tempfile_in(folder)?;
        temporary.write_all(bytes)?;
        temporary.as_file().sync_all()?;
        temporary.persist(&path).map_err(|error| error.error)?;
        Ok(hash)
    }

    /// The bytes of a blob, checked against its name.
    pub fn get(&self, hash: &BlobHash) -> Result<Vec<u8>, BlobError> {
        let bytes = match fs::read(self.path(hash)?) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(BlobError::Missing(hash.0.clone()));
            }
            Err(error) => return Err(error.into()),
        };
        if blake3::hash(&bytes).to_hex().as_str() != hash.0 {
            return Err(BlobError::Damaged(hash.0.clone()));
        }
        Ok(bytes)
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
}

/// The media type of the bytes, found from the bytes themselves; `application/octet-stream` when unknown.
pub fn media_type(bytes: &[u8]) -> &'static str {
    infer::get(bytes).map_or("application/octet-stream", |kind| kind.mime_type())
}

#[cfg(test)]
mod tests;
