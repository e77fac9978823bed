//! What shell commands change: pictures of the session's folder before and after them.
//!
//! While a command runs, whatever is found changed belongs to its task: also when another command begins or
//! ends, and when it goes on in the background after its turn. What changes while none runs is somebody
//! else's, and belongs to no task.

use super::{
    Inner, TaskId, TimeError, TimeMachine,
    bytes::{bytes_of, path_of},
    git,
    picture::{Camera, Difference, Item, Kept, Picture, diff, image, name_of},
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

/// The pictures of a folder.
#[derive(Debug, Default)]
pub(super) struct Album {
    latest: Option<Picture>,
    loaded: bool,
    /// Whether the file of the picture is an older one.
    stale: bool,
    running: HashMap<i64, TaskId>,
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
        inner.look(&mut album, folder)?;
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
        let changed = inner.look(&mut album, &command.folder)?;
        let key = command.key;
        inner.store.write_blocking(move |tx| tx.remove_time_command(key))?;
        album.running.remove(&key);
        Ok(changed)
    }

    /// Says that something was seen to change these paths while a command ran, for example by watching. In
    /// the command's folder they are read again at the next picture, whatever their times say; outside of it
    /// they are recorded as changed and not kept, so that nobody believes they could be undone.
    ///
    /// # Errors
    /// Those of the store.
    pub fn noticed(&self, command: &RunningCommand, paths: &[PathBuf]) -> Result<(), TimeError> {
        let inner = &self.inner;
        let album = inner.album(&command.folder);
        let mut album = super::lock(&album);
        let Some(task) = album.running.get(&command.key).copied() else { return Ok(()) };
        let (inside, outside): (Vec<&PathBuf>, Vec<&PathBuf>) =
            paths.iter().partition(|path| path.starts_with(&command.folder));
        if let Some(picture) = &mut album.latest {
            inside.into_iter().for_each(|path| picture.doubt(path));
        }
        let unknown = FileImage::Unsaved { why: Unsaved::Outside, len: 0, modified: 0 };
        let outside: Vec<(PathBuf, FileImage)> = outside
            .into_iter()
            .filter(|path| !path.starts_with(&inner.home))
            .map(|path| (path.clone(), unknown.clone()))
            .collect();
        if !outside.is_empty() {
            inner.record(task, outside, TimeSource::Found)?;
        }
        Ok(())
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

    /// Records what commands changed that ran when an earlier process ended.
    pub(super) fn recover_commands(&self) -> Result<(), TimeError> {
        let inner = &self.inner;
        let commands = inner.store.read_blocking(|reader| reader.time_commands())?;
        let folders: BTreeSet<PathBuf> = commands.iter().map(|command| path_of(&command.folder)).collect();
        for folder in folders {
            let album = inner.album(&folder);
            let mut album = super::lock(&album);
            let here: Vec<_> = commands.iter().filter(|command| path_of(&command.folder) == folder).collect();
            for command in &here {
                let task = TaskId { session: command.session, number: command.number };
                album.running.insert(command.key, task);
            }
            if let Err(error) = inner.look(&mut album, &folder) {
                // The folder may be gone for good; that must not keep Octo from starting.
                tracing::warn!(%error, "what an interrupted command changed cannot be seen");
            }
            let keys: Vec<i64> = here.iter().map(|command| command.key).collect();
            inner
                .store
                .write_blocking(move |tx| keys.into_iter().try_for_each(|key| tx.remove_time_command(key)))?;
            album.running.clear();
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

    /// Writes the picture to its file, when that is an older one.
    pub(super) fn save(&self, album: &mut Album, folder: &Path) {
        if !album.stale {
            return;
        }
        if let Some(picture) = &album.latest {
            match picture.save(&self.picture_file(folder)) {
                Ok(()) => album.stale = false,
                // Without it the next start reads the folder again.
                Err(error) => tracing::warn!(%error, "a picture could not be written"),
            }
        }
    }

    /// Takes a picture and records for every running command what changed since the last one.
    fn look(&self, album: &mut Album, folder: &Path) -> Result<usize, TimeError> {
        self.load(album, folder);
        let camera = Camera { blobs: &self.blobs, limits: self.limits, home: &self.home };
        let picture = Picture::take(folder, album.latest.as_ref(), &camera)?;
        let mut changed = 0;
        if let Some(last) = &album.latest {
            let differences = diff(last, &picture);
            changed = differences.len();
            album.stale |= changed > 0;
            if changed > 0 && !album.running.is_empty() {
                let found = self.images(last, &differences)?;
                let tasks: BTreeSet<(SessionId, u32)> =
                    album.running.values().map(|task| (task.session, task.number)).collect();
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
            Picture::load(&file.path()).iter().flat_map(Picture::blobs).for_each(&mut each);
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

impl Picture {
    /// Makes the next picture read a file again.
    fn doubt(&mut self, path: &Path) {
        let Some((parent, name)) = path.parent().zip(path.file_name()) else { return };
        let Ok(parent) = parent.strip_prefix(&self.folder) else { return };
        let name = bytes_of(Path::new(name));
        if let Some(items) = self.folders.get_mut(bytes_of(parent).as_slice()) {
            let items = Arc::make_mut(items);
            items.iter_mut().filter(|item| *item.name == *name).for_each(|item| item.racy = true);
        }
    }
}
