//! Error messages for the model. They contain no page text, which is put into a block.

use octo_browser::{LocateError, PageError};
use octo_tools::ToolError;

/// Message for a call whose allowed target is no longer there.
pub(crate) const CHANGED: &str =
    "Not done: the page changed since this call was allowed. Take a snapshot and make the call again.";

/// Explains a page error to the model, without page text.
pub(crate) fn fault(error: &PageError) -> ToolError {
    match error {
        PageError::Dialog(dialog) => ToolError::new(format!(
            "A dialog ({}) is open and holds the page. Answer it with action dialog first; a snapshot is not possible until then.",
            dialog.kind.name()
        )),
        PageError::NoDialog => ToolError::new("No dialog is open (any more)."),
        PageError::Crashed => ToolError::new("The page crashed. Use navigate to load it again."),
        PageError::Detached => ToolError::new("The tab was closed, or the browser ended. Use action tabs."),
        PageError::KeepsNavigating => ToolError::new(
            "The page goes elsewhere again and again while it is read, so nothing of it was read. Wait a moment, then take a snapshot.",
        ),
        PageError::Silent(octo_browser::Liveness::DialogOpen) => ToolError::new(
            "The tab does not answer: a dialog that was open before is in it. Only the person can close that one; ask them.",
        ),
        PageError::Silent(octo_browser::Liveness::Discarded) => ToolError::new(
            "The tab crashed, or the browser put it to sleep and it did not wake up. Open its address in a new tab, or ask the person to load it again.",
        ),
        PageError::Silent(cause) => ToolError::new(format!(
            "The tab does not answer: {cause}. Use another tab, or ask the person to look at it."
        )),
        PageError::Call(error) => ToolError::new(format!("The page did not do it: {error}.")),
    }
}

/// Explains to the model why the element was not found. For an element that is gone,
/// the caller reports the current page as well.
pub(crate) fn not_found(error: &LocateError) -> ToolError {
    match error {
        LocateError::NeverGiven(number) => ToolError::new(format!(
            "There is no element {number}. Numbers come from action snapshot; nothing was done."
        )),
        LocateError::Stale { number, refind_error, .. } => {
            ToolError::new(format!("Element {number} is gone ({refind_error}); nothing was done."))
        }
        LocateError::Page(error) => fault(error),
    }
}
