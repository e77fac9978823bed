//! A request to a model.

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
    /// The tools, in frozen order.
    pub tools: Arc<[ToolSchema]>,
    /// The conversation; the caller checked alternation and pairing (see `octo_core`'s pairing pass).
    pub messages: Vec<Message>,
    /// Bytes of the pictures and documents in the messages. A missing one is sent as a text substitute.
    pub images: Arc<HashMap<BlobHash, Arc<[u8]>>>,
    /// Whether the model takes pictures; if not, each is sent as a text substitute.
    pub vision: bool,
    /// Whether the model takes PDF documents; if not, each is named by its path.
    pub documents: bool,
    /// Maximum tokens of the answer.
    pub max_output: u64,
    /// Requested reasoning effort; `None` leaves it to the model.
    pub effort: Option<Effort>,
    /// Instructions to the provider's cache.
    pub cache: CachePlan,
}

/// A tool as described to providers.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ToolSchema {
    /// Its name.
    pub name: String,
    /// Description for the model.
    pub description: String,
    /// Its parameters, as a JSON Schema object.
    pub parameters: Value,
}
