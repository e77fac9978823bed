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
    let mut paths: Vec<PathBuf> = location.former.clone();
    for home in location.former.iter().chain([&location.home]) {
        paths.extend(former_homes_next_to(home));
    }
    paths.sort();
    paths.dedup();
    let is_home = |candidate: &PathBuf| *candidate != location.home && candidate.join("octo.db").is_file();
    paths
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
    if !former_homes(location).iter().any(|former| former.path == path) {
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
    let mut unremoved = Vec::new();
    for former in former_homes(location) {
        let remaining = erase_home(&former.path).unwrap_or_else(|_| vec![".".to_owned()]);
        unremoved.extend(remaining.iter().map(|name| former.path.join(name).display().to_string()));
    }
    if let Err(error) = location.forget() {
        unremoved.push(error.to_string());
    }
    let mut remaining = erase_home(home)?;
    remaining.extend(unremoved);
    Ok(remaining)
}

fn former_homes_next_to(home: &Path) -> Vec<PathBuf> {
    let Some((parent, name)) = home.parent().zip(home.file_name()) else { return Vec::new() };
    let begin = format!("{}{FORMER_HOME_INFIX}", name.to_string_lossy());
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&begin))
        .map(|entry| entry.path())
        .collect()
}

impl HomePointer {
    /// Returns the pointer after the home moved from one path to another.
    pub(super) fn after_move(before: Option<Self>, source: &Path, target: &Path) -> Self {
        let mut former = before.map(|pointer| pointer.former).unwrap_or_default();
        former.retain(|path| path != source && path != target);
        former.push(source.to_owned());
        Self { home: target.to_owned(), former }
    }
}
