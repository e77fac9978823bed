//! Detects the changes of shell commands by snapshots of the session's folder before and after them.
//!
//! Every change found while a command runs belongs to its step: also when another command begins or ends, and
//! when the command continues in the background after its turn. A change made while no command runs has another
//! author and belongs to no step.
//!
//! If the folder is watched, a snapshot only checks the reported changes. A watch cannot see everything (see
//! [`super::watch`]), so a step that ran commands ends with a complete check: changes that only this check
//! finds count as the step's.

use super::{
    StepId, TimeError, TimeMachine, TimeMachineInner,
    bytes::{bytes_of, path_of},
    git,
    snapshot::{
        FolderSnapshot, ItemContent, SnapshotContext, SnapshotDifference, SnapshotFile, SnapshotItem, diff,
        image, name_of,
    },
    watch::FolderWatch,
};
use octo_protocol::{FileImage, OmittedPath, SessionId, UnsavedReason};
use octo_store::StateSource;
use parking_lot::Mutex;
use std::{
    collections::{BTreeSet, HashMap},
    path::{Path, PathBuf},
    sync::Arc,
};

/// The maximum length of a displayed list; people do not read more.
const MAX_LISTED: usize = 200;

/// A running command. Passed to [`TimeMachine::after_command`] when it has ended.
#[derive(Debug)]
#[must_use = "what the command changes is recorded when it has ended"]
pub struct RunningCommand {
    key: i64,
    folder: PathBuf,
}

/// The maximum number of folders watched at the same time. Watches are a resource shared by all programs of the
/// account.
const MAX_WATCHED_FOLDERS: usize = 16;

/// The snapshots of a folder.
#[derive(Debug, Default)]
pub(super) struct FolderHistory {
    latest: Option<FolderSnapshot>,
    loaded: bool,
    /// Whether the snapshot stored on disk is outdated.
    stale: bool,
    file: Option<SnapshotFile>,
    watch: Option<FolderWatch>,
    /// Whether the latest snapshot relied on the watch for unreported paths.
    trusts_watch: bool,
    running: HashMap<i64, StepId>,
}

impl FolderHistory {
    /// Whether the file on disk is up to date, and no command or step end is pending.
    fn is_idle(&self) -> bool {
        self.running.is_empty() && !self.stale && !self.trusts_watch
    }
}

/// The author of the changes that a snapshot finds. Those of running commands always count as theirs.
#[derive(Clone, Copy)]
enum ChangeOwner {
    /// Running commands; others if there are none.
    RunningCommands,
    /// A step that has ended its commands.
    Step(StepId),
    /// Others, before a step's next command.
    OthersBefore(StepId),
}

impl ChangeOwner {
    fn step(self) -> Option<StepId> {
        match self {
            Self::Step(step) => Some(step),
            Self::RunningCommands | Self::OthersBefore(_) => None,
        }
    }
}

/// How much of the folder a snapshot checks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CheckExtent {
    /// Only the reported changes, if they are known.
    Reported,
    /// Everything.
    Everything,
}

impl TimeMachine {
    /// Takes a snapshot of the folder before a command that may change something. The first call for a folder
    /// reads all of it.
    ///
    /// # Errors
    ///
    /// When the folder cannot be read or its content cannot be stored: the command could not be undone.
    pub fn before_command(&self, task: StepId, folder: &Path) -> Result<RunningCommand, TimeError> {
        let inner = &self.inner;
        let history = inner.folder_state(folder);
        let mut history = history.lock();
        inner.record_changes(&mut history, folder, CheckExtent::Reported, ChangeOwner::OthersBefore(task))?;
        inner.save(&mut history, folder);
        let (StepId { session, number }, bytes) = (task, bytes_of(folder));
        let key = inner.store.write_blocking(move |tx| tx.add_time_command(session, number, &bytes))?;
        history.running.insert(key, task);
        inner.own.lock().begin_command(folder);
        Ok(RunningCommand { key, folder: folder.to_owned() })
    }

    /// Records the changes of a command that has ended, in any way. Returns the number of changed paths.
    ///
    /// # Errors
    ///
    /// As [`TimeMachine::before_command`]. The command then still counts as running, and its changes are
    /// recorded with the next one.
    pub fn after_command(&self, command: &RunningCommand) -> Result<usize, TimeError> {
        let inner = &self.inner;
        let history = inner.folder_state(&command.folder);
        let mut history = history.lock();
        let changed = inner.record_changes(
            &mut history,
            &command.folder,
            CheckExtent::Reported,
            ChangeOwner::RunningCommands,
        )?;
        let key = command.key;
        inner.store.write_blocking(move |tx| tx.remove_time_command(key))?;
        if history.running.remove(&key).is_some() {
            inner.own.lock().end_command(&command.folder);
        }
        // No caller waits at this point; before the next command one does.
        inner.save(&mut history, &command.folder);
        Ok(changed)
    }

    /// Returns the paths the newest snapshot of a folder left out (at most 200), and their total number. Empty
    /// before the first command.
    pub fn omitted_paths(&self, folder: &Path) -> (Vec<OmittedPath>, usize) {
        let history = self.inner.folder_state(folder);
        let mut history = history.lock();
        self.inner.load(&mut history, folder);
        let omitted = history.latest.as_ref().map(FolderSnapshot::omitted_paths).unwrap_or_default();
        let count = omitted.len();
        let listed = omitted.into_iter().take(MAX_LISTED);
        let listed =
            listed.map(|(path, reason)| OmittedPath { path: super::bytes::text_of(&path), why: reason });
        (listed.collect(), count)
    }

    /// Records the changes of a session's commands that were running when an earlier process ended.
    pub(super) fn recover_commands(&self, session: SessionId) -> Result<(), TimeError> {
        let inner = &self.inner;
        let mut commands = inner.store.read_blocking(|reader| reader.time_commands())?;
        commands.retain(|command| command.session == session);
        let folders: BTreeSet<PathBuf> = commands.iter().map(|command| path_of(&command.folder)).collect();
        for folder in folders {
            let history = inner.folder_state(&folder);
            let mut history = history.lock();
            let in_folder: Vec<_> =
                commands.iter().filter(|command| path_of(&command.folder) == folder).collect();
            for command in &in_folder {
                let task = StepId { session: command.session, number: command.number };
                history.running.insert(command.key, task);
            }
            let owner = ChangeOwner::RunningCommands;
            if let Err(error) = inner.record_changes(&mut history, &folder, CheckExtent::Everything, owner) {
                // The folder may be gone for good; that must not prevent Octo from starting.
                tracing::warn!(%error, "what an interrupted command changed cannot be seen");
            }
            let keys: Vec<i64> = in_folder.iter().map(|command| command.key).collect();
            let ended = keys.clone();
            inner.store.write_blocking(move |tx| {
                ended.into_iter().try_for_each(|key| tx.remove_time_command(key))
            })?;
            // The commands of other sessions in this folder continue.
            history.running.retain(|key, _| !keys.contains(key));
            inner.save(&mut history, &folder);
        }
        Ok(())
    }
}

impl TimeMachineInner {
    fn folder_state(&self, folder: &Path) -> Arc<Mutex<FolderHistory>> {
        Arc::clone(self.folders.lock().entry(folder.to_owned()).or_default())
    }

    pub(super) fn snapshot_folder(&self) -> PathBuf {
        self.home.join("time").join("pictures")
    }

    fn snapshot_file(&self, folder: &Path) -> PathBuf {
        self.snapshot_folder().join(blake3::hash(&bytes_of(folder)).to_hex().as_str())
    }

    fn load(&self, history: &mut FolderHistory, folder: &Path) {
        if !history.loaded {
            history.loaded = true;
            history.latest =
                FolderSnapshot::load(&self.snapshot_file(folder)).filter(|picture| picture.folder == folder);
        }
    }

    /// Writes the snapshot to its file if the file is outdated.
    pub(super) fn save(&self, history: &mut FolderHistory, folder: &Path) {
        if !history.stale {
            return;
        }
        if let Some(picture) = &history.latest {
            let snapshot_file =
                history.file.get_or_insert_with(|| SnapshotFile::new(self.snapshot_file(folder)));
            match snapshot_file.store(picture) {
                Ok(()) => history.stale = false,
                // Without it, the next start reads the folder again.
                Err(error) => tracing::warn!(%error, "a picture could not be written"),
            }
        }
    }

    /// Takes a snapshot, and records the changes since the last one.
    fn record_changes(
        &self,
        history: &mut FolderHistory,
        folder: &Path,
        extent: CheckExtent,
        owner: ChangeOwner,
    ) -> Result<usize, TimeError> {
        self.load(history, folder);
        let picture = self.take_snapshot(history, folder, extent)?;
        let mut changed = 0;
        if let Some(previous) = &history.latest {
            let differences = diff(previous, &picture);
            changed = differences.len();
            history.stale |= changed > 0;
            let tasks: BTreeSet<(SessionId, u32)> = history
                .running
                .values()
                .copied()
                .chain(owner.step())
                .map(|task| (task.session, task.number))
                .collect();
            if changed > 0 && !tasks.is_empty() {
                let before = self.images(previous, &differences, |difference| difference.before)?;
                for (session, number) in tasks {
                    let step = StepId { session, number };
                    self.record_found(step, before.clone())?;
                    self.own.lock().note(step, present_images(previous, &differences));
                }
            } else if let (true, ChangeOwner::OthersBefore(step)) = (changed > 0, owner) {
                let present = self.images(&picture, &differences, |difference| difference.after)?;
                self.record_found_between(step, present)?;
            }
        } else {
            history.stale = true;
        }
        history.latest = Some(picture);
        Ok(changed)
    }

    fn take_snapshot(
        &self,
        history: &mut FolderHistory,
        folder: &Path,
        extent: CheckExtent,
    ) -> Result<FolderSnapshot, TimeError> {
        let context = SnapshotContext { blobs: &self.blobs, limits: self.limits, home: &self.home };
        // A drained watch only reports later changes, so after any failure from here on the next snapshot
        // checks everything.
        let watch = history.watch.take();
        let changes = watch.as_ref().and_then(FolderWatch::take_changes);
        let updated = match (&watch, &changes, &history.latest) {
            (Some(watch), Some(changes), Some(last)) if extent == CheckExtent::Reported => {
                last.update(changes, &context, watch)?
            }
            _ => None,
        };
        if let Some(picture) = updated {
            history.trusts_watch = true;
            history.watch = watch;
            return Ok(picture);
        }
        let watch = match (watch, changes) {
            (Some(watch), Some(_)) => Some(watch),
            _ => {
                self.record_watched(folder);
                FolderWatch::new(folder, self.limits.max_watched)
            }
        };
        let picture = FolderSnapshot::full(folder, history.latest.as_ref(), &context, watch.as_ref())?;
        history.watch = watch;
        history.trusts_watch = false;
        Ok(picture)
    }

    /// Adds a folder to the watched ones; drops the longest watched one if there are too many.
    fn record_watched(&self, folder: &Path) {
        let oldest = {
            let mut order = self.watched.lock();
            order.retain(|other| other != folder);
            order.push_back(folder.to_owned());
            if order.len() > MAX_WATCHED_FOLDERS { order.pop_front() } else { None }
        };
        let history = oldest.and_then(|oldest| self.folders.lock().get(&oldest).map(Arc::clone));
        // A folder that is being checked right now stays watched.
        if let Some(history) = history
            && let Some(mut history) = history.try_lock()
        {
            history.watch = None;
        }
        self.drop_idle_folders();
    }

    /// Drops the cached state of folders that are no longer watched. Their files have everything needed later.
    fn drop_idle_folders(&self) {
        let watched = self.watched.lock().clone();
        // While this lock is held, no caller can start to use an entry.
        self.folders.lock().retain(|folder, history| {
            watched.contains(folder)
                || Arc::strong_count(history) > 1
                || history.try_lock().is_some_and(|history| !history.is_idle())
        });
    }

    /// Checks everything a step's commands may have changed without a report by the watch.
    pub(super) fn check_completely(&self, task: StepId, folder: &Path) -> Result<(), TimeError> {
        let Some(history) = self.folders.lock().get(folder).map(Arc::clone) else { return Ok(()) };
        let mut history = history.lock();
        if !history.trusts_watch {
            return Ok(());
        }
        // Changes reported since the last command ended have another author.
        self.record_changes(&mut history, folder, CheckExtent::Reported, ChangeOwner::RunningCommands)?;
        self.record_changes(&mut history, folder, CheckExtent::Everything, ChangeOwner::Step(task))?;
        self.save(&mut history, folder);
        Ok(())
    }

    fn record_found(&self, task: StepId, found: Vec<(PathBuf, FileImage)>) -> Result<(), TimeError> {
        let paths: Vec<PathBuf> = found.iter().map(|(path, _)| path.clone()).collect();
        self.record(task, found, StateSource::Found)?;
        // A command that outlives its step changes the step's final state.
        let ended =
            self.read_tree(task.session)?.task(task.number).is_none_or(|task| task.ended_at.is_some());
        if ended {
            let touched = paths.into_iter().map(|path| (path, StateSource::Found)).collect();
            let after = self.record_final_states(task, touched)?;
            self.store.write_blocking(move |tx| tx.record_time_states(task.session, &after))?;
        }
        Ok(())
    }

    /// Returns the states of the differing paths in one of the snapshots, with their content in blobs.
    fn images<'a>(
        &self,
        previous: &FolderSnapshot,
        differences: &[SnapshotDifference<'a>],
        side: impl Fn(&SnapshotDifference<'a>) -> Option<&'a SnapshotItem>,
    ) -> Result<Vec<(PathBuf, FileImage)>, TimeError> {
        let mut git_objects = HashMap::new();
        for item in differences.iter().filter_map(&side) {
            if let ItemContent::Git(hash, object) = item.content
                && self.blobs.verify(&name_of(hash)).is_err()
            {
                git_objects.insert(hash, object);
            }
        }
        let copied = match &previous.repository {
            Some(repository) => git::copy_to_blobs(repository, &git_objects, &self.blobs),
            None => Default::default(),
        };
        self.blobs.flush()?;
        let is_lost = |hash: &[u8; 32]| git_objects.contains_key(hash) && !copied.contains(hash);
        Ok(differences
            .iter()
            .map(|difference| {
                let image = match side(difference) {
                    None => FileImage::Absent,
                    Some(item) => item_image(item, is_lost),
                };
                (previous.path(&difference.path), image)
            })
            .collect())
    }

    /// Returns the present state of a path and stores its content. Does not read files again that a snapshot
    /// already covers.
    pub(super) fn snapshot_image(&self, path: &Path, stamp: super::folder::PathStamp) -> Option<FileImage> {
        let albums: Vec<Arc<Mutex<FolderHistory>>> = self
            .folders
            .lock()
            .iter()
            .filter(|(folder, _)| path.starts_with(folder))
            .map(|(_, history)| Arc::clone(history))
            .collect();
        // A locked entry is being checked: reading the file works as well.
        albums.iter().find_map(|history| history.try_lock()?.latest.as_ref()?.image_if_unchanged(path, stamp))
    }

    /// Calls `each` with the blobs that snapshots refer to, in memory and in files.
    pub(super) fn for_each_snapshot_blob(&self, mut each: impl FnMut(octo_protocol::BlobHash)) {
        let albums: Vec<Arc<Mutex<FolderHistory>>> = self.folders.lock().values().map(Arc::clone).collect();
        for history in albums {
            history.lock().latest.iter().flat_map(FolderSnapshot::blobs).for_each(&mut each);
        }
        for file in std::fs::read_dir(self.snapshot_folder()).into_iter().flatten().flatten() {
            let _picture =
                FolderSnapshot::load_each(&file.path(), |item| item.blob().into_iter().for_each(&mut each));
        }
    }
}

/// Returns the present states of the differing paths, whose content need not be stored.
fn present_images(
    snapshot: &FolderSnapshot,
    differences: &[SnapshotDifference<'_>],
) -> Vec<(PathBuf, FileImage)> {
    let image =
        |item: Option<&SnapshotItem>| item.map_or(FileImage::Absent, |item| item_image(item, |_| false));
    differences.iter().map(|difference| (snapshot.path(&difference.path), image(difference.after))).collect()
}

fn item_image(item: &SnapshotItem, is_lost: impl Fn(&[u8; 32]) -> bool) -> FileImage {
    let unsaved =
        |reason| FileImage::Unsaved { why: reason, len: item.stamp.len, modified: item.stamp.modified };
    match &item.content {
        ItemContent::Git(hash, _) if is_lost(hash) => unsaved(UnsavedReason::Forgotten),
        ItemContent::Blob(hash) | ItemContent::Git(hash, _) => image(item, name_of(*hash)),
        ItemContent::Link(target) => FileImage::Link { target: target.to_vec() },
        ItemContent::Folder => FileImage::Folder { mode: item.stamp.permissions() },
        ItemContent::Unsaved(reason) => unsaved(*reason),
    }
}
