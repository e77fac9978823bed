//! What only a desktop can do, asked of the shell through a trait.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Something only a desktop can do. The headless form answers "not here".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum HostRequest {
    /// Let the person pick a folder.
    PickFolder {
        /// Where to begin.
        start: Option<String>,
    },
    /// Let the person pick files to attach. Nothing is read; see [`crate::AttachFiles`].
    PickFiles {
        /// Where to begin.
        start: Option<String>,
    },
    /// Show a file or folder in the system's file browser.
    Reveal {
        /// The absolute path.
        path: String,
    },
    /// Open a web address in the person's browser. Only `http` and `https`.
    OpenUrl {
        /// The address.
        url: String,
    },
}

/// What came of a [`HostRequest`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum HostReply {
    /// The folder the person picked; none when they closed the dialog.
    Folder {
        /// The absolute path.
        path: Option<String>,
    },
    /// The files the person picked; none when they closed the dialog.
    Files {
        /// Their absolute paths, in the dialog's order.
        paths: Vec<String>,
    },
    /// Done.
    Done,
}
