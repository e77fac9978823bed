//! Temporary files in the home itself: their folders and names are known, so they need no notes.

use std::{
    fs::{self, DirEntry},
    io,
    path::Path,
    time::Duration,
};

/// Folders of the home with temporary files, and the depth to search below them. The blobs have their own
/// sweep.
const SEARCHED_FOLDERS: &[(&str, usize)] = &[
    ("", 0),
    ("agents", 0),
    ("archives", 1),
    ("memories", 0),
    ("outputs", 1),
    ("received", 2),
    ("scripts", 0),
    ("tasks", 0),
    ("time", 2),
];

/// The prefixes of such names; random letters and digits follow.
const PREFIXES: &[&str] = &[".archive-", ".journal-", ".new-", ".output-", ".picture-", ".script-", ".tmp"];
/// The number of random characters.
const RANDOM_CHARS: usize = 6;

/// The age at which no write can still be in progress. A file from the future dates from before the clock was
/// set back, and stays.
const MIN_AGE: Duration = Duration::from_secs(60 * 60);

/// Removes files that no living process can still be writing.
pub(super) fn sweep(home: &Path) {
    for (folder, depth) in SEARCHED_FOLDERS {
        sweep_folder(&home.join(folder), *depth);
    }
}

fn sweep_folder(folder: &Path, depth: usize) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        // Links are not followed.
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth > 0 {
            sweep_folder(&entry.path(), depth - 1);
        } else if kind.is_file()
            && is_temporary(&entry)
            && is_old(&entry).unwrap_or(false)
            && let Err(error) = fs::remove_file(entry.path())
        {
            tracing::warn!(%error, "a file that was not finished stays");
        }
    }
}

fn is_temporary(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let name = name.to_string_lossy();
    PREFIXES.iter().filter_map(|beginning| name.strip_prefix(beginning)).any(|random| {
        random.chars().count() == RANDOM_CHARS
            && random.chars().all(|character| character.is_ascii_alphanumeric())
    })
}

fn is_old(entry: &DirEntry) -> io::Result<bool> {
    Ok(entry.metadata()?.modified()?.elapsed().is_ok_and(|age| age >= MIN_AGE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs::File, time::SystemTime};

    #[test]
    fn only_octos_old_temporary_files_are_removed() {
        let home = octo_testkit::test_folder();
        let hours = |hours: i32| {
            let span = Duration::from_secs(3_600 * u64::from(hours.unsigned_abs()) + 60);
            if hours < 0 { SystemTime::now() + span } else { SystemTime::now() - span }
        };
        let cases = [
            (".new-aB3dE9", 1, false),
            (".tmpaB3dE9", 9_000, false),
            ("tasks/.new-aB3dE9", 2, false),
            ("archives/one/.archive-aB3dE9", 2, false),
            ("outputs/one/.output-aB3dE9", 2, false),
            ("time/pictures/one/.picture-aB3dE9", 2, false),
            ("time/restores/.journal-aB3dE9", 2, false),
            // A process may be writing it; or the clock was wrong.
            (".new-aB3dE8", 0, true),
            (".new-aB3dE7", -9_000, true),
            // The person's file, or in another folder.
            (".newly", 2, true),
            (".new-note.md", 2, true),
            ("tasks/.new-tasks", 2, true),
            ("memories/.tmp", 2, true),
            ("skills/mine/.new-aB3dE9", 2, true),
            ("demo/one/.tmpaB3dE9", 2, true),
            ("scratch/one/.tmpaB3dE9", 2, true),
            ("trash/one/.new-aB3dE9", 2, true),
            ("blobs/ab/cd/.new-aB3dE9", 2, true),
            ("outputs/one/deep/.output-aB3dE9", 2, true),
        ];
        for (name, age, _) in cases {
            let path = home.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            File::create(&path).unwrap().set_modified(hours(age)).unwrap();
        }
        sweep(home.path());
        for (name, _, stays) in cases {
            assert_eq!(home.path().join(name).exists(), stays, "{name}");
        }
        sweep(&home.path().join("gone"));
    }
}
