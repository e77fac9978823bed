//! What only a desktop can do, asked of the shell through a trait.

use crate::{DesktopState, Errand, SessionId, UpdateOffer};
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
    /// Read what the person pastes where the page was given nothing of it.
    ReadPasted,
    /// Show a file or folder in the system's file browser.
    Reveal {
        /// The absolute path.
        path: String,
    },
    /// Show a file that a conversation names in the system's file browser. It is not opened.
    RevealFile {
        /// As it is named there: below the folder, absolute, or as a `file:` address.
        path: String,
        /// The session's folder.
        folder: String,
    },
    /// Open a web address in the person's browser. Only `http` and `https`.
    OpenUrl {
        /// The address.
        url: String,
    },
    /// What Octo can do on this desktop.
    GetDesktop,
    /// What came from outside the page and was not taken yet; each is handed out once.
    TakeErrands,
    /// The page tells what it shows, so that no notice tells of it.
    Look {
        /// Which of the windows it is in.
        window: WindowNumber,
        /// The session on screen; none for another page.
        session: Option<SessionId>,
    },
    /// Show a session in a window of its own; where one shows it already, that comes to the front.
    OpenWindow {
        /// The session.
        session: SessionId,
    },
    /// Go on in the tray, without a window.
    HideWindow,
    /// The person was asked what closing the window is to do, and does not close it.
    StayOpen,
    /// End Octo.
    Quit,
    /// End Octo and start it again.
    Restart,
    /// The small window is done: it goes, and the other one shows this session where one is named.
    LeaveQuickAsk {
        /// The session that was started.
        session: Option<SessionId>,
    },
    /// What was written in the small window goes into the composer of the other one.
    HandOver {
        /// What was written.
        prompt: String,
    },
    /// Look whether there is an update.
    LookForUpdate,
    /// Install the update that was found, and start anew. Running turns go on afterwards.
    InstallUpdate {
        /// The version the person agreed to.
        version: String,
    },
    /// How far the update that is being installed is.
    GetUpdateDownload,
    /// Give its download up. Nothing is changed by what came so far.
    CancelUpdate,
}

/// An update while it is downloaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct UpdateDownload {
    /// Its version.
    pub version: String,
    /// How many bytes came.
    #[ts(type = "number")]
    pub came: u64,
    /// How many there are; none where the server does not say.
    #[ts(type = "number | null")]
    pub of: Option<u64>,
}

/// Names a window of the page: 0 is the one Octo opens with, the others count on while it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(transparent)]
#[ts(export)]
pub struct WindowNumber(pub u32);

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
    /// What was copied: files, words or a picture, or none of these.
    Pasted {
        /// The files' absolute paths.
        paths: Vec<String>,
        /// The words.
        text: Option<String>,
        /// The picture's bytes, in standard base64.
        picture: Option<String>,
    },
    /// What Octo can do on this desktop.
    Desktop {
        /// It.
        state: Box<DesktopState>,
    },
    /// What came, oldest first.
    Errands {
        /// They.
        errands: Vec<Errand>,
    },
    /// What was found; none when this is the newest.
    Update {
        /// The update.
        offer: Option<UpdateOffer>,
    },
    /// How far an update is; none while none is downloaded.
    UpdateDownload {
        /// The download.
        download: Option<UpdateDownload>,
    },
    /// Done.
    Done,
}
