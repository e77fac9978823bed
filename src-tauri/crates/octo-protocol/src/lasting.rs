//! What a task did that no undo takes back: over the network, in the browser, outside the recorded folders.

use crate::{CallId, Millis};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// In which way something lasts. In the order in which it is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum LastingKind {
    /// A command pushed to another repository.
    Pushed,
    /// A command published or deployed something.
    Published,
    /// A command sent something to an address.
    Sent,
    /// A command worked with another machine or a service.
    Remote,
    /// A command installed or removed packages, or ran a program fetched for it.
    Installed,
    /// A command changed the system, its accounts, keys or devices.
    System,
    /// A file or folder outside the recorded ones, which a command may have changed.
    Outside,
    /// A command that nothing kept from changing files outside the recorded folders.
    Unheld,
    /// Something was done in a page.
    Acted,
    /// Files were given to a page.
    Uploaded,
    /// A file was downloaded by the browser.
    Downloaded,
    /// A place was opened in the browser.
    Visited,
}

/// Something a task did that going to another task does not take back. It is noted before it begins: a call that was
/// stopped or failed at the last moment is among them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct LastingMark {
    /// In which way.
    pub kind: LastingKind,
    /// The command, shortened; the site; the path.
    pub what: String,
    /// How often.
    pub times: u32,
    /// The call that did it last.
    pub call: CallId,
    /// When that was.
    #[ts(type = "number")]
    pub at: Millis,
}

/// What lasts of one task or several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Lasting {
    /// By kind, then by when; each thing once.
    pub marks: Vec<LastingMark>,
    /// How much more there was than is listed.
    pub more: u32,
}

impl Lasting {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty() && self.more == 0
    }
}
