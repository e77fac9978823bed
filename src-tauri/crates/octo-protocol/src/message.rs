//! The conversation: messages made of typed blocks, with what is not content kept apart in [`Meta`].

use crate::{BackgroundCommand, BlobHash, CallId, ChatService, MessageId, Millis, ModelId, TurnId, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// One message. Codecs serialise `role` and `blocks` by an allow-list; `meta` never leaves the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Message {
    /// Its id; later messages have later ids.
    pub id: MessageId,
    /// The turn it belongs to.
    pub turn: TurnId,
    /// Who speaks, as providers see it.
    pub role: Role,
    /// The content, in order.
    pub blocks: Vec<Block>,
    /// What is not content.
    pub meta: Meta,
}

/// Who speaks, as providers see it. Tool results are blocks of a `User` message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Role {
    /// The person, or Octo on the person's side (tool results, notices).
    User,
    /// The model.
    Assistant,
}

/// Where a message came from. Only [`Origin::Person`] counts as the person's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Origin {
    /// Typed by the person.
    Person,
    /// Produced by the model.
    Model,
    /// Injected by Octo: tool results, session context, hints.
    Octo,
}

/// What is known about a message but is not its content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Meta {
    /// Where it came from.
    pub origin: Origin,
    /// When it was added.
    #[ts(type = "number")]
    pub at: Millis,
    /// The model entry that produced it; none for messages no model produced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub model: Option<ModelId>,
    /// What the provider billed for the call that produced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub usage: Option<Usage>,
    /// How the message ended, for a model's message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub end: Option<MessageEnd>,
    /// The chat service the person wrote it in; none for a window, and for whatever no person wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub via: Option<ChatService>,
}

/// How a model's message ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum MessageEnd {
    /// The model was done.
    Complete,
    /// The model reached its output limit.
    Truncated,
    /// The person pressed Stop while it streamed; the blocks hold what had arrived.
    Stopped,
    /// The stream or the application ended while it streamed.
    Cut,
}

/// One piece of content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum Block {
    /// Plain text (Markdown from the model).
    Text {
        /// The text.
        text: String,
    },
    /// The model's reasoning.
    Reasoning {
        /// What may be shown; may be empty.
        text: String,
        /// The provider's own block, replayed byte for byte and only to the provider that made it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        replay: Option<Replay>,
    },
    /// A picture.
    Image {
        /// Where its bytes are.
        blob: BlobHash,
        /// Its media type, for example `image/png`.
        media_type: String,
        /// Its name, shown and sent where a model takes no images.
        name: String,
    },
    /// A document the person attached, kept as it was then: shown to a model that reads such, named by its
    /// path to one that does not.
    Document {
        /// Where its bytes are.
        blob: BlobHash,
        /// Its media type: `application/pdf`.
        media_type: String,
        /// Its name.
        name: String,
        /// The absolute path it was attached from.
        path: String,
    },
    /// A file the person attached by its path; the model reads it with its tools.
    File {
        /// The absolute path.
        path: String,
    },
    /// The model calls a tool.
    ToolCall(ToolCall),
    /// What a tool call gave.
    ToolResult(ToolResult),
    /// A summary that stands for earlier messages.
    Summary {
        /// The summary, Markdown.
        text: String,
        /// How many messages it stands for.
        #[serde(default)]
        covers: u32,
        /// Where these are written out, for the model to read; none where they are not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        archive: Option<String>,
    },
    /// Something Octo tells the model: date, folder, mode, hints. Hidden from the transcript by default.
    Notice {
        /// What it is about.
        kind: NoticeKind,
        /// The words the model reads.
        text: String,
    },
    /// Octo tells the model that commands which ran in the background are over. Never the person's words.
    CommandsEnded {
        /// The commands, in the order they ended.
        commands: Vec<BackgroundCommand>,
        /// The words the model reads.
        text: String,
    },
}

/// What a [`Block::Notice`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum NoticeKind {
    /// Date, model, system and folder.
    Context,
    /// The open items of the plan.
    Todos,
    /// The last output was cut off by a limit; how to go on.
    Truncation,
    /// The person stopped the work.
    Stopped,
    /// Words of a hook of the person's own.
    Hook,
    /// The application ended during the work.
    Interrupted,
    /// The same call was made again and again.
    Loop,
    /// What was said so far is to be summed up.
    Compaction,
    /// A skill the person invoked, and what it gave: how their own calls are sent.
    Skill,
    /// Skills that came while the session ran.
    NewSkills,
    /// From here on a sub-agent works on a part of the task, and by what instructions.
    Fork,
}

/// A reasoning block in the provider's own form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Replay {
    /// The provider it must go back to: see `octo_llm::ProviderId`.
    pub provider: String,
    /// The block as the provider sent it.
    #[ts(type = "unknown")]
    pub raw: Value,
}

/// The model calls a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ToolCall {
    /// Our id.
    pub id: CallId,
    /// The provider's id, sent back with the result.
    pub provider_id: String,
    /// The name as the model wrote it.
    pub name: String,
    /// The arguments, the exact text the model produced (normally JSON).
    pub arguments: String,
}

/// What a tool call gave, as the model reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ToolResult {
    /// The call it answers.
    pub call: CallId,
    /// The provider's id of that call.
    pub provider_id: String,
    /// How the call ended.
    pub status: CallStatus,
    /// The text the model reads, already capped.
    pub text: String,
    /// Pictures that belong to the result.
    #[serde(default)]
    pub images: Vec<ResultImage>,
}

/// A picture in a tool's result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ResultImage {
    /// Where its bytes are.
    pub blob: BlobHash,
    /// Its media type.
    pub media_type: String,
    /// Its name.
    pub name: String,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum CallStatus {
    /// It did what it should.
    Done,
    /// It ran and failed, or its arguments were wrong.
    Failed,
    /// The person (or a policy) said no; nothing happened.
    Denied,
    /// The person pressed Stop before it ended.
    Stopped,
    /// The application ended while it ran: its effect is unknown.
    Interrupted,
}

impl Message {
    /// The calls this message makes, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks.iter().filter_map(|block| match block {
            Block::ToolCall(call) => Some(call),
            _ => None,
        })
    }

    /// All plain text of the message, blocks joined by a blank line.
    pub fn text(&self) -> String {
        let parts: Vec<&str> = self
            .blocks
            .iter()
            .filter_map(|block| match block {
                Block::Text { text } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        parts.join("\n\n")
    }
}
