//! Skills from elsewhere: inspected first, and installed once the person has seen them.

mod fetch;

use super::{
    Library, SkillSet,
    cards::{files, tools, warning_to_error},
    skill::skill_text,
};
use octo_protocol::{
    ApiError, CallId, OfferedSkill, RemovedBy, SkillInstallResult, SkillOffer, SkillOrigin, SuggestionId,
};
use octo_runtime::blocking;
use octo_skills::{Candidate, InstallError, InstallSource, OnConflict, inspect, install};
use octo_trash::HomeTrash;
use octo_workspace::{Removal, TakenNamePolicy};
use parking_lot::{Mutex, MutexGuard};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// Inspected skills.
#[derive(Default)]
pub(crate) struct InspectedSkills {
    /// The last inspected source.
    last: Mutex<Option<InspectedSource>>,
    /// The skills shown to the person when a call asked to install them, until they are installed. Newest last.
    pending_installs: Mutex<Vec<(CallId, Vec<Candidate>)>>,
    /// The skills found in other agents' folders.
    pub(super) found_elsewhere: Mutex<Vec<(SuggestionId, Vec<Candidate>)>>,
}

/// Maximum number of calls whose question may wait at once; each keeps the files it concerns.
const MAX_QUESTIONS: usize = 8;

struct InspectedSource {
    offer: SkillOffer,
    skills: Vec<Candidate>,
}

impl Library {
    /// Inspects the skills in a folder, an archive or a repository.
    pub(crate) async fn inspect(&self, source: String) -> Result<SkillOffer, ApiError> {
        let source = source.trim().to_owned();
        let (folder, fetched) = if source.contains("://") || source.starts_with("git@") {
            let network = self.0.network.read().clone();
            let fetched = fetch::clone(&source, &network).await?;
            (fetched.path.clone(), Some(fetched))
        } else {
            let folder = octo_workspace::resolve(&source, Path::new("/"))
                .ok()
                .filter(|_| Path::new(&source).is_absolute() || source.starts_with('~'));
            (folder.ok_or_else(|| ApiError::new("skills.no_such_source").arg("from", &source))?, None)
        };
        let skill_set = self.skill_set(None).await?;
        let own_skills = self.own_skills();
        let source_name = source.clone();
        let (offer, skills) = blocking(move || {
            let inspected = read_source(&folder, source_name, &own_skills, &skill_set);
            // The files read stay in memory: exactly the inspected ones are installed.
            drop(fetched);
            inspected
        })
        .await?;
        *self.last_offer() = Some(InspectedSource { offer: offer.clone(), skills });
        Ok(offer)
    }

    /// Returns the last inspected source, if it was this one.
    pub(crate) fn last_inspected(&self, source: &str) -> Option<SkillOffer> {
        let last_offer = self.last_offer();
        last_offer.as_ref().filter(|offer| offer.offer.from == source.trim()).map(|offer| offer.offer.clone())
    }

    fn last_offer(&self) -> MutexGuard<'_, Option<InspectedSource>> {
        self.0.offers.last.lock()
    }

    /// Keeps the contents of a call's question, byte for byte: that call installs nothing else, even if another
    /// client inspects the same source meanwhile or its contents change.
    ///
    /// # Errors
    /// `skills.offer_gone` if it differs from the call's earlier preview.
    pub(crate) fn keep_offer(&self, call: CallId, offer: SuggestionId) -> Result<(), ApiError> {
        let offer_gone = || ApiError::new("skills.offer_gone");
        let skills = self
            .last_offer()
            .as_ref()
            .filter(|source| source.offer.id == offer)
            .map(|source| source.skills.clone());
        let skills = skills.ok_or_else(offer_gone)?;
        let mut pending = self.0.offers.pending_installs.lock();
        if let Some((_, shown)) = pending.iter().find(|(pending_call, _)| *pending_call == call) {
            return if *shown == skills { Ok(()) } else { Err(offer_gone()) };
        }
        let excess = pending.len().saturating_sub(MAX_QUESTIONS - 1);
        pending.drain(..excess);
        pending.push((call, skills));
        Ok(())
    }

    /// Installs the skills shown in a call's question.
    pub(crate) async fn install_kept(
        &self,
        call: CallId,
        names: Vec<String>,
        replace: &[String],
        trash: &HomeTrash,
    ) -> Result<SkillInstallResult, ApiError> {
        let pending_skills = {
            let mut pending = self.0.offers.pending_installs.lock();
            let index = pending.iter().position(|(pending_call, _)| *pending_call == call);
            index.map(|index| pending.remove(index).1)
        };
        let pending_skills = pending_skills.ok_or_else(|| ApiError::new("skills.offer_gone"))?;
        let chosen =
            pending_skills.into_iter().filter(|skill| names.is_empty() || names.contains(&skill.name));
        self.install_all(chosen.collect(), replace, trash).await
    }

    /// Installs inspected skills. A replaced skill goes to the trash.
    pub(crate) async fn install(
        &self,
        offer: SuggestionId,
        names: Vec<String>,
        replace: Vec<String>,
        trash: &HomeTrash,
    ) -> Result<SkillInstallResult, ApiError> {
        let chosen: Vec<Candidate> = {
            let last_offer = self.last_offer();
            let source = last_offer.as_ref().filter(|source| source.offer.id == offer);
            let source = source.ok_or_else(|| ApiError::new("skills.offer_gone"))?;
            source.skills.iter().filter(|skill| names.contains(&skill.name)).cloned().collect()
        };
        self.install_all(chosen, &replace, trash).await
    }

    async fn install_all(
        &self,
        chosen: Vec<Candidate>,
        replace: &[String],
        trash: &HomeTrash,
    ) -> Result<SkillInstallResult, ApiError> {
        if chosen.is_empty() {
            return Err(ApiError::new("skills.nothing_chosen"));
        }
        let mut installed = Vec::new();
        for candidate in chosen {
            let on_conflict =
                if replace.contains(&candidate.name) { OnConflict::Replace } else { OnConflict::Refuse };
            let outcome = self.install_one(candidate, on_conflict, trash).await;
            // The skills installed before the failure remain.
            self.notify_change();
            installed.push(outcome?);
        }
        Ok(SkillInstallResult { names: installed })
    }

    pub(super) async fn install_one(
        &self,
        candidate: Candidate,
        on_conflict: OnConflict,
        trash: &HomeTrash,
    ) -> Result<String, ApiError> {
        if candidate.error.is_some() {
            return Err(ApiError::from(&InstallError::Broken(candidate.name)));
        }
        let existing = self.existing_folders(&candidate.name).await?;
        let replacement = match on_conflict {
            OnConflict::Replace => existing,
            OnConflict::Refuse if existing.is_empty() => existing,
            // A folder name already in use is replaced by a free one; but a skill that has this name in a
            // differently named folder would then be a duplicate of the new one.
            OnConflict::Rename if existing.iter().all(|folder| folder.ends_with(&candidate.name)) => {
                BTreeSet::new()
            }
            OnConflict::Refuse | OnConflict::Rename => {
                return Err(ApiError::from(&InstallError::Exists(candidate.name)));
            }
        };
        // Moved to the trash from its own place, so that the trash can restore it there.
        let mut removed = Vec::new();
        for folder in replacement {
            let removal = Removal { remover: RemovedBy::Person, session: None, project: None, command: None };
            removed.push((trash.move_in(folder.clone(), removal).await?, folder));
        }
        let own_skills = self.own_skills();
        let name_choice = match on_conflict {
            OnConflict::Rename => OnConflict::Rename,
            OnConflict::Refuse | OnConflict::Replace => OnConflict::Refuse,
        };
        let result = blocking(move || {
            install(&candidate, &own_skills, name_choice).map_err(|error| ApiError::from(&error))
        })
        .await;
        if result.is_err() {
            for (id, folder) in removed {
                match trash.restore_content(id, folder, TakenNamePolicy::Refuse).await {
                    Ok(Ok(_)) => {}
                    Ok(Err(error)) => {
                        tracing::warn!(%id, %error, "a skill that was to be replaced stays in the trash")
                    }
                    Err(error) => {
                        tracing::warn!(%id, %error, "a skill that came back is still listed in the trash")
                    }
                }
            }
        }
        result.map(|installation| installation.name)
    }

    /// Returns the folders in which the person has a skill of that name: the folder of that name, or a
    /// differently named one.
    async fn existing_folders(&self, name: &str) -> Result<BTreeSet<PathBuf>, ApiError> {
        let skill_set = self.skill_set(None).await?;
        let skills = skill_set.catalogue.skills().iter().chain(skill_set.catalogue.shadowed());
        let same_named = skills.filter(|skill| skill.source == SkillOrigin::User && skill.name == name);
        let mut folders: BTreeSet<PathBuf> = same_named.map(|skill| skill.folder.clone()).collect();
        let user_folder = self.own_skills();
        let user_folder = octo_workspace::resolve_links(&user_folder).unwrap_or(user_folder);
        let folder = user_folder.join(name);
        blocking(move || {
            if folder.symlink_metadata().is_ok() {
                // A link in that place is meant itself, not its target.
                folders.insert(folder);
            }
            Ok(folders)
        })
        .await
    }

    pub(super) fn own_skills(&self) -> PathBuf {
        self.0.home.join("skills")
    }
}

/// Returns the contents of a source: as shown, and as installed in the folder `target`.
pub(super) fn read_source(
    folder: &Path,
    from: String,
    target: &Path,
    skill_set: &SkillSet,
) -> Result<(SkillOffer, Vec<Candidate>), ApiError> {
    let source = if folder.is_dir() { InstallSource::Folder(folder) } else { InstallSource::Zip(folder) };
    let inspection = inspect(source, target, &skill_set.catalogue).map_err(|error| ApiError::from(&error))?;
    let offered = inspection.skills.iter().map(|candidate| {
        let existing = skill_set.catalogue.get(&candidate.name);
        let existing = existing.filter(|skill| skill.source == SkillOrigin::User);
        let diff = existing.and_then(|skill| {
            let new = candidate.text("SKILL.md")?;
            let old = skill_text(skill).ok()?;
            Some(octo_workspace::diff(&skill.folder.join("SKILL.md"), Some(old.as_bytes()), new.as_bytes()))
        });
        OfferedSkill {
            name: candidate.name.clone(),
            description: candidate.fields.description.clone(),
            files: files(candidate),
            tools: tools(&candidate.fields),
            commands: candidate.commands.clone(),
            warnings: candidate.warnings.iter().chain(&inspection.warnings).map(warning_to_error).collect(),
            error: candidate.error.as_ref().map(warning_to_error),
            present: diff,
        }
    });
    let offer = SkillOffer { id: SuggestionId::new(), from, skills: offered.collect() };
    Ok((offer, inspection.skills))
}
