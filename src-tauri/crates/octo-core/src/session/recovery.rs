//! Recovery of restores that an earlier process left unfinished.

use octo_protocol::SessionId;
use octo_workspace::TimeMachine;

/// Completes work an earlier process left unfinished in a session whose lease this process owns.
pub(crate) async fn recover(time: &TimeMachine, session: SessionId) {
    let machine = time.clone();
    match tokio::task::spawn_blocking(move || machine.recover(session)).await {
        Ok(Ok(recovered)) => {
            for one in recovered {
                tracing::warn!(%session, outcome = ?one.outcome, "a restore was interrupted");
            }
        }
        // The session reports this at the next restore.
        Ok(Err(error)) => tracing::error!(%session, %error, "what was interrupted cannot be ended yet"),
        Err(error) => tracing::error!(%session, %error, "ending what was interrupted broke"),
    }
}
