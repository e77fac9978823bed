use super::*;
use crate::Toolset;
use proptest::prelude::*;
use serde_json::json;

fn schema(tool: &str) -> Value {
    Toolset::standard().resolve(tool).unwrap().schema()
}

fn read_for(tool: &str, text: &str) -> Result<Value, String> {
    read(tool, text, &schema(tool))
        .map(|arguments| Value::Object(arguments.values))
        .map_err(|error| error.text)
}

#[test]
fn unambiguous_json_errors_are_repaired() {
    for (tool, text, expected) in [
        (
            "file_reader",
            "{\"path\": \"test.rb\", \"start_line\":315</parameter>\n<parameter name=\"end_line\"> 330}",
            json!({"path": "test.rb", "start_line": 315, "end_line": 330}),
        ),
        ("file_reader", r#"{"path": "a",}"#, json!({"path": "a"})),
        ("file_reader", r#"{,"path": "a",, "start_line": 1,}"#, json!({"path": "a", "start_line": 1})),
        ("file_reader", "{\"path\": \"a\"}</invoke>\n", json!({"path": "a"})),
        ("file_reader", "\u{feff} {\"path\": \"a\"}", json!({"path": "a"})),
        (
            "write",
            "{\"path\": \"a\", \"content\": \"one\ntwo\tthree\"}",
            json!({"path": "a", "content": "one\ntwo\tthree"}),
        ),
        ("grep", r#"{"pattern": "\d+\.\w"}"#, json!({"pattern": r"\d+\.\w"})),
        (
            "grep",
            r#"{"pattern": "x", "case_insensitive": True}"#,
            json!({"pattern": "x", "case_insensitive": true}),
        ),
        ("file_reader", r#""{\"path\": \"a\"}""#, json!({"path": "a"})),
        (
            "edit",
            "{\"path\":\"a\",\"old_string\":\"\\u00e9\n\",\"new_string\":\"\\ud83d\\ude00\"}",
            json!({"path": "a", "old_string": "é\n", "new_string": "😀"}),
        ),
    ] {
        assert_eq!(read_for(tool, text), Ok(expected), "{text}");
    }
}

#[test]
fn ambiguous_json_is_refused() {
    for (tool, text, expected) in [
        ("write", r#"{"path": "a", "content": "half"#, "were cut off before their end"),
        ("write", r#"{"path": "a", "content": "half""#, "were cut off"),
        ("write", r#"{"path": "a", "content": "half\"#, "were cut off"),
        ("write", r#"{"path": "a", "content": "he said "hi" to me"}"#, "not valid JSON"),
        // Unescaped quotes: the remaining content must not be written.
        ("write", r#"{"path": "a.json", "content": "{", "name": "x",}"#, "unknown names: `name`"),
        ("write", r#"{"path": "a", "content": "\ud83d"}"#, "half a character"),
        (
            "write",
            r#"{"path": "a", "content": "x"} {"path": "b", "content": "y"}"#,
            "more after the closing brace",
        ),
        ("write", r#"{"path": "a", "content": "x", "content": "y",}"#, "a name occurs twice"),
        ("write", r#"{"path": "a" "content": "x"}"#, "a comma or a brace is missing"),
        ("write", r#"{path: "a", "content": "x"}"#, "a name in double quotes is missing"),
        ("write", r#"{"path": a, "content": "x"}"#, "not in quotes"),
        ("write", r#"{"path": "a", "content": }"#, "a value is missing"),
        ("file_reader", r#"{"path": "a", "start_line>": 1,}"#, "cannot be a name"),
        ("file_reader", "[1]", "must be one JSON object"),
        ("file_reader", "path", "must be one JSON object"),
        ("file_reader", "12", "must be one JSON object"),
        ("file_reader", "", "Missing required parameters: path."),
        ("file_reader", "null", "Missing required parameters: path."),
        ("file_reader", "{}", "Missing required parameters: path."),
    ] {
        let error = read_for(tool, text).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
        assert!(error.contains("Nothing was done") || error.contains("nothing was done"), "{error}");
        assert!(error.contains(&format!("Parameters of {tool}: path (a string)")), "{error}");
    }
    let nested = format!("{{\"path\": {}", "[".repeat(100_000));
    assert!(read_for("file_reader", &nested).unwrap_err().contains("nested too deeply"));
}

#[test]
fn values_are_made_to_fit_where_that_is_harmless() {
    for (tool, value, expected) in [
        (
            "file_reader",
            json!({"path": "a", "max_lines": "10", "start_line": 2.0}),
            json!({"path": "a", "max_lines": 10, "start_line": 2}),
        ),
        ("file_reader", json!({"path": "a", "max_lines": "", "start_line": null}), json!({"path": "a"})),
        ("file_reader", json!({"path": 123}), json!({"path": "123"})),
        ("file_reader", json!({"file_path": "a"}), json!({"path": "a"})),
        (
            "grep",
            json!({"pattern": "x", "case_insensitive": "True", "file_pattern": ""}),
            json!({"pattern": "x", "case_insensitive": true}),
        ),
        (
            "grep",
            json!({"pattern": "x", "case_insensitive": 0}),
            json!({"pattern": "x", "case_insensitive": false}),
        ),
        (
            "edit",
            json!({"path": "a", "old_string": "x", "new_string": ""}),
            json!({"path": "a", "old_string": "x", "new_string": ""}),
        ),
        (
            "write",
            json!({"content": "{\"a\": 1}", "path": "a"}),
            json!({"path": "a", "content": "{\"a\": 1}"}),
        ),
        ("todo_manager", json!({"action": "Complete", "id": "#3"}), json!({"action": "complete", "id": 3})),
        (
            "todo_manager",
            json!({"action": "complete", "id": ["1", 2]}),
            json!({"action": "complete", "id": [1, 2]}),
        ),
        (
            "todo_manager",
            json!({"action": "add", "task": "[not json"}),
            json!({"action": "add", "task": "[not json"}),
        ),
        (
            "request_user_feedback",
            json!({"question": "q", "options": "a"}),
            json!({"question": "q", "options": ["a"]}),
        ),
        (
            "request_user_feedback",
            json!({"question": "q", "options": "[\"a\", \"b\"]"}),
            json!({"question": "q", "options": ["a", "b"]}),
        ),
        (
            "request_user_feedback",
            json!({"question": "q", "options": [1, true]}),
            json!({"question": "q", "options": ["1", "true"]}),
        ),
    ] {
        assert_eq!(read_for(tool, &value.to_string()), Ok(expected), "{value}");
    }
    for (tool, value, words) in [
        ("file_reader", json!({"path": ["a"]}), "`path` must be a string, got an array."),
        (
            "file_reader",
            json!({"path": "a", "max_lines": "ten"}),
            "`max_lines` must be an integer from 0, got the string \"ten\".",
        ),
        (
            "file_reader",
            json!({"path": "a", "max_lines": 1.5}),
            "`max_lines` must be an integer from 0, got 1.5.",
        ),
        (
            "file_reader",
            json!({"path": "a", "start_line": -1}),
            "`start_line` must be an integer from 0, got -1.",
        ),
        (
            "grep",
            json!({"pattern": "x", "case_insensitive": "maybe"}),
            "`case_insensitive` must be true or false",
        ),
        ("edit", json!({"path": "a"}), "Missing required parameters: old_string, new_string."),
        (
            "todo_manager",
            json!({"action": "add", "task": {"a": 1}}),
            "`task` must be a string or an array (each element a string), got an object.",
        ),
    ] {
        let error = read_for(tool, &value.to_string()).unwrap_err();
        assert!(error.contains(words), "{value}: {error}");
    }
}

#[test]
fn unknown_parameters_are_dropped_and_reported() {
    let arguments =
        read("file_reader", r#"{"path": "a", "colour": 1, "limit": 5}"#, &schema("file_reader")).unwrap();
    assert_eq!(Value::Object(arguments.values), json!({"path": "a", "max_lines": 5}));
    assert_eq!(arguments.remarks, ["Unknown parameters were ignored: `colour`."]);
}

fn payloads() -> Vec<(&'static str, Value)> {
    vec![
        (
            "write",
            json!({"path": "a.json", "content": "{\"a\": [1, {\"b\": \"}\"}], \"c\": \"\\\"}\"}\n</parameter>\n"}),
        ),
        (
            "write",
            json!({"path": "src/日本.rs", "content": "fn main() {\n\tprintln!(\"\\u{1F600} }}\");\n}\n"}),
        ),
        (
            "edit",
            json!({"path": "a", "old_string": "}, \"x\": {", "new_string": "\"}\\", "replace_all": true}),
        ),
        ("edit", json!({"new_string": "", "old_string": "]}]}", "path": "}"})),
        (
            "terminal",
            json!({"command": "echo '}' && cat <<'E'\n{\"a\": 1}\nE", "env": {"A": "}", "B": "{"}, "async": false}),
        ),
        ("todo_manager", json!({"action": "add", "task": ["a}", "b]"], "id": [1, 2]})),
    ]
}

fn prefixes(text: &str) -> impl Iterator<Item = &str> {
    (1..text.len()).filter_map(|end| text.get(..end))
}

/// A payload cut off anywhere is never accepted as complete.
#[test]
fn no_truncated_payload_is_accepted() {
    for (tool, payload) in payloads() {
        let parameters = match Toolset::standard().resolve(tool) {
            Some(tool) => tool.schema(),
            None => continue,
        };
        for text in [payload.to_string(), serde_json::to_string_pretty(&payload).unwrap()] {
            assert!(read(tool, &text, &parameters).is_ok(), "{text}");
            for prefix in prefixes(&text) {
                let error = read(tool, prefix, &parameters).expect_err(prefix).text;
                assert!(
                    error.contains("cut off") || error.contains("must be one JSON object"),
                    "{prefix}: {error}"
                );
            }
            // The same, encoded twice, and with a raw line break that needs the repair.
            let twice = Value::String(text.clone()).to_string();
            assert!(read(tool, &twice, &parameters).is_ok());
            for prefix in prefixes(&twice) {
                assert!(read(tool, prefix, &parameters).is_err(), "{prefix}");
            }
            let raw = text.replace("\\n", "\n");
            for prefix in prefixes(&raw) {
                assert!(read(tool, prefix, &parameters).is_err(), "{prefix}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_truncated_write_is_accepted(path in "\\PC{1,8}", content in "[\\PC\n\t\"\\\\{}\\[\\],:<>/]{0,60}") {
        let parameters = schema("write");
        let text = json!({"path": path, "content": content}).to_string();
        let complete = read("write", &text, &parameters).unwrap();
        prop_assert_eq!(complete.values.get("content").and_then(Value::as_str), Some(content.as_str()));
        for prefix in prefixes(&text) {
            prop_assert!(read("write", prefix, &parameters).is_err(), "{}", prefix);
        }
    }

    /// The lenient reader reads valid JSON exactly as the strict one does.
    #[test]
    fn the_lenient_reader_agrees_with_the_strict_one(
        text in "[\\PC\n\t\"\\\\/]{0,40}", number in any::<i64>(), float in -1e9_f64..1e9, flag in any::<bool>(),
    ) {
        let value = json!({"a": text, "b": [number, float, flag, null, {"c": text, "d": []}], "e": {}});
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let strict: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(lenient::object(&text).map(Value::Object), Ok(strict));
        }
    }

    /// Nothing a model writes breaks the reader.
    #[test]
    fn any_text_is_read_or_refused(text in "[\\PC\n{}\\[\\]\",:\\\\<>/u0-9a-f]{0,80}") {
        let _ = read("edit", &text, &schema("edit"));
    }
}
