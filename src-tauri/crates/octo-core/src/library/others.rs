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
        let skill_set = self.skill_set(None).await?;
        let own_skills = self.own_skills();
        let user_home = self.0.person.clone();
        let (folders, found) = blocking(move || {
            Ok(search_folders(user_home.as_deref(), picked.as_deref(), &own_skills, &skill_set))
        })
        .await?;
        *self.lock_found() = found;
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
            let imported = match candidate {
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
            match imported {
                Ok(name) => names.push(name),
                Err(error) => refused.push(SkillImportError { name, error }),
            }
        }
        if !names.is_empty() {
            self.notify_change();
        }
        Ok(SkillImportResult { names, refused })
    }

    fn candidate(&self, offer: SuggestionId, name: &str) -> Option<Candidate> {
        let found = self.lock_found();
        let (_, skills) = found.iter().find(|(known_offer, _)| *known_offer == offer)?;
        skills.iter().find(|skill| skill.name == name).cloned()
    }

    fn lock_found(&self) -> MutexGuard<'_, FoundSkills> {
        self.0.offers.found_elsewhere.lock()
    }
}

/// Inspects the usual places below the person's home folder, and the picked folder.
fn search_folders(
    user_home: Option<&Path>,
    picked: Option<&Path>,
    target: &Path,
    skill_set: &SkillSet,
) -> (Vec<OtherSkills>, FoundSkills) {
    let usual = user_home
        .iter()
        .flat_map(|home| AGENT_FOLDERS.iter().map(|(agent, relative)| (*agent, home.join(relative))));
    let places = usual.chain(picked.map(|folder| (OtherAgent::Picked, folder.to_owned())));
    // Octo's own folder belongs to no other agent.
    let mut visited: Vec<PathBuf> = octo_workspace::resolve_links(target).into_iter().collect();
    let (mut folders, mut offers) = (Vec::new(), Vec::new());
    for (agent, folder) in places {
        let Ok(real_folder) = octo_workspace::resolve_links(&folder) else { continue };
        // One may be a link to another.
        if !real_folder.is_dir() || visited.contains(&real_folder) {
            continue;
        }
        let (listed, skills) = read_folder(agent, &folder, &real_folder, target, skill_set);
        visited.push(real_folder);
        if !listed.skills.is_empty() || listed.problem.is_some() || agent == OtherAgent::Picked {
            offers.push((listed.offer, skills));
            folders.push(listed);
        }
    }
    (folders, offers)
}

/// Returns the contents of one folder. Each skill is inspected separately, so that a broken one hides none of
/// the others.
fn read_folder(
    agent: OtherAgent,
    folder: &Path,
    real_folder: &Path,
    target: &Path,
    skill_set: &SkillSet,
) -> (OtherSkills, Vec<Candidate>) {
    let mut listed = OtherSkills {
        agent,
        folder: folder.display().to_string(),
        offer: SuggestionId::new(),
        skills: Vec::new(),
        problem: None,
    };
    let mut skills: Vec<Candidate> = Vec::new();
    let children = match children(real_folder) {
        Ok(children) => children,
        Err(error) => {
            let error = ApiError::new("skills.folder_unreadable").arg("path", folder.display()).detail(error);
            return (OtherSkills { problem: Some(error), ..listed }, skills);
        }
    };
    let mut bytes = 0;
    for child_folder in children {
        match read_source(&child_folder, child_folder.display().to_string(), target, skill_set) {
            Ok((offer, candidates)) => {
                bytes += candidates.iter().map(Candidate::bytes).sum::<u64>();
                if listed.skills.len() + offer.skills.len() > MAX_SKILLS || bytes > MOST_BYTES {
                    listed.problem =
                        Some(ApiError::new("skills.folder_too_large").arg("path", folder.display()));
                    break;
                }
                for (offered, candidate) in offer.skills.into_iter().zip(candidates) {
                    // Of two skills with the same name the first counts, because they could not be told apart.
                    if !listed.skills.iter().any(|listed_skill| listed_skill.name == offered.name) {
                        listed.skills.push(offered);
                        skills.push(candidate);
                    }
                }
            }
            // A folder without a skill, or with other files.
            Err(error) if error.key == ApiError::from(&InstallError::NoSkill).key => {}
            Err(error) => listed.skills.push(unusable(&child_folder, error)),
        }
    }
    listed.skills.sort_by(|left, right| left.name.cmp(&right.name));
    (listed, skills)
}

/// Returns the folders to inspect: the folder itself if it is a skill, otherwise its subfolders, by name. Links
/// are followed: the person created them, and sees their targets before anything is done.
fn children(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    if folder.join("SKILL.md").is_file() {
        return Ok(vec![folder.to_owned()]);
    }
    let mut children = Vec::new();
    for entry in std::fs::read_dir(folder)? {
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
fn unusable(folder: &Path, error: ApiError) -> OfferedSkill {
    OfferedSkill {
        name: folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
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

    fn write_skill(folder: &Path, text: &str) {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("SKILL.md"), text).unwrap();
    }

    fn skill_text(name: &str) -> String {
        format!("---\nname: {name}\ndescription: Does {name}.\n---\n\nDo it.\n")
    }

    #[test]
    fn each_agents_folder_is_listed_once_with_all_its_skills() {
        let folder = tempfile::tempdir().unwrap();
        let (user_home, user_skills) = (folder.path().join("mei"), folder.path().join("octo/skills"));
        write_skill(&user_home.join(".claude/skills/notes"), &skill_text("notes"));
        write_skill(&user_home.join(".claude/skills/broken"), "");
        fs::write(user_home.join(".claude/skills/broken/SKILL.md"), [0, 159, 146, 150]).unwrap();
        write_skill(&user_home.join(".claude/skills/.hidden"), &skill_text("hidden"));
        fs::create_dir_all(user_home.join(".claude/skills/nothing")).unwrap();
        write_skill(&user_home.join(".codex/skills/plan"), &skill_text("plan"));
        fs::write(user_home.join(".codex/skills/plan/run.sh"), "#!/bin/sh\n").unwrap();
        write_skill(&user_home.join(".openclaw/workspace/skills/claw"), &skill_text("claw"));
        fs::create_dir_all(user_home.join(".agents")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(user_home.join(".codex/skills"), user_home.join(".agents/skills"))
            .unwrap();
        write_skill(&user_skills.join("notes"), &skill_text("notes"));
        let roots = Roots::new(None, &folder.path().join("octo"));
        let catalogue = discover(&roots, &|_| Trust::Trusted);
        let skill_set = SkillSet { catalogue, choices: HashMap::new(), folder: None };

        let (folders, offers) =
            search_folders(Some(&user_home), Some(&user_skills), &user_skills, &skill_set);
        let agents: Vec<(OtherAgent, Vec<&str>)> = folders
            .iter()
            .map(|folder| (folder.agent, folder.skills.iter().map(|skill| skill.name.as_str()).collect()))
            .collect();
        assert_eq!(
            agents,
            [
                (OtherAgent::Claude, vec!["broken", "notes"]),
                (OtherAgent::Codex, vec!["plan"]),
                (OtherAgent::OpenClaw, vec!["claw"]),
            ],
            "neither Octo's own, nor one folder under two names"
        );
        let names_of =
            |name: &str| folders.iter().flat_map(|folder| &folder.skills).find(|skill| skill.name == name);
        assert!(names_of("notes").unwrap().present.is_some(), "the person has one of that name");
        assert!(names_of("broken").unwrap().error.is_some(), "a broken one hides none of the others");
        assert_eq!(names_of("plan").unwrap().files.len(), 2);
        assert_eq!(offers.iter().map(|(_, skills)| skills.len()).sum::<usize>(), 4);
    }

    #[test]
    fn a_folder_that_is_itself_a_skill_is_one() {
        let folder = tempfile::tempdir().unwrap();
        write_skill(&folder.path().join("alone"), &skill_text("alone"));
        let user_skills = folder.path().join("own");
        let catalogue = discover(&Roots::new(None, &user_skills), &|_| Trust::Trusted);
        let skill_set = SkillSet { catalogue, choices: HashMap::new(), folder: None };
        let (folders, _) = search_folders(None, Some(&folder.path().join("alone")), &user_skills, &skill_set);
        assert_eq!((folders[0].agent, folders[0].skills[0].name.as_str()), (OtherAgent::Picked, "alone"));
        fs::create_dir(folder.path().join("empty")).unwrap();
        let (folders, _) = search_folders(None, Some(&folder.path().join("empty")), &user_skills, &skill_set);
        assert!(folders[0].skills.is_empty(), "a picked folder is shown also where it holds nothing");
    }
}
