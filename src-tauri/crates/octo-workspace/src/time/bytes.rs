//! Paths as stored: in the system's own bytes, so names that are not text survive too.

use std::path::{Path, PathBuf};

#[cfg(unix)]
pub(crate) fn bytes_of(path: &Path) -> Vec<u8> {
    std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()).to_vec()
}

#[cfg(unix)]
pub(crate) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes))
}

/// UTF-16 code units, low byte first: Windows names need not be valid text either.
#[cfg(windows)]
pub(crate) fn bytes_of(path: &Path) -> Vec<u8> {
    std::os::windows::ffi::OsStrExt::encode_wide(path.as_os_str()).flat_map(u16::to_le_bytes).collect()
}

#[cfg(windows)]
pub(crate) fn path_of(bytes: &[u8]) -> PathBuf {
    let units: Vec<u16> =
        bytes.chunks_exact(2).filter_map(|pair| Some(u16::from_le_bytes(pair.try_into().ok()?))).collect();
    PathBuf::from(<std::ffi::OsString as std::os::windows::ffi::OsStringExt>::from_wide(&units))
}

/// Returns a path as shown and as used in requests. Two paths that are not text may look the same; a request
/// that names one names both.
pub(crate) fn text_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
