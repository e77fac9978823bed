//! Makes values fit a schema if that is harmless; otherwise rejects them by name.

use super::{JsonValidity, ToolArguments};
use serde_json::{Map, Value};

/// Names that models use for parameters called differently here.
const PARAMETER_ALIASES: &[(&str, &[&str])] = &[
    ("path", &["file_path", "filepath", "file", "filename", "directory"]),
    ("content", &["contents", "file_text", "text"]),
    ("old_string", &["old_str", "old_text"]),
    ("new_string", &["new_str", "new_text"]),
    ("command", &["cmd"]),
    ("base_path", &["path", "directory"]),
    ("file_pattern", &["include", "glob"]),
    ("start_line", &["offset"]),
    ("max_lines", &["limit"]),
    ("tab", &["target_id", "tab_id", "page_id"]),
    ("ref", &["uid", "element_ref"]),
    ("to_ref", &["target_ref"]),
    ("text", &["selector", "js", "script", "query", "value"]),
];

/// Returns the values adapted to the schema, or an error sentence for the model.
pub(super) fn conform(
    mut values: Map<String, Value>,
    schema: &Value,
    spelling: JsonValidity,
) -> Result<ToolArguments, String> {
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let mut remarks = Vec::new();
    rename(&mut values, properties);

    let mut fitting = Map::new();
    let mut unknown = Vec::new();
    for (name, value) in values {
        let Some(property) = properties.get(&name) else {
            unknown.push(name);
            continue;
        };
        // Models omit a parameter by sending null, or an empty text for an optional one.
        let is_nothing = value.is_null() || (value == "" && !is_required(schema, &name));
        if is_nothing {
            continue;
        }
        let got = describe(&value);
        let value = coerce(value, property)
            .ok_or_else(|| format!("`{name}` must be {}, got {got}.", describe_expected(property)))?;
        fitting.insert(name, value);
    }
    if !unknown.is_empty() {
        let names = unknown.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        if spelling == JsonValidity::Repaired {
            // Possibly part of a value with wrong quotes: the remainder must not be used.
            return Err(format!("The arguments are not valid JSON and contain unknown names: {names}."));
        }
        remarks.push(format!("Unknown parameters were ignored: {names}."));
    }
    let missing: Vec<&str> = required(schema).filter(|name| !fitting.contains_key(*name)).collect();
    if !missing.is_empty() {
        return Err(format!("Missing required parameters: {}.", missing.join(", ")));
    }
    // In the schema's order, not the model's.
    let values = properties.keys().filter_map(|name| fitting.remove_entry(name)).collect();
    Ok(ToolArguments { values, remarks })
}

fn rename(values: &mut Map<String, Value>, properties: &Map<String, Value>) {
    for (name, aliases) in PARAMETER_ALIASES {
        if !properties.contains_key(*name) || values.contains_key(*name) {
            continue;
        }
        let alias =
            aliases.iter().find(|alias| values.contains_key(**alias) && !properties.contains_key(**alias));
        if let Some(value) = alias.and_then(|alias| values.remove(*alias)) {
            values.insert((*name).to_owned(), value);
        }
    }
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

pub(super) fn is_required(schema: &Value, name: &str) -> bool {
    required(schema).any(|required| required == name)
}

/// Describes in words the value that a schema expects.
pub(super) fn describe_expected(schema: &Value) -> String {
    if let Some(alternatives) = schema.get("anyOf").and_then(Value::as_array) {
        return alternatives.iter().map(describe_expected).collect::<Vec<_>>().join(" or ");
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let values: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
        return format!("one of {}", values.join(", "));
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("string") => "a string".to_owned(),
        Some("integer") => match schema.get("minimum").and_then(Value::as_i64) {
            Some(minimum) => format!("an integer from {minimum}"),
            None => "an integer".to_owned(),
        },
        Some("number") => "a number".to_owned(),
        Some("boolean") => "true or false".to_owned(),
        Some("array") => {
            format!(
                "an array (each element {})",
                schema.get("items").map_or_else(String::new, describe_expected)
            )
        }
        Some("object") => "an object".to_owned(),
        _ => "any value".to_owned(),
    }
}

fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        Value::String(text) if text.chars().count() > 60 => "a long string".to_owned(),
        Value::String(text) => format!("the string {text:?}"),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// Returns the value in the form the schema expects; `None` if that would be a guess.
fn coerce(value: Value, schema: &Value) -> Option<Value> {
    if let Some(alternatives) = schema.get("anyOf").and_then(Value::as_array) {
        // An array written as text counts as an array if one is expected.
        let value = array_in_text(&value).unwrap_or(value);
        return alternatives
            .iter()
            .find(|alternative| coerce(value.clone(), alternative).as_ref() == Some(&value))
            .map(|_| value.clone())
            .or_else(|| alternatives.iter().find_map(|alternative| coerce(value.clone(), alternative)));
    }
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array) {
        let text = value.as_str()?.trim();
        return allowed
            .iter()
            .find(|allowed| allowed.as_str().is_some_and(|allowed| allowed.eq_ignore_ascii_case(text)))
            .cloned();
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("string") => match value {
            Value::String(_) => Some(value),
            Value::Number(number) => Some(Value::String(number.to_string())),
            Value::Bool(value) => Some(Value::String(value.to_string())),
            _ => None,
        },
        Some("integer") => integer(&value)
            .filter(|number| {
                schema.get("minimum").and_then(Value::as_i64).is_none_or(|minimum| *number >= minimum)
            })
            .map(Value::from),
        Some("number") => match value {
            Value::Number(_) => Some(value),
            Value::String(text) => text.trim().parse::<f64>().ok().filter(|n| n.is_finite()).map(Value::from),
            _ => None,
        },
        Some("boolean") => match value {
            Value::Bool(_) => Some(value),
            Value::String(text) if text.trim().eq_ignore_ascii_case("true") => Some(Value::Bool(true)),
            Value::String(text) if text.trim().eq_ignore_ascii_case("false") => Some(Value::Bool(false)),
            Value::Number(number) => match number.as_i64() {
                Some(0) => Some(Value::Bool(false)),
                Some(1) => Some(Value::Bool(true)),
                _ => None,
            },
            _ => None,
        },
        Some("array") => {
            let elements = match array_in_text(&value).unwrap_or(value) {
                Value::Array(elements) => elements,
                single => vec![single],
            };
            let items = schema.get("items").unwrap_or(&Value::Null);
            elements
                .into_iter()
                .map(|element| coerce(element, items))
                .collect::<Option<Vec<_>>>()
                .map(Value::Array)
        }
        Some("object") => {
            let value = match value {
                Value::String(text) => serde_json::from_str(&text).ok()?,
                value => value,
            };
            let Value::Object(members) = value else { return None };
            let inner = schema.get("additionalProperties").unwrap_or(&Value::Null);
            members
                .into_iter()
                .map(|(name, value)| Some((name, coerce(value, inner)?)))
                .collect::<Option<Map<_, _>>>()
                .map(Value::Object)
        }
        _ => Some(value),
    }
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| {
            // 2^53: up to here a float without a fraction equals the intended integer.
            number
                .as_f64()
                .filter(|f| f.fract() == 0.0 && f.abs() <= 9_007_199_254_740_992.0)
                .map(|f| f as i64)
        }),
        Value::String(text) => text.trim().trim_matches(['[', ']', '#']).parse().ok(),
        _ => None,
    }
}

fn array_in_text(value: &Value) -> Option<Value> {
    let text = value.as_str()?.trim();
    if !text.starts_with('[') {
        return None;
    }
    serde_json::from_str(text).ok().filter(Value::is_array)
}
