//! Paths that are never deleted through Octo, on anyone's behalf.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

/// The reason why a path is not deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeleteRefusal {
    /// The root or a system folder.
    System,
    /// The person's or another account's home, or a folder that contains it.
    Home,
    /// Part of Octo's own state.
    Octo,
    /// A device.
    Device,
    /// A mount point, or a folder that contains one.
    MountPoint(PathBuf),
}

impl fmt::Display for DeleteRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System => f.write_str("it belongs to the system"),
            Self::Home => f.write_str("it is or holds a home folder"),
            Self::Octo => f.write_str("it belongs to Octo itself"),
            Self::Device => f.write_str("it is a device"),
            Self::MountPoint(path) => write!(f, "{} is a mount point", path.display()),
        }
    }
}

/// System folders, whose direct entries are refused too.
const SYSTEM: &[&str] = &[
    "/bin",
    "/boot",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/sbin",
    "/usr",
    "/var",
    "/Applications",
    "/Library",
    "/System",
    "/private",
    "/private/etc",
    "/private/var",
    "/usr/local",
];

/// Folders whose entire content belongs to the kernel.
const KERNEL: &[&str] = &["/proc", "/sys", "/dev"];

/// Folders that contain homes.
const HOMES: &[&str] = &["/home", "/Users"];

/// The parts of Octo's home that a person or an agent may delete.
const DELETABLE_IN_HOME: &[&str] = &["scratch", "demo", "skills", "memories", "agents", "scripts", "tasks"];

/// Checks a real path (with its parents' links followed). `octo` is Octo's own home.
pub(super) fn check(path: &Path, is_folder: GuardedKind, octo: &Path) -> Result<(), DeleteRefusal> {
    let depth = path.components().count().saturating_sub(1);
    if depth == 0 || (depth == 1 && is_folder == GuardedKind::Folder) {
        return Err(DeleteRefusal::System);
    }
    let is_below = |folders: &[&str]| folders.iter().any(|folder| path.starts_with(folder));
    if is_below(KERNEL) && !path.starts_with("/dev/shm") && !path.starts_with("/proc/self/cwd") {
        return Err(DeleteRefusal::System);
    }
    let directly = path.parent();
    if SYSTEM.iter().any(|folder| path == Path::new(folder) || directly == Some(Path::new(folder))) {
        return Err(DeleteRefusal::System);
    }
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let home = home.map(|home| home.canonicalize().unwrap_or(home));
    if is_folder == GuardedKind::Folder
        && (home.is_some_and(|home| home.starts_with(path))
            || HOMES.iter().any(|homes| directly == Some(Path::new(homes))))
    {
        return Err(DeleteRefusal::Home);
    }
    if octo.starts_with(path) {
        return Err(DeleteRefusal::Octo);
    }
    if let Ok(relative) = path.strip_prefix(octo) {
        let mut parts = relative.components();
        let first_part = parts.next().map(|part| part.as_os_str().to_string_lossy().into_owned());
        let open = first_part.is_some_and(|first_part| DELETABLE_IN_HOME.contains(&first_part.as_str()));
        if !open || parts.next().is_none() {
            return Err(DeleteRefusal::Octo);
        }
    }
    match mount_below(path) {
        Some(mount) => Err(DeleteRefusal::MountPoint(mount)),
        None => Ok(()),
    }
}

/// The kind of the checked path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GuardedKind {
    Folder,
    Other,
}

/// Returns a mount point at or below the path. A rename would move it along.
fn mount_below(path: &Path) -> Option<PathBuf> {
    let mounts = fs::read("/proc/self/mountinfo").ok()?;
    mounts
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.split(|byte| *byte == b' ').nth(4))
        .map(|field| super::path_of(unescaped(field)))
        .find(|mount| mount.starts_with(path))
}

/// Decodes blanks, tabs, line endings and backslashes, which the kernel writes as octal.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut unescaped_field = Vec::with_capacity(field.len());
    let mut remaining = field;
    while let [byte, after @ ..] = remaining {
        remaining = after;
        match (byte, after) {
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..]) => {
                unescaped_field.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                remaining = after;
            }
            _ => unescaped_field.push(*byte),
        }
    }
    unescaped_field
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_homes_and_octo_are_refused() {
        let octo = Path::new("/srv/me/.octo");
        let folder = |path: &str| check(Path::new(path), GuardedKind::Folder, octo);
        for path in [
            "/",
            "/opt",
            "/home",
            "/tmp",
            "/srv",
            "/etc",
            "/etc/ssl",
            "/usr/lib",
            "/usr/local/bin",
            "/var/log",
            "/proc/1",
            "/sys/a/b/c",
            "/dev/pts",
            "/bin",
        ] {
            assert_eq!(folder(path), Err(DeleteRefusal::System), "{path}");
        }
        for path in ["/home/mei", "/Users/mei"] {
            assert_eq!(folder(path), Err(DeleteRefusal::Home), "{path}");
        }
        let home = std::env::home_dir().unwrap().canonicalize().unwrap();
        assert!(check(&home, GuardedKind::Folder, octo).is_err());
        for path in [
            "/srv/me",
            "/srv/me/.octo",
            "/srv/me/.octo/octo.db",
            "/srv/me/.octo/trash/x/content",
            "/srv/me/.octo/bin/rm",
            "/srv/me/.octo/skills",
        ] {
            assert_eq!(folder(path), Err(DeleteRefusal::Octo), "{path}");
        }
        for path in [
            "/home/mei/a",
            "/opt/a",
            "/var/tmp/a",
            "/tmp/a",
            "/srv/other",
            "/srv/me/.octo/skills/a",
            "/srv/me/.octo/scratch/s",
            "/etc/ssl/mine/old",
            "/dev/shm/a",
        ] {
            assert_eq!(folder(path), Ok(()), "{path}");
        }
        assert_eq!(check(Path::new("/etc/hosts"), GuardedKind::Other, octo), Err(DeleteRefusal::System));
        assert_eq!(check(Path::new("/swapfile"), GuardedKind::Other, octo), Ok(()));
    }

    #[test]
    fn escapes_of_the_mount_table_are_read() {
        assert_eq!(unescaped(br"/a\040b\134c\011"), b"/a b\\c\t");
        assert_eq!(unescaped(br"/a\9\04"), br"/a\9\04");
    }
}
