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
                let turns: Option<String> = row.get(2)?;
                let turns =
                    turns.iter().flat_map(|turns| turns.split(' ')).map(turn).collect::<Result<_, _>>()?;
                Ok(RestoreRecord { task: row.get(0)?, conversation: row.get(1)?, kept_messages: turns })
            },
        )
    }

    /// Returns the model's context without these turns: everything it ever saw of the others, with a summary in
    /// place of the messages it replaces if all of those belong to the other turns.
    pub fn conversation_without(
        &self,
        session: SessionId,
        undone_turns: &HashSet<TurnId>,
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
                let entry = ContextMessage { message: id(row, 1)?, turn: id(row, 2)?, sums_up: row.get(3)? };
                Ok((row.get::<_, i64>(0)?, entry))
            },
        )?;
        let mut generations: BTreeMap<i64, Vec<ContextMessage>> = BTreeMap::new();
        for (generation, entry) in rows {
            generations.entry(generation).or_default().push(entry);
        }
        Ok(context_without(&generations, undone_turns))
    }
}

/// See [`Reader::conversation_without`].
fn context_without(
    generations: &BTreeMap<i64, Vec<ContextMessage>>,
    undone_turns: &HashSet<TurnId>,
) -> Vec<MessageId> {
    // A summary replaces the generation preceding its own first generation.
    let mut made: HashMap<MessageId, i64> = HashMap::new();
    for (generation, entry) in generations {
        for message in entry.iter().filter(|message| message.sums_up) {
            made.entry(message.message).or_insert(*generation);
        }
    }
    // Older summaries are examined first, so the coverage of a newer one is known for all it contains.
    let mut valid: HashSet<MessageId> = HashSet::new();
    let mut by_age: Vec<(MessageId, i64)> =
        made.iter().map(|(message, generation)| (*message, *generation)).collect();
    by_age.sort_by_key(|(message, generation)| (*generation, *message));
    for (summary, _) in by_age {
        let stands = covered_messages(generations, &made, summary).all(|entry| {
            if entry.sums_up { valid.contains(&entry.message) } else { !undone_turns.contains(&entry.turn) }
        });
        if stands {
            valid.insert(summary);
        }
    }
    let stays = |entry: &&ContextMessage| {
        if entry.sums_up { valid.contains(&entry.message) } else { !undone_turns.contains(&entry.turn) }
    };
    let base = generations
        .values()
        .rev()
        .find(|entry| entry.iter().all(|entry| !entry.sums_up || valid.contains(&entry.message)));
    let mut messages: Vec<MessageId> =
        base.into_iter().flatten().filter(stays).map(|entry| entry.message).collect();
    // A sound summary represents the messages it covers; everything else that is not undone appears itself.
    let mut copied: HashSet<MessageId> = messages.iter().copied().collect();
    let mut open: Vec<MessageId> =
        messages.iter().copied().filter(|message| valid.contains(message)).collect();
    while let Some(summary) = open.pop() {
        for entry in covered_messages(generations, &made, summary) {
            if copied.insert(entry.message) && entry.sums_up {
                open.push(entry.message);
            }
        }
    }
    let mut later: Vec<MessageId> = generations
        .values()
        .flatten()
        .filter(|entry| {
            !entry.sums_up && !undone_turns.contains(&entry.turn) && !copied.contains(&entry.message)
        })
        .map(|entry| entry.message)
        .collect();
    later.sort_unstable();
    later.dedup();
    let summaries = messages.iter().take_while(|message| valid.contains(message)).count();
    let mut after_summaries = messages.split_off(summaries);
    after_summaries.extend(later);
    after_summaries.sort_unstable();
    messages.extend(after_summaries);
    messages
}

/// Returns the messages a summary covers: those of the generation preceding its own first generation, up to the
/// summary.
fn covered_messages<'a>(
    generations: &'a BTreeMap<i64, Vec<ContextMessage>>,
    made: &HashMap<MessageId, i64>,
    summary: MessageId,
) -> impl Iterator<Item = &'a ContextMessage> {
    let before = made.get(&summary).and_then(|generation| generations.range(..*generation).next_back());
    before.into_iter().flat_map(|(_, entry)| entry).filter(move |entry| entry.message < summary)
}

impl Tx<'_> {
    /// Records the start of a restore: files change next, the conversation after them.
    pub fn begin_restore(&mut self, session: SessionId, record: &RestoreRecord) -> Result<(), StoreError> {
        let key = self.require_key(session)?;
        let kept_turns: Vec<String> = record.kept_messages.iter().map(TurnId::to_string).collect();
        self.change(
            "INSERT OR REPLACE INTO time_journeys (session, task, conversation, kept) VALUES (?1, ?2, ?3, ?4)",
            params![key.0, record.task, record.conversation, (!kept_turns.is_empty()).then(|| kept_turns.join(" "))],
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
        undone_turns: &[TurnId],
    ) -> Result<(), StoreError> {
        let undone_turns = serde_json::to_string(undone_turns)?;
        self.change(
            "UPDATE turns SET undone = id IN (SELECT value FROM json_each(?2)) WHERE session = ?1",
            params![session.0, undone_turns],
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
        let plain_message =
            |index: usize| ContextMessage { message: messages[index], turn: turns[index], sums_up: false };
        // Turn 1 was undone before 2 began, and 2 redoes it.
        let generations = BTreeMap::from([
            (0, vec![plain_message(0), plain_message(1)]),
            (1, vec![plain_message(0), plain_message(2)]),
        ]);
        assert_eq!(context_without(&generations, &HashSet::new()), messages);
        // Undone, summarised without it, and redone: the summary does not cover it.
        let summary = ContextMessage { message: MessageId::new(), turn: turns[0], sums_up: true };
        let generations = BTreeMap::from([
            (0, vec![plain_message(0), plain_message(1)]),
            (1, vec![plain_message(0)]),
            (2, vec![summary]),
        ]);
        assert_eq!(context_without(&generations, &HashSet::new()), [summary.message, messages[1]]);
    }

    #[test]
    fn summaries_cover_only_kept_messages() {
        let turns: Vec<TurnId> = (0..5).map(|_| TurnId::new()).collect();
        let messages: Vec<MessageId> = (0..8).map(|_| MessageId::new()).collect();
        let plain_message = |index: usize, turn: usize| ContextMessage {
            message: messages[index],
            turn: turns[turn],
            sums_up: false,
        };
        let summary =
            |index: usize, turn: usize| ContextMessage { sums_up: true, ..plain_message(index, turn) };
        // Turns 0, 1 and 2; 1 is undone before 3 begins; 0, 2 (redone) … then a summary at 4 of turns 0 and 3.
        let generations = BTreeMap::from([
            (0, vec![plain_message(0, 0), plain_message(1, 1), plain_message(2, 2)]),
            (1, vec![plain_message(0, 0), plain_message(3, 3)]),
            (2, vec![summary(4, 3), plain_message(5, 3), plain_message(6, 4)]),
        ]);
        for (undone_turns, expected) in [
            (vec![], vec![4, 1, 2, 5, 6]),
            (vec![1, 2], vec![4, 5, 6]),
            (vec![1, 2, 4], vec![4, 5]),
            // The messages the summary covers are gone: everything appears in full.
            (vec![3, 4], vec![0, 1, 2]),
            (vec![1, 2, 3, 4], vec![0]),
            (vec![2, 3, 4], vec![0, 1]),
            (vec![0, 1, 2, 3, 4], vec![]),
        ] {
            let undone_turns: HashSet<TurnId> =
                undone_turns.into_iter().map(|turn: usize| turns[turn]).collect();
            let expected: Vec<MessageId> = expected.into_iter().map(|index: usize| messages[index]).collect();
            assert_eq!(context_without(&generations, &undone_turns), expected);
        }
    }
}
