//! Writes a skill that the person chose.

use super::{Candidate, InstallError};
use crate::{discovery::SKILL_FILE, name::MAX_NAME, yaml::Yaml};
use octo_workspace::private_folder;
use std::{
    fs::{self, File, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

/// Name prefix of a folder in which a skill is being written.
const UNFINISHED_PREFIX: &str = ".installing-";
/// Name prefix of a folder that contains a replaced skill.
const REPLACED_PREFIX: &str = ".replaced-";
/// File in such a folder that is locked during writing.
const LOCK_FILE: &str = ".lock";
/// Maximum duration of an installation.
const MAX_DURATION: Duration = Duration::from_secs(60 * 60);

/// Maximum number of alternative names tried.
const MAX_TRIES: u32 = 100;

/// Behaviour when the name already exists in the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnConflict {
    /// Nothing is written.
    Refuse,
    /// Replaces the old one, which is moved to a separate folder for the trash.
    Replace,
    /// Appends a number to the new one's name.
    Rename,
}

/// An installed skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledSkill {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Current path of the replaced skill. The caller must move it to the trash and then remove its parent
    /// folder.
    pub replaced: Option<PathBuf>,
}

/// Writes an inspected skill into the folder `folder`. All of it is written next to its destination and renamed,
/// so there is the whole skill or none.
///
/// # Errors
/// Returns [`InstallError::Broken`] for a skill with an error, [`InstallError::Exists`] under
/// [`OnConflict::Refuse`], and errors of the system. The previous content is preserved.
pub fn install(
    candidate: &Candidate,
    target: &Path,
    on_conflict: OnConflict,
) -> Result<InstalledSkill, InstallError> {
    if candidate.error.is_some() {
        return Err(InstallError::Broken(candidate.name.clone()));
    }
    let target = private_folder(target)?;
    let is_taken = |name: &str| target.join(name).symlink_metadata().is_ok();
    let name = match (is_taken(&candidate.name), on_conflict) {
        (false, _) | (true, OnConflict::Replace) => candidate.name.clone(),
        (true, OnConflict::Refuse) => return Err(InstallError::Exists(candidate.name.clone())),
        (true, OnConflict::Rename) => (2..MAX_TRIES)
            .map(|number| numbered(&candidate.name, number))
            .find(|name| !is_taken(name))
            .ok_or_else(|| InstallError::Exists(candidate.name.clone()))?,
    };
    let temporary = tempfile::Builder::new().prefix(UNFINISHED_PREFIX).tempdir_in(&target)?;
    let _being_written = lock_folder(temporary.path())?;
    let made = temporary.path().join(&name);
    fs::create_dir(&made)?;
    for file in &candidate.contents {
        let renamed = file.path == SKILL_FILE && name != candidate.name;
        if renamed {
            let mut front_matter = candidate.document.front.clone();
            front_matter.set("name", Yaml::text(&name));
            write_file(
                &made,
                SKILL_FILE,
                front_matter.with_body(&candidate.document.body).as_bytes(),
                false,
            )?;
        } else {
            write_file(&made, &file.path, &file.content, file.executable)?;
        }
    }
    let folder = target.join(&name);
    let replaced = if is_taken(&name) { Some(move_aside(&target, &name)?) } else { None };
    if let Err(error) = fs::rename(&made, &folder) {
        if let Some(replaced) = &replaced {
            fs::rename(replaced, &folder)?;
        }
        return Err(error.into());
    }
    Ok(InstalledSkill { name, folder, replaced })
}

/// Removes the remains of unfinished installations from a folder of skills, and restores the skills they had
/// moved away. Leaves the files of living processes alone. Returns how many there were.
///
/// # Errors
/// Returns errors of the system if the folder cannot be read; anything that cannot be removed stays, and is
/// logged.
pub fn remove_unfinished(skills_folder: &Path) -> io::Result<usize> {
    let (mut dead, mut active, mut replaced) = (Vec::new(), 0, Vec::new());
    for entry in fs::read_dir(skills_folder)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        // A link of that name does not come from an installation.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && name.starts_with(UNFINISHED_PREFIX) {
            if is_being_written(&entry.path()) { active += 1 } else { dead.push(entry.path()) }
        } else if is_folder && name.starts_with(REPLACED_PREFIX) {
            replaced.push(entry.path());
        }
    }
    let mut cleared = 0;
    for folder in dead {
        match fs::remove_dir_all(&folder) {
            Ok(()) => cleared += 1,
            Err(error) => tracing::warn!(folder = %folder.display(), %error, "an unfinished skill stays"),
        }
    }
    // Between two renames, a living process has a skill only there.
    if active == 0 {
        replaced.iter().for_each(|replaced| restore_replaced(skills_folder, replaced));
    }
    Ok(cleared)
}

/// Restores a skill that was moved away for an installation that never finished; if its name is in use, it
/// stays.
fn restore_replaced(folder: &Path, replaced: &Path) {
    for entry in fs::read_dir(replaced).into_iter().flatten().flatten() {
        let path = folder.join(entry.file_name());
        if path.symlink_metadata().is_err()
            && let Err(error) = fs::rename(entry.path(), &path)
        {
            tracing::warn!(path = %path.display(), %error, "a skill that was put aside stays there");
        }
    }
    // Only if nothing is left in it.
    let _kept = fs::remove_dir(replaced);
}

/// Marks, while the file is kept open, that this process writes there.
fn lock_folder(folder: &Path) -> io::Result<File> {
    let file = File::create(folder.join(LOCK_FILE))?;
    match file.lock() {
        // On a file system without locks, the time decides.
        Err(error) if error.kind() != io::ErrorKind::Unsupported => Err(error),
        Ok(()) | Err(_) => Ok(file),
    }
}

fn is_being_written(folder: &Path) -> bool {
    let lock = File::open(folder.join(LOCK_FILE)).map(|file| file.try_lock());
    match lock {
        Ok(Ok(())) => false,
        Ok(Err(TryLockError::WouldBlock)) => true,
        // No lock yet, or no locks at all: the folder must have been unchanged for an hour.
        Ok(Err(TryLockError::Error(_))) | Err(_) => {
            let made = folder.metadata().and_then(|meta| meta.modified()).ok();
            made.and_then(|made| made.elapsed().ok()).is_none_or(|age| age < MAX_DURATION)
        }
    }
}

fn numbered(name: &str, number: u32) -> String {
    let end = format!("-{number}");
    let shortened: String = name.chars().take(MAX_NAME - end.len()).collect();
    format!("{}{end}", shortened.trim_end_matches('-'))
}

fn write_file(folder: &Path, path: &str, content: &[u8], executable: bool) -> io::Result<()> {
    // Every path was validated when it was read: it has no `..` and no root.
    let target = folder.join(path);
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut file = File::create(&target)?;
    file.write_all(content)?;
    if executable {
        make_executable(&file)?;
    }
    file.sync_all()
}

/// Moves an existing entry into a hidden folder next to it, which is not searched for skills.
fn move_aside(folder: &Path, name: &str) -> io::Result<PathBuf> {
    let backup = tempfile::Builder::new().prefix(REPLACED_PREFIX).tempdir_in(folder)?;
    let path = backup.path().join(name);
    fs::rename(folder.join(name), &path)?;
    let _kept = backup.keep();
    Ok(path)
}

#[cfg(unix)]
fn make_executable(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = file.metadata()?.permissions().mode();
    // Executable for each user who may read it.
    file.set_permissions(fs::Permissions::from_mode(mode | ((mode & 0o444) >> 2)))
}

#[cfg(not(unix))]
fn make_executable(_file: &File) -> io::Result<()> {
    Ok(())
}
