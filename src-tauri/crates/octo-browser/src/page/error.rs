//! Why a page did not do something.

use super::{Dialog, Liveness};
use crate::CallError;

/// Why a page did not do something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// A dialog stands open. It must be answered first.
    #[error("a {} is open: {:?}", .0.kind.name(), .0.message)]
    Dialog(Dialog),
    /// No dialog is open.
    #[error("no dialog is open")]
    NoDialog,
    /// The page's process died. A reload may bring it back.
    #[error("the page crashed")]
    Crashed,
    /// The tab was closed, detached from, or the connection is over.
    #[error("the tab is gone")]
    Detached,
    /// The tab does not answer, and this is why as far as it can be told.
    #[error("the tab does not answer: {0}")]
    Silent(Liveness),
    /// It went elsewhere whenever it was looked at.
    #[error("the page goes elsewhere while it is read")]
    Moving,
    /// A command had no answer.
    #[error(transparent)]
    Call(#[from] CallError),
}
