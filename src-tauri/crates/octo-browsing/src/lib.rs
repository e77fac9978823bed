//! The agent in the person's browser: one attachment for the app, a [`BrowserSession`] in it for each session.
//!
//! [`HomeBrowser`] attaches only when a tool call or the person needs it, and reports the attachment's state.
//! [`BrowserSession`] is the interface for a session's tool: it assesses a call's consequences at the live page
//! (`assessment`), performs exactly the allowed action (`perform`, `acting`), and shows the person the progress
//! (`live`). [`PersonSecrets`] are the secrets that it types by name.

mod acting;
mod assessment;
mod browser_session;
mod card;
mod doctor;
mod downloads;
mod facts;
mod faults;
mod home_browser;
mod live;
mod page_knowledge;
mod perform;
mod reading;
mod risks;
mod secrets;
mod snapshot_files;
mod state;
mod tabs;

pub use browser_session::BrowserSession;
pub use home_browser::{BrowserUpdate, HomeBrowser};
pub use secrets::PersonSecrets;
