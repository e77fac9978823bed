//! What a person's hooks are told, at each of their moments; and the files of a home in which a session worked.

use super::{golden, home, normal::Normal, script};
use crate::support::{ExecResult, connect, exec, serve, until};
use octo_protocol::{Block, Mode, Profile, Send, StartSession};
use octo_testkit::{ModelServer, Reply, Script, check_golden};
use serde_json::json;

const MOMENTS: [&str; 5] = ["session_start", "before_tool", "after_tool", "error", "finish"];

#[test]
fn hooks_receive_the_same_bytes() {
    let home = home();
    let hooks: String = MOMENTS
        .iter()
        .map(|on| {
            format!(
                "[[hook]]\non = \"{on}\"\ncommand = \"(cat; echo) >> '{}/heard-{on}.jsonl'\"\n",
                home.home().display()
            )
        })
        .collect();
    std::fs::write(home.octo().join("hooks.toml"), hooks).unwrap();
    let hook_input = |on: &str| {
        let path = home.home().join(format!("heard-{on}.jsonl"));
        // Written after the turn: nothing waits for it.
        until(on, || std::fs::read_to_string(&path).ok().filter(|text| text.ends_with("}\n")))
    };
    let server = ModelServer::start(
        Script::new()
            .call("write", json!({ "path": "a.txt", "content": "a heron\n" }))
            .text("Done.")
            .reply(Reply::error(400, "invalid_request_error", "no")),
    );
    let mut core = serve(&home);
    let model = connect(&mut core, &server);
    let words = |text: &str| vec![Block::Text { text: text.to_owned() }];
    let start = StartSession {
        folder: home.work().to_str().unwrap().to_owned(),
        profile: Profile::GENERAL,
        mode: Mode::Autonomous,
        model: Some(model.id),
        effort: None,
        title: None,
        blocks: words("write"),
    };
    let session = core.call(start).unwrap().id;
    hook_input("finish");
    core.call(Send { session, blocks: words("fail") }).unwrap();
    hook_input("error");
    let mut normal = Normal::new(&home, &server);
    let all: String = MOMENTS.iter().map(|on| normal.text(&hook_input(on))).collect();
    check_golden(&golden("hooks.jsonl"), &all);
}

/// Paths of the files below a folder, without what one Octo's run alone has.
fn files(folder: &std::path::Path, below: &std::path::Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            files(&path, below, found);
        } else {
            found.push(path.strip_prefix(below).unwrap().to_str().unwrap().to_owned());
        }
    }
}

#[test]
fn a_session_leaves_the_same_files_in_the_home() {
    let home = home();
    let server =
        ModelServer::start(script().call("terminal", json!({ "command": "rm a.txt" })).text("Gone."));
    let url = server.url();
    let options = ["--protocol", "anthropic", "--base-url", &url, "--model", "m", "--mode", "autonomous"];
    let run = |arguments: &[&str]| {
        ExecResult::of(exec(&home, &[&options[..], arguments].concat()).output().unwrap()).expect(0)
    };
    let session = run(&["write a heron"]).session().to_string();
    run(&["--session", &session, "remove it"]);
    let mut found = Vec::new();
    files(&home.octo(), &home.octo(), &mut found);
    found.sort();
    let mut normal = Normal::new(&home, &server);
    let mut text = String::new();
    for path in found {
        // What comes with Octo is its skills' own business, and how blobs and logs are called follows from what is in them.
        let top = path.split('/').next().unwrap();
        if !matches!(top, "bundled-skills" | "logs" | "blobs" | "scripts" | "skills") {
            text += &path;
            text.push('\n');
            if path.ends_with(".json") {
                text += &std::fs::read_to_string(home.octo().join(&path)).unwrap();
                text.push('\n');
            }
        } else if !text.lines().any(|line| line == format!("{top}/…")) {
            text += &format!("{top}/…\n");
        }
    }
    check_golden(&golden("home-files.txt"), &normal.hashes(&text));
}
