//! The skills of the home, for invocation by a session.

use super::{Library, SkillSet, cards::label};
use crate::skills::{
    Fork, ForkModel, LoadedSkill, SkillCommandOutcome, SkillCommands, SkillError, SkillFacts, SkillMode,
    SkillRequest, SkillSource,
};
use futures::future::BoxFuture;
use octo_protocol::{ApiError, SkillOrigin};
use octo_runtime::now;
use octo_skills::{CallRefusal, Invocation, InvokedFrom, Skill, SkillCallOrigin, SkillRun, expand};
use octo_tools::BuiltinGrant;
use std::sync::Arc;

impl SkillSource for Library {
    fn find(&self, ask: SkillRequest) -> BoxFuture<'static, Result<SkillFacts, SkillError>> {
        let library = self.clone();
        Box::pin(async move {
            let shelf = library.shelf_for(&ask).await?;
            let skill = called(&shelf, &ask)?;
            let manner = match skill.fields.run {
                SkillRun::Inline => SkillMode::Inline,
                SkillRun::Fork { .. } => SkillMode::Fork,
            };
            Ok(SkillFacts { name: skill.name.clone(), label: label(skill.source).to_owned(), manner })
        })
    }

    fn load(
        &self,
        ask: SkillRequest,
        commands: Arc<dyn SkillCommands>,
    ) -> BoxFuture<'static, Result<LoadedSkill, SkillError>> {
        let library = self.clone();
        Box::pin(async move {
            let shelf = library.shelf_for(&ask).await?;
            let skill = called(&shelf, &ask)?;
            let (instructions, ran) = library.expanded(skill, &ask, &*commands).await;
            let used = shelf.named(skill);
            let noted = library.0.store.write(move |tx| tx.record_skill_use(&used, now())).await;
            if let Err(error) = noted {
                tracing::warn!(%error, "when a skill was used is not stored");
            }
            library.changed();
            Ok(match skill.fields.run {
                SkillRun::Inline => LoadedSkill::Inline { instructions, ran },
                SkillRun::Fork { .. } => LoadedSkill::Fork(Fork {
                    instructions,
                    ran,
                    forbidden_tools: skill
                        .fields
                        .forbidden_tools
                        .iter()
                        .map(|tool| (*tool).to_owned())
                        .collect(),
                    model: match skill.fields.model.as_deref() {
                        None | Some("" | "inherit") => ForkModel::Same,
                        Some("lite" | "light") => ForkModel::Light,
                        Some(name) => ForkModel::Named(name.to_owned()),
                    },
                    effort: skill.fields.effort,
                    leave: leave(skill),
                }),
            })
        })
    }
}

impl Library {
    async fn shelf_for(&self, ask: &SkillRequest) -> Result<SkillSet, SkillError> {
        let shelf = self.skill_set(Some(ask.folder.clone())).await;
        shelf.map_err(|error: ApiError| SkillError::Unusable {
            name: ask.name.clone(),
            why: format!("the skills cannot be read now ({})", error.key),
        })
    }

    /// Returns the expanded instructions, and the commands in them that ran.
    async fn expanded(
        &self,
        skill: &Skill,
        ask: &SkillRequest,
        commands: &dyn SkillCommands,
    ) -> (String, Vec<String>) {
        let session = ask.session.to_string();
        let memories = self.overview().await.unwrap_or_default();
        let values = [("memories_meta", memories)];
        let invocation = Invocation {
            arguments: &ask.task,
            session: &session,
            from: InvokedFrom::Tool,
            home: self.0.person.as_deref(),
            values: &values,
        };
        let expanded = expand(skill, &invocation);
        let lines: Vec<String> =
            expanded.placeholders().iter().map(|placeholder| placeholder.command.clone()).collect();
        let ends = commands.run(lines.clone()).await;
        let ran = lines
            .into_iter()
            .zip(&ends)
            .filter_map(|(line, end)| matches!(end, SkillCommandOutcome::Ran(_)).then_some(line))
            .collect();
        let outputs: Vec<String> = ends
            .into_iter()
            .map(|end| match end {
                SkillCommandOutcome::Ran(output) | SkillCommandOutcome::Left(output) => output,
            })
            .collect();
        (expanded.finish(&outputs), ran)
    }
}

/// The skill that may write memories without asking: the bundled one only, never another with the same name.
const REMEMBERS: &str = "persist-memory";

fn leave(skill: &Skill) -> BuiltinGrant {
    match skill.source {
        SkillOrigin::Bundled if skill.name == REMEMBERS => BuiltinGrant::Memories,
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
fn called<'a>(shelf: &'a SkillSet, ask: &SkillRequest) -> Result<&'a Skill, SkillError> {
    let name = ask.name.trim().to_ascii_lowercase();
    let found = shelf.catalogue.call(&name, ask.profile.name(), SkillCallOrigin::Model);
    found.map_err(|refusal| match refusal {
        CallRefusal::Unknown { name, similar: near } => SkillError::Unknown { name, near },
        refusal @ (CallRefusal::Broken { .. }
        | CallRefusal::NotForPeople { .. }
        | CallRefusal::NotInProfile { .. }
        | CallRefusal::Off { .. }
        | CallRefusal::Untrusted { .. }) => SkillError::Unusable { name, why: refusal.to_string() },
    })
}
