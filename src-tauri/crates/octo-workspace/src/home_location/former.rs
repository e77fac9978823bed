//! Former homes: kept until the person deletes them.

use super::{HomeLocation, pointer::HomePointer, tree};
use crate::erase_home;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The suffix of a former home's name, after the home's own name.
pub const FORMER_HOME_INFIX: &str = "-before-";

/// A former home that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormerHome {
    /// Its path.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
}

/// Returns the former homes: those replaced by a copy, and those at earlier locations.
pub fn former_homes(location: &HomeLocation) -> Vec<FormerHome> {
    let mut places: Vec<PathBuf> = location.former.clone();
    for home in location.former.iter().chain([&location.home]) {
        places.extend(former_homes_next_to(home));
    }
    places.sort();
    places.dedup();
    let is_home = |place: &PathBuf| *place != location.home && place.join("octo.db").is_file();
    places
        .into_iter()
        .filter(is_home)
        .map(|path| FormerHome {
            bytes: tree::measure(&path, &|_| false).map_or(0, |amount| amount.bytes),
            path,
        })
        .collect()
}

/// Deletes Octo's files in one of them for good. Returns the names that remain.
///
/// # Errors
///
/// I/O errors; `NotFound` for any other folder.
pub fn delete_former_home(location: &HomeLocation, path: &Path) -> io::Result<Vec<String>> {
    if !former_homes(location).iter().any(|kept| kept.path == path) {
        return Err(io::ErrorKind::NotFound.into());
    }
    erase_home(path)
}

/// Deletes everything for good: the home, the former homes, the pointer and the plan. Returns the remains: by
/// name in the home, by path elsewhere.
///
/// # Errors
///
/// I/O errors of reading the home.
pub fn erase_all(location: &HomeLocation, home: &Path) -> io::Result<Vec<String>> {
    let mut others = Vec::new();
    for kept in former_homes(location) {
        let left = erase_home(&kept.path).unwrap_or_else(|_| vec![".".to_owned()]);
        others.extend(left.iter().map(|name| kept.path.join(name).display().to_string()));
    }
    if let Err(error) = location.forget() {
        others.push(error.to_string());
    }
    let mut left = erase_home(home)?;
    left.extend(others);
    Ok(left)
}

fn former_homes_next_to(home: &Path) -> Vec<PathBuf> {
    let Some((above, name)) = home.parent().zip(home.file_name()) else { return Vec::new() };
    let begin = format!("{}{FORMER_HOME_INFIX}", name.to_string_lossy());
    let entries = fs::read_dir(above).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&begin))
        .map(|entry| entry.path())
        .collect()
}

impl HomePointer {
    /// Returns the pointer after the home moved from one path to another.
    pub(super) fn after_move(before: Option<Self>, from: &Path, to: &Path) -> Self {
        let mut former = before.map(|pointer| pointer.former).unwrap_or_default();
        former.retain(|place| place != from && place != to);
        former.push(from.to_owned());
        Self { home: to.to_owned(), former }
    }
}
