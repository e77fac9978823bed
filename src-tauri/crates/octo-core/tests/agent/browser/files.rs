//! Files are saved where the person was asked about a download, and nowhere else.

use super::{Chromium, Site, click, kit::snapshot, last, number, open, plan, reason, rig_with, step};
use crate::agent::rig::{PATIENCE, results};
use octo_protocol::{Answer, AskReason, Mode, PageRisk, TurnEnd};
use serde_json::json;

const PAGE: &str = "<!doctype html><title>Bills</title><a href=/file-link>Bill</a> \
    <a href=/file-tab target=_blank>Bill in a tab</a> <button onclick=\"location='/file-script'\">Show bill</button>\
    <button onclick=\"const frame = document.createElement('iframe'); frame.src = '/file-frame'; document.body.append(frame)\">Frame</button>\
    <button onclick='localStorage.told = 1'>Tell</button>";

/// Another tab of the same site, in which the person downloads a file meanwhile.
const OWN: &str =
    "<!doctype html><title>Own</title><script>onstorage = () => { location = '/file-own'; }</script>";

async fn downloads(browser: &Chromium, expected: &[&str]) {
    let started = std::time::Instant::now();
    while browser.downloads() != expected {
        assert!(started.elapsed() < PATIENCE, "{:?} and not {expected:?}", browser.downloads());
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn what_turns_out_to_be_a_file_is_stopped_unless_the_person_was_asked_about_one() {
    let site = Site::start(&[
        ("/", PAGE),
        ("/own", OWN),
        ("/file-link", "bill"),
        ("/file-tab", "bill"),
        ("/file-script", "bill"),
        ("/file-frame", "bill"),
        ("/file-address", "bill"),
        ("/file-own", "the person's"),
    ]);
    let Some(browser) = Chromium::start_with(&[&site.url("/own")]) else { return };
    site.asked_for("/own").await;
    let get = step(|read| json!({ "action": "download", "ref": number(read, "link \"Bill\"") }));
    let url = site.url("/file-address");
    let steps = vec![
        open(site.url("/")),
        click("link \"Bill\""),
        click("link \"Bill in a tab\""),
        click("button \"Show bill\""),
        click("button \"Frame\""),
        step(move |_| json!({ "action": "navigate", "url": url })),
        // The late download is reported with this result.
        snapshot(),
        click("button \"Tell\""),
        get,
    ];
    let mut rig = rig_with(&browser, plan(steps)).await;
    let session = rig.start(Mode::Autonomous, "get the bill").await;
    let question = rig.question().await;
    let AskReason::Page { risk: PageRisk::Downloads, .. } = reason(&question) else { panic!("{question:?}") };
    // The person's own download is there, and no download without a question.
    downloads(&browser, &["file-own.txt"]).await;
    let tool_results = results(&rig.snapshot(session).await);
    let all = tool_results.join("\n");
    for name in ["file-link", "file-tab", "file-script", "file-frame", "file-address"] {
        let stopped = format!("not taken, nothing was kept: {name}.txt from {}", site.origin());
        assert!(all.contains(&stopped), "{name}: {all}");
    }
    assert!(all.contains("use action download on the link"), "{all}");
    assert!(!all.contains("file-own"), "what the person fetches is theirs: {all}");
    rig.answer(session, &question, Answer::Once).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let last_result = last(&rig, session).await;
    assert!(
        last_result.contains("Download: there, 4 bytes: ") && last_result.contains("file-link.txt"),
        "{last_result}"
    );
    downloads(&browser, &["file-link.txt", "file-own.txt"]).await;
    rig.assert_sound();
}

#[tokio::test]
async fn a_page_that_says_nothing_behind_a_dialog_has_its_files_stopped_all_the_same() {
    // The dialog opens during the download, and blocks the page from before it starts.
    let page = "<!doctype html><title>Bills</title><button onclick=\"const frame = document.createElement('iframe');\
        frame.src = '/file-frame'; document.body.append(frame); alert(1)\">Bill</button>";
    let site = Site::start(&[("/", page), ("/file-frame", "bill")]);
    let Some(browser) = Chromium::start() else { return };
    let begun = site.wait_for("/file-frame");
    let answer = step(move |_| {
        begun();
        json!({ "action": "dialog", "accept": true })
    });
    let wait = || step(|_| json!({ "action": "act", "kind": "wait", "ms": 500 }));
    let steps = vec![open(site.url("/")), click("button \"Bill\""), answer, wait(), snapshot()];
    let mut rig = rig_with(&browser, plan(steps)).await;
    let session = rig.start(Mode::Autonomous, "look at the bill").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let result_text = results(&rig.snapshot(session).await).join("\n");
    assert!(result_text.contains("opened a dialog"), "{result_text}");
    assert!(result_text.contains("not taken, nothing was kept: file-frame.txt"), "{result_text}");
    downloads(&browser, &[]).await;
    rig.assert_sound();
}

#[tokio::test]
async fn one_yes_is_for_one_file() {
    let page = "<!doctype html><title>Bills</title><a href=/file-one onclick=\"setTimeout(() => { const frame = \
        document.createElement('iframe'); frame.src = '/file-two'; document.body.append(frame); }, 50)\">Bill</a>";
    let site = Site::start(&[("/", page), ("/file-one", "one"), ("/file-two", "two")]);
    let Some(browser) = Chromium::start() else { return };
    let get = step(|read| json!({ "action": "download", "ref": number(read, "link \"Bill\"") }));
    let wait = step(|_| json!({ "action": "act", "kind": "wait", "ms": 1000 }));
    let mut rig = rig_with(&browser, plan(vec![open(site.url("/")), get, wait])).await;
    let session = rig.start(Mode::Autonomous, "get the bill").await;
    let question = rig.question().await;
    let AskReason::Page { risk: PageRisk::Downloads, .. } = reason(&question) else { panic!("{question:?}") };
    rig.answer(session, &question, Answer::Once).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let result_text = results(&rig.snapshot(session).await).join("\n");
    assert!(
        result_text.contains("there, 3 bytes: ") && result_text.contains("file-one.txt"),
        "{result_text}"
    );
    assert!(result_text.contains("not taken, nothing was kept: file-two.txt"), "{result_text}");
    downloads(&browser, &["file-one.txt"]).await;
    rig.assert_sound();
}
