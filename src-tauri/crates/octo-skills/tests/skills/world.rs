//! Folders of skills made for a test.

use octo_skills::{Catalogue, Roots, Skill, Trust, discover};
use std::{
    fs,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// A home, a project and the bundled skills, all in one temporary folder.
pub struct World {
    _folder: TempDir,
    pub bundled: PathBuf,
    pub home: PathBuf,
    pub person: PathBuf,
    pub project: PathBuf,
}

impl World {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path_of = |name: &str| {
            let path = folder.path().canonicalize().unwrap().join(name);
            fs::create_dir_all(&path).unwrap();
            path
        };
        Self {
            bundled: path_of("bundled"),
            home: path_of("person/.octo"),
            person: path_of("person"),
            project: path_of("project"),
            _folder: folder,
        }
    }

    pub fn roots(&self) -> Roots {
        Roots::new(Some(&self.bundled), &self.home).with_project(&self.project)
    }

    pub fn user(&self) -> PathBuf {
        self.home.join("skills")
    }

    pub fn in_project(&self) -> PathBuf {
        self.project.join(".octo/skills")
    }

    /// Returns the skills found when everything is trusted.
    pub fn trusting(&self) -> Catalogue {
        discover(&self.roots(), &|_| Trust::Trusted)
    }

    /// Returns the skills found when nothing of the project is trusted.
    pub fn wary(&self) -> Catalogue {
        discover(&self.roots(), &|_| Trust::Untrusted)
    }
}

/// Writes a file and creates its parent folders.
pub fn put(path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.as_ref().parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// A small skill in `root`.
pub fn skill(root: &Path, name: &str, description: &str) -> PathBuf {
    let folder = root.join(name);
    put(
        folder.join("SKILL.md"),
        format!("---\nname: {name}\ndescription: {description}\n---\n\nDo {name}.\n"),
    );
    folder
}

/// Writes a folder for a test and returns its only skill.
pub fn only(world: &World, text: &str) -> Skill {
    put(world.user().join("only/SKILL.md"), text);
    let catalogue = world.trusting();
    catalogue.skills().first().expect("the skill").clone()
}

pub fn names(skills: &[Skill]) -> Vec<&str> {
    skills.iter().map(|skill| skill.name.as_str()).collect()
}

pub fn keys(warnings: &[octo_skills::Warning]) -> Vec<&str> {
    warnings.iter().map(|warning| warning.key).collect()
}

/// Returns the number of cases in a campaign: a tenth, or all in a soak. `OCTO_CAMPAIGN` may be `full` or a
/// number.
pub fn cases(full_cases: u32) -> u32 {
    match std::env::var("OCTO_CAMPAIGN").as_deref() {
        Ok("full") => full_cases,
        Ok(number) if number.parse::<u32>().is_ok() => number.parse().unwrap(),
        _ if std::env::var_os("OCTO_SOAK").is_some() => full_cases,
        _ => full_cases / 10,
    }
}
