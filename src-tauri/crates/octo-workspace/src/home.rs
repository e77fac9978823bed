//! Octo's home as a whole: its size, its copy, and its deletion.
//!
//! This module lists every name Octo uses in its home: only these are ever deleted. Anything else, for instance
//! a person's file in a folder they chose as home, is kept and reported.

use crate::private_folder;
use octo_protocol::{HomePart, HomePartSize};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io,
    path::Path,
};

/// Whether a copy of the home includes an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CopyRule {
    /// The copy includes it.
    Yes,
    /// The copy leaves it out: Octo recreates it, it belongs to one run only, or (the database) it is copied in
    /// another way.
    No,
}

/// The names directly in a home.
const ENTRIES: &[(&str, HomePart, CopyRule)] = &[
    ("octo.lock", HomePart::Database, CopyRule::No),
    ("backups", HomePart::Backups, CopyRule::No),
    ("blobs", HomePart::Blobs, CopyRule::Yes),
    ("time", HomePart::Blobs, CopyRule::Yes),
    ("trash", HomePart::Trash, CopyRule::Yes),
    ("archives", HomePart::Outputs, CopyRule::Yes),
    ("outputs", HomePart::Outputs, CopyRule::Yes),
    ("received", HomePart::Outputs, CopyRule::Yes),
    ("demo", HomePart::Outputs, CopyRule::Yes),
    ("scratch", HomePart::Outputs, CopyRule::No),
    ("shells", HomePart::Outputs, CopyRule::No),
    ("skills", HomePart::Skills, CopyRule::Yes),
    ("scripts", HomePart::Skills, CopyRule::Yes),
    ("bundled-skills", HomePart::Skills, CopyRule::No),
    ("memories", HomePart::Memories, CopyRule::Yes),
    ("agents", HomePart::Memories, CopyRule::Yes),
    ("logs", HomePart::Logs, CopyRule::No),
    // Contains the browser's sign-ins, which must not end up on another disk.
    ("browser", HomePart::Browser, CopyRule::No),
    ("webview", HomePart::Browser, CopyRule::No),
    ("window.json", HomePart::Browser, CopyRule::No),
    ("tray", HomePart::Browser, CopyRule::No),
    ("bin", HomePart::Configuration, CopyRule::No),
    ("unfinished", HomePart::Configuration, CopyRule::No),
    ("tasks", HomePart::Configuration, CopyRule::Yes),
    ("policy.toml", HomePart::Configuration, CopyRule::Yes),
    ("hooks.toml", HomePart::Configuration, CopyRule::Yes),
    ("presets.json", HomePart::Configuration, CopyRule::Yes),
    (crate::MOVED_NOTE, HomePart::Configuration, CopyRule::No),
];

/// The result of copying a home.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HomeCopy {
    /// The number of files copied.
    pub files: u64,
    /// Their total size in bytes.
    pub bytes: u64,
    /// Unreadable files, and links, as paths relative to the home.
    pub missing: Vec<String>,
}

/// Returns the size of a home by part, the largest first. Files that vanish meanwhile are not counted.
///
/// # Errors
///
/// I/O errors of reading the home itself.
pub fn measure_home(home: &Path) -> io::Result<Vec<HomePartSize>> {
    let mut parts: BTreeMap<HomePart, HomePartSize> = BTreeMap::new();
    for entry in fs::read_dir(home)?.flatten() {
        let part = entry_kind(&entry.file_name().to_string_lossy()).map_or(HomePart::Other, |(part, _)| part);
        let size = parts.entry(part).or_insert(HomePartSize { part, bytes: 0, files: 0 });
        count(&entry.path(), size);
    }
    let mut parts: Vec<HomePartSize> = parts.into_values().filter(|size| size.files > 0).collect();
    parts.sort_by_key(|size| std::cmp::Reverse(size.bytes));
    Ok(parts)
}

/// Copies the needed files of a home, except its database, into an existing folder. Unreadable files are left
/// out and reported; links are not followed.
///
/// # Errors
///
/// I/O errors of writing.
pub fn copy_home(home: &Path, target: &Path) -> io::Result<HomeCopy> {
    let mut copy = HomeCopy::default();
    for entry in fs::read_dir(home)?.flatten() {
        let name = entry.file_name();
        let is_copied = entry_kind(&name.to_string_lossy()).is_none_or(|(_, copied)| copied == CopyRule::Yes);
        if is_copied {
            copy_tree(home, &entry.path(), &target.join(&name), &mut copy)?;
        }
    }
    Ok(copy)
}

/// Deletes for good everything Octo put into its home, and the home itself if nothing else is in it. Returns
/// the names that remain.
///
/// # Errors
///
/// I/O errors of reading the home.
pub fn erase_home(home: &Path) -> io::Result<Vec<String>> {
    let mut remaining = Vec::new();
    let real_home = crate::resolve_links(home).unwrap_or_else(|_| home.to_owned());
    if let Err(error) = crate::TemporaryFolders::of_home(&real_home).remove_all() {
        tracing::warn!(%error, "temporary files of sessions stay");
    }
    for entry in fs::read_dir(home)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_removed = entry_kind(&name).is_some() && remove(&entry.path()).is_ok();
        if !is_removed {
            remaining.push(name);
        }
    }
    remaining.sort();
    if remaining.is_empty()
        && let Err(error) = fs::remove_dir(home)
    {
        tracing::debug!(%error, "the empty home stays");
    }
    Ok(remaining)
}

/// Returns the home part and copy rule of a name.
fn entry_kind(name: &str) -> Option<(HomePart, CopyRule)> {
    // The database with its log, and temporary files of both.
    if name == "octo.db" || name.starts_with("octo.db-") || name.starts_with("octo.db.new") {
        return Some((HomePart::Database, CopyRule::No));
    }
    ENTRIES.iter().find(|(entry_name, _, _)| *entry_name == name).map(|(_, part, copied)| (*part, *copied))
}

fn remove(path: &Path) -> io::Result<()> {
    // A link itself is removed, not its target.
    if path.symlink_metadata()?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

fn count(path: &Path, size: &mut HomePartSize) {
    let Ok(meta) = path.symlink_metadata() else { return };
    if !meta.is_dir() {
        size.files += 1;
        size.bytes += meta.len();
        return;
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        count(&entry.path(), size);
    }
}

fn copy_tree(home: &Path, source_path: &Path, target: &Path, copy: &mut HomeCopy) -> io::Result<()> {
    let relative_path = || source_path.strip_prefix(home).unwrap_or(source_path).display().to_string();
    let Ok(meta) = source_path.symlink_metadata() else {
        // It vanished meanwhile.
        return Ok(());
    };
    if meta.is_dir() {
        let Ok(entries) = fs::read_dir(source_path) else {
            copy.missing.push(relative_path());
            return Ok(());
        };
        private_folder(target)?;
        for entry in entries.flatten() {
            copy_tree(home, &entry.path(), &target.join(entry.file_name()), copy)?;
        }
        return Ok(());
    }
    match File::open(source_path) {
        Ok(mut source) if meta.is_file() => {
            let mut made = File::create(target)?;
            copy.bytes += io::copy(&mut source, &mut made)?;
            made.set_permissions(meta.permissions())?;
            copy.files += 1;
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Ok(_) | Err(_) => copy.missing.push(relative_path()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn home() -> tempfile::TempDir {
        let home = octo_testkit::test_folder();
        for (path, text) in [
            ("octo.db", "database"),
            ("octo.db-wal", "log"),
            ("octo.lock", ""),
            ("blobs/ab/abcd", "a picture"),
            ("skills/notes/SKILL.md", "a skill"),
            ("browser/Default/Cookies", "signed in"),
            ("logs/octo.log", "{}"),
            ("policy.toml", "allow = []"),
            ("diary.md", "the person's own"),
        ] {
            let path = home.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        home
    }

    fn names(folder: &Path) -> BTreeSet<String> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn every_part_is_measured_the_largest_first() {
        let home = home();
        fs::write(home.path().join("blobs/ab/more"), "x".repeat(5_000)).unwrap();
        let parts = measure_home(home.path()).unwrap();
        assert_eq!((parts[0].part, parts[0].bytes, parts[0].files), (HomePart::Blobs, 5_009, 2));
        assert!(parts.is_sorted_by(|a, b| a.bytes >= b.bytes));
        let size_of = |part| parts.iter().find(|size| size.part == part).map(|size| (size.bytes, size.files));
        assert_eq!(size_of(HomePart::Database), Some((11, 3)));
        assert_eq!(size_of(HomePart::Other), Some((16, 1)));
        assert_eq!(size_of(HomePart::Trash), None, "what is not there has no line");
    }

    #[test]
    fn a_copy_contains_only_irreplaceable_data() {
        let (home, target) = (home(), octo_testkit::test_folder());
        let copy = copy_home(home.path(), target.path()).unwrap();
        assert_eq!(
            names(target.path()),
            ["blobs", "diary.md", "policy.toml", "skills"].map(String::from).into()
        );
        assert_eq!(fs::read(target.path().join("skills/notes/SKILL.md")).unwrap(), b"a skill");
        assert_eq!((copy.files, copy.missing.len()), (4, 0));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_neither_followed_nor_silently_left_out() {
        let (home, target, outside_folder) =
            (home(), octo_testkit::test_folder(), octo_testkit::test_folder());
        fs::write(outside_folder.path().join("kept"), "x").unwrap();
        std::os::unix::fs::symlink(outside_folder.path(), home.path().join("skills/linked")).unwrap();
        let copy = copy_home(home.path(), target.path()).unwrap();
        assert_eq!(copy.missing, ["skills/linked"]);
        assert!(!target.path().join("skills/linked").exists());
        erase_home(home.path()).unwrap();
        assert!(outside_folder.path().join("kept").exists(), "what it leads to is not Octo's");
    }

    #[test]
    fn only_octos_own_files_are_deleted() {
        let home = home();
        assert_eq!(erase_home(home.path()).unwrap(), ["diary.md"]);
        assert_eq!(names(home.path()), ["diary.md".to_owned()].into());
        fs::remove_file(home.path().join("diary.md")).unwrap();
        fs::create_dir(home.path().join("logs")).unwrap();
        assert!(erase_home(home.path()).unwrap().is_empty());
        assert!(!home.path().exists(), "a home with nothing in it goes too");
    }
}
