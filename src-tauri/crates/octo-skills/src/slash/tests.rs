//! Messages that call a skill, and others that do not.

use super::*;

#[test]
fn calls_paths_and_messages_are_distinguished() {
    let call = |name: &str, arguments: &str| {
        Some(SkillCall { name: name.to_owned(), arguments: arguments.to_owned() })
    };
    let table = [
        ("/foo a b", call("foo", "a b")),
        ("/foo\nbar baz", call("foo", "bar baz")),
        ("/foo a\nb  c\n\nd", call("foo", "a\nb  c\n\nd")),
        ("／foo a", call("foo", "a")),
        ("/Foo", call("foo", "")),
        ("  /foo  ", call("foo", "")),
        ("/foo-bar_2 x", call("foo-bar_2", "x")),
        ("/", None),
        ("//", None),
        ("/foo/", None),
        ("/Users/ada/x is odd", None),
        ("/*.rs", None),
        ("/foo:create", None),
        ("/ foo\n/inner x", None),
        ("hello /foo", None),
        ("", None),
        ("/周报", None),
    ];
    for (text, expected) in table {
        assert_eq!(parse_skill_call(text), expected, "{text:?}");
    }
}

#[test]
fn similar_names_are_plausible_typos() {
    let names = ["onboard", "product-help", "skill-add", "skill-creator", "code-explorer"];
    let table: &[(&str, &[&str])] = &[
        ("onboar", &["onboard"]),
        ("onbaord", &["onboard"]),
        ("skil", &["skill-add", "skill-creator"]),
        ("explorer", &["code-explorer"]),
        ("helpp", &[]),
        ("zzz", &[]),
        ("o", &[]),
    ];
    for (name, expected) in table {
        assert_eq!(crate::similar_names(name, names.into_iter()), *expected, "{name}");
    }
}

#[test]
fn a_refusal_has_a_message() {
    let unknown = |similar: &[&str]| CallRefusal::Unknown {
        name: "onboar".into(),
        similar: similar.iter().map(|name| (*name).to_owned()).collect(),
    };
    assert_eq!(unknown(&["a", "b"]).to_string(), "Skill not found: onboar. Did you mean a or b?");
    let error = ApiError::from(&unknown(&["onboard"]));
    assert_eq!((error.key.as_str(), error.args["near"].as_str()), ("skill.unknown_near", "/onboard"));
    assert_eq!(ApiError::from(&unknown(&[])).key, "skill.unknown");
}
