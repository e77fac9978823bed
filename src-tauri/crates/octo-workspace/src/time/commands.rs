//! What shell commands change: pictures of the session's folder before and after them.
//!
//! While a command runs, whatever is found changed belongs to its task: also when another command begins or
//! ends, and when it goes on in the background after its turn. What changes while none runs is somebody
//! else's, and belongs to no task.
//!
//! Where the folder is watched, a look is only at what was seen to change. A watch cannot see everything (see
//! [`super::watch`]), so a task that ran commands ends with a look at everything: what that finds and the watch
//! did not tell is taken for the task's.

use super::{
    Inner, TaskId, TimeError, TimeMachine,
    bytes::{bytes_of, path_of},
    git,
    picture::{Camera, Difference, Item, Kept, Picture, Shelf, diff, image, name_of},
    watch::Watch,
};
use octo_protocol::{FileImage, LeftOut, SessionId, Unsaved};
use octo_store::TimeSource;
use std::{
    collections::{BTreeSet, HashMap},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

/// Entries of a list that is shown; beyond it nobody reads.
const SHOWN: usize = 200;

/// A command that runs. Handed to [`TimeMachine::after_command`] when it has ended.
#[derive(Debug)]
#[must_use = "what the command changes is recorded when it has ended"]
pub struct RunningCommand {
    key: i64,
    folder: PathBuf,
}

/// Folders that are watched at the same time. A watch is a resource all programs of the account share.
const WATCHED: usize = 16;

/// The pictures of a folder.
#[derive(Debug, Default)]
pub(super) struct Album {
    latest: Option<Picture>,
    loaded: bool,
    /// Whether the picture that is kept in a file is an older one.
    stale: bool,
    shelf: Option<Shelf>,
    watch: Option<Watch>,
    /// Whether the latest picture trusts the watch for what it did not tell.
    trusting: bool,
    running: HashMap<i64, TaskId>,
}

impl Album {
    /// Whether all that is known is in the picture's file, and no command or end of a task is to come.
    fn rests(&self) -> bool {
        self.running.is_empty() && !self.stale && !self.trusting
    }
}

/// How much is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// What was seen to change, where that is known.
    Seen,
    /// Everything.
    Everything,
}

impl TimeMachine {
    /// To be called before a command that may change something: keeps what is in the folder. The first call
    /// for a folder reads all of it.
    ///
    /// # Errors
    /// When the folder cannot be looked at, or its content not be kept: the command could not be undone.
    pub fn before_command(&self, task: TaskId, folder: &Path) -> Result<RunningCommand, TimeError> {
        let inner = &self.inner;
        let album = inner.album(folder);
        let mut album = super::lock(&album);
        inner.look(&mut album, folder, Extent::Seen, None)?;
        inner.save(&mut album, folder);
        let (TaskId { session, number }, bytes) = (task, bytes_of(folder));
        let key = inner.store.write_blocking(move |tx| tx.add_time_command(session, number, &bytes))?;
        album.running.insert(key, task);
        Ok(RunningCommand { key, folder: folder.to_owned() })
    }

    /// To be called when a command has ended, however it ended: records what changed. How many paths did.
    ///
    /// # Errors
    /// As [`TimeMachine::before_command`]. The command counts as running then, and what it changed is
    /// recorded with the next one.
    pub fn after_command(&self, command: &RunningCommand) -> Result<usize, TimeError> {
        let inner = &self.inner;
        let album = inner.album(&command.folder);
        let mut album = super::lock(&album);
        let changed = inner.look(&mut album, &command.folder, Extent::Seen, None)?;
        let key = command.key;
        inner.store.write_blocking(move |tx| tx.remove_time_command(key))?;
        album.running.remove(&key);
        // Nobody waits now; before the next command somebody does.
        inner.save(&mut album, &command.folder);
        Ok(changed)
    }

    /// What the newest picture of a folder left out, by path, at most 200, and how much in all. Nothing
    /// before the first command.
    pub fn left_out(&self, folder: &Path) -> (Vec<LeftOut>, usize) {
        let album = self.inner.album(folder);
        let mut album = super::lock(&album);
        self.inner.load(&mut album, folder);
        let all = album.latest.as_ref().map(Picture::left_out).unwrap_or_default();
        let count = all.len();
        let shown = all.into_iter().take(SHOWN);
        let shown = shown.map(|(path, why)| LeftOut { path: super::bytes::text_of(&path), why });
        (shown.collect(), count)
    }

    /// Records what commands of a session changed that ran when an earlier process ended.
    pub(super) fn recover_commands(&self, session: SessionId) -> Result<(), TimeError> {
        let inner = &self.inner;
        let mut commands = inner.store.read_blocking(|reader| reader.time_commands())?;
        commands.retain(|command| command.session == session);
        let folders: BTreeSet<PathBuf> = commands.iter().map(|command| path_of(&command.folder)).collect();
        for folder in folders {
            let album = inner.album(&folder);
            let mut album = super::lock(&album);
            let here: Vec<_> = commands.iter().filter(|command| path_of(&command.folder) == folder).collect();
            for command in &here {
                let task = TaskId { session: command.session, number: command.number };
                album.running.insert(command.key, task);
            }
            if let Err(error) = inner.look(&mut album, &folder, Extent::Everything, None) {
                // The folder may be gone for good; that must not keep Octo from starting.
                tracing::warn!(%error, "what an interrupted command changed cannot be seen");
            }
            let keys: Vec<i64> = here.iter().map(|command| command.key).collect();
            let ended = keys.clone();
            inner.store.write_blocking(move |tx| {
                ended.into_iter().try_for_each(|key| tx.remove_time_command(key))
            })?;
            // Those of other sessions in this folder go on.
            album.running.retain(|key, _| !keys.contains(key));
            inner.save(&mut album, &folder);
        }
        Ok(())
    }
}

impl Inner {
    fn album(&self, folder: &Path) -> Arc<Mutex<Album>> {
        Arc::clone(super::lock(&self.albums).entry(folder.to_owned()).or_default())
    }

    pub(super) fn pictures(&self) -> PathBuf {
        self.home.join("time").join("pictures")
    }

    fn picture_file(&self, folder: &Path) -> PathBuf {
        self.pictures().join(blake3::hash(&bytes_of(folder)).to_hex().as_str())
    }

    fn load(&self, album: &mut Album, folder: &Path) {
        if !album.loaded {
            album.loaded = true;
            album.latest =
                Picture::load(&self.picture_file(folder)).filter(|picture| picture.folder == folder);
        }
    }

    /// Keeps the picture in its file, when that is an older one.
    pub(super) fn save(&self, album: &mut Album, folder: &Path) {
        if !album.stale {
            return;
        }
        if let Some(picture) = &album.latest {
            let shelf = album.shelf.get_or_insert_with(|| Shelf::new(self.picture_file(folder)));
            match shelf.keep(picture) {
                Ok(()) => album.stale = false,
                // Without it the next start reads the folder again.
                Err(error) => tracing::warn!(%error, "a picture could not be written"),
            }
        }
    }

    /// Takes a picture and records for every running command what changed since the last one; also for the task
    /// `whose`, if there is one.
    fn look(
        &self,
        album: &mut Album,
        folder: &Path,
        extent: Extent,
        whose: Option<TaskId>,
    ) -> Result<usize, TimeError> {
        self.load(album, folder);
        let picture = self.picture(album, folder, extent)?;
        let mut changed = 0;
        if let Some(last) = &album.latest {
            let differences = diff(last, &picture);
            changed = differences.len();
            album.stale |= changed > 0;
            let tasks: BTreeSet<(SessionId, u32)> = album
                .running
                .values()
                .copied()
                .chain(whose)
                .map(|task| (task.session, task.number))
                .collect();
            if changed > 0 && !tasks.is_empty() {
                let found = self.images(last, &differences)?;
                for (session, number) in tasks {
                    self.record_found(TaskId { session, number }, found.clone())?;
                }
            }
        } else {
            album.stale = true;
        }
        album.latest = Some(picture);
        Ok(changed)
    }

    fn picture(&self, album: &mut Album, folder: &Path, extent: Extent) -> Result<Picture, TimeError> {
        let camera = Camera { blobs: &self.blobs, limits: self.limits, home: &self.home };
        // A watch that told is asked again only for what it has not told yet, so a failure from here on means
        // that everything is looked at next.
        let watch = album.watch.take();
        let seen = watch.as_ref().and_then(Watch::seen);
        let again = match (&watch, &seen, &album.latest) {
            (Some(watch), Some(seen), Some(last)) if extent == Extent::Seen => {
                last.again(seen, &camera, watch)?
            }
            _ => None,
        };
        if let Some(picture) = again {
            album.trusting = true;
            album.watch = watch;
            return Ok(picture);
        }
        let watch = match (watch, seen) {
            (Some(watch), Some(_)) => Some(watch),
            _ => {
                self.watched(folder);
                Watch::new(folder, self.limits.watched)
            }
        };
        let picture = Picture::take(folder, album.latest.as_ref(), &camera, watch.as_ref())?;
        album.watch = watch;
        album.trusting = false;
        Ok(picture)
    }

    /// A folder comes to be watched: the one that was longest watched is not any more, where there are too many.
    fn watched(&self, folder: &Path) {
        let oldest = {
            let mut order = super::lock(&self.watched);
            order.retain(|known| known != folder);
            order.push_back(folder.to_owned());
            if order.len() > WATCHED { order.pop_front() } else { None }
        };
        let album = oldest.and_then(|oldest| super::lock(&self.albums).get(&oldest).map(Arc::clone));
        // One that is being looked at just now stays watched.
        if let Some(album) = album
            && let Ok(mut album) = album.try_lock()
        {
            album.watch = None;
        }
        self.forget_rested();
    }

    /// Lets go of what is known of folders that are not watched any more. What is needed of them again is in their
    /// files.
    fn forget_rested(&self) {
        let watched = super::lock(&self.watched).clone();
        // While this is held nobody can come to hold an album.
        super::lock(&self.albums).retain(|folder, album| {
            watched.contains(folder)
                || Arc::strong_count(album) > 1
                || album.try_lock().is_ok_and(|album| !album.rests())
        });
    }

    /// Looks at everything a task's commands may have changed and no watch told.
    pub(super) fn look_at_the_end(&self, task: TaskId, folder: &Path) -> Result<(), TimeError> {
        let Some(album) = super::lock(&self.albums).get(folder).map(Arc::clone) else { return Ok(()) };
        let mut album = super::lock(&album);
        if !album.trusting {
            return Ok(());
        }
        // What was told since the last command ended is somebody else's.
        self.look(&mut album, folder, Extent::Seen, None)?;
        self.look(&mut album, folder, Extent::Everything, Some(task))?;
        self.save(&mut album, folder);
        Ok(())
    }

    fn record_found(&self, task: TaskId, found: Vec<(PathBuf, FileImage)>) -> Result<(), TimeError> {
        let paths: Vec<PathBuf> = found.iter().map(|(path, _)| path.clone()).collect();
        self.record(task, found, TimeSource::Found)?;
        // A command that outlives its task changes what the task leaves.
        let ended =
            self.read_tree(task.session)?.task(task.number).is_none_or(|task| task.ended_at.is_some());
        if ended {
            let touched = paths.into_iter().map(|path| (path, TimeSource::Found)).collect();
            let after = self.look_after(task, touched)?;
            self.store.write_blocking(move |tx| tx.record_time_states(task.session, &after))?;
        }
        Ok(())
    }

    /// What the paths were like in the last picture, their contents in blobs.
    fn images(
        &self,
        last: &Picture,
        differences: &[Difference<'_>],
    ) -> Result<Vec<(PathBuf, FileImage)>, TimeError> {
        let mut wanted = HashMap::new();
        for item in differences.iter().filter_map(|difference| difference.before) {
            if let Kept::Git(hash, object) = item.kept
                && self.blobs.verify(&name_of(hash)).is_err()
            {
                wanted.insert(hash, object);
            }
        }
        let copied = match &last.repository {
            Some(repository) => git::copy_to_blobs(repository, &wanted, &self.blobs),
            None => Default::default(),
        };
        self.blobs.flush()?;
        let is_lost = |hash: &[u8; 32]| wanted.contains_key(hash) && !copied.contains(hash);
        Ok(differences
            .iter()
            .map(|difference| {
                let image = match difference.before {
                    None => FileImage::Absent,
                    Some(item) => item_image(item, is_lost),
                };
                (last.path(&difference.path), image)
            })
            .collect())
    }

    /// What a path is like now, its content kept. What the picture of a folder knows is not read again.
    pub(super) fn known(&self, path: &Path, stamp: super::folder::Stamp) -> Option<FileImage> {
        let albums: Vec<Arc<Mutex<Album>>> = super::lock(&self.albums)
            .iter()
            .filter(|(folder, _)| path.starts_with(folder))
            .map(|(_, album)| Arc::clone(album))
            .collect();
        // An album somebody holds is being looked at: reading the file is as good.
        albums.iter().find_map(|album| album.try_lock().ok()?.latest.as_ref()?.known(path, stamp))
    }

    /// The blobs that pictures hold on to, in memory and in files.
    pub(super) fn picture_blobs(&self, mut each: impl FnMut(octo_protocol::BlobHash)) {
        let albums: Vec<Arc<Mutex<Album>>> = super::lock(&self.albums).values().map(Arc::clone).collect();
        for album in albums {
            super::lock(&album).latest.iter().flat_map(Picture::blobs).for_each(&mut each);
        }
        for file in std::fs::read_dir(self.pictures()).into_iter().flatten().flatten() {
            let _picture =
                Picture::load_each(&file.path(), |item| item.blob().into_iter().for_each(&mut each));
        }
    }
}

fn item_image(item: &Item, is_lost: impl Fn(&[u8; 32]) -> bool) -> FileImage {
    let unsaved = |why| FileImage::Unsaved { why, len: item.stamp.len, modified: item.stamp.modified };
    match &item.kept {
        Kept::Git(hash, _) if is_lost(hash) => unsaved(Unsaved::Forgotten),
        Kept::Blob(hash) | Kept::Git(hash, _) => image(item, name_of(*hash)),
        Kept::Link(target) => FileImage::Link { target: target.to_vec() },
        Kept::Folder => FileImage::Folder { mode: item.stamp.permissions() },
        Kept::Not(why) => unsaved(*why),
    }
}
