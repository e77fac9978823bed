//! The tools in fixed order, and the lookup of a model's call.

use crate::{
    DynTool, Effects, PreparedCall, ToolContext, ToolError, ToolOutput, arguments,
    browser::BrowserTool,
    edit::EditTool,
    file_reader::FileReaderTool,
    glob::GlobTool,
    grep::GrepTool,
    invoke_skill::InvokeSkillTool,
    request_user_feedback::RequestUserFeedbackTool,
    tasks::{ListTasksTool, RedoTaskTool, UndoTaskTool},
    terminal::TerminalTool,
    todo_manager::TodoManagerTool,
    trash_manager::TrashManagerTool,
    web_fetch::WebFetchTool,
    web_search::WebSearchTool,
    write::WriteTool,
};
use futures::future::BoxFuture;
use octo_protocol::{TOOL_NAMES, ToolView};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::{path::Path, sync::Arc};

/// Version of the tool set. Raise it when a name, a description, a schema or the order changes: sessions are
/// frozen with a version.
const TOOLSET_VERSION: u32 = 6;

/// Definition of a tool for a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// Its name.
    pub name: String,
    /// Description for the model.
    pub description: String,
    /// Its parameters, as a JSON Schema object.
    pub parameters: Value,
}

/// The tools of a session, in fixed order. Cheap to clone.
#[derive(Clone)]
pub struct Toolset {
    tools: Arc<[Arc<dyn DynTool>]>,
    definitions: Arc<[ToolDefinition]>,
}

/// A call with its tool found and its arguments parsed.
pub struct ResolvedCall {
    /// The tool's own name, not the model's spelling.
    pub name: &'static str,
    /// Its final arguments: repaired, renamed and coerced.
    pub arguments: Map<String, Value>,
    /// The call.
    pub call: Box<dyn PreparedCall>,
}

impl Toolset {
    /// Returns the names of the tools, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.tools.iter().map(|tool| tool.name())
    }

    /// Returns all tools.
    pub fn standard() -> Self {
        Self::of(standard())
    }

    fn of(tools: Vec<Arc<dyn DynTool>>) -> Self {
        let definitions = tools
            .iter()
            .map(|tool| ToolDefinition {
                name: tool.name().to_owned(),
                description: tool.description().to_owned(),
                parameters: tool.schema(),
            })
            .collect();
        Self { tools: tools.into(), definitions }
    }

    /// Returns the definitions, in order: part of every session's frozen prefix.
    pub fn definitions(&self) -> Arc<[ToolDefinition]> {
        Arc::clone(&self.definitions)
    }

    /// Returns the version of this set of definitions.
    pub fn version(&self) -> u32 {
        TOOLSET_VERSION
    }

    /// Returns the BLAKE3 hash of the definitions' JSON, in hex: it distinguishes two sets of one version.
    pub fn hash(&self) -> String {
        // Serialising strings and JSON values cannot fail.
        let bytes = serde_json::to_vec(&self.definitions).unwrap_or_default();
        blake3::hash(&bytes).to_hex().to_string()
    }

    /// Finds the tool with that name: exactly, ignoring case, by an alias, and all of these again with `-` as
    /// `_`.
    pub fn resolve(&self, name: &str) -> Option<Arc<dyn DynTool>> {
        let name = name.trim();
        self.find(name).or_else(|| self.find(&name.replace('-', "_")))
    }

    fn find(&self, name: &str) -> Option<Arc<dyn DynTool>> {
        let by_name = |wanted_name: &str| {
            self.tools.iter().find(|tool| tool.name().eq_ignore_ascii_case(wanted_name)).cloned()
        };
        by_name(name).or_else(|| {
            let is_alias = |alias: &&str| alias.eq_ignore_ascii_case(name);
            let meant = TOOL_NAMES.iter().find(|tool| tool.aliases.iter().any(is_alias));
            meant.and_then(|tool| by_name(tool.name))
        })
    }

    /// Finds the tool and parses the model's arguments. The error is for the model: an unknown tool with
    /// similar names, or the faulty argument and its problem. It has no effects.
    pub fn prepare(&self, name: &str, arguments: &str) -> Result<ResolvedCall, ToolError> {
        let tool = self.resolve(name).ok_or_else(|| self.unknown(name))?;
        let name = tool.name();
        let read = arguments::read(name, arguments, &tool.schema())?;
        let arguments = read.values.clone();
        let call = tool.prepare(Value::Object(read.values))?;
        let call = if read.remarks.is_empty() {
            call
        } else {
            Box::new(AnnotatedCall { call, remarks: read.remarks })
        };
        Ok(ResolvedCall { name, arguments, call })
    }

    fn unknown(&self, name: &str) -> ToolError {
        let mut similar: Vec<(f64, &str)> =
            self.tools.iter().map(|tool| (similarity(name, tool.name()), tool.name())).collect();
        similar.sort_by(|a, b| b.0.total_cmp(&a.0));
        let similar: Vec<&str> =
            similar.into_iter().filter(|(likeness, _)| *likeness > 0.3).map(|(_, name)| name).collect();
        let meant = match similar.as_slice() {
            [] => String::new(),
            similar => format!(" Did you mean {}?", similar.join(" or ")),
        };
        let available: Vec<&str> = self.tools.iter().map(|tool| tool.name()).collect();
        ToolError::new(format!("Tool not found: {name}.{meant} The tools are: {}.", available.join(", ")))
    }
}

/// Returns the tools of every session, in order.
fn standard() -> Vec<Arc<dyn DynTool>> {
    vec![
        Arc::new(TerminalTool),
        Arc::new(FileReaderTool),
        Arc::new(WriteTool),
        Arc::new(EditTool),
        Arc::new(GlobTool),
        Arc::new(GrepTool),
        Arc::new(WebSearchTool),
        Arc::new(WebFetchTool),
        Arc::new(TodoManagerTool),
        Arc::new(RequestUserFeedbackTool),
        Arc::new(InvokeSkillTool),
        Arc::new(UndoTaskTool),
        Arc::new(RedoTaskTool),
        Arc::new(ListTasksTool),
        Arc::new(BrowserTool),
        Arc::new(TrashManagerTool),
    ]
}

/// Returns the likeness of two names, 0 to 1: the letter pairs they share (Dice's coefficient).
fn similarity(a: &str, b: &str) -> f64 {
    let pairs = |text: &str| -> Vec<(char, char)> {
        let characters: Vec<char> =
            text.to_ascii_lowercase().chars().filter(|c| c.is_alphanumeric()).collect();
        characters.iter().copied().zip(characters.iter().copied().skip(1)).collect()
    };
    let (a, mut b) = (pairs(a), pairs(b));
    let total = a.len() + b.len();
    let mut common = 0;
    for pair in a {
        if let Some(index) = b.iter().position(|candidate| *candidate == pair) {
            b.swap_remove(index);
            common += 1;
        }
    }
    if total == 0 { 0.0 } else { f64::from(2 * common) / total as f64 }
}

/// A call whose result also reports the changes made to its arguments.
struct AnnotatedCall {
    call: Box<dyn PreparedCall>,
    remarks: Vec<String>,
}

impl PreparedCall for AnnotatedCall {
    fn effects(&self, cwd: &Path) -> Effects {
        self.call.effects(cwd)
    }

    fn preview<'a>(&'a self, context: &'a ToolContext) -> BoxFuture<'a, Result<ToolView, ToolError>> {
        self.call.preview(context)
    }

    fn run(self: Box<Self>, context: ToolContext) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let remarks = self.remarks.join(" ");
            let add = |text: String| format!("{text}\n({remarks})");
            match self.call.run(context).await {
                Ok(output) => Ok(ToolOutput { text: add(output.text), ..output }),
                Err(error) => Err(ToolError::new(add(error.text))),
            }
        })
    }
}

#[cfg(test)]
mod tests;
