//! The skills that exist.

use crate::{Invocable, Skill, SkillUsage, Trust, Warning};
use octo_protocol::SkillOrigin;
use std::collections::BTreeSet;

/// Maximum names suggested for an unknown one.
const MAX_SIMILAR: usize = 3;

/// The discovered skills, one per name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalogue {
    skills: Vec<Skill>,
    shadowed: Vec<Skill>,
    problems: Vec<Warning>,
}

impl Catalogue {
    pub(crate) fn new(skills: Vec<Skill>, shadowed: Vec<Skill>, problems: Vec<Warning>) -> Self {
        Self { skills, shadowed, problems }
    }

    /// Returns all active skills, sorted by name, including unreadable ones.
    pub fn skills(&self) -> &[Skill] {
        &self.skills
    }

    /// Returns the skills replaced by another one of the same name.
    pub fn shadowed(&self) -> &[Skill] {
        &self.shadowed
    }

    /// Returns the problems of the folders.
    pub fn problems(&self) -> &[Warning] {
        &self.problems
    }

    /// Returns the skill with that name, regardless of its permitted uses.
    pub fn get(&self, name: &str) -> Option<&Skill> {
        self.skills.iter().find(|skill| skill.name == name)
    }

    /// Returns the skills that a person can call with a slash in a profile, by name; including untrusted ones,
    /// so they can be seen and accepted.
    pub fn for_menu(&self, profile: &str) -> impl Iterator<Item = &Skill> {
        self.skills.iter().filter(move |skill| is_callable(skill) && skill.fields.profiles.has(profile))
    }

    /// Returns the skills that a model in a profile sees: the session folder's first, then the person's, then
    /// the bundled ones, each by name.
    pub fn for_model(&self, profile: &str) -> Vec<&Skill> {
        let mut skills: Vec<&Skill> = self
            .skills
            .iter()
            .filter(|skill| {
                skill.error.is_none()
                    && skill.is_automatic()
                    && skill.trust == Trust::Trusted
                    && skill.fields.profiles.has(profile)
            })
            .collect();
        skills.sort_by_key(|skill| (model_order(skill.source), &skill.name));
        skills
    }

    /// Returns the skills that a model in a profile should know and does not: `known_names` contains the names it
    /// knows.
    pub fn unknown_to_model(&self, profile: &str, known_names: &BTreeSet<String>) -> Vec<&Skill> {
        self.for_model(profile).into_iter().filter(|skill| !known_names.contains(&skill.name)).collect()
    }

    /// Applies the person's setting for each skill.
    pub fn set_usage(&mut self, usage: &dyn Fn(&Skill) -> SkillUsage) {
        for skill in self.skills.iter_mut().chain(&mut self.shadowed) {
            skill.usage = usage(skill);
        }
    }

    /// Returns callable names similar to `name`, best first.
    pub fn similar_names(&self, name: &str) -> Vec<&str> {
        let name = name.to_ascii_lowercase();
        let callable = self.skills.iter().filter(|skill| is_callable(skill));
        similar_names(&name, callable.map(|skill| skill.name.as_str()))
    }
}

/// Returns whether a person may call it with a slash.
fn is_callable(skill: &Skill) -> bool {
    skill.error.is_none()
        && skill.usage != SkillUsage::Off
        && skill.fields.person_invocation == Invocable::Yes
}

/// Returns its position in the order for a model.
fn model_order(source: SkillOrigin) -> u8 {
    match source {
        SkillOrigin::Project | SkillOrigin::ProjectClaude | SkillOrigin::ProjectAgents => 0,
        SkillOrigin::User | SkillOrigin::UserClaude | SkillOrigin::UserAgents => 1,
        SkillOrigin::Bundled => 2,
    }
}

/// Returns up to three of `names` that are similar to `name`: few letters changed, or a part of it.
pub fn similar_names<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let may_differ = (name.chars().count() / 3).clamp(1, 3);
    let mut ranked: Vec<(usize, &str)> = names
        .filter_map(|candidate| {
            let distance = strsim::osa_distance(name, candidate);
            let is_part = name.chars().count() >= 2 && candidate.contains(name);
            (distance <= may_differ || is_part).then_some((distance, candidate))
        })
        .collect();
    ranked.sort();
    ranked.into_iter().take(MAX_SIMILAR).map(|(_, candidate)| candidate).collect()
}
