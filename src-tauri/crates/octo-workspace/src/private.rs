//! Octo's own folders and files, closed to other users of the machine.

use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

/// Creates one of Octo's own folders, readable only by its owner, and missing parents. Returns its real path.
pub fn private_folder(path: &Path) -> io::Result<PathBuf> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    path.canonicalize()
}

/// Writes one of Octo's own files, readable only by its owner, whole or not at all. Its folder must exist.
///
/// # Errors
///
/// I/O errors; the old file is unchanged then.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_draft(path, bytes)?.commit()
}

/// The name prefix of drafts. It hides them, which keeps a listing of the folder from taking one for a regular
/// file. A killed process leaves its draft behind.
pub(crate) const DRAFT: &str = ".new-";

/// One of Octo's own files, completely written to disk but not yet moved to its final path. Dropping it deletes
/// it.
#[derive(Debug)]
pub struct PrivateDraft {
    temporary: tempfile::NamedTempFile,
    path: PathBuf,
}

impl PrivateDraft {
    /// Moves the draft to its final path, replacing an existing file.
    ///
    /// # Errors
    ///
    /// I/O errors; the existing file stays then.
    pub fn commit(self) -> io::Result<()> {
        self.temporary.persist(self.path).map_err(|error| error.error)?;
        Ok(())
    }
}

/// Writes one of Octo's own files, readable only by its owner, as a draft in its final folder. Lack of space
/// therefore fails here, before an existing file is touched. Its folder must exist.
///
/// # Errors
///
/// I/O errors; no part of the draft remains then.
pub fn write_draft(path: &Path, bytes: &[u8]) -> io::Result<PrivateDraft> {
    let folder = path.parent().ok_or_else(|| io::Error::other("a file needs a folder"))?;
    let mut temporary = tempfile::Builder::new().prefix(DRAFT).tempfile_in(folder)?;
    temporary.write_all(bytes)?;
    temporary.as_file().sync_all()?;
    Ok(PrivateDraft { temporary, path: path.to_owned() })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn private_folders_are_closed_to_others() {
        let folder = octo_testkit::test_folder();
        let made = private_folder(&folder.path().join("a/b")).unwrap();
        assert_eq!(fs::metadata(&made).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(private_folder(&made).unwrap(), made, "one that is there is no error");
        let file = made.join("file");
        fs::write(&file, "").unwrap();
        assert!(private_folder(&file.join("x")).is_err());
    }

    #[test]
    fn a_file_is_replaced_whole_and_nobody_else_may_read_it() {
        let folder = octo_testkit::test_folder();
        let path = folder.path().join("a.md");
        write_private(&path, b"one").unwrap();
        write_private(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
        assert!(write_private(&folder.path().join("gone/a.md"), b"").is_err());
    }

    #[test]
    fn a_draft_changes_nothing_until_committed() {
        let folder = octo_testkit::test_folder();
        let path = folder.path().join("a.md");
        write_private(&path, b"one").unwrap();
        drop(write_draft(&path, b"two").unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let draft = write_draft(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one");
        fs::remove_file(&path).unwrap();
        draft.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
    }
}
