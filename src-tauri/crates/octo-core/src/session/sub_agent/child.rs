//! The state of a session that is a sub-agent: the part it shares with its parent, and its reports to the
//! parent.
//!
//! It works in its parent's folder, by its parent's rules and for its parent's turn: its file changes belong to
//! the step of the parent's turn. It has one turn. After that the session can only be read. A turn that an
//! earlier process left open ends as stopped, because no parent waits for its summary any more.

use super::Progress;
use crate::{
    builtin::{BuiltinReport, Client, ReportRecipient},
    session::{
        attached::AttachmentMode,
        before_call::{Allowance, Budget},
        meter::SentRequests,
        state::Session,
        tasks::{TurnRecords, TurnStep},
    },
};
use octo_protocol::{ApiError, BilledCall, Message, SessionId, SubAgentOrigin, TurnEnd, TurnId};
use octo_store::StoredSubAgent;
use octo_tools::{BuiltinGrant, INVOKE_SKILL};
use std::sync::Arc;
use tokio::sync::{mpsc, watch};
use tokio_util::task::TaskTracker;

/// Tools no sub-agent may use: it starts no sub-agents and does not undo its parent's turn.
const FORBIDDEN_TOOLS: &[&str] = &[INVOKE_SKILL, "undo_task", "redo_task"];

/// The sub-agent part of a session's state.
pub(in crate::session) struct SubAgent {
    origin: SubAgentOrigin,
    forbidden_tools: Arc<[String]>,
    /// `None` once no parent waits for it: after a restart.
    link: Option<Link>,
}

/// The state a parent hands to a sub-agent's session at its start.
pub(crate) struct ParentLink {
    state: ParentState,
    link: Link,
}

/// The parent's state that a sub-agent starts with.
#[derive(Clone)]
pub(in crate::session) struct ParentState {
    task: TurnStep,
    /// The summary of the parent's step.
    summary: String,
    /// Tracks the scans for changes of ended commands; the parent's step waits for them.
    change_scans: TaskTracker,
    /// Sites the person granted to the parent's turn.
    granted: Vec<String>,
    allowance: Allowance,
    attachment_mode: AttachmentMode,
    sent_requests: SentRequests,
}

/// The connection of a sub-agent to its parent for the session's life.
struct Link {
    task: TurnStep,
    summary: String,
    /// The built-in commands it may run without asking. Never stored: after a restart it has no such grant.
    builtin_grant: BuiltinGrant,
    attendance: Attendance,
    progress: Progress,
    reports: watch::Sender<Progress>,
}

/// Who answers a sub-agent's questions.
#[derive(Clone)]
pub(in crate::session) enum Attendance {
    /// The user answers; the card shows the sub-agent as waiting.
    Person,
    /// No person answers. Calls that would ask are refused; reports of the effects of its built-in commands are
    /// sent here.
    Unattended(mpsc::UnboundedSender<BuiltinReport>),
}

impl ParentLink {
    /// Creates the link of a new sub-agent, and the receiver of its progress for the parent.
    pub(super) fn new(
        state: ParentState,
        grant: BuiltinGrant,
        attendance: Attendance,
    ) -> (Self, watch::Receiver<Progress>) {
        let (reports, progress) = watch::channel(Progress::new());
        let (task, summary) = (state.task.clone(), state.summary.clone());
        let link =
            Link { task, summary, builtin_grant: grant, attendance, progress: Progress::new(), reports };
        (Self { state, link }, progress)
    }
}

impl SubAgent {
    /// Restores the sub-agent part of a stored session.
    pub(in crate::session) fn new(stored: StoredSubAgent) -> Self {
        let forbidden_tools =
            FORBIDDEN_TOOLS.iter().map(|name| (*name).to_owned()).chain(stored.forbidden).collect();
        Self { origin: stored.origin, forbidden_tools, link: None }
    }

    /// Returns the parent and the call that started it.
    pub(in crate::session) fn origin(&self) -> &SubAgentOrigin {
        &self.origin
    }
}

impl Session {
    /// Returns the state that a sub-agent of a turn starts with.
    pub(in crate::session) fn parent_state(
        &self,
        task: TurnStep,
        summary: String,
        granted: Vec<String>,
    ) -> ParentState {
        ParentState {
            task,
            summary,
            change_scans: self.records.scans(),
            granted,
            allowance: self.budget.allowance().clone(),
            attachment_mode: self.attachment_mode,
            sent_requests: self.warmth.sent_requests().clone(),
        }
    }

    /// Takes over the parent's state, if the sub-agent begins now.
    pub(in crate::session) fn inherit(&mut self, parent: ParentLink) {
        let ParentLink { state, link } = parent;
        self.records = TurnRecords::with_scans(state.change_scans);
        self.grants.inherit_sites(state.granted);
        self.budget = Budget::inherited(state.allowance);
        self.attachment_mode = state.attachment_mode;
        self.warmth.inherit(state.sent_requests);
        if let Attendance::Unattended(_) = link.attendance {
            self.workspace.limit_to_drafts(&self.runtime);
        }
        if let Some(sub_agent) = &mut self.sub_agent {
            sub_agent.link = Some(link);
        }
    }

    /// Returns the session that owns the step of the time machine: this one or its parent.
    pub(in crate::session) fn root(&self) -> SessionId {
        self.sub_agent.as_ref().map_or(self.id(), |sub_agent| sub_agent.origin.session)
    }

    /// Returns the turn that owns the step.
    pub(in crate::session) fn root_turn(&self, own_turn: TurnId) -> TurnId {
        self.sub_agent.as_ref().map_or(own_turn, |sub_agent| sub_agent.origin.turn)
    }

    /// Returns the tools that are refused here, whatever the decision about their calls.
    pub(in crate::session) fn forbidden_tools(&self) -> Arc<[String]> {
        self.sub_agent.as_ref().map_or_else(|| Arc::from([]), |sub_agent| sub_agent.forbidden_tools.clone())
    }

    fn link(&self) -> Option<&Link> {
        self.sub_agent.as_ref()?.link.as_ref()
    }

    /// Returns the grant for built-in commands that may run without asking.
    pub(in crate::session) fn builtin_grant(&self) -> BuiltinGrant {
        self.link().map_or(BuiltinGrant::Ask, |link| link.builtin_grant)
    }

    /// Whether no person answers its questions.
    pub(in crate::session) fn is_unattended(&self) -> bool {
        self.link().is_some_and(|link| matches!(link.attendance, Attendance::Unattended(_)))
    }

    /// Returns the client on whose behalf its calls use the built-in commands.
    pub(in crate::session) fn client(&self) -> Client {
        let turn = self.turn.id().map(|turn| self.root_turn(turn));
        let witness = match self.link().map(|link| &link.attendance) {
            Some(Attendance::Unattended(sender)) => ReportRecipient::Channel(sender.clone()),
            Some(Attendance::Person) | None => ReportRecipient::None,
        };
        Client { turn, recipient: witness }
    }

    /// Returns the step of a turn that begins or resumes.
    pub(in crate::session) fn turn_task(&self, turn: TurnId) -> TurnStep {
        self.link().map_or_else(|| TurnStep::new(self, turn), |link| link.task.clone())
    }

    /// Returns the step's summary for a sub-agent: that of its parent's turn.
    pub(in crate::session) fn summary_of_parent(&self) -> Option<&str> {
        Some(&self.link()?.summary)
    }

    /// Fails for a sub-agent: it has one turn, and permanent changes of a session belong to its parent.
    pub(in crate::session) fn check_owned_here(&self) -> Result<(), ApiError> {
        match &self.sub_agent {
            Some(sub_agent) => Err(ApiError::new("fork.belongs").arg("title", &sub_agent.origin.title)),
            None => Ok(()),
        }
    }

    fn progress(&mut self) -> Option<&mut Progress> {
        Some(&mut self.sub_agent.as_mut()?.link.as_mut()?.progress)
    }

    /// Records an answer of the model.
    pub(in crate::session) fn record_step(&mut self, message: &Message) {
        if let Some(progress) = self.progress() {
            progress.record_answer(message);
        }
    }

    /// Records the start of a call to the tool with this name.
    pub(in crate::session) fn record_call(&mut self, tool: &str) {
        if let Some(progress) = self.progress() {
            progress.record_call(tool);
        }
    }

    /// Records a billed model call.
    pub(in crate::session) fn record_bill(&mut self, call: &BilledCall) {
        if let Some(progress) = self.progress() {
            progress.record_bill(call);
        }
    }

    /// Records the end of the turn. The parent learns of it once it is stored.
    pub(in crate::session) fn record_end(&mut self, turn: TurnId, end: &TurnEnd) {
        if self.sub_agent.is_none() {
            return;
        }
        let last_words = self.conversation.last_answer(turn).unwrap_or_default();
        if let Some(progress) = self.progress() {
            progress.record_end(end.clone(), last_words);
        }
    }

    /// Reports the stored progress to the parent.
    pub(in crate::session) fn tell_parent(&mut self) {
        let (status, acts) = (self.info.status, self.turn.get().is_some_and(|turn| turn.batch.has_started()));
        let Some(link) = self.sub_agent.as_mut().and_then(|sub_agent| sub_agent.link.as_mut()) else {
            return;
        };
        link.progress.set_stored(status, acts);
        let now = link.progress.clone();
        link.reports.send_if_modified(|progress| {
            let changed = *progress != now;
            *progress = now;
            changed
        });
    }
}
