//! Editable elements, buttons inside them, text typed key by key, and text read from many frames.

use super::{Chromium, PlanStep, Site, click, last, number, open, plan, reason, rig_with, snapshot, step};
use crate::agent::rig::results;
use octo_protocol::{Answer, AskReason, Mode, PageRisk, TurnEnd};
use serde_json::json;

const LETTER: &str = "Dear Ada, the meeting about the merger of both companies has been moved to the second floor on \
    Thursday, please bring the signed papers.";

#[tokio::test]
async fn what_is_pressed_in_an_editor_asks_as_it_does_anywhere() {
    let Some(browser) = Chromium::start() else { return };
    let site = Site::start(&[(
        "/",
        "<!doctype html><title>Note</title>\
         <div contenteditable role=textbox aria-label=Note><p>please delete this one and pay</p>\
         <div role=button onclick=\"fetch('/deleted')\">Delete it</div></div>\
         <div contenteditable onclick=\"fetch('/paid')\">Pay now</div>\
         <div contenteditable aria-label=Other role=textbox><p>and send</p><div id=own style='cursor:pointer'>Transfer money</div></div>\
         <script>own.addEventListener('click', () => fetch('/sent'));</script>",
    )]);
    let steps = vec![
        open(site.url("/")),
        snapshot(),
        click("textbox \"Note\""),
        click("click \"please delete this one and pay\""),
        click("\"Delete it\""),
        click("textbox \"Pay now\""),
        click("click \"Transfer money\""),
    ];
    let mut rig = rig_with(&browser, plan(steps)).await;
    let session = rig.start(Mode::Autonomous, "write").await;
    for risk in [PageRisk::Deletes, PageRisk::Pays, PageRisk::Pays] {
        let question = rig.question().await;
        let AskReason::Page { risk: asked, .. } = reason(&question) else { panic!("{question:?}") };
        assert_eq!(*asked, risk, "{question:?}");
        rig.answer(session, &question, Answer::No { reason: None }).await;
    }
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let tool_results = results(&rig.snapshot(session).await);
    for tool_result in &tool_results[2..4] {
        assert!(
            tool_result.starts_with("Done."),
            "an editor and its text are clicked unasked: {tool_result}"
        );
    }
    assert!(!site.asked().iter().any(|path| ["/deleted", "/paid", "/sent"].contains(&path.as_str())));
    rig.assert_sound();
}

fn key(name: &'static str, key: &'static str) -> PlanStep {
    step(move |read| json!({ "action": "act", "kind": "press", "ref": number(read, name), "key": key }))
}

fn write(name: &'static str, text: &'static str) -> PlanStep {
    step(move |read| json!({ "action": "act", "kind": "type", "ref": number(read, name), "text": text }))
}

#[tokio::test]
async fn what_is_written_in_pieces_is_judged_as_the_whole_it_becomes() {
    let Some(browser) = Chromium::start() else { return };
    let site = Site::start(&[
        (
            "/",
            "<!doctype html><title>Bank</title><p>Your card is 4111 1111 1111 1111, your key Zx81-qwerty-4711-abcd.",
        ),
        (
            "/note",
            "<!doctype html><title>Note</title><input aria-label=Number><input aria-label=Word><input type=password aria-label=Pin>",
        ),
    ]);
    let steps = vec![
        open(site.url("/")),
        open(format!("{}/note", site.elsewhere())),
        write("textbox \"Number\"", "411111111111111"),
        key("textbox \"Number\"", "1"),
        write("textbox \"Word\"", "Zx81-qwerty"),
        write("textbox \"Word\"", "-4711-abcd"),
        key("Pin", "7"),
    ];
    let mut rig = rig_with(&browser, plan(steps)).await;
    let session = rig.start(Mode::Autonomous, "note it").await;
    for (risk, name) in [
        (PageRisk::Carries, "the last digit"),
        (PageRisk::Carries, "the rest of a word"),
        (PageRisk::Password, "a key in a field for passwords"),
    ] {
        let question = rig.question().await;
        let AskReason::Page { risk: asked, .. } = reason(&question) else { panic!("{question:?}") };
        assert_eq!(*asked, risk, "{name}: {question:?}");
        rig.answer(session, &question, Answer::No { reason: None }).await;
    }
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    rig.assert_sound();
}

#[tokio::test]
async fn a_page_of_many_frames_makes_nobody_forget_what_was_read_before() {
    let Some(browser) = Chromium::start() else { return };
    let frames: String = (0..20)
        .map(|at| format!("<iframe src=http://f{at}.localhost:PORT/frame width=100 height=40></iframe>"))
        .collect();
    let crowd = format!("<!doctype html><title>Crowd</title><input aria-label=Note>{frames}");
    let site = Site::start(&[
        ("/", &format!("<!doctype html><title>Mail</title><p>{LETTER}")),
        ("/crowd", &crowd),
        ("/frame", "<!doctype html><p>one of the many frames of this page says nothing new"),
    ]);
    let wait = step(|_| json!({ "action": "act", "kind": "wait", "ms": 500 }));
    let carry = step(
        |read| json!({ "action": "act", "kind": "fill", "ref": number(read, "textbox \"Note\""), "text": LETTER }),
    );
    let steps =
        vec![open(site.url("/")), open(format!("{}/crowd", site.elsewhere())), wait, snapshot(), carry];
    let mut rig = rig_with(&browser, plan(steps)).await;
    let session = rig.start(Mode::Autonomous, "look around").await;
    let question = rig.question().await;
    let AskReason::Page { risk, .. } = reason(&question) else { panic!("{question:?}") };
    assert_eq!(*risk, PageRisk::Carries, "{question:?}");
    rig.answer(session, &question, Answer::No { reason: None }).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let frames = results(&rig.snapshot(session).await)[3].matches("one of the many frames").count();
    assert_eq!(frames, 20, "all of them were read: {}", last(&rig, session).await);
    rig.assert_sound();
}
