//! Elements that move away under the pointer or are replaced, and the traces of an act that was not carried out.

use super::Scene;
use crate::kit::{TEST_TIMEOUT, chromium};
use octo_browser::{
    ActError, BrowserAct, LocateError, LocateMethod, Page, ScrollTarget, UnsupportedAct, WaitCondition,
};
use std::time::Duration;

#[tokio::test]
async fn covers_that_follow_the_pointer_block_clicks_and_drops() {
    if chromium().is_none() {
        return;
    }
    let mut scene = Scene::start("/following", "Following").await;
    let covered = scene.click("button", "Chased").await;
    assert!(
        matches!(&covered, Err(ActError::Covered(cover)) if cover.description == "div#lid \"Lid\""),
        "{covered:?}"
    );
    assert_eq!(scene.status_text().await, "");
    scene.assert_other_tabs_unchanged().await;

    let mut scene = Scene::start("/dropping", "Dropping").await;
    for (source_name, target_name) in [("Parcel", "Box"), ("Slider", "Rail")] {
        let (source, target) =
            (scene.node_ref("button", source_name).await, scene.node_ref("button", target_name).await);
        let covered = scene.act(BrowserAct::Drag(source, target)).await;
        assert!(
            matches!(&covered, Err(ActError::Covered(cover)) if cover.description == "div#trap \"Trap\""),
            "{source_name}: {covered:?}"
        );
        assert_eq!(scene.status_text().await, "", "{source_name}");
    }
    // The drag image of the dragged element does not count as a cover.
    let (source, target) =
        (scene.node_ref("button", "Ghostly").await, scene.node_ref("button", "Home").await);
    scene.act(BrowserAct::Drag(source, target)).await.expect("dropped");
    assert_eq!(scene.status_text().await, "home");
    scene.assert_other_tabs_unchanged().await;
}

/// Returns whether the main document is watched for changes, in the isolated world that no page sees.
async fn is_watched(page: &Page) -> bool {
    use octo_browser::cdp::{
        browser_protocol::page::CreateIsolatedWorldParams, js_protocol::runtime::EvaluateParams,
    };
    let world = CreateIsolatedWorldParams {
        world_name: Some("octo".to_owned()),
        ..CreateIsolatedWorldParams::new(page.main_frame().clone())
    };
    let world = page.call(world, TEST_TIMEOUT).await.expect("its world").execution_context_id;
    let params = EvaluateParams {
        context_id: Some(world),
        return_by_value: Some(true),
        ..EvaluateParams::new("!!globalThis.octoWatch")
    };
    page.call(params, TEST_TIMEOUT).await.expect("an answer").result.value == Some(true.into())
}

#[tokio::test]
async fn a_failed_or_cancelled_action_leaves_no_observer() {
    if chromium().is_none() {
        return;
    }
    let mut scene = Scene::start("/cover", "Cover").await;
    let below = scene.node_ref("button", "Below").await;
    let covered = scene.act(BrowserAct::Click(below)).await;
    assert!(matches!(covered, Err(ActError::Covered(_))), "{covered:?}");
    assert!(!is_watched(&scene.page).await, "covered");
    let condition = BrowserAct::Wait(WaitCondition::Text("never there".to_owned()));
    let timed_out = tokio::time::timeout(Duration::from_millis(500), scene.act(condition)).await;
    assert!(timed_out.is_err(), "it waits");
    assert!(!is_watched(&scene.page).await, "timed out");
    scene.click("button", "Accept").await.expect("done");
    assert!(!is_watched(&scene.page).await, "done");
    scene.assert_other_tabs_unchanged().await;
}

#[tokio::test]
async fn text_is_searched_on_the_page_and_not_in_field_values() {
    if chromium().is_none() {
        return;
    }
    let mut scene = Scene::start("/form", "Form").await;
    for typed in ["old@example.org", "shut"] {
        assert_eq!(scene.page.has_visible_text(typed).await, Ok(false), "{typed}");
    }
    for text in ["Send", "old words"] {
        assert_eq!(scene.page.has_visible_text(text).await, Ok(true), "{text}");
    }
    let missing = scene.act(BrowserAct::Scroll(ScrollTarget::ToText("example.org".to_owned()))).await;
    assert_eq!(missing, Err(UnsupportedAct::NoSuchText.into()));
    scene.assert_other_tabs_unchanged().await;
}

#[tokio::test]
async fn a_reference_is_refound_only_if_one_similar_element_exists() {
    if chromium().is_none() {
        return;
    }
    let mut scene = Scene::start("/stale", "Stale").await;
    let (apple, pear) = (scene.current_number("button", "Apple").await, scene.known_number("button", "Pear"));
    let old_node_ref = scene.view.locate(&scene.page, apple).await.expect("there").node_ref;
    let redraw = scene.known_number("button", "Redraw");
    let node_ref = scene.view.locate(&scene.page, redraw).await.expect("there").node_ref;
    scene.act(BrowserAct::Click(node_ref)).await.expect("pressed");
    assert_eq!(
        scene.act(BrowserAct::Click(old_node_ref)).await,
        Err(ActError::Gone),
        "the old element is gone"
    );
    let refound = scene.view.locate(&scene.page, apple).await.expect("again");
    assert_eq!((refound.method, refound.identity.name.as_str()), (LocateMethod::Similar, "Apple"));
    assert_ne!(refound.number, apple);
    scene.act(BrowserAct::Click(refound.node_ref)).await.expect("pressed");
    assert_eq!(scene.status_text().await, "Apple");
    scene.click("button", "Twice").await.expect("pressed");
    let several = scene.view.locate(&scene.page, pear).await;
    assert!(matches!(&several, Err(LocateError::Stale { number, .. }) if *number == pear), "{several:?}");
    assert_eq!(scene.view.locate(&scene.page, 9_999).await, Err(LocateError::NeverGiven(9_999)));
    scene.assert_other_tabs_unchanged().await;
}
