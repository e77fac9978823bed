//! The visible pointer of an act, and the time that an act is given and takes.

use super::Scene;
use crate::kit::{chromium, script_result, until};
use octo_browser::{
    Audience, BrowserAct, Page, PictureFormat, TabView,
    snapshot::{FindQuery, RenderFilter, WHOLE},
};
use std::time::{Duration, Instant};

#[tokio::test]
async fn the_pointer_overlay_is_shown_and_removed() {
    if chromium().is_none() {
        return;
    }
    let mut scene = Scene::start("/go", "Go").await;
    let count = "document.querySelectorAll('[aria-hidden=true]').length";
    let text_before = scene
        .view
        .refresh(&scene.page)
        .await
        .expect("a snapshot")
        .render(WHOLE, RenderFilter::default())
        .text;
    scene.page.bring_to_front().await.expect("in front");
    let unmarked =
        scene.page.picture(octo_browser::PictureArea::Visible, PictureFormat::Png).await.expect("a picture");
    let node_ref = scene.node_ref("button", "Later").await;
    scene.act(BrowserAct::Hover(node_ref)).await.expect("hovered");
    until("the pointer", async || (script_result(&scene.page, count).await == 1).then_some(())).await;
    assert_eq!(
        script_result(&scene.page, "document.querySelector('[aria-hidden=true]').shadowRoot").await,
        serde_json::Value::Null
    );
    let drawn =
        scene.page.picture(octo_browser::PictureArea::Visible, PictureFormat::Png).await.expect("a picture");
    assert_ne!(drawn.bytes, unmarked.bytes);
    let text = scene
        .view
        .refresh(&scene.page)
        .await
        .expect("a snapshot")
        .render(WHOLE, RenderFilter::default())
        .text;
    assert_eq!(text, text_before, "no snapshot contains the pointer");
    scene.page.clear_overlay().await.expect("cleared");
    assert_eq!(script_result(&scene.page, count).await, 0);
    scene.page.clear_overlay().await.expect("nothing to clear");
    scene.assert_other_tabs_unchanged().await;
}

/// The wait ignores the drawn pointer, and documents in which nothing changes.
#[tokio::test]
async fn an_action_waits_for_the_frame_it_acted_in() {
    if chromium().is_none() {
        return;
    }
    let mut scene = Scene::start("/restless", "Restless").await;
    scene.click("button", "Late").await.expect("pressed");
    assert_eq!(scene.status_text().await, "late", "drawing the pointer is not a reaction of the page");
    for button in ["Deep", "Stir"] {
        let mut output = String::new();
        // On an overloaded machine, a page without CPU time for a while looks quiet.
        for _ in 0..5 {
            scene.click("button", button).await.expect("pressed");
            output = script_result(&scene.page, "heard").await.as_str().unwrap_or_default().to_owned();
            if output == "done" {
                break;
            }
            until("the end", async || (script_result(&scene.page, "heard").await == "done").then_some(()))
                .await;
        }
        assert_eq!(output, "done", "{button}: it was waited for until it was quiet");
    }
    scene.assert_other_tabs_unchanged().await;
}

/// Time an act takes in addition to the page's own. The figures are printed; the limits are those of a busy
/// machine.
#[tokio::test]
async fn an_action_adds_little_time() {
    if chromium().is_none() {
        return;
    }
    let Scene { page, connection, tab, view: _view, site: _site, display: _display, _chromium, .. } =
        Scene::start("/form", "Form").await;
    drop(page);
    let started = Instant::now();
    let page = Page::attach(&connection.link, &tab.target).await.expect("attached");
    let attached = started.elapsed();
    let mut view = TabView::default();
    view.refresh(&page).await.expect("a snapshot");
    let looked = started.elapsed();
    page.begin_focus_emulation().await.expect("acting");
    let find = |view: &TabView, role: &str, text: &str| {
        let found = view
            .last_snapshot()
            .expect("a snapshot")
            .find(&FindQuery { text: text.to_owned(), role: role.to_owned() }, WHOLE);
        let after = found.text.split_once(&format!("{role} \"{text}\"")).expect("it").1.to_owned();
        let number = after
            .split_once('[')
            .and_then(|(_, remaining)| remaining.split_once(']'))
            .expect("a number")
            .0
            .to_owned();
        number.parse::<u32>().expect("a number")
    };
    let number = find(&view, "checkbox", "Tick");
    let node_ref = view.locate(&page, number).await.expect("there").node_ref;
    page.perform(&BrowserAct::Click(node_ref.clone()), Audience::Unwatched).await.expect("clicked");
    let first_time = started.elapsed();
    let median = |mut times: Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2]
    };
    let (mut round_trips, mut snapshot_times, mut clicks, mut hovers, mut fills) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let name = view.locate(&page, find(&view, "textbox", "Name")).await.expect("there").node_ref;
    for _ in 0..20 {
        let started = Instant::now();
        script_result(&page, "1").await;
        round_trips.push(started.elapsed());
        let started = Instant::now();
        view.refresh(&page).await.expect("a snapshot");
        snapshot_times.push(started.elapsed());
        for (act, times) in [
            (BrowserAct::Click(node_ref.clone()), &mut clicks),
            (BrowserAct::Hover(node_ref.clone()), &mut hovers),
            (BrowserAct::Fill(name.clone(), "twenty letters, more".to_owned()), &mut fills),
        ] {
            let started = Instant::now();
            page.perform(&act, Audience::Unwatched).await.expect("done");
            times.push(started.elapsed());
        }
    }
    let click = median(clicks);
    eprintln!(
        "attached {attached:?}, looked {looked:?}, first act done {first_time:?} (waiting for its effect included); medians: \
         round trip {:?}, look {:?}, click {click:?}, hover {:?}, fill {:?} (of which waiting for an effect: 100, 50 and 40 to 50 ms)",
        median(round_trips),
        median(snapshot_times),
        median(hovers),
        median(fills),
    );
    assert!(click < Duration::from_secs(1), "{click:?}");
    let long = "a text that is longer than what is typed key by key is put in at once, ".repeat(3);
    let started = Instant::now();
    page.perform(&BrowserAct::Fill(name, long), Audience::Unwatched).await.expect("done");
    eprintln!("213 characters at once: {:?}", started.elapsed());
}
