//! `octo browser …`: an agent's questions about the browser.

use super::{HomeCommands, english_text};
use octo_protocol::BrowserState;
use octo_tools::{BrowserQuery, ToolError};

impl HomeCommands {
    /// Answers a question; the text is for the model.
    pub(super) async fn browser(&self, query: BrowserQuery) -> Result<String, ToolError> {
        match query {
            BrowserQuery::Status => Ok(match self.browser.state() {
                BrowserState::Apart => "Not connected; nothing was tried yet.".to_owned(),
                BrowserState::Looking => "Looking for a browser.".to_owned(),
                BrowserState::WaitingForAllow { browser, .. } => {
                    format!("{browser} asks the person whether to allow it.")
                }
                BrowserState::Attached { browser, version, .. } => {
                    format!("Connected to {browser} {version}.")
                }
                BrowserState::Lost { error } => format!("Not connected. {}", english_text(&error)),
            }),
            BrowserQuery::Doctor => {
                let checks = self.browser.examine().await;
                Ok(checks
                    .iter()
                    .map(|check| {
                        format!("{:?}: {:?}. {}\n", check.about, check.result, english_text(&check.note))
                    })
                    .collect())
            }
        }
    }
}
