//! Signals that reach a session's actor while it waits to store a step and reads no messages.

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Stops the turn or ends the actor. Clones share the signal.
#[derive(Clone)]
pub(super) struct StopSignal {
    /// Number of stops requested but not taken yet.
    stops: watch::Sender<u32>,
    closing: CancellationToken,
}

impl StopSignal {
    pub(super) fn new() -> Self {
        Self { stops: watch::Sender::new(0), closing: CancellationToken::new() }
    }

    /// Requests a stop of the turn.
    pub(super) fn request(&self) {
        self.stops.send_modify(|count| *count += 1);
    }

    /// Waits until a stop is requested and not taken yet.
    pub(super) async fn wait_requested(&self) {
        // `self` owns the sender, so only a stop ends the wait.
        let mut receiver = self.stops.subscribe();
        let _ours = receiver.wait_for(|count| *count > 0).await;
    }

    /// Takes one stop.
    pub(super) fn take(&self) {
        self.stops.send_modify(|count| *count = count.saturating_sub(1));
    }

    /// Requests the end of the actor.
    pub(super) fn close(&self) {
        self.closing.cancel();
    }

    /// Waits until the end of the actor is requested.
    pub(super) async fn closing(&self) {
        self.closing.cancelled().await;
    }
}
