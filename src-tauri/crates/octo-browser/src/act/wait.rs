//! Waiting.

use super::{ActError, Unfit, Wait, Way};
use crate::{CallError, Page, PageError};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long a text is waited for.
const AWAITED: Duration = Duration::from_secs(10);

/// How often it is looked for.
const GLANCE: Duration = Duration::from_millis(100);

/// The longest that only time is waited for.
const LONGEST: Duration = Duration::from_secs(30);

impl Page {
    pub(super) async fn wait(&self, wait: &Wait) -> Result<Way, ActError> {
        let (text, wanted) = match wait {
            Wait::Time(time) => {
                self.unless_dialog(async {
                    sleep((*time).min(LONGEST)).await;
                    Ok(())
                })
                .await?;
                return Ok(Way::Input);
            }
            Wait::Text(text) => (text, true),
            Wait::Gone(text) => (text, false),
        };
        let until = Instant::now() + AWAITED;
        loop {
            match self.shows(text).await {
                Ok(shown) if shown == wanted => return Ok(Way::Input),
                // A page on its way elsewhere cannot say.
                Ok(_) | Err(PageError::Call(CallError::Refused { .. })) => {}
                Err(error) => return Err(error.into()),
            }
            if Instant::now() >= until {
                return Err(Unfit::NotInTime.into());
            }
            sleep(GLANCE).await;
        }
    }
}
