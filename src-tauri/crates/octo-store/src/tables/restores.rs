//! Restores of the time machine: the undone turns, the resulting context, and restores a crash interrupted.

use crate::{Reader, StoreError, Tx, column::id, key::SessionKey};
use octo_protocol::{Block, Message, MessageId, SessionId, StepNumber, TurnId};
use rusqlite::params;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A restore that was begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreRecord {
    /// The target step of the files.
    pub task: StepNumber,
    /// The target step of the conversation.
    pub conversation: StepNumber,
    /// The turns that requested it, which stay visible to the model.
    pub kept_messages: Vec<TurnId>,
}

/// A message in a generation of the model's context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ContextMessage {
    message: MessageId,
    turn: TurnId,
    /// Whether it is a summary of the messages before it.
    sums_up: bool,
}

impl Reader<'_> {
    /// Returns the model's current context.
    pub fn context_of(&self, session: SessionId) -> Result<Vec<Message>, StoreError> {
        self.context(self.require_key(session)?)
    }

    /// Returns the restore that a crash interrupted, if any.
    pub fn pending_restore(&self, session: SessionId) -> Result<Option<RestoreRecord>, StoreError> {
        self.row(
            "SELECT task, coalesce(conversation, task), kept FROM time_journeys WHERE session = ?1",
            [self.require_key(session)?.0],
            |row| {
                let kept: Option<String> = row.get(2)?;
                let kept =
                    kept.iter().flat_map(|kept| kept.split(' ')).map(turn).collect::<Result<_, _>>()?;
                Ok(RestoreRecord { task: row.get(0)?, conversation: row.get(1)?, kept_messages: kept })
            },
        )
    }

    /// Returns the model's context without these turns: everything it ever saw of the others, with a summary in
    /// place of the messages it replaces if all of those belong to the other turns.
    pub fn conversation_without(
        &self,
        session: SessionId,
        undone: &HashSet<TurnId>,
    ) -> Result<Vec<MessageId>, StoreError> {
        let key = self.require_key(session)?;
        let summary =
            serde_json::to_string(&Block::Summary { text: String::new(), covers: 0, archive: None })?;
        let kind: serde_json::Value = serde_json::from_str(&summary)?;
        let rows = self.rows(
            "SELECT context.generation, messages.id, messages.turn,
               EXISTS (SELECT 1 FROM blocks
                       WHERE blocks.key BETWEEN messages.key AND messages.key | 65535
                         AND json_extract(block_json, '$.type') = ?2)
             FROM context CROSS JOIN messages ON messages.key = context.message
             WHERE context.session = ?1 ORDER BY context.generation, context.position",
            params![key.0, kind.get("type").and_then(serde_json::Value::as_str)],
            |row| {
                let seen = ContextMessage { message: id(row, 1)?, turn: id(row, 2)?, sums_up: row.get(3)? };
                Ok((row.get::<_, i64>(0)?, seen))
            },
        )?;
        let mut generations: BTreeMap<i64, Vec<ContextMessage>> = BTreeMap::new();
        for (generation, seen) in rows {
            generations.entry(generation).or_default().push(seen);
        }
        Ok(context_without(&generations, undone))
    }
}

/// See [`Reader::conversation_without`].
fn context_without(
    generations: &BTreeMap<i64, Vec<ContextMessage>>,
    undone: &HashSet<TurnId>,
) -> Vec<MessageId> {
    // A summary replaces the generation preceding its own first generation.
    let mut made: HashMap<MessageId, i64> = HashMap::new();
    for (generation, seen) in generations {
        for message in seen.iter().filter(|message| message.sums_up) {
            made.entry(message.message).or_insert(*generation);
        }
    }
    // Older summaries are examined first, so the coverage of a newer one is known for all it contains.
    let mut sound: HashSet<MessageId> = HashSet::new();
    let mut by_age: Vec<(MessageId, i64)> =
        made.iter().map(|(message, generation)| (*message, *generation)).collect();
    by_age.sort_by_key(|(message, generation)| (*generation, *message));
    for (summary, _) in by_age {
        let stands = covered_messages(generations, &made, summary).all(|seen| {
            if seen.sums_up { sound.contains(&seen.message) } else { !undone.contains(&seen.turn) }
        });
        if stands {
            sound.insert(summary);
        }
    }
    let stays = |seen: &&ContextMessage| {
        if seen.sums_up { sound.contains(&seen.message) } else { !undone.contains(&seen.turn) }
    };
    let base = generations
        .values()
        .rev()
        .find(|seen| seen.iter().all(|seen| !seen.sums_up || sound.contains(&seen.message)));
    let mut kept: Vec<MessageId> =
        base.into_iter().flatten().filter(stays).map(|seen| seen.message).collect();
    // A sound summary represents the messages it covers; everything else that is not undone appears itself.
    let mut copied: HashSet<MessageId> = kept.iter().copied().collect();
    let mut open: Vec<MessageId> = kept.iter().copied().filter(|message| sound.contains(message)).collect();
    while let Some(summary) = open.pop() {
        for seen in covered_messages(generations, &made, summary) {
            if copied.insert(seen.message) && seen.sums_up {
                open.push(seen.message);
            }
        }
    }
    let mut others: Vec<MessageId> = generations
        .values()
        .flatten()
        .filter(|seen| !seen.sums_up && !undone.contains(&seen.turn) && !copied.contains(&seen.message))
        .map(|seen| seen.message)
        .collect();
    others.sort_unstable();
    others.dedup();
    let summaries = kept.iter().take_while(|message| sound.contains(message)).count();
    let mut rest = kept.split_off(summaries);
    rest.extend(others);
    rest.sort_unstable();
    kept.extend(rest);
    kept
}

/// Returns the messages a summary covers: those of the generation preceding its own first generation, up to the
/// summary.
fn covered_messages<'a>(
    generations: &'a BTreeMap<i64, Vec<ContextMessage>>,
    made: &HashMap<MessageId, i64>,
    summary: MessageId,
) -> impl Iterator<Item = &'a ContextMessage> {
    let before = made.get(&summary).and_then(|generation| generations.range(..*generation).next_back());
    before.into_iter().flat_map(|(_, seen)| seen).filter(move |seen| seen.message < summary)
}

impl Tx<'_> {
    /// Records the start of a restore: files change next, the conversation after them.
    pub fn begin_restore(&mut self, session: SessionId, record: &RestoreRecord) -> Result<(), StoreError> {
        let key = self.require_key(session)?;
        let kept: Vec<String> = record.kept_messages.iter().map(TurnId::to_string).collect();
        self.change(
            "INSERT OR REPLACE INTO time_journeys (session, task, conversation, kept) VALUES (?1, ?2, ?3, ?4)",
            params![key.0, record.task, record.conversation, (!kept.is_empty()).then(|| kept.join(" "))],
        )?;
        Ok(())
    }

    /// Deletes the record of a restore that did not happen.
    pub fn drop_restore(&mut self, session: SessionId) -> Result<(), StoreError> {
        let key = self.require_key(session)?;
        self.change("DELETE FROM time_journeys WHERE session = ?1", [key.0])?;
        Ok(())
    }

    pub(crate) fn project_went_to(
        &self,
        session: SessionKey,
        task: StepNumber,
        undone: &[TurnId],
    ) -> Result<(), StoreError> {
        let undone = serde_json::to_string(undone)?;
        self.change(
            "UPDATE turns SET undone = id IN (SELECT value FROM json_each(?2)) WHERE session = ?1",
            params![session.0, undone],
        )?;
        self.change("DELETE FROM time_journeys WHERE session = ?1", [session.0])?;
        self.change(
            "UPDATE time_sessions SET conversation = ?2 WHERE session = ?1",
            params![session.0, task],
        )?;
        Ok(())
    }
}

fn turn(text: &str) -> Result<TurnId, StoreError> {
    text.parse().map_err(|_| StoreError::Failed("a stored id is none".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restored_turn_returns_to_its_place() {
        let turns: Vec<TurnId> = (0..3).map(|_| TurnId::new()).collect();
        let messages: Vec<MessageId> = (0..3).map(|_| MessageId::new()).collect();
        let said = |at: usize| ContextMessage { message: messages[at], turn: turns[at], sums_up: false };
        // Turn 1 was undone before 2 began, and 2 redoes it.
        let generations = BTreeMap::from([(0, vec![said(0), said(1)]), (1, vec![said(0), said(2)])]);
        assert_eq!(context_without(&generations, &HashSet::new()), messages);
        // Undone, summarised without it, and redone: the summary does not cover it.
        let summary = ContextMessage { message: MessageId::new(), turn: turns[0], sums_up: true };
        let generations =
            BTreeMap::from([(0, vec![said(0), said(1)]), (1, vec![said(0)]), (2, vec![summary])]);
        assert_eq!(context_without(&generations, &HashSet::new()), [summary.message, messages[1]]);
    }

    #[test]
    fn summaries_cover_only_kept_messages() {
        let turns: Vec<TurnId> = (0..5).map(|_| TurnId::new()).collect();
        let messages: Vec<MessageId> = (0..8).map(|_| MessageId::new()).collect();
        let said = |at: usize, turn: usize| ContextMessage {
            message: messages[at],
            turn: turns[turn],
            sums_up: false,
        };
        let summary = |at: usize, turn: usize| ContextMessage { sums_up: true, ..said(at, turn) };
        // Turns 0, 1 and 2; 1 is undone before 3 begins; 0, 2 (redone) … then a summary at 4 of turns 0 and 3.
        let generations = BTreeMap::from([
            (0, vec![said(0, 0), said(1, 1), said(2, 2)]),
            (1, vec![said(0, 0), said(3, 3)]),
            (2, vec![summary(4, 3), said(5, 3), said(6, 4)]),
        ]);
        for (undone, expected) in [
            (vec![], vec![4, 1, 2, 5, 6]),
            (vec![1, 2], vec![4, 5, 6]),
            (vec![1, 2, 4], vec![4, 5]),
            // The messages the summary covers are gone: everything appears in full.
            (vec![3, 4], vec![0, 1, 2]),
            (vec![1, 2, 3, 4], vec![0]),
            (vec![2, 3, 4], vec![0, 1]),
            (vec![0, 1, 2, 3, 4], vec![]),
        ] {
            let undone: HashSet<TurnId> = undone.into_iter().map(|turn: usize| turns[turn]).collect();
            let expected: Vec<MessageId> = expected.into_iter().map(|at: usize| messages[at]).collect();
            assert_eq!(context_without(&generations, &undone), expected);
        }
    }
}
