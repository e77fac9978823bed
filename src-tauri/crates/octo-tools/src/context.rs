//! What a running tool is handed: capabilities, never the application.

use crate::{BrowserLeave, Browsing, Desk, Http, Search, Skills, Tasks, Trashcan};
use octo_documents::Reader;
use octo_protocol::{CallId, SessionId, Todo};
use octo_shell::{Confinement, Shell};
use octo_workspace::{Blobs, Files, Outputs, Scripts};
use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
};
use tokio_util::sync::CancellationToken;

/// The capabilities of one call.
#[derive(Clone)]
pub struct ToolContext {
    /// The session.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
    /// The folder relative paths start from; normalised and existing when the session began.
    pub cwd: PathBuf,
    /// Files, the only way to read and write them.
    pub files: Files,
    /// Where pictures are kept.
    pub blobs: Blobs,
    /// Where long results are kept whole.
    pub outputs: Outputs,
    /// Reads documents, in processes of their own.
    pub documents: Reader,
    /// What reads documents where Octo's own readers cannot.
    pub scripts: Scripts,
    /// The way into the web.
    pub http: Http,
    /// Searches the web.
    pub search: Search,
    /// The session's commands.
    pub shell: Shell,
    /// Where a command without a folder of its own runs, once that was decided; none for where the session's
    /// commands stand.
    pub shell_folder: Option<PathBuf>,
    /// The command line to run in place of the one that was given: removals that would pass the trash by go
    /// through it.
    pub rewritten: Option<String>,
    /// What was deleted and can be brought back.
    pub trash: Arc<dyn Trashcan>,
    /// The person's browser.
    pub browser: Arc<dyn Browsing>,
    /// What the call may do there, once that was decided; none for nothing that needs leave.
    pub browser_leave: Option<BrowserLeave>,
    /// What answers Octo's own commands.
    pub desk: Arc<dyn Desk>,
    /// Skills, and the sub-agents some of them start.
    pub skills: Arc<dyn Skills>,
    /// The session's plan.
    pub todos: TodoList,
    /// The session's tasks.
    pub tasks: Tasks,
    /// Takes output of a running command as it comes; text is cleaned, SGR colours kept.
    pub live: LiveOutput,
    /// What the system lets a command touch; none for everything the person may.
    pub confinement: Option<Confinement>,
    /// Ends when the call must end.
    pub cancel: CancellationToken,
    /// Who let the call run. A command nobody was asked about runs in an environment of its own.
    pub vetted: Vetted,
}

/// Who let a call run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vetted {
    /// The person: by the mode, a rule, or an answer.
    Person,
    /// The policy: the call was found to only read, and nobody was asked.
    Policy,
}

/// Takes live output: each call appends.
pub type LiveOutput = Arc<dyn Fn(&str) + Send + Sync>;

/// The session's plan, shared with the session for the length of a call. `next_id` never goes back, so a
/// number is never used twice.
#[derive(Clone, Debug, Default)]
pub struct TodoList(pub Arc<Mutex<TodoState>>);

/// The plan and the next number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TodoState {
    /// The items.
    pub items: Vec<Todo>,
    /// The number the next item gets, minus one.
    pub last_id: u32,
}
