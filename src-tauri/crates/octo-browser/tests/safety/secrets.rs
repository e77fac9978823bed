//! Secrets: typed only where they belong, and removed from every text.

use super::site;
use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use octo_browser::safety::{
    FieldFacts, Origin, Redactor, SecretFault, SecretName, SecretTarget, SiteBoundSecret, TypedPart,
    split_secrets,
};
use proptest::prelude::*;
use secrecy::SecretString;

fn name() -> SecretName {
    SecretName::new("SHOP_PASSWORD").expect("a name")
}

fn redactor(value: &str) -> Redactor {
    let mut redactor = Redactor::default();
    redactor.learn(&name(), &SecretString::from(value)).expect("long enough");
    redactor
}

#[test]
fn placeholders_are_read_and_broken_ones_are_not_typed() {
    let text = |text: &str| TypedPart::Text(text.to_owned());
    for (typed, expected) in [
        ("plain", Ok(vec![text("plain")])),
        ("", Ok(vec![])),
        ("{{secret:SHOP_PASSWORD}}", Ok(vec![TypedPart::Secret(name())])),
        ("a{{secret:SHOP_PASSWORD}}b", Ok(vec![text("a"), TypedPart::Secret(name()), text("b")])),
        ("{{name}}", Ok(vec![text("{{name}}")])),
        ("{{secret:SHOP_PASSWORD", Err(SecretFault::Name)),
        ("{{secret:}}", Err(SecretFault::Name)),
        ("{{secret:../x}}", Err(SecretFault::Name)),
        ("{{secret:{{secret:A}}", Err(SecretFault::Name)),
    ] {
        assert_eq!(split_secrets(typed), expected, "{typed}");
    }
}

#[test]
fn a_secret_is_released_at_its_own_site_only() {
    let secret = SiteBoundSecret { name: name(), site: site("https://a.example") };
    let insecure = SiteBoundSecret { name: name(), site: site("http://a.example") };
    let local = SiteBoundSecret { name: name(), site: site("http://localhost:3000") };
    let password = FieldFacts { kind: "password".into(), ..FieldFacts::default() };
    let visible_field = FieldFacts { kind: "text".into(), name: "Search".into(), ..FieldFacts::default() };
    let card = FieldFacts { autocomplete: "section-a billing cc-number".into(), ..FieldFacts::default() };
    let release_at =
        |secret: &SiteBoundSecret, page: &str, frame: &str, to: Option<&str>, field: &FieldFacts| {
            let to = to.map(Origin::parse);
            let target = SecretTarget {
                page: &Origin::parse(page),
                frame: &Origin::parse(frame),
                sends_to: to.as_ref(),
                field,
            };
            secret.release(&target).map(|release| release.name().clone())
        };
    let (a, b) = ("https://a.example/login", "https://b.example");
    for (secret, page, frame, to, field, expected) in [
        (&secret, a, a, None, &password, Ok(name())),
        (&secret, a, a, Some(a), &password, Ok(name())),
        (&secret, a, a, None, &card, Ok(name())),
        (&local, "http://localhost:3000", "http://localhost:3000", None, &password, Ok(name())),
        (&secret, b, a, None, &password, Err(SecretFault::OtherSite)),
        (&secret, "http://a.example", "http://a.example", None, &password, Err(SecretFault::OtherSite)),
        (&secret, "https://a.example:8443", a, None, &password, Err(SecretFault::OtherSite)),
        (&secret, "null", "null", None, &password, Err(SecretFault::OtherSite)),
        (&secret, a, b, None, &password, Err(SecretFault::OtherFrame)),
        (&secret, a, "null", None, &password, Err(SecretFault::OtherFrame)),
        (&secret, a, a, Some(b), &password, Err(SecretFault::OtherTarget)),
        (&secret, a, a, Some("mailto:x"), &password, Err(SecretFault::OtherTarget)),
        (&insecure, "http://a.example", "http://a.example", None, &password, Err(SecretFault::NotEncrypted)),
        (&secret, a, a, None, &visible_field, Err(SecretFault::VisibleField)),
    ] {
        assert_eq!(release_at(secret, page, frame, to, field), expected, "{page} {frame} {to:?}");
    }
}

#[test]
fn a_secret_is_redacted_in_every_encoding() {
    let value = "p\"a/ss wörd<&>'+42\\z";
    let redactor = redactor(value);
    let json = serde_json::to_string(value).expect("JSON");
    let form: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
    let percent =
        percent_encoding::utf8_percent_encode(value, percent_encoding::NON_ALPHANUMERIC).to_string();
    for text in [
        format!("the password is {value}."),
        format!("{{\"a\":{json}}}"),
        format!("https://a.example/?p={form}&x"),
        format!("https://a.example/{percent}"),
        format!("https://a.example/{}", percent.replace("%C3%B6", "%c3%b6")),
        STANDARD.encode(value),
        STANDARD.encode(format!("user:{value}")),
        STANDARD.encode(format!("users:{value}!")),
        URL_SAFE_NO_PAD.encode(format!("user1:{value} and more")),
        value.to_uppercase(),
        "p\"a/ss\n wörd<&>\u{200b}'+42\\z".to_owned(),
        "p&quot;a/ss wörd&lt;&amp;&gt;&#39;+42\\z".to_owned(),
        value.bytes().map(|byte| format!("{byte:02x}")).collect(),
    ] {
        let redacted = redactor.redact(&text);
        assert!(redacted.contains("{{secret:SHOP_PASSWORD}}"), "{text}: {redacted}");
        assert!(!redacted.contains("rd<") && !redacted.contains("%B6rd"), "{redacted}");
    }
    assert_eq!(redactor.redact("nothing of it"), "nothing of it");
    assert_eq!(format!("{redactor:?}"), "[SecretName(\"SHOP_PASSWORD\")]", "no value in its debug text");
}

#[test]
fn a_secret_split_over_two_texts_is_redacted_in_both() {
    let redactor = redactor("hunter2-long");
    assert_eq!(
        redactor.redact_adjacent(&["my hunt", "er2-", "long one"]),
        ["my {{secret:SHOP_PASSWORD}}", "", " one"]
    );
    assert_eq!(redactor.redact_adjacent(&["a", "b"]), ["a", "b"]);
}

#[test]
fn a_too_short_secret_is_refused() {
    let mut redactor = Redactor::default();
    assert_eq!(redactor.learn(&name(), &SecretString::from("123")), Err(SecretFault::TooShort));
}

proptest! {
    #[test]
    fn no_secret_remains_in_any_text(value in "[!-~]{8,24}", before in "[a-z ]{0,12}", after in "[a-z ]{0,12}") {
        let redactor = redactor(&value);
        let text = format!("{before}{value}{after}");
        prop_assert!(!redactor.redact(&text).contains(&value) || "{{secret:SHOP_PASSWORD}}".contains(&value));
        let json = serde_json::to_string(&text).expect("JSON");
        let decoded: Result<String, _> = serde_json::from_str(&redactor.redact(&json));
        prop_assert!(decoded.is_ok_and(|decoded| !decoded.contains(&value)), "the JSON around it stays whole");
        let encoded = STANDARD.encode(&text);
        prop_assert_ne!(redactor.redact(&encoded), encoded);
    }
}
