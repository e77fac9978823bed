//! How old files of Octo's own are, by a clock that may be wrong.

use std::{
    fs::Metadata,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// So much counts between two files that were written one after the other, and since the last one: a clock that is a
/// year ahead for an hour then makes nothing a year old.
const STEP: Duration = Duration::from_secs(24 * 60 * 60);

/// The files of these folders that are older than `keep`, as of now. Days on which nothing was written to any of them do
/// not count but for one in a row, so that a long pause, or a clock that went wrong, only keeps them for longer. What
/// cannot be read is left out.
pub fn outlived<'a>(folders: impl IntoIterator<Item = &'a Path>, keep: Duration) -> Vec<PathBuf> {
    let entries = folders.into_iter().filter_map(|folder| folder.read_dir().ok()).flatten().flatten();
    let written = |data: Metadata| data.is_file().then(|| data.modified().ok()).flatten();
    let files = entries
        .filter_map(|entry| entry.metadata().ok().and_then(written).map(|written| (written, entry.path())));
    older(files.collect(), keep, SystemTime::now())
}

fn older(mut files: Vec<(SystemTime, PathBuf)>, keep: Duration, now: SystemTime) -> Vec<PathBuf> {
    files.sort_unstable_by(|one, other| other.cmp(one));
    let (mut age, mut later) = (Duration::ZERO, now);
    let mut found = Vec::new();
    for (changed, path) in files {
        // One of the future is of a clock that was set back since.
        age += later.duration_since(changed).unwrap_or_default().min(STEP);
        later = changed;
        if age > keep {
            found.push(path);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = STEP;
    const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);

    /// Of files that were written so many days after a first day, those that go on a later day.
    fn gone(written: &[u32], today: u32) -> Vec<u32> {
        let at = |day: u32| SystemTime::UNIX_EPOCH + DAY * day;
        let files = written.iter().map(|day| (at(*day), PathBuf::from(day.to_string())));
        let gone = older(files.collect(), WEEK, at(today));
        let mut days: Vec<u32> = gone.iter().map(|path| path.to_str().unwrap().parse().unwrap()).collect();
        days.sort_unstable();
        days
    }

    #[test]
    fn files_go_after_their_time_and_a_clock_that_is_wrong_for_a_while_makes_none_old() {
        let daily: Vec<u32> = (0..10).collect();
        assert_eq!(gone(&daily, 9), [0, 1]);
        assert_eq!(gone(&daily, 10), [0, 1, 2]);
        // A year ahead, also once something was written there; and set right again.
        assert_eq!(gone(&daily, 9 + 365), [0, 1, 2], "a day went by at most");
        let ahead: Vec<u32> = daily.iter().copied().chain([375, 375]).collect();
        assert_eq!(gone(&ahead, 375), [0, 1, 2]);
        assert_eq!(gone(&ahead, 10), [0, 1, 2]);
        // A year behind: what was written there goes with the oldest, and nothing of today does.
        assert_eq!(gone(&[1000, 1001, 640], 1001), Vec::<u32>::new());
    }
}
