//! Tests that written values are read back, and that unbounded growth is rejected.

use super::*;
use proptest::{prelude::*, test_runner::RngSeed};

fn any_yaml() -> impl Strategy<Value = Yaml> {
    let text = prop_oneof![
        any::<String>(),
        "[a-z]{0,8}",
        "[-+.0-9a-z:#~ ]{0,12}",
        Just("true".to_owned()),
        Just("2026-05-01".to_owned()),
    ];
    // The writer replaces characters that YAML cannot contain.
    let text = text.prop_map(|text| text.replace(['\u{fffe}', '\u{ffff}'], "?"));
    let more = prop_oneof!["[-+]?[0-9]{1,4}(\\.[0-9]{1,3})?", "true|false|yes|~", "2026-0[1-9]-1[0-9]"];
    let leaf = prop_oneof![text.clone().prop_map(Yaml::text), more.prop_map(Yaml::plain)];
    leaf.prop_recursive(4, 32, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Yaml::List),
            prop::collection::vec((text.clone(), inner), 0..5).prop_map(Yaml::Map),
        ]
    })
}

/// YAML does not accept long keys, and no head has them.
fn has_short_keys(value: &Yaml) -> bool {
    match value {
        Yaml::Text { .. } => true,
        Yaml::List(items) => items.iter().all(has_short_keys),
        Yaml::Map(entries) => {
            entries.iter().all(|(key, value)| key.chars().count() < 100 && has_short_keys(value))
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(20_261_122),
        ..ProptestConfig::default()
    })]

    #[test]
    fn written_text_reads_back(entries in prop::collection::vec(("[a-z][a-z_-]{0,10}", any_yaml()), 1..6)) {
        let map = Yaml::Map(entries.clone());
        prop_assume!(has_short_keys(&map));
        let text = write(&entries);
        prop_assert_eq!(parse(&text), Ok(Some(map)), "{}", text);
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        let _read_or_refused = parse(&text);
    }
}

#[test]
fn plain_words_stay_text() {
    let text = "a: 1.10\nb: 2026-05-01\nc: true\nd: 'true'\ne:\nf: ~\ng: no text\n";
    let Ok(Some(Yaml::Map(entries))) = parse(text) else { panic!("a map") };
    let read: Vec<(&str, &str, bool)> = entries
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_text().unwrap(), value.is_null()))
        .collect();
    assert_eq!(
        read,
        [
            ("a", "1.10", false),
            ("b", "2026-05-01", false),
            ("c", "true", false),
            ("d", "true", false),
            ("e", "~", true),
            ("f", "~", true),
            ("g", "no text", false)
        ]
    );
    assert_eq!(entries[2].1, Yaml::plain("true"));
    assert_eq!(entries[3].1, Yaml::text("true"));
}

#[test]
fn documents_over_the_limits_are_refused() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..20 {
        let before = format!("*a{}", level - 1);
        bomb.push_str(&format!("a{level}: &a{level} [{}]\n", [before.as_str(); 10].join(", ")));
    }
    assert_eq!(parse(&bomb), Err(YamlError::TooMuch));
    let large = format!("a: &a {}\nb: [{}]\n", "x".repeat(100_000), ["*a"; 20].join(", "));
    assert_eq!(parse(&large), Err(YamlError::TooMuch));
    let nested = format!("a: {}{}", "[".repeat(100), "]".repeat(100));
    assert!(parse(&nested).is_err());
    let many = format!("a: [{}]", ["x"; 5_000].join(","));
    assert_eq!(parse(&many), Err(YamlError::TooMuch));
    assert!(parse("a: &a [*a]").is_err(), "one that holds itself");
    assert!(parse("a: 1\n---\nb: 2\n").is_err(), "a second document");
}
