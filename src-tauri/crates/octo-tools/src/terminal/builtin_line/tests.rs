//! Tests which lines are answered, their meaning, and their effects for the permission decision.

use crate::{
    BrowserQuery, BuiltinCommand, BuiltinCommandEffect, Effects, MemoryCommand, PersonaCommand,
    SettingsQuery, SkillCommand, SkillSourceRef, TaskCommand, TaskFields,
    testing::{Bench, RecordingCommands},
};
use octo_protocol::{CommandState, LibraryChange, PersonaKind, SettingsPage, Switch, ToolView};
use serde_json::json;
use std::{os::unix::fs::PermissionsExt, path::PathBuf};

struct Counter {
    bench: Bench,
    commands: RecordingCommands,
}

impl Counter {
    /// Creates a session with a program of the same name in its path, which leaves a mark when run.
    fn new() -> Self {
        let (mut bench, builtin) = (Bench::new(), RecordingCommands::default());
        bench.context.builtin = std::sync::Arc::new(builtin.clone());
        Self { bench, commands: builtin }
    }

    fn asks(&self, line: &str) -> Result<BuiltinCommand, String> {
        let output = self.bench.call("terminal", json!({ "command": line }))?;
        assert_eq!(output.text, "answered in process", "{line}");
        let ToolView::Command(view) = &output.view else { panic!("{line}: {:?}", output.view) };
        assert_eq!(view.state, Some(CommandState::Exited { code: 0 }));
        assert_eq!(
            (view.command.as_str(), view.output.as_deref()),
            (line.trim(), Some("answered in process"))
        );
        let (command, asker) = self.commands.done.lock().unwrap().pop().unwrap();
        assert_eq!((asker.session, asker.call), (self.bench.context.session, self.bench.context.call));
        assert_eq!(asker.folder, self.bench.folder);
        Ok(command)
    }

    fn effects(&self, line: &str) -> Effects {
        self.bench.effects("terminal", json!({ "command": line }))
    }
}

fn text(text: &str) -> String {
    text.to_owned()
}

#[test]
fn every_builtin_command_parses() {
    let counter = Counter::new();
    let folder = counter.bench.folder.clone();
    let body = counter.bench.put("notes/body.md", "- one\n- two\n");
    let home = std::env::home_dir().unwrap();
    let skill = |command| BuiltinCommand::Skill(command);
    let save = |file: Option<&str>, body: &str| {
        BuiltinCommand::Memory(MemoryCommand::Save {
            file: file.map(text),
            topic: text("Tests"),
            description: text("How we test"),
            body: text(body),
        })
    };
    let path_to = |name: &str| folder.join(name);
    let table = [
        ("octo skill list", skill(SkillCommand::List)),
        ("octo skill show code-explorer", skill(SkillCommand::Show { name: text("code-explorer") })),
        ("octo skill validate my-skill", skill(SkillCommand::Validate { path: path_to("my-skill") })),
        (
            "octo skill validate ~/x",
            skill(SkillCommand::Validate {
                path: octo_workspace::resolve(home.join("x").to_str().unwrap(), &folder).unwrap(),
            }),
        ),
        (
            "octo skill inspect ./a.zip",
            skill(SkillCommand::Inspect { source: SkillSourceRef::Path(path_to("a.zip")) }),
        ),
        (
            "octo skill inspect https://example.org/a.git",
            skill(SkillCommand::Inspect {
                source: SkillSourceRef::Address(text("https://example.org/a.git")),
            }),
        ),
        (
            "octo skill install https://example.org/a.zip one two --replace one",
            skill(SkillCommand::Install {
                source: SkillSourceRef::Address(text("https://example.org/a.zip")),
                names: vec![text("one"), text("two")],
                replace: vec![text("one")],
            }),
        ),
        (
            "octo skill install pack",
            skill(SkillCommand::Install {
                source: SkillSourceRef::Path(path_to("pack")),
                names: vec![],
                replace: vec![],
            }),
        ),
        (
            "octo skill propose my-skill --reason 'it was missing'",
            skill(SkillCommand::Propose { path: path_to("my-skill"), reason: text("it was missing") }),
        ),
        (
            "octo skill export one out/one.zip",
            skill(SkillCommand::Export { name: text("one"), file: path_to("out/one.zip") }),
        ),
        ("octo memory list", BuiltinCommand::Memory(MemoryCommand::List { query: None })),
        (
            "octo memory list --query 'two words'",
            BuiltinCommand::Memory(MemoryCommand::List { query: Some(text("two words")) }),
        ),
        ("octo memory read tests.md", BuiltinCommand::Memory(MemoryCommand::Read { file: text("tests.md") })),
        (
            "octo memory delete tests.md",
            BuiltinCommand::Memory(MemoryCommand::Delete { file: text("tests.md") }),
        ),
        (
            "octo memory save --topic Tests --description 'How we test' --body '- first\n- it'\\''s second'",
            save(None, "- first\n- it's second"),
        ),
        (
            "octo memory save tests.md --topic=Tests --description='How we test' --body-file notes/body.md",
            save(Some("tests.md"), "- one\n- two\n"),
        ),
        ("octo persona show", BuiltinCommand::Persona(PersonaCommand::Show)),
        (
            "octo persona write soul --body-file notes/body.md",
            BuiltinCommand::Persona(PersonaCommand::Write {
                kind: PersonaKind::Soul,
                text: text("- one\n- two\n"),
            }),
        ),
        ("octo task list", BuiltinCommand::Task(TaskCommand::List)),
        (
            "octo task pause brief",
            BuiltinCommand::Task(TaskCommand::Switch { task: text("brief"), on: Switch::Off }),
        ),
        (
            "octo task add --name 'A brief' --when 'daily at 08:00' --prompt-file notes/body.md --folder out",
            BuiltinCommand::Task(TaskCommand::Save {
                task: None,
                draft: Box::new(TaskFields {
                    name: Some(text("A brief")),
                    when: Some(text("daily at 08:00")),
                    prompt: Some(text("- one\n- two\n")),
                    folder: Some(path_to("out")),
                    ..TaskFields::default()
                }),
            }),
        ),
        (
            "octo task edit brief --prompt '- one' --retries 2",
            BuiltinCommand::Task(TaskCommand::Save {
                task: Some(text("brief")),
                draft: Box::new(TaskFields {
                    prompt: Some(text("- one")),
                    retries: Some(2),
                    ..TaskFields::default()
                }),
            }),
        ),
        ("octo browser status", BuiltinCommand::Browser(BrowserQuery::Status)),
        ("octo browser doctor", BuiltinCommand::Browser(BrowserQuery::Doctor)),
        ("octo settings list", BuiltinCommand::Settings(SettingsQuery::List)),
        ("octo settings show theme", BuiltinCommand::Settings(SettingsQuery::Show { key: text("theme") })),
        (
            "octo settings open browser",
            BuiltinCommand::Settings(SettingsQuery::Open { page: SettingsPage::Browser, proposal: None }),
        ),
        (
            "octo settings open appearance theme dark",
            BuiltinCommand::Settings(SettingsQuery::Open {
                page: SettingsPage::Appearance,
                proposal: Some((text("theme"), text("dark"))),
            }),
        ),
        ("  octo\tskill list  \n", skill(SkillCommand::List)),
        ("octo skill \\\n  list", skill(SkillCommand::List)),
    ];
    for (line, command) in table {
        assert_eq!(counter.asks(line).unwrap(), command, "{line}");
    }
    let absolute = format!("octo persona write user --body-file '{}'", body.display());
    assert!(counter.asks(&absolute).is_ok());
}

#[test]
fn errors_list_the_alternatives() {
    let counter = Counter::new();
    counter.bench.put("binary", [0xff, 0xfe]);
    counter.bench.put("long", vec![b'x'; 50_001]);
    for (line, expected) in [
        ("octo skill", "octo skill list"),
        ("octo skill lst", "unrecognized subcommand 'lst'"),
        ("octo skill show", "<NAME>"),
        ("octo skill show a b", "unexpected argument 'b'"),
        ("octo skill list --help", "'--help'"),
        ("octo skill propose x", "--reason"),
        ("octo skill install", "<SOURCE>"),
        ("octo skill inspect http://example.org/a.zip", "https://"),
        ("octo skill inspect file:///etc", "https://"),
        ("octo skill inspect https://", "https://"),
        ("octo skill inspect https://me:secret@example.org/a.zip", "name or a password"),
        ("octo memory save --topic a --description b", "--body"),
        ("octo memory save --topic a --description b --body c --body-file d", "--body"),
        ("octo memory save --topic a --description b --body-file nowhere", "nowhere"),
        ("octo memory save --topic a --description b --body-file binary", "UTF-8"),
        ("octo memory save --topic a --description b --body-file long", "large"),
        ("octo persona write both --body-file x", "both"),
        ("octo persona write soul --body x", "--body"),
        ("octo browser restart", "restart"),
        ("octo settings set theme dark", "set"),
        ("octo settings open channels", "possible values: models"),
        ("octo settings open appearance theme", "<VALUE>"),
    ] {
        for error in [
            counter.asks(line).unwrap_err(),
            counter.bench.preview("terminal", json!({ "command": line })).unwrap_err(),
        ] {
            assert!(error.contains(expected), "{line}: {error}");
            assert!(error.len() < 1_500 && !error.contains('\u{1b}'), "{line}: {error}");
        }
    }
    assert!(
        counter.commands.shown.lock().unwrap().is_empty() && counter.commands.done.lock().unwrap().is_empty()
    );
    assert!(
        !counter.asks("octo skill inspect https://me:secret@example.org/x").unwrap_err().contains("secret")
    );
}

/// Lines that are meant as builtin commands or only look like them: the handler receives none of them, and none
/// of them runs a program of the same name.
#[test]
fn a_builtin_command_combined_with_others_is_refused() {
    let counter = Counter::new();
    let program = counter.bench.put("octo", "#!/bin/sh\ntouch \"$(dirname \"$0\")/ran\"\n");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = counter.bench.folder.display();
    counter.bench.call("terminal", json!({ "command": format!("export PATH=\"{path}:$PATH\"") })).unwrap();
    for line in [
        "octo skill list; rm x",
        "octo skill list;",
        "octo skill list && true",
        "true && octo skill list",
        "octo skill list || true",
        "octo skill list &",
        "octo skill list | cat",
        "echo x | octo skill list",
        "octo skill list\nrm x",
        "octo skill list > out",
        "octo skill list 2>&1",
        "octo skill list <<< x",
        "octo skill list <<'E'\nx\nE",
        "octo skill list # quietly",
        "A=b octo skill list",
        "env octo skill list",
        "sudo octo skill list",
        "command octo skill list",
        "exec octo skill list",
        "nohup octo skill list",
        "xargs octo skill list",
        "bash -c 'octo skill list'",
        "eval 'octo skill list'",
        "$(octo skill list)",
        "echo $(octo skill list)",
        "echo `octo skill list`",
        "(octo skill list)",
        "{ octo skill list; }",
        "if true; then octo skill list; fi",
        "for x in 1; do octo skill list; done",
        "f() { octo skill list; }",
        "octo skill show $NAME",
        "octo skill show \"$(id)\"",
        "octo skill show *",
        "octo skill show {a,b}",
        "'octo' skill list",
        "\\octo skill list",
        "oc\"to\" skill list",
        "octo 'skill' list",
        "/usr/bin/octo skill list",
        "./octo skill list",
        "octo skill show a\u{202e}b",
        "! octo skill list",
        "time octo skill list",
    ] {
        let error = counter.asks(line).unwrap_err();
        assert!(error.starts_with("Not run: ") && error.contains("octo skill|memory"), "{line}: {error}");
        assert_eq!(counter.effects(line), Effects::none(), "{line}: nobody is asked in vain");
        assert!(counter.bench.preview("terminal", json!({ "command": line })).is_err(), "{line}");
    }
    for call in [
        json!({ "command": "octo skill list", "async": true }),
        json!({ "command": "octo skill list", "env": { "A": "b" } }),
    ] {
        assert!(
            counter.bench.error("terminal", call.clone()).contains("Not run") || call.get("cwd").is_some()
        );
    }
    assert!(counter.commands.done.lock().unwrap().is_empty());
    assert!(!counter.bench.folder.join("ran").exists());
}

/// Lines unrelated to builtin commands run as usual.
#[test]
fn other_lines_are_commands_like_any() {
    let counter = Counter::new();
    for (line, out) in [
        ("echo octo skill list", "octo skill list\n"),
        ("echo 'octo skill list; octo memory list'", "octo skill list; octo memory list\n"),
        ("printf %s octo", "octo"),
    ] {
        let output = counter.bench.call("terminal", json!({ "command": line })).unwrap();
        assert!(output.text.starts_with(out), "{line}: {}", output.text);
        assert!(counter.effects(line).command.is_some() && counter.effects(line).builtin.is_none(), "{line}");
    }
    // The program's own arguments, and names that only look similar.
    for line in [
        "octo exec hi",
        "octo serve",
        "octo",
        "octo\nskill list",
        "оcto skill list",
        "octopus skill list",
        "octo\u{a0}skill list",
    ] {
        let effects = counter.effects(line);
        assert!(
            effects.command.is_some() && effects.builtin.is_none(),
            "{line:?}: permission decides on a command"
        );
    }
    // Input typed into a program belongs to that program.
    let typed = counter.bench.effects("terminal", json!({ "handle_id": "1", "input": "octo skill list\n" }));
    assert!(typed.command.is_some() && typed.builtin.is_none());
    assert!(counter.commands.done.lock().unwrap().is_empty());
}

/// A function or an alias of the same name changes nothing: the shell is not involved.
#[test]
fn builtin_commands_do_not_use_the_sessions_shell() {
    let counter = Counter::new();
    let line = "octo() { touch ran; }; alias octo='touch ran'; export -f octo";
    counter.bench.call("terminal", json!({ "command": line })).unwrap();
    assert_eq!(counter.asks("octo skill list"), Ok(BuiltinCommand::Skill(SkillCommand::List)));
    assert!(!counter.bench.folder.join("ran").exists());
}

/// The permission decision used paths relative to the session's folder.
#[test]
fn relative_paths_need_the_sessions_own_folder() {
    let counter = Counter::new();
    std::fs::create_dir(counter.bench.folder.join("sub")).unwrap();
    counter.bench.call("terminal", json!({ "command": "cd sub" })).unwrap();
    let error = counter.asks("octo skill validate mine").unwrap_err();
    assert!(error.contains("absolute path"), "{error}");
    let nested = counter.bench.folder.join("sub/mine");
    let command = BuiltinCommand::Skill(SkillCommand::Validate { path: nested.clone() });
    assert_eq!(counter.asks(&format!("octo skill validate '{}'", nested.display())), Ok(command.clone()));
    assert!(counter.asks("octo skill list").is_ok(), "without a path it is the same everywhere");
    let arguments = json!({ "command": "octo skill validate mine", "cwd": nested.parent() });
    assert!(counter.bench.call("terminal", arguments).is_ok());
    assert_eq!(counter.commands.done.lock().unwrap().pop().unwrap().0, command);
}

#[test]
fn effects_name_what_each_command_touches_and_changes() {
    let counter = Counter::new();
    counter.bench.put("b.md", "x");
    let paths_to = |name: &str| vec![counter.bench.folder.join(name)];
    let no_paths = Vec::<PathBuf>::new;
    let looks = BuiltinCommandEffect::Reads;
    let changes = BuiltinCommandEffect::Changes;
    for (line, builtin, reads, writes, sites) in [
        ("octo skill list", looks, no_paths(), no_paths(), 0),
        ("octo skill show a", looks, no_paths(), no_paths(), 0),
        ("octo skill validate a", looks, paths_to("a"), no_paths(), 0),
        ("octo skill inspect a.zip", looks, paths_to("a.zip"), no_paths(), 0),
        (
            "octo skill inspect https://example.org/a",
            changes(LibraryChange::FetchSkills),
            no_paths(),
            no_paths(),
            1,
        ),
        ("octo skill install a.zip", changes(LibraryChange::InstallSkills), paths_to("a.zip"), no_paths(), 0),
        (
            "octo skill install https://example.org/a",
            changes(LibraryChange::InstallSkills),
            no_paths(),
            no_paths(),
            0,
        ),
        (
            "octo skill propose a --reason b",
            changes(LibraryChange::ProposeSkill),
            paths_to("a"),
            no_paths(),
            0,
        ),
        ("octo skill export a b.zip", changes(LibraryChange::ExportSkill), no_paths(), paths_to("b.zip"), 0),
        ("octo memory list", looks, no_paths(), no_paths(), 0),
        ("octo memory read a.md", looks, no_paths(), no_paths(), 0),
        (
            "octo memory save --topic a --description b --body c",
            changes(LibraryChange::SaveMemory),
            no_paths(),
            no_paths(),
            0,
        ),
        (
            "octo memory save --topic a --description b --body-file b.md",
            changes(LibraryChange::SaveMemory),
            paths_to("b.md"),
            no_paths(),
            0,
        ),
        ("octo memory delete a.md", changes(LibraryChange::DeleteMemory), no_paths(), no_paths(), 0),
        ("octo persona show", looks, no_paths(), no_paths(), 0),
        (
            "octo persona write user --body-file b.md",
            changes(LibraryChange::WritePersona),
            paths_to("b.md"),
            no_paths(),
            0,
        ),
        ("octo task list", looks, no_paths(), no_paths(), 0),
        ("octo task show a", looks, no_paths(), no_paths(), 0),
        (
            "octo task add --name a --when 'by hand' --prompt-file b.md",
            changes(LibraryChange::SaveTask),
            paths_to("b.md"),
            no_paths(),
            0,
        ),
        ("octo task run a", changes(LibraryChange::RunTask), no_paths(), no_paths(), 0),
        ("octo task resume a", changes(LibraryChange::SwitchTask), no_paths(), no_paths(), 0),
        ("octo task delete a", changes(LibraryChange::DeleteTask), no_paths(), no_paths(), 0),
        ("octo browser status", looks, no_paths(), no_paths(), 0),
        ("octo browser doctor", looks, no_paths(), no_paths(), 0),
        ("octo settings list", looks, no_paths(), no_paths(), 0),
        ("octo settings show theme", looks, no_paths(), no_paths(), 0),
        ("octo settings open browser", looks, no_paths(), no_paths(), 0),
    ] {
        let effects = counter.effects(line);
        assert_eq!(
            (effects.builtin, effects.reads, effects.writes),
            (Some(builtin), reads, writes),
            "{line}"
        );
        assert_eq!((effects.sites.len(), effects.command), (sites, None), "{line}");
        let preview = counter.bench.preview("terminal", json!({ "command": line })).unwrap();
        let shown_view = counter.commands.shown.lock().unwrap().pop();
        match builtin {
            BuiltinCommandEffect::Reads => {
                assert!(shown_view.is_none() && matches!(preview, ToolView::Command(_)), "{line}")
            }
            BuiltinCommandEffect::Changes(_) => {
                assert!(shown_view.is_some() && matches!(preview, ToolView::Plain { .. }), "{line}")
            }
        }
    }
    assert!(counter.commands.done.lock().unwrap().is_empty(), "a preview does nothing");
}
