//! The `todo_manager` tool: the session's plan.

use crate::{Effects, Outcome, TodoState, Tool, ToolContext, ToolError, ToolOutput};
use octo_protocol::{Todo, TodoStatus, ToolView};
use schemars::JsonSchema;
use serde::Deserialize;
use std::{fmt::Write, path::Path};

pub(crate) struct TodoManagerTool;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct TodoInput {
    /// What to do.
    action: Action,
    /// For add: one task or several.
    task: Option<OneOrMany<String>>,
    /// For in_progress, complete and remove: one id or several.
    id: Option<OneOrMany<u32>>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Action {
    Add,
    List,
    InProgress,
    Complete,
    Remove,
    Clear,
}

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    fn into_vec(self) -> Vec<T> {
        match self {
            Self::One(value) => vec![value],
            Self::Many(values) => values,
        }
    }
}

impl Tool for TodoManagerTool {
    const NAME: &'static str = "todo_manager";
    const DESCRIPTION: &'static str = "Keeps the plan the person sees. Use it for work of several steps: add \
        tasks first, mark one in_progress when you begin it, complete it when done. The plan clears itself when \
        all are complete.";
    type Input = TodoInput;

    fn effects(&self, _input: &TodoInput, _cwd: &Path) -> Effects {
        Effects::none()
    }

    async fn preview(&self, _input: &TodoInput, context: &ToolContext) -> Result<ToolView, ToolError> {
        Ok(ToolView::Todos { todos: context.todos.0.lock().items.clone() })
    }

    async fn run(&self, input: TodoInput, context: ToolContext) -> Result<ToolOutput, ToolError> {
        let change = apply(&mut context.todos.0.lock(), input)?;
        let view = ToolView::Todos { todos: change.todos };
        Ok(ToolOutput { text: change.text, images: Vec::new(), view, outcome: Outcome::Done })
    }
}

/// Result of a change: text for the model and the plan to show. When the last item is completed, the shown plan
/// still has its items, while the stored plan is empty.
struct TodoChange {
    text: String,
    todos: Vec<Todo>,
}

fn apply(state: &mut TodoState, input: TodoInput) -> Result<TodoChange, ToolError> {
    let ids = input.id.map(OneOrMany::into_vec).unwrap_or_default();
    let message = match input.action {
        Action::Add => add(state, input.task.map(OneOrMany::into_vec).unwrap_or_default())?,
        Action::List => String::new(),
        Action::InProgress => set_status(state, &ids, TodoStatus::InProgress)?,
        Action::Complete => set_status(state, &ids, TodoStatus::Completed)?,
        Action::Remove => remove(state, &ids)?,
        Action::Clear => {
            let count = state.items.len();
            state.items.clear();
            format!("Cleared {count} tasks.")
        }
    };
    let todos = state.items.clone();
    let completed = todos.iter().filter(|todo| todo.status == TodoStatus::Completed).count();
    let mut text = message;
    if !todos.is_empty() && completed == todos.len() && input.action == Action::Complete {
        state.items.clear();
        text.push_str(&format!("\nAll tasks completed and cleared! ({completed}/{})", todos.len()));
    } else {
        text.push_str(&format!("\n{}", plan(&todos, completed)));
    }
    Ok(TodoChange { text: text.trim_start().to_owned(), todos })
}

fn add(state: &mut TodoState, tasks: Vec<String>) -> Result<String, ToolError> {
    let tasks: Vec<&str> = tasks.iter().map(|task| task.trim()).filter(|task| !task.is_empty()).collect();
    if tasks.is_empty() {
        return Err(ToolError::new(
            "A task is required: say in `task` what is to be done. Nothing was added.",
        ));
    }
    state.items.retain(|todo| todo.status != TodoStatus::Completed);
    for task in &tasks {
        state.last_id = state.last_id.saturating_add(1);
        state.items.push(Todo { id: state.last_id, task: (*task).to_owned(), status: TodoStatus::Pending });
    }
    Ok(format!("Added {} tasks.", tasks.len()))
}

fn set_status(state: &mut TodoState, ids: &[u32], status: TodoStatus) -> Result<String, ToolError> {
    let (existing, unknown) = split_ids(state, ids)?;
    let (mut changed, mut already) = (Vec::new(), Vec::new());
    for todo in state.items.iter_mut().filter(|todo| existing.contains(&todo.id)) {
        let list = if todo.status == status { &mut already } else { &mut changed };
        list.push(todo.id);
        todo.status = status;
    }
    let verb = match status {
        TodoStatus::Completed => "completed",
        TodoStatus::InProgress => "in progress",
        TodoStatus::Pending => "pending",
    };
    let mut text = String::new();
    // Writing to a string does not fail.
    if !changed.is_empty() {
        let _ = write!(text, "Now {verb}: {}. ", list(&changed));
    }
    if !already.is_empty() {
        let _ = write!(text, "Already {verb}: {}. ", list(&already));
    }
    if !unknown.is_empty() {
        let _ = write!(text, "Task not found: {}.", list(&unknown));
    }
    Ok(text.trim_end().to_owned())
}

fn remove(state: &mut TodoState, ids: &[u32]) -> Result<String, ToolError> {
    let (existing, unknown) = split_ids(state, ids)?;
    state.items.retain(|todo| !existing.contains(&todo.id));
    let missing =
        if unknown.is_empty() { String::new() } else { format!(" Task not found: {}.", list(&unknown)) };
    Ok(format!("Removed: {}.{missing}", list(&existing)))
}

/// Splits ids into those in the plan and unknown ones; an error if all are unknown.
fn split_ids(state: &TodoState, ids: &[u32]) -> Result<(Vec<u32>, Vec<u32>), ToolError> {
    if ids.is_empty() {
        return Err(ToolError::new("Task ID is required: give the number of one task or several in `id`."));
    }
    let (existing, unknown): (Vec<u32>, Vec<u32>) =
        ids.iter().partition(|id| state.items.iter().any(|todo| todo.id == **id));
    if existing.is_empty() {
        let completed = state.items.iter().filter(|todo| todo.status == TodoStatus::Completed).count();
        return Err(ToolError::new(format!(
            "Task not found: {}.\n{}",
            list(&unknown),
            plan(&state.items, completed)
        )));
    }
    Ok((existing, unknown))
}

fn list(ids: &[u32]) -> String {
    ids.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

fn plan(todos: &[Todo], completed: usize) -> String {
    if todos.is_empty() {
        return "The plan is empty.".to_owned();
    }
    let mut text = format!("Plan ({completed}/{} done):", todos.len());
    for todo in todos {
        let marker = match todo.status {
            TodoStatus::Pending => ' ',
            TodoStatus::InProgress => '>',
            TodoStatus::Completed => 'x',
        };
        let _ = write!(text, "\n[{marker}] {}. {}", todo.id, todo.task);
    }
    text
}

#[cfg(test)]
mod tests;
