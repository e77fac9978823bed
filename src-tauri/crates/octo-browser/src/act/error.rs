//! Reasons why an act failed.

use crate::{CallError, PageError, snapshot::NodeRef};

/// The reason why an act failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ActError {
    /// The element is no longer in the page.
    #[error("the element is gone")]
    Gone,
    /// Another element would receive the click.
    #[error("something else covers the element")]
    Covered(CoveringElement),
    /// The element has no size on the page, or cannot be scrolled to.
    #[error("the element takes no room on the page")]
    NoVisibleArea,
    /// The element does not support this act.
    #[error(transparent)]
    Unsupported(#[from] UnsupportedAct),
    /// The page navigated before the act was finished. The rest of the act was not sent to the new page.
    #[error("the page went elsewhere meanwhile")]
    NavigatedAway,
    /// The page did not answer, or refused.
    #[error(transparent)]
    Page(PageError),
}

/// An element that covers the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoveringElement {
    /// Reference to the covering element, so that it can be clicked or closed.
    pub node_ref: Option<NodeRef>,
    /// Its tag, name and text; page-controlled.
    pub description: String,
}

/// The reason why an element does not support an act. The messages are for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnsupportedAct {
    /// The field is disabled or read-only.
    #[error("it is disabled or read-only")]
    Disabled,
    /// The element takes no text.
    #[error("it is no field for text")]
    NotATextField,
    /// The page reverted the text immediately.
    #[error("the page did not take the text")]
    TextReverted,
    /// The value's format does not match the field.
    #[error(
        "it did not take that value: dates are 2026-11-22, times 09:30, weeks 2026-W47, colours #rrggbb, boxes true or false"
    )]
    ValueRejected,
    /// The element is not a native list.
    #[error("it is no native list: click it and then the option")]
    NotAList,
    /// The list has no such option. Contains the first options it does have, as labelled by the page.
    #[error("it has no such option that can be chosen")]
    NoSuchOption(Vec<String>),
    /// Several options were given for a single-choice list.
    #[error("only one option can be chosen there")]
    SingleChoice,
    /// The element takes no files.
    #[error("it is no field for files, and opened no choice of files")]
    NotAFileField,
    /// The field takes only one file.
    #[error("only one file can be given there")]
    SingleFile,
    /// The key name is unknown.
    #[error("that key is not known: name one such as Enter, Tab, Escape, ArrowDown, Mod+A")]
    UnknownKey,
    /// The element cannot receive keys.
    #[error(
        "it cannot have the focus: press keys in a field or a control, or without ref where the focus is"
    )]
    NotFocusable,
    /// The focus moved since it was last checked.
    #[error("the focus is elsewhere by now: give ref, or take a snapshot to see where it is")]
    FocusMoved,
    /// Both ends of the drag are in the same control, so the drag would only click it.
    #[error("both ends are in the same control, which a drag would only press: click it")]
    SameControl,
    /// The text to scroll to is not on the page.
    #[error("the page shows no such text")]
    NoSuchText,
    /// A text did not appear or disappear in time.
    #[error("that did not happen within ten seconds")]
    TimedOut,
    /// The two elements are in different processes, which cannot share a drag.
    #[error("both must be in the same frame")]
    DifferentFrames,
}

impl From<PageError> for ActError {
    fn from(error: PageError) -> Self {
        match &error {
            PageError::Call(CallError::Refused { refusal, .. }) if is_gone(&refusal.message) => Self::Gone,
            _ => Self::Page(error),
        }
    }
}

/// Returns whether a browser message means that a node is detached or belongs to a replaced document.
fn is_gone(message: &str) -> bool {
    [
        "No node with given id",
        "No node found for given backend id",
        "Could not find node with given id",
        "Node with given id does not belong to the document",
        "Node is detached from document",
        "Cannot find context with specified id",
        "No frame for given id found",
        "No frame with given id found",
        "Node's document is not attached",
    ]
    .iter()
    .any(|prefix| message.starts_with(prefix))
}
