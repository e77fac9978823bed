//! What a client that watches a topic receives.

use octo_protocol::Update;
use tokio::sync::mpsc;

/// The updates of a topic, in batches. The first batch is a snapshot. Dropping it ends the subscription.
#[derive(Debug)]
pub struct Subscription {
    pub(crate) batches: mpsc::Receiver<Vec<Update>>,
}

impl Subscription {
    /// The next batch; none when the topic's subject is gone or Octo ended.
    pub async fn next(&mut self) -> Option<Vec<Update>> {
        self.batches.recv().await
    }
}
