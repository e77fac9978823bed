//! A database that is damaged set aside, and a whole one put in its place.
//!
//! What is to take the place is made whole beside it first, and from the moment it has its name there
//! (`octo.db-ready-<stamp>`) it does take it: whoever opens the home next, this process or a later one, first moves
//! the damaged database and its logs aside (`octo.db-damaged-<stamp>`), then it in. Each step is one rename, and which
//! is next is seen from what is there. So a kill or a power cut anywhere leaves the damaged database or the one that
//! takes its place, never neither; and what was set aside is deleted by nobody but the person.

use crate::{
    Claim, OpenError, backup, claim, flush_folder,
    inspect::inspect,
    open::{self, with_suffix},
};
use octo_protocol::{ApiError, Millis};
use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Between the database's name and the stamp of what is about to take its place.
const READY: &str = "-ready-";
/// Between the database's name and the stamp of one that was set aside.
const DAMAGED: &str = "-damaged-";
/// A database and the logs beside it, by the ends of their names. The logs first: one that stayed behind alone would be
/// poured into whatever came to lie beside it.
const PARTS: [&str; 4] = ["-wal", "-shm", "-journal", ""];

/// How long the home may still be in use: whoever asks for it may just be trying to start once more.
const PATIENCE: Duration = Duration::from_secs(2);

/// A copy of the database that can take its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SoundBackup {
    /// Where it is.
    pub place: PathBuf,
    /// When it was made.
    pub at: Millis,
    /// How many sessions are in it, those in the trash counted.
    pub sessions: u64,
}

/// What takes a damaged database's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// A backup, by its place; see [`sound_backup`].
    Backup(PathBuf),
    /// A new database with nothing in it.
    Empty,
}

/// Why nothing took a database's place. It is as it was, whichever it is.
#[derive(Debug, thiserror::Error)]
pub enum ReplaceError {
    /// Another process works in the home.
    #[error("another process works in the home")]
    InUse,
    /// The database is not damaged.
    #[error("the database is not damaged")]
    Sound,
    /// The backup is not there, or is damaged itself.
    #[error("{0} is no backup that can be used")]
    NoBackup(PathBuf),
    /// The home cannot be used at all.
    #[error(transparent)]
    Unusable(OpenError),
    /// The disk is full.
    #[error("{0} has no room")]
    NoRoom(PathBuf),
    /// The system refused something.
    #[error("{path}: {error}")]
    Failed {
        /// What was being read or written.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

impl ReplaceError {
    fn of(path: &Path) -> impl Fn(io::Error) -> Self {
        move |error| match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoRoom(path.to_owned()),
            _ => Self::Failed { path: path.to_owned(), error },
        }
    }
}

impl From<ReplaceError> for ApiError {
    fn from(error: ReplaceError) -> Self {
        match error {
            ReplaceError::InUse => Self::new("home.change_in_use"),
            ReplaceError::Sound => Self::new("store.not_damaged"),
            ReplaceError::NoBackup(path) => Self::new("store.no_backup").arg("path", path.display()),
            ReplaceError::Unusable(error) => error.into(),
            ReplaceError::NoRoom(path) => Self::new("home.no_room").arg("path", path.display()).retryable(),
            ReplaceError::Failed { path, error } => {
                Self::new("home.change_failed").arg("path", path.display()).detail(error).retryable()
            }
        }
    }
}

/// The newest backup that is whole and of no newer Octo. Each is read through, which takes about a second for 500 MB.
pub fn sound_backup(home: &Path) -> Option<SoundBackup> {
    backup::newest_first(home).find_map(|(place, at)| match inspect(&place) {
        Ok(found) => Some(SoundBackup { place, at: at.cast_signed(), sessions: found.sessions }),
        Err(error) => {
            tracing::warn!(%error, "a backup cannot be used");
            None
        }
    })
}

/// Whether a database lies in a home, or is about to.
pub fn has_database(home: &Path) -> bool {
    home.join("octo.db").is_file() || matches!(ready(home), Ok(Some(_)))
}

/// Whether a damaged database was set aside in a home, and is still there.
pub fn has_damaged_aside(home: &Path) -> bool {
    named(home, DAMAGED).is_ok_and(|mut found| found.next().is_some())
}

/// Sets a damaged database aside and puts another in its place; where the damaged one is now. `stamp` names it: two
/// that are the same are told apart.
///
/// # Errors
/// See [`ReplaceError`]; the home is as it was.
pub fn replace_damaged(home: &Path, with: &Replacement, stamp: &str) -> Result<PathBuf, ReplaceError> {
    let _lock = alone(home)?;
    match open::find_damage(home) {
        Ok(()) => return Err(ReplaceError::Sound),
        Err(OpenError::Damaged { .. }) => {}
        Err(error) => return Err(ReplaceError::Unusable(error)),
    }
    let new = home.join(open::NEW);
    open::remove_new(home).map_err(ReplaceError::of(&new))?;
    let ready = home.join(format!("octo.db{READY}{}", unused(home, stamp)));
    let made = make(with, &new)
        .and_then(|()| fs::rename(&new, &ready).map_err(ReplaceError::of(&ready)))
        .inspect_err(|_| {
            // Half of one is worse than none; the next start takes it away where this cannot.
            let _ = open::remove_new(home);
        });
    made?;
    sync(home);
    // From here on it is decided: what fails now is gone on with by whoever opens the home next.
    let aside = finish(home, &mut || {}).map_err(ReplaceError::of(home))?;
    aside.ok_or(ReplaceError::Failed { path: ready, error: io::ErrorKind::NotFound.into() })
}

/// Keeps others out of a home while this is kept.
fn alone(home: &Path) -> Result<Option<File>, ReplaceError> {
    let begun = Instant::now();
    loop {
        match claim(home).map_err(ReplaceError::of(home))? {
            Claim::Alone(lock) => return Ok(lock),
            Claim::Occupied if begun.elapsed() >= PATIENCE => return Err(ReplaceError::InUse),
            Claim::Occupied => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// Makes what is to take the place, whole and written out.
fn make(with: &Replacement, new: &Path) -> Result<(), ReplaceError> {
    match with {
        Replacement::Empty => open::make_new(new).map_err(ReplaceError::Unusable),
        Replacement::Backup(place) => {
            let unusable = |_| ReplaceError::NoBackup(place.clone());
            inspect(place).map_err(unusable)?;
            let failed = ReplaceError::of(new);
            open::private(new).map_err(&failed)?;
            let mut to = File::options().write(true).open(new).map_err(&failed)?;
            let mut from = File::open(place).map_err(ReplaceError::of(place))?;
            io::copy(&mut from, &mut to).and_then(|_| to.sync_all()).map_err(&failed)?;
            // What was written is what will be read.
            inspect(new).map_err(unusable).map(drop)
        }
    }
}

/// Goes on with what was decided: the damaged database aside, the other one in its place. Where the damaged one is;
/// none where nothing was decided. For whoever is alone with the home. `watch` is called after every change of the
/// disk.
pub(crate) fn finish(home: &Path, watch: &mut dyn FnMut()) -> io::Result<Option<PathBuf>> {
    let Some((ready, stamp)) = ready(home)? else { return Ok(None) };
    let database = home.join("octo.db");
    let aside = home.join(format!("octo.db{DAMAGED}{stamp}"));
    for part in PARTS {
        let (from, to) = (with_suffix(&database, part), with_suffix(&aside, part));
        if from.symlink_metadata().is_ok() {
            fs::rename(&from, &to)?;
            watch();
        }
    }
    open::remove(&open::suspicion(&database))?;
    fs::rename(ready, &database)?;
    watch();
    sync(home);
    tracing::warn!(aside = %aside.display(), "a damaged database was set aside and another put in its place");
    Ok(Some(aside))
}

/// What is about to take the database's place, and its stamp. Of several the first by name, which the others follow.
fn ready(home: &Path) -> io::Result<Option<(PathBuf, String)>> {
    Ok(named(home, READY)?.min())
}

/// What lies in a home under the database's name and a word, with the stamp.
fn named(home: &Path, word: &'static str) -> io::Result<impl Iterator<Item = (PathBuf, String)>> {
    Ok(fs::read_dir(home)?.flatten().filter_map(move |entry| {
        let name = entry.file_name().into_string().ok()?;
        let stamp = name.strip_prefix("octo.db")?.strip_prefix(word)?.to_owned();
        Some((entry.path(), stamp))
    }))
}

/// A stamp under which nothing was set aside yet.
fn unused(home: &Path, stamp: &str) -> String {
    let is_free = |stamp: &String| {
        let aside = home.join(format!("octo.db{DAMAGED}{stamp}"));
        PARTS.iter().all(|part| with_suffix(&aside, part).symlink_metadata().is_err())
    };
    let numbered = (2..).map(|number: u32| format!("{stamp}.{number}"));
    std::iter::once(stamp.to_owned()).chain(numbered).find(is_free).unwrap_or_else(|| stamp.to_owned())
}

/// Names last only once their folder is written out. Some file systems know no such thing.
fn sync(folder: &Path) {
    if let Err(error) = flush_folder(folder) {
        tracing::debug!(%error, "names in the home are not known to be written out");
    }
}

#[cfg(test)]
mod tests;
