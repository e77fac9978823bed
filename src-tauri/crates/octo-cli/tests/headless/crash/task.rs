//! The job: ten parts, each a turn that writes, changes and reads a file, runs a command, and sometimes asks.
//!
//! The model is a pure function of its request, so it continues after any kill.

use super::known::result_of;
use octo_protocol::{Answer, Block, CallStatus, SessionSnapshot};
use octo_testkit::{RecordedRequest, Reply, TempHome};
use serde_json::{Value, json};

/// Number of parts of the job.
pub const PARTS: usize = 10;

/// Beginning of a queued message.
pub const NOTE: &str = "By the way, note";

/// Returns the person's message that starts a part.
pub fn part(number: usize) -> String {
    format!("Do part {number} now.")
}

/// Returns whether a message is sent during a part.
pub fn has_note(number: usize) -> bool {
    number != 5
}

/// Returns whether a part's command is refused.
fn is_refused(number: usize) -> bool {
    number == 7
}

/// Returns whether the model asks a question in a part.
fn has_question(number: usize) -> bool {
    number.is_multiple_of(3)
}

/// Returns the part a text belongs to, by the mark `p<number>-` in all names of a part.
pub fn part_of(text: &str) -> usize {
    let marks = text.split("p").filter_map(|tail| tail.split_once('-')?.0.parse().ok());
    marks.into_iter().next().unwrap_or_else(|| panic!("no part in {text}"))
}

/// Returns the person's answer to a permission question.
pub fn permission(tool: &str, shown: &str) -> Answer {
    if tool == "terminal" && is_refused(part_of(shown)) {
        Answer::No { reason: Some("not this one".to_owned()) }
    } else {
        Answer::Once
    }
}

fn file(number: usize) -> String {
    format!("p{number}-file.txt")
}

/// A call of the conversation with its result.
#[derive(Debug)]
struct MadeCall {
    name: String,
    result: String,
}

impl MadeCall {
    /// Whether it did not start and must be called again.
    fn was_not_run(&self) -> bool {
        self.result.starts_with("Not run")
    }

    /// Whether it started and its outcome is unknown.
    fn is_uncertain(&self) -> bool {
        self.result.contains("effect unknown")
    }
}

/// Returns the model's next reply: the first unfinished step of the newest part.
pub fn answer(request: &RecordedRequest) -> Reply {
    let (number, made) = newest_part(request.messages());
    let attempts = |name: &str| made.iter().filter(|call| call.name == name).count();
    let done = |name: &str| {
        made.iter()
            .any(|call| call.name == name && !call.was_not_run() && (name != "write" || !call.is_uncertain()))
    };
    let words = format!("Working on part {number}. ").repeat(4);
    // Never the same call twice: it would be refused as a loop.
    let attempt = attempts("write");
    let file = file(number);
    let reply = if !done("write") {
        let content = format!("part {number}\nattempt {attempt}\nstate one\n");
        Reply::text(words).and_call("write", json!({ "path": file, "content": content }))
    } else if !done("edit") || !done("terminal") {
        let mut reply = Reply::text(words);
        if !done("edit") {
            reply = reply.and_call(
                "edit",
                json!({ "path": file, "old_string": "state one", "new_string": "state two" }),
            );
        }
        if !done("terminal") {
            let attempt = attempts("terminal");
            let command = format!("sleep 0.02; echo p{number}-line {attempt} >> log.txt");
            reply = reply.and_call("terminal", json!({ "command": command }));
        }
        reply
    } else if !done("file_reader") || !done("glob") {
        let attempt = attempts("file_reader").max(attempts("glob"));
        Reply::text(words)
            .and_call("file_reader", json!({ "path": file, "max_lines": 100 + attempt }))
            .and_call("glob", json!({ "pattern": format!("p{number}-*"), "limit": 100 + attempt }))
    } else if has_question(number) && !done("request_user_feedback") {
        let attempt = attempts("request_user_feedback");
        let question = format!("Which colour has p{number}-file? ({attempt})");
        Reply::call("request_user_feedback", json!({ "question": question, "options": ["red", "blue"] }))
    } else {
        Reply::text(format!("Part {number} is done."))
    };
    reply.in_chunks(8)
}

/// The newest part, and the calls made in it.
fn newest_part(messages: &[Value]) -> (usize, Vec<MadeCall>) {
    let blocks = |message: &Value| message["content"].as_array().cloned().unwrap_or_default();
    let starts_part = |message: &Value, number: usize| {
        message["role"] == "user"
            && blocks(message).iter().any(|block| block["text"] == part(number).as_str())
    };
    let (start, number) = messages
        .iter()
        .enumerate()
        .rev()
        .find_map(|(place, message)| Some((place, (1..=PARTS).find(|&number| starts_part(message, number))?)))
        .expect("a part was begun");
    let all: Vec<Value> = messages[start..].iter().flat_map(blocks).collect();
    let result = |id: &Value| {
        let found = all.iter().find(|block| block["type"] == "tool_result" && block["tool_use_id"] == *id);
        let content = &found.expect("the server refuses a call without a result")["content"];
        match content {
            Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
            other => other.as_str().unwrap_or_default().to_owned(),
        }
    };
    let calls = all.iter().filter(|block| block["type"] == "tool_use").map(|block| MadeCall {
        name: block["name"].as_str().unwrap_or_default().to_owned(),
        result: result(&block["id"]),
    });
    (number, calls.collect())
}

/// Checks that a part's effects on the disk match the transcript.
pub fn check_effects(home: &TempHome, number: usize, snapshot: &SessionSnapshot) {
    let of_part = |name: &str| -> Vec<CallStatus> {
        let calls = snapshot.page.messages.iter().flat_map(|message| message.calls());
        let calls = calls.filter(|call| {
            call.name == name && call.arguments.contains('p') && part_of(&call.arguments) == number
        });
        calls.map(|call| result_of(snapshot, call.id).expect("every call has its result").status).collect()
    };
    let edits = of_part("edit");
    let content = home.read(file(number));
    let is_certain = edits.contains(&CallStatus::Done);
    let is_expected = content.ends_with("state two\n") || (!is_certain && content.ends_with("state one\n"));
    assert!(is_expected, "part {number}: {edits:?} but {content:?}");

    let log = std::fs::read_to_string(home.work().join("log.txt")).unwrap_or_default();
    let lines: Vec<&str> = log.lines().filter(|line| line.starts_with(&format!("p{number}-line"))).collect();
    let commands = of_part("terminal");
    let count = |status: CallStatus| commands.iter().filter(|&&one| one == status).count();
    let (at_least, at_most) =
        (count(CallStatus::Done), count(CallStatus::Done) + count(CallStatus::Interrupted));
    assert!((at_least..=at_most).contains(&lines.len()), "part {number}: {commands:?} but {lines:?}");
    if is_refused(number) {
        assert!(commands.contains(&CallStatus::Denied), "{commands:?}");
        assert!(lines.is_empty(), "what was refused was not run: {lines:?}");
    }
    let said =
        snapshot.page.messages.iter().flat_map(|message| &message.blocks).filter(
            |block| matches!(block, Block::Text { text } if *text == format!("Part {number} is done.")),
        );
    assert!(said.count() >= 1, "part {number} came to its end");
}
