//! Configurable shortcuts of the window.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use ts_rs::TS;

/// A shortcut that works wherever the focus is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum WindowShortcut {
    /// Open the palette.
    Palette,
    /// Start a session.
    New,
    /// Search the sessions.
    Search,
    /// Show or hide the sidebar.
    Side,
    /// Show the activity.
    Activity,
    /// Open the settings.
    Settings,
    /// Show all shortcuts.
    Overview,
    /// Open the time machine.
    Time,
}

/// Shortcuts in place of the defaults: `Mod+K`, `Mod+Shift+F` or `Mod+,`. `Mod` is Cmd on a Mac and Ctrl
/// elsewhere. A shortcut not in the map keeps its default, which the page defines.
pub type ShortcutKeys = BTreeMap<WindowShortcut, String>;

/// The shortcuts of every text field: undo, redo, select all, cut, copy, paste; and those that close or quit.
const RESERVED_SHORTCUTS: &[&str] = &[
    "Mod+Z",
    "Mod+Y",
    "Mod+A",
    "Mod+X",
    "Mod+C",
    "Mod+V",
    "Mod+Shift+Z",
    "Mod+Shift+V",
    "Mod+Q",
    "Mod+W",
    "Mod++",
    "Mod+=",
    "Mod+-",
    "Mod+_",
];

/// Returns whether these shortcuts are valid: each is a letter or a punctuation mark with Mod, no text field
/// uses it, no session number uses it, and none is used twice.
pub fn are_valid(keys: &ShortcutKeys) -> bool {
    let different: BTreeSet<&String> = keys.values().collect();
    different.len() == keys.len() && keys.values().all(|key| is_valid(key))
}

fn is_valid(key: &str) -> bool {
    let Some(remaining) = key.strip_prefix("Mod+") else { return false };
    let (remaining, shifted) =
        remaining.strip_prefix("Shift+").map_or((remaining, false), |remaining| (remaining, true));
    let mut characters = remaining.chars();
    let (Some(character), None) = (characters.next(), characters.next()) else { return false };
    // The keyboard layout decides which character Shift produces.
    let is_key = character.is_ascii_uppercase() || (character.is_ascii_punctuation() && !shifted);
    is_key && !RESERVED_SHORTCUTS.contains(&key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_a_letter_or_a_sign_with_mod_that_nothing_else_needs() {
        for (key, is_valid) in [
            ("Mod+K", true),
            ("Mod+Shift+F", true),
            ("Mod+,", true),
            ("Mod+]", true),
            ("Mod++", false),
            ("Mod+-", false),
            ("Mod+k", false),
            ("K", false),
            ("Shift+K", false),
            ("Mod+Shift+,", false),
            ("Mod+1", false),
            ("Mod+KK", false),
            ("Mod+é", false),
            ("Mod+C", false),
            ("Mod+Shift+Z", false),
            ("Mod+", false),
            ("", false),
        ] {
            let keys = ShortcutKeys::from([(WindowShortcut::Palette, key.to_owned())]);
            assert_eq!(are_valid(&keys), is_valid, "{key:?}");
        }
        let twice =
            [(WindowShortcut::Palette, "Mod+P".to_owned()), (WindowShortcut::New, "Mod+P".to_owned())];
        assert!(!are_valid(&ShortcutKeys::from(twice)));
        assert!(are_valid(&ShortcutKeys::new()));
    }
}
