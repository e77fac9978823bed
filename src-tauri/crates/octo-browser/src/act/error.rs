//! Why something was not done.

use crate::{CallError, PageError, snapshot::Place};

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ActError {
    /// The element is not in the page any more.
    #[error("the element is gone")]
    Gone,
    /// Something else would be pressed in its place.
    #[error("something else covers the element")]
    Covered(Cover),
    /// It takes no room on the page, or cannot be scrolled to.
    #[error("the element takes no room on the page")]
    NoRoom,
    /// It is not of the kind that takes this.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// The page went elsewhere before it was done to its end: the rest of it was kept from the page that came.
    #[error("the page went elsewhere meanwhile")]
    Left,
    /// The page did not answer, or said no.
    #[error(transparent)]
    Page(PageError),
}

/// What covers an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cover {
    /// Where it is, to be pressed or closed.
    pub place: Option<Place>,
    /// Its tag, name and text: the page's words.
    pub words: String,
}

/// What an element does not take. The words are for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// A field that is switched off.
    #[error("it is disabled or read-only")]
    Closed,
    /// No text goes in.
    #[error("it is no field for text")]
    NoText,
    /// The page undid what was written at once.
    #[error("the page did not take the text")]
    NotTaken,
    /// The value has another form than the field's.
    #[error(
        "it did not take that value: dates are 2026-11-22, times 09:30, weeks 2026-W47, colours #rrggbb, boxes true or false"
    )]
    NotAccepted,
    /// It is no native list.
    #[error("it is no native list: click it and then the option")]
    NoList,
    /// The list has no such option; these are the first it has, in the page's words.
    #[error("it has no such option that can be chosen")]
    NoSuchOption(Vec<String>),
    /// Several were wanted of a list of one.
    #[error("only one option can be chosen there")]
    OneOption,
    /// No files go in.
    #[error("it is no field for files, and opened no choice of files")]
    NoFiles,
    /// The field takes one file.
    #[error("only one file can be given there")]
    OneFile,
    /// No such key.
    #[error("that key is not known: name one such as Enter, Tab, Escape, ArrowDown, Mod+A")]
    UnknownKey,
    /// Keys do not go there.
    #[error(
        "it cannot have the focus: press keys in a field or a control, or without ref where the focus is"
    )]
    NoFocus,
    /// The focus went elsewhere since it was looked where it is.
    #[error("the focus is elsewhere by now: give ref, or take a snapshot to see where it is")]
    FocusMoved,
    /// A drag that would only press what both of its ends are in.
    #[error("both ends are in the same control, which a drag would only press: click it")]
    SameControl,
    /// A text to scroll to is nowhere.
    #[error("the page shows no such text")]
    NoSuchText,
    /// A text did not come, or did not go, in time.
    #[error("that did not happen within ten seconds")]
    NotInTime,
    /// Two elements of processes that share no drag.
    #[error("both must be in the same frame")]
    TwoFrames,
}

impl From<PageError> for ActError {
    fn from(error: PageError) -> Self {
        match &error {
            PageError::Call(CallError::Refused { refusal, .. }) if is_gone(&refusal.message) => Self::Gone,
            _ => Self::Page(error),
        }
    }
}

/// What the browser says of nodes that are in no document, or whose document is another by now.
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
    .any(|words| message.starts_with(words))
}
