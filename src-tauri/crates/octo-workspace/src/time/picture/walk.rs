//! Looking at everything in a folder, by several threads.

use super::{Camera, Item, Kept, Picture, Relative, join, leave_out::is_tagged_cache, threads};
use crate::{
    BlobError,
    time::{bytes::bytes_of, folder::Stamp},
};
use octo_protocol::Unsaved;
use std::{
    collections::HashMap,
    fs, io,
    path::Path,
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// A folder in which something is new or changed.
pub(crate) struct Found {
    pub(crate) path: Relative,
    pub(crate) items: Vec<Item>,
    /// Which of the items have to be read.
    pub(crate) unread: Vec<usize>,
}

#[derive(Default)]
pub(super) struct Walked {
    /// Folders in which nothing has to be read.
    pub(super) folders: HashMap<Relative, Arc<Vec<Item>>>,
    pub(super) unknown: HashMap<Relative, Unsaved>,
    pub(super) found: Vec<Found>,
}

/// Folders that wait, and how many are being looked into.
#[derive(Default)]
struct Queue {
    waiting: Vec<Relative>,
    busy: usize,
}

struct Walk<'a> {
    folder: &'a Path,
    last: Option<&'a Picture>,
    camera: &'a Camera<'a>,
    queue: Mutex<Queue>,
    more: Condvar,
    entries: AtomicUsize,
}

/// Looks at everything below the folder.
///
/// # Errors
/// When the folder itself cannot be looked into.
pub(super) fn walk(folder: &Path, last: Option<&Picture>, camera: &Camera<'_>) -> Result<Walked, BlobError> {
    fs::read_dir(folder)?;
    let walk = Walk {
        folder,
        last,
        camera,
        queue: Mutex::new(Queue { waiting: vec![Box::default()], busy: 0 }),
        more: Condvar::new(),
        entries: AtomicUsize::new(0),
    };
    let parts: Vec<Walked> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads()).map(|_| scope.spawn(|| walk.work())).collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
    });
    let mut whole = Walked::default();
    for part in parts {
        whole.folders.extend(part.folders);
        whole.unknown.extend(part.unknown);
        whole.found.extend(part.found);
    }
    Ok(whole)
}

impl Walk<'_> {
    fn work(&self) -> Walked {
        let mut walked = Walked::default();
        while let Some(folder) = self.next() {
            let mut below = Vec::new();
            if let Err(why) = self.look(&folder, &mut walked, &mut below) {
                walked.unknown.insert(folder, why);
            }
            let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            queue.busy -= 1;
            queue.waiting.append(&mut below);
            drop(queue);
            self.more.notify_all();
        }
        walked
    }

    /// The next folder to look into; none when all are done.
    fn next(&self) -> Option<Relative> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(folder) = queue.waiting.pop() {
                queue.busy += 1;
                return Some(folder);
            }
            if queue.busy == 0 {
                return None;
            }
            queue = self.more.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn look(&self, folder: &Relative, walked: &mut Walked, below: &mut Vec<Relative>) -> Result<(), Unsaved> {
        if self.entries.load(Ordering::Relaxed) >= self.camera.limits.entries {
            return Err(Unsaved::Budget);
        }
        let path = if folder.is_empty() {
            self.folder.to_owned()
        } else {
            self.folder.join(crate::time::bytes::path_of(folder))
        };
        let entries = fs::read_dir(&path).map_err(|_| Unsaved::Unreadable)?;
        let mut names: Vec<(Box<[u8]>, fs::Metadata)> = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|_| Unsaved::Unreadable)?;
            match entry.metadata() {
                Ok(meta) => names.push((bytes_of(Path::new(&entry.file_name())).into(), meta)),
                // Gone since it was listed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(_) => return Err(Unsaved::Unreadable),
            }
        }
        names.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        self.entries.fetch_add(names.len(), Ordering::Relaxed);

        let last = self.last.and_then(|last| last.folders.get(folder));
        let mut old = last.map_or(&[][..], |items| items.as_slice());
        let mut items = Vec::with_capacity(names.len());
        let mut unread = Vec::new();
        let mut same = last.is_some_and(|last| last.len() == names.len());
        for (name, meta) in &names {
            while let [first, rest @ ..] = old
                && first.name < *name
            {
                old = rest;
            }
            let before = old.first().filter(|item| item.name == *name);
            let item = if meta.is_dir() {
                let why = self.why_left_out(&path, name, &names);
                if why.is_none() {
                    below.push(join(folder, name));
                }
                // Of a folder only its permissions are its own; everything else follows from what is in it.
                let stamp = Stamp { mode: Stamp::of(meta).mode, ..Stamp::default() };
                Item { name: name.clone(), stamp, kept: why.map_or(Kept::Folder, Kept::Not), racy: false }
            } else {
                let stamp = Stamp::of(meta);
                match before {
                    Some(item) if item.stamp == stamp && !item.racy => item.clone(),
                    _ => {
                        unread.push(items.len());
                        Item { name: name.clone(), stamp, kept: Kept::Not(Unsaved::Unreadable), racy: true }
                    }
                }
            };
            same = same && before == Some(&item);
            items.push(item);
        }
        match last {
            Some(last) if same => {
                walked.folders.insert(folder.clone(), Arc::clone(last));
            }
            _ if unread.is_empty() => {
                walked.folders.insert(folder.clone(), Arc::new(items));
            }
            _ => walked.found.push(Found { path: folder.clone(), items, unread }),
        }
        Ok(())
    }

    fn why_left_out(
        &self,
        parent: &Path,
        name: &[u8],
        names: &[(Box<[u8]>, fs::Metadata)],
    ) -> Option<Unsaved> {
        let is_beside =
            |other: &str| names.binary_search_by(|(name, _)| (**name).cmp(other.as_bytes())).is_ok();
        if let Some(why) = super::leave_out(name, is_beside) {
            return Some(why);
        }
        let path = parent.join(crate::time::bytes::path_of(name));
        if path == self.camera.home {
            return Some(Unsaved::OctoHome);
        }
        is_tagged_cache(&path).then_some(Unsaved::Cache)
    }
}
