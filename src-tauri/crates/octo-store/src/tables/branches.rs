//! New sessions that continue a conversation from another session or a file.
//!
//! The conversation is written into the tables without an event for each message: a session that is being
//! created has no subscribers, and every client begins with a snapshot.

use crate::{
    CopiedConversation, NewBranch, NewImport, Reader, StoreError, Tx,
    key::SessionKey,
    tables::transcript::{MessageState, attach, block, message, message_columns},
};
use octo_protocol::{
    Block, BranchPoint, CallId, CallState, CallStatus, CallView, Draft, Event, Message, MessageId, Role,
    SessionId, SessionInfo, StoredTopic, ToolView, TurnEnd, TurnId, TurnView,
};
use rusqlite::params;
use std::collections::{HashMap, HashSet};

/// A prefix of a conversation, by the keys of its messages.
struct ConversationPrefix {
    /// The last message included.
    last: i64,
    /// The model's context at that point, in order.
    context: Vec<i64>,
}

impl Reader<'_> {
    /// Locates a branch point in a conversation.
    fn locate(&self, session: SessionKey, point: BranchPoint) -> Result<ConversationPrefix, StoreError> {
        let rows = session.rows();
        match point {
            BranchPoint::Whole => {
                let open = self.row(
                    "SELECT min(key) FROM messages WHERE key BETWEEN ?1 AND ?2
                       AND turn IN (SELECT id FROM turns WHERE session = ?3 AND ended_at IS NULL)",
                    params![rows.start(), rows.end(), session.0],
                    |row| Ok(row.get::<_, Option<i64>>(0)?),
                )?;
                let end = open.flatten().map_or(*rows.end(), |open| open - 1);
                let mut context = self.generation(session, None)?;
                context.retain(|key| *key <= end);
                Ok(ConversationPrefix { last: end, context })
            }
            BranchPoint::Before { message } => {
                let end = self.message_key(session, message)? - 1;
                let mut context = self.context_at(session, message, end + 1)?;
                context.pop();
                Ok(ConversationPrefix { last: end, context })
            }
            BranchPoint::Through { message } => {
                let start = self.message_key(session, message)?;
                let context = self.context_at(session, message, start)?;
                let Some(results) = self.results_of(session, start)? else {
                    return Ok(ConversationPrefix { last: start, context });
                };
                match self.context_at(session, results.1, results.0) {
                    Ok(context) => Ok(ConversationPrefix { last: results.0, context }),
                    // The messages exist, but never reached the model's context.
                    Err(StoreError::UnknownMessage(_)) => Ok(ConversationPrefix { last: start, context }),
                    Err(error) => Err(error),
                }
            }
        }
    }

    /// Returns the model's context when this message was last its end: all messages before it, and it.
    fn context_at(&self, session: SessionKey, message: MessageId, key: i64) -> Result<Vec<i64>, StoreError> {
        let generations = self.rows(
            "SELECT generation FROM context WHERE session = ?1 AND message = ?2 ORDER BY generation DESC",
            [session.0, key],
            |row| Ok(row.get::<_, i64>(0)?),
        )?;
        for generation in generations {
            let context = self.generation(session, Some(generation))?;
            let Some(position) = context.iter().position(|other| *other == key) else { continue };
            let prefix: Vec<i64> = context.into_iter().take(position + 1).collect();
            if prefix.iter().all(|other| *other <= key) {
                return Ok(prefix);
            }
        }
        Err(StoreError::UnknownMessage(message))
    }

    /// Returns the messages of a generation of the model's context; of the current one for `None`.
    fn generation(&self, session: SessionKey, generation: Option<i64>) -> Result<Vec<i64>, StoreError> {
        self.rows(
            "SELECT message FROM context WHERE session = ?1
               AND generation = coalesce(?2, (SELECT generation FROM sessions WHERE key = ?1)) ORDER BY position",
            params![session.0, generation],
            |row| Ok(row.get(0)?),
        )
    }

    /// Returns the next message, if it contains the results of this one's calls.
    fn results_of(&self, session: SessionKey, key: i64) -> Result<Option<(i64, MessageId)>, StoreError> {
        let pair = self.messages_between(session, key, *session.rows().end(), 2)?;
        let [(_, asks), (following, answers)] = pair.as_slice() else { return Ok(None) };
        let call_ids: HashSet<CallId> = asks.calls().map(|call| call.id).collect();
        let answered = results(answers).any(|call| call_ids.contains(&call));
        Ok(answered.then_some((*following, answers.id)))
    }

    /// Returns at most `limit` messages between two keys, with their blocks.
    fn messages_between(
        &self,
        session: SessionKey,
        start: i64,
        end: i64,
        limit: u32,
    ) -> Result<Vec<(i64, Message)>, StoreError> {
        let start = start.max(*session.rows().start());
        let mut messages = self.rows(
            concat!(
                "SELECT ",
                message_columns!(),
                " FROM messages WHERE key BETWEEN ?1 AND ?2 AND open = 0 ORDER BY key LIMIT ?3"
            ),
            params![start, end, limit],
            message,
        )?;
        let Some((last_key, _)) = messages.last() else { return Ok(messages) };
        let blocks = self.rows(
            "SELECT key, text, block_json FROM blocks WHERE key BETWEEN ?1 AND ?2 ORDER BY key",
            [start, *crate::key::blocks(*last_key).end()],
            block,
        )?;
        attach(&mut messages, blocks);
        Ok(messages)
    }

    /// Returns a conversation up to a point, under its own ids.
    fn conversation_up_to(
        &self,
        session: SessionKey,
        prefix: ConversationPrefix,
    ) -> Result<CopiedConversation, StoreError> {
        let in_context: HashSet<i64> = prefix.context.iter().copied().collect();
        let mut messages = self.messages_between(session, *session.rows().start(), prefix.last, u32::MAX)?;
        let turns: Vec<String> = messages.iter().map(|(_, message)| message.turn.to_string()).collect();
        let turns = self.turns(&serde_json::to_string(&turns)?)?;
        // Undone turns that are not on this path belong to another branch.
        let on_the_way: HashSet<TurnId> = messages
            .iter()
            .filter(|(key, _)| in_context.contains(key))
            .map(|(_, message)| message.turn)
            .collect();
        let foreign_turns: HashSet<TurnId> = turns
            .iter()
            .filter(|turn| turn.undone && !on_the_way.contains(&turn.id))
            .map(|turn| turn.id)
            .collect();
        messages.retain(|(_, message)| !foreign_turns.contains(&message.turn));
        // A call without its result is left out: it may still be running, and must not run here as well.
        if let Some(open) = unanswered_key(&messages, &prefix.context) {
            messages.retain(|(key, _)| *key < open);
        }
        let ids: HashMap<i64, MessageId> = messages.iter().map(|(key, message)| (*key, message.id)).collect();
        let context = prefix.context.iter().filter_map(|key| ids.get(key).copied()).collect();
        let messages: Vec<Message> = messages.into_iter().map(|(_, message)| message).collect();
        let used_turns: HashSet<TurnId> = messages.iter().map(|message| message.turn).collect();
        let calls = self.calls_of(&messages)?;
        let turns = turns.into_iter().filter(|turn| used_turns.contains(&turn.id)).collect();
        Ok(CopiedConversation { turns, calls, context, messages })
    }
}

/// Returns the first message in the context whose calls have no results.
fn unanswered_key(messages: &[(i64, Message)], context: &[i64]) -> Option<i64> {
    let by_key: HashMap<i64, &Message> = messages.iter().map(|(key, message)| (*key, message)).collect();
    let context_messages = context.iter().filter_map(|key| by_key.get(key).map(|message| (*key, *message)));
    let mut unanswered: Option<(i64, HashSet<CallId>)> = None;
    for (key, message) in context_messages {
        if let Some((start, calls)) = unanswered.take() {
            let answered: HashSet<CallId> = results(message).collect();
            if !calls.is_subset(&answered) {
                return Some(start);
            }
        }
        let calls: HashSet<CallId> = message.calls().map(|call| call.id).collect();
        if message.role == Role::Assistant && !calls.is_empty() {
            unanswered = Some((key, calls));
        }
    }
    unanswered.map(|(start, _)| start)
}

fn results(message: &Message) -> impl Iterator<Item = CallId> + '_ {
    message.blocks.iter().filter_map(|block| match block {
        Block::ToolResult(result) => Some(result.call),
        _ => None,
    })
}

/// Returns the same conversation under new ids, without any unfinished part.
fn with_new_ids(copied: CopiedConversation) -> CopiedConversation {
    let mut turns: HashMap<TurnId, TurnId> = HashMap::new();
    let mut calls: HashMap<CallId, CallId> = HashMap::new();
    let mut ids: HashMap<MessageId, MessageId> = HashMap::new();
    let messages: Vec<Message> = copied
        .messages
        .into_iter()
        .map(|mut message| {
            let id = MessageId::new();
            ids.insert(message.id, id);
            message.id = id;
            message.turn = *turns.entry(message.turn).or_default();
            for block in &mut message.blocks {
                rename_calls(block, &mut calls);
            }
            message
        })
        .collect();
    let replaced = |turn: TurnView| {
        let end = turn.end.or(Some(TurnEnd::Stopped));
        let ended_at = turn.ended_at.or(Some(turn.started_at));
        let id = turns.get(&turn.id).copied().unwrap_or_default();
        TurnView { id, end, ended_at, undone: false, ..turn }
    };
    let ended = |call: CallView| {
        let state = match call.state {
            ended @ CallState::Ended { .. } => ended,
            CallState::Planned | CallState::Asking => {
                CallState::Ended { status: CallStatus::Stopped, at: 0, duration_ms: 0 }
            }
            CallState::Started { at } => {
                CallState::Ended { status: CallStatus::Interrupted, at, duration_ms: 0 }
            }
        };
        let id = *calls.get(&call.id)?;
        let turn = turns.get(&call.turn).copied()?;
        Some(CallView { id, turn, state, ..call })
    };
    CopiedConversation {
        turns: copied.turns.into_iter().map(replaced).collect(),
        calls: copied.calls.into_iter().filter_map(ended).collect(),
        context: copied.context.iter().filter_map(|id| ids.get(id).copied()).collect(),
        messages,
    }
}

fn rename_calls(block: &mut Block, calls: &mut HashMap<CallId, CallId>) {
    let mut rename = |call: &mut CallId| *call = *calls.entry(*call).or_default();
    match block {
        Block::ToolCall(call) => rename(&mut call.id),
        Block::ToolResult(result) => rename(&mut result.call),
        Block::CommandsEnded { commands, .. } => {
            commands.iter_mut().for_each(|command| rename(&mut command.call));
        }
        Block::Text { .. }
        | Block::Reasoning { .. }
        | Block::Image { .. }
        | Block::Document { .. }
        | Block::File { .. }
        | Block::Summary { .. }
        | Block::Notice { .. } => {}
    }
}

impl Tx<'_> {
    /// Stores a session that continues another session's conversation from a given point, with that session's
    /// frozen prompt and tools, which keeps the provider's cache valid. Emits [`Event::SessionChanged`] on its
    /// topic and [`Event::SessionListed`] on the list's. Copies nothing that runs or waits, and no ledger
    /// entries.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`]; [`StoreError::UnknownMessage`] for a message the model never saw.
    pub fn create_branch(&mut self, branch: &NewBranch) -> Result<(), StoreError> {
        let parent = self.live_key(branch.from)?.ok_or(StoreError::UnknownSession(branch.from))?;
        let head = self.session(branch.from)?.ok_or(StoreError::UnknownSession(branch.from))?;
        let (_, toolset) = self.frozen_prompt(parent)?.ok_or(StoreError::UnknownSession(branch.from))?;
        let prompt = self.prompt_of(parent)?;
        let copied = renumber_with_last(self.conversation_up_to(parent, self.locate(parent, branch.at)?)?);
        self.insert_session(&branch.info, &prompt, &toolset.hash)?;
        let key = self.require_key(branch.info.id)?;
        let message = match branch.at {
            BranchPoint::Whole => None,
            BranchPoint::Before { .. } | BranchPoint::Through { .. } => copied.last,
        };
        self.put_branch(key, parent, &head.title, message)?;
        let (todos, tokens) = match branch.at {
            BranchPoint::Whole => (Some(self.todos(parent)?), Some(self.retry_and_context_tokens(parent)?.1)),
            BranchPoint::Before { .. } | BranchPoint::Through { .. } => (None, None),
        };
        let todos = todos.unwrap_or_else(|| last_plan(&copied.conversation.calls));
        self.project_todos(key, &todos)?;
        self.write_conversation(branch.info.id, key, &copied.conversation, tokens)?;
        if let BranchPoint::Before { message } = branch.at {
            let draft = self.message_as_draft(parent, message)?;
            self.set_draft(branch.info.id, &draft)?;
        }
        self.announce(&branch.info)
    }

    /// Stores a session with a conversation from a file, with its own prompt and tools. Emits the same events
    /// as [`Tx::create_branch`].
    ///
    /// # Errors
    ///
    /// Errors of the store.
    pub fn create_import(&mut self, import: &NewImport) -> Result<(), StoreError> {
        self.create_session(&import.session)?;
        let id = import.session.info.id;
        let key = self.require_key(id)?;
        self.put_file(key, &import.session.info.title, &import.file)?;
        let copied = with_new_ids(import.conversation.clone());
        self.project_todos(key, &last_plan(&copied.calls))?;
        self.write_conversation(id, key, &copied, None)
    }

    fn announce(&mut self, info: &SessionInfo) -> Result<(), StoreError> {
        self.emit(StoredTopic::Session { id: info.id }, Event::SessionChanged { info: info.clone() })?;
        self.emit(StoredTopic::Sessions, Event::SessionListed { info: info.clone() })?;
        Ok(())
    }

    /// Writes a conversation into a session that has none. `tokens` is its size in the model's window, if known
    /// more precisely than from its last answer.
    fn write_conversation(
        &mut self,
        id: SessionId,
        key: SessionKey,
        copied: &CopiedConversation,
        tokens: Option<u64>,
    ) -> Result<(), StoreError> {
        for turn in &copied.turns {
            self.project_turn_started(key, turn)?;
        }
        for message in &copied.messages {
            self.project_message(key, message, MessageState::Whole)?;
        }
        for call in &copied.calls {
            self.project_call(key, call)?;
        }
        for message in &copied.context {
            self.append_context(id, *message)?;
        }
        let in_context: HashSet<MessageId> = copied.context.iter().copied().collect();
        let counted = copied.messages.iter().rev().filter(|message| in_context.contains(&message.id));
        let last_tokens =
            counted.filter_map(|message| message.meta.usage).map(|usage| usage.context_tokens()).next();
        self.project_context_tokens(key, tokens.or(last_tokens).unwrap_or(0))
    }

    /// Returns the text and attachments of one of the person's messages, as a draft.
    fn message_as_draft(&self, session: SessionKey, message: MessageId) -> Result<Draft, StoreError> {
        let key = self.message_key(session, message)?;
        let found = self.messages_between(session, key, key, 1)?;
        let mut draft = Draft::default();
        for (_, message) in found {
            draft.text = message.text();
            draft.attachments = message
                .blocks
                .into_iter()
                .filter(|block| {
                    matches!(block, Block::Image { .. } | Block::Document { .. } | Block::File { .. })
                })
                .collect();
        }
        Ok(draft)
    }
}

/// A conversation with the previous id of its last message.
struct RenumberedConversation {
    conversation: CopiedConversation,
    last: Option<MessageId>,
}

fn renumber_with_last(copied: CopiedConversation) -> RenumberedConversation {
    let last_message = copied.messages.last().map(|message| message.id);
    RenumberedConversation { conversation: with_new_ids(copied), last: last_message }
}

/// Returns the plan after the last call that changed it.
fn last_plan(calls: &[CallView]) -> Vec<octo_protocol::Todo> {
    let plan = calls.iter().rev().find_map(|call| match &call.view {
        Some(ToolView::Todos { todos }) => Some(todos.clone()),
        _ => None,
    });
    plan.unwrap_or_default()
}
