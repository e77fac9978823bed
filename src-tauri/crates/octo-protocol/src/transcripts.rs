//! A conversation taken elsewhere: pages around a message, branches, exported files.

use crate::{MessageId, Millis, SessionId, TranscriptPage};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Which part of a conversation is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum TranscriptPlace {
    /// The messages around this one, and it.
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
#[ts(export)]
pub struct TranscriptPart {
    /// Its messages with what they mention; `earlier` says whether there are messages before them.
    pub page: TranscriptPage,
    /// Whether there are messages after them.
    pub later: bool,
}

/// Up to where a branch has the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum BranchPoint {
    /// All of it, but for a turn that has not ended.
    Whole,
    /// Up to a message of the person's, without it; its content is the branch's draft.
    Before {
        /// The message.
        message: MessageId,
    },
    /// Up to any message, and it; results of calls it makes belong to it.
    Through {
        /// The message.
        message: MessageId,
    },
}

/// Where a session's conversation comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum SessionOrigin {
    /// Another session.
    Branch {
        /// Which; none while that is in the trash.
        session: Option<SessionId>,
        /// Its title.
        title: String,
        /// Its last message the branch has, or none for all of them.
        message: Option<MessageId>,
    },
    /// A file.
    File {
        /// Its name.
        name: String,
    },
}

/// The form of an exported session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum ExportForm {
    /// Text to read. Pictures are named.
    Markdown,
    /// A page to read in a browser: one file, no script, pictures within.
    Html,
    /// Everything, for another Octo or a program.
    Json,
}

/// What an export would hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ExportPreview {
    /// The file's name.
    pub name: String,
    /// The file's size in bytes.
    #[ts(type = "number")]
    pub bytes: u64,
    /// What is in it, by kind; kinds that do not occur are left out.
    pub parts: Vec<ExportPart>,
    /// How many secrets are left out.
    pub secrets: u32,
}

/// One kind of thing in an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ExportPart {
    /// Which.
    pub kind: ExportKind,
    /// How many.
    pub count: u32,
    /// How much they are before they are written in the export's form, in bytes.
    #[ts(type = "number")]
    pub bytes: u64,
}

/// A kind of thing in an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum ExportKind {
    /// Messages of the person's.
    Asked,
    /// Messages of the model's.
    Answers,
    /// What the model thought, as far as it was shown.
    Reasoning,
    /// Calls of tools with their results.
    Calls,
    /// What Octo told the model.
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
#[ts(export)]
pub struct SessionExported {
    /// The file's absolute path.
    pub path: String,
    /// Its size in bytes.
    #[ts(type = "number")]
    pub bytes: u64,
}

/// What a file of a session holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ImportPreview {
    /// The session's title.
    pub title: String,
    /// The folder it worked in, on whatever machine that was.
    pub folder: String,
    /// When it was last worked in.
    #[ts(type = "number")]
    pub updated_at: Millis,
    /// How many messages it has.
    pub messages: u32,
    /// How many calls of tools. None of them is run again.
    pub calls: u32,
    /// How many pictures.
    pub pictures: u32,
    /// How many of what is no part of a conversation are left out: what an Octo told its model, attached documents.
    pub left_out: u32,
}
