//! Passes the updates of parts that know no topics on to the subscriptions.

use crate::{services::Services, updates::Updates};
use octo_browsing::BrowserUpdate;
use octo_protocol::{LiveTopic, StoredTopic, Topic, Update};
use tokio::sync::broadcast::{Receiver, error::RecvError};

/// Passes on the updates of the browser and of scheduled tasks, for as long as these exist.
pub(super) fn relay(services: &Services, updates: &Updates) {
    pass_on(services.browser.watch(), updates.clone(), |update| match update {
        BrowserUpdate::State(state) => (LiveTopic::Browser.into(), Update::Browser { state }),
        BrowserUpdate::Page(id, page) => {
            (StoredTopic::Session { id }.into(), Update::Page { page: page.map(|page| *page) })
        }
    });
    pass_on(services.schedule().watch(), updates.clone(), |state| {
        (LiveTopic::Tasks.into(), Update::Tasks { state })
    });
}

fn pass_on<T: Clone + Send + 'static>(
    mut source: Receiver<T>,
    updates: Updates,
    addressed: fn(T) -> (Topic, Update),
) {
    tokio::spawn(async move {
        loop {
            match source.recv().await {
                Ok(item) => {
                    let (topic, update) = addressed(item);
                    updates.send(topic, update);
                }
                Err(RecvError::Lagged(_)) => updates.report_gap(),
                Err(RecvError::Closed) => return,
            }
        }
    });
}
