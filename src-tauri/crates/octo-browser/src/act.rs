//! Acts on a page with real input events, at points that were scrolled into view and checked for covering
//! elements.

mod capture;
mod choose;
mod chooser;
mod drag;
mod error;
mod keys;
mod nodes;
mod overlay;
mod place;
mod pointer;
mod press;
mod reaction;
mod text;
mod upload;
mod viewport_rect;
mod wait;
mod wheel;
mod write;

pub use error::{ActError, CoveringElement, UnsupportedAct};
pub use keys::is_known_key;
pub(crate) use keys::{HeldModifiers, KeyStroke};
pub use overlay::Audience;
pub use reaction::{LoadProgress, PageReaction, ReactionObserver};
pub use viewport_rect::ViewportRect;

use crate::{Page, PageError, snapshot::NodeRef};
use chooser::ChooserGuard;
use place::session;
use reaction::ChangeTimeout;
use std::{
    path::PathBuf,
    time::{Duration, Instant},
};
use tokio::sync::broadcast::error::RecvError;

/// Timeout for one query to a page or one input event.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);

/// Name of the isolated world for scripts that inspect and measure. The page's own scripts can neither see nor
/// change it.
const ISOLATED_WORLD: &str = "octo";

/// An action on a page. Elements are addressed as in [`crate::TabView`] and [`crate::snapshot::Refs`].
#[derive(Clone, Debug, PartialEq)]
pub enum BrowserAct {
    /// Clicks once.
    Click(NodeRef),
    /// Clicks twice.
    DoubleClick(NodeRef),
    /// Appends text to a field.
    Type(NodeRef, String),
    /// Replaces the content of a field. Dates and times are written as `2026-11-22` and `09:30`, colours as
    /// `#rrggbb`, checkboxes as `true` and `false`.
    Fill(NodeRef, String),
    /// Presses a key or shortcut such as `Enter` or `Control+A`, in an element or wherever the focus is. `Mod`
    /// is the system's shortcut key: Command on a Mac, Control elsewhere.
    Press(Option<NodeRef>, String),
    /// Presses a key where the focus is, provided that this element still has it: a page can move the focus
    /// while the key is being decided on.
    PressAtFocus(NodeRef, String),
    /// Moves the pointer over the element.
    Hover(NodeRef),
    /// Drags the first element onto the second.
    Drag(NodeRef, NodeRef),
    /// Chooses options of a native list by label or by value.
    Select(NodeRef, Vec<String>),
    /// Scrolls something into view.
    Scroll(ScrollTarget),
    /// Waits for something.
    Wait(WaitCondition),
    /// Clicks a point, in CSS pixels of the viewport, provided that this element or a part of it is there once
    /// the pointer arrives.
    ClickAt(NodeRef, f64, f64),
    /// Gives files to a file field, or to the button that asks for them. The caller has checked the files.
    Upload(NodeRef, Vec<PathBuf>),
}

impl BrowserAct {
    /// Returns the element that is acted on first.
    fn target(&self) -> Option<&NodeRef> {
        match self {
            Self::Click(node_ref)
            | Self::DoubleClick(node_ref)
            | Self::Type(node_ref, _)
            | Self::Fill(node_ref, _)
            | Self::Press(Some(node_ref), _)
            | Self::PressAtFocus(node_ref, _)
            | Self::Hover(node_ref)
            | Self::Drag(node_ref, _)
            | Self::Select(node_ref, _)
            | Self::Scroll(ScrollTarget::To(node_ref) | ScrollTarget::By(Some(node_ref), ..))
            | Self::ClickAt(node_ref, ..)
            | Self::Upload(node_ref, _) => Some(node_ref),
            Self::Press(None, _)
            | Self::Scroll(ScrollTarget::ToText(_) | ScrollTarget::By(None, ..))
            | Self::Wait(_) => None,
        }
    }

    /// Returns whether the act clicks something, which may open a file chooser.
    fn may_open_chooser(&self) -> bool {
        match self {
            Self::Click(_)
            | Self::DoubleClick(_)
            | Self::ClickAt(..)
            | Self::Press(..)
            | Self::PressAtFocus(..) => true,
            Self::Type(..)
            | Self::Fill(..)
            | Self::Hover(_)
            | Self::Drag(..)
            | Self::Select(..)
            | Self::Scroll(_)
            | Self::Wait(_)
            | Self::Upload(..) => false,
        }
    }
}

/// The target of a scroll.
#[derive(Clone, Debug, PartialEq)]
pub enum ScrollTarget {
    /// Scrolls the page until an element is visible.
    To(NodeRef),
    /// Scrolls the page until a text is visible.
    ToText(String),
    /// Scrolls the page, or the scrollable area at an element, by CSS pixels to the right and downwards.
    By(Option<NodeRef>, f64, f64),
}

/// The condition that a wait ends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitCondition {
    /// A text becomes visible, within ten seconds.
    Text(String),
    /// A text is no longer visible, within ten seconds.
    TextGone(String),
    /// A fixed time, thirty seconds at most.
    Time(Duration),
}

/// The method by which an act was performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActMethod {
    /// With the mouse and the keyboard, as a person would.
    Input,
    /// By setting a value and notifying the page, where a person's input cannot be imitated: dates, colours,
    /// native lists.
    Set,
    /// Nothing had to be done.
    Nothing,
}

/// The result of an act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActOutcome {
    /// The method that was used.
    pub method: ActMethod,
    /// The page's reaction.
    pub reaction: PageReaction,
    /// Time spent waiting for the page to react; it is not part of the act itself.
    pub settle_time: Duration,
}

impl Page {
    /// Performs an act and waits a moment for the page to react.
    ///
    /// A dialog that the act opens is reported as [`PageReaction::Dialog`], not as an error. Dropping the future leaves
    /// no button pressed.
    ///
    /// # Errors
    ///
    /// [`ActError`]. Nothing was done if the error is about the element; after [`ActError::Page`] and
    /// [`ActError::NavigatedAway`] the act may have happened.
    pub async fn perform(&self, act: &BrowserAct, audience: Audience) -> Result<ActOutcome, ActError> {
        self.perform_in(&self.document(), act, audience).await
    }

    /// Like [`Self::perform`], but only in a document that was inspected before: no input reaches another
    /// document. A wait touches nothing and continues across pages.
    ///
    /// # Errors
    ///
    /// As [`Self::perform`]; [`ActError::NavigatedAway`] if the page already shows another document.
    pub async fn perform_in(
        &self,
        document: &str,
        act: &BrowserAct,
        audience: Audience,
    ) -> Result<ActOutcome, ActError> {
        if let Some(dialog) = self.dialog() {
            return Err(ActError::Page(PageError::Dialog(dialog)));
        }
        let mut events = self.events();
        let acts_on_page = !matches!(act, BrowserAct::Wait(_));
        let document_replaced = async {
            while self.document() == document {
                if let Err(RecvError::Closed) = events.recv().await {
                    std::future::pending::<()>().await;
                }
            }
        };
        let observer = self.observe_reaction();
        let clicked_session = || act.target().map_or_else(|| self.session().clone(), session);
        let mut chooser = act.may_open_chooser().then(|| ChooserGuard::suppress(self, clicked_session()));
        // Runs together with the observer, which the page receives before any input.
        let action = async {
            let watch = async { self.begin_watching(act.target()).await.map_err(ActError::from) };
            tokio::try_join!(biased; watch, self.carry_out(act, audience))
        };
        let result = tokio::select! {
            biased;
            () = document_replaced, if acts_on_page => Err(ActError::NavigatedAway),
            result = action => result,
        };
        self.release_nodes(act.target());
        let (mut change_watch, method) = match result {
            Ok(watch_and_method) => watch_and_method,
            Err(ActError::Page(PageError::Dialog(dialog))) => {
                return Ok(ActOutcome {
                    method: ActMethod::Input,
                    reaction: PageReaction::Dialog(dialog),
                    settle_time: Duration::ZERO,
                });
            }
            Err(error) => return Err(error),
        };
        let act_ended = Instant::now();
        let page_reaction = match method {
            ActMethod::Nothing => PageReaction::Unchanged,
            ActMethod::Input | ActMethod::Set => {
                observer.finish(ChangeTimeout::for_act(act), &mut change_watch).await?
            }
        };
        let asks_for_files = matches!(page_reaction, PageReaction::Unchanged | PageReaction::AddressChanged)
            && chooser.as_mut().is_some_and(ChooserGuard::has_asked);
        let page_reaction = if asks_for_files { PageReaction::AsksForFiles } else { page_reaction };
        Ok(ActOutcome { method, reaction: page_reaction, settle_time: act_ended.elapsed() })
    }

    async fn carry_out(&self, act: &BrowserAct, audience: Audience) -> Result<ActMethod, ActError> {
        match act {
            BrowserAct::Click(node_ref) => self.click(node_ref, 1, audience).await,
            BrowserAct::DoubleClick(node_ref) => self.click(node_ref, 2, audience).await,
            BrowserAct::Type(node_ref, text) => self.type_text(node_ref, text, audience).await,
            BrowserAct::Fill(node_ref, text) => self.fill(node_ref, text, audience).await,
            BrowserAct::Press(node_ref, key) => self.press(node_ref.as_ref(), key, audience).await,
            BrowserAct::Hover(node_ref) => self.hover(node_ref, audience).await,
            BrowserAct::Drag(from, to) => self.drag(from, to, audience).await,
            BrowserAct::Select(node_ref, values) => self.select(node_ref, values, audience).await,
            BrowserAct::Scroll(scroll) => self.scroll(scroll, audience).await,
            BrowserAct::Wait(condition) => self.wait(condition).await,
            BrowserAct::PressAtFocus(node_ref, key) => self.press_at_focus(node_ref, key).await,
            BrowserAct::ClickAt(node_ref, x, y) => self.click_at(node_ref, (*x, *y), audience).await,
            BrowserAct::Upload(node_ref, files) => self.upload(node_ref, files, audience).await,
        }
    }
}
