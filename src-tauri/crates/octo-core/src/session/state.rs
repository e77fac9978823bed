//! The session's state and its parts.

use super::{
    Runtime,
    actor::{Actor, Reporter},
    after::LookBackState,
    attached::AttachmentMode,
    background::BackgroundCommands,
    before_call::Budget,
    compacting::Compaction,
    conversation::Conversation,
    current_turn::CurrentTurn,
    fallback::Fallback,
    file_restore::Restoring,
    grants::Grants,
    observers::Observers,
    prefix::Prefix,
    queue::Queue,
    side_call::SideCall,
    step::{Change, Step, StoreRetry},
    sub_agent::SubAgent,
    tasks::TurnRecords,
    warmth::Warmth,
    workspace::Workspace,
};
use crate::{library::SkillSet, live::LiveStreams};
use octo_browsing::BrowserSession;
use octo_protocol::{
    ApiError, Block, Event, Message, MessageId, Meta, Origin, Role, SessionId, SessionInfo, Source,
    TroubleStage, TurnId,
};
use octo_runtime::now;
use octo_tools::TodoList;
use std::sync::Arc;

/// The complete state of a session, owned by its actor. Each part owns its own state.
pub(crate) struct Session {
    pub(super) runtime: Arc<Runtime>,
    pub(super) actor: Actor,
    pub(super) live: LiveStreams,
    pub(super) info: SessionInfo,
    pub(super) prefix: Prefix,
    pub(super) conversation: Conversation,
    /// Messages that wait for the turn's next step.
    pub(super) queue: Queue,
    pub(super) background: BackgroundCommands,
    pub(super) todos: TodoList,
    /// The skills as of the last message; `None` before the first.
    pub(super) skill_set: Option<Arc<SkillSet>>,
    pub(super) grants: Grants,
    /// Its use of the browser.
    pub(super) browser_session: BrowserSession,
    pub(super) workspace: Workspace,
    pub(super) turn: CurrentTurn,
    pub(super) warmth: Warmth,
    pub(super) compaction: Compaction,
    /// The running side call, if any.
    pub(super) side_call: Option<SideCall>,
    pub(super) budget: Budget,
    pub(super) fallback: Fallback,
    pub(super) attachment_mode: AttachmentMode,
    pub(super) records: TurnRecords,
    pub(super) restoring: Restoring,
    /// Its state as a sub-agent; `None` for any other session.
    pub(super) sub_agent: Option<SubAgent>,
    pub(super) look_back_state: LookBackState,
    pub(super) observers: Observers,
}

impl Session {
    pub(super) fn id(&self) -> SessionId {
        self.info.id
    }

    /// Returns the change that stores the current head.
    pub(super) fn head(&self) -> Change {
        Change::Event(Event::SessionChanged { info: self.info.clone() })
    }

    /// Returns the scope under which this session's rules are stored; a sub-agent uses its parent's.
    pub(super) fn session_scope(&self) -> String {
        format!("session/{}", self.root())
    }

    /// Creates a message made by Octo.
    pub(super) fn message(&self, turn: TurnId, role: Role, origin: Origin, blocks: Vec<Block>) -> Message {
        let meta = Meta::new(origin, now());
        Message { id: MessageId::new(), turn, role, blocks, meta }
    }

    /// Adds a complete message to the transcript and to the model's context.
    pub(super) fn add_message(&mut self, message: Message, step: &mut Step) {
        step.event(Event::MessageAdded { message: message.clone() });
        step.change(Change::IntoContext(message.id));
        self.conversation.add(message);
    }

    /// Whether this session's model calls are counted; the demo makes no real calls.
    pub(super) fn is_counted(&self) -> bool {
        self.info.source != Source::Demo
    }

    /// Returns the reporter for this session's jobs.
    pub(super) fn reporter(&self) -> Reporter {
        self.actor.reporter()
    }

    /// Cancels the turn's calls without storing the stop.
    pub(super) fn cancel_turn(&self) {
        if let Some(turn) = self.turn.get() {
            turn.cancel();
            self.browser_session.release();
        }
    }

    /// Ends running work without ending the turn: the next start resumes it.
    pub(super) async fn release(&mut self, retry: StoreRetry) {
        // A turn that was being stopped ends here: the next start must not resume it.
        if self.turn.is_stopping()
            && let Err(error) = self.end_stopping(Step::with_retry(retry)).await
        {
            tracing::warn!(session = %self.id(), %error, "a stopped turn was not ended");
        }
        self.bill_running_calls(retry).await;
        self.actor.end();
        self.browser_session.release();
        self.workspace.shell().shutdown().await;
        self.record_last().await;
        // Until then the lease is held: a restore cannot be stopped half-way.
        self.restoring.wait().await;
        let (id, token) = (self.id(), self.runtime.base.lease.token.clone());
        let result = self.runtime.base.store.write(move |tx| tx.release_lease(id, &token)).await;
        if let Err(error) = result {
            // The next start recognises a remaining lease as dead.
            tracing::warn!(session = %id, %error, "lease not released");
        }
    }

    /// Bills the running calls: they are charged even if their answers are never read.
    async fn bill_running_calls(&mut self, retry: StoreRetry) {
        let mut step = Step::with_retry(retry);
        self.end_side_call(&mut step);
        self.bill_model_call(&mut step);
        if let Err(error) = self.finish(step).await {
            tracing::warn!(session = %self.id(), %error, "calls under way are not in the ledger");
        }
    }

    /// Notifies the session's clients that it could not be stored, and ends running work.
    pub(super) async fn report_fault(&mut self, error: ApiError, retry: StoreRetry) {
        self.runtime.troubles.begin(self.id(), error, TroubleStage::Ended);
        self.release(retry).await;
    }
}
