//! The skills of the home, as a session invokes them.

use super::{Library, Shelf, cards::label};
use crate::{
    session::now,
    skills::{Fork, ForkModel, Loaded, Manner, SkillAsk, SkillCard, SkillError, SkillSource},
};
use futures::future::BoxFuture;
use octo_protocol::{ApiError, SkillOrigin};
use octo_skills::{CallRefusal, Caller, Invocation, InvokedFrom, Run, Skill, expand};
use octo_tools::DeskLeave;

/// Said in place of a command's output.
const NOT_RUN: &str =
    "(not run here: run it with the terminal tool if it is needed, under the same permission as any command)";

impl SkillSource for Library {
    fn find(&self, ask: SkillAsk) -> BoxFuture<'static, Result<SkillCard, SkillError>> {
        let library = self.clone();
        Box::pin(async move {
            let shelf = library.shelf_for(&ask).await?;
            let skill = called(&shelf, &ask)?;
            let manner = match skill.fields.run {
                Run::Inline => Manner::Inline,
                Run::Fork { .. } => Manner::Fork,
            };
            Ok(SkillCard { name: skill.name.clone(), label: label(skill.source).to_owned(), manner })
        })
    }

    fn load(&self, ask: SkillAsk) -> BoxFuture<'static, Result<Loaded, SkillError>> {
        let library = self.clone();
        Box::pin(async move {
            let shelf = library.shelf_for(&ask).await?;
            let skill = called(&shelf, &ask)?;
            let instructions = library.expanded(skill, &ask).await?;
            let used = shelf.named(skill);
            let noted = library.0.store.write(move |tx| tx.skill_used(&used, now())).await;
            if let Err(error) = noted {
                tracing::warn!(%error, "when a skill was used is not stored");
            }
            library.changed();
            Ok(match skill.fields.run {
                Run::Inline => Loaded::Inline { instructions },
                Run::Fork { .. } => Loaded::Fork(Fork {
                    instructions,
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
                    leave: leave(skill),
                }),
            })
        })
    }
}

impl Library {
    async fn shelf_for(&self, ask: &SkillAsk) -> Result<Shelf, SkillError> {
        let shelf = self.shelf(Some(ask.folder.clone())).await;
        shelf.map_err(|error: ApiError| SkillError::Unusable {
            name: ask.name.clone(),
            why: format!("the skills cannot be read now ({})", error.key),
        })
    }

    async fn expanded(&self, skill: &Skill, ask: &SkillAsk) -> Result<String, SkillError> {
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
        // A command in the text is never run behind the person's back: the agent runs it, if it is to be run, where
        // the policy and the person see it.
        let outputs = vec![NOT_RUN.to_owned(); expanded.placeholders().len()];
        Ok(expanded.finish(&outputs))
    }
}

/// The skill whose work is to write memories does it unasked: the bundled one, and none that merely has its name.
const REMEMBERS: &str = "persist-memory";

fn leave(skill: &Skill) -> DeskLeave {
    match skill.source {
        SkillOrigin::Bundled if skill.name == REMEMBERS => DeskLeave::Memories,
        SkillOrigin::Bundled
        | SkillOrigin::User
        | SkillOrigin::Project
        | SkillOrigin::UserClaude
        | SkillOrigin::ProjectClaude
        | SkillOrigin::UserAgents
        | SkillOrigin::ProjectAgents => DeskLeave::Ask,
    }
}

/// The skill, if this caller may use it. Whether a person may call it is judged where they type it.
fn called<'a>(shelf: &'a Shelf, ask: &SkillAsk) -> Result<&'a Skill, SkillError> {
    let name = ask.name.trim().to_ascii_lowercase();
    let found = shelf.catalogue.call(&name, ask.profile.name(), Caller::Model);
    found.map_err(|refusal| match refusal {
        CallRefusal::Unknown { name, near } => SkillError::Unknown { name, near },
        refusal @ (CallRefusal::Broken { .. }
        | CallRefusal::NotForPeople { .. }
        | CallRefusal::NotInProfile { .. }
        | CallRefusal::Off { .. }
        | CallRefusal::Untrusted { .. }) => SkillError::Unusable { name, why: refusal.to_string() },
    })
}
