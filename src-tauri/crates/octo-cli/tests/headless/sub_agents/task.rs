//! The job: in each part three sub-agents look for something, leave a file and a line, and report.
//!
//! The model is a pure function of its request, so it continues after any kill.

use octo_testkit::{RecordedRequest, Reply, TempHome};
use serde_json::{Value, json};

/// Number of parts of the job.
pub const PARTS: usize = 4;

/// Things each part's sub-agents look for.
const THINGS: [&str; 3] = ["heron", "otter", "newt"];

/// Returns the person's message that starts a part.
pub fn part(number: usize) -> String {
    format!("Do part {number} now.")
}

/// Returns the report of a sub-agent that looked for something.
pub fn found(expected: &str) -> String {
    format!("Found {}.", mark(expected).unwrap_or_default())
}

/// Counts a sub-agent's lines in the log.
pub fn lines(home: &TempHome, expected: &str) -> usize {
    let log = std::fs::read_to_string(home.work().join("log.txt")).unwrap_or_default();
    let mark = mark(expected).expect("a mark");
    log.lines().filter(|line| *line == mark).count()
}

/// Returns the existing files. A write cut off by a kill may leave its new content next to the file, hidden and
/// under one of Octo's own names: that file is not the job's.
pub fn files(home: &TempHome) -> Vec<String> {
    let entries = std::fs::read_dir(home.work()).expect("the folder").flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> =
        names.filter(|name| !(name.starts_with(".octo-") && name.ends_with(".tmp"))).collect();
    names.sort();
    names
}

/// Returns the subject of a text: the first `p<part>-<thing>-a<attempt>` in it.
fn mark(text: &str) -> Option<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    words.into_iter().find(|word| word.starts_with('p') && word.contains("-a")).map(str::to_owned)
}

/// A call of the conversation with its result.
struct MadeSubAgentCall {
    name: String,
    input: String,
    result: String,
}

pub fn answer(request: &RecordedRequest) -> Reply {
    let messages = request.messages();
    let forked =
        messages.iter().rposition(|message| message_text(message).contains("<octo-notice kind=\"fork\">"));
    match forked {
        Some(place) => child(&message_text(&messages[place]), &calls(&messages[place..])),
        None => parent(messages),
    }
}

/// Returns a sub-agent's reply: it leaves a file and a line, then reports.
fn child(wish: &str, made: &[MadeSubAgentCall]) -> Reply {
    let (_, wish) = wish.split_once("Look for").expect("a wish");
    let mark = mark(wish).expect("a mark");
    if made.is_empty() {
        return Reply::text("I look.")
            .and_call("write", json!({ "path": format!("{mark}.txt"), "content": format!("{mark}\n") }))
            .and_call("terminal", json!({ "command": format!("sleep 0.02; echo {mark} >> log.txt") }))
            .in_chunks(6);
    }
    if !made.iter().any(|call| call.name == "file_reader") {
        return Reply::call("file_reader", json!({ "path": format!("{mark}.txt") })).in_chunks(4);
    }
    Reply::text(format!("I looked.\n\nFound {mark}.")).in_chunks(6)
}

/// Returns the parent's reply: it starts three sub-agents at once, again any that did not report, writes its
/// own file, and finishes.
fn parent(messages: &[Value]) -> Reply {
    let starts_part = |message: &Value, number: usize| {
        message["role"] == "user" && message_text(message).contains(&part(number))
    };
    let (start, number) = messages
        .iter()
        .enumerate()
        .rev()
        .find_map(|(place, message)| Some((place, (1..=PARTS).find(|&number| starts_part(message, number))?)))
        .expect("a part was begun");
    let made = calls(&messages[start..]);
    let words = format!("Working on part {number}. ").repeat(3);
    let mut reply = Reply::text(words);
    let mut all = true;
    for thing in THINGS {
        let mine = format!("p{number}-{thing}-a");
        let attempts: Vec<&MadeSubAgentCall> =
            made.iter().filter(|call| call.name == "invoke_skill" && call.input.contains(&mine)).collect();
        if attempts.iter().any(|call| call.result.contains(&format!("Found {mine}"))) {
            continue;
        }
        all = false;
        let task = format!("Look for {mine}{}", attempts.len());
        reply = reply.and_call("invoke_skill", json!({ "skill_name": "explore", "task": task }));
    }
    if !all {
        return reply.in_chunks(8);
    }
    let own = format!("p{number}-parent.txt");
    let writes: Vec<&MadeSubAgentCall> =
        made.iter().filter(|call| call.name == "write" && call.input.contains(&own)).collect();
    let is_certain = |call: &&MadeSubAgentCall| {
        !call.result.starts_with("Not run") && !call.result.contains("effect unknown")
    };
    if writes.iter().any(is_certain) {
        return Reply::text(format!("Part {number} is done.")).in_chunks(4);
    }
    let content = format!("part {number}, attempt {}\n", writes.len());
    Reply::call("write", json!({ "path": own, "content": content })).in_chunks(4)
}

fn message_text(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// The calls in these messages, with their results.
fn calls(messages: &[Value]) -> Vec<MadeSubAgentCall> {
    let blocks = |message: &Value| message["content"].as_array().cloned().unwrap_or_default();
    let all: Vec<Value> = messages.iter().flat_map(blocks).collect();
    let result = |id: &Value| {
        let found = all.iter().find(|block| block["type"] == "tool_result" && block["tool_use_id"] == *id);
        found.map(|block| block["content"].to_string()).unwrap_or_default()
    };
    let calls = all.iter().filter(|block| block["type"] == "tool_use");
    calls
        .map(|call| MadeSubAgentCall {
            name: call["name"].as_str().unwrap_or_default().to_owned(),
            input: call["input"].to_string(),
            result: result(&call["id"]),
        })
        .collect()
}
