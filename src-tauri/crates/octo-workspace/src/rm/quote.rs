//! Quotes names in messages as GNU's tools do, so a shell can read them back.

use std::ffi::OsStr;

/// Returns the name in quotes.
pub(super) fn quote(name: &OsStr) -> String {
    let bytes = name.as_encoded_bytes();
    let text = std::str::from_utf8(bytes).ok();
    let clean = text.is_some_and(|text| !text.chars().any(char::is_control));
    match (clean, text) {
        (true, Some(text)) if !text.contains('\'') => format!("'{text}'"),
        // No character in it is special between double quotes.
        (true, Some(text)) if !text.contains(['"', '$', '`', '\\', '!']) => format!("\"{text}\""),
        _ => quote_with_escapes(bytes),
    }
}

/// Quotes runs of ordinary characters, and writes the others as `$'…'`.
fn quote_with_escapes(bytes: &[u8]) -> String {
    let mut out = String::from("'");
    let mut special = false;
    let mut turn = |out: &mut String, in_escape: bool| {
        if special != in_escape {
            out.push_str(if in_escape { "'$'" } else { "''" });
            special = in_escape;
        }
    };
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character.is_control() {
                turn(&mut out, true);
                let mut buffer = [0; 4];
                character.encode_utf8(&mut buffer).bytes().for_each(|byte| out.push_str(&escape(byte)));
            } else {
                turn(&mut out, false);
                if character == '\'' { out.push_str("'\\''") } else { out.push(character) }
            }
        }
        for byte in chunk.invalid() {
            turn(&mut out, true);
            out.push_str(&escape(*byte));
        }
    }
    out.push('\'');
    out
}

fn escape(byte: u8) -> String {
    match byte {
        0x07 => "\\a".to_owned(),
        0x08 => "\\b".to_owned(),
        b'\t' => "\\t".to_owned(),
        b'\n' => "\\n".to_owned(),
        0x0b => "\\v".to_owned(),
        0x0c => "\\f".to_owned(),
        b'\r' => "\\r".to_owned(),
        other => format!("\\{other:03o}"),
    }
}

/// Returns the name with bytes that are not text replaced.
pub(super) fn without_quotes(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}

/// Returns the name as a shell reads it, quoted only if necessary.
pub(super) fn quote_if_needed(name: &OsStr) -> String {
    let harmless = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./+,@%:=".contains(byte);
    if name.as_encoded_bytes().iter().all(harmless) { without_quotes(name) } else { quote(name) }
}
