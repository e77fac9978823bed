//! What the person sees of a tool call: the second of the two forms a result is kept in.

use crate::{
    BlobHash, BrowserView, CallId, Millis, OfferedSkill, Refusal, SearchProviderKind, SkillView, SubAgentView,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What a card shows. The model reads [`crate::ToolResult::text`] instead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum ToolView {
    /// Part of a text file was read.
    Text {
        /// The absolute path.
        path: String,
        /// First line shown, from 1.
        first_line: u32,
        /// Last line shown.
        last_line: u32,
        /// Lines in the file, when known.
        total_lines: Option<u32>,
        /// The lines, without numbers, capped.
        text: String,
    },
    /// A folder was listed.
    Folder {
        /// The absolute path.
        path: String,
        /// Names, folders with a trailing slash.
        entries: Vec<String>,
        /// Entries in the folder, listed or not.
        total: u32,
    },
    /// A picture was read.
    Picture {
        /// The absolute path.
        path: String,
        /// Where its bytes are.
        blob: BlobHash,
        /// Its media type.
        media_type: String,
    },
    /// A file was, or would be, changed.
    Diff(DiffView),
    /// A command was, or would be, run.
    Command(CommandView),
    /// Files were found by name.
    Paths {
        /// The pattern.
        pattern: String,
        /// Paths relative to the session's folder where inside it.
        paths: Vec<String>,
        /// All that matched.
        total: u32,
    },
    /// Lines were found by content.
    Matches {
        /// The pattern.
        pattern: String,
        /// The hits, file by file, capped.
        files: Vec<FileMatches>,
        /// Matching lines in all.
        total: u32,
        /// Whether the search stopped at a limit.
        truncated: bool,
    },
    /// The plan changed.
    Todos {
        /// The plan after the change.
        todos: Vec<Todo>,
    },
    /// A question was put to the person.
    Feedback {
        /// The question.
        question: String,
        /// What it is about.
        context: Option<String>,
        /// Offered answers.
        options: Vec<String>,
        /// What the person answered, once they did.
        answer: Option<String>,
    },
    /// The web was searched.
    WebResults {
        /// What was looked for.
        query: String,
        /// Who answered; none before anyone did.
        provider: Option<SearchProviderKind>,
        /// What was found, best first.
        results: Vec<WebResult>,
    },
    /// A page of the web was, or would be, fetched.
    WebPage(WebPageView),
    /// Something was, or would be, done in the person's browser.
    Browser(BrowserView),
    /// A skill's instructions were, or would be, loaded.
    Skill(SkillView),
    /// A sub-agent works, worked or would work.
    SubAgent(SubAgentView),
    /// Skills from elsewhere that would be installed.
    LibraryOffer(LibraryOfferView),
    /// The call was refused, whatever the mode and the rules.
    Refused {
        /// What it would have been: a command line, a path.
        subject: String,
        /// The part it was refused for, where one part can be named.
        part: Option<String>,
        /// Why.
        refusal: Refusal,
    },
    /// Nothing better is known: the result as text.
    Plain {
        /// The text, capped.
        text: String,
    },
}

/// Skills that would be installed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct LibraryOfferView {
    /// Where they come from.
    pub from: String,
    /// They, with all that is to be known of them.
    pub skills: Vec<OfferedSkill>,
}

/// One result of a search of the web. All of it is text of strangers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct WebResult {
    /// The page's title.
    pub title: String,
    /// Its address, http or https.
    pub url: String,
    /// Some words of it; empty where none were given.
    pub snippet: String,
}

/// A page of the web.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct WebPageView {
    /// Its address, after redirects.
    pub url: String,
    /// Its title, where it has one.
    pub title: Option<String>,
    /// The HTTP status; none before it was fetched.
    pub status: Option<u16>,
    /// Its media type, without parameters.
    pub media_type: Option<String>,
    /// The text the model got, without its frame; empty before it was fetched.
    pub text: String,
    /// The file with the whole text, when `text` is not all of it.
    pub file: Option<String>,
}

/// A change of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct DiffView {
    /// The absolute path.
    pub path: String,
    /// What happens to the file.
    pub change: FileChange,
    /// Lines added in all.
    pub added: u32,
    /// Lines removed in all.
    pub removed: u32,
    /// The changed parts with their surroundings.
    pub hunks: Vec<Hunk>,
    /// Whether hunks were left out because the change is very large.
    pub truncated: bool,
}

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum FileChange {
    /// It did not exist.
    Created,
    /// It existed.
    Edited,
}

/// A run of lines of a diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Hunk {
    /// Its lines in order.
    pub lines: Vec<DiffLine>,
}

/// One line of a diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct DiffLine {
    /// Line number before, from 1; none for an added line.
    pub old: Option<u32>,
    /// Line number after, from 1; none for a removed line.
    pub new: Option<u32>,
    /// The line in parts; emphasised parts are what changed within the line.
    pub parts: Vec<DiffPart>,
}

/// A part of a diff line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct DiffPart {
    /// The text, without its line end.
    pub text: String,
    /// Whether this part changed within the line.
    pub emphasis: bool,
}

/// A command and what is known of its run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct CommandView {
    /// The command line.
    pub command: String,
    /// The folder it runs in.
    pub cwd: String,
    /// Its cleaned output with colours as SGR escapes, head and tail; none before it ran.
    pub output: Option<String>,
    /// How it ended or stands; none before it ran.
    pub state: Option<CommandState>,
    /// How long it ran, in milliseconds.
    #[ts(type = "number | null")]
    pub duration_ms: Option<u64>,
    /// The file with the whole output, when `output` is not all of it.
    pub log: Option<String>,
    /// The handle by which a command that still runs is reached.
    pub handle: Option<String>,
}

/// How a command ended or stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum CommandState {
    /// It ended with this exit status.
    Exited {
        /// The status, 0 for success.
        code: i32,
    },
    /// A signal ended it.
    Signalled {
        /// The signal's number.
        signal: i32,
    },
    /// It waits for input.
    Waiting,
    /// It was still running when the call's time was over.
    Running,
    /// It was killed on request.
    Killed,
    /// It was ended because it ran longer than a command may. Never a success.
    TimedOut,
    /// It was running when Octo ended, and was ended with it. What it did until then may remain.
    EndedWithOcto,
}

impl CommandState {
    /// Whether the command is over.
    pub fn is_over(self) -> bool {
        match self {
            Self::Waiting | Self::Running => false,
            Self::Exited { .. }
            | Self::Signalled { .. }
            | Self::Killed
            | Self::TimedOut
            | Self::EndedWithOcto => true,
        }
    }
}

/// A command that went on after the call that started it was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct BackgroundCommand {
    /// By which the session reaches it; never used twice.
    pub handle: String,
    /// The call that started it.
    pub call: CallId,
    /// The command line.
    pub command: String,
    /// The folder it runs in.
    pub cwd: String,
    /// When it was started.
    #[ts(type = "number")]
    pub started_at: Millis,
    /// When it ended; none while it runs.
    #[ts(type = "number | null")]
    pub ended_at: Option<Millis>,
    /// How it ended or stands.
    pub state: CommandState,
    /// The file with its output; none where it could not be written.
    pub log: Option<String>,
    /// The last line it wrote that is not empty, at most 200 characters; empty while it runs.
    pub last_line: String,
}

/// Matching lines of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct FileMatches {
    /// The path, relative to the session's folder where inside it.
    pub path: String,
    /// Its lines.
    pub lines: Vec<MatchLine>,
}

/// One line of a search result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct MatchLine {
    /// The line's number, from 1.
    #[ts(type = "number")]
    pub number: u64,
    /// The line, cut to a bearable length.
    pub text: String,
    /// Whether it matched, or only surrounds a match.
    pub is_match: bool,
}

/// One item of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Todo {
    /// Its number; never used twice in a session.
    pub id: u32,
    /// What is to be done.
    pub task: String,
    /// How it stands.
    pub status: TodoStatus,
}

/// How an item of the plan stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Being worked on.
    InProgress,
    /// Done.
    Completed,
}
