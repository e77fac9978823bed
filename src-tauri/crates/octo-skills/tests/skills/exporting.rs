//! Exported skills follow the rules of the public format.

use crate::world::{World, keys, put, skill};
use octo_skills::{
    ExportError, FindingLevel, InstallSource, OnConflict, Skill, ValidationRules, export, inspect, install,
    to_public, validate,
};
use std::{
    collections::BTreeSet,
    fs,
    io::{Cursor, Read},
    path::Path,
};
use zip::ZipArchive;

/// Checks the rules independently, on the text, with no code of the crate.
fn breaks_a_rule(folder: &str, text: &str) -> Option<String> {
    let head = text.strip_prefix("---\n")?.split_once("\n---\n")?.0;
    let keys: Vec<&str> = head
        .lines()
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_once(':').map(|(key, _)| key))
        .collect();
    let allowed = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];
    if let Some(key) = keys.iter().find(|key| !allowed.contains(key)) {
        return Some(format!("the key {key}"));
    }
    let value = |key: &str| {
        let line = head.lines().find_map(|line| line.strip_prefix(&format!("{key}: ")))?;
        serde_json::from_str::<String>(line).ok().or_else(|| Some(line.to_owned()))
    };
    let name = value("name").unwrap_or_default();
    let parts_are_good = name
        .split('-')
        .all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()));
    if name.len() > 64 || !parts_are_good || name != folder {
        return Some(format!("the name {name:?} in {folder}"));
    }
    let description = value("description").unwrap_or_default();
    if description.is_empty() || description.chars().count() > 1_024 || description.contains(['<', '>']) {
        return Some(format!("the description {description:?}"));
    }
    let compatibility = value("compatibility").unwrap_or_default();
    (compatibility.chars().count() > 500).then(|| "the compatibility".to_owned())
}

fn fixtures() -> Vec<Skill> {
    let world = World::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        put(
            world.user().join(entry.file_name()).join("SKILL.md"),
            fs::read(entry.path().join("SKILL.md")).unwrap(),
        );
    }
    put(
        world.user().join("brackets/SKILL.md"),
        format!("---\nname: under_score--\ndescription: \"a <b> -> c {}\"\n---\nDo it.", "long ".repeat(300)),
    );
    put(
        world.user().join("needy/SKILL.md"),
        format!("---\ndescription: d\ncompatibility: {}\n---\nDo it.", "Needs much. ".repeat(80)),
    );
    let catalogue = world.trusting();
    catalogue
        .skills()
        .iter()
        .chain(catalogue.shadowed())
        .filter(|skill| skill.error.is_none())
        .cloned()
        .collect()
}

#[test]
fn every_fixture_survives_export_and_import() {
    let skills = fixtures();
    assert!(skills.len() >= 20, "{}", skills.len());
    let destination = tempfile::tempdir().unwrap();
    for skill in &skills {
        let public = to_public(skill);
        assert_eq!(breaks_a_rule(&public.name, &public.text), None, "{}", public.text);
        let folder = destination.path().join(&public.name);
        put(folder.join("SKILL.md"), &public.text);
        let findings: Vec<_> = validate(&folder, ValidationRules::Public)
            .into_iter()
            .filter(|finding| finding.level == FindingLevel::Fault)
            .collect();
        assert_eq!(findings, [], "{}", public.text);

        let reread = octo_skills::read(public.text.as_bytes(), &public.name);
        assert_eq!(reread.body, skill.body);
        let mut fields = reread.fields.clone();
        fields.written_name.clone_from(&skill.fields.written_name);
        if skill.fields.description.contains(['<', '>']) || skill.fields.description.is_empty() {
            fields.description.clone_from(&skill.fields.description);
        }
        if skill.fields.compatibility.as_ref().is_some_and(|text| text.chars().count() > 500) {
            fields.compatibility.clone_from(&skill.fields.compatibility);
        }
        assert_eq!(fields, skill.fields, "{}", public.text);
    }
}

#[test]
fn fields_the_format_lacks_are_reported() {
    let skills = fixtures();
    let remarks = |name: &str| {
        let skill = skills.iter().find(|skill| skill.name == name).unwrap();
        keys(&to_public(skill).remarks).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(remarks("minimal"), [""; 0]);
    assert_eq!(remarks("review-pull-request"), [""; 0]);
    assert_eq!(remarks("under_score--"), ["skills.note.name", "skills.note.brackets"]);
    assert_eq!(remarks("needy"), ["skills.note.cut"]);
    assert_eq!(remarks("many-keys"), ["skills.note.key_left_out"; 4], "version, author, hooks and shell");
}

#[test]
fn the_zip_is_reproducible_and_installs_again() {
    let world = World::new();
    let folder = skill(&world.user(), "tool-kit", "Has files");
    put(folder.join("scripts/run.sh"), "#!/bin/sh\necho hi\n");
    put(folder.join("notes/a.md"), "A");
    put(folder.join(".env"), "SECRET=1");
    put(folder.join(".git/config"), "x");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(folder.join("scripts/run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.join("notes/passwd")).unwrap();
    }
    let catalogue = world.trusting();
    let skill = catalogue.get("tool-kit").unwrap();
    let packed = export(skill).unwrap();
    assert_eq!(packed.file_name, "tool-kit.zip");
    assert_eq!(export(skill).unwrap().bytes, packed.bytes);
    let mut archive = ZipArchive::new(Cursor::new(&packed.bytes)).unwrap();
    let names: BTreeSet<String> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
    let expected = ["tool-kit/SKILL.md", "tool-kit/notes/a.md", "tool-kit/scripts/run.sh"];
    assert_eq!(names, expected.map(str::to_owned).into());
    let mut text = String::new();
    archive.by_name("tool-kit/SKILL.md").unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "---\nname: tool-kit\ndescription: Has files\n---\n\nDo tool-kit.\n");
    #[cfg(unix)]
    {
        assert_eq!(archive.by_name("tool-kit/scripts/run.sh").unwrap().unix_mode(), Some(0o100_755));
        assert_eq!(keys(&packed.remarks), ["skills.warning.link_left_out"]);
    }

    let file = world.person.join(&packed.file_name);
    put(&file, &packed.bytes);
    let inspection = inspect(InstallSource::Zip(&file), &world.in_project(), &catalogue).unwrap();
    let installed = install(&inspection.skills[0], &world.in_project(), OnConflict::Refuse).unwrap();
    assert_eq!(fs::read_to_string(installed.folder.join("scripts/run.sh")).unwrap(), "#!/bin/sh\necho hi\n");
    let reinstalled = world.trusting();
    assert_eq!(reinstalled.get("tool-kit").unwrap().fields, skill.fields);
}

#[test]
fn an_unreadable_skill_is_not_exported() {
    let world = World::new();
    put(world.user().join("broken/SKILL.md"), "---\nname: broken\n---\n");
    let catalogue = world.trusting();
    assert!(matches!(export(catalogue.get("broken").unwrap()), Err(ExportError::Broken)));
}

#[test]
fn validation_names_each_rule_that_is_broken() {
    let folder = tempfile::tempdir().unwrap();
    let found = |name: &str, text: &str, rules: ValidationRules| {
        let path = folder.path().join(name);
        let _none_yet = fs::remove_dir_all(&path);
        put(path.join("SKILL.md"), text);
        let findings =
            validate(&path, rules).into_iter().filter(|finding| finding.level == FindingLevel::Fault);
        findings.map(|finding| finding.warning.key).collect::<Vec<_>>()
    };
    let valid = "---\nname: good\ndescription: d\n---\nDo it.";
    assert_eq!(found("good", valid, ValidationRules::Public), [""; 0]);
    assert_eq!(found("other", valid, ValidationRules::Public), ["skills.finding.name_is_not_folder"]);
    let octo_specific =
        "---\nname: own\ndescription: d\nfork_agent: true\nallowed-tools: [Read]\n---\nDo it.";
    assert_eq!(found("own", octo_specific, ValidationRules::Octo), [""; 0]);
    assert_eq!(
        found("own", octo_specific, ValidationRules::Public),
        ["skills.finding.tools_list", "skills.finding.key"]
    );
    let table = [
        ("---\ndescription: d\n---\nb", vec!["skills.finding.missing"]),
        ("---\nname: x\n---\nb", vec!["skills.finding.missing"]),
        ("---\nname: x\ndescription: a <b>\n---\nb", vec!["skills.finding.brackets"]),
        ("---\nname: x\ndescription: d\nversion: 1\n---\nb", vec!["skills.finding.key"]),
        ("---\nname: x\ndescription: d\nmetadata: [a]\n---\nb", vec!["skills.warning.no_map"]),
        ("---\nname: x\ndescription: d\nmetadata: {a: {b: c}}\n---\nb", vec!["skills.warning.no_map"]),
        ("---\nname: x\ndescription: [d]\n---\nb", vec!["skills.warning.no_text"]),
        ("---\nname: x\ndescription: d\n---\n", vec!["skills.error.empty"]),
        (
            "---\nname: X_y\ndescription: d\n---\nb",
            vec!["skills.finding.name", "skills.finding.name_is_not_folder"],
        ),
    ];
    for (text, expected) in table {
        assert_eq!(found("x", text, ValidationRules::Octo), expected, "{text}");
    }
    let too_long = format!(
        "---\nname: x\ndescription: {}\ncompatibility: {}\n---\nb",
        "d".repeat(1_025),
        "c".repeat(501)
    );
    assert_eq!(found("x", &too_long, ValidationRules::Public), ["skills.finding.long"; 2]);
    let body = format!("---\nname: x\ndescription: d\n---\n{}", "line\n".repeat(501));
    assert_eq!(found("x", &body, ValidationRules::Public), [""; 0], "only advice");
    fs::remove_dir_all(folder.path().join("x")).unwrap();
    fs::create_dir_all(folder.path().join("x")).unwrap();
    assert_eq!(
        validate(&folder.path().join("x"), ValidationRules::Public)[0].warning.key,
        "skills.error.no_skill_file"
    );
    assert_eq!(
        validate(&folder.path().join("nowhere"), ValidationRules::Public)[0].warning.key,
        "skills.error.unreadable"
    );
}
