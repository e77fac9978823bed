//! Files and plans.

use super::*;
use octo_protocol::{TimeUnit, Timing, Weekday};
use proptest::prelude::*;

/// One model, `opus`.
struct OneModel(ModelId);

impl ModelNames for OneModel {
    fn find(&self, name: &str) -> Option<ModelId> {
        name.eq_ignore_ascii_case("opus").then_some(self.0)
    }

    fn name(&self, id: ModelId) -> Option<String> {
        (id == self.0).then(|| "opus".to_owned())
    }
}

fn files() -> (tempfile::TempDir, TaskFiles, OneModel) {
    let home = tempfile::tempdir().unwrap();
    let files = TaskFiles::in_home(home.path());
    std::fs::create_dir(files.folder()).unwrap();
    (home, files, OneModel(ModelId::new()))
}

fn plan(models: &OneModel) -> TaskPlan {
    TaskPlan {
        name: "Morning brief: what's new".to_owned(),
        prompt: "# Look\n\n- mail\n- calendar\n---\nthen write brief.md".to_owned(),
        when: Timing::Weekly {
            days: vec![Weekday::Monday, Weekday::Friday],
            times: vec!["08:30".to_owned()],
        },
        zone: "Europe/Berlin".to_owned(),
        folder: "/home/me/notes # 1".to_owned(),
        profile: Profile::CODING,
        mode: Mode::AskRisky,
        model: Some(models.0),
        budget: Some(Cost::from_nano_dollars(1_050_000_000)),
        minutes: 45,
        retry: TaskRetry { times: 2, minutes: 15 },
        missed: MissedRun::Ask,
        tell: TaskNotifications::All,
    }
}

#[test]
fn a_plan_is_written_readably_and_reads_back() {
    let (_home, files, models) = files();
    let plan = plan(&models);
    let text = text(&plan, None, &models);
    let expected = "---\nname: \"Morning brief: what's new\"\nwhen: mon, fri at 08:30\nzone: Europe/Berlin\n\
        folder: \"/home/me/notes # 1\"\nprofile: coding\nmode: ask_risky\nmodel: opus\nbudget: 1.05\nminutes: 45\n\
        retry: 2 times after 15 minutes\nmissed: ask\ntell: all\n---\n\n# Look\n\n- mail\n- calendar\n---\nthen write brief.md\n";
    // Which values are quoted does not matter.
    assert_eq!(text.replace('"', ""), expected.replace('"', ""));
    files.write("brief", &text).unwrap();
    let stored = files.get("brief", &models).unwrap();
    assert_eq!(stored.plan, Ok(plan));
    assert_eq!(stored.version, version(text.as_bytes()));
    assert_eq!(files.list(&models), [stored]);
}

#[test]
fn missing_keys_have_safe_defaults_and_unknown_keys_are_kept() {
    let (_home, files, models) = files();
    let by_hand =
        "\u{feff}---\r\nfolder: /tmp\r\ncolour: blue\r\nwhen: Daily at 8:00\r\n---\r\n\r\nTidy up.\r\n";
    std::fs::write(files.folder().join("tidy.md"), by_hand).unwrap();
    let stored = files.get("tidy", &models).unwrap();
    let plan = stored.plan.unwrap();
    assert_eq!((plan.name.as_str(), plan.prompt.as_str(), plan.mode), ("tidy", "Tidy up.", Mode::Ask));
    assert_eq!((plan.minutes, plan.model, plan.budget), (DEFAULT_MINUTES, None, None));
    assert_eq!(plan.zone, crate::own_zone());
    let rewritten = text(&plan, Some(&stored.text), &models);
    assert!(rewritten.contains("colour: blue"), "{rewritten}");
    assert_eq!(super::parse(&rewritten, "tidy", &models), Ok(plan));
}

#[test]
fn a_task_with_an_unknown_model_cannot_start() {
    let (_home, files, models) = files();
    for file in ["one", "two"] {
        let text =
            format!("---\nfolder: /tmp\nmodel: {}\n---\nx", if file == "one" { "gone" } else { "lost" });
        std::fs::write(files.folder().join(format!("{file}.md")), text).unwrap();
    }
    let model = |file: &str| files.get(file, &models).unwrap().plan.unwrap().model.unwrap();
    assert_eq!(model("one"), model("one"));
    assert!(model("one") != model("two") && models.name(model("one")).is_none());
}

#[test]
fn an_invalid_file_is_reported_and_left_unchanged() {
    let (home, files, models) = files();
    let head = "---\nfolder: /tmp\n";
    let cases = [
        ("no-prompt", format!("{head}---\n"), "task.prompt_empty"),
        ("no-folder", "Only words.".to_owned(), "task.line_missing"),
        ("when", format!("{head}when: now and then\n---\nx"), "task.line"),
        ("mode", format!("{head}mode: yolo\n---\nx"), "task.line"),
        ("list", format!("{head}when: [a, b]\n---\nx"), "task.line"),
        ("budget", format!("{head}budget: -1\n---\nx"), "task.line"),
        ("profile", format!("{head}profile: ../x\n---\nx"), "task.line"),
        ("minutes", format!("{head}minutes: 0\n---\nx"), "task.minutes"),
        ("retry", format!("{head}retry: 99 times\n---\nx"), "task.retry_times"),
        ("zone", format!("{head}zone: Mars/Olympus\n---\nx"), "task.zone"),
        ("often", format!("{head}when: every 1 minutes\n---\nx"), "task.too_often"),
    ];
    for (file, text, key) in &cases {
        let path = files.folder().join(format!("{file}.md"));
        std::fs::write(&path, text).unwrap();
        let stored = files.get(file, &models).unwrap();
        assert_eq!(stored.plan.unwrap_err().key, *key, "{file}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), *text);
    }
    std::fs::write(files.folder().join("bytes.md"), b"\xff\xfe").unwrap();
    std::fs::write(files.folder().join("huge.md"), "x".repeat(200_000)).unwrap();
    std::fs::create_dir(files.folder().join("folder.md")).unwrap();
    #[cfg(unix)]
    {
        std::fs::write(home.path().join("secret"), "---\nfolder: /tmp\n---\nsecret").unwrap();
        std::os::unix::fs::symlink(home.path().join("secret"), files.folder().join("link.md")).unwrap();
        assert_eq!(files.get("link", &models).unwrap().plan.unwrap_err().key, "task.unreadable");
    }
    for file in ["bytes", "huge", "folder"] {
        let stored = files.get(file, &models).unwrap();
        assert_eq!(
            (stored.plan.unwrap_err().key.as_str(), stored.text.as_str()),
            ("task.unreadable", ""),
            "{file}"
        );
    }
    drop(home);
}

#[test]
fn no_name_leads_out_of_the_folder() {
    let (_home, files, models) = files();
    let too_long = "a".repeat(TASK_FILE_MAX_BYTES + 1);
    for name in
        ["", "..", "../x", "a/b", "a\\b", "A", ".hidden", "-a", "a.b", "con", "ä", "a\0", too_long.as_str()]
    {
        assert_eq!(files.path(name).unwrap_err().key, "task.name", "{name:?}");
        assert_eq!(files.get(name, &models).unwrap_err().key, "task.name", "{name:?}");
        assert_eq!(files.write(name, "x").unwrap_err().key, "task.name", "{name:?}");
    }
    assert_eq!(files.get("nothing", &models).unwrap_err().key, "task.missing");
}

#[test]
fn new_files_get_unique_names_after_their_task() {
    let (_home, files, _models) = files();
    let cases = [("Morning brief!", "morning-brief"), ("../../etc/passwd", "etc-passwd"), ("  A  b ", "a-b")];
    for (task, file) in cases {
        assert_eq!(files.free_name(task), file);
    }
    files.write("morning-brief", "x").unwrap();
    assert_eq!(files.free_name("Morning brief"), "morning-brief-2");
    assert_ne!(files.free_name("早报"), files.free_name("晚报"));
    assert_ne!(files.free_name("con"), "con");
}

proptest! {
    #[test]
    fn every_name_gives_a_file_in_the_folder(task in "\\PC{0,120}") {
        prop_assert!(is_file_name(&slug(&task)), "{}", slug(&task));
    }

    #[test]
    fn amounts_read_back(nano in any::<u64>()) {
        let cost = Cost::from_nano_dollars(nano);
        prop_assert_eq!(parse_dollars(&format_dollars(cost)), Some(cost));
    }

    #[test]
    fn any_plan_reads_back_from_its_file(
        name in "[^\\s\\p{C}][^\\p{C}\u{2028}\u{2029}]{0,60}[^\\s\\p{C}]",
        prompt in "[a-zA-Z#*-][ -~\n\u{4e00}-\u{4e10}]{0,200}[a-zA-Z.]",
        count in 1..500u32,
        minutes in 1..1_000u32,
        retry in (1..6u32, 1..600u32),
        known in any::<bool>(),
        nano in prop::option::of(1..u64::MAX),
    ) {
        let models = OneModel(ModelId::new());
        let plan = TaskPlan {
            name: name.split_whitespace().collect::<Vec<_>>().join(" "),
            prompt,
            when: Timing::Every { count, unit: TimeUnit::Days, from: "07:00".to_owned(), until: None },
            model: known.then_some(models.0),
            minutes,
            retry: TaskRetry { times: retry.0, minutes: retry.1 },
            budget: nano.map(Cost::from_nano_dollars),
            ..plan(&models)
        };
        let text = text(&plan, None, &models);
        prop_assert_eq!(super::parse(&text, "x", &models), Ok(plan));
    }
}
