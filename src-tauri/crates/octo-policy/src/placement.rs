//! The new paths of files that a command copies or moves, below a name that its words need not contain.

use crate::{changes::below, folder::FolderQueries, grammar::Reads, names, touched::expand};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Maximum number of entries inspected below a source. A line with more asks.
const MAX_ENTRIES: usize = 20_000;

/// A copied or moved path and its target.
pub(crate) struct Placement<'a> {
    /// The path, or a pattern of paths, relative to the line's folder.
    pub source: &'a str,
    /// The new path, or the folder that it gets into.
    pub target: &'a str,
    /// The line's folder.
    pub folder: &'a Path,
}

impl Placement<'_> {
    /// Returns the new paths of the sources themselves, and those of what is below them if they have a role. `earlier`
    /// are the paths that the line writes before. `None` if there are too many entries, if a name has no text, or if a
    /// folder whose files have a role would be new or a link.
    pub(crate) fn writes(&self, earlier: &[String], queries: FolderQueries<'_>) -> Option<Reads> {
        let has_role = |path: &Path| (queries.has_role)(path);
        let target = octo_workspace::resolve(self.target, self.folder).ok()?;
        let earlier: Vec<PathBuf> = earlier
            .iter()
            .map(|text| octo_workspace::resolve(text, self.folder))
            .collect::<Result<_, _>>()
            .ok()?;
        let mut sources = Reads::new();
        expand(self.source, self.folder, &mut sources)?;
        let (mut writes, mut with_role) = (Reads::new(), Vec::new());
        let mut entries_left = MAX_ENTRIES;
        for source in &sources {
            let from = octo_workspace::resolve(source, self.folder).ok()?;
            let inner = below(self.target, source);
            let roots = [octo_workspace::resolve(&inner, self.folder).ok()?, target.clone()];
            let written = self.folder.join(&inner);
            let is_folder = written.symlink_metadata().is_ok_and(|meta| meta.is_dir());
            if !is_folder && (queries.begins_role)(&written) {
                return None;
            }
            writes.push(inner);
            let created = earlier.iter().filter_map(|path| path.strip_prefix(&from).ok());
            let created = created.filter(|below| !below.as_os_str().is_empty()).map(Path::to_owned);
            let entries = entries_below(&from, &mut entries_left)?;
            let mut links = entries.iter().filter(|entry| from.join(entry).is_symlink());
            if links.any(|link| roots.iter().any(|root| (queries.begins_role)(&root.join(link)))) {
                return None;
            }
            for entry in entries.into_iter().chain(created) {
                with_role.extend(roots.iter().map(|root| root.join(&entry)).filter(|path| has_role(path)));
            }
        }
        // The line may create what a pattern will match.
        if self.source.contains(['*', '?', '[']) {
            let names = earlier.iter().filter_map(|path| path.file_name());
            with_role.extend(names.map(|name| target.join(name)).filter(|path| has_role(path)));
        }
        writes.extend(names::texts_of_paths(&with_role)?);
        Some(writes)
    }
}

/// Returns the paths of everything below a folder, relative to it; `None` if there are too many.
fn entries_below(root: &Path, entries_left: &mut usize) -> Option<Vec<PathBuf>> {
    let (mut entries, mut folders) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).into_iter().flatten().flatten() {
            *entries_left = entries_left.checked_sub(1)?;
            let path = folder.join(entry.file_name());
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path.clone());
            }
            entries.push(path);
        }
    }
    Some(entries)
}
