use super::*;

#[test]
fn tool_names_match_as_models_write_them() {
    let tools = Toolset::standard();
    for (name, tool) in [
        ("file_reader", "file_reader"),
        ("file-reader", "file_reader"),
        ("Read", "file_reader"),
        ("FILE_READER", "file_reader"),
        ("read-file", "file_reader"),
        ("cat", "file_reader"),
        (" write ", "write"),
        ("create_file", "write"),
        ("str_replace", "edit"),
        ("list_files", "glob"),
        ("search_code", "grep"),
        ("search", "web_search"),
        ("Internet-Search", "web_search"),
        ("browse", "web_fetch"),
        ("http_get", "web_fetch"),
        ("todo", "todo_manager"),
        ("ask_user", "request_user_feedback"),
        ("undo", "undo_task"),
        ("rm", "trash_manager"),
        ("skill", "invoke_skill"),
    ] {
        assert_eq!(tools.resolve(name).map(|tool| tool.name()), Some(tool), "{name}");
    }
    for name in ["", "skills", "reader", "_"] {
        assert!(tools.resolve(name).is_none(), "{name}");
    }
    for tool in TOOL_NAMES {
        for name in tool.aliases {
            assert_eq!(tools.resolve(name).map(|tool| tool.name()), Some(tool.name), "{name}");
        }
    }
}

/// Every name a model may use for a tool, from the reference's list.
#[test]
fn the_aliases_are_those_models_know() {
    for (tool, names) in [
        ("file_reader", "read read_file filereader file_read cat"),
        ("write", "write_file create_file file_write"),
        ("edit", "file_edit replace replace_in_file str_replace"),
        ("terminal", "shell bash exec execute run_command run command"),
        ("web_search", "search websearch internet_search online_search"),
        ("web_fetch", "fetch webfetch browse url_fetch http_get"),
        ("grep", "search_files search_in_files find_in_files search_code"),
        ("glob", "find_files list_files file_glob search_filenames"),
        ("invoke_skill", "skill run_skill"),
        ("todo_manager", "todo task_manager"),
        ("request_user_feedback", "ask_user user_feedback ask"),
        ("undo_task", "undo"),
        ("redo_task", "redo"),
        ("list_tasks", "tasks task_history"),
        ("browser", "browser_use web_browser chrome"),
        ("trash_manager", "rm delete trash remove"),
    ] {
        let entry = TOOL_NAMES.iter().find(|entry| entry.name == tool).map(|entry| entry.aliases.join(" "));
        assert_eq!(entry.as_deref(), Some(names), "{tool}");
    }
}

#[test]
fn the_tool_order_is_frozen() {
    let definitions = Toolset::standard().definitions();
    let names: Vec<&str> = definitions.iter().map(|tool| tool.name.as_str()).collect();
    let order = [
        "terminal",
        "file_reader",
        "write",
        "edit",
        "glob",
        "grep",
        "web_search",
        "web_fetch",
        "todo_manager",
        "request_user_feedback",
        "invoke_skill",
        "undo_task",
        "redo_task",
        "list_tasks",
        "browser",
        "trash_manager",
    ];
    assert_eq!(names, order);
}

#[test]
fn each_tool_has_its_names_in_the_order_of_the_set() {
    let tools = Toolset::standard();
    let names: Vec<&str> = tools.names().collect();
    let expected: Vec<&str> = TOOL_NAMES.iter().map(|tool| tool.name).collect();
    assert_eq!(names, expected);
}

#[test]
fn unknown_tools_get_similar_names() {
    let tools = Toolset::standard();
    let error = |name: &str| tools.prepare(name, "{}").err().unwrap().text;
    assert!(error("file_read_tool").starts_with("Tool not found: file_read_tool. Did you mean file_reader"));
    assert!(error("zzz").starts_with("Tool not found: zzz. The tools are: "));
}

#[test]
fn notes_about_arguments_reach_the_model() {
    let bench = crate::testing::Bench::new();
    bench.put("a", "x\n");
    let text = bench.call_text("read", r#"{"path": "a", "colour": "red"}"#).unwrap().text;
    assert!(text.ends_with("\n(Unknown parameters were ignored: `colour`.)"), "{text}");
    let error = bench.call_text("read", r#"{"path": "b", "colour": "red"}"#).unwrap_err();
    assert!(error.contains("does not exist") && error.contains("`colour`"), "{error}");
}

/// Every session's frozen tool prefix. A change here costs every session its cache once: `VERSION` must be
/// raised with it.
#[test]
fn the_frozen_prefix() {
    let tools = Toolset::standard();
    let definitions = tools.definitions();
    let bytes = serde_json::to_string(&*definitions).unwrap().len();
    let pretty = serde_json::to_string_pretty(&*definitions).unwrap();
    insta::assert_snapshot!(format!("version {}, {bytes} bytes\n{pretty}", tools.version()));
    // Four bytes are about one token: 160 on average, and no tool over 450.
    assert!(bytes < definitions.len() * 160 * 4, "{bytes} bytes");
    for definition in definitions.iter() {
        let bytes = serde_json::to_string(definition).unwrap().len();
        assert!(bytes <= 450 * 4, "{}: {bytes} bytes", definition.name);
    }
}

#[test]
fn definitions_are_the_same_bytes_every_time() {
    let (first, second) = (Toolset::standard(), Toolset::standard());
    assert_eq!(first.hash(), second.hash());
    assert_eq!(first.hash().len(), 64);
    assert_eq!(
        serde_json::to_string(&*first.definitions()).unwrap(),
        serde_json::to_string(&*second.definitions()).unwrap()
    );
    for definition in first.definitions().iter() {
        let text = definition.parameters.to_string();
        assert!(text.starts_with(r#"{"type":"object","properties":{"#), "{text}");
        for absent in ["$schema", "$ref", "$defs", "title", "null", "format"] {
            assert!(!text.contains(&format!("\"{absent}\"")), "{}: {absent} in {text}", definition.name);
        }
    }
}

/// The only tool for skills: in its position, and short.
#[test]
fn the_skill_tool_has_its_position() {
    let tools = Toolset::standard();
    let names: Vec<&str> = tools.names().collect();
    assert_eq!(names.len(), 16);
    assert_eq!(names[9..12], ["request_user_feedback", "invoke_skill", "undo_task"]);
    for alias in ["skill", "Run-Skill", "invoke_skill"] {
        assert_eq!(tools.resolve(alias).map(|tool| tool.name()), Some("invoke_skill"), "{alias}");
    }
    let definitions = tools.definitions();
    let definition = definitions.iter().find(|tool| tool.name == "invoke_skill").unwrap();
    let bytes = serde_json::to_string(definition).unwrap().len();
    assert!((60 * 4..=110 * 4).contains(&bytes), "{bytes} bytes");
}

#[test]
fn an_unknown_skill_is_reported_with_the_available_ones() {
    let tools = Toolset::standard();
    let bench = crate::testing::Bench::new();
    let run = |arguments: &str| {
        let call = tools.prepare("skill", arguments).map_err(|error| error.text)?;
        assert_eq!(
            call.call.effects(&bench.folder),
            Effects { order: crate::CallConcurrency::Parallel, ..Effects::none() }
        );
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(call.call.run(bench.context.clone())).map_err(|error| error.text)
    };
    let missing = run(r#"{"skill_name": "x"}"#).unwrap_err();
    assert!(missing.contains("task"), "{missing}");
    assert!(run(r#"{"skill_name": " / ", "task": "x"}"#).unwrap_err().contains("The name is empty"));
    assert!(
        run(r#"{"skill_name": "/explore", "task": "x"}"#).unwrap_err().contains("There are no skills here")
    );
}
