//! Access to whole conversations: pages around a message, branches, exported files.

use crate::{MessageId, Millis, SessionId, TranscriptPage};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The position of a part of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum TranscriptPlace {
    /// The messages around this one, including it.
    Around {
        /// The message.
        message: MessageId,
    },
    /// The messages after this one.
    After {
        /// The message.
        message: MessageId,
    },
}

/// A part of a conversation that may end before the newest message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct TranscriptPart {
    /// Its messages with their turns and calls; `earlier` says whether there are messages before them.
    pub page: TranscriptPage,
    /// Whether there are later messages.
    pub later: bool,
}

/// The end of a branch's copy of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum BranchPoint {
    /// The whole conversation, except for a turn that has not ended.
    Whole,
    /// Up to one of the person's messages, excluding it; its content becomes the branch's draft.
    Before {
        /// The message.
        message: MessageId,
    },
    /// Up to and including any message, with the results of its calls.
    Through {
        /// The message.
        message: MessageId,
    },
}

/// The origin of a session's conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum SessionOrigin {
    /// Another session.
    Branch {
        /// The session; `None` while it is in the trash.
        session: Option<SessionId>,
        /// Its title.
        title: String,
        /// The last of its messages that the branch contains, or `None` for all of them.
        message: Option<MessageId>,
    },
    /// A file.
    File {
        /// Its name.
        name: String,
    },
}

/// The format of an exported session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum ExportForm {
    /// Text to read. Pictures appear by name.
    Markdown,
    /// A page to read in a browser: one file, no script, embedded pictures.
    Html,
    /// Everything, for another Octo or a program.
    Json,
}

/// A preview of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct ExportPreview {
    /// The file's name.
    pub name: String,
    /// The file's size in bytes.
    #[ts(type = "number")]
    pub bytes: u64,
    /// The contents by kind; kinds that do not occur are omitted.
    pub parts: Vec<ExportPart>,
    /// The number of secrets removed.
    pub secrets: u32,
}

/// One kind of content in an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct ExportPart {
    /// The kind.
    pub kind: ExportKind,
    /// The number of items.
    pub count: u32,
    /// Their size in bytes, before conversion to the export's format.
    #[ts(type = "number")]
    pub bytes: u64,
}

/// A kind of content in an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum ExportKind {
    /// The person's messages.
    Asked,
    /// The model's messages.
    Answers,
    /// The model's displayable reasoning.
    Reasoning,
    /// Tool calls with their results.
    Calls,
    /// Octo's messages to the model.
    Notices,
    /// Summaries of earlier messages.
    Summaries,
    /// Pictures.
    Pictures,
    /// Names of attached files and documents; their content is not in the export.
    Files,
}

/// An exported session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SessionExport {
    /// The file's absolute path.
    pub path: String,
    /// Its size in bytes.
    #[ts(type = "number")]
    pub bytes: u64,
}

/// A preview of an exported session's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct ImportPreview {
    /// The session's title.
    pub title: String,
    /// The folder it worked in, possibly on another machine.
    pub folder: String,
    /// When the session was last used.
    #[ts(type = "number")]
    pub updated_at: Millis,
    /// The number of messages.
    pub messages: u32,
    /// The number of tool calls. None of them runs again.
    pub calls: u32,
    /// The number of pictures.
    pub pictures: u32,
    /// The number of omitted items that are not part of the conversation: Octo's messages to its model,
    /// attached documents.
    pub left_out: u32,
}
