//! Octo's place in the system: what the person chose of it, what it can do here, and what comes from it.

use crate::{ApiError, Millis, SessionId, Switch};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What the person chose of Octo's place in the system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export)]
pub struct DesktopSettings {
    /// What closing the window does.
    pub closing: Closing,
    /// What the system's notices tell of.
    pub notices: NoticeSettings,
    /// The keys that open the small window from anywhere, as `Ctrl+Shift+Space`; none for no keys.
    pub quick_ask: Option<String>,
    /// Whether Octo starts, hidden, when the person logs in.
    pub autostart: Switch,
    /// Whether Octo looks for updates by itself, and what came of it.
    pub updates: UpdateSettings,
}

/// Whether Octo looks for updates by itself. Nothing is installed by that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export)]
pub struct UpdateSettings {
    /// Whether the person agreed to it: once a day at most, the place this build has its updates from is asked.
    pub by_itself: Switch,
    /// When that was done last, whether it succeeded or not.
    #[ts(type = "number | null")]
    pub looked: Option<Millis>,
    /// The version the person was told of last: of each they are told once.
    pub told: Option<String>,
}

impl Default for UpdateSettings {
    fn default() -> Self {
        Self { by_itself: Switch::Off, looked: None, told: None }
    }
}

impl Default for DesktopSettings {
    /// What reaches beyond the window is off until the person wants it.
    fn default() -> Self {
        Self {
            closing: Closing::default(),
            notices: NoticeSettings::default(),
            quick_ask: None,
            autostart: Switch::Off,
            updates: UpdateSettings::default(),
        }
    }
}

/// What closing the window does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Closing {
    /// It asks, once.
    #[default]
    Ask,
    /// Octo goes on without a window; where nothing could bring it back, it ends.
    Hide,
    /// Octo ends.
    Quit,
}

/// What brings a hidden window back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum WayBack {
    /// The icon in the tray.
    Tray,
    /// Starting Octo again: this desktop shows no tray.
    Start,
}

/// What the system's notices tell of. Nothing is told of what the person looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export)]
pub struct NoticeSettings {
    /// A question that waits.
    pub question: Switch,
    /// A turn that ended.
    pub finished: Switch,
    /// A turn that failed.
    pub failed: Switch,
}

/// What Octo can do on this desktop. What it cannot says why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct DesktopState {
    /// Show itself in the tray, and so go on without a window.
    pub tray: Ability,
    /// Open the small window by keys from anywhere.
    pub quick_ask: Ability,
    /// Start when the person logs in.
    pub autostart: Ability,
    /// Look for updates.
    pub updates: Ability,
}

/// Whether something can be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum Ability {
    /// It can.
    Able,
    /// It cannot.
    Unable {
        /// Why.
        error: ApiError,
    },
}

/// Something that came to Octo from outside its page: from the system, a link, the tray. The page fetches them with
/// [`crate::HostRequest::TakeErrands`] and carries each out once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum Errand {
    /// Open a session.
    OpenSession {
        /// Which.
        session: SessionId,
    },
    /// Begin a session that is not started yet. What it holds is shown, and nothing is sent.
    NewSession {
        /// What is put into the composer.
        prompt: String,
        /// The absolute folder; none for the one used last.
        folder: Option<String>,
        /// Where it came from.
        from: ErrandSource,
    },
    /// Open the page of tasks.
    OpenTasks,
    /// Open a page of the settings.
    OpenSettings {
        /// Its name, one of the page's own; an unknown one opens the first.
        page: String,
    },
    /// Look at skills in a file. Nothing is installed by that.
    InspectSkills {
        /// The file's absolute path.
        path: String,
    },
    /// Ask what closing the window is to do.
    AskClosing {
        /// What brings the window back where it is hidden.
        back: WayBack,
    },
    /// Tell of an update that was found. Nothing is installed by that.
    UpdateFound {
        /// It.
        offer: UpdateOffer,
    },
    /// Something that came cannot be done.
    Refused {
        /// Why.
        error: ApiError,
    },
}

/// Where an [`Errand`] came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum ErrandSource {
    /// A link of another program or page: the person did not write what it holds.
    Link,
    /// The person, in the tray or the small window.
    Person,
}

/// An update that is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct UpdateOffer {
    /// Its version.
    pub version: String,
    /// What changed, as Markdown; empty where nothing was written.
    pub notes: String,
    /// When it was released, as RFC 3339, where that is said.
    pub released: Option<String>,
}
