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

/// The replacement for `rm` in commands; see [`octo_workspace::rm`].
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
    /// The home's former locations: things are restored to its present one.
    pub(crate) residence: HomeLocation,
    /// The clock that decides expiry.
    pub(crate) clock: Arc<dyn Clock>,
    /// Locked while entries are created from content, so that each is created once.
    taking_in: Arc<Mutex<()>>,
    /// Locked while things are deleted permanently.
    pub(crate) emptying: Arc<Mutex<()>>,
}

impl HomeTrash {
    /// Creates the trash of a home. `residence` has the home's former locations.
    pub fn new(residence: &HomeLocation, home: &Path, store: Store, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            clock,
            residence: residence.clone(),
            files: Trash::in_home(home),
            home: home.to_owned(),
            taking_in: Arc::default(),
            emptying: Arc::default(),
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
    /// Nothing was changed then.
    pub async fn throw_away(&self, path: PathBuf, removal: Removal) -> Result<TrashId, ApiError> {
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

    /// Returns the kind of a file with this path, as the person sees it.
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

    /// Returns the handling of removals by a session's commands.
    pub fn removals(&self, remover: &Remover) -> Removals {
        match remover {
            Remover::System => Removals::System,
            Remover::ThisProgram | Remover::Program(_) => Removals::Trash { home: self.home.clone() },
        }
    }

    /// Runs [`HomeTrash::scan`] and only logs errors: the next check tries again.
    pub async fn scan_and_log(&self, sweep: TrashScan) {
        if let Err(error) = self.scan(sweep).await {
            tracing::warn!(%error, "what was removed is not in the list yet; it is safe in the trash");
        }
    }

    /// Creates entries for new content.
    pub async fn scan(&self, sweep: TrashScan) -> Result<(), ApiError> {
        let _one_at_a_time = self.taking_in.lock().await;
        let files = self.files.clone();
        let trash = self.clone();
        let kind = move |path: &Path| trash.kind_of(path);
        let (rows, mut vanished) = blocking(move || {
            let (mut rows, mut vanished) = (Vec::new(), Vec::new());
            for pending in files.pending_entries(sweep).map_err(unreadable)? {
                match pending {
                    PendingEntry::InTrash(slip) => match files.measure(slip.id, &slip.path) {
                        Ok(measure) => rows.push(row_of(&slip, kind(&slip.path), measure)),
                        Err(error) => tracing::warn!(id = %slip.id, %error, "a thing could not be looked at"),
                    },
                    PendingEntry::NotInTrash(id) => vanished.push(id),
                }
            }
            Ok((rows, vanished))
        })
        .await?;
        if sweep == TrashScan::All {
            let trash = self.store.read(|reader| reader.trash_files()).await?;
            let files = self.files.clone();
            let missing = move || Ok(trash.into_iter().filter(|id| !files.contains(*id)).collect::<Vec<_>>());
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

fn row_of(slip: &TrashSlip, kind: TrashKind, measure: ItemProperties) -> TrashRow {
    let folder = slip.path.parent().unwrap_or_else(|| Path::new("/"));
    TrashRow {
        path: path_bytes(&slip.path),
        mode: measure.mode,
        is_reproducible: measure.recreatable,
        entry: TrashEntry {
            id: slip.id,
            kind,
            form: measure.form,
            name: slip.name().to_string_lossy().into_owned(),
            folder: folder.to_string_lossy().into_owned(),
            size: measure.size,
            files: measure.files,
            link: measure.link,
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
                tracing::warn!(%error, "the trash keeps more than it should");
            }
        });
    }
}
