//! Folders that ship with Octo and that users must not change: written whole, read-only, and rewritten if they
//! differ from the shipped content.

use std::{
    collections::BTreeSet,
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

/// A file of a bundle.
#[derive(Clone, Copy, Debug)]
pub struct BundledFile {
    /// Its path in the folder, separated by `/`.
    pub path: &'static str,
    /// Its content.
    pub bytes: &'static [u8],
}

/// The result of installing a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BundleState {
    /// The bundle existed in this version, unchanged.
    Present,
    /// The bundle was missing, outdated or changed, and was written.
    Written,
}

/// The file that identifies the version: a hash of the whole bundle.
const STAMP: &str = ".version";
/// Name prefix of a bundle that is being created or removed; a crash may leave one behind.
const TEMPORARY_PREFIX: &str = ".bundle-";

/// Makes `folder` contain exactly these files. Readers see the old files or the new ones, except for a moment
/// in which the folder does not exist. Foreign files in it are lost: nothing else belongs there.
///
/// # Errors
///
/// I/O errors. The old folder stays, or is gone if it could not be put back.
pub fn install_bundle(folder: &Path, files: &[BundledFile]) -> io::Result<BundleState> {
    let stamp = stamp(files);
    if is_intact(folder, files, &stamp) {
        return Ok(BundleState::Present);
    }
    let parent = folder.parent().ok_or_else(|| io::Error::other("a bundle has a folder above it"))?;
    let parent = crate::private_folder(parent)?;
    remove_temporaries(&parent)?;
    let passing = |label: &str| parent.join(format!("{TEMPORARY_PREFIX}{label}-{}", std::process::id()));
    let (new_folder, old_folder) = (passing("new"), passing("old"));
    let made = make(&new_folder, files, &stamp).and_then(|()| {
        match fs::symlink_metadata(folder) {
            Ok(_) => fs::rename(folder, &old_folder)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        fs::rename(&new_folder, folder)
    });
    let made = made.or_else(|error| {
        // Another Octo process may have been faster; its bundle is just as good.
        if is_intact(folder, files, &stamp) {
            return Ok(());
        }
        if fs::symlink_metadata(folder).is_err() {
            let _ = fs::rename(&old_folder, folder);
        }
        Err(error)
    });
    let cleared = remove_temporaries(&parent);
    made.and(cleared).map(|()| BundleState::Written)
}

fn stamp(files: &[BundledFile]) -> String {
    let mut hasher = blake3::Hasher::new();
    for file in files {
        for part in [file.path.as_bytes(), file.bytes] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
    }
    format!("{}\n", hasher.finalize().to_hex())
}

/// Whether the bundle is complete, unchanged and contains nothing else. The version file alone would not reveal
/// an edit, and Octo follows the instructions in these files.
fn is_intact(folder: &Path, files: &[BundledFile], stamp: &str) -> bool {
    let mut expected: BTreeSet<PathBuf> = files.iter().map(|file| folder.join(file.path)).collect();
    expected.insert(folder.join(STAMP));
    let is_folder = fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir());
    is_folder
        && list_files(folder, expected.len()).is_ok_and(|found| found == expected)
        && fs::read_to_string(folder.join(STAMP)).is_ok_and(|present| present == stamp)
        && files
            .iter()
            .all(|file| fs::read(folder.join(file.path)).is_ok_and(|present| present == file.bytes))
}

/// Returns the files below a folder. Fails at more than `limit` of them, and at a link.
fn list_files(folder: &Path, limit: usize) -> io::Result<BTreeSet<PathBuf>> {
    let (mut files, mut folders) = (BTreeSet::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_symlink() || files.len() > limit || folders.len() > limit {
                return Err(io::Error::other("something that does not belong there"));
            }
            if kind.is_dir() {
                folders.push(entry.path());
            } else {
                files.insert(entry.path());
            }
        }
    }
    Ok(files)
}

fn make(folder: &Path, files: &[BundledFile], stamp: &str) -> io::Result<()> {
    fs::create_dir(folder)?;
    let mut folders = BTreeSet::new();
    for (path, bytes) in files.iter().map(|file| (file.path, file.bytes)).chain([(STAMP, stamp.as_bytes())]) {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
            let inner = parent.ancestors().take_while(|parent| *parent != folder);
            folders.extend(inner.map(Path::to_owned));
        }
        let mut file = fs::File::create(&path)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        set_readonly(&path)?;
    }
    // The folder itself stays writable: some systems require that to move it.
    folders.iter().rev().try_for_each(|folder| set_readonly(folder))
}

/// Removes temporary bundles, of this process or left by a crash. It may remove a bundle another process is
/// writing; that process then fails and finds the bundle complete.
fn remove_temporaries(parent: &Path) -> io::Result<()> {
    for entry in fs::read_dir(parent)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(TEMPORARY_PREFIX) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

/// Removes a folder with read-only content. Removes a link itself, not its target.
fn remove(path: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(path)?.is_dir() {
        return fs::remove_file(path);
    }
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        set_writable(&folder)?;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if cfg!(windows) && !kind.is_symlink() {
                set_writable(&entry.path())?;
            }
        }
    }
    fs::remove_dir_all(path)
}

fn set_readonly(path: &Path) -> io::Result<()> {
    let mut permissions = fs::symlink_metadata(path)?.permissions();
    permissions.set_readonly(true);
    fs::set_permissions(path, permissions)
}

#[cfg(unix)]
fn set_writable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
#[expect(clippy::permissions_set_readonly_false, reason = "only Unix gives more than the right to the owner")]
fn set_writable(path: &Path) -> io::Result<()> {
    let mut permissions = fs::symlink_metadata(path)?.permissions();
    permissions.set_readonly(false);
    fs::set_permissions(path, permissions)
}

#[cfg(test)]
mod tests;
