//! The person's browser as a tool reaches it.

use crate::{ToolError, ToolOutput};
use futures::future::BoxFuture;
use octo_protocol::{BrowserView, CallId, PageElement, PageRisk};
use std::{fmt, path::PathBuf};
use tokio_util::sync::CancellationToken;

/// The person's browser. What is done in it is weighed against the live page first; only what was weighed and then
/// allowed is carried out.
pub trait Browsing: Send + Sync {
    /// Finds out what a call would touch, without changing anything: which site, which real element, what it would set
    /// off. Attaches to the browser where that is needed, which may take as long as the person takes to allow it. Of a
    /// page that is not granted by `standing` nothing is looked at but where it is.
    fn weigh(
        &self,
        wish: &BrowserWish,
        standing: &BrowserLeave,
    ) -> BoxFuture<'static, Result<Weight, ToolError>>;

    /// What the person is shown of a call before it runs: made from the page, never from the model's words. It shows
    /// what was weighed last.
    fn show(&self, wish: &BrowserWish) -> BoxFuture<'static, Result<BrowserView, ToolError>>;

    /// Does it. The page is weighed again right before: what is not covered by `leave` any more is not done.
    fn carry_out(
        &self,
        wish: BrowserWish,
        leave: BrowserLeave,
        call: CallId,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>>;
}

/// A browser that is none: for sessions and tests without one.
#[derive(Clone, Copy, Debug)]
pub struct NoBrowser;

impl NoBrowser {
    fn error<T: Send + 'static>() -> BoxFuture<'static, Result<T, ToolError>> {
        Box::pin(async { Err(ToolError::new("There is no browser here. Use web_fetch to read pages.")) })
    }
}

impl Browsing for NoBrowser {
    fn weigh(
        &self,
        _wish: &BrowserWish,
        _standing: &BrowserLeave,
    ) -> BoxFuture<'static, Result<Weight, ToolError>> {
        Self::error()
    }

    fn show(&self, _wish: &BrowserWish) -> BoxFuture<'static, Result<BrowserView, ToolError>> {
        Self::error()
    }

    fn carry_out(
        &self,
        _wish: BrowserWish,
        _leave: BrowserLeave,
        _call: CallId,
        _cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        Self::error()
    }
}

/// What the model wants done in the browser, read and known to be well-formed.
#[derive(Clone, Debug, PartialEq)]
pub struct BrowserWish {
    /// The tab; none for the one in use.
    pub tab: Option<u32>,
    /// What.
    pub deed: WishedDeed,
}

/// Whether elements have their numbers in a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbered {
    /// Each that can be used.
    Yes,
    /// None.
    No,
}

/// Which lines of a page a snapshot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageLines {
    /// All of them.
    All,
    /// Those with something that can be acted on, and that alone.
    Targets,
    /// Those that show without scrolling.
    OnScreen,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum WishedDeed {
    /// How the connection stands. Connects to nothing.
    Status,
    /// The tabs, by title and site.
    Tabs,
    /// An address in a new tab.
    Open {
        /// The address.
        url: String,
    },
    /// An address in the tab.
    Navigate {
        /// The address.
        url: String,
    },
    /// The page before, in the tab's own history.
    Back,
    /// The tab becomes the one in use, and comes to the front.
    Focus,
    /// The tab is closed. Only one that was opened from here.
    Close,
    /// The page in few words, with a number for each thing that can be acted on.
    Snapshot {
        /// Which of its lines.
        lines: PageLines,
        /// Which part of it, from 1.
        part: u32,
    },
    /// The lines of the page that hold a text.
    Find {
        /// The text.
        text: String,
    },
    /// A part of the page, or all of it, as Markdown.
    Read {
        /// The part.
        target: Option<u32>,
        /// Which part of the Markdown, from 1.
        part: u32,
    },
    /// A picture of the page, or of a part.
    Screenshot {
        /// The part.
        target: Option<u32>,
        /// Whether what can be used has its number in it.
        numbered: Numbered,
    },
    /// Something in the page.
    Act(PageAct),
    /// The dialog that stands open is answered.
    Dialog(DialogAnswer),
    /// A link is followed to a file, which goes where the person's downloads go.
    Download {
        /// The link.
        target: u32,
    },
    /// A script runs in the page.
    Evaluate {
        /// The script.
        script: String,
    },
}

impl WishedDeed {
    /// Whether it may change something in the page or beyond it, rather than look or go somewhere.
    pub fn changes_something(&self) -> bool {
        match self {
            Self::Status
            | Self::Tabs
            | Self::Open { .. }
            | Self::Navigate { .. }
            | Self::Back
            | Self::Focus
            | Self::Close
            | Self::Snapshot { .. }
            | Self::Find { .. }
            | Self::Read { .. }
            | Self::Screenshot { .. }
            | Self::Dialog(DialogAnswer::Dismiss)
            | Self::Act(PageAct::Hover(_) | PageAct::Scroll(_) | PageAct::Wait(_)) => false,
            Self::Dialog(DialogAnswer::Accept(_))
            | Self::Download { .. }
            | Self::Evaluate { .. }
            | Self::Act(
                PageAct::Click(_)
                | PageAct::DoubleClick(_)
                | PageAct::Type(..)
                | PageAct::Fill(..)
                | PageAct::Press(..)
                | PageAct::Drag(..)
                | PageAct::Select(..)
                | PageAct::ClickAt(..)
                | PageAct::Upload(..),
            ) => true,
        }
    }
}

/// How a dialog is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DialogAnswer {
    /// With OK, and what is written into it where it asks for text.
    Accept(Option<String>),
    /// With Cancel.
    Dismiss,
}

/// What is done in a page. Elements are named by their numbers in the snapshot.
#[derive(Clone, Debug, PartialEq)]
pub enum PageAct {
    /// Pressed with the mouse.
    Click(u32),
    /// Twice.
    DoubleClick(u32),
    /// Text is added to what is in a field.
    Type(u32, String),
    /// Text replaces what is in a field.
    Fill(u32, String),
    /// A key, in an element or where the focus is.
    Press(Option<u32>, String),
    /// The pointer rests on it.
    Hover(u32),
    /// One is dragged onto another.
    Drag(u32, u32),
    /// Options of a list are chosen, by their names or values.
    Select(u32, Vec<String>),
    /// The page, or an element in it, is scrolled.
    Scroll(Scrolled),
    /// Something is waited for.
    Wait(Awaited),
    /// A place in the page is pressed, in pixels of what is seen.
    ClickAt(f64, f64),
    /// Files are given to a field.
    Upload(u32, Vec<PathBuf>),
}

/// How something is scrolled.
#[derive(Clone, Debug, PartialEq)]
pub enum Scrolled {
    /// Until an element is seen.
    To(u32),
    /// Until a text is seen.
    ToText(String),
    /// The page, by so many pixels.
    By(f64, f64),
}

/// What is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// A text to come.
    Text(String),
    /// So many milliseconds; capped.
    Time(u64),
}

/// What a call in the browser would touch, found at the live page. Permission is decided on this.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Weight {
    /// Where it happens or leads to; none where no page is concerned.
    pub place: Option<Place>,
    /// What it would set off that always asks, the weightiest first.
    pub risks: Vec<PageRisk>,
    /// The element it is done to, as the page itself names it.
    pub target: Option<PageElement>,
    /// Tells this element of this document from every other, and where something is asked about, what it said and
    /// where it led: what is done must be what was weighed.
    pub mark: String,
    /// How much of the page was looked at for it.
    pub looked: Looked,
}

/// How much of a page was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Looked {
    /// All that the act concerns.
    #[default]
    Whole,
    /// Where it is alone: its site is to be granted first.
    PlaceOnly,
}

/// A place in the browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The site, `https://shop.example`, or the page where it is of no site.
    pub site: String,
    /// Whether a task may be there.
    pub entry: Entry,
}

/// Whether a task may be at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Nothing is there, or what is there was granted to this task already.
    Open,
    /// Once the person grants it, which may be for long.
    Asks,
    /// Once the person grants it, for this task at most: it is near.
    AsksEachTask,
    /// Once the person grants it, every time and in every mode: passwords, the browser's own pages, files.
    AsksEachTime,
    /// Never, whatever the person said.
    Never {
        /// Why, in words for the model.
        why: String,
    },
}

/// What a call may do: what was weighed when it was allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserLeave {
    /// What was weighed.
    pub weight: Weight,
    /// The sites the task may be at besides.
    pub granted: Vec<String>,
    /// Where else the page may lead.
    pub roam: Roam,
}

/// Where a page may lead while a call acts in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roam {
    /// To what the person granted.
    Granted,
    /// Anywhere in the web: the mode grants sites.
    Web,
}

impl BrowserLeave {
    /// What is granted before anything is weighed.
    pub fn standing(granted: Vec<String>, roam: Roam) -> Self {
        Self { granted, roam, ..Self::none() }
    }

    /// Leave for nothing. What needs none runs with it.
    pub fn none() -> Self {
        Self { weight: Weight::default(), granted: Vec::new(), roam: Roam::Granted }
    }

    /// Whether what is weighed now is covered: the same element of the same document, at the same place, setting off
    /// nothing more.
    pub fn covers(&self, now: &Weight) -> bool {
        self.is_at(now)
            && (self.weight.mark == now.mark || self.weight.looked == Looked::PlaceOnly)
            && now.risks.iter().all(|risk| self.weight.risks.contains(risk))
    }

    /// Whether what is weighed now is at the place this is for, whatever it sets off there.
    pub fn is_at(&self, now: &Weight) -> bool {
        let site = |weight: &Weight| weight.place.as_ref().map(|place| place.site.clone());
        site(&self.weight) == site(now)
            && !matches!(now.place, Some(Place { entry: Entry::Never { .. }, .. }))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.site)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(mark: &str, site: &str, risks: &[PageRisk]) -> Weight {
        let place = Some(Place { site: site.to_owned(), entry: Entry::Asks });
        Weight { place, risks: risks.to_vec(), mark: mark.to_owned(), ..Weight::default() }
    }

    #[test]
    fn leave_covers_what_was_weighed_and_nothing_more() {
        let pays = [PageRisk::Pays, PageRisk::Sends];
        let leave = |weight: &Weight| BrowserLeave {
            weight: weight.clone(),
            granted: Vec::new(),
            roam: Roam::Granted,
        };
        let given = leave(&weight("7", "https://a.example", &pays));
        assert!(given.covers(&weight("7", "https://a.example", &pays)));
        assert!(given.covers(&weight("7", "https://a.example", &[PageRisk::Sends])), "less than was allowed");
        for (now, why) in [
            (weight("8", "https://a.example", &pays), "another element"),
            (weight("7", "https://b.example", &pays), "another site"),
            (weight("7", "https://a.example", &[PageRisk::Deletes]), "something else is set off"),
        ] {
            assert!(!given.covers(&now), "{why}");
        }
        let never = Some(Place { site: "https://a.example".into(), entry: Entry::Never { why: "x".into() } });
        assert!(!given.covers(&Weight { place: never, ..weight("7", "", &[]) }));
        let harmless = leave(&weight("7", "https://a.example", &[]));
        assert!(!harmless.covers(&weight("7", "https://a.example", &[PageRisk::Pays])), "it became a sink");
        let unseen = Weight { looked: Looked::PlaceOnly, ..weight("", "https://a.example", &[]) };
        let granted = leave(&unseen);
        assert!(granted.covers(&weight("7", "https://a.example", &[])), "nothing is asked about it");
        assert!(
            !granted.covers(&weight("7", "https://a.example", &[PageRisk::Pays])),
            "it was not asked about"
        );
        assert!(!granted.covers(&weight("7", "https://b.example", &[])), "another site");
        assert!(BrowserLeave::none().covers(&Weight::default()));
        assert!(!BrowserLeave::none().covers(&weight("7", "https://a.example", &[])));
    }
}
