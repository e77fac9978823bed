use super::*;
use crate::{BrowserEffect, Toolset, testing::Bench};
use serde_json::{Value, json};

fn wish(arguments: Value) -> Result<BrowserRequest, String> {
    let input: BrowserInput = serde_json::from_value(arguments).unwrap();
    input.to_request(Path::new("/work")).map_err(|error| error.text)
}

#[test]
fn every_action_becomes_its_request() {
    let act = |act: PageInteraction| BrowserAction::Page(act);
    for (arguments, deed) in [
        (json!({"action": "status"}), BrowserAction::Status),
        (
            json!({"action": "open", "url": " shop.example/a "}),
            BrowserAction::Open { url: "https://shop.example/a".into() },
        ),
        (
            json!({"action": "navigate", "url": "http://a"}),
            BrowserAction::Navigate { url: "http://a".into() },
        ),
        (
            json!({"action": "navigate", "url": "javascript:x"}),
            BrowserAction::Navigate { url: "javascript:x".into() },
        ),
        (
            json!({"action": "snapshot", "page": 3}),
            BrowserAction::Snapshot { lines: PageLines::All, part: 3 },
        ),
        (
            json!({"action": "snapshot", "text": "Targets"}),
            BrowserAction::Snapshot { lines: PageLines::Targets, part: 1 },
        ),
        (
            json!({"action": "snapshot", "text": "screen", "page": 2}),
            BrowserAction::Snapshot { lines: PageLines::OnScreen, part: 2 },
        ),
        (
            json!({"action": "screenshot", "ref": 4}),
            BrowserAction::Screenshot { target: Some(4), numbered: ElementNumbers::No },
        ),
        (
            json!({"action": "screenshot_refs"}),
            BrowserAction::Screenshot { target: None, numbered: ElementNumbers::Yes },
        ),
        (json!({"action": "read", "ref": 4}), BrowserAction::Read { target: Some(4), part: 1 }),
        (json!({"action": "act", "ref": 3}), act(PageInteraction::Click(3))),
        (json!({"action": "act", "x": 3, "y": 4}), act(PageInteraction::ClickAt(3.0, 4.0))),
        (json!({"action": "act", "kind": "fill", "ref": 3}), act(PageInteraction::Fill(3, String::new()))),
        (
            json!({"action": "act", "kind": "press", "key": "Enter"}),
            act(PageInteraction::Press(None, "Enter".into())),
        ),
        (
            json!({"action": "act", "kind": "select", "ref": 1, "text": "B"}),
            act(PageInteraction::Select(1, vec!["B".into()])),
        ),
        (
            json!({"action": "act", "kind": "scroll"}),
            act(PageInteraction::Scroll(RequestedScroll::By(0.0, 600.0))),
        ),
        (
            json!({"action": "act", "kind": "scroll", "text": "Up", "y": -80}),
            act(PageInteraction::Scroll(RequestedScroll::By(0.0, -80.0))),
        ),
        (
            json!({"action": "act", "kind": "scroll", "text": "Prices"}),
            act(PageInteraction::Scroll(RequestedScroll::ToText("Prices".into()))),
        ),
        (
            json!({"action": "act", "kind": "wait", "ms": 99_999}),
            act(PageInteraction::Wait(RequestedWait::Time(10_000))),
        ),
        (
            json!({"action": "act", "kind": "wait", "text": "Done"}),
            act(PageInteraction::Wait(RequestedWait::Text("Done".into()))),
        ),
        (json!({"action": "dialog", "accept": false}), BrowserAction::Dialog(DialogAnswer::Dismiss)),
        (
            json!({"action": "dialog", "accept": true, "text": "a"}),
            BrowserAction::Dialog(DialogAnswer::Accept(Some("a".into()))),
        ),
    ] {
        assert_eq!(wish(arguments.clone()).map(|request| request.action), Ok(deed), "{arguments}");
    }
    assert_eq!(wish(json!({"action": "focus", "tab": 2})).unwrap().tab, Some(2));
}

#[test]
fn missing_values_are_named_with_their_source() {
    for (arguments, expected) in [
        (json!({"action": "open"}), "url: a whole address"),
        (json!({"action": "focus"}), "its number, from action tabs"),
        (json!({"action": "close"}), "close needs tab"),
        (json!({"action": "find"}), "text: the words"),
        (json!({"action": "snapshot", "text": "prices"}), "use action find"),
        (json!({"action": "act"}), "ref: an element's number, from action snapshot"),
        (json!({"action": "act", "kind": "type", "ref": 1}), "text: what to type"),
        (json!({"action": "act", "kind": "press"}), "such as Enter"),
        (json!({"action": "act", "kind": "drag", "ref": 1}), "to_ref"),
        (json!({"action": "act", "kind": "select", "ref": 1}), "values"),
        (json!({"action": "act", "kind": "click_at", "x": 1}), "x and y"),
        (json!({"action": "act", "kind": "upload", "ref": 1}), "values: the paths"),
        (json!({"action": "dialog"}), "accept: true for OK"),
        (json!({"action": "download"}), "download needs ref"),
        (json!({"action": "evaluate"}), "text: the script"),
    ] {
        let error = wish(arguments.clone()).unwrap_err();
        assert!(error.contains(expected), "{arguments}: {error}");
    }
}

#[test]
fn uploads_count_as_reads_and_every_call_is_assessed() {
    let bench = Bench::new();
    let file = bench.put("a.txt", "x");
    let upload = json!({"action": "act", "kind": "upload", "ref": 1, "values": ["a.txt"]});
    let effects = bench.effects("browser", upload);
    assert_eq!(effects.reads, [file]);
    assert!(matches!(effects.browser, Some(BrowserEffect { assessment: None, .. })), "{effects:?}");
    assert_eq!(bench.effects("browser", json!({"action": "act"})), crate::Effects::none());
}

#[test]
fn common_parameter_aliases_are_accepted() {
    let read = |arguments: &str| {
        let call = Toolset::standard().prepare("browser", arguments).ok().unwrap();
        Value::Object(call.arguments)
    };
    assert_eq!(read(r#"{"action": "focus", "target_id": "3"}"#), json!({"action": "focus", "tab": 3}),);
    assert_eq!(
        read(r#"{"action": "act", "kind": "wait", "selector": "Done"}"#),
        json!({"action": "act", "kind": "wait", "text": "Done"}),
    );
    assert_eq!(
        read(r#"{"action": "act", "kind": "drag", "ref": "[4]", "target_ref": 5}"#),
        json!({"action": "act", "kind": "drag", "ref": 4, "to_ref": 5}),
    );
    assert_eq!(read(r#"{"action": "evaluate", "js": "1"}"#), json!({"action": "evaluate", "text": "1"}));
}

#[test]
fn without_a_browser_the_model_is_told_what_to_do_instead() {
    let bench = Bench::new();
    let error = bench.error("browser", json!({"action": "snapshot"}));
    assert!(error.contains("no browser here") && error.contains("web_fetch"), "{error}");
}
