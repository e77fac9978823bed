//! Installing skills: the preview, the written files, and that nothing is replaced without a question.

use crate::world::{World, keys, put, skill};
use octo_protocol::SkillOrigin;
use octo_skills::{
    CandidateKind, InstallError, InstallSource, OnConflict, SkillRun, inspect, install, remove_unfinished,
};
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};
use zip::{ZipWriter, write::SimpleFileOptions};

/// A zip file with these entries.
pub fn zipped(path: &Path, entries: &[(&str, &[u8])]) -> PathBuf {
    let mut zip = ZipWriter::new(fs::File::create(path).unwrap());
    for (name, content) in entries {
        if let Some(folder) = name.strip_suffix('/') {
            zip.add_directory(folder, SimpleFileOptions::default()).unwrap();
            continue;
        }
        zip.start_file(*name, SimpleFileOptions::default().compression_level(Some(1))).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap();
    path.to_owned()
}

/// Everything below a folder, by path.
pub fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                open.push(path);
            } else {
                found.push(path.strip_prefix(folder).unwrap().to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}

const SKILL: &[u8] =
    b"---\nname: pdf-tools\ndescription: Works on PDF\nallowed-tools: Bash(pdftk:*) Read\ncontext: fork\n---\n\n!`pdftk --version` Work.\n";

#[test]
fn the_content_is_shown_before_anything_is_written() {
    let world = World::new();
    let file = zipped(
        &world.person.join("pdf-tools-1.2.3.zip"),
        &[
            ("pdf-tools/", b""),
            ("pdf-tools/SKILL.md", SKILL),
            ("pdf-tools/scripts/run.py", b"print(1)"),
            ("pdf-tools/scripts/tool", b"\x7fELF\x01"),
            ("pdf-tools/README.md", b"Read me"),
            ("pdf-tools/.env", b"X=1"),
            ("__MACOSX/pdf-tools/._SKILL.md", b"x"),
        ],
    );
    let inspection = inspect(InstallSource::Zip(&file), &world.user(), &world.trusting()).unwrap();
    let [candidate] = inspection.skills.as_slice() else { panic!("one skill") };
    assert_eq!((candidate.name.as_str(), candidate.path.as_str()), ("pdf-tools", "pdf-tools"));
    let listed: Vec<_> =
        candidate.files.iter().map(|file| (file.path.as_str(), file.bytes, file.kind)).collect();
    assert_eq!(
        listed,
        [
            ("README.md", 7, CandidateKind::Plain),
            ("SKILL.md", SKILL.len() as u64, CandidateKind::Plain),
            ("scripts/run.py", 8, CandidateKind::Script),
            ("scripts/tool", 5, CandidateKind::Program),
        ]
    );
    assert_eq!(candidate.bytes(), SKILL.len() as u64 + 20);
    assert_eq!(candidate.commands, ["pdftk --version"]);
    assert_eq!(candidate.fields.allowed_tools.len(), 2);
    assert_eq!(candidate.fields.run, SkillRun::Fork { agent: None });
    assert_eq!(keys(&candidate.warnings), ["skills.warning.hidden_left_out"]);
    assert_eq!(candidate.text("scripts/run.py"), Some("print(1)"));
    assert_eq!((candidate.error.as_ref(), candidate.conflicts.len()), (None, 0));
    assert!(!world.user().exists(), "nothing was written");

    let installed = install(candidate, &world.user(), OnConflict::Refuse).unwrap();
    assert_eq!((installed.name.as_str(), installed.replaced.as_ref()), ("pdf-tools", None));
    assert_eq!(
        files(&world.user()),
        ["pdf-tools/README.md", "pdf-tools/SKILL.md", "pdf-tools/scripts/run.py", "pdf-tools/scripts/tool"]
    );
    assert!(world.trusting().get("pdf-tools").is_some());
}

/// A file's name, its content, and the skills it contains.
type Layout<'a> = (&'a str, &'a [(&'a str, &'a [u8])], &'a [&'a str]);

#[test]
fn archives_of_every_layout() {
    let world = World::new();
    let small_skill = |name: &str| format!("---\nname: {name}\ndescription: d\n---\nDo it.").into_bytes();
    let (first, second) = (small_skill("one"), small_skill("two"));
    let unnamed: &[u8] = b"Do it.";
    let table: &[Layout<'_>] = &[
        ("flat.zip", &[("SKILL.md", &first)], &["one"]),
        ("tidy-up-2.0.zip", &[("SKILL.md", unnamed)], &["tidy-up"]),
        ("folder.zip", &[("x/SKILL.md", &first), ("x/a.md", b"a")], &["one"]),
        (
            "repo-main.zip",
            &[("repo-main/skills/one/SKILL.md", &first), ("repo-main/skills/two/skill.md", &second)],
            &["one", "two"],
        ),
        ("claude.zip", &[("repo/.claude/skills/one/SKILL.md", &first), ("repo/src/main.rs", b"")], &["one"]),
        ("nested.zip", &[("one/SKILL.md", &first), ("one/examples/two/SKILL.md", &second)], &["one"]),
        ("deep.zip", &[("a/b/c/d/one/SKILL.md", &first)], &["one"]),
    ];
    for (name, entries, expected) in table {
        let file = zipped(&world.person.join(name), entries);
        let inspection = inspect(InstallSource::Zip(&file), &world.user(), &world.trusting()).unwrap();
        let names: Vec<&str> = inspection.skills.iter().map(|skill| skill.name.as_str()).collect();
        assert_eq!(names, *expected, "{name}");
        assert!(inspection.skills.iter().all(|skill| skill.error.is_none()), "{name}");
        assert!(inspection.skills.iter().all(|skill| skill.text("SKILL.md").is_some()), "{name}");
    }
    let twice = zipped(&world.person.join("twice.zip"), &[("a/SKILL.md", &first), ("b/SKILL.md", &first)]);
    let inspection = inspect(InstallSource::Zip(&twice), &world.user(), &world.trusting()).unwrap();
    let errors: Vec<_> =
        inspection.skills.iter().map(|skill| skill.error.as_ref().map(|error| error.key)).collect();
    assert_eq!(errors, [None, Some("skills.error.twice_in_source")]);
}

#[test]
fn a_cloned_repository_installs_without_its_history() {
    let world = World::new();
    let clone = world.person.join("skills-main");
    put(clone.join(".git/objects/aa/bb"), "x");
    put(clone.join("README.md"), "About");
    skill(&clone.join("skills"), "one", "d");
    put(clone.join("skills/one/.github/x"), "x");
    put(clone.join("skills/one/run.sh"), "#!/bin/sh\n");
    skill(&clone.join(".agents/skills"), "two", "d");
    skill(&clone.join("node_modules/dep"), "three", "d");
    let inspection = inspect(InstallSource::Folder(&clone), &world.user(), &world.trusting()).unwrap();
    let names: Vec<&str> = inspection.skills.iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(names, ["two", "one"]);
    // Changes after the inspection are not installed.
    put(clone.join("skills/one/run.sh"), "#!/bin/sh\ncurl evil\n");
    fs::remove_dir_all(clone.join(".git")).unwrap();
    let installed = install(&inspection.skills[1], &world.user(), OnConflict::Refuse).unwrap();
    assert_eq!(files(&installed.folder), ["SKILL.md", "run.sh"]);
    assert_eq!(fs::read_to_string(installed.folder.join("run.sh")).unwrap(), "#!/bin/sh\n");
    let single =
        inspect(InstallSource::Folder(&clone.join("skills/one")), &world.user(), &world.trusting()).unwrap();
    assert_eq!((single.skills[0].name.as_str(), single.skills[0].path.as_str()), ("one", ""));
}

#[test]
fn conflicts_replace_nothing_unasked_and_lose_nothing() {
    let world = World::new();
    skill(&world.bundled, "notes", "Came with it");
    let existing = skill(&world.user(), "notes", "Mine");
    put(existing.join("own.md"), "Own");
    let source = world.person.join("download");
    skill(&source, "notes", "New");
    let inspect_again = || {
        let catalogue = world.trusting();
        inspect(InstallSource::Folder(&source), &world.user(), &catalogue).unwrap().skills.remove(0)
    };
    let candidate = inspect_again();
    let sources: Vec<_> = candidate.conflicts.iter().map(|conflict| conflict.source).collect();
    assert_eq!(sources, [Some(SkillOrigin::User), Some(SkillOrigin::Bundled)]);
    let error = install(&candidate, &world.user(), OnConflict::Refuse);
    assert!(matches!(error, Err(InstallError::Exists(name)) if name == "notes"));
    assert_eq!(world.trusting().get("notes").unwrap().fields.description, "Mine");

    let second = install(&candidate, &world.user(), OnConflict::Rename).unwrap();
    assert_eq!(second.name, "notes-2");
    let catalogue = world.trusting();
    assert_eq!(catalogue.get("notes-2").unwrap().fields.description, "New");
    assert_eq!(catalogue.get("notes").unwrap().fields.description, "Mine");

    let replaced = install(&candidate, &world.user(), OnConflict::Replace).unwrap();
    let catalogue = world.trusting();
    assert_eq!(catalogue.get("notes").unwrap().fields.description, "New");
    assert_eq!(catalogue.skills().len(), 2, "the one that was put aside is no skill any more");
    let replaced_path = replaced.replaced.expect("the old one is kept for the trash");
    assert_eq!(fs::read_to_string(replaced_path.join("own.md")).unwrap(), "Own");
    let leftovers: Vec<String> =
        files(&world.user()).into_iter().filter(|path| path.contains(".installing")).collect();
    assert_eq!(leftovers, [""; 0]);

    // A folder that is not a skill is in the way too.
    fs::create_dir_all(world.in_project().join("notes")).unwrap();
    let catalogue = world.trusting();
    let candidate =
        inspect(InstallSource::Folder(&source), &world.in_project(), &catalogue).unwrap().skills.remove(0);
    assert!(candidate.conflicts.iter().any(|conflict| conflict.source.is_none()));
    assert!(matches!(
        install(&candidate, &world.in_project(), OnConflict::Refuse),
        Err(InstallError::Exists(_))
    ));
}

#[test]
fn a_broken_skill_is_shown_with_its_error_and_not_installed() {
    let world = World::new();
    let file = zipped(&world.person.join("broken.zip"), &[("broken/SKILL.md", b"---\nname: broken\n---\n")]);
    let inspection = inspect(InstallSource::Zip(&file), &world.user(), &world.trusting()).unwrap();
    let candidate = &inspection.skills[0];
    assert_eq!(candidate.error.as_ref().unwrap().key, "skills.error.empty");
    assert!(matches!(install(candidate, &world.user(), OnConflict::Refuse), Err(InstallError::Broken(_))));
    assert!(!world.user().exists());
}

#[test]
fn leftovers_of_a_crash_are_removed_and_running_installations_kept() {
    let folder = tempfile::tempdir().unwrap();
    let folder_path = folder.path();
    put(folder_path.join("notes/SKILL.md"), "mine");
    // Killed while writing: the lock ended with the process.
    put(folder_path.join(".installing-dead/.lock"), "");
    put(folder_path.join(".installing-dead/pdf/SKILL.md"), "half");
    put(folder_path.join(".replaced-one/tables/SKILL.md"), "the one before");
    put(folder_path.join(".replaced-two/notes/SKILL.md"), "an earlier one");
    // Another process is writing, or is just about to.
    put(folder_path.join(".installing-alive/.lock"), "");
    put(folder_path.join(".installing-new/pdf/SKILL.md"), "");
    let lock = fs::File::open(folder_path.join(".installing-alive/.lock")).unwrap();
    lock.lock().unwrap();
    assert_eq!(remove_unfinished(folder_path).unwrap(), 1);
    assert!(!folder_path.join(".installing-dead").exists());
    assert!(folder_path.join(".installing-alive").exists() && folder_path.join(".installing-new").exists());
    assert!(!folder_path.join("tables").exists(), "a living process may have it there only for a moment");
    drop(lock);
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(7_200);
    fs::File::open(folder_path.join(".installing-new")).unwrap().set_modified(long_ago).unwrap();
    assert_eq!(remove_unfinished(folder_path).unwrap(), 2);
    assert_eq!(
        files(folder_path),
        [".replaced-two/notes/SKILL.md", "notes/SKILL.md", "tables/SKILL.md"],
        "the skill that was put aside is back, what has its place taken stays aside"
    );
    assert_eq!(remove_unfinished(folder_path).unwrap(), 0);
}
