//! Describes a skill's other files to a model.

use crate::{
    fields::{collapse, cut},
    tree::{Tree, TreeEntryKind},
};
use std::{fmt::Write, path::Path};

/// Maximum files listed.
const MAX_NAMED: usize = 20;
/// Maximum characters of one path.
const MAX_PATH: usize = 200;
/// Generated folders and files, which are not worth reading.
const GENERATED_NAMES: &[&str] =
    &["node_modules", "vendor", "__pycache__", "venv", "target", "tmp", "log", "coverage", "dist", "build"];

fn is_left_out(name: &str) -> bool {
    name.starts_with('.')
        || GENERATED_NAMES.contains(&name)
        || [".log", ".pyc", ".pyo", ".tmp", "~"].iter().any(|end| name.ends_with(end))
}

/// Returns the folder and its files, sorted; `None` if SKILL.md is the only file. Links are omitted: their
/// targets are not part of the skill.
pub(crate) fn file_list(folder: &Path) -> Option<String> {
    let tree = Tree::read(folder, is_left_out).ok()?;
    let paths: Vec<&str> = tree
        .entries
        .iter()
        .filter(|entry| matches!(entry.kind, TreeEntryKind::File { .. }))
        .map(|entry| entry.path.as_str())
        .filter(|path| !path.eq_ignore_ascii_case(crate::discovery::SKILL_FILE))
        .collect();
    if paths.is_empty() {
        return None;
    }
    let mut text = format!(
        "## Files of this skill\n\nSKILL_DIR is {}. Paths are relative to it; read a file when you need it.\n",
        collapse(&folder.display().to_string())
    );
    for path in paths.iter().take(MAX_NAMED) {
        // Writing to a string does not fail.
        let _infallible = write!(text, "\n- {}", cut(&collapse(path), MAX_PATH));
    }
    let more = paths.len().saturating_sub(MAX_NAMED);
    if more > 0 {
        let at_least = if tree.is_cut { "at least " } else { "" };
        let _infallible = write!(text, "\n\n_({at_least}{more} more files not shown)_");
    }
    Some(text)
}
