//! What a model is asked.

use crate::CachePlan;
use octo_protocol::{BlobHash, Effort, Message};
use serde_json::Value;
use std::{collections::HashMap, sync::Arc};

/// One call of a model. `tools` and `system` are frozen per session and shared, not copied.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// The vendor's name of the model.
    pub model: String,
    /// The system prompt.
    pub system: Arc<str>,
    /// The tools, in their frozen order.
    pub tools: Arc<[ToolSchema]>,
    /// The conversation: alternation and pairing were checked by the caller (see `octo_core`'s pairing pass).
    pub messages: Vec<Message>,
    /// The bytes of the pictures and documents the messages mention. A missing one is sent as a text stand-in.
    pub images: Arc<HashMap<BlobHash, Arc<[u8]>>>,
    /// Whether the model takes pictures; when not, each is sent as a text stand-in.
    pub vision: bool,
    /// Whether the model takes PDF documents; when not, each is named by its path.
    pub documents: bool,
    /// The most tokens the answer may have.
    pub max_output: u64,
    /// How much it is asked to reason; none leaves it to the model.
    pub effort: Option<Effort>,
    /// What is asked of the provider's cache.
    pub cache: CachePlan,
}

/// A tool as providers are told of it.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ToolSchema {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// Its parameters, a JSON Schema object.
    pub parameters: Value,
}
