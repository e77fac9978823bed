//! Lists the browser's tabs without touching them.

mod numbers;

pub use numbers::TabNumber;
pub(crate) use numbers::TabNumbers;

use crate::{
    CallError, Link, NextEvent, SessionEvents,
    cdp::browser_protocol::target::{
        ActivateTargetParams, CloseTargetParams, CreateTargetParams, EventTargetCreated, FilterEntry,
        GetTargetsParams, SetDiscoverTargetsParams, TargetFilter, TargetId,
    },
    wire::{ListTargets, TargetEntry, TargetEvent},
};
use std::{collections::HashMap, time::Duration};

/// Timeout for a command to the browser itself; no page is involved.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(5);

/// A tab, as reported by the browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tab {
    /// Its number, constant while the tab exists.
    pub number: TabNumber,
    /// The page's target id.
    pub target: TargetId,
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// Its position in its window; `None` in older browsers, and for tabs with the same title and address.
    pub position: Option<TabPosition>,
    /// The tab it was opened from.
    pub opener: Option<TargetId>,
    /// Who owns it.
    pub owner: TabOwner,
}

/// A tab's position in its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TabPosition {
    /// Whether it is the active tab of its window.
    pub is_active: bool,
    /// Whether the person pinned it.
    pub is_pinned: bool,
    /// Its index in the tab strip, from 0.
    pub index: Option<i64>,
}

/// The positions of tabs. The browser does not link tabs to pages, but both have the same title and address.
struct TabPositions<'a>(HashMap<(&'a str, &'a str), Option<TabPosition>>);

impl<'a> TabPositions<'a> {
    fn from_entries(tabs: &'a [TargetEntry]) -> Self {
        let mut positions: HashMap<(&str, &str), Option<TabPosition>> = HashMap::new();
        for tab in tabs {
            let position = tab.embedder_data.as_ref().map(|position| TabPosition {
                is_active: position.tab_active.unwrap_or(false),
                is_pinned: position.tab_pinned.unwrap_or(false),
                index: position.tab_strip_index,
            });
            // Two tabs with the same title and address are indistinguishable, so neither has a position.
            positions
                .entry((&tab.title, &tab.url))
                .and_modify(|position| *position = None)
                .or_insert(position);
        }
        Self(positions)
    }

    fn find(&self, page: &TargetEntry) -> Option<TabPosition> {
        self.0.get(&(page.title.as_str(), page.url.as_str())).copied().flatten()
    }
}

/// The owner of a tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TabOwner {
    /// The person: it existed before, or they or a page opened it.
    Person,
    /// Octo opened it.
    Octo,
}

/// The tabs that may be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseScope {
    /// Only tabs that Octo opened.
    OwnTabs,
    /// Any tab, with the person's consent.
    AnyTab,
}

/// The reason why a tab was not closed, opened or found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TabError {
    /// The tab no longer exists.
    #[error("tab {0} is gone")]
    Gone(TabNumber),
    /// The tab belongs to the person.
    #[error("tab {0} is the person's own; it was not closed")]
    OwnedByPerson(TabNumber),
    /// The browser refused.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// The tabs of a browser. Clones share state.
#[derive(Clone, Debug)]
pub struct Tabs {
    link: Link,
    numbers: TabNumbers,
}

impl Tabs {
    pub(crate) fn new(link: Link, numbers: TabNumbers) -> Self {
        Self { link, numbers }
    }

    /// Lists all tabs in the order of their numbers. Sends one command, and none to a tab: discarded tabs stay
    /// discarded.
    ///
    /// # Errors
    ///
    /// [`CallError`].
    pub async fn list(&self) -> Result<Vec<Tab>, CallError> {
        let list = GetTargetsParams { filter: Some(target_kinds_filter(&["page", "tab"])) };
        let targets = self.link.call(None, ListTargets::new(list), COMMAND_TIMEOUT).await?.target_infos;
        let (tabs, other_targets): (Vec<TargetEntry>, Vec<TargetEntry>) =
            targets.into_iter().partition(|target| target.kind == "tab");
        let positions = TabPositions::from_entries(&tabs);
        let pages: Vec<TargetEntry> = other_targets.into_iter().filter(is_page).collect();
        let numbers = self.numbers.assign(pages.iter().map(|page| &page.target_id));
        let tab = |(page, number): (TargetEntry, TabNumber)| Tab {
            number,
            position: positions.find(&page),
            owner: self.numbers.owner(&page.target_id),
            target: page.target_id,
            title: page.title,
            url: page.url,
            opener: page.opener_id,
        };
        let mut tabs: Vec<Tab> = pages.into_iter().zip(numbers).map(tab).collect();
        tabs.sort_by_key(|tab| tab.number);
        Ok(tabs)
    }

    /// Returns the tab with this number.
    ///
    /// # Errors
    ///
    /// [`TabError::Gone`] if no such tab exists any more.
    pub async fn find(&self, number: TabNumber) -> Result<Tab, TabError> {
        self.list().await?.into_iter().find(|tab| tab.number == number).ok_or(TabError::Gone(number))
    }

    /// Opens an address in a new tab, owned by Octo, at the front of its window.
    ///
    /// # Errors
    ///
    /// [`TabError`]. A tab that cannot be reported is closed again.
    pub async fn open(&self, url: &str) -> Result<Tab, TabError> {
        self.create(CreateTargetParams::new(url)).await
    }

    /// Like `open`, but behind the active tab of the window, so that the person is not disturbed.
    ///
    /// # Errors
    ///
    /// [`TabError`].
    pub async fn open_behind(&self, url: &str) -> Result<Tab, TabError> {
        self.create(CreateTargetParams { background: Some(true), ..CreateTargetParams::new(url) }).await
    }

    async fn create(&self, tab: CreateTargetParams) -> Result<Tab, TabError> {
        let target = self.link.call(None, tab, COMMAND_TIMEOUT).await?.target_id;
        self.numbers.record_own(&target);
        let number = self.numbers.number(&target);
        let found = self.find(number).await;
        if found.is_err() {
            // No caller will learn of the tab, so none could close it.
            self.link.send(None, CloseTargetParams::new(target));
        }
        found
    }

    /// Closes a tab. If its page asks before it is unloaded, the question is a dialog of the tab.
    ///
    /// # Errors
    ///
    /// [`TabError::OwnedByPerson`] for a tab of the person's without their consent.
    pub async fn close(&self, tab: &Tab, scope: CloseScope) -> Result<(), TabError> {
        if scope == CloseScope::OwnTabs && self.numbers.owner(&tab.target) == TabOwner::Person {
            return Err(TabError::OwnedByPerson(tab.number));
        }
        self.link
            .call(None, CloseTargetParams::new(tab.target.clone()), COMMAND_TIMEOUT)
            .await
            .map_err(|error| Self::tab_gone_error(tab.number, error))?;
        Ok(())
    }

    /// Brings a tab to the front of its window.
    ///
    /// # Errors
    ///
    /// [`TabError`].
    pub async fn activate(&self, tab: &Tab) -> Result<(), TabError> {
        self.link
            .call(None, ActivateTargetParams::new(tab.target.clone()), COMMAND_TIMEOUT)
            .await
            .map_err(|error| Self::tab_gone_error(tab.number, error))?;
        Ok(())
    }

    /// Subscribes to tabs opened from now on. Sends nothing to any tab.
    ///
    /// # Errors
    ///
    /// [`CallError`].
    pub async fn watch(&self) -> Result<OpenedTabs, CallError> {
        let known_targets = self.list().await?.into_iter().map(|tab| tab.target).collect();
        let events = self.link.events(None);
        let discover =
            SetDiscoverTargetsParams { discover: true, filter: Some(target_kinds_filter(&["page"])) };
        self.link.call(None, discover, COMMAND_TIMEOUT).await?;
        Ok(OpenedTabs { tabs: self.clone(), events, known_targets })
    }

    fn tab_gone_error(number: TabNumber, error: CallError) -> TabError {
        match error {
            CallError::Gone { .. } => TabError::Gone(number),
            error => TabError::Call(error),
        }
    }
}

/// Subscription to newly opened tabs.
#[derive(Debug)]
pub struct OpenedTabs {
    tabs: Tabs,
    events: SessionEvents,
    known_targets: std::collections::HashSet<TargetId>,
}

/// A tab that was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTab {
    /// Its number.
    pub number: TabNumber,
    /// The page's target id.
    pub target: TargetId,
    /// Its initial address.
    pub url: String,
    /// The tab whose page opened it; `None` if the person did.
    pub opener: Option<TargetId>,
}

impl OpenedTabs {
    /// Returns the next tab, or `None` once the connection has ended.
    pub async fn next(&mut self) -> Option<NewTab> {
        loop {
            match self.events.next().await {
                NextEvent::Ended => return None,
                // Missed tabs are still in the list.
                NextEvent::Missed(missed) => tracing::debug!(missed, "missed events of tabs"),
                NextEvent::Event(event) if event.method == EventTargetCreated::IDENTIFIER => {
                    let Some(TargetEvent { target_info: page }) = event.read() else { continue };
                    if is_page(&page) && self.known_targets.insert(page.target_id.clone()) {
                        let number = self.tabs.numbers.number(&page.target_id);
                        return Some(NewTab {
                            number,
                            target: page.target_id,
                            url: page.url,
                            opener: page.opener_id,
                        });
                    }
                }
                NextEvent::Event(_) => {}
            }
        }
    }
}

/// Returns whether a target is a page that the person sees as a tab, and not a prerendered one.
fn is_page(target: &TargetEntry) -> bool {
    target.kind == "page" && target.subtype.is_none()
}

/// Builds a filter that lets only these kinds of targets through.
pub(crate) fn target_kinds_filter(kinds: &[&str]) -> TargetFilter {
    let filters = kinds.iter().map(|kind| FilterEntry { exclude: None, r#type: Some((*kind).to_owned()) });
    TargetFilter::new(filters.chain([FilterEntry { exclude: Some(true), r#type: None }]).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests;
