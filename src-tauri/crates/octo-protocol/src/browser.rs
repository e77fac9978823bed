//! The person's browser: the connection, the agent's actions in it, and what the agent may do there.

use crate::{ApiError, BlobHash, CallId, Millis, SessionId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The browser Octo works in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum BrowserChoice {
    /// The first running browser that accepts a connection.
    #[default]
    Automatic,
    /// The browser with this id, as in [`FoundBrowser::id`].
    Installed {
        /// The id, for example `chrome` or `edge-beta`.
        id: String,
    },
    /// The browser that keeps its profiles in this folder.
    Folder {
        /// The absolute path of its data folder.
        path: String,
    },
    /// A separate profile that Octo starts itself, without the person's logins.
    Own,
    /// None: the agent may not use a browser.
    Off,
}

/// How Octo got access to a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum AttachMethod {
    /// The person pressed Allow in the browser.
    Approved,
    /// The browser was started with a debugging switch: other programs can connect the same way.
    Switch,
    /// Octo started it with its own profile, through a pipe that no other program has.
    Own,
}

/// The state of the connection to a browser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum BrowserState {
    /// Not attached, and no attempt was made.
    Apart,
    /// Octo is looking for a browser.
    Looking,
    /// The browser asks the person whether to allow the connection. This may take any length of time.
    WaitingForAllow {
        /// The browser's name.
        browser: String,
        /// When the wait began.
        #[ts(type = "number")]
        since: Millis,
    },
    /// Octo is attached.
    Attached {
        /// The browser's name.
        browser: String,
        /// Its version, as it reports it.
        version: String,
        /// How Octo got access.
        way: AttachMethod,
    },
    /// The browser refused the connection, or it ended. Octo does not retry on its own.
    Lost {
        /// The failure and its remedy.
        error: ApiError,
    },
}

/// A browser on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct FoundBrowser {
    /// For settings: `chrome`, `edge-beta`.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The id for settings: `chrome`, `edge-beta`.
    pub folder: String,
    /// How it responds to a connection.
    #[serde(rename = "door")]
    pub access: BrowserAccess,
    /// The address of the page on which the person allows the connection: `chrome://inspect/#remote-debugging`.
    /// It cannot be opened from outside the browser, only copied.
    pub allow_address: String,
}

/// How a browser responds to a connection, determined without asking the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum BrowserAccess {
    /// It accepts connections after asking the person.
    Asks,
    /// It accepts every connection.
    Open,
    /// It accepts no connections: it is not running, or remote debugging is off.
    Closed,
}

/// The result of one check of the browser setup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct BrowserCheck {
    /// The subject of the check.
    pub about: BrowserCheckKind,
    /// The outcome.
    pub result: BrowserCheckResult,
    /// The finding, as a word key with its arguments.
    pub note: ApiError,
    /// The suggested repair.
    pub repair: Option<BrowserRepair>,
}

/// The subject of a browser check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum BrowserCheckKind {
    /// A supported browser is installed.
    Installed,
    /// The browser is new enough to ask the person (version 144).
    Version,
    /// It runs and accepts connections.
    Listens,
    /// Octo is attached.
    Attached,
    /// Octo can open, read and close a page of its own.
    Works,
    /// No other program can connect through a debugging switch.
    Private,
}

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum BrowserCheckResult {
    /// The check passed.
    Fine,
    /// It passed with a remark for the person.
    Notice,
    /// It failed.
    Broken,
    /// The check was skipped, because one it depends on failed.
    Skipped,
}

/// A repair the person can start with a button.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum BrowserRepair {
    /// Copy this address, which the person opens in the browser to tick the box there.
    CopyAddress {
        /// The address.
        address: String,
    },
    /// Attach.
    Attach,
    /// Stop waiting for the person's Allow.
    StopWaiting,
    /// Use a separate profile of Octo instead.
    UseOwn,
    /// Let the person choose the browser's folder.
    ChooseFolder,
}

/// A site on which the agent may always work without asking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct GrantedSite {
    /// The origin: `https://shop.example`.
    pub site: String,
    /// The folder the grant applies to.
    pub folder: String,
}

/// An action of the agent in a page, for the card of its call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct BrowserView {
    /// The kind of action.
    #[serde(rename = "deed")]
    pub action: BrowserActionKind,
    /// The element it acts on, under its real name in the page.
    pub target: Option<PageElement>,
    /// The site: `https://shop.example`; `None` if no page is involved.
    pub site: Option<String>,
    /// The page's title. Untrusted text.
    pub title: Option<String>,
    /// The tab's number.
    pub tab: Option<u32>,
    /// The text typed, chosen or opened; secrets appear by name.
    pub text: Option<String>,
    /// The text the model read, capped; empty before the call ran.
    pub output: String,
    /// A picture of the page, or of the part a question is about.
    pub picture: Option<BlobHash>,
}

/// An element of a page as the page names it. Untrusted text: displayed, never relied on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct PageElement {
    /// The role: `button`, `link`, `textbox`.
    pub role: String,
    /// Its name.
    pub name: String,
}

/// The kind of an action in a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum BrowserActionKind {
    /// Inspects the connection and tabs.
    Look,
    /// Opens a page, or navigates to one.
    Open,
    /// Activates or closes a tab.
    Tab,
    /// Reads the page.
    Read,
    /// Takes a screenshot.
    Picture,
    /// Clicks.
    Click,
    /// Types text, or fills a field.
    Type,
    /// Presses a key.
    Press,
    /// Selects from a list.
    Select,
    /// Hovers, drags or scrolls.
    Move,
    /// Gives a file to the page.
    Upload,
    /// Answers a dialog of the page.
    Dialog,
    /// Waits for a condition.
    Wait,
    /// Runs a script in the page.
    Script,
}

/// A consequence of an action in a page that requires permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum PageRisk {
    /// Buys or pays.
    Pays,
    /// Sends or publishes.
    Sends,
    /// Deletes or cancels.
    Deletes,
    /// Agrees to or confirms something.
    Confirms,
    /// Submits a form with a password, or fills in a password.
    Password,
    /// Gives a file to the site.
    Uploads,
    /// Downloads a file.
    Downloads,
    /// Gives data read on one site to another.
    Carries,
    /// Opens an address that carries much data, or something that looks like a secret.
    LongAddress,
    /// Runs a script in the page, which can do whatever the person can do there.
    Script,
}

/// A password or similar secret that the agent can type by name and never sees. Its value is in the keychain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SiteSecret {
    /// The name: letters, digits, `_`, `-` and `.`, starting with a letter.
    pub name: String,
    /// The one site it belongs to: scheme, host, and the port unless it is the default one.
    pub site: String,
}

/// The page the agent works in, for the person's live view. Not stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct LivePage {
    /// The session that works there.
    pub session: SessionId,
    /// The running call, if any.
    pub call: Option<CallId>,
    /// The tab's number.
    pub tab: u32,
    /// The site the browser currently shows, after redirects.
    pub site: String,
    /// The page's title.
    pub title: String,
    /// The number of its newest picture, which Octo serves like blobs; `None` before the first.
    pub picture: Option<u32>,
    /// The target of the next action, as fractions of the picture's width and height.
    pub mark: Option<PageMark>,
    /// Who controls it.
    #[serde(rename = "hand")]
    pub controller: PageController,
}

/// A rectangle in fractions (0 to 1) of a picture's width and height.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct PageMark {
    /// The distance from the left.
    pub x: f64,
    /// The distance from the top.
    pub y: f64,
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
}

/// Who controls a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum PageController {
    /// The agent.
    #[default]
    Agent,
    /// The person: the agent's next action waits until the person hands the page back.
    Person,
}
