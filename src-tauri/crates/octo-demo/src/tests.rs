//! The script as a table of conversations and steps; also checks that the project it builds works.

use super::{
    DemoProvider,
    project::{COMMAND, PROGRAM},
    script::{ScriptStep, next},
};
use futures::StreamExt;
use octo_llm::{CachePlan, ErrorClass, ModelEvent, ModelRequest, Provider};
use octo_protocol::{
    Block, CallId, CallStatus, Language, Message, MessageEnd, MessageId, Meta, Origin, Role, ToolCall,
    ToolResult, TurnId, words,
};
use proptest::prelude::*;
use std::{collections::BTreeMap, path::Path, process::Command, sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

const LANGUAGES: [Language; 2] = [Language::En, Language::Zh];

fn say(language: Language, key: &str) -> String {
    let message = words::say(language, key, &BTreeMap::new());
    assert_ne!(message, key, "the catalogue knows {key}");
    message
}

/// A conversation with the script.
struct Conversation {
    language: Language,
    messages: Vec<Message>,
}

impl Conversation {
    fn new(language: Language) -> Self {
        let mut tour = Self { language, messages: Vec::new() };
        tour.person("show me");
        tour
    }

    fn push(&mut self, role: Role, origin: Origin, blocks: Vec<Block>) {
        let meta = Meta::new(origin, 0);
        self.messages.push(Message { id: MessageId::new(), turn: TurnId::new(), role, blocks, meta });
    }

    fn person(&mut self, text: &str) {
        self.push(Role::User, Origin::Person, vec![Block::Text { text: text.to_owned() }]);
    }

    /// Returns the script's next message, without results for its calls.
    fn step(&mut self) -> ScriptStep {
        let step = next(&self.messages, self.language);
        let calls = step.calls.iter().map(|call| {
            Block::ToolCall(ToolCall {
                id: CallId::new(),
                provider_id: call.provider_id.clone(),
                name: call.tool.to_owned(),
                arguments: call.arguments.to_string(),
            })
        });
        let blocks = [Block::Text { text: step.text.clone() }].into_iter().chain(calls).collect();
        self.push(Role::Assistant, Origin::Model, blocks);
        step
    }

    /// Adds results for the last message's calls.
    fn results(&mut self, result: impl Fn(&ToolCall) -> (CallStatus, String)) {
        let calls: Vec<ToolCall> = self.messages.last().unwrap().calls().cloned().collect();
        let results = calls.iter().map(|call| {
            let (status, text) = result(call);
            let (call, provider_id) = (call.id, call.provider_id.clone());
            Block::ToolResult(ToolResult { call, provider_id, status, text, images: Vec::new() })
        });
        let results = results.collect();
        self.push(Role::User, Origin::Octo, results);
    }

    /// Completes every call; answers a question with this.
    fn done(&mut self, answer: &str) {
        self.results(|call| match call.name.as_str() {
            "request_user_feedback" => (CallStatus::Done, answer.to_owned()),
            _ => (CallStatus::Done, String::new()),
        });
    }

    fn all(&mut self, status: CallStatus, text: &str) {
        self.results(|_| (status, text.to_owned()));
    }

    /// Plays on, completing everything, until a call of this tool is made.
    fn until(&mut self, tool: &str, answer: &str) -> ScriptStep {
        for _ in 0..20 {
            let step = self.step();
            if step.calls.iter().any(|call| call.tool == tool) {
                return step;
            }
            self.done(answer);
        }
        panic!("no {tool} in 20 steps");
    }

    /// Plays on, completing everything, until a message without calls.
    fn play_out(&mut self, answer: &str) -> Vec<ScriptStep> {
        let mut steps = Vec::new();
        while steps.len() < 20 {
            let step = self.step();
            let is_finished = step.calls.is_empty();
            steps.push(step);
            if is_finished {
                return steps;
            }
            self.done(answer);
        }
        panic!("no end in 20 steps");
    }
}

fn tools(step: &ScriptStep) -> Vec<&'static str> {
    step.calls.iter().map(|call| call.tool).collect()
}

#[test]
fn the_first_sentence_says_that_it_is_no_model() {
    for (language, expected) in
        [(Language::En, "I am a script, not a model"), (Language::Zh, "我是一段脚本，不是模型")]
    {
        let step = Conversation::new(language).step();
        assert!(step.text.starts_with(expected), "{}", step.text);
        assert_eq!(tools(&step), ["todo_manager"]);
    }
}

#[test]
fn the_tour_shows_every_kind_of_thing() {
    for language in LANGUAGES {
        let mut tour = Conversation::new(language);
        let steps = tour.play_out(&say(language, "demo.option.total"));
        let tool_lists: Vec<Vec<&str>> = steps.iter().map(tools).collect();
        assert_eq!(
            tool_lists,
            [
                &["todo_manager"][..],
                &["write", "write"],
                &["todo_manager", "edit"],
                &["todo_manager", "terminal"],
                &["todo_manager", "request_user_feedback"],
                &["edit"],
                &["terminal"],
                &["todo_manager"],
                &[],
            ]
        );
        let ticked: Vec<i64> = steps
            .iter()
            .flat_map(|step| &step.calls)
            .filter(|call| call.arguments["action"] == "complete")
            .map(|call| call.arguments["id"].as_i64().unwrap())
            .collect();
        assert_eq!(ticked, [1, 2, 3, 4], "every item of the plan");
    }
}

/// Carries out a call as the tools do.
fn perform(folder: &Path, call: &ToolCall, answer: &str) -> String {
    let arguments: serde_json::Value = serde_json::from_str(&call.arguments).unwrap();
    let text = |name: &str| arguments[name].as_str().unwrap().to_owned();
    match call.name.as_str() {
        "write" => {
            std::fs::write(folder.join(text("path")), text("content")).unwrap();
            String::new()
        }
        "edit" => {
            let file = folder.join(text("path"));
            let before = std::fs::read_to_string(&file).unwrap();
            assert_eq!(
                before.matches(&text("old_string")).count(),
                1,
                "the text to replace is there once: {before}"
            );
            std::fs::write(&file, before.replace(&text("old_string"), &text("new_string"))).unwrap();
            String::new()
        }
        "terminal" => {
            let ran =
                Command::new("bash").arg("-c").arg(text("command")).current_dir(folder).output().unwrap();
            assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
            String::from_utf8(ran.stdout).unwrap()
        }
        "request_user_feedback" => answer.to_owned(),
        _ => String::new(),
    }
}

#[test]
fn the_program_it_builds_works() {
    for language in LANGUAGES {
        let octopus = if language == Language::Zh { "章鱼" } else { "octopus" };
        for (option, commands, last_lines) in
            [("demo.option.total", 2, 4), ("demo.option.names", 2, 5), ("demo.option.leave", 1, 3)]
        {
            let folder = tempfile::tempdir().unwrap();
            let mut tour = Conversation::new(language);
            let mut outputs = Vec::new();
            while !tour.step().calls.is_empty() {
                let calls: Vec<ToolCall> = tour.messages.last().unwrap().calls().cloned().collect();
                let mut values = BTreeMap::new();
                for call in &calls {
                    let text = perform(folder.path(), call, &say(language, option));
                    if call.name == "terminal" {
                        outputs.push(text.clone());
                    }
                    values.insert(call.provider_id.clone(), text);
                }
                tour.results(|call| (CallStatus::Done, values[&call.provider_id].clone()));
            }
            assert_eq!(outputs.len(), commands, "{option}");
            assert!(outputs[0].trim_start().starts_with(&format!("4 {octopus}")), "{}", outputs[0]);
            assert_eq!(outputs[0].lines().count(), 3);
            let last_output = outputs.last().unwrap();
            assert_eq!(last_output.lines().count(), last_lines, "{option}: {last_output}");
            if option == "demo.option.total" {
                assert!(last_output.ends_with("10 in all\n"), "{last_output}");
            }
        }
    }
}

#[test]
fn an_answer_is_found_in_either_language_and_in_a_sentence() {
    for (answer, follows) in [
        (say(Language::En, "demo.option.total"), "edit"),
        (say(Language::Zh, "demo.option.names"), "edit"),
        (format!("The person chose: {}", say(Language::En, "demo.option.names")), "edit"),
        (say(Language::En, "demo.option.leave"), "todo_manager"),
        ("make it green".to_owned(), "todo_manager"),
        (String::new(), "todo_manager"),
    ] {
        let mut tour = Conversation::new(Language::En);
        tour.until("request_user_feedback", "");
        tour.done(&answer);
        let step = tour.step();
        assert_eq!(tools(&step), [follows], "{answer}");
        if answer == "make it green" {
            assert_eq!(step.text, say(Language::En, "demo.unknown_choice"));
        }
    }
}

#[test]
fn a_denied_call_is_explained_and_can_be_repeated() {
    for tool in ["write", "edit", "terminal"] {
        let mut tour = Conversation::new(Language::En);
        let calls = tour.until(tool, "");
        tour.results(|call| match call.name.as_str() {
            "todo_manager" => (CallStatus::Done, String::new()),
            _ => (CallStatus::Denied, "no".to_owned()),
        });
        let step = tour.step();
        assert_eq!(step.text, say(Language::En, "demo.no"));
        assert_eq!(tools(&step), ["request_user_feedback"]);
        tour.done(&say(Language::En, "demo.no.retry"));
        let repeated: Vec<_> =
            tour.step().calls.into_iter().map(|call| (call.tool, call.arguments)).collect();
        let denied: Vec<_> = calls.calls.into_iter().filter(|call| call.tool == tool).collect();
        assert_eq!(repeated, denied.into_iter().map(|call| (call.tool, call.arguments)).collect::<Vec<_>>());
        tour.done("");
        let remaining_steps = tour.play_out(&say(Language::En, "demo.option.leave"));
        assert_eq!(
            tools(&remaining_steps[remaining_steps.len() - 2]),
            ["todo_manager"],
            "the tour goes on to its end"
        );
    }
}

#[test]
fn a_denial_can_end_the_tour_and_next_resumes_it() {
    for answer in [say(Language::En, "demo.no.end"), "nobody is there".to_owned()] {
        let mut tour = Conversation::new(Language::En);
        tour.until("edit", "");
        tour.all(CallStatus::Denied, "no");
        tour.step();
        tour.done(&answer);
        let end = tour.step();
        assert!(end.calls.is_empty());
        assert!(end.text.contains("Then we stop here"), "{}", end.text);
        tour.person("next");
        assert!(tools(&tour.step()).contains(&"edit"));
    }
}

#[test]
fn a_failed_tool_is_quoted_and_tried_again_when_asked() {
    let mut tour = Conversation::new(Language::En);
    tour.until("write", "");
    tour.all(CallStatus::Failed, "The disk is full.");
    let step = tour.step();
    assert!(step.calls.is_empty() && step.text.contains("The disk is full."), "{}", step.text);
    tour.person("Next.");
    assert_eq!(tools(&tour.step()), ["write", "write"]);
}

#[test]
fn a_change_of_unknown_outcome_is_repeated_safely() {
    for (option, count) in [("demo.option.total", 2), ("demo.option.names", 1)] {
        let mut tour = Conversation::new(Language::En);
        tour.until("request_user_feedback", "");
        tour.done(&say(Language::En, option));
        tour.until("edit", "");
        tour.all(CallStatus::Interrupted, "unknown");
        let step = tour.step();
        assert_eq!(tools(&step), ["write"]);
        assert_eq!(step.calls[0].arguments["path"], PROGRAM);
        let content = step.calls[0].arguments["content"].as_str().unwrap();
        assert_eq!(content.lines().filter(|line| line.contains("$1")).count(), count, "{content}");
        tour.done("");
        assert_eq!(tools(&tour.step()), ["terminal"], "and then it goes on");
    }
}

#[test]
fn after_a_stop_next_repeats_the_scene_and_other_words_are_explained() {
    let mut tour = Conversation::new(Language::En);
    tour.until("terminal", "");
    tour.results(|call| match call.name.as_str() {
        "todo_manager" => (CallStatus::Done, String::new()),
        _ => (CallStatus::Stopped, "stopped".to_owned()),
    });
    tour.person("what is this?");
    let step = tour.step();
    assert!(step.calls.is_empty() && step.text.starts_with("I am a script, not a model"), "{}", step.text);
    tour.person("next");
    let step = tour.step();
    assert_eq!(tools(&step), ["terminal"]);
    assert_eq!(step.calls[0].arguments["command"], COMMAND);
}

#[test]
fn unknown_words_are_acknowledged_and_the_script_continues() {
    let mut tour = Conversation::new(Language::En);
    tour.until("edit", "");
    tour.done("");
    tour.person("use Python please");
    let step = tour.step();
    assert!(step.text.starts_with(&say(Language::En, "demo.interjection")), "{}", step.text);
    assert!(tools(&step).contains(&"terminal"));
}

#[test]
fn after_the_end_again_starts_over_with_new_numbers() {
    for (language, reply) in [(Language::En, "again"), (Language::Zh, "重新开始"), (Language::En, "“Again”!")]
    {
        let mut tour = Conversation::new(language);
        tour.play_out(&say(language, "demo.option.names"));
        tour.person("thanks");
        assert!(tour.step().calls.is_empty());
        tour.person(reply);
        let steps = tour.play_out(&say(language, "demo.option.leave"));
        assert_eq!(tools(&steps[0]), ["todo_manager", "todo_manager"]);
        assert_eq!(steps[2].calls[0].arguments["id"], 5, "numbers are never used twice");
        assert_eq!(tools(&steps[1]), ["write", "write"]);
    }
}

#[test]
fn a_truncated_message_is_repeated() {
    let mut tour = Conversation::new(Language::En);
    tour.push(Role::Assistant, Origin::Model, vec![Block::Text { text: "I am a scr".to_owned() }]);
    tour.messages.last_mut().unwrap().meta.end = Some(MessageEnd::Cut);
    assert_eq!(tools(&tour.step()), ["todo_manager"]);
    tour.done("");
    tour.push(Role::Assistant, Origin::Model, vec![Block::Text { text: "The plan is".to_owned() }]);
    assert_eq!(tools(&tour.step()), ["write", "write"]);
}

fn status() -> impl Strategy<Value = CallStatus> {
    prop_oneof![
        6 => Just(CallStatus::Done),
        1 => Just(CallStatus::Failed),
        1 => Just(CallStatus::Denied),
        1 => Just(CallStatus::Stopped),
        1 => Just(CallStatus::Interrupted),
    ]
}

proptest! {
    /// Whatever happens, the script has a reply, its calls have unique ids, and "again" always leads to the
    /// end.
    #[test]
    fn every_state_has_a_next_step(
        happenings in prop::collection::vec((status(), status(), prop::option::of(".{0,12}"), 0usize..3), 0..30)
    ) {
        let options = ["demo.option.total", "demo.no.retry", "demo.no.end"];
        let mut tour = Conversation::new(Language::En);
        let mut ids = std::collections::HashSet::new();
        let mut check = |step: &ScriptStep| {
            assert!(!step.text.is_empty());
            for call in &step.calls {
                assert!(ids.insert(call.provider_id.clone()), "{} twice", call.provider_id);
            }
        };
        for (first_status, other_status, message, option) in happenings {
            let step = tour.step();
            check(&step);
            let reply = say(Language::En, options[option]);
            let first_id = step.calls.first().map(|call| call.provider_id.clone());
            tour.results(|call| {
                (if Some(&call.provider_id) == first_id.as_ref() { first_status } else { other_status }, reply.clone())
            });
            if step.calls.is_empty() {
                tour.messages.pop();
                tour.person(message.as_deref().unwrap_or("next"));
            } else if let Some(message) = message {
                tour.person(&message);
            }
        }
        tour.person("again");
        let steps = tour.play_out(&say(Language::En, "demo.option.leave"));
        steps.iter().for_each(&mut check);
        prop_assert!(steps.last().unwrap().text.contains("That was the tour"));
    }
}

fn request(messages: &[Message]) -> ModelRequest {
    ModelRequest {
        model: "demo".to_owned(),
        system: "".into(),
        tools: Arc::new([]),
        messages: messages.to_vec(),
        images: Arc::default(),
        vision: false,
        documents: false,
        max_output: 1000,
        effort: None,
        cache: CachePlan::default(),
    }
}

#[tokio::test]
async fn the_stream_is_shaped_like_a_models() {
    let mut tour = Conversation::new(Language::Zh);
    tour.until("edit", "");
    let expected = tour.messages.pop().unwrap();
    let provider = DemoProvider::new(Language::Zh, Duration::ZERO);
    let events: Vec<_> = provider.stream(request(&tour.messages), CancellationToken::new()).collect().await;
    let events: Vec<ModelEvent> = events.into_iter().map(Result::unwrap).collect();
    let mut growing = BTreeMap::<u32, String>::new();
    let mut finished = Vec::new();
    for event in &events {
        match event {
            ModelEvent::BlockStarted { block, .. } => {
                assert!(growing.insert(*block, String::new()).is_none())
            }
            ModelEvent::Delta { block, text } => growing.get_mut(block).unwrap().push_str(text),
            ModelEvent::BlockFinished { block, content } => {
                assert_eq!(usize::try_from(*block).unwrap(), finished.len());
                let full = match content {
                    Block::Text { text } => text,
                    Block::ToolCall(call) => &call.arguments,
                    other => panic!("{other:?}"),
                };
                assert_eq!(&growing[block], full);
                finished.push(content.clone());
            }
            ModelEvent::Usage(usage) => panic!("a script uses nothing: {usage:?}"),
            ModelEvent::Finished(_) => {}
        }
    }
    assert!(matches!(events.last(), Some(ModelEvent::Finished(_))));
    let names = |blocks: &[Block]| -> Vec<String> {
        blocks
            .iter()
            .filter_map(|block| match block {
                Block::ToolCall(call) => Some(call.name.clone()),
                _ => None,
            })
            .collect()
    };
    assert_eq!(names(&finished), names(&expected.blocks));
    assert_eq!(finished[0], expected.blocks[0]);
}

#[tokio::test(start_paused = true)]
async fn it_streams_at_a_readable_pace_and_stops_at_once() {
    let tour = Conversation::new(Language::En);
    let provider = DemoProvider::new(Language::En, super::READING_PACE);
    let started = tokio::time::Instant::now();
    let chunks = provider.stream(request(&tour.messages), CancellationToken::new());
    let deltas = chunks
        .filter(|event| std::future::ready(matches!(event, Ok(ModelEvent::Delta { .. }))))
        .count()
        .await;
    let expected = super::READING_PACE * u32::try_from(deltas).unwrap();
    assert!(deltas > 30 && started.elapsed() >= expected, "{deltas} pieces in {:?}", started.elapsed());

    let cancel = CancellationToken::new();
    let mut stream = provider.stream(request(&tour.messages), cancel.clone());
    assert!(stream.next().await.unwrap().is_ok());
    cancel.cancel();
    assert_eq!(stream.next().await.unwrap().unwrap_err().class, ErrorClass::Cancelled);
    assert!(stream.next().await.is_none());
}
