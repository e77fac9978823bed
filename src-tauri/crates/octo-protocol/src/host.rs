//! Requests that only a desktop can serve; the core passes them to the shell through a trait.

use crate::{DesktopState, OpenRequest, SessionId, UpdateOffer};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A request that only a desktop can serve. The headless form answers "not here".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum HostRequest {
    /// Lets the person pick a folder.
    PickFolder {
        /// The initial folder.
        start: Option<String>,
    },
    /// Lets the person pick files to attach. Reads nothing; see [`crate::AttachFiles`].
    PickFiles {
        /// The initial folder.
        start: Option<String>,
    },
    /// Reads the clipboard when the page received none of the pasted content.
    ReadPasted,
    /// Shows a file or folder in the system's file browser.
    Reveal {
        /// The absolute path.
        path: String,
    },
    /// Shows a file named in a conversation in the system's file browser. Does not open it.
    RevealFile {
        /// The path as the conversation writes it: below the folder, absolute, or as a `file:` address.
        path: String,
        /// The session's folder.
        folder: String,
    },
    /// Opens a web address in the person's browser. Only `http` and `https`.
    OpenUrl {
        /// The address.
        url: String,
    },
    /// Returns the abilities of Octo on this desktop.
    GetDesktop,
    /// Returns the pending requests from outside the page; each is returned once.
    #[serde(rename = "take_errands")]
    TakeOpenRequests,
    /// Reports the page's content on screen, for which Octo then shows no notice.
    #[serde(rename = "look")]
    ReportView {
        /// The window.
        window: WindowNumber,
        /// The session on screen; `None` for another page.
        session: Option<SessionId>,
    },
    /// Shows a session in its own window; an existing window of the session moves to the front.
    OpenWindow {
        /// The session.
        session: SessionId,
    },
    /// Hides the window; Octo continues in the tray.
    HideWindow,
    /// Keeps the window open after Octo asked what closing it should do.
    StayOpen,
    /// Quits Octo.
    Quit,
    /// Restarts Octo.
    Restart,
    /// Closes the quick ask window; the main window then shows this session, if any.
    #[serde(rename = "leave_quick_ask")]
    CloseQuickAsk {
        /// The session that was started.
        session: Option<SessionId>,
    },
    /// Moves the text of the quick ask window into the composer of the main window.
    #[serde(rename = "hand_over")]
    MovePrompt {
        /// The text.
        prompt: String,
    },
    /// Checks for an update.
    #[serde(rename = "look_for_update")]
    CheckForUpdate,
    /// Installs the update that was found, and restarts. Running turns continue afterwards.
    InstallUpdate {
        /// The version the person agreed to.
        version: String,
    },
    /// Returns the progress of the update being installed.
    GetUpdateDownload,
    /// Cancels the download. The downloaded part changes nothing.
    CancelUpdate,
}

/// An update while it is downloaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct UpdateDownload {
    /// Its version.
    pub version: String,
    /// The number of bytes downloaded.
    #[ts(type = "number")]
    #[serde(rename = "came")]
    pub received: u64,
    /// The total number of bytes; `None` if the server does not report it.
    #[ts(type = "number | null")]
    #[serde(rename = "of")]
    pub total: Option<u64>,
}

/// The number of a window of the page: the main window is 0, the others count up while Octo runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(transparent)]
#[ts(export, export_to = "protocol.ts")]
pub struct WindowNumber(pub u32);

/// The reply to a [`HostRequest`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum HostReply {
    /// The folder the person picked; `None` if they closed the dialog.
    Folder {
        /// The absolute path.
        path: Option<String>,
    },
    /// The files the person picked; empty if they closed the dialog.
    Files {
        /// Their absolute paths, in the dialog's order.
        paths: Vec<String>,
    },
    /// The clipboard's content: files, text or a picture, or none of these.
    Pasted {
        /// The files' absolute paths.
        paths: Vec<String>,
        /// The text.
        text: Option<String>,
        /// The picture's bytes, in standard base64.
        picture: Option<String>,
    },
    /// The abilities of Octo on this desktop.
    Desktop {
        /// The state.
        state: Box<DesktopState>,
    },
    /// The pending requests, oldest first.
    #[serde(rename = "errands")]
    OpenRequests {
        /// The requests.
        errands: Vec<OpenRequest>,
    },
    /// The update found; `None` if this version is the newest.
    Update {
        /// The update.
        offer: Option<UpdateOffer>,
    },
    /// The progress of an update; `None` if no download is running.
    UpdateDownload {
        /// The download.
        download: Option<UpdateDownload>,
    },
    /// Done.
    Done,
}
