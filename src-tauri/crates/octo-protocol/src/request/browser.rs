//! Requests about the person's browser.

use super::{Call, Done, Request};
use crate::{BrowserCheck, BrowserChoice, FoundBrowser, GrantedSite, Secret, SessionId, SiteSecret};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

super::domain! {
    /// Requests about the person's browser.
    BrowserRequest in Browser, BrowserReplies {
        /// The browsers of this machine and how each answers. Asks the person nothing.
        FindBrowsers {} -> FoundBrowsers;
        /// Choose the browser Octo works in. Ends the connection to another one.
        ChooseBrowser {
            /// Which.
            choice: BrowserChoice,
        } -> Done;
        /// Attach. Answers at once; how it goes is told on the browser's topic.
        AttachBrowser {} -> Done;
        /// Give up waiting for the person's Allow, or end the connection. Tabs stay as they are.
        DetachBrowser {} -> Done;
        /// Look at all that is needed to work in a browser. Asks the person nothing by itself.
        ExamineBrowser {} -> BrowserReport;
        /// The person takes the page over: the agent's next act in it waits.
        TakePage {
            /// The session that works there.
            session: SessionId,
        } -> Done;
        /// The person hands the page back.
        GiveBackPage {
            /// The session that works there.
            session: SessionId,
        } -> Done;
        /// The sites that may be worked on without asking, for good.
        ListSites {} -> GrantedSites;
        /// Ask about this site again.
        ForgetSite {
            /// Which, and where it holds.
            site: GrantedSite,
        } -> Done;
        /// The secrets that may be typed by name.
        ListSiteSecrets {} -> SiteSecrets;
        /// Keep a secret for one site. One of the same name is replaced, its site included.
        SaveSiteSecret {
            /// What it is called.
            name: String,
            /// The site, or any address there; encrypted, or on this machine.
            site: String,
            /// Its value; at least four characters.
            value: Secret,
        } -> SiteSecret;
        /// Forget a secret, its value included.
        ForgetSiteSecret {
            /// What it is called.
            name: String,
        } -> Done;
    }
}

/// The secrets that may be typed by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SiteSecrets {
    /// They, by site and name.
    pub secrets: Vec<SiteSecret>,
}

/// The browsers of this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct FoundBrowsers {
    /// They, in the order they are tried.
    pub browsers: Vec<FoundBrowser>,
    /// Whether Octo can start one with a profile of its own on this system.
    pub own: bool,
}

/// What the doctor found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct BrowserReport {
    /// A line for each check, in the order they build on each other.
    pub checks: Vec<BrowserCheck>,
}

/// Sites that may be worked on without asking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct GrantedSites {
    /// They, by name.
    pub sites: Vec<GrantedSite>,
}
