//! Permits, and work other than the person's turns: sub-agents, skills, tasks.

use super::*;
use crate::agent::schedule::world::runs_when;
use octo_protocol::StoredTopic;

#[tokio::test]
async fn sub_agents_work_on_their_parents_place_however_few_there_are() {
    let script = sub_agent_script(vec![skill("explore", "one"), skill("explore", "two")], |_| {
        Reply::text("looked around")
    });
    let mut rig = Rig::skilled(script, TestSkills::new()).await;
    let patch = SettingsPatch {
        live_turns: Some(LiveTurnLimit(1)),
        sub_agents: Some(SubAgentLimit(1)),
        ..SettingsPatch::default()
    };
    set(&rig, patch).await;
    let session = rig.start(Mode::Autonomous, "go").await;
    assert_eq!(timeout(PATIENCE, end_of(&mut rig, session)).await.unwrap(), TurnEnd::Finished);
    let ends: Vec<_> = cards(&rig, session).await.into_iter().map(|card| card.status).collect();
    assert_eq!(ends, [SubAgentStatus::Done; 2]);
    rig.assert_sound();
}

#[tokio::test]
async fn a_sub_agent_that_asks_frees_its_parents_place_and_goes_on_without_one() {
    let gate = Gate::new();
    let held_gate = gate.clone();
    let mut child =
        vec![Reply::call("write", json!({ "path": "a.txt", "content": "x\n" })), Reply::text("made a file")]
            .into_iter();
    let mut parent = vec![
        Reply::nothing().and_call("invoke_skill", json!({ "skill_name": "explore", "task": "make" })),
        Reply::text("all done"),
    ]
    .into_iter();
    let script = Script::from_fn(move |request| {
        if is_sub_agent(request) {
            child.next().unwrap()
        } else if asked(request) == "long" {
            Reply::text("long work").hold_after(1, &held_gate)
        } else {
            parent.next().unwrap()
        }
    });
    let mut rig = Rig::skilled(script, TestSkills::new()).await;
    limit(&rig, 1).await;
    let session = rig.start(Mode::Ask, "go").await;
    let question = rig.question().await;
    let StoredTopic::Session { id: child } = rig.seen.last().unwrap().topic else { panic!("of a session") };
    rows_when(
        &rig,
        "both waiting for the person",
        &[("go", ActivityStatus::NeedsYou), ("explore", ActivityStatus::NeedsYou)],
    )
    .await;
    let row = state(&rig).await.rows.remove(1);
    assert_eq!(row.id, ActivityId::SubAgent { session: child });
    assert_eq!(row.of.unwrap().session, session);
    let long = rig.start(Mode::Ask, "long").await;
    reached(&gate).await;
    // If it waited for its parent's permit, neither could continue while the other session works.
    rig.answer(child, &question, Answer::Once).await;
    assert_eq!(end_of(&mut rig, child).await, TurnEnd::Finished);
    rows_when(&rig, "the parent's turn to wait", &[("go", queued(0)), ("long", WORKS)]).await;
    gate.open();
    assert_eq!(end_of(&mut rig, long).await, TurnEnd::Finished);
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    rig.assert_sound();
}

#[tokio::test]
async fn a_skill_the_person_calls_waits_for_a_place_before_its_first_step() {
    let (held_gate, gate) = (Gate::new(), Gate::new());
    let (long, first) = (gate.clone(), held_gate.clone());
    let script = Script::from_fn(move |request| match asked(request).as_str() {
        _ if is_sub_agent(request) => Reply::text("looked around"),
        "long" => Reply::text("long work").hold_after(1, &long),
        "first" => Reply::text("hello").hold_after(1, &first),
        _ => Reply::text("done"),
    });
    let mut rig = Rig::skilled(script, TestSkills::new()).await;
    let session = rig.start(Mode::Autonomous, "first").await;
    reached(&held_gate).await;
    held_gate.open();
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    limit(&rig, 1).await;
    rig.start(Mode::Ask, "long").await;
    reached(&gate).await;
    let skill_task = SkillTask { name: "explore".into(), task: "around".into() };
    rig.octo.invoke_skill(session, words("/explore around"), skill_task).await.unwrap();
    assert_eq!(standing(&rig).await, told(&[("long", WORKS), ("first", queued(0))]));
    assert_eq!(rig.server.requests().len(), 2, "no sub-agent began");
    // A restart preserves the queue too.
    rig.restart().await;
    assert_eq!(standing(&rig).await, told(&[("long", WORKS), ("first", queued(0))]));
    gate.open();
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    let ends: Vec<_> = cards(&rig, session).await.into_iter().map(|card| card.status).collect();
    assert_eq!(ends, [SubAgentStatus::Done]);
    rig.assert_sound();
}

#[tokio::test]
async fn a_task_waits_like_everybody_and_its_waiting_is_no_work() {
    let (script, [gate]) = gated(["long"]);
    let (rig, clock) = world(script, DAY + 9 * HOUR).await;
    limit(&rig, 1).await;
    rig.start(Mode::Ask, "long").await;
    reached(&gate).await;
    let mut plan = at_ten(&rig);
    plan.when = Timing::Cron { expression: "0,50 10 * * *".to_owned() };
    plan.minutes = 5;
    save(&rig, plan).await;
    clock.set(DAY + 10 * HOUR);
    let run = last_run(&rig, "begun", |status| *status == RunStatus::Running).await;
    // The run is stored as started before its session's actor reports its work.
    let row = heard(&rig, "the run", |state| state.rows.len() == 2).await.rows.remove(1);
    assert_eq!((row.id, row.status), (ActivityId::Task { run: run.id }, queued(0)));
    assert_eq!((row.name.as_str(), row.task.as_deref()), ("Morning brief", Some("morning-brief")));
    // It waits eight times as long as it may work.
    for _ in 0..40 {
        clock.pass(MINUTE);
        tokio::task::yield_now().await;
    }
    settled(&rig, &clock, 1).await;
    assert_eq!(runs(&rig).await[0].status, RunStatus::Running, "not timed out");
    // And is not over at its next scheduled time.
    clock.set(DAY + 10 * HOUR + 50 * MINUTE);
    let still = RunStatus::Skipped { reason: SkipReason::StillRunning };
    last_run(&rig, "left out", |status| *status == still).await;
    assert_eq!(rig.server.requests().len(), 1);
    gate.open();
    let is_expected = |runs: &[octo_protocol::TaskRun]| runs[0].status == RunStatus::Finished;
    runs_when(&rig, "finished", is_expected).await;
    assert_eq!(said(&rig), ["long", "Write the brief."]);
}

#[tokio::test]
async fn a_task_is_stopped_in_the_line_and_its_history_says_so() {
    let (script, [gate]) = gated(["long"]);
    let (rig, clock) = world(script, DAY + 9 * HOUR).await;
    limit(&rig, 1).await;
    rig.start(Mode::Ask, "long").await;
    reached(&gate).await;
    save(&rig, at_ten(&rig)).await;
    clock.set(DAY + 10 * HOUR);
    let run = last_run(&rig, "begun", |status| *status == RunStatus::Running).await;
    rig.octo.call(StopActivity { id: ActivityId::Task { run: run.id } }).await.unwrap();
    last_run(&rig, "stopped", |status| *status == RunStatus::Stopped).await;
    rows_when(&rig, "out of the line", &[("long", WORKS)]).await;
    gate.open();
    rows_when(&rig, "empty", &[]).await;
    assert_eq!(said(&rig), ["long"]);
}
