//! The differences between two snapshots of a folder.

use super::{FolderSnapshot, ItemContent, RelativePath, SnapshotItem, join};
use std::sync::Arc;

/// A path that differs between two snapshots.
#[derive(Debug)]
pub(crate) struct SnapshotDifference<'a> {
    pub(crate) path: RelativePath,
    /// The item in the first snapshot; `None` if it was absent.
    pub(crate) before: Option<&'a SnapshotItem>,
    /// The item in the second one; `None` if it is absent.
    pub(crate) after: Option<&'a SnapshotItem>,
}

impl<'a> SnapshotDifference<'a> {
    fn removed(path: RelativePath, item: &'a SnapshotItem) -> Self {
        Self { path, before: Some(item), after: None }
    }

    fn created(path: RelativePath, item: &'a SnapshotItem) -> Self {
        Self { path, before: None, after: Some(item) }
    }
}

/// Returns all differences, folders before their content. A path unknown to either snapshot yields no
/// difference.
pub(crate) fn diff<'a>(before: &'a FolderSnapshot, after: &'a FolderSnapshot) -> Vec<SnapshotDifference<'a>> {
    let mut differences = Vec::new();
    both(before, after, &RelativePath::default(), &mut differences);
    differences
}

fn both<'a>(
    before: &'a FolderSnapshot,
    after: &'a FolderSnapshot,
    folder: &RelativePath,
    differences: &mut Vec<SnapshotDifference<'a>>,
) {
    let (Some(old_items), Some(new_items)) = (before.folders.get(folder), after.folders.get(folder)) else {
        return;
    };
    if Arc::ptr_eq(old_items, new_items) {
        for item in old_items.iter().filter(|item| item.content == ItemContent::Folder) {
            both(before, after, &join(folder, &item.name), differences);
        }
        return;
    }
    let (mut old_items, mut new_items) = (old_items.as_slice(), new_items.as_slice());
    loop {
        let order = match (old_items.first(), new_items.first()) {
            (Some(a), Some(b)) => a.name.cmp(&b.name),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (None, None) => return,
        };
        let a = if order.is_le() { old_items.split_first() } else { None };
        let b = if order.is_ge() { new_items.split_first() } else { None };
        old_items = a.map_or(old_items, |(_, remaining)| remaining);
        new_items = b.map_or(new_items, |(_, remaining)| remaining);
        match (a.map(|(item, _)| item), b.map(|(item, _)| item)) {
            (Some(a), Some(b)) => {
                let is_folder = (a.content == ItemContent::Folder, b.content == ItemContent::Folder);
                if !is_same(a, b) {
                    let path = join(folder, &a.name);
                    differences.push(SnapshotDifference { path, before: Some(a), after: Some(b) });
                }
                match is_folder {
                    (true, true) => both(before, after, &join(folder, &a.name), differences),
                    (true, false) if !is_left_out(b) => {
                        only(before, &join(folder, &a.name), differences, SnapshotDifference::removed);
                    }
                    (false, true) if !is_left_out(a) => {
                        only(after, &join(folder, &b.name), differences, SnapshotDifference::created);
                    }
                    _ => {}
                }
            }
            (Some(a), None) => {
                let path = join(folder, &a.name);
                differences.push(SnapshotDifference::removed(path.clone(), a));
                only(before, &path, differences, SnapshotDifference::removed);
            }
            (None, Some(b)) => {
                let path = join(folder, &b.name);
                differences.push(SnapshotDifference::created(path.clone(), b));
                only(after, &path, differences, SnapshotDifference::created);
            }
            (None, None) => return,
        }
    }
}

/// Lists everything below a folder that only one of the snapshots has.
fn only<'a>(
    picture: &'a FolderSnapshot,
    folder: &RelativePath,
    differences: &mut Vec<SnapshotDifference<'a>>,
    difference: impl Fn(RelativePath, &'a SnapshotItem) -> SnapshotDifference<'a> + Copy,
) {
    let Some(items) = picture.folders.get(folder) else { return };
    for item in items.iter() {
        let path = join(folder, &item.name);
        differences.push(difference(path.clone(), item));
        if item.content == ItemContent::Folder {
            only(picture, &path, differences, difference);
        }
    }
}

/// Whether an item is a folder that is not entered.
fn is_left_out(item: &SnapshotItem) -> bool {
    matches!(item.content, ItemContent::Unsaved(_))
        && item.stamp.len == 0
        && item.stamp.inode == 0
        && item.stamp.modified == 0
}

fn is_same(a: &SnapshotItem, b: &SnapshotItem) -> bool {
    let content = match (&a.content, &b.content) {
        (
            ItemContent::Blob(hash) | ItemContent::Git(hash, _),
            ItemContent::Blob(b) | ItemContent::Git(b, _),
        ) => hash == b,
        // Not stored: only length and times show a change, and for a folder its existence.
        (ItemContent::Unsaved(_), ItemContent::Unsaved(_)) => {
            a.stamp.len == b.stamp.len && a.stamp.modified == b.stamp.modified
        }
        // A folder that is now entered, or no longer entered, has not changed.
        (ItemContent::Unsaved(_), ItemContent::Folder) => is_left_out(a),
        (ItemContent::Folder, ItemContent::Unsaved(_)) => is_left_out(b),
        (a, b) => a == b,
    };
    // A link has no permissions of its own.
    let is_link = matches!(a.content, ItemContent::Link(_));
    content && (is_link || a.stamp.permissions() == b.stamp.permissions())
}
