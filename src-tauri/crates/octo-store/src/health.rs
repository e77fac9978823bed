//! How the database is, for whoever looks into a fault.

use crate::{Reader, Store, StoreError};

/// How the database is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// The version of its schema.
    pub schema: u32,
    /// What is wrong with it, as SQLite says it; none where nothing is.
    pub fault: Option<String>,
    /// How many sessions it holds, those in the trash counted.
    pub sessions: u64,
}

impl Store {
    /// Reads the whole database through. That takes about a second for each 500 MB. Where a fault is found the next
    /// start does not go by the file's looks: it reads it through too.
    ///
    /// # Errors
    /// As [`Store::read`].
    pub async fn health(&self) -> Result<Health, StoreError> {
        let health = self.read(|reader| reader.health()).await?;
        if health.fault.is_some() {
            self.suspect();
        }
        Ok(health)
    }
}

impl Reader<'_> {
    fn health(&self) -> Result<Health, StoreError> {
        let schema = self.connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let verdict: String = self.connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        Ok(Health { schema, fault: (verdict != "ok").then_some(verdict), sessions: self.session_count()? })
    }

    /// How many sessions there are, those in the trash counted.
    pub fn session_count(&self) -> Result<u64, StoreError> {
        let count: i64 = self.connection.query_row("SELECT count(*) FROM sessions", [], |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }
}
