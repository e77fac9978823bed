//! `usage`: the ledger.

use crate::{StoreError, Tx, UsageRow, column::count};
use rusqlite::params;

impl Tx<'_> {
    /// Adds a line to the ledger.
    pub fn add_usage(&mut self, row: UsageRow) -> Result<(), StoreError> {
        let session = self.key(row.session)?;
        self.change(
            "INSERT INTO usage (session, turn, message, model, at, input, cache_read, cache_write, output,
               expected_cache_read)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                session.0,
                row.turn.to_string(),
                row.message.to_string(),
                row.model.map(|id| id.to_string()),
                row.at,
                count(row.usage.input),
                count(row.usage.cache_read),
                count(row.usage.cache_write),
                count(row.usage.output),
                row.expected_cache_read.map(count),
            ],
        )?;
        Ok(())
    }
}
