//! Tests that an act reaches only the element, and the document, that was decided on.

use crate::{
    acting::Scene,
    kit::{chromium, script_result, until},
};
use octo_browser::{
    ActError, Audience, BrowserAct, PageError, PageReaction, PictureArea, PictureFormat, UnsupportedAct,
    cdp::js_protocol::runtime::EvaluateParams,
    snapshot::{NodeRef, Refs, RenderFilter, Snapshot, WHOLE},
};
use std::time::Duration;

/// Finds an element by its id, independently of a snapshot.
async fn by_id(scene: &Scene, id: &str) -> NodeRef {
    let [left, top] =
        ["left", "top"].map(|side| format!("document.getElementById('{id}').getBoundingClientRect().{side}"));
    let (left, top) = (script_result(&scene.page, &left).await, script_result(&scene.page, &top).await);
    let coordinate = |value: serde_json::Value| value.as_f64().expect("a number") + 3.0;
    scene.page.element_at(coordinate(left), coordinate(top)).await.expect("a place")
}

#[tokio::test]
async fn keys_drags_and_points_hit_only_their_target() {
    if chromium().is_none() {
        return;
    }
    let mut scene = Scene::start("/guards", "Guards").await;
    let plain_element = by_id(&scene, "plain").await;
    let pressed = scene.act(BrowserAct::Press(Some(plain_element), "ArrowDown".to_owned())).await;
    assert_eq!(
        pressed,
        Err(UnsupportedAct::NotFocusable.into()),
        "an element that takes no keys is not clicked instead"
    );
    let (one, other) = (by_id(&scene, "a").await, by_id(&scene, "b").await);
    assert_ne!(one.node, other.node);
    for (from, to) in [(one.clone(), other), (one.clone(), one)] {
        assert_eq!(scene.act(BrowserAct::Drag(from, to)).await, Err(UnsupportedAct::SameControl.into()));
    }
    let quiet_target = by_id(&scene, "calm").await;
    let covered = scene.act(BrowserAct::ClickAt(quiet_target, 350.0, 50.0)).await;
    assert!(matches!(covered, Err(ActError::Covered(_))), "{covered:?}");
    assert_eq!(scene.status_text().await, "");
    let plain_element = by_id(&scene, "plain").await;
    scene.act(BrowserAct::ClickAt(plain_element, 20.0, 10.0)).await.expect("pressed where it is");
    assert_eq!(scene.status_text().await, " pressed");
    scene.assert_other_tabs_unchanged().await;
}

#[tokio::test]
async fn a_page_that_navigates_during_a_read_is_read_as_one_document() {
    if chromium().is_none() {
        return;
    }
    let scene = Scene::start("/leaving", "Leaving").await;
    let first = scene.page.capture().await.expect("a page that stays");
    assert!(first.frames.first().is_some_and(|root| root.url.ends_with("/leaving")));
    scene.page.call(EvaluateParams::new("go()"), Duration::from_secs(5)).await.expect("it goes");
    let mut second_page_shown = Vec::new();
    // Read repeatedly, so that one reading is under way when the other page arrives.
    for _ in 0..60 {
        let capture = match scene.page.capture().await {
            Ok(capture) => capture,
            Err(PageError::KeepsNavigating | PageError::Call(_)) => continue,
            Err(error) => panic!("{error}"),
        };
        let root = capture.frames.first().expect("a page");
        let text = Snapshot::new(&capture, &mut Refs::default()).render(WHOLE, RenderFilter::default()).text;
        let (first, second) = (text.contains("of the first page"), text.contains("SECRET"));
        assert!(first != second, "the text of exactly one page: {}", root.url);
        assert_eq!(root.url.ends_with("/late"), second, "text is attributed to the page it was read from");
        second_page_shown.push(second);
        if second {
            break;
        }
    }
    assert_eq!(second_page_shown.last(), Some(&true), "{second_page_shown:?}");
    scene.assert_other_tabs_unchanged().await;
}

#[tokio::test]
async fn pictures_use_css_pixels_on_every_screen() {
    if chromium().is_none() {
        return;
    }
    let scene = Scene::start_with("/guards", "Guards", &["--force-device-scale-factor=2"]).await;
    assert_eq!(script_result(&scene.page, "devicePixelRatio").await, 2);
    let picture = scene.page.picture(PictureArea::Visible, PictureFormat::Png).await.expect("a picture");
    let picture = image::load_from_memory(&picture.bytes).expect("a PNG");
    let size = script_result(&scene.page, "[innerWidth, innerHeight]").await;
    assert_eq!(serde_json::json!([picture.width(), picture.height()]), size);
    scene.assert_other_tabs_unchanged().await;
}

#[tokio::test]
async fn the_target_of_an_action_is_highlighted_first() {
    if chromium().is_none() {
        return;
    }
    let mut scene = Scene::start("/pointed", "Pointed").await;
    let press = scene.node_ref("button", "Press").await;
    // An act that needed no question does not wait for the pointer. A busy machine may be slow once, but not
    // each time; the bench measures the actual delay.
    let mut at_once = false;
    for _ in 0..5 {
        scene.act(BrowserAct::Click(press.clone())).await.expect("pressed");
        let status = scene.status_text().await;
        assert!(status.starts_with('1'), "it was drawn before the button went down");
        at_once |= status == "1 at once";
        scene.page.clear_overlay().await.expect("cleared");
        script_result(&scene.page, "since = 0").await;
    }
    assert!(at_once, "an act without a question does not wait for the pointer");
    scene.page.perform(&BrowserAct::Click(press), Audience::AskedPerson).await.expect("pressed");
    assert_eq!(scene.status_text().await, "1 seen", "the pointer had arrived by then");
    // The target of an act that navigates is shown too.
    scene.page.clear_overlay().await.expect("cleared");
    let away = scene.node_ref("link", "Away").await;
    scene.act(BrowserAct::Click(away)).await.expect("pressed");
    assert_eq!(script_result(&scene.page, "document.title + sessionStorage.drawn").await, "There1");
    scene.assert_other_tabs_unchanged().await;
}

#[tokio::test]
async fn a_picture_shows_an_element_in_an_out_of_process_frame() {
    if chromium().is_none() {
        return;
    }
    let mut scene = Scene::start("/payment", "Payment").await;
    let pay = scene.node_ref("button", "Pay now").await;
    assert_ne!(pay.session, *scene.page.session().inner(), "a process of its own");
    let area = scene.page.area_of(&pay).await.expect("it is seen");
    let picture = scene.page.picture(area, PictureFormat::Png).await.expect("a picture");
    let picture = image::load_from_memory(&picture.bytes).expect("a picture").into_rgba8();
    assert_eq!(picture.dimensions(), (120, 40));
    let green = picture.pixels().filter(|pixel| pixel.0 == [0, 170, 0, 255]).count();
    assert!(green > 120 * 40 * 9 / 10, "{green} of its points");
    scene.assert_other_tabs_unchanged().await;
}

#[tokio::test]
async fn only_the_persons_own_click_opens_a_file_chooser() {
    if chromium().is_none() {
        return;
    }
    let mut scene = Scene::start("/files", "Files").await;
    let before = scene.windows();
    for name in ["One file", "Choose"] {
        let node_ref = scene.node_ref("button", name).await;
        let outcome = scene.act(BrowserAct::Click(node_ref.clone())).await.expect("pressed");
        assert_eq!(outcome.reaction, PageReaction::AsksForFiles, "{name}");
        let outcome =
            scene.act(BrowserAct::Press(Some(node_ref), "Enter".to_owned())).await.expect("pressed");
        assert_eq!(outcome.reaction, PageReaction::AsksForFiles, "{name}");
    }
    assert_eq!(scene.windows(), before, "no other window is open");
    let position = "(() => { const at = document.querySelector('button').getBoundingClientRect(); \
              return [screenX + at.x + 20, screenY + outerHeight - innerHeight + at.y + 10].map(Math.round); })()";
    let position: [i32; 2] =
        serde_json::from_value(script_result(&scene.page, position).await).expect("a place");
    until("the choice of files that the person opens", async || {
        scene.click_as_person(position);
        (scene.windows() != before).then_some(())
    })
    .await;
    scene.assert_other_tabs_unchanged().await;
}
