//! The log of decisions, one JSON object per line. It lets a person find out later which lines the policy refused,
//! asked about or rewrote, and why; a plain permission is not logged.

use octo_protocol::{Millis, SessionId};
use serde::Serialize;
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Maximum size of a log file before it is rotated, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// Number of log files, including the current one.
const KEPT: usize = 4;

/// Maximum length of a logged line, in characters.
const MAX_LINE: usize = 2_000;

/// A logged decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LoggedVerdict {
    /// The policy asks the person.
    Ask,
    /// The line does not run.
    Deny,
    /// Another line runs instead.
    Rewrite,
}

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DecisionEntry {
    /// The time, in milliseconds since 1970.
    pub at: Millis,
    /// The session.
    pub session: SessionId,
    /// The decision.
    pub verdict: LoggedVerdict,
    /// The name of the [`octo_protocol::AskReason`], [`octo_protocol::Risk`] or [`octo_protocol::Refusal`].
    pub reason: String,
    /// The line or the path, with apparent secrets redacted.
    line: String,
    /// The line that runs instead, if there is one.
    rewritten: Option<String>,
}

impl DecisionEntry {
    /// Creates an entry for a line or path, and for the line that runs instead.
    pub fn new(
        at: Millis,
        session: SessionId,
        verdict: LoggedVerdict,
        reason: String,
        (line, rewritten): (&str, Option<&str>),
    ) -> Self {
        Self { at, session, verdict, reason, line: redacted(line), rewritten: rewritten.map(redacted) }
    }
}

/// Returns a line with apparent secrets redacted: values of variables and options with a telling name, credentials in
/// addresses, long random tokens.
fn redacted(line: &str) -> String {
    const NAMES: &[&str] =
        &["key", "token", "secret", "passw", "pwd", "auth", "credential", "bearer", "cookie", "private"];
    let mut clean = String::new();
    let mut next_is_value = false;
    for piece in line
        .split_inclusive(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | ';' | '|' | '&' | '(' | ')'))
    {
        let text = piece.trim_end_matches(|c: char| {
            c.is_whitespace() || matches!(c, '\'' | '"' | ';' | '|' | '&' | '(' | ')')
        });
        let end = piece.get(text.len()..).unwrap_or_default();
        let lower = text.to_ascii_lowercase();
        let named = NAMES.iter().any(|name| lower.contains(name)) || matches!(text, "-u" | "--user");
        let random = text.chars().count() >= 24
            && text.chars().any(|c| c.is_ascii_digit())
            && text.chars().any(|c| c.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-+=.".contains(c));
        if text.is_empty() {
            clean.push_str(end);
            continue;
        }
        let shown = match text.split_once(['=', ':']) {
            Some((name, value)) if named && !value.is_empty() => {
                format!("{name}{}[redacted]", if text.starts_with(&format!("{name}=")) { '=' } else { ':' })
            }
            _ if next_is_value || random => "[redacted]".to_owned(),
            // `https://user:password@host`
            _ if text.contains("://") && text.contains('@') => {
                let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
                let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
                format!("{scheme}://[redacted]@{host}")
            }
            _ => text.to_owned(),
        };
        // The value follows in `--token value`, `Authorization: Bearer value` and `password: value`.
        next_is_value = named
            && (text.starts_with('-') || text.ends_with([':', '=']) || lower == "bearer")
            && text.split_once('=').is_none_or(|(_, value)| value.is_empty());
        clean.push_str(&shown);
        clean.push_str(end);
    }
    let mut chars = clean.chars();
    let mut short: String = chars.by_ref().take(MAX_LINE).collect();
    if chars.next().is_some() {
        short.push('…');
    }
    short
}

/// The log's files: `policy.log`, and `policy.1.log` and so on for older ones, readable by their owner alone.
#[derive(Clone, Debug)]
pub struct DecisionLog {
    folder: PathBuf,
}

impl DecisionLog {
    /// Creates the log in a folder.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// Adds an entry. The caller decides about a log that cannot be written.
    pub fn write(&self, entry: &DecisionEntry) -> io::Result<()> {
        let folder = octo_workspace::private_folder(&self.folder)?;
        let file = folder.join("policy.log");
        if fs::symlink_metadata(&file).is_ok_and(|meta| meta.len() > MAX_BYTES) {
            let name = |number: usize| folder.join(format!("policy.{number}.log"));
            for number in (1..KEPT - 1).rev() {
                // A missing file cannot be renamed.
                let _missing = fs::rename(name(number), name(number + 1));
            }
            fs::rename(&file, name(1))?;
        }
        let mut options = fs::OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        options.open(file)?.write_all(&line)
    }
}

#[cfg(test)]
mod tests;
