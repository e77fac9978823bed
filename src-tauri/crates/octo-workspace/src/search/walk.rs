//! The files a search visits.

use ignore::{DirEntry, WalkBuilder};
use std::path::Path;

/// Folders a search enters only when it starts in them: version control data and installed packages, which
/// outnumber a project's own files and are rarely intended. Ignore files decide about everything else.
const NEVER_ENTERED: &[&str] =
    &[".git", ".svn", ".hg", ".jj", "node_modules", ".bundle", ".sass-cache", "__pycache__", ".venv"];

/// Returns a walk over `base` with git's rules: every `.gitignore` in and above it applies, even outside a
/// repository, with `.ignore` and the person's global file. It includes hidden files and does not follow links.
pub(super) fn walk(base: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(base);
    builder
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        .filter_entry(|entry| entry.depth() == 0 || !is_never_entered(entry));
    builder
}

fn is_never_entered(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
    // `.git` is a file in a worktree.
    (is_folder && NEVER_ENTERED.iter().any(|never| name == *never)) || name == ".git"
}

/// Returns a matcher for paths relative to the base: a pattern without a folder matches at any depth.
pub(super) fn matcher(pattern: &str) -> Result<globset::GlobMatcher, globset::Error> {
    let pattern = pattern.trim().trim_start_matches("./");
    let anywhere = !pattern.contains('/') && !pattern.contains("**");
    let pattern = if anywhere { format!("**/{pattern}") } else { pattern.to_owned() };
    Ok(globset::GlobBuilder::new(&pattern).literal_separator(true).build()?.compile_matcher())
}
