//! Context of a running tool: capabilities, never the application.

use crate::{
    BrowserControl, BrowserPermission, BuiltinCommands, Http, SkillInvoker, Trashcan, TurnHistory, WebSearch,
};
use octo_documents::DocumentReader;
use octo_protocol::{CallId, SessionId, Todo};
use octo_shell::{Confinement, RunGuard, Shell};
use octo_workspace::{Blobs, Files, Outputs, Scripts};
use parking_lot::Mutex;
use std::{path::PathBuf, sync::Arc};
use tokio_util::sync::CancellationToken;

/// The capabilities of one call.
#[derive(Clone)]
pub struct ToolContext {
    /// The session.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
    /// Base folder of relative paths; normalised, and existing when the session began.
    pub cwd: PathBuf,
    /// File access, the only way to read and write files.
    pub files: Files,
    /// Storage of pictures.
    pub blobs: Blobs,
    /// Storage of complete long results.
    pub outputs: Outputs,
    /// Document reader, which uses processes of its own.
    pub documents: DocumentReader,
    /// Scripts that read documents where Octo's own readers cannot.
    pub scripts: Scripts,
    /// Access to the web.
    pub http: Http,
    /// Web search.
    pub search: WebSearch,
    /// The session's shell.
    pub shell: Shell,
    /// Folder for a command that names none, once decided; `None` for the current folder of the session's
    /// shell.
    pub shell_folder: Option<PathBuf>,
    /// Command line to run instead of the given one: it redirects removals to the trash that would otherwise
    /// bypass it.
    pub rewritten: Option<String>,
    /// The trash.
    pub trash: Arc<dyn Trashcan>,
    /// The person's browser.
    pub browser: Arc<dyn BrowserControl>,
    /// Permission of the call in the browser, once decided; `None` if it needs none.
    pub browser_permission: Option<BrowserPermission>,
    /// Handler of the builtin commands.
    pub builtin: Arc<dyn BuiltinCommands>,
    /// Skills, and the sub-agents that some of them start.
    pub skills: Arc<dyn SkillInvoker>,
    /// The session's plan.
    pub todos: TodoList,
    /// The session's time machine, for its tools.
    pub tasks: TurnHistory,
    /// Receives output of a running command immediately; text is cleaned, SGR colours kept.
    pub live: LiveOutput,
    /// Confinement of commands; `None` for the person's full rights.
    pub confinement: Option<Confinement>,
    /// Dropped when the call and all its commands have ended.
    pub running: Option<RunGuard>,
    /// Cancelled when the call must end.
    pub cancel: CancellationToken,
    /// Who allowed the call. A command that ran without a question gets an environment of its own.
    pub approved_by: Approver,
}

/// Who allowed a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approver {
    /// The person: by the mode, a rule, or an answer.
    Person,
    /// The policy: the call only reads, and the person was not asked.
    Policy,
}

/// Callback for live output: each call appends.
pub type LiveOutput = Arc<dyn Fn(&str) + Send + Sync>;

/// The session's plan, shared with the session for the length of a call. `last_id` never decreases, so a number
/// is never reused.
#[derive(Clone, Debug, Default)]
pub struct TodoList(pub Arc<Mutex<TodoState>>);

/// The plan and the next number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TodoState {
    /// Items of the plan.
    pub items: Vec<Todo>,
    /// Number of the last item ever added.
    pub last_id: u32,
}
