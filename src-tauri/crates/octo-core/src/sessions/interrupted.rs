//! Recovery of restores that an earlier process left unfinished in sessions that are not open.

use super::Sessions;
use crate::session::recover;
use octo_protocol::SessionId;
use octo_runtime::blocking;
use octo_store::{LeaseOutcome, probe};

impl Sessions {
    /// Completes work an earlier process left unfinished, in parallel with everything else: no operation waits
    /// for it, and a session opened meanwhile completes its own part first.
    pub(crate) fn recover_interrupted(&self) {
        let sessions = self.clone();
        tokio::spawn(async move { sessions.end_unfinished().await });
    }

    async fn end_unfinished(&self) {
        let machine = self.runtime.services.time.clone();
        let unfinished = blocking(move || {
            machine.restore_set_apart_blobs()?;
            Ok(machine.unfinished()?)
        });
        match unfinished.await {
            Ok(sessions) => {
                for session in sessions {
                    self.end_unfinished_in(session).await;
                }
            }
            Err(error) => tracing::error!(%error, "what was interrupted is not known"),
        }
    }

    /// Completes interrupted work in one session, under its lease: work in progress belongs to the living
    /// process that does it.
    async fn end_unfinished_in(&self, session: SessionId) {
        // A shutdown waits, so that no other process takes the lease meanwhile.
        let _mending = self.recovery_lock.lock().await;
        {
            let open = self.runtime.open.lock().await;
            // An open session has already done so.
            if self.runtime.base.shutdown.is_cancelled() || open.get(session).is_some() {
                return;
            }
            let holder = self.runtime.base.lease.clone();
            let result =
                self.runtime.base.store.write(move |tx| tx.take_lease(session, &holder, probe)).await;
            match result {
                Ok(LeaseOutcome::Taken | LeaseOutcome::TakenOver(_)) => {}
                Ok(LeaseOutcome::HeldBy(_)) => return,
                Err(error) => {
                    tracing::warn!(%session, %error, "what was interrupted is left");
                    return;
                }
            }
        }
        recover(&self.runtime.services.time, session).await;
        let open = self.runtime.open.lock().await;
        // A session opened meanwhile keeps the lease.
        if open.get(session).is_none() {
            let token = self.runtime.base.lease.token.clone();
            let result = self.runtime.base.store.write(move |tx| tx.release_lease(session, &token)).await;
            if let Err(error) = result {
                tracing::warn!(%session, %error, "lease not released");
            }
        }
    }
}
