//! Requests about conversations as they are read, branched and carried away.

use super::{Call, Request};
use crate::{
    BranchPoint, ExportForm, ExportPreview, ImportPreview, SessionExported, SessionId, SessionInfo,
    TranscriptPart, TranscriptPlace,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

super::domain! {
    /// Requests about conversations.
    TranscriptRequest in Transcripts, TranscriptReplies {
        /// A part of a conversation that need not be its end.
        ReadTranscript {
            /// Which session.
            session: SessionId,
            /// Where.
            place: TranscriptPlace,
            /// How many messages at most (capped at 500).
            limit: u32,
        } -> TranscriptPart;
        /// A new session that goes on from a place in another one's conversation. The other one stays as it is.
        BranchSession {
            /// Which session.
            session: SessionId,
            /// From where.
            at: BranchPoint,
        } -> SessionInfo;
        /// What an export would hold. Nothing is written.
        PreviewExport {
            /// Which session.
            session: SessionId,
            /// In which form.
            form: ExportForm,
        } -> ExportPreview;
        /// Write a session, without secrets, to a new file.
        ExportSession {
            /// Which session.
            session: SessionId,
            /// In which form.
            form: ExportForm,
            /// The new file's absolute path. One that is there is never replaced.
            to: String,
        } -> SessionExported;
        /// What a file of a session holds. Nothing is taken in.
        InspectSessionFile {
            /// The file's absolute path.
            from: String,
        } -> ImportPreview;
        /// A new session with the conversation of a file. It asks before risky acts, and runs nothing by itself.
        ImportSession {
            /// The file's absolute path.
            from: String,
            /// The absolute folder to work in.
            folder: String,
        } -> SessionInfo;
    }
}
