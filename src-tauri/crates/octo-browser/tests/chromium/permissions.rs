//! Permissions a page asks the browser for, such as the person's location: the browser asks the person, and the
//! agent's acts reach only the page. No protocol event reports such a prompt, so the model does not learn of
//! it; it reads the page's text.

use crate::kit::{
    DebuggingMode, PERSON_PAGE, PersonTab, RealChromium, Recording, Site, TestDisplay, WindowFrames,
    chromium, script_result, tab, until,
};
use octo_browser::{Audience, BrowserAct, Page, TabView, snapshot::FindQuery, snapshot::WHOLE};

/// A page that requests a permission on a button press, and shows the result and the permission's state.
macro_rules! permission_page {
    ($title:literal, $name:literal, $ask:literal) => {
        concat!(
            "<title>",
            $title,
            "</title><button onclick=\"",
            $ask,
            "\">Ask</button><input aria-label=Beside><p id=got></p><p id=state></p><script>
            const tell = (what) => { got.textContent += what; };
            navigator.permissions.query({ name: '",
            $name,
            "' }).then((now) => { state.textContent = now.state; now.onchange = () => { state.textContent = now.state; }; });
            </script>"
        )
    };
}

const PLACE: &str = permission_page!(
    "Place",
    "geolocation",
    "navigator.geolocation.getCurrentPosition(() => tell('given'), (error) => tell('refused ' + error.code))"
);
const NOTES: &str = permission_page!("Notes", "notifications", "Notification.requestPermission().then(tell)");

#[tokio::test]
async fn the_browser_alone_asks_for_the_location() {
    assert_only_the_browser_asks("/place", "Place").await;
}

#[tokio::test]
async fn the_browser_alone_asks_for_notification_permission() {
    assert_only_the_browser_asks("/notes", "Notes").await;
}

/// The agent clicks the button: the page gets neither a yes nor a no, whatever else the agent does, because the
/// prompt is in the browser's own window.
async fn assert_only_the_browser_asks(path: &str, title: &str) {
    if chromium().is_none() {
        return;
    }
    let site = Site::start(&[("/place", PLACE), ("/notes", NOTES), PERSON_PAGE]).await;
    let display = TestDisplay::start(WindowFrames::Managed).await;
    let _chromium =
        RealChromium::start(&display, DebuggingMode::Flag, &[&PersonTab::url(&site), &site.url(path)]).await;
    let recording = Recording::default();
    let connection = RealChromium::recorded(&display, recording.wrap()).connect().await.expect("connected");
    let person_tab = PersonTab::find(&connection.tabs).await;
    let asking_tab = tab(&connection.tabs, title).await;
    let page = Page::attach(&connection.link, &asking_tab.target).await.expect("attached");
    page.bring_to_front().await.expect("in front");
    page.begin_focus_emulation().await.expect("acting");
    let mut view = TabView::default();
    let ask_button = locate(&mut view, &page, "button", "Ask").await;
    let nearby_field = locate(&mut view, &page, "textbox", "Beside").await;
    until("the permission", async || (page_state(&page).await == ["", "prompt"]).then_some(())).await;

    page.perform(&BrowserAct::Click(ask_button), Audience::Person).await.expect("pressed");
    for act in [
        BrowserAct::Press(Some(nearby_field.clone()), "Enter".to_owned()),
        BrowserAct::Press(Some(nearby_field.clone()), "Escape".to_owned()),
        BrowserAct::Type(nearby_field.clone(), "y".to_owned()),
        BrowserAct::Click(nearby_field.clone()),
    ] {
        page.perform(&act, Audience::Person).await.expect("the page takes what is done in it");
        assert_eq!(page_state(&page).await, ["", "prompt"], "{act:?}");
    }
    let sent = recording.names();
    let answers = ["Browser.grantPermissions", "Browser.setPermission", "Browser.resetPermissions"];
    assert!(!sent.iter().any(|name| answers.contains(&name.as_str())), "{sent:?}");

    person_tab.assert_unchanged(&connection.tabs).await;
}

/// Returns the page's result and the permission's state.
async fn page_state(page: &Page) -> [String; 2] {
    let state = script_result(page, "[got.textContent, state.textContent]").await;
    serde_json::from_value(state).expect("two texts")
}

async fn locate(view: &mut TabView, page: &Page, role: &str, name: &str) -> octo_browser::snapshot::NodeRef {
    view.refresh(page).await.expect("a snapshot");
    let query = FindQuery { text: name.to_owned(), role: role.to_owned() };
    let found = view.last_snapshot().expect("a snapshot").find(&query, WHOLE).text;
    let remaining = found.split_once(&format!("{role} \"{name}\" [")).expect("it is there").1;
    let number = remaining.split_once(']').expect("a number").0;
    view.locate(page, number.parse().expect("a number")).await.expect("located").node_ref
}
