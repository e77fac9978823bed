//! Page errors.

use super::{Dialog, Liveness};
use crate::CallError;

/// The reason why a page did not do something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// A dialog is open and must be answered first.
    #[error("a {} is open: {:?}", .0.kind.name(), .0.message)]
    Dialog(Dialog),
    /// No dialog is open.
    #[error("no dialog is open")]
    NoDialog,
    /// The page's process crashed. A reload may recover it.
    #[error("the page crashed")]
    Crashed,
    /// The tab was closed or detached, or the connection ended.
    #[error("the tab is gone")]
    Detached,
    /// The tab does not answer; contains the likely reason.
    #[error("the tab does not answer: {0}")]
    Silent(Liveness),
    /// The page navigated during every attempt to read it.
    #[error("the page goes elsewhere while it is read")]
    KeepsNavigating,
    /// A command had no answer.
    #[error(transparent)]
    Call(#[from] CallError),
}
