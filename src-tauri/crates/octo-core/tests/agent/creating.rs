//! The evaluation loop of skill-creator, following its own instructions: the same prompts without and with the
//! skill, each in a sub-agent and a separate folder, the comparison shown, and the skill proposed with its
//! figures.

use super::{
    rig::{Rig, answers, results},
    sub_agent_rig::{cards, end_of, is_sub_agent, skill},
};
use octo_protocol::{ListSuggestions, Mode, SubAgentStatus, SuggestionKind, TurnEnd};
use octo_testkit::{RecordedRequest, Reply, Script};
use serde_json::json;
use std::{
    fs,
    path::{Path, PathBuf},
};

const SKILL: &str = "---\nname: tidy-notes\ndescription: 'Writes notes with a date and a list.'\n---\n\n1. Begin with the date 2026-01-02.\n2. One item a line, with a hyphen.\n";
const PROMPTS: [&str; 2] = ["Note that milk and bread are needed.", "Note that Ann called about the heron."];
const REASON: &str = "In these runs 4 of 4 expectations were met with it, 0 of 4 without.";

/// A trial, identified by the three parts of its task.
struct Trial {
    folder: PathBuf,
    instructions: Option<PathBuf>,
    prompt: String,
    /// Number of answers it has given so far.
    step: usize,
}

impl Trial {
    fn of(request: &RecordedRequest) -> Self {
        let all = request.messages();
        let begun = all
            .iter()
            .rposition(|message| message.to_string().contains("<octo-notice kind=\\\"fork\\\">"))
            .expect("a sub-agent was told what it is");
        let task = all[begun].to_string().replace("\\n", "\n");
        let part = |name: &str| {
            let (_, tail) = task
                .rsplit_once(&format!("{name}: "))
                .unwrap_or_else(|| panic!("{name} in the task: {task}"));
            tail.split(['\n', '"']).next().unwrap_or_default().to_owned()
        };
        let instructions = part("Instructions");
        Self {
            folder: part("Folder").into(),
            instructions: (instructions != "none").then(|| instructions.into()),
            prompt: part("Prompt"),
            step: all[begun..].iter().filter(|message| message["role"] == "assistant").count(),
        }
    }

    /// Returns the reply of a model that follows its instructions if it has some, and answers in prose
    /// otherwise.
    fn answer(&self, request: &RecordedRequest) -> Reply {
        let step = self.step + usize::from(self.instructions.is_none());
        match (&self.instructions, step) {
            (Some(path), 0) => Reply::call("file_reader", json!({ "path": path })),
            (_, 1) => {
                let last = request.messages().last().expect("a message").to_string();
                let by_the_skill =
                    self.instructions.is_some() && last.contains("One item a line, with a hyphen.");
                let content = if by_the_skill {
                    format!("2026-01-02\n\n- {}\n", self.prompt)
                } else {
                    format!("{}\n", self.prompt)
                };
                Reply::call("write", json!({ "path": self.folder.join("notes.md"), "content": content }))
            }
            _ => Reply::text(format!(
                "**Made**: {}\n**Calls**: {step}",
                self.folder.join("notes.md").display()
            )),
        }
    }
}

fn trials(work: &Path, side: &str, instructions: &str) -> Reply {
    let calls = PROMPTS.iter().enumerate().map(|(at, prompt)| {
        let folder = work.join("trials/round-1").join(side).join((at + 1).to_string());
        skill(
            "skill-trial",
            &format!("Folder: {}\nInstructions: {instructions}\nPrompt: {prompt}", folder.display()),
        )
    });
    calls.fold(Reply::nothing(), |reply, (name, arguments)| reply.and_call(name, arguments))
}

/// Returns the path the skill gives for one of its files.
fn beside(request: &RecordedRequest, file: &str) -> String {
    let text = String::from_utf8_lossy(&request.raw);
    let (_, tail) = text.split_once("SKILL_DIR is ").expect("the skill says where it lies");
    let (folder, _) = tail.split_once(". Paths").expect("a folder");
    format!("{folder}/{file}")
}

/// Returns the model that creates a skill, step by step, as a careful one would.
fn creator(work: PathBuf) -> Script {
    let mut step = 0;
    Script::from_fn(move |request| {
        if is_sub_agent(request) {
            return Trial::of(request).answer(request);
        }
        step += 1;
        let draft = work.join("tidy-notes");
        match step {
            1 => Reply::call("file_reader", json!({ "path": beside(request, "references/evaluation.md") })),
            2 => trials(&work, "without", "none"),
            3 => Reply::call("write", json!({ "path": draft.join("SKILL.md"), "content": SKILL })),
            4 => Reply::call(
                "terminal",
                json!({ "command": format!("octo skill validate {}", draft.display()) }),
            ),
            5 => trials(&work, "with", &draft.join("SKILL.md").display().to_string()),
            6 => Reply::call(
                "grep",
                json!({ "pattern": "^(2026-01-02$|- )", "path": work.join("trials/round-1") }),
            ),
            7 => {
                let found = request.messages().last().expect("what was found").to_string();
                let outcome_of = |side: &str| {
                    found.matches(&format!("{side}/1/")).count()
                        + found.matches(&format!("{side}/2/")).count()
                };
                let table = format!(
                    "| | Without | With |\n| Expectations met | {} of 4 | {} of 4 |\n",
                    outcome_of("/without"),
                    outcome_of("/with")
                );
                Reply::call(
                    "write",
                    json!({ "path": work.join("trials/round-1/comparison.md"), "content": table }),
                )
            }
            8 => Reply::call(
                "terminal",
                json!({ "command": format!("octo skill propose {} --reason '{REASON}'", draft.display()) }),
            ),
            _ => Reply::text("It waits among the suggestions."),
        }
    })
}

#[tokio::test]
async fn a_skill_is_tried_without_and_with_compared_and_proposed() {
    let home = octo_testkit::TempHome::new();
    let work = home.work().join("creating");
    let mut rig = Rig::in_home(home, creator(work.clone())).await;
    let session = rig.start(Mode::Autonomous, "/skill-creator notes with a date and a list").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    let snapshot = rig.snapshot(session).await;
    let tool_results = results(&snapshot);

    // The instructions led to the file in the skill's folder, and that to the runs: two of each side, in
    // parallel.
    assert!(
        tool_results[0].contains("# Skill creator") && tool_results[1].contains("Comparing runs"),
        "{tool_results:?}"
    );
    let runs = cards(&rig, session).await;
    let ends: Vec<_> = runs.iter().map(|run| (run.name.as_str(), run.status)).collect();
    assert_eq!(ends, [("skill-trial", SubAgentStatus::Done); 4], "{tool_results:?}");
    assert!(runs.iter().all(|run| run.summary.as_ref().is_some_and(|words| words.contains("**Made**"))));
    for (at, prompt) in PROMPTS.iter().enumerate() {
        let of = |side: &str| {
            fs::read_to_string(work.join(format!("trials/round-1/{side}/{}/notes.md", at + 1))).unwrap()
        };
        assert_eq!(of("without"), format!("{prompt}\n"), "a run without it does not know it");
        assert_eq!(of("with"), format!("2026-01-02\n\n- {prompt}\n"), "a run with it reads it first");
    }
    let comparison = fs::read_to_string(work.join("trials/round-1/comparison.md")).unwrap();
    assert!(comparison.contains("| Expectations met | 0 of 4 | 4 of 4 |"), "{comparison}\n{tool_results:?}");

    let [suggestion] = rig.octo.call(ListSuggestions {}).await.unwrap().suggestions.try_into().unwrap();
    assert_eq!((suggestion.name.as_str(), suggestion.kind), ("tidy-notes", SuggestionKind::New));
    assert_eq!((suggestion.reason.as_str(), suggestion.text.as_str()), (REASON, SKILL));
    assert_eq!(suggestion.session, Some(session));
    assert!(!rig.home.octo().join("skills/tidy-notes").exists(), "nothing before the person's yes");
    assert!(answers(&snapshot).contains("among the suggestions"));
    rig.assert_sound();
}
