//! Sessions as clients see them.

use crate::{
    ApiError, BackgroundCommand, Block, BudgetStop, CallId, CallStatus, ChatService, Effort, Message,
    MessageId, Millis, ModelId, Profile, Question, QueuedId, SessionId, SessionOrigin, Spending,
    SubAgentOrigin, TextMark, Todo, ToolView, TurnId, Usage,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The permission mode: which actions run without asking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum Mode {
    /// Asks before every change and every command.
    Ask,
    /// Runs changes inside the folder and commands known to be read-only; asks before everything else.
    #[default]
    AskRisky,
    /// Asks before nothing.
    Autonomous,
}

impl Mode {
    /// Returns whether this mode asks in more cases than `other`.
    pub fn is_stricter_than(self, other: Self) -> bool {
        let leave = |mode| match mode {
            Mode::Ask => 0,
            Mode::AskRisky => 1,
            Mode::Autonomous => 2,
        };
        leave(self) < leave(other)
    }
}

/// The initiator of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum Source {
    /// The person, in the window.
    Window,
    /// A headless run.
    Headless,
    /// The built-in demo: no model, excluded from usage and from "last".
    Demo,
    /// Another session, as a sub-agent: excluded from the list, from searches and from "last".
    SubAgent,
    /// A scheduled task, on schedule or by hand: excluded from "last".
    Task,
    /// The person, through a chat service: excluded from "last".
    Chat,
}

/// An entry of the session list, also shown at the top of an open session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SessionInfo {
    /// Its id.
    pub id: SessionId,
    /// Its title: from the first message until the person renames it.
    pub title: String,
    /// The absolute folder the agent works in.
    pub folder: String,
    /// Its profile; fixed for the session's life, because it is part of the frozen prompt.
    pub profile: Profile,
    /// The permission mode.
    pub mode: Mode,
    /// The model entry in use; `None` for the demo.
    pub model: Option<ModelId>,
    /// The reasoning effort; `None` for the model's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub effort: Option<Effort>,
    /// Who started it.
    pub source: Source,
    /// Whether the person pinned it.
    pub pinned: bool,
    /// Its current status.
    pub status: SessionStatus,
    /// When it was created.
    #[ts(type = "number")]
    pub created_at: Millis,
    /// When its last turn began or ended.
    #[ts(type = "number")]
    pub updated_at: Millis,
    /// Its total usage.
    pub usage: Usage,
    /// When the person last looked at it. Later activity is unread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub read_at: Option<Millis>,
}

impl SessionInfo {
    /// Creates the entry of an idle, unread session without a title or a model, in the default profile and mode.
    pub fn new(id: SessionId, folder: impl Into<String>, source: Source, at: Millis) -> Self {
        Self {
            id,
            title: String::new(),
            folder: folder.into(),
            profile: Profile::default(),
            mode: Mode::default(),
            model: None,
            effort: None,
            source,
            pinned: false,
            status: SessionStatus::Idle,
            created_at: at,
            updated_at: at,
            usage: Usage::default(),
            read_at: None,
        }
    }
}

/// The status of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum SessionStatus {
    /// No turn is running; the last one finished or was stopped.
    Idle,
    /// A turn runs.
    Running,
    /// A turn waits for the person.
    Waiting,
    /// The last turn failed.
    Failed,
}

/// Why a session cannot be stored. Everything stored earlier is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct Trouble {
    /// The store's error.
    pub error: ApiError,
    /// The consequence for the session.
    pub stage: TroubleStage,
}

/// The consequence for a session that cannot be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum TroubleStage {
    /// The session keeps unstored data in memory and retries until there is space; Stop works.
    Waiting,
    /// The session had to end. Opening it again continues from the stored state.
    Ended,
}

/// A turn as clients see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct TurnView {
    /// Its id.
    pub id: TurnId,
    /// When it began.
    #[ts(type = "number")]
    pub started_at: Millis,
    /// When it ended; `None` while it runs or waits.
    #[ts(type = "number | null")]
    pub ended_at: Option<Millis>,
    /// How it ended; `None` while it runs or waits.
    pub end: Option<TurnEnd>,
    /// Its usage so far.
    pub usage: Usage,
    /// Whether it was undone: the model does not see it, and its changes to files are reverted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub undone: bool,
}

impl TurnView {
    /// Creates the view of a turn that just began.
    pub fn new(id: TurnId, started_at: Millis) -> Self {
        Self { id, started_at, ended_at: None, end: None, usage: Usage::default(), undone: false }
    }
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum TurnEnd {
    /// The model finished.
    Finished,
    /// The person pressed Stop.
    Stopped,
    /// It failed. All earlier work is kept.
    Failed {
        /// The error.
        error: ApiError,
    },
}

/// A tool call as clients see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct CallView {
    /// Its id, as in the message's [`crate::ToolCall`].
    pub id: CallId,
    /// The turn it belongs to.
    pub turn: TurnId,
    /// The registered tool's name, or the name the model wrote when there is no such tool.
    pub tool: String,
    /// Its current state.
    pub state: CallState,
    /// The preview or the result; `None` until the arguments were parsed.
    pub view: Option<ToolView>,
}

/// The state of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum CallState {
    /// Known, not started.
    Planned,
    /// Waits for the person.
    Asking,
    /// Its effect has started.
    Started {
        /// When it started.
        #[ts(type = "number")]
        at: Millis,
    },
    /// It is over.
    Ended {
        /// The outcome.
        status: CallStatus,
        /// When it ended.
        #[ts(type = "number")]
        at: Millis,
        /// The duration of the effect, in milliseconds.
        #[ts(type = "number")]
        duration_ms: u64,
    },
}

/// A message that waits until the current step ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct QueuedMessage {
    /// Its id.
    pub id: QueuedId,
    /// Its content.
    pub blocks: Vec<Block>,
    /// When it was queued.
    #[ts(type = "number")]
    pub at: Millis,
    /// The chat service it was written in; `None` for a window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub via: Option<ChatService>,
}

/// Text and attachments the person has not sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct Draft {
    /// The text as typed.
    pub text: String,
    /// Pictures and files, as blocks of the future message.
    #[serde(default)]
    pub attachments: Vec<Block>,
    /// Whether part of the text is not the person's own, as with a link: Octo then tells the person to read it
    /// first.
    #[serde(default)]
    pub foreign: bool,
}

impl Draft {
    /// Returns whether there is nothing to store.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.attachments.is_empty()
    }
}

/// A message from Octo to the person in a session. The model never sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct Note {
    /// The number of its event.
    #[ts(type = "number")]
    pub seq: u64,
    /// When Octo added it.
    #[ts(type = "number")]
    pub at: Millis,
    /// Its subject.
    #[serde(default)]
    pub kind: NoteKind,
    /// A key of the word catalogue with its arguments.
    pub note: ApiError,
}

/// The subject of a [`Note`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum NoteKind {
    /// The answer to a slash command, or a fallback to another model.
    #[default]
    Answer,
    /// Why a compaction of earlier messages failed.
    NotCompacted,
}

/// Everything a client needs to draw a session, as of `seq`.
///
/// Long conversations are paged: `messages` contains the newest, and `earlier` says whether there are more
/// before them (see [`crate::SessionRequest::Messages`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SessionSnapshot {
    /// The number of the last event this snapshot includes.
    #[ts(type = "number")]
    pub seq: u64,
    /// The session's info.
    pub info: SessionInfo,
    /// The transcript's newest page.
    pub page: TranscriptPage,
    /// Unanswered questions, oldest first.
    pub questions: Vec<Question>,
    /// Queued messages, oldest first.
    pub queue: Vec<QueuedMessage>,
    /// The plan.
    pub todos: Vec<Todo>,
    /// Background commands that are running, and those whose end the model does not know yet; in the order in
    /// which they moved to the background.
    pub commands: Vec<BackgroundCommand>,
    /// Text that is streaming, from its beginning.
    pub streaming: Vec<StreamingBlock>,
    /// Set while a failed model call waits for its next attempt.
    pub retry: Option<Retry>,
    /// The person's unsent text and attachments.
    pub draft: Draft,
    /// Octo's own answers to slash commands, oldest first; at most the newest 500. Each is shown after the
    /// messages that precede it.
    pub notes: Vec<Note>,
    /// The tokens that the conversation used in the model's window after the last call.
    #[ts(type = "number")]
    pub context_tokens: u64,
    /// The session's spending.
    pub spending: Spending,
    /// A guess at the person's next message; `None` while a turn runs.
    pub suggestion: Option<Suggestion>,
    /// Set while the turn waits because a budget is used up.
    pub budget: Option<BudgetStop>,
    /// For a sub-agent, the call it works for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub fork: Option<SubAgentOrigin>,
    /// The source of its conversation, if that did not begin with the session's own first message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub origin: Option<SessionOrigin>,
}

/// A guess at the person's next message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct Suggestion {
    /// The turn it follows; after another one it is stale.
    pub turn: TurnId,
    /// The guess: one short line.
    pub text: String,
}

/// A run of consecutive messages with their turns and calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
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
#[ts(export, export_to = "protocol.ts")]
pub struct StreamingBlock {
    /// The message it belongs to.
    pub message: MessageId,
    /// The block's index in the message.
    pub block: u32,
    /// The kind of block.
    pub kind: StreamKind,
    /// The number of bytes of UTF-8 before `text` that are no longer kept (long output only, else 0).
    #[ts(type = "number")]
    pub start: u64,
    /// The text received so far.
    pub text: String,
}

/// The kind of a streaming block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
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
    /// Output of a running command; `message` is then the message with the call.
    Output {
        /// The call.
        call: CallId,
    },
}

/// A failed model call that waits for its next attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct Retry {
    /// The number of the next attempt, from 2.
    pub attempt: u32,
    /// The maximum number of attempts.
    pub attempts: u32,
    /// When the next attempt starts.
    #[ts(type = "number")]
    pub at: Millis,
    /// The last error.
    pub error: ApiError,
}

/// A hit of a search over sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SessionHit {
    /// The session.
    pub info: SessionInfo,
    /// The matching message; `None` if the title matched.
    pub message: Option<MessageId>,
    /// The text around the match.
    pub snippet: String,
    /// The matching words in the snippet, in order and without overlaps.
    #[serde(default)]
    pub marks: Vec<TextMark>,
}
