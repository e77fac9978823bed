//! Operations on skills: view, switch, accept, write, delete, export.

use super::{
    Library, SkillSet,
    cards::{FILES, tools},
};
use octo_protocol::{
    ApiError, RemovedBy, SkillExport, SkillFile, SkillFileKind, SkillRef, SkillSheet, SkillText, Skills,
    Switch,
};
use octo_runtime::{blocking, now};
use octo_skills::{CandidateKind, Fingerprint, InstallSource, Skill, Trust};
use octo_trash::HomeTrash;
use octo_workspace::{Removal, write_private};
use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

/// The name of a skill's own file.
pub(crate) const SKILL_FILE: &str = "SKILL.md";

impl Library {
    /// Returns all skills visible in a folder.
    pub(crate) async fn skills(&self, folder: Option<PathBuf>) -> Result<Skills, ApiError> {
        let shelf = self.skill_set(folder).await?;
        let counts = self.0.store.read(|reader| reader.skill_version_counts()).await?;
        Ok(Skills { skills: shelf.cards(|skill| counts.get(skill).copied().unwrap_or_default()) })
    }

    /// Returns the full content of one.
    pub(crate) async fn sheet(&self, wanted: SkillRef) -> Result<SkillSheet, ApiError> {
        let shelf = self.shelf_of(&wanted).await?;
        let of = wanted.clone();
        let versions = self.0.store.read(move |reader| reader.skill_versions(&of)).await;
        let versions = versions?;
        blocking(move || {
            let skill = shelf.find(&wanted)?;
            let count = u32::try_from(versions.len()).unwrap_or(u32::MAX);
            Ok(SkillSheet {
                card: shelf.card(skill, count),
                // The fingerprint is older than the content shown: a change in between is refused.
                seen: skill.fingerprint.as_ref().map(Fingerprint::to_hex),
                text: text_of(skill)?,
                files: files_of(skill, &shelf),
                tools: tools(&skill.fields),
                license: skill.fields.license.clone(),
                compatibility: skill.fields.compatibility.clone(),
                versions,
            })
        })
        .await
    }

    /// Returns the skill set that contains a skill.
    async fn shelf_of(&self, wanted: &SkillRef) -> Result<SkillSet, ApiError> {
        let folder = wanted.project.as_deref().map(Path::new).filter(|folder| folder.is_absolute());
        self.skill_set(folder.map(Path::to_owned)).await
    }

    /// Turns a skill on or off.
    pub(crate) async fn switch(
        &self,
        wanted: SkillRef,
        on: Option<Switch>,
        automatic: Option<Switch>,
    ) -> Result<(), ApiError> {
        self.shelf_of(&wanted).await?.find(&wanted)?;
        let written = self.0.store.write(move |tx| tx.switch_skill(&wanted, on, automatic)).await;
        written?;
        self.changed();
        Ok(())
    }

    /// Accepts a skill in the version the person saw.
    pub(crate) async fn accept(&self, wanted: SkillRef, seen: &str) -> Result<(), ApiError> {
        let shelf = self.shelf_of(&wanted).await?;
        let skill = shelf.find(&wanted)?;
        if skill.trust == Trust::Trusted {
            return Ok(());
        }
        let print = fingerprint_of(skill)?;
        if print != seen {
            return Err(ApiError::new("skills.changed").arg("name", &wanted.name));
        }
        self.trust(wanted, print).await
    }

    async fn trust(&self, wanted: SkillRef, print: String) -> Result<(), ApiError> {
        let written = self.0.store.write(move |tx| tx.accept_skill(&wanted, &print)).await;
        written?;
        self.changed();
        Ok(())
    }

    /// Writes a skill's `SKILL.md` if it still says `from`, and keeps the former version.
    pub(crate) async fn save(
        &self,
        wanted: SkillRef,
        from: &str,
        text: String,
    ) -> Result<SkillSheet, ApiError> {
        let shelf = self.shelf_of(&wanted).await?;
        let skill = shelf.find(&wanted)?;
        if !skill.source.is_writable() {
            return Err(ApiError::new("skills.not_yours").arg("name", &wanted.name));
        }
        let edited = skill.clone();
        if blocking(move || text_of(&edited)).await? != from {
            return Err(ApiError::new("skills.edited").arg("name", &wanted.name));
        }
        let was_accepted = skill.trust == Trust::Trusted;
        self.write_skill(wanted.clone(), skill.folder.clone(), text).await?;
        // The person has seen their own text.
        if was_accepted && skill.source.is_from_folder() {
            let shelf = self.shelf_of(&wanted).await?;
            // Its name may have changed; then it is another skill and must be inspected first.
            if let Ok(skill) = shelf.find(&wanted) {
                self.trust(wanted.clone(), fingerprint_of(skill)?).await?;
            }
        }
        self.changed();
        self.sheet(wanted).await
    }

    /// Writes a `SKILL.md` into a skill's folder. The former version is stored first, so that it cannot be
    /// lost.
    pub(super) async fn write_skill(
        &self,
        of: SkillRef,
        folder: PathBuf,
        text: String,
    ) -> Result<(), ApiError> {
        if text.len() as u64 > octo_skills::MAX_SKILL_BYTES {
            return Err(
                ApiError::new("skills.text_too_long").arg("most", octo_skills::MAX_SKILL_BYTES / 1024)
            );
        }
        let path = folder.join(SKILL_FILE);
        let before = path.clone();
        let before = blocking(move || match std::fs::read(&before) {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unwritable(&before, &error)),
        })
        .await?;
        if before.as_deref() == Some(text.as_str()) {
            return Ok(());
        }
        if let Some(before) = before {
            let kept = self.0.store.write(move |tx| tx.add_skill_version(&of, &before, now())).await;
            kept?;
        }
        blocking(move || {
            octo_workspace::private_folder(&folder).map_err(|error| unwritable(&folder, &error))?;
            write_private(&path, text.as_bytes()).map_err(|error| unwritable(&path, &error))
        })
        .await
    }

    /// Returns an earlier version.
    pub(crate) async fn version(&self, of: SkillRef, number: u32) -> Result<SkillText, ApiError> {
        let text = self.0.store.read(move |reader| reader.skill_version(&of, number)).await;
        let text = text?.ok_or_else(|| ApiError::new("skills.version_gone"))?;
        Ok(SkillText { text })
    }

    /// Moves a skill to the trash.
    pub(crate) async fn delete(&self, wanted: SkillRef, trash: &HomeTrash) -> Result<(), ApiError> {
        let shelf = self.shelf_of(&wanted).await?;
        let skill = shelf.find(&wanted)?;
        if !skill.source.is_writable() {
            return Err(ApiError::new("skills.not_yours").arg("name", &wanted.name));
        }
        let removal = Removal {
            remover: RemovedBy::Person,
            session: None,
            project: wanted.project.clone(),
            command: None,
        };
        trash.throw_away(skill.folder.clone(), removal).await?;
        self.changed();
        Ok(())
    }

    /// Writes a skill as an archive that any program can read.
    pub(crate) async fn export(&self, wanted: SkillRef, to: PathBuf) -> Result<SkillExport, ApiError> {
        let unfinished = self.0.unfinished.clone();
        let shelf = self.shelf_of(&wanted).await?;
        blocking(move || {
            let skill = shelf.find(&wanted)?;
            if !to.is_absolute() || to.symlink_metadata().is_ok() {
                return Err(ApiError::new("skills.export_taken").arg("path", to.display()));
            }
            let export = octo_skills::export(skill).map_err(|error| ApiError::from(&error))?;
            unfinished.write_private(&to, &export.bytes).map_err(|error| unwritable(&to, &error))?;
            let left_out = export.remarks.iter().filter_map(|note| note.args.get("field").cloned()).collect();
            Ok(SkillExport { path: to.display().to_string(), left_out })
        })
        .await
    }
}

/// Returns the fingerprint of all files of a skill.
fn fingerprint_of(skill: &Skill) -> Result<String, ApiError> {
    let print = skill.fingerprint.as_ref().map(Fingerprint::to_hex);
    print.ok_or_else(|| ApiError::new("skills.too_large").arg("name", &skill.name))
}

/// Returns a skill's `SKILL.md` from disk.
pub(crate) fn text_of(skill: &Skill) -> Result<String, ApiError> {
    let path = skill.folder.join(SKILL_FILE);
    let unreadable = |error| ApiError::new("skills.unreadable").arg("path", path.display()).detail(error);
    let mut bytes = Vec::new();
    let file = File::open(&path).map_err(unreadable)?;
    file.take(octo_skills::MAX_SKILL_BYTES).read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the other files, as an installation would see them.
fn files_of(skill: &Skill, shelf: &SkillSet) -> Vec<SkillFile> {
    let parent = skill.folder.parent().unwrap_or(&skill.folder);
    let seen = octo_skills::inspect(InstallSource::Folder(&skill.folder), parent, &shelf.catalogue);
    let Ok(inspection) = seen else { return Vec::new() };
    let files = inspection.skills.iter().flat_map(|skill| &skill.files);
    files
        .filter(|file| file.path != SKILL_FILE)
        .take(FILES)
        .map(|file| SkillFile {
            path: file.path.clone(),
            size: file.bytes,
            kind: match file.kind {
                CandidateKind::Plain => SkillFileKind::Data,
                CandidateKind::Script | CandidateKind::Program => SkillFileKind::Script,
            },
        })
        .collect()
}

fn unwritable(path: &Path, error: &std::io::Error) -> ApiError {
    ApiError::new("skills.unwritable").arg("path", path.display()).detail(error)
}
