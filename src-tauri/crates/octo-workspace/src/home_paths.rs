//! Paths in Octo's home, and the folder a session works in.

use crate::{HomeLocation, TemporaryFolder, TemporaryFolders, private_folder, resolve, resolve_links};
use octo_protocol::{ApiError, SessionId};
use std::path::{Path, PathBuf};

/// The folders of the home that any session may read.
const READABLE: [&str; 6] = ["archives", "logs", "skills", "memories", "scripts", "received"];

/// The paths of a home.
#[derive(Clone, Debug)]
pub struct HomePaths {
    home: PathBuf,
    location: HomeLocation,
}

impl HomePaths {
    /// Creates the paths of a home found at this location.
    pub fn new(home: &Path, residence: &HomeLocation) -> Self {
        Self { home: home.to_owned(), location: residence.clone() }
    }

    /// Returns the home as this process's settings give it, without resolving links.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Returns the home with links resolved, or as given if it cannot be resolved.
    pub fn resolved_home(&self) -> PathBuf {
        resolve_links(&self.home).unwrap_or_else(|_| self.home.clone())
    }

    /// Returns other paths of the home, including its former ones: as written, with the parent's links
    /// resolved, and real. The names of files next to a home are derived from its path as written.
    pub fn other_homes(&self) -> Vec<PathBuf> {
        let home = self.resolved_home();
        let mut others = Vec::new();
        for path in self.location.former.iter().chain([&self.location.home, &self.home]) {
            let parent = path.parent().and_then(|parent| resolve_links(parent).ok());
            others.extend(parent.zip(path.file_name()).map(|(parent, name)| parent.join(name)));
            others.extend(resolve_links(path).ok());
            others.push(path.clone());
        }
        others.sort();
        others.dedup();
        others.retain(|other| *other != home);
        others
    }

    /// Returns the folders of the home that any session may read: archives, logs, skills, memories, scripts,
    /// and files received through a chat service.
    pub fn readable(&self) -> Vec<PathBuf> {
        READABLE.map(|name| self.home.join(name)).to_vec()
    }

    /// Returns the folder of the person's own skills.
    pub fn skills(&self) -> PathBuf {
        self.home.join("skills")
    }

    /// Returns the folder of Octo's memories.
    pub fn memories(&self) -> PathBuf {
        self.home.join("memories")
    }

    /// Returns the folder of the scripts bundled with Octo.
    pub fn scripts(&self) -> PathBuf {
        self.home.join("scripts")
    }

    /// Returns the file with the person's hooks.
    pub fn hooks(&self) -> PathBuf {
        self.home.join("hooks.toml")
    }

    /// Returns the profile folder of Octo's own browser.
    pub fn browser_profile(&self) -> PathBuf {
        self.home.join("browser")
    }

    /// Returns the folder for the archives of a session's summarized messages.
    pub fn archives(&self, session: SessionId) -> PathBuf {
        self.of_session("archives", session)
    }

    /// Returns the folder for a session's complete long tool results.
    pub fn outputs(&self, session: SessionId) -> PathBuf {
        self.of_session("outputs", session)
    }

    /// Returns the folder for files that a session received through a chat service.
    pub fn received(&self, session: SessionId) -> PathBuf {
        self.of_session("received", session)
    }

    /// Returns a session's own temporary folder, which its agent may write without asking: created, links
    /// resolved.
    ///
    /// # Errors
    /// `start.home_unwritable`.
    pub fn scratch(&self, session: SessionId) -> Result<PathBuf, ApiError> {
        self.private("scratch", session)
    }

    /// Returns the folders that `TMPDIR` names for the commands of the home's sessions.
    pub fn temporary_folders(&self) -> TemporaryFolders {
        TemporaryFolders::of_home(&self.resolved_home())
    }

    /// Returns the folder that `TMPDIR` names for a session's commands; creates only its substitute's parent, the
    /// scratch folder.
    ///
    /// # Errors
    /// `start.home_unwritable`.
    pub fn temporary(&self, session: SessionId) -> Result<TemporaryFolder, ApiError> {
        Ok(self.temporary_folders().of_session(session, self.scratch(session)?.join("tmp")))
    }

    /// Returns the folder in which a session's shell keeps its logs and the state that carries over between
    /// commands: created, links resolved. It is separate from the temporary folder because write access to it
    /// determines the next command.
    ///
    /// # Errors
    /// `start.home_unwritable`.
    pub fn shell(&self, session: SessionId) -> Result<PathBuf, ApiError> {
        self.private("shells", session)
    }

    fn private(&self, kind: &str, session: SessionId) -> Result<PathBuf, ApiError> {
        private_folder(&self.of_session(kind, session)).map_err(|error| {
            ApiError::new("start.home_unwritable").arg("home", self.home.display()).detail(error)
        })
    }

    fn of_session(&self, kind: &str, session: SessionId) -> PathBuf {
        self.home.join(kind).join(session.to_string())
    }
}

/// Returns the real path of a folder a session may work in.
///
/// # Errors
/// `session.folder_wrong` for a text that is not a path, `session.folder_gone` if the folder does not exist.
pub fn session_folder(folder: &Path) -> Result<PathBuf, ApiError> {
    let text = folder.display().to_string();
    let error_with = |key: &str| ApiError::new(key).arg("folder", &text);
    let home = std::env::home_dir().unwrap_or_else(|| PathBuf::from("/"));
    let resolved = resolve(&text, &home).map_err(|error| error_with("session.folder_wrong").detail(error))?;
    if resolved.is_dir() { Ok(resolved) } else { Err(error_with("session.folder_gone")) }
}
