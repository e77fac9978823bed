//! Whole trees: listed, copied, compared, flushed, removed. Links are never followed.

use super::TrashError;
use octo_store::{flush_file, flush_folder};
use std::{
    fs::{self, File, FileTimes, Metadata},
    io::{self, Read},
    path::{Path, PathBuf},
};

/// The parts of a tree, without their contents.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TreeListing(Vec<TreePart>);

#[derive(Debug, PartialEq, Eq)]
struct TreePart {
    relative_path: PathBuf,
    kind: TreePartKind,
    size: u64,
    inode: u64,
    modified: Option<std::time::SystemTime>,
}

/// The kind of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TreePartKind {
    File,
    Folder,
    Link,
    Special,
}

pub(super) fn kind(meta: &Metadata) -> TreePartKind {
    if meta.is_symlink() {
        TreePartKind::Link
    } else if meta.is_dir() {
        TreePartKind::Folder
    } else if meta.is_file() {
        TreePartKind::File
    } else {
        TreePartKind::Special
    }
}

/// Lists every part of a tree: itself first, a folder before its content, names in order.
pub(super) fn walk(
    root: &Path,
    visit: &mut impl FnMut(&Path, &Metadata) -> io::Result<()>,
) -> io::Result<()> {
    let mut waiting = vec![root.to_owned()];
    while let Some(path) = waiting.pop() {
        let meta = fs::symlink_metadata(&path)?;
        visit(&path, &meta)?;
        if meta.is_dir() {
            let names = fs::read_dir(&path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>();
            let mut children = names?;
            children.sort_unstable_by(|a, b| b.cmp(a));
            waiting.append(&mut children);
        }
    }
    Ok(())
}

impl TreeListing {
    pub(super) fn read(root: &Path) -> io::Result<Self> {
        let mut parts = Vec::new();
        walk(root, &mut |path, meta| {
            let kind = kind(meta);
            #[cfg(unix)]
            let inode = std::os::unix::fs::MetadataExt::ino(meta);
            #[cfg(not(unix))]
            let inode = 0;
            parts.push(TreePart {
                relative_path: path.strip_prefix(root).map(Path::to_owned).unwrap_or_default(),
                kind,
                size: if kind == TreePartKind::Folder { 0 } else { meta.len() },
                inode,
                modified: meta.modified().ok(),
            });
            Ok(())
        })?;
        Ok(Self(parts))
    }

    pub(super) fn bytes(&self) -> u64 {
        self.0.iter().map(|part| part.size).sum()
    }

    pub(super) fn files(&self) -> u64 {
        self.0.iter().filter(|part| part.kind != TreePartKind::Folder).count() as u64
    }

    /// Returns the first part that cannot be copied.
    pub(super) fn special(&self) -> Option<PathBuf> {
        self.0.iter().find(|part| part.kind == TreePartKind::Special).map(|part| part.relative_path.clone())
    }
}

/// Copies a tree to an unused path, with modes, times and links. Failure to preserve any of these is an error,
/// except for owners, which only the administrator may set.
pub(super) fn copy(source_path: &Path, copy_path: &Path) -> Result<(), TrashError> {
    let mut folders = Vec::new();
    walk(source_path, &mut |path, meta| {
        let target = join(copy_path, path.strip_prefix(source_path).unwrap_or(Path::new("")));
        match kind(meta) {
            TreePartKind::Folder => {
                // Writable until its content is complete.
                fs::create_dir(&target)?;
                folders.push((target, meta.clone()));
            }
            TreePartKind::Link => link(&fs::read_link(path)?, &target)?,
            TreePartKind::File => {
                let mut source = open_regular(path)?;
                let mut copied = File::options().write(true).create_new(true).open(&target)?;
                io::copy(&mut source, &mut copied)?;
                copy_metadata(&copied, meta)?;
            }
            TreePartKind::Special => return Err(io::ErrorKind::Unsupported.into()),
        }
        Ok(())
    })
    .map_err(TrashError::NoRoom)?;
    for (folder, meta) in folders.iter().rev() {
        open_folder(folder).and_then(|open| copy_metadata(&open, meta)).map_err(TrashError::NoRoom)?;
    }
    Ok(())
}

fn join(root: &Path, relative: &Path) -> PathBuf {
    if relative.as_os_str().is_empty() { root.to_owned() } else { root.join(relative) }
}

/// Opens a folder to set its owner, mode and times.
#[cfg(not(windows))]
fn open_folder(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Opens a folder to set its times: Windows needs the right to write attributes and the flag for folders.
#[cfg(windows)]
fn open_folder(path: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt as _;
    const FILE_WRITE_ATTRIBUTES: u32 = 0x0100;
    const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
    File::options().access_mode(FILE_WRITE_ATTRIBUTES).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path)
}

/// Opens a file that was ordinary a moment ago, and fails if it has become a link or a pipe.
fn open_regular(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    let file = {
        use rustix::fs::{Mode, OFlags};
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        File::from(rustix::fs::open(path, flags, Mode::empty())?)
    };
    #[cfg(not(unix))]
    let file = File::open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it changed its kind")) }
}

#[cfg(unix)]
fn link(target: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
fn link(_target: &Path, _at: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Sets the owner, mode and times of a copy to those of its original.
fn copy_metadata(copy: &File, meta: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
        let current = copy.metadata()?;
        if (current.uid(), current.gid()) != (meta.uid(), meta.gid())
            && let Err(error) = fchown(copy, Some(meta.uid()), Some(meta.gid()))
        {
            tracing::debug!(%error, "the owner of a moved file could not be kept");
        }
        // After the owner: changing the owner clears the set-user-id bits.
        copy.set_permissions(fs::Permissions::from_mode(meta.mode() & 0o7777))?;
    }
    let mut times = FileTimes::new();
    if let Ok(modified) = meta.modified() {
        times = times.set_modified(modified);
    }
    if let Ok(accessed) = meta.accessed() {
        times = times.set_accessed(accessed);
    }
    copy.set_times(times)
}

/// Checks that a copy equals its original, byte for byte.
pub(super) fn compare(original: &Path, copy: &Path) -> Result<(), TrashError> {
    let list = |root: &Path| -> io::Result<Vec<(PathBuf, TreePartKind, u64)>> {
        let mut parts = Vec::new();
        walk(root, &mut |path, meta| {
            let size = if meta.is_file() { meta.len() } else { 0 };
            parts.push((path.strip_prefix(root).map(Path::to_owned).unwrap_or_default(), kind(meta), size));
            Ok(())
        })?;
        Ok(parts)
    };
    let (originals, copies) =
        (list(original).map_err(TrashError::Item)?, list(copy).map_err(TrashError::NoRoom)?);
    if originals != copies {
        return Err(TrashError::Changed);
    }
    for (relative, kind, _) in originals {
        let (original, copy) = (join(original, &relative), join(copy, &relative));
        let is_same = match kind {
            TreePartKind::File => same_bytes(&original, &copy).map_err(TrashError::Item)?,
            TreePartKind::Link => fs::read_link(&original).ok() == fs::read_link(&copy).ok(),
            TreePartKind::Folder | TreePartKind::Special => true,
        };
        if !is_same {
            return Err(TrashError::Changed);
        }
    }
    Ok(())
}

fn same_bytes(a: &Path, b: &Path) -> io::Result<bool> {
    let (mut a, mut b) = (open_regular(a)?, open_regular(b)?);
    let (mut a_buffer, mut right) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    loop {
        let read = a.read(&mut a_buffer)?;
        let expected = a_buffer.get(..read).unwrap_or_default();
        let found = right.get_mut(..read).unwrap_or_default();
        if read == 0 {
            return Ok(b.read(&mut right)? == 0);
        }
        match b.read_exact(found) {
            Ok(()) if found == expected => {}
            Ok(()) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error),
        }
    }
}

/// Makes a tree survive a power cut.
pub(super) fn flush(root: &Path) -> io::Result<()> {
    walk(root, &mut |path, meta| match kind(meta) {
        TreePartKind::File => flush_file(path),
        TreePartKind::Folder => flush_folder(path),
        TreePartKind::Link | TreePartKind::Special => Ok(()),
    })?;
    root.parent().map_or(Ok(()), flush_folder)
}

/// Removes one of Octo's own trees, even if its folders are read-only. A missing one is no error.
pub(super) fn remove(root: &Path) -> io::Result<()> {
    let meta = match fs::symlink_metadata(root) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !meta.is_dir() {
        return fs::remove_file(root);
    }
    match fs::remove_dir_all(root) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            make_accessible(root)?;
            fs::remove_dir_all(root)
        }
        result => result,
    }
}

/// Gives the owner access to every folder of a tree.
fn make_accessible(root: &Path) -> io::Result<()> {
    let mut waiting = vec![root.to_owned()];
    while let Some(folder) = waiting.pop() {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
        }
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            // Not followed: a link to a folder is no folder.
            if entry.file_type()?.is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    Ok(())
}
