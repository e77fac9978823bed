//! The one trash: the store's entries and the home's content, kept in step.
//!
//! The content's slips are the truth. [`HomeTrash::take_in`] makes entries of what commands removed, at the start also
//! after finishing what a kill interrupted; what leaves the trash leaves the disk first and the store after it, so
//! that a kill in between is put right by the next start.

mod keep;
mod out;
mod passage;
mod tool;

pub(crate) use out::picked;

use crate::{blocking::blocking, clock::Clock, config::Remover};
use octo_protocol::{ApiError, TrashEntry, TrashId, TrashKind, TrashLimits};
use octo_shell::Removals;
use octo_store::{Store, TrashRow};
use octo_workspace::{Arrival, Measure, Removal, Residence, Slip, Sweep, Trash, TrashError, path_bytes, rm};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio::sync::Mutex;

/// Entries that are changed in one transaction.
const BATCH: usize = 500;

/// The trash of the home. Cheap to clone; all clones are one.
#[derive(Clone)]
pub(crate) struct HomeTrash {
    store: Store,
    files: Trash,
    home: PathBuf,
    /// Where the home was before: things are restored to where that is now.
    residence: Residence,
    /// By which things have their time.
    clock: Arc<dyn Clock>,
    /// Held while entries are made of content, so that each is made once.
    taking_in: Arc<Mutex<()>>,
    /// Held while things leave for good.
    emptying: Arc<Mutex<()>>,
}

impl HomeTrash {
    pub(crate) fn new(residence: &Residence, home: &Path, store: Store, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            clock,
            residence: residence.clone(),
            files: Trash::of_home(home),
            home: home.to_owned(),
            taking_in: Arc::default(),
            emptying: Arc::default(),
        }
    }

    /// Puts what stands in for `rm` where commands find it first.
    pub(crate) fn install(&self, remover: &Remover) -> Result<(), ApiError> {
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

    /// Moves something of the person's into the trash, and makes its entry.
    ///
    /// # Errors
    /// Nothing was changed then.
    pub(crate) async fn throw_away(&self, path: PathBuf, removal: Removal) -> Result<TrashId, ApiError> {
        let files = self.files.clone();
        let id = blocking(move || {
            files
                .take(&path, &removal)
                .map(|slip| slip.id)
                .map_err(|error| ApiError::new("trash.not_deleted").arg("path", path.display()).detail(error))
        })
        .await?;
        self.take_in(Sweep::New).await?;
        Ok(id)
    }

    /// What a file of this path is to the person.
    fn kind_of(&self, path: &Path) -> TrashKind {
        if path.parent().is_some_and(|folder| folder.ends_with(".octo/skills")) {
            return TrashKind::Skill;
        }
        let home = octo_workspace::real(&self.home).unwrap_or_else(|_| self.home.clone());
        let Ok(inside) = path.strip_prefix(home) else { return TrashKind::File };
        let depth = inside.components().count();
        if inside.starts_with("skills") && depth == 2 {
            TrashKind::Skill
        } else if inside.starts_with("memories") && depth == 2 {
            TrashKind::Memory
        } else if inside.starts_with("tasks")
            && depth == 2
            && inside.extension().is_some_and(|end| end == "md")
        {
            TrashKind::Task
        } else {
            TrashKind::File
        }
    }

    /// What becomes of what a session's commands remove.
    pub(crate) fn removals(&self, remover: &Remover) -> Removals {
        match remover {
            Remover::System => Removals::System,
            Remover::ThisProgram | Remover::Program(_) => Removals::Trash { home: self.home.clone() },
        }
    }

    /// [`HomeTrash::take_in`] where nobody can do anything about an error: it is tried again at the next look.
    pub(crate) async fn look(&self, sweep: Sweep) {
        if let Err(error) = self.take_in(sweep).await {
            tracing::warn!(%error, "what was removed is not in the list yet; it is safe in the trash");
        }
    }

    /// Makes entries of what came in.
    pub(crate) async fn take_in(&self, sweep: Sweep) -> Result<(), ApiError> {
        let _one_at_a_time = self.taking_in.lock().await;
        let files = self.files.clone();
        let known = self.clone();
        let kind = move |path: &Path| known.kind_of(path);
        let (rows, mut gone) = blocking(move || {
            let (mut rows, mut gone) = (Vec::new(), Vec::new());
            for arrival in files.arrivals(sweep).map_err(unreadable)? {
                match arrival {
                    Arrival::Here(slip) => match files.measure(slip.id, &slip.path) {
                        Ok(measure) => rows.push(row_of(&slip, kind(&slip.path), measure)),
                        Err(error) => tracing::warn!(id = %slip.id, %error, "a thing could not be looked at"),
                    },
                    Arrival::Nothing(id) => gone.push(id),
                }
            }
            Ok((rows, gone))
        })
        .await?;
        if sweep == Sweep::All {
            let known = self.store.read(|reader| reader.trash_files()).await?;
            let files = self.files.clone();
            let missing = move || Ok(known.into_iter().filter(|id| !files.holds(*id)).collect::<Vec<_>>());
            gone.extend(blocking(missing).await?);
        }
        for batch in rows.chunks(BATCH) {
            let batch = batch.to_vec();
            let ids: Vec<TrashId> = batch.iter().map(|row| row.entry.id).collect();
            self.store.write(move |tx| tx.trash_add(&batch)).await?;
            let files = self.files.clone();
            blocking(move || {
                ids.into_iter().for_each(|id| files.taken_in(id));
                Ok(())
            })
            .await?;
        }
        if !gone.is_empty() {
            self.store.write(move |tx| tx.trash_drop(&gone)).await?;
        }
        Ok(())
    }
}

fn row_of(slip: &Slip, kind: TrashKind, measure: Measure) -> TrashRow {
    let folder = slip.path.parent().unwrap_or_else(|| Path::new("/"));
    TrashRow {
        path: path_bytes(&slip.path),
        mode: measure.mode,
        made_again: measure.made_again,
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
            who: slip.removal.who,
            session: slip.removal.session,
            turn: None,
            project: slip.removal.project.clone(),
            command: slip.removal.command.clone(),
        },
    }
}

fn unreadable(error: std::io::Error) -> ApiError {
    ApiError::new("trash.unreadable").detail(error)
}

/// Why a file was not restored or removed, for the person.
fn explained(error: &TrashError) -> ApiError {
    match error {
        TrashError::Taken(present) => ApiError::new("trash.taken").arg("path", present.path.display()),
        TrashError::Elsewhere(path) => ApiError::new("trash.elsewhere").arg("path", path.display()),
        TrashError::Gone => ApiError::new("trash.gone"),
        TrashError::NoRoom(_)
        | TrashError::Thing(_)
        | TrashError::Refused(_)
        | TrashError::TooLarge
        | TrashError::Special(_)
        | TrashError::Changed => ApiError::new("trash.not_restored").detail(error),
    }
}

impl HomeTrash {
    /// Lets go of what has had its time, beside whatever else goes on.
    pub(crate) fn keep_within(&self, limits: TrashLimits) {
        let trash = self.clone();
        tokio::spawn(async move {
            if let Err(error) = trash.expire(limits).await {
                tracing::warn!(%error, "the trash keeps more than it should");
            }
        });
    }
}
