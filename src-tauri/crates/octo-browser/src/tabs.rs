//! The browser's tabs: listed without touching them.

mod numbers;

pub(crate) use numbers::Numbers;
pub use numbers::TabNumber;

use crate::{
    CallError, Events, Heard, Link,
    cdp::browser_protocol::target::{
        ActivateTargetParams, CloseTargetParams, CreateTargetParams, EventTargetCreated, FilterEntry,
        GetTargetsParams, SetDiscoverTargetsParams, TargetFilter, TargetId,
    },
    wire::{ListTargets, Target, TargetNews},
};
use std::{collections::HashMap, time::Duration};

/// How long a command to the browser itself may take. Nothing of a page is asked for.
const BROWSER: Duration = Duration::from_secs(5);

/// A tab, as the browser tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tab {
    /// Its number, the same for as long as the tab is there.
    pub number: TabNumber,
    /// The page's name in the protocol.
    pub target: TargetId,
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// Where it is in its window; unknown to older browsers, and of tabs that look the same.
    pub place: Option<Place>,
    /// The tab it was opened from.
    pub opener: Option<TargetId>,
    /// Whose it is.
    pub owner: Owner,
}

/// Where a tab is in its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Whether it is the one its window shows.
    pub shown: bool,
    /// Whether its person pinned it.
    pub pinned: bool,
    /// Its place in the row, from 0.
    pub index: Option<i64>,
}

/// The places of tabs. The browser does not say which tab shows which page, but both have the same title and address.
struct Places<'a>(HashMap<(&'a str, &'a str), Option<Place>>);

impl<'a> Places<'a> {
    fn of(tabs: &'a [Target]) -> Self {
        let mut places: HashMap<(&str, &str), Option<Place>> = HashMap::new();
        for tab in tabs {
            let place = tab.embedder_data.as_ref().map(|place| Place {
                shown: place.tab_active.unwrap_or(false),
                pinned: place.tab_pinned.unwrap_or(false),
                index: place.tab_strip_index,
            });
            // Of two that look the same none is told apart, and nothing is said of either.
            places.entry((&tab.title, &tab.url)).and_modify(|place| *place = None).or_insert(place);
        }
        Self(places)
    }

    fn find(&self, page: &Target) -> Option<Place> {
        self.0.get(&(page.title.as_str(), page.url.as_str())).copied().flatten()
    }
}

/// Whose a tab is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The person's: it was there, or they or a page opened it.
    Person,
    /// It was opened from here.
    Octo,
}

/// Which tabs may be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// One that was opened from here.
    OnlyOurs,
    /// Any: the person said so.
    EvenThePersons,
}

/// Why a tab was not closed, opened or found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TabError {
    /// There is no such tab any more.
    #[error("tab {0} is gone")]
    Gone(TabNumber),
    /// The tab is the person's.
    #[error("tab {0} is the person's own; it was not closed")]
    NotOurs(TabNumber),
    /// The browser did not do it.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// The tabs of a browser. Clones are one.
#[derive(Clone, Debug)]
pub struct Tabs {
    link: Link,
    numbers: Numbers,
}

impl Tabs {
    pub(crate) fn new(link: Link, numbers: Numbers) -> Self {
        Self { link, numbers }
    }

    /// All tabs, in the order of their numbers. One command, and none to a tab: what is discarded stays so.
    ///
    /// # Errors
    ///
    /// [`CallError`].
    pub async fn list(&self) -> Result<Vec<Tab>, CallError> {
        let list = GetTargetsParams { filter: Some(only(&["page", "tab"])) };
        let targets = self.link.call(None, ListTargets::new(list), BROWSER).await?.target_infos;
        let (tabs, others): (Vec<Target>, Vec<Target>) =
            targets.into_iter().partition(|target| target.kind == "tab");
        let places = Places::of(&tabs);
        let pages: Vec<Target> = others.into_iter().filter(is_page).collect();
        let numbers = self.numbers.of(pages.iter().map(|page| &page.target_id));
        let tab = |(page, number): (Target, TabNumber)| Tab {
            number,
            place: places.find(&page),
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

    /// The tab of this number.
    ///
    /// # Errors
    ///
    /// [`TabError::Gone`] when there is none (any more).
    pub async fn find(&self, number: TabNumber) -> Result<Tab, TabError> {
        self.list().await?.into_iter().find(|tab| tab.number == number).ok_or(TabError::Gone(number))
    }

    /// Opens an address in a new tab, which is then ours. It comes to the front of its window.
    ///
    /// # Errors
    ///
    /// [`TabError`]. No tab stays that cannot be told of.
    pub async fn open(&self, url: &str) -> Result<Tab, TabError> {
        self.create(CreateTargetParams::new(url)).await
    }

    /// The same behind the tab its window shows: nobody who works there is disturbed.
    ///
    /// # Errors
    ///
    /// [`TabError`].
    pub async fn open_behind(&self, url: &str) -> Result<Tab, TabError> {
        self.create(CreateTargetParams { background: Some(true), ..CreateTargetParams::new(url) }).await
    }

    async fn create(&self, tab: CreateTargetParams) -> Result<Tab, TabError> {
        let target = self.link.call(None, tab, BROWSER).await?.target_id;
        self.numbers.own(&target);
        let number = self.numbers.number(&target);
        let found = self.find(number).await;
        if found.is_err() {
            // Nobody gets to know of it who could close it.
            self.link.tell(None, CloseTargetParams::new(target));
        }
        found
    }

    /// Closes a tab. What its page asks before it goes is a dialog of that tab.
    ///
    /// # Errors
    ///
    /// [`TabError::NotOurs`] for a tab of the person's, unless they said so.
    pub async fn close(&self, tab: &Tab, closing: Closing) -> Result<(), TabError> {
        if closing == Closing::OnlyOurs && self.numbers.owner(&tab.target) == Owner::Person {
            return Err(TabError::NotOurs(tab.number));
        }
        self.link
            .call(None, CloseTargetParams::new(tab.target.clone()), BROWSER)
            .await
            .map_err(|error| Self::gone(tab.number, error))?;
        Ok(())
    }

    /// Brings a tab to the front of its window.
    ///
    /// # Errors
    ///
    /// [`TabError`].
    pub async fn activate(&self, tab: &Tab) -> Result<(), TabError> {
        self.link
            .call(None, ActivateTargetParams::new(tab.target.clone()), BROWSER)
            .await
            .map_err(|error| Self::gone(tab.number, error))?;
        Ok(())
    }

    /// Tells of tabs that are opened from now on. Nothing is sent to any tab for it.
    ///
    /// # Errors
    ///
    /// [`CallError`].
    pub async fn watch(&self) -> Result<Opened, CallError> {
        let known = self.list().await?.into_iter().map(|tab| tab.target).collect();
        let events = self.link.events(None);
        let discover = SetDiscoverTargetsParams { discover: true, filter: Some(only(&["page"])) };
        self.link.call(None, discover, BROWSER).await?;
        Ok(Opened { tabs: self.clone(), events, known })
    }

    fn gone(number: TabNumber, error: CallError) -> TabError {
        match error {
            CallError::Gone { .. } => TabError::Gone(number),
            error => TabError::Call(error),
        }
    }
}

/// Tabs that are being opened.
#[derive(Debug)]
pub struct Opened {
    tabs: Tabs,
    events: Events,
    known: std::collections::HashSet<TargetId>,
}

/// A tab that was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTab {
    /// Its number.
    pub number: TabNumber,
    /// The page's name in the protocol.
    pub target: TargetId,
    /// The address it began with.
    pub url: String,
    /// The tab whose page opened it; none when its person did.
    pub opener: Option<TargetId>,
}

impl Opened {
    /// The next one; `None` when the connection is over.
    pub async fn next(&mut self) -> Option<NewTab> {
        loop {
            match self.events.next().await {
                Heard::Over => return None,
                // What was missed is in the list all the same.
                Heard::Missed(missed) => tracing::debug!(missed, "news of tabs were missed"),
                Heard::Event(event) if event.method == EventTargetCreated::IDENTIFIER => {
                    let Some(TargetNews { target_info: page }) = event.read() else { continue };
                    if is_page(&page) && self.known.insert(page.target_id.clone()) {
                        let number = self.tabs.numbers.number(&page.target_id);
                        return Some(NewTab {
                            number,
                            target: page.target_id,
                            url: page.url,
                            opener: page.opener_id,
                        });
                    }
                }
                Heard::Event(_) => {}
            }
        }
    }
}

/// A page a person sees as a tab, and not one that is kept ready for a click that may never come.
fn is_page(target: &Target) -> bool {
    target.kind == "page" && target.subtype.is_none()
}

/// A filter that lets nothing else through.
pub(crate) fn only(kinds: &[&str]) -> TargetFilter {
    let wanted = kinds.iter().map(|kind| FilterEntry { exclude: None, r#type: Some((*kind).to_owned()) });
    TargetFilter::new(wanted.chain([FilterEntry { exclude: Some(true), r#type: None }]).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests;
