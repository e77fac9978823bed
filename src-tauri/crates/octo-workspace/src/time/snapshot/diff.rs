//! The differences between two snapshots of a folder.

use super::{FolderSnapshot, ItemContent, RelativePath, SnapshotItem, join};
use std::sync::Arc;

/// A path that differs between two snapshots.
#[derive(Debug)]
pub(crate) struct SnapshotDifference<'a> {
    pub(crate) path: RelativePath,
    /// The item in the first snapshot; `None` if it was absent.
    pub(crate) before: Option<&'a SnapshotItem>,
}

/// Returns all differences, folders before their content. A path unknown to either snapshot yields no
/// difference.
pub(crate) fn diff<'a>(before: &'a FolderSnapshot, after: &'a FolderSnapshot) -> Vec<SnapshotDifference<'a>> {
    let mut all = Vec::new();
    both(before, after, &RelativePath::default(), &mut all);
    all
}

fn both<'a>(
    before: &'a FolderSnapshot,
    after: &'a FolderSnapshot,
    folder: &RelativePath,
    all: &mut Vec<SnapshotDifference<'a>>,
) {
    let (Some(old), Some(new)) = (before.folders.get(folder), after.folders.get(folder)) else { return };
    if Arc::ptr_eq(old, new) {
        for item in old.iter().filter(|item| item.content == ItemContent::Folder) {
            both(before, after, &join(folder, &item.name), all);
        }
        return;
    }
    let (mut old, mut new) = (old.as_slice(), new.as_slice());
    loop {
        let order = match (old.first(), new.first()) {
            (Some(one), Some(other)) => one.name.cmp(&other.name),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (None, None) => return,
        };
        let one = if order.is_le() { old.split_first() } else { None };
        let other = if order.is_ge() { new.split_first() } else { None };
        old = one.map_or(old, |(_, rest)| rest);
        new = other.map_or(new, |(_, rest)| rest);
        match (one.map(|(item, _)| item), other.map(|(item, _)| item)) {
            (Some(one), Some(other)) => {
                let is_folder = (one.content == ItemContent::Folder, other.content == ItemContent::Folder);
                if !is_same(one, other) {
                    let path = join(folder, &one.name);
                    all.push(SnapshotDifference { path, before: Some(one) });
                }
                match is_folder {
                    (true, true) => both(before, after, &join(folder, &one.name), all),
                    (true, false) if !is_left_out(other) => {
                        only(before, &join(folder, &one.name), all, Some);
                    }
                    (false, true) if !is_left_out(one) => {
                        only(after, &join(folder, &other.name), all, |_| None);
                    }
                    _ => {}
                }
            }
            (Some(one), None) => {
                let path = join(folder, &one.name);
                all.push(SnapshotDifference { path: path.clone(), before: Some(one) });
                only(before, &path, all, Some);
            }
            (None, Some(other)) => {
                let path = join(folder, &other.name);
                all.push(SnapshotDifference { path: path.clone(), before: None });
                only(after, &path, all, |_| None);
            }
            (None, None) => return,
        }
    }
}

/// Lists everything below a folder that only one of the snapshots has.
fn only<'a>(
    picture: &'a FolderSnapshot,
    folder: &RelativePath,
    all: &mut Vec<SnapshotDifference<'a>>,
    before: impl Fn(&'a SnapshotItem) -> Option<&'a SnapshotItem> + Copy,
) {
    let Some(items) = picture.folders.get(folder) else { return };
    for item in items.iter() {
        let path = join(folder, &item.name);
        all.push(SnapshotDifference { path: path.clone(), before: before(item) });
        if item.content == ItemContent::Folder {
            only(picture, &path, all, before);
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

fn is_same(one: &SnapshotItem, other: &SnapshotItem) -> bool {
    let content = match (&one.content, &other.content) {
        (
            ItemContent::Blob(hash) | ItemContent::Git(hash, _),
            ItemContent::Blob(other) | ItemContent::Git(other, _),
        ) => hash == other,
        // Not stored: only length and times show a change, and for a folder its existence.
        (ItemContent::Unsaved(_), ItemContent::Unsaved(_)) => {
            one.stamp.len == other.stamp.len && one.stamp.modified == other.stamp.modified
        }
        // A folder that is now entered, or no longer entered, has not changed.
        (ItemContent::Unsaved(_), ItemContent::Folder) => is_left_out(one),
        (ItemContent::Folder, ItemContent::Unsaved(_)) => is_left_out(other),
        (one, other) => one == other,
    };
    // A link has no permissions of its own.
    let is_link = matches!(one.content, ItemContent::Link(_));
    content && (is_link || one.stamp.permissions() == other.stamp.permissions())
}
