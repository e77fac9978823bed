//! Watches for a problem that no stored event reports: Octo cannot store a session.

use crate::output::print_error;
use octo_core::{Octo, Subscription};
use octo_protocol::{ApiError, Language, SessionId, StoredTopic, Trouble, TroubleStage, Update, words};

/// Watches the run's session, and its sub-agents'.
pub(super) struct StorageWatch {
    session: SessionId,
    language: Language,
    /// `None` when there is nothing left to watch.
    subscription: Option<Subscription>,
    /// Whether the storage warning was already printed.
    warned: bool,
}

impl StorageWatch {
    /// Starts watching.
    pub async fn begin(octo: &Octo, session: SessionId, language: Language) -> Result<Self, ApiError> {
        let subscription = Some(octo.subscribe(StoredTopic::Sessions).await?);
        Ok(Self { session, language, subscription, warned: false })
    }

    /// Waits for a fault that ends the session; never returns if there is none. A session that waits until it
    /// can be stored continues automatically; a message about that is printed once.
    pub async fn fault(&mut self) -> ApiError {
        while let Some(subscription) = &mut self.subscription {
            let Some(updates) = subscription.next().await else { break };
            for update in updates {
                match update {
                    Update::Fault { error } => return error,
                    Update::Trouble { session, trouble: Some(Trouble { error, stage }) } => match stage {
                        TroubleStage::Ended if session == self.session => return error,
                        // Its parent continues without it, and reports that.
                        TroubleStage::Ended => {}
                        TroubleStage::Waiting => self.report(&error),
                    },
                    Update::Trouble { trouble: None, .. }
                    | Update::Snapshot { .. }
                    | Update::Event { .. }
                    | Update::Delta { .. }
                    | Update::Billed { .. }
                    | Update::Policy { .. }
                    | Update::Browser { .. }
                    | Update::Library { .. }
                    | Update::Tasks { .. }
                    | Update::Chats { .. }
                    | Update::Activity { .. }
                    | Update::Page { .. }
                    | Update::Ended => {}
                }
            }
        }
        self.subscription = None;
        std::future::pending().await
    }

    fn report(&mut self, error: &ApiError) {
        if !std::mem::replace(&mut self.warned, true) {
            let reason = words::say(self.language, &format!("error.{}", error.key), &error.args);
            print_error(self.language, &ApiError::new("exec.waits").arg("why", reason));
        }
    }
}
