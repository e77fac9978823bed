//! Properties of every possible skill.

use crate::world::{World, cases, only, put};
use octo_skills::{
    Fields, FindingLevel, Invocable, Invocation, InvokedFrom, Profiles, Skill, SkillRun, ToolGrant, Trust,
    ValidationRules, expand, is_name, octo_tool, read, split_markdown, to_public, validate,
};
use proptest::{prelude::*, test_runner::RngSeed};
use std::path::Path;

/// Generates texts of a pattern, which is compiled once and not for each of them.
fn pattern(regex: &str) -> impl Strategy<Value = String> + use<> {
    proptest::string::string_regex(regex).unwrap()
}

/// Generates texts full of special characters.
fn marked() -> impl Strategy<Value = String> {
    const MARKS: &[&str] = &[
        "$ARGUMENTS",
        "$ARGUMENTS[",
        "$0",
        "${HOME}",
        "${CARGO_PKG_NAME}",
        "$CARGO_PKG_NAME",
        "${PATH}",
        "<%= memories_meta %>",
        "<%=",
        "%>",
        "!`",
        " !`cmd $0`",
        "`",
        "${",
        "}",
        "$",
        "---\n",
        "\n",
        "name: x\n",
        "description: \"a\n",
    ];
    let fragment = prop_oneof![
        3 => prop::sample::select(MARKS).prop_map(str::to_owned),
        1 => prop::collection::vec(any::<char>(), 0..12).prop_map(String::from_iter),
    ];
    prop::collection::vec(fragment, 0..20).prop_map(|fragments| fragments.concat())
}

fn words() -> impl Strategy<Value = String> {
    pattern("[a-zA-Z0-9é中:#'\"@!?.,-]{1,12}( [a-zA-Z0-9é中:#'\"@!?.,-]{1,12}){0,5}")
}

fn fields() -> impl Strategy<Value = Fields> {
    let list = |item: &'static str| prop::collection::vec(pattern(item), 0..4);
    let run = prop_oneof![
        Just((SkillRun::Inline, Profiles::All)),
        Just((SkillRun::Inline, Profiles::Only(vec!["coding".into(), "general".into()]))),
        Just((SkillRun::Fork { agent: None }, Profiles::All)),
        Just((SkillRun::Fork { agent: Some("Explore".into()) }, Profiles::All)),
        Just((SkillRun::Fork { agent: None }, Profiles::Only(vec!["coding".into()]))),
    ];
    let invocable = || prop_oneof![Just(Invocable::Yes), Just(Invocable::No)];
    let texts = (
        words(),
        prop::option::of(words()),
        prop::option::of(words()),
        prop::option::of(words()),
        prop::option::of(pattern("[a-z]{3,8}").prop_filter("stands for none", |model| model != "inherit")),
        prop::option::of(words()),
    );
    let metadata = prop::collection::btree_map(pattern("[a-z]{1,8}"), words(), 0..3);
    let tools = prop::sample::subsequence(vec!["Read", "Bash(git log:*)", "mcp__x__y", "Write"], 0..4);
    let forbidden = prop::sample::subsequence(vec!["write", "edit", "browser"], 0..3);
    (
        texts,
        run,
        invocable(),
        invocable(),
        list("[a-z]{1,6}"),
        list("[a-z/*.]{1,8}"),
        tools,
        forbidden,
        metadata,
    )
        .prop_map(
            |(texts, (run, profiles), model, person, arguments, paths, tools, forbidden, metadata)| {
                let (description, when_to_use, description_zh, license, model_name, argument_hint) = texts;
                Fields {
                    written_name: Some("made".into()),
                    description,
                    when_to_use,
                    description_zh,
                    license,
                    model: model_name,
                    argument_hint,
                    arguments,
                    paths,
                    run,
                    profiles,
                    model_invocation: model,
                    person_invocation: person,
                    allowed_tools: tools
                        .into_iter()
                        .map(|text: &str| ToolGrant {
                            text: text.to_owned(),
                            tool: octo_tool(text.split('(').next().unwrap()),
                            pattern: text.contains('(').then(|| "git log:*".to_owned()),
                        })
                        .collect(),
                    forbidden_tools: forbidden,
                    metadata: metadata.into_iter().collect(),
                    ..Fields::default()
                }
            },
        )
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Returns a configuration with the same cases each time.
fn config(full_cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases: cases(full_cases),
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(20_261_122),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(10_000))]

    #[test]
    fn any_bytes_yield_an_entry(content in prop::collection::vec(any::<u8>(), 0..2_000), folder in prop::collection::vec(any::<char>(), 0..12).prop_map(String::from_iter)) {
        let document = read(&content, &folder);
        prop_assert!(is_name(&document.name));
        prop_assert!(document.error.is_some() || !is_blank(&document.body));
        prop_assert!(document.fields.description.chars().count() <= 1_024);
    }

    #[test]
    fn any_text_yields_an_entry_and_is_written_as_it_was_read(text in marked(), folder in prop::collection::vec(any::<char>(), 0..12).prop_map(String::from_iter)) {
        let document = read(text.as_bytes(), &folder);
        prop_assert!(is_name(&document.name));
        let parts = split_markdown(&text);
        let reread = split_markdown(&parts.front.with_body(&parts.body));
        // A body that looks like a front matter, without one before it, gets an empty one in front.
        prop_assert_eq!(&reread.front, &parts.front);
        prop_assert_eq!(&reread.body, &parts.body);
    }
}

#[test]
fn expansion_never_fails_and_never_shows_the_environment() {
    let world = World::new();
    let skill = only(&world, "Do it.");
    let secret = std::env::var("PATH").unwrap();
    let trust = prop_oneof![Just(Trust::Trusted), Just(Trust::Untrusted)];
    proptest!(config(10_000), |(body in marked(), arguments in marked(), trust in trust, output in marked())| {
        let skill = Skill { body, trust, ..skill.clone() };
        let invocation = Invocation {
            arguments: &arguments,
            session: "s",
            from: InvokedFrom::Slash,
            home: Some(Path::new("/home/ada")),
            values: &[("memories_meta", "none".to_owned())],
        };
        let expanded = expand(&skill, &invocation);
        prop_assert!(trust == Trust::Trusted || expanded.placeholders().is_empty());
        let outputs = vec![output; expanded.placeholders().len()];
        let text = expanded.finish(&outputs);
        prop_assert!(!text.contains(&secret));
    });
}

#[test]
fn exports_follow_the_rules_and_read_back() {
    let world = World::new();
    let skill = only(&world, "---\nname: made\n---\nDo it.");
    let folder = world.person.join("made");
    proptest!(config(2_500), |(fields in fields())| {
        let skill = Skill { fields, ..skill.clone() };
        let public = to_public(&skill);
        prop_assert_eq!(&public.remarks, &[]);
        put(folder.join("SKILL.md"), &public.text);
        let findings: Vec<_> = validate(&folder, ValidationRules::Public)
            .into_iter()
            .filter(|finding| finding.level == FindingLevel::Fault)
            .collect();
        prop_assert_eq!(findings, vec![], "{}", public.text);
        let reread = read(public.text.as_bytes(), "made");
        prop_assert_eq!(&reread.fields, &skill.fields, "{}", public.text);
    });
}
