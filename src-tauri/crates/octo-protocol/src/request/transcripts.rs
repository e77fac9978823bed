//! Requests for reading, branching and exporting conversations.

use super::{Request, TypedRequest};
use crate::{
    BranchPoint, ExportForm, ExportPreview, ImportPreview, SessionExport, SessionId, SessionInfo,
    TranscriptPart, TranscriptPlace,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

super::domain! {
    /// Requests about conversations.
    TranscriptRequest in Transcripts, TranscriptReplies {
        /// Returns a part of a conversation, not necessarily its end.
        ReadTranscript {
            /// The session.
            session: SessionId,
            /// The position.
            place: TranscriptPlace,
            /// The maximum number of messages (capped at 500).
            limit: u32,
        } -> TranscriptPart;
        /// Creates a session that continues another session's conversation from a given point. The other
        /// session is unchanged.
        BranchSession {
            /// The session.
            session: SessionId,
            /// The branch point.
            at: BranchPoint,
        } -> SessionInfo;
        /// Previews an export. Writes nothing.
        PreviewExport {
            /// The session.
            session: SessionId,
            /// The format.
            form: ExportForm,
        } -> ExportPreview;
        /// Writes a session, without secrets, to a new file.
        ExportSession {
            /// The session.
            session: SessionId,
            /// The format.
            form: ExportForm,
            /// The new file's absolute path. Octo never replaces an existing file.
            to: String,
        } -> SessionExport;
        /// Inspects an exported session's file. Imports nothing.
        InspectSessionFile {
            /// The file's absolute path.
            from: String,
        } -> ImportPreview;
        /// Creates a session with the conversation of a file. It asks before risky actions, and runs nothing on
        /// its own.
        ImportSession {
            /// The file's absolute path.
            from: String,
            /// The absolute folder to work in.
            folder: String,
        } -> SessionInfo;
    }
}
