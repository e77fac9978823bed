//! Settings in the person's home, for a session that works there.
//!
//! Programs read settings, plug-ins and start-up files from hidden names at the top of a home. They are too many to
//! list, so every one counts as code. Elsewhere a session may not write to the home anyway.

use super::{begins_role, begins_with, names};
use crate::context::LineContext;
use octo_workspace::is_inside;
use std::path::Path;

/// Names at the top of a home that are not hidden and contain settings: of macOS, and of Windows.
const SETTINGS_FOLDERS: &[&str] = &["appdata", "library"];

/// Names below which a home has no settings, in lower case: caches, and the trash of the desktop.
const HARMLESS: &[&str] = &[".cache", ".local/share/trash", ".trash", "appdata/local/temp", "library/caches"];

/// Returns whether a resolved path is a hidden name at the top of the home or lies below one, and the session works in
/// the home.
pub(super) fn is_hidden(path: &Path, context: &LineContext) -> bool {
    let Some(home) = &context.home else { return false };
    let real = octo_workspace::resolve_links(home).unwrap_or_else(|_| home.clone());
    let Ok(below) = path.strip_prefix(&real).or_else(|_| path.strip_prefix(home)) else { return false };
    let below = names(below);
    let is_setting = below
        .first()
        .is_some_and(|first| first.starts_with('.') || SETTINGS_FOLDERS.contains(&first.as_str()));
    let is_harmless = HARMLESS.iter().any(|entry| begins_with(&below, &entry.split('/').collect::<Vec<_>>()));
    // Octo's own folders have a rule of their own.
    is_setting
        && !is_harmless
        && works_in_home(&real, context)
        && !context.octo_homes().iter().any(|octo| is_inside(octo, path))
}

/// Returns whether the session's folder is the home, lies above it, or is a folder of settings of many programs.
fn works_in_home(home: &Path, context: &LineContext) -> bool {
    is_inside(&context.folder, home)
        || (is_inside(home, &context.folder) && begins_role(&context.folder, context))
}
