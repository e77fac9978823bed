//! Pages that belong to a different owner than their address suggests.

use super::{Chromium, Site, click, open, plan, reason, rig_with, snapshot, step};
use crate::agent::rig::{Rig, results};
use octo_protocol::{Answer, AskReason, Mode, SessionId, TurnEnd};
use serde_json::{Value, json};

const SECRET: &str = "secret of another site";

/// A page without a grant: it opens an empty page and fills it, and navigates another page it opened to an
/// empty one once work in it starts.
const STRANGER: &str = "<!doctype html><title>Stranger</title><script>\
    const fill = (page) => { page.document.title = 'Filled'; \
      page.document.body.innerHTML = '<h1>SECRET</h1><button onclick=\"opener.fetch(`/pressed`)\">Go on</button>'; };\
    const popup = open('about:blank'); fill(popup); fetch('/filled');\
    const writes = open('about:blank'); writes.document.write('<title>Written</title><p>SECRET'); writes.document.close();\
    const granted = open('http://127.0.0.1:PORT/granted');\
    onmessage = () => { granted.location = 'about:blank';\
      const look = setInterval(() => { try { if (granted.location.href === 'about:blank') { clearInterval(look); fill(granted); fetch('/turned'); } } catch {} }, 20); };\
    </script>";

/// The number of the tab with this title.
fn tab(read: &str, title: &str) -> u32 {
    let line =
        read.lines().find(|line| line.contains(&format!("\"{title}\""))).unwrap_or_else(|| panic!("{read}"));
    line.split(' ').next().and_then(|number| number.parse().ok()).expect("a number")
}

/// Checks that every question is for the stranger's site, and declines it.
async fn refused(rig: &mut Rig, session: SessionId, site: &Site, times: usize) {
    for time in 0..times {
        let question = rig.question().await;
        assert_eq!(reason(&question), &AskReason::Site { site: site.elsewhere() }, "question {time}");
        rig.answer(session, &question, Answer::No { reason: None }).await;
    }
}

#[tokio::test]
async fn an_empty_page_that_another_page_fills_is_that_pages() {
    let stranger = STRANGER.replace("SECRET", SECRET);
    let site = Site::start(&[
        ("/stranger", &stranger),
        (
            "/granted",
            "<!doctype html><title>Granted</title><button onclick=\"opener.postMessage('turn', '*')\">Turn</button>",
        ),
    ]);
    let url = format!("{}/stranger", site.elsewhere());
    let Some(browser) = Chromium::start_with(&["--disable-popup-blocking", &url]) else { return };
    site.asked_for("/granted").await;
    let of = |action: &'static str, title: &'static str| {
        step(move |read: &str| -> Value { json!({ "action": action, "tab": tab(read, title) }) })
    };
    let turned = site.wait_for("/turned");
    let steps = vec![
        step(|_| json!({ "action": "tabs" })),
        of("screenshot", "Filled"),
        of("focus", "Filled"),
        of("snapshot", "Written"),
        of("focus", "Granted"),
        click("button \"Turn\""),
        // In the current tab, which had a grant for its earlier page.
        step(move |_| {
            turned();
            json!({ "action": "screenshot" })
        }),
        step(|_| json!({ "action": "act", "kind": "click_at", "x": 40.0, "y": 80.0 })),
        snapshot(),
    ];
    let mut rig = rig_with(&browser, plan(steps)).await;
    let session = rig.start(Mode::AskRisky, "look around").await;
    refused(&mut rig, session, &site, 3).await;
    let question = rig.question().await;
    assert_eq!(reason(&question), &AskReason::Site { site: site.origin() });
    rig.answer(session, &question, Answer::Once).await;
    refused(&mut rig, session, &site, 3).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let tool_results = results(&rig.snapshot(session).await);
    assert_eq!(tool_results.len(), 9);
    assert!(tool_results.iter().all(|text| !text.contains(SECRET)), "{tool_results:?}");
    assert!(!tool_results.iter().any(|text| text.contains("A picture of the page")), "{tool_results:?}");
    assert!(!site.asked().contains(&"/pressed".to_owned()), "{:?}", site.asked());
    rig.assert_sound();
}

#[tokio::test]
async fn an_empty_page_of_a_granted_site_is_worked_in_as_that_site() {
    let page = "<!doctype html><title>Own</title><button onclick=\"const popup = window.open('about:blank'); popup.document.title = 'Filled';\
        popup.document.body.innerHTML = '<h1>more of it</h1>'\">More</button>";
    let site = Site::start(&[("/", page)]);
    let Some(browser) = Chromium::start() else { return };
    let list = step(|_| json!({ "action": "tabs" }));
    let focus = step(|read| json!({ "action": "focus", "tab": tab(read, "Filled") }));
    let steps = vec![open(site.url("/")), click("button \"More\""), list, focus];
    let mut rig = rig_with(&browser, plan(steps)).await;
    let session = rig.start(Mode::AskRisky, "look").await;
    let question = rig.question().await;
    assert_eq!(reason(&question), &AskReason::Site { site: site.origin() });
    rig.answer(session, &question, Answer::Once).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished, "nothing more is asked");
    let tool_results = results(&rig.snapshot(session).await);
    assert!(
        tool_results[3].contains("more of it") && tool_results[3].contains(&site.origin()),
        "{}",
        tool_results[3]
    );
    rig.assert_sound();
}
