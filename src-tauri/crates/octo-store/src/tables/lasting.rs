//! `time_lasting`: the effects of steps that restoring another step does not take back.

use crate::{
    Reader, StoreError, Tx,
    column::{from_word, id, to_word},
};
use octo_protocol::{LastingEffect, LastingEffects, SessionId, StepNumber};
use rusqlite::{Row, params};

/// The maximum number of different effects of one kind listed per step. Further ones are only counted.
const MAX_LISTED: u32 = 20;

/// Reads `kind, what, times, call, at`.
fn effect(row: &Row<'_>) -> Result<LastingEffect, StoreError> {
    Ok(LastingEffect {
        kind: from_word(row.get(0)?)?,
        what: row.get(1)?,
        times: row.get(2)?,
        call: id(row, 3)?,
        at: row.get(4)?,
    })
}

impl Reader<'_> {
    /// Returns the lasting effects of these steps together. An effect of several steps appears once, with its
    /// count.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`].
    pub fn time_lasting(
        &self,
        session: SessionId,
        steps: &[StepNumber],
    ) -> Result<LastingEffects, StoreError> {
        let key = self.require_key(session)?;
        let numbers = serde_json::to_string(steps)?;
        // With a single max(), SQLite takes bare columns from the row that has it: the last call.
        let mut effects = self.rows(
            "SELECT kind, what, sum(times), call, max(at) FROM time_lasting
             WHERE session = ?1 AND number IN (SELECT value FROM json_each(?2)) GROUP BY kind, what",
            params![key.0, numbers],
            effect,
        )?;
        effects.sort_by(|a, b| (a.kind, a.at, &a.what).cmp(&(b.kind, b.at, &b.what)));
        let more = self.row(
            "SELECT coalesce(sum(lasting_more), 0) FROM time_tasks
             WHERE session = ?1 AND number IN (SELECT value FROM json_each(?2))",
            params![key.0, numbers],
            |row| Ok(row.get(0)?),
        )?;
        Ok(LastingEffects { effects, more: more.unwrap_or(0) })
    }

    /// Returns the number of lasting effects of each step of a session; steps without any are omitted.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`].
    pub fn time_lasting_counts(&self, session: SessionId) -> Result<Vec<(StepNumber, u32)>, StoreError> {
        let key = self.require_key(session)?;
        self.rows(
            "SELECT number, count(*) FROM time_lasting WHERE session = ?1 GROUP BY number",
            [key.0],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
    }
}

impl Tx<'_> {
    /// Records the lasting effects that a step is about to have, adding to its earlier ones; only a limited
    /// number of different effects per kind is listed, and the step stores the count of the rest.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`]; [`StoreError::Failed`] for a step that does not exist.
    pub fn record_time_lasting(
        &mut self,
        session: SessionId,
        number: StepNumber,
        effects: &[LastingEffect],
    ) -> Result<(), StoreError> {
        let key = self.require_key(session)?;
        for effect in effects {
            let kind = to_word(&effect.kind)?;
            let updated = self.change(
                "UPDATE time_lasting SET times = times + ?5, call = ?6, at = ?7
                 WHERE session = ?1 AND number = ?2 AND kind = ?3 AND what = ?4",
                params![key.0, number, kind, effect.what, effect.times, effect.call.to_string(), effect.at],
            )?;
            if updated > 0 {
                continue;
            }
            let listed = self.row(
                "SELECT count(*) FROM time_lasting WHERE session = ?1 AND number = ?2 AND kind = ?3",
                params![key.0, number, kind],
                |row| Ok(row.get::<_, u32>(0)?),
            )?;
            if listed.unwrap_or(0) < MAX_LISTED {
                self.change(
                    "INSERT INTO time_lasting (session, number, kind, what, times, call, at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    params![
                        key.0,
                        number,
                        kind,
                        effect.what,
                        effect.times,
                        effect.call.to_string(),
                        effect.at
                    ],
                )?;
            } else {
                self.change_one(
                    "the task",
                    "UPDATE time_tasks SET lasting_more = lasting_more + ?3 WHERE session = ?1 AND number = ?2",
                    params![key.0, number, effect.times],
                )?;
            }
        }
        Ok(())
    }
}
