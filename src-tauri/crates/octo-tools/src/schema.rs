//! Schema for the model: small, and byte-identical every time.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

/// Keys without information for a model.
const DROPPED: &[&str] = &["$schema", "title", "format", "default", "$defs"];
/// Fixed order of keys, independent of a library's map order.
const ORDER: &[&str] = &[
    "type",
    "properties",
    "required",
    "anyOf",
    "enum",
    "items",
    "additionalProperties",
    "minimum",
    "description",
];

/// Returns the schema of a tool's input: an object, everything inline, doc comments as descriptions.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = compact(settings.into_generator().into_root_schema_for::<T>().into());
    if let Value::Object(root) = &mut schema {
        // The tool has a description of its own.
        root.remove("description");
        root.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    }
    schema
}

fn compact(schema: Value) -> Value {
    let Value::Object(mut unordered) = schema else { return schema };
    unordered.retain(|key, _| !DROPPED.contains(&key.as_str()));
    // `required` already says that a parameter may be absent; saying that it may be null is not worth the
    // bytes.
    if let Some(Value::Array(types)) = unordered.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            unordered.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(alternatives)) = unordered.get_mut("anyOf") {
        alternatives.retain(|alternative| alternative.get("type") != Some(&Value::from("null")));
        if let [only] = alternatives.as_slice() {
            let only = only.clone();
            unordered.remove("anyOf");
            if let Value::Object(only) = only {
                for (key, value) in only {
                    unordered.entry(key).or_insert(value);
                }
            }
        }
    }
    if let Some(Value::Array(values)) = unordered.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    let mut keys: Vec<String> = unordered.keys().cloned().collect();
    keys.sort_by_key(|key| {
        let rank = ORDER.iter().position(|key_name| key_name == key).unwrap_or(ORDER.len());
        (rank, key.clone())
    });
    let mut ordered = Map::new();
    for key in keys {
        let Some(value) = unordered.remove(&key) else { continue };
        let value = match (key.as_str(), value) {
            // Names of parameters, in the order they are declared.
            ("properties", Value::Object(properties)) => {
                Value::Object(properties.into_iter().map(|(name, schema)| (name, compact(schema))).collect())
            }
            ("anyOf", Value::Array(alternatives)) => alternatives.into_iter().map(compact).collect(),
            ("items" | "additionalProperties", value) => compact(value),
            ("description", Value::String(text)) => {
                Value::from(text.split_whitespace().collect::<Vec<_>>().join(" "))
            }
            (_, value) => value,
        };
        ordered.insert(key, value);
    }
    Value::Object(ordered)
}
