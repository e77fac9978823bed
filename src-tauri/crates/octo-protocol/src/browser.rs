//! The person's browser: whether Octo is attached to it, what it does there, and what it may do there.

use crate::{ApiError, BlobHash, CallId, Millis, SessionId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Which browser Octo works in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum BrowserChoice {
    /// The first that runs and lets itself be attached to.
    #[default]
    Automatic,
    /// The one with this id, as [`FoundBrowser::id`] has it.
    Installed {
        /// For example `chrome` or `edge-beta`.
        id: String,
    },
    /// Whichever keeps its profiles in this folder.
    Folder {
        /// The absolute path of its data folder.
        path: String,
    },
    /// A profile of Octo's own, started by Octo, without the person's logins.
    Own,
    /// None: the agent may not use a browser.
    Off,
}

/// How Octo came to a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum BrowserWay {
    /// The person pressed Allow in the browser.
    Approved,
    /// The browser was started with a debugging switch: other programs can come in the same way.
    Switch,
    /// Octo started it with a profile of its own, through a pipe nobody else has.
    Own,
}

/// Whether Octo is attached to a browser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum BrowserState {
    /// It is not, and nothing was tried.
    Apart,
    /// It looks for one.
    Looking,
    /// The browser asks the person whether to allow it. There is no limit to how long that may take.
    WaitingForAllow {
        /// The browser's name.
        browser: String,
        /// Since when.
        #[ts(type = "number")]
        since: Millis,
    },
    /// It is.
    Attached {
        /// The browser's name.
        browser: String,
        /// Its version, as it says it.
        version: String,
        /// How.
        way: BrowserWay,
    },
    /// It was not let in, or the connection ended. Nothing is tried again by itself.
    Lost {
        /// What happened and what to do.
        error: ApiError,
    },
}

/// A browser of this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct FoundBrowser {
    /// For settings: `chrome`, `edge-beta`.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The folder of its profiles.
    pub folder: String,
    /// How it answers.
    pub door: BrowserDoor,
    /// The address of the page on which the person lets Octo in: `chrome://inspect/#remote-debugging`. It cannot
    /// be opened from outside the browser, only copied.
    pub allow_address: String,
}

/// How a browser answers, found out without any question to the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum BrowserDoor {
    /// It listens and will ask the person.
    Asks,
    /// It listens and lets in whoever comes.
    Open,
    /// It does not listen: it does not run, or letting programs in is switched off.
    Closed,
}

/// Octo's look at what is needed to work in a browser, a line each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct BrowserCheck {
    /// What was looked at.
    pub about: BrowserCheckKind,
    /// How it is.
    pub result: BrowserCheckResult,
    /// What was found, in words with their arguments.
    pub note: ApiError,
    /// What can be done about it.
    pub repair: Option<BrowserRepair>,
}

/// What the doctor looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum BrowserCheckKind {
    /// A browser Octo can work with is installed.
    Installed,
    /// It is new enough to ask the person (version 144).
    Version,
    /// It runs and lets programs in.
    Listens,
    /// Octo is attached.
    Attached,
    /// A page of Octo's own can be opened, read and closed.
    Works,
    /// Nobody else can come in by a debugging switch.
    Private,
}

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum BrowserCheckResult {
    /// As it should be.
    Fine,
    /// It works, but the person should know.
    Notice,
    /// It does not work.
    Broken,
    /// Not looked at, because what it builds on does not work.
    Skipped,
}

/// What a press of a button can do about a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum BrowserRepair {
    /// Copy this address, for the person to open in the browser and tick the box there.
    CopyAddress {
        /// The address.
        address: String,
    },
    /// Attach.
    Attach,
    /// Give up waiting for the person's Allow.
    StopWaiting,
    /// Use a profile of Octo's own instead.
    UseOwn,
    /// Choose the browser's folder by hand.
    ChooseFolder,
}

/// A site the agent may work on without being asked, for good.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct GrantedSite {
    /// The origin: `https://shop.example`.
    pub site: String,
    /// The folder it holds for.
    pub folder: String,
}

/// What the agent does in a page, for the card of its call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct BrowserView {
    /// What is done.
    pub deed: BrowserDeed,
    /// The element it is done to, by its real name in the page.
    pub target: Option<PageElement>,
    /// The site: `https://shop.example`; none where no page is concerned.
    pub site: Option<String>,
    /// The page's title. A stranger's text.
    pub title: Option<String>,
    /// The tab's number.
    pub tab: Option<u32>,
    /// What is typed, chosen or opened; secrets by their names.
    pub text: Option<String>,
    /// What the model read of it, capped; empty before it ran.
    pub output: String,
    /// A picture: the page, or what of it a question is about.
    pub picture: Option<BlobHash>,
}

/// An element of a page as the page itself names it. Strangers' text: shown, never believed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct PageElement {
    /// What it is: `button`, `link`, `textbox`.
    pub role: String,
    /// Its name.
    pub name: String,
}

/// What is done in a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum BrowserDeed {
    /// The connection and tabs are looked at.
    Look,
    /// A page is opened, or gone to.
    Open,
    /// A tab is brought to the front, or closed.
    Tab,
    /// The page is read.
    Read,
    /// A picture of it is taken.
    Picture,
    /// Something is clicked.
    Click,
    /// Something is typed, or a field filled.
    Type,
    /// A key is pressed.
    Press,
    /// Something is chosen from a list.
    Select,
    /// Something is moved over, dragged or scrolled.
    Move,
    /// A file is given to the page.
    Upload,
    /// A dialog of the page is answered.
    Dialog,
    /// Something is waited for.
    Wait,
    /// A script is run in the page.
    Script,
}

/// What an act in a page would set off, so that it asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum PageRisk {
    /// Something is bought or paid.
    Pays,
    /// Something is sent or published.
    Sends,
    /// Something is deleted or cancelled.
    Deletes,
    /// Something is agreed to or confirmed.
    Confirms,
    /// A form with a password is sent, or a password filled in.
    Password,
    /// A file is given to the site.
    Uploads,
    /// A file is downloaded.
    Downloads,
    /// What was read on one site is given to another.
    Carries,
    /// An address carries much data, or something that looks like a secret.
    LongAddress,
    /// A script would run in the page: it can do whatever the person can do there.
    Script,
}

/// A password or the like that the agent may have typed by its name, and never sees. Its value is in the keychain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SiteSecret {
    /// What it is called: letters, digits, `_`, `-` and `.`, a letter first.
    pub name: String,
    /// The one site it is for: scheme, host, and a port that is not the usual one.
    pub site: String,
}

/// The page the agent works in, as the person watches it. Not stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct LivePage {
    /// The session that works there.
    pub session: SessionId,
    /// The call that runs, if one does.
    pub call: Option<CallId>,
    /// The tab's number.
    pub tab: u32,
    /// The site, as the browser has it now: redirects included.
    pub site: String,
    /// The page's title.
    pub title: String,
    /// The number of its newest picture, served beside blobs; none before the first.
    pub picture: Option<u32>,
    /// Where it is about to act, in parts of the picture's width and height.
    pub mark: Option<PageMark>,
    /// Who works in it.
    pub hand: PageHand,
}

/// A rectangle in parts (0 to 1) of a picture's width and height.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct PageMark {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
}

/// Who works in a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum PageHand {
    /// The agent.
    #[default]
    Agent,
    /// The person: the agent's next act waits until the page is handed back.
    Person,
}
