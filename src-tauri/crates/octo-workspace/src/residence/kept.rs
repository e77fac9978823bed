//! Homes that were put aside: kept until the person deletes them.

use super::{Residence, pointer::Pointer, tree};
use crate::erase_home;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// What the name of a home that was put aside has after the home's own.
pub const PUT_ASIDE: &str = "-before-";

/// A home that was put aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptHome {
    /// Where it is.
    pub path: PathBuf,
    /// What it takes.
    pub bytes: u64,
}

/// Homes that were put aside: where something took the home's place, and where it was before it moved.
pub fn kept_homes(residence: &Residence) -> Vec<KeptHome> {
    let mut places: Vec<PathBuf> = residence.former.clone();
    for home in residence.former.iter().chain([&residence.home]) {
        places.extend(put_aside(home));
    }
    places.sort();
    places.dedup();
    let is_home = |place: &PathBuf| *place != residence.home && place.join("octo.db").is_file();
    places
        .into_iter()
        .filter(is_home)
        .map(|path| KeptHome {
            bytes: tree::measure(&path, &|_| false).map_or(0, |amount| amount.bytes),
            path,
        })
        .collect()
}

/// Deletes one of them for good: what Octo put there. What is left, by name.
///
/// # Errors
/// Those of the system; `NotFound` for a folder that is none of them.
pub fn drop_kept(residence: &Residence, path: &Path) -> io::Result<Vec<String>> {
    if !kept_homes(residence).iter().any(|kept| kept.path == path) {
        return Err(io::ErrorKind::NotFound.into());
    }
    erase_home(path)
}

/// Deletes everything for good: the home, the homes that were put aside, where they are and what is planned. What is
/// left: of the home by name, of others by path.
///
/// # Errors
/// Those of the system, where the home cannot be read.
pub fn erase_all(residence: &Residence, home: &Path) -> io::Result<Vec<String>> {
    let mut others = Vec::new();
    for kept in kept_homes(residence) {
        let left = erase_home(&kept.path).unwrap_or_else(|_| vec![".".to_owned()]);
        others.extend(left.iter().map(|name| kept.path.join(name).display().to_string()));
    }
    if let Err(error) = residence.forget() {
        others.push(error.to_string());
    }
    let mut left = erase_home(home)?;
    left.extend(others);
    Ok(left)
}

fn put_aside(home: &Path) -> Vec<PathBuf> {
    let Some((above, name)) = home.parent().zip(home.file_name()) else { return Vec::new() };
    let begin = format!("{}{PUT_ASIDE}", name.to_string_lossy());
    let entries = fs::read_dir(above).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&begin))
        .map(|entry| entry.path())
        .collect()
}

impl Pointer {
    /// The home is there now and was here before.
    pub(super) fn moved(before: Option<Self>, from: &Path, to: &Path) -> Self {
        let mut former = before.map(|pointer| pointer.former).unwrap_or_default();
        former.retain(|place| place != from && place != to);
        former.push(from.to_owned());
        Self { home: to.to_owned(), former }
    }
}
