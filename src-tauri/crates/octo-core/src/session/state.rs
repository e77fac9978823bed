//! The session's state, and the one way it is stored.

use super::{
    Calls, Inbox, Report, Runtime,
    after::{After, Course},
    attached::Attached,
    background::Background,
    budget::{Allowance, Next},
    calls::OpenCall,
    compacting::{Restraint, Swap},
    entry::Entrance,
    fallback::Fallback,
    idle::Pause,
    journey::Away,
    meter::Seen,
    model_call::{Attempt, ModelCall},
    side_call::SideCall,
    sub_agent::{Forked, ForksOfTurn},
    tasks::{Ending, TurnTask, Watch},
};
use crate::{
    activity::Entry, browsing::Seat, clock::now, compaction::Size, library::Shelf, live::Live, turn::Turn,
};
use octo_llm::ModelCard;
use octo_protocol::{
    ApiError, Block, BudgetStop, CallId, Event, Message, MessageId, Meta, Origin, Question, QuestionId,
    Queued, Role, Rule, SessionId, SessionInfo, SessionStatus, Source, ToolResult, Topic, TroubleStage,
    TurnId, TurnView, Usage,
};
use octo_shell::Shell;
use octo_store::{StoreError, Tx};
use octo_tools::TodoList;
use octo_workspace::Files;
use std::{collections::HashSet, path::PathBuf, sync::Arc, time::Duration};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The first wait before what could not be stored is tried again; it doubles up to [`LONGEST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_millis(250);
/// The longest wait: soon enough for somebody who just made room.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Everything a session is. Owned by its actor.
pub(crate) struct Session {
    pub(super) runtime: Arc<Runtime>,
    pub(super) inbox: mpsc::UnboundedSender<Inbox>,
    pub(super) live: Live,
    pub(super) info: SessionInfo,
    /// The sessions its conversation was branched from, nearest first.
    pub(super) ancestors: Vec<SessionId>,
    /// The frozen prefix: see `crate::prompt`.
    pub(super) system: Arc<str>,
    pub(super) tools: Arc<[octo_llm::ToolSchema]>,
    /// What the model sees. Only ever appended to within a generation.
    pub(super) context: Vec<Message>,
    pub(super) queue: Vec<Queued>,
    pub(super) background: Background,
    pub(super) todos: TodoList,
    /// The skills as they were with the last message; none before the first.
    pub(super) shelf: Option<Arc<Shelf>>,
    pub(super) rules: Vec<Rule>,
    /// Sites the person granted to the task that runs: its turn, and turns that go on with it.
    pub(super) granted_sites: Vec<String>,
    /// Where it works in the browser.
    pub(super) seat: Seat,
    pub(super) folder: PathBuf,
    pub(super) scratch: PathBuf,
    /// Where its shell keeps what is its own; see `HomePaths::shell`.
    pub(super) shell_place: PathBuf,
    pub(super) files: Files,
    pub(super) shell: Shell,
    /// Cancelled when the actor ends; parent of every turn's token.
    pub(super) ending: CancellationToken,
    pub(super) running: Option<Running>,
    pub(super) seen: Seen,
    pub(super) size: Size,
    /// The call beside the conversation, if one runs.
    pub(super) side: Option<SideCall>,
    pub(super) swap: Option<Swap>,
    pub(super) restraint: Restraint,
    /// What is known of the model that was asked last.
    pub(super) card: Option<Arc<ModelCard>>,
    pub(super) pause: Pause,
    pub(super) allowance: Allowance,
    pub(super) fallback: Fallback,
    pub(super) attached: Attached,
    pub(super) watch: Watch,
    pub(super) task_ending: Option<Ending>,
    /// Files are being put back: nothing may work with them.
    pub(super) away: Option<Away>,
    /// What is asked of it while it cannot listen.
    pub(super) calls: Calls,
    pub(super) patience: Patience,
    /// What it is as a sub-agent; none for every other session.
    pub(super) fork: Option<Forked>,
    /// What is done with a turn after it.
    pub(super) after: After,
    /// Who is told when no turn runs any more.
    pub(super) waiting_for_idle: Vec<super::Reply<()>>,
    /// Where it says what it does.
    pub(super) entry: Entry,
    /// The letter of a chat service that the answer to a question came in, until that is stored.
    pub(super) letter: Option<i64>,
}

/// Whether what cannot be stored now is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    /// It fails: nothing is lost, and whoever asked hears why.
    None,
    /// It waits for room.
    Unlimited,
}

/// The turn that runs or waits.
pub(crate) struct Running {
    pub(super) machine: Turn,
    pub(super) view: TurnView,
    pub(super) task: TurnTask,
    /// How it went so far, for what comes after it.
    pub(super) course: Course,
    pub(super) cancel: CancellationToken,
    pub(super) entrance: Entrance,
    pub(super) model: Option<ModelCall>,
    /// A model call that waits for its next try.
    pub(super) pause: Option<Attempt>,
    /// The calls of the open batch, in order.
    pub(super) calls: Vec<OpenCall>,
    pub(super) questions: Vec<Question>,
    /// Its sub-agents.
    pub(super) forks: ForksOfTurn,
    /// Questions the person said yes to whose calls are being read again; see `super::questions`.
    pub(super) answered: HashSet<QuestionId>,
    /// What was spent is being looked up; a model call follows.
    pub(super) checking: Option<(MessageId, Next)>,
    /// A budget is used up and the person is asked.
    pub(super) budget: Option<(BudgetStop, Next)>,
    /// How often the provider said that the conversation is too long.
    pub(super) overflows: u32,
    /// What its task is called, once the message it is called after left the context.
    pub(super) summary: Option<String>,
    /// Why the last model call failed for good, for the turn's end.
    pub(super) failure: Option<ApiError>,
}

/// Something to be stored. All changes of one step are one transaction.
#[expect(clippy::large_enum_variant, reason = "a step has a handful of them, nearly all events")]
pub(crate) enum Change {
    /// An event of the session, projected onto the tables by the store.
    Event(Event),
    /// The message is part of what the model sees.
    IntoContext(MessageId),
    /// What the model sees is replaced by these messages.
    NewContext(Vec<MessageId>),
    /// The message no longer is.
    OutOfContext(MessageId),
    /// A call's result, before the message that carries it.
    Result(ToolResult),
    /// A standing permission, for the folder or for this session.
    Rule { scope: String, rule: Rule },
    /// What came in this letter of a chat service is stored with the rest.
    LetterDone(i64),
}

impl Session {
    pub(super) fn id(&self) -> SessionId {
        self.info.id
    }

    /// Stores the changes of one step in one transaction, with the head's line if it changed.
    pub(super) async fn commit(&mut self, mut changes: Vec<Change>) -> Result<(), ApiError> {
        let status = self.status();
        self.keep_place(status);
        if status != self.info.status {
            self.info.status = status;
            self.push_head(&mut changes);
        }
        if changes.is_empty() {
            self.tell_board();
            return Ok(());
        }
        self.store(Arc::new(changes)).await?;
        self.tell_parent();
        self.tell_board();
        if self.running.is_none() {
            for waiting in self.waiting_for_idle.drain(..) {
                // One that no longer waits needs no word.
                let _gone = waiting.send(Ok(()));
            }
        }
        Ok(())
    }

    /// Stores changes. While there is no room, or another process is in the way, they are held and tried
    /// again for as long as it takes, when they are of work under way: that was paid for, and cannot be had
    /// again. What a person asks of an idle session fails at once instead.
    async fn store(&mut self, changes: Arc<Vec<Change>>) -> Result<(), ApiError> {
        let id = self.id();
        let mut wait = FIRST_WAIT;
        loop {
            let attempt = Arc::clone(&changes);
            let error = match self.runtime.base.store.write(move |tx| write(tx, id, &attempt)).await {
                Ok(()) if wait > FIRST_WAIT => {
                    self.runtime.troubles.over(id);
                    return Ok(());
                }
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            let may_pass = matches!(error, StoreError::Full | StoreError::Busy);
            let error = ApiError::from(error);
            if !may_pass || self.patience == Patience::None {
                return Err(error);
            }
            if wait == FIRST_WAIT {
                tracing::warn!(session = %id, %error, "session waits until it can be stored");
            }
            self.runtime.troubles.begin(id, error.clone(), TroubleStage::Waiting);
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.calls.closing.cancelled() => return Err(error),
                // Taken when this is stored; until then nothing more must happen.
                () = self.calls.stop_pressed(), if !self.is_cancelled() => self.cancel_running(),
            }
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    fn is_cancelled(&self) -> bool {
        self.running.as_ref().is_none_or(|running| running.cancel.is_cancelled())
    }

    fn cancel_running(&self) {
        if let Some(running) = &self.running {
            running.cancel.cancel();
            self.seat.let_go();
        }
    }

    /// Adds the head, as it is now, to the changes.
    pub(super) fn push_head(&self, changes: &mut Vec<Change>) {
        changes.push(Change::Event(Event::SessionChanged { info: self.info.clone() }));
    }

    fn status(&self) -> SessionStatus {
        match &self.running {
            Some(running)
                if running.questions.is_empty()
                    && running.budget.is_none()
                    && !running.has_waiting_fork() =>
            {
                SessionStatus::Running
            }
            Some(_) => SessionStatus::Waiting,
            None if self.info.status == SessionStatus::Failed => SessionStatus::Failed,
            None => SessionStatus::Idle,
        }
    }

    /// The rules of the folder and of this session are kept under these names; a sub-agent's are its parent's.
    pub(super) fn session_scope(&self) -> String {
        format!("session/{}", self.root())
    }

    /// A message of Octo's own making.
    pub(super) fn message(&self, turn: TurnId, role: Role, origin: Origin, blocks: Vec<Block>) -> Message {
        let meta = Meta { origin, at: now(), model: None, usage: None, end: None, via: None };
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
        self.bill_what_runs().await;
        self.ending.cancel();
        self.seat.let_go();
        self.shell.shutdown().await;
        self.record_last().await;
        // Until then the lease is kept: it cannot be stopped half-way.
        self.come_back().await;
        let (id, token) = (self.id(), self.runtime.base.lease.token.clone());
        let released = self.runtime.base.store.write(move |tx| tx.release_lease(id, &token)).await;
        if let Err(error) = released {
            // A lease that stays is found dead by the next start.
            tracing::warn!(session = %id, %error, "lease not released");
        }
    }

    /// What was asked of a model is paid for, also when nobody waits for the answer any more.
    async fn bill_what_runs(&mut self) {
        let mut step = super::turns::Step::default();
        self.end_side_call(&mut step);
        self.bill_model_call(&mut step);
        if let Err(error) = self.commit(step.changes).await {
            tracing::warn!(session = %self.id(), %error, "calls under way are not in the ledger");
        }
    }

    /// Whether the person pressed Stop and the turn has not ended yet.
    pub(super) fn is_stopping(&self) -> bool {
        self.running.as_ref().is_some_and(|running| running.machine.is_stopping())
    }

    /// Tells whoever watches that the session could not be stored, and lets go.
    pub(super) async fn fault(&mut self, error: ApiError) {
        self.runtime.troubles.begin(self.id(), error, TroubleStage::Ended);
        self.let_go().await;
    }
}

fn write(tx: &mut Tx<'_>, id: SessionId, changes: &[Change]) -> Result<(), StoreError> {
    for change in changes {
        match change {
            Change::Event(event) => {
                tx.emit(Topic::Session { id }, event.clone())?;
                if let Event::SessionChanged { info } = event
                    && info.source != Source::SubAgent
                {
                    tx.emit(Topic::Sessions, Event::SessionListed { info: info.clone() })?;
                }
            }
            Change::IntoContext(message) => tx.append_context(id, *message)?,
            Change::NewContext(messages) => tx.new_generation(id, messages)?,
            Change::OutOfContext(message) => tx.drop_from_context(id, *message)?,
            Change::Result(result) => tx.set_call(result.call, result)?,
            Change::Rule { scope, rule } => tx.add_rule(scope, rule)?,
            Change::LetterDone(letter) => tx.letter_done(*letter)?,
        }
    }
    Ok(())
}

impl Running {
    pub(super) fn call(&mut self, id: CallId) -> Option<&mut OpenCall> {
        self.calls.iter_mut().find(|call| call.call.id == id)
    }

    pub(super) fn add_usage(&mut self, usage: Usage) {
        self.view.usage += usage;
    }
}
