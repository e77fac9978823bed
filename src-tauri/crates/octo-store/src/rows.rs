//! Row types of the store in addition to the protocol's own types.

use octo_protocol::{
    BackgroundCommand, BilledCall, BranchPoint, BudgetStop, CallView, Draft, FileImage, Message, MessageId,
    Millis, ModelEntry, Question, QueuedMessage, Retry, SessionId, SessionInfo, Settings, StepKind,
    StepNumber, SubAgentOrigin, Todo, ToolResult, TrashEntry, TrashId, TrashKind, TurnId, TurnView,
};

/// A session to be created.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSession {
    /// Its info.
    pub info: SessionInfo,
    /// Its frozen system prompt.
    pub system: String,
    /// Its frozen tools.
    pub toolset: ToolsetRow,
}

/// A frozen set of tools, stored once however many sessions use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolsetRow {
    /// The hash of `tools_json`; the same hash always means the same bytes.
    pub hash: String,
    /// The version of the registry that produced it.
    pub version: u32,
    /// The tools exactly as the provider receives them, byte for byte.
    pub tools_json: String,
}

/// The list of sessions as of `seq`.
#[derive(Clone, Debug, PartialEq)]
pub struct ListSnapshot {
    /// The number of the last event of the list's topic.
    pub seq: u64,
    /// Pinned first, then the most recently used.
    pub sessions: Vec<SessionInfo>,
    /// The total number of sessions.
    pub total: u64,
}

/// Settings and models as of `seq`.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingsState {
    /// The number of the last event of the settings' topic.
    pub seq: u64,
    /// The settings; defaults if none were stored.
    pub settings: Settings,
    /// The models in the order they were added.
    pub models: Vec<ModelEntry>,
}

/// Everything an actor needs to continue a session.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSession {
    /// Its info.
    pub info: SessionInfo,
    /// Its frozen system prompt.
    pub system: String,
    /// Its frozen tools.
    pub toolset: ToolsetRow,
    /// The number of the session's last event.
    pub seq: u64,
    /// The model's context, in order: its current generation.
    pub context: Vec<Message>,
    /// The turn that has not ended, if any.
    pub unfinished: Option<StoredTurn>,
    /// The newest turn, ended or not.
    pub last_turn: Option<TurnView>,
    /// Unanswered questions, oldest first.
    pub questions: Vec<Question>,
    /// Queued messages, oldest first.
    pub queue: Vec<QueuedMessage>,
    /// The plan.
    pub todos: Vec<Todo>,
    /// Commands that were running in the background, or whose end the model did not know, when this was stored.
    pub commands: Vec<BackgroundCommand>,
    /// The highest number a plan item ever had, 0 if there never was an item.
    pub todo_last_id: u32,
    /// Set while the turn waits because a budget is used up.
    pub budget: Option<BudgetStop>,
    /// Set while a failed model call waits for its next attempt.
    pub retry: Option<Retry>,
    /// The person's unsent text and attachments.
    pub draft: Draft,
    /// The tokens that the conversation used in the model's window after the last call.
    pub context_tokens: u64,
    /// For each model, the last call of a turn's work with known usage.
    pub last_calls: Vec<BilledCall>,
    /// For a sub-agent, its link to the parent.
    pub sub_agent: Option<StoredSubAgent>,
}

/// The link of a sub-agent's session to its parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSubAgent {
    /// Its origin.
    pub origin: SubAgentOrigin,
    /// The names of the tools it may not use.
    pub forbidden: Vec<String>,
}

/// A sub-agent's session to be created.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSubAgent {
    /// Its info.
    pub info: SessionInfo,
    /// The link to the parent. The title is the parent's own and not stored again.
    pub link: StoredSubAgent,
    /// The part of its parent's conversation that it sees.
    pub inherits: InheritedContext,
}

/// The part of the parent's conversation that a sub-agent sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InheritedContext {
    /// The parent's context before this message of the parent.
    Before(MessageId),
    /// The parent's context up to and including this message of the parent.
    Through(MessageId),
    /// Nothing.
    Nothing,
}

/// A session to be created that continues another session's conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct NewBranch {
    /// Its info.
    pub info: SessionInfo,
    /// The other session.
    pub from: SessionId,
    /// The branch point.
    pub at: BranchPoint,
}

/// A session to be created with a conversation from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct NewImport {
    /// The session.
    pub session: NewSession,
    /// The file's name.
    pub file: String,
    /// The conversation, under any ids: it gets its own.
    pub conversation: CopiedConversation,
}

/// A conversation without any unfinished part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CopiedConversation {
    /// Its turns, oldest first.
    pub turns: Vec<TurnView>,
    /// Its messages, in order.
    pub messages: Vec<Message>,
    /// The calls of these messages.
    pub calls: Vec<CallView>,
    /// The messages in the model's context, in order.
    pub context: Vec<MessageId>,
}

/// A turn that has not ended.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredTurn {
    /// The turn.
    pub turn: TurnView,
    /// Its messages, oldest first.
    pub messages: Vec<MessageId>,
    /// Its calls, in the order of their first event.
    pub calls: Vec<StoredCall>,
    /// The model's message that began and has not ended, if any.
    pub open_message: Option<MessageId>,
    /// Whether the person stopped it: it must be ended, not continued.
    pub stopping: bool,
}

/// A call of an unfinished turn.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredCall {
    /// The call.
    pub view: CallView,
    /// Its result, stored when it ended, possibly before the message that contains it.
    pub result: Option<ToolResult>,
}

/// The time machine's steps of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeSteps {
    /// The active step.
    pub active: StepNumber,
    /// The step of the conversation; `None` if it is the active one.
    pub conversation: Option<StepNumber>,
    /// The highest number ever assigned.
    pub last: StepNumber,
    /// By number, the start (0) first.
    pub steps: Vec<TimeStep>,
}

/// A step of the time machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeStep {
    /// Its number.
    pub number: StepNumber,
    /// The preceding step; `None` for the start.
    pub parent: Option<StepNumber>,
    /// Its kind.
    pub kind: StepKind,
    /// For a run, the turn that did it.
    pub turn: Option<TurnId>,
    /// A short description for the person.
    pub summary: String,
    /// The session's folder at the time, in the system's own bytes.
    pub folder: Vec<u8>,
    /// When it began.
    pub started_at: Millis,
    /// When it ended; `None` while it runs.
    pub ended_at: Option<Millis>,
    /// The step whose conversation it continues, if that is not the parent.
    pub said_after: Option<StepNumber>,
    /// The number of its lasting effects that are not listed.
    pub lasting_more: u32,
}

/// A step to be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTimeStep {
    /// The preceding step.
    pub parent: StepNumber,
    /// Its kind.
    pub kind: StepKind,
    /// For a run, the turn that did it.
    pub turn: Option<TurnId>,
    /// A short description for the person.
    pub summary: String,
    /// The session's folder, in the system's own bytes.
    pub folder: Vec<u8>,
}

/// Whether the new step becomes the active one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepActivation {
    /// It becomes active, and is running.
    Running,
    /// It becomes active, and has ended.
    Ended,
    /// It does not become active, and has ended.
    Beside,
}

/// The moment of a step at which a state was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StateMoment {
    /// Before the step first changed the path.
    Before,
    /// At the end of the step.
    After,
    /// When later work first changed the path, if others had changed it in between.
    Left,
    /// During the step, when its own later work replaced what others had made of the path; the newest such
    /// state.
    Between,
}

impl StateMoment {
    /// All moments.
    pub const ALL: [Self; 4] = [Self::Before, Self::After, Self::Left, Self::Between];
}

/// How a state came to be recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StateSource {
    /// A file tool named the path.
    Named,
    /// A scan of the session's folder found it.
    Found,
    /// A restore wrote it.
    Restored,
}

/// The state of a path at one moment of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedState {
    /// The absolute path, in the system's own bytes.
    pub path: Vec<u8>,
    /// The step.
    pub number: StepNumber,
    /// The moment.
    pub side: StateMoment,
    /// The source of the recording.
    pub source: StateSource,
    /// The recorded state.
    pub image: FileImage,
}

/// A command that was running when it was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeCommand {
    /// Its number.
    pub key: i64,
    /// The session.
    pub session: SessionId,
    /// The step.
    pub number: StepNumber,
    /// The folder, in the system's own bytes.
    pub folder: Vec<u8>,
}

/// An entry in the trash.
#[derive(Clone, Debug, PartialEq)]
pub struct TrashRow {
    /// The entry as clients see it.
    pub entry: TrashEntry,
    /// Its original path, in the system's own bytes.
    pub path: Vec<u8>,
    /// Its permission bits.
    pub mode: u32,
    /// Whether it can be made again and may be deleted early.
    pub is_reproducible: bool,
}

/// A filter for trash entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrashFilter {
    /// Only those whose name or old folder contains this.
    pub query: String,
    /// Only those of this kind.
    pub kind: Option<TrashKind>,
    /// Only those of this project.
    pub project: Option<String>,
}

/// The age and size of a trash entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrashAge {
    /// The entry.
    pub id: TrashId,
    /// When it was deleted.
    pub at: octo_protocol::Millis,
    /// Its size in bytes.
    pub size: u64,
    /// Whether it can be made again.
    pub is_reproducible: bool,
}
