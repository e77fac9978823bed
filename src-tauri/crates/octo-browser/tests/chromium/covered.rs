//! The parts of a page that a model's picture does not show. Every field has its own colour: the colour of a covered
//! field is missing from the picture.

use crate::kit::{
    DebuggingMode, RealChromium, Site, TEST_TIMEOUT, TestDisplay, WindowFrames, chromium, script_result, tab,
    until,
};
use image::RgbaImage;
use octo_browser::{
    BringToFront, ElementLabels, ModelPictureError, Page, PageError, PictureArea, PictureFormat, TabView,
    cdp::browser_protocol::dom::BackendNodeId,
    safety::{Redactor, SecretName},
    snapshot::{RenderFilter, WHOLE},
};

/// Colours of covered fields, each with its field.
const COVERED: [(&str, [u8; 3]); 12] = [
    ("a password", [255, 0, 0]),
    ("a password hidden from assistive technology", [255, 128, 0]),
    ("a password at the window's edge", [180, 0, 90]),
    ("a code in a closed shadow root", [0, 0, 255]),
    ("a card in a frame of its own page", [255, 0, 255]),
    ("a password in a frame of another site", [0, 255, 255]),
    ("a password in a frame that is shown smaller", [128, 0, 255]),
    ("a card by its label alone", [0, 128, 255]),
    ("text with a secret", [200, 200, 0]),
    ("a secret with each letter in its own element", [120, 200, 0]),
    ("a secret hidden from assistive technology", [60, 180, 180]),
    ("a password in a frame that is mirrored", [128, 64, 64]),
];
/// Colours of uncovered fields.
const PLAIN: [(&str, [u8; 3]); 3] =
    [("a name", [0, 200, 0]), ("a name in a frame", [0, 120, 60]), ("other text", [90, 60, 30])];

const PAGES: &[(&str, &str)] = &[
    (
        "/",
        "<!doctype html><title>Fields</title><style>body{margin:8px;font:14px sans-serif}input{border:0;width:120px;height:20px;margin:4px}iframe{border:3px solid;width:400px;height:60px;display:block}p{margin:2px}</style>
        <input aria-label=Name style='background:rgb(0,200,0)' value=Ada> <input type=password aria-label=Password style='background:rgb(255,0,0)' value=hunter2hunter2>
        <div aria-hidden=true><input type=password tabindex=-1 style='background:rgb(255,128,0)' value=unheard></div>
        <input type=password aria-label=Edge style='position:absolute;right:0;top:0;background:rgb(180,0,90)' value=theverylast><div id=host></div><label>Kreditkarte <input style='background:rgb(0,128,255)' value='4111 1111'></label>
        <iframe src=/near></iframe><iframe src='http://localhost:PORT/far'></iframe>
        <iframe src='http://localhost:PORT/small' style='transform:scale(.6);transform-origin:0 0'></iframe>
        <iframe src='http://localhost:PORT/mirrored' style='transform:scaleX(-1)'></iframe>
        <p aria-hidden=true><span style='background:rgb(60,180,180)'>Key: s3cret-Horse</span></p>
        <p><span style='background:rgb(200,200,0)'>You wrote s3cret-Horse today</span></p>
        <style>b{background:rgb(120,200,0)}</style><p id=letters></p><p><span style='background:rgb(90,60,30)'>Nothing to hide</span></p>
        <button style='width:90px;height:24px'>Press</button><div style='height:2000px'></div><input type=password id=deep style='background:rgb(255,0,0)' value=below>
        <script>
        host.attachShadow({ mode: 'closed' }).innerHTML = '<input autocomplete=one-time-code style=\"background:rgb(0,0,255);border:0\" value=123456>';
        letters.innerHTML = [...'s3cret-Horse'].map((one) => '<b>' + one + '</b>').join('');
        window.changed = 0;
        new MutationObserver((all) => { window.changed += all.length; }).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
        </script>",
    ),
    (
        "/near",
        "<!doctype html><style>body{margin:4px}input{border:0;margin:4px}</style><input aria-label='Card number' style='background:rgb(255,0,255)' value=4111><input aria-label=Town style='background:rgb(0,120,60)' value=Bergen>",
    ),
    (
        "/far",
        "<!doctype html><style>body{margin:4px}input{border:0;margin:4px}</style><input type=password style='background:rgb(0,255,255)' value=otherother>",
    ),
    (
        "/small",
        "<!doctype html><style>body{margin:4px}input{border:0;margin:4px}</style><div style='height:20px'></div><input type=password style='background:rgb(128,0,255)' value=otherother>",
    ),
    (
        "/mirrored",
        "<!doctype html><style>body{margin:4px}input{border:0;margin:4px}</style><input type=password style='background:rgb(128,64,64)' value=otherother>",
    ),
];

fn decode(bytes: &[u8]) -> RgbaImage {
    image::load_from_memory(bytes).expect("a picture").into_rgba8()
}

/// Returns the number of pixels with this colour.
fn pixel_count(image: &RgbaImage, [red, green, blue]: [u8; 3]) -> usize {
    image.pixels().filter(|pixel| pixel.0 == [red, green, blue, 255]).count()
}

fn redactor() -> Redactor {
    let mut redactor = Redactor::default();
    let name = SecretName::new("horse").expect("a name");
    redactor.learn(&name, &"s3cret-Horse".to_owned().into()).expect("long enough");
    redactor
}

#[tokio::test]
async fn secret_fields_and_written_secrets_are_covered_in_a_picture() {
    assert_secrets_are_covered(&[]).await;
}

/// The picture then uses the page's units, and the browser's positions use the screen's.
#[tokio::test]
async fn secrets_are_covered_on_a_high_density_screen() {
    assert_secrets_are_covered(&["--headless=new", "--force-device-scale-factor=2"]).await;
}

async fn assert_secrets_are_covered(arguments: &[&str]) {
    if chromium().is_none() {
        return;
    }
    let site = Site::start(PAGES).await;
    let display = TestDisplay::start(WindowFrames::None).await;
    let url = site.url("/");
    let arguments: Vec<&str> = arguments.iter().copied().chain([url.as_str()]).collect();
    let _chromium = RealChromium::start(&display, DebuggingMode::Flag, &arguments).await;
    let connection = RealChromium::browser(&display).connect().await.expect("connected");
    let tab = tab(&connection.tabs, "Fields").await;
    let page = Page::attach(&connection.link, &tab.target).await.expect("attached");
    let mut view = TabView::default();
    // All frames are loaded once their fields are; covered text appears in no text either.
    let text = until("the frames", async || {
        let text = view.refresh(&page).await.ok()?.render(WHOLE, RenderFilter::default()).text;
        (text.matches("filled").count() >= 9).then_some(text)
    })
    .await;
    assert!(!text.contains("4111") && text.contains("Bergen"), "{text}");
    script_result(&page, "window.changed = 0").await;

    let uncovered =
        decode(&page.picture(PictureArea::Visible, PictureFormat::Png).await.expect("a picture").bytes);
    assert!((1_000..=1_100).contains(&uncovered.width()), "as wide as the page in CSS pixels");
    let picture = view
        .take_picture(&page, PictureArea::Visible, ElementLabels::None, BringToFront::First, &redactor())
        .await
        .expect("a picture");
    let covered = decode(&picture.picture.bytes);
    assert_eq!(uncovered.dimensions(), covered.dimensions());
    for (name, colour) in COVERED {
        assert!(pixel_count(&uncovered, colour) > 0, "{name} is in the page");
        assert_eq!(pixel_count(&covered, colour), 0, "{name} is covered");
    }
    for (name, colour) in PLAIN {
        assert!(pixel_count(&uncovered, colour) > 0, "{name} is in the page");
        assert_eq!(pixel_count(&covered, colour), pixel_count(&uncovered, colour), "{name} is not covered");
    }
    assert_eq!(picture.covered, COVERED.len() + "s3cret-Horse".len() - 1);
    assert_eq!(script_result(&page, "window.changed").await, 0, "the page is not touched for it");

    // A picture of one element, after the page scrolled to it; elements shown before keep their numbers.
    let text = view.refresh(&page).await.expect("a snapshot").render(WHOLE, RenderFilter::default()).text;
    let number = text.split_once("button \"Press\" [").expect("a button").1;
    let number: u32 = number.split_once(']').expect("its number").0.parse().expect("a number");
    let element =
        octo_browser::cdp::js_protocol::runtime::EvaluateParams::new("document.querySelector('#deep')");
    let element = page.call(element, TEST_TIMEOUT).await.expect("an element").result.object_id;
    let describe = octo_browser::cdp::browser_protocol::dom::DescribeNodeParams {
        object_id: element,
        ..Default::default()
    };
    let element = page.call(describe, TEST_TIMEOUT).await.expect("its name").node.backend_node_id;
    let area = PictureArea::Element(BackendNodeId::new(*element.inner()));
    let uncovered = decode(&page.picture(area.clone(), PictureFormat::Png).await.expect("a picture").bytes);
    let picture = view
        .take_picture(&page, area, ElementLabels::None, BringToFront::First, &redactor())
        .await
        .expect("a picture");
    assert!(pixel_count(&uncovered, [255, 0, 0]) > 1000);
    assert_eq!(pixel_count(&decode(&picture.picture.bytes), [255, 0, 0]), 0);
    assert!(view.locate(&page, number).await.is_ok_and(|located| located.number == number));
}

/// Covers are measured from the window's corner, the picture from the page's.
#[tokio::test]
async fn a_page_scrolled_during_capture_gives_no_picture() {
    if chromium().is_none() {
        return;
    }
    let site = Site::start(PAGES).await;
    let display = TestDisplay::start(WindowFrames::None).await;
    let url = site.url("/");
    let arguments = ["--headless=new", "--force-device-scale-factor=2", &url];
    let _chromium = RealChromium::start(&display, DebuggingMode::Flag, &arguments).await;
    let connection = RealChromium::browser(&display).connect().await.expect("connected");
    let tab = tab(&connection.tabs, "Fields").await;
    let page = Page::attach(&connection.link, &tab.target).await.expect("attached");
    let mut view = TabView::default();
    script_result(
        &page,
        "window.going = setInterval(() => { scrollTo(0, scrollY > 900 ? 0 : scrollY + 3); }, 10), true",
    )
    .await;
    let result_while_scrolling = view
        .take_picture(&page, PictureArea::Visible, ElementLabels::Numbered, BringToFront::First, &redactor())
        .await;
    assert_eq!(
        result_while_scrolling.expect_err("it moves"),
        ModelPictureError::Page(PageError::KeepsNavigating)
    );
    assert!(view.last_snapshot().is_none(), "a picture counts as no snapshot");
    script_result(&page, "clearInterval(window.going), true").await;
    let picture = view
        .take_picture(&page, PictureArea::Visible, ElementLabels::Numbered, BringToFront::First, &redactor())
        .await
        .expect("a picture");
    assert!(picture.numbered > 0 && view.last_snapshot().is_none());
}

#[tokio::test]
async fn numbers_are_drawn_at_their_elements() {
    if chromium().is_none() {
        return;
    }
    let site = Site::start(PAGES).await;
    let display = TestDisplay::start(WindowFrames::None).await;
    let _chromium = RealChromium::start(&display, DebuggingMode::Flag, &[&site.url("/")]).await;
    let connection = RealChromium::browser(&display).connect().await.expect("connected");
    let tab = tab(&connection.tabs, "Fields").await;
    let page = Page::attach(&connection.link, &tab.target).await.expect("attached");
    let mut view = TabView::default();
    // Each loads at its own time, and a box that appears between the snapshot and the picture is in only one of
    // them.
    until("the boxes of the page and its four frames", async || {
        (view.refresh(&page).await.ok()?.boxes().len() == 12).then_some(())
    })
    .await;
    script_result(&page, "window.changed = 0").await;
    let picture = view
        .take_picture(
            &page,
            PictureArea::Visible,
            ElementLabels::Numbered,
            BringToFront::First,
            &Redactor::default(),
        )
        .await
        .expect("a picture");
    let image = decode(&picture.picture.bytes);
    let boxes = view.last_snapshot().expect("a snapshot").boxes();
    assert_eq!(picture.numbered, boxes.len(), "{boxes:?}");
    let mut labelled = Vec::new();
    for (number, rect) in boxes {
        let node_ref = view.refs().lookup(number).expect("a place").clone();
        let identity = view.refs().identity(number).expect("it is known").clone();
        // Frames that are scaled down use their own units.
        if node_ref.session == *page.session().inner() {
            let actual = page.element_rect(&node_ref).await.expect("it is there");
            let is_near = (actual.left - rect.left).abs() < 1.0 && (actual.top - rect.top).abs() < 1.0;
            assert!(is_near, "{identity:?} is at {actual:?} and not {rect:?}");
        }
        if image.get_pixel(rect.left as u32, rect.top as u32).0 == [214, 51, 108, 255] {
            labelled.push(identity.name);
        }
    }
    // The others are covered fields, their numbers too.
    assert_eq!(labelled, ["Name", "Town", "Press"]);
    assert_eq!(script_result(&page, "window.changed").await, 0, "nothing is drawn onto the page");
}
