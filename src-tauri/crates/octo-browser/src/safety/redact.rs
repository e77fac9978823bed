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
const SHORTEST: usize = 4;
/// Minimum length of a value that is also found with gaps and in different case.
const SHORTEST_LOOSE: usize = 6;

/// Characters that `encodeURIComponent` leaves unescaped.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');
/// Characters that RFC 3986 leaves unescaped.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

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
    loose: Zeroizing<String>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.secrets.iter().map(|known| &known.name)).finish()
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
        if value.chars().count() < SHORTEST {
            return Err(SecretFault::TooShort);
        }
        let exact = writings(value);
        if self.secrets.iter().any(|known| known.name == *name && known.exact == exact) {
            return Ok(());
        }
        let (loose, _) = loose(value);
        let long_enough = loose.chars().count() >= SHORTEST_LOOSE;
        self.secrets.push(KnownSecret {
            name: name.clone(),
            exact,
            loose: if long_enough { loose } else { Zeroizing::default() },
        });
        Ok(())
    }

    /// Returns the text with secret values replaced by their names.
    pub fn redact(&self, text: &str) -> String {
        let mut written = String::with_capacity(text.len());
        let mut at = 0;
        for (range, name) in self.find_values(text) {
            written.push_str(text.get(at..range.start).unwrap_or_default());
            written.push_str(&name.placeholder());
            at = range.end;
        }
        written.push_str(text.get(at..).unwrap_or_default());
        written
    }

    /// Returns whether a text contains a value.
    pub fn holds(&self, text: &str) -> bool {
        !self.find_values(text).is_empty()
    }

    /// Returns whether no value is known.
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Redacts texts that are adjacent on a page; each loses its part of a value.
    pub fn redact_neighbours(&self, texts: &[&str]) -> Vec<String> {
        let whole = Zeroizing::new(texts.join("\n"));
        let found = self.find_values(&whole);
        let mut begins = 0;
        texts
            .iter()
            .map(|text| {
                let place = begins..begins + text.len();
                begins = place.end + 1;
                let mut written = String::with_capacity(text.len());
                let mut at = place.start;
                for (range, name) in
                    found.iter().filter(|(range, _)| range.start < place.end && place.start < range.end)
                {
                    written.push_str(whole.get(at..range.start).unwrap_or_default());
                    if place.contains(&range.start) {
                        written.push_str(&name.placeholder());
                    }
                    at = range.end;
                }
                written.push_str(whole.get(at..place.end).unwrap_or_default());
                written
            })
            .collect()
    }

    /// Finds values, in order and without overlaps.
    fn find_values(&self, text: &str) -> Vec<(Range<usize>, &SecretName)> {
        if self.secrets.is_empty() {
            return Vec::new();
        }
        let (bare, places) = loose(text);
        let escaped = if text.contains('%') { upper_percent(text) } else { String::new() };
        let mut found = Vec::new();
        for known in &self.secrets {
            for writing in &known.exact {
                let here = text.match_indices(writing.as_str());
                let escaped = escaped.match_indices(writing.as_str());
                found.extend(here.chain(escaped).map(|(at, _)| (at..at + writing.len(), &known.name)));
            }
            if known.loose.is_empty() {
                continue;
            }
            for (at, _) in bare.match_indices(known.loose.as_str()) {
                let ends = places.get(at).zip(places.get(at + known.loose.len() - 1));
                found.extend(ends.map(|(first, last)| (first.start..last.end, &known.name)));
            }
        }
        found.sort_by_key(|(range, _)| (range.start, usize::MAX - range.end));
        let mut apart: Vec<(Range<usize>, &SecretName)> = Vec::new();
        for (range, name) in found {
            match apart.last_mut() {
                Some((before, _)) if range.start < before.end => before.end = before.end.max(range.end),
                _ => apart.push((range, name)),
            }
        }
        apart
    }
}

/// Returns a text in lower case without gaps, quotes and backslashes, with the source range of each byte.
fn loose(text: &str) -> (Zeroizing<String>, Vec<Range<usize>>) {
    let mut bare = Zeroizing::new(String::with_capacity(text.len()));
    let mut places = Vec::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        let is_gap = character.is_whitespace()
            || is_invisible(character)
            || matches!(
                character,
                '"' | '\'' | '`' | '\\' | '\u{201c}' | '\u{201d}' | '\u{2018}' | '\u{2019}'
            );
        if !is_gap {
            bare.extend(character.to_lowercase());
            places.resize(bare.len(), at..at + character.len_utf8());
        }
    }
    (bare, places)
}

/// Returns the value's spellings in addresses, JSON, HTML, and base64 at any offset of a longer text.
fn writings(value: &str) -> Vec<Zeroizing<String>> {
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
    let mut writings = vec![
        value.to_owned(),
        json.to_owned(),
        ascii,
        utf8_percent_encode(value, NON_ALPHANUMERIC).to_string(),
        utf8_percent_encode(value, COMPONENT).to_string(),
        utf8_percent_encode(value, UNRESERVED).to_string(),
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
        writings.extend(base64(value, shift));
    }
    writings.retain(|writing| writing.chars().count() >= SHORTEST);
    writings.sort();
    writings.dedup();
    writings.into_iter().map(Zeroizing::new).collect()
}

/// Returns the base64 characters that depend only on the value when `shift` bytes (of each three) precede it.
fn base64(value: &str, shift: usize) -> Vec<String> {
    let bytes = Zeroizing::new([vec![0; shift], value.as_bytes().to_vec()].concat());
    let (first, end) = ((shift * 8).div_ceil(6), bytes.len() * 8 / 6);
    [STANDARD_NO_PAD.encode(&*bytes), URL_SAFE_NO_PAD.encode(&*bytes)]
        .into_iter()
        .filter_map(|whole| whole.get(first..end).map(str::to_owned))
        .filter(|part| part.len() >= SHORTEST)
        .collect()
}

/// Converts the digits of percent escapes to upper case. No byte moves.
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
