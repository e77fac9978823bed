//! YAML of front matter: a tree of texts, lists and maps.
//!
//! Types are not guessed: `123`, `2026-05-01` and `1.10` stay text, and callers that need a number or a yes
//! parse it. The cost of a file is bounded, with aliases counted at their full size.

use granit_parser::{Event, Parser, ScalarStyle};
use std::{collections::HashMap, fmt::Write};

/// Maximum values in one front matter, with repeated ones counted each time.
const MAX_VALUES: usize = 4_000;
/// Maximum bytes of text in one front matter, with repeated ones counted each time.
const MAX_TEXT: usize = 1 << 20;
/// Maximum nesting of values.
const MAX_DEPTH: usize = 32;

/// A value of front matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Yaml {
    /// A single value, as its text.
    Text {
        /// The text, escapes resolved.
        text: String,
        /// Its notation.
        style: YamlStyle,
    },
    /// A list.
    List(Vec<Yaml>),
    /// A map, in the order of the file.
    Map(Vec<(String, Yaml)>),
}

/// Notation of a single value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum YamlStyle {
    /// Unquoted, and possibly a number, a date, a yes or null.
    Plain,
    /// Quoted, or unambiguously text.
    Text,
}

/// Reason why a text is rejected as YAML.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum YamlError {
    #[error("{0}")]
    Syntax(String),
    #[error("more values than front matter holds")]
    TooMuch,
}

impl Yaml {
    /// Creates a value that is only text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), style: YamlStyle::Text }
    }

    /// Creates an unquoted word with a special meaning in YAML: `true`, `3`.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), style: YamlStyle::Plain }
    }

    /// Returns the text of a single value.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text, .. } => Some(text),
            Self::List(_) | Self::Map(_) => None,
        }
    }

    /// Returns whether it is null: `key:`, `~`, `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Text { text, style: YamlStyle::Plain }
            if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// Returns the value on one line in file notation, for displaying a value that is not text.
    pub(crate) fn on_one_line(&self) -> String {
        match self {
            Self::Text { text, .. } => text.clone(),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(Self::on_one_line).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Map(entries) => {
                let entries: Vec<String> =
                    entries.iter().map(|(key, value)| format!("{key}: {}", value.on_one_line())).collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }
}

/// Parses one document.
pub(crate) fn parse(text: &str) -> Result<Option<Yaml>, YamlError> {
    let mut reader =
        YamlReader { events: Parser::new_from_str(text), anchors: HashMap::new(), values: 0, bytes: 0 };
    let mut found = None;
    loop {
        match reader.next()? {
            Event::StreamEnd => return Ok(found),
            Event::DocumentStart(..) if found.is_some() => {
                return Err(YamlError::Syntax("a second document begins".to_owned()));
            }
            Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
            event => found = Some(reader.value(event, 0)?),
        }
    }
}

struct YamlReader<'input, Input: granit_parser::BorrowedInput<'input>> {
    events: Parser<'input, Input>,
    anchors: HashMap<usize, AliasValue>,
    values: usize,
    bytes: usize,
}

/// Value of an alias, and its cost at each use.
struct AliasValue {
    value: Yaml,
    values: usize,
    bytes: usize,
}

impl<'input, Input: granit_parser::BorrowedInput<'input>> YamlReader<'input, Input> {
    fn next(&mut self) -> Result<Event<'input>, YamlError> {
        match self.events.next() {
            Some(Ok((event, _))) => Ok(event),
            Some(Err(error)) => Err(YamlError::Syntax(error.to_string())),
            None => Ok(Event::StreamEnd),
        }
    }

    fn charge(&mut self, values: usize, bytes: usize) -> Result<(), YamlError> {
        self.values += values;
        self.bytes += bytes;
        if self.values > MAX_VALUES || self.bytes > MAX_TEXT { Err(YamlError::TooMuch) } else { Ok(()) }
    }

    fn value(&mut self, event: Event<'input>, depth: usize) -> Result<Yaml, YamlError> {
        if depth > MAX_DEPTH {
            return Err(YamlError::TooMuch);
        }
        let before = (self.values, self.bytes);
        let (value, anchor) = match event {
            Event::Scalar(text, style, anchor, _) => {
                self.charge(1, text.len())?;
                let is_plain = style == ScalarStyle::Plain && is_more_than_text(&text);
                let style = if is_plain { YamlStyle::Plain } else { YamlStyle::Text };
                (Yaml::Text { text: text.into_owned(), style }, anchor)
            }
            Event::SequenceStart(_, anchor, _) => {
                self.charge(1, 0)?;
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        Event::SequenceEnd => break,
                        event => items.push(self.value(event, depth + 1)?),
                    }
                }
                (Yaml::List(items), anchor)
            }
            Event::MappingStart(_, anchor, _) => {
                self.charge(1, 0)?;
                (self.map(depth)?, anchor)
            }
            Event::Alias(anchor) => {
                let anchored = self.anchors.get(&anchor).ok_or(YamlError::TooMuch)?;
                let (values, bytes) = (anchored.values, anchored.bytes);
                self.charge(values, bytes)?;
                let anchored = self.anchors.get(&anchor).ok_or(YamlError::TooMuch)?;
                return Ok(anchored.value.clone());
            }
            other => return Err(YamlError::Syntax(format!("unexpected {other:?}"))),
        };
        if anchor != 0 {
            // The stored copy counts too.
            let (values, bytes) = (self.values - before.0, self.bytes - before.1);
            self.charge(values, bytes)?;
            self.anchors.insert(anchor, AliasValue { value: value.clone(), values, bytes });
        }
        Ok(value)
    }

    fn map(&mut self, depth: usize) -> Result<Yaml, YamlError> {
        let mut entries = Vec::new();
        loop {
            let key = match self.next()? {
                Event::MappingEnd => return Ok(Yaml::Map(entries)),
                event => self.value(event, depth + 1)?,
            };
            let event = self.next()?;
            let value = self.value(event, depth + 1)?;
            entries.push((key.on_one_line(), value));
        }
    }
}

/// Writes a map as a block, which [`parse`] reads back unchanged.
pub(crate) fn write(entries: &[(String, Yaml)]) -> String {
    let mut text = String::new();
    for (key, value) in entries {
        write_entry(&mut text, key, value, 0);
    }
    text
}

fn write_entry(text: &mut String, key: &str, value: &Yaml, depth: usize) {
    text.extend(std::iter::repeat_n("  ", depth));
    write_text(text, key, YamlStyle::Text);
    text.push(':');
    write_value(text, value, depth);
}

fn write_value(text: &mut String, value: &Yaml, depth: usize) {
    let is_null = value.is_null();
    match value {
        Yaml::Text { text: value, style } => {
            if !is_null {
                text.push(' ');
                write_text(text, value, *style);
            }
            text.push('\n');
        }
        Yaml::List(items) if items.is_empty() => text.push_str(" []\n"),
        Yaml::Map(entries) if entries.is_empty() => text.push_str(" {}\n"),
        Yaml::List(items) => {
            text.push('\n');
            for item in items {
                text.extend(std::iter::repeat_n("  ", depth + 1));
                text.push('-');
                write_value(text, item, depth + 1);
            }
        }
        Yaml::Map(entries) => {
            text.push('\n');
            for (key, value) in entries {
                write_entry(text, key, value, depth + 1);
            }
        }
    }
}

/// Writes a text, without quotes if that reads back unchanged.
fn write_text(text: &mut String, value: &str, style: YamlStyle) {
    let is_safe = match style {
        YamlStyle::Plain => is_plain(value.strip_prefix(['-', '+']).unwrap_or(value)),
        YamlStyle::Text => is_plain(value) && !is_more_than_text(value),
    };
    if is_safe {
        text.push_str(value);
        return;
    }
    text.push('"');
    for c in value.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            // Characters that YAML considers unprintable, and its additional line ends.
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                let code = u32::from(c);
                // Writing to a string does not fail.
                let _infallible =
                    if code <= 0xff { write!(text, "\\x{code:02x}") } else { write!(text, "\\u{code:04x}") };
            }
            '\u{fffe}' | '\u{ffff}' => text.push('\u{fffd}'),
            c => text.push(c),
        }
    }
    text.push('"');
}

/// Returns whether a text needs no quotes: one line of harmless characters that neither begins nor ends with a
/// special character of YAML.
fn is_plain(text: &str) -> bool {
    let starts_well =
        text.chars().next().is_some_and(|c| c.is_alphanumeric() || matches!(c, '/' | '.' | '_'));
    let ends_well = text.chars().next_back().is_some_and(|c| !c.is_whitespace() && c != ':');
    starts_well
        && ends_well
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.starts_with("...")
        && text.chars().all(|c| {
            c.is_alphanumeric()
                || matches!(
                    c,
                    ' ' | '-'
                        | '_'
                        | '.'
                        | '/'
                        | '('
                        | ')'
                        | '+'
                        | '='
                        | ';'
                        | '!'
                        | '?'
                        | '$'
                        | '*'
                        | '~'
                        | '@'
                        | '\''
                        | ':'
                        | '#'
                        | '^'
                        | '<'
                        | '>'
                        | '%'
                        | '。'
                        | '，'
                        | '、'
                        | '（'
                        | '）'
                        | '：'
                        | '“'
                        | '”'
                )
        })
}

/// Returns whether a YAML reader, even an old one, would take the text for a number, a date, a yes or null.
pub(crate) fn is_more_than_text(text: &str) -> bool {
    let starts_like_number =
        text.chars().next().is_some_and(|c| c.is_ascii_digit() || matches!(c, '.' | '+' | '-'));
    starts_like_number
        || matches!(
            text.to_ascii_lowercase().as_str(),
            "" | "~" | "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n"
        )
}

#[cfg(test)]
mod tests;
