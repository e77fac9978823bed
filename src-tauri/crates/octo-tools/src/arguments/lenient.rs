//! A JSON reader that tolerates models' mistakes.
//!
//! It accepts text that [`serde_json`] rejects but that has only one meaning: raw line breaks and tabs inside
//! strings, unknown escapes (`\d`, kept unchanged), stray commas, `True`, and remnants of another call format
//! between values (`</parameter>`, `<parameter name="k">`). The model itself must close every string, array and
//! object, and nothing may follow the last brace, so a truncated text is never accepted as complete.

use serde_json::{Map, Number, Value};

/// Reason why a text is not an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JsonFlaw {
    /// The text ends before the object does.
    CutOff,
    /// The text is not an object.
    NotAnObject,
    /// Unexpected text at some position.
    At {
        /// Description of the problem.
        description: String,
        /// Last characters before it.
        before: String,
    },
}

/// Maximum nesting. No tool has deeper arguments; they would only exhaust the stack.
const MAX_DEPTH: usize = 64;

/// Reads one object.
pub(super) fn object(text: &str) -> Result<Map<String, Value>, JsonFlaw> {
    let mut reader = LenientReader { text, remaining: text, depth: 0 };
    reader.skip_blank();
    if !reader.skip_character('{') {
        return Err(if reader.remaining.is_empty() { JsonFlaw::CutOff } else { JsonFlaw::NotAnObject });
    }
    let values = reader.members()?;
    reader.skip_blank();
    if reader.remaining.is_empty() {
        Ok(values)
    } else {
        Err(reader.flaw("there is more after the closing brace"))
    }
}

struct LenientReader<'a> {
    text: &'a str,
    remaining: &'a str,
    depth: usize,
}

impl<'a> LenientReader<'a> {
    fn flaw(&self, description: impl Into<String>) -> JsonFlaw {
        if self.remaining.is_empty() {
            return JsonFlaw::CutOff;
        }
        let read = self.text.strip_suffix(self.remaining).unwrap_or_default();
        let mut before: Vec<char> = read.chars().rev().take(30).collect();
        before.reverse();
        JsonFlaw::At { description: description.into(), before: before.into_iter().collect() }
    }

    fn skip_character(&mut self, character: char) -> bool {
        match self.remaining.strip_prefix(character) {
            Some(remaining) => {
                self.remaining = remaining;
                true
            }
            None => false,
        }
    }

    fn next(&mut self) -> Result<char, JsonFlaw> {
        let mut chars = self.remaining.chars();
        let character = chars.next().ok_or(JsonFlaw::CutOff)?;
        self.remaining = chars.as_str();
        Ok(character)
    }

    /// Skips white space and closing tags.
    fn skip_blank(&mut self) {
        loop {
            self.remaining =
                self.remaining.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            let tag = self.remaining.strip_prefix("</").and_then(|tag| tag.split_once('>'));
            match tag {
                Some((name, remaining)) if is_tag_name(name) => self.remaining = remaining,
                _ => return,
            }
        }
    }

    fn skip_commas(&mut self) -> bool {
        let mut skipped_any = false;
        loop {
            self.skip_blank();
            if !self.skip_character(',') {
                return skipped_any;
            }
            skipped_any = true;
        }
    }

    /// Returns the name in `<parameter name="k">`.
    fn parameter_tag(&mut self) -> Option<String> {
        let remaining = self.remaining.strip_prefix("<parameter name=\"")?;
        let (name, remaining) = remaining.split_once("\">")?;
        self.remaining = remaining;
        Some(name.to_owned())
    }

    fn members(&mut self) -> Result<Map<String, Value>, JsonFlaw> {
        self.enter_level()?;
        let mut members = Map::new();
        let mut is_separated = true;
        loop {
            is_separated |= self.skip_commas();
            if self.skip_character('}') {
                self.depth -= 1;
                return Ok(members);
            }
            let name = match self.parameter_tag() {
                Some(name) => name,
                None if !is_separated => return Err(self.flaw("a comma or a brace is missing")),
                None => {
                    if !self.skip_character('"') {
                        return Err(self.flaw("a name in double quotes is missing"));
                    }
                    let name = self.string()?;
                    self.skip_blank();
                    if !self.skip_character(':') {
                        return Err(self.flaw("a colon is missing"));
                    }
                    name
                }
            };
            let value = self.value()?;
            if name.contains(['<', '>']) {
                return Err(self.flaw(format!("`{name}` cannot be a name")));
            }
            if members.insert(name, value).is_some() {
                return Err(self.flaw("a name occurs twice"));
            }
            is_separated = false;
        }
    }

    fn elements(&mut self) -> Result<Value, JsonFlaw> {
        self.enter_level()?;
        let mut elements = Vec::new();
        let mut is_separated = true;
        loop {
            is_separated |= self.skip_commas();
            if self.skip_character(']') {
                self.depth -= 1;
                return Ok(Value::Array(elements));
            }
            if !is_separated {
                return Err(self.flaw("a comma or a bracket is missing"));
            }
            elements.push(self.value()?);
            is_separated = false;
        }
    }

    fn enter_level(&mut self) -> Result<(), JsonFlaw> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(self.flaw("it is nested too deeply")) } else { Ok(()) }
    }

    fn value(&mut self) -> Result<Value, JsonFlaw> {
        self.skip_blank();
        if self.skip_character('"') {
            return self.string().map(Value::String);
        }
        if self.skip_character('{') {
            return self.members().map(Value::Object);
        }
        if self.skip_character('[') {
            return self.elements();
        }
        let end = self.remaining.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '+' | '.'));
        // A word at the very end may be the start of a longer one.
        let (literal, remaining) =
            self.remaining.split_at_checked(end.ok_or(JsonFlaw::CutOff)?).ok_or(JsonFlaw::CutOff)?;
        let value = match literal {
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            "null" | "None" => Value::Null,
            number => match serde_json::from_str::<Number>(number) {
                Ok(number) => Value::Number(number),
                Err(_) => return Err(self.flaw("a value is missing or not in quotes")),
            },
        };
        self.remaining = remaining;
        Ok(value)
    }

    /// Reads the rest of a string, after its opening quote.
    fn string(&mut self) -> Result<String, JsonFlaw> {
        let mut string = String::new();
        loop {
            match self.next()? {
                '"' => return Ok(string),
                '\\' => self.escape(&mut string)?,
                other => string.push(other),
            }
        }
    }

    fn escape(&mut self, string: &mut String) -> Result<(), JsonFlaw> {
        match self.next()? {
            literal @ ('"' | '\\' | '/') => string.push(literal),
            'b' => string.push('\u{8}'),
            'f' => string.push('\u{c}'),
            'n' => string.push('\n'),
            'r' => string.push('\r'),
            't' => string.push('\t'),
            'u' => {
                let high = self.hex()?;
                let second = if (0xD800..0xDC00).contains(&high) {
                    if !(self.skip_character('\\') && self.skip_character('u')) {
                        return Err(self.flaw("half a character (a lone surrogate)"));
                    }
                    Some(self.hex()?)
                } else {
                    None
                };
                let units = std::iter::once(high).chain(second);
                for unit in char::decode_utf16(units) {
                    string.push(unit.map_err(|_| self.flaw("half a character (a lone surrogate)"))?);
                }
            }
            // `\d` of a regular expression: the backslash is intended.
            unknown => string.extend(['\\', unknown]),
        }
        Ok(())
    }

    fn hex(&mut self) -> Result<u16, JsonFlaw> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit =
                self.next()?.to_digit(16).ok_or_else(|| self.flaw("a \\u escape without four digits"))?;
            unit = unit << 4 | digit as u16;
        }
        Ok(unit)
    }
}

fn is_tag_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '-'))
}
