//! Names of buttons in every language: those that ask and those that must not. One row per name.

use super::{asked, button, link};
use octo_browser::safety::{ControlEffect, PageAction, Sink};

/// Names that ask, by language and effect.
const ASK: &str = include_str!("ask.txt");
/// Names that ask despite attempts to disguise them.
const HOSTILE: &str = include_str!("hostile.txt");
/// Names without such an effect.
const PLAIN: &str = include_str!("plain.txt");

fn effect_of_name(name: &str) -> ControlEffect {
    match name {
        "buy" => ControlEffect::Buy,
        "send" => ControlEffect::Send,
        "publish" => ControlEffect::Publish,
        "delete" => ControlEffect::Delete,
        "transfer" => ControlEffect::Transfer,
        "confirm" => ControlEffect::Confirm,
        "subscribe" => ControlEffect::Subscribe,
        "unsubscribe" => ControlEffect::Unsubscribe,
        "close" => ControlEffect::CloseAccount,
        "install" => ControlEffect::Install,
        other => panic!("no such effect: {other}"),
    }
}

fn rows(table: &str) -> impl Iterator<Item = &str> {
    table.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
}

#[test]
fn irreversible_actions_ask_in_every_language() {
    let (mut languages, mut count, mut failures) = (Vec::new(), 0, Vec::new());
    for row in rows(ASK) {
        let [language, effect, names] =
            row.splitn(3, '\t').collect::<Vec<_>>().try_into().expect("three columns");
        if !languages.contains(&language) {
            languages.push(language);
        }
        for name in names.split(" | ") {
            count += 1;
            let sinks = asked(Some(language), &button(name), PageAction::Click);
            if !matches!(&sinks[..], [Sink::AnnouncesEffect(_)]) {
                failures.push(format!("{language} {effect} {name}: {sinks:?}"));
            }
            // Whatever language the page claims, or none: it still asks.
            for other in [None, Some("xx-Unknown"), Some("")] {
                let sinks = asked(other, &button(name), PageAction::Click);
                if sinks.is_empty() {
                    failures.push(format!("{language} {name} in a page of {other:?}"));
                }
            }
            let exact = asked(Some(language), &button(name), PageAction::Click)
                .contains(&Sink::AnnouncesEffect(effect_of_name(effect)));
            if !exact && language == "en" {
                failures.push(format!("en {effect} {name}: another effect {sinks:?}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(languages.len(), 20, "{languages:?}");
    assert!(count >= 300, "{count} rows");
}

#[test]
fn disguised_names_ask() {
    let mut count = 0;
    let mut failures = Vec::new();
    for row in rows(HOSTILE) {
        count += 1;
        let name: String = serde_json::from_str(&format!("\"{row}\"")).expect("a JSON string");
        if asked(Some("en"), &button(&name), PageAction::Click).is_empty() {
            failures.push(row);
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(count >= 50, "{count} rows");
}

#[test]
fn few_plain_names_ask() {
    let (mut count, mut alarms) = (0, Vec::new());
    for row in rows(PLAIN) {
        let (language, names) = row.split_once('\t').expect("two columns");
        for name in names.split(" | ") {
            count += 1;
            if !asked(Some(language), &button(name), PageAction::Click).is_empty() {
                alarms.push(format!("{language} {name}"));
            }
        }
    }
    assert!(count >= 250, "{count} rows");
    // At most one in a hundred.
    assert!(alarms.len() * 100 <= count, "{} of {count}:\n{}", alarms.len(), alarms.join("\n"));
}

#[test]
fn link_names_are_read_and_not_obeyed() {
    let alarm = |name: &str, href: &str| !asked(Some("en"), &link(name, href), PageAction::Click).is_empty();
    for (name, href) in [
        ("How to delete your old account before the service closes next month", "https://a.example/news/1"),
        (
            "Ten reasons why people buy more than they need, and what to do",
            "https://a.example/how-to-delete-it",
        ),
        ("Home", "https://a.example/"),
        ("Next page", "https://a.example/?page=2"),
    ] {
        assert!(!alarm(name, href), "{name}");
    }
    for (name, href) in [
        ("Buy now", "https://a.example/cart"),
        ("Here", "https://a.example/items/5/delete"),
        ("Here", "https://a.example/x?action=unsubscribe&u=1"),
        ("One two three four five six seven eight nine buy now", "#"),
        ("One two three four five six seven eight nine buy now", "https://a.example/x#"),
        ("One two three four five six seven eight nine buy now", "javascript:go()"),
        ("Write to us", "mailto:a@b.example"),
    ] {
        assert!(alarm(name, href), "{name} {href}");
    }
}
