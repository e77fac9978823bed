//! Writes files and folders out to the disk by their path, so that they survive a power cut.
//!
//! Code that holds a file open for writing flushes it through that handle. These functions flush files whose handle is
//! closed or belongs to SQLite, and the names in a folder.

use std::{fs::File, io, path::Path};

/// Writes the content of a file out to the disk.
///
/// On Unix this opens the file for reading, which is enough for `fsync`, so it also flushes a file without write permission
/// and a running program. On Windows `FlushFileBuffers` needs a handle with write access, so this fails for a file with the
/// read-only attribute: the caller flushes first and sets the attribute then.
///
/// # Errors
/// Those of opening and of the disk.
pub fn flush_file(path: &Path) -> io::Result<()> {
    open_to_flush(path)?.sync_all()
}

#[cfg(not(windows))]
fn open_to_flush(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(windows)]
fn open_to_flush(path: &Path) -> io::Result<File> {
    File::options().write(true).open(path)
}

/// Writes the names in a folder out to the disk, that is every creation, renaming and removal directly in it.
///
/// On Windows this does nothing: NTFS keeps its names consistent through its own journal, `FlushFileBuffers` is
/// documented for files and volumes only, and the flush of a volume needs an administrator. SQLite does the
/// same there.
///
/// # Errors
/// Those of opening and of the disk. Some file systems cannot flush a folder and answer with an error.
pub fn flush_folder(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, io::ErrorKind};

    #[test]
    fn a_file_that_is_closed_is_flushed_and_keeps_its_content() {
        let folder = octo_testkit::test_folder();
        let path = folder.path().join("file");
        fs::write(&path, "content").unwrap();
        flush_file(&path).unwrap();
        flush_folder(folder.path()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "content");
    }

    #[test]
    fn a_file_that_is_missing_is_not_created() {
        let folder = octo_testkit::test_folder();
        let path = folder.path().join("file");
        assert_eq!(flush_file(&path).unwrap_err().kind(), ErrorKind::NotFound);
        assert!(!path.exists());
    }

    /// The system refuses to open a running program for writing, even to root.
    #[cfg(unix)]
    #[test]
    fn a_program_that_is_running_is_flushed() {
        flush_file(&std::env::current_exe().unwrap()).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_is_missing_is_an_error() {
        let folder = octo_testkit::test_folder();
        let missing = folder.path().join("folder");
        assert_eq!(flush_folder(&missing).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
