//! Where Octo's home is, and what is planned for it as a whole: to bring back a copy of it, or to move it elsewhere.
//!
//! | Part | What it is |
//! | --- | --- |
//! | [`pointer`] | where the home is, once it was moved |
//! | [`plan`] | what the next start is to do, written beside the usual home |
//! | [`copied`] | a copy of the home, looked at |
//! | [`prepare`] | what is done while Octo runs: nothing of the home changes |
//! | [`settle`] | what is done at the start, before anything opens the home |
//! | [`kept`] | the homes that were put aside |
//! | [`tree`] | folders copied, compared and written out to the disk |
//!
//! A plan is carried out in steps of which each is one rename or one file that appears whole, and which step is next is
//! seen from what is there. So a process that ends anywhere, also by a kill or a power cut, leaves the one home or the
//! other, and the next start goes on; what was put aside is deleted by nobody but the person.

mod copied;
mod kept;
mod plan;
mod pointer;
mod prepare;
mod settle;
#[cfg(test)]
mod tests;
mod tree;

pub use copied::{CopyNote, HomeCopied, look_at_copy, note_copy};
pub use kept::{KeptHome, PUT_ASIDE, drop_kept, erase_all, kept_homes};
pub use plan::{Plan, Planned};
pub use prepare::{cancel_plan, plan_move, plan_restore};
pub use settle::{MOVED, Settled, settle};

use octo_protocol::ApiError;
use octo_store::OpenError;
use pointer::Pointer;
use std::{
    io,
    path::{Path, PathBuf},
};

/// Who says where the home is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// Whoever started Octo, by the variable `OCTO_HOME`: then Octo cannot move it.
    ByVariable,
    /// Octo: the usual place, or where the person moved it.
    ByOcto,
}

/// Where the home is, and where plans for it are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Residence {
    /// The home.
    pub home: PathBuf,
    /// Who says so.
    pub chosen: Chosen,
    /// Where it was before, the newest last: what is written in it by its old path is found here.
    pub former: Vec<PathBuf>,
    /// The usual place: what is written beside it outlives whatever becomes of the home.
    usual: PathBuf,
}

impl Residence {
    /// The home the variable names.
    pub fn by_variable(home: PathBuf) -> Self {
        Self { usual: home.clone(), home, chosen: Chosen::ByVariable, former: Vec::new() }
    }

    /// The home at its usual place, or where it was moved. Whether it is there is seen by [`settle`].
    ///
    /// # Errors
    /// [`ResidenceError::Unreadable`] where it was moved and nobody can tell where.
    pub fn by_octo(usual: PathBuf) -> Result<Self, ResidenceError> {
        let pointer = Pointer::read(&usual)?;
        let (home, former) =
            pointer.map_or_else(|| (usual.clone(), Vec::new()), |pointer| (pointer.home, pointer.former));
        Ok(Self { home, chosen: Chosen::ByOcto, former, usual })
    }

    /// A home that was moved and is not there (a disk that is not connected) is no reason to begin a new one: it would
    /// look as if everything were lost. The folder alone says little: it may be where the disk is put in.
    fn must_be_there(self) -> Result<Self, ResidenceError> {
        if self.home != self.usual && !octo_store::has_database(&self.home) {
            let pointer = Pointer::place(&self.usual);
            return Err(ResidenceError::Away { home: self.home, pointer });
        }
        Ok(self)
    }

    /// Where something that was written down with a path in a former home is now.
    pub fn now_at(&self, path: &Path) -> PathBuf {
        let inside = self.former.iter().rev().find_map(|former| path.strip_prefix(former).ok());
        match inside {
            Some(inside) if !path.starts_with(&self.home) => self.home.join(inside),
            Some(_) | None => path.to_owned(),
        }
    }

    /// Forgets where the home was moved, and every plan: for when everything was deleted.
    ///
    /// # Errors
    /// Those of the system.
    pub fn forget(&self) -> io::Result<()> {
        cancel_plan(self)?;
        Pointer::remove(&self.usual)
    }
}

/// What lies beside a home, by the word after its name: where it is, what is planned, and what a copy is unpacked into.
/// Whoever could change these could change the home.
pub const BESIDE_HOME: &[&str] = &[POINTER, PENDING, STAGED];

const POINTER: &str = ".place";
const PENDING: &str = ".pending";
const STAGED: &str = ".incoming";

/// A file or folder beside one, of its name and a word.
fn beside(place: &Path, word: &str) -> PathBuf {
    let mut name = place.as_os_str().to_owned();
    name.push(word);
    PathBuf::from(name)
}

/// Writes such a file whole, for good.
fn write_beside(path: &Path, content: &impl serde::Serialize) -> io::Result<()> {
    crate::write_private(path, &serde_json::to_vec_pretty(content)?)?;
    tree::sync_folder_of(path)
}

/// Why a plan for the home was not made or not carried out. Nothing is lost by any of them.
#[derive(Debug, thiserror::Error)]
pub enum ResidenceError {
    /// The home was moved, and where it was moved nothing is.
    #[error("{home} holds no home")]
    Away {
        /// Where it should be.
        home: PathBuf,
        /// The file that says so.
        pointer: PathBuf,
    },
    /// A folder is no copy of a home.
    #[error("{0} is no copy of a home")]
    NoCopy(PathBuf),
    /// Its database cannot be used: damaged, or of a newer Octo.
    #[error("the copy cannot be used: {0}")]
    Copy(#[from] OpenError),
    /// Files of the copy are missing.
    #[error("{path} should hold {expected} files and holds {found}")]
    Incomplete {
        /// The copy.
        path: PathBuf,
        /// As it was made.
        expected: u64,
        /// As it is.
        found: u64,
    },
    /// The copy lies in the home it is to take the place of, or holds it.
    #[error("{0} and the home lie in each other")]
    Inside(PathBuf),
    /// The folder to move into has something in it.
    #[error("{0} is not empty")]
    NotEmpty(PathBuf),
    /// A folder cannot be used at all.
    #[error("{path} cannot be used: {error}")]
    Unusable {
        /// It.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// There is too little space.
    #[error("{path} has no room")]
    NoRoom {
        /// Where.
        path: PathBuf,
        /// How many bytes it takes; none where that was met in the middle.
        needed: Option<u64>,
    },
    /// The home is where a disk is put in, or where nothing may be made beside it: it cannot be exchanged.
    #[error("nothing can take the place of {0}")]
    Fixed(PathBuf),
    /// The variable says where the home is.
    #[error("OCTO_HOME says where the home is")]
    ByVariable,
    /// Another Octo works in the home.
    #[error("another process works in the home")]
    InUse,
    /// Something else is planned.
    #[error("another plan is there")]
    Planned,
    /// A file beside the home cannot be read as what it should be.
    #[error("{path} cannot be read: {detail}")]
    Unreadable {
        /// It.
        path: PathBuf,
        /// Why.
        detail: String,
    },
    /// The system refused something in the middle; everything is as it was.
    #[error("{path}: {error}")]
    Failed {
        /// What was being read or written.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

impl ResidenceError {
    /// Of the system, at a place.
    fn of(path: &Path, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::NoRoom { path: path.to_owned(), needed: None }
            }
            _ => Self::Failed { path: path.to_owned(), error },
        }
    }
}

impl From<ResidenceError> for ApiError {
    fn from(error: ResidenceError) -> Self {
        match error {
            ResidenceError::Away { home, pointer } => ApiError::new("start.home_away")
                .arg("home", home.display())
                .arg("pointer", pointer.display())
                .retryable(),
            ResidenceError::NoCopy(path) => ApiError::new("home.no_copy").arg("path", path.display()),
            ResidenceError::Copy(OpenError::Newer { path, found, known, .. }) => {
                ApiError::new("home.copy_newer")
                    .arg("path", path.display())
                    .detail(format!("schema {found}, this Octo knows {known}"))
            }
            ResidenceError::Copy(OpenError::Damaged { path, detail, .. }) => {
                ApiError::new("home.copy_damaged").arg("path", path.display()).detail(detail)
            }
            ResidenceError::Copy(OpenError::Unavailable { path, detail }) => {
                ApiError::new("home.copy_unreadable").arg("path", path.display()).detail(detail).retryable()
            }
            ResidenceError::Incomplete { path, expected, found } => ApiError::new("home.copy_incomplete")
                .arg("path", path.display())
                .arg("expected", expected)
                .arg("found", found),
            ResidenceError::Inside(path) => ApiError::new("home.inside").arg("path", path.display()),
            ResidenceError::NotEmpty(path) => ApiError::new("home.not_empty").arg("path", path.display()),
            ResidenceError::Unusable { path, error } => {
                ApiError::new("home.unusable").arg("path", path.display()).detail(error)
            }
            ResidenceError::NoRoom { path, needed } => {
                let error = ApiError::new("home.no_room").arg("path", path.display()).retryable();
                match needed {
                    Some(needed) => error.detail(format!("{needed} bytes are needed")),
                    None => error,
                }
            }
            ResidenceError::Fixed(path) => ApiError::new("home.fixed").arg("path", path.display()),
            ResidenceError::ByVariable => ApiError::new("home.by_variable"),
            ResidenceError::InUse => ApiError::new("home.change_in_use"),
            ResidenceError::Planned => ApiError::new("home.planned"),
            ResidenceError::Unreadable { path, detail } => {
                ApiError::new("start.plan_unreadable").arg("path", path.display()).detail(detail)
            }
            ResidenceError::Failed { path, error } => {
                ApiError::new("home.change_failed").arg("path", path.display()).detail(error).retryable()
            }
        }
    }
}
