//! Requests about sessions.

use super::{Call, Done, Request};
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
        /// A page of the list: those that wait for the person, then pinned ones, then the rest; newest first.
        ListSessions {
            /// Only sessions whose title contains this; empty for all.
            query: String,
            /// Which sessions are meant.
            #[serde(default)]
            #[ts(optional, as = "Option<SessionFilter>")]
            filter: SessionFilter,
            /// How many to skip.
            offset: u32,
            /// How many at most (capped at 200).
            limit: u32,
        } -> SessionList;
        /// The folders sessions of the list work in, the last used first.
        ListFolders {} -> SessionFolders;
        /// Search titles and texts: sessions whose titles match, then sessions with their newest message that does.
        SearchSessions {
            /// What to look for.
            query: String,
            /// Which sessions are meant.
            #[serde(default)]
            #[ts(optional, as = "Option<SessionFilter>")]
            filter: SessionFilter,
            /// How many hits at most (capped at 100).
            limit: u32,
        } -> SessionHits;
        /// A new session and its first message, in one step: both happen or neither.
        StartSession {
            /// The absolute folder to work in.
            folder: String,
            /// The profile.
            profile: Profile,
            /// The mode.
            mode: Mode,
            /// The model; none for the default one.
            model: Option<ModelId>,
            /// How much the model is asked to reason; none for what it does by itself.
            #[serde(default)]
            #[ts(optional)]
            effort: Option<Effort>,
            /// What it is called; none for a title made from the first message.
            #[serde(default)]
            #[ts(optional)]
            title: Option<String>,
            /// The first message.
            blocks: Vec<Block>,
        } -> SessionInfo;
        /// Start the built-in demo in a throw-away folder. No model, no key.
        StartDemo {} -> SessionInfo;
        /// The session as of now.
        OpenSession {
            /// Which.
            session: SessionId,
        } -> SessionSnapshot;
        /// A page of messages before one.
        Messages {
            /// Which session.
            session: SessionId,
            /// Messages before this one.
            before: MessageId,
            /// How many at most (capped at 500).
            limit: u32,
        } -> TranscriptPage;
        /// Send a message: it starts a turn, or waits in the queue while one runs. A message that is a
        /// slash command is carried out instead.
        Send {
            /// Which session.
            session: SessionId,
            /// The message.
            blocks: Vec<Block>,
        } -> Sent;
        /// Stop the running turn. Partial work stays.
        Stop {
            /// Which session.
            session: SessionId,
        } -> Done;
        /// End a command that runs in the background. The model is told with its next turn.
        StopCommand {
            /// Which session.
            session: SessionId,
            /// The command's handle.
            handle: String,
        } -> Done;
        /// Answer a turn that waits because a budget is used up.
        AnswerBudget {
            /// Which session.
            session: SessionId,
            /// The answer.
            answer: BudgetAnswer,
        } -> Done;
        /// How much the model is asked to reason from the next call on; none for what it does by itself.
        SetEffort {
            /// Which session.
            session: SessionId,
            /// How much.
            effort: Option<Effort>,
        } -> Done;
        /// What a change of the model would cost at the next call.
        EstimateSwitch {
            /// Which session.
            session: SessionId,
            /// The other model.
            model: ModelId,
        } -> SwitchCost;
        /// Run the failed or stopped turn's last step again, without a new message.
        RetryTurn {
            /// Which session.
            session: SessionId,
        } -> Done;
        /// Answer a question.
        AnswerQuestion {
            /// Which session.
            session: SessionId,
            /// Which question.
            question: QuestionId,
            /// What the person says.
            answer: Answer,
        } -> Done;
        /// Change a waiting message.
        EditQueued {
            /// Which session.
            session: SessionId,
            /// Which message.
            queued: QueuedId,
            /// Its new content.
            blocks: Vec<Block>,
        } -> Done;
        /// Remove a waiting message.
        RemoveQueued {
            /// Which session.
            session: SessionId,
            /// Which message.
            queued: QueuedId,
        } -> Done;
        /// Change the mode, also while a turn runs.
        SetMode {
            /// Which session.
            session: SessionId,
            /// The new mode.
            mode: Mode,
        } -> Done;
        /// Change the model; takes effect at the next step.
        SetModel {
            /// Which session.
            session: SessionId,
            /// The new model.
            model: ModelId,
        } -> Done;
        /// Change the folder; takes effect at the next step.
        SetFolder {
            /// Which session.
            session: SessionId,
            /// The absolute folder.
            folder: String,
        } -> Done;
        /// A picture of the session's folder, for an answer that shows it.
        GetPicture {
            /// Which session.
            session: SessionId,
            /// Its place, as the answer names it: below the folder, absolute, or as a `file:` address.
            path: String,
        } -> SessionPicture;
        /// Keep what was typed but not sent.
        SetDraft {
            /// Which session.
            session: SessionId,
            /// What was typed and attached; empty to forget it.
            draft: Draft,
        } -> Done;
        /// What [`SetDraft`] kept, by this window or another.
        GetDraft {
            /// Which session.
            session: SessionId,
        } -> Draft;
        /// Keep what was typed but not sent for a session that is not started yet.
        SetNewDraft {
            /// What was typed and attached; empty to forget it.
            draft: Draft,
        } -> Done;
        /// What [`SetNewDraft`] kept.
        GetNewDraft {} -> Draft;
        /// Rename.
        RenameSession {
            /// Which session.
            session: SessionId,
            /// The new title.
            title: String,
        } -> Done;
        /// Pin or unpin.
        PinSession {
            /// Which session.
            session: SessionId,
            /// Whether it is to be pinned.
            pinned: bool,
        } -> Done;
        /// The person looks at it now: what happened up to here is read, in every window.
        MarkRead {
            /// Which session.
            session: SessionId,
        } -> Done;
        /// Delete to the trash. A running turn is stopped first.
        DeleteSession {
            /// Which session.
            session: SessionId,
        } -> Done;
        /// Bring a deleted session back.
        RestoreSession {
            /// Which session.
            session: SessionId,
        } -> SessionInfo;
    }
}

/// A picture of a session's folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SessionPicture {
    /// Its media type, by what is in it.
    pub media: String,
    /// Its bytes.
    pub base64: String,
}

/// A page of the list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SessionList {
    /// The page.
    pub sessions: Vec<SessionInfo>,
    /// How many match in all.
    #[ts(type = "number")]
    pub total: u64,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SessionHits {
    /// Titles first, then texts; newest session first in each.
    pub hits: Vec<SessionHit>,
}

/// What became of a sent message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum Sent {
    /// It started a turn.
    Started,
    /// It waits in the queue.
    Queued {
        /// Its id there.
        id: QueuedId,
    },
    /// It was a slash command and was carried out or answered; see [`crate::Event::CommandAnswered`].
    Command,
    /// It was `/new`: the client goes to the new-session screen.
    New,
}
