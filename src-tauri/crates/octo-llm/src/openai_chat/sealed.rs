//! Stores data that a server seals into an answer and wants back unchanged.
//!
//! Gemini signs the calls of its models from the third generation on (`extra_content` of a call) and refuses a
//! conversation in which a signature is missing. OpenRouter passes on data that the vendors behind it sign or
//! encrypt (`reasoning_details` of a message), with the same consequence. Both are kept as a block of reasoning
//! without text, which is sent back only to the provider that produced it.

use octo_protocol::{Block, Replay};
use serde_json::{Map, Value, json};

/// Sealed field of a call.
pub(super) const CALL_FIELD: &str = "extra_content";
/// Sealed field of a message.
pub(super) const MESSAGE_FIELD: &str = "reasoning_details";
/// Field of the kept block that contains the sealed data of its message's calls, in the order of the calls.
const KEPT_CALLS: &str = "tool_calls";

/// Takes the place of a signature that no server made, for example after another model began the conversation.
/// The value is from Google's guide to thought signatures.
const SUBSTITUTE_SIGNATURE: &str = "skip_thought_signature_validator";

/// Details of a message, assembled from the pieces of a stream.
#[derive(Debug, Default)]
pub(super) struct ReasoningDetails(Vec<Map<String, Value>>);

impl ReasoningDetails {
    /// Adds the details of a piece.
    pub(super) fn add(&mut self, delta: &Value) {
        for fragment in delta.get(MESSAGE_FIELD).and_then(Value::as_array).into_iter().flatten() {
            let Some(fragment) = fragment.as_object() else { continue };
            match self.0.iter_mut().rev().find(|detail| continues_detail(detail, fragment)) {
                Some(detail) => extend(detail, fragment),
                None => self.0.push(fragment.clone()),
            }
        }
    }

    /// Returns whether they contain more than text, which is sent back anyway.
    pub(super) fn are_sealed(&self) -> bool {
        let has_field = |detail: &Map<String, Value>, field: &str| {
            detail.get(field).and_then(Value::as_str).is_some_and(|text| !text.is_empty())
        };
        self.0.iter().any(|detail| has_field(detail, "signature") || has_field(detail, "data"))
    }

    /// Returns the data to keep of an answer: its details, and the sealed data of each of its calls. `None` if
    /// nothing was sealed.
    pub(super) fn into_kept(self, calls: Vec<Option<Value>>) -> Option<Value> {
        let mut raw = Map::new();
        if self.are_sealed() {
            raw.insert(MESSAGE_FIELD.into(), self.0.into_iter().map(Value::Object).collect());
        }
        if calls.iter().any(Option::is_some) {
            raw.insert(KEPT_CALLS.into(), calls.into_iter().map(Option::unwrap_or_default).collect());
        }
        (!raw.is_empty()).then_some(Value::Object(raw))
    }
}

/// Returns whether a piece continues a detail: text arrives in many pieces, encrypted data in one.
fn continues_detail(detail: &Map<String, Value>, fragment: &Map<String, Value>) -> bool {
    let matches = |field: &str| detail.get(field) == fragment.get(field);
    // Text after a signature belongs to another detail.
    let is_signed = detail.get("signature").and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    let has_words =
        ["text", "summary"].iter().any(|field| fragment.get(*field).is_some_and(|text| text != ""));
    !fragment.contains_key("data") && matches("type") && matches("index") && !(is_signed && has_words)
}

fn extend(detail: &mut Map<String, Value>, fragment: &Map<String, Value>) {
    for (field, value) in fragment {
        match (detail.get_mut(field), value) {
            (Some(Value::String(text)), Value::String(more))
                if matches!(field.as_str(), "text" | "summary") =>
            {
                text.push_str(more);
            }
            (_, Value::Null) => {}
            // A received value is never cleared.
            (Some(_), Value::String(empty)) if empty.is_empty() => {}
            _ => {
                detail.insert(field.clone(), value.clone());
            }
        }
    }
}

/// Sealed data of a message that is sent back to `provider`.
#[derive(Debug, Default)]
pub(super) struct SealedData<'a> {
    details: Option<&'a Value>,
    calls: Option<&'a Vec<Value>>,
}

impl<'a> SealedData<'a> {
    /// Finds the sealed data among the message's blocks.
    pub(super) fn find(blocks: &'a [Block], provider: &str) -> Self {
        let mut found = Self::default();
        for block in blocks {
            if let Block::Reasoning { replay: Some(Replay { provider: producer, raw }), .. } = block
                && producer == provider
            {
                found.details = found.details.or_else(|| raw.get(MESSAGE_FIELD));
                found.calls = found.calls.or_else(|| raw.get(KEPT_CALLS).and_then(Value::as_array));
            }
        }
        found
    }

    /// Returns the data of the message itself.
    pub(super) fn details(&self) -> Option<Value> {
        self.details.cloned()
    }

    /// Returns the data of the call with this number.
    pub(super) fn of_call(&self, number: usize) -> Option<Value> {
        self.calls?.get(number).filter(|extra| !extra.is_null()).cloned()
    }

    /// Returns the substitute signature, for the first call of a message without one: servers check only that
    /// call.
    pub(super) fn substitute_signature(&self, number: usize) -> Option<Value> {
        let unsigned = number == 0 && self.calls.is_none();
        unsigned.then(|| json!({ "google": { "thought_signature": SUBSTITUTE_SIGNATURE } }))
    }
}

/// Returns whether a Google model requires signatures: from the third generation on.
pub(super) fn requires_signatures(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or_default();
    let generation = name.strip_prefix("gemini-").and_then(|version| version.split(['-', '.']).next());
    // A name without a number (`gemini-flash-latest`) is a recent one.
    generation.is_some_and(|generation| generation.parse::<u32>().map_or(true, |number| number >= 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_assembled_from_their_pieces() {
        let mut details = ReasoningDetails::default();
        for fragment in [
            json!([{ "type": "reasoning.text", "index": 0, "text": "First ", "signature": null, "format": "f" }]),
            json!([{ "type": "reasoning.text", "index": 0, "text": "this." }]),
            json!([{ "type": "reasoning.text", "index": 0, "signature": "c2ln" }]),
            json!([{ "type": "reasoning.text", "index": 0, "text": "", "signature": "" }]),
            json!([{ "type": "reasoning.text", "index": 0, "text": "Then that.", "signature": "dHdv" }]),
            json!([{ "type": "reasoning.encrypted", "index": 1, "data": "RU5D", "id": "a" },
                   { "type": "reasoning.encrypted", "index": 1, "data": "VFdP", "id": "b" }, 7]),
        ] {
            details.add(&json!({ MESSAGE_FIELD: fragment }));
        }
        details.add(&json!({ MESSAGE_FIELD: "no list" }));
        let raw = details.into_kept(vec![None]).unwrap();
        assert_eq!(
            raw,
            json!({ MESSAGE_FIELD: [
                { "type": "reasoning.text", "index": 0, "text": "First this.", "signature": "c2ln", "format": "f" },
                { "type": "reasoning.text", "index": 0, "text": "Then that.", "signature": "dHdv" },
                { "type": "reasoning.encrypted", "index": 1, "data": "RU5D", "id": "a" },
                { "type": "reasoning.encrypted", "index": 1, "data": "VFdP", "id": "b" },
            ] })
        );
    }

    #[test]
    fn plain_text_is_not_stored_twice() {
        let mut details = ReasoningDetails::default();
        details.add(&json!({ MESSAGE_FIELD: [{ "type": "reasoning.text", "text": "hm", "signature": "" }] }));
        assert_eq!(details.into_kept(vec![None, None]), None);
    }

    #[test]
    fn model_generations_that_require_signatures() {
        for (model, expected) in [
            ("gemini-3-pro-preview", true),
            ("models/gemini-3.8-flash", true),
            ("gemini-10-pro", true),
            ("gemini-flash-latest", true),
            ("gemini-2.5-pro", false),
            ("gemini-1.5-flash", false),
            ("gemma-3-27b", false),
            ("", false),
        ] {
            assert_eq!(requires_signatures(model), expected, "{model}");
        }
    }
}
