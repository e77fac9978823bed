//! One session in each wire form, as an Octo of November 2026 made it: the bytes of every request to the model, and every
//! line that `exec --json` and `serve` wrote. Nothing of it may change with what things are called in the source.
//!
//! What differs from run to run is replaced: ids by their order, times, and the places of the test. After a change that
//! is meant the files are written with `OCTO_WRITE_GOLDENS=1`.

mod frozen;
mod hooks;
mod normal;

use crate::support::{BINARY, ExecResult, environment, exec};
use normal::Normal;
use octo_llm::codec;
use octo_protocol::{
    Block, Mode, ModelDraft, ModelEntry, Profile, Protocol, Request, SaveModel, SessionInfo, StartSession,
};
use octo_testkit::{ModelServer, Reply, Script, TempHome, check_golden, day::EXPLORE};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    process::{Command, Stdio},
};

/// What Bedrock's requests are signed with.
const CREDENTIALS: [(&str, &str); 3] =
    [("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"), ("AWS_SECRET_ACCESS_KEY", "k"), ("AWS_REGION", "eu-west-1")];

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// Two calls at once, a sub-agent that makes one, and an answer.
fn script() -> Script {
    Script::new()
        .reply(
            Reply::text("I write it.")
                .and_call("write", json!({ "path": "a.txt", "content": "a heron\n" }))
                .and_call("terminal", json!({ "command": "echo \"hi\"" })),
        )
        .call("invoke_skill", json!({ "skill_name": "explore", "task": "Look for the heron 苍鹭" }))
        .call("file_reader", json!({ "path": "a.txt" }))
        .text("It is in a.txt.")
        .text("Done: **a.txt**.")
}

/// A home with the skill that works in a sub-agent.
fn home() -> TempHome {
    let home = TempHome::new();
    let skill = home.octo().join("skills/explore");
    std::fs::create_dir_all(&skill).unwrap();
    std::fs::write(skill.join("SKILL.md"), EXPLORE).unwrap();
    home
}

/// The bodies of the server's requests, a line each. What an earlier one has word for word, tools and prompt, is said
/// once.
fn requests(server: &ModelServer, normal: &mut Normal) -> String {
    let mut known: Vec<(String, String)> = Vec::new();
    let mut lines = String::new();
    for request in server.requests() {
        let body = normal.text(&String::from_utf8(request.raw.clone()).unwrap());
        let mut line = body.clone();
        for (long, name) in &known {
            line = line.replace(long, name);
        }
        for key in ["tools", "toolConfig", "system", "instructions"] {
            let name = format!("[{key} of request {}]", request.number + 1);
            if let Some(value) = member(&body, key).filter(|value| value.len() > 1_000) {
                known.push((value.to_owned(), name));
            }
        }
        lines += &format!("{} {line}\n", normal.text(&request.path));
    }
    lines
}

/// The text of an object's member, as it stands in it.
fn member<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let (_, value) = text.split_once(&format!("\"{key}\":"))?;
    let mut values = serde_json::Deserializer::from_str(value).into_iter::<serde::de::IgnoredAny>();
    values.next()?.ok()?;
    value.get(..values.byte_offset())
}

#[test]
fn every_wire_form_sends_the_same_bytes_and_exec_prints_the_same_lines() {
    for form in Protocol::ALL.map(|protocol| codec(protocol).name) {
        let home = home();
        let server = ModelServer::start(script());
        let url = server.url();
        let options = [
            "--protocol",
            form,
            "--base-url",
            &url,
            "--model",
            "m.v1:0",
            "--mode",
            "autonomous",
            "--json",
            "write a heron",
        ];
        let exec_result = ExecResult::of(exec(&home, &options).envs(CREDENTIALS).output().unwrap()).expect(0);
        server.assert_clean();
        let mut normal = Normal::new(&home, &server);
        check_golden(&golden(&format!("exec-{form}.jsonl")), &normal.text(&exec_result.out));
        let mut normal = Normal::new(&home, &server);
        check_golden(&golden(&format!("requests-{form}.txt")), &requests(&server, &mut normal));
    }
}

/// `serve` with what is written to it and read from it, line by line.
struct Lines {
    child: std::process::Child,
    out: BufReader<std::process::ChildStdout>,
    read: Vec<String>,
}

impl Lines {
    fn start(home: &TempHome) -> Self {
        let mut child = Command::new(BINARY)
            .arg("serve")
            .envs(environment(home))
            .envs(CREDENTIALS)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, out, read: Vec::new() }
    }

    fn send(&mut self, id: u64, request: Request) {
        let line = json!({ "id": id, "request": request });
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Reads up to a line that is so.
    fn until(&mut self, so: impl Fn(&Value) -> bool) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.out.read_line(&mut line).unwrap() > 0, "it ended: {:#?}", self.read);
            let value: Value = serde_json::from_str(&line).unwrap();
            self.read.push(line);
            if so(&value) {
                return value;
            }
        }
    }

    fn end(mut self) -> Vec<String> {
        drop(self.child.stdin.take());
        self.read.extend((&mut self.out).lines().map(|line| line.unwrap() + "\n"));
        assert!(self.child.wait().unwrap().success());
        self.read
    }
}

#[test]
fn serve_writes_the_same_lines_in_every_wire_form() {
    for protocol in Protocol::ALL {
        let form = codec(protocol).name;
        let home = home();
        let server = ModelServer::start(script());
        let mut serve = Lines::start(&home);
        let draft = ModelDraft {
            id: None,
            protocol,
            base_url: server.url(),
            model: "m.v1:0".to_owned(),
            key: None,
            headers: None,
        };
        serve.send(1, SaveModel { draft }.into());
        let saved = serve.until(|line| line["id"] == 1);
        let model: ModelEntry = serde_json::from_value(saved["response"].clone()).unwrap();
        let start = StartSession {
            folder: home.work().to_str().unwrap().to_owned(),
            profile: Profile::GENERAL,
            mode: Mode::Autonomous,
            model: Some(model.id),
            effort: None,
            title: None,
            blocks: vec![Block::Text { text: "write a heron".to_owned() }],
        };
        serve.send(2, start.into());
        let begun = serve.until(|line| line["id"] == 2);
        let session: SessionInfo = serde_json::from_value(begun["response"].clone()).unwrap();
        let own = session.id.to_string();
        // The last of a turn's events.
        serve.until(|line| {
            line["event"]["topic"]["id"] == own.as_str() && line["event"]["event"]["type"] == "tasks_changed"
        });
        server.assert_clean();
        let lines = serve.end();
        let mut normal = Normal::new(&home, &server);
        check_golden(&golden(&format!("serve-{form}.jsonl")), &normal.text(&by_topic(&lines, &own)));
    }
}

/// The lines in the order of what they are about: those of different topics come as they happen to.
fn by_topic(lines: &[String], session: &str) -> String {
    let index_of = |line: &String| {
        let value: Value = serde_json::from_str(line).unwrap();
        let topic = &value["event"]["topic"];
        match (topic["type"].as_str(), topic["id"].as_str()) {
            (None, _) => 0,
            (Some("session"), Some(id)) if id == session => 1,
            (Some("session"), _) => 2,
            (Some("sessions"), _) => 3,
            (Some(_), _) => 4,
        }
    };
    let mut lines: Vec<&String> = lines.iter().collect();
    lines.sort_by_key(|line| index_of(line));
    lines.into_iter().map(String::as_str).collect()
}
