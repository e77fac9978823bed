//! Outputs: long tool results, stored whole for the model to read in ranges.

use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

/// How long an output is kept: as long as the log of a command.
const KEEP: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The outputs of one session: files in one of Octo's own folders. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Outputs {
    folder: PathBuf,
}

impl Outputs {
    /// Returns the outputs in `folder`, which the first output creates.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Stores a text under a name, replacing an earlier one, and returns its path. Only the owner can read the
    /// file. Removes outputs that were not read for a week.
    ///
    /// # Errors
    ///
    /// I/O errors; a name that is not a plain file name is invalid input.
    pub fn keep(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        let folder = crate::private_folder(&self.folder)?;
        let path = folder.join(check_plain_name(name)?);
        self.prune();
        let mut temporary = tempfile::Builder::new().prefix(".output-").tempfile_in(&folder)?;
        temporary.write_all(text.as_bytes())?;
        temporary.persist(&path).map_err(|error| error.error)?;
        Ok(path)
    }

    /// Returns the path of the output with this name, or `None` if it does not exist.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        let path = self.folder.join(check_plain_name(name).ok()?);
        path.is_file().then(|| path.canonicalize().ok()).flatten()
    }

    fn prune(&self) {
        for expired in crate::expired_files([self.folder.as_path()], KEEP) {
            if let Err(error) = fs::remove_file(expired) {
                tracing::warn!(%error, "an old output stays");
            }
        }
    }
}

/// Checks that the name is a plain file name in the folder.
fn check_plain_name(name: &str) -> io::Result<&Path> {
    let is_plain = !name.is_empty()
        && !name.starts_with('.')
        && name
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || matches!(character, '.' | '-' | '_'));
    if is_plain { Ok(Path::new(name)) } else { Err(io::Error::from(io::ErrorKind::InvalidInput)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[test]
    fn outputs_are_kept_under_plain_names_only() {
        let home = octo_testkit::test_folder();
        let outputs = Outputs::new(home.path().join("outputs/session"));
        assert_eq!(outputs.find("a.md"), None);
        let path = outputs.keep("a.md", "one").unwrap();
        assert_eq!(outputs.find("a.md"), Some(path.clone()));
        assert_eq!(outputs.keep("a.md", "two").unwrap(), path);
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        for name in ["", ".", "..", ".hidden", "a/b", "../a", "a\\b", "ä"] {
            assert!(outputs.keep(name, "x").is_err(), "{name}");
            assert_eq!(outputs.find(name), None, "{name}");
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_new_output_removes_old_ones() {
        let home = octo_testkit::test_folder();
        let outputs = Outputs::new(home.path());
        let saved: Vec<PathBuf> = (0..9).map(|day| outputs.keep(&format!("{day}.md"), "").unwrap()).collect();
        for (path, day) in saved.iter().zip(0..) {
            let modified = SystemTime::now() - Duration::from_secs(60 * 60) * (24 * day + 1);
            fs::File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
        }
        outputs.keep("new.md", "").unwrap();
        let exist: Vec<bool> = saved.iter().map(|path| path.exists()).collect();
        assert_eq!(exist, [true, true, true, true, true, true, true, false, false]);
    }
}
