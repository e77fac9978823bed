//! Skills from elsewhere: inspected first, and installed once the person has seen them.

mod fetch;

use super::{
    Library, SkillSet,
    cards::{files, told, tools},
    skill::text_of,
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
    asked: Mutex<Vec<(CallId, Vec<Candidate>)>>,
    /// The skills found in other agents' folders.
    pub(super) found: Mutex<Vec<(SuggestionId, Vec<Candidate>)>>,
}

/// Maximum number of calls whose question may wait at once; each keeps the files it concerns.
const MAX_QUESTIONS: usize = 8;

struct InspectedSource {
    shown: SkillOffer,
    skills: Vec<Candidate>,
}

impl Library {
    /// Inspects the skills in a folder, an archive or a repository.
    pub(crate) async fn inspect(&self, from: String) -> Result<SkillOffer, ApiError> {
        let from = from.trim().to_owned();
        let (place, fetched) = if from.contains("://") || from.starts_with("git@") {
            let way = self.0.way.read().clone();
            let fetched = fetch::clone(&from, &way).await?;
            (fetched.place.clone(), Some(fetched))
        } else {
            let place = octo_workspace::resolve(&from, Path::new("/"))
                .ok()
                .filter(|_| Path::new(&from).is_absolute() || from.starts_with('~'));
            (place.ok_or_else(|| ApiError::new("skills.no_such_source").arg("from", &from))?, None)
        };
        let shelf = self.skill_set(None).await?;
        let into = self.own_skills();
        let named = from.clone();
        let (offer, skills) = blocking(move || {
            let looked = read_source(&place, named, &into, &shelf);
            // The files read stay in memory: exactly the inspected ones are installed.
            drop(fetched);
            looked
        })
        .await?;
        *self.last_offer() = Some(InspectedSource { shown: offer.clone(), skills });
        Ok(offer)
    }

    /// Returns the last inspected source, if it was this one.
    pub(crate) fn last_inspected(&self, from: &str) -> Option<SkillOffer> {
        let last = self.last_offer();
        last.as_ref().filter(|offer| offer.shown.from == from.trim()).map(|offer| offer.shown.clone())
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
        let gone = || ApiError::new("skills.offer_gone");
        let skills =
            self.last_offer().as_ref().filter(|last| last.shown.id == offer).map(|last| last.skills.clone());
        let skills = skills.ok_or_else(gone)?;
        let mut asked = self.0.offers.asked.lock();
        if let Some((_, shown)) = asked.iter().find(|(known, _)| *known == call) {
            return if *shown == skills { Ok(()) } else { Err(gone()) };
        }
        let late = asked.len().saturating_sub(MAX_QUESTIONS - 1);
        asked.drain(..late);
        asked.push((call, skills));
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
        let held = {
            let mut asked = self.0.offers.asked.lock();
            let place = asked.iter().position(|(known, _)| *known == call);
            place.map(|place| asked.remove(place).1)
        };
        let held = held.ok_or_else(|| ApiError::new("skills.offer_gone"))?;
        let chosen = held.into_iter().filter(|skill| names.is_empty() || names.contains(&skill.name));
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
            let last = self.last_offer();
            let known = last.as_ref().filter(|known| known.shown.id == offer);
            let known = known.ok_or_else(|| ApiError::new("skills.offer_gone"))?;
            known.skills.iter().filter(|skill| names.contains(&skill.name)).cloned().collect()
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
            let done = self.install_one(candidate, on_conflict, trash).await;
            // The skills installed before the failure remain.
            self.changed();
            installed.push(done?);
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
        let present = self.present(&candidate.name).await?;
        let going = match on_conflict {
            OnConflict::Replace => present,
            OnConflict::Refuse if present.is_empty() => present,
            // A folder name already in use is replaced by a free one; but a skill that has this name in a
            // differently named folder would then be a duplicate of the new one.
            OnConflict::Rename if present.iter().all(|folder| folder.ends_with(&candidate.name)) => {
                BTreeSet::new()
            }
            OnConflict::Refuse | OnConflict::Rename => {
                return Err(ApiError::from(&InstallError::Exists(candidate.name)));
            }
        };
        // Moved to the trash from its own place, so that the trash can restore it there.
        let mut removed = Vec::new();
        for folder in going {
            let removal = Removal { remover: RemovedBy::Person, session: None, project: None, command: None };
            removed.push((trash.throw_away(folder.clone(), removal).await?, folder));
        }
        let into = self.own_skills();
        let beside = match on_conflict {
            OnConflict::Rename => OnConflict::Rename,
            OnConflict::Refuse | OnConflict::Replace => OnConflict::Refuse,
        };
        let done =
            blocking(move || install(&candidate, &into, beside).map_err(|error| ApiError::from(&error)))
                .await;
        if done.is_err() {
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
        done.map(|done| done.name)
    }

    /// Returns the folders in which the person has a skill of that name: the folder of that name, or a
    /// differently named one.
    async fn present(&self, name: &str) -> Result<BTreeSet<PathBuf>, ApiError> {
        let shelf = self.skill_set(None).await?;
        let all = shelf.catalogue.skills().iter().chain(shelf.catalogue.shadowed());
        let own = all.filter(|skill| skill.source == SkillOrigin::User && skill.name == name);
        let mut present: BTreeSet<PathBuf> = own.map(|skill| skill.folder.clone()).collect();
        let own = self.own_skills();
        let own = octo_workspace::resolve_links(&own).unwrap_or(own);
        let place = own.join(name);
        blocking(move || {
            if place.symlink_metadata().is_ok() {
                // A link in that place is meant itself, not its target.
                present.insert(place);
            }
            Ok(present)
        })
        .await
    }

    pub(super) fn own_skills(&self) -> PathBuf {
        self.0.home.join("skills")
    }
}

/// Returns the contents of a source: as shown, and as installed in the folder `into`.
pub(super) fn read_source(
    place: &Path,
    from: String,
    into: &Path,
    shelf: &SkillSet,
) -> Result<(SkillOffer, Vec<Candidate>), ApiError> {
    let source = if place.is_dir() { InstallSource::Folder(place) } else { InstallSource::Zip(place) };
    let inspection = inspect(source, into, &shelf.catalogue).map_err(|error| ApiError::from(&error))?;
    let offered = inspection.skills.iter().map(|candidate| {
        let present = shelf.catalogue.get(&candidate.name);
        let present = present.filter(|skill| skill.source == SkillOrigin::User);
        let diff = present.and_then(|skill| {
            let new = candidate.text("SKILL.md")?;
            let old = text_of(skill).ok()?;
            Some(octo_workspace::diff(&skill.folder.join("SKILL.md"), Some(old.as_bytes()), new.as_bytes()))
        });
        OfferedSkill {
            name: candidate.name.clone(),
            description: candidate.fields.description.clone(),
            files: files(candidate),
            tools: tools(&candidate.fields),
            commands: candidate.commands.clone(),
            warnings: candidate.warnings.iter().chain(&inspection.warnings).map(told).collect(),
            error: candidate.error.as_ref().map(told),
            present: diff,
        }
    });
    let offer = SkillOffer { id: SuggestionId::new(), from, skills: offered.collect() };
    Ok((offer, inspection.skills))
}
