//! Files by name.

use super::{SearchError, SkippedFiles, walk};
use crate::{Files, PathError, PathRestriction, resolve};
use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    path::{Path, PathBuf},
    time::SystemTime,
};
use tokio_util::sync::CancellationToken;

/// A search for file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobQuery {
    /// The folder in which the search starts: see [`glob_base`].
    pub base: PathBuf,
    /// The pattern, relative to `base`: `*`, `?`, `[…]`, `{a,b}`, `**`.
    pub pattern: String,
    /// The maximum number of paths returned.
    pub limit: usize,
}

/// The result of a search for file names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobMatches {
    /// The newest paths first, at most the limit; by path if equally old.
    pub paths: Vec<PathBuf>,
    /// The total number of matches.
    pub total: usize,
    /// The files left out.
    pub skipped: SkippedFiles,
}

/// Splits `pattern` into the folder where its search starts and the rest of the pattern. The leading folders
/// without wildcards are entered directly instead of searched for; therefore absolute patterns, `~`, and
/// folders that no search enters on its own work.
pub fn glob_base(pattern: &str, base: &str, cwd: &Path) -> Result<(PathBuf, String), PathError> {
    let base = resolve(if base.trim().is_empty() { "." } else { base }, cwd)?;
    let pattern = pattern.trim();
    let wild = pattern.find(['*', '?', '[', '{', '\\']).unwrap_or(pattern.len());
    let Some(end) = pattern.get(..wild).and_then(|literal| literal.rfind('/')) else {
        return Ok((base, pattern.to_owned()));
    };
    let (folder, remaining) = pattern.split_at(end);
    let remaining = remaining.trim_start_matches('/').to_owned();
    let folder = if folder.is_empty() { "/" } else { folder };
    // A pattern anchored to a folder stays anchored to it.
    let remaining = if remaining.contains('/') || remaining.contains("**") {
        remaining
    } else {
        format!("./{remaining}")
    };
    Ok((resolve(folder, &base)?, remaining))
}

/// Returns the files below a folder whose path matches. Leaves out ignored and denied files, and secret files
/// unless the pattern's last part has letters of their name in it.
pub fn glob(
    files: &Files,
    query: &GlobQuery,
    cancel: &CancellationToken,
) -> Result<GlobMatches, SearchError> {
    if query.pattern.trim().is_empty() {
        return Err(SearchError::Empty);
    }
    let base = files.check_read(&query.base)?;
    let stat = files.stat(&base)?;
    if stat.kind != crate::FileKind::Folder {
        return Err(crate::FilesError::NotFolder { path: base }.into());
    }
    let anchored = query.pattern.strip_prefix("./");
    let matcher = match anchored {
        Some(relative_pattern) => globset::GlobBuilder::new(relative_pattern)
            .literal_separator(true)
            .build()
            .map(|glob| glob.compile_matcher()),
        None => walk::matcher(&query.pattern),
    }
    .map_err(|error| SearchError::Pattern { reason: error.to_string() })?;
    let file_pattern = query.pattern.rsplit('/').next().unwrap_or_default();
    let names_files = file_pattern.chars().any(char::is_alphanumeric)
        || files.restriction(&base) == PathRestriction::Secret;

    let mut found = GlobMatches::default();
    // The oldest one is on top, and is removed first if there are too many.
    let mut newest: BinaryHeap<Reverse<(SystemTime, Reverse<PathBuf>)>> = BinaryHeap::new();
    for entry in walk::walk(&base).build() {
        if cancel.is_cancelled() {
            return Err(SearchError::Stopped);
        }
        let entry = match entry {
            Ok(entry) => entry,
            Err(_) => {
                found.skipped.unreadable += 1;
                continue;
            }
        };
        if entry.file_type().is_none_or(|kind| kind.is_dir()) {
            continue;
        }
        let relative = entry.path().strip_prefix(&base).unwrap_or(entry.path());
        if !matcher.is_match(relative) {
            continue;
        }
        match files.restriction(entry.path()) {
            PathRestriction::Denied => {
                found.skipped.closed += 1;
                continue;
            }
            PathRestriction::Secret if !names_files => {
                found.skipped.secret += 1;
                continue;
            }
            PathRestriction::Secret | PathRestriction::No => {}
        }
        found.total += 1;
        let modified =
            entry.metadata().ok().and_then(|meta| meta.modified().ok()).unwrap_or(SystemTime::UNIX_EPOCH);
        newest.push(Reverse((modified, Reverse(entry.into_path()))));
        if newest.len() > query.limit {
            newest.pop();
        }
    }
    found.paths = newest.into_sorted_vec().into_iter().map(|Reverse((_, Reverse(path)))| path).collect();
    Ok(found)
}
