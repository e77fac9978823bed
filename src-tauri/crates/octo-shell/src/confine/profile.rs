//! A [`Confinement`] as a profile for macOS's `sandbox-exec`.
//!
//! The profile is a text in a dialect of Scheme; of its rules the last one that fits counts. Everything is allowed but
//! writing; writing is allowed where the confinement says so; secrets of the home and Octo's own are taken out of both
//! again, except where they were allowed for this command. Unlike Landlock it can do so also where the session's folder
//! is the home itself.
//!
//! Making the text is the same on every system, so that it is tested on every one.

use super::Confinement;
use std::{
    collections::BTreeSet,
    fmt::Write,
    io,
    path::{Path, PathBuf},
};

/// What the profile is made of: real paths, for the system compares with them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bounds {
    /// May be written, with all below.
    pub write: BTreeSet<PathBuf>,
    /// May not be read or written, with all below.
    pub hidden: BTreeSet<PathBuf>,
    /// May be read all the same.
    pub shown: BTreeSet<PathBuf>,
}

/// Devices that are there to be written.
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
    /// What the profile is made of, by a look at the disk.
    pub(super) fn bounds(&self) -> Bounds {
        let real = |path: &PathBuf| octo_workspace::real(path).unwrap_or_else(|_| path.clone());
        let caches = self.caches();
        let mut hidden: BTreeSet<PathBuf> = self.hidden().iter().map(real).collect();
        hidden.extend(self.octos().iter().map(real));
        Bounds {
            write: self
                .open(&self.writable)
                .chain(self.open(&self.entered))
                .chain(&caches)
                .map(real)
                .collect(),
            shown: self.open(&self.secrets).chain(&self.octo_readable).map(real).collect(),
            hidden,
        }
    }
}

/// The text.
///
/// # Errors
///
/// When a path that must not be touched cannot be written down. One that might be touched is left out then.
pub(super) fn profile(bounds: &Bounds) -> io::Result<String> {
    let Bounds { write, hidden, shown } = bounds;
    let mut text = String::from("(version 1)\n(allow default)\n(deny file-write*)\n");
    let mut rule = |what: &str, filters: Vec<String>| {
        if !filters.is_empty() {
            // Writing to a text cannot fail.
            let _ = writeln!(text, "({what}\n  {})", filters.join("\n  "));
        }
    };
    let below = |path: &Path| quoted(path).map(|path| format!("(subpath {path})"));
    let is_hidden = |path: &Path| hidden.iter().any(|secret| path.starts_with(secret));
    let must = |paths: &mut dyn Iterator<Item = &Path>, filter: &str| -> io::Result<Vec<String>> {
        let unwritten =
            || io::Error::other("the name of a path that is to be kept from the command is not text");
        paths
            .map(|path| quoted(path).map(|path| format!("({filter} {path})")).ok_or_else(unwritten))
            .collect()
    };
    let mut devices: Vec<String> = DEVICES.iter().map(|device| format!("(literal \"{device}\")")).collect();
    devices.push("(regex #\"^/dev/(fd/[0-9]+|ttys[0-9]+)$\")".to_owned());
    rule("allow file-write*", devices);
    rule("allow file-write*", write.iter().filter_map(|path| below(path)).collect());
    rule("deny file-read-data file-write*", must(&mut hidden.iter().map(PathBuf::as_path), "subpath")?);
    // What holds a secret must not be moved to where it would be none.
    let holders: BTreeSet<&Path> = hidden.iter().flat_map(|path| path.ancestors().skip(1)).collect();
    let holders = holders.into_iter().filter(|path| path.parent().is_some());
    rule("deny file-write-unlink", must(&mut holders.into_iter(), "literal")?);
    rule("allow file-read-data", shown.iter().filter_map(|path| below(path)).collect());
    // Named for this command although it is hidden: the person said yes to it, or it is Octo's own place for commands.
    let named: Vec<String> =
        write.iter().filter(|path| is_hidden(path)).filter_map(|path| below(path)).collect();
    rule("allow file-read-data file-write*", named);
    Ok(text)
}

/// A path as a string of the profile's language; none when it is not text.
fn quoted(path: &Path) -> Option<String> {
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
