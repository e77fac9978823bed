//! Tests of the bundled skills: their format, their size, and that the app answers the commands they use.

use super::*;
use crate::builtin;
use octo_policy::sole_command;
use std::{collections::BTreeSet, fs};

/// Maximum prompt tokens of all of them together, at four bytes a token.
const LISTED_TOKENS: usize = 450;
/// Maximum lines of one SKILL.md.
const LINES: usize = 500;
/// Maximum characters of a description.
const DESCRIPTION: usize = 200;

struct Skill {
    name: &'static str,
    head: Vec<(&'static str, &'static str)>,
    body: &'static str,
}

impl Skill {
    fn get(&self, key: &str) -> Option<&'static str> {
        self.head.iter().find(|(candidate, _)| *candidate == key).map(|(_, value)| *value)
    }

    fn lists(&self, key: &str) -> Vec<&'static str> {
        let start = self.head.iter().position(|(candidate, _)| *candidate == key).unwrap();
        self.head[start + 1..]
            .iter()
            .map_while(|(candidate, value)| (*candidate == "-").then_some(*value))
            .collect()
    }
}

fn text(file: &BundledFile) -> &'static str {
    std::str::from_utf8(file.bytes).unwrap()
}

/// Reads heads in their simplest form only, as a strict reader requires.
fn skills() -> Vec<Skill> {
    let files =
        BUNDLED_SKILLS.iter().filter_map(|file| Some((file.path.strip_suffix("/SKILL.md")?, text(file))));
    files
        .map(|(name, text)| {
            let (head, body) = text.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
            let head = head
                .lines()
                .map(|line| match line.strip_prefix("  - ") {
                    Some(item) => ("-", item),
                    None => line.split_once(':').map(|(key, value)| (key, value.trim_start())).unwrap(),
                })
                .collect();
            Skill { name, head, body }
        })
        .collect()
}

#[test]
fn every_file_of_the_folder_is_shipped() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../skills");
    let (mut found, mut folders) = (BTreeSet::new(), vec![folder.clone()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let parts = path.strip_prefix(&folder).unwrap().components();
                let parts: Vec<_> = parts.map(|part| part.as_os_str().to_str().unwrap().to_owned()).collect();
                found.insert(parts.join("/"));
            }
        }
    }
    let shipped: BTreeSet<String> = BUNDLED_SKILLS.iter().map(|file| file.path.to_owned()).collect();
    assert_eq!(found, shipped);
}

#[test]
fn bundled_skills_follow_the_public_format_and_are_small() {
    const KEYS: &[&str] = &[
        "name",
        "description",
        "name_zh",
        "description_zh",
        "argument-hint",
        "argument-hint_zh",
        "context",
        "agent",
        "user-invocable",
        "disable-model-invocation",
        "forbidden_tools",
        "-",
    ];
    let definitions = crate::Toolset::standard().definitions();
    let tools: Vec<&str> = definitions.iter().map(|tool| tool.name.as_str()).collect();
    let skills = skills();
    assert_eq!(skills.len(), 16);
    let mut listed = 0;
    for skill in &skills {
        let name = skill.name;
        assert_eq!(skill.get("name"), Some(name));
        assert!(
            name.len() <= 64 && name.bytes().all(|c| matches!(c, b'a'..=b'z' | b'0'..=b'9' | b'-')),
            "{name}"
        );
        assert!(!name.starts_with('-') && !name.ends_with('-') && !name.contains("--"), "{name}");
        for (key, value) in &skill.head {
            assert!(KEYS.contains(key), "{name}: {key}");
            // Nothing that YAML would parse as anything but plain text.
            assert!(
                !value.contains(": ") && !value.contains(" #") && !value.contains(['<', '>']),
                "{name}: {value}"
            );
            assert!(
                !value.starts_with(['[', '{', '*', '&', '!', '\'', '"', '@', '`', '|']),
                "{name}: {value}"
            );
        }
        let description = skill.get("description").unwrap();
        assert!((20..=DESCRIPTION).contains(&description.chars().count()), "{name}");
        assert!(skill.get("description_zh").is_some() && skill.get("name_zh").is_some(), "{name}");
        assert!(skill.body.lines().count() < LINES && skill.body.trim().len() > 400, "{name}");
        let forks = skill.get("context").map(|context| assert_eq!(context, "fork")).is_some();
        assert!(
            forks || skill.get("forbidden_tools").is_none(),
            "{name}: only a sub-agent is forbidden tools"
        );
        if skill.get("forbidden_tools").is_some() {
            let forbidden = skill.lists("forbidden_tools");
            assert!(!forbidden.is_empty() && forbidden.iter().all(|tool| tools.contains(tool)), "{name}");
        }
        if skill.get("disable-model-invocation") != Some("true") {
            listed += format!("- {name}: {description}\n").len();
        }
    }
    assert!(listed <= LISTED_TOKENS * 4, "{listed} bytes of every prompt");
}

/// The real grammar reads every command they show, so the app will answer it.
#[test]
fn every_octo_command_in_a_bundled_skill_parses() {
    let mut read = BTreeSet::new();
    for file in BUNDLED_SKILLS {
        let text = text(file);
        // On a line of its own, or in quotes inside code; a quoted command may continue on the next line.
        let quoted =
            text.split('`').skip(1).step_by(2).map(|code| code.replace("\n   ", " ").replace('\n', " "));
        let lines = text.lines().map(|line| line.trim().to_owned());
        let commands = quoted.chain(lines.filter(|line| !line.contains('`')));
        for command in commands.filter(|code| code.starts_with("octo ")) {
            let line = command.replace('…', "x");
            let arguments = sole_command(&line).unwrap_or_else(|| panic!("{}: {command}", file.path));
            builtin::parse(&arguments, Path::new("/w"))
                .unwrap_or_else(|error| panic!("{}: {command}: {error}", file.path));
            read.insert(arguments.into_iter().take(3).collect::<Vec<_>>().join(" "));
        }
    }
    for used in [
        "octo skill validate",
        "octo skill propose",
        "octo skill install",
        "octo skill inspect",
        "octo memory save",
        "octo memory read",
        "octo memory list",
        "octo memory delete",
        "octo persona write",
        "octo persona show",
        "octo browser doctor",
        "octo settings open",
    ] {
        assert!(read.contains(used), "{used}: {read:?}");
    }
}

/// They work on a machine that has neither, and name only scripts and files that exist.
#[test]
fn bundled_skills_need_no_ruby_or_node_and_name_existing_files() {
    let scripts: Vec<&str> = crate::SHIPPED_SCRIPTS.iter().map(|script| script.name).collect();
    let paths: Vec<&str> = BUNDLED_SKILLS.iter().map(|file| file.path).collect();
    let names: Vec<&str> = skills().iter().map(|skill| skill.name).collect();
    let mut used = BTreeSet::new();
    for file in BUNDLED_SKILLS {
        let text = text(file);
        for foreign in [".rb", "ruby ", "node ", "npm ", "npx ", "localhost", "127.0.0.1", "${", "<%"] {
            assert!(!text.contains(foreign), "{}: {foreign}", file.path);
        }
        for code in text.split('`').skip(1).step_by(2) {
            if let Some((_, remaining)) = code.split_once("~/.octo/scripts/") {
                let script = remaining.split(' ').next().unwrap();
                assert!(scripts.contains(&script), "{}: {script}", file.path);
                used.insert(script);
            }
            let skill = file.path.split('/').next().unwrap();
            if code.starts_with("docs/") || code.starts_with("references/") {
                let script_path = format!("{skill}/{code}");
                assert!(
                    code.ends_with('/') || paths.contains(&script_path.as_str()),
                    "{}: {code}",
                    file.path
                );
            }
        }
        for (before, remaining) in text.match_indices(" skill)").map(|(index, _)| text.split_at(index)) {
            let name = before.rsplit([' ', '\n']).next().unwrap();
            assert!(names.contains(&name) || !name.contains('-'), "{}: {name}{remaining:.20}", file.path);
        }
    }
    assert_eq!(used.len(), scripts.len(), "each script has its skill");
}

#[test]
fn bundled_skills_are_installed_into_a_home() {
    let home = tempfile::tempdir().unwrap();
    let folder = install_bundled(home.path()).unwrap();
    assert_eq!(folder, home.path().join("bundled-skills"));
    for file in BUNDLED_SKILLS {
        assert_eq!(fs::read(folder.join(file.path)).unwrap(), file.bytes);
    }
    assert_eq!(install_bundled(home.path()).unwrap(), folder);
}
