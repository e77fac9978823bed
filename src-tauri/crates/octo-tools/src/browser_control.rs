//! Interface to the person's browser for tools.

use crate::{ToolError, ToolOutput};
use futures::future::BoxFuture;
use octo_protocol::{BrowserView, CallId, PageElement, PageRisk};
use std::{fmt, path::PathBuf};
use tokio_util::sync::CancellationToken;

/// The person's browser. Every act is first weighed against the live page; only the weighed and then allowed
/// act is carried out.
pub trait BrowserControl: Send + Sync {
    /// Determines the effects of a call without changing anything: the site, the real element, the risks.
    /// Attaches to the browser if necessary, which may take until the person allows it. On a page that
    /// `permission` does not grant, it reads only the location.
    fn assess(
        &self,
        request: &BrowserRequest,
        permission: &BrowserPermission,
    ) -> BoxFuture<'static, Result<BrowserAssessment, ToolError>>;

    /// Returns the view of a call that the person sees before it runs: built from the page, never from the
    /// model's words. It shows the result of the last weighing.
    fn preview(&self, request: &BrowserRequest) -> BoxFuture<'static, Result<BrowserView, ToolError>>;

    /// Carries the call out. The page is weighed again right before; anything that `leave` no longer covers is
    /// not done.
    fn execute(
        &self,
        request: BrowserRequest,
        permission: BrowserPermission,
        call: CallId,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>>;
}

/// Null implementation, for sessions and tests without a browser.
#[derive(Clone, Copy, Debug)]
pub struct NoBrowser;

impl NoBrowser {
    fn error<T: Send + 'static>() -> BoxFuture<'static, Result<T, ToolError>> {
        Box::pin(async { Err(ToolError::new("There is no browser here. Use web_fetch to read pages.")) })
    }
}

impl BrowserControl for NoBrowser {
    fn assess(
        &self,
        _request: &BrowserRequest,
        _standing: &BrowserPermission,
    ) -> BoxFuture<'static, Result<BrowserAssessment, ToolError>> {
        Self::error()
    }

    fn preview(&self, _request: &BrowserRequest) -> BoxFuture<'static, Result<BrowserView, ToolError>> {
        Self::error()
    }

    fn execute(
        &self,
        _request: BrowserRequest,
        _permission: BrowserPermission,
        _call: CallId,
        _cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        Self::error()
    }
}

/// Browser action that the model requests, parsed and well-formed.
#[derive(Clone, Debug, PartialEq)]
pub struct BrowserRequest {
    /// The tab; `None` for the current one.
    pub tab: Option<u32>,
    /// The action.
    pub action: BrowserAction,
}

/// Whether a screenshot shows element numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementNumbers {
    /// A number on every usable element.
    Yes,
    /// No numbers.
    No,
}

/// Lines of a page that a snapshot includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageLines {
    /// All lines.
    All,
    /// Only lines with an actionable element, and only that element.
    Targets,
    /// Lines that are visible without scrolling.
    OnScreen,
}

/// Action that the model requests.
#[derive(Clone, Debug, PartialEq)]
pub enum BrowserAction {
    /// Reports the state of the connection. Connects to nothing.
    Status,
    /// Lists the tabs, by title and site.
    Tabs,
    /// Opens an address in a new tab.
    Open {
        /// The address.
        url: String,
    },
    /// Opens an address in the tab.
    Navigate {
        /// The address.
        url: String,
    },
    /// Returns to the previous page in the tab's own history.
    Back,
    /// Makes the tab the current one and brings it to the front.
    Focus,
    /// Closes the tab. Only for a tab that Octo opened.
    Close,
    /// Describes the page briefly, with a number for each actionable element.
    Snapshot {
        /// Lines to include.
        lines: PageLines,
        /// Part number of the snapshot, from 1.
        part: u32,
    },
    /// Returns the lines of the page that contain a text.
    Find {
        /// The text.
        text: String,
    },
    /// Returns the page, or an element of it, as Markdown.
    Read {
        /// The element; `None` for the whole page.
        target: Option<u32>,
        /// Part number of the Markdown, from 1.
        part: u32,
    },
    /// Takes a picture of the page, or of an element.
    Screenshot {
        /// The element; `None` for the whole page.
        target: Option<u32>,
        /// Whether usable elements show their numbers.
        numbered: ElementNumbers,
    },
    /// Acts in the page.
    Page(PageInteraction),
    /// Answers the open dialog.
    Dialog(DialogAnswer),
    /// Follows a link to a file, which is saved to the person's download folder.
    Download {
        /// The link.
        target: u32,
    },
    /// Runs a script in the page.
    Evaluate {
        /// The script.
        script: String,
    },
}

impl BrowserAction {
    /// Returns whether it may change something in the page or outside it, as opposed to reading or navigating.
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
            | Self::Page(PageInteraction::Hover(_) | PageInteraction::Scroll(_) | PageInteraction::Wait(_)) => {
                false
            }
            Self::Dialog(DialogAnswer::Accept(_))
            | Self::Download { .. }
            | Self::Evaluate { .. }
            | Self::Page(
                PageInteraction::Click(_)
                | PageInteraction::DoubleClick(_)
                | PageInteraction::Type(..)
                | PageInteraction::Fill(..)
                | PageInteraction::Press(..)
                | PageInteraction::Drag(..)
                | PageInteraction::Select(..)
                | PageInteraction::ClickAt(..)
                | PageInteraction::Upload(..),
            ) => true,
        }
    }
}

/// Answer to a dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DialogAnswer {
    /// OK, with the text to enter if it asks for one.
    Accept(Option<String>),
    /// Cancel.
    Dismiss,
}

/// Action in a page. Elements are named by their numbers in the snapshot.
#[derive(Clone, Debug, PartialEq)]
pub enum PageInteraction {
    /// Clicks with the mouse.
    Click(u32),
    /// Clicks twice.
    DoubleClick(u32),
    /// Appends text to a field's content.
    Type(u32, String),
    /// Replaces a field's content.
    Fill(u32, String),
    /// Presses a key, in an element or at the focus.
    Press(Option<u32>, String),
    /// Rests the pointer on an element.
    Hover(u32),
    /// Drags one element onto another.
    Drag(u32, u32),
    /// Selects options of a list, by their names or values.
    Select(u32, Vec<String>),
    /// Scrolls the page, or an element in it.
    Scroll(RequestedScroll),
    /// Waits for a condition.
    Wait(RequestedWait),
    /// Clicks a point of the page, in pixels of the visible area.
    ClickAt(f64, f64),
    /// Attaches files to a file field.
    Upload(u32, Vec<PathBuf>),
}

/// Target of a scroll.
#[derive(Clone, Debug, PartialEq)]
pub enum RequestedScroll {
    /// Until an element is visible.
    To(u32),
    /// Until a text is visible.
    ToText(String),
    /// The page, by a number of pixels.
    By(f64, f64),
}

/// Condition of a wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestedWait {
    /// The appearance of a text.
    Text(String),
    /// A number of milliseconds; capped.
    Time(u64),
}

/// Effects of a browser call, determined from the live page. The permission decision is based on this.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BrowserAssessment {
    /// Location or destination; `None` if no page is involved.
    pub location: Option<BrowserLocation>,
    /// Effects that always need approval, the most serious first.
    pub risks: Vec<PageRisk>,
    /// Target element, as named by the page itself.
    pub target: Option<PageElement>,
    /// Fingerprint that distinguishes this element of this document from every other, and for acts that need
    /// approval also its text and its target: the executed act must be the weighed one.
    pub fingerprint: String,
    /// How much of the page was inspected for it.
    pub inspected: InspectionDepth,
}

/// How much of a page was inspected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InspectionDepth {
    /// Everything that the act involves.
    #[default]
    Full,
    /// Only its location: its site must be granted first.
    LocationOnly,
}

/// A location in the browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserLocation {
    /// The site, `https://shop.example`, or the page if it has no site.
    pub site: String,
    /// Whether a turn may use it.
    pub access: LocationAccess,
}

/// Whether a turn may use a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocationAccess {
    /// Nothing to grant, or already granted to this turn.
    Open,
    /// After the person grants it, possibly permanently.
    Asks,
    /// After the person grants it, for this turn at most: it is on the private network.
    AsksEachTurn,
    /// After the person grants it, every time and in every mode: passwords, the browser's own pages, files.
    AsksEachTime,
    /// Never, regardless of the person's rules.
    Never {
        /// Reason, in words for the model.
        why: String,
    },
}

/// Permission of a call: its effects at the time it was allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserPermission {
    /// The allowed effects.
    pub assessment: BrowserAssessment,
    /// Other sites that the turn may use.
    pub granted: Vec<String>,
    /// Other destinations that the page may lead to.
    pub navigation: NavigationScope,
}

/// Destinations that a page may lead to while a call acts in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NavigationScope {
    /// Only destinations granted by the person.
    Granted,
    /// Any website: the mode grants sites.
    Web,
}

impl BrowserPermission {
    /// Returns the permission that exists before any weighing.
    pub fn before_assessment(granted: Vec<String>, roam: NavigationScope) -> Self {
        Self { granted, navigation: roam, ..Self::none() }
    }

    /// Returns a permission for nothing, for calls that need none.
    pub fn none() -> Self {
        Self {
            assessment: BrowserAssessment::default(),
            granted: Vec::new(),
            navigation: NavigationScope::Granted,
        }
    }

    /// Returns whether it covers `current`: the same element of the same document, at the same location, with no
    /// additional risks.
    pub fn covers(&self, current: &BrowserAssessment) -> bool {
        self.is_at(current)
            && (self.assessment.fingerprint == current.fingerprint
                || self.assessment.inspected == InspectionDepth::LocationOnly)
            && current.risks.iter().all(|risk| self.assessment.risks.contains(risk))
    }

    /// Returns whether `current` is at the permitted location, regardless of its risks.
    pub fn is_at(&self, current: &BrowserAssessment) -> bool {
        let site =
            |weight: &BrowserAssessment| weight.location.as_ref().map(|location| location.site.clone());
        site(&self.assessment) == site(current)
            && !matches!(current.location, Some(BrowserLocation { access: LocationAccess::Never { .. }, .. }))
    }
}

impl fmt::Display for BrowserLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.site)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(key: &str, site: &str, risks: &[PageRisk]) -> BrowserAssessment {
        let location = Some(BrowserLocation { site: site.to_owned(), access: LocationAccess::Asks });
        BrowserAssessment {
            location,
            risks: risks.to_vec(),
            fingerprint: key.to_owned(),
            ..BrowserAssessment::default()
        }
    }

    #[test]
    fn a_permission_covers_exactly_the_assessment() {
        let pays = [PageRisk::Pays, PageRisk::Sends];
        let permission = |weight: &BrowserAssessment| BrowserPermission {
            assessment: weight.clone(),
            granted: Vec::new(),
            navigation: NavigationScope::Granted,
        };
        let permitted = permission(&weight("7", "https://a.example", &pays));
        assert!(permitted.covers(&weight("7", "https://a.example", &pays)));
        assert!(
            permitted.covers(&weight("7", "https://a.example", &[PageRisk::Sends])),
            "less than was allowed"
        );
        for (current, case) in [
            (weight("8", "https://a.example", &pays), "another element"),
            (weight("7", "https://b.example", &pays), "another site"),
            (weight("7", "https://a.example", &[PageRisk::Deletes]), "something else is set off"),
        ] {
            assert!(!permitted.covers(&current), "{case}");
        }
        let never = Some(BrowserLocation {
            site: "https://a.example".into(),
            access: LocationAccess::Never { why: "x".into() },
        });
        assert!(!permitted.covers(&BrowserAssessment { location: never, ..weight("7", "", &[]) }));
        let harmless = permission(&weight("7", "https://a.example", &[]));
        assert!(!harmless.covers(&weight("7", "https://a.example", &[PageRisk::Pays])), "it became a sink");
        let unseen = BrowserAssessment {
            inspected: InspectionDepth::LocationOnly,
            ..weight("", "https://a.example", &[])
        };
        let granted = permission(&unseen);
        assert!(granted.covers(&weight("7", "https://a.example", &[])), "nothing is asked about it");
        assert!(
            !granted.covers(&weight("7", "https://a.example", &[PageRisk::Pays])),
            "it was not asked about"
        );
        assert!(!granted.covers(&weight("7", "https://b.example", &[])), "another site");
        assert!(BrowserPermission::none().covers(&BrowserAssessment::default()));
        assert!(!BrowserPermission::none().covers(&weight("7", "https://a.example", &[])));
    }
}
