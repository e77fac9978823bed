//! Paths: the file a text names, and a path's real location.

use std::{
    ffi::{OsStr, OsString},
    io,
    path::{Component, Path, PathBuf},
};

/// The maximum number of links followed in one path; more count as a loop. The same number as Linux's.
const MAX_LINKS: usize = 40;

/// The reason why a text is not a usable path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// The text is empty or blank.
    #[error("The path is empty. Path cannot be empty: name a file or folder.")]
    Empty,
    /// The text contains a NUL byte.
    #[error("The path contains a NUL byte, which no path may.")]
    Nul,
    /// `~` was used, but the person's home is unknown.
    #[error("`~` cannot be expanded because the home folder is not known. Use an absolute path.")]
    NoHome,
    /// The links form a loop.
    #[error("{} goes through too many symbolic links (a loop?).", .0.display())]
    Links(PathBuf),
    /// Part of the path cannot be read, so its target is unknown.
    #[error("{} cannot be looked at: {reason}.", .path.display())]
    Unreadable {
        /// The unreadable part.
        path: PathBuf,
        /// The system's error message.
        reason: String,
    },
}

/// Returns the absolute, real path a text names: `~` is the home, a relative path starts at `cwd`, `.` and `..`
/// are removed as text, then every symbolic link is followed in the part of the path that exists. A link whose
/// target does not exist yet is followed too, because writing to it would create the target. A path outside a
/// folder therefore cannot pose as one inside it.
pub fn resolve(text: &str, cwd: &Path) -> Result<PathBuf, PathError> {
    resolve_from(text, cwd, std::env::home_dir().as_deref())
}

pub(crate) fn resolve_from(text: &str, cwd: &Path, home: Option<&Path>) -> Result<PathBuf, PathError> {
    if text.trim().is_empty() {
        return Err(PathError::Empty);
    }
    if text.contains('\0') {
        return Err(PathError::Nul);
    }
    let home_relative = match text.strip_prefix('~') {
        Some("") => Some(""),
        Some(rest) => rest.strip_prefix('/').or_else(|| rest.strip_prefix(std::path::MAIN_SEPARATOR)),
        None => None,
    };
    let path = match home_relative {
        Some(rest) => home
            .filter(|home| home.is_absolute())
            .ok_or(PathError::NoHome)?
            .join(rest.trim_start_matches(['/', std::path::MAIN_SEPARATOR])),
        None => cwd.join(text),
    };
    resolve_links(&remove_dots(&path))
}

/// Returns `path` with `.` and `..` removed as text.
fn remove_dots(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                cleaned.pop();
            }
            other => cleaned.push(other),
        }
    }
    cleaned
}

/// Returns the real location of an absolute path: every link followed, including the last one and dangling
/// ones. Names that do not exist are kept as written.
pub fn resolve_links(path: &Path) -> Result<PathBuf, PathError> {
    let mut remaining: Vec<OsString> = parts_backwards(path);
    let mut found: PathBuf = path
        .components()
        .take_while(|part| matches!(part, Component::Prefix(_) | Component::RootDir))
        .collect();
    let mut links = 0;
    while let Some(part) = remaining.pop() {
        if part == OsStr::new("..") {
            found.pop();
            continue;
        }
        let candidate = found.join(&part);
        match candidate.symlink_metadata() {
            Ok(meta) if meta.file_type().is_symlink() => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(PathError::Links(path.to_owned()));
                }
                let target = candidate.read_link().map_err(|error| unreadable(&candidate, &error))?;
                if target.has_root() || target.is_absolute() {
                    found = target
                        .components()
                        .take_while(|part| matches!(part, Component::Prefix(_) | Component::RootDir))
                        .collect();
                }
                remaining.extend(parts_backwards(&target));
            }
            Ok(_) => found = candidate,
            // Nothing exists here: the rest cannot exist either, and is kept as written.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                found = candidate;
            }
            Err(error) => return Err(unreadable(&candidate, &error)),
        }
    }
    Ok(found)
}

fn unreadable(path: &Path, error: &io::Error) -> PathError {
    PathError::Unreadable { path: path.to_owned(), reason: error.to_string() }
}

/// Returns the path's names, last first; keeps `..`, because after a link it means the parent of the link's
/// target.
fn parts_backwards(path: &Path) -> Vec<OsString> {
    let mut parts: Vec<OsString> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some(OsString::from("..")),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
        })
        .collect();
    parts.reverse();
    parts
}

/// Whether `path` is `folder` or below it. Both must be real paths (see [`resolve`]). If the spelling differs,
/// asks the file system whether one of the path's folders *is* `folder`. File systems that ignore case are
/// therefore judged by their behaviour, not by the spelling.
pub fn is_inside(folder: &Path, path: &Path) -> bool {
    if path.components().any(|part| matches!(part, Component::ParentDir)) || !path.is_absolute() {
        return false;
    }
    if path.starts_with(folder) {
        return true;
    }
    // A folder that was swapped for a link after it was resolved is not the intended folder.
    if !is_real(folder) {
        return false;
    }
    let Some(folder) = identity(folder) else { return false };
    path.ancestors().any(|ancestor| identity(ancestor).is_some_and(|ancestor| ancestor == folder))
}

/// Whether two real paths are the same file, by the rules of [`is_inside`].
pub(crate) fn is_same(a: &Path, b: &Path) -> bool {
    if a == b {
        return true;
    }
    is_real(a) && is_real(b) && identity(a).is_some_and(|a| identity(b).is_some_and(|b| a == b))
}

/// Returns the identity of a file, without opening it: opening a pipe would wait for its other end.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    path.metadata().ok().map(|meta| (meta.dev(), meta.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Option<same_file::Handle> {
    same_file::Handle::from_path(path).ok()
}

/// Whether the path leads to a folder and no part of it is a link: a link that replaced a folder leads elsewhere.
pub fn is_real_folder(path: &Path) -> bool {
    path.is_dir() && is_real(path)
}

fn is_real(path: &Path) -> bool {
    resolve_links(path).is_ok_and(|resolved| resolved == path)
}

/// Returns `path` as shown to the model and the person: relative to `cwd` if inside it, else absolute.
pub fn display_path(path: &Path, cwd: &Path) -> String {
    match path.strip_prefix(cwd) {
        Ok(relative) if relative.as_os_str().is_empty() => ".".to_owned(),
        Ok(relative) => relative.to_string_lossy().into_owned(),
        Err(_) => path.to_string_lossy().into_owned(),
    }
}

#[cfg(test)]
mod tests;
