//! Parses a call's arguments: from the model's text to values that fit the tool's schema.
//!
//! Only mistakes with an unambiguous meaning are repaired. Nothing is ever completed: arguments that end too
//! early are rejected by all tools, because a cut-off `write` would write half a file.

mod conform;
mod lenient;

use crate::ToolError;
use lenient::JsonFlaw;
use serde_json::{Map, Value};

/// Arguments that fit the schema.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ToolArguments {
    /// The values, by name.
    pub values: Map<String, Value>,
    /// Changes and omissions that the model should know about.
    pub remarks: Vec<String>,
}

/// Whether the text was valid JSON unmodified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonValidity {
    Strict,
    Repaired,
}

/// Reads the arguments of a call of `tool`.
pub(crate) fn read(tool: &str, text: &str, schema: &Value) -> Result<ToolArguments, ToolError> {
    let (values, spelling) = parse(text).map_err(|flaw| refusal(tool, text, schema, &flaw))?;
    conform::conform(values, schema, spelling)
        .map_err(|problem| ToolError::new(format!("{problem} Nothing was done. {}", usage(tool, schema))))
}

fn parse(text: &str) -> Result<(Map<String, Value>, JsonValidity), JsonFlaw> {
    // Some providers send an empty text for a call without arguments.
    if text.trim().is_empty() {
        return Ok((Map::new(), JsonValidity::Strict));
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(values)) => Ok((values, JsonValidity::Strict)),
        Ok(Value::Null) => Ok((Map::new(), JsonValidity::Strict)),
        // Encoded twice.
        Ok(Value::String(inner)) => match serde_json::from_str(&inner) {
            Ok(Value::Object(values)) => Ok((values, JsonValidity::Strict)),
            _ => Err(JsonFlaw::NotAnObject),
        },
        Ok(_) => Err(JsonFlaw::NotAnObject),
        Err(_) => lenient::object(text).map(|values| (values, JsonValidity::Repaired)),
    }
}

fn refusal(tool: &str, text: &str, schema: &Value, flaw: &JsonFlaw) -> ToolError {
    let explanation = match flaw {
        JsonFlaw::CutOff => format!(
            "The arguments of {tool} were cut off before their end ({} bytes arrived), so nothing was done. Send \
             the call again, complete. If it is very large, split it: write the first part of a file, then add \
             the rest with edit.",
            text.len()
        ),
        JsonFlaw::NotAnObject => {
            format!("The arguments of {tool} must be one JSON object. Nothing was done.")
        }
        JsonFlaw::At { description, before } => {
            format!(
                "The arguments of {tool} are not valid JSON: {description}, after `{before}`. Nothing was done."
            )
        }
    };
    ToolError::new(format!("{explanation} {}", usage(tool, schema)))
}

/// Returns the tool's parameters in one line.
fn usage(tool: &str, schema: &Value) -> String {
    let Some(Value::Object(properties)) = schema.get("properties") else { return String::new() };
    let names: Vec<String> = properties
        .iter()
        .map(|(name, property)| {
            let optional = if conform::is_required(schema, name) { "" } else { ", optional" };
            format!("{name} ({}{optional})", conform::describe_expected(property))
        })
        .collect();
    format!("Parameters of {tool}: {}.", names.join("; "))
}

#[cfg(test)]
mod tests;
