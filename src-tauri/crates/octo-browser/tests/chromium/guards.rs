//! The element that is read and clicked is the one the decision was made about.

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
    assert_eq!(pressed, Err(UnsupportedAct::NoFocus.into()), "what takes no key is not clicked for it");
    let (one, other) = (by_id(&scene, "a").await, by_id(&scene, "b").await);
    assert_ne!(one.node, other.node);
    for (from, to) in [(one.clone(), other), (one.clone(), one)] {
        assert_eq!(scene.act(BrowserAct::Drag(from, to)).await, Err(UnsupportedAct::SameControl.into()));
    }
    let quiet_target = by_id(&scene, "calm").await;
    let trapped = scene.act(BrowserAct::ClickAt(quiet_target, 350.0, 50.0)).await;
    assert!(matches!(trapped, Err(ActError::Covered(_))), "{trapped:?}");
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
    let mut visible = Vec::new();
    // Read repeatedly, so that one reading is under way when the other page arrives.
    for _ in 0..60 {
        let capture = match scene.page.capture().await {
            Ok(capture) => capture,
            Err(PageError::Moving | PageError::Call(_)) => continue,
            Err(error) => panic!("{error}"),
        };
        let root = capture.frames.first().expect("a page");
        let text = Snapshot::new(&capture, &mut Refs::default()).render(WHOLE, RenderFilter::default()).text;
        let (first, second) = (text.contains("of the first page"), text.contains("SECRET"));
        assert!(first != second, "one page, and not both or none: {}", root.url);
        assert_eq!(root.url.ends_with("/late"), second, "text is told as of where it was read");
        visible.push(second);
        if second {
            break;
        }
    }
    assert_eq!(visible.last(), Some(&true), "{visible:?}");
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
    let press = scene.place("button", "Press").await;
    // An act that needed no question does not wait for the pointer. A busy machine may be slow once, but not
    // each time; the bench measures the actual delay.
    let mut at_once = false;
    for _ in 0..5 {
        scene.act(BrowserAct::Click(press.clone())).await.expect("pressed");
        let said_then = scene.status_text().await;
        assert!(said_then.starts_with('1'), "it was drawn before the button went down");
        at_once |= said_then == "1 at once";
        scene.page.clear_overlay().await.expect("cleared");
        script_result(&scene.page, "since = 0").await;
    }
    assert!(at_once, "it is waited for each time");
    scene.page.perform(&BrowserAct::Click(press), Audience::AskedPerson).await.expect("pressed");
    assert_eq!(scene.status_text().await, "1 seen", "the pointer had arrived by then");
    // What leads elsewhere is pointed out as well.
    scene.page.clear_overlay().await.expect("cleared");
    let away = scene.place("link", "Away").await;
    scene.act(BrowserAct::Click(away)).await.expect("pressed");
    assert_eq!(script_result(&scene.page, "document.title + sessionStorage.drawn").await, "There1");
    scene.assert_other_tabs_unchanged().await;
}

#[tokio::test]
async fn an_element_in_an_out_of_process_frame_is_pictured() {
    if chromium().is_none() {
        return;
    }
    let mut scene = Scene::start("/payment", "Payment").await;
    let pay = scene.place("button", "Pay now").await;
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
        let node_ref = scene.place("button", name).await;
        let outcome = scene.act(BrowserAct::Click(node_ref.clone())).await.expect("pressed");
        assert_eq!(outcome.reaction, PageReaction::AsksForFiles, "{name}");
        let outcome =
            scene.act(BrowserAct::Press(Some(node_ref), "Enter".to_owned())).await.expect("pressed");
        assert_eq!(outcome.reaction, PageReaction::AsksForFiles, "{name}");
    }
    assert_eq!(scene.windows(), before, "nothing stands on the screen");
    let position = "(() => { const at = document.querySelector('button').getBoundingClientRect(); \
              return [screenX + at.x + 20, screenY + outerHeight - innerHeight + at.y + 10].map(Math.round); })()";
    let position: [i32; 2] =
        serde_json::from_value(script_result(&scene.page, position).await).expect("a place");
    until("the choice of files that the person opens", async || {
        scene.press_as_the_person(position);
        (scene.windows() != before).then_some(())
    })
    .await;
    scene.assert_other_tabs_unchanged().await;
}
