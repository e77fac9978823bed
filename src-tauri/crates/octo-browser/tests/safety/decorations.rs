//! A control whose name announces an effect still asks, however the name is disguised.

use super::{asked, button};
use octo_browser::safety::PageAction;
use proptest::prelude::*;

const WORDS: &[&str] = &[
    "send",
    "delete",
    "pay now",
    "buy",
    "confirm",
    "place order",
    "publish",
    "unsubscribe",
    "close account",
    "transfer",
    "Löschen",
    "jetzt kaufen",
    "Supprimer",
    "Enviar",
    "Удалить",
    "Купить",
    "Usuń",
    "Onayla",
    "删除",
    "立即购买",
    "送信",
    "購入",
    "삭제",
    "보내기",
    "ลบ",
    "حذف",
    "हटाएं",
    "Xác nhận",
    "Thanh toán",
    "Hapus",
];

fn cases() -> u32 {
    // A tenth of the full number unless it is a soak.
    if std::env::var_os("OCTO_SOAK").is_some() { 20_000 } else { 2_000 }
}

/// Returns one way to disguise a word.
fn disguised(word: &str, decoration: u8, index: usize) -> String {
    let mut characters: Vec<char> = word.chars().collect();
    let index = index % (characters.len() + 1);
    let hidden =
        ['\u{200b}', '\u{ad}', '\u{2060}', '\u{feff}', '\u{e0041}', '\u{fe0f}', '\u{34f}', '\u{200e}'];
    match decoration % 9 {
        0 => {
            characters.insert(index, hidden[index % hidden.len()]);
            characters.into_iter().collect()
        }
        1 => word.to_uppercase(),
        2 => format!("\u{1f5d1}\u{fe0f} {word}"),
        3 => format!("{word} (3) \u{2192}"),
        4 => format!("  \u{a0}\u{3000}{word}\n"),
        5 => word
            .chars()
            .map(|character| match character {
                '!'..='~' => char::from_u32(u32::from(character) + 0xfee0).unwrap_or(character),
                other => other,
            })
            .collect(),
        6 => format!("\u{202a}{word}\u{202c}"),
        7 => format!("Please continue: {word}."),
        // Lookalike letters of another script.
        _ => word
            .chars()
            .map(|character| match character {
                'a' => '\u{430}',
                'e' => '\u{435}',
                'o' => '\u{43e}',
                'c' => '\u{441}',
                'p' => '\u{440}',
                other => other,
            })
            .collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(20_261_122), ..ProptestConfig::default() })]

    #[test]
    fn decorations_never_make_a_word_harmless(
        word in proptest::sample::select(WORDS.to_vec()),
        decorations in proptest::collection::vec((any::<u8>(), any::<usize>()), 0..4),
        language in proptest::sample::select(vec![None, Some("en"), Some("zh-Hant"), Some("xx")]),
    ) {
        let name = decorations.iter().fold(word.to_owned(), |name, (kind, index)| disguised(&name, *kind, *index));
        prop_assert!(!asked(language, &button(&name), PageAction::Click).is_empty(), "{name:?} of {word}");
    }

    #[test]
    fn no_name_or_text_breaks_the_judgement(name in any::<String>(), text in any::<String>()) {
        let _ = asked(None, &button(&name), PageAction::Click);
        let _ = asked(None, &super::text_line(&name), PageAction::Type { text: &text, mode: octo_browser::safety::TypingMode::KeyPresses });
        let _ = asked(None, &button(&name), PageAction::Navigate { url: &text });
        let _ = octo_browser::safety::PageAddress::of(&text);
    }
}
