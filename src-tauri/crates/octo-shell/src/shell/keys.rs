//! Converts a model's text to the bytes a keyboard would send.

/// Returns the bytes for `text`: decodes written-out escapes, and sends every line ending as Enter, a carriage
/// return on terminals. Invalid escapes stay unchanged.
pub(super) fn bytes(text: &str) -> Vec<u8> {
    let mut decoded = String::with_capacity(text.len());
    let mut remaining = text;
    while let Some((before, after)) = remaining.split_once('\\') {
        decoded.push_str(before);
        let (character, after) = escape(after).unwrap_or(('\\', after));
        decoded.push(character);
        remaining = after;
    }
    decoded.push_str(remaining);
    decoded.replace("\r\n", "\r").replace('\n', "\r").into_bytes()
}

/// Returns the character an escape represents, and the rest of the text. Control characters are below U+0080,
/// so a character is one byte where it matters.
fn escape(text: &str) -> Option<(char, &str)> {
    let mut chars = text.chars();
    let decoded = match chars.next()? {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'e' => '\x1b',
        '\\' => '\\',
        'x' => {
            let digits = chars.as_str().get(..2)?;
            let value = u8::from_str_radix(digits, 16).ok().filter(u8::is_ascii)?;
            chars = chars.as_str().get(2..)?.chars();
            char::from(value)
        }
        'u' => {
            let (digits, after) = chars.as_str().strip_prefix('{')?.split_once('}')?;
            let character = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)?;
            return Some((character, after));
        }
        _ => return None,
    };
    Some((decoded, chars.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_line_ends() {
        for (text, sent) in [
            ("Alice\n", "Alice\r"),
            ("Alice\\n", "Alice\r"),
            ("a\r\nb", "a\rb"),
            ("\\x03", "\x03"),
            ("\\e[A\\t", "\x1b[A\t"),
            ("\\u{1f419}", "🐙"),
            ("\\\\n", "\\n"),
            ("C:\\dir\\", "C:\\dir\\"),
            ("\\x", "\\x"),
            ("\\xff", "\\xff"),
            ("\\x中", "\\x中"),
            ("\\u{110000}", "\\u{110000}"),
            ("", ""),
        ] {
            assert_eq!(String::from_utf8(bytes(text)).unwrap(), sent, "{text:?}");
        }
    }
}
