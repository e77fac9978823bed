//! The directory in which a session's next command runs, and where a session returns to when that is gone.

use octo_workspace::{is_inside, is_real_folder};
use std::path::{Path, PathBuf};

/// The folders in which no command is left standing: Octo's own, so that a command whose folder moved to the
/// trash does not take the session there. All are real paths.
#[derive(Clone, Debug, Default)]
pub struct ClosedFolders {
    /// Octo's homes.
    pub closed: Vec<PathBuf>,
    /// Folders in them in which commands may stand.
    pub open: Vec<PathBuf>,
}

/// The directory of a session's next command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CurrentDir {
    /// The directory.
    pub path: PathBuf,
    /// The directory that would have been it and is gone, or is no longer where it was.
    pub lost: Option<PathBuf>,
}

impl ClosedFolders {
    /// Returns `directory` if a command may stand in it, and otherwise the nearest folder above it that exists in
    /// the session's folder, or that folder itself.
    pub(super) fn current_dir(&self, directory: &Path, folder: &Path) -> CurrentDir {
        if self.is_usable(directory, folder) {
            return CurrentDir { path: directory.to_owned(), lost: None };
        }
        let nearest = directory
            .ancestors()
            .skip(1)
            .take_while(|ancestor| ancestor.starts_with(folder))
            .find(|ancestor| self.is_usable(ancestor, folder));
        CurrentDir { path: nearest.unwrap_or(folder).to_owned(), lost: Some(directory.to_owned()) }
    }

    fn is_usable(&self, directory: &Path, folder: &Path) -> bool {
        is_real_folder(directory) && !self.is_closed(directory, folder)
    }

    fn is_closed(&self, directory: &Path, folder: &Path) -> bool {
        let is_open = || self.open.iter().any(|open| is_inside(open, directory));
        self.closed.iter().any(|home| {
            is_inside(home, directory) && !(is_inside(home, folder) && is_inside(folder, directory))
        }) && !is_open()
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::symlink};

    #[test]
    fn a_session_stands_where_it_may_or_returns_to_the_nearest_folder() {
        let root = octo_testkit::test_folder();
        let root = root.path().canonicalize().unwrap();
        let (work, octo) = (root.join("work"), root.join("octo"));
        for folder in ["work/a/b", "outside", "octo/trash/1/content/b", "octo/skills/s", "octo/scratch/x"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(work.join("file"), "").unwrap();
        symlink(root.join("outside"), work.join("a/link")).unwrap();
        symlink(root.join("octo"), work.join("way")).unwrap();
        let closed = ClosedFolders { closed: vec![octo.clone()], open: vec![octo.join("skills")] };
        for (directory, expected) in [
            ("work/a/b", None),
            ("outside", None),
            ("octo/skills/s", None),
            ("work/a/b/gone/deep", Some("work/a/b")),
            ("work/a/link", Some("work/a")),
            ("work/a/link/more", Some("work/a")),
            ("work/file", Some("work")),
            ("work/gone", Some("work")),
            ("work/way/trash", Some("work")),
            ("outside/gone", Some("work")),
            ("octo", Some("work")),
            ("octo/trash/1/content/b", Some("work")),
            ("octo/scratch/x", Some("work")),
        ] {
            let directory = root.join(directory);
            let found = closed.current_dir(&directory, &work);
            let path = expected.map_or_else(|| directory.clone(), |expected| root.join(expected));
            let lost = expected.map(|_| directory);
            assert_eq!(found, CurrentDir { path, lost });
        }
        // A session that works in Octo's home may stand in its own folder, and nowhere else there.
        let own_folder = octo.join("scratch");
        assert_eq!(closed.current_dir(&octo.join("scratch/x"), &own_folder).lost, None);
        assert_eq!(closed.current_dir(&octo.join("trash"), &own_folder).path, own_folder);
    }
}
