//! Removes secrets from everything exported: values this Octo knows, and all strings that look like a key.

use octo_browser::safety::{Redactor, SecretName};
use octo_protocol::ApiError;
use regex::{Captures, Regex};
use secrecy::SecretString;
use serde_json::Value;
use std::sync::LazyLock;

/// The text that replaces a secret.
const REDACTED: &str = "[redacted]";
/// The name under which all known values are searched.
const KNOWN: &str = "octo";
/// The replacement written by the redactor of known values.
const PLACEHOLDER: &str = "{{secret:octo}}";

/// A private key from its first line to its last; a truncated one extends to the end.
const PRIVATE_KEY: &str = r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)";

/// Keys recognised by their prefix. Word boundaries are ASCII: a key may directly follow Chinese text.
const KEYS: &[&str] = &[
    r"(?-u:\b)(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}",
    r"(?-u:\b)(?:sk|pk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{16,}",
    r"(?-u:\b)(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?-u:\b)",
    r"(?-u:\b)gh[pousr]_[A-Za-z0-9]{20,}",
    r"(?-u:\b)github_pat_[A-Za-z0-9_]{20,}",
    r"(?-u:\b)glpat-[A-Za-z0-9_-]{16,}",
    r"(?-u:\b)xox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"(?-u:\b)AIza[A-Za-z0-9_-]{30,}",
    r"(?-u:\b)ya29\.[A-Za-z0-9_-]{20,}",
    r"(?-u:\b)(?:hf|gsk|npm|r8)_[A-Za-z0-9]{20,}",
    r"(?-u:\b)(?:pypi|tvly|xai|nvapi|dapi|BSA)-?[A-Za-z0-9_-]{24,}",
    r"(?-u:\b)SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    r"(?-u:\b)eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*",
];

/// Values after a telling name: everything matched except the value stays. Quotes may be escaped, as in the
/// arguments of calls.
const NAMED: &[&str] = &[
    r#"(?i)(?P<name>(?:password|passwd|passphrase|(?-u:\b)pwd)[a-z0-9_]*\\?["']?\s*[:=]\s*\\?["']?)(?P<value>[^\s"'`,;&<>{}()\[\]\\$][^\s"'`,;&<>\\]{3,})"#,
    r#"(?i)(?P<name>(?:api[_-]?key|access[_-]?key|private[_-]?key|secret|token|credential|cookie)[a-z0-9_-]*\\?["']?\s*[:=]\s*\\?["']?)(?P<value>[A-Za-z0-9_./+=~:-]*[0-9][A-Za-z0-9_./+=~:-]*)"#,
    r#"(?i)(?P<name>authorization\\?["']?\s*[:=]\s*\\?["']?(?:(?:bearer|basic|token)\s+)?)(?P<value>[A-Za-z0-9._~+/=-]{8,})"#,
    r"(?i)(?P<name>(?-u:\b)bearer\s+)(?P<value>[A-Za-z0-9._~+/=-]{16,})",
    r"(?P<name>[a-z][a-z0-9+.-]*://[^\s/:@]*:)(?P<value>[^\s/@]+)@",
];

/// Minimum length of a value after a telling name that counts as a secret, in characters: a shorter one is a
/// count or a switch.
const MIN_VALUE_CHARS: usize = 8;

struct SecretPatterns {
    whole: Vec<Regex>,
    named: Vec<Regex>,
}

static SHAPES: LazyLock<Result<SecretPatterns, regex::Error>> = LazyLock::new(|| {
    let whole = std::iter::once(&PRIVATE_KEY).chain(KEYS).map(|shape| Regex::new(shape));
    Ok(SecretPatterns {
        whole: whole.collect::<Result<_, _>>()?,
        named: NAMED.iter().map(|shape| Regex::new(shape)).collect::<Result<_, _>>()?,
    })
});

/// Removes secrets from texts and counts them.
pub(crate) struct Redaction {
    known: Redactor,
    shapes: &'static SecretPatterns,
    count: u32,
}

impl Redaction {
    /// Creates a redaction for these values, in addition to the patterns.
    ///
    /// # Errors
    /// Returns `internal` if the patterns cannot be used: nothing unredacted may pass.
    pub(crate) fn new(values: &[SecretString]) -> Result<Self, ApiError> {
        let name = SecretName::new(KNOWN).map_err(|_| ApiError::new("internal"))?;
        let mut redactor = Redactor::default();
        for value in values {
            // A value too short to be distinguished from other text is not a key.
            let _too_short = redactor.learn(&name, value);
        }
        let shapes = SHAPES.as_ref().map_err(|error| ApiError::new("internal").detail(error))?;
        Ok(Self { known: redactor, shapes, count: 0 })
    }

    /// Returns the number of secrets removed so far.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Returns a text without its secrets.
    pub(crate) fn redact_text(&mut self, text: &str) -> String {
        // A placeholder already in the text is not counted as a removal.
        let before = text.matches(PLACEHOLDER).count();
        let mut clean = self.known.redact(text);
        let found = clean.matches(PLACEHOLDER).count().saturating_sub(before);
        if found > 0 {
            clean = clean.replace(PLACEHOLDER, REDACTED);
        }
        let mut count = u32::try_from(found).unwrap_or(u32::MAX);
        for pattern in &self.shapes.whole {
            let replaced = pattern.replace_all(&clean, |_: &Captures<'_>| {
                count += 1;
                REDACTED
            });
            clean = replaced.into_owned();
        }
        for pattern in &self.shapes.named {
            let replaced = pattern.replace_all(&clean, |found: &Captures<'_>| {
                let part = |name| found.name(name).map_or("", |part| part.as_str());
                let (matched, name, value) = (matched_text(found), part("name"), part("value"));
                if value.chars().count() < min_value_chars(name) || value.starts_with(REDACTED) {
                    return matched.to_owned();
                }
                count += 1;
                let suffix = matched.get(name.len() + value.len()..).unwrap_or_default();
                format!("{name}{REDACTED}{suffix}")
            });
            clean = replaced.into_owned();
        }
        self.count = self.count.saturating_add(count);
        clean
    }

    /// Removes the secrets from a value, except in names of fields.
    pub(crate) fn redact_value(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.redact_text(text),
            Value::Array(items) => items.iter_mut().for_each(|value| self.redact_value(value)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.redact_value(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

fn matched_text<'a>(found: &Captures<'a>) -> &'a str {
    found.get(0).map_or("", |matched| matched.as_str())
}

/// Returns the minimum length of a secret after this name, in characters. A password may be short, and one in an
/// address is recognised by its position.
fn min_value_chars(name: &str) -> usize {
    let name = name.to_ascii_lowercase();
    let is_password = ["pass", "pwd"].iter().any(|marker| name.contains(marker));
    if is_password || name.contains("://") { 1 } else { MIN_VALUE_CHARS }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redaction() -> Redaction {
        Redaction::new(&[SecretString::from("correct horse 7"), SecretString::from("zq9-PLAIN-value")])
            .unwrap()
    }

    #[test]
    fn known_values_and_key_patterns_are_redacted() {
        let long_value = "a1B2".repeat(10);
        let cases = [
            ("my key is zq9-PLAIN-value, yes".to_owned(), "my key is [redacted], yes".to_owned()),
            ("zq9-plain-VALUE".to_owned(), "[redacted]".to_owned()),
            (format!("密钥sk-ant-{long_value}"), "密钥[redacted]".to_owned()),
            (format!("ghp_{long_value} and AKIAABCDEFGHIJKLMNOP."), "[redacted] and [redacted].".to_owned()),
            (format!("xoxb-{long_value}"), "[redacted]".to_owned()),
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-DEF".to_owned(), "[redacted]".to_owned()),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----\nafter".to_owned(),
                "[redacted]\nafter".to_owned(),
            ),
            ("-----BEGIN PRIVATE KEY-----\\nMIIcut".to_owned(), "[redacted]".to_owned()),
            ("password = hunter".to_owned(), "password = [redacted]".to_owned()),
            (
                r#"{\"db_password\": \"hunter2\"}"#.to_owned(),
                r#"{\"db_password\": \"[redacted]\"}"#.to_owned(),
            ),
            ("API_KEY=abc123def456".to_owned(), "API_KEY=[redacted]".to_owned()),
            (
                "Authorization: Bearer abcdefghijklmnop".to_owned(),
                "Authorization: Bearer [redacted]".to_owned(),
            ),
            (
                "postgres://me:s3cret@db.example/x".to_owned(),
                "postgres://me:[redacted]@db.example/x".to_owned(),
            ),
        ];
        for (text, expected) in cases {
            let mut redaction = redaction();
            assert_eq!(redaction.redact_text(&text), expected, "{text}");
            assert!(redaction.count() > 0, "{text}");
            let clean = redaction.redact_text(&expected);
            assert_eq!(clean, expected, "once is enough: {text}");
        }
    }

    #[test]
    fn plain_words_and_code_are_unchanged() {
        for text in [
            "The tokens: 4096, and max_tokens=200",
            "let token = next_token();",
            "password reset is broken",
            "commit 3f786850e387550fdab836ed7e6dc881de23001b",
            "https://example.com:8080/a@b",
            "if secret == other { }",
            "set $PASSWORD; password=$PASSWORD",
            "skip-this-and-that, ask-someone-else-entirely",
            "请检查密码重置",
        ] {
            let mut redaction = redaction();
            assert_eq!(redaction.redact_text(text), text);
            assert_eq!(redaction.count(), 0, "{text}");
        }
    }

    #[test]
    fn nested_values_are_redacted() {
        let mut value =
            serde_json::json!({ "a": ["x zq9-PLAIN-value"], "n": 3, "b": { "c": "token: abc12345" } });
        let mut redaction = redaction();
        redaction.redact_value(&mut value);
        assert_eq!(
            value,
            serde_json::json!({ "a": ["x [redacted]"], "n": 3, "b": { "c": "token: [redacted]" } })
        );
        assert_eq!(redaction.count(), 2);
    }
}
