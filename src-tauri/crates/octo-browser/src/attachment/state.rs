//! How the connection stands.

use crate::Ending;
use std::time::SystemTime;

/// How the connection to a browser came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The browser was started with a debugging port, which lets in every program of this machine.
    Flag,
    /// Its person allowed it.
    Approval,
    /// Octo started it, with a profile of its own and a pipe.
    OwnProfile,
}

/// How the connection stands, for the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// There is none, and none is being made.
    Off,
    /// A browser is looked for.
    Looking,
    /// The browser asks its person.
    WaitingForAllow {
        /// The browser's name.
        browser: String,
        /// Since when.
        since: SystemTime,
    },
    /// It is there.
    Connected {
        /// The browser's name.
        browser: String,
        /// What it calls itself, `Chrome/156.0.7340.0`.
        version: String,
        /// How it came about.
        mode: Mode,
    },
    /// It was there and ended. It is made again when it is next needed, and the person may be asked again.
    Lost {
        /// Why.
        why: Ending,
    },
}
