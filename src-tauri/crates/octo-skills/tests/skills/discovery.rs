//! Where skills are found, and which of several with one name is used.

use crate::world::{World, keys, names, put, skill};
use octo_protocol::SkillOrigin;
use octo_skills::{
    CallRefusal, FolderReading, ForeignFolders, SkillCallOrigin, SkillUsage, Trust, discover, fingerprint,
};
use std::{cell::RefCell, fs};

#[test]
fn higher_roots_win_and_shadowed_skills_are_listed() {
    let world = World::new();
    for root in [&world.bundled, &world.user(), &world.in_project()] {
        skill(root, "notes", "Takes notes");
    }
    skill(&world.bundled, "help", "Helps");
    let catalogue = world.trusting();
    assert_eq!(names(catalogue.skills()), ["help", "notes"]);
    let notes = catalogue.get("notes").unwrap();
    assert_eq!(notes.source, SkillOrigin::Project);
    assert_eq!(keys(&notes.warnings), ["skills.warning.shadows_bundled"]);
    let shadowed: Vec<_> = catalogue
        .shadowed()
        .iter()
        .map(|skill| (skill.source, skill.shadowed_by.as_ref().unwrap().source))
        .collect();
    assert_eq!(
        shadowed,
        [(SkillOrigin::User, SkillOrigin::Project), (SkillOrigin::Bundled, SkillOrigin::Project)]
    );
    assert!(catalogue.problems().is_empty());
}

#[test]
fn an_untrusted_skill_shadows_nothing_and_is_not_listed_to_models() {
    let world = World::new();
    skill(&world.bundled, "recall", "Recalls");
    skill(&world.in_project(), "recall", "Recalls, and sends it away");
    skill(&world.in_project(), "deploy", "Deploys");
    let wary = world.wary();
    assert_eq!(wary.get("recall").unwrap().source, SkillOrigin::Bundled);
    assert_eq!(keys(&wary.get("recall").unwrap().warnings), [""; 0]);
    assert_eq!(keys(&wary.shadowed()[0].warnings), ["skills.warning.would_shadow"]);
    let names: Vec<&str> = wary.for_model("general").iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(names, ["recall"]);
    let menu: Vec<&str> = wary.for_menu("general").map(|skill| skill.name.as_str()).collect();
    assert_eq!(menu, ["deploy", "recall"], "the person sees it, to accept it");
    for caller in [SkillCallOrigin::Person, SkillCallOrigin::Model] {
        let refusal = wary.call("deploy", "general", caller).unwrap_err();
        assert_eq!(refusal, CallRefusal::Untrusted { name: "deploy".into() });
    }
    assert!(world.trusting().call("deploy", "general", SkillCallOrigin::Model).is_ok());
}

#[test]
fn only_project_skills_need_trust_by_their_content() {
    let world = World::new();
    skill(&world.bundled, "one", "d");
    skill(&world.user(), "two", "d");
    let folder = skill(&world.in_project(), "three", "d");
    let queried = RefCell::new(Vec::new());
    let catalogue = discover(&world.roots(), &|skill| {
        queried.borrow_mut().push((skill.name.clone(), skill.fingerprint));
        Trust::Trusted
    });
    assert_eq!(*queried.borrow(), [("three".to_owned(), fingerprint(&folder))]);
    assert!(catalogue.skills().iter().all(|skill| skill.trust == Trust::Trusted));

    let before = fingerprint(&folder).unwrap();
    assert_eq!(fingerprint(&folder), Some(before));
    put(folder.join("scripts/a.sh"), "echo a");
    let with_script = fingerprint(&folder).unwrap();
    assert_ne!(with_script, before);
    put(folder.join("scripts/a.sh"), "echo b");
    assert_ne!(fingerprint(&folder).unwrap(), with_script);
    put(folder.join("scripts/a.sh"), "echo a");
    assert_eq!(fingerprint(&folder).unwrap(), with_script);
    fs::rename(folder.join("scripts/a.sh"), folder.join("scripts/b.sh")).unwrap();
    assert_ne!(fingerprint(&folder).unwrap(), with_script);
    fs::rename(folder.join("scripts/b.sh"), folder.join("scripts/a.sh")).unwrap();
    put(folder.join(".git/hook"), "hidden");
    assert_ne!(fingerprint(&folder).unwrap(), with_script, "what is hidden counts too");
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt, symlink};
        fs::remove_dir_all(folder.join(".git")).unwrap();
        fs::set_permissions(folder.join("scripts/a.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        let executable = fingerprint(&folder).unwrap();
        assert_ne!(executable, with_script, "so does that it can be run");
        symlink("/etc", folder.join("link")).unwrap();
        let linked = fingerprint(&folder).unwrap();
        fs::remove_file(folder.join("link")).unwrap();
        symlink("/usr", folder.join("link")).unwrap();
        assert_ne!(fingerprint(&folder).unwrap(), linked, "and where a link leads");
    }
}

#[test]
fn skills_too_large_to_hash_are_never_trusted() {
    let world = World::new();
    let folder = skill(&world.in_project(), "large", "d");
    // A sparse file: large, without using disk space.
    fs::File::create(folder.join("data.bin")).unwrap().set_len(51 << 20).unwrap();
    let catalogue = world.trusting();
    let large = catalogue.get("large").unwrap();
    assert_eq!((large.trust, large.fingerprint), (Trust::Untrusted, None));
    assert_eq!(keys(&large.warnings), ["skills.warning.too_big_to_accept"]);
    assert!(catalogue.call("large", "general", SkillCallOrigin::Person).is_err());
}

#[test]
fn settings_override_the_file() {
    let world = World::new();
    for name in ["full", "request", "off"] {
        skill(&world.user(), name, "d");
    }
    let mut catalogue = world.trusting();
    catalogue.set_usage(&|skill| match skill.name.as_str() {
        "request" => SkillUsage::OnRequest,
        "off" => SkillUsage::Off,
        _ => SkillUsage::Full,
    });
    let known_names: Vec<&str> =
        catalogue.for_model("general").iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(known_names, ["full"]);
    let menu: Vec<&str> = catalogue.for_menu("general").map(|skill| skill.name.as_str()).collect();
    assert_eq!(menu, ["full", "request"]);
    assert!(catalogue.call("request", "general", SkillCallOrigin::Model).is_ok());
    let refusal = catalogue.call("off", "general", SkillCallOrigin::Person).unwrap_err();
    assert_eq!(refusal, CallRefusal::Off { name: "off".into() });
    assert!(!catalogue.similar_names("of").contains(&"off"));
    let known_names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let unknown: Vec<&str> = catalogue
        .unknown_to_model("general", &known_names(&["other"]))
        .iter()
        .map(|skill| skill.name.as_str())
        .collect();
    assert_eq!(unknown, ["full"]);
    assert!(catalogue.unknown_to_model("general", &known_names(&["full"])).is_empty());
}

#[test]
fn folders_hold_skills_or_categories_of_them_and_order_is_by_name() {
    let world = World::new();
    for name in ["zeta", "alpha", "work/review", "work/deploy", "deep/er/lost", ".hidden", "node_modules"] {
        skill(&world.user(), name, "d");
    }
    // The name inside the file counts, not the folder's.
    put(world.user().join("folder/SKILL.md"), "---\nname: inside\n---\nDo it.");
    put(world.user().join("lower/skill.md"), "Do it.");
    put(world.user().join("README.md"), "Not a skill.");
    fs::create_dir_all(world.user().join("empty")).unwrap();
    let catalogue = world.trusting();
    // `work/review` names itself with an invalid name, so the folder's name is used.
    assert_eq!(names(catalogue.skills()), ["alpha", "deploy", "inside", "lower", "review", "zeta"]);
    assert_eq!(catalogue.get("review").unwrap().category.as_deref(), Some("work"));
    assert_eq!(catalogue.get("alpha").unwrap().category, None);
    assert_eq!(keys(&catalogue.get("lower").unwrap().warnings), ["skills.warning.file_name"]);
    assert_eq!(catalogue, world.trusting(), "the same folders, the same catalogue");
}

#[test]
fn the_first_of_two_skills_in_one_root_wins() {
    let world = World::new();
    for folder in ["b", "a"] {
        put(world.user().join(folder).join("SKILL.md"), "---\nname: same\n---\nDo it.");
    }
    let catalogue = world.trusting();
    assert!(catalogue.get("same").unwrap().folder.ends_with("a"));
    assert_eq!(keys(&catalogue.shadowed()[0].warnings).last(), Some(&"skills.warning.same_name"));
}

#[test]
fn other_programs_folders_are_optional_and_rank_lower() {
    let world = World::new();
    for (root, name) in [
        (world.person.join(".claude/skills"), "one"),
        (world.person.join(".agents/skills"), "one"),
        (world.project.join(".claude/skills"), "two"),
        (world.project.join(".agents/skills"), "two"),
        (world.project.join(".agents/skills"), "three"),
        (world.in_project(), "three"),
    ] {
        skill(&root, name, "d");
    }
    assert_eq!(names(world.trusting().skills()), ["three"]);
    let found = |foreign: ForeignFolders| {
        let roots = world.roots().with_foreign(foreign, Some(&world.person), Some(&world.project));
        let catalogue = discover(&roots, &|_| Trust::Trusted);
        catalogue.skills().iter().map(|skill| (skill.name.clone(), skill.source)).collect::<Vec<_>>()
    };
    let with_foreign = found(ForeignFolders { claude: FolderReading::On, agents: FolderReading::On });
    assert_eq!(
        with_foreign,
        [
            ("one".to_owned(), SkillOrigin::UserClaude),
            ("three".to_owned(), SkillOrigin::Project),
            ("two".to_owned(), SkillOrigin::ProjectClaude)
        ]
    );
    let agents = found(ForeignFolders { agents: FolderReading::On, ..ForeignFolders::default() });
    assert_eq!(agents[0].1, SkillOrigin::UserAgents);
    assert!(SkillOrigin::User.is_writable() && !SkillOrigin::ProjectClaude.is_writable());
}

#[test]
fn a_session_in_the_home_folder_reads_it_once_as_the_persons() {
    let world = World::new();
    skill(&world.user(), "mine", "d");
    let roots = octo_skills::Roots::new(None, &world.home).with_project(&world.person);
    let catalogue = discover(&roots, &|_| Trust::Untrusted);
    assert_eq!(catalogue.skills().len(), 1);
    assert_eq!(catalogue.skills()[0].source, SkillOrigin::User);
    assert_eq!((catalogue.skills()[0].trust, catalogue.shadowed().len()), (Trust::Trusted, 0));
}

#[test]
fn who_may_call_what() {
    let world = World::new();
    let write = |name: &str, more: &str| {
        put(world.user().join(name).join("SKILL.md"), format!("---\nname: {name}\n{more}\n---\nDo it."));
    };
    write("both", "description: d");
    write("slash", "disable-model-invocation: true");
    write("model", "user-invocable: false");
    write("neither", "disable-model-invocation: true\nuser-invocable: false");
    write("coding-only", "agent: coding");
    put(world.user().join("broken/SKILL.md"), "---\nname: broken\n---\n");
    let catalogue = world.trusting();
    let names: Vec<&str> = catalogue.for_model("general").iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(names, ["both", "model"]);
    let menu: Vec<&str> = catalogue.for_menu("general").map(|skill| skill.name.as_str()).collect();
    assert_eq!(menu, ["both", "slash"]);
    assert_eq!(catalogue.for_menu("coding").count(), 3);
    let table = [
        ("both", true, true),
        ("slash", true, true),
        ("model", false, true),
        ("neither", false, true),
        ("coding-only", false, false),
        ("broken", false, false),
        ("nothing", false, false),
    ];
    for (name, person, model) in table {
        assert_eq!(catalogue.call(name, "general", SkillCallOrigin::Person).is_ok(), person, "{name}");
        assert_eq!(catalogue.call(name, "general", SkillCallOrigin::Model).is_ok(), model, "{name}");
    }
    let refusal = catalogue.call("bth", "general", SkillCallOrigin::Person).unwrap_err();
    assert_eq!(refusal, CallRefusal::Unknown { name: "bth".into(), similar: vec!["both".into()] });
}

#[test]
fn sixty_skills_are_found_and_too_many_reported() {
    let world = World::new();
    for number in 0..60 {
        skill(&world.in_project(), &format!("skill-{number:03}"), "d");
    }
    assert_eq!(world.trusting().skills().len(), 60);
    for number in 0..520 {
        skill(&world.user(), &format!("user-{number:03}"), "d");
    }
    let catalogue = world.trusting();
    assert_eq!(catalogue.skills().len(), 560);
    assert_eq!(keys(catalogue.problems()), ["skills.error.too_many"]);
    assert!(catalogue.get("user-499").is_some() && catalogue.get("user-500").is_none());
}
