//! A display, a browser with a profile of its own, and sites to visit.

mod browser;
mod display;
mod recording;
mod site;

pub(crate) use browser::{DebuggingMode, RealChromium};
pub(crate) use display::{TestDisplay, WindowFrames};
pub(crate) use octo_testkit::chromium_or_skip as chromium;
pub(crate) use recording::Recording;
pub(crate) use site::Site;

use std::time::Duration;

/// Timeout for any step on a busy machine, after which a test gives up.
pub(crate) const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// Polling interval for a condition without a signal.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Waits until `poll` returns something, and returns it. `expectation` is for the message of a timeout.
pub(crate) async fn until<T>(expectation: &str, mut poll: impl AsyncFnMut() -> Option<T>) -> T {
    let polling = async {
        loop {
            if let Some(found) = poll().await {
                return found;
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    };
    tokio::time::timeout(TEST_TIMEOUT, polling).await.unwrap_or_else(|_| panic!("{expectation} never came"))
}

/// Returns a tab of the browser with this title.
pub(crate) async fn tab(tabs: &octo_browser::Tabs, title: &str) -> octo_browser::Tab {
    until(title, async || tabs.list().await.expect("tabs").into_iter().find(|tab| tab.title == title)).await
}

/// Returns the state that must not change: every other tab's name, title and address.
pub(crate) async fn other_tabs(
    tabs: &octo_browser::Tabs,
    except: &octo_browser::Tab,
) -> Vec<(String, String, String)> {
    let tabs = tabs.list().await.expect("tabs");
    let remaining = tabs.into_iter().filter(|tab| tab.target != except.target);
    remaining.map(|tab| (tab.target.inner().clone(), tab.title, tab.url)).collect()
}

/// A page of the person, beside the pages that a test uses. Its title counts its loads.
pub(crate) const PERSON_PAGE: (&str, &str) = (
    "/own",
    "<title>Own</title><script>sessionStorage.loads = 1 + (sessionStorage.loads | 0); document.title = 'Own ' + sessionStorage.loads;</script>the person's own",
);

/// The person's own tab, which no test touches.
pub(crate) struct PersonTab(octo_browser::Tab);

impl PersonTab {
    /// Returns its address, at a different site from the others, so that it shares no process with them.
    pub(crate) fn url(site: &Site) -> String {
        site.url(PERSON_PAGE.0).replace("127.0.0.1", "localhost")
    }

    pub(crate) async fn find(tabs: &octo_browser::Tabs) -> Self {
        Self(tab(tabs, "Own 1").await)
    }

    /// Checks that the tab is still open at the same address, was never reloaded, and has the same owner.
    pub(crate) async fn assert_unchanged(&self, tabs: &octo_browser::Tabs) {
        let current = tabs.list().await.expect("tabs").into_iter().find(|tab| tab.number == self.0.number);
        let tab_facts = |tab: &octo_browser::Tab| {
            (tab.target.clone(), tab.title.clone(), tab.url.clone(), tab.opener.clone(), tab.owner)
        };
        assert_eq!(
            current.as_ref().map(tab_facts),
            Some(tab_facts(&self.0)),
            "the person's own tab is as it was"
        );
    }
}

/// Returns the result of a script in the page.
pub(crate) async fn script_result(page: &octo_browser::Page, script: &str) -> serde_json::Value {
    let command = octo_browser::cdp::js_protocol::runtime::EvaluateParams {
        return_by_value: Some(true),
        ..octo_browser::cdp::js_protocol::runtime::EvaluateParams::new(script)
    };
    page.call(command, TEST_TIMEOUT).await.expect("an answer").result.value.unwrap_or_default()
}
