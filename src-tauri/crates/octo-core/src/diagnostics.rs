//! A diagnostic report on this Octo's state. The person views it before it is written; it is sent nowhere.
//!
//! It is designed so that a person can show it to a stranger: settings are included because they are known to
//! be harmless, not excluded because they are known to be secret, and everything in a log that looks like a
//! path or a key is removed.

use octo_protocol::{
    BrowserState, DiagnosticsAbout, DiagnosticsPart, KeyState, KeychainState, Language, ModelEntry, Settings,
};
use octo_store::DatabaseHealth;
use serde_json::Value;
use std::{
    fmt::Write,
    fs::{self, File},
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

/// Number of log lines shown.
const LINES: usize = 200;
/// Number of bytes of the log read for them.
const TAIL: u64 = 256 * 1024;
/// A longer word in settings is not a choice from a list but a person's text.
const LONGEST_WORD: usize = 24;
/// Minimum length from which mixed letters and digits count as a secret.
const SHORTEST_SECRET: usize = 16;

/// The inputs of a report.
pub(crate) struct DiagnosticsInputs {
    /// Octo's home.
    pub home: PathBuf,
    /// The language of the report.
    pub language: Language,
    /// The settings.
    pub settings: Settings,
    /// The connected models.
    pub models: Vec<ModelEntry>,
    /// The state of the keychain.
    pub keychain: KeychainState,
    /// The state of the browser.
    pub browser: BrowserState,
    /// Why commands cannot have a network of their own, or `None` if they can.
    pub no_command_network: Option<String>,
    /// The state of the database.
    pub health: DatabaseHealth,
}

/// Builds the parts of a report.
pub(crate) fn parts(facts: &DiagnosticsInputs) -> Vec<DiagnosticsPart> {
    [
        (DiagnosticsAbout::System, system(facts)),
        (DiagnosticsAbout::Checks, checks(facts)),
        (DiagnosticsAbout::Settings, settings(facts)),
        (DiagnosticsAbout::Log, log(&facts.home.join("logs"))),
    ]
    .into_iter()
    .map(|(title, text)| DiagnosticsPart { about: title, text })
    .collect()
}

fn system(facts: &DiagnosticsInputs) -> String {
    let mut lines = vec![
        format!("Octo {}", env!("CARGO_PKG_VERSION")),
        format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        format!("time {}", jiff::Zoned::now().strftime("%Y-%m-%d %H:%M:%S %:z")),
    ];
    for name in ["XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE", "LANG"] {
        if let Ok(value) = std::env::var(name) {
            lines.push(format!("{name} {}", redact(&value)));
        }
    }
    lines.push(format!(
        "language {}",
        describe_setting(&serde_json::to_value(facts.language).unwrap_or_default())
    ));
    lines.join("\n")
}

fn checks(facts: &DiagnosticsInputs) -> String {
    let DatabaseHealth { schema, fault, sessions } = &facts.health;
    let mut text = format!("database: schema {schema}, {sessions} sessions, ");
    match fault {
        None => text.push_str("sound"),
        Some(fault) => text.push_str(&redact(fault)),
    }
    let keychain = match facts.keychain {
        KeychainState::Available => "available",
        KeychainState::Unavailable => "none: keys are kept for one run",
    };
    let browser = serde_json::to_value(&facts.browser).unwrap_or_default();
    // Writing to a string cannot fail.
    let _ = write!(text, "\nkeychain: {keychain}\nbrowser: {}", describe_setting(&browser["type"]));
    let _ = match &facts.no_command_network {
        None => write!(text, "\nnetwork of commands: can be limited"),
        Some(reason) => write!(text, "\nnetwork of commands: cannot be limited: {}", redact(reason)),
    };
    match octo_workspace::measure_home(&facts.home) {
        Err(error) => {
            let _ = write!(text, "\nhome: {}", redact(&error.to_string()));
        }
        Ok(parts) => {
            for size in parts {
                let label = serde_json::to_value(size.part).unwrap_or_default();
                let _ = write!(
                    text,
                    "\nhome, {}: {} bytes in {} files",
                    describe_setting(&label),
                    size.bytes,
                    size.files
                );
            }
        }
    }
    let reports = count_panics(&facts.home.join("logs"));
    let _ = write!(text, "\ncrash reports in the log folder: {reports}");
    text
}

/// Returns the number of crash reports.
fn count_panics(logs: &Path) -> usize {
    let entries = fs::read_dir(logs).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("panic-")).count()
}

fn settings(facts: &DiagnosticsInputs) -> String {
    let mut settings = harmless_settings(&serde_json::to_value(&facts.settings).unwrap_or_default());
    if let Value::Object(fields) = &mut settings {
        let models = facts.models.iter().map(|model| {
            let key = match model.key {
                KeyState::Missing => "missing",
                KeyState::Stored { .. } => "in the keychain",
                KeyState::ThisRun { .. } => "for this run",
            };
            // The name of a model on a person's own server is private.
            let name = model.facts.preset.as_ref().map_or("(own)", |_| model.model.as_str());
            serde_json::json!({
                "provider": model.facts.preset.as_deref().unwrap_or("(own)"),
                "protocol": model.protocol,
                "model": name,
                "key": key,
                "headers": model.headers.len(),
            })
        });
        fields.insert("models".to_owned(), models.collect());
        let secret_count = facts.settings.site_secrets.len();
        // The name a person gave a password, and the site it is for, are private, however short.
        fields.insert("site_secrets".to_owned(), serde_json::json!(secret_count));
        // The answers of the first run are the person's own words, however short.
        fields.insert("onboarding".to_owned(), serde_json::json!(facts.settings.onboarding.step));
    }
    serde_json::to_string_pretty(&settings).unwrap_or_default()
}

/// Returns the part of settings that reveals nothing about the person: numbers, switches, and choices from a
/// list. Text of the person, including folders and addresses, is replaced by a remark that it exists.
fn harmless_settings(value: &Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(_) => Value::String(describe_setting(value)),
        Value::Array(items) => items.iter().map(harmless_settings).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), harmless_settings(value))).collect()
        }
    }
}

/// Returns a choice from a list as it is; of anything else only that it exists.
fn describe_setting(value: &Value) -> String {
    let Value::String(text) = value else { return "(not known)".to_owned() };
    let is_choice = text.len() <= LONGEST_WORD && text.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    if text.is_empty() || is_choice { text.clone() } else { "(left out)".to_owned() }
}

/// Returns the last lines of the newest log.
fn log(logs: &Path) -> String {
    let entries = fs::read_dir(logs).into_iter().flatten().flatten();
    let newest_log = entries
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            name.starts_with("octo.") && name.ends_with(".log")
        })
        .max();
    let Some(text) = newest_log.and_then(|path| tail(&path)) else { return "(no log)".to_owned() };
    let lines: Vec<&str> = text.lines().collect();
    let excess = lines.len().saturating_sub(LINES);
    lines.iter().skip(excess).map(|line| redact(line)).collect::<Vec<String>>().join("\n")
}

/// Returns the end of a file, starting at the beginning of a line.
fn tail(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    let start = length.saturating_sub(TAIL);
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if start == 0 { Some(text) } else { text.split_once('\n').map(|(_, rest)| rest.to_owned()) }
}

/// Removes paths, addresses and key-like strings from a line.
fn redact(line: &str) -> String {
    // The text between two of these is a unit: a path, a number, a key.
    let is_edge = |c: char| {
        c.is_whitespace()
            || matches!(c, '"' | '\'' | '`' | ',' | ';' | '(' | ')' | '[' | ']' | '{' | '}' | '=' | '<' | '>')
    };
    let mut text = String::new();
    let mut piece = String::new();
    for c in line.chars() {
        if is_edge(c) {
            text.push_str(&redact_piece(&piece));
            piece.clear();
            text.push(c);
        } else {
            piece.push(c);
        }
    }
    text.push_str(&redact_piece(&piece));
    text
}

fn redact_piece(piece: &str) -> String {
    if piece.contains(['/', '\\', '~']) {
        return "[path]".to_owned();
    }
    if piece.contains('@') {
        return "[name]".to_owned();
    }
    let looks_secret = piece.split([':', '.']).any(|part| {
        let token: Vec<char> = part.chars().collect();
        token.len() >= SHORTEST_SECRET
            && token.iter().any(char::is_ascii_digit)
            && token.iter().any(char::is_ascii_alphabetic)
            && !is_time(part)
    });
    let is_named =
        ["sk-", "key-", "Bearer", "ghp_", "AKIA", "xox"].iter().any(|prefix| piece.starts_with(prefix));
    if looks_secret || is_named { "[left out]".to_owned() } else { piece.to_owned() }
}

/// Whether a part is a date, or a date with an hour.
fn is_time(part: &str) -> bool {
    part.len() <= SHORTEST_SECRET + 4
        && part.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | 'T' | 'Z' | '+'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use octo_protocol::{ProxyChoice, TrustedCertificates};
    use proptest::prelude::*;

    #[test]
    fn a_line_of_the_log_keeps_what_helps_and_nothing_of_the_person() {
        for (line, expected) in [
            (
                r#"{"timestamp":"2026-11-22T15:04:05.123456Z","level":"WARN","fields":{"message":"a read failed"}}"#,
                r#"{"timestamp":"2026-11-22T15:04:05.123456Z","level":"WARN","fields":{"message":"a read failed"}}"#,
            ),
            (r#""path":"/home/mei/taxes/2025.pdf""#, r#""path":"[path]""#),
            (r"C:\Users\Mei\a.txt is gone", "[path] is gone"),
            ("key sk-ant-REDACTED refused", "key [left out] refused"),
            ("session 0192f0c1d2e37b44a1c9d8e7f6a5b4c3 ends", "session [left out] ends"),
            ("mail mei@example.org", "mail [name]"),
            ("https://me.example/v1?key=abc", "[path]=abc"),
            (
                r#""target":"octo_core::session::calls","line":42"#,
                r#""target":"octo_core::session::calls","line":42"#,
            ),
        ] {
            assert_eq!(redact(line), expected);
        }
    }

    proptest! {
        #[test]
        fn no_key_of_a_usual_shape_survives(
            before in "[ -~]{0,20}",
            key in "[A-Za-z0-9_-]{30,60}",
            after in "[ ,\"}][ -~]{0,20}",
        ) {
            prop_assume!(key.chars().any(|c| c.is_ascii_digit()) && key.chars().any(|c| c.is_ascii_alphabetic()));
            let line = format!("{before} {key}{after}");
            prop_assert!(!redact(&line).contains(&key), "{}", redact(&line));
        }

        #[test]
        fn of_settings_nothing_a_person_wrote_survives(text in "[a-zA-Z0-9 /:.-]{25,80}") {
            let settings = Settings {
                recent_folders: vec![text.clone()],
                proxy: ProxyChoice::Manual { url: text.clone() },
                certificates: Some(Box::new(TrustedCertificates { pem: text.clone(), count: 1, file: None })),
                ..Settings::default()
            };
            let shown = harmless_settings(&serde_json::to_value(&settings).unwrap()).to_string();
            prop_assert!(!shown.contains(&text));
            prop_assert!(shown.contains("\"ask_risky\""), "choices are told: {}", shown);
        }
    }

    #[test]
    fn the_end_of_a_long_log_begins_with_a_whole_line() {
        let folder = tempfile::tempdir().unwrap();
        let lines: String = (0..40_000).map(|n| format!("line {n}\n")).collect();
        fs::write(folder.path().join("octo.2026-11-21.log"), "old\n").unwrap();
        fs::write(folder.path().join("octo.2026-11-22.log"), lines).unwrap();
        let excerpt = log(folder.path());
        assert_eq!(excerpt.lines().count(), LINES);
        assert_eq!(
            (excerpt.lines().next(), excerpt.lines().last()),
            (Some("line 39800"), Some("line 39999"))
        );
        assert_eq!(log(&folder.path().join("gone")), "(no log)");
    }
}
