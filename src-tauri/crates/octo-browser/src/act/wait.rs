//! Waits for a text or for a fixed time.

use super::{ActError, ActMethod, UnsupportedAct, WaitCondition};
use crate::{CallError, Page, PageError};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Maximum wait for a text.
const MAX_TEXT_WAIT: Duration = Duration::from_secs(10);

/// Polling interval for a text.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Maximum duration of a plain wait.
const MAX_WAIT: Duration = Duration::from_secs(30);

impl Page {
    pub(super) async fn wait(&self, condition: &WaitCondition) -> Result<ActMethod, ActError> {
        let (text, expected) = match condition {
            WaitCondition::Time(time) => {
                self.until_dialog(async {
                    sleep((*time).min(MAX_WAIT)).await;
                    Ok(())
                })
                .await?;
                return Ok(ActMethod::Input);
            }
            WaitCondition::Text(text) => (text, true),
            WaitCondition::TextGone(text) => (text, false),
        };
        let deadline = Instant::now() + MAX_TEXT_WAIT;
        loop {
            match self.has_visible_text(text).await {
                Ok(shown) if shown == expected => return Ok(ActMethod::Input),
                // A navigating page cannot answer.
                Ok(_) | Err(PageError::Call(CallError::Refused { .. })) => {}
                Err(error) => return Err(error.into()),
            }
            if Instant::now() >= deadline {
                return Err(UnsupportedAct::TimedOut.into());
            }
            sleep(POLL_INTERVAL).await;
        }
    }
}
