//! System integration: the person's settings, the abilities of this desktop, and requests from outside the
//! page.

use crate::{ApiError, Millis, SessionId, Switch};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The person's settings for system integration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export, export_to = "protocol.ts")]
pub struct DesktopSettings {
    /// The action of closing the window.
    pub closing: CloseAction,
    /// The system notices to show.
    pub notices: NoticeSettings,
    /// The shortcut that opens the quick ask window from anywhere, as `Ctrl+Shift+Space`; `None` for no
    /// shortcut.
    pub quick_ask: Option<String>,
    /// Whether Octo starts, hidden, at login.
    pub autostart: Switch,
    /// Automatic update checks, and their last result.
    pub updates: UpdateSettings,
}

/// Automatic update checks. They install nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export, export_to = "protocol.ts")]
pub struct UpdateSettings {
    /// Whether the person agreed to automatic checks: Octo then asks this build's update server at most once a
    /// day.
    pub by_itself: Switch,
    /// When Octo last checked, successfully or not.
    #[ts(type = "number | null")]
    #[serde(rename = "looked")]
    pub checked_at: Option<Millis>,
    /// The last version Octo announced to the person: it announces each version once.
    #[serde(rename = "told")]
    pub announced: Option<String>,
}

impl Default for UpdateSettings {
    fn default() -> Self {
        Self { by_itself: Switch::Off, checked_at: None, announced: None }
    }
}

impl Default for DesktopSettings {
    /// Everything that reaches outside the window is off until the person turns it on.
    fn default() -> Self {
        Self {
            closing: CloseAction::default(),
            notices: NoticeSettings::default(),
            quick_ask: None,
            autostart: Switch::Off,
            updates: UpdateSettings::default(),
        }
    }
}

/// The action of closing the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum CloseAction {
    /// Octo asks, once.
    #[default]
    Ask,
    /// Octo continues without a window; it quits if nothing could bring the window back.
    Hide,
    /// Octo quits.
    Quit,
}

/// How the person brings back a hidden window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum WindowRecovery {
    /// The icon in the tray.
    Tray,
    /// Starting Octo again, because this desktop shows no tray.
    Start,
}

/// The system notices to show. Octo shows none about the session on screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export, export_to = "protocol.ts")]
pub struct NoticeSettings {
    /// For a waiting question.
    pub question: Switch,
    /// For a turn that ended.
    pub finished: Switch,
    /// For a turn that failed.
    pub failed: Switch,
}

/// The abilities of Octo on this desktop. A missing one says why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct DesktopState {
    /// Showing a tray icon, and so running without a window.
    pub tray: Ability,
    /// Opening the quick ask window by a shortcut from anywhere.
    pub quick_ask: Ability,
    /// Starting at login.
    pub autostart: Ability,
    /// Checking for updates.
    pub updates: Ability,
}

/// Whether Octo has an ability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum Ability {
    /// It is available.
    Able,
    /// It is not available.
    Unable {
        /// The error.
        error: ApiError,
    },
}

/// A request from outside the page: from the system, a link, the tray. The page fetches them with
/// [`crate::HostRequest::TakeOpenRequests`] and carries out each one once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum OpenRequest {
    /// Opens a session.
    OpenSession {
        /// The session.
        session: SessionId,
    },
    /// Prepares a session that has not started. Octo shows the prompt and sends nothing.
    NewSession {
        /// The text for the composer.
        prompt: String,
        /// The absolute folder; `None` for the last one used.
        folder: Option<String>,
        /// The source of the request.
        from: OpenRequestSource,
    },
    /// Opens the page of scheduled tasks.
    OpenTasks,
    /// Opens a settings page.
    OpenSettings {
        /// The name of a [`crate::SettingsPage`]; an unknown name opens the first page.
        page: String,
    },
    /// Inspects skills in a file. Installs nothing.
    InspectSkills {
        /// The file's absolute path.
        path: String,
    },
    /// Asks what closing the window should do.
    AskClosing {
        /// How the person can bring back a hidden window.
        back: WindowRecovery,
    },
    /// Announces an available update. Installs nothing.
    UpdateFound {
        /// The update.
        offer: UpdateOffer,
    },
    /// Reports a request from outside that Octo cannot carry out.
    Refused {
        /// The error.
        error: ApiError,
    },
}

/// The source of an [`OpenRequest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum OpenRequestSource {
    /// A link in another program or page: the person did not write its content.
    Link,
    /// The person, in the tray or the quick ask window.
    Person,
}

/// An available update.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct UpdateOffer {
    /// Its version.
    pub version: String,
    /// The release notes, as Markdown; empty if there are none.
    pub notes: String,
    /// When it was released, as RFC 3339, if known.
    pub released: Option<String>,
}
