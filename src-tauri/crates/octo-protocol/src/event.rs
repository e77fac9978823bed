//! What happened: durable, numbered events, and the unnumbered text that streams between them.

use crate::{
    ActivityState, Answer, ApiError, BackgroundCommand, BilledCall, Block, BrowserState, BudgetStop,
    CallView, ChatState, LibraryState, LivePage, Message, MessageEnd, MessageId, Millis, PolicyState,
    Question, QuestionId, Queued, Retry, SessionId, SessionInfo, SessionSnapshot, SettingsSnapshot,
    StreamKind, Suggestion, TaskNumber, TasksState, Todo, TrashTotals, Trouble, TurnId, TurnView, Usage,
};
use serde::{Deserialize, Serialize};
use std::fmt;
use ts_rs::TS;

/// The version of stored events this build writes. Raised when an event's shape changes; older ones
/// are brought up by upcasters in the store.
pub const EVENT_VERSION: u16 = 1;

/// What a numbered stream of events is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum Topic {
    /// One session.
    Session {
        /// Which.
        id: SessionId,
    },
    /// The list of sessions.
    Sessions,
    /// Settings and models.
    Settings,
    /// What is spent, in all sessions. It has no events of its own: each billed call is told as it is stored.
    Ledger,
    /// The trash.
    Trash,
    /// Whether Octo is attached to a browser. It has no events: its state is told as it changes.
    Browser,
    /// Skills and memories. They are files, so it has no events: that something changed is told.
    Library,
    /// Tasks that run at their time. Their runs are rows of their own, so it has no events: that something changed is
    /// told.
    Tasks,
    /// What runs in this Octo. It has no events: how it stands is told as it changes.
    Activity,
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Topic::Session { id } => write!(f, "session/{id}"),
            Topic::Sessions => f.write_str("sessions"),
            Topic::Settings => f.write_str("settings"),
            Topic::Ledger => f.write_str("ledger"),
            Topic::Trash => f.write_str("trash"),
            Topic::Browser => f.write_str("browser"),
            Topic::Library => f.write_str("library"),
            Topic::Tasks => f.write_str("tasks"),
            Topic::Activity => f.write_str("activity"),
        }
    }
}

/// A durable event with its place in its topic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Envelope {
    /// What it is about.
    pub topic: Topic,
    /// Its number in the topic, from 1, without gaps.
    #[ts(type = "number")]
    pub seq: u64,
    /// When it happened.
    #[ts(type = "number")]
    pub at: Millis,
    /// The version of the event's shape.
    pub v: u16,
    /// What happened.
    pub event: Event,
}

/// What happened. Written in the transaction that changes the tables it describes, then published.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
#[expect(
    clippy::large_enum_variant,
    reason = "an event is made once and shared from then on; settings seldom change"
)]
pub enum Event {
    /// (session) The head changed: title, mode, model, folder, pin, status, usage.
    SessionChanged {
        /// The head after the change.
        info: SessionInfo,
    },
    /// (session) A turn began.
    TurnStarted {
        /// The turn.
        turn: TurnView,
    },
    /// (session) A whole message was added: the person's, tool results, a notice.
    MessageAdded {
        /// The message.
        message: Message,
    },
    /// (session) The model began a message; its blocks follow.
    MessageStarted {
        /// The message, without blocks.
        message: Message,
    },
    /// (session) A block of the model's message is whole.
    BlockAdded {
        /// The message.
        message: MessageId,
        /// The block's place.
        index: u32,
        /// The block.
        block: Block,
    },
    /// (session) The model's message is over.
    MessageEnded {
        /// The message.
        message: MessageId,
        /// How it ended.
        end: MessageEnd,
        /// What it cost, where the provider said so.
        usage: Option<Usage>,
    },
    /// (session) What had arrived of a model's message was taken back, because the call is tried again.
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
        /// What the person said; none when it was withdrawn (stop).
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
        queue: Vec<Queued>,
    },
    /// (session) A command went on in the background, ended there, or the model was told of its end.
    CommandsChanged {
        /// Those that run, and those that ended and of whose end the model was not told yet.
        commands: Vec<BackgroundCommand>,
    },
    /// (session) A model call failed and waits for its next try.
    RetryScheduled {
        /// When and why.
        retry: Retry,
    },
    /// (session) The next try began.
    RetryStarted,
    /// (session) The person pressed Stop: what runs is being ended, and the turn with it. Once this is
    /// stored the turn does not go on, whatever happens to the application.
    TurnStopping {
        /// The turn.
        turn: TurnId,
    },
    /// (session) A turn ended.
    TurnEnded {
        /// The turn, with how it ended and what it used.
        turn: TurnView,
    },
    /// (session) A model call is over: its line in the ledger.
    CallBilled {
        /// The line.
        call: BilledCall,
    },
    /// (session) The person's next message was guessed.
    Suggested {
        /// The guess.
        suggestion: Suggestion,
    },
    /// (session) The turn pauses because a budget is used up; nothing more is sent until the person answers.
    BudgetReached {
        /// Which, and how much.
        stop: BudgetStop,
    },
    /// (session) The person answered, or the turn ended.
    BudgetAnswered,
    /// (session) A summary of earlier messages is being made.
    CompactionStarted,
    /// (session) None was made; everything is as it was.
    CompactionFailed {
        /// Why.
        error: ApiError,
    },
    /// (session) Earlier messages left what the model sees, and the summary that was just added stands for
    /// them. Nothing left the store.
    ContextCompacted {
        /// What the conversation takes in the model's window now, estimated, in tokens.
        #[ts(type = "number")]
        tokens: u64,
    },
    /// (session) The tree of tasks changed: one ended, or got a name.
    TasksChanged,
    /// (session) The session went to a task of its time machine.
    WentTo {
        /// The task.
        task: TaskNumber,
        /// All turns that are undone now: their messages are not for the model any more.
        undone: Vec<TurnId>,
    },
    /// (session) Octo answered a slash command itself.
    CommandAnswered {
        /// A key of the word catalogue with its arguments.
        note: ApiError,
    },
    /// (sessions) A session was added or its line changed.
    SessionListed {
        /// The line.
        info: SessionInfo,
    },
    /// (sessions) A session left the list.
    SessionRemoved {
        /// Which.
        id: SessionId,
    },
    /// (settings) Settings or models changed.
    SettingsChanged {
        /// Settings and models after the change.
        snapshot: SettingsSnapshot,
    },
    /// (trash) Something came into the trash or left it.
    TrashChanged {
        /// How much is in it now.
        totals: TrashTotals,
    },
}

/// Text that streams: not numbered, not stored; the whole block follows as an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Delta {
    /// The session.
    pub session: SessionId,
    /// The message.
    pub message: MessageId,
    /// The block's place in the message; for [`StreamKind::Output`] always 0.
    pub block: u32,
    /// What streams.
    pub kind: StreamKind,
    /// How many bytes of UTF-8 came before.
    #[ts(type = "number")]
    pub offset: u64,
    /// The new text.
    pub text: String,
}

/// What a subscription receives. After a gap or a lag a fresh snapshot comes, never a hole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every update is an event: a box for each would cost more"
)]
pub enum Update {
    /// Everything as of now; replaces what the client had.
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
    /// A session cannot be stored, or can be again. Told to who watches the session and to who watches the
    /// list, also to one that comes later. Not numbered, for it cannot be stored itself.
    Trouble {
        /// The session.
        session: SessionId,
        /// What is the matter; none once it is over.
        trouble: Option<Trouble>,
    },
    /// A model call of any session was billed. Told to who watches the ledger; not numbered, since it is numbered in
    /// its session.
    Billed {
        /// The session.
        session: SessionId,
        /// The line.
        call: Box<BilledCall>,
    },
    /// `policy.toml` changed, or is broken, or can be used again. Told to who watches the settings, also to one that
    /// comes later. Not numbered: the file is the person's, and they may write it at any time.
    Policy {
        /// The file as it stands.
        policy: Box<PolicyState>,
    },
    /// The connection to a chat service changed, or who may write through it. Told to who watches the settings, also to
    /// one that comes later. Not numbered: it tells of what is.
    Chats {
        /// How they are.
        state: Box<ChatState>,
    },
    /// Octo was attached to a browser, or the connection changed. Told to who watches the browser.
    Browser {
        /// How it is now.
        state: BrowserState,
    },
    /// A skill, a suggestion or a memory changed. Told to who watches the library.
    Library {
        /// How it is now.
        state: LibraryState,
    },
    /// A task or a run changed. Told to who watches the tasks.
    Tasks {
        /// How they are now.
        state: TasksState,
    },
    /// Something began, ended or stands otherwise. Told to who watches what runs.
    Activity {
        /// All that runs now.
        state: ActivityState,
    },
    /// What the agent does in a page, as it does it. Told to who watches the session, also to one that comes later;
    /// not stored.
    Page {
        /// The page; none once the agent left it.
        page: Option<LivePage>,
    },
    /// The topic cannot be read any more; nothing more comes.
    Fault {
        /// Why.
        error: ApiError,
    },
    /// The topic's subject is gone (deleted); nothing more comes.
    Ended,
}

/// The state of a topic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "topic", rename_all = "snake_case")]
#[ts(export)]
pub enum Snapshot {
    /// Of a session.
    Session(Box<SessionSnapshot>),
    /// Of the list: as of `seq`, the newest sessions.
    Sessions {
        /// The number of the last event included.
        #[ts(type = "number")]
        seq: u64,
        /// Pinned first, then newest first.
        sessions: Vec<SessionInfo>,
        /// How many there are in all.
        #[ts(type = "number")]
        total: u64,
    },
    /// Of the ledger: what was billed before is asked for, what is billed from now on follows.
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
        /// How it is.
        state: BrowserState,
    },
    /// Of skills and memories.
    Library {
        /// How they are.
        state: LibraryState,
    },
    /// Of tasks that run at their time.
    Tasks {
        /// How they are.
        state: TasksState,
    },
    /// Of what runs.
    Activity {
        /// All of it.
        state: ActivityState,
    },
    /// Of the trash.
    Trash {
        /// The number of the last event included.
        #[ts(type = "number")]
        seq: u64,
        /// How much is in it.
        totals: TrashTotals,
    },
}
