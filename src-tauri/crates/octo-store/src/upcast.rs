//! Conversion of stored events of earlier versions to today's shape.
//!
//! Events are never rewritten in the file. A change of an event's shape raises
//! [`octo_protocol::EVENT_VERSION`], adds a step here and a golden log of the previous version under
//! `tests/golden/`, which must stay readable permanently.

use crate::StoreError;
use octo_protocol::{EVENT_VERSION, Event};
use serde_json::Value;

/// A conversion of an event of version `n` into one of version `n + 1`.
type Upcast = fn(Value) -> Result<Value, StoreError>;

/// `STEPS[n - 1]` converts version `n` to `n + 1`; the array is one shorter than the number of versions.
const STEPS: [Upcast; EVENT_VERSION as usize - 1] = [];

/// Parses a stored event of any version up to today's.
pub(crate) fn event(version: u16, text: &str) -> Result<Event, StoreError> {
    if version == EVENT_VERSION {
        return Ok(serde_json::from_str(text)?);
    }
    let steps =
        usize::from(version).checked_sub(1).and_then(|start| STEPS.get(start..)).ok_or_else(|| {
            StoreError::Failed(format!("an event of version {version}; this Octo knows 1 to {EVENT_VERSION}"))
        })?;
    let value = steps.iter().try_fold(serde_json::from_str(text)?, |value, step| step(value))?;
    Ok(serde_json::from_value(value)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written by the first release and never changed: the format of people's files.
    const GOLDEN_V1: &str = include_str!("../tests/golden/v1.jsonl");

    /// Returns whether everything in `old` is also in `new`, which may contain more.
    fn is_contained(old: &Value, new: &Value) -> bool {
        match (old, new) {
            (Value::Object(old), Value::Object(new)) => {
                old.iter().all(|(name, old)| new.get(name).is_some_and(|new| is_contained(old, new)))
            }
            (Value::Array(old), Value::Array(new)) => {
                old.len() == new.len() && old.iter().zip(new).all(|(old, new)| is_contained(old, new))
            }
            (old, new) => old == new,
        }
    }

    #[test]
    fn the_golden_log_of_version_1_is_readable_and_loses_nothing() {
        let mut kinds = std::collections::BTreeSet::new();
        for line in GOLDEN_V1.lines() {
            let stored: Value = serde_json::from_str(line).unwrap();
            assert_eq!(stored["v"], 1, "{line}");
            let read = event(1, &stored["event"].to_string()).unwrap();
            if EVENT_VERSION == 1 {
                assert!(is_contained(&stored["event"], &serde_json::to_value(&read).unwrap()), "{line}");
            }
            kinds.insert(stored["event"]["type"].as_str().unwrap().to_owned());
        }
        assert_eq!(kinds.len(), 19, "every kind of event of version 1: {kinds:?}");
    }

    #[test]
    fn an_event_of_an_unknown_version_is_an_error() {
        let text = r#"{"type":"retry_started"}"#;
        assert!(event(0, text).is_err());
        assert!(event(EVENT_VERSION + 1, text).is_err());
        assert_eq!(event(EVENT_VERSION, text).unwrap(), Event::RetryStarted);
    }
}
