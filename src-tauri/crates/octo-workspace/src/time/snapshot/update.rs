//! Updates a snapshot by checking only the reported changes.

use super::{
    FolderSnapshot, ItemContent, RelativePath, SnapshotContext, SnapshotItem, exclusions, is_at_or_below,
    join,
    list::OpenFolder,
    walk::{
        ChangedItems, WalkResult, folder_item, folder_stamp, path_in, unread_item, walk_from, why_left_out,
    },
};
use crate::time::watch::{FolderWatch, RecheckDepth, ReportedChanges};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
};

/// Returns the snapshot `previous` with the reported changes checked again, or `None` if anything is unexpected:
/// then everything must be checked.
pub(super) fn update_snapshot(
    previous: &FolderSnapshot,
    changes: &ReportedChanges,
    context: &SnapshotContext<'_>,
    watch: &FolderWatch,
) -> Option<WalkResult> {
    let mut walked = WalkResult {
        folders: previous.folders.clone(),
        unknown: previous.unknown.clone(),
        found: Vec::new(),
    };
    let mut replaced_folders: Vec<RelativePath> = Vec::new();
    for (folder, names) in &changes.folders {
        // A parent folder is read again, and this folder with it, or both are gone.
        if replaced_folders.iter().any(|ancestor| is_at_or_below(folder, ancestor)) {
            continue;
        }
        let mut changed = ChangedFolder {
            folder,
            path: path_in(&previous.folder, folder),
            old: previous.folders.get(folder)?,
            items: None,
            unread_items: BTreeSet::new(),
            replaced: Vec::new(),
            context,
            watch,
        };
        changed.check_names(names)?;
        for replaced in &changed.replaced {
            walked.folders.retain(|path, _| !is_at_or_below(path, replaced));
            walked.unknown.retain(|path, _| !is_at_or_below(path, replaced));
        }
        let ChangedFolder { items, unread_items, replaced, .. } = changed;
        replaced_folders.extend(replaced);
        let Some(items) = items else { continue };
        if unread_items.is_empty() {
            walked.folders.insert(folder.clone(), Arc::new(items));
        } else {
            walked.folders.remove(folder);
            let unread_items = (0..items.len())
                .filter(|index| items.get(*index).is_some_and(|item| unread_items.contains(&item.name)))
                .collect();
            walked.found.push(ChangedItems { path: folder.clone(), items, unread_items });
        }
    }
    let entries = walked.folders.values().map(|items| items.len()).sum::<usize>()
        + walked.found.iter().map(|found| found.items.len()).sum::<usize>();
    if entries > context.limits.max_entries {
        return None;
    }
    let is_there = |path: &RelativePath| {
        let (folder, name) = split(path);
        let items = walked.folders.get(folder).map(|items| items.as_slice());
        let items = items.or_else(|| {
            walked.found.iter().find(|found| *found.path == *folder).map(|folder_items| &*folder_items.items)
        });
        items.and_then(|items| find(items, name)).is_some_and(|item| item.content == ItemContent::Folder)
    };
    let roots: Vec<RelativePath> = replaced_folders.into_iter().filter(is_there).collect();
    if !roots.is_empty() {
        walked.add(walk_from(&previous.folder, roots, entries, Some(previous), context, Some(watch)));
    }
    Some(walked)
}

/// One folder with a reported change.
struct ChangedFolder<'a> {
    folder: &'a RelativePath,
    path: PathBuf,
    old: &'a Arc<Vec<SnapshotItem>>,
    /// Its items now; `None` while they are unchanged.
    items: Option<Vec<SnapshotItem>>,
    /// The names of files that must be read.
    unread_items: BTreeSet<Box<[u8]>>,
    /// Folders that are gone, new, or must be read again.
    replaced: Vec<RelativePath>,
    context: &'a SnapshotContext<'a>,
    watch: &'a FolderWatch,
}

impl ChangedFolder<'_> {
    fn check_names(&mut self, names: &BTreeMap<Box<[u8]>, RecheckDepth>) -> Option<()> {
        let open = OpenFolder::open(&self.path)?;
        for (name, depth) in names {
            let facts = open.object_facts(name).ok()?;
            let before = find(self.items(), name).cloned();
            if facts.is_some() != before.is_some() && exclusions::affects_other_names(name) {
                return None; // The items beside it may now be excluded, or included again.
            }
            let Some(facts) = facts else {
                if let Some(before) = before {
                    self.note_replaced_folder(&before);
                    self.change().retain(|item| item.name != before.name);
                }
                continue;
            };
            if facts.is_folder {
                if !self.watch.is_on(facts.device) {
                    return None;
                }
                let is_same = before.as_ref().is_some_and(|item| {
                    item.content == ItemContent::Folder && item.stamp == folder_stamp(facts.stamp)
                });
                if is_same && *depth == RecheckDepth::Name {
                    continue;
                }
                let reason = {
                    let items = self.items();
                    let is_beside = |file_name: &str| find(items, file_name.as_bytes()).is_some();
                    why_left_out(self.context, &self.path, name, is_beside)
                };
                if reason.is_none() || before.as_ref().is_some_and(|item| item.content == ItemContent::Folder)
                {
                    self.replaced.push(join(self.folder, name));
                }
                self.set_item(folder_item(name, facts.stamp, reason));
            } else {
                if let Some(before) = &before {
                    if before.stamp == facts.stamp && !before.racy && before.content != ItemContent::Folder {
                        continue;
                    }
                    self.note_replaced_folder(before);
                }
                self.watch.note_linked_file(self.folder, name, facts.links);
                self.unread_items.insert(name.clone());
                self.set_item(unread_item(name, facts.stamp));
            }
        }
        Some(())
    }

    fn items(&self) -> &[SnapshotItem] {
        self.items.as_deref().unwrap_or(self.old)
    }

    fn change(&mut self) -> &mut Vec<SnapshotItem> {
        self.items.get_or_insert_with(|| self.old.to_vec())
    }

    /// Notes that an item, if it was a folder, must be removed from the snapshot with all below it.
    fn note_replaced_folder(&mut self, before: &SnapshotItem) {
        if before.content == ItemContent::Folder {
            self.replaced.push(join(self.folder, &before.name));
        }
    }

    fn set_item(&mut self, item: SnapshotItem) {
        let items = self.change();
        match items.binary_search_by(|existing| existing.name.cmp(&item.name)) {
            Ok(index) => {
                if let Some(slot) = items.get_mut(index) {
                    *slot = item;
                }
            }
            Err(index) => items.insert(index, item),
        }
    }
}

fn find<'a>(items: &'a [SnapshotItem], name: &[u8]) -> Option<&'a SnapshotItem> {
    items.binary_search_by(|item| (*item.name).cmp(name)).ok().and_then(|index| items.get(index))
}

/// Splits a path into its folder and its name there.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(index) => (path.get(..index).unwrap_or_default(), path.get(index + 1..).unwrap_or_default()),
        None => (&[], path),
    }
}
