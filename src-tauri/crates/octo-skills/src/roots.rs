//! Folders that are searched for skills.

use octo_protocol::SkillOrigin;
use std::path::{Path, PathBuf};

/// A folder of skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The folder; it may not exist.
    pub path: PathBuf,
    /// Source of the skills in it.
    pub source: SkillOrigin,
    /// The session's folder, which the root must stay inside.
    pub(crate) must_stay_within: Option<PathBuf>,
}

/// Folders that are searched for skills.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots {
    roots: Vec<Root>,
}

/// Which other programs' folders are also read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ForeignFolders {
    /// `.claude/skills`.
    pub claude: FolderReading,
    /// `.agents/skills`.
    pub agents: FolderReading,
}

/// Whether a kind of folder is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FolderReading {
    /// Not read.
    #[default]
    Off,
    /// Read, but never written to.
    On,
}

impl Roots {
    /// Returns the folders of the bundled skills and of the person's own: `bundled`, and `skills` in Octo's
    /// home.
    pub fn new(bundled: Option<&Path>, octo_home: &Path) -> Self {
        let mut roots = Self::default();
        if let Some(bundled) = bundled {
            roots.add(bundled.to_owned(), SkillOrigin::Bundled, None);
        }
        roots.add(octo_home.join("skills"), SkillOrigin::User, None);
        roots
    }

    /// Adds the folder of the session's project.
    #[must_use]
    pub fn with_project(mut self, folder: &Path) -> Self {
        self.add(folder.join(".octo").join("skills"), SkillOrigin::Project, Some(folder));
        self
    }

    /// Adds the folders of other programs: in the person's home, and in the session's folder.
    #[must_use]
    pub fn with_foreign(
        mut self,
        foreign: ForeignFolders,
        person: Option<&Path>,
        folder: Option<&Path>,
    ) -> Self {
        let kinds = [
            (foreign.claude, ".claude", SkillOrigin::UserClaude, SkillOrigin::ProjectClaude),
            (foreign.agents, ".agents", SkillOrigin::UserAgents, SkillOrigin::ProjectAgents),
        ];
        for (reading, name, user, project) in kinds {
            if reading == FolderReading::Off {
                continue;
            }
            if let Some(person) = person {
                self.add(person.join(name).join("skills"), user, None);
            }
            if let Some(folder) = folder {
                self.add(folder.join(name).join("skills"), project, Some(folder));
            }
        }
        self
    }

    /// Returns the folders, lowest precedence first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Root> {
        self.roots.iter()
    }

    fn add(&mut self, path: PathBuf, source: SkillOrigin, within: Option<&Path>) {
        self.roots.push(Root { path, source, must_stay_within: within.map(Path::to_owned) });
        self.roots.sort_by_key(|root| root.source);
    }
}
