//! Reads an untrusted zip file.

use super::{
    InstallError,
    source_files::{FileCollector, SourceContent, SourceFile, check_path, source_name},
};
use crate::{MAX_BYTES, MAX_FILES, Warning};
use std::{
    fs::{self, File},
    io::{self, BufReader, Read},
    path::Path,
};
use zip::{ZipArchive, result::ZipError};

/// Reads all files of a zip file. The declared sizes are checked before unpacking, and the actual sizes again
/// during it, since declarations may be wrong.
pub(super) fn read_archive(path: &Path) -> Result<SourceContent, InstallError> {
    let meta = fs::metadata(path)?;
    if !meta.is_file() {
        return Err(InstallError::Zip("not a file".to_owned()));
    }
    if meta.len() > MAX_BYTES {
        return Err(InstallError::TooLarge);
    }
    let mut archive = ZipArchive::new(BufReader::new(File::open(path)?)).map_err(zip_error)?;
    if archive.len() > MAX_FILES {
        return Err(InstallError::TooManyFiles);
    }
    if archive.has_duplicate_names() {
        return Err(InstallError::Zip("it has two entries of one name".to_owned()));
    }
    let mut declared: u64 = 0;
    for index in 0..archive.len() {
        let entry = archive.by_index_data(index).map_err(zip_error)?;
        if entry.encrypted() {
            return Err(InstallError::Locked);
        }
        let name = entry.name().map_err(zip_error)?;
        check_path(name.strip_suffix('/').unwrap_or(&name))?;
        declared = declared.saturating_add(entry.size());
        if declared > MAX_BYTES {
            return Err(InstallError::TooLarge);
        }
    }
    let mut gathering = FileCollector::default();
    let mut warnings = Vec::new();
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(zip_error)?;
        if entry.is_dir() {
            continue;
        }
        let name = entry.name().map_err(zip_error)?.into_owned();
        // Checked again under the name used for reading the content.
        check_path(&name)?;
        let mode = entry.unix_mode();
        if entry.is_symlink() || mode.is_some_and(|mode| !is_ordinary(mode)) {
            warnings.push(Warning::new("skills.warning.link_left_out").arg("path", &name));
            continue;
        }
        let mut content = Vec::new();
        entry.take(gathering.bytes_left() + 1).read_to_end(&mut content).map_err(unpack_error)?;
        let executable = mode.is_some_and(|mode| mode & 0o111 != 0);
        gathering.add(SourceFile { path: name, executable, content })?;
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(SourceContent { files: gathering.finish(), warnings, name: source_name(&name) })
}

/// Returns whether a Unix mode is that of an ordinary file, or unspecified.
fn is_ordinary(mode: u32) -> bool {
    matches!(mode & 0o170_000, 0 | 0o100_000)
}

/// Maps an unpacking error: a corrupt stream is the archive's fault, not the system's.
fn unpack_error(error: io::Error) -> InstallError {
    InstallError::Zip(error.to_string())
}

fn zip_error(error: ZipError) -> InstallError {
    match error {
        ZipError::Io(error) if error.kind() != io::ErrorKind::UnexpectedEof => InstallError::Io(error),
        ZipError::InvalidPassword => InstallError::Locked,
        other => InstallError::Zip(other.to_string()),
    }
}
