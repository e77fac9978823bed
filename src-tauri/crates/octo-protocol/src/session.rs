//! Sessions as clients see them.

use crate::{
    ApiError, BackgroundCommand, Block, BudgetStop, CallId, CallStatus, ChatService, Effort, ForkOrigin,
    Message, MessageId, Millis, ModelId, Profile, Question, QueuedId, SessionId, SessionOrigin, Spending,
    TextMark, Todo, ToolView, TurnId, Usage,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What may run without asking. Three honest modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Mode {
    /// Every change and every command asks.
    Ask,
    /// Changes inside the folder and commands known to only read run; all else asks.
    #[default]
    AskRisky,
    /// Nothing asks.
    Autonomous,
}

impl Mode {
    /// Whether this mode asks about more than `other`.
    pub fn is_stricter_than(self, other: Self) -> bool {
        let leave = |mode| match mode {
            Mode::Ask => 0,
            Mode::AskRisky => 1,
            Mode::Autonomous => 2,
        };
        leave(self) < leave(other)
    }
}

/// Who started a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Source {
    /// The person, in the window.
    Window,
    /// A headless run.
    Headless,
    /// The built-in demo: no model, kept out of usage and of "last".
    Demo,
    /// Another session, as a sub-agent: kept out of the list, of searches and of "last".
    SubAgent,
    /// A task, at its time or by hand: kept out of "last".
    Task,
    /// The person, through a chat service: kept out of "last".
    Chat,
}

/// One line of the session list, and the head of an open session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SessionInfo {
    /// Its id.
    pub id: SessionId,
    /// Its title: from the first message until the person renames it.
    pub title: String,
    /// The absolute folder the agent works in.
    pub folder: String,
    /// Its profile; fixed for the session's life, since it is part of the frozen prompt.
    pub profile: Profile,
    /// What may run without asking.
    pub mode: Mode,
    /// The model entry in use; none for the demo.
    pub model: Option<ModelId>,
    /// How much the model is asked to reason; none for what it does by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub effort: Option<Effort>,
    /// Who started it.
    pub source: Source,
    /// Whether the person pinned it.
    pub pinned: bool,
    /// What it is doing.
    pub status: SessionStatus,
    /// When it was created.
    #[ts(type = "number")]
    pub created_at: Millis,
    /// When its last turn began or ended.
    #[ts(type = "number")]
    pub updated_at: Millis,
    /// What it has used in all.
    pub usage: Usage,
    /// When the person last looked at it. What it did after that is unread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub read_at: Option<Millis>,
}

/// What a session is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum SessionStatus {
    /// Nothing; the last turn finished or was stopped.
    Idle,
    /// A turn runs.
    Running,
    /// A turn waits for the person.
    Waiting,
    /// The last turn failed.
    Failed,
}

/// Why a session cannot be stored. Everything stored before is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Trouble {
    /// What the store said.
    pub error: ApiError,
    /// What becomes of the session.
    pub stage: TroubleStage,
}

/// What becomes of a session that cannot be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum TroubleStage {
    /// It holds what is not stored yet in memory and tries again until there is room; Stop works.
    Waiting,
    /// It had to end. Opening it again goes on from what is stored.
    Ended,
}

/// A turn as clients see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TurnView {
    /// Its id.
    pub id: TurnId,
    /// When it began.
    #[ts(type = "number")]
    pub started_at: Millis,
    /// When it ended; none while it runs or waits.
    #[ts(type = "number | null")]
    pub ended_at: Option<Millis>,
    /// How it ended; none while it runs or waits.
    pub end: Option<TurnEnd>,
    /// What it used so far.
    pub usage: Usage,
    /// Whether it was undone: the model does not see it, and what it did to files is taken back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub undone: bool,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum TurnEnd {
    /// The model was done.
    Finished,
    /// The person pressed Stop.
    Stopped,
    /// It could not go on. Everything up to here was kept.
    Failed {
        /// Why.
        error: ApiError,
    },
}

/// A tool call as clients see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct CallView {
    /// Its id, as in the message's [`crate::ToolCall`].
    pub id: CallId,
    /// The turn it belongs to.
    pub turn: TurnId,
    /// The registered tool's name, or the name the model wrote when there is no such tool.
    pub tool: String,
    /// Where it stands.
    pub state: CallState,
    /// What it would do or did; none until the arguments were read.
    pub view: Option<ToolView>,
}

/// Where a call stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum CallState {
    /// Known, not begun.
    Planned,
    /// Waits for the person.
    Asking,
    /// Its effect has begun.
    Started {
        /// When.
        #[ts(type = "number")]
        at: Millis,
    },
    /// It is over.
    Ended {
        /// How.
        status: CallStatus,
        /// When.
        #[ts(type = "number")]
        at: Millis,
        /// How long the effect took, in milliseconds.
        #[ts(type = "number")]
        duration_ms: u64,
    },
}

/// A message that waits until the current step ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Queued {
    /// Its id.
    pub id: QueuedId,
    /// Its content.
    pub blocks: Vec<Block>,
    /// When it was queued.
    #[ts(type = "number")]
    pub at: Millis,
    /// The chat service it was written in; none for a window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub via: Option<ChatService>,
}

/// What the person typed and attached but has not sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Draft {
    /// The text, as it was typed.
    pub text: String,
    /// Pictures and files, as blocks of the message to come.
    #[serde(default)]
    pub attachments: Vec<Block>,
    /// Whether somebody else wrote a part of the text, as a link does: the person is told to read it first.
    #[serde(default)]
    pub foreign: bool,
}

impl Draft {
    /// Whether there is nothing to keep.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.attachments.is_empty()
    }
}

/// What Octo itself said in a session. The model never sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Note {
    /// The number of the event that said it.
    #[ts(type = "number")]
    pub seq: u64,
    /// When it was given.
    #[ts(type = "number")]
    pub at: Millis,
    /// What it is about.
    #[serde(default)]
    pub kind: NoteKind,
    /// A key of the word catalogue with its arguments.
    pub note: ApiError,
}

/// What a [`Note`] is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum NoteKind {
    /// A slash command, or another model that took over.
    #[default]
    Answer,
    /// Why earlier messages were not summed up.
    NotCompacted,
}

/// Everything a client needs to draw a session, as of `seq`.
///
/// Long conversations come in pages: `messages` holds the newest, and `earlier` says whether there are
/// more before them (see [`crate::SessionRequest::Messages`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SessionSnapshot {
    /// The number of the last event this snapshot includes.
    #[ts(type = "number")]
    pub seq: u64,
    /// The session's head.
    pub info: SessionInfo,
    /// The transcript's newest page.
    pub page: TranscriptPage,
    /// Questions that wait, oldest first.
    pub questions: Vec<Question>,
    /// Messages that wait, oldest first.
    pub queue: Vec<Queued>,
    /// The plan.
    pub todos: Vec<Todo>,
    /// Commands that run in the background, and those that ended and of whose end the model was not told yet;
    /// in the order in which they went there.
    pub commands: Vec<BackgroundCommand>,
    /// Text that streams right now, from its beginning.
    pub streaming: Vec<Streaming>,
    /// Set while a failed model call waits for its next try.
    pub retry: Option<Retry>,
    /// What the person had typed and attached but not sent.
    pub draft: Draft,
    /// Octo's own answers to slash commands, oldest first; at most the newest 500. Each is shown after the
    /// messages that were added before it.
    pub notes: Vec<Note>,
    /// What the conversation took in the model's window after the last call.
    #[ts(type = "number")]
    pub context_tokens: u64,
    /// What the session spent.
    pub spending: Spending,
    /// A guess at the person's next message; none while a turn runs.
    pub suggestion: Option<Suggestion>,
    /// Set while the turn waits because a budget is used up.
    pub budget: Option<BudgetStop>,
    /// What it is a part of, for a sub-agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub fork: Option<ForkOrigin>,
    /// Where its conversation comes from, for one that did not begin with its own first message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub origin: Option<SessionOrigin>,
}

/// A guess at the person's next message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Suggestion {
    /// The turn it follows; after another one it is stale.
    pub turn: TurnId,
    /// The guess: one short line.
    pub text: String,
}

/// A run of consecutive messages with the turns and calls they mention.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TranscriptPage {
    /// Messages, oldest first.
    pub messages: Vec<Message>,
    /// The turns of these messages, oldest first.
    pub turns: Vec<TurnView>,
    /// The calls of these messages.
    pub calls: Vec<CallView>,
    /// Whether there are earlier messages.
    pub earlier: bool,
}

/// A block that is still streaming.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Streaming {
    /// The message it belongs to.
    pub message: MessageId,
    /// The block's place in the message.
    pub block: u32,
    /// What kind of block it is.
    pub kind: StreamKind,
    /// How many bytes of UTF-8 came before `text` and are no longer kept (long output only, else 0).
    #[ts(type = "number")]
    pub start: u64,
    /// What has arrived so far.
    pub text: String,
}

/// What kind of block streams.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum StreamKind {
    /// Text of the answer.
    Text,
    /// Reasoning.
    Reasoning,
    /// Arguments of a call to this tool.
    Arguments {
        /// The tool's name as the model wrote it.
        tool: String,
    },
    /// Output of a running command; `message` is then the message that made the call.
    Output {
        /// The call.
        call: CallId,
    },
}

/// A failed model call that waits for its next try.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Retry {
    /// Which try comes next, from 2.
    pub attempt: u32,
    /// How many tries there are in all.
    pub attempts: u32,
    /// When it starts.
    #[ts(type = "number")]
    pub at: Millis,
    /// What went wrong.
    pub error: ApiError,
}

/// A hit of a search over sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SessionHit {
    /// The session.
    pub info: SessionInfo,
    /// The message that matched; none when the title did.
    pub message: Option<MessageId>,
    /// The text around the match.
    pub snippet: String,
    /// Where the words stand in it, in order and apart from each other.
    #[serde(default)]
    pub marks: Vec<TextMark>,
}
