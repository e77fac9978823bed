//! `serve`: requests in, replies and events out.

use crate::support::{BINARY, PATIENCE, connect, environment, serve, until};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use octo_protocol::{
    Block, ErrorCode, Event, GetAbout, GetSettings, HostRequest, ListSessions, Mode, ModelDraft, ModelId,
    OpenSession, Profile, Protocol, Request, Send, SendOutcome, SessionId, StartSession, StoredTopic,
    TestModel,
};
use octo_testkit::{Gate, ModelServer, Reply, Script, ServeProcess, TempHome};
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
};

fn text(content: &str) -> Vec<Block> {
    vec![Block::Text { text: content.to_owned() }]
}

fn begin(core: &mut ServeProcess, home: &TempHome, model: ModelId, content: &str) -> SessionId {
    let folder = home.work().to_str().unwrap().to_owned();
    let (profile, mode) = (Profile::GENERAL, Mode::Autonomous);
    core.call(StartSession {
        folder,
        profile,
        mode,
        model: Some(model),
        effort: None,
        title: None,
        blocks: text(content),
    })
    .unwrap()
    .id
}

fn ended(core: &ServeProcess, session: SessionId) {
    core.wait_for(PATIENCE, |envelope| {
        envelope.topic == (StoredTopic::Session { id: session })
            && matches!(envelope.event, Event::TurnEnded { .. })
    });
}

/// Replaces values that vary from run to run: ids by their order, times and paths by their kind.
struct Normalizer {
    ids: HashMap<String, String>,
    paths: Vec<(String, &'static str)>,
}

impl Normalizer {
    fn new(home: &TempHome) -> Self {
        let paths = [(home.work(), "[work]"), (home.octo(), "[octo]"), (home.home(), "[home]")];
        let text = |(path, name): (std::path::PathBuf, _)| (path.to_str().unwrap().to_owned(), name);
        Self { ids: HashMap::new(), paths: paths.map(text).to_vec() }
    }

    fn tidy(&mut self, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                // The texts of tools for the model may change freely.
                if fields.get("type").is_some_and(|kind| kind == "tool_result") {
                    fields["text"] = json!("[result]");
                }
                for (name, value) in fields {
                    let is_time = matches!(
                        name.as_str(),
                        "at" | "created_at"
                            | "updated_at"
                            | "started_at"
                            | "ended_at"
                            | "duration_ms"
                            | "first_byte_ms"
                            | "total_ms"
                    );
                    match value {
                        Value::Number(_) if matches!(name.as_str(), "context_tokens" | "expected_read") => {
                            *value = json!("[tokens]");
                        }
                        Value::Number(_) if is_time => *value = json!("[time]"),
                        Value::String(text) if name == "version" => *text = "[version]".to_owned(),
                        _ if name == "usage" => *value = json!("[usage]"),
                        _ if name == "type" => {}
                        value => self.tidy(value),
                    }
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.tidy(value)),
            Value::String(text) => {
                let next = format!("[id {}]", self.ids.len() + 1);
                if text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                    *text = self.ids.entry(text.clone()).or_insert(next).clone();
                } else if text.starts_with("http://127.0.0.1:") {
                    *text = "[server]".to_owned();
                } else if text.starts_with("Today is ") {
                    *text = "[surroundings]".to_owned();
                } else {
                    for (path, name) in &self.paths {
                        *text = text.replace(path, name);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

#[test]
fn the_lines_of_a_turn() {
    let home = TempHome::new();
    let script = Script::new().call("write", json!({ "path": "a.txt", "content": "hi\n" })).text("Written.");
    let server = ModelServer::start(script);
    let mut core = serve(&home);
    let model = connect(&mut core, &server);
    let session = begin(&mut core, &home, model.id, "write a.txt");
    ended(&core, session);
    let topic = StoredTopic::Session { id: session };
    let events: Vec<Value> = until("the end of the turn in the head, and of its task", || {
        let events = core.events();
        let idle = events.iter().rev().any(|envelope| {
            matches!(&envelope.event, Event::SessionChanged { info } if info.status == octo_protocol::SessionStatus::Idle)
        });
        // The last of a turn's events.
        let settled = events.iter().any(|envelope| matches!(&envelope.event, Event::TasksChanged));
        (idle && settled).then(|| {
            let own = events.iter().filter(|envelope| envelope.topic == topic);
            own.map(|envelope| serde_json::to_value(envelope).unwrap()).collect()
        })
    });
    let mut events = Value::Array(events);
    let mut tidy = Normalizer::new(&home);
    tidy.tidy(&mut events);
    insta::assert_json_snapshot!("events_of_a_turn", events);
    let mut reply =
        core.request(&serde_json::to_value(Request::from(OpenSession { session })).unwrap()).unwrap();
    tidy.tidy(&mut reply);
    insta::assert_json_snapshot!("reply_open_session", reply);
    server.assert_clean();
    let exit = core.close(PATIENCE);
    assert!(exit.status.success());
    for topic in [topic, StoredTopic::Sessions, StoredTopic::Settings] {
        let numbers: Vec<u64> = exit
            .events
            .iter()
            .filter(|envelope| envelope.topic == topic)
            .map(|envelope| envelope.seq)
            .collect();
        let expected: Vec<u64> = (1..=numbers.len() as u64).collect();
        assert_eq!(numbers, expected, "{topic}: from 1, without gaps");
    }
}

#[test]
fn a_slow_request_blocks_no_other() {
    let home = TempHome::new();
    let server = ModelServer::start(Reply::hang());
    let mut core = serve(&home);
    let draft = ModelDraft {
        id: None,
        protocol: Protocol::OpenaiChat,
        base_url: server.url(),
        model: "slow".to_owned(),
        key: None,
        headers: None,
    };
    let slow = core.send(&TestModel { draft }.into());
    server.wait_received(1);
    let about = core.call(GetAbout {}).unwrap();
    assert_eq!(std::path::Path::new(&about.home), home.octo());
    core.call(GetSettings {}).unwrap();
    // The slow one is still pending; it is abandoned when the process must end.
    assert!(slow < core.send(&GetAbout {}.into()));
    core.kill();
}

#[test]
fn requests_reach_a_session_in_order() {
    let home = TempHome::new();
    let gate = Gate::new();
    let server = ModelServer::start(Script::new().reply(Reply::text("ok").hold_after(0, &gate)).text("all"));
    let mut core = serve(&home);
    let model = connect(&mut core, &server);
    let session = begin(&mut core, &home, model.id, "begin");
    gate.wait_reached(PATIENCE);
    let words: Vec<String> = (0..50).map(|number| format!("message {number}")).collect();
    let ids: Vec<u64> =
        words.iter().map(|words| core.send(&Send { session, blocks: text(words) }.into())).collect();
    for id in ids {
        let sent: SendOutcome = serde_json::from_value(core.reply(id).unwrap()).unwrap();
        assert!(matches!(sent, SendOutcome::Queued { .. }), "{sent:?}");
    }
    let queue = core.call(OpenSession { session }).unwrap().queue;
    let queued: Vec<Vec<Block>> = queue.into_iter().map(|queued| queued.blocks).collect();
    assert_eq!(queued, words.iter().map(|words| text(words)).collect::<Vec<_>>());
    gate.open();
    ended(&core, session);
    server.assert_clean();
}

#[test]
fn an_invalid_line_is_reported_and_the_next_one_served() {
    let home = TempHome::new();
    let mut core = serve(&home);
    let secret = "sk-in-a-broken-line";
    for line in [
        "nonsense".to_owned(),
        "{}".to_owned(),
        r#"{"id":1}"#.to_owned(),
        r#"{"id":-1,"request":{"domain":"app","call":{"type":"get_about"}}}"#.to_owned(),
        r#"{"id":1,"request":{"domain":"app","call":{"type":"unheard_of"}}}"#.to_owned(),
        format!(
            r#"{{"id":1,"request":{{"domain":"models","call":{{"type":"save_model","draft":{{"key":"{secret}"}}}}}}}}"#
        ),
        "\u{0}\u{1}".to_owned(),
    ] {
        core.send_line(&line);
    }
    core.send_line("");
    core.send_line("   ");
    core.call(GetAbout {}).unwrap();
    let complaints = core.unmatched_errors();
    assert_eq!(complaints.len(), 7, "{complaints:?}");
    assert!(complaints.iter().all(|error| error.key == "serve.bad_line"));
    assert!(!format!("{complaints:?}{}", core.stderr()).contains(secret));
    assert!(core.noise().is_empty());
}

#[test]
fn an_endless_line_is_reported() {
    let home = TempHome::new();
    let mut core = serve(&home);
    core.send_line(&"x".repeat(64 * 1024 * 1024 + 1));
    core.call(GetAbout {}).unwrap();
    let keys: Vec<String> = core.unmatched_errors().into_iter().map(|error| error.key).collect();
    assert_eq!(keys, ["serve.long_line"]);
}

#[test]
fn desktop_requests_are_refused() {
    let home = TempHome::new();
    let mut core = serve(&home);
    let error = core.call(HostRequest::PickFolder { start: None }).unwrap_err();
    assert_eq!((error.key.as_str(), error.code), ("host.not_here", Some(ErrorCode::NotHere)));
    let error = core.call(OpenSession { session: SessionId::new() }).unwrap_err();
    assert_eq!(error.code, Some(ErrorCode::UnknownSession));
}

#[test]
fn requests_before_the_end_of_input_are_answered() {
    let home = TempHome::new();
    let mut child = Command::new(BINARY)
        .arg("serve")
        .envs(environment(&home))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    for id in 1..=20_u64 {
        let request = Request::from(ListSessions {
            query: String::new(),
            filter: Default::default(),
            offset: 0,
            limit: 10,
        });
        writeln!(input, "{}", json!({ "id": id, "request": request })).unwrap();
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let mut ids: Vec<u64> = BufReader::new(&output.stdout[..])
        .lines()
        .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap())
        .filter_map(|line| line["response"].is_object().then(|| line["id"].as_u64().unwrap()))
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, (1..=20).collect::<Vec<_>>());
}

#[test]
fn a_termination_signal_ends_it_in_order_and_the_turn_goes_on_later() {
    let home = TempHome::new();
    let gate = Gate::new();
    let script = Script::new().reply(Reply::text("never whole").hold_after(1, &gate)).text("Whole.");
    let server = ModelServer::start(script);
    let mut core = serve(&home);
    let model = connect(&mut core, &server);
    let session = begin(&mut core, &home, model.id, "go");
    gate.wait_reached(PATIENCE);
    kill(Pid::from_raw(core.pid().try_into().unwrap()), Signal::SIGTERM).unwrap();
    until("the end of the process", || crate::support::is_gone(core.pid().try_into().unwrap()).then_some(()));
    let exit = core.close(PATIENCE);
    assert!(exit.status.success(), "{:?}", exit);
    assert!(!exit.events.iter().any(|envelope| matches!(envelope.event, Event::TurnEnded { .. })));

    let mut core = serve(&home);
    ended(&core, session);
    let snapshot = core.call(OpenSession { session }).unwrap();
    assert_eq!(snapshot.page.turns.len(), 1, "the same turn, gone on with");
    assert_eq!(snapshot.page.messages.last().unwrap().text(), "Whole.");
    server.assert_clean();
}

#[test]
fn serve_ends_when_its_reader_closes() {
    let home = TempHome::new();
    let mut child = Command::new(BINARY)
        .arg("serve")
        .envs(environment(&home))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let ask = json!({ "id": 1, "request": Request::from(GetAbout {}) }).to_string();
    writeln!(input, "{ask}").unwrap();
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert!(line.contains("\"id\":1"), "{line}");
    drop(output);
    writeln!(input, "{ask}").unwrap();
    let status = until("its end", || child.try_wait().unwrap());
    assert!(status.success());
    drop(input);
    let errors = child.wait_with_output().unwrap().stderr;
    assert!(!String::from_utf8_lossy(&errors).contains("panicked"));
}

#[test]
fn two_processes_do_not_drive_one_session() {
    let home = TempHome::new();
    let server = ModelServer::start(Script::new().text("Mine."));
    let mut one = serve(&home);
    let model = connect(&mut one, &server);
    let session = begin(&mut one, &home, model.id, "hi");
    ended(&one, session);
    let mut other = serve(&home);
    let error = other.call(Send { session, blocks: text("mine too") }).unwrap_err();
    assert_eq!(error.code, Some(ErrorCode::InUse), "{error:?}");
    one.close(PATIENCE);
    server.push(Reply::text("Now yours."));
    other.call(Send { session, blocks: text("now?") }).unwrap();
    ended(&other, session);
    server.assert_clean();
}
