//! Converts a [`Confinement`] to a profile for macOS's `sandbox-exec`.
//!
//! The profile is text in a dialect of Scheme; the last matching rule applies. Everything is allowed except
//! writing; writing is allowed on the confinement's writable paths; secrets of the home and Octo's own files
//! are excluded from both again, except those granted to this command. Unlike Landlock, this also works if the
//! session's folder is the home itself.
//!
//! The text is generated the same way on every system, so every system can test it.

use super::Confinement;
use std::{
    collections::BTreeSet,
    fmt::Write,
    io,
    path::{Path, PathBuf},
};

/// The input of the profile: real paths, because the system compares those.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ProfileBounds {
    /// Paths that may be written, with everything below.
    pub write: BTreeSet<PathBuf>,
    /// Paths that must not be read or written, with everything below.
    pub hidden: BTreeSet<PathBuf>,
    /// Paths that may be read nevertheless.
    pub readable: BTreeSet<PathBuf>,
}

/// Devices intended for writing.
const DEVICES: &[&str] = &[
    "/dev/dtracehelper",
    "/dev/null",
    "/dev/ptmx",
    "/dev/random",
    "/dev/stderr",
    "/dev/stdout",
    "/dev/tty",
    "/dev/urandom",
    "/dev/zero",
];

impl Confinement {
    /// Resolves the profile's input on the disk.
    pub(super) fn bounds(&self) -> ProfileBounds {
        let resolve = |path: &PathBuf| octo_workspace::resolve_links(path).unwrap_or_else(|_| path.clone());
        let caches = self.caches();
        let mut hidden: BTreeSet<PathBuf> = self.hidden().iter().map(resolve).collect();
        hidden.extend(self.octo_homes().iter().map(resolve));
        ProfileBounds {
            write: self
                .outside_former_homes(&self.writable)
                .chain(self.outside_former_homes(&self.enterable))
                .chain(&caches)
                .map(resolve)
                .collect(),
            readable: self
                .outside_former_homes(&self.secrets)
                .chain(&self.octo_readable)
                .map(resolve)
                .collect(),
            hidden,
        }
    }
}

/// Returns the profile's text.
///
/// # Errors
///
/// When a protected path cannot be expressed. A merely permitted one is left out instead.
pub(super) fn profile(bounds: &ProfileBounds) -> io::Result<String> {
    let ProfileBounds { write, hidden, readable } = bounds;
    let mut text = String::from("(version 1)\n(allow default)\n(deny file-write*)\n");
    let mut rule = |operation: &str, filters: Vec<String>| {
        if !filters.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "({operation}\n  {})", filters.join("\n  "));
        }
    };
    let subpath = |path: &Path| quote(path).map(|path| format!("(subpath {path})"));
    let is_hidden = |path: &Path| hidden.iter().any(|secret| path.starts_with(secret));
    let must = |paths: &mut dyn Iterator<Item = &Path>, filter: &str| -> io::Result<Vec<String>> {
        let not_text =
            || io::Error::other("the name of a path that is to be kept from the command is not text");
        paths.map(|path| quote(path).map(|path| format!("({filter} {path})")).ok_or_else(not_text)).collect()
    };
    let mut devices: Vec<String> = DEVICES.iter().map(|device| format!("(literal \"{device}\")")).collect();
    devices.push("(regex #\"^/dev/(fd/[0-9]+|ttys[0-9]+)$\")".to_owned());
    rule("allow file-write*", devices);
    rule("allow file-write*", write.iter().filter_map(|path| subpath(path)).collect());
    rule("deny file-read-data file-write*", must(&mut hidden.iter().map(PathBuf::as_path), "subpath")?);
    // A folder that contains a secret must not be moved to where the secret would be unprotected.
    let parents: BTreeSet<&Path> = hidden.iter().flat_map(|path| path.ancestors().skip(1)).collect();
    let parents = parents.into_iter().filter(|path| path.parent().is_some());
    rule("deny file-write-unlink", must(&mut parents.into_iter(), "literal")?);
    rule("allow file-read-data", readable.iter().filter_map(|path| subpath(path)).collect());
    // Writable for this command although hidden: the person approved it, or it is Octo's own folder for
    // commands.
    let hidden_paths: Vec<String> =
        write.iter().filter(|path| is_hidden(path)).filter_map(|path| subpath(path)).collect();
    rule("allow file-read-data file-write*", hidden_paths);
    Ok(text)
}

/// Returns a path as a string literal of the profile's language; `None` if it is not text.
fn quote(path: &Path) -> Option<String> {
    let mut text = String::from("\"");
    for character in path.to_str()?.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            other => text.push(other),
        }
    }
    text.push('"');
    Some(text)
}

#[cfg(test)]
mod tests;
