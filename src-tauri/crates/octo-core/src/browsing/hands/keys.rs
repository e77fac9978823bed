//! Keys by their names.

use super::LIMIT;
use octo_browser::{
    Page, PageError,
    cdp::browser_protocol::{
        input::{DispatchKeyEventParams, DispatchKeyEventType},
        target::SessionId,
    },
};

/// A key: its name in events, its place on the keyboard, its number, and what it writes.
struct Key {
    name: String,
    code: String,
    number: i64,
    text: Option<String>,
}

/// The names people have for a key, its name in events, its place, its number, and what it writes.
type Named = (&'static [&'static str], &'static str, &'static str, i64, Option<&'static str>);

/// Keys with names.
const NAMED: &[Named] = &[
    (&["enter", "return", "numpadenter"], "Enter", "Enter", 13, Some("\r")),
    (&["tab"], "Tab", "Tab", 9, None),
    (&["escape", "esc"], "Escape", "Escape", 27, None),
    (&["backspace"], "Backspace", "Backspace", 8, None),
    (&["delete", "del"], "Delete", "Delete", 46, None),
    (&["space", "spacebar"], " ", "Space", 32, Some(" ")),
    (&["arrowleft", "left"], "ArrowLeft", "ArrowLeft", 37, None),
    (&["arrowup", "up"], "ArrowUp", "ArrowUp", 38, None),
    (&["arrowright", "right"], "ArrowRight", "ArrowRight", 39, None),
    (&["arrowdown", "down"], "ArrowDown", "ArrowDown", 40, None),
    (&["pageup"], "PageUp", "PageUp", 33, None),
    (&["pagedown"], "PageDown", "PageDown", 34, None),
    (&["end"], "End", "End", 35, None),
    (&["home"], "Home", "Home", 36, None),
    (&["insert"], "Insert", "Insert", 45, None),
];

const ALT: i64 = 1;
const CONTROL: i64 = 2;
const META: i64 = 4;
const SHIFT: i64 = 8;

fn modifier(name: &str) -> Option<i64> {
    match name.to_ascii_lowercase().as_str() {
        "alt" | "option" => Some(ALT),
        "control" | "ctrl" => Some(CONTROL),
        "meta" | "command" | "cmd" => Some(META),
        "shift" => Some(SHIFT),
        _ => None,
    }
}

fn read(keys: &str) -> Option<(i64, Key)> {
    // `+` alone, or at the end, is the key itself.
    let (held, last) = match keys.strip_suffix('+') {
        Some("") => ("", "+"),
        Some(before) => (before.trim_end_matches('+'), "+"),
        None => keys.rsplit_once('+').unwrap_or(("", keys)),
    };
    let held = held.split('+').map(str::trim).filter(|name| !name.is_empty());
    let modifiers = held.map(modifier).try_fold(0, |sum, one| Some(sum | one?))?;
    Some((modifiers, key(last.trim_matches(|c: char| c.is_whitespace()), modifiers)?))
}

fn key(name: &str, modifiers: i64) -> Option<Key> {
    let lower = name.to_lowercase();
    if let Some((_, key, code, number, text)) =
        NAMED.iter().find(|(names, ..)| names.contains(&lower.as_str()))
    {
        let (name, code, text) = ((*key).to_owned(), (*code).to_owned(), text.map(str::to_owned));
        return Some(Key { name, code, number: *number, text });
    }
    if let Some(number) =
        lower.strip_prefix('f').and_then(|rest| rest.parse::<i64>().ok()).filter(|n| (1..=12).contains(n))
    {
        let name = format!("F{number}");
        return Some(Key { code: name.clone(), name, number: 111 + number, text: None });
    }
    let mut characters = name.chars();
    let (character, None) = (characters.next()?, characters.next()) else { return None };
    let upper = character.to_ascii_uppercase();
    let code = match upper {
        'A'..='Z' => format!("Key{upper}"),
        '0'..='9' => format!("Digit{upper}"),
        _ => String::new(),
    };
    let number = if upper.is_ascii_alphanumeric() { i64::from(u32::from(upper)) } else { 0 };
    // With Control or Meta it is a command and writes nothing.
    let text = (modifiers & (CONTROL | META | ALT) == 0).then(|| character.to_string());
    Some(Key { name: character.to_string(), code, number, text })
}

/// Whether a key, with what is held, is known.
pub(super) fn is_known(keys: &str) -> bool {
    read(keys).is_some()
}

/// Presses a key; one that is not known does nothing.
pub(super) async fn press(page: &Page, on: &SessionId, keys: &str) -> Result<(), PageError> {
    let Some((modifiers, key)) = read(keys) else { return Ok(()) };
    let base = |kind| DispatchKeyEventParams {
        modifiers: Some(modifiers),
        key: Some(key.name.clone()),
        code: Some(key.code.clone()),
        windows_virtual_key_code: Some(key.number),
        ..DispatchKeyEventParams::new(kind)
    };
    let down = match &key.text {
        Some(text) => {
            DispatchKeyEventParams { text: Some(text.clone()), ..base(DispatchKeyEventType::KeyDown) }
        }
        None => {
            // Editing by the keyboard is the browser's own business, and not of synthetic events.
            let commands = match (modifiers, key.code.as_str()) {
                (CONTROL | META, "KeyA") => Some(vec!["selectAll".to_owned()]),
                _ => None,
            };
            DispatchKeyEventParams { commands, ..base(DispatchKeyEventType::RawKeyDown) }
        }
    };
    page.call_in(on, down, LIMIT).await?;
    page.call_in(on, base(DispatchKeyEventType::KeyUp), LIMIT).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_people_name_them() {
        for (keys, modifiers, name, text) in [
            ("Enter", 0, "Enter", Some("\r")),
            ("ctrl+a", CONTROL, "a", None),
            ("Control+Shift+ArrowLeft", CONTROL | SHIFT, "ArrowLeft", None),
            ("Cmd+K", META, "K", None),
            ("+", 0, "+", Some("+")),
            ("Control++", CONTROL, "+", None),
            ("é", 0, "é", Some("é")),
            ("F5", 0, "F5", None),
            ("7", 0, "7", Some("7")),
        ] {
            let (held, key) = read(keys).unwrap_or_else(|| panic!("{keys}"));
            assert_eq!((held, key.name.as_str(), key.text.as_deref()), (modifiers, name, text), "{keys}");
        }
        for unknown in ["", "Hyper+A", "Enterr", "F13", "ab"] {
            assert!(!is_known(unknown), "{unknown}");
        }
    }
}
