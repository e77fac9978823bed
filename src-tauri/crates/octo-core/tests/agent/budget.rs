//! Budgets pause and ask; they never kill.

use super::rig::{Rig, answers};
use octo_protocol::{
    AnswerBudget, BudgetAnswer, BudgetScope, BudgetStop, Budgets, ChangeSettings, Cost, Event, Mode,
    SessionId, SessionStatus, SettingsPatch, TurnEnd,
};
use octo_testkit::Script;
use serde_json::json;
use std::time::Duration;

async fn limited(script: Script, budgets: Budgets) -> Rig {
    let rig = Rig::priced(script, Duration::from_secs(90)).await;
    let patch = SettingsPatch { budgets: Some(budgets), ..SettingsPatch::default() };
    rig.octo.call(ChangeSettings { patch }).await.unwrap();
    rig
}

async fn stop(rig: &mut Rig) -> BudgetStop {
    rig.event("used-up budget", |event| match event {
        Event::BudgetReached { stop } => Some(*stop),
        _ => None,
    })
    .await
}

async fn answer(rig: &Rig, session: SessionId, answer: BudgetAnswer) {
    rig.octo.call(AnswerBudget { session, answer }).await.unwrap();
}

fn steps(count: usize) -> Script {
    let script = (0..count).fold(Script::new(), |script, number| {
        script.call("write", json!({ "path": format!("{number}.txt"), "content": "x\n" }))
    });
    script.text("done")
}

/// Less than the cost of one call.
const LITTLE: Cost = Cost::from_nano_dollars(1_000);

#[tokio::test]
async fn a_used_up_budget_asks_before_the_next_call_and_goes_on_when_told_to() {
    let mut rig = limited(steps(2), Budgets { task: Some(LITTLE), ..Budgets::default() }).await;
    let session = rig.start(Mode::Autonomous, "work").await;
    let first = stop(&mut rig).await;
    assert_eq!((first.scope, first.limit, first.unpriced), (BudgetScope::Task, LITTLE, 0));
    assert!(first.spent >= LITTLE);
    assert_eq!(rig.server.requests().len(), 1, "nothing is sent while it asks");
    let snapshot = rig.snapshot(session).await;
    assert_eq!((snapshot.budget, snapshot.info.status), (Some(first), SessionStatus::Waiting));
    assert!(rig.home.work().join("0.txt").exists(), "what was done stays");

    answer(&rig, session, BudgetAnswer::More).await;
    let second = stop(&mut rig).await;
    assert!(second.limit > first.limit);
    assert_eq!(rig.server.requests().len(), 2);

    // After a restart it asks again before anything is sent.
    rig.restart().await;
    while rig.snapshot(session).await.budget.is_none() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(rig.server.requests().len(), 2);
    answer(&rig, session, BudgetAnswer::NoLimit).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let snapshot = rig.snapshot(session).await;
    assert_eq!((snapshot.budget, snapshot.info.status), (None, SessionStatus::Idle));
    assert!(answers(&snapshot).ends_with("done"));
    rig.assert_sound();
}

#[tokio::test]
async fn stop_is_an_answer_and_the_session_goes_on_when_there_is_money() {
    let mut rig = limited(steps(1), Budgets { day: Some(LITTLE), ..Budgets::default() }).await;
    let session = rig.start(Mode::Autonomous, "work").await;
    assert_eq!(stop(&mut rig).await.scope, BudgetScope::Day);
    answer(&rig, session, BudgetAnswer::Stop).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Stopped);
    let snapshot = rig.snapshot(session).await;
    assert_eq!((snapshot.budget, snapshot.info.status), (None, SessionStatus::Idle));
    let late = AnswerBudget { session, answer: BudgetAnswer::More };
    assert_eq!(rig.octo.call(late).await.unwrap_err().key, "budget.none");

    let patch = SettingsPatch { budgets: Some(Budgets::default()), ..SettingsPatch::default() };
    rig.octo.call(ChangeSettings { patch }).await.unwrap();
    rig.send(session, "go on").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    rig.assert_sound();
}
