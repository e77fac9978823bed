//! Waits for a text or for a fixed time.

use super::{ActError, ActMethod, UnsupportedAct, WaitCondition};
use crate::{CallError, Page, PageError};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Maximum wait for a text.
const AWAITED: Duration = Duration::from_secs(10);

/// Polling interval for a text.
const GLANCE: Duration = Duration::from_millis(100);

/// Maximum duration of a plain wait.
const LONGEST: Duration = Duration::from_secs(30);

impl Page {
    pub(super) async fn wait(&self, wait: &WaitCondition) -> Result<ActMethod, ActError> {
        let (text, wanted) = match wait {
            WaitCondition::Time(time) => {
                self.until_dialog(async {
                    sleep((*time).min(LONGEST)).await;
                    Ok(())
                })
                .await?;
                return Ok(ActMethod::Input);
            }
            WaitCondition::Text(text) => (text, true),
            WaitCondition::TextGone(text) => (text, false),
        };
        let until = Instant::now() + AWAITED;
        loop {
            match self.has_visible_text(text).await {
                Ok(shown) if shown == wanted => return Ok(ActMethod::Input),
                // A navigating page cannot answer.
                Ok(_) | Err(PageError::Call(CallError::Refused { .. })) => {}
                Err(error) => return Err(error.into()),
            }
            if Instant::now() >= until {
                return Err(UnsupportedAct::NotInTime.into());
            }
            sleep(GLANCE).await;
        }
    }
}
