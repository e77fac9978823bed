//! Questions, and the effects of their answers.

use super::rig::{Rig, statuses};
use octo_protocol::{
    Answer, AskReason, CallStatus, Mode, QuestionContent, SessionStatus, SetMode, ToolView, TurnEnd,
};
use octo_testkit::Script;
use serde_json::json;

fn write(name: &str) -> (&'static str, serde_json::Value) {
    ("write", json!({ "path": name, "content": "new\n" }))
}

#[tokio::test]
async fn a_change_is_asked_with_its_diff_and_made_only_after_yes() {
    let mut rig = Rig::new(Script::new().calls([write("a.txt")]).text("written")).await;
    rig.home.write("a.txt", "old\n");
    let session = rig.start(Mode::Ask, "write it").await;
    let question = rig.question().await;
    let QuestionContent::Permission { preview: ToolView::Diff(diff), reason, .. } = &question.ask else {
        panic!("a permission with a diff: {question:?}")
    };
    assert_eq!((diff.added, diff.removed, reason), (1, 1, &AskReason::Mode));
    assert_eq!(rig.home.read("a.txt"), "old\n");
    assert_eq!(rig.snapshot(session).await.info.status, SessionStatus::Waiting);
    rig.answer(session, &question, Answer::Once).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert_eq!(rig.home.read("a.txt"), "new\n");
    rig.assert_sound();
}

#[tokio::test]
async fn a_no_with_a_reason_reaches_the_model_and_nothing_happens() {
    let mut rig = Rig::new(Script::new().calls([write("a.txt"), write("b.txt")]).text("I see")).await;
    let session = rig.start(Mode::Ask, "write both").await;
    let question = rig.question().await;
    let reason = Some("use the other folder".to_owned());
    rig.answer(session, &question, Answer::No { reason }).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert!(!rig.home.work().join("a.txt").exists() && !rig.home.work().join("b.txt").exists());
    assert_eq!(statuses(&rig.snapshot(session).await), [CallStatus::Denied; 2]);
    assert!(rig.server.requests()[1].results()[0].text.contains("use the other folder"));
    rig.assert_sound();
}

fn run(line: &str) -> (&'static str, serde_json::Value) {
    ("terminal", json!({ "command": line }))
}

#[tokio::test]
async fn always_holds_for_the_pattern_in_this_folder_and_outlives_the_session() {
    let script = Script::new()
        .calls([run("vue-tsc one")])
        .calls([run("vue-tsc two")])
        .text("first")
        .calls([run("vue-tsc three && sh -c 'touch three'")])
        .text("second");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::AskRisky, "make both").await;
    let question = rig.question().await;
    let QuestionContent::Permission { rule: Some(rule), .. } = &question.ask else {
        panic!("a rule: {question:?}")
    };
    assert!(matches!(rule, octo_protocol::Rule::Command { words } if words == &["vue-tsc"]), "{rule:?}");
    rig.answer(session, &question, Answer::Always).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert_eq!(
        statuses(&rig.snapshot(session).await),
        [CallStatus::Done; 2],
        "the second one was not asked about"
    );
    rig.restart().await;
    let other = rig.start(Mode::AskRisky, "again, and more").await;
    let question = rig.question().await;
    rig.answer(other, &question, Answer::No { reason: None }).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert!(!rig.home.work().join("three").exists(), "what the rule does not cover asks");
    rig.assert_sound();
}

#[tokio::test]
async fn a_line_no_pattern_stands_for_is_allowed_for_the_session_only() {
    let line = run("sh -c 'touch a b'");
    let script =
        Script::new().calls([line.clone()]).calls([line.clone()]).text("twice").calls([line]).text("no");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::AskRisky, "make files").await;
    let question = rig.question().await;
    let always = octo_protocol::AnswerQuestion { session, question: question.id, answer: Answer::Always };
    assert_eq!(rig.octo.call(always).await.unwrap_err().key, "question.wrong_answer");
    rig.answer(session, &question, Answer::Session).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let other = rig.start(Mode::AskRisky, "once more").await;
    let question = rig.question().await;
    rig.answer(other, &question, Answer::No { reason: None }).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    rig.assert_sound();
}

#[tokio::test]
async fn another_mode_answers_the_questions_it_makes_needless() {
    let mut rig = Rig::new(Script::new().calls([write("a.txt")]).text("ok")).await;
    let session = rig.start(Mode::Ask, "write").await;
    rig.question().await;
    rig.octo.call(SetMode { session, mode: Mode::AskRisky }).await.unwrap();
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert_eq!(rig.home.read("a.txt"), "new\n");
    rig.assert_sound();
}

#[tokio::test]
async fn the_models_question_is_answered_by_an_option_or_by_the_next_message() {
    let ask = ("request_user_feedback", json!({ "question": "Which?", "options": ["red", "blue"] }));
    let script = Script::new().calls([ask.clone()]).calls([ask]).text("thanks");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Autonomous, "choose").await;
    let question = rig.question().await;
    assert!(matches!(&question.ask, QuestionContent::Feedback { options, .. } if options.len() == 2));
    rig.answer(session, &question, Answer::Text { text: "red".into() }).await;
    rig.question().await;
    rig.send(session, "blue, please").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let requests = rig.server.requests();
    assert!(requests[1].results()[0].text.contains("red"));
    assert!(requests[2].results()[0].text.contains("blue, please"));
    rig.assert_sound();
}

#[tokio::test]
async fn an_edit_that_cannot_work_asks_nobody() {
    let edit = json!({ "path": "a.txt", "old_string": "not there", "new_string": "x" });
    let mut rig = Rig::new(Script::new().call("edit", edit).text("sorry")).await;
    rig.home.write("a.txt", "something else\n");
    let session = rig.start(Mode::Ask, "edit").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert_eq!(statuses(&rig.snapshot(session).await), [CallStatus::Failed]);
    rig.assert_sound();
}

#[tokio::test]
async fn a_yes_to_a_change_is_no_yes_to_another_one() {
    let mut rig = Rig::new(Script::new().calls([write("a.txt")]).text("I see")).await;
    rig.home.write("a.txt", "old\n");
    let session = rig.start(Mode::Ask, "write it").await;
    let question = rig.question().await;
    rig.home.write("a.txt", "the person's own words\n");
    rig.answer(session, &question, Answer::Once).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert_eq!(rig.home.read("a.txt"), "the person's own words\n");
    assert_eq!(statuses(&rig.snapshot(session).await), [CallStatus::Failed]);
    rig.assert_sound();
}

#[tokio::test]
async fn a_stricter_mode_reaches_calls_that_were_let_through_already() {
    let read_call = ("file_reader", json!({ "path": "/etc/hostname" }));
    let mut rig = Rig::new(Script::new().calls([read_call, write("a.txt")]).text("I see")).await;
    let session = rig.start(Mode::AskRisky, "read and write").await;
    let question = rig.question().await;
    rig.octo.call(SetMode { session, mode: Mode::Ask }).await.unwrap();
    rig.answer(session, &question, Answer::Once).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert!(!rig.home.work().join("a.txt").exists());
    assert_eq!(statuses(&rig.snapshot(session).await)[1], CallStatus::Denied);
    rig.assert_sound();
}

#[tokio::test]
async fn what_the_shell_carries_over_cannot_be_written_unasked() {
    let script = Script::new().call("terminal", json!({ "command": "export A=1" })).text("ok");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Autonomous, "export").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let carried = rig.home.octo().join(format!("shells/{session}/carried.json"));
    assert!(carried.exists(), "this is where it is kept");
    rig.server.push(octo_testkit::Reply::call("write", json!({ "path": carried, "content": "{}" })));
    rig.server.push(octo_testkit::Reply::text("ok"));
    rig.octo.call(SetMode { session, mode: Mode::AskRisky }).await.unwrap();
    rig.send(session, "now write there").await;
    let question = rig.question().await;
    assert!(
        matches!(&question.ask, QuestionContent::Permission { reason: AskReason::RunsLater { .. }, .. }),
        "{question:?}"
    );
    rig.answer(session, &question, Answer::No { reason: None }).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    rig.assert_sound();
}

#[tokio::test]
async fn always_in_a_folder_reaches_its_other_open_sessions() {
    let script = Script::new()
        .text("first is open")
        .calls([run("vue-tsc one")])
        .text("made")
        .calls([run("vue-tsc two")])
        .text("made");
    let mut rig = Rig::new(script).await;
    let first = rig.start(Mode::AskRisky, "hello").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let second = rig.start(Mode::AskRisky, "make one").await;
    let question = rig.question().await;
    rig.answer(second, &question, Answer::Always).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    rig.send(first, "make two").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert_eq!(statuses(&rig.snapshot(first).await), [CallStatus::Done], "nobody was asked");
    rig.assert_sound();
}

#[tokio::test]
async fn a_command_runs_where_it_was_shown_to_run() {
    let go = run("mkdir -p sub && cd sub && printf 'Go? ' && timeout --foreground 4 cat");
    let script = Script::new().calls([go]).calls([run("sh -c 'touch here'")]).text("done");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::AskRisky, "go").await;
    let first = rig.question().await;
    rig.answer(session, &first, Answer::Once).await;
    // The second question opens while the first command still waits for input, in the folder it started in.
    let second = rig.question().await;
    let QuestionContent::Permission { preview: ToolView::Command(shown), .. } = &second.ask else {
        panic!("{second:?}")
    };
    assert_eq!(std::path::Path::new(&shown.cwd), rig.home.work().canonicalize().unwrap());
    // The first ends without help, and the shell changes folders while the person decides.
    let carried = rig.home.octo().join(format!("shells/{session}/carried.json"));
    while !std::fs::read_to_string(&carried).unwrap_or_default().contains("/sub") {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    rig.answer(session, &second, Answer::Once).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert!(rig.home.work().join("here").exists() && !rig.home.work().join("sub/here").exists());
    rig.assert_sound();
}

#[tokio::test]
async fn what_is_refused_is_refused_in_every_mode_and_said_on_a_card_and_to_the_model() {
    let script = Script::new().calls([run("rm -rf /"), run("echo still here")]).text("I see");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Autonomous, "wipe it").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let snapshot = rig.snapshot(session).await;
    assert_eq!(statuses(&snapshot), [CallStatus::Denied, CallStatus::Done]);
    let results = rig.server.requests()[1].results();
    assert!(results[0].text.starts_with("Refused, nothing was done"), "{}", results[0].text);
    let shown = format!("{snapshot:?}");
    assert!(shown.contains("Refused { subject: \"rm -rf /\""), "{shown}");
    rig.assert_sound();
}

/// The policy judges a command when it starts; it touches its files later, when another one may have placed others there.
#[tokio::test]
async fn a_command_that_would_redirect_a_running_one_asks_and_names_it() {
    let waiting = "sleep 1000; cat swap.txt; tee swap2.txt < README.md";
    let script = Script::new()
        .calls([("terminal", json!({ "command": waiting, "async": true }))])
        .calls([run("touch other.txt")])
        .calls([run("mv README.md swap.txt")])
        .text("as you like");
    let mut rig = Rig::new(script).await;
    for name in ["README.md", "swap.txt", "swap2.txt"] {
        rig.home.write(name, name);
    }
    let session = rig.start(Mode::AskRisky, "tidy up").await;
    let question = rig.question().await;
    let QuestionContent::Permission { reason, rule, .. } = &question.ask else { panic!("{question:?}") };
    assert_eq!((reason, rule), (&AskReason::Redirects { command: waiting.to_owned() }, &None));
    assert!(rig.home.work().join("other.txt").exists(), "a new file redirects nothing");
    rig.answer(session, &question, Answer::No { reason: None }).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert_eq!(
        (rig.home.read("README.md"), rig.home.read("swap.txt")),
        ("README.md".into(), "swap.txt".into())
    );
    rig.assert_sound();
}
