//! What the tests of the tools stand on: a session's folder and calls as a model makes them.

use crate::{Effects, TodoList, ToolContext, ToolError, ToolOutput, Toolset};
use octo_protocol::{CallId, SessionId, ToolView};
use octo_shell::{LoginEnvironment, Shell, ShellConfig};
use octo_workspace::{Blobs, Files, Scope};
use serde_json::Value;
use std::{fs, path::PathBuf, sync::Arc};
use tokio_util::sync::CancellationToken;

/// A session in a folder of its own, beside which `out` lies.
pub(crate) struct Bench {
    _keep: tempfile::TempDir,
    pub folder: PathBuf,
    pub out: PathBuf,
    pub context: ToolContext,
    tools: Toolset,
    runtime: tokio::runtime::Runtime,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let keep = tempfile::tempdir().unwrap();
        let base = keep.path().canonicalize().unwrap();
        let (folder, out) = (base.join("project"), base.join("out"));
        for folder in [&folder, &out] {
            fs::create_dir(folder).unwrap();
        }
        let session = SessionId::new();
        let context = ToolContext {
            session,
            call: CallId::new(),
            cwd: folder.clone(),
            files: Files::new(Scope { folder: folder.clone(), readable: vec![], writable: vec![] }),
            blobs: Blobs::new(base.join("blobs")),
            shell: Shell::new(ShellConfig {
                session,
                scratch: base.join("scratch"),
                login: LoginEnvironment::fixed([]),
                secret_variables: vec![],
            }),
            shell_folder: None,
            rewritten: None,
            todos: TodoList::default(),
            live: Arc::new(|_| {}),
            cancel: CancellationToken::new(),
            vetted: crate::Vetted::Person,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { _keep: keep, folder, out, context, tools: Toolset::standard(), runtime }
    }

    /// Runs a call, its arguments as the model's text.
    pub(crate) fn call_text(&self, tool: &str, arguments: &str) -> Result<ToolOutput, String> {
        let call = self.tools.prepare(tool, arguments).map_err(words)?;
        self.runtime.block_on(call.call.run(self.context.clone())).map_err(words)
    }

    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Result<ToolOutput, String> {
        self.call_text(tool, &arguments.to_string())
    }

    /// The words the model gets.
    pub(crate) fn text(&self, tool: &str, arguments: Value) -> String {
        self.call(tool, arguments).unwrap().text
    }

    pub(crate) fn error(&self, tool: &str, arguments: Value) -> String {
        self.call(tool, arguments).unwrap_err()
    }

    pub(crate) fn preview(&self, tool: &str, arguments: Value) -> Result<ToolView, String> {
        let call = self.tools.prepare(tool, &arguments.to_string()).map_err(words)?;
        self.runtime.block_on(call.call.preview(&self.context)).map_err(words)
    }

    pub(crate) fn effects(&self, tool: &str, arguments: Value) -> Effects {
        self.tools.prepare(tool, &arguments.to_string()).unwrap().call.effects(&self.folder)
    }

    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn get(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder.join(name)).unwrap()
    }
}

fn words(error: ToolError) -> String {
    error.text
}
