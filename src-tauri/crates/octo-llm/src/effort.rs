//! Reasoning effort in each vendor's terms. The presets say which levels a model supports; a level that a
//! vendor does not have becomes the nearest one.

use octo_protocol::Effort;
use serde_json::{Map, Value, json};

/// Returns OpenAI's value (`reasoning_effort`, `reasoning.effort`).
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

/// Returns Anthropic's fields: the kind of thinking, and the effort. Without thinking there is no effort to
/// set.
pub(crate) fn anthropic(effort: Effort) -> Map<String, Value> {
    let level = match effort {
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
        ("output_config".to_owned(), json!({ "effort": level })),
    ])
}
