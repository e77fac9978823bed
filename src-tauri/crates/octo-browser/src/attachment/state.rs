//! Connection states.

use crate::LinkEnd;
use std::time::SystemTime;

/// The kind of access that the connection uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessMode {
    /// The browser was started with a debugging port, which admits every program on this machine.
    Flag,
    /// The person allowed it in the browser.
    Approval,
    /// Octo started the browser, with its own profile and a pipe.
    OwnProfile,
}

/// State of the connection, for the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttachmentState {
    /// No connection, and no attempt.
    Off,
    /// Searching for a browser.
    Looking,
    /// The browser is asking the person.
    WaitingForAllow {
        /// The browser's name.
        browser: String,
        /// When the question began.
        since: SystemTime,
    },
    /// Connected.
    Connected {
        /// The browser's name.
        browser: String,
        /// The browser's self-reported version, `Chrome/156.0.7340.0`.
        version: String,
        /// The kind of access.
        mode: AccessMode,
    },
    /// The connection ended. It is made again on next use, and the person may be asked again.
    Lost {
        /// The reason.
        reason: LinkEnd,
    },
}
