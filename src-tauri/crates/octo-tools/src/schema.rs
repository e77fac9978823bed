//! The schema the model is told.
use serde_json::Value;
pub(crate) fn of<T: schemars::JsonSchema>() -> Value { schemars::schema_for!(T).into() }
