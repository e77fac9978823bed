//! Folders identified by their descriptors.

use super::{DiskEntry, PathStamp};
use nix::{
    errno::Errno,
    fcntl::{AtFlags, OFlag, openat, readlinkat, renameat},
    sys::stat::{FchmodatFlags, Mode, SFlag, fchmod, fchmodat, fstatat, mkdirat},
    unistd::{UnlinkatFlags, symlinkat, unlinkat},
};
use std::{
    ffi::OsStr,
    fs::File,
    io,
    os::fd::{AsFd, OwnedFd},
    path::{Component, Path, PathBuf},
};

/// A folder that stays the same one regardless of changes to its path.
#[derive(Debug)]
pub(crate) struct Folder(OwnedFd);

/// Opening a parent folder needs no right to list it, if the system supports that.
#[cfg(any(target_os = "linux", target_os = "android"))]
const PASS: OFlag = OFlag::O_PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const PASS: OFlag = OFlag::O_RDONLY;

impl Folder {
    /// Opens the folder at an absolute path that contains no links.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let flags = PASS | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let mut folder = nix::fcntl::open("/", flags, Mode::empty())?;
        let mut parts = path.components();
        if parts.next() != Some(Component::RootDir) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        for part in parts {
            let Component::Normal(name) = part else { return Err(io::ErrorKind::InvalidInput.into()) };
            folder = openat(&folder, name, flags, Mode::empty())?;
        }
        Ok(Self(folder))
    }

    /// Returns the object under the name; opens an ordinary file.
    pub(crate) fn read_entry(&self, name: &OsStr) -> io::Result<DiskEntry> {
        // A file may change its kind between the two checks; the second decides, and the loop repeats.
        for _ in 0..8 {
            let stat = match fstatat(&self.0, name, AtFlags::AT_SYMLINK_NOFOLLOW) {
                Ok(stat) => stat,
                Err(Errno::ENOENT) => return Ok(DiskEntry::Absent),
                Err(error) => return Err(error.into()),
            };
            let stamp = stamp(&stat);
            match SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT {
                SFlag::S_IFDIR => return Ok(DiskEntry::Folder(stamp)),
                SFlag::S_IFLNK => match readlinkat(&self.0, name) {
                    Ok(target) => return Ok(DiskEntry::Link(PathBuf::from(target), stamp)),
                    Err(Errno::EINVAL | Errno::ENOENT) => continue,
                    Err(error) => return Err(error.into()),
                },
                SFlag::S_IFREG => {}
                _ => return Ok(DiskEntry::Special(stamp)),
            }
            let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
            match openat(&self.0, name, flags, Mode::empty()) {
                Ok(file) => {
                    let file = File::from(file);
                    let meta = file.metadata()?;
                    if meta.is_file() {
                        return Ok(DiskEntry::File(file, PathStamp::of(&meta)));
                    }
                }
                Err(Errno::EACCES | Errno::EPERM) => return Ok(DiskEntry::Unreadable(stamp)),
                Err(Errno::ENOENT | Errno::ELOOP | Errno::ENXIO) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::Error::other("it does not stop changing"))
    }

    /// Returns the stamp of a name, or `None` if it does not exist.
    pub(crate) fn stamp(&self, name: &OsStr) -> io::Result<Option<PathStamp>> {
        match fstatat(&self.0, name, AtFlags::AT_SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stamp(&stat))),
            Err(Errno::ENOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Creates a file under an unused name, with these permissions less those the umask takes.
    pub(crate) fn create(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        let flags = OFlag::O_RDWR | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        Ok(File::from(openat(&self.0, name, flags, permissions(mode))?))
    }

    /// Creates a link under an unused name.
    pub(crate) fn link(&self, name: &OsStr, target: &Path) -> io::Result<()> {
        Ok(symlinkat(target, &self.0, name)?)
    }

    /// Creates a folder.
    pub(crate) fn make(&self, name: &OsStr) -> io::Result<()> {
        Ok(mkdirat(&self.0, name, Mode::S_IRWXU)?)
    }

    /// Moves the name from this folder to a name in another, replacing a file or link.
    pub(crate) fn rename(&self, name: &OsStr, target: &Self, new_name: &OsStr) -> io::Result<()> {
        Ok(renameat(&self.0, name, &target.0, new_name)?)
    }

    /// Removes a file or link.
    pub(crate) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, UnlinkatFlags::NoRemoveDir)?)
    }

    /// Removes an empty folder.
    pub(crate) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, UnlinkatFlags::RemoveDir)?)
    }

    /// Sets the permissions of a folder or file, which is opened without following links.
    pub(crate) fn set_mode(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        let mode = permissions(mode);
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        match openat(&self.0, name, flags, Mode::empty()) {
            Ok(file) => Ok(fchmod(file, mode)?),
            // A file its owner may not read can only be addressed by name. Its parent folder is open, so only
            // the last part could be swapped, for a link to another file of the same owner.
            Err(Errno::EACCES) => Ok(fchmodat(&self.0, name, mode, FchmodatFlags::FollowSymlink)?),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the names in the folder called `name`.
    pub(crate) fn names(&self, name: &OsStr) -> io::Result<Vec<std::ffi::OsString>> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let folder = nix::dir::Dir::openat(self.0.as_fd(), name, flags, Mode::empty())?;
        let mut names = Vec::new();
        for entry in folder.into_iter() {
            let entry = entry?;
            let name: &OsStr = std::os::unix::ffi::OsStrExt::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    /// Makes changes in this folder survive a power cut. If the file system cannot do this, the changes still
    /// apply.
    pub(crate) fn sync(&self) {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let synced = openat(&self.0, ".", flags, Mode::empty())
            .map_err(io::Error::from)
            .and_then(|folder| File::from(folder).sync_all());
        if let Err(error) = synced {
            tracing::debug!(%error, "a folder could not be synced");
        }
    }
}

/// Returns the permissions in a mode. The system's type has 16 bits on Apple's systems and 32 on Linux.
fn permissions(mode: u32) -> Mode {
    fn narrow<T: TryFrom<u32> + Default>(bits: u32) -> T {
        T::try_from(bits).unwrap_or_default()
    }
    Mode::from_bits_truncate(narrow(mode & 0o7777))
}

fn stamp(stat: &nix::sys::stat::FileStat) -> PathStamp {
    // The widths of the fields differ between systems.
    fn wide<T>(field: impl Into<T>) -> T {
        field.into()
    }
    let nanoseconds =
        |seconds: i64, fraction: i64| seconds.saturating_mul(1_000_000_000).saturating_add(fraction);
    PathStamp {
        len: u64::try_from(stat.st_size).unwrap_or(0),
        modified: nanoseconds(wide(stat.st_mtime), wide(stat.st_mtime_nsec)),
        changed: nanoseconds(wide(stat.st_ctime), wide(stat.st_ctime_nsec)),
        inode: wide(stat.st_ino),
        mode: wide(stat.st_mode),
    }
}
