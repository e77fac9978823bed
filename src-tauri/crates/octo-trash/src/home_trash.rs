//! The handle of the trash, and the entries of new content.

use octo_protocol::{ApiError, TrashEntry, TrashId, TrashKind, TrashLimits};
use octo_runtime::{Clock, blocking};
use octo_shell::Removals;
use octo_store::{Store, TrashRow};
use octo_workspace::{
    HomeLocation, ItemProperties, PendingEntry, Removal, Trash, TrashError, TrashScan, TrashSlip, path_bytes,
    rm,
};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio::sync::Mutex;

/// Number of entries changed in one transaction.
pub(crate) const BATCH: usize = 500;

/// The program that replaces `rm` in commands; see [`octo_workspace::rm`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remover {
    /// The running program: its `main` calls [`octo_workspace::rm::run`] when it is started under that name.
    ThisProgram,
    /// Another program that does so.
    Program(PathBuf),
    /// The system's `rm`: removed files are gone. For programs that are not part of Octo, such as most tests.
    System,
}

/// The trash of the home. Cheap to clone; all clones share it.
#[derive(Clone)]
pub struct HomeTrash {
    pub(crate) store: Store,
    pub(crate) files: Trash,
    pub(crate) home: PathBuf,
    /// The current and former locations of the home: files are restored to the current one.
    pub(crate) home_location: HomeLocation,
    /// The clock that decides expiry.
    pub(crate) clock: Arc<dyn Clock>,
    /// Locked while entries are created from content, so that each is created once.
    scan_lock: Arc<Mutex<()>>,
    /// Locked while entries are deleted permanently.
    pub(crate) empty_lock: Arc<Mutex<()>>,
}

impl HomeTrash {
    /// Creates the trash of a home.
    pub fn new(home_location: &HomeLocation, home: &Path, store: Store, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            clock,
            home_location: home_location.clone(),
            files: Trash::in_home(home),
            home: home.to_owned(),
            scan_lock: Arc::default(),
            empty_lock: Arc::default(),
        }
    }

    /// Installs the replacement for `rm` first on the search path of commands.
    pub fn install(&self, remover: &Remover) -> Result<(), ApiError> {
        let installed = match remover {
            Remover::System => return Ok(()),
            Remover::Program(program) => rm::install(&self.home, program),
            Remover::ThisProgram => {
                std::env::current_exe().and_then(|program| rm::install(&self.home, &program))
            }
        };
        installed.map(|_| ()).map_err(|error| {
            ApiError::new("start.home_unwritable").arg("home", self.home.display()).detail(error)
        })
    }

    /// Moves a file or folder of the person into the trash and creates its entry.
    ///
    /// # Errors
    /// `trash.not_deleted` if it could not be moved; it is then unchanged.
    pub async fn move_in(&self, path: PathBuf, removal: Removal) -> Result<TrashId, ApiError> {
        let files = self.files.clone();
        let id = blocking(move || {
            files
                .move_in(&path, &removal)
                .map(|slip| slip.id)
                .map_err(|error| ApiError::new("trash.not_deleted").arg("path", path.display()).detail(error))
        })
        .await?;
        self.scan(TrashScan::New).await?;
        Ok(id)
    }

    /// Returns the kind of entry for a file that had this path.
    fn kind_of(&self, path: &Path) -> TrashKind {
        if path.parent().is_some_and(|folder| folder.ends_with(".octo/skills")) {
            return TrashKind::Skill;
        }
        let home = octo_workspace::resolve_links(&self.home).unwrap_or_else(|_| self.home.clone());
        let Ok(relative) = path.strip_prefix(home) else { return TrashKind::File };
        let depth = relative.components().count();
        if relative.starts_with("skills") && depth == 2 {
            TrashKind::Skill
        } else if relative.starts_with("memories") && depth == 2 {
            TrashKind::Memory
        } else if relative.starts_with("tasks")
            && depth == 2
            && relative.extension().is_some_and(|end| end == "md")
        {
            TrashKind::Task
        } else {
            TrashKind::File
        }
    }

    /// Returns how removals by a session's commands are handled.
    pub fn removals(&self, remover: &Remover) -> Removals {
        match remover {
            Remover::System => Removals::System,
            Remover::ThisProgram | Remover::Program(_) => Removals::Trash { home: self.home.clone() },
        }
    }

    /// Runs [`HomeTrash::scan`] and logs an error: the next scan tries again.
    pub async fn scan_and_log(&self, scope: TrashScan) {
        if let Err(error) = self.scan(scope).await {
            tracing::warn!(%error, "the trash could not be scanned; removed files are listed after the next scan");
        }
    }

    /// Creates entries for content without one. [`TrashScan::All`] also removes entries without content.
    pub async fn scan(&self, scope: TrashScan) -> Result<(), ApiError> {
        let _one_at_a_time = self.scan_lock.lock().await;
        let files = self.files.clone();
        let trash = self.clone();
        let kind = move |path: &Path| trash.kind_of(path);
        let (rows, mut vanished) = blocking(move || {
            let (mut rows, mut vanished) = (Vec::new(), Vec::new());
            for pending in files.pending_entries(scope).map_err(unreadable)? {
                match pending {
                    PendingEntry::InTrash(slip) => match files.measure(slip.id, &slip.path) {
                        Ok(properties) => rows.push(row_of(&slip, kind(&slip.path), properties)),
                        Err(error) => {
                            tracing::warn!(id = %slip.id, %error, "a removed file could not be measured")
                        }
                    },
                    PendingEntry::NotInTrash(id) => vanished.push(id),
                }
            }
            Ok((rows, vanished))
        })
        .await?;
        if scope == TrashScan::All {
            let ids = self.store.read(|reader| reader.trash_files()).await?;
            let files = self.files.clone();
            let missing = move || Ok(ids.into_iter().filter(|id| !files.contains(*id)).collect::<Vec<_>>());
            vanished.extend(blocking(missing).await?);
        }
        for batch in rows.chunks(BATCH) {
            let batch = batch.to_vec();
            let ids: Vec<TrashId> = batch.iter().map(|row| row.entry.id).collect();
            self.store.write(move |tx| tx.trash_add(&batch)).await?;
            let files = self.files.clone();
            blocking(move || {
                ids.into_iter().for_each(|id| files.mark_recorded(id));
                Ok(())
            })
            .await?;
        }
        if !vanished.is_empty() {
            self.store.write(move |tx| tx.trash_drop(&vanished)).await?;
        }
        Ok(())
    }
}

fn row_of(slip: &TrashSlip, kind: TrashKind, properties: ItemProperties) -> TrashRow {
    let folder = slip.path.parent().unwrap_or_else(|| Path::new("/"));
    TrashRow {
        path: path_bytes(&slip.path),
        mode: properties.mode,
        is_reproducible: properties.recreatable,
        entry: TrashEntry {
            id: slip.id,
            kind,
            form: properties.form,
            name: slip.name().to_string_lossy().into_owned(),
            folder: folder.to_string_lossy().into_owned(),
            size: properties.size,
            files: properties.files,
            link: properties.link,
            at: slip.at,
            who: slip.removal.remover,
            session: slip.removal.session,
            turn: None,
            project: slip.removal.project.clone(),
            command: slip.removal.command.clone(),
        },
    }
}

pub(crate) fn unreadable(error: std::io::Error) -> ApiError {
    ApiError::new("trash.unreadable").detail(error)
}

/// Explains to the person why a file was not restored or removed.
pub(crate) fn explain_error(error: &TrashError) -> ApiError {
    match error {
        TrashError::Taken(present) => ApiError::new("trash.taken").arg("path", present.path.display()),
        TrashError::Elsewhere(path) => ApiError::new("trash.elsewhere").arg("path", path.display()),
        TrashError::Gone => ApiError::new("trash.gone"),
        TrashError::NoRoom(_)
        | TrashError::Item(_)
        | TrashError::Refused(_)
        | TrashError::TooLarge
        | TrashError::Special(_)
        | TrashError::Changed => ApiError::new("trash.not_restored").detail(error),
    }
}

impl HomeTrash {
    /// Deletes expired entries in the background.
    pub fn expire_in_background(&self, limits: TrashLimits) {
        let trash = self.clone();
        tokio::spawn(async move {
            if let Err(error) = trash.expire(limits).await {
                tracing::warn!(%error, "expired entries of the trash were not deleted");
            }
        });
    }
}
