//! Where things are in Octo's home, and the folder a session works in.

use crate::{HomeLocation, private_folder, real, resolve};
use octo_protocol::{ApiError, SessionId};
use std::path::{Path, PathBuf};

/// The folders of the home that any session may read.
const READABLE: [&str; 6] = ["archives", "logs", "skills", "memories", "scripts", "received"];

/// Where things are in a home.
#[derive(Clone, Debug)]
pub struct HomePaths {
    home: PathBuf,
    residence: HomeLocation,
}

impl HomePaths {
    /// Those of a home that was found this way.
    pub fn new(home: &Path, residence: &HomeLocation) -> Self {
        Self { home: home.to_owned(), residence: residence.clone() }
    }

    /// The home as it is written in the settings of this process, links not followed.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The home, links followed. As written if it cannot be resolved.
    pub fn real_home(&self) -> PathBuf {
        real(&self.home).unwrap_or_else(|_| self.home.clone())
    }

    /// Other paths of the home, and where it was before: as written, with the links above followed, and real. What
    /// lies beside a home is named after the path as written.
    pub fn other_homes(&self) -> Vec<PathBuf> {
        let home = self.real_home();
        let mut others = Vec::new();
        for path in self.residence.former.iter().chain([&self.residence.home, &self.home]) {
            let above = path.parent().and_then(|above| real(above).ok());
            others.extend(above.zip(path.file_name()).map(|(above, name)| above.join(name)));
            others.extend(real(path).ok());
            others.push(path.clone());
        }
        others.sort();
        others.dedup();
        others.retain(|other| *other != home);
        others
    }

    /// The folders of the home that any session may read: archives, logs, skills, memories, scripts, and files that
    /// came through a chat service.
    pub fn readable(&self) -> Vec<PathBuf> {
        READABLE.map(|name| self.home.join(name)).to_vec()
    }

    /// The person's own skills.
    pub fn skills(&self) -> PathBuf {
        self.home.join("skills")
    }

    /// What Octo remembers.
    pub fn memories(&self) -> PathBuf {
        self.home.join("memories")
    }

    /// The scripts that came with Octo.
    pub fn scripts(&self) -> PathBuf {
        self.home.join("scripts")
    }

    /// The file with the person's hooks.
    pub fn hooks(&self) -> PathBuf {
        self.home.join("hooks.toml")
    }

    /// The profile of Octo's own browser.
    pub fn browser_profile(&self) -> PathBuf {
        self.home.join("browser")
    }

    /// Where a session's summarized messages are written out.
    pub fn archives(&self, session: SessionId) -> PathBuf {
        self.of_session("archives", session)
    }

    /// Where a session's long tool results are kept whole.
    pub fn outputs(&self, session: SessionId) -> PathBuf {
        self.of_session("outputs", session)
    }

    /// Where files are kept that a session received through a chat service.
    pub fn received(&self, session: SessionId) -> PathBuf {
        self.of_session("received", session)
    }

    /// A session's own temporary folder, which its agent may write without asking: created, links followed.
    ///
    /// # Errors
    /// `start.home_unwritable`.
    pub fn scratch(&self, session: SessionId) -> Result<PathBuf, ApiError> {
        self.private("scratch", session)
    }

    /// Where a session's shell keeps what carries over between commands, and their logs: created, links followed. Apart
    /// from the temporary folder: whoever may write here decides what the next command is.
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

/// The real path of a folder a session may work in.
///
/// # Errors
/// `session.folder_wrong` for a text that is no path, `session.folder_gone` where there is no folder.
pub fn session_folder(folder: &Path) -> Result<PathBuf, ApiError> {
    let text = folder.display().to_string();
    let wrong = |key: &str| ApiError::new(key).arg("folder", &text);
    let home = std::env::home_dir().unwrap_or_else(|| PathBuf::from("/"));
    let real = resolve(&text, &home).map_err(|error| wrong("session.folder_wrong").detail(error))?;
    if real.is_dir() { Ok(real) } else { Err(wrong("session.folder_gone")) }
}
