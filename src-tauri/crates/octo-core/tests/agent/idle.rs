//! Idle time: the work done while no turn runs, and its end when one starts.

use super::rig::Rig;
use octo_protocol::{
    Block, CallOutcome, ChangeSettings, CompactionLimit, Cost, Event, Mode, Purpose, SettingsPatch, Switch,
    TurnEnd,
};
use octo_testkit::{Gate, RecordedRequest, Reply, Script};
use std::time::Duration;

const SUMMARY: &str = "<topics>a</topics><summary>The person wants a report.</summary>";

fn is_instruction(request: &RecordedRequest) -> bool {
    request.user_text().contains("Answer with exactly these two parts")
}

async fn billed(rig: &mut Rig, purpose: Purpose) -> octo_protocol::BilledCall {
    rig.event("line of the ledger", |event| match event {
        Event::CallBilled { call } if call.purpose == purpose => Some(call.clone()),
        _ => None,
    })
    .await
}

/// Creates sessions that are idle at once, and compacted rather than kept warm.
async fn compacting(script: Script) -> Rig {
    let rig = Rig::priced(script, Duration::from_millis(300)).await;
    let patch = SettingsPatch {
        compact_at: Some(CompactionLimit::Tokens { tokens: 30_000 }),
        keep_warm: Some(Switch::Off),
        ..SettingsPatch::default()
    };
    rig.octo.call(ChangeSettings { patch }).await.unwrap();
    rig
}

#[tokio::test]
async fn a_long_conversation_is_compacted_in_a_pause_and_goes_on_shorter() {
    let script = Script::from_fn(|request| match is_instruction(request) {
        true => Reply::text(SUMMARY),
        false => Reply::text("Noted. ".repeat(2_000)),
    });
    let mut rig = compacting(script).await;
    let session = rig.start(Mode::Ask, &"Write the report. ".repeat(2_000)).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    rig.send(session, &"And this too. ".repeat(2_000)).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let line = billed(&mut rig, Purpose::Compaction).await;
    assert_eq!((line.outcome, line.turn), (CallOutcome::Answered, None));
    let usage = line.usage.unwrap();
    assert!(usage.cache_read * 100 >= usage.total_input() * 70, "it reads the cache: {usage:?}");
    let cost = line.cost.unwrap();
    assert!(cost > Cost::ZERO && cost < Cost::DOLLAR);
    let tokens = rig
        .event("compacted context", |event| match event {
            Event::ContextCompacted { tokens } => Some(*tokens),
            _ => None,
        })
        .await;
    assert!(tokens < 10_000, "{tokens}");
    rig.send(session, "Go on.").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let last = rig.server.requests().last().unwrap().clone();
    assert!(last.messages()[0].to_string().contains("The person wants a report."));
    rig.assert_sound();
}

#[tokio::test]
async fn new_work_ends_what_goes_on_in_a_pause() {
    let gate = Gate::new();
    let held_reply = Reply::text(SUMMARY).in_chunks(3).hold_after(1, &gate);
    let script = Script::from_fn(move |request| match is_instruction(request) {
        true => held_reply.clone(),
        false => Reply::text("Noted. ".repeat(2_000)),
    });
    let mut rig = compacting(script).await;
    let session = rig.start(Mode::Ask, &"Write the report. ".repeat(2_000)).await;
    rig.turn_end().await;
    rig.send(session, &"And this too. ".repeat(2_000)).await;
    rig.turn_end().await;
    super::rig::reached(&gate).await;
    rig.send(session, "Never mind.").await;
    let line = billed(&mut rig, Purpose::Compaction).await;
    assert_eq!(line.outcome, CallOutcome::Stopped);
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    gate.open();
    let snapshot = rig.snapshot(session).await;
    let blocks = snapshot.page.messages.iter().flat_map(|message| &message.blocks);
    assert_eq!(blocks.filter(|block| matches!(block, Block::Summary { .. })).count(), 0);
    assert!(snapshot.page.messages.iter().any(|message| message.text().contains("Never mind.")));
    rig.assert_sound();
}

#[tokio::test]
async fn a_model_of_unknown_price_is_left_alone() {
    let mut rig = Rig::new(Script::new().text("hello")).await;
    let session = rig.start(Mode::Ask, &"Write the report. ".repeat(2_000)).await;
    rig.turn_end().await;
    let snapshot = rig.snapshot(session).await;
    assert_eq!((snapshot.spending.calls, snapshot.spending.unpriced), (1, 1));
    assert_eq!(rig.server.requests().len(), 1);
}

#[tokio::test]
async fn a_cache_that_would_expire_is_read_again_and_no_more_once_somebody_works() {
    // This provider's entries live 22 seconds, so that a refresh is due two seconds after the last use.
    let caching = serde_json::json!({
        "kind": { "prefix": { "step": 128, "life_seconds": 22, "keyed": false } }, "minimum": 1024,
    });
    let script = Script::from_fn(|request| match request.user_text().contains("Answer with OK.") {
        true => Reply::text("OK"),
        false => Reply::text("Noted."),
    });
    let mut rig = Rig::priced_with(script, Duration::from_millis(100), &caching).await;
    let session = rig.start(Mode::Ask, &"Write the report. ".repeat(5_000)).await;
    rig.turn_end().await;
    let before = rig.snapshot(session).await;
    let line = billed(&mut rig, Purpose::Warmth).await;
    assert_eq!((line.outcome, line.turn), (CallOutcome::Answered, None));
    // The server insists that it is the unchanged conversation, which is what the cache contains.
    let refresh = rig.server.requests()[1].clone();
    assert_eq!(refresh.body["max_tokens"], 16);
    assert_eq!(rig.snapshot(session).await.page, before.page, "nobody sees it");
    rig.send(session, "Go on.").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert!(!rig.server.requests().last().unwrap().body.to_string().contains("Answer with OK."));
    rig.assert_sound();
}
