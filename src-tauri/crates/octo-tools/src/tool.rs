//! The trait of a tool, and its type-erased form.

use crate::{Effects, ToolContext};
use octo_protocol::{ResultImage, ToolView};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::{future::Future, path::Path, pin::Pin, sync::Arc};

/// A tool. The model sees its input's schema; its output has two forms.
pub trait Tool: Send + Sync + 'static {
    /// Name of the tool, part of every session's frozen prefix.
    const NAME: &'static str;
    /// Description for the model. Also part of the frozen prefix: short, and never dynamic.
    const DESCRIPTION: &'static str;
    /// Input of a call.
    type Input: DeserializeOwned + JsonSchema + Send + 'static;

    /// Returns the effects of the call. `cwd` is the session's folder; relative paths are resolved against it.
    fn effects(&self, input: &Self::Input, cwd: &Path) -> Effects;

    /// Returns a preview of the call for the person's approval. Fails if the call is certain to fail (a text to
    /// replace that does not exist), so the person is not asked in vain.
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

/// Output of a tool, in its two forms.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutput {
    /// Text for the model, capped by the tool.
    pub text: String,
    /// Pictures for the model.
    pub images: Vec<ResultImage>,
    /// View for the person.
    pub view: ToolView,
    /// Whether the requested action was done. A command that ran and exited with 1 is `Done`.
    pub outcome: Outcome,
}

/// Whether a tool did the requested action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was done.
    Done,
    /// It waits for the person: the output's view shows the question (`request_user_feedback`).
    AwaitsPerson,
}

/// Reason why a tool could not do the requested action. The text tells the model the problem and an
/// alternative. The person sees it in the call's card.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{text}")]
pub struct ToolError {
    /// The problem and the suggested alternative.
    pub text: String,
}

impl ToolError {
    /// Creates an error with a text for the model.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }
}

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A tool with untyped JSON input, and a call with parsed input.
pub trait DynTool: Send + Sync {
    /// See [`Tool::NAME`].
    fn name(&self) -> &'static str;
    /// See [`Tool::DESCRIPTION`].
    fn description(&self) -> &'static str;
    /// The input's JSON Schema: an object, without `$schema`, `title` or definitions.
    fn schema(&self) -> Value;
    /// Parses the input, already repaired and coerced to the schema.
    fn prepare(self: Arc<Self>, input: Value) -> Result<Box<dyn PreparedCall>, ToolError>;
}

/// A call with parsed, well-formed input.
pub trait PreparedCall: Send + Sync {
    /// See [`Tool::effects`].
    fn effects(&self, cwd: &Path) -> Effects;
    /// See [`Tool::preview`].
    fn preview<'a>(&'a self, context: &'a ToolContext) -> BoxFuture<'a, Result<ToolView, ToolError>>;
    /// See [`Tool::run`].
    fn run(self: Box<Self>, context: ToolContext) -> BoxFuture<'static, Result<ToolOutput, ToolError>>;
}

struct TypedCall<T: Tool> {
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
        crate::schema::schema_of::<T::Input>()
    }

    fn prepare(self: Arc<Self>, input: Value) -> Result<Box<dyn PreparedCall>, ToolError> {
        let input = serde_json::from_value(input)
            .map_err(|error| ToolError::new(format!("The arguments of {} are wrong: {error}", T::NAME)))?;
        Ok(Box::new(TypedCall { tool: self, input }))
    }
}

impl<T: Tool> PreparedCall for TypedCall<T>
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
