//! Conversion of protocol values to and from columns.

use crate::StoreError;
use rusqlite::Row;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::str::FromStr;

/// Serialises a unit variant as its bare name, `ask_risky`, which is readable in queries.
pub(crate) fn to_word<T: Serialize>(value: &T) -> Result<String, StoreError> {
    match serde_json::to_value(value)? {
        Value::String(text) => Ok(text),
        _ => Err(StoreError::Failed("a word was expected".to_owned())),
    }
}

/// Parses the output of [`to_word`].
pub(crate) fn from_word<T: DeserializeOwned>(text: String) -> Result<T, StoreError> {
    Ok(serde_json::from_value(Value::String(text))?)
}

/// Serialises a value as JSON text.
pub(crate) fn to_json<T: Serialize>(value: &T) -> Result<String, StoreError> {
    Ok(serde_json::to_string(value)?)
}

/// Reads a column of JSON text.
pub(crate) fn from_json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<T, StoreError> {
    Ok(serde_json::from_str(row.get_ref(column)?.as_str().map_err(unreadable)?)?)
}

/// Reads a column of JSON text that may be null.
pub(crate) fn from_json_or_null<T: DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
) -> Result<Option<T>, StoreError> {
    match row.get_ref(column)?.as_str_or_null().map_err(unreadable)? {
        Some(text) => Ok(Some(serde_json::from_str(text)?)),
        None => Ok(None),
    }
}

/// Reads an id.
pub(crate) fn id<T: FromStr>(row: &Row<'_>, column: usize) -> Result<T, StoreError> {
    parse_id(row.get_ref(column)?.as_str().map_err(unreadable)?)
}

/// Reads an id that may be null.
pub(crate) fn id_or_null<T: FromStr>(row: &Row<'_>, column: usize) -> Result<Option<T>, StoreError> {
    row.get_ref(column)?.as_str_or_null().map_err(unreadable)?.map(parse_id).transpose()
}

fn parse_id<T: FromStr>(text: &str) -> Result<T, StoreError> {
    text.parse().map_err(|_| StoreError::Failed("a stored id is none".to_owned()))
}

fn unreadable(error: rusqlite::types::FromSqlError) -> StoreError {
    StoreError::Failed(format!("a stored value cannot be read: {error}"))
}

/// Converts a count for a column. SQLite's integers are signed; no count comes near their limit.
pub(crate) fn count(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Reads a count.
pub(crate) fn read_count(row: &Row<'_>, column: usize) -> Result<u64, StoreError> {
    Ok(row.get::<_, i64>(column)?.unsigned_abs())
}
