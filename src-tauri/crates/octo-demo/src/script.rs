//! The script's next words and actions: a pure function of the conversation.

use super::{
    progress::{LatestInput, PlayedScene, latest_input, played_scenes, provider_id},
    project::{ALL_WORDS, BY_NAME, COMMAND, PROGRAM, SAMPLE, TOP_WORDS, TOTAL, program},
};
use octo_protocol::{CallStatus, Language, Message, words};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// One message of the script.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ScriptStep {
    /// The words.
    pub text: String,
    /// The calls; without any the turn ends.
    pub calls: Vec<ScriptedCall>,
}

/// A call the script makes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ScriptedCall {
    /// Identifies the call and its scene, so that the script finds its position again.
    pub provider_id: String,
    /// The tool.
    pub tool: &'static str,
    /// The arguments.
    pub arguments: Value,
}

macro_rules! slugs {
    ($(#[$meta:meta])* $name:ident { $( $(#[$doc:meta])* $variant:ident = $slug:literal, )* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum $name { $( $(#[$doc])* $variant, )* }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[ $( Self::$variant, )* ];

            /// Returns its name in ids; stored with conversations, so it never changes.
            pub fn slug(self) -> &'static str {
                match self { $( Self::$variant => $slug, )* }
            }

            /// Reads [`Self::slug`].
            pub fn of_slug(slug: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|scene| scene.slug() == slug)
            }
        }
    };
}

slugs! {
    /// A part of the script that makes calls.
    Scene {
        /// Introduces itself and makes the plan.
        Plan = "plan",
        /// Makes a new plan after the first.
        PlanAgain = "plan-again",
        /// Writes two files.
        Project = "project",
        /// Changes one of them.
        Change = "change",
        /// Runs it.
        Run = "run",
        /// Asks how to continue.
        Ask = "ask",
        /// Adds the total, as chosen.
        AddTotal = "total",
        /// Sorts by name, as chosen.
        SortByName = "names",
        /// Runs it once more.
        RunAgain = "run-again",
        /// Finishes the plan.
        Finish = "finish",
        /// Asks how to continue after a no.
        AfterNo = "after-no",
    }
}

slugs! {
    /// A call within a scene.
    CallName {
        /// Empties the plan.
        Clear = "clear",
        /// Fills the plan.
        Add = "add",
        /// Ticks an item off.
        Tick = "tick",
        /// Writes the program.
        WriteProgram = "program",
        /// Writes the sample text.
        WriteSample = "sample",
        /// Changes the program.
        Edit = "edit",
        /// Runs the program.
        Command = "command",
        /// Asks the person.
        Question = "question",
    }
}

/// Returns the script's next step in this conversation.
pub(super) fn next(messages: &[Message], language: Language) -> ScriptStep {
    DemoScript { language, played: played_scenes(messages) }.next(&latest_input(messages))
}

struct DemoScript {
    language: Language,
    played: Vec<PlayedScene>,
}

/// The person's intent, as far as a script can recognise it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PersonIntent {
    GoOn,
    StartOver,
    Unknown,
}

/// The answer to the question about the counter's next feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FeatureChoice {
    Total,
    Names,
    Leave,
    Unknown,
}

impl DemoScript {
    fn next(&self, input: &LatestInput) -> ScriptStep {
        let Some(last) = self.played.last() else { return self.play(Scene::Plan, "demo.hello") };
        match (input.person.as_deref().map(parse_intent), input.results) {
            (Some(PersonIntent::StartOver), _) => self.play(Scene::PlanAgain, "demo.hello_again"),
            (Some(PersonIntent::Unknown), false) => self.explain_limits(last),
            (Some(PersonIntent::Unknown), true) => {
                let mut step = self.continue_after(last, input);
                step.text = format!("{}\n\n{}", self.say("demo.interjection"), step.text);
                step
            }
            (Some(PersonIntent::GoOn) | None, _) => self.continue_after(last, input),
        }
    }

    /// Continues after the results of the last scene.
    fn continue_after(&self, previous: &PlayedScene, input: &LatestInput) -> ScriptStep {
        // The script continues if it cannot tick off or empty the plan: the person has done it already.
        let matters = |status: CallStatus| {
            let bookkeeping = [CallName::Tick, CallName::Clear];
            previous.calls.iter().find(|call| call.status == status && !bookkeeping.contains(&call.name))
        };
        if previous.scene == Scene::AfterNo {
            return self.handle_refusal(previous, input);
        }
        if matters(CallStatus::Interrupted).is_some() {
            return self.repeat(previous, "demo.interrupted");
        }
        if matters(CallStatus::Stopped).is_some() {
            return self.repeat(previous, "demo.redo");
        }
        if matters(CallStatus::Denied).is_some() {
            return match input.results {
                true => self.play(Scene::AfterNo, "demo.no"),
                false => self.repeat(previous, "demo.redo"),
            };
        }
        if let Some(failed) = matters(CallStatus::Failed) {
            return if input.results {
                let text = self.say_with(
                    "demo.failed",
                    &[("words", &failed.text), ("next", &self.say("demo.key.next"))],
                );
                ScriptStep { text, calls: Vec::new() }
            } else {
                self.repeat(previous, "demo.redo")
            };
        }
        match previous.scene {
            Scene::Plan | Scene::PlanAgain => self.play(Scene::Project, "demo.project"),
            Scene::Project => self.play(Scene::Change, "demo.change"),
            Scene::Change => self.play(Scene::Run, "demo.run"),
            Scene::Run => self.play(Scene::Ask, "demo.ask"),
            Scene::Ask => match self.choice(previous) {
                FeatureChoice::Total => self.play(Scene::AddTotal, "demo.total"),
                FeatureChoice::Names => self.play(Scene::SortByName, "demo.names"),
                FeatureChoice::Leave => self.play(Scene::Finish, "demo.leave"),
                FeatureChoice::Unknown => self.play(Scene::Finish, "demo.unknown_choice"),
            },
            Scene::AddTotal | Scene::SortByName => self.play(Scene::RunAgain, "demo.run_again"),
            Scene::RunAgain => self.play(Scene::Finish, "demo.finish"),
            Scene::Finish | Scene::AfterNo => self.end("demo.end"),
        }
    }

    /// Handles the answer to how to continue after a no.
    fn handle_refusal(&self, previous: &PlayedScene, input: &LatestInput) -> ScriptStep {
        let Some(denied) = self.played.iter().rev().find(|act| act.scene != Scene::AfterNo) else {
            return self.play(Scene::Plan, "demo.hello");
        };
        let answer = previous.calls.iter().find(|call| call.name == CallName::Question);
        match answer {
            Some(answer) if answer.status == CallStatus::Done => {
                let wants_more =
                    self.chosen_option(&answer.text, &["demo.no.retry", "demo.no.end"]) == Some(0);
                // After the goodbye, "next" means: ask me again after all.
                if wants_more || !input.results {
                    self.repeat(denied, "demo.redo")
                } else {
                    self.end("demo.goodbye")
                }
            }
            Some(answer) if answer.status == CallStatus::Interrupted => {
                self.play(Scene::AfterNo, "demo.interrupted")
            }
            _ if input.results => self.end("demo.goodbye"),
            _ => self.play(Scene::AfterNo, "demo.redo"),
        }
    }

    /// Repeats the unfinished part of a scene.
    fn repeat(&self, act: &PlayedScene, key: &str) -> ScriptStep {
        let open = act.calls.iter().filter(|call| call.status != CallStatus::Done);
        let calls = open.map(|call| {
            let uncertain = matches!(call.status, CallStatus::Interrupted | CallStatus::Stopped);
            let whole_file = if uncertain { self.whole_file(act.scene, call.name) } else { None };
            let (tool, arguments) = whole_file.unwrap_or_else(|| self.call(act.scene, call.name));
            (call.name, tool, arguments)
        });
        self.step(self.say(key), act.scene, calls.collect())
    }

    fn play(&self, scene: Scene, key: &str) -> ScriptStep {
        let names: &[CallName] = match scene {
            Scene::Plan => &[CallName::Add],
            Scene::PlanAgain => &[CallName::Clear, CallName::Add],
            Scene::Project => &[CallName::WriteProgram, CallName::WriteSample],
            Scene::Change => &[CallName::Tick, CallName::Edit],
            Scene::Run => &[CallName::Tick, CallName::Command],
            Scene::Ask => &[CallName::Tick, CallName::Question],
            Scene::AddTotal | Scene::SortByName => &[CallName::Edit],
            Scene::RunAgain => &[CallName::Command],
            Scene::Finish => &[CallName::Tick],
            Scene::AfterNo => &[CallName::Question],
        };
        let calls = names.iter().map(|&name| {
            let (tool, arguments) = self.call(scene, name);
            (name, tool, arguments)
        });
        self.step(self.say(key), scene, calls.collect())
    }

    fn step(&self, text: String, scene: Scene, calls: Vec<(CallName, &'static str, Value)>) -> ScriptStep {
        let before = self.played.iter().map(|act| act.calls.len()).sum::<usize>();
        let calls = (before + 1..).zip(calls).map(|(count, (name, tool, arguments))| ScriptedCall {
            provider_id: provider_id(count, scene, name),
            tool,
            arguments,
        });
        ScriptStep { text, calls: calls.collect() }
    }

    fn end(&self, key: &str) -> ScriptStep {
        ScriptStep { text: self.say_with(key, &[("again", &self.say("demo.key.again"))]), calls: Vec::new() }
    }

    /// Replies to words the script cannot understand.
    fn explain_limits(&self, previous: &PlayedScene) -> ScriptStep {
        let is_over = previous.scene == Scene::Finish;
        let key = if is_over { "demo.honest_over" } else { "demo.honest" };
        let [go_on, again] = ["demo.key.next", "demo.key.again"].map(|key| self.say(key));
        ScriptStep { text: self.say_with(key, &[("next", &go_on), ("again", &again)]), calls: Vec::new() }
    }

    /// Returns a call's tool and arguments.
    fn call(&self, scene: Scene, name: CallName) -> (&'static str, Value) {
        match name {
            CallName::Clear => ("todo_manager", json!({ "action": "clear" })),
            CallName::Add => {
                let tasks = ["demo.todo.write", "demo.todo.change", "demo.todo.run", "demo.todo.ask"];
                ("todo_manager", json!({ "action": "add", "task": tasks.map(|key| self.say(key)) }))
            }
            CallName::Tick => {
                let item = match scene {
                    Scene::Change => 1,
                    Scene::Run => 2,
                    Scene::Ask => 3,
                    _ => 4,
                };
                ("todo_manager", json!({ "action": "complete", "id": self.items_before() + item }))
            }
            CallName::WriteProgram => ("write", json!({ "path": PROGRAM, "content": program(&[ALL_WORDS]) })),
            CallName::WriteSample => {
                ("write", json!({ "path": SAMPLE, "content": self.say("demo.sample") + "\n" }))
            }
            CallName::Edit => {
                let (old, new) = match scene {
                    Scene::AddTotal => (TOP_WORDS, format!("{TOP_WORDS}\n{TOTAL}")),
                    Scene::SortByName => (TOP_WORDS, BY_NAME.to_owned()),
                    _ => (ALL_WORDS, TOP_WORDS.to_owned()),
                };
                ("edit", json!({ "path": PROGRAM, "old_string": old, "new_string": new }))
            }
            CallName::Command => ("terminal", json!({ "command": COMMAND })),
            CallName::Question => {
                let (question, context, options) = match scene {
                    Scene::AfterNo => ("demo.no.question", None, vec!["demo.no.retry", "demo.no.end"]),
                    _ => ("demo.question", Some("demo.question_context"), OPTIONS.to_vec()),
                };
                let options: Vec<String> = options.into_iter().map(|key| self.say(key)).collect();
                let mut arguments = json!({ "question": self.say(question), "options": options });
                if let Some(context) = context {
                    arguments["context"] = self.say(context).into();
                }
                ("request_user_feedback", arguments)
            }
        }
    }

    /// Replaces a change whose effect is unknown by writing the whole file, which is right whether or not the
    /// change had happened.
    fn whole_file(&self, scene: Scene, name: CallName) -> Option<(&'static str, Value)> {
        if name != CallName::Edit {
            return None;
        }
        let content = match scene {
            Scene::AddTotal => program(&[TOP_WORDS, TOTAL]),
            Scene::SortByName => program(&[BY_NAME]),
            _ => program(&[TOP_WORDS]),
        };
        Some(("write", json!({ "path": PROGRAM, "content": content })))
    }

    /// Returns the number of items in earlier plans: their numbers are never reused.
    fn items_before(&self) -> usize {
        let filled = |act: &&PlayedScene| {
            act.calls.iter().any(|call| call.name == CallName::Add && call.status == CallStatus::Done)
        };
        4 * self.played.iter().filter(filled).count().saturating_sub(1)
    }

    fn choice(&self, act: &PlayedScene) -> FeatureChoice {
        let answer =
            act.calls.iter().find(|call| call.name == CallName::Question).map_or("", |call| &call.text);
        match self.chosen_option(answer, OPTIONS) {
            Some(0) => FeatureChoice::Total,
            Some(1) => FeatureChoice::Names,
            Some(2) => FeatureChoice::Leave,
            _ => FeatureChoice::Unknown,
        }
    }

    /// Returns the option an answer names, in either language: the person may have changed it since.
    fn chosen_option(&self, answer: &str, options: &[&str]) -> Option<usize> {
        let position =
            |key: &str| [Language::En, Language::Zh].iter().filter_map(|&l| answer.rfind(&say(l, key))).max();
        let positions = options.iter().enumerate().filter_map(|(index, key)| Some((position(key)?, index)));
        positions.max().map(|(_, index)| index)
    }

    fn say(&self, key: &str) -> String {
        say(self.language, key)
    }

    fn say_with(&self, key: &str, args: &[(&str, &str)]) -> String {
        let args: BTreeMap<String, String> =
            args.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        words::say(self.language, key, &args)
    }
}

/// The options of the question about the counter's next feature.
const OPTIONS: &[&str] = &["demo.option.total", "demo.option.names", "demo.option.leave"];

fn say(language: Language, key: &str) -> String {
    words::say(language, key, &BTreeMap::new())
}

fn parse_intent(text: &str) -> PersonIntent {
    let text = text.trim().trim_matches(|character: char| !character.is_alphanumeric()).to_lowercase();
    let is = |key: &str| [Language::En, Language::Zh].iter().any(|&language| text == say(language, key));
    match text.as_str() {
        _ if is("demo.key.next") => PersonIntent::GoOn,
        _ if is("demo.key.again") => PersonIntent::StartOver,
        "continue" | "go on" | "go" | "ok" | "yes" | "下一步" | "接着" | "好" | "好的" => {
            PersonIntent::GoOn
        }
        "restart" | "start over" | "重来" | "再来一次" => PersonIntent::StartOver,
        _ => PersonIntent::Unknown,
    }
}
