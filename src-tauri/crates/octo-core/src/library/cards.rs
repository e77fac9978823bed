//! Converts skills to the cards that clients show.

use super::SkillSet;
use octo_protocol::{
    ApiError, SkillCaller, SkillCard, SkillExecution, SkillFile, SkillFileKind, SkillOrigin, SkillTrust,
    Switch,
};
use octo_skills::{Candidate, CandidateKind, Invocable, Skill, SkillRun, SkillUsage, Trust, Warning};

/// Maximum number of a skill's files that are listed.
pub(super) const FILES: usize = 200;

impl SkillSet {
    /// Returns all cards: the folder's own first, then the person's, then Octo's, each by name.
    pub(crate) fn cards(&self, versions: impl Fn(&octo_protocol::SkillRef) -> u32) -> Vec<SkillCard> {
        let mut skills: Vec<&Skill> =
            self.catalogue.skills().iter().chain(self.catalogue.shadowed()).collect();
        skills.sort_by(|a, b| b.source.cmp(&a.source).then_with(|| a.name.cmp(&b.name)));
        skills.into_iter().map(|skill| self.card(skill, versions(&self.reference(skill)))).collect()
    }

    pub(super) fn card(&self, skill: &Skill, versions: u32) -> SkillCard {
        let choice = self.choice(skill);
        let fields = &skill.fields;
        let shadows = self.catalogue.shadowed().iter().find(|shadowed| shadowed.name == skill.name);
        SkillCard {
            skill: self.reference(skill),
            description: fields.description.clone(),
            description_zh: fields.description_zh.clone(),
            argument: fields.argument_hint.clone().unwrap_or_default(),
            folder: skill.folder.display().to_string(),
            execution: match fields.run {
                SkillRun::Inline => SkillExecution::Inline,
                SkillRun::Fork { .. } => SkillExecution::Fork,
            },
            caller: match (fields.person_invocation, fields.model_invocation) {
                (Invocable::Yes, Invocable::No) => SkillCaller::Person,
                (Invocable::No, _) => SkillCaller::Agent,
                (Invocable::Yes, Invocable::Yes) => SkillCaller::Anyone,
            },
            trust: match (skill.trust, choice.accepted) {
                (Trust::Trusted, _) => SkillTrust::Trusted,
                (Trust::Untrusted, None) => SkillTrust::Unseen,
                (Trust::Untrusted, Some(_)) => SkillTrust::Changed,
            },
            on: if skill.usage == SkillUsage::Off { Switch::Off } else { Switch::On },
            automatic: if skill.is_automatic() { Switch::On } else { Switch::Off },
            warnings: skill.warnings.iter().map(warning_to_error).collect(),
            error: skill.error.as_ref().map(warning_to_error),
            shadows: skill.shadowed_by.is_none().then_some(shadows).flatten().map(|shadowed| shadowed.source),
            used_at: choice.used_at,
            versions,
        }
    }
}

/// Returns a warning as a key of the word catalogue.
pub(crate) fn warning_to_error(warning: &Warning) -> ApiError {
    let error = ApiError::new(warning.key);
    warning.args.iter().fold(error, |error, (name, value)| error.arg(name.as_str(), value))
}

/// Returns the tools requested by a skill's author, by Octo's names if they have one.
pub(super) fn tools(skill: &octo_skills::Fields) -> Vec<String> {
    skill
        .allowed_tools
        .iter()
        .map(|grant| grant.tool.map_or_else(|| grant.text.clone(), str::to_owned))
        .collect()
}

/// Returns the files of a skill that could be installed.
pub(super) fn files(candidate: &Candidate) -> Vec<SkillFile> {
    let kind = |kind| match kind {
        CandidateKind::Plain => SkillFileKind::Data,
        CandidateKind::Script | CandidateKind::Program => SkillFileKind::Script,
    };
    let files = candidate.files.iter().take(FILES);
    files.map(|file| SkillFile { path: file.path.clone(), size: file.bytes, kind: kind(file.kind) }).collect()
}

/// Returns the origin of a skill, in a word or two for the model and for cards.
pub(crate) fn label(origin: SkillOrigin) -> &'static str {
    match origin {
        SkillOrigin::Bundled => "octo",
        SkillOrigin::User => "yours",
        SkillOrigin::Project => "project",
        SkillOrigin::UserClaude | SkillOrigin::ProjectClaude => "claude",
        SkillOrigin::UserAgents | SkillOrigin::ProjectAgents => "agents",
    }
}
