//! How a sub-agent's session comes to be.

use super::{Attendance, FromParent, Lifeline, Progress};
use crate::{
    clock::now,
    prompt::Surroundings,
    session::{Runtime, attached::Attached, budget::Allowance, meter::Seen, tasks::TurnTask},
};
use octo_protocol::{
    ApiError, Block, Effort, ForkOrigin, Message, MessageId, Meta, Mode, ModelId, NoticeKind, Origin, Role,
    SessionId, SessionInfo, SessionStatus, Source, TurnId, TurnView, Usage,
};
use octo_store::{Inherits, NewFork, StoredFork};
use octo_tools::DeskLeave;
use std::sync::Arc;
use tokio::sync::watch;
use tokio_util::task::TaskTracker;

/// A sub-agent to be.
pub(in crate::session) struct Birth {
    /// Where it comes from.
    pub(in crate::session) origin: ForkOrigin,
    /// Its parent as it is now.
    pub(in crate::session) parent: SessionInfo,
    pub(in crate::session) mode: Mode,
    pub(in crate::session) model: Option<ModelId>,
    pub(in crate::session) effort: Option<Effort>,
    pub(in crate::session) inherits: Inherits,
    /// Tools it may not use, by their own names.
    pub(in crate::session) forbidden: Vec<String>,
    /// What it is told before its task.
    pub(in crate::session) notice: String,
    /// Its task; nothing where the notice says it all.
    pub(in crate::session) task: String,
    pub(in crate::session) leave: DeskLeave,
    pub(in crate::session) attendance: Attendance,
    pub(in crate::session) heritage: Heritage,
}

/// What of its parent's state it goes on with.
#[derive(Clone)]
pub(in crate::session) struct Heritage {
    pub(in crate::session) task: TurnTask,
    /// What that task is called.
    pub(in crate::session) summary: String,
    pub(in crate::session) looking: TaskTracker,
    pub(in crate::session) granted: Vec<String>,
    pub(in crate::session) allowance: Allowance,
    pub(in crate::session) attached: Attached,
    pub(in crate::session) seen: Seen,
}

/// Stores a sub-agent's session with its first turn, and opens it.
pub(in crate::session) async fn begin(
    runtime: &Arc<Runtime>,
    birth: Birth,
) -> Result<(SessionId, watch::Receiver<Progress>), ApiError> {
    let Birth { origin, parent, mode, model, effort, inherits, forbidden, notice, task, .. } = birth;
    let (id, at) = (SessionId::new(), now());
    let info = SessionInfo {
        id,
        title: origin.name.clone(),
        folder: parent.folder.clone(),
        profile: parent.profile,
        mode,
        model,
        effort,
        source: Source::SubAgent,
        pinned: false,
        status: SessionStatus::Running,
        created_at: at,
        updated_at: at,
        usage: Usage::default(),
        read_at: None,
    };
    let mut blocks = Vec::new();
    if inherits == Inherits::Nothing {
        let vendor = model.and_then(|model| runtime.services.models.vendor_name(model));
        blocks.push(Surroundings::now(vendor, parent.folder).notice());
    }
    blocks.push(Block::Notice { kind: NoticeKind::Fork, text: notice });
    let task = if task.is_empty() { "Please proceed.".to_owned() } else { task };
    blocks.push(Block::Text { text: task });
    let turn = TurnView {
        id: TurnId::new(),
        started_at: at,
        ended_at: None,
        end: None,
        usage: Usage::default(),
        undone: false,
    };
    let meta = Meta { origin: Origin::Octo, at, model: None, usage: None, end: None, via: None };
    let message = Message { id: MessageId::new(), turn: turn.id, role: Role::User, blocks, meta };
    let new = NewFork { info, fork: StoredFork { origin, forbidden }, inherits };
    let holder = runtime.base.lease.clone();
    let created = runtime.base.store.write(move |tx| {
        tx.create_fork(&new)?;
        // Ours from the first moment.
        tx.take_lease(id, &holder, octo_store::probe)?;
        tx.begin_first_turn(id, turn, std::slice::from_ref(&message))
    });
    created.await?;
    let (told, progress) = watch::channel(Progress::new());
    let Heritage { task, summary, looking, granted, allowance, attached, seen } = birth.heritage;
    let kept = FromParent { task, summary, told, leave: birth.leave, attendance: birth.attendance };
    runtime.forks.tie(id, Lifeline { kept, looking, granted, allowance, attached, seen });
    match runtime.open_session(id).await {
        Ok(_) => Ok((id, progress)),
        Err(error) => {
            runtime.forks.take(id);
            Err(error)
        }
    }
}
