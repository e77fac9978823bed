//! `ledger`: usage and cost of every model call.

use crate::{
    Reader, StoreError, Tx,
    column::{count, from_json, from_json_or_null, from_word, id, id_or_null, read_count, to_json, to_word},
    key::SessionKey,
};
use octo_protocol::{
    AboveIdeal, BilledCall, Cost, Millis, MissLine, MissedCall, SessionId, Spending, SpendingLine, TurnId,
    Usage,
};
use rusqlite::{Row, params};

/// The columns [`call`] reads, in its order.
macro_rules! call_columns {
    () => {
        "turn, message, purpose, model, name, at, reported, input, cache_read, cache_write, output,
         written_for_an_hour, cost, first_byte_ms, total_ms, outcome, expected_read, miss_json,
         again, again_cost"
    };
}

/// The entries of a turn `?1` and of its sub-agents.
macro_rules! of_turn {
    () => {
        " FROM ledger WHERE turn = ?1 OR session IN (SELECT session FROM forks WHERE turn = ?1)"
    };
}

/// The sums that [`spending`] reads, in its order. `total` is real because a sum of integers could fail:
/// nonsense reported by a provider must not make the page unreadable.
macro_rules! sums {
    () => {
        "count(*), total(input), total(cache_read), total(cache_write), total(output), total(cost),
         count(*) - count(cost)"
    };
}

fn call(row: &Row<'_>) -> Result<BilledCall, StoreError> {
    let usage = Usage {
        input: read_count(row, 7)?,
        cache_read: read_count(row, 8)?,
        cache_write: read_count(row, 9)?,
        output: read_count(row, 10)?,
    };
    let maybe = |column| Ok::<_, StoreError>(row.get::<_, Option<i64>>(column)?.map(i64::unsigned_abs));
    Ok(BilledCall {
        turn: id_or_null(row, 0)?,
        message: id_or_null(row, 1)?,
        purpose: from_word(row.get(2)?)?,
        model: id_or_null(row, 3)?,
        name: row.get(4)?,
        at: row.get(5)?,
        usage: row.get::<_, bool>(6)?.then_some(usage),
        written_for_an_hour: read_count(row, 11)?,
        cost: maybe(12)?.map(Cost::from_nano_dollars),
        first_byte_ms: maybe(13)?,
        total_ms: read_count(row, 14)?,
        outcome: from_word(row.get(15)?)?,
        expected_read: maybe(16)?,
        miss: from_json_or_null(row, 17)?,
        again: read_count(row, 18)?,
        again_cost: maybe(19)?.map(Cost::from_nano_dollars),
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sums of counts are not negative; a cast to a whole number stops at the largest"
)]
fn read_sum(row: &Row<'_>, column: usize) -> Result<u64, StoreError> {
    Ok(row.get::<_, f64>(column)? as u64)
}

fn spending(row: &Row<'_>, first_column: usize) -> Result<Spending, StoreError> {
    let column_sum = |column: usize| read_sum(row, first_column + column);
    Ok(Spending {
        calls: read_count(row, first_column)?,
        usage: Usage {
            input: column_sum(1)?,
            cache_read: column_sum(2)?,
            cache_write: column_sum(3)?,
            output: column_sum(4)?,
        },
        cost: Cost::from_nano_dollars(column_sum(5)?),
        unpriced: read_count(row, first_column + 6)?,
    })
}

impl Reader<'_> {
    /// Returns the calls of a turn and of its sub-agents, oldest first.
    pub fn calls_billed(&self, turn: TurnId) -> Result<Vec<BilledCall>, StoreError> {
        self.rows(concat!("SELECT ", call_columns!(), of_turn!(), " ORDER BY key"), [turn.to_string()], call)
    }

    /// Returns, for each model, the last call of a session's turn work that was answered at least in part and
    /// reported its usage: the last content known to be in the model's cache.
    pub(crate) fn last_calls(&self, session: SessionKey) -> Result<Vec<BilledCall>, StoreError> {
        self.rows(
            concat!(
                "SELECT ",
                call_columns!(),
                " FROM ledger WHERE key IN (
                    SELECT max(key) FROM ledger WHERE session = ?1 AND purpose = 'turn' AND reported
                      AND first_byte_ms IS NOT NULL GROUP BY name) ORDER BY key"
            ),
            [session.0],
            call,
        )
    }

    /// Returns the spending of a turn, sub-agents included.
    pub fn turn_spending(&self, turn: TurnId) -> Result<Spending, StoreError> {
        let found =
            self.row(concat!("SELECT ", sums!(), of_turn!()), [turn.to_string()], |row| spending(row, 0))?;
        Ok(found.unwrap_or_default())
    }

    /// Returns the spending of a session, sub-agents included.
    pub fn session_spending(&self, session: SessionId) -> Result<Spending, StoreError> {
        let key = self.require_key(session)?;
        self.spending_of(key)
    }

    pub(crate) fn spending_of(&self, session: SessionKey) -> Result<Spending, StoreError> {
        let found = self.row(
            concat!(
                "SELECT ",
                sums!(),
                " FROM ledger WHERE session = ?1 OR session IN (SELECT session FROM forks WHERE parent = ?1)"
            ),
            [session.0],
            |row| spending(row, 0),
        )?;
        Ok(found.unwrap_or_default())
    }

    /// Returns the spending of all sessions from a moment on, deleted ones too.
    pub fn spending_since(&self, start: Millis) -> Result<Spending, StoreError> {
        let found = self.row(concat!("SELECT ", sums!(), " FROM ledger WHERE at >= ?1"), [start], |row| {
            spending(row, 0)
        })?;
        Ok(found.unwrap_or_default())
    }

    /// Returns the spending between two moments (the second exclusive), by day of the machine's clock, model
    /// and purpose, oldest day first.
    pub fn spending_lines(&self, start: Millis, end: Millis) -> Result<Vec<SpendingLine>, StoreError> {
        self.rows(
            concat!(
                "SELECT strftime('%Y-%m-%d', at / 1000, 'unixepoch', 'localtime') AS day, name, purpose, ",
                sums!(),
                " FROM ledger WHERE at >= ?1 AND at < ?2
                  GROUP BY day, name, purpose ORDER BY day, name, purpose"
            ),
            [start, end],
            |row| {
                Ok(SpendingLine {
                    day: row.get(0)?,
                    name: row.get(1)?,
                    purpose: from_word(row.get(2)?)?,
                    spending: spending(row, 3)?,
                })
            },
        )
    }
}

impl Reader<'_> {
    /// Returns why calls between two moments (the second exclusive) read less from the cache than expected, the
    /// most expensive reason first.
    pub fn misses(&self, start: Millis, end: Millis) -> Result<Vec<MissLine>, StoreError> {
        self.rows(
            "SELECT json_extract(miss_json, '$.class') AS class, count(*), total(again), total(again_cost),
                    count(*) - count(again_cost)
             FROM ledger WHERE miss_json IS NOT NULL AND at >= ?1 AND at < ?2
             GROUP BY class ORDER BY total(again_cost) DESC, total(again) DESC, class",
            [start, end],
            |row| {
                Ok(MissLine {
                    class: from_word(row.get(0)?)?,
                    calls: read_count(row, 1)?,
                    again: read_sum(row, 2)?,
                    cost: Cost::from_nano_dollars(read_sum(row, 3)?),
                    unpriced: read_count(row, 4)?,
                })
            },
        )
    }

    /// Returns the calls between two moments that paid most for tokens they should have read, the most
    /// expensive first.
    pub fn most_expensive_misses(
        &self,
        start: Millis,
        end: Millis,
        limit: u32,
    ) -> Result<Vec<MissedCall>, StoreError> {
        self.rows(
            "SELECT sessions.id, CASE WHEN sessions.deleted_at IS NULL THEN sessions.title END, ledger.name, ledger.at,
                    ledger.miss_json, ledger.again, ledger.again_cost
             FROM ledger JOIN sessions ON sessions.key = ledger.session
             WHERE ledger.miss_json IS NOT NULL AND ledger.at >= ?1 AND ledger.at < ?2
             ORDER BY ledger.again_cost DESC NULLS LAST, ledger.again DESC, ledger.key DESC LIMIT ?3",
            params![start, end, limit],
            |row| {
                Ok(MissedCall {
                    session: id(row, 0)?,
                    title: row.get(1)?,
                    name: row.get(2)?,
                    at: row.get(3)?,
                    miss: from_json(row, 4)?,
                    again: read_count(row, 5)?,
                    cost: row
                        .get::<_, Option<i64>>(6)?
                        .map(|cost| Cost::from_nano_dollars(cost.unsigned_abs())),
                })
            },
        )
    }

    /// Returns the spending above the ideal between two moments. A call counts once: a failed or cache-warming
    /// call in full, any other with the tokens it paid for again.
    pub fn cost_above_ideal(&self, start: Millis, end: Millis) -> Result<AboveIdeal, StoreError> {
        let found = self.row(
            "SELECT total(CASE WHEN purpose = 'warmth' OR outcome = 'failed' THEN 0 ELSE again_cost END),
                    total(CASE WHEN purpose = 'warmth' THEN cost END),
                    total(CASE WHEN purpose <> 'warmth' AND outcome = 'failed' THEN cost END),
                    total(CASE WHEN purpose = 'warmth' OR outcome = 'failed' THEN reported AND cost IS NULL
                               ELSE again_cost IS NULL END)
             FROM ledger WHERE at >= ?1 AND at < ?2",
            [start, end],
            |row| {
                Ok(AboveIdeal {
                    missed: Cost::from_nano_dollars(read_sum(row, 0)?),
                    warmth: Cost::from_nano_dollars(read_sum(row, 1)?),
                    failed: Cost::from_nano_dollars(read_sum(row, 2)?),
                    unpriced: read_sum(row, 3)?,
                })
            },
        )?;
        Ok(found.unwrap_or_default())
    }
}

impl Tx<'_> {
    pub(crate) fn project_billed(&self, session: SessionKey, call: &BilledCall) -> Result<(), StoreError> {
        let usage = call.usage.unwrap_or_default();
        self.change(
            "INSERT INTO ledger (session, turn, message, purpose, model, name, at, reported, input, cache_read,
               cache_write, output, written_for_an_hour, cost, first_byte_ms, total_ms, outcome, expected_read,
               miss_json, again, again_cost)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)",
            params![
                session.0,
                call.turn.map(|id| id.to_string()),
                call.message.map(|id| id.to_string()),
                to_word(&call.purpose)?,
                call.model.map(|id| id.to_string()),
                call.name,
                call.at,
                call.usage.is_some(),
                count(usage.input),
                count(usage.cache_read),
                count(usage.cache_write),
                count(usage.output),
                count(call.written_for_an_hour),
                call.cost.map(|cost| count(cost.as_nano_dollars())),
                call.first_byte_ms.map(count),
                count(call.total_ms),
                to_word(&call.outcome)?,
                call.expected_read.map(count),
                call.miss.as_ref().map(to_json).transpose()?,
                count(call.again),
                call.again_cost.map(|cost| count(cost.as_nano_dollars())),
            ],
        )?;
        Ok(())
    }
}
