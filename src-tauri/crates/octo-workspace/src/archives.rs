//! Archives: messages that left a model's view, written to files the model can read.

use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

/// The archives of one session in one folder: `0001.md`, `0002.md` …, each next to a copy as JSON lines. The
/// Markdown is for reading, the JSON for parsing. Written archives never change.
#[derive(Clone, Debug)]
pub struct Archives {
    folder: PathBuf,
}

impl Archives {
    /// Returns the archives in `folder`, which the first archive creates.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Returns all archives, newest first; empty if the folder does not exist.
    pub fn list(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut found: Vec<PathBuf> =
            entries.map(|entry| entry.path()).filter(|path| number(path).is_some()).collect();
        found.sort_unstable_by(|a, b| b.cmp(a));
        found
    }

    /// Writes the next archive and returns its path. Both files are flushed to disk when this returns, and only
    /// their owner can read them.
    ///
    /// # Errors
    ///
    /// I/O errors. Earlier archives stay unchanged.
    pub fn add(&self, text: &str, lines: &str) -> io::Result<PathBuf> {
        crate::private_folder(&self.folder).map_err(io::Error::other)?;
        // The disk alone decides which numbers are taken.
        let next_number = self.list().first().and_then(|newest| number(newest)).unwrap_or(0) + 1;
        let path = self.folder.join(format!("{next_number:04}.md"));
        // The Markdown file last: an archive exists only once both files do.
        self.put(&path.with_extension("jsonl"), lines)?;
        self.put(&path, text)?;
        Ok(path)
    }

    /// Removes an archive that nothing refers to. If removal fails, the file only wastes space.
    pub fn remove(&self, path: &Path) {
        for part_path in [path.to_owned(), path.with_extension("jsonl")] {
            if part_path.parent() == Some(&self.folder)
                && let Err(error) = fs::remove_file(&part_path)
            {
                tracing::warn!(%error, "an unused archive stays");
            }
        }
    }

    fn put(&self, path: &Path, content: &str) -> io::Result<()> {
        let mut temporary = tempfile::Builder::new().prefix(".archive-").tempfile_in(&self.folder)?;
        temporary.write_all(content.as_bytes())?;
        temporary.as_file().sync_all()?;
        temporary.persist(path).map_err(|error| error.error)?;
        Ok(())
    }
}

fn number(path: &Path) -> Option<u32> {
    if path.extension()? != "md" {
        return None;
    }
    path.file_stem()?.to_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_are_numbered_by_what_is_on_the_disk() {
        let home = octo_testkit::test_folder();
        let archives = Archives::new(home.path().join("archives/session"));
        assert_eq!(archives.list(), Vec::<PathBuf>::new());
        let first = archives.add("# one", "{}\n").unwrap();
        let second = archives.add("# two", "{}\n{}\n").unwrap();
        assert!(first.ends_with("0001.md") && second.ends_with("0002.md"));
        // A gap, a foreign file and a half-written archive change nothing.
        fs::remove_file(&first).unwrap();
        fs::write(second.with_file_name("notes.md"), "mine").unwrap();
        fs::write(second.with_file_name("0009.jsonl"), "{}").unwrap();
        let third = archives.add("# three", "").unwrap();
        assert!(third.ends_with("0003.md"));
        assert_eq!(archives.list(), [third.clone(), second.clone()]);
        assert_eq!(fs::read_to_string(&second).unwrap(), "# two");
        assert_eq!(fs::read_to_string(third.with_extension("jsonl")).unwrap(), "");
        archives.remove(&third);
        archives.remove(home.path());
        assert_eq!(archives.list(), std::slice::from_ref(&second));
        let third = archives.add("# three again", "").unwrap();
        assert!(third.ends_with("0003.md"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&third).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
}
