//! What holds in the transaction that begins or follows a run.

use octo_protocol::{RunStatus, SessionId};
use octo_store::{RunRow, StoreError, Tx};

/// Prevents decisions by two processes: a process that lost the lease stores nothing.
pub(crate) fn check_lease(tx: &Tx<'_>, token: &str) -> Result<(), StoreError> {
    match tx.schedule_lease()? {
        Some(holder) if holder.token == token => Ok(()),
        Some(_) | None => Err(StoreError::Busy),
    }
}

/// A run begins once, and only under the schedule's lease: fails if it was withdrawn or begun meanwhile.
pub(crate) fn check_waiting(tx: &Tx<'_>, row: &RunRow, token: &str) -> Result<(), StoreError> {
    check_lease(tx, token)?;
    match tx.run(row.run.id)?.map(|stored| stored.run.status) {
        Some(RunStatus::Waiting { .. }) => Ok(()),
        Some(_) | None => Err(StoreError::Busy),
    }
}

/// Returns the run with its session.
pub(crate) fn with_session(mut row: Box<RunRow>, session: SessionId) -> RunRow {
    row.run.status = RunStatus::Running;
    row.run.session = Some(session);
    *row
}
