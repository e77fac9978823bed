//! Copies, compares and flushes folders.

use super::HomePlanError;
use crate::private_folder;
use blake3::Hasher;
use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::Path,
};

/// A callback after every change of the disk, at which a test can end a process.
pub(super) type ChangeHook<'a> = &'a mut dyn FnMut();

/// Bytes read at a time.
const CHUNK_BYTES: usize = 1 << 16;

/// The number and size of copied files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CopiedAmount {
    pub(super) files: u64,
    pub(super) bytes: u64,
}

/// The treatment of links.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkTreatment {
    /// Links are recreated as they are.
    Recreate,
    /// Links are left out: the targets in another person's copy are not ours.
    Skip,
}

/// Copies a folder's content into an existing folder, except the top-level names in `skip`. Verifies every
/// file: flushes it, reads it again, and compares it with the bytes read before. Leaves out pipes and sockets.
pub(super) fn copy_content(
    source: &Path,
    target: &Path,
    links: LinkTreatment,
    skip: &dyn Fn(&str) -> bool,
    watch: ChangeHook<'_>,
) -> Result<CopiedAmount, HomePlanError> {
    let mut amount = CopiedAmount::default();
    for entry in entries(source)? {
        if skip(&entry.to_string_lossy()) {
            continue;
        }
        copy(&source.join(&entry), &target.join(&entry), links, &mut amount, watch)?;
    }
    sync_folder(target).map_err(|error| HomePlanError::from_io(target, error))?;
    Ok(amount)
}

fn copy(
    source: &Path,
    copy_path: &Path,
    links: LinkTreatment,
    amount: &mut CopiedAmount,
    watch: ChangeHook<'_>,
) -> Result<(), HomePlanError> {
    let meta = source.symlink_metadata().map_err(|error| HomePlanError::from_io(source, error))?;
    let write_error = |error| HomePlanError::from_io(copy_path, error);
    if meta.is_dir() {
        private_folder(copy_path).map_err(write_error)?;
        watch();
        for entry in entries(source)? {
            copy(&source.join(&entry), &copy_path.join(&entry), links, amount, watch)?;
        }
        sync_folder(copy_path).map_err(write_error)?;
    } else if meta.is_file() {
        amount.bytes += copy_file(source, copy_path, &meta, links)?;
        amount.files += 1;
        watch();
    } else if meta.is_symlink() && links == LinkTreatment::Recreate {
        let target = fs::read_link(source).map_err(|error| HomePlanError::from_io(source, error))?;
        link(&target, copy_path).map_err(write_error)?;
        watch();
    }
    Ok(())
}

fn copy_file(
    source_path: &Path,
    target: &Path,
    meta: &fs::Metadata,
    links: LinkTreatment,
) -> Result<u64, HomePlanError> {
    let (read, write_error) =
        (|error| HomePlanError::from_io(source_path, error), |error| HomePlanError::from_io(target, error));
    let mut source = File::open(source_path).map_err(read)?;
    let mut made = File::create_new(target).map_err(write_error)?;
    let (mut hasher, mut bytes, mut buffer) = (Hasher::new(), 0, vec![0; CHUNK_BYTES]);
    loop {
        let length = source.read(&mut buffer).map_err(read)?;
        let part = buffer.get(..length).unwrap_or_default();
        if part.is_empty() {
            break;
        }
        hasher.update(part);
        made.write_all(part).map_err(write_error)?;
        bytes += part.len() as u64;
    }
    made.set_permissions(permissions_of(meta, links)).map_err(write_error)?;
    if let Ok(modified) = meta.modified()
        && let Err(error) = made.set_modified(modified)
    {
        tracing::debug!(%error, "a copied file has a new time");
    }
    made.sync_all().map_err(write_error)?;
    let copied_hash = hash(target).map_err(write_error)?;
    if copied_hash != hasher.finalize() {
        return Err(write_error(io::Error::other("what was written is not what is read")));
    }
    Ok(bytes)
}

/// Returns the permissions of a copied file. A file of a home keeps its own. A file of a copy may be
/// write-protected, or from a read-only disk: Octo must be able to write it in a home.
#[cfg(unix)]
fn permissions_of(meta: &fs::Metadata, links: LinkTreatment) -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = meta.permissions().mode();
    fs::Permissions::from_mode(match links {
        LinkTreatment::Recreate => mode,
        LinkTreatment::Skip => mode | 0o600,
    })
}

#[cfg(not(unix))]
#[expect(
    clippy::permissions_set_readonly_false,
    reason = "the attribute gives nobody else a right here, as a mode would"
)]
fn permissions_of(meta: &fs::Metadata, links: LinkTreatment) -> fs::Permissions {
    let mut permissions = meta.permissions();
    if links == LinkTreatment::Skip {
        permissions.set_readonly(false);
    }
    permissions
}

fn hash(path: &Path) -> io::Result<blake3::Hash> {
    let mut hasher = Hasher::new();
    io::copy(&mut File::open(path)?, &mut hasher)?;
    Ok(hasher.finalize())
}

/// Returns the names in a folder, sorted.
pub(super) fn entries(folder: &Path) -> Result<Vec<std::ffi::OsString>, HomePlanError> {
    let error_at = |error| HomePlanError::from_io(folder, error);
    let names = fs::read_dir(folder).map_err(error_at)?.map(|entry| entry.map(|entry| entry.file_name()));
    let mut names = names.collect::<io::Result<Vec<_>>>().map_err(error_at)?;
    names.sort_unstable();
    Ok(names)
}

/// Returns the number and size of a folder's files, except the top-level names in `skip`. Does not follow
/// links.
pub(super) fn measure(folder: &Path, skip: &dyn Fn(&str) -> bool) -> Result<CopiedAmount, HomePlanError> {
    fn count(path: &Path, amount: &mut CopiedAmount) -> Result<(), HomePlanError> {
        let meta = path.symlink_metadata().map_err(|error| HomePlanError::from_io(path, error))?;
        if meta.is_dir() {
            for entry in entries(path)? {
                count(&path.join(entry), amount)?;
            }
        } else if meta.is_file() {
            amount.files += 1;
            amount.bytes += meta.len();
        }
        Ok(())
    }
    let mut amount = CopiedAmount::default();
    for entry in entries(folder)? {
        if !skip(&entry.to_string_lossy()) {
            count(&folder.join(entry), &mut amount)?;
        }
    }
    Ok(amount)
}

/// Deletes the content of a folder, except for one name.
pub(super) fn clear(folder: &Path, but: &str, watch: ChangeHook<'_>) -> Result<(), HomePlanError> {
    for entry in entries(folder)? {
        if entry.to_string_lossy() == but {
            continue;
        }
        remove(&folder.join(entry))?;
        watch();
    }
    Ok(())
}

/// Deletes a file, a link, or a folder with its content. A missing path is no error.
pub(super) fn remove(path: &Path) -> Result<(), HomePlanError> {
    let removed = match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(HomePlanError::from_io(path, error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

pub(super) fn remove_file_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) => sync_folder_of(path),
        Err(_) => Ok(()),
    }
}

/// Renames a file or folder. A failed flush does not undo a rename that has happened, so it is no error.
pub(super) fn rename(source: &Path, target: &Path) -> io::Result<()> {
    fs::rename(source, target)?;
    if let Err(error) = sync_folder_of(target) {
        tracing::warn!(%error, "a new name is not known to be written out");
    }
    Ok(())
}

pub(super) fn sync_folder_of(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), sync_folder)
}

/// Flushes a folder: a renamed or new name is durable only after that.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match octo_store::flush_folder(folder) {
        // Some file systems do not support it.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            Ok(())
        }
        result => result,
    }
}

#[cfg(unix)]
fn link(target: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

/// Does nothing: links need rights there that Octo lacks; Octo recreates its own links at startup.
#[cfg(not(unix))]
fn link(target: &Path, path: &Path) -> io::Result<()> {
    tracing::warn!(target = %target.display(), path = %path.display(), "a link was not made again");
    Ok(())
}

/// Returns the bytes that can be written below a folder; `None` if unknown.
#[cfg(unix)]
pub(super) fn free_space(folder: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(folder).ok()?;
    stat.f_bavail.checked_mul(stat.f_frsize)
}

#[cfg(not(unix))]
pub(super) fn free_space(_folder: &Path) -> Option<u64> {
    None
}

/// Whether a folder is the root of a file system: its name cannot be given to another folder.
#[cfg(unix)]
pub(super) fn is_mount(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let device = |path: &Path| path.symlink_metadata().map(|meta| meta.dev()).ok();
    let parent_device = folder.parent().and_then(device);
    parent_device.is_none()
        || device(folder).is_some_and(|device_number| Some(device_number) != parent_device)
}

#[cfg(not(unix))]
pub(super) fn is_mount(folder: &Path) -> bool {
    folder.parent().is_none()
}
