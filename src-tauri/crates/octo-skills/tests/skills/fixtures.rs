//! Every field and every oddity of a SKILL.md, one file each.

use octo_skills::{FrontMatter, Invocable, Profiles, SkillDocument, SkillRun, Yaml, read, split_markdown};
use std::{fmt::Write, fs, path::Path};

fn fixtures() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut found: Vec<(String, Vec<u8>)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path().join("SKILL.md")).unwrap())
        })
        .collect();
    found.sort();
    found
}

/// Returns the parsed values, without defaults.
fn summary(document: &SkillDocument) -> String {
    let mut text = String::new();
    let fields = &document.fields;
    let mut line = |key: &str, value: String| writeln!(text, "{key}: {value}").unwrap();
    line("name", document.name.clone());
    line("description", format!("{:?}", fields.description));
    for (key, value) in [
        ("name_zh", &fields.name_zh),
        ("description_zh", &fields.description_zh),
        ("when_to_use", &fields.when_to_use),
        ("argument_hint", &fields.argument_hint),
        ("model", &fields.model),
        ("license", &fields.license),
        ("compatibility", &fields.compatibility),
    ] {
        if let Some(value) = value {
            line(key, format!("{value:?}"));
        }
    }
    if fields.model_invocation == Invocable::No {
        line("model", "may not choose it".to_owned());
    }
    if fields.person_invocation == Invocable::No {
        line("person", "may not call it".to_owned());
    }
    if fields.profiles != Profiles::All {
        line("profiles", format!("{:?}", fields.profiles));
    }
    if fields.run != SkillRun::Inline {
        line("run", format!("{:?}", fields.run));
    }
    if let Some(effort) = fields.effort {
        line("effort", format!("{effort:?}"));
    }
    for (key, list) in [("arguments", &fields.arguments), ("paths", &fields.paths)] {
        if !list.is_empty() {
            line(key, format!("{list:?}"));
        }
    }
    for grant in &fields.allowed_tools {
        line("allowed", format!("{:?} is {:?} for {:?}", grant.text, grant.tool, grant.pattern));
    }
    if !fields.forbidden_tools.is_empty() {
        line("forbidden", format!("{:?}", fields.forbidden_tools));
    }
    if !fields.metadata.is_empty() {
        line("metadata", format!("{:?}", fields.metadata));
    }
    line("keys", format!("{:?}", document.front.entries().iter().map(|(key, _)| key).collect::<Vec<_>>()));
    line("body", format!("{:?}", document.body));
    for warning in &document.warnings {
        line("warning", format!("{} {:?}", warning.key, warning.args));
    }
    if let Some(error) = &document.error {
        line("error", format!("{} {:?}", error.key, error.args));
    }
    text
}

#[test]
fn every_fixture_parses_as_expected() {
    let fixtures = fixtures();
    assert!(fixtures.len() >= 14, "the fixtures were found: {}", fixtures.len());
    let mut output = String::new();
    for (folder, content) in &fixtures {
        let document = read(content, folder);
        writeln!(output, "== {folder}\n{}", summary(&document)).unwrap();
    }
    insta::assert_snapshot!(output);
}

#[test]
fn line_ends_marks_and_utf_16_do_not_matter() {
    let text = "---\nname: notes\ndescription: 'Takes notes: short ones'\n---\n\n# Notes\n\nTake “them”.\n";
    let expected = read(text.as_bytes(), "notes");
    assert_eq!((expected.name.as_str(), expected.warnings.len(), &expected.error), ("notes", 0, &None));
    let windows = text.replace('\n', "\r\n");
    let utf16: Vec<u8> =
        [0xfeff_u16].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let utf16_big: Vec<u8> =
        [0xfeff_u16].into_iter().chain(windows.encode_utf16()).flat_map(u16::to_be_bytes).collect();
    for variant in [
        windows.clone().into_bytes(),
        format!("\u{feff}{text}").into_bytes(),
        format!("\u{feff}{windows}").into_bytes(),
        text.replace("---\n", "---  \t\n").into_bytes(),
    ] {
        assert_eq!(read(&variant, "notes"), expected);
    }
    for wide in [utf16, utf16_big] {
        let document = read(&wide, "notes");
        assert_eq!((&document.fields, &document.body), (&expected.fields, &expected.body));
        assert_eq!(document.warnings.len(), 1, "that it is no UTF-8 is said");
    }
}

#[test]
fn unreadable_and_too_large_files_are_entries_with_errors() {
    for (content, key) in [
        (b"\x7fELF\0\0\0".to_vec(), "skills.error.no_text"),
        (vec![b'a'; 256 * 1024 + 1], "skills.error.too_large"),
        (Vec::new(), "skills.error.empty"),
        (b"---\nname: a\n---\n \n".to_vec(), "skills.error.empty"),
    ] {
        let document = read(&content, "broken");
        assert_eq!(document.error.as_ref().map(|error| error.key), Some(key));
    }
    assert_eq!(read(&vec![b'a'; 256 * 1024], "large").error, None, "at the limit it is read");
}

#[test]
fn names_at_the_limit() {
    let name = "a".repeat(64);
    let text = |name: &str| format!("---\nname: {name}\ndescription: d\n---\nbody");
    assert_eq!(read(text(&name).as_bytes(), "folder").name, name);
    let longer = read(text(&"a".repeat(65)).as_bytes(), "folder");
    assert_eq!((longer.name.as_str(), longer.warnings.len()), ("folder", 1));
    for (folder, name) in [
        ("Bad.Dir-1.0", "bad-dir-1-0"),
        ("..", "skill-"),
        ("CON", "skill-"),
        ("周报", "skill-"),
        ("--x--", "x"),
        ("ÀÉ b", "b"),
    ] {
        let document = read(b"body", folder);
        assert!(document.name.starts_with(name), "{folder} is called {}", document.name);
        assert!(octo_skills::is_public_name(&document.name), "{}", document.name);
    }
}

#[test]
fn every_fixture_is_written_unchanged() {
    for (folder, content) in fixtures() {
        let document = read(&content, &folder);
        let text = document.front.with_body(&document.body);
        let reread = read(text.as_bytes(), &folder);
        assert_eq!(reread.front, document.front, "{folder}:\n{text}");
        assert_eq!(reread.body, document.body, "{folder}:\n{text}");
        assert_eq!(reread.fields, document.fields, "{folder}:\n{text}");
    }
}

#[test]
fn changing_one_key_keeps_the_others_in_order() {
    let text = "---\nauthor: [a, b]\nname: notes\nx: {deep: 1}\n---\nBody\n";
    let mut parts = split_markdown(text);
    parts.front.set("disable_model_invocation", Yaml::plain("true"));
    parts.front.set("Name", Yaml::text("other: name"));
    parts.front.remove("author");
    let output = parts.front.with_body(&parts.body);
    assert_eq!(
        output,
        "---\nname: \"other: name\"\nx:\n  deep: 1\ndisable_model_invocation: true\n---\n\nBody\n"
    );
    assert_eq!(split_markdown(&output).front, parts.front);
    assert_eq!(FrontMatter::default().with_body("Body"), "Body\n");
}

#[test]
fn a_memory_file_with_a_date_keeps_its_topic() {
    let parts = split_markdown("---\ntopic: Work\nupdated_at: 2026-05-01\n---\n\nLikes tea.\n");
    assert_eq!(parts.front.get("topic").and_then(Yaml::as_text), Some("Work"));
    assert_eq!(parts.front.get("updated_at").and_then(Yaml::as_text), Some("2026-05-01"));
    assert_eq!((parts.body.as_str(), parts.warnings.len()), ("Likes tea.", 0));
}
