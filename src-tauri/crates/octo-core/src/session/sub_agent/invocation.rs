//! Invoking skills, and the sub-agents some of them start, as their parent sees it.
//!
//! A sub-agent is a session of its own, opened and driven like any other. The call that started it waits for its turn
//! to end, and tells the parent's actor how far it is: that is the live card, and what makes the parent wait for the
//! person when the sub-agent does.

use super::{
    Attendance, Birth, Heritage, Progress, begin,
    summary::{output, show, summed_up},
};
use crate::{
    models::Companion,
    permission::Ground,
    session::{
        Ask, Inbox, Report, Runtime,
        skill_commands::PolicyRunner,
        state::{Change, Session},
        texts,
    },
    skills::{Fork, ForkModel, Loaded, Manner, SkillAsk, SkillCard, SkillError},
};
use futures::future::BoxFuture;
use octo_protocol::{
    ApiError, CallId, CallView, CompanionRole, Event, ForkOrigin, Language, MessageId, Mode, ModelId,
    Profile, SessionId, SessionInfo, SkillView, SubAgentStatus, SubAgentView, ToolView, TurnId, Usage, words,
};
use octo_store::Inherits;
use octo_tools::{INSTRUCTIONS_MOST, NoSkills, Outcome, SkillWish, Skills, ToolError, ToolOutput};
use octo_workspace::Outputs;
use std::{collections::HashMap, path::PathBuf, sync::Arc};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

/// The sub-agents of a turn, by the call that started each.
pub(in crate::session) type ForksOfTurn = HashMap<CallId, ForkState>;

/// What a turn knows of a sub-agent.
#[derive(Default)]
pub(in crate::session) struct ForkState {
    child: Option<SessionId>,
    /// Whether it waits for the person.
    pub(in crate::session) waits: bool,
    /// What of its usage is in the turn's.
    counted: Usage,
}

/// How far a sub-agent is, for its parent.
pub(crate) struct ForkNews {
    turn: TurnId,
    call: CallId,
    view: SubAgentView,
    usage: Usage,
}

/// A sub-agent begins: what its parent is like now is asked for.
pub(crate) struct LineageAsked {
    turn: TurnId,
    call: CallId,
    reply: oneshot::Sender<Lineage>,
}

/// What a sub-agent begins with.
struct Lineage {
    info: SessionInfo,
    /// The model that is asked now.
    model: Option<ModelId>,
    /// The message that holds the call: what is before it, the sub-agent sees.
    message: MessageId,
    heritage: Heritage,
}

/// On which model a sub-agent works.
enum Worker {
    /// Its parent's: it begins with the parent's conversation, which that model's cache holds.
    Parents,
    /// Another.
    Other(ModelId),
}

/// The skills of a home, as one call of a session reaches them.
struct SessionSkills {
    runtime: Arc<Runtime>,
    inbox: mpsc::UnboundedSender<Inbox>,
    session: SessionId,
    turn: TurnId,
    folder: PathBuf,
    profile: Profile,
    runner: PolicyRunner,
}

impl Session {
    /// Skills, for a call of the turn that runs. A sub-agent has none.
    pub(in crate::session) fn skills(&self, ground: Ground) -> Arc<dyn Skills> {
        let Some(running) = self.running.as_ref().filter(|_| self.fork.is_none()) else {
            return Arc::new(NoSkills);
        };
        Arc::new(Invoker(Arc::new(SessionSkills {
            runtime: self.runtime.clone(),
            inbox: self.inbox.clone(),
            session: self.id(),
            turn: running.view.id,
            folder: self.folder.clone(),
            profile: self.info.profile.clone(),
            runner: self.policy_runner(ground),
        })))
    }

    /// A sub-agent begins. The sender is dropped where its turn is over.
    pub(in crate::session) fn tell_lineage(&mut self, asked: LineageAsked) {
        let LineageAsked { turn, call, reply } = asked;
        let summary = self.summary_of(turn);
        let model = self.model();
        let Some(running) = self.running.as_mut().filter(|running| running.view.id == turn) else { return };
        let task = running.task.clone();
        let Some(open) = running.call(call).filter(|open| open.result.is_none()) else { return };
        let message = open.message;
        let heritage = Heritage {
            task,
            summary,
            looking: self.watch.looking(),
            granted: self.granted_sites.clone(),
            allowance: self.allowance.clone(),
            attached: self.attached,
            seen: self.seen.clone(),
        };
        let lineage = Lineage { info: self.info.clone(), model, message, heritage };
        // A call that was given up meanwhile needs it no more.
        let _gone = reply.send(lineage);
    }

    /// A sub-agent's card changes.
    pub(in crate::session) async fn fork_progressed(&mut self, news: ForkNews) -> Result<(), ApiError> {
        let ForkNews { turn, call, view, usage } = news;
        let Some(running) = self.running.as_mut().filter(|running| running.view.id == turn) else {
            return Ok(());
        };
        if running.call(call).is_none_or(|open| open.result.is_some()) {
            return Ok(());
        }
        let fork = running.forks.entry(call).or_default();
        fork.waits = view.status == SubAgentStatus::NeedsYou;
        fork.child = view.session;
        let more = less(usage, std::mem::replace(&mut fork.counted, usage));
        running.add_usage(more);
        let Some(open) = running.call(call) else { return Ok(()) };
        open.view.view = Some(ToolView::SubAgent(view));
        let changed = Change::Event(Event::CallChanged { call: open.view.clone() });
        self.commit(vec![changed]).await
    }

    /// The mode changed: it is that of the task, so sub-agents that work get it too.
    pub(in crate::session) fn pass_mode_on(&self, mode: Mode) {
        let forks = self.running.iter().flat_map(|running| running.forks.values());
        for child in forks.filter_map(|fork| fork.child) {
            let runtime = self.runtime.clone();
            tokio::spawn(async move {
                let handle = runtime.open.get(child).await;
                if let Some(handle) = handle
                    && let Err(error) = handle.ask(|reply| Ask::SetMode(mode, reply)).await
                {
                    tracing::warn!(session = %child, %error, "a sub-agent keeps its mode");
                }
            });
        }
    }
}

/// What is new.
fn less(now: Usage, before: Usage) -> Usage {
    Usage {
        input: now.input.saturating_sub(before.input),
        cache_read: now.cache_read.saturating_sub(before.cache_read),
        cache_write: now.cache_write.saturating_sub(before.cache_write),
        output: now.output.saturating_sub(before.output),
    }
}

/// A call that is over has no sub-agent that works: what its card says of one that did.
pub(in crate::session) fn close_card(view: &mut CallView, status: SubAgentStatus) {
    if let Some(ToolView::SubAgent(card)) = &mut view.view
        && !card.status.is_over()
    {
        card.status = status;
    }
}

/// Clones are one.
#[derive(Clone)]
struct Invoker(Arc<SessionSkills>);

impl Skills for Invoker {
    fn show(&self, wish: &SkillWish) -> BoxFuture<'static, Result<ToolView, ToolError>> {
        let (skills, wish) = (self.0.clone(), wish.clone());
        Box::pin(async move {
            let card = skills.find(&wish).await?;
            Ok(match card.manner {
                Manner::Inline => ToolView::Skill(skill_view(&card, &wish)),
                Manner::Fork => ToolView::SubAgent(sub_agent_view(&card, &wish)),
            })
        })
    }

    fn invoke(
        &self,
        wish: SkillWish,
        call: CallId,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        let skills = self.0.clone();
        Box::pin(async move {
            let loading = async {
                let card = skills.find(&wish).await?;
                let commands = Arc::new(skills.runner.of_call(call, cancel.clone()));
                let source = &skills.runtime.forks.source;
                let loaded = source.load(skills.ask(&wish), commands).await.map_err(words_of)?;
                Ok::<_, ToolError>((card, loaded))
            };
            let (card, loaded) = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(ToolError::new("Not begun.")),
                loaded = loading => loaded?,
            };
            match loaded {
                Loaded::Inline { instructions, ran } => {
                    let outputs = Outputs::new(skills.runtime.base.paths.outputs(skills.session));
                    let view = SkillView { commands: ran, ..skill_view(&card, &wish) };
                    Ok(inline(view, &instructions, &outputs, call))
                }
                Loaded::Fork(fork) => skills.fork(&card, fork, &wish, call, cancel).await,
            }
        })
    }
}

fn words_of(error: SkillError) -> ToolError {
    ToolError::new(error.to_string())
}

fn skill_view(card: &SkillCard, wish: &SkillWish) -> SkillView {
    SkillView {
        name: card.name.clone(),
        label: card.label.clone(),
        task: wish.task.clone(),
        commands: Vec::new(),
    }
}

fn sub_agent_view(card: &SkillCard, wish: &SkillWish) -> SubAgentView {
    SubAgentView {
        name: card.name.clone(),
        label: card.label.clone(),
        task: wish.task.clone(),
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

/// The result carries the instructions: so the call stays paired, and nothing is put in out of order.
fn inline(view: SkillView, instructions: &str, outputs: &Outputs, call: CallId) -> ToolOutput {
    let mut text = texts::skill_loaded(&view.name);
    if instructions.chars().count() > INSTRUCTIONS_MOST {
        text.extend(instructions.chars().take(INSTRUCTIONS_MOST));
        let rest = outputs.keep(&format!("skill-{call}.md"), instructions);
        text.push_str(&texts::skill_cut(rest.ok().as_deref()));
    } else {
        text.push_str(instructions);
    }
    ToolOutput { text, images: Vec::new(), view: ToolView::Skill(view), outcome: Outcome::Done }
}

impl SessionSkills {
    fn ask(&self, wish: &SkillWish) -> SkillAsk {
        SkillAsk {
            name: wish.name.clone(),
            task: wish.task.clone(),
            folder: self.folder.clone(),
            session: self.session,
            profile: self.profile.clone(),
        }
    }

    async fn find(&self, wish: &SkillWish) -> Result<SkillCard, ToolError> {
        self.runtime.forks.source.find(self.ask(wish)).await.map_err(words_of)
    }

    fn report(&self, report: Report) {
        let _gone = self.inbox.send(Inbox::Report(Box::new(report)));
    }

    fn tell(&self, call: CallId, view: &SubAgentView, usage: Usage) {
        self.report(Report::Fork(ForkNews { turn: self.turn, call, view: view.clone(), usage }));
    }

    async fn fork(
        &self,
        card: &SkillCard,
        fork: Fork,
        wish: &SkillWish,
        call: CallId,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        let mut view = SubAgentView { commands: fork.ran.clone(), ..sub_agent_view(card, wish) };
        let limit = || self.runtime.base.preferences().sub_agents.effective();
        let slot = match self.runtime.forks.slots.try_take(limit()) {
            Some(slot) => slot,
            None => {
                self.tell(call, &view, Usage::default());
                tokio::select! {
                    biased;
                    () = cancel.cancelled() => {
                        view.status = SubAgentStatus::Stopped;
                        return Ok(output(view, "Not begun: the work was stopped while it waited for its turn.".to_owned()));
                    }
                    slot = self.runtime.forks.slots.take(limit) => slot,
                }
            }
        };
        let (reply, lineage) = oneshot::channel();
        self.report(Report::Lineage(LineageAsked { turn: self.turn, call, reply }));
        let lineage = lineage.await.map_err(|_| ToolError::new("Not begun: the turn is over."))?;
        let (child, progress) = self.begin(card, fork, wish, call, lineage).await?;
        view.session = Some(child);
        let stopped = cancel.clone();
        let progress = self.follow(child, call, &mut view, progress, cancel).await;
        drop(slot);
        let resting = let_rest(self.runtime.clone(), child);
        if stopped.is_cancelled() {
            // Who pressed Stop does not wait for what it left running.
            tokio::spawn(resting);
        } else {
            resting.await;
        }
        Ok(summed_up(view, progress))
    }

    /// Begins the sub-agent's session.
    async fn begin(
        &self,
        card: &SkillCard,
        fork: Fork,
        wish: &SkillWish,
        call: CallId,
        lineage: Lineage,
    ) -> Result<(SessionId, watch::Receiver<Progress>), ToolError> {
        let failed =
            |error: ApiError| ToolError::new(format!("Not begun: {}", words::explain(Language::En, &error)));
        let worker = self.model(&fork.model, lineage.model).await?;
        let (model, effort, inherits) = match worker {
            Worker::Parents => (lineage.model, lineage.info.effort, Inherits::Before(lineage.message)),
            // What that model would be told of the conversation it would read anew.
            Worker::Other(other) => (Some(other), fork.effort, Inherits::Nothing),
        };
        let toolset = &self.runtime.services.toolset;
        let own_name =
            |name: &String| toolset.resolve(name).map_or(name.clone(), |tool| tool.name().to_owned());
        let forbidden: Vec<String> = fork.forbidden_tools.iter().map(own_name).collect();
        let origin = ForkOrigin {
            session: self.session,
            title: lineage.info.title.clone(),
            turn: self.turn,
            call,
            name: card.name.clone(),
        };
        let birth = Birth {
            origin,
            mode: lineage.info.mode,
            parent: lineage.info,
            model,
            effort,
            inherits,
            notice: texts::forked(&card.name, &fork.instructions, &forbidden),
            forbidden,
            task: wish.task.clone(),
            leave: fork.leave,
            attendance: Attendance::Person,
            heritage: lineage.heritage,
        };
        begin(&self.runtime, birth).await.map_err(failed)
    }

    /// The model a sub-agent works on.
    async fn model(&self, wanted: &ForkModel, parents: Option<ModelId>) -> Result<Worker, ToolError> {
        let models = &self.runtime.services.models;
        let other = match wanted {
            ForkModel::Same => None,
            ForkModel::Light => match self.runtime.base.preferences().light_model {
                Some(light) => models.vendor_name(light).map(|_| light),
                None => match parents {
                    Some(parents) => match models.companion(parents, CompanionRole::Light).await {
                        Ok(Companion::Connected(light)) => Some(light),
                        // Nothing is connected that the person did not connect.
                        Ok(Companion::Draft(_)) | Err(_) => None,
                    },
                    None => None,
                },
            },
            ForkModel::Named(name) => Some(models.find(name).ok_or_else(|| {
                let known = models.names().join(", ");
                ToolError::new(format!(
                    "Not begun: the skill wants the model {name}, which is not connected. Connected: {known}."
                ))
            })?),
        };
        Ok(match other {
            Some(other) if Some(other) != parents => Worker::Other(other),
            Some(_) | None => Worker::Parents,
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
            if now.end.is_some() {
                show(view, &now);
                self.tell(call, view, now.usage);
                return Some(now);
            }
            let before = view.clone();
            show(view, &now);
            if *view != before {
                self.tell(call, view, now.usage);
            }
            tokio::select! {
                biased;
                () = cancel.cancelled(), if !stopping => {
                    stopping = true;
                    let runtime = self.runtime.clone();
                    // Its actor may be busy; what it does is heard of all the same.
                    tokio::spawn(async move {
                        let handle = runtime.open.get(child).await;
                        if let Some(handle) = handle
                            && let Err(error) = handle.stop().await
                        {
                            tracing::warn!(session = %child, %error, "a sub-agent was not stopped");
                        }
                    });
                }
                changed = progress.changed() => if changed.is_err() {
                    // It could not be stored, or Octo ends.
                    return None;
                },
            }
        }
    }
}

/// Lets a sub-agent's session rest: what it left running ends, and what that changed is recorded.
pub(in crate::session) async fn let_rest(runtime: Arc<Runtime>, child: SessionId) {
    runtime.open.let_rest(child).await;
}
