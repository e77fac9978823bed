//! Requests about sessions.

use super::{Acknowledgement, Request, TypedRequest};
use crate::{
    Answer, Block, BudgetAnswer, Draft, Effort, MessageId, Mode, ModelId, Profile, QuestionId, QueuedId,
    SessionFilter, SessionFolders, SessionHit, SessionId, SessionInfo, SessionSnapshot, SwitchCost,
    TranscriptPage,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

super::domain! {
    /// Requests about sessions.
    SessionRequest in Sessions, SessionReplies {
        /// Returns a page of the list: sessions that wait for the person, then pinned ones, then the rest;
        /// newest first.
        ListSessions {
            /// Only sessions whose title contains this; empty for all.
            query: String,
            /// The filter.
            #[serde(default)]
            #[ts(optional, as = "Option<SessionFilter>")]
            filter: SessionFilter,
            /// The number of sessions to skip.
            offset: u32,
            /// The maximum number of sessions (capped at 200).
            limit: u32,
        } -> SessionList;
        /// Returns the working folders of the listed sessions, most recently used first.
        ListFolders {} -> SessionFolders;
        /// Searches titles and texts: sessions with matching titles, then sessions with their newest matching
        /// message.
        SearchSessions {
            /// The words to search for.
            query: String,
            /// The filter.
            #[serde(default)]
            #[ts(optional, as = "Option<SessionFilter>")]
            filter: SessionFilter,
            /// The maximum number of hits (capped at 100).
            limit: u32,
        } -> SessionHits;
        /// Creates a session with its first message, in one step: both succeed or neither.
        StartSession {
            /// The absolute folder to work in.
            folder: String,
            /// The profile.
            profile: Profile,
            /// The mode.
            mode: Mode,
            /// The model; `None` for the default one.
            model: Option<ModelId>,
            /// The reasoning effort; `None` for the model's default.
            #[serde(default)]
            #[ts(optional)]
            effort: Option<Effort>,
            /// The title; `None` for a title made from the first message.
            #[serde(default)]
            #[ts(optional)]
            title: Option<String>,
            /// The first message.
            blocks: Vec<Block>,
        } -> SessionInfo;
        /// Starts the built-in demo in a throw-away folder. Needs no model and no key.
        StartDemo {} -> SessionInfo;
        /// Returns the current state of a session.
        OpenSession {
            /// The session.
            session: SessionId,
        } -> SessionSnapshot;
        /// Returns a page of messages before a given one.
        Messages {
            /// The session.
            session: SessionId,
            /// Messages before this one.
            before: MessageId,
            /// The maximum number of messages (capped at 500).
            limit: u32,
        } -> TranscriptPage;
        /// Sends a message: it starts a turn, or waits in the queue while one runs. A slash command is carried
        /// out instead.
        Send {
            /// The session.
            session: SessionId,
            /// The message.
            blocks: Vec<Block>,
        } -> SendOutcome;
        /// Stops the running turn. Partial work is kept.
        Stop {
            /// The session.
            session: SessionId,
        } -> Acknowledgement;
        /// Stops a background command. The model learns of it in its next turn.
        StopCommand {
            /// The session.
            session: SessionId,
            /// The command's handle.
            handle: String,
        } -> Acknowledgement;
        /// Answers a turn that waits because a budget is used up.
        AnswerBudget {
            /// The session.
            session: SessionId,
            /// The answer.
            answer: BudgetAnswer,
        } -> Acknowledgement;
        /// Sets the reasoning effort from the next call on; `None` for the model's default.
        SetEffort {
            /// The session.
            session: SessionId,
            /// The effort.
            effort: Option<Effort>,
        } -> Acknowledgement;
        /// Estimates the cost of the next call after a change of the model.
        EstimateSwitch {
            /// The session.
            session: SessionId,
            /// The other model.
            model: ModelId,
        } -> SwitchCost;
        /// Retries the last step of a failed or stopped turn, without a new message.
        RetryTurn {
            /// The session.
            session: SessionId,
        } -> Acknowledgement;
        /// Answers a question.
        AnswerQuestion {
            /// The session.
            session: SessionId,
            /// The question.
            question: QuestionId,
            /// The person's answer.
            answer: Answer,
        } -> Acknowledgement;
        /// Changes a queued message.
        EditQueued {
            /// The session.
            session: SessionId,
            /// The message.
            queued: QueuedId,
            /// Its new content.
            blocks: Vec<Block>,
        } -> Acknowledgement;
        /// Removes a queued message.
        RemoveQueued {
            /// The session.
            session: SessionId,
            /// The message.
            queued: QueuedId,
        } -> Acknowledgement;
        /// Changes the mode, even while a turn runs.
        SetMode {
            /// The session.
            session: SessionId,
            /// The new mode.
            mode: Mode,
        } -> Acknowledgement;
        /// Changes the model; takes effect at the next step of the turn.
        SetModel {
            /// The session.
            session: SessionId,
            /// The new model.
            model: ModelId,
        } -> Acknowledgement;
        /// Changes the folder; takes effect at the next step of the turn.
        SetFolder {
            /// The session.
            session: SessionId,
            /// The absolute folder.
            folder: String,
        } -> Acknowledgement;
        /// Returns a picture from the session's folder, for an answer that shows it.
        GetPicture {
            /// The session.
            session: SessionId,
            /// The path as the answer writes it: below the folder, absolute, or as a `file:` address.
            path: String,
        } -> SessionPicture;
        /// Stores the session's unsent draft.
        SetDraft {
            /// The session.
            session: SessionId,
            /// The draft; an empty one deletes the stored draft.
            draft: Draft,
        } -> Acknowledgement;
        /// Returns the draft stored by [`SetDraft`], from this window or another.
        GetDraft {
            /// The session.
            session: SessionId,
        } -> Draft;
        /// Stores the unsent draft for a session that has not started.
        SetNewDraft {
            /// The draft; an empty one deletes the stored draft.
            draft: Draft,
        } -> Acknowledgement;
        /// Returns the draft stored by [`SetNewDraft`].
        GetNewDraft {} -> Draft;
        /// Renames a session.
        RenameSession {
            /// The session.
            session: SessionId,
            /// The new title.
            title: String,
        } -> Acknowledgement;
        /// Pins or unpins a session.
        PinSession {
            /// The session.
            session: SessionId,
            /// Whether to pin it.
            pinned: bool,
        } -> Acknowledgement;
        /// Marks everything in a session up to now as read, in every window.
        MarkRead {
            /// The session.
            session: SessionId,
        } -> Acknowledgement;
        /// Moves a session to the trash. Stops a running turn first.
        DeleteSession {
            /// The session.
            session: SessionId,
        } -> Acknowledgement;
        /// Restores a deleted session.
        RestoreSession {
            /// The session.
            session: SessionId,
        } -> SessionInfo;
    }
}

/// A picture from a session's folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SessionPicture {
    /// Its media type, detected from its content.
    pub media: String,
    /// Its bytes.
    pub base64: String,
}

/// A page of the session list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SessionList {
    /// The page.
    pub sessions: Vec<SessionInfo>,
    /// The number of all matching sessions.
    #[ts(type = "number")]
    pub total: u64,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SessionHits {
    /// Matching titles first, then texts; newest session first in each group.
    pub hits: Vec<SessionHit>,
}

/// The result of sending a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum SendOutcome {
    /// It started a turn.
    Started,
    /// It waits in the queue.
    Queued {
        /// Its id there.
        id: QueuedId,
    },
    /// It was a slash command, which Octo carried out or answered; see [`crate::Event::CommandAnswered`].
    Command,
    /// It was `/new`: the client shows the new-session screen.
    New,
}
