//! The browser's tabs: selects the tab of a call, and reports the others.

use crate::{BrowserSession, browser_session::BrowserWork, card, perform::CallReport};
use octo_browser::{
    BrowserConnection, Page, Tab, TabNumber,
    safety::{PageAddress, PageBlock, PageText},
};
use octo_tools::{BrowserRequest, ToolError};
use std::fmt::Write;

/// Maximum number of tabs listed.
const MAX_TABS: usize = 60;

/// Returns the tab in use. A call that names another tab fails, and tells the model to switch to that tab first.
pub(crate) async fn tab_in_use(
    work: &BrowserWork,
    connection: &BrowserConnection,
    request: &BrowserRequest,
) -> Result<Tab, ToolError> {
    let Some(number) = work.tab else {
        return Err(ToolError::new(
            "No tab is in use. Use action open for a new one, or tabs and then focus. Nothing was done.",
        ));
    };
    match request.tab {
        Some(other) if other != number.0 => Err(ToolError::new(format!(
            "Tab {other} is not the one in use, which is {number}. Use focus with tab {other} first. Nothing was done."
        ))),
        _ => find_tab(connection, number).await,
    }
}

/// Returns the tab that the call names.
pub(crate) async fn named_tab(
    connection: &BrowserConnection,
    request: &BrowserRequest,
) -> Result<Tab, ToolError> {
    find_tab(connection, TabNumber(request.tab.unwrap_or_default())).await
}

async fn find_tab(connection: &BrowserConnection, number: TabNumber) -> Result<Tab, ToolError> {
    connection.tabs.find(number).await.map_err(|error| match error {
        octo_browser::TabError::Gone(number) => {
            ToolError::new(format!("Tab {number} is gone. Use action tabs to see which there are."))
        }
        error => ToolError::new(format!("The browser did not answer: {error}.")),
    })
}

/// Returns the tab to read: the named one, the one in use, or the one the person is looking at.
pub(crate) async fn tab_to_read(
    work: &BrowserWork,
    connection: &BrowserConnection,
    request: &BrowserRequest,
) -> Result<Tab, ToolError> {
    if let Some(number) = request.tab.map(TabNumber).or(work.tab) {
        return find_tab(connection, number).await;
    }
    let tabs = connection.tabs.list().await;
    let tabs = tabs.map_err(|error| ToolError::new(format!("The browser did not answer: {error}.")))?;
    let mut active = tabs.into_iter().filter(|tab| tab.position.is_some_and(|position| position.is_active));
    match (active.next(), active.next()) {
        (Some(tab), None) => Ok(tab),
        _ => Err(ToolError::new(
            "No tab is in use, and which one the person looks at cannot be told. Use action tabs, then give tab; or open.",
        )),
    }
}

/// Returns a tab's address: its main frame's document while attached. The tab list does not contain the origin
/// of an empty page, so such a tab is attached to for a moment, without reading its content.
pub(crate) async fn address_of(work: &BrowserWork, connection: &BrowserConnection, tab: &Tab) -> PageAddress {
    let page_address = |page: &Page| {
        let committed = page.committed();
        PageAddress::of_frame(&committed.url, &committed.origin)
    };
    match &work.page {
        Some(page) if page.target() == &tab.target => return page_address(page),
        _ => {}
    }
    match PageAddress::of(&tab.url) {
        PageAddress::Blank => match Page::attach(&connection.link, &tab.target).await {
            Ok(page) => page_address(&page),
            // It is checked again once it answers.
            Err(_) => PageAddress::Blank,
        },
        address => address,
    }
}

/// Lists all tabs by title and site: more of a page is visible only once it is granted.
pub(crate) async fn list(
    session: &BrowserSession,
    work: &BrowserWork,
    connection: &BrowserConnection,
) -> Result<CallReport, ToolError> {
    let tabs = connection.tabs.list().await;
    let tabs = tabs.map_err(|error| ToolError::new(format!("The browser did not answer: {error}.")))?;
    let mut text = String::new();
    for tab in tabs.iter().take(MAX_TABS) {
        let mut labels: Vec<&str> = Vec::new();
        if work.tab == Some(tab.number) {
            labels.push("in use");
        }
        if tab.position.is_some_and(|position| position.is_active) {
            labels.push("shown");
        }
        if tab.owner == octo_browser::TabOwner::Octo {
            let opened_here = session.0.browser.has_opened(tab.number, session.0.session);
            labels.push(if opened_here { "opened from here" } else { "opened in another conversation" });
        }
        let labels = if labels.is_empty() { String::new() } else { format!(" ({})", labels.join(", ")) };
        let site = card::origin_of(&tab.url);
        let _ = writeln!(text, "{} {} \"{}\"{labels}", tab.number, site, card::line(&tab.title));
    }
    let omitted = tabs.len().saturating_sub(MAX_TABS);
    let mut report = CallReport::from_text(format!("{} tabs.", tabs.len()));
    if omitted > 0 {
        report.after = format!("({omitted} more are not listed.)");
    }
    report.page = Some(PageBlock { origin: "tabs".to_owned(), lines: Vec::new(), text: PageText::new(text) });
    Ok(report)
}

pub(crate) async fn close(
    work: &mut BrowserWork,
    connection: &BrowserConnection,
    tab: &Tab,
) -> Result<CallReport, ToolError> {
    let closed = connection.tabs.close(tab, octo_browser::CloseScope::OwnTabs).await;
    closed.map_err(|error| ToolError::new(format!("The tab was not closed: {error}.")))?;
    if work.tab == Some(tab.number) {
        (work.tab, work.page) = (None, None);
    }
    work.views.remove(&tab.number);
    Ok(CallReport::from_text(format!("Tab {} was closed.", tab.number)))
}

/// Reports tabs that the page in use opened.
pub(crate) async fn popups(work: &mut BrowserWork, connection: &BrowserConnection, tab: &Tab) -> String {
    let Ok(tabs) = connection.tabs.list().await else { return String::new() };
    // Views of tabs that the person closed are no longer needed: no number is reused.
    work.views.retain(|number, _| tabs.iter().any(|tab| tab.number == *number));
    let mut text = String::new();
    for other in tabs {
        let is_new = other.opener.as_ref() == Some(&tab.target) && !work.views.contains_key(&other.number);
        if is_new {
            // Reported once: its numbering begins here.
            work.views.entry(other.number).or_default();
            let site = card::origin_of(&other.url);
            let _ = writeln!(text, "The page opened tab {} ({site}). Use focus to work in it.", other.number);
        }
    }
    text
}
