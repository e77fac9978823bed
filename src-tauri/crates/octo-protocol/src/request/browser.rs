//! Requests about the person's browser.

use super::{Acknowledgement, Request, TypedRequest};
use crate::{BrowserCheck, BrowserChoice, FoundBrowser, GrantedSite, Secret, SessionId, SiteSecret};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

super::domain! {
    /// Requests about the person's browser.
    BrowserRequest in Browser, BrowserReplies {
        /// Returns the browsers of this machine and how each responds to a connection. Does not ask the person.
        FindBrowsers {} -> FoundBrowsers;
        /// Chooses the browser Octo works in. Ends the connection to any other.
        ChooseBrowser {
            /// The browser.
            choice: BrowserChoice,
        } -> Acknowledgement;
        /// Attaches to the browser. Replies at once; the browser topic reports the progress.
        AttachBrowser {} -> Acknowledgement;
        /// Stops waiting for the person's Allow, or ends the connection. Tabs stay as they are.
        DetachBrowser {} -> Acknowledgement;
        /// Checks all prerequisites for working in a browser. Does not ask the person.
        ExamineBrowser {} -> BrowserReport;
        /// Gives the person control of the page: the agent's next action in it waits.
        TakePage {
            /// The session that works there.
            session: SessionId,
        } -> Acknowledgement;
        /// Hands the page back to the agent.
        GiveBackPage {
            /// The session that works there.
            session: SessionId,
        } -> Acknowledgement;
        /// Returns the sites on which the agent may always work without asking.
        ListSites {} -> GrantedSites;
        /// Revokes the permission for a site.
        ForgetSite {
            /// The site and its folder.
            site: GrantedSite,
        } -> Acknowledgement;
        /// Returns the secrets that the agent can type by name.
        ListSiteSecrets {} -> SiteSecrets;
        /// Stores a secret for one site. Replaces one of the same name, its site included.
        SaveSiteSecret {
            /// The name.
            name: String,
            /// The site, or any address on it; it must use encryption or be on this machine.
            site: String,
            /// Its value; at least four characters.
            value: Secret,
        } -> SiteSecret;
        /// Deletes a secret and its value.
        ForgetSiteSecret {
            /// The name.
            name: String,
        } -> Acknowledgement;
    }
}

/// The secrets that the agent can type by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SiteSecrets {
    /// The secrets, by site and name.
    pub secrets: Vec<SiteSecret>,
}

/// The browsers of this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct FoundBrowsers {
    /// The browsers, in the order in which Octo tries them.
    pub browsers: Vec<FoundBrowser>,
    /// Whether Octo can start a browser with its own profile on this system.
    pub own: bool,
}

/// The results of the browser check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct BrowserReport {
    /// The checks, in order of dependency.
    pub checks: Vec<BrowserCheck>,
}

/// Sites on which the agent may work without asking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct GrantedSites {
    /// The sites, by name.
    pub sites: Vec<GrantedSite>,
}
