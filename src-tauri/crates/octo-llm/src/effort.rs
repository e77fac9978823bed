//! How much a model is asked to reason, in each vendor's words. Which words a model knows is a matter of its
//! facts; a wish one vendor has no word for becomes its nearest.

use octo_protocol::Effort;
use serde_json::{Map, Value, json};

/// OpenAI's word (`reasoning_effort`, `reasoning.effort`).
pub(crate) fn openai(effort: Effort) -> &'static str {
    match effort {
        Effort::Off => "none",
        Effort::Minimal => "minimal",
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        Effort::Xhigh => "xhigh",
        Effort::Max => "max",
    }
}

/// Anthropic's fields: how to think, and how much effort to make. Without thinking there is none to measure.
pub(crate) fn anthropic(effort: Effort) -> Map<String, Value> {
    let word = match effort {
        Effort::Off => {
            return Map::from_iter([("thinking".to_owned(), json!({ "type": "disabled" }))]);
        }
        Effort::Minimal | Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        Effort::Xhigh => "xhigh",
        Effort::Max => "max",
    };
    Map::from_iter([
        ("thinking".to_owned(), json!({ "type": "adaptive" })),
        ("output_config".to_owned(), json!({ "effort": word })),
    ])
}
