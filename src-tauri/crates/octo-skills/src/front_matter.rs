//! Front matter: the YAML between two `---` lines at the start of a Markdown file.

use crate::{
    Warning,
    yaml::{self, Yaml, YamlError},
};

/// Keys and values at the start of a file, in order. Memory files have the same kind of head.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrontMatter {
    entries: Vec<(String, Yaml)>,
}

/// A Markdown file, split into its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkdownParts {
    /// Its head; empty if it has none.
    pub front: FrontMatter,
    /// Text after it, without surrounding blank lines.
    pub body: String,
    /// Repairs that were necessary.
    pub warnings: Vec<Warning>,
}

impl FrontMatter {
    /// Returns the keys and values, in order.
    pub fn entries(&self) -> &[(String, Yaml)] {
        &self.entries
    }

    /// Returns the value of a key. In a key, `-` and `_` are equal, and case is ignored.
    pub fn get(&self, key: &str) -> Option<&Yaml> {
        self.entries.iter().find(|(entry_key, _)| is_key(entry_key, key)).map(|(_, value)| value)
    }

    /// Sets a key's value, in its existing position or at the end.
    pub fn set(&mut self, key: &str, value: Yaml) {
        match self.entries.iter_mut().find(|(entry_key, _)| is_key(entry_key, key)) {
            Some((_, present)) => *present = value,
            None => self.entries.push((key.to_owned(), value)),
        }
    }

    /// Removes a key.
    pub fn remove(&mut self, key: &str) {
        self.entries.retain(|(entry_key, _)| !is_key(entry_key, key));
    }

    /// Returns the file with this head: every key kept, in order. Reading it again yields the same head.
    pub fn with_body(&self, body: &str) -> String {
        let body = trimmed(body);
        let end = if body.is_empty() { "" } else { "\n" };
        if self.entries.is_empty() && !body.starts_with("---") {
            return format!("{body}{end}");
        }
        format!("---\n{}---\n\n{body}{end}", yaml::write(&self.entries))
    }
}

/// Trims white space, and a byte order mark that was pasted with it.
fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

pub(crate) fn is_key(entry: &str, key: &str) -> bool {
    let fold = |c: char| if c == '_' { '-' } else { c.to_ascii_lowercase() };
    entry.trim().chars().map(fold).eq(key.chars().map(fold))
}

/// Splits a file into its parts. Never fails: a head that is invalid YAML is read line by line, and unreadable
/// text becomes part of the body.
pub fn split_markdown(text: &str) -> MarkdownParts {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n");
    let Some((head, body)) = split(&text) else {
        let warnings = match text.lines().next() {
            Some(line) if line.trim_end() == "---" => vec![Warning::new("skills.warning.unclosed")],
            _ => Vec::new(),
        };
        return MarkdownParts { front: FrontMatter::default(), body: trimmed(&text).to_owned(), warnings };
    };
    let mut warnings = Vec::new();
    match read(head, &mut warnings) {
        Some(entries) => MarkdownParts {
            front: FrontMatter { entries: without_duplicates(entries, &mut warnings) },
            body: trimmed(body).to_owned(),
            warnings,
        },
        None => MarkdownParts { front: FrontMatter::default(), body: trimmed(&text).to_owned(), warnings },
    }
}

/// Returns the head and the rest, if the first line is `---` and a later one closes it.
fn split(text: &str) -> Option<(&str, &str)> {
    let (first, rest) = text.split_once('\n')?;
    if first.trim_end() != "---" {
        return None;
    }
    let mut position = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            let (head, remaining) = rest.split_at_checked(position)?;
            return Some((head, remaining.split_once('\n').map_or("", |(_, body)| body)));
        }
        position += line.len();
    }
    None
}

/// Parses the entries; `None` if the text between the lines is not front matter at all.
fn read(head: &str, warnings: &mut Vec<Warning>) -> Option<Vec<(String, Yaml)>> {
    match yaml::parse(head) {
        Ok(None) => Some(Vec::new()),
        Ok(Some(Yaml::Map(entries))) => Some(entries),
        Ok(Some(Yaml::List(_))) => {
            warnings.push(Warning::new("skills.warning.front_is_list"));
            Some(Vec::new())
        }
        Ok(Some(value)) if value.is_null() => Some(Vec::new()),
        // Two horizontal rules around a paragraph, or text that only looks like front matter.
        Ok(Some(Yaml::Text { .. })) => {
            warnings.push(Warning::new("skills.warning.front_unreadable"));
            None
        }
        Err(error) => {
            if error == YamlError::TooMuch {
                warnings.push(Warning::new("skills.warning.front_too_much"));
            }
            let entries = read_by_lines(head, warnings);
            if entries.is_empty() {
                warnings.push(Warning::new("skills.warning.front_unreadable"));
                return None;
            }
            Some(entries)
        }
    }
}

/// Reads each entry separately, so a wrong one does not affect the others. Invalid YAML is taken as plain text:
/// an unquoted `: ` in a description is the usual reason.
fn read_by_lines(head: &str, warnings: &mut Vec<Warning>) -> Vec<(String, Yaml)> {
    let mut chunks: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut ignored = 0;
    for line in head.lines() {
        match key_of(line) {
            Some(key) => chunks.push((key, vec![line])),
            None if line.trim().is_empty() || line.trim_start().starts_with('#') => {
                if let Some((_, lines)) = chunks.last_mut() {
                    lines.push(line);
                }
            }
            None if line.starts_with([' ', '\t', '-']) && !chunks.is_empty() => {
                if let Some((_, lines)) = chunks.last_mut() {
                    lines.push(line);
                }
            }
            None => ignored += 1,
        }
    }
    if ignored > 0 {
        warnings.push(Warning::new("skills.warning.lines_ignored").arg("count", ignored));
    }
    let mut entries = Vec::new();
    for (key, lines) in chunks {
        match yaml::parse(&lines.join("\n")) {
            Ok(Some(Yaml::Map(read))) => entries.extend(read),
            _ => {
                warnings.push(Warning::new("skills.warning.taken_as_text").arg("field", key));
                entries.push((key.to_owned(), Yaml::text(as_text(&lines))));
            }
        }
    }
    entries
}

/// Returns the key of a line that begins an entry.
fn key_of(line: &str) -> Option<&str> {
    let (key, value) = line.split_once(':')?;
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_key = !key.is_empty() && key.trim_end().chars().all(is_word);
    (is_key && (value.is_empty() || value.starts_with([' ', '\t']))).then(|| key.trim_end())
}

/// Joins the lines of an entry into its value, without a block indicator (`|`, `>`) and without quotes.
fn as_text(lines: &[&str]) -> String {
    let first = lines.first().and_then(|line| line.split_once(':')).map_or("", |(_, value)| value.trim());
    let first = if matches!(first, "|" | ">" | "|-" | ">-" | "|+" | ">+") { "" } else { first };
    let following = lines.iter().skip(1).map(|line| line.trim()).filter(|line| !line.starts_with('#'));
    let text: Vec<&str> = std::iter::once(first).chain(following).filter(|line| !line.is_empty()).collect();
    let text = text.join(" ");
    let unquoted = ['"', '\'']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote)));
    unquoted.map_or_else(|| text.clone(), str::to_owned)
}

/// Removes duplicate keys: the first counts.
fn without_duplicates(entries: Vec<(String, Yaml)>, warnings: &mut Vec<Warning>) -> Vec<(String, Yaml)> {
    let mut unique: Vec<(String, Yaml)> = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        if unique.iter().any(|(existing, _)| is_key(existing, &key)) {
            warnings.push(Warning::new("skills.warning.key_twice").arg("field", key));
        } else {
            unique.push((key, value));
        }
    }
    unique
}
