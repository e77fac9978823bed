//! What goes in and comes out of the store beyond the protocol's own types.

use octo_protocol::{
    BackgroundCommand, BilledCall, BranchPoint, BudgetStop, CallView, Draft, FileImage, ForkOrigin, Message,
    MessageId, Millis, ModelEntry, Question, Queued, Retry, SessionId, SessionInfo, Settings, TaskKind,
    TaskNumber, Todo, ToolResult, TrashEntry, TrashId, TrashKind, TurnId, TurnView,
};

/// A session to be created.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSession {
    /// Its head.
    pub info: SessionInfo,
    /// Its frozen system prompt.
    pub system: String,
    /// Its frozen tools.
    pub toolset: ToolsetRow,
}

/// A frozen set of tools, kept once however many sessions use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolsetRow {
    /// The hash of `tools_json`; the same hash always means the same bytes.
    pub hash: String,
    /// The version of the registry that made it.
    pub version: u32,
    /// The tools as the provider is told them, byte for byte.
    pub tools_json: String,
}

/// The list of sessions as of `seq`.
#[derive(Clone, Debug, PartialEq)]
pub struct ListSnapshot {
    /// The number of the last event of the list's topic.
    pub seq: u64,
    /// Pinned first, then the most recently used.
    pub sessions: Vec<SessionInfo>,
    /// How many there are in all.
    pub total: u64,
}

/// Settings and models as of `seq`.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingsState {
    /// The number of the last event of the settings' topic.
    pub seq: u64,
    /// The settings; defaults where none were stored.
    pub settings: Settings,
    /// The models in the order they were added.
    pub models: Vec<ModelEntry>,
}

/// Everything an actor needs to go on with a session.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSession {
    /// Its head.
    pub info: SessionInfo,
    /// Its frozen system prompt.
    pub system: String,
    /// Its frozen tools.
    pub toolset: ToolsetRow,
    /// The number of the session's last event.
    pub seq: u64,
    /// What the model sees, in order: the current generation of the context.
    pub context: Vec<Message>,
    /// The turn that has not ended, if any.
    pub unfinished: Option<StoredTurn>,
    /// The newest turn, ended or not.
    pub last_turn: Option<TurnView>,
    /// Questions that wait, oldest first.
    pub questions: Vec<Question>,
    /// Messages that wait, oldest first.
    pub queue: Vec<Queued>,
    /// The plan.
    pub todos: Vec<Todo>,
    /// Commands that ran in the background, or whose end was not told, when this was stored.
    pub commands: Vec<BackgroundCommand>,
    /// The highest number a plan item ever had, 0 when there never was one.
    pub todo_last_id: u32,
    /// Set while the turn waits because a budget is used up.
    pub budget: Option<BudgetStop>,
    /// Set while a failed model call waits for its next try.
    pub retry: Option<Retry>,
    /// What the person had typed and attached but not sent.
    pub draft: Draft,
    /// What the conversation took in the model's window after the last call.
    pub context_tokens: u64,
    /// Of each model the last call that belonged to the work and of which it is known what it used.
    pub last_calls: Vec<BilledCall>,
    /// What it is a part of, for a sub-agent.
    pub fork: Option<StoredFork>,
}

/// What a sub-agent's session is a part of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFork {
    /// Where it comes from.
    pub origin: ForkOrigin,
    /// The tools it may not use, by name.
    pub forbidden: Vec<String>,
}

/// A sub-agent's session to be created.
#[derive(Clone, Debug, PartialEq)]
pub struct NewFork {
    /// Its head.
    pub info: SessionInfo,
    /// What it is a part of. The title is the parent's own and not stored again.
    pub fork: StoredFork,
    /// What it sees of its parent's conversation.
    pub inherits: Inherits,
}

/// What a sub-agent sees of its parent's conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inherits {
    /// What the parent sees before this message of its own.
    Before(MessageId),
    /// What the parent sees up to this message of its own, and it.
    Through(MessageId),
    /// Nothing.
    Nothing,
}

/// A session to be created that goes on from a place in another one's conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct NewBranch {
    /// Its head.
    pub info: SessionInfo,
    /// Whose conversation it goes on with.
    pub from: SessionId,
    /// From where.
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
    pub told: Told,
}

/// A conversation, all of it over.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// Its turns, oldest first.
    pub turns: Vec<TurnView>,
    /// Its messages, in order.
    pub messages: Vec<Message>,
    /// The calls they make.
    pub calls: Vec<CallView>,
    /// Those the model sees, in order.
    pub context: Vec<MessageId>,
}

/// A turn that has not ended.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredTurn {
    /// The turn.
    pub turn: TurnView,
    /// Its messages, oldest first.
    pub messages: Vec<MessageId>,
    /// Its calls, in the order they were first heard of.
    pub calls: Vec<StoredCall>,
    /// The model's message that was begun and has not ended, if any.
    pub open_message: Option<MessageId>,
    /// Whether the person stopped it: it is ended, not gone on with.
    pub stopping: bool,
}

/// A call of an unfinished turn.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredCall {
    /// The call.
    pub view: CallView,
    /// Its result, stored when it ended, possibly before the message that carries it.
    pub result: Option<ToolResult>,
}

/// The tasks of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeTasks {
    /// The active one.
    pub active: TaskNumber,
    /// The task the conversation is at; none for the active one.
    pub conversation: Option<TaskNumber>,
    /// The highest number ever given.
    pub last: TaskNumber,
    /// By number, the start (0) first.
    pub tasks: Vec<TimeTask>,
}

/// A task of the time machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeTask {
    /// Its number.
    pub number: TaskNumber,
    /// The task it went on from; none for the start.
    pub parent: Option<TaskNumber>,
    /// What it stands for.
    pub kind: TaskKind,
    /// The turn, of a run.
    pub turn: Option<TurnId>,
    /// A short line for the person.
    pub summary: String,
    /// The session's folder then, in the system's own bytes.
    pub folder: Vec<u8>,
    /// When it began.
    pub started_at: Millis,
    /// When it ended; none while it runs.
    pub ended_at: Option<Millis>,
    /// The task whose conversation it went on from, where that is not the parent.
    pub said_after: Option<TaskNumber>,
    /// How much more it did that lasts than is listed.
    pub lasting_more: u32,
}

/// A task to be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTimeTask {
    /// The task it goes on from.
    pub parent: TaskNumber,
    /// What it stands for.
    pub kind: TaskKind,
    /// The turn, of a run.
    pub turn: Option<TurnId>,
    /// A short line for the person.
    pub summary: String,
    /// The session's folder, in the system's own bytes.
    pub folder: Vec<u8>,
}

/// Whether the new task is the active one from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activate {
    /// It is, and it runs.
    Running,
    /// It is, and it has ended.
    Ended,
    /// It stands beside the way, and has ended.
    Beside,
}

/// Which moment of a task a state is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TimeSide {
    /// Before the task first changed the path.
    Before,
    /// As the task left it.
    After,
    /// As it was when later work first changed it, where somebody had changed it in between.
    Left,
}

/// How a state came to be recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeSource {
    /// A file tool named the path.
    Named,
    /// It was found in the session's folder.
    Found,
    /// A restore.
    Restored,
}

/// What a path was like at one moment of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeState {
    /// The absolute path, in the system's own bytes.
    pub path: Vec<u8>,
    /// The task.
    pub number: TaskNumber,
    /// The moment.
    pub side: TimeSide,
    /// How it came to be recorded.
    pub source: TimeSource,
    /// What it was like.
    pub image: FileImage,
}

/// A command that ran when it was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeCommand {
    /// Its number.
    pub key: i64,
    /// The session.
    pub session: SessionId,
    /// The task.
    pub number: TaskNumber,
    /// The folder, in the system's own bytes.
    pub folder: Vec<u8>,
}

/// A thing in the trash.
#[derive(Clone, Debug, PartialEq)]
pub struct TrashRow {
    /// It, as clients see it.
    pub entry: TrashEntry,
    /// Where it was, as the system's bytes.
    pub path: Vec<u8>,
    /// Its permission bits.
    pub mode: u32,
    /// Whether it can be made again and may go before its time.
    pub made_again: bool,
}

/// Which things of the trash are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrashFilter {
    /// Only those whose name or old folder contains this.
    pub query: String,
    /// Only those of this kind.
    pub kind: Option<TrashKind>,
    /// Only those of this project.
    pub project: Option<String>,
}

/// How old and large a thing in the trash is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrashAge {
    /// Which.
    pub id: TrashId,
    /// When it was deleted.
    pub at: octo_protocol::Millis,
    /// Its size in bytes.
    pub size: u64,
    /// Whether it can be made again.
    pub made_again: bool,
}
