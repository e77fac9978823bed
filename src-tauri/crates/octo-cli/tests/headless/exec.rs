//! `exec` without problems.

use crate::support::{ExecResult, PATIENCE, RunningExec, exec, run, serve};
use octo_protocol::{
    Answer, CallState, CallStatus, CommandState, Event, GetSettings, Source, StoredTopic, ToolView, TurnEnd,
};
use octo_testkit::{Gate, ModelServer, Reply, Script, TempHome};
use serde_json::json;
use std::{io::Write, process::Stdio};

#[test]
fn the_answer_goes_to_standard_output_and_the_session_to_standard_error() {
    let home = TempHome::new();
    let server = ModelServer::start(Script::new().text("Hello there.").text("And again."));
    let exec_result = run(&home, &server, &["say hello"]).expect(0);
    assert_eq!(exec_result.out, "Hello there.\n");
    assert_eq!(exec_result.err, format!("session: {}\n", exec_result.session()));
    assert_eq!(server.requests()[0].user_text().lines().last(), Some("say hello"));

    let options = ["--protocol", "openai-chat", "--base-url", &server.url(), "--model", "other", "say hello"];
    let exec_result = ExecResult::of(exec(&home, &options).output().unwrap()).expect(0);
    assert_eq!(exec_result.out, "And again.\n");
    assert_eq!(server.requests()[1].model(), "other");
    server.assert_clean();
}

#[test]
fn every_protocol_takes_effort_and_headers() {
    for protocol in octo_protocol::Protocol::ALL.map(|protocol| octo_llm::codec(protocol).name) {
        let home = TempHome::new();
        let script = Script::new().call("read", json!({ "path": "a.txt" })).text("Read.").text("Again.");
        let server = ModelServer::start(script);
        home.write("a.txt", "what stands there");
        let url = server.url();
        let options =
            ["--protocol", protocol, "--base-url", &url, "--model", "m.v1:0", "--header", "x-tenant=s3cret"];
        let run = |arguments: &[&str]| {
            let mut command = exec(&home, &[&options[..], arguments].concat());
            command
                .env("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
                .env("AWS_SECRET_ACCESS_KEY", "k")
                .env("AWS_REGION", "eu-west-1");
            ExecResult::of(command.output().unwrap())
        };
        let exec_result = run(&["--effort", "high", "read it"]).expect(0);
        assert_eq!(exec_result.out, "Read.\n", "{protocol}: {}", exec_result.err);
        let requests = server.requests();
        assert_eq!(requests.len(), 2, "{protocol}");
        for request in &requests {
            assert_eq!(
                (request.header("x-tenant"), request.model()),
                (Some("s3cret"), "m.v1:0"),
                "{protocol}"
            );
            assert!(request.body.to_string().contains("\"high\""), "{protocol}: {}", request.body);
        }
        assert!(requests[1].results()[0].text.contains("what stands there"), "{protocol}");
        assert!(!exec_result.err.contains("s3cret"));

        // The effort belongs to the session.
        let session = exec_result.session().to_string();
        let wrong = run(&["--effort", "low", "--session", &session, "again"]).expect(2);
        assert!(wrong.err.contains("--effort"), "{}", wrong.err);
        run(&["--effort", "high", "--session", &session, "again"]).expect(0);
        server.assert_clean();
    }
}

#[test]
fn json_prints_every_event_of_the_session_and_nothing_else() {
    let home = TempHome::new();
    let script = Script::new().call("write", json!({ "path": "a.txt", "content": "hi\n" })).text("Written.");
    let server = ModelServer::start(script);
    let exec_result = run(&home, &server, &["--json", "--mode", "autonomous", "write it"]).expect(0);
    let events = exec_result.events();
    let topic = StoredTopic::Session { id: exec_result.session() };
    assert!(events.iter().all(|envelope| envelope.topic == topic), "only the session's own events");
    let numbers: Vec<u64> = events.iter().map(|envelope| envelope.seq).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "from 1, without gaps");
    let ended = events.iter().filter_map(|envelope| match &envelope.event {
        Event::TurnEnded { turn } => Some(turn.end.clone()),
        _ => None,
    });
    assert_eq!(ended.collect::<Vec<_>>(), [Some(TurnEnd::Finished)]);
    assert_eq!(home.read("a.txt"), "hi\n");
    server.assert_clean();
}

#[test]
fn a_dash_reads_the_prompt_from_standard_input() {
    let home = TempHome::new();
    let server = ModelServer::start(Script::new().text("Read."));
    let url = server.url();
    let options = ["--protocol", "anthropic", "--base-url", &url, "--model", "m", "-"];
    let mut command = exec(&home, &options);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all("第一行\nsecond line\n".as_bytes()).unwrap();
    let exec_result = ExecResult::of(child.wait_with_output().unwrap()).expect(0);
    assert_eq!(exec_result.out, "Read.\n");
    assert!(server.requests()[0].user_text().ends_with("第一行\nsecond line"));
}

#[test]
fn last_continues_the_folders_newest_session() {
    let home = TempHome::new();
    let server = ModelServer::start(Script::new().text("One.").text("Two.").text("Three.").text("Other."));
    let first = run(&home, &server, &["first"]).expect(0);
    let second = run(&home, &server, &["second"]).expect(0);
    assert_ne!(first.session(), second.session());
    let other = home.work().join("other");
    std::fs::create_dir(&other).unwrap();
    let third = run(&home, &server, &["--session", "last", "third"]).expect(0);
    assert_eq!(third.session(), second.session());
    assert_eq!(third.out, "Three.\n");
    let request = &server.requests()[2];
    assert_eq!(request.answers(), 1, "the model sees the earlier exchange");

    // By its id, from another folder.
    let id = first.session().to_string();
    let fourth = run(&home, &server, &["--session", &id, "fourth"]).expect(0);
    assert_eq!(fourth.session(), first.session());

    let none = run(&home, &server, &["--cwd", other.to_str().unwrap(), "--session", "last", "x"]).expect(1);
    assert!(none.err.contains("No session has been started in"), "{}", none.err);
    server.assert_clean();
}

#[test]
fn without_a_person_permission_is_denied_and_the_model_told() {
    for mode in ["ask", "ask-risky"] {
        let home = TempHome::new();
        let script = Script::new()
            .call("terminal", json!({ "command": "sh -c 'touch made.txt'" }))
            .text("I could not.");
        let server = ModelServer::start(script);
        let exec_result = run(&home, &server, &["--json", "--mode", mode, "make it"]).expect(0);
        assert!(!home.work().join("made.txt").exists());
        let results = server.requests()[1].results();
        assert!(results[0].text.contains("Nobody is there to give permission"), "{results:?}");
        let answers = exec_result.events().into_iter().filter_map(|envelope| match envelope.event {
            Event::QuestionClosed { answer, .. } => answer,
            _ => None,
        });
        let answers: Vec<Answer> = answers.collect();
        assert!(matches!(answers.as_slice(), [Answer::No { reason: Some(_) }]), "{answers:?}");
        server.assert_clean();
    }
}

#[test]
fn ask_risky_reads_and_writes_inside_the_folder_without_asking() {
    let home = TempHome::new();
    home.write("in.txt", "content\n");
    let script = Script::new()
        .calls([("file_reader", json!({ "path": "in.txt" })), ("grep", json!({ "pattern": "content" }))])
        .call("write", json!({ "path": "out.txt", "content": "made\n" }))
        .call("terminal", json!({ "command": "ls" }))
        .text("Done.");
    let server = ModelServer::start(script);
    let exec_result = run(&home, &server, &["--json", "--mode", "ask-risky", "go"]).expect(0);
    assert!(!exec_result.out.contains("question_asked"), "nothing of this asks");
    assert_eq!(home.read("out.txt"), "made\n");
    assert!(server.requests()[3].results()[0].text.contains("out.txt"));
    server.assert_clean();
}

#[test]
fn without_a_person_a_question_is_not_answered() {
    for mode in ["ask", "ask-risky", "autonomous"] {
        let home = TempHome::new();
        let question = json!({ "question": "Which colour?", "options": ["red", "blue"] });
        let server =
            ModelServer::start(Script::new().call("request_user_feedback", question).text("Red, then."));
        let exec_result = run(&home, &server, &["--mode", mode, "paint"]).expect(0);
        assert_eq!(exec_result.out, "Red, then.\n");
        let results = server.requests()[1].results();
        assert!(results[0].text.contains("Nobody is there to answer"), "{results:?}");
        server.assert_clean();
    }
}

#[test]
fn the_demo_drives_the_real_tools_and_is_never_the_last_session() {
    let home = TempHome::new();
    let server = ModelServer::start(Script::new().text("Mine.").text("Mine again."));
    let mine = run(&home, &server, &["mine"]).expect(0);

    let demo = ["--protocol", "demo", "--mode", "autonomous", "--json", "show me"];
    let exec_result = ExecResult::of(exec(&home, &demo).output().unwrap()).expect(0);
    let mut ended = Vec::new();
    let mut outputs = Vec::new();
    for envelope in exec_result.events() {
        match envelope.event {
            Event::SessionChanged { info } => {
                assert_eq!(info.source, Source::Demo);
                assert_ne!(std::path::Path::new(&info.folder), home.work(), "a throw-away folder");
                assert_eq!(info.usage, octo_protocol::Usage::default());
            }
            Event::CallChanged { call } => {
                if let CallState::Ended { status, .. } = call.state {
                    assert_eq!(status, CallStatus::Done, "{call:?}");
                    if let Some(ToolView::Command(command)) = &call.view {
                        assert_eq!(command.state, Some(CommandState::Exited { code: 0 }));
                        outputs.push(command.output.clone().unwrap_or_default());
                    }
                    ended.push(call.tool);
                }
            }
            _ => {}
        }
    }
    for tool in ["todo_manager", "write", "edit", "terminal", "request_user_feedback"] {
        assert!(ended.iter().any(|name| name == tool), "{tool} in {ended:?}");
    }
    assert!(outputs[0].contains("4 octopus"), "{outputs:?}");

    let plain = ["--protocol", "demo", "--mode", "ask", "show me"];
    let exec_result = ExecResult::of(exec(&home, &plain).output().unwrap()).expect(0);
    assert!(exec_result.out.contains("I am a script"), "{}", exec_result.out);

    let last = run(&home, &server, &["--session", "last", "again"]).expect(0);
    assert_eq!(last.session(), mine.session());
    assert_eq!(server.requests().len(), 2, "the demo asks no server");
}

#[test]
fn the_demo_speaks_the_persons_language() {
    let home = TempHome::new();
    let mut command = exec(&home, &["--protocol", "demo", "--json", "你好"]);
    let exec_result = ExecResult::of(command.env("LC_ALL", "zh_CN.UTF-8").output().unwrap()).expect(0);
    assert!(exec_result.out.contains("我是一段脚本，不是模型"), "{}", exec_result.out);
}

#[test]
fn a_slash_command_is_answered_without_the_model() {
    let home = TempHome::new();
    let server = ModelServer::start(Script::new().text("Hi."));
    run(&home, &server, &["hi"]).expect(0);
    let command = |content: &str| run(&home, &server, &["--session", "last", content]);
    let session = |exec_result: &ExecResult| format!("session: {}\n", exec_result.session());
    let exec_result = command("/help").expect(0);
    assert_eq!(
        exec_result.out, "Commands: /new /model /mode /folder /rename /stop /retry /undo /redo /help\n",
        "the answer of the turn before is not said again"
    );
    assert_eq!(exec_result.err, session(&exec_result));
    for silent in ["/mode ask", "/rename Another", "/stop"] {
        let exec_result = command(silent).expect(0);
        assert_eq!((exec_result.out.as_str(), &exec_result.err), ("", &session(&exec_result)), "{silent}");
    }
    let exec_result = command("/new").expect(0);
    let hint =
        "To start a new session, leave out --session. Nothing was sent, and this session did not change.";
    assert_eq!(
        (exec_result.out.as_str(), exec_result.err.clone()),
        ("", format!("{}{hint}\n", session(&exec_result)))
    );
    // An unknown command was not executed.
    for (invalid, words) in [
        ("/hepl", "There is no command /hepl. Nothing was sent. Did you mean /help?"),
        ("/mode yolo", "/mode takes ask, ask_risky or autonomous. The mode was not changed."),
    ] {
        let exec_result = command(invalid).expect(1);
        assert_eq!(
            (exec_result.out.as_str(), exec_result.err.clone()),
            ("", format!("{}{words}\n", session(&exec_result))),
            "{invalid}"
        );
    }
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_command_is_not_judged_by_the_turn_before_and_retry_by_its_own() {
    let home = TempHome::new();
    let refusal = Reply::error(401, "authentication_error", "invalid x-api-key");
    let server = ModelServer::start(Script::new().reply(refusal).text("Now it works."));
    run(&home, &server, &["hi"]).expect(1);
    let exec_result = run(&home, &server, &["--session", "last", "/mode ask"]).expect(0);
    assert_eq!(
        (exec_result.out.as_str(), exec_result.err.clone()),
        ("", format!("session: {}\n", exec_result.session()))
    );
    let exec_result = run(&home, &server, &["--session", "last", "/retry"]).expect(0);
    assert_eq!(exec_result.out, "Now it works.\n");
    server.assert_clean();
}

#[test]
fn a_command_line_model_does_not_become_the_default() {
    let home = TempHome::new();
    let server = ModelServer::start(Script::new().text("One.").text("Two."));
    run(&home, &server, &["one"]).expect(0);
    let settings = |home: &TempHome| {
        let mut core = serve(home);
        let found = core.call(GetSettings {}).unwrap();
        core.close(PATIENCE);
        found
    };
    let found = settings(&home);
    assert_eq!((found.settings.default_model, found.settings.welcomed), (None, false));
    assert_eq!(found.models.len(), 1);
    // The session keeps its model even if none is named.
    let exec_result = ExecResult::of(exec(&home, &["--session", "last", "two"]).output().unwrap()).expect(0);
    assert_eq!(exec_result.out, "Two.\n");
    assert_eq!(server.requests()[1].model(), "scripted");
    assert_eq!(settings(&home).settings.default_model, None);
}

#[test]
fn a_closed_reader_is_no_failure() {
    let home = TempHome::new();
    let gate = Gate::new();
    let script = Script::new().reply(Reply::text("One two three.").hold_after(1, &gate)).text("More.");
    let server = ModelServer::start(script);
    let url = server.url();
    let options = ["--protocol", "anthropic", "--base-url", &url, "--model", "m", "--json", "go"];
    let mut running = RunningExec::start(&mut exec(&home, &options));
    gate.wait_reached(PATIENCE);
    running.drop_stdout();
    gate.open();
    let exec_result = running.end().expect(0);
    let after = run(&home, &server, &["--session", &exec_result.session().to_string(), "more"]).expect(0);
    assert_eq!(after.out, "More.\n");
    assert_eq!(server.requests()[1].answers(), 1, "the turn was finished all the same");
}

#[test]
fn the_profile_is_part_of_the_prompt_and_stays() {
    let home = TempHome::new();
    let server = ModelServer::start(Script::new().text("1").text("2"));
    let general = run(&home, &server, &["--profile", "general", "x"]).expect(0);
    run(&home, &server, &["--profile", "coding", "x"]).expect(0);
    let requests = server.requests();
    assert_ne!(requests[0].system(), requests[1].system());
    let id = general.session().to_string();
    let exec_result = run(&home, &server, &["--session", &id, "--profile", "coding", "x"]).expect(2);
    assert!(exec_result.err.contains("--profile"), "{}", exec_result.err);
}
