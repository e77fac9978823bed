//! The skills of the home, for invocation by a session.

use super::{Library, SkillSet, cards::label};
use crate::skills::{
    LoadedSkill, SkillCommandOutcome, SkillCommands, SkillError, SkillFacts, SkillMode, SkillRequest,
    SkillSource, SubAgentModel, SubAgentSkill,
};
use futures::future::BoxFuture;
use octo_protocol::{ApiError, SkillOrigin};
use octo_runtime::now;
use octo_skills::{CallRefusal, Invocation, InvokedFrom, Skill, SkillCallOrigin, SkillRun, expand};
use octo_tools::BuiltinGrant;
use std::sync::Arc;

impl SkillSource for Library {
    fn find(&self, request: SkillRequest) -> BoxFuture<'static, Result<SkillFacts, SkillError>> {
        let library = self.clone();
        Box::pin(async move {
            let skill_set = library.skill_set_for(&request).await?;
            let skill = find_callable(&skill_set, &request)?;
            let manner = match skill.fields.run {
                SkillRun::Inline => SkillMode::Inline,
                SkillRun::Fork { .. } => SkillMode::Fork,
            };
            Ok(SkillFacts { name: skill.name.clone(), label: label(skill.source).to_owned(), mode: manner })
        })
    }

    fn load(
        &self,
        request: SkillRequest,
        commands: Arc<dyn SkillCommands>,
    ) -> BoxFuture<'static, Result<LoadedSkill, SkillError>> {
        let library = self.clone();
        Box::pin(async move {
            let skill_set = library.skill_set_for(&request).await?;
            let skill = find_callable(&skill_set, &request)?;
            let (instructions, commands_run) = library.expand(skill, &request, &*commands).await;
            let skill_ref = skill_set.reference(skill);
            let result = library.0.store.write(move |tx| tx.record_skill_use(&skill_ref, now())).await;
            if let Err(error) = result {
                tracing::warn!(%error, "when a skill was used is not stored");
            }
            library.notify_change();
            Ok(match skill.fields.run {
                SkillRun::Inline => LoadedSkill::Inline { instructions, executed: commands_run },
                SkillRun::Fork { .. } => LoadedSkill::SubAgent(SubAgentSkill {
                    instructions,
                    executed: commands_run,
                    forbidden_tools: skill
                        .fields
                        .forbidden_tools
                        .iter()
                        .map(|tool| (*tool).to_owned())
                        .collect(),
                    model: match skill.fields.model.as_deref() {
                        None | Some("" | "inherit") => SubAgentModel::Parents,
                        Some("lite" | "light") => SubAgentModel::Small,
                        Some(name) => SubAgentModel::Named(name.to_owned()),
                    },
                    effort: skill.fields.effort,
                    builtin_grant: builtin_grant(skill),
                }),
            })
        })
    }
}

impl Library {
    async fn skill_set_for(&self, request: &SkillRequest) -> Result<SkillSet, SkillError> {
        let skill_set = self.skill_set(Some(request.folder.clone())).await;
        skill_set.map_err(|error: ApiError| SkillError::Unusable {
            name: request.name.clone(),
            reason: format!("the skills cannot be read now ({})", error.key),
        })
    }

    /// Returns the expanded instructions, and the commands in them that ran.
    async fn expand(
        &self,
        skill: &Skill,
        request: &SkillRequest,
        commands: &dyn SkillCommands,
    ) -> (String, Vec<String>) {
        let session = request.session.to_string();
        let memories = self.overview().await.unwrap_or_default();
        let values = [("memories_meta", memories)];
        let invocation = Invocation {
            arguments: &request.task,
            session: &session,
            from: InvokedFrom::Tool,
            home: self.0.person.as_deref(),
            values: &values,
        };
        let expanded = expand(skill, &invocation);
        let lines: Vec<String> =
            expanded.placeholders().iter().map(|placeholder| placeholder.command.clone()).collect();
        let outcomes = commands.run(lines.clone()).await;
        let commands_run = lines
            .into_iter()
            .zip(&outcomes)
            .filter_map(|(line, outcome)| matches!(outcome, SkillCommandOutcome::Ran(_)).then_some(line))
            .collect();
        let outputs: Vec<String> = outcomes
            .into_iter()
            .map(|outcome| match outcome {
                SkillCommandOutcome::Ran(output) | SkillCommandOutcome::LeftToModel(output) => output,
            })
            .collect();
        (expanded.finish(&outputs), commands_run)
    }
}

/// The skill that may write memories without asking: the bundled one only, never another with the same name.
const PERSIST_MEMORY: &str = "persist-memory";

fn builtin_grant(skill: &Skill) -> BuiltinGrant {
    match skill.source {
        SkillOrigin::Bundled if skill.name == PERSIST_MEMORY => BuiltinGrant::Memories,
        SkillOrigin::Bundled
        | SkillOrigin::User
        | SkillOrigin::Project
        | SkillOrigin::UserClaude
        | SkillOrigin::ProjectClaude
        | SkillOrigin::UserAgents
        | SkillOrigin::ProjectAgents => BuiltinGrant::Ask,
    }
}

/// Returns the skill if this caller may use it. Whether a person may call it is checked where they type it.
fn find_callable<'a>(skill_set: &'a SkillSet, request: &SkillRequest) -> Result<&'a Skill, SkillError> {
    let name = request.name.trim().to_ascii_lowercase();
    let callable = skill_set.catalogue.call(&name, request.profile.name(), SkillCallOrigin::Model);
    callable.map_err(|refusal| match refusal {
        CallRefusal::Unknown { name, similar: near } => SkillError::Unknown { name, similar: near },
        refusal @ (CallRefusal::Broken { .. }
        | CallRefusal::NotForPeople { .. }
        | CallRefusal::NotInProfile { .. }
        | CallRefusal::Off { .. }
        | CallRefusal::Untrusted { .. }) => SkillError::Unusable { name, reason: refusal.to_string() },
    })
}
