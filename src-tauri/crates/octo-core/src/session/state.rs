//! The session's state, and the one way it is stored.

use super::{
    Inbox, Report,
    calls::OpenCall,
    model_call::{Attempt, ModelCall},
};
use crate::{live::Live, shared::Shared, turn::Turn};
use octo_protocol::{
    ApiError, Block, CallId, Event, Message, MessageId, Meta, Millis, Origin, Question, Queued, Role, Rule,
    SessionId, SessionInfo, SessionStatus, Source, ToolResult, Topic, TurnId, TurnView, Usage,
};
use octo_shell::Shell;
use octo_store::UsageRow;
use octo_tools::TodoList;
use octo_workspace::Files;
use std::{path::PathBuf, sync::Arc};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Everything a session is. Owned by its actor.
pub(crate) struct Session {
    pub(super) shared: Arc<Shared>,
    pub(super) inbox: mpsc::UnboundedSender<Inbox>,
    pub(super) live: Live,
    pub(super) info: SessionInfo,
    /// The frozen prefix: see `crate::prompt`.
    pub(super) system: Arc<str>,
    pub(super) tools: Arc<[octo_llm::ToolSchema]>,
    /// What the model sees. Only ever appended to within a generation.
    pub(super) context: Vec<Message>,
    pub(super) queue: Vec<Queued>,
    pub(super) todos: TodoList,
    pub(super) rules: Vec<Rule>,
    pub(super) folder: PathBuf,
    pub(super) scratch: PathBuf,
    /// Where its shell keeps what is its own; see [`Shared::shell_place`].
    pub(super) shell_place: PathBuf,
    pub(super) files: Files,
    pub(super) shell: Shell,
    /// Cancelled when the actor ends; parent of every turn's token.
    pub(super) ending: CancellationToken,
    pub(super) running: Option<Running>,
    /// Who is told when no turn runs any more.
    pub(super) waiting_for_idle: Vec<super::Reply<()>>,
}

/// The turn that runs or waits.
pub(crate) struct Running {
    pub(super) machine: Turn,
    pub(super) view: TurnView,
    pub(super) cancel: CancellationToken,
    pub(super) model: Option<ModelCall>,
    /// A model call that waits for its next try.
    pub(super) pause: Option<Attempt>,
    /// The calls of the open batch, in order.
    pub(super) calls: Vec<OpenCall>,
    pub(super) questions: Vec<Question>,
    /// Why the last model call failed for good, for the turn's end.
    pub(super) failure: Option<ApiError>,
}

/// Something to be stored. All changes of one step are one transaction.
pub(crate) enum Change {
    /// An event of the session, projected onto the tables by the store.
    Event(Event),
    /// The message is part of what the model sees.
    IntoContext(MessageId),
    /// The message no longer is.
    OutOfContext(MessageId),
    /// A call's result, before the message that carries it.
    Result(ToolResult),
    /// A standing permission, for the folder or for this session.
    Rule { scope: String, rule: Rule },
    /// What a model call cost.
    Usage(Box<UsageRow>),
}

impl Session {
    pub(super) fn id(&self) -> SessionId {
        self.info.id
    }

    /// Stores the changes of one step in one transaction, with the head's line if it changed.
    pub(super) async fn commit(&mut self, mut changes: Vec<Change>) -> Result<(), ApiError> {
        let status = self.status();
        if status != self.info.status {
            self.info.status = status;
            self.push_head(&mut changes);
        }
        if changes.is_empty() {
            return Ok(());
        }
        let id = self.id();
        let stored = self.shared.store.write(move |tx| {
            for change in changes {
                match change {
                    Change::Event(event) => {
                        let head = match &event {
                            Event::SessionChanged { info } => Some(info.clone()),
                            _ => None,
                        };
                        tx.emit(Topic::Session { id }, event)?;
                        if let Some(info) = head {
                            tx.emit(Topic::Sessions, Event::SessionListed { info })?;
                        }
                    }
                    Change::IntoContext(message) => tx.append_context(id, message)?,
                    Change::OutOfContext(message) => tx.drop_from_context(id, message)?,
                    Change::Result(result) => tx.set_call(result.call, &result)?,
                    Change::Rule { scope, rule } => tx.add_rule(&scope, &rule)?,
                    Change::Usage(row) => tx.add_usage(*row)?,
                }
            }
            Ok(())
        });
        stored.await.map_err(ApiError::from)?;
        if self.running.is_none() {
            for waiting in self.waiting_for_idle.drain(..) {
                // One that no longer waits needs no word.
                let _gone = waiting.send(Ok(()));
            }
        }
        Ok(())
    }

    /// Adds the head, as it is now, to the changes.
    pub(super) fn push_head(&self, changes: &mut Vec<Change>) {
        changes.push(Change::Event(Event::SessionChanged { info: self.info.clone() }));
    }

    fn status(&self) -> SessionStatus {
        match &self.running {
            Some(running) if running.questions.is_empty() => SessionStatus::Running,
            Some(_) => SessionStatus::Waiting,
            None if self.info.status == SessionStatus::Failed => SessionStatus::Failed,
            None => SessionStatus::Idle,
        }
    }

    /// The rules of the folder and of this session are kept under these names.
    pub(super) fn session_scope(&self) -> String {
        format!("session/{}", self.id())
    }

    /// A message of Octo's own making.
    pub(super) fn message(&self, turn: TurnId, role: Role, origin: Origin, blocks: Vec<Block>) -> Message {
        let meta = Meta { origin, at: now(), model: None, usage: None, end: None };
        Message { id: MessageId::new(), turn, role, blocks, meta }
    }

    /// Adds a whole message to the transcript and to what the model sees.
    pub(super) fn add_message(&mut self, message: Message, changes: &mut Vec<Change>) {
        changes.push(Change::Event(Event::MessageAdded { message: message.clone() }));
        changes.push(Change::IntoContext(message.id));
        self.context.push(message);
    }

    /// Whether this session's model calls are counted: the demo's are no model calls.
    pub(super) fn is_counted(&self) -> bool {
        self.info.source != Source::Demo
    }

    /// A job reports to this session's actor; one that is gone needs no report.
    pub(super) fn reporter(&self) -> impl Fn(Report) + Clone + Send + Sync + 'static {
        let inbox = self.inbox.clone();
        move |report| {
            let _gone = inbox.send(Inbox::Report(Box::new(report)));
        }
    }

    /// Ends what runs without ending the turn: the next start goes on with it.
    pub(super) async fn let_go(&mut self) {
        // A turn that was being stopped ends here: the next start must not go on with it.
        if self.is_stopping()
            && let Err(error) = self.end_stopping().await
        {
            tracing::warn!(session = %self.id(), %error, "a stopped turn was not ended");
        }
        self.ending.cancel();
        self.shell.shutdown().await;
        let (id, token) = (self.id(), self.shared.lease.token.clone());
        let released = self.shared.store.write(move |tx| tx.release_lease(id, &token)).await;
        if let Err(error) = released {
            // A lease that stays is found dead by the next start.
            tracing::warn!(session = %id, %error, "lease not released");
        }
    }

    /// Whether the person pressed Stop and the turn has not ended yet.
    pub(super) fn is_stopping(&self) -> bool {
        self.running.as_ref().is_some_and(|running| running.machine.is_stopping())
    }

    /// Tells whoever watches that the session could not be stored, and lets go.
    pub(super) async fn fault(&mut self, error: ApiError) {
        // Nobody watching is no fault of its own.
        let _nobody = self.shared.faults.send((self.id(), error));
        self.let_go().await;
    }
}

impl Running {
    pub(super) fn call(&mut self, id: CallId) -> Option<&mut OpenCall> {
        self.calls.iter_mut().find(|call| call.call.id == id)
    }

    pub(super) fn add_usage(&mut self, usage: Usage) {
        self.view.usage += usage;
    }
}

/// Now, as it is stored.
pub(crate) fn now() -> Millis {
    jiff::Timestamp::now().as_millisecond()
}
