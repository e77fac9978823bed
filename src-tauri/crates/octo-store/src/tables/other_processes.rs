//! The work of other processes on this home, and `stop_wishes`: stop requests to them.

use crate::{
    Holder, Reader, StoreError, Tx,
    column::{id, read_count},
    key::SessionKey,
    lease::holder,
    tables::sessions::{head, head_columns},
};
use octo_protocol::{BackgroundCommand, Millis, SessionId, SessionInfo, SubAgentOrigin, TurnId};
use rusqlite::params;

/// A session leased by another process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherProcessSession {
    /// Its info.
    pub info: SessionInfo,
    /// The holder of the lease, alive or dead.
    pub holder: Holder,
    /// For a sub-agent, its origin.
    pub fork: Option<SubAgentOrigin>,
    /// The current turn, when it began, and the number of answers its model gave.
    pub turn: Option<(TurnId, Millis, u32)>,
    /// Its running background commands.
    pub commands: Vec<BackgroundCommand>,
}

/// The target of a stop request in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopRequest {
    /// This turn, if it is still running.
    Turn(TurnId),
    /// The command with this handle.
    Command(String),
}

impl StopRequest {
    /// Formats it for its column. The kind before the colon distinguishes a handle from a turn's id.
    fn text(&self) -> String {
        match self {
            Self::Turn(turn) => format!("turn:{turn}"),
            Self::Command(handle) => format!("command:{handle}"),
        }
    }

    fn read(text: &str) -> Option<Self> {
        let (kind, name) = text.split_once(':')?;
        match kind {
            "turn" => name.parse().ok().map(Self::Turn),
            "command" => Some(Self::Command(name.to_owned())),
            _ => None,
        }
    }
}

impl Reader<'_> {
    /// Returns the sessions leased by others than `token`. Includes those of dead holders: only the system
    /// knows whether a holder is alive.
    pub fn sessions_of_other_processes(&self, token: &str) -> Result<Vec<OtherProcessSession>, StoreError> {
        let leases = self.rows(
            "SELECT leases.process, leases.started, leases.boot, leases.token, leases.session FROM leases
             JOIN sessions ON sessions.key = leases.session
             WHERE leases.token <> ?1 AND sessions.deleted_at IS NULL ORDER BY leases.session",
            [token],
            |row| Ok((SessionKey(row.get(4)?), holder(row)?)),
        )?;
        leases.into_iter().map(|(key, holder)| self.other_process_session(key, holder)).collect()
    }

    fn other_process_session(
        &self,
        key: SessionKey,
        holder: Holder,
    ) -> Result<OtherProcessSession, StoreError> {
        let info =
            self.row(concat!("SELECT ", head_columns!(), " FROM sessions WHERE key = ?1"), [key.0], head)?;
        let info = info.ok_or_else(|| StoreError::Failed("a lease without a session".to_owned()))?;
        let turn = self.row(
            "SELECT id, started_at FROM turns WHERE session = ?1 AND ended_at IS NULL ORDER BY key DESC LIMIT 1",
            [key.0],
            |row| Ok((id::<TurnId>(row, 0)?, row.get::<_, Millis>(1)?)),
        )?;
        let turn = match turn {
            Some((turn, started_at)) => {
                let steps = self.row(
                    "SELECT count(*) FROM ledger WHERE turn = ?1 AND outcome = 'answered'",
                    [turn.to_string()],
                    |row| read_count(row, 0),
                )?;
                Some((turn, started_at, u32::try_from(steps.unwrap_or(0)).unwrap_or(u32::MAX)))
            }
            None => None,
        };
        let mut commands = self.commands(key)?;
        commands.retain(|command| command.ended_at.is_none());
        let fork = self.sub_agent_by_key(key)?.map(|fork| fork.origin);
        Ok(OtherProcessSession { info, holder, fork, turn, commands })
    }

    /// Returns whether there is a stop request for a session leased by `token`.
    pub fn has_stop_requests(&self, token: &str) -> Result<bool, StoreError> {
        let found = self.row(
            "SELECT 1 FROM stop_wishes JOIN leases ON leases.session = stop_wishes.session
             WHERE leases.token = ?1 LIMIT 1",
            [token],
            |_| Ok(()),
        )?;
        Ok(found.is_some())
    }
}

impl Tx<'_> {
    /// Records a stop request for the process that works on a session.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`].
    pub fn request_stop(&mut self, session: SessionId, request: &StopRequest) -> Result<(), StoreError> {
        let key = self.require_key(session)?;
        self.change(
            "INSERT INTO stop_wishes (session, what) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            params![key.0, request.text()],
        )?;
        Ok(())
    }

    /// Takes the stop requests for the sessions leased by `token`.
    pub fn take_stop_requests(&mut self, token: &str) -> Result<Vec<(SessionId, StopRequest)>, StoreError> {
        let requests = self.rows(
            "SELECT sessions.id, stop_wishes.what FROM stop_wishes
             JOIN leases ON leases.session = stop_wishes.session
             JOIN sessions ON sessions.key = stop_wishes.session WHERE leases.token = ?1",
            [token],
            |row| Ok((id(row, 0)?, row.get::<_, String>(1)?)),
        )?;
        self.change(
            "DELETE FROM stop_wishes WHERE session IN (SELECT session FROM leases WHERE token = ?1)",
            [token],
        )?;
        Ok(requests
            .into_iter()
            .filter_map(|(session, request)| Some((session, StopRequest::read(&request)?)))
            .collect())
    }
}
