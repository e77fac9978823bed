//! The conversation: messages made of typed blocks, with everything that is not content in [`Meta`].

use crate::{BackgroundCommand, BlobHash, CallId, ChatService, MessageId, Millis, ModelId, TurnId, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// One message. Codecs serialise `role` and `blocks` by an allow-list; `meta` never leaves the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct Message {
    /// Its id; later messages have later ids.
    pub id: MessageId,
    /// The turn it belongs to.
    pub turn: TurnId,
    /// The speaker, as providers see it.
    pub role: Role,
    /// The content, in order.
    pub blocks: Vec<Block>,
    /// Data that is not content.
    pub meta: Meta,
}

/// The speaker, as providers see it. Tool results are blocks of a `User` message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum Role {
    /// The person, or Octo on the person's side (tool results, notices).
    User,
    /// The model.
    Assistant,
}

/// The source of a message. Only [`Origin::Person`] counts as the person's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum Origin {
    /// Typed by the person.
    Person,
    /// Produced by the model.
    Model,
    /// Injected by Octo: tool results, session context, hints.
    Octo,
}

/// Data about a message that is not its content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct Meta {
    /// Its source.
    pub origin: Origin,
    /// When it was added.
    #[ts(type = "number")]
    pub at: Millis,
    /// The model entry that produced it; `None` for messages not produced by a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub model: Option<ModelId>,
    /// The usage the provider billed for the call that produced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub usage: Option<Usage>,
    /// For a model's message, how it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub end: Option<MessageEnd>,
    /// The chat service the person wrote it in; `None` for a window, and for messages not written by a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub via: Option<ChatService>,
}

impl Meta {
    /// Creates the data of a message that no model call produced and no chat service delivered.
    pub const fn new(origin: Origin, at: Millis) -> Self {
        Self { origin, at, model: None, usage: None, end: None, via: None }
    }
}

/// How a model's message ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum MessageEnd {
    /// The model finished.
    Complete,
    /// The model reached its output limit.
    Truncated,
    /// The person pressed Stop while it streamed; the blocks contain the part received.
    Stopped,
    /// The stream or the application ended before the message did.
    Cut,
}

/// One piece of content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum Block {
    /// Plain text (Markdown from the model).
    Text {
        /// The text.
        text: String,
    },
    /// The model's reasoning.
    Reasoning {
        /// The displayable text; may be empty.
        text: String,
        /// The provider's own block, replayed byte for byte and only to the provider that made it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        replay: Option<Replay>,
    },
    /// A picture.
    Image {
        /// The blob with its bytes.
        blob: BlobHash,
        /// Its media type, for example `image/png`.
        media_type: String,
        /// Its name, displayed, and sent to a model without image support.
        name: String,
    },
    /// A document the person attached, stored as it was then: sent to a model that accepts documents, named by
    /// its path to any other.
    Document {
        /// The blob with its bytes.
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
    /// A tool call by the model.
    ToolCall(ToolCall),
    /// The result of a tool call.
    ToolResult(ToolResult),
    /// A summary that replaces earlier messages.
    Summary {
        /// The summary, Markdown.
        text: String,
        /// The number of messages it replaces.
        #[serde(default)]
        covers: u32,
        /// The file with the full messages, for the model to read; `None` if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        archive: Option<String>,
    },
    /// A message from Octo to the model: date, folder, mode, hints. Hidden from the transcript by default.
    Notice {
        /// Its subject.
        kind: NoticeKind,
        /// The text the model reads.
        text: String,
    },
    /// A message from Octo that background commands have ended. Never the person's words.
    CommandsEnded {
        /// The commands, in the order they ended.
        commands: Vec<BackgroundCommand>,
        /// The text the model reads.
        text: String,
    },
}

/// The subject of a [`Block::Notice`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum NoticeKind {
    /// Date, model, system and folder.
    Context,
    /// The open items of the plan.
    Todos,
    /// A limit cut off the last output; instructions for continuing.
    Truncation,
    /// The person stopped the work.
    Stopped,
    /// The output of one of the person's hooks.
    Hook,
    /// The application ended during the work.
    Interrupted,
    /// The model repeated the same call.
    Loop,
    /// A request to summarise the conversation.
    Compaction,
    /// A skill the person invoked, and its output: the form in which Octo sends the person's own invocations.
    Skill,
    /// Skills that became available while the session ran.
    NewSkills,
    /// The start of a sub-agent's part of the work, with its instructions.
    Fork,
}

/// A reasoning block in the provider's own form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct Replay {
    /// The provider that must receive it: see `octo_llm::ProviderId`.
    pub provider: String,
    /// The block as the provider sent it.
    #[ts(type = "unknown")]
    pub raw: Value,
}

/// A tool call by the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
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

/// The result of a tool call, as the model reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
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

/// A picture in a tool result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct ResultImage {
    /// The blob with its bytes.
    pub blob: BlobHash,
    /// Its media type.
    pub media_type: String,
    /// Its name.
    pub name: String,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum CallStatus {
    /// It succeeded.
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
    /// Returns the calls this message makes, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks.iter().filter_map(|block| match block {
            Block::ToolCall(call) => Some(call),
            _ => None,
        })
    }

    /// Returns all plain text of the message, blocks joined by a blank line.
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
