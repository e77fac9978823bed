//! Checks everything in a folder with several threads.

use super::{
    FolderSnapshot, ItemContent, RelativePath, SnapshotContext, SnapshotItem,
    exclusions::is_tagged_cache,
    join,
    list::{NameEntry, NameList, list},
    threads,
};
use crate::{BlobError, time::folder::PathStamp, time::watch::FolderWatch};
use octo_protocol::UnsavedReason;
use parking_lot::{Condvar, Mutex};
use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// A folder with new or changed items.
pub(crate) struct ChangedItems {
    pub(crate) path: RelativePath,
    pub(crate) items: Vec<SnapshotItem>,
    /// The indices of items that must be read.
    pub(crate) unread_items: Vec<usize>,
}

#[derive(Default)]
pub(super) struct WalkResult {
    /// Folders in which nothing must be read.
    pub(super) folders: HashMap<RelativePath, Arc<Vec<SnapshotItem>>>,
    pub(super) unknown: HashMap<RelativePath, UnsavedReason>,
    pub(super) found: Vec<ChangedItems>,
}

/// The queued folders, and the number of folders in progress.
#[derive(Default)]
struct FolderQueue {
    waiting: Vec<RelativePath>,
    busy: usize,
}

struct FolderWalk<'a> {
    folder: &'a Path,
    last: Option<&'a FolderSnapshot>,
    context: &'a SnapshotContext<'a>,
    watch: Option<&'a FolderWatch>,
    queue: Mutex<FolderQueue>,
    more: Condvar,
    entries: AtomicUsize,
}

/// Checks everything below the folder.
///
/// # Errors
///
/// When the folder itself cannot be read.
pub(super) fn walk(
    folder: &Path,
    previous: Option<&FolderSnapshot>,
    context: &SnapshotContext<'_>,
    watch: Option<&FolderWatch>,
) -> Result<WalkResult, BlobError> {
    fs::read_dir(folder)?;
    Ok(walk_from(folder, vec![RelativePath::default()], 0, previous, context, watch))
}

/// Checks everything below these folders; `entries` entries elsewhere already count toward the limit.
pub(super) fn walk_from(
    folder: &Path,
    roots: Vec<RelativePath>,
    entries: usize,
    previous: Option<&FolderSnapshot>,
    camera: &SnapshotContext<'_>,
    watch: Option<&FolderWatch>,
) -> WalkResult {
    let walk = FolderWalk {
        folder,
        last: previous,
        context: camera,
        watch,
        queue: Mutex::new(FolderQueue { waiting: roots, busy: 0 }),
        more: Condvar::new(),
        entries: AtomicUsize::new(entries),
    };
    let parts: Vec<WalkResult> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads()).map(|_| scope.spawn(|| walk.work())).collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
    });
    let mut total = WalkResult::default();
    for part in parts {
        total.add(part);
    }
    total
}

impl WalkResult {
    pub(super) fn add(&mut self, other: Self) {
        self.folders.extend(other.folders);
        self.unknown.extend(other.unknown);
        self.found.extend(other.found);
    }
}

impl FolderWalk<'_> {
    fn work(&self) -> WalkResult {
        let mut walked = WalkResult::default();
        while let Some(folder) = self.next_folder() {
            let mut subfolders = Vec::new();
            if let Err(reason) = self.visit(&folder, &mut walked, &mut subfolders) {
                walked.unknown.insert(folder, reason);
            }
            let mut queue = self.queue.lock();
            queue.busy -= 1;
            queue.waiting.append(&mut subfolders);
            drop(queue);
            self.more.notify_all();
        }
        walked
    }

    /// Returns the next folder to enter, or `None` when all are done.
    fn next_folder(&self) -> Option<RelativePath> {
        let mut queue = self.queue.lock();
        loop {
            if let Some(folder) = queue.waiting.pop() {
                queue.busy += 1;
                return Some(folder);
            }
            if queue.busy == 0 {
                return None;
            }
            self.more.wait(&mut queue);
        }
    }

    fn visit(
        &self,
        folder: &RelativePath,
        walked: &mut WalkResult,
        subfolders: &mut Vec<RelativePath>,
    ) -> Result<(), UnsavedReason> {
        if self.entries.load(Ordering::Relaxed) >= self.context.limits.max_entries {
            return Err(UnsavedReason::Budget);
        }
        let path = path_in(self.folder, folder);
        // Before the check, so changes during it are reported.
        if let Some(watch) = self.watch {
            watch.watch_folder(folder, &path);
        }
        let listing = list(&path)?;
        self.entries.fetch_add(listing.entries().len(), Ordering::Relaxed);
        let previous = self.last.and_then(|previous| previous.folders.get(folder));
        // Most folders are unchanged: their items are then shared.
        if let Some(previous) = previous
            && let Some(folders) = self.unchanged(folder, &path, &listing, previous)
        {
            subfolders.extend(folders);
            walked.folders.insert(folder.clone(), Arc::clone(previous));
            return Ok(());
        }
        let mut old_items = previous.map_or(&[][..], |items| items.as_slice());
        let mut items = Vec::with_capacity(listing.entries().len());
        let mut unread_items = Vec::new();
        for entry in listing.entries() {
            let name = listing.name(entry);
            while let [first, rest @ ..] = old_items
                && *first.name < *name
            {
                old_items = rest;
            }
            let before = old_items.first().filter(|item| *item.name == *name);
            self.report_to_watch(folder, name, entry);
            let item = if entry.is_folder {
                let reason = self.why_left_out(&path, name, &listing);
                if reason.is_none() {
                    subfolders.push(join(folder, name));
                }
                folder_item(name, entry.stamp, reason)
            } else {
                match before {
                    Some(item) if item.stamp == entry.stamp && !item.racy => item.clone(),
                    _ => {
                        unread_items.push(items.len());
                        unread_item(name, entry.stamp)
                    }
                }
            };
            items.push(item);
        }
        if unread_items.is_empty() {
            walked.folders.insert(folder.clone(), Arc::new(items));
        } else {
            walked.found.push(ChangedItems { path: folder.clone(), items, unread_items });
        }
        Ok(())
    }

    /// Returns the subfolders of a folder in which everything is unchanged; `None` if anything changed.
    fn unchanged(
        &self,
        folder: &RelativePath,
        path: &Path,
        listing: &NameList,
        previous: &[SnapshotItem],
    ) -> Option<Vec<RelativePath>> {
        if previous.len() != listing.entries().len() {
            return None;
        }
        let mut subfolders = Vec::new();
        for (entry, item) in listing.entries().iter().zip(previous) {
            let name = listing.name(entry);
            if *item.name != *name {
                return None;
            }
            if entry.is_folder {
                let reason = self.why_left_out(path, name, listing);
                let content = reason.map_or(ItemContent::Folder, ItemContent::Unsaved);
                if item.content != content || item.stamp != folder_stamp(entry.stamp) {
                    return None;
                }
                if content == ItemContent::Folder {
                    subfolders.push(join(folder, name));
                }
            } else if item.stamp != entry.stamp || item.racy {
                return None;
            }
            self.report_to_watch(folder, name, entry);
        }
        Some(subfolders)
    }

    /// Reports a found entry to the watch.
    fn report_to_watch(&self, folder: &RelativePath, name: &[u8], entry: &NameEntry) {
        let Some(watch) = self.watch else { return };
        if !entry.is_folder {
            watch.note_linked_file(folder, name, entry.links);
        } else if !watch.is_on(entry.device) {
            watch.give_up();
        }
    }

    fn why_left_out(&self, parent: &Path, name: &[u8], listing: &NameList) -> Option<UnsavedReason> {
        why_left_out(self.context, parent, name, |sibling| listing.has(sibling.as_bytes()))
    }
}

/// Returns why a folder is not entered, or `None` if it is. The callback tells whether a name is in `parent`.
pub(super) fn why_left_out(
    context: &SnapshotContext<'_>,
    parent: &Path,
    name: &[u8],
    is_beside: impl Fn(&str) -> bool,
) -> Option<UnsavedReason> {
    if let Some(reason) = super::reason_to_leave_out(name, is_beside) {
        return Some(reason);
    }
    let path = parent.join(crate::time::bytes::path_of(name));
    if path == context.home {
        return Some(UnsavedReason::OctoHome);
    }
    is_tagged_cache(&path).then_some(UnsavedReason::Cache)
}

/// Returns the path of an entry in a folder; joining an empty path would add a slash.
pub(super) fn path_in(folder: &Path, relative: &[u8]) -> PathBuf {
    if relative.is_empty() { folder.to_owned() } else { folder.join(crate::time::bytes::path_of(relative)) }
}

/// Returns the stamp of a folder reduced to its permissions; everything else follows from its content.
pub(super) fn folder_stamp(stamp: PathStamp) -> PathStamp {
    PathStamp { mode: stamp.mode, ..PathStamp::default() }
}

pub(super) fn folder_item(name: &[u8], stamp: PathStamp, reason: Option<UnsavedReason>) -> SnapshotItem {
    let content = reason.map_or(ItemContent::Folder, ItemContent::Unsaved);
    SnapshotItem { name: name.into(), stamp: folder_stamp(stamp), content, racy: false }
}

/// Returns the item of a file before it is read.
pub(super) fn unread_item(name: &[u8], stamp: PathStamp) -> SnapshotItem {
    SnapshotItem {
        name: name.into(),
        stamp,
        content: ItemContent::Unsaved(UnsavedReason::Unreadable),
        racy: true,
    }
}
