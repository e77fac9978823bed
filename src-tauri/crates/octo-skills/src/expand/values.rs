//! Values of the marks in a skill's instructions.

use super::{Invocation, MAX_KEY};
use crate::Fields;
use std::path::Path;

/// Product name.
const PRODUCT: &str = "Octo";

/// Maximum bytes of a variable's name or an argument's number.
const MAX_NAME: usize = 64;

/// The values of one call.
pub(super) struct Values<'a> {
    arguments: &'a str,
    words: Vec<String>,
    names: &'a [String],
    variables: Vec<(&'static str, String)>,
    keys: &'a [(&'a str, String)],
    used: bool,
}

/// A mark in the text: its value and its length in bytes.
pub(super) struct MarkValue {
    pub value: String,
    pub length: usize,
    argument: bool,
}

impl MarkValue {
    fn plain(value: &str, length: usize) -> Self {
        Self { value: value.to_owned(), length, argument: false }
    }

    fn argument(value: &str, length: usize) -> Self {
        Self { value: value.to_owned(), length, argument: true }
    }
}

impl<'a> Values<'a> {
    pub(super) fn new(fields: &'a Fields, folder: &Path, invocation: &Invocation<'a>) -> Self {
        let arguments = invocation.arguments.trim();
        // Text that is not valid shell syntax (a single quote in a sentence) is split at spaces.
        let positional = shell_words::split(arguments)
            .unwrap_or_else(|_| arguments.split_whitespace().map(str::to_owned).collect());
        let folder = folder.display().to_string();
        let mut variables = vec![
            ("CLAUDE_SKILL_DIR", folder.clone()),
            ("SKILL_DIR", folder),
            ("CLAUDE_SESSION_ID", invocation.session.to_owned()),
            ("OCTO_PRODUCT_NAME", PRODUCT.to_owned()),
        ];
        if let Some(home) = invocation.home {
            variables.push(("HOME", home.display().to_string()));
        }
        Self {
            arguments,
            words: positional,
            names: &fields.arguments,
            variables,
            keys: invocation.values,
            used: false,
        }
    }

    /// Returns whether any argument was inserted.
    pub(super) fn any_used(&self) -> bool {
        self.used
    }

    /// Parses the variable or argument at the start of the text, which begins with `$`.
    pub(super) fn variable(&mut self, text: &str) -> Option<MarkValue> {
        let found = self.look_up(text)?;
        self.used |= found.argument;
        Some(found)
    }

    fn look_up(&self, text: &str) -> Option<MarkValue> {
        let suffix = text.strip_prefix('$')?;
        if let Some(inner) = suffix.strip_prefix('{') {
            let (name, _) = prefix(inner, MAX_NAME).split_once('}')?;
            let (_, value) = self.variables.iter().find(|(variable, _)| *variable == name)?;
            return Some(MarkValue::plain(value, "${}".len() + name.len()));
        }
        if let Some(after) = suffix.strip_prefix("ARGUMENTS") {
            const LENGTH: usize = "$ARGUMENTS".len();
            if let Some((index, _)) =
                after.strip_prefix('[').and_then(|inner| prefix(inner, MAX_NAME).split_once(']'))
                && let Ok(number) = index.parse::<usize>()
            {
                let value = self.words.get(number).map_or("", String::as_str);
                return Some(MarkValue::argument(value, LENGTH + "[]".len() + index.len()));
            }
            return ends_name(after).then(|| MarkValue::argument(self.arguments, LENGTH));
        }
        let digits: String = suffix.chars().take(MAX_NAME).take_while(char::is_ascii_digit).collect();
        if !digits.is_empty() {
            // `$20` is a price if there are fewer arguments.
            let value = self.words.get(digits.parse::<usize>().ok()?)?;
            let after = suffix.strip_prefix(&digits)?;
            return ends_name(after).then(|| MarkValue::argument(value, "$".len() + digits.len()));
        }
        let mut matching = self.names.iter().enumerate().filter(|(_, name)| {
            !name.is_empty() && suffix.strip_prefix(name.as_str()).is_some_and(ends_name)
        });
        let (number, name) = matching.next()?;
        let value = self.words.get(number).map_or("", String::as_str);
        Some(MarkValue::argument(value, "$".len() + name.len()))
    }

    /// Parses the `<%= key %>` at the start of the text. Its content is always a key; an unknown one has an
    /// empty value.
    pub(super) fn key(&self, text: &str) -> Option<MarkValue> {
        let (key, _) = prefix(text.strip_prefix("<%=")?, MAX_KEY + "%>".len()).split_once("%>")?;
        let length = "<%=%>".len() + key.len();
        let value =
            self.keys.iter().find(|(candidate, _)| *candidate == key.trim()).map_or("", |(_, value)| value);
        Some(MarkValue::plain(value, length))
    }

    /// Returns the command with its values filled in; `None` if a shell could read one of them as more than a
    /// part of a word, or as an option.
    pub(super) fn fill_command(&mut self, command: &str) -> Option<String> {
        let mut filled = String::new();
        let mut remaining = command;
        while let Some(c) = remaining.chars().next() {
            let found = if c == '$' { self.variable(remaining) } else { None };
            let length = match found {
                Some(found) if is_harmless(&found.value) => {
                    filled.push_str(&found.value);
                    found.length
                }
                Some(_) => return None,
                None => {
                    filled.push(c);
                    c.len_utf8()
                }
            };
            (_, remaining) = remaining.split_at_checked(length)?;
        }
        Some(filled)
    }
}

/// Returns the first bytes of a text. The search for the end of every mark is limited to this many bytes:
/// otherwise a text full of opened marks would be scanned again from each.
fn prefix(text: &str, limit: usize) -> &str {
    text.split_at(text.floor_char_boundary(limit)).0
}

/// Returns whether a name ends before this text.
fn ends_name(after: &str) -> bool {
    !after.chars().next().is_some_and(|c| c.is_alphanumeric() || c == '_')
}

/// Returns whether a value is only words to every shell, and not an option.
fn is_harmless(value: &str) -> bool {
    let is_letter =
        |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | '@' | ',' | '+' | ' ');
    value.chars().all(is_letter) && !value.split(' ').any(|word| word.starts_with('-'))
}
