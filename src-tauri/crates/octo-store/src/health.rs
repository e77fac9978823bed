//! The database's health, for the diagnostic report.

use crate::{Reader, Store, StoreError};

/// The health of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseHealth {
    /// The version of its schema.
    pub schema: u32,
    /// The fault as SQLite describes it; `None` for a sound database.
    pub fault: Option<String>,
    /// The number of sessions, including those in the trash.
    pub sessions: u64,
}

impl Store {
    /// Reads the whole database through, which takes about a second per 500 MB. If it finds a fault, the next
    /// start does not trust the file's appearance and also reads it through.
    ///
    /// # Errors
    ///
    /// Same as [`Store::read`].
    pub async fn health(&self) -> Result<DatabaseHealth, StoreError> {
        let health = self.read(|reader| reader.health()).await?;
        if health.fault.is_some() {
            self.mark_suspect();
        }
        Ok(health)
    }
}

impl Reader<'_> {
    fn health(&self) -> Result<DatabaseHealth, StoreError> {
        let schema = self.connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let verdict: String = self.connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        Ok(DatabaseHealth {
            schema,
            fault: (verdict != "ok").then_some(verdict),
            sessions: self.session_count()?,
        })
    }

    /// Returns the number of sessions, including those in the trash.
    pub fn session_count(&self) -> Result<u64, StoreError> {
        let count: i64 = self.connection.query_row("SELECT count(*) FROM sessions", [], |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }
}
