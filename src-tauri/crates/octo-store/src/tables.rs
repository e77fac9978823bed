//! The tables: reads and writes of each next to its row type.

pub(crate) mod branches;
pub(crate) mod calls;
pub(crate) mod chats;
pub(crate) mod commands;
pub(crate) mod context;
pub(crate) mod drafts;
pub(crate) mod events;
pub(crate) mod filter;
pub(crate) mod lasting;
pub(crate) mod ledger;
pub(crate) mod library;
pub(crate) mod mentions;
pub(crate) mod notes;
pub(crate) mod origins;
pub(crate) mod other_processes;
pub(crate) mod pending;
pub(crate) mod recall;
pub(crate) mod restores;
pub(crate) mod resume;
pub(crate) mod runs;
pub(crate) mod schedule;
pub(crate) mod search;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod sub_agents;
pub(crate) mod time;
pub(crate) mod transcript;
pub(crate) mod transcript_parts;
pub(crate) mod trash;
pub(crate) mod turns;

use crate::{Reader, StoreError};
use rusqlite::{OptionalExtension, Params, Row};

impl Reader<'_> {
    /// Returns all rows of a statement, each parsed by `read`.
    pub(crate) fn rows<T>(
        &self,
        sql: &str,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params)?;
        let mut result = Vec::new();
        while let Some(row) = rows.next()? {
            result.push(read(row)?);
        }
        Ok(result)
    }

    /// Returns the one row of a statement, if there is one.
    pub(crate) fn row<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        statement.query_row(params, |row| Ok(read(row))).optional()?.transpose()
    }

    /// Runs a statement that changes data. Returns the number of changed rows.
    pub(crate) fn change(&self, sql: &str, params: impl Params) -> Result<usize, StoreError> {
        Ok(self.connection.prepare_cached(sql)?.execute(params)?)
    }

    /// Runs a statement that must change exactly one row; `object` names the missing item in the error.
    pub(crate) fn change_one(&self, object: &str, sql: &str, params: impl Params) -> Result<(), StoreError> {
        match self.change(sql, params)? {
            1 => Ok(()),
            _ => Err(StoreError::Failed(format!("{object} is not there"))),
        }
    }
}
