//! Makes a sub-agent: stores its session with its first turn, and opens it.

use super::{Attendance, ParentLink, ParentState, Progress, prompt};
use crate::{builtin::BuiltinReport, prompt::Surroundings, session::Runtime};
use octo_protocol::{
    ApiError, Block, Effort, Message, MessageId, Meta, Mode, ModelId, NoticeKind, Origin, Role, SessionId,
    SessionInfo, SessionStatus, Source, SubAgentOrigin, TurnId, TurnView,
};
use octo_runtime::now;
use octo_store::{InheritedContext, NewSubAgent, StoredSubAgent};
use octo_tools::BuiltinGrant;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// A sub-agent to create.
pub(in crate::session) struct SubAgentSpec {
    /// The session and call that start it.
    origin: SubAgentOrigin,
    /// The parent's current state.
    parent: SessionInfo,
    state: ParentState,
    mode: Mode,
    model: Option<ModelId>,
    effort: Option<Effort>,
    inherited: InheritedContext,
    /// Tools it may not use, by their canonical names.
    forbidden_tools: Vec<String>,
    /// The notice before its task.
    notice: String,
    task: String,
    builtin_grant: BuiltinGrant,
    attendance: Attendance,
}

impl SubAgentSpec {
    /// Creates a sub-agent on its parent's model and in its mode, with this notice and this part of the
    /// conversation. The person answers its questions.
    pub(in crate::session) fn new(
        origin: SubAgentOrigin,
        parent: SessionInfo,
        state: ParentState,
        inherits: InheritedContext,
        notice: String,
    ) -> Self {
        Self {
            origin,
            mode: parent.mode,
            model: parent.model,
            effort: parent.effort,
            parent,
            state,
            inherited: inherits,
            forbidden_tools: Vec::new(),
            notice,
            task: prompt::PROCEED.to_owned(),
            builtin_grant: BuiltinGrant::Ask,
            attendance: Attendance::Person,
        }
    }

    /// Sets another model and its reasoning effort.
    pub(in crate::session) fn on_model(mut self, model: Option<ModelId>, effort: Option<Effort>) -> Self {
        (self.model, self.effort) = (model, effort);
        self
    }

    /// Forbids tools, given by their canonical names.
    pub(in crate::session) fn without_tools(mut self, forbidden: Vec<String>) -> Self {
        self.forbidden_tools = forbidden;
        self
    }

    /// Sets a task, unless it is empty and the notice contains all instructions.
    pub(in crate::session) fn with_task(mut self, task: &str) -> Self {
        if !task.is_empty() {
            task.clone_into(&mut self.task);
        }
        self
    }

    /// Sets the grant for built-in commands that may run without asking.
    pub(in crate::session) fn with_grant(mut self, grant: BuiltinGrant) -> Self {
        self.builtin_grant = grant;
        self
    }

    /// Makes it unattended: no person answers its questions, so it works in the strictest mode, and calls that
    /// would ask are refused.
    pub(in crate::session) fn unattended(mut self, reports: mpsc::UnboundedSender<BuiltinReport>) -> Self {
        self.mode = Mode::Ask;
        self.attendance = Attendance::Unattended(reports);
        self
    }
}

/// Stores a sub-agent's session with its first turn and opens it.
pub(in crate::session) async fn spawn(
    runtime: &Arc<Runtime>,
    new: SubAgentSpec,
) -> Result<(SessionId, watch::Receiver<Progress>), ApiError> {
    let SubAgentSpec {
        origin, parent, mode, model, effort, inherited, forbidden_tools, notice, task, ..
    } = new;
    let (id, created_at) = (SessionId::new(), now());
    let info = SessionInfo {
        title: origin.name.clone(),
        profile: parent.profile,
        mode,
        model,
        effort,
        status: SessionStatus::Running,
        ..SessionInfo::new(id, parent.folder.clone(), Source::SubAgent, created_at)
    };
    let mut blocks = Vec::new();
    if inherited == InheritedContext::Nothing {
        let vendor = model.and_then(|model| runtime.services.models.vendor_name(model));
        blocks.push(Surroundings::now(vendor, parent.folder).notice());
    }
    blocks.push(Block::Notice { kind: NoticeKind::Fork, text: notice });
    blocks.push(Block::Text { text: task });
    let turn = TurnView::new(TurnId::new(), created_at);
    let meta = Meta::new(Origin::Octo, created_at);
    let message = Message { id: MessageId::new(), turn: turn.id, role: Role::User, blocks, meta };
    let new_sub_agent = NewSubAgent {
        info,
        link: StoredSubAgent { origin, forbidden: forbidden_tools },
        inherits: inherited,
    };
    let holder = runtime.base.lease.clone();
    let created = runtime.base.store.write(move |tx| {
        tx.create_sub_agent(&new_sub_agent)?;
        // This process owns it from the first moment.
        tx.take_lease(id, &holder, octo_store::probe)?;
        tx.begin_first_turn(id, turn, std::slice::from_ref(&message))
    });
    created.await?;
    let (link, progress) = ParentLink::new(new.state, new.builtin_grant, new.attendance);
    runtime.sub_agents.store_link(id, link);
    match runtime.open_session(id).await {
        Ok(_) => Ok((id, progress)),
        Err(error) => {
            runtime.sub_agents.take_link(id);
            Err(error)
        }
    }
}
