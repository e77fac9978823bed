//! The age of Octo's own files, by a clock that may be wrong.

use std::{
    fs::Metadata,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// The largest gap that counts between two files written in succession, and since the last one. A clock that is
/// a year ahead for an hour therefore makes no file a year old.
const MAX_GAP: Duration = Duration::from_secs(24 * 60 * 60);

/// Returns the files of these folders that are older than `age` now. Of consecutive days without a write to
/// any of the folders only one counts; a long pause or a wrong clock can therefore only keep files longer.
/// Unreadable files are left out.
pub fn expired_files<'a>(folders: impl IntoIterator<Item = &'a Path>, age: Duration) -> Vec<PathBuf> {
    let entries = folders.into_iter().filter_map(|folder| folder.read_dir().ok()).flatten().flatten();
    let modified = |data: Metadata| data.is_file().then(|| data.modified().ok()).flatten();
    let files = entries.filter_map(|entry| {
        entry.metadata().ok().and_then(modified).map(|modified| (modified, entry.path()))
    });
    older(files.collect(), age, SystemTime::now())
}

fn older(mut files: Vec<(SystemTime, PathBuf)>, max_age: Duration, time: SystemTime) -> Vec<PathBuf> {
    files.sort_unstable_by(|a, b| b.cmp(a));
    let (mut age, mut later) = (Duration::ZERO, time);
    let mut found = Vec::new();
    for (changed, path) in files {
        // A file from the future was written before the clock was set back.
        age += later.duration_since(changed).unwrap_or_default().min(MAX_GAP);
        later = changed;
        if age > max_age {
            found.push(path);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = MAX_GAP;
    const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);

    /// Returns, of files written on these day numbers, those that are removed on day `today`.
    fn is_gone(written: &[u32], today: u32) -> Vec<u32> {
        let time_of = |day: u32| SystemTime::UNIX_EPOCH + DAY * day;
        let files = written.iter().map(|day| (time_of(*day), PathBuf::from(day.to_string())));
        let expired = older(files.collect(), WEEK, time_of(today));
        let mut days: Vec<u32> = expired.iter().map(|path| path.to_str().unwrap().parse().unwrap()).collect();
        days.sort_unstable();
        days
    }

    #[test]
    fn files_expire_despite_a_temporarily_wrong_clock() {
        let daily: Vec<u32> = (0..10).collect();
        assert_eq!(is_gone(&daily, 9), [0, 1]);
        assert_eq!(is_gone(&daily, 10), [0, 1, 2]);
        // A year ahead, also after a write on that day; then the clock is set right.
        assert_eq!(is_gone(&daily, 9 + 365), [0, 1, 2], "a day went by at most");
        let ahead: Vec<u32> = daily.iter().copied().chain([375, 375]).collect();
        assert_eq!(is_gone(&ahead, 375), [0, 1, 2]);
        assert_eq!(is_gone(&ahead, 10), [0, 1, 2]);
        // A year behind: files written then are removed with the oldest, and none of today's are.
        assert_eq!(is_gone(&[1000, 1001, 640], 1001), Vec::<u32>::new());
    }
}
