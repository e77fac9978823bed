//! Finding a browser and connecting to it.

use crate::kit::{Chromium, Desk, Frame, Recording, Site, Start, chromium};
use octo_browser::{Freshness, Mode, State};

#[tokio::test]
async fn a_browser_with_a_port_is_found_and_its_tabs_are_listed_without_touching_one() {
    if chromium().is_none() {
        return;
    }
    let site = Site::start(&[("/", "<title>First</title>one"), ("/two", "<title>Second</title>two")]).await;
    let desk = Desk::start(Frame::None).await;
    let _chromium = Chromium::start(&desk, Start::Flag, &[&site.url("/"), &site.url("/two")]).await;
    let recording = Recording::default();
    let browser = Chromium::watched(&desk, recording.wrap());
    let connected = browser.connect().await.expect("connected");
    assert_eq!(connected.fresh, Freshness::New);
    let state = browser.state().borrow().clone();
    assert!(
        matches!(&state, State::Connected { mode: Mode::Flag, version, .. } if version.starts_with("Chrome/")),
        "{state:?}"
    );
    let tabs = crate::kit::until("both pages", async || {
        let tabs = connected.tabs.list().await.expect("tabs");
        (tabs.len() == 2 && tabs.iter().all(|tab| !tab.title.is_empty())).then_some(tabs)
    })
    .await;
    let mut titles: Vec<&str> = tabs.iter().map(|tab| tab.title.as_str()).collect();
    titles.sort_unstable();
    assert_eq!(titles, ["First", "Second"]);
    eprintln!("{tabs:#?}");
    assert_eq!(tabs.iter().filter(|tab| tab.place.is_some_and(|place| place.shown)).count(), 1, "{tabs:?}");
    assert!(recording.sent().iter().all(|(session, _, _)| session.is_none()), "no command to any tab");
    assert_eq!(browser.connect().await.expect("held").fresh, Freshness::Held);
}
