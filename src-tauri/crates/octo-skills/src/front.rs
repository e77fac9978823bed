//! Front matter: the YAML between two lines of `---` at the head of a Markdown file.

use crate::{
    Warning,
    yaml::{self, Yaml, YamlError},
};

/// The keys and values at the head of a file, in its order. Memory files have the same kind of head.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrontMatter {
    entries: Vec<(String, Yaml)>,
}

/// A Markdown file, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Its head; empty where it has none.
    pub front: FrontMatter,
    /// What comes after it, without the blank lines around.
    pub body: String,
    /// What had to be repaired.
    pub warnings: Vec<Warning>,
}

impl FrontMatter {
    /// The keys and values, in order.
    pub fn entries(&self) -> &[(String, Yaml)] {
        &self.entries
    }

    /// The value of a key. `-` and `_` are the same in a key, and so are large and small letters.
    pub fn get(&self, key: &str) -> Option<&Yaml> {
        self.entries.iter().find(|(known, _)| is_key(known, key)).map(|(_, value)| value)
    }

    /// Gives a key a value: where it stands, or at the end.
    pub fn set(&mut self, key: &str, value: Yaml) {
        match self.entries.iter_mut().find(|(known, _)| is_key(known, key)) {
            Some((_, present)) => *present = value,
            None => self.entries.push((key.to_owned(), value)),
        }
    }

    /// Takes a key away.
    pub fn remove(&mut self, key: &str) {
        self.entries.retain(|(known, _)| !is_key(known, key));
    }

    /// The file with this head: every key kept, in order. What is read from it is the same again.
    pub fn with_body(&self, body: &str) -> String {
        let body = trimmed(body);
        let end = if body.is_empty() { "" } else { "\n" };
        if self.entries.is_empty() && !body.starts_with("---") {
            return format!("{body}{end}");
        }
        format!("---\n{}---\n\n{body}{end}", yaml::write(&self.entries))
    }
}

/// Without blanks around, and without a mark of the byte order that was pasted with them.
fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

pub(crate) fn is_key(written: &str, key: &str) -> bool {
    let fold = |c: char| if c == '_' { '-' } else { c.to_ascii_lowercase() };
    written.trim().chars().map(fold).eq(key.chars().map(fold))
}

/// Takes a file apart. It never fails: what cannot be read as YAML is read line by line, and what cannot be read
/// at all is part of the body.
pub fn take_apart(text: &str) -> Parts {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n");
    let Some((head, body)) = split(&text) else {
        let warnings = match text.lines().next() {
            Some(line) if line.trim_end() == "---" => vec![Warning::new("skills.warning.unclosed")],
            _ => Vec::new(),
        };
        return Parts { front: FrontMatter::default(), body: trimmed(&text).to_owned(), warnings };
    };
    let mut warnings = Vec::new();
    match read(head, &mut warnings) {
        Some(entries) => Parts {
            front: FrontMatter { entries: once_each(entries, &mut warnings) },
            body: trimmed(body).to_owned(),
            warnings,
        },
        None => Parts { front: FrontMatter::default(), body: trimmed(&text).to_owned(), warnings },
    }
}

/// The head and the rest, where the first line is `---` and a later one closes it.
fn split(text: &str) -> Option<(&str, &str)> {
    let (first, rest) = text.split_once('\n')?;
    if first.trim_end() != "---" {
        return None;
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            let (head, tail) = rest.split_at_checked(at)?;
            return Some((head, tail.split_once('\n').map_or("", |(_, body)| body)));
        }
        at += line.len();
    }
    None
}

/// The entries; none where the text between the lines is no front matter at all.
fn read(head: &str, warnings: &mut Vec<Warning>) -> Option<Vec<(String, Yaml)>> {
    match yaml::parse(head) {
        Ok(None) => Some(Vec::new()),
        Ok(Some(Yaml::Map(entries))) => Some(entries),
        Ok(Some(Yaml::List(_))) => {
            warnings.push(Warning::new("skills.warning.front_is_list"));
            Some(Vec::new())
        }
        Ok(Some(value)) if value.is_null() => Some(Vec::new()),
        // Two rules around a paragraph, or words somebody thought were front matter.
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

/// Each entry for itself, so that one that is wrong does not cost the others. One that is no YAML is taken as the
/// text it is: an unquoted `: ` in a description is the usual reason.
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

/// The key of a line that begins an entry.
fn key_of(line: &str) -> Option<&str> {
    let (key, value) = line.split_once(':')?;
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_key = !key.is_empty() && key.trim_end().chars().all(is_word);
    (is_key && (value.is_empty() || value.starts_with([' ', '\t']))).then(|| key.trim_end())
}

/// The lines of an entry as one text: its value, without the marks and quotes somebody tried to write.
fn as_text(lines: &[&str]) -> String {
    let first = lines.first().and_then(|line| line.split_once(':')).map_or("", |(_, value)| value.trim());
    let first = if matches!(first, "|" | ">" | "|-" | ">-" | "|+" | ">+") { "" } else { first };
    let rest = lines.iter().skip(1).map(|line| line.trim()).filter(|line| !line.starts_with('#'));
    let text: Vec<&str> = std::iter::once(first).chain(rest).filter(|line| !line.is_empty()).collect();
    let text = text.join(" ");
    let unquoted = ['"', '\'']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote)));
    unquoted.map_or_else(|| text.clone(), str::to_owned)
}

/// The entries with each key once: the first counts.
fn once_each(entries: Vec<(String, Yaml)>, warnings: &mut Vec<Warning>) -> Vec<(String, Yaml)> {
    let mut kept: Vec<(String, Yaml)> = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        if kept.iter().any(|(known, _)| is_key(known, &key)) {
            warnings.push(Warning::new("skills.warning.key_twice").arg("field", key));
        } else {
            kept.push((key, value));
        }
    }
    kept
}
