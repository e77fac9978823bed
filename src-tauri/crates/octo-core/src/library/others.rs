//! Skills of other agents on this machine: found, shown, and imported once the person has ticked them.
//!
//! During the search nothing leaves the machine and nothing is installed. The files read are kept, so exactly
//! the skills shown are imported.

use super::{Library, SkillSet, offers::read_source};
use octo_protocol::{
    ApiError, NameConflictAction, OfferedSkill, OtherAgent, OtherSkillFolders, OtherSkills,
    SkillImportChoice, SkillImportError, SkillImportResult, SuggestionId,
};
use octo_runtime::blocking;
use octo_skills::{Candidate, InstallError, OnConflict};
use octo_trash::HomeTrash;
use parking_lot::MutexGuard;
use std::path::{Path, PathBuf};

/// Where other agents keep skills, relative to the person's home folder.
const AGENT_FOLDERS: &[(OtherAgent, &str)] = &[
    (OtherAgent::Claude, ".claude/skills"),
    (OtherAgent::Codex, ".codex/skills"),
    (OtherAgent::OpenClaw, ".openclaw/skills"),
    (OtherAgent::OpenClaw, ".openclaw/workspace/skills"),
    (OtherAgent::OpenClaw, ".openclaw/workspace/.agents/skills"),
    (OtherAgent::Shared, ".agents/skills"),
];
/// Maximum number of skills inspected per folder; the bytes of all are kept until the next search.
const MAX_SKILLS: usize = 200;
/// Maximum number of bytes kept per folder.
const MOST_BYTES: u64 = 64 << 20;

type FoundSkills = Vec<(SuggestionId, Vec<Candidate>)>;

impl Library {
    /// Finds them, also in a further folder if the person picked one.
    pub(crate) async fn find_others(&self, picked: Option<PathBuf>) -> Result<OtherSkillFolders, ApiError> {
        let shelf = self.skill_set(None).await?;
        let into = self.own_skills();
        let person = self.0.person.clone();
        let (folders, found) =
            blocking(move || Ok(search_folders(person.as_deref(), picked.as_deref(), &into, &shelf))).await?;
        *self.found() = found;
        Ok(OtherSkillFolders { folders })
    }

    /// Imports the ticked skills. Failures are reported together with the successes.
    pub(crate) async fn import(
        &self,
        choices: Vec<SkillImportChoice>,
        trash: &HomeTrash,
    ) -> Result<SkillImportResult, ApiError> {
        let (mut names, mut refused) = (Vec::new(), Vec::new());
        for SkillImportChoice { offer, name, taken } in choices {
            let candidate = self.candidate(offer, &name);
            let done = match candidate {
                None => Err(ApiError::new("skills.offer_gone")),
                Some(candidate) => {
                    let on_conflict = match taken {
                        NameConflictAction::Keep => OnConflict::Refuse,
                        NameConflictAction::Replace => OnConflict::Replace,
                        NameConflictAction::Rename => OnConflict::Rename,
                    };
                    self.install_one(candidate, on_conflict, trash).await
                }
            };
            match done {
                Ok(name) => names.push(name),
                Err(error) => refused.push(SkillImportError { name, error }),
            }
        }
        if !names.is_empty() {
            self.changed();
        }
        Ok(SkillImportResult { names, refused })
    }

    fn candidate(&self, offer: SuggestionId, name: &str) -> Option<Candidate> {
        let found = self.found();
        let (_, skills) = found.iter().find(|(known, _)| *known == offer)?;
        skills.iter().find(|skill| skill.name == name).cloned()
    }

    fn found(&self) -> MutexGuard<'_, FoundSkills> {
        self.0.offers.found.lock()
    }
}

/// Inspects the usual places below the person's home folder, and the picked folder.
fn search_folders(
    person: Option<&Path>,
    picked: Option<&Path>,
    into: &Path,
    shelf: &SkillSet,
) -> (Vec<OtherSkills>, FoundSkills) {
    let usual =
        person.iter().flat_map(|home| AGENT_FOLDERS.iter().map(|(agent, at)| (*agent, home.join(at))));
    let places = usual.chain(picked.map(|folder| (OtherAgent::Picked, folder.to_owned())));
    // Octo's own folder belongs to no other agent.
    let mut seen: Vec<PathBuf> = octo_workspace::resolve_links(into).into_iter().collect();
    let (mut folders, mut found) = (Vec::new(), Vec::new());
    for (agent, place) in places {
        let Ok(real) = octo_workspace::resolve_links(&place) else { continue };
        // One may be a link to another.
        if !real.is_dir() || seen.contains(&real) {
            continue;
        }
        let (shown, skills) = read_folder(agent, &place, &real, into, shelf);
        seen.push(real);
        if !shown.skills.is_empty() || shown.problem.is_some() || agent == OtherAgent::Picked {
            found.push((shown.offer, skills));
            folders.push(shown);
        }
    }
    (folders, found)
}

/// Returns the contents of one folder. Each skill is inspected separately, so that a broken one hides none of
/// the others.
fn read_folder(
    agent: OtherAgent,
    place: &Path,
    real: &Path,
    into: &Path,
    shelf: &SkillSet,
) -> (OtherSkills, Vec<Candidate>) {
    let mut shown = OtherSkills {
        agent,
        folder: place.display().to_string(),
        offer: SuggestionId::new(),
        skills: Vec::new(),
        problem: None,
    };
    let mut skills: Vec<Candidate> = Vec::new();
    let children = match children(real) {
        Ok(children) => children,
        Err(error) => {
            let told = ApiError::new("skills.folder_unreadable").arg("path", place.display()).detail(error);
            return (OtherSkills { problem: Some(told), ..shown }, skills);
        }
    };
    let mut bytes = 0;
    for child in children {
        match read_source(&child, child.display().to_string(), into, shelf) {
            Ok((offer, candidates)) => {
                bytes += candidates.iter().map(Candidate::bytes).sum::<u64>();
                if shown.skills.len() + offer.skills.len() > MAX_SKILLS || bytes > MOST_BYTES {
                    shown.problem =
                        Some(ApiError::new("skills.folder_too_large").arg("path", place.display()));
                    break;
                }
                for (offered, candidate) in offer.skills.into_iter().zip(candidates) {
                    // Of two skills with the same name the first counts, because they could not be told apart.
                    if !shown.skills.iter().any(|known| known.name == offered.name) {
                        shown.skills.push(offered);
                        skills.push(candidate);
                    }
                }
            }
            // A folder without a skill, or with other files.
            Err(error) if error.key == ApiError::from(&InstallError::NoSkill).key => {}
            Err(error) => shown.skills.push(unusable(&child, error)),
        }
    }
    shown.skills.sort_by(|one, other| one.name.cmp(&other.name));
    (shown, skills)
}

/// Returns the folders to inspect: the folder itself if it is a skill, otherwise its subfolders, by name. Links
/// are followed: the person created them, and sees their targets before anything is done.
fn children(real: &Path) -> std::io::Result<Vec<PathBuf>> {
    if real.join("SKILL.md").is_file() {
        return Ok(vec![real.to_owned()]);
    }
    let mut children = Vec::new();
    for entry in std::fs::read_dir(real)? {
        let entry = entry?;
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        if !is_hidden && entry.path().is_dir() {
            children.push(entry.path());
        }
    }
    children.sort();
    Ok(children)
}

/// Returns the entry of a skill that cannot even be inspected.
fn unusable(place: &Path, error: ApiError) -> OfferedSkill {
    OfferedSkill {
        name: place.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        description: String::new(),
        files: Vec::new(),
        tools: Vec::new(),
        commands: Vec::new(),
        warnings: Vec::new(),
        error: Some(error),
        present: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octo_skills::{Roots, Trust, discover};
    use std::{collections::HashMap, fs};

    fn skill(place: &Path, text: &str) {
        fs::create_dir_all(place).unwrap();
        fs::write(place.join("SKILL.md"), text).unwrap();
    }

    fn text(name: &str) -> String {
        format!("---\nname: {name}\ndescription: Does {name}.\n---\n\nDo it.\n")
    }

    #[test]
    fn each_agents_folder_is_listed_once_with_all_its_skills() {
        let folder = tempfile::tempdir().unwrap();
        let (person, own) = (folder.path().join("mei"), folder.path().join("octo/skills"));
        skill(&person.join(".claude/skills/notes"), &text("notes"));
        skill(&person.join(".claude/skills/broken"), "");
        fs::write(person.join(".claude/skills/broken/SKILL.md"), [0, 159, 146, 150]).unwrap();
        skill(&person.join(".claude/skills/.hidden"), &text("hidden"));
        fs::create_dir_all(person.join(".claude/skills/nothing")).unwrap();
        skill(&person.join(".codex/skills/plan"), &text("plan"));
        fs::write(person.join(".codex/skills/plan/run.sh"), "#!/bin/sh\n").unwrap();
        skill(&person.join(".openclaw/workspace/skills/claw"), &text("claw"));
        fs::create_dir_all(person.join(".agents")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(person.join(".codex/skills"), person.join(".agents/skills")).unwrap();
        skill(&own.join("notes"), &text("notes"));
        let roots = Roots::new(None, &folder.path().join("octo"));
        let catalogue = discover(&roots, &|_| Trust::Trusted);
        let shelf = SkillSet { catalogue, choices: HashMap::new(), folder: None };

        let (folders, found) = search_folders(Some(&person), Some(&own), &own, &shelf);
        let listed: Vec<(OtherAgent, Vec<&str>)> = folders
            .iter()
            .map(|folder| (folder.agent, folder.skills.iter().map(|skill| skill.name.as_str()).collect()))
            .collect();
        assert_eq!(
            listed,
            [
                (OtherAgent::Claude, vec!["broken", "notes"]),
                (OtherAgent::Codex, vec!["plan"]),
                (OtherAgent::OpenClaw, vec!["claw"]),
            ],
            "neither Octo's own, nor one folder under two names"
        );
        let of =
            |name: &str| folders.iter().flat_map(|folder| &folder.skills).find(|skill| skill.name == name);
        assert!(of("notes").unwrap().present.is_some(), "the person has one of that name");
        assert!(of("broken").unwrap().error.is_some(), "a broken one hides none of the others");
        assert_eq!(of("plan").unwrap().files.len(), 2);
        assert_eq!(found.iter().map(|(_, skills)| skills.len()).sum::<usize>(), 4);
    }

    #[test]
    fn a_folder_that_is_itself_a_skill_is_one() {
        let folder = tempfile::tempdir().unwrap();
        skill(&folder.path().join("alone"), &text("alone"));
        let own = folder.path().join("own");
        let catalogue = discover(&Roots::new(None, &own), &|_| Trust::Trusted);
        let shelf = SkillSet { catalogue, choices: HashMap::new(), folder: None };
        let (folders, _) = search_folders(None, Some(&folder.path().join("alone")), &own, &shelf);
        assert_eq!((folders[0].agent, folders[0].skills[0].name.as_str()), (OtherAgent::Picked, "alone"));
        fs::create_dir(folder.path().join("empty")).unwrap();
        let (folders, _) = search_folders(None, Some(&folder.path().join("empty")), &own, &shelf);
        assert!(folders[0].skills.is_empty(), "a picked folder is shown also where it holds nothing");
    }
}
