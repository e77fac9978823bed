//! Invoking skills, and the sub-agents some of them start.
//!
//! A sub-agent is a session of its own, opened and driven like any other. The call that started it waits for
//! its turn to end, and reports its progress to the parent's actor. These reports update the live card and make
//! the parent wait for the person when the sub-agent does.

use super::{
    Progress, SubAgentSpec,
    parent::{ChildReport, Parent, ParentQuery},
    prompt, spawn,
    summary::{output, summary_output},
};
use crate::{
    models::Companion,
    permission::PermissionContext,
    session::{JobReport, Runtime, actor::Reporter, skill_commands::PolicyRunner, state::Session, texts},
    skills::{LoadedSkill, SkillError, SkillFacts, SkillMode, SkillRequest, SubAgentModel, SubAgentSkill},
};
use futures::future::BoxFuture;
use octo_protocol::{
    ApiError, CallId, CompanionRole, Language, ModelId, Profile, SessionId, SkillView, SubAgentOrigin,
    SubAgentStatus, SubAgentView, ToolView, TurnId, Usage, words,
};
use octo_store::InheritedContext;
use octo_tools::{MAX_INSTRUCTIONS, NoSkills, Outcome, SkillInvoker, SkillTask, ToolError, ToolOutput};
use octo_workspace::Outputs;
use std::{path::PathBuf, sync::Arc};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Returns the model a sub-agent works on.
enum ChosenModel {
    /// Its parent's: it begins with the parent's conversation, which this model's cache contains.
    Parents,
    /// Another model.
    Other(ModelId),
}

/// The skills of a home, as seen by one call of a session.
struct SessionSkills {
    runtime: Arc<Runtime>,
    reporter: Reporter,
    session: SessionId,
    turn: TurnId,
    folder: PathBuf,
    profile: Profile,
    runner: PolicyRunner,
}

impl Session {
    /// Returns the skills for a call of the running turn. A sub-agent has none.
    pub(in crate::session) fn skills(&self, context: PermissionContext) -> Arc<dyn SkillInvoker> {
        let Some(turn) = self.turn.id().filter(|_| self.sub_agent.is_none()) else {
            return Arc::new(NoSkills);
        };
        Arc::new(Invoker(Arc::new(SessionSkills {
            runtime: self.runtime.clone(),
            reporter: self.reporter(),
            session: self.id(),
            turn,
            folder: self.workspace.folder().to_owned(),
            profile: self.info.profile.clone(),
            runner: self.policy_runner(context),
        })))
    }
}

/// Clones share the skills.
#[derive(Clone)]
struct Invoker(Arc<SessionSkills>);

impl SkillInvoker for Invoker {
    fn preview(&self, skill_task: &SkillTask) -> BoxFuture<'static, Result<ToolView, ToolError>> {
        let (skills, skill_task) = (self.0.clone(), skill_task.clone());
        Box::pin(async move {
            let card = skills.find_skill(&skill_task).await?;
            Ok(match card.mode {
                SkillMode::Inline => ToolView::Skill(skill_view(&card, &skill_task)),
                SkillMode::Fork => ToolView::SubAgent(sub_agent_view(&card, &skill_task)),
            })
        })
    }

    fn invoke(
        &self,
        skill_task: SkillTask,
        call: CallId,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        let skills = self.0.clone();
        Box::pin(async move {
            let loading = async {
                let card = skills.find_skill(&skill_task).await?;
                let commands = Arc::new(skills.runner.of_call(call, cancel.clone()));
                let source = skills.runtime.sub_agents.skills();
                let loaded =
                    source.load(skills.to_request(&skill_task), commands).await.map_err(tool_error)?;
                Ok::<_, ToolError>((card, loaded))
            };
            let (card, loaded) = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(ToolError::new("Not begun.")),
                loaded = loading => loaded?,
            };
            match loaded {
                LoadedSkill::Inline { instructions, executed } => {
                    let outputs = Outputs::new(skills.runtime.base.paths.outputs(skills.session));
                    let view = SkillView { commands: executed, ..skill_view(&card, &skill_task) };
                    Ok(inline(view, &instructions, &outputs, call))
                }
                LoadedSkill::SubAgent(fork) => {
                    skills.run_sub_agent(&card, fork, &skill_task, call, cancel).await
                }
            }
        })
    }
}

fn tool_error(error: SkillError) -> ToolError {
    ToolError::new(error.to_string())
}

fn skill_view(card: &SkillFacts, skill_task: &SkillTask) -> SkillView {
    SkillView {
        name: card.name.clone(),
        label: card.label.clone(),
        task: skill_task.task.clone(),
        commands: Vec::new(),
    }
}

fn sub_agent_view(card: &SkillFacts, skill_task: &SkillTask) -> SubAgentView {
    SubAgentView {
        name: card.name.clone(),
        label: card.label.clone(),
        task: skill_task.task.clone(),
        commands: Vec::new(),
        session: None,
        status: SubAgentStatus::Queued,
        steps: 0,
        tools: Vec::new(),
        cost: None,
        last_line: String::new(),
        summary: None,
    }
}

/// Puts the instructions into the result, so the call stays paired and nothing is inserted out of order.
fn inline(view: SkillView, instructions: &str, outputs: &Outputs, call: CallId) -> ToolOutput {
    let mut text = texts::skill_loaded(&view.name);
    if instructions.chars().count() > MAX_INSTRUCTIONS {
        text.extend(instructions.chars().take(MAX_INSTRUCTIONS));
        let kept_output = outputs.keep(&format!("skill-{call}.md"), instructions);
        text.push_str(&texts::skill_cut(kept_output.ok().as_deref()));
    } else {
        text.push_str(instructions);
    }
    ToolOutput { text, images: Vec::new(), view: ToolView::Skill(view), outcome: Outcome::Done }
}

impl SessionSkills {
    fn to_request(&self, skill_task: &SkillTask) -> SkillRequest {
        SkillRequest {
            name: skill_task.name.clone(),
            task: skill_task.task.clone(),
            folder: self.folder.clone(),
            session: self.session,
            profile: self.profile.clone(),
        }
    }

    async fn find_skill(&self, skill_task: &SkillTask) -> Result<SkillFacts, ToolError> {
        self.runtime.sub_agents.skills().find(self.to_request(skill_task)).await.map_err(tool_error)
    }

    fn report_progress(&self, call: CallId, view: &SubAgentView, usage: Usage) {
        self.reporter.send(JobReport::Child(ChildReport::new(self.turn, call, view.clone(), usage)));
    }

    /// Lets a sub-agent do the call's task. Returns its summary.
    async fn run_sub_agent(
        &self,
        card: &SkillFacts,
        fork: SubAgentSkill,
        skill_task: &SkillTask,
        call: CallId,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        let mut view = SubAgentView { commands: fork.executed.clone(), ..sub_agent_view(card, skill_task) };
        let slot = match self.runtime.free_sub_agent_slot() {
            Some(slot) => slot,
            None => {
                self.report_progress(call, &view, Usage::default());
                tokio::select! {
                    biased;
                    () = cancel.cancelled() => {
                        view.status = SubAgentStatus::Stopped;
                        return Ok(output(view, "Not begun: the work was stopped while it waited for its turn.".to_owned()));
                    }
                    slot = self.runtime.sub_agent_slot() => slot,
                }
            }
        };
        let (query, parent) = ParentQuery::new(self.turn, call);
        self.reporter.send(JobReport::ParentQuery(query));
        let parent = parent.await.map_err(|_| ToolError::new("Not begun: the turn is over."))?;
        let (child, progress) = self.begin(card, fork, skill_task, call, parent).await?;
        view.session = Some(child);
        let stopped = cancel.clone();
        let progress = self.follow(child, call, &mut view, progress, cancel).await;
        drop(slot);
        let closing = self.runtime.clone().close_sub_agent(child);
        if stopped.is_cancelled() {
            // After Stop the person does not wait for the sub-agent's remaining commands.
            tokio::spawn(closing);
        } else {
            closing.await;
        }
        Ok(summary_output(view, progress.as_ref()))
    }

    /// Begins the sub-agent's session.
    async fn begin(
        &self,
        card: &SkillFacts,
        fork: SubAgentSkill,
        skill_task: &SkillTask,
        call: CallId,
        parent: Parent,
    ) -> Result<(SessionId, watch::Receiver<Progress>), ToolError> {
        let failure =
            |error: ApiError| ToolError::new(format!("Not begun: {}", words::explain(Language::En, &error)));
        let worker = self.model(&fork.model, parent.model()).await?;
        let (model, effort, inherits) = match worker {
            ChosenModel::Parents => {
                (parent.model(), parent.info().effort, InheritedContext::Before(parent.message()))
            }
            // The notice of skills belongs to the conversation, which that model would have to read in full.
            ChosenModel::Other(other) => (Some(other), fork.effort, InheritedContext::Nothing),
        };
        let toolset = &self.runtime.services.toolset;
        let own_name =
            |name: &String| toolset.resolve(name).map_or(name.clone(), |tool| tool.name().to_owned());
        let forbidden: Vec<String> = fork.forbidden_tools.iter().map(own_name).collect();
        let origin = SubAgentOrigin {
            session: self.session,
            title: parent.info().title.clone(),
            turn: self.turn,
            call,
            name: card.name.clone(),
        };
        let notice = prompt::instructions(&card.name, &fork.instructions, &forbidden);
        let (info, state) = parent.into_parts();
        let new = SubAgentSpec::new(origin, info, state, inherits, notice)
            .on_model(model, effort)
            .without_tools(forbidden)
            .with_task(&skill_task.task)
            .with_grant(fork.builtin_grant);
        spawn(&self.runtime, new).await.map_err(failure)
    }

    /// The model a sub-agent works on.
    async fn model(
        &self,
        choice: &SubAgentModel,
        parents: Option<ModelId>,
    ) -> Result<ChosenModel, ToolError> {
        let models = &self.runtime.services.models;
        let other_model = match choice {
            SubAgentModel::Parents => None,
            SubAgentModel::Small => match self.runtime.base.preferences().light_model {
                Some(small) => models.vendor_name(small).map(|_| small),
                None => match parents {
                    Some(parents) => match models.companion(parents, CompanionRole::Light).await {
                        Ok(Companion::Connected(small)) => Some(small),
                        // Never connects a model the person did not connect.
                        Ok(Companion::Draft(_)) | Err(_) => None,
                    },
                    None => None,
                },
            },
            SubAgentModel::Named(name) => Some(models.find(name).ok_or_else(|| {
                let available = models.names().join(", ");
                ToolError::new(format!(
                    "Not begun: the skill wants the model {name}, which is not connected. Connected: {available}."
                ))
            })?),
        };
        Ok(match other_model {
            Some(other_model) if Some(other_model) != parents => ChosenModel::Other(other_model),
            Some(_) | None => ChosenModel::Parents,
        })
    }

    /// Follows the sub-agent to the end of its turn.
    async fn follow(
        &self,
        child: SessionId,
        call: CallId,
        view: &mut SubAgentView,
        mut progress: watch::Receiver<Progress>,
        cancel: CancellationToken,
    ) -> Option<Progress> {
        let mut stopping = false;
        loop {
            let now = progress.borrow_and_update().clone();
            if now.end().is_some() {
                now.update_view(view);
                self.report_progress(call, view, now.usage());
                return Some(now);
            }
            let old_view = view.clone();
            now.update_view(view);
            if *view != old_view {
                self.report_progress(call, view, now.usage());
            }
            tokio::select! {
                biased;
                () = cancel.cancelled(), if !stopping => {
                    stopping = true;
                    self.runtime.stop_sub_agent(child);
                }
                changed = progress.changed() => if changed.is_err() {
                    // It could not be stored, or Octo is shutting down.
                    return None;
                },
            }
        }
    }
}
