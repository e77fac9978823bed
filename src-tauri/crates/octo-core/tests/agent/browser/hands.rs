//! Control of the page: while the person has it, the agent reads nothing there and the page is as they left it.

use super::{Chromium, Site, click, last, number, rig_with, step, take};
use crate::agent::rig::{PATIENCE, reached, results};
use octo_protocol::{CallState, Event, GiveBackPage, Mode, TurnEnd};
use octo_testkit::{Gate, Reply, Script};
use serde_json::{Value, json};
use std::time::Duration;

/// Returns a model that makes these calls and holds the call with this number at the gate.
fn held_at(gate: &Gate, held: usize, steps: Vec<super::PlanStep>) -> Script {
    let gate = gate.clone();
    Script::from_fn(move |request| {
        let read: String = request.all_results().iter().map(|result| format!("{}\n", result.text)).collect();
        let Some(step) = steps.get(request.answers()) else { return Reply::text("done") };
        let call: Value = step(&read);
        let reply = Reply::call("browser", call);
        if request.answers() == held { reply.in_chunks(2).hold_after(1, &gate) } else { reply }
    })
}

/// Waits until a path was requested this many times.
async fn times(site: &Site, path: &str, times: usize) {
    let started = std::time::Instant::now();
    while site.asked().iter().filter(|asked| *asked == path).count() < times {
        assert!(started.elapsed() < PATIENCE, "{path} not {times} times: {:?}", site.asked());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn nothing_is_read_while_the_person_has_the_page_not_even_that_an_element_is_gone() {
    let Some(browser) = Chromium::start() else { return };
    // The target of the call disappears while the person has the page, and what they then see is theirs.
    let page = "<!doctype html><title>Mail</title><div id=list><button>Archive</button></div><script>\
        setTimeout(() => { list.innerHTML = '<p>a private letter'; fetch('/private'); }, 600);\
        setTimeout(() => { setInterval(() => fetch('/tick'), 50); }, 600);</script>";
    let site = Site::start(&[("/", page)]);
    let url = site.url("/");
    let gate = Gate::new();
    let steps = vec![step(move |_| json!({ "action": "open", "url": url })), click("button \"Archive\"")];
    let mut rig = rig_with(&browser, held_at(&gate, 1, steps)).await;
    let session = rig.start(Mode::Autonomous, "tidy up").await;
    reached(&gate).await;
    take(&rig, session).await;
    times(&site, "/private", 1).await;
    gate.open();
    // The first is that of `open`.
    for _ in 0..2 {
        rig.event("call", |event| match event {
            Event::CallChanged { call } if call.state == CallState::Planned => Some(()),
            _ => None,
        })
        .await;
    }
    let ticks = || site.asked().iter().filter(|path| *path == "/tick").count();
    times(&site, "/tick", ticks() + 20).await;
    let tool_results = results(&rig.snapshot(session).await);
    assert_eq!(tool_results.len(), 1, "the call waits for its turn: {tool_results:?}");
    rig.octo.call(GiveBackPage { session }).await.expect("the page is handed back");
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let last_result = last(&rig, session).await;
    assert!(
        last_result.contains("is gone") && last_result.contains("a private letter"),
        "handed back, it is read: {last_result}"
    );
    rig.assert_sound();
}

#[tokio::test]
async fn a_page_has_the_focus_for_the_agents_acts_and_is_as_its_person_has_it_otherwise() {
    let Some(browser) = Chromium::start() else { return };
    // Another tab is in front of it, so that it is hidden except for its emulated visibility.
    let page = "<!doctype html><title>Here</title><button onclick=\"window.open('/other')\">More</button>\
        <button onclick=\"fetch('/pressed/' + document.visibilityState + '/' + document.hasFocus())\">Press</button>\
        <script>document.onvisibilitychange = () => fetch('/' + document.visibilityState);</script>";
    let site = Site::start(&[("/", page), ("/other", "<!doctype html><title>Other</title><p>before it")]);
    let url = site.url("/");
    let gate = Gate::new();
    let pressed = site.wait_for("/pressed/visible/true");
    let steps = vec![
        step(move |_| json!({ "action": "open", "url": url })),
        click("button \"More\""),
        click("button \"Press\""),
        // Asked about the page, and not before it has reported.
        step(move |_| {
            pressed();
            json!({ "action": "status" })
        }),
        step(|read| json!({ "action": "act", "ref": number(read, "button \"Press\"") })),
    ];
    let mut rig = rig_with(&browser, held_at(&gate, 3, steps)).await;
    let session = rig.start(Mode::Autonomous, "press").await;
    reached(&gate).await;
    let hidden = |site: &Site| site.asked().iter().filter(|path| *path == "/hidden").count();
    assert_eq!(hidden(&site), 0, "it works as if it were shown: {:?}", site.asked());
    take(&rig, session).await;
    times(&site, "/hidden", 1).await;
    rig.octo.call(GiveBackPage { session }).await.expect("the page is handed back");
    gate.open();
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    times(&site, "/pressed/visible/true", 2).await;
    // The turn is over, and so is the emulation.
    times(&site, "/hidden", 2).await;
    rig.assert_sound();
}
