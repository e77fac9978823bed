//! The shape of a tool, and its erased form.

use crate::{Effects, ToolContext};
use octo_protocol::{ResultImage, ToolView};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::{future::Future, path::Path, pin::Pin, sync::Arc};

/// A tool. Its input's schema is what the model is told; its output is kept twice.
pub trait Tool: Send + Sync + 'static {
    /// Its name, part of every session's frozen prefix.
    const NAME: &'static str;
    /// What it does, for the model. Part of the frozen prefix too: short, and never dynamic.
    const DESCRIPTION: &'static str;
    /// Its input.
    type Input: DeserializeOwned + JsonSchema + Send + 'static;

    /// What the call would touch. `cwd` is the session's folder; relative paths are resolved against it.
    fn effects(&self, input: &Self::Input, cwd: &Path) -> Effects;

    /// What the call would do, for the person to see before saying yes. Fails where the call is bound to
    /// fail (a text to replace that is not there), so that nobody is asked in vain.
    fn preview(
        &self,
        input: &Self::Input,
        context: &ToolContext,
    ) -> impl Future<Output = Result<ToolView, ToolError>> + Send;

    /// Runs the call.
    fn run(
        &self,
        input: Self::Input,
        context: ToolContext,
    ) -> impl Future<Output = Result<ToolOutput, ToolError>> + Send;
}

/// What a tool gave, in its two forms.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutput {
    /// What the model reads, capped by the tool.
    pub text: String,
    /// Pictures for the model.
    pub images: Vec<ResultImage>,
    /// What the person sees.
    pub view: ToolView,
    /// Whether what was asked for was done. A command that ran and exited with 1 is `Done`.
    pub outcome: Outcome,
}

/// Whether a tool did what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It did.
    Done,
    /// It waits for the person: the output's view says for what (`request_user_feedback`).
    AwaitsPerson,
}

/// Why a tool could not do what was asked. The words are for the model: what is wrong and what to do
/// instead. The person sees them in the call's card.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{text}")]
pub struct ToolError {
    /// What is wrong and what to do instead.
    pub text: String,
}

impl ToolError {
    /// An error in words for the model.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }
}

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A tool with its input still in JSON, and a call whose input was read.
pub trait DynTool: Send + Sync {
    /// See [`Tool::NAME`].
    fn name(&self) -> &'static str;
    /// See [`Tool::DESCRIPTION`].
    fn description(&self) -> &'static str;
    /// The input's JSON Schema: an object, without `$schema`, `title` or definitions.
    fn schema(&self) -> Value;
    /// Reads the input, already repaired and coerced to the schema.
    fn prepare(self: Arc<Self>, input: Value) -> Result<Box<dyn PreparedCall>, ToolError>;
}

/// A call whose input was read and is known to be well-formed.
pub trait PreparedCall: Send + Sync {
    /// See [`Tool::effects`].
    fn effects(&self, cwd: &Path) -> Effects;
    /// See [`Tool::preview`].
    fn preview<'a>(&'a self, context: &'a ToolContext) -> BoxFuture<'a, Result<ToolView, ToolError>>;
    /// See [`Tool::run`].
    fn run(self: Box<Self>, context: ToolContext) -> BoxFuture<'static, Result<ToolOutput, ToolError>>;
}

struct Prepared<T: Tool> {
    tool: Arc<T>,
    input: T::Input,
}

impl<T: Tool> DynTool for T
where
    T::Input: Sync,
{
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn description(&self) -> &'static str {
        T::DESCRIPTION
    }

    fn schema(&self) -> Value {
        crate::schema::of::<T::Input>()
    }

    fn prepare(self: Arc<Self>, input: Value) -> Result<Box<dyn PreparedCall>, ToolError> {
        let input = serde_json::from_value(input)
            .map_err(|error| ToolError::new(format!("The arguments of {} are wrong: {error}", T::NAME)))?;
        Ok(Box::new(Prepared { tool: self, input }))
    }
}

impl<T: Tool> PreparedCall for Prepared<T>
where
    T::Input: Sync,
{
    fn effects(&self, cwd: &Path) -> Effects {
        self.tool.effects(&self.input, cwd)
    }

    fn preview<'a>(&'a self, context: &'a ToolContext) -> BoxFuture<'a, Result<ToolView, ToolError>> {
        Box::pin(self.tool.preview(&self.input, context))
    }

    fn run(self: Box<Self>, context: ToolContext) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        Box::pin(async move { self.tool.run(self.input, context).await })
    }
}

impl From<octo_workspace::FilesError> for ToolError {
    fn from(error: octo_workspace::FilesError) -> Self {
        Self::new(error.to_string())
    }
}

impl From<octo_workspace::PathError> for ToolError {
    fn from(error: octo_workspace::PathError) -> Self {
        Self::new(error.to_string())
    }
}

impl From<octo_workspace::SearchError> for ToolError {
    fn from(error: octo_workspace::SearchError) -> Self {
        Self::new(error.to_string())
    }
}
