//! Names from the disk and from git as text. The policy's paths are text, so a name that is not UTF-8 has no path that
//! it could judge. A converted name would be that of another file.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

/// Returns the text of a name; `None` if it is not UTF-8.
pub(crate) fn text_of(name: &OsStr) -> Option<String> {
    name.to_str().map(str::to_owned)
}

/// Returns the text of a path; `None` if it is not UTF-8.
pub(crate) fn text_of_path(path: &Path) -> Option<String> {
    text_of(path.as_os_str())
}

/// Returns the texts of paths; `None` if one is not UTF-8.
pub(crate) fn texts_of_paths(paths: &[PathBuf]) -> Option<Vec<String>> {
    paths.iter().map(|path| text_of_path(path)).collect()
}

/// Returns the names in an answer of git, which are separated by NUL or line ends; `None` if one is not UTF-8. The
/// query replaced its bytes.
pub(crate) fn names_in(answer: &str) -> Option<Vec<&str>> {
    let names = answer.split(['\0', '\n']).filter(|name| !name.is_empty());
    (!answer.contains(char::REPLACEMENT_CHARACTER)).then(|| names.collect())
}

/// Returns a name for a comparison with names that are UTF-8, which no other name equals.
pub(crate) fn for_comparison(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
