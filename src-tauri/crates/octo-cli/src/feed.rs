//! The durable events of this process, in order.

use octo_core::Octo;
use octo_protocol::Envelope;
use std::sync::Arc;
use tokio::sync::{broadcast::error::RecvError, mpsc, oneshot};

/// What comes out of a [`Feed`].
#[derive(Clone, Debug)]
pub(crate) enum Fed {
    /// The next event.
    Event(Arc<Envelope>),
    /// This many events were lost. Told, never hidden: the client opens its sessions again.
    Lost(u64),
}

/// All durable events from the moment it was opened.
///
/// The core's channel never waits for a listener, so a slow reader of standard output would lose events
/// from it. A task of its own empties that channel at once; what waits is bounded by what the agent does.
#[derive(Debug)]
pub(crate) struct Feed {
    items: mpsc::UnboundedReceiver<Fed>,
}

/// Ends a [`Feed`] behind the last event there is by then. Dropping it does the same.
#[derive(Debug)]
pub(crate) struct FeedEnd {
    _open: oneshot::Sender<()>,
}

impl Feed {
    /// Listens from now on, until the core or the given end is gone.
    pub fn open(octo: &Octo) -> (Self, FeedEnd) {
        let mut events = octo.events();
        let (sender, items) = mpsc::unbounded_channel();
        let (open, mut ended) = oneshot::channel();
        tokio::spawn(async move {
            loop {
                let event = tokio::select! {
                    // In this order, so that the end is heard only when nothing is left.
                    biased;
                    event = events.recv() => event,
                    _ = &mut ended => break,
                };
                let item = match event {
                    Ok(envelope) => Fed::Event(envelope),
                    Err(RecvError::Lagged(count)) => Fed::Lost(count),
                    Err(RecvError::Closed) => break,
                };
                if sender.send(item).is_err() {
                    break;
                }
            }
        });
        (Self { items }, FeedEnd { _open: open })
    }

    /// The next one; none at the end.
    pub async fn next(&mut self) -> Option<Fed> {
        self.items.recv().await
    }
}
