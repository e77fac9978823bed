//! Leases on sessions: the window and the headless form share one home.

use crate::{Reader, StoreError, Tx};
use octo_protocol::SessionId;
use rusqlite::{OptionalExtension, Row, params};
use uuid::Uuid;

/// A process that works on sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its process id.
    pub process: u32,
    /// When it started, in the system's own units: distinguishes it from a later process with the same id.
    pub started: u64,
    /// The boot during which it runs; empty if the system names none.
    pub boot: String,
    /// A random token chosen at its start, which proves that a lease belongs to it.
    pub token: String,
}

/// The result of requesting a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseOutcome {
    /// The lease is ours: it was free, or ours already.
    Taken,
    /// The lease is ours; its previous holder is dead and may have left a turn unfinished.
    TakenOver(Holder),
    /// Another living process has the lease.
    HeldBy(Holder),
}

/// Whether a holder is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HolderState {
    /// It is running, or its state is unknown.
    Alive,
    /// It is certainly not running any more.
    Dead,
}

impl Holder {
    /// Returns a holder for this process, under a new token.
    pub fn current() -> Self {
        let process = std::process::id();
        Self {
            process,
            started: system::started(process).unwrap_or(0),
            boot: system::boot(),
            token: Uuid::new_v4().simple().to_string(),
        }
    }
}

/// Asks the system whether a holder is alive. It is dead if the machine was rebooted since, if no such process
/// exists, or if the process with that id started at another time.
pub fn probe(holder: &Holder) -> HolderState {
    let boot = system::boot();
    if !holder.boot.is_empty() && !boot.is_empty() && holder.boot != boot {
        return HolderState::Dead;
    }
    match system::started(holder.process) {
        Ok(started) if holder.started == 0 || started == holder.started => HolderState::Alive,
        Ok(_) | Err(system::ProbeError::Gone) => HolderState::Dead,
        // Two processes on one session would do more harm than a process that has to wait.
        Err(system::ProbeError::Unreadable) => HolderState::Alive,
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::{fs, io::ErrorKind};

    pub(super) enum ProbeError {
        Gone,
        Unreadable,
    }

    pub(super) fn boot() -> String {
        fs::read_to_string("/proc/sys/kernel/random/boot_id")
            .map(|id| id.trim().to_owned())
            .unwrap_or_default()
    }

    /// Reads field 22 of `/proc/<pid>/stat`: clock ticks from boot to the process's start.
    pub(super) fn started(process: u32) -> Result<u64, ProbeError> {
        let stat =
            fs::read_to_string(format!("/proc/{process}/stat")).map_err(|error| match error.kind() {
                ErrorKind::NotFound => ProbeError::Gone,
                _ => ProbeError::Unreadable,
            })?;
        // The name (field 2) may contain spaces and brackets; the fields after the last bracket are plain.
        let (_, stat_fields) = stat.rsplit_once(')').ok_or(ProbeError::Unreadable)?;
        let mut fields = stat_fields.split_ascii_whitespace();
        // A zombie has no lease any more: it only waits to be reaped.
        match fields.next() {
            Some("Z" | "X") => return Err(ProbeError::Gone),
            Some(_) => {}
            None => return Err(ProbeError::Unreadable),
        }
        fields.nth(18).and_then(|ticks| ticks.parse().ok()).ok_or(ProbeError::Unreadable)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

    pub(super) enum ProbeError {
        Gone,
        Unreadable,
    }

    /// The boot time changes with the clock here and cannot identify a boot; the start time is enough.
    pub(super) fn boot() -> String {
        String::new()
    }

    pub(super) fn started(process: u32) -> Result<u64, ProbeError> {
        let pid = Pid::from_u32(process);
        let mut system = System::new().map_err(|_| ProbeError::Unreadable)?;
        system.refresh_processes_specifics(
            ProcessesToUpdate::Some(&[pid]),
            true,
            ProcessRefreshKind::nothing(),
        );
        system.process(pid).map(sysinfo::Process::start_time).ok_or(ProbeError::Gone)
    }
}

pub(crate) fn holder(row: &Row<'_>) -> rusqlite::Result<Holder> {
    Ok(Holder {
        process: row.get(0)?,
        started: row.get::<_, i64>(1)?.unsigned_abs(),
        boot: row.get(2)?,
        token: row.get(3)?,
    })
}

impl Reader<'_> {
    /// Returns the holder of the session's lease, dead or alive.
    pub fn lease(&self, session: SessionId) -> Result<Option<Holder>, StoreError> {
        let key = self.require_key(session)?;
        Ok(self
            .connection
            .prepare_cached("SELECT process, started, boot, token FROM leases WHERE session = ?1")?
            .query_row([key.0], holder)
            .optional()?)
    }
}

impl Tx<'_> {
    /// Takes the session's lease for `holder`, unless a living process has it. `probe` determines whether a
    /// holder is alive: [`probe`] outside tests.
    pub fn take_lease(
        &mut self,
        session: SessionId,
        holder: &Holder,
        probe: impl Fn(&Holder) -> HolderState,
    ) -> Result<LeaseOutcome, StoreError> {
        let previous = match self.lease(session)? {
            Some(current) if current.token == holder.token => return Ok(LeaseOutcome::Taken),
            Some(current) if probe(&current) == HolderState::Alive => {
                return Ok(LeaseOutcome::HeldBy(current));
            }
            previous => previous,
        };
        let key = self.require_key(session)?;
        let started = i64::try_from(holder.started).unwrap_or(i64::MAX);
        self.connection
            .prepare_cached(
                "INSERT INTO leases (session, process, started, boot, token) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (session) DO UPDATE SET
                   process = excluded.process, started = excluded.started, boot = excluded.boot, token = excluded.token",
            )?
            .execute(params![key.0, holder.process, started, holder.boot, holder.token])?;
        Ok(previous.map_or(LeaseOutcome::Taken, LeaseOutcome::TakenOver))
    }

    /// Releases the session's lease, if `token` has it.
    pub fn release_lease(&mut self, session: SessionId, token: &str) -> Result<(), StoreError> {
        let key = self.require_key(session)?;
        self.connection
            .prepare_cached("DELETE FROM leases WHERE session = ?1 AND token = ?2")?
            .execute(params![key.0, token])?;
        Ok(())
    }

    /// Releases every lease that `token` has.
    pub fn release_all_leases(&mut self, token: &str) -> Result<(), StoreError> {
        self.connection.prepare_cached("DELETE FROM leases WHERE token = ?1")?.execute([token])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command, Stdio};

    fn holder_of(process: u32) -> Holder {
        Holder { process, started: system::started(process).unwrap_or(0), ..Holder::current() }
    }

    /// Starts a process that waits for its input to end.
    fn waiting() -> Child {
        Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
    }

    #[test]
    fn this_process_is_alive_and_has_a_start_time() {
        let me = Holder::current();
        assert!(me.started > 0);
        assert_eq!(probe(&me), HolderState::Alive);
        assert_ne!(me.token, Holder::current().token);
    }

    #[test]
    fn a_holder_is_dead_after_a_reboot_an_exit_or_pid_reuse() {
        let mut child = waiting();
        let running = holder_of(child.id());
        assert_eq!(probe(&running), HolderState::Alive);
        let reused = Holder { started: running.started + 1, ..running.clone() };
        assert_eq!(probe(&reused), HolderState::Dead);
        #[cfg(target_os = "linux")]
        assert_eq!(probe(&Holder { boot: "another".to_owned(), ..running.clone() }), HolderState::Dead);
        assert_eq!(probe(&Holder { boot: String::new(), ..running.clone() }), HolderState::Alive);
        assert_eq!(probe(&Holder { started: 0, ..running.clone() }), HolderState::Alive);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(probe(&running), HolderState::Dead);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_ended_and_was_not_reaped_is_dead() {
        let mut child = waiting();
        let running = holder_of(child.id());
        drop(child.stdin.take());
        // The process now ends without help; until it is reaped below it is a zombie.
        while probe(&running) == HolderState::Alive {
            std::thread::yield_now();
        }
        assert!(std::path::Path::new(&format!("/proc/{}", child.id())).exists());
        child.wait().unwrap();
    }
}
