//! Keys: their names, their events, and pressing them.

use super::{ActError, ActMethod, Audience, CALL_TIMEOUT, UnsupportedAct, place::session};
use crate::{
    Page, PageError,
    cdp::browser_protocol::{
        input::{DispatchKeyEventParams, DispatchKeyEventType},
        target::SessionId,
    },
    snapshot::NodeRef,
};

/// A key: its event name, keyboard code, Windows key code and the text it produces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    name: String,
    code: String,
    windows_key_code: i64,
    text: Option<String>,
}

/// A key with its modifiers. Both the safety check and the key press read the key from here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyStroke {
    modifiers: i64,
    key: Key,
}

/// A named key: accepted names, event name, keyboard code, Windows key code and the text it produces.
type NamedKey = (&'static [&'static str], &'static str, &'static str, i64, Option<&'static str>);

/// Keys with names: the accepted names, the UI Events `KeyboardEvent` `key` and `code` values, and the Windows
/// key code.
const NAMED_KEYS: &[NamedKey] = &[
    (&["enter", "return"], "Enter", "Enter", 13, Some("\r")),
    (&["numpadenter"], "Enter", "NumpadEnter", 13, Some("\r")),
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
    (&["contextmenu"], "ContextMenu", "ContextMenu", 93, None),
    (&["shift"], "Shift", "ShiftLeft", 16, None),
    (&["control", "ctrl"], "Control", "ControlLeft", 17, None),
    (&["alt", "option"], "Alt", "AltLeft", 18, None),
    (&["meta", "command", "cmd"], "Meta", "MetaLeft", 91, None),
];

/// Symbols by their keys on a US keyboard: plain, with Shift, keyboard code and Windows key code.
const SYMBOL_KEYS: &[(char, char, &str, i64)] = &[
    ('`', '~', "Backquote", 192),
    ('-', '_', "Minus", 189),
    ('=', '+', "Equal", 187),
    ('[', '{', "BracketLeft", 219),
    (']', '}', "BracketRight", 221),
    ('\\', '|', "Backslash", 220),
    (';', ':', "Semicolon", 186),
    ('\'', '"', "Quote", 222),
    (',', '<', "Comma", 188),
    ('.', '>', "Period", 190),
    ('/', '?', "Slash", 191),
];

/// Characters that Shift produces from the digits, starting at 0.
const SHIFTED_DIGITS: &str = ")!@#$%^&*(";

const ALT: i64 = 1;
const CONTROL: i64 = 2;
const META: i64 = 4;
const SHIFT: i64 = 8;

/// The modifiers held down with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeldModifiers {
    Nothing,
    Shift,
    /// Alt, Control or Meta, with or without Shift; makes a shortcut.
    Command {
        with_alt: bool,
        with_shift: bool,
    },
}

fn modifier_bit(name: &str) -> Option<i64> {
    match name.to_ascii_lowercase().as_str() {
        "alt" | "option" => Some(ALT),
        "control" | "ctrl" => Some(CONTROL),
        "meta" | "command" | "cmd" => Some(META),
        "shift" => Some(SHIFT),
        // Octo runs on the same computer as the browser it drives.
        "mod" | "controlormeta" | "cmdorctrl" => Some(if cfg!(target_os = "macos") { META } else { CONTROL }),
        _ => None,
    }
}

impl KeyStroke {
    /// Parses keys such as `Enter`, `ctrl+a` or `Control++`. Returns `None` for an unknown key.
    pub(crate) fn parse(keys: &str) -> Option<Self> {
        // A lone or trailing `+` is the key itself.
        let (modifiers_text, key_name) = match keys.strip_suffix('+') {
            Some(before) => (before.trim_end_matches('+'), "+"),
            None => keys.rsplit_once('+').unwrap_or(("", keys)),
        };
        let modifiers_text = modifiers_text.split('+').map(str::trim).filter(|name| !name.is_empty());
        let modifiers = modifiers_text.map(modifier_bit).try_fold(0, |bits, bit| Some(bits | bit?))?;
        let key_name = if key_name.trim().is_empty() { key_name } else { key_name.trim() };
        Some(Self { modifiers, key: Key::parse(key_name, modifiers)? })
    }

    /// Returns the keyboard code, such as `Enter` or `KeyV`; empty if a US keyboard has no such key.
    pub(crate) fn code(&self) -> &str {
        &self.key.code
    }

    /// Returns whether the key inserts text into a text field.
    pub(crate) fn has_text(&self) -> bool {
        self.text().is_some()
    }

    /// Returns the text that the key inserts into a text field.
    pub(crate) fn text(&self) -> Option<&str> {
        self.key.text.as_deref()
    }

    pub(crate) fn held_modifiers(&self) -> HeldModifiers {
        let with_shift = self.modifiers & SHIFT != 0;
        if self.modifiers & (ALT | CONTROL | META) != 0 {
            HeldModifiers::Command { with_alt: self.modifiers & ALT != 0, with_shift }
        } else if with_shift {
            HeldModifiers::Shift
        } else {
            HeldModifiers::Nothing
        }
    }

    /// Returns the key that produces a character on a US keyboard, if any.
    pub(super) fn for_character(character: char) -> Option<Self> {
        let key = Key::for_character(character)?;
        let is_shifted = character.is_ascii_uppercase()
            || SHIFTED_DIGITS.contains(character)
            || SYMBOL_KEYS.iter().any(|(_, shifted, ..)| *shifted == character);
        Some(Self { modifiers: if is_shifted { SHIFT } else { 0 }, key })
    }

    fn event(&self, kind: DispatchKeyEventType) -> DispatchKeyEventParams {
        DispatchKeyEventParams {
            modifiers: Some(self.modifiers),
            key: Some(self.key.name.clone()),
            code: Some(self.key.code.clone()),
            windows_virtual_key_code: Some(self.key.windows_key_code),
            ..DispatchKeyEventParams::new(kind)
        }
    }

    fn key_down_params(&self) -> DispatchKeyEventParams {
        match &self.key.text {
            Some(text) => {
                let text = Some(text.clone());
                DispatchKeyEventParams {
                    unmodified_text: text.clone(),
                    text,
                    ..self.event(DispatchKeyEventType::KeyDown)
                }
            }
            None => DispatchKeyEventParams {
                commands: self.commands(),
                ..self.event(DispatchKeyEventType::RawKeyDown)
            },
        }
    }

    /// Returns the editing commands that the operating system derives from a shortcut. Synthetic events bypass
    /// the system, so a field would not react to the shortcut without these commands.
    fn commands(&self) -> Option<Vec<String>> {
        let is_shortcut = self.modifiers & (CONTROL | META) != 0 && self.modifiers & ALT == 0;
        let command = match self.key.code.as_str() {
            "KeyA" if is_shortcut => "selectAll",
            "KeyZ" if is_shortcut && self.modifiers & SHIFT != 0 => "redo",
            "KeyZ" if is_shortcut => "undo",
            "KeyY" if is_shortcut => "redo",
            "KeyX" if is_shortcut => "cut",
            "KeyC" if is_shortcut => "copy",
            "KeyV" if is_shortcut => "paste",
            _ => return None,
        };
        Some(vec![command.to_owned()])
    }
}

impl Key {
    fn parse(name: &str, modifiers: i64) -> Option<Self> {
        let lower = name.to_lowercase();
        let is_command = modifiers & (CONTROL | META | ALT) != 0;
        if let Some((_, key, code, windows_key_code, text)) =
            NAMED_KEYS.iter().find(|(names, ..)| names.contains(&lower.as_str()))
        {
            let text = text.filter(|_| !is_command).map(str::to_owned);
            return Some(Self {
                name: (*key).to_owned(),
                code: (*code).to_owned(),
                windows_key_code: *windows_key_code,
                text,
            });
        }
        let function_number = lower.strip_prefix('f').and_then(|digits| digits.parse::<i64>().ok());
        if let Some(number) = function_number.filter(|number| (1..=12).contains(number)) {
            let name = format!("F{number}");
            return Some(Self { code: name.clone(), name, windows_key_code: 111 + number, text: None });
        }
        let mut characters = name.chars();
        let (character, None) = (characters.next()?, characters.next()) else { return None };
        let key = Self::for_character(character).unwrap_or(Self {
            name: character.to_string(),
            code: String::new(),
            windows_key_code: 0,
            text: Some(character.to_string()),
        });
        let text = key.text.filter(|_| !is_command);
        Some(Self { text, ..key })
    }

    fn for_character(character: char) -> Option<Self> {
        let upper = character.to_ascii_uppercase();
        let (code, windows_key_code) = match upper {
            'A'..='Z' => (format!("Key{upper}"), i64::from(u32::from(upper))),
            '0'..='9' => (format!("Digit{upper}"), i64::from(u32::from(upper))),
            ' ' => ("Space".to_owned(), 32),
            _ => match SHIFTED_DIGITS.find(character) {
                Some(digit) => (format!("Digit{digit}"), 48 + i64::try_from(digit).ok()?),
                None => {
                    let (.., code, windows_key_code) = SYMBOL_KEYS
                        .iter()
                        .find(|(unshifted, shifted, ..)| [*unshifted, *shifted].contains(&character))?;
                    ((*code).to_owned(), *windows_key_code)
                }
            },
        };
        let name = character.to_string();
        Some(Self { text: Some(name.clone()), name, code, windows_key_code })
    }
}

/// Returns whether `keys` names a key, with or without modifiers, that can be pressed.
pub fn is_known_key(keys: &str) -> bool {
    KeyStroke::parse(keys).is_some()
}

impl Page {
    pub(super) async fn press(
        &self,
        node_ref: Option<&NodeRef>,
        keys: &str,
        audience: Audience,
    ) -> Result<ActMethod, ActError> {
        let stroke = KeyStroke::parse(keys).ok_or(UnsupportedAct::UnknownKey)?;
        let session_id = match node_ref {
            None => self.session().clone(),
            Some(node_ref) => {
                self.highlight(node_ref, audience).await?;
                match self.focus(node_ref).await {
                    Ok(()) => {}
                    // Do not click the element to focus it: a click does more than a key press, and the
                    // safety check judges it separately.
                    Err(ActError::Page(PageError::Call(crate::CallError::Refused { .. }))) => {
                        return Err(UnsupportedAct::NotFocusable.into());
                    }
                    Err(error) => return Err(error),
                }
                session(node_ref)
            }
        };
        self.press_stroke(&session_id, &stroke).await?;
        Ok(ActMethod::Input)
    }

    /// Presses and releases a key. Both events are sent at once, so an abandoned call cannot leave the key
    /// down.
    pub(super) async fn press_stroke(
        &self,
        session_id: &SessionId,
        stroke: &KeyStroke,
    ) -> Result<(), PageError> {
        let (down, up) = tokio::join!(
            biased;
            self.call_in(session_id, stroke.key_down_params(), CALL_TIMEOUT),
            self.call_in(session_id, stroke.event(DispatchKeyEventType::KeyUp), CALL_TIMEOUT),
        );
        down?;
        up?;
        Ok(())
    }

    /// Presses keys in sequence without waiting for each one; the browser handles them in order.
    pub(super) async fn press_strokes(
        &self,
        session_id: &SessionId,
        strokes: &[KeyStroke],
    ) -> Result<(), PageError> {
        let Some((last, earlier)) = strokes.split_last() else { return Ok(()) };
        for stroke in earlier {
            self.link().send(Some(session_id), stroke.key_down_params());
            self.link().send(Some(session_id), stroke.event(DispatchKeyEventType::KeyUp));
        }
        self.press_stroke(session_id, last).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_parse_by_their_common_names() {
        for (keys, modifiers, name, code, text) in [
            ("Enter", 0, "Enter", "Enter", Some("\r")),
            ("ctrl+a", CONTROL, "a", "KeyA", None),
            ("Control+Shift+ArrowLeft", CONTROL | SHIFT, "ArrowLeft", "ArrowLeft", None),
            ("Cmd+K", META, "K", "KeyK", None),
            ("+", 0, "+", "Equal", Some("+")),
            ("Control++", CONTROL, "+", "Equal", None),
            ("é", 0, "é", "", Some("é")),
            ("F5", 0, "F5", "F5", None),
            ("7", 0, "7", "Digit7", Some("7")),
            ("&", 0, "&", "Digit7", Some("&")),
            (" ", 0, " ", "Space", Some(" ")),
            ("Shift + Tab", SHIFT, "Tab", "Tab", None),
            ("Alt+Enter", ALT, "Enter", "Enter", None),
        ] {
            let stroke = KeyStroke::parse(keys).unwrap_or_else(|| panic!("{keys}"));
            let key = &stroke.key;
            assert_eq!(
                (stroke.modifiers, key.name.as_str(), key.code.as_str(), key.text.as_deref()),
                (modifiers, name, code, text),
                "{keys}"
            );
        }
        for unknown in ["", "Hyper+A", "Enterr", "F13", "ab", "A+B"] {
            assert_eq!(KeyStroke::parse(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn every_printable_character_of_a_us_keyboard_has_a_key() {
        for character in ' '..='~' {
            let stroke = KeyStroke::for_character(character).unwrap_or_else(|| panic!("{character:?}"));
            assert_eq!(stroke.key.text, Some(character.to_string()));
            assert!(!stroke.key.code.is_empty() && stroke.key.windows_key_code > 0, "{character:?}");
        }
        for character in ['é', '中', '\n', '\t', '\u{1f600}'] {
            assert!(KeyStroke::for_character(character).is_none(), "{character:?}");
        }
        assert_eq!(KeyStroke::for_character('A').map(|it| it.modifiers), Some(SHIFT));
    }
}
