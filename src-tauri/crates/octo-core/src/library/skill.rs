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
        let skill_set = self.skill_set(folder).await?;
        let counts = self.0.store.read(|reader| reader.skill_version_counts()).await?;
        Ok(Skills { skills: skill_set.cards(|skill| counts.get(skill).copied().unwrap_or_default()) })
    }

    /// Returns the full content of one.
    pub(crate) async fn sheet(&self, skill_ref: SkillRef) -> Result<SkillSheet, ApiError> {
        let skill_set = self.skill_set_of(&skill_ref).await?;
        let versions_of = skill_ref.clone();
        let versions = self.0.store.read(move |reader| reader.skill_versions(&versions_of)).await;
        let versions = versions?;
        blocking(move || {
            let skill = skill_set.find(&skill_ref)?;
            let count = u32::try_from(versions.len()).unwrap_or(u32::MAX);
            Ok(SkillSheet {
                card: skill_set.card(skill, count),
                // The fingerprint is older than the content shown: a change in between is refused.
                seen: skill.fingerprint.as_ref().map(Fingerprint::to_hex),
                text: skill_text(skill)?,
                files: skill_files(skill, &skill_set),
                tools: tools(&skill.fields),
                license: skill.fields.license.clone(),
                compatibility: skill.fields.compatibility.clone(),
                versions,
            })
        })
        .await
    }

    /// Returns the skill set that contains a skill.
    async fn skill_set_of(&self, skill_ref: &SkillRef) -> Result<SkillSet, ApiError> {
        let folder = skill_ref.project.as_deref().map(Path::new).filter(|folder| folder.is_absolute());
        self.skill_set(folder.map(Path::to_owned)).await
    }

    /// Turns a skill on or off.
    pub(crate) async fn switch(
        &self,
        skill_ref: SkillRef,
        switch: Option<Switch>,
        automatic: Option<Switch>,
    ) -> Result<(), ApiError> {
        self.skill_set_of(&skill_ref).await?.find(&skill_ref)?;
        let result = self.0.store.write(move |tx| tx.switch_skill(&skill_ref, switch, automatic)).await;
        result?;
        self.notify_change();
        Ok(())
    }

    /// Accepts a skill in the version the person saw.
    pub(crate) async fn accept(&self, skill_ref: SkillRef, fingerprint: &str) -> Result<(), ApiError> {
        let skill_set = self.skill_set_of(&skill_ref).await?;
        let skill = skill_set.find(&skill_ref)?;
        if skill.trust == Trust::Trusted {
            return Ok(());
        }
        let current_fingerprint = skill_fingerprint(skill)?;
        if current_fingerprint != fingerprint {
            return Err(ApiError::new("skills.changed").arg("name", &skill_ref.name));
        }
        self.trust(skill_ref, current_fingerprint).await
    }

    async fn trust(&self, skill_ref: SkillRef, fingerprint: String) -> Result<(), ApiError> {
        let result = self.0.store.write(move |tx| tx.accept_skill(&skill_ref, &fingerprint)).await;
        result?;
        self.notify_change();
        Ok(())
    }

    /// Writes a skill's `SKILL.md` if it still contains `expected_text`, and keeps the former version.
    pub(crate) async fn save(
        &self,
        skill_ref: SkillRef,
        expected_text: &str,
        text: String,
    ) -> Result<SkillSheet, ApiError> {
        let skill_set = self.skill_set_of(&skill_ref).await?;
        let skill = skill_set.find(&skill_ref)?;
        if !skill.source.is_writable() {
            return Err(ApiError::new("skills.not_yours").arg("name", &skill_ref.name));
        }
        let edited = skill.clone();
        if blocking(move || skill_text(&edited)).await? != expected_text {
            return Err(ApiError::new("skills.edited").arg("name", &skill_ref.name));
        }
        let was_accepted = skill.trust == Trust::Trusted;
        self.write_skill(skill_ref.clone(), skill.folder.clone(), text).await?;
        // The person has seen their own text.
        if was_accepted && skill.source.is_from_folder() {
            let skill_set = self.skill_set_of(&skill_ref).await?;
            // Its name may have changed; then it is another skill and must be inspected first.
            if let Ok(skill) = skill_set.find(&skill_ref) {
                self.trust(skill_ref.clone(), skill_fingerprint(skill)?).await?;
            }
        }
        self.notify_change();
        self.sheet(skill_ref).await
    }

    /// Writes a `SKILL.md` into a skill's folder. The former version is stored first, so that it cannot be
    /// lost.
    pub(super) async fn write_skill(
        &self,
        skill_ref: SkillRef,
        folder: PathBuf,
        text: String,
    ) -> Result<(), ApiError> {
        if text.len() as u64 > octo_skills::MAX_SKILL_BYTES {
            return Err(
                ApiError::new("skills.text_too_long").arg("most", octo_skills::MAX_SKILL_BYTES / 1024)
            );
        }
        let path = folder.join(SKILL_FILE);
        let source = path.clone();
        let old = blocking(move || match std::fs::read(&source) {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(write_error(&source, &error)),
        })
        .await?;
        if old.as_deref() == Some(text.as_str()) {
            return Ok(());
        }
        if let Some(old_text) = old {
            let result =
                self.0.store.write(move |tx| tx.add_skill_version(&skill_ref, &old_text, now())).await;
            result?;
        }
        blocking(move || {
            octo_workspace::private_folder(&folder).map_err(|error| write_error(&folder, &error))?;
            write_private(&path, text.as_bytes()).map_err(|error| write_error(&path, &error))
        })
        .await
    }

    /// Returns an earlier version.
    pub(crate) async fn version(&self, skill_ref: SkillRef, number: u32) -> Result<SkillText, ApiError> {
        let text = self.0.store.read(move |reader| reader.skill_version(&skill_ref, number)).await;
        let text = text?.ok_or_else(|| ApiError::new("skills.version_gone"))?;
        Ok(SkillText { text })
    }

    /// Moves a skill to the trash.
    pub(crate) async fn delete(&self, skill_ref: SkillRef, trash: &HomeTrash) -> Result<(), ApiError> {
        let skill_set = self.skill_set_of(&skill_ref).await?;
        let skill = skill_set.find(&skill_ref)?;
        if !skill.source.is_writable() {
            return Err(ApiError::new("skills.not_yours").arg("name", &skill_ref.name));
        }
        let removal = Removal {
            remover: RemovedBy::Person,
            session: None,
            project: skill_ref.project.clone(),
            command: None,
        };
        trash.move_in(skill.folder.clone(), removal).await?;
        self.notify_change();
        Ok(())
    }

    /// Writes a skill as an archive that any program can read.
    pub(crate) async fn export(&self, skill_ref: SkillRef, target: PathBuf) -> Result<SkillExport, ApiError> {
        let unfinished = self.0.unfinished.clone();
        let skill_set = self.skill_set_of(&skill_ref).await?;
        blocking(move || {
            let skill = skill_set.find(&skill_ref)?;
            if !target.is_absolute() || target.symlink_metadata().is_ok() {
                return Err(ApiError::new("skills.export_taken").arg("path", target.display()));
            }
            let export = octo_skills::export(skill).map_err(|error| ApiError::from(&error))?;
            unfinished.write_private(&target, &export.bytes).map_err(|error| write_error(&target, &error))?;
            let lost_fields =
                export.remarks.iter().filter_map(|warning| warning.args.get("field").cloned()).collect();
            Ok(SkillExport { path: target.display().to_string(), left_out: lost_fields })
        })
        .await
    }
}

/// Returns the fingerprint of all files of a skill.
fn skill_fingerprint(skill: &Skill) -> Result<String, ApiError> {
    let current_fingerprint = skill.fingerprint.as_ref().map(Fingerprint::to_hex);
    current_fingerprint.ok_or_else(|| ApiError::new("skills.too_large").arg("name", &skill.name))
}

/// Returns a skill's `SKILL.md` from disk.
pub(crate) fn skill_text(skill: &Skill) -> Result<String, ApiError> {
    let path = skill.folder.join(SKILL_FILE);
    let unreadable = |error| ApiError::new("skills.unreadable").arg("path", path.display()).detail(error);
    let mut bytes = Vec::new();
    let file = File::open(&path).map_err(unreadable)?;
    file.take(octo_skills::MAX_SKILL_BYTES).read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the other files, as an installation would see them.
fn skill_files(skill: &Skill, skill_set: &SkillSet) -> Vec<SkillFile> {
    let parent = skill.folder.parent().unwrap_or(&skill.folder);
    let inspected = octo_skills::inspect(InstallSource::Folder(&skill.folder), parent, &skill_set.catalogue);
    let Ok(inspection) = inspected else { return Vec::new() };
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

fn write_error(path: &Path, error: &std::io::Error) -> ApiError {
    ApiError::new("skills.unwritable").arg("path", path.display()).detail(error)
}
