//! Events: durable, numbered ones, and the unnumbered text that streams between them.

mod domain;

pub use domain::EventDomain;

use crate::{
    ActivityState, Answer, ApiError, BackgroundCommand, BilledCall, Block, BrowserState, BudgetStop,
    CallView, ChatState, LibraryState, LivePage, Message, MessageEnd, MessageId, Millis, PolicyState,
    Question, QuestionId, QueuedMessage, Retry, SessionId, SessionInfo, SessionSnapshot, SettingsSnapshot,
    StepNumber, StoredTopic, StreamKind, Suggestion, TasksState, Todo, Topic, TrashTotals, Trouble, TurnId,
    TurnView, Usage,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The version of stored events this build writes. Raised when an event's shape changes; upcasters in the store
/// convert older events.
pub const EVENT_VERSION: u16 = 1;

/// A durable event with its number in its topic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct Envelope {
    /// The topic.
    #[ts(as = "Topic")]
    pub topic: StoredTopic,
    /// Its number in the topic, from 1, without gaps.
    #[ts(type = "number")]
    pub seq: u64,
    /// When it happened.
    #[ts(type = "number")]
    pub at: Millis,
    /// The version of the event's shape.
    pub v: u16,
    /// The event.
    pub event: Event,
}

/// A durable event, written in the transaction that changes the tables it describes, then published.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
#[expect(
    clippy::large_enum_variant,
    reason = "an event is made once and shared from then on; settings seldom change"
)]
pub enum Event {
    /// (session) The session's info changed: title, mode, model, folder, pin, status, usage.
    SessionChanged {
        /// The session's info after the change.
        info: SessionInfo,
    },
    /// (session) A turn began.
    TurnStarted {
        /// The turn.
        turn: TurnView,
    },
    /// (session) A complete message was added: the person's, tool results, a notice.
    MessageAdded {
        /// The message.
        message: Message,
    },
    /// (session) The model began a message; its blocks follow.
    MessageStarted {
        /// The message, without blocks.
        message: Message,
    },
    /// (session) A block of the model's message is complete.
    BlockAdded {
        /// The message.
        message: MessageId,
        /// The block's index.
        index: u32,
        /// The block.
        block: Block,
    },
    /// (session) The model's message ended.
    MessageEnded {
        /// The message.
        message: MessageId,
        /// How it ended.
        end: MessageEnd,
        /// Its token usage, if the provider reported it.
        usage: Option<Usage>,
    },
    /// (session) The partial message of the model was discarded, because Octo retries the call.
    MessageDiscarded {
        /// The message.
        message: MessageId,
    },
    /// (session) A call was planned, asked about, started or ended.
    CallChanged {
        /// The call after the change.
        call: CallView,
    },
    /// (session) A question waits.
    QuestionAsked {
        /// The question.
        question: Question,
    },
    /// (session) A question no longer waits.
    QuestionClosed {
        /// The question.
        question: QuestionId,
        /// The person's answer; `None` if the question was withdrawn (stop).
        answer: Option<Answer>,
    },
    /// (session) The plan changed.
    TodosChanged {
        /// The plan after the change.
        todos: Vec<Todo>,
    },
    /// (session) The queue changed.
    QueueChanged {
        /// The queue after the change.
        queue: Vec<QueuedMessage>,
    },
    /// (session) A command moved to the background or ended there, or the model learned of its end.
    CommandsChanged {
        /// The commands that run, and those whose end the model does not know yet.
        commands: Vec<BackgroundCommand>,
    },
    /// (session) A model call failed and waits for its next attempt.
    RetryScheduled {
        /// The time and reason.
        retry: Retry,
    },
    /// (session) The next attempt began.
    RetryStarted,
    /// (session) The person pressed Stop: Octo is ending the running work, and the turn with it. Once this is
    /// stored the turn does not continue, whatever happens to the application.
    TurnStopping {
        /// The turn.
        turn: TurnId,
    },
    /// (session) A turn ended.
    TurnEnded {
        /// The turn, with its end and its usage.
        turn: TurnView,
    },
    /// (session) A model call ended: its ledger entry.
    CallBilled {
        /// The ledger entry.
        call: BilledCall,
    },
    /// (session) Octo guessed the person's next message.
    Suggested {
        /// The guess.
        suggestion: Suggestion,
    },
    /// (session) The turn paused because a budget is used up; Octo sends nothing more until the person answers.
    BudgetReached {
        /// The budget and the amounts.
        stop: BudgetStop,
    },
    /// (session) The person answered, or the turn ended.
    BudgetAnswered,
    /// (session) Octo began to summarise earlier messages.
    CompactionStarted,
    /// (session) The compaction failed; nothing changed.
    CompactionFailed {
        /// The error.
        error: ApiError,
    },
    /// (session) Earlier messages left the model's context, and the summary just added replaces them. The store
    /// keeps them.
    ContextCompacted {
        /// The estimated size of the conversation in the model's window, in tokens.
        #[ts(type = "number")]
        tokens: u64,
    },
    /// (session) The step tree changed: a step ended, or got a name.
    TasksChanged,
    /// (session) The session restored a step of its time machine.
    WentTo {
        /// The step.
        task: StepNumber,
        /// All turns now undone: the model no longer sees their messages.
        undone: Vec<TurnId>,
    },
    /// (session) Octo answered a slash command itself.
    CommandAnswered {
        /// A key of the word catalogue with its arguments.
        note: ApiError,
    },
    /// (sessions) A session was added, or its entry in the list changed.
    SessionListed {
        /// The entry.
        info: SessionInfo,
    },
    /// (sessions) A session left the list.
    SessionRemoved {
        /// The session.
        id: SessionId,
    },
    /// (settings) Settings or models changed.
    SettingsChanged {
        /// Settings and models after the change.
        snapshot: SettingsSnapshot,
    },
    /// (trash) An entry was added to the trash or removed from it.
    TrashChanged {
        /// The trash's totals after the change.
        totals: TrashTotals,
    },
}

/// Streamed text: not numbered, not stored; the complete block follows as an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct Delta {
    /// The session.
    pub session: SessionId,
    /// The message.
    pub message: MessageId,
    /// The block's index in the message; always 0 for [`StreamKind::Output`].
    pub block: u32,
    /// The kind of text.
    pub kind: StreamKind,
    /// The number of preceding bytes of UTF-8.
    #[ts(type = "number")]
    pub offset: u64,
    /// The new text.
    pub text: String,
}

/// An update that a subscription receives. After a gap or a lag a fresh snapshot follows, never a hole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every update is an event: a box for each would cost more"
)]
pub enum Update {
    /// Everything as of now; replaces the client's state.
    Snapshot {
        /// The state.
        snapshot: Snapshot,
    },
    /// A durable event.
    Event {
        /// The event.
        envelope: Envelope,
    },
    /// Streamed text.
    Delta {
        /// The text.
        delta: Delta,
    },
    /// A session cannot be stored, or can be stored again. Sent to subscribers of the session and of the list,
    /// including later ones. Not numbered, because it cannot be stored itself.
    Trouble {
        /// The session.
        session: SessionId,
        /// The trouble; `None` once it is over.
        trouble: Option<Trouble>,
    },
    /// Octo billed a model call of any session. Sent to subscribers of the ledger; not numbered, because its
    /// session numbers it.
    Billed {
        /// The session.
        session: SessionId,
        /// The ledger entry.
        call: Box<BilledCall>,
    },
    /// `policy.toml` changed, is broken, or is usable again. Sent to subscribers of the settings, including
    /// later ones. Not numbered: the file is the person's, and they may write it at any time.
    Policy {
        /// The current state of the file.
        policy: Box<PolicyState>,
    },
    /// The connection to a chat service changed, or the people who may write through it. Sent to subscribers of
    /// the settings, including later ones. Not numbered: it describes the current state.
    Chats {
        /// The state of the chat services.
        state: Box<ChatState>,
    },
    /// Octo attached to a browser, or the connection changed. Sent to subscribers of the browser.
    Browser {
        /// The current state.
        state: BrowserState,
    },
    /// A skill, a suggestion or a memory changed. Sent to subscribers of the library.
    Library {
        /// The current state.
        state: LibraryState,
    },
    /// A task or a run changed. Sent to subscribers of the tasks.
    Tasks {
        /// The current state.
        state: TasksState,
    },
    /// An activity began, ended or changed its status. Sent to subscribers of the activity.
    Activity {
        /// All current activity.
        state: ActivityState,
    },
    /// The agent's actions in a page, live. Sent to subscribers of the session, including later ones; not
    /// stored.
    Page {
        /// The page; `None` once the agent left it.
        page: Option<LivePage>,
    },
    /// The topic cannot be read any more; no further update follows.
    Fault {
        /// The error.
        error: ApiError,
    },
    /// The topic's subject was deleted; no further update follows.
    Ended,
}

/// The state of a topic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "topic", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum Snapshot {
    /// Of a session.
    Session(Box<SessionSnapshot>),
    /// Of the list, as of `seq`: the newest sessions.
    Sessions {
        /// The number of the last event included.
        #[ts(type = "number")]
        seq: u64,
        /// Pinned first, then newest first.
        sessions: Vec<SessionInfo>,
        /// The total number of sessions.
        #[ts(type = "number")]
        total: u64,
    },
    /// Of the ledger: clients request earlier calls; later ones follow as updates.
    Ledger {},
    /// Of settings and models.
    Settings {
        /// The number of the last event included.
        #[ts(type = "number")]
        seq: u64,
        /// Settings and models.
        snapshot: Box<SettingsSnapshot>,
    },
    /// Of the browser.
    Browser {
        /// Its state.
        state: BrowserState,
    },
    /// Of skills and memories.
    Library {
        /// Their state.
        state: LibraryState,
    },
    /// Of scheduled tasks.
    Tasks {
        /// Their state.
        state: TasksState,
    },
    /// Of the activity.
    Activity {
        /// All current activity.
        state: ActivityState,
    },
    /// Of the trash.
    Trash {
        /// The number of the last event included.
        #[ts(type = "number")]
        seq: u64,
        /// Its totals.
        totals: TrashTotals,
    },
}
