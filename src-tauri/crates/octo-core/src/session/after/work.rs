//! The sub-agents that look back at a turn, one after the other.

use super::{LookBackResult, LookBackSignals, MemoryUpdateState};
use crate::{
    builtin::BuiltinReport,
    session::{
        Runtime,
        state::Session,
        sub_agent::{ParentState, Progress, SubAgentSpec, spawn},
        warmth::Moment,
    },
};
use futures::future::BoxFuture;
use octo_protocol::{
    ApiError, CallId, MessageId, ModelId, SessionId, SessionInfo, SkillOrigin, SubAgentOrigin, Switch,
    TurnEnd, TurnId,
};
use octo_store::InheritedContext;
use octo_tools::BuiltinGrant;
use std::{path::PathBuf, sync::Arc};
use tokio::sync::{mpsc, watch};

const REMEMBER: &str = include_str!("../../prompt/remember.md");
const REFLECT: &str = include_str!("../../prompt/reflect.md");
const PROPOSE: &str = include_str!("../../prompt/propose.md");

/// Maximum number of answers of a sub-agent here. A longer one has left its assignment.
const MOST_STEPS: u32 = 16;

/// The purpose of a look back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LookBackAim {
    /// To find something to remember.
    Remember,
    /// To improve this skill.
    Reflect(String),
    /// To propose a new skill.
    Propose,
}

/// A look back at a turn.
pub(super) struct LookBackRun {
    runtime: Arc<Runtime>,
    parent: SessionInfo,
    turn: TurnId,
    model: ModelId,
    /// The last message of the conversation at that time.
    last: MessageId,
    folder: PathBuf,
    /// Folder in which proposals are drafted before they are made.
    drafts: PathBuf,
    calls: LookBackSignals,
    state: ParentState,
}

/// The result of one sub-agent.
struct LookBackOutcome {
    reports: Vec<BuiltinReport>,
    progress: Option<Progress>,
}

impl LookBackSignals {
    fn is_ended(&self) -> bool {
        self.yield_soon.is_cancelled() || self.end_now.is_cancelled()
    }
}

impl LookBackAim {
    /// Returns the name of its sub-agent.
    fn name(&self) -> &'static str {
        match self {
            Self::Remember => "remember",
            Self::Reflect(_) => "reflect",
            Self::Propose => "propose",
        }
    }

    fn grant(&self) -> BuiltinGrant {
        match self {
            Self::Remember => BuiltinGrant::Memories,
            Self::Reflect(_) | Self::Propose => BuiltinGrant::Proposals,
        }
    }

    /// Returns the tools it works with.
    fn tools(&self) -> &'static [&'static str] {
        match self {
            Self::Remember => &["terminal"],
            Self::Reflect(_) | Self::Propose => &["terminal", "write"],
        }
    }

    fn instructions(&self, drafts: &str) -> String {
        match self {
            Self::Remember => REMEMBER.to_owned(),
            Self::Reflect(name) => REFLECT.replace("{name}", name).replace("{folder}", drafts),
            Self::Propose => PROPOSE.replace("{folder}", drafts),
        }
    }
}

impl LookBackRun {
    /// Creates a look back at a turn of this session, with the current model and the last message it sees.
    pub(super) fn new(
        session: &Session,
        turn: TurnId,
        (model, last_message): (ModelId, MessageId),
        state: ParentState,
        calls: LookBackSignals,
    ) -> Self {
        Self {
            runtime: session.runtime.clone(),
            parent: session.info.clone(),
            turn,
            model,
            last: last_message,
            folder: session.workspace.folder().to_owned(),
            drafts: session.workspace.scratch().join("drafts"),
            calls,
            state,
        }
    }

    /// Runs the look back. Never fails: errors are logged and leave the conversation as it was.
    pub(super) fn run(self, aims: Vec<LookBackAim>) -> BoxFuture<'static, LookBackResult> {
        Box::pin(async move { self.run_all(aims).await })
    }

    async fn run_all(&self, aims: Vec<LookBackAim>) -> LookBackResult {
        let mut result = LookBackResult {
            turn: self.turn,
            remembered: Vec::new(),
            warm_since: None,
            memory: MemoryUpdateState::UpToDate,
        };
        for aim in aims {
            // The person withdrew it or rejects proposals for this skill, so the request would be wasted money.
            if !self.is_worth_asking(&aim).await {
                continue;
            }
            let since = Moment::now();
            let outcome = self.run_aim(&aim).await;
            let finished = match outcome {
                Ok(Some(outcome)) => {
                    if outcome.progress.as_ref().is_some_and(|progress| progress.steps() > 0) {
                        result.warm_since = Some(since);
                    }
                    self.record_cost(&outcome).await;
                    result.remembered.extend(outcome.reports.into_iter().filter_map(|report| match report {
                        BuiltinReport::MemoryWritten(file) => Some(file),
                        BuiltinReport::SkillProposed(_) => None,
                    }));
                    outcome.progress
                }
                Ok(None) => None,
                Err(error) => {
                    tracing::warn!(session = %self.parent.id, %error, "a look back did not begin");
                    break;
                }
            };
            if aim == LookBackAim::Remember {
                // Only an interruption by the person makes it due again; a failed or stopped one is dropped.
                let was_cut = self.calls.yield_soon.is_cancelled() && !self.calls.end_now.is_cancelled();
                let turn_end = finished.as_ref().and_then(Progress::end);
                let is_complete = turn_end.is_some_and(|(turn_end, _)| *turn_end == TurnEnd::Finished);
                result.memory = if was_cut && !is_complete {
                    MemoryUpdateState::Due
                } else {
                    MemoryUpdateState::UpToDate
                };
            }
        }
        result.remembered.dedup();
        result
    }

    async fn is_worth_asking(&self, aim: &LookBackAim) -> bool {
        let LookBackAim::Reflect(name) = aim else { return true };
        // For a skill of a project or another program this would create a copy among the person's own skills,
        // ranked behind the original.
        let skill_set = self.runtime.services.library.skill_set(Some(self.folder.clone())).await;
        skill_set.is_ok_and(|skill_set| {
            let skill = skill_set.catalogue.get(name);
            skill.is_some_and(|skill| {
                skill.source == SkillOrigin::User && skill_set.wants_proposals(skill) == Switch::On
            })
        })
    }

    /// Runs one sub-agent. Returns `None` if it was ended before it began.
    async fn run_aim(&self, aim: &LookBackAim) -> Result<Option<LookBackOutcome>, ApiError> {
        if self.calls.is_ended() {
            return Ok(None);
        }
        let slot = tokio::select! {
            biased;
            () = self.calls.end_now.cancelled() => return Ok(None),
            () = self.calls.yield_soon.cancelled() => return Ok(None),
            slot = self.runtime.sub_agent_slot() => slot,
        };
        let (sender, mut reports) = mpsc::unbounded_channel();
        let (child, progress) = spawn(&self.runtime, self.sub_agent(aim, sender)).await?;
        let progress = self.wait_for_end(child, progress).await;
        drop(slot);
        self.runtime.clone().close_sub_agent(child).await;
        let reports = std::iter::from_fn(|| reports.try_recv().ok()).collect();
        Ok(Some(LookBackOutcome { reports, progress }))
    }

    fn sub_agent(&self, aim: &LookBackAim, reports: mpsc::UnboundedSender<BuiltinReport>) -> SubAgentSpec {
        let origin = SubAgentOrigin {
            session: self.parent.id,
            title: self.parent.title.clone(),
            turn: self.turn,
            // A fresh id, as no call started this sub-agent.
            call: CallId::new(),
            name: aim.name().to_owned(),
        };
        let forbidden = self.runtime.services.toolset.names().filter(|name| !aim.tools().contains(name));
        let notice = aim.instructions(&self.drafts.display().to_string()).trim_end().to_owned();
        let (parent, state) = (self.parent.clone(), self.state.clone());
        SubAgentSpec::new(origin, parent, state, InheritedContext::Through(self.last), notice)
            .on_model(Some(self.model), self.parent.effort)
            .without_tools(forbidden.map(str::to_owned).collect())
            .with_grant(aim.grant())
            .unattended(reports)
    }

    /// Follows a sub-agent to the end of its turn and ends the turn if necessary.
    async fn wait_for_end(
        &self,
        session: SessionId,
        mut progress: watch::Receiver<Progress>,
    ) -> Option<Progress> {
        let mut stopping = false;
        loop {
            let now = progress.borrow_and_update().clone();
            if now.end().is_some() {
                return Some(now);
            }
            // It waits for the person, who does not know of it (for a budget, say), or it does not finish.
            let astray = now.is_waiting() || now.steps() > MOST_STEPS;
            let gives_way = self.calls.yield_soon.is_cancelled() && !now.is_acting();
            if !stopping && (astray || gives_way || self.calls.end_now.is_cancelled()) {
                stopping = true;
                self.runtime.stop_sub_agent(session);
            }
            tokio::select! {
                biased;
                changed = progress.changed() => if changed.is_err() {
                    // It could not be stored, or Octo is shutting down.
                    return None;
                },
                () = self.calls.end_now.cancelled(), if !stopping => {}
                () = self.calls.yield_soon.cancelled(), if !stopping && !now.is_acting() => {}
            }
        }
    }

    /// Records the cost of the look back with the proposal.
    async fn record_cost(&self, outcome: &LookBackOutcome) {
        let cost = outcome.progress.as_ref().and_then(|progress| progress.cost());
        let Some(cost) = cost else { return };
        for report in &outcome.reports {
            if let BuiltinReport::SkillProposed(suggestion) = report {
                self.runtime.services.library.record_cost(*suggestion, cost.as_nano_dollars()).await;
            }
        }
    }
}
