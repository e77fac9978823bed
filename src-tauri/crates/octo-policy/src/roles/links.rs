//! Links with a listed name. What such a link leads to takes effect as if it had the name itself.

use super::{FileBase, FileRole, LISTED};
use crate::context::LineContext;
use std::path::{Path, PathBuf};

/// The targets of links with a listed name, in a few folders.
#[derive(Debug, Default)]
pub(crate) struct RoleLinks(Vec<(PathBuf, FileRole)>);

impl RoleLinks {
    /// Finds the links in the session's folder and above it, as far as the repository reaches.
    pub(crate) fn of_folder(context: &LineContext) -> Self {
        let mut links = Self::default();
        links.add_folder(context);
        links
    }

    /// Finds the links in these folders, and in those between the session's folder and a path.
    pub(super) fn around(path: &Path, context: &LineContext) -> Self {
        let mut links = Self::of_folder(context);
        let between = path.ancestors().skip(1);
        for folder in
            between.take_while(|folder| **folder != context.folder && folder.starts_with(&context.folder))
        {
            links.add(folder);
        }
        links
    }

    /// Returns the role of the link that leads to a path or to a folder above it.
    pub(crate) fn role(&self, path: &Path) -> Option<FileRole> {
        self.0.iter().find(|(target, _)| path.starts_with(target)).map(|(_, role)| *role)
    }

    fn add_folder(&mut self, context: &LineContext) {
        for folder in context.folder.ancestors() {
            self.add(folder);
            let is_home = context.home.as_deref() == Some(folder);
            if is_home || folder.join(".git").symlink_metadata().is_ok() {
                return;
            }
        }
    }

    fn add(&mut self, folder: &Path) {
        let rows = LISTED.iter().filter(|(base, ..)| matches!(base, FileBase::Anywhere));
        for (_, role, entries) in rows {
            for written in entries.iter().flat_map(|entry| spellings(entry)) {
                let path = folder.join(&written);
                if has_link(folder, &written)
                    && let Ok(target) = octo_workspace::resolve_links(&path)
                {
                    self.0.push((target, *role));
                }
            }
        }
    }
}

/// Returns the spellings of a listed name that agents look for: `agents.md` is usually `AGENTS.md`.
fn spellings(entry: &str) -> Vec<String> {
    let mut spellings = vec![entry.to_owned()];
    if let Some((stem, rest)) = entry.split_once('.')
        && !stem.is_empty()
    {
        spellings.push(format!("{}.{rest}", stem.to_uppercase()));
    }
    spellings
}

/// Returns whether a part of a path below a folder is a link.
fn has_link(folder: &Path, below: &str) -> bool {
    let mut path = folder.to_owned();
    for part in below.split('/') {
        path.push(part);
        match path.symlink_metadata() {
            Ok(meta) if meta.file_type().is_symlink() => return true,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
    false
}
