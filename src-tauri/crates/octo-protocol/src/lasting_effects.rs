//! Effects of a turn that no undo takes back: over the network, in the browser, outside the recorded folders.

use crate::{CallId, Millis};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The kind of a lasting effect, in listing order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum LastingKind {
    /// A command pushed to another repository.
    Pushed,
    /// A command published or deployed something.
    Published,
    /// A command sent something to an address.
    Sent,
    /// A command worked on another machine or a service.
    Remote,
    /// A command installed or removed packages, or ran a program downloaded for that run.
    Installed,
    /// A command changed the system, its accounts, keys or devices.
    System,
    /// A file or folder outside the recorded folders that a command may have changed.
    Outside,
    /// A command ran without confinement and could change files outside the recorded folders.
    Unheld,
    /// The agent acted in a page.
    Acted,
    /// The agent gave files to a page.
    Uploaded,
    /// The browser downloaded a file.
    Downloaded,
    /// The agent opened a site in the browser.
    Visited,
}

/// An effect of a turn that restoring another step does not take back. Octo records it before it begins, so the
/// list includes calls that were stopped or failed at the last moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct LastingEffect {
    /// The kind of effect.
    pub kind: LastingKind,
    /// The shortened command, the site or the path.
    pub what: String,
    /// The number of times.
    pub times: u32,
    /// The last call with this effect.
    pub call: CallId,
    /// When the last call ran.
    #[ts(type = "number")]
    pub at: Millis,
}

/// The lasting effects of one or several steps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct LastingEffects {
    /// By kind, then by time; each effect once.
    #[serde(rename = "marks")]
    pub effects: Vec<LastingEffect>,
    /// The number of further effects not listed.
    pub more: u32,
}

impl LastingEffects {
    /// Returns whether there are no effects.
    pub fn is_empty(&self) -> bool {
        self.effects.is_empty() && self.more == 0
    }
}
