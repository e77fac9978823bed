//! Limits of sub-agents, how they end, and what happens to them with their parent.

use super::{
    rig::{Rig, results, statuses, words},
    sub_agent_rig::{TestSkills, card, cards, end_of, is_sub_agent, skill, sub_agent_script},
};
use octo_core::SkillTask;
use octo_protocol::{
    Answer, AnswerBudget, BudgetAnswer, Budgets, CallStatus, ChangeSettings, CompactionLimit, Cost,
    DeleteSession, Effort, EmptyTrash, Event, GetTaskTree, ListTrash, Mode, ModelDraft, OpenSession,
    PinSession, Protocol, RenameSession, RestoreTrash, RetryTurn, SaveModel, Send, SessionId, SessionStatus,
    SetMode, SettingsPatch, StoredTopic, SubAgentLimit, SubAgentStatus, ToolView, TrashChoice, TurnEnd,
};
use octo_testkit::{Gate, RecordedRequest, Reply, Script};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn one(task: &str) -> Vec<(&'static str, Value)> {
    vec![skill("explore", task)]
}

/// Returns the steps of a sub-agent, in succession.
fn steps(replies: Vec<Reply>) -> impl FnMut(&RecordedRequest) -> Reply {
    let mut replies = replies.into_iter();
    move |_| replies.next().unwrap_or_else(|| Reply::text("that was all"))
}

async fn set(rig: &Rig, patch: SettingsPatch) {
    rig.octo.call(ChangeSettings { patch }).await.unwrap();
}

async fn only_card(rig: &Rig, session: SessionId) -> octo_protocol::SubAgentView {
    let [view] = cards(rig, session).await.try_into().unwrap();
    view
}

fn write(path: &str) -> Reply {
    Reply::call("write", json!({ "path": path, "content": "x\n" }))
}

#[tokio::test]
async fn tools_it_may_not_use_are_refused_when_called_and_stay_in_the_schema() {
    let replies = vec![
        Reply::nothing()
            .and_call("bash", json!({ "command": "touch never" }))
            .and_call("invoke_skill", json!({ "skill_name": "explore", "task": "again" }))
            .and_call("undo", json!({})),
        Reply::text("could not"),
    ];
    let script = sub_agent_script(vec![skill("careful", "look")], steps(replies));
    let skills = TestSkills::new().with_sub_agent_skill("careful", "inherit", &["bash"]);
    let mut rig = Rig::skilled(script, skills).await;
    let session = rig.start(Mode::Autonomous, "go").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    let view = only_card(&rig, session).await;
    let child = rig.snapshot(view.session.unwrap()).await;
    assert_eq!(statuses(&child), [CallStatus::Denied; 3]);
    assert!(results(&child).iter().all(|text| text.contains("a sub-agent may not use this tool")));
    assert!(!rig.home.work().join("never").exists());
    assert_eq!(view.tools.len(), 3, "{view:?}");
    let requests = rig.server.requests();
    assert!(requests.iter().all(|request| request.tools() == requests[0].tools()));
    assert!(requests[0].tools().contains(&"terminal".to_owned()));
    assert!(requests[1].user_text().contains("Calls of these tools are refused: terminal."));
    rig.assert_sound();
}

#[tokio::test]
async fn what_it_does_to_files_is_part_of_its_parents_task() {
    let replies = vec![
        write("a.txt"),
        Reply::call("terminal", json!({ "command": "echo y > b.txt" })),
        Reply::text("made two files"),
    ];
    let script = sub_agent_script(one("make files"), steps(replies));
    let mut rig = Rig::skilled(script, TestSkills::new()).await;
    let session = rig.start(Mode::Autonomous, "go").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    rig.event("the task's end", |event| matches!(event, Event::TasksChanged).then_some(())).await;
    let child = only_card(&rig, session).await.session.unwrap();
    let tree = rig.octo.call(GetTaskTree { session }).await.unwrap();
    assert_eq!(tree.tasks.len(), 2, "the start and the turn: {tree:?}");
    assert!(tree.tasks[1].summary.starts_with("go"), "{tree:?}");
    assert!(rig.octo.call(GetTaskTree { session: child }).await.unwrap().tasks.len() <= 1);
    assert!(rig.home.work().join("a.txt").exists() && rig.home.work().join("b.txt").exists());
    rig.send(session, "/undo").await;
    assert!(!rig.home.work().join("a.txt").exists(), "one step takes all of it back");
    assert!(!rig.home.work().join("b.txt").exists());

    // Nothing can be started in it any more, and nothing of it can be changed apart from its parent.
    let sent = rig.octo.call(Send { session: child, blocks: words("go on") }).await;
    assert_eq!(sent.unwrap_err().key, "fork.belongs");
    assert_eq!(rig.octo.call(RetryTurn { session: child }).await.unwrap_err().key, "fork.belongs");
    let rename = RenameSession { session: child, title: "mine".into() };
    assert_eq!(rig.octo.call(rename).await.unwrap_err().key, "fork.belongs");
    assert_eq!(
        rig.octo.call(PinSession { session: child, pinned: true }).await.unwrap_err().key,
        "fork.belongs"
    );
    assert_eq!(rig.octo.call(DeleteSession { session: child }).await.unwrap_err().key, "fork.belongs");
    rig.assert_sound();
}

#[tokio::test]
async fn its_question_is_asked_in_its_session_and_its_parent_waits_for_the_person() {
    let script = sub_agent_script(
        one("make a file"),
        steps(vec![write("a.txt"), write("b.txt"), Reply::text("made")]),
    );
    let mut rig = Rig::skilled(script, TestSkills::new()).await;
    let session = rig.start(Mode::Ask, "go").await;
    let question = rig.question().await;
    let StoredTopic::Session { id: child } = rig.seen.last().unwrap().topic else { panic!("of a session") };
    assert_ne!(child, session);
    let view =
        card(&mut rig, "card that needs the person", |view| view.status == SubAgentStatus::NeedsYou).await;
    assert_eq!(view.session, Some(child));
    rig.event("list that waits", |event| {
        matches!(event, Event::SessionListed { info } if info.id == session && info.status == SessionStatus::Waiting)
            .then_some(())
    })
    .await;
    rig.answer(child, &question, Answer::Once).await;
    // The mode belongs to the turn: the sub-agent may do whatever its parent now may.
    let second = rig.question().await;
    assert_ne!(second.id, question.id);
    rig.octo.call(SetMode { session, mode: Mode::Autonomous }).await.unwrap();
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    assert!(rig.home.work().join("a.txt").exists() && rig.home.work().join("b.txt").exists());
    assert_eq!(rig.snapshot(session).await.info.status, SessionStatus::Idle);
    rig.assert_sound();
}

#[tokio::test]
async fn a_rule_for_the_session_holds_for_both() {
    let script = sub_agent_script(
        one("make a file"),
        steps(vec![write("a.txt"), write("a.txt"), Reply::text("made")]),
    );
    let mut rig = Rig::skilled(script, TestSkills::new()).await;
    let session = rig.start(Mode::Ask, "go").await;
    let question = rig.question().await;
    let StoredTopic::Session { id: child } = rig.seen.last().unwrap().topic else { panic!("of a session") };
    rig.answer(child, &question, Answer::Session).await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    let request_count =
        rig.seen.iter().filter(|event| matches!(event.event, Event::QuestionAsked { .. })).count();
    assert_eq!(request_count, 1);
    rig.server.push(write("a.txt"));
    rig.send(session, "again").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished, "unasked");
    rig.assert_sound();
}

#[tokio::test]
async fn stop_of_the_parent_stops_it_within_three_seconds() {
    let script = sub_agent_script(vec![skill("explore", "one"), skill("explore", "two")], |_| Reply::hang());
    let mut rig = Rig::skilled(script, TestSkills::new()).await;
    let session = rig.start(Mode::Ask, "go").await;
    rig.server.wait_received_async(3).await;
    let started = Instant::now();
    rig.stop(session).await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Stopped);
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    let snapshot = rig.snapshot(session).await;
    assert_eq!(statuses(&snapshot), [CallStatus::Stopped; 2]);
    for view in cards(&rig, session).await {
        assert_eq!(view.status, SubAgentStatus::Stopped);
        let child = rig.snapshot(view.session.unwrap()).await;
        assert_eq!(child.page.turns[0].end, Some(TurnEnd::Stopped));
    }
    assert_eq!(rig.server.requests().len(), 3);
    rig.send(session, "and now?").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    rig.assert_sound();
}

#[tokio::test]
async fn stopped_alone_it_says_so_and_its_parent_goes_on() {
    let look = Reply::text("I look.").and_call("glob", json!({ "pattern": "*" }));
    let script = sub_agent_script(one("for ever"), steps(vec![look, Reply::hang()]));
    let mut rig = Rig::skilled(script, TestSkills::new()).await;
    let session = rig.start(Mode::Ask, "go").await;
    let view = card(&mut rig, "a step", |view| view.steps == 1).await;
    rig.server.wait_received_async(3).await;
    rig.stop(view.session.unwrap()).await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    let view = only_card(&rig, session).await;
    assert_eq!(view.status, SubAgentStatus::Stopped);
    let text = results(&rig.snapshot(session).await).remove(0);
    assert!(text.starts_with("Sub-agent explore: stopped by the person. Steps: 1. Tools: glob 1."), "{text}");
    assert!(text.contains("Do not start it again"), "{text}");
    rig.assert_sound();
}

#[tokio::test]
async fn after_a_restart_it_does_not_go_on_by_itself_and_its_parent_is_told() {
    let script = sub_agent_script(one("for ever"), steps(vec![write("a.txt"), Reply::hang()]));
    let mut rig = Rig::skilled(script, TestSkills::new()).await;
    let session = rig.start(Mode::Autonomous, "go").await;
    rig.server.wait_received_async(3).await;
    let child = only_card(&rig, session).await.session.unwrap();
    rig.restart().await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    let snapshot = rig.snapshot(session).await;
    assert_eq!(statuses(&snapshot), [CallStatus::Interrupted]);
    assert!(results(&snapshot)[0].contains("effect unknown"));
    assert_eq!(only_card(&rig, session).await.status, SubAgentStatus::Interrupted);
    let child = rig.snapshot(child).await;
    assert_eq!(child.info.status, SessionStatus::Idle);
    assert_eq!(child.page.turns[0].end, Some(TurnEnd::Stopped));
    assert_eq!(rig.server.requests().len(), 4, "one more, of the parent");
    // Its work is still part of the turn.
    rig.event("the task's end", |event| matches!(event, Event::TasksChanged).then_some(())).await;
    rig.send(session, "/undo").await;
    assert!(!rig.home.work().join("a.txt").exists());
    rig.assert_sound();
}

#[tokio::test]
async fn no_more_work_at_once_than_the_setting_lets() {
    let gate = Gate::new();
    let held_gate = gate.clone();
    let tasks = ["one", "two", "three", "four", "five"].map(|task| skill("explore", task));
    let script = sub_agent_script(tasks.into(), move |_| Reply::text("found").hold_after(0, &held_gate));
    let mut rig = Rig::skilled(script, TestSkills::new()).await;
    let session = rig.start(Mode::Ask, "go").await;
    rig.server.wait_received_async(4).await;
    let begun = |cards: &[octo_protocol::SubAgentView]| {
        cards.iter().filter(|card| card.session.is_some() && !card.status.is_over()).count()
    };
    while begun(&cards(&rig, session).await) < 3 {
        tokio::task::yield_now().await;
    }
    let now = cards(&rig, session).await;
    let waiting = now.iter().filter(|card| card.status == SubAgentStatus::Queued).count();
    assert_eq!((begun(&now), waiting, rig.server.requests().len()), (3, 2, 4), "{now:?}");
    // More may run at once.
    set(&rig, SettingsPatch { sub_agents: Some(SubAgentLimit(4)), ..SettingsPatch::default() }).await;
    rig.server.wait_received_async(5).await;
    assert_eq!(begun(&cards(&rig, session).await).max(4), 4);
    gate.open();
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    let all = cards(&rig, session).await;
    assert!(all.iter().all(|card| card.status == SubAgentStatus::Done), "{all:?}");
    let tasks: Vec<_> = all.iter().map(|card| card.task.as_str()).collect();
    assert_eq!(tasks, ["one", "two", "three", "four", "five"], "results stay in the order of the calls");
    assert_eq!(rig.server.requests().len(), 7);
    rig.assert_sound();
}

#[tokio::test]
async fn another_model_begins_with_system_prompt_surroundings_skill_and_task() {
    let script = sub_agent_script(vec![skill("cheap", "Count the files.")], |_| Reply::text("three"));
    let skills = TestSkills::new()
        .with_sub_agent_skill("cheap", "Other\neffort: low", &[])
        .with_sub_agent_skill("gone", "nobody", &[]);
    let mut rig = Rig::skilled(script, skills).await;
    let draft = ModelDraft {
        id: None,
        protocol: Protocol::Anthropic,
        base_url: rig.server.url(),
        model: "other".into(),
        key: Some(octo_protocol::Secret::new("sk-test-0123456789")),
        headers: None,
    };
    let other = rig.octo.call(SaveModel { draft }).await.unwrap().id;
    let session = rig.start(Mode::Ask, "a secret of the conversation").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    let requests = rig.server.requests();
    let child = &requests[1];
    assert_eq!((child.model(), child.messages().len()), ("other", 1));
    assert_eq!((child.system(), child.tools()), (requests[0].system(), requests[0].tools()));
    let user_text = child.user_text();
    assert!(
        user_text.contains("Working directory")
            && user_text.contains("Count the files.")
            && user_text.contains("other")
    );
    assert!(!user_text.contains("a secret of the conversation"));
    let view = only_card(&rig, session).await;
    let info = rig.snapshot(view.session.unwrap()).await.info;
    assert_eq!((info.model, info.effort), (Some(other), Some(Effort::Low)));

    rig.server.push({
        let (name, arguments) = skill("gone", "x");
        Reply::call(name, arguments)
    });
    rig.send(session, "again").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    let tool_result = results(&rig.snapshot(session).await).pop().unwrap();
    assert!(
        tool_result.contains("nobody, which is not connected. Connected: scripted, other."),
        "{tool_result}"
    );
    rig.assert_sound();
}

#[tokio::test]
async fn a_budget_of_the_parents_task_covers_it() {
    let script = sub_agent_script(one("spend"), steps(vec![write("a.txt"), Reply::text("made")]));
    let mut rig = Rig::skilled(script, TestSkills::new()).await;
    // The parent's first call fits; its cost counts when its sub-agent starts.
    let little = Budgets { task: Some(Cost::from_nano_dollars(1_000)), ..Budgets::default() };
    set(&rig, SettingsPatch { budgets: Some(little), ..SettingsPatch::default() }).await;
    let session = rig.start(Mode::Autonomous, "go").await;
    let stop = rig
        .event("used-up budget", |event| match event {
            Event::BudgetReached { stop } => Some(*stop),
            _ => None,
        })
        .await;
    let StoredTopic::Session { id: child } = rig.seen.last().unwrap().topic else { panic!("of a session") };
    assert_ne!(child, session);
    assert!(stop.spent >= stop.limit);
    assert_eq!(rig.server.requests().len(), 1, "nothing was sent for it yet");
    card(&mut rig, "card that needs the person", |view| view.status == SubAgentStatus::NeedsYou).await;
    let more = |session| AnswerBudget { session, answer: BudgetAnswer::NoLimit };
    rig.octo.call(more(child)).await.unwrap();
    let again = rig
        .event("budget of the parent", |event| match event {
            Event::BudgetReached { stop } => Some(*stop),
            _ => None,
        })
        .await;
    assert_eq!(rig.seen.last().unwrap().topic, StoredTopic::Session { id: session });
    assert!(again.spent > stop.spent, "what the sub-agent spent is in it");
    assert_eq!(again.spent, rig.snapshot(session).await.spending.cost);
    rig.octo.call(more(session)).await.unwrap();
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    rig.assert_sound();
}

#[tokio::test]
async fn begun_by_the_person_it_gives_its_summary_to_the_conversation() {
    let script = Script::from_fn(|request| match (is_sub_agent(request), request.answers()) {
        (true, _) => Reply::text("the heron is in a.txt"),
        (false, 0) => Reply::text("hello"),
        (false, _) => Reply::text("as you see"),
    });
    let mut rig =
        Rig::skilled(script, TestSkills::new().with_inline_skill("style", "Write short lines.")).await;
    let session = rig.start(Mode::Ask, &format!("hi {}", "and a long text. ".repeat(500))).await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    let skill_task = SkillTask { name: "explore".into(), task: "find the heron".into() };
    rig.octo.invoke_skill(session, words("/explore find the heron"), skill_task.clone()).await.unwrap();
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    let requests = rig.server.requests();
    assert_eq!(requests.len(), 3);
    assert!(is_sub_agent(&requests[1]) && requests[1].user_text().contains("/explore find the heron"));
    assert!(requests[1].user_text().contains("find the heron"));
    // Sent as a notice, not as a call the model never made.
    let sent = requests[2].body.to_string();
    assert!(sent.contains("The person invoked a skill") && sent.contains("the heron is in a.txt"), "{sent}");
    assert!(requests[2].results().is_empty());
    assert_eq!(rig.server.cache_misses(), [], "the parent's cache is read by both");
    let view = only_card(&rig, session).await;
    assert_eq!((view.status, view.task.as_str()), (SubAgentStatus::Done, "find the heron"));
    let snapshot = rig.snapshot(session).await;
    assert_eq!(super::rig::answers(&snapshot).matches("as you see").count(), 1);

    // An inline skill starts the same way: its instructions are the call's result.
    let style = SkillTask { name: "style".into(), task: String::new() };
    rig.octo.invoke_skill(session, words("/style"), style).await.unwrap();
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    let tool_result = results(&rig.snapshot(session).await).pop().unwrap();
    assert!(
        tool_result.starts_with("Instructions of the skill style.")
            && tool_result.ends_with("Write short lines."),
        "{tool_result}"
    );
    let calls = rig.snapshot(session).await.page.calls;
    assert!(
        calls.iter().any(|call| matches!(&call.view, Some(ToolView::Skill(view)) if view.label == "yours"))
    );

    // An unknown skill is reported to the model, with similar names.
    let none = SkillTask { name: "explode".into(), task: "x".into() };
    rig.octo.invoke_skill(session, words("/explode x"), none).await.unwrap();
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    let tool_result = results(&rig.snapshot(session).await).pop().unwrap();
    assert_eq!(tool_result, "There is no skill \"explode\". Did you mean explore?");
    rig.assert_sound();
}

#[tokio::test]
async fn it_goes_into_the_trash_with_its_parent_comes_back_and_is_purged_with_it() {
    let script = sub_agent_script(one("look"), |_| Reply::text("a word of its own"));
    let mut rig = Rig::skilled(script, TestSkills::new()).await;
    let session = rig.start(Mode::Ask, "go").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    let child = only_card(&rig, session).await.session.unwrap();
    let before = rig.snapshot(child).await;
    let entries = async |rig: &Rig| {
        let call = ListTrash { query: String::new(), kind: None, project: None, offset: 0, limit: 9 };
        rig.octo.call(call).await.unwrap().entries
    };
    rig.octo.call(DeleteSession { session }).await.unwrap();
    let [entry] = entries(&rig).await.try_into().unwrap();
    assert_eq!(entry.session, Some(session));
    let error = rig.octo.call(OpenSession { session: child }).await;
    assert_eq!(error.unwrap_err().key, "session.unknown");
    let restore = RestoreTrash { ids: vec![entry.id], to: None, on_conflict: octo_protocol::OnConflict::Ask };
    rig.octo.call(restore).await.unwrap();
    assert_eq!(rig.snapshot(child).await.page, before.page);
    rig.octo.call(DeleteSession { session }).await.unwrap();
    let [entry] = entries(&rig).await.try_into().unwrap();
    let which = TrashChoice::These { ids: vec![entry.id] };
    let report = rig.octo.call(EmptyTrash { which }).await.unwrap();
    assert_eq!((report.removed.things, report.kept), (1, 0), "{report:?}");
    for folder in ["outputs", "scratch", "shells"] {
        assert!(!rig.home.octo().join(folder).join(child.to_string()).exists(), "{folder}");
    }
    rig.assert_sound();
}

#[tokio::test]
async fn its_own_conversation_is_compacted_when_it_is_too_long() {
    let summary = "<topics>numbers</topics>\n<summary>Add the numbers.</summary>";
    let (mut reads, mut asked) = (0, false);
    let script = Script::from_fn(move |request| {
        let raw = String::from_utf8_lossy(&request.raw);
        // After a compaction nothing of its first message is left to recognize it by.
        if !is_sub_agent(request) && !raw.contains("Summary of the conversation so far") {
            let (name, arguments) = skill("explore", "add the numbers of all files");
            let first = !std::mem::replace(&mut asked, true);
            return if first { Reply::call(name, arguments) } else { Reply::text("done") };
        }
        if request.user_text().contains("Answer with exactly these two parts") {
            return Reply::text(summary);
        }
        reads += 1;
        match reads {
            1..=14 => Reply::call("file_reader", json!({ "path": format!("{reads}.txt") })),
            _ => Reply::text("the sum is 105"),
        }
    });
    let mut rig = Rig::skilled(script, TestSkills::new()).await;
    for number in 1..=14 {
        rig.home.write(format!("{number}.txt"), format!("The number of file {number}.\n").repeat(200));
    }
    let compact_at = Some(CompactionLimit::Tokens { tokens: 14_000 });
    set(&rig, SettingsPatch { compact_at, ..SettingsPatch::default() }).await;
    let session = rig.start(Mode::Autonomous, "go").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    let view = only_card(&rig, session).await;
    let compacted: Vec<_> = rig
        .seen
        .iter()
        .filter(|event| matches!(event.event, Event::ContextCompacted { .. }))
        .map(|event| event.topic)
        .collect();
    assert!(!compacted.is_empty());
    assert!(compacted.iter().all(|topic| *topic == (StoredTopic::Session { id: view.session.unwrap() })));
    assert_eq!(view.summary.as_deref(), Some("the sum is 105"));
    rig.assert_sound();
}

#[tokio::test]
async fn a_long_summary_is_cut_and_a_long_skill_is_kept_whole_beside() {
    let long = "word ".repeat(2_000);
    let said = long.clone();
    let script = sub_agent_script(vec![skill("explore", "talk"), skill("book", "read")], move |_| {
        Reply::text(said.clone())
    });
    let mut rig =
        Rig::skilled(script, TestSkills::new().with_inline_skill("book", &"line of a book\n".repeat(4_000)))
            .await;
    let session = rig.start(Mode::Ask, "go").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    let tool_results = results(&rig.snapshot(session).await);
    assert!(tool_results[0].chars().count() <= 4_000, "{}", tool_results[0].chars().count());
    assert!(tool_results[0].ends_with("[Cut; the rest is in the sub-agent's session.]"));
    assert!(tool_results[1].chars().count() < 40_500 && tool_results[1].contains("The whole is in "));
    let path = tool_results[1].rsplit("The whole is in ").next().unwrap().split(';').next().unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap().lines().count(), 4_000);
    rig.assert_sound();
}
