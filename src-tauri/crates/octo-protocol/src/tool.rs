//! Tool calls as the person sees them: the second of the two stored forms of a result.

use crate::{
    BlobHash, BrowserView, CallId, Millis, OfferedSkill, Refusal, SearchProviderKind, SkillView, SubAgentView,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The content of a tool call's card. The model reads [`crate::ToolResult::text`] instead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum ToolView {
    /// An excerpt of a text file.
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
    /// The entries of a folder.
    Folder {
        /// The absolute path.
        path: String,
        /// Names, folders with a trailing slash.
        entries: Vec<String>,
        /// The total number of entries, listed or not.
        total: u32,
    },
    /// A picture file.
    Picture {
        /// The absolute path.
        path: String,
        /// The blob with its bytes.
        blob: BlobHash,
        /// Its media type.
        media_type: String,
    },
    /// A change of a file, done or planned.
    Diff(DiffView),
    /// A command, run or planned.
    Command(CommandView),
    /// Files found by name.
    Paths {
        /// The pattern.
        pattern: String,
        /// Paths, relative to the session's folder if inside it.
        paths: Vec<String>,
        /// The total number of matches.
        total: u32,
    },
    /// Lines found by content.
    Matches {
        /// The pattern.
        pattern: String,
        /// The hits, file by file, capped.
        files: Vec<FileMatches>,
        /// The total number of matching lines.
        total: u32,
        /// Whether the search stopped at a limit.
        truncated: bool,
    },
    /// A change of the plan.
    Todos {
        /// The plan after the change.
        todos: Vec<Todo>,
    },
    /// A question to the person.
    Feedback {
        /// The question.
        question: String,
        /// Background for the question.
        context: Option<String>,
        /// The answers offered.
        options: Vec<String>,
        /// The person's answer, once given.
        answer: Option<String>,
    },
    /// A web search.
    WebResults {
        /// The query.
        query: String,
        /// The provider that answered; `None` before any did.
        provider: Option<SearchProviderKind>,
        /// The results, best first.
        results: Vec<WebResult>,
    },
    /// A web page, fetched or to be fetched.
    WebPage(WebPageView),
    /// An action in the person's browser, done or planned.
    Browser(BrowserView),
    /// A skill whose instructions were, or would be, loaded.
    Skill(SkillView),
    /// A sub-agent, past, present or planned.
    SubAgent(SubAgentView),
    /// Skills that would be installed from another source.
    LibraryOffer(LibraryOfferView),
    /// A call Octo refused, regardless of mode and rules.
    Refused {
        /// The refused action: a command line, a path.
        subject: String,
        /// The refused part, if one part can be named.
        part: Option<String>,
        /// The reason.
        refusal: Refusal,
    },
    /// The result as text, if no better form is known.
    Plain {
        /// The text, capped.
        text: String,
    },
}

/// Skills that would be installed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct LibraryOfferView {
    /// Their source.
    pub from: String,
    /// The skills, with everything known about them.
    pub skills: Vec<OfferedSkill>,
}

/// A result of a web search. All of it is untrusted text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct WebResult {
    /// The page's title.
    pub title: String,
    /// Its address, http or https.
    pub url: String,
    /// An excerpt; empty if the provider gave none.
    pub snippet: String,
}

/// A page of the web.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct WebPageView {
    /// Its address, after redirects.
    pub url: String,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// The HTTP status; `None` before the fetch.
    pub status: Option<u16>,
    /// Its media type, without parameters.
    pub media_type: Option<String>,
    /// The text the model received, without its wrapper; empty before the fetch.
    pub text: String,
    /// The file with the complete text, if `text` is only a part.
    pub file: Option<String>,
}

/// A change of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct DiffView {
    /// The absolute path.
    pub path: String,
    /// The kind of change.
    pub change: FileChange,
    /// The total number of lines added.
    pub added: u32,
    /// The total number of lines removed.
    pub removed: u32,
    /// The changed parts with their context.
    pub hunks: Vec<Hunk>,
    /// Whether hunks are missing because the change is very large.
    pub truncated: bool,
}

/// The kind of a file change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum FileChange {
    /// A new file.
    Created,
    /// An existing file.
    Edited,
}

/// A run of lines of a diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct Hunk {
    /// Its lines in order.
    pub lines: Vec<DiffLine>,
}

/// One line of a diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct DiffLine {
    /// The line number before the change, from 1; `None` for an added line.
    pub old: Option<u32>,
    /// The line number after the change, from 1; `None` for a removed line.
    pub new: Option<u32>,
    /// The line in parts; emphasised parts changed within the line.
    pub parts: Vec<DiffPart>,
}

/// A part of a diff line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct DiffPart {
    /// The text, without its line ending.
    pub text: String,
    /// Whether this part changed within the line.
    pub emphasis: bool,
}

/// A command and its run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct CommandView {
    /// The command line.
    pub command: String,
    /// The folder it runs in.
    pub cwd: String,
    /// Its cleaned output with colours as SGR escapes, head and tail; `None` before it ran.
    pub output: Option<String>,
    /// Its state; `None` before it ran.
    pub state: Option<CommandState>,
    /// The duration of its run, in milliseconds.
    #[ts(type = "number | null")]
    pub duration_ms: Option<u64>,
    /// The file with the complete output, if `output` is only a part.
    pub log: Option<String>,
    /// The handle of a command that is still running.
    pub handle: Option<String>,
    /// The folder the session left because it no longer exists. The next command starts in another folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub lost_folder: Option<String>,
}

/// The state of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
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
    /// It is waiting for input.
    Waiting,
    /// It was still running at the call's timeout.
    Running,
    /// It was killed on request.
    Killed,
    /// It exceeded the time limit of a command and was killed. Never a success.
    TimedOut,
    /// It was running when Octo ended, and ended with it. Its effects up to then may remain.
    EndedWithOcto,
}

impl CommandState {
    /// Returns whether the command is over.
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

/// A command that continued after Octo answered the call that started it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct BackgroundCommand {
    /// The handle by which the session addresses it; never reused.
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
    /// When it ended; `None` while it runs.
    #[ts(type = "number | null")]
    pub ended_at: Option<Millis>,
    /// Its state.
    pub state: CommandState,
    /// The file with its output; `None` if it could not be written.
    pub log: Option<String>,
    /// The last non-empty line of its output, at most 200 characters; empty while it runs.
    pub last_line: String,
}

/// Matching lines of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct FileMatches {
    /// The path, relative to the session's folder if inside it.
    pub path: String,
    /// Its lines.
    pub lines: Vec<MatchLine>,
}

/// One line of a search result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct MatchLine {
    /// The line's number, from 1.
    #[ts(type = "number")]
    pub number: u64,
    /// The line, cut to a displayable length.
    pub text: String,
    /// Whether it matched, or is only context.
    pub is_match: bool,
}

/// One item of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct Todo {
    /// Its number; never reused in a session.
    pub id: u32,
    /// The work to do.
    pub task: String,
    /// Its status.
    pub status: TodoStatus,
}

/// The status of a plan item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum TodoStatus {
    /// Not started.
    Pending,
    /// In progress.
    InProgress,
    /// Done.
    Completed,
}
