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
    let words = words::say(language, key, &BTreeMap::new());
    assert_ne!(words, key, "the catalogue knows {key}");
    words
}

/// A conversation with the script.
struct Talk {
    language: Language,
    messages: Vec<Message>,
}

impl Talk {
    fn new(language: Language) -> Self {
        let mut talk = Self { language, messages: Vec::new() };
        talk.person("show me");
        talk
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
            let over = step.calls.is_empty();
            steps.push(step);
            if over {
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
    for (language, words) in
        [(Language::En, "I am a script, not a model"), (Language::Zh, "我是一段脚本，不是模型")]
    {
        let step = Talk::new(language).step();
        assert!(step.text.starts_with(words), "{}", step.text);
        assert_eq!(tools(&step), ["todo_manager"]);
    }
}

#[test]
fn the_tour_shows_every_kind_of_thing() {
    for language in LANGUAGES {
        let mut talk = Talk::new(language);
        let steps = talk.play_out(&say(language, "demo.option.total"));
        let seen: Vec<Vec<&str>> = steps.iter().map(tools).collect();
        assert_eq!(
            seen,
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
            let old = std::fs::read_to_string(&file).unwrap();
            assert_eq!(
                old.matches(&text("old_string")).count(),
                1,
                "the text to replace is there once: {old}"
            );
            std::fs::write(&file, old.replace(&text("old_string"), &text("new_string"))).unwrap();
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
            let mut talk = Talk::new(language);
            let mut outputs = Vec::new();
            while !talk.step().calls.is_empty() {
                let calls: Vec<ToolCall> = talk.messages.last().unwrap().calls().cloned().collect();
                let mut given = BTreeMap::new();
                for call in &calls {
                    let text = perform(folder.path(), call, &say(language, option));
                    if call.name == "terminal" {
                        outputs.push(text.clone());
                    }
                    given.insert(call.provider_id.clone(), text);
                }
                talk.results(|call| (CallStatus::Done, given[&call.provider_id].clone()));
            }
            assert_eq!(outputs.len(), commands, "{option}");
            assert!(outputs[0].trim_start().starts_with(&format!("4 {octopus}")), "{}", outputs[0]);
            assert_eq!(outputs[0].lines().count(), 3);
            let last = outputs.last().unwrap();
            assert_eq!(last.lines().count(), last_lines, "{option}: {last}");
            if option == "demo.option.total" {
                assert!(last.ends_with("10 in all\n"), "{last}");
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
        let mut talk = Talk::new(Language::En);
        talk.until("request_user_feedback", "");
        talk.done(&answer);
        let step = talk.step();
        assert_eq!(tools(&step), [follows], "{answer}");
        if answer == "make it green" {
            assert_eq!(step.text, say(Language::En, "demo.unknown_choice"));
        }
    }
}

#[test]
fn a_no_is_explained_and_can_be_taken_back() {
    for tool in ["write", "edit", "terminal"] {
        let mut talk = Talk::new(Language::En);
        let asked = talk.until(tool, "");
        talk.results(|call| match call.name.as_str() {
            "todo_manager" => (CallStatus::Done, String::new()),
            _ => (CallStatus::Denied, "no".to_owned()),
        });
        let step = talk.step();
        assert_eq!(step.text, say(Language::En, "demo.no"));
        assert_eq!(tools(&step), ["request_user_feedback"]);
        talk.done(&say(Language::En, "demo.no.retry"));
        let again: Vec<_> = talk.step().calls.into_iter().map(|call| (call.tool, call.arguments)).collect();
        let refused: Vec<_> = asked.calls.into_iter().filter(|call| call.tool == tool).collect();
        assert_eq!(again, refused.into_iter().map(|call| (call.tool, call.arguments)).collect::<Vec<_>>());
        talk.done("");
        let rest = talk.play_out(&say(Language::En, "demo.option.leave"));
        assert_eq!(tools(&rest[rest.len() - 2]), ["todo_manager"], "the tour goes on to its end");
    }
}

#[test]
fn a_no_can_end_the_tour_and_next_takes_it_up_again() {
    for answer in [say(Language::En, "demo.no.end"), "nobody is there".to_owned()] {
        let mut talk = Talk::new(Language::En);
        talk.until("edit", "");
        talk.all(CallStatus::Denied, "no");
        talk.step();
        talk.done(&answer);
        let end = talk.step();
        assert!(end.calls.is_empty());
        assert!(end.text.contains("Then we stop here"), "{}", end.text);
        talk.person("next");
        assert!(tools(&talk.step()).contains(&"edit"));
    }
}

#[test]
fn a_failed_tool_is_quoted_and_tried_again_when_asked() {
    let mut talk = Talk::new(Language::En);
    talk.until("write", "");
    talk.all(CallStatus::Failed, "The disk is full.");
    let step = talk.step();
    assert!(step.calls.is_empty() && step.text.contains("The disk is full."), "{}", step.text);
    talk.person("Next.");
    assert_eq!(tools(&talk.step()), ["write", "write"]);
}

#[test]
fn a_change_that_may_have_happened_is_made_in_a_way_that_is_right_either_way() {
    for (option, count) in [("demo.option.total", 2), ("demo.option.names", 1)] {
        let mut talk = Talk::new(Language::En);
        talk.until("request_user_feedback", "");
        talk.done(&say(Language::En, option));
        talk.until("edit", "");
        talk.all(CallStatus::Interrupted, "unknown");
        let step = talk.step();
        assert_eq!(tools(&step), ["write"]);
        assert_eq!(step.calls[0].arguments["path"], PROGRAM);
        let content = step.calls[0].arguments["content"].as_str().unwrap();
        assert_eq!(content.lines().filter(|line| line.contains("$1")).count(), count, "{content}");
        talk.done("");
        assert_eq!(tools(&talk.step()), ["terminal"], "and then it goes on");
    }
}

#[test]
fn after_a_stop_next_does_it_again_and_other_words_get_an_honest_answer() {
    let mut talk = Talk::new(Language::En);
    talk.until("terminal", "");
    talk.results(|call| match call.name.as_str() {
        "todo_manager" => (CallStatus::Done, String::new()),
        _ => (CallStatus::Stopped, "stopped".to_owned()),
    });
    talk.person("what is this?");
    let step = talk.step();
    assert!(step.calls.is_empty() && step.text.starts_with("I am a script, not a model"), "{}", step.text);
    talk.person("next");
    let step = talk.step();
    assert_eq!(tools(&step), ["terminal"]);
    assert_eq!(step.calls[0].arguments["command"], COMMAND);
}

#[test]
fn words_in_between_are_owned_up_to_and_the_script_goes_on() {
    let mut talk = Talk::new(Language::En);
    talk.until("edit", "");
    talk.done("");
    talk.person("use Python please");
    let step = talk.step();
    assert!(step.text.starts_with(&say(Language::En, "demo.interjection")), "{}", step.text);
    assert!(tools(&step).contains(&"terminal"));
}

#[test]
fn after_the_end_again_starts_over_with_new_numbers() {
    for (language, again) in [(Language::En, "again"), (Language::Zh, "重新开始"), (Language::En, "“Again”!")]
    {
        let mut talk = Talk::new(language);
        talk.play_out(&say(language, "demo.option.names"));
        talk.person("thanks");
        assert!(talk.step().calls.is_empty());
        talk.person(again);
        let steps = talk.play_out(&say(language, "demo.option.leave"));
        assert_eq!(tools(&steps[0]), ["todo_manager", "todo_manager"]);
        assert_eq!(steps[2].calls[0].arguments["id"], 5, "numbers are never used twice");
        assert_eq!(tools(&steps[1]), ["write", "write"]);
    }
}

#[test]
fn a_cut_off_message_is_simply_said_again() {
    let mut talk = Talk::new(Language::En);
    talk.push(Role::Assistant, Origin::Model, vec![Block::Text { text: "I am a scr".to_owned() }]);
    talk.messages.last_mut().unwrap().meta.end = Some(MessageEnd::Cut);
    assert_eq!(tools(&talk.step()), ["todo_manager"]);
    talk.done("");
    talk.push(Role::Assistant, Origin::Model, vec![Block::Text { text: "The plan is".to_owned() }]);
    assert_eq!(tools(&talk.step()), ["write", "write"]);
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
    fn nothing_is_a_dead_end(
        happenings in prop::collection::vec((status(), status(), prop::option::of(".{0,12}"), 0usize..3), 0..30)
    ) {
        let options = ["demo.option.total", "demo.no.retry", "demo.no.end"];
        let mut talk = Talk::new(Language::En);
        let mut ids = std::collections::HashSet::new();
        let mut check = |step: &ScriptStep| {
            assert!(!step.text.is_empty());
            for call in &step.calls {
                assert!(ids.insert(call.provider_id.clone()), "{} twice", call.provider_id);
            }
        };
        for (first, other, words, option) in happenings {
            let step = talk.step();
            check(&step);
            let answer = say(Language::En, options[option]);
            let first_id = step.calls.first().map(|call| call.provider_id.clone());
            talk.results(|call| {
                (if Some(&call.provider_id) == first_id.as_ref() { first } else { other }, answer.clone())
            });
            if step.calls.is_empty() {
                talk.messages.pop();
                talk.person(words.as_deref().unwrap_or("next"));
            } else if let Some(words) = words {
                talk.person(&words);
            }
        }
        talk.person("again");
        let steps = talk.play_out(&say(Language::En, "demo.option.leave"));
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
async fn the_stream_is_a_models_stream() {
    let mut talk = Talk::new(Language::Zh);
    talk.until("edit", "");
    let expected = talk.messages.pop().unwrap();
    let provider = DemoProvider::new(Language::Zh, Duration::ZERO);
    let events: Vec<_> = provider.stream(request(&talk.messages), CancellationToken::new()).collect().await;
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
                let whole = match content {
                    Block::Text { text } => text,
                    Block::ToolCall(call) => &call.arguments,
                    other => panic!("{other:?}"),
                };
                assert_eq!(&growing[block], whole);
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
    let talk = Talk::new(Language::En);
    let provider = DemoProvider::new(Language::En, super::READING_PACE);
    let begun = tokio::time::Instant::now();
    let pieces = provider.stream(request(&talk.messages), CancellationToken::new());
    let deltas = pieces
        .filter(|event| std::future::ready(matches!(event, Ok(ModelEvent::Delta { .. }))))
        .count()
        .await;
    let expected = super::READING_PACE * u32::try_from(deltas).unwrap();
    assert!(deltas > 30 && begun.elapsed() >= expected, "{deltas} pieces in {:?}", begun.elapsed());

    let cancel = CancellationToken::new();
    let mut stream = provider.stream(request(&talk.messages), cancel.clone());
    assert!(stream.next().await.unwrap().is_ok());
    cancel.cancel();
    assert_eq!(stream.next().await.unwrap().unwrap_err().class, ErrorClass::Cancelled);
    assert!(stream.next().await.is_none());
}
