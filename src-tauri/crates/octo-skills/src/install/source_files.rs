//! Files read from a source, with validated paths.

use super::InstallError;
use crate::{MAX_BYTES, MAX_FILES, Warning};
use std::collections::HashSet;

/// Maximum length of a path, in bytes.
const MAX_PATH: usize = 400;
/// Maximum number of a path's parts.
const MAX_PARTS: usize = 24;

/// A file of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SourceFile {
    /// Path from the source's root, with `/`.
    pub path: String,
    pub executable: bool,
    pub content: Vec<u8>,
}

/// Files read from a source.
pub(super) struct SourceContent {
    pub files: Vec<SourceFile>,
    pub warnings: Vec<Warning>,
    /// Name of the source itself.
    pub name: String,
}

/// Collects files, within the limits of the total.
#[derive(Default)]
pub(super) struct FileCollector {
    files: Vec<SourceFile>,
    /// Paths in lower case, for case-insensitive systems.
    paths: HashSet<String>,
    /// Folders of all files, in lower case.
    folders: HashSet<String>,
    bytes: u64,
}

impl FileCollector {
    /// Returns the remaining number of bytes.
    pub(super) fn bytes_left(&self) -> u64 {
        MAX_BYTES - self.bytes
    }

    /// Adds a file. Its path must be safe and unique.
    pub(super) fn add(&mut self, file: SourceFile) -> Result<(), InstallError> {
        if self.files.len() == MAX_FILES {
            return Err(InstallError::TooManyFiles);
        }
        if file.content.len() as u64 > self.bytes_left() {
            return Err(InstallError::TooLarge);
        }
        check_path(&file.path)?;
        let path = file.path.to_lowercase();
        let mut folder = path.as_str();
        while let Some((outer, _)) = folder.rsplit_once('/') {
            if self.paths.contains(outer) {
                return Err(InstallError::SamePath(file.path));
            }
            self.folders.insert(outer.to_owned());
            folder = outer;
        }
        if self.folders.contains(&path) || !self.paths.insert(path) {
            return Err(InstallError::SamePath(file.path));
        }
        self.bytes += file.content.len() as u64;
        self.files.push(file);
        Ok(())
    }

    pub(super) fn finish(self) -> Vec<SourceFile> {
        self.files
    }
}

/// Checks that a path stays in its folder, on every system.
pub(super) fn check_path(path: &str) -> Result<(), InstallError> {
    let parts: Vec<&str> = path.split('/').collect();
    let is_safe = path.len() <= MAX_PATH
        && parts.len() <= MAX_PARTS
        && !path
            .chars()
            .any(|c| c.is_control() || matches!(c, '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|'))
        && parts.iter().all(|part| !matches!(*part, "" | "." | "..") && !part.ends_with(['.', ' ']));
    if is_safe { Ok(()) } else { Err(InstallError::UnsafePath(path.to_owned())) }
}

/// Returns the name of a file or folder without a download's version and suffix: `pdf-tools-1.2.3.zip`,
/// `skills-main`.
pub(super) fn source_name(name: &str) -> String {
    let stem = if name.to_ascii_lowercase().ends_with(".zip") {
        name.rsplit_once('.').map_or(name, |(stem, _)| stem)
    } else {
        name
    };
    let is_version = |end: &str| {
        let digits = end.strip_prefix('v').unwrap_or(end);
        matches!(end, "main" | "master")
            || (digits.starts_with(|c: char| c.is_ascii_digit())
                && digits.chars().all(|c| c.is_ascii_digit() || c == '.'))
    };
    match stem.rsplit_once('-') {
        Some((name, end)) if !name.is_empty() && is_version(end) => name.to_owned(),
        _ => stem.to_owned(),
    }
}
