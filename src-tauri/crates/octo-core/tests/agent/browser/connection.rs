//! Work in the browser when the connection ends, restarts, or cannot do its part.

use super::{Chromium, Site, between::BrowserProxy, between::CommandFate, last, next, open, plan, rig_with};
use crate::agent::rig::{Rig, reached, results};
use octo_protocol::{BrowserState, CallStatus, DetachBrowser, LiveTopic, Mode, TurnEnd, Update};
use octo_testkit::{Gate, Reply, Script};
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};

#[tokio::test]
async fn a_connection_that_ended_is_made_again_by_the_next_call_alone_and_that_is_said() {
    let Some(browser) = Chromium::start() else { return };
    let site = Site::start(&[("/", "<!doctype html><title>Here</title><p>all as it was")]);
    let gate = Gate::new();
    let script = Script::new()
        .call("browser", json!({ "action": "open", "url": site.url("/") }))
        .reply(Reply::call("browser", json!({ "action": "snapshot" })).in_chunks(2).hold_after(1, &gate))
        .call("browser", json!({ "action": "snapshot" }))
        .text("done");
    let mut rig = rig_with(&browser, script).await;
    let mut watch = rig.octo.subscribe(LiveTopic::Browser).await.unwrap();
    let session = rig.start(Mode::Autonomous, "look").await;
    reached(&gate).await;
    let mut states = Vec::new();
    rig.octo.call(DetachBrowser {}).await.expect("detached");
    next(&mut watch, |update| {
        states.extend(match update {
            Update::Browser { state } => Some(state),
            _ => None,
        });
        matches!(states.last(), Some(BrowserState::Apart)).then_some(())
    })
    .await;
    gate.open();
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    next(&mut watch, |update| {
        states.extend(match update {
            Update::Browser { state } => Some(state),
            _ => None,
        });
        matches!(states.last(), Some(BrowserState::Attached { .. })).then_some(())
    })
    .await;
    let attachments = states.iter().filter(|state| matches!(state, BrowserState::Attached { .. })).count();
    assert_eq!(attachments, 2, "{states:?}");
    let tool_results = results(&rig.snapshot(session).await);
    let notice = "(Octo was attached to the browser anew.)";
    assert!(
        tool_results[1].starts_with(notice) && tool_results[1].contains("all as it was"),
        "{}",
        tool_results[1]
    );
    assert!(
        !tool_results[0].contains(notice) && !tool_results[2].contains(notice),
        "said once: {tool_results:?}"
    );
    rig.assert_sound();
}

#[tokio::test]
async fn nothing_is_done_in_a_page_whose_files_could_not_be_stopped() {
    let Some(browser) = Chromium::start() else { return };
    let site = Site::start(&[("/", "<!doctype html><title>Here</title><p>hello")]);
    let first = AtomicBool::new(true);
    let between = BrowserProxy::start(&browser, move |name| {
        let refused = name == "Browser.setDownloadBehavior" && first.swap(false, Ordering::SeqCst);
        if refused { CommandFate::Refused } else { CommandFate::On }
    });
    let asked = site.clone();
    let again = super::step(move |_| {
        assert!(asked.asked().is_empty(), "nothing was opened: {:?}", asked.asked());
        json!({ "action": "open", "url": asked.url("/") })
    });
    let mut rig = Rig::new(plan(vec![open(site.url("/")), again])).await;
    between.chosen_by(&rig).await;
    let session = rig.start(Mode::Autonomous, "look").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let snapshot = rig.snapshot(session).await;
    let tool_results = results(&snapshot);
    assert_eq!(super::statuses(&snapshot), [CallStatus::Failed, CallStatus::Done], "{tool_results:?}");
    assert!(tool_results[0].contains("does not tell of downloads"), "{}", tool_results[0]);
    assert!(last(&rig, session).await.contains("hello"), "once it does, it goes on");
    rig.assert_sound();
}
