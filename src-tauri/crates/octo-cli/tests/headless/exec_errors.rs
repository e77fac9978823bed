//! `exec` with errors: clear messages, the right exit status, nothing lost.

use crate::support::{ExecResult, RunningExec, exec, run};
use nix::sys::signal::Signal;
use octo_testkit::{ModelServer, Reply, ReplyFinish, Script, ServerOptions, TempHome};
use serde_json::json;
use std::{fs, net::TcpListener};

#[test]
fn wrong_usage_exits_with_2_and_says_why() {
    let home = TempHome::new();
    for (arguments, words) in [
        (&[][..], "Usage"),
        (&["--mode", "yolo", "x"], "invalid value 'yolo'"),
        (&["--session", "deadbeef", "x"], "32 hex digits"),
        (&["--protocol", "anthropic", "x"], "--model"),
        (&["--base-url", "http://localhost", "x"], "--protocol"),
        (&["--protocol", "demo", "--model", "m", "x"], "no model"),
        (&["--protocol", "anthropic", "--base-url", "not an address", "--model", "m", "x"], "address"),
        (&["  "], "empty"),
        (&["-"], "empty"),
    ] {
        let exec_result = ExecResult::of(exec(&home, arguments).output().unwrap()).expect(2);
        assert!(exec_result.err.contains(words), "{arguments:?}: {}", exec_result.err);
        assert_eq!(exec_result.out, "");
    }
    assert!(!home.octo().join("octo.db").exists(), "nothing was begun");
}

#[test]
fn help_is_no_error() {
    let home = TempHome::new();
    let exec_result = ExecResult::of(exec(&home, &["--help"]).output().unwrap()).expect(0);
    assert!(
        exec_result.out.contains("--session") && exec_result.out.contains("OCTO_API_KEY"),
        "{}",
        exec_result.out
    );
}

#[test]
fn a_missing_key_is_reported_before_any_request() {
    let home = TempHome::new();
    let options = ["--protocol", "anthropic", "--model", "m", "--key-env", "MY_KEY", "x"];
    let exec_result = ExecResult::of(exec(&home, &options).output().unwrap()).expect(1);
    let words = "MY_KEY is not set or is empty, so there is no key for the model server. Nothing was sent.";
    assert!(exec_result.err.starts_with(words), "{}", exec_result.err);
}

#[test]
fn without_a_model_the_setup_is_explained() {
    let home = TempHome::new();
    let exec_result = ExecResult::of(exec(&home, &["x"]).output().unwrap()).expect(1);
    assert!(
        exec_result.err.starts_with("No model is connected yet. Nothing was sent."),
        "{}",
        exec_result.err
    );
    let exec_result =
        ExecResult::of(exec(&home, &["--model", "unheard-of", "x"]).output().unwrap()).expect(1);
    assert!(exec_result.err.contains("unheard-of"), "{}", exec_result.err);
}

#[test]
fn a_broken_policy_file_is_reported_once_and_the_turn_continues() {
    let home = TempHome::new();
    let server = ModelServer::start(Script::new().text("first").text("second"));
    let exec_result = run(&home, &server, &["x"]).expect(0);
    assert!(!exec_result.err.contains("policy.toml"), "{}", exec_result.err);
    fs::write(home.octo().join("policy.toml"), "[commands]\nallow = ['ls; x']\n").unwrap();
    let exec_result = run(&home, &server, &["x"]).expect(0);
    assert!(
        exec_result.err.contains("policy.toml, line 2") && exec_result.err.contains("ls; x"),
        "{}",
        exec_result.err
    );
    assert_eq!(exec_result.err.matches("policy.toml").count(), 1, "{}", exec_result.err);
    assert!(exec_result.out.contains("second"), "{}", exec_result.out);
}

#[test]
fn a_refused_key_fails_at_once() {
    let home = TempHome::new();
    let options = ServerOptions { key: Some("right".to_owned()), ..ServerOptions::default() };
    let server = ModelServer::start_with(Script::new(), options);
    let exec_result = run(&home, &server, &["x"]).expect(1);
    assert!(exec_result.err.contains("refused the key"), "{}", exec_result.err);
    assert_eq!(server.requests().len(), 1, "asking again would not help");
    // The message was kept: the session continues once the key is right.
    let id = exec_result.session().to_string();
    let right = ModelServer::start_with(
        Script::new().text("Now it works."),
        ServerOptions { key: Some("right".to_owned()), ..ServerOptions::default() },
    );
    let url = right.url();
    let options =
        ["--session", &id, "--protocol", "anthropic", "--base-url", &url, "--model", "scripted", "and now?"];
    let exec_result =
        ExecResult::of(exec(&home, &options).env("OCTO_API_KEY", "right").output().unwrap()).expect(0);
    assert_eq!(exec_result.out, "Now it works.\n");
    assert_eq!(right.requests()[0].user_text().matches("\nx").count(), 1, "the first message is there, once");
    right.assert_clean();
}

#[test]
fn a_web_page_instead_of_an_answer_is_tried_again_and_named() {
    let home = TempHome::new();
    let server = ModelServer::start(Script::new().reply(Reply::html()).text("Back."));
    let exec_result = run(&home, &server, &["x"]).expect(0);
    assert_eq!(exec_result.out, "Back.\n");
    assert!(exec_result.err.contains("attempt 2 of"), "{}", exec_result.err);
}

#[test]
fn a_too_long_requested_wait_is_refused() {
    let home = TempHome::new();
    let reply = Reply::error(529, "overloaded_error", "later").header("retry-after", "3600");
    let server = ModelServer::start(Script::from(reply));
    let exec_result = run(&home, &server, &["x"]).expect(1);
    assert!(
        exec_result.err.lines().count() >= 2 && !exec_result.err.contains("error.provider"),
        "{}",
        exec_result.err
    );
}

#[test]
fn an_unreachable_server_is_named_while_it_is_tried_again() {
    let home = TempHome::new();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}");
    let options = ["--protocol", "openai-chat", "--base-url", &url, "--model", "m", "x"];
    let mut running = RunningExec::start(&mut exec(&home, &options));
    running.wait_error("attempt 2 of");
    running.signal(Signal::SIGINT);
    running.end().expect(130);
}

#[test]
fn a_stream_that_refuses_fails_the_turn() {
    let home = TempHome::new();
    let server = ModelServer::start(Script::from(Reply::text("I will not.").finish(ReplyFinish::Refusal)));
    let exec_result = run(&home, &server, &["x"]).expect(1);
    assert!(!exec_result.err.contains("error.turn"), "words, not a key: {}", exec_result.err);
}

#[test]
fn a_missing_folder_is_named() {
    let home = TempHome::new();
    let server = ModelServer::start(Script::new().text("Hi."));
    let file = home.write("file.txt", "x");
    for invalid in ["missing", file.to_str().unwrap()] {
        let exec_result = run(&home, &server, &["--cwd", invalid, "x"]).expect(1);
        assert!(exec_result.err.contains(invalid), "{}", exec_result.err);
    }
    let folder = home.work().join("gone");
    std::fs::create_dir(&folder).unwrap();
    let exec_result = run(&home, &server, &["--cwd", folder.to_str().unwrap(), "x"]).expect(0);
    std::fs::remove_dir(&folder).unwrap();
    let exec_result =
        run(&home, &server, &["--session", &exec_result.session().to_string(), "go on"]).expect(1);
    let words = format!("The folder {} does not exist. Nothing was sent or changed.", folder.display());
    assert!(exec_result.err.starts_with(&words), "nothing is kept that was not sent: {}", exec_result.err);
    assert!(!folder.exists(), "it is not made again behind the person's back");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_missing_session_is_reported() {
    let home = TempHome::new();
    let server = ModelServer::start(Script::new());
    let id = octo_protocol::SessionId::new().to_string();
    let exec_result = run(&home, &server, &["--session", &id, "x"]).expect(1);
    assert!(
        !exec_result.err.trim().is_empty() && !exec_result.err.contains("error.session"),
        "{}",
        exec_result.err
    );
    assert!(server.requests().is_empty());
}

#[test]
fn a_looping_model_is_stopped() {
    let home = TempHome::new();
    let server = ModelServer::start(Script::from_fn(|_| Reply::call("glob", json!({ "pattern": "*" }))));
    let exec_result = run(&home, &server, &["x"]).expect(1);
    assert!(
        exec_result.err.lines().count() >= 2 && !exec_result.err.contains("error.turn"),
        "{}",
        exec_result.err
    );
    let requests = server.requests().len();
    assert!(requests <= 12, "{requests} requests");
    server.assert_clean();
}

#[test]
fn unknown_tools_and_broken_arguments_reach_the_model_as_errors() {
    let home = TempHome::new();
    let script = Script::new()
        .call("frobnicate", json!({ "x": 1 }))
        .reply(Reply::raw_call("write", r#"{"path":"half.txt","content":"cut o"#))
        .call("edit", json!({ "path": "no such file", "old_string": "a", "new_string": "b" }))
        .call("file_reader", json!({}))
        .text("I see.");
    let server = ModelServer::start(script);
    let exec_result = run(&home, &server, &["--mode", "autonomous", "x"]).expect(0);
    assert_eq!(exec_result.out, "I see.\n");
    let last = server.requests().pop().unwrap();
    let results = last.all_results();
    assert_eq!(results.len(), 4);
    assert!(results.iter().all(|result| result.is_error && !result.text.is_empty()), "{results:#?}");
    assert!(results[0].text.contains("frobnicate"), "{}", results[0].text);
    assert!(!home.work().join("half.txt").exists(), "half a file is never written");
    server.assert_clean();
}

#[test]
fn a_home_that_cannot_be_used_is_named_and_left_alone() {
    let home = TempHome::new();
    let file = home.write("occupied", "mine");
    let mut command = exec(&home, &["--protocol", "demo", "x"]);
    let exec_result = ExecResult::of(command.env("OCTO_HOME", &file).output().unwrap()).expect(1);
    assert!(
        !exec_result.err.trim().is_empty() && !exec_result.err.contains("error.s"),
        "{}",
        exec_result.err
    );
    assert_eq!(home.read("occupied"), "mine");
}

#[test]
fn a_damaged_database_is_reported_with_its_repair_and_left_unchanged() {
    let home = TempHome::new();
    let server = ModelServer::start(Script::new().text("first"));
    run(&home, &server, &["x"]).expect(0);
    let file = home.octo().join("octo.db");
    let mut bytes = fs::read(&file).unwrap();
    bytes.truncate(bytes.len() / 2 / 4096 * 4096);
    fs::write(&file, &bytes).unwrap();
    let exec_result = run(&home, &server, &["y"]).expect(1);
    assert!(exec_result.err.contains("is damaged, and there is no backup of it"), "{}", exec_result.err);
    assert!(
        exec_result.err.contains("Octo's window can start with an empty database"),
        "{}",
        exec_result.err
    );
    assert!(fs::read(&file).unwrap() == bytes, "it was changed");
    assert_eq!(server.requests().len(), 1);
}
