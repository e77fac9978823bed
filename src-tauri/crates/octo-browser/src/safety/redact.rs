//! [`Redactor`]: removes the values of used secrets from every text for the model, logs and events, however a
//! value is written there.

use super::{
    secret::{SecretFault, SecretName},
    visible::is_invisible,
};
use base64::{
    Engine,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::{ExposeSecret, SecretString, zeroize::Zeroizing};
use std::{fmt, fmt::Write, ops::Range};

/// Minimum length of a redacted value: shorter ones occur in too many texts.
const MIN_SECRET_CHARS: usize = 4;
/// Minimum length of a value that is also found with gaps and in different case.
const MIN_NORMALISED_CHARS: usize = 6;

/// Characters that `encodeURIComponent` escapes.
const URI_COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');
/// Characters outside the unreserved ones of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The values in use, each under its name.
#[derive(Clone, Default)]
pub struct Redactor {
    secrets: Vec<KnownSecret>,
}

#[derive(Clone)]
struct KnownSecret {
    name: SecretName,
    /// Spellings that are searched for literally.
    exact: Vec<Zeroizing<String>>,
    /// The value in lower case without gaps; empty if too short for that.
    normalised: Zeroizing<String>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.secrets.iter().map(|secret| &secret.name)).finish()
    }
}

impl Redactor {
    /// Redacts the value from now on. Call before the value is typed.
    ///
    /// # Errors
    ///
    /// [`SecretFault::TooShort`] if the value cannot be told from other text: it must not be typed.
    pub fn learn(&mut self, name: &SecretName, value: &SecretString) -> Result<(), SecretFault> {
        let value = value.expose_secret();
        if value.chars().count() < MIN_SECRET_CHARS {
            return Err(SecretFault::TooShort);
        }
        let exact = spellings(value);
        if self.secrets.iter().any(|secret| secret.name == *name && secret.exact == exact) {
            return Ok(());
        }
        let (normalised, _) = normalise(value);
        let is_long_enough = normalised.chars().count() >= MIN_NORMALISED_CHARS;
        self.secrets.push(KnownSecret {
            name: name.clone(),
            exact,
            normalised: if is_long_enough { normalised } else { Zeroizing::default() },
        });
        Ok(())
    }

    /// Returns the text with secret values replaced by their names.
    pub fn redact(&self, text: &str) -> String {
        let mut output = String::with_capacity(text.len());
        let mut position = 0;
        for (range, name) in self.find_values(text) {
            output.push_str(text.get(position..range.start).unwrap_or_default());
            output.push_str(&name.placeholder());
            position = range.end;
        }
        output.push_str(text.get(position..).unwrap_or_default());
        output
    }

    /// Returns whether a text contains a value.
    pub fn contains_secret(&self, text: &str) -> bool {
        !self.find_values(text).is_empty()
    }

    /// Returns whether no value is known.
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Redacts texts that are adjacent on a page, and also values that are spread over several of them.
    pub fn redact_adjacent(&self, texts: &[&str]) -> Vec<String> {
        let joined = Zeroizing::new(texts.join("\n"));
        let found = self.find_values(&joined);
        let mut span_start = 0;
        texts
            .iter()
            .map(|text| {
                let span = span_start..span_start + text.len();
                span_start = span.end + 1;
                let mut output = String::with_capacity(text.len());
                let mut position = span.start;
                for (range, name) in
                    found.iter().filter(|(range, _)| range.start < span.end && span.start < range.end)
                {
                    output.push_str(joined.get(position..range.start).unwrap_or_default());
                    if span.contains(&range.start) {
                        output.push_str(&name.placeholder());
                    }
                    position = range.end;
                }
                output.push_str(joined.get(position..span.end).unwrap_or_default());
                output
            })
            .collect()
    }

    /// Finds values, in order and without overlaps.
    fn find_values(&self, text: &str) -> Vec<(Range<usize>, &SecretName)> {
        if self.secrets.is_empty() {
            return Vec::new();
        }
        let (normalised, ranges) = normalise(text);
        let upper_escapes = if text.contains('%') { upper_percent(text) } else { String::new() };
        let mut found = Vec::new();
        for secret in &self.secrets {
            for spelling in &secret.exact {
                let literal = text.match_indices(spelling.as_str());
                let in_escapes = upper_escapes.match_indices(spelling.as_str());
                found.extend(
                    literal.chain(in_escapes).map(|(index, _)| (index..index + spelling.len(), &secret.name)),
                );
            }
            if secret.normalised.is_empty() {
                continue;
            }
            for (index, _) in normalised.match_indices(secret.normalised.as_str()) {
                let ends = ranges.get(index).zip(ranges.get(index + secret.normalised.len() - 1));
                found.extend(ends.map(|(first, last)| (first.start..last.end, &secret.name)));
            }
        }
        found.sort_by_key(|(range, _)| (range.start, usize::MAX - range.end));
        let mut disjoint: Vec<(Range<usize>, &SecretName)> = Vec::new();
        for (range, name) in found {
            match disjoint.last_mut() {
                Some((before, _)) if range.start < before.end => before.end = before.end.max(range.end),
                _ => disjoint.push((range, name)),
            }
        }
        disjoint
    }
}

/// Returns a text in lower case without gaps, quotes and backslashes, with the source range of each byte.
fn normalise(text: &str) -> (Zeroizing<String>, Vec<Range<usize>>) {
    let mut normalised = Zeroizing::new(String::with_capacity(text.len()));
    let mut ranges = Vec::with_capacity(text.len());
    for (index, character) in text.char_indices() {
        let is_gap = character.is_whitespace()
            || is_invisible(character)
            || matches!(
                character,
                '"' | '\'' | '`' | '\\' | '\u{201c}' | '\u{201d}' | '\u{2018}' | '\u{2019}'
            );
        if !is_gap {
            normalised.extend(character.to_lowercase());
            ranges.resize(normalised.len(), index..index + character.len_utf8());
        }
    }
    (normalised, ranges)
}

/// Returns the value's spellings in addresses, JSON, HTML, and base64 at any offset of a longer text.
fn spellings(value: &str) -> Vec<Zeroizing<String>> {
    let json = serde_json::to_string(value).unwrap_or_default();
    let json = json.strip_prefix('"').and_then(|json| json.strip_suffix('"')).unwrap_or_default();
    let mut ascii = String::new();
    for unit in json.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii() => ascii.push(char::from(byte)),
            // Writing to a string cannot fail.
            _ => {
                let _ = write!(ascii, "\\u{unit:04x}");
            }
        }
    }
    let form: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
    let html = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    let mut all_spellings = vec![
        value.to_owned(),
        json.to_owned(),
        ascii,
        utf8_percent_encode(value, NON_ALPHANUMERIC).to_string(),
        utf8_percent_encode(value, URI_COMPONENT).to_string(),
        utf8_percent_encode(value, RESERVED).to_string(),
        form.replace('+', "%20"),
        form,
        html.replace('\'', "&#39;"),
        html.replace('\'', "&#x27;"),
        html.replace('\'', "&apos;"),
        html,
        hex.to_uppercase(),
        hex,
    ];
    for shift in 0..3 {
        all_spellings.extend(base64(value, shift));
    }
    all_spellings.retain(|spelling| spelling.chars().count() >= MIN_SECRET_CHARS);
    all_spellings.sort();
    all_spellings.dedup();
    all_spellings.into_iter().map(Zeroizing::new).collect()
}

/// Returns the base64 characters that depend only on the value when `shift` bytes (of each three) precede it.
fn base64(value: &str, shift: usize) -> Vec<String> {
    let bytes = Zeroizing::new([vec![0; shift], value.as_bytes().to_vec()].concat());
    let (first, end) = ((shift * 8).div_ceil(6), bytes.len() * 8 / 6);
    [STANDARD_NO_PAD.encode(&*bytes), URL_SAFE_NO_PAD.encode(&*bytes)]
        .into_iter()
        .filter_map(|encoded| encoded.get(first..end).map(str::to_owned))
        .filter(|part| part.len() >= MIN_SECRET_CHARS)
        .collect()
}

/// Converts the digits of percent escapes to upper case. All bytes keep their positions.
fn upper_percent(text: &str) -> String {
    let mut digits = 0_u8;
    text.chars()
        .map(|character| {
            if character == '%' {
                digits = 2;
            } else if digits > 0 {
                digits -= 1;
                return character.to_ascii_uppercase();
            }
            character
        })
        .collect()
}
