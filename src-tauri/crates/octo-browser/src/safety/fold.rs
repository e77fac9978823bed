//! Folds texts for comparison: texts that look the same to a person become equal.

use super::visible::{is_invisible, is_mark};
use unicode_normalization::UnicodeNormalization;
use unicode_security::skeleton;

/// Converts a text to lower case without diacritics and invisible characters; full-width, circled, mathematical
/// and other forms of a letter become that letter.
pub(crate) fn fold(text: &str) -> String {
    if text.is_ascii() {
        // Fast path for most page text, which needs no table.
        return text
            .chars()
            .filter(|character| !is_invisible(*character))
            .map(|character| character.to_ascii_lowercase())
            .collect();
    }
    fold_unicode(text)
}

fn fold_unicode(text: &str) -> String {
    let letters = text.chars().filter(|character| !is_invisible(*character)).map(plain_letter);
    let lower: String =
        letters.nfkd().filter(|character| !is_dropped(*character)).flat_map(char::to_lowercase).collect();
    // Lower-casing can add marks (the Turkish dotted I).
    let spelled = lower.nfkd().filter(|character| !is_dropped(*character)).flat_map(expand_letter);
    spelled.nfc().collect()
}

/// Like [`fold`], but also unifies letters of different scripts that are drawn alike. For comparison only: the
/// result is not always readable.
pub(crate) fn fold_look_alikes(text: &str) -> String {
    fold_appearance(&fold(text))
}

/// Like [`fold_look_alikes`], but maps look-alikes before lower-casing: a capital I becomes an l.
pub(crate) fn fold_look_alikes_first(text: &str) -> String {
    let visible: String = text.chars().filter(|character| !is_invisible(*character)).collect();
    let nfkc: String = visible.nfkc().collect();
    fold_look_alikes(&fold_appearance(&nfkc))
}

fn fold_appearance(text: &str) -> String {
    skeleton(text).filter(|character| !is_dropped(*character)).nfc().collect()
}

fn is_dropped(character: char) -> bool {
    // The tatweel only stretches a word.
    is_invisible(character) || is_mark(character) || character == '\u{640}'
}

/// Maps boxed letters and small capitals, which have no compatibility form.
fn plain_letter(character: char) -> char {
    let in_alphabet = |first: char| {
        let offset = u32::from(character) - u32::from(first);
        u8::try_from(offset).ok().and_then(|offset| b'a'.checked_add(offset)).map_or(character, char::from)
    };
    match character {
        '\u{1f150}'..='\u{1f169}' => in_alphabet('\u{1f150}'),
        '\u{1f170}'..='\u{1f189}' => in_alphabet('\u{1f170}'),
        '\u{1f1e6}'..='\u{1f1ff}' => in_alphabet('\u{1f1e6}'),
        'ᴀ' => 'a',
        'ʙ' => 'b',
        'ᴄ' => 'c',
        'ᴅ' => 'd',
        'ᴇ' => 'e',
        'ꜰ' => 'f',
        'ɢ' => 'g',
        'ʜ' => 'h',
        'ɪ' => 'i',
        'ᴊ' => 'j',
        'ᴋ' => 'k',
        'ʟ' => 'l',
        'ᴍ' => 'm',
        'ɴ' => 'n',
        'ᴏ' => 'o',
        'ᴘ' => 'p',
        'ʀ' => 'r',
        'ꜱ' => 's',
        'ᴛ' => 't',
        'ᴜ' => 'u',
        'ᴠ' => 'v',
        'ᴡ' => 'w',
        'ʏ' => 'y',
        'ᴢ' => 'z',
        other => other,
    }
}

/// Expands letters that have an alternative spelling.
fn expand_letter(character: char) -> impl Iterator<Item = char> {
    let letters: &[char] = match character {
        'ß' => &['s', 's'],
        'æ' => &['a', 'e'],
        'œ' => &['o', 'e'],
        'ø' => &['o'],
        'ł' => &['l'],
        'đ' => &['d'],
        'ı' => &['i'],
        'ς' => &['σ'],
        // Arabic letters that are typed in place of each other.
        'ى' => &['ي'],
        'ک' => &['ك'],
        'ی' => &['ي'],
        _ => &[],
    };
    let unchanged = letters.is_empty().then_some(character);
    letters.iter().copied().chain(unchanged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_alikes_fold_to_the_same_text() {
        for (text, expected) in [
            ("SEND", "send"),
            ("\u{ff33}\u{ff25}\u{ff2e}\u{ff24}", "send"),
            ("\u{1d5e6}\u{1d5f2}\u{1d5fb}\u{1d5f1}", "send"),
            ("\u{24c8}\u{24d4}\u{24dd}\u{24d3}", "send"),
            ("\u{1f182}\u{1f174}\u{1f17d}\u{1f173}", "send"),
            ("\u{a731}\u{1d07}\u{274}\u{1d05}", "send"),
            ("s\u{200b}e\u{ad}n\u{2060}d", "send"),
            ("s\u{336}e\u{336}n\u{336}d\u{336}", "send"),
            ("Löschen", "loschen"),
            ("STRASSE", "strasse"),
            ("straße", "strasse"),
            ("SİL", "sil"),
            ("Usuń zdjęcie", "usun zdjecie"),
            ("ﺣﺬﻑ", "حذف"),
            ("삭제", "삭제"),
            ("ｻｸｼﾞｮ", "サクジョ"),
        ] {
            assert_eq!(fold(text), expected, "{text:?}");
        }
    }

    #[test]
    fn the_ascii_path_folds_like_the_general_one() {
        let ascii: String = (0..=127_u8).map(char::from).collect();
        assert_eq!(fold(&ascii), fold_unicode(&ascii));
        for code in 0..128_u8 {
            let text = format!("a{}\u{0}B{}", char::from(code), char::from(127 - code));
            assert_eq!(fold(&text), fold_unicode(&text), "{text:?}");
        }
    }

    #[test]
    fn letters_of_other_scripts_fold_to_their_look_alikes() {
        for text in ["s\u{435}nd", "\u{455}\u{435}nd", "ѕеnԁ"] {
            assert_eq!(fold_look_alikes(text), fold_look_alikes("send"), "{text:?}");
        }
        assert_eq!(fold_look_alikes_first("deIete"), fold_look_alikes("delete"));
        assert_eq!(fold_look_alikes_first("De1ete"), fold_look_alikes("delete"));
        assert_eq!(fold_look_alikes("РАУ"), fold_look_alikes("pay"));
    }
}
