//! The location of Octo's home, and plans for the home as a whole: restoring a copy of it, or moving it.
//!
//! - [`pointer`]: the location of a moved home
//! - [`plan`]: the plan for the next start, in a file next to the usual home
//! - [`copied`]: inspecting a copy of the home
//! - [`prepare`]: the steps while Octo runs, which change nothing in the home
//! - [`carry_out`]: the steps at startup, before anything opens the home
//! - [`former`]: the former homes that were kept
//! - [`tree`]: copying, comparing and flushing folders
//!
//! Each step of a plan is one rename or one file that appears whole, and the files on disk show which step is
//! next. A process that ends at any point, even by a kill or a power cut, therefore leaves either home intact,
//! and the next start continues. Only the person deletes a former home.

mod carry_out;
mod copies;
mod former;
mod plan;
mod pointer;
mod prepare;
#[cfg(test)]
mod tests;
mod tree;

pub use carry_out::{HomeAtStart, MOVED_NOTE, carry_out_home_plan};
pub use copies::{CopyManifest, CopySummary, inspect_copy, write_copy_manifest};
pub use former::{FORMER_HOME_INFIX, FormerHome, delete_former_home, erase_all, former_homes};
pub use plan::{HomeChange, PendingHomePlan};
pub use prepare::{cancel_plan, plan_move, plan_restore};

use octo_protocol::ApiError;
use octo_store::OpenError;
use pointer::HomePointer;
use std::{
    io,
    path::{Path, PathBuf},
};

/// The authority that decides the location of the home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HomeAuthority {
    /// The variable `OCTO_HOME`, set by the process that started Octo: Octo cannot move the home then.
    Variable,
    /// Octo: the usual path, or the one the person moved it to.
    Octo,
}

/// The location of the home, and of plans for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HomeLocation {
    /// The home.
    pub home: PathBuf,
    /// The authority that chose this location.
    pub authority: HomeAuthority,
    /// Its former locations, the newest last: paths stored under a former location are found here.
    pub former: Vec<PathBuf>,
    /// The usual path: files next to it survive any change of the home.
    default_home: PathBuf,
}

impl HomeLocation {
    /// Returns the home named by the variable.
    pub fn by_variable(home: PathBuf) -> Self {
        Self { default_home: home.clone(), home, authority: HomeAuthority::Variable, former: Vec::new() }
    }

    /// Returns the home at its usual path, or at the one it was moved to. [`carry_out_home_plan`] checks that it exists.
    ///
    /// # Errors
    ///
    /// [`HomePlanError::Unreadable`] if it was moved and its location cannot be read.
    pub fn by_octo(usual: PathBuf) -> Result<Self, HomePlanError> {
        let pointer = HomePointer::read(&usual)?;
        let (home, former) =
            pointer.map_or_else(|| (usual.clone(), Vec::new()), |pointer| (pointer.home, pointer.former));
        Ok(Self { home, authority: HomeAuthority::Octo, former, default_home: usual })
    }

    /// Fails if a moved home is missing (a disk that is not connected), instead of starting a new one, which
    /// would look like total loss. The folder's existence proves little: it may be the mount point of the disk.
    fn require_home(self) -> Result<Self, HomePlanError> {
        if self.home != self.default_home && !octo_store::has_database(&self.home) {
            let pointer = HomePointer::path(&self.default_home);
            return Err(HomePlanError::Missing { home: self.home, pointer });
        }
        Ok(self)
    }

    /// Translates a path stored under a former home to its present location.
    pub fn current_path(&self, path: &Path) -> PathBuf {
        let relative = self.former.iter().rev().find_map(|former| path.strip_prefix(former).ok());
        match relative {
            Some(relative) if !path.starts_with(&self.home) => self.home.join(relative),
            Some(_) | None => path.to_owned(),
        }
    }

    /// Forgets the location of a moved home, and every plan: called after everything was deleted.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn forget(&self) -> io::Result<()> {
        cancel_plan(self)?;
        HomePointer::remove(&self.default_home)
    }
}

/// The suffixes of files next to a home: its location, the plan, and the folder a copy is unpacked into. A
/// program that can change these can change the home.
pub const HOME_SIBLING_SUFFIXES: &[&str] = &[POINTER, PENDING, STAGED];

const POINTER: &str = ".place";
const PENDING: &str = ".pending";
const STAGED: &str = ".incoming";

/// Returns the path next to another one: its name plus a suffix.
fn sibling_path(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Writes such a file durably and as a whole.
fn write_sibling(path: &Path, content: &impl serde::Serialize) -> io::Result<()> {
    crate::write_private(path, &serde_json::to_vec_pretty(content)?)?;
    tree::sync_folder_of(path)
}

/// The reason why a plan for the home was not made or not carried out. No data is lost in any case.
#[derive(Debug, thiserror::Error)]
pub enum HomePlanError {
    /// The home was moved, and its location is empty.
    #[error("{home} holds no home")]
    Missing {
        /// Its expected path.
        home: PathBuf,
        /// The file that names this path.
        pointer: PathBuf,
    },
    /// The folder is not a copy of a home.
    #[error("{0} is no copy of a home")]
    NoCopy(PathBuf),
    /// The copy's database cannot be used: it is damaged, or from a newer Octo.
    #[error("the copy cannot be used: {0}")]
    Copy(#[from] OpenError),
    /// Files of the copy are missing.
    #[error("{path} should hold {expected} files and holds {found}")]
    Incomplete {
        /// The copy.
        path: PathBuf,
        /// The number of files it was made with.
        expected: u64,
        /// The number of files it contains now.
        found: u64,
    },
    /// One of the copy and the home it should replace contains the other.
    #[error("{0} and the home lie in each other")]
    Inside(PathBuf),
    /// The target folder is not empty.
    #[error("{0} is not empty")]
    NotEmpty(PathBuf),
    /// A folder cannot be used at all.
    #[error("{path} cannot be used: {error}")]
    Unusable {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The disk has too little space.
    #[error("{path} has no room")]
    NoRoom {
        /// The folder.
        path: PathBuf,
        /// The required bytes; `None` if the disk filled up during the copy.
        needed: Option<u64>,
    },
    /// The home is a mount point, or nothing may be created next to it: it cannot be replaced.
    #[error("nothing can take the place of {0}")]
    Fixed(PathBuf),
    /// The variable decides the home's location.
    #[error("OCTO_HOME says where the home is")]
    ByVariable,
    /// Another Octo process uses the home.
    #[error("another process works in the home")]
    InUse,
    /// Another plan exists.
    #[error("another plan is there")]
    Planned,
    /// A file next to the home is unreadable or invalid.
    #[error("{path} cannot be read: {detail}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason.
        detail: String,
    },
    /// The system refused an operation midway; everything is as before.
    #[error("{path}: {error}")]
    Failed {
        /// The path that was being read or written.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}

impl HomePlanError {
    /// Wraps a system error at a path.
    fn from_io(path: &Path, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::NoRoom { path: path.to_owned(), needed: None }
            }
            _ => Self::Failed { path: path.to_owned(), error },
        }
    }
}

impl From<HomePlanError> for ApiError {
    fn from(error: HomePlanError) -> Self {
        match error {
            HomePlanError::Missing { home, pointer } => ApiError::new("start.home_away")
                .arg("home", home.display())
                .arg("pointer", pointer.display())
                .retryable(),
            HomePlanError::NoCopy(path) => ApiError::new("home.no_copy").arg("path", path.display()),
            HomePlanError::Copy(OpenError::Newer { path, found, known, .. }) => {
                ApiError::new("home.copy_newer")
                    .arg("path", path.display())
                    .detail(format!("schema {found}, this Octo knows {known}"))
            }
            HomePlanError::Copy(OpenError::Damaged { path, detail, .. }) => {
                ApiError::new("home.copy_damaged").arg("path", path.display()).detail(detail)
            }
            HomePlanError::Copy(OpenError::Unavailable { path, detail }) => {
                ApiError::new("home.copy_unreadable").arg("path", path.display()).detail(detail).retryable()
            }
            HomePlanError::Incomplete { path, expected, found } => ApiError::new("home.copy_incomplete")
                .arg("path", path.display())
                .arg("expected", expected)
                .arg("found", found),
            HomePlanError::Inside(path) => ApiError::new("home.inside").arg("path", path.display()),
            HomePlanError::NotEmpty(path) => ApiError::new("home.not_empty").arg("path", path.display()),
            HomePlanError::Unusable { path, error } => {
                ApiError::new("home.unusable").arg("path", path.display()).detail(error)
            }
            HomePlanError::NoRoom { path, needed } => {
                let error = ApiError::new("home.no_room").arg("path", path.display()).retryable();
                match needed {
                    Some(needed) => error.detail(format!("{needed} bytes are needed")),
                    None => error,
                }
            }
            HomePlanError::Fixed(path) => ApiError::new("home.fixed").arg("path", path.display()),
            HomePlanError::ByVariable => ApiError::new("home.by_variable"),
            HomePlanError::InUse => ApiError::new("home.change_in_use"),
            HomePlanError::Planned => ApiError::new("home.planned"),
            HomePlanError::Unreadable { path, detail } => {
                ApiError::new("start.plan_unreadable").arg("path", path.display()).detail(detail)
            }
            HomePlanError::Failed { path, error } => {
                ApiError::new("home.change_failed").arg("path", path.display()).detail(error).retryable()
            }
        }
    }
}
