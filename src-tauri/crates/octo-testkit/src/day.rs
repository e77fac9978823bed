//! A day's work for tests of long use: sessions are used and left, tasks run on schedule, sub-agents and
//! background commands start and end. The model's answer is a pure function of the request.

use crate::{RecordedRequest, Reply};
use octo_protocol::{MissedRun, Mode, Profile, TaskNotifications, TaskPlan, TaskRetry, Timing};
use serde_json::json;
use std::{fs, path::Path};

/// The skill that runs in a sub-agent.
pub const EXPLORE: &str = "---
name: explore
description: Looks around, in a sub-agent.
context: fork
---

Look around as you are told.
";

/// Prepares a home for the day: installs the skill and records that the scripted model behind `url` caches
/// nothing. A cache would keep sessions open for minutes of real time.
pub fn prepare(home: &Path, url: &str) {
    let skill = home.join("skills").join("explore");
    fs::create_dir_all(&skill).expect("a folder of skills");
    fs::write(skill.join("SKILL.md"), EXPLORE).expect("a skill");
    let presets = json!({
        "version": 1,
        "providers": [{
            "id": "scripted",
            "name": "Scripted",
            "addresses": [{ "url": url }],
            "protocol": "anthropic",
            "caching": { "kind": "none", "minimum": 0 },
            "rows": [{ "name": "scripted" }],
        }],
    });
    fs::write(home.join("presets.json"), presets.to_string()).expect("presets");
}

/// Returns the user's message for a turn.
pub fn turn(session: usize, turn: usize) -> String {
    let about = "It should fit what is there, and say why it is as it is. ".repeat(6);
    format!("Step {turn} of session {session}, please.\n\n{about}")
}

/// Returns a task that writes a line to a file in the folder every five minutes.
pub fn task(folder: &Path, number: usize) -> TaskPlan {
    TaskPlan {
        name: format!("watch-{number}"),
        prompt: format!("Look after pond {number}."),
        when: Timing::Cron { expression: format!("{number}-59/5 * * * *") },
        zone: "UTC".to_owned(),
        folder: folder.display().to_string(),
        profile: Profile::GENERAL,
        mode: Mode::Autonomous,
        model: None,
        budget: None,
        minutes: 60,
        retry: TaskRetry::default(),
        missed: MissedRun::RunOnce,
        tell: TaskNotifications::Trouble,
    }
}

/// Returns the model's next reply.
pub fn answer(request: &RecordedRequest) -> Reply {
    let body = String::from_utf8_lossy(&request.raw);
    let prompt = request.user_text();
    if prompt.contains("<octo-notice kind=\"compaction\">") {
        return Reply::text(
            "The files were written one after the other; all of them are as wanted. ".repeat(20),
        );
    }
    if body.contains("<octo-notice kind=\\\"fork\\\">") {
        return sub_agent(request);
    }
    if body.contains("Look after pond") {
        return match request.answers() {
            0 => Reply::call("terminal", json!({ "command": "echo seen >> pond.log; tail -c 100 pond.log" })),
            _ => Reply::text("The pond is as it was."),
        };
    }
    match step(&prompt) {
        // A new turn of the user.
        Some((session, turn)) => first(session, turn),
        None => next(request),
    }
}

/// Returns the session and the step named in the newest user text.
fn step(text: &str) -> Option<(usize, usize)> {
    let description = text.rsplit_once("Step ")?.1;
    let (turn, description) = description.split_once(" of session ")?;
    Some((description.split_once(',')?.0.parse().ok()?, turn.parse().ok()?))
}

/// Returns the first reply of a turn: it always writes a file and in some turns also starts sub-agents or a
/// background command.
fn first(session: usize, turn: usize) -> Reply {
    let content = format!("step {turn} of session {session}\n").repeat(60);
    let reply = Reply::text(format!("I write the file of step {turn}, then I look at it."))
        .and_call("write", json!({ "path": format!("s{session}-step-{turn}.txt"), "content": content }));
    match turn % 10 {
        3 => ["herons", "newts"].into_iter().fold(reply, |reply, topic| {
            let task = format!("Count the {topic} of step {turn}.");
            reply.and_call("invoke_skill", json!({ "skill_name": "explore", "task": task }))
        }),
        6 => {
            let command = format!("sleep 0.1; echo step {turn} >> background.log");
            reply.and_call("terminal", json!({ "command": command, "async": true }))
        }
        _ => reply,
    }
    .in_chunks(6)
}

/// Returns a turn's following replies: a command and a read of the file, then the answer.
fn next(request: &RecordedRequest) -> Reply {
    let results = request.results();
    let wrote = results.iter().any(|result| result.text.contains("step-"));
    if wrote && !results.iter().any(|result| result.text.contains("lines of steps")) {
        return Reply::text("Now the lines.")
            .and_call("terminal", json!({ "command": "cat *step-*.txt | wc -l; echo lines of steps" }))
            .and_call("glob", json!({ "pattern": "*step-*.txt" }))
            .in_chunks(4);
    }
    Reply::text("That is done; every line is there, and the count is right.").in_chunks(4)
}

/// Returns the next reply of a sub-agent, which runs one command and reports.
fn sub_agent(request: &RecordedRequest) -> Reply {
    if request.results().iter().any(|result| result.text.contains("counted")) {
        return Reply::text("There are three of them.");
    }
    Reply::call("terminal", json!({ "command": "ls | wc -l; echo counted" }))
}
