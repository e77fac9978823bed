//! The messages of a session that the model sees. Within a generation, messages are only appended.

use crate::{compaction, pairing::pair_results};
use octo_protocol::{Block, Message, MessageId, NoticeKind, Origin, Role, ToolCall, TurnId};
use std::ops::Deref;

/// The messages that the model sees, oldest first. Read like a slice.
pub(super) struct Conversation(Vec<Message>);

/// The calls of a turn. Only the calls of its last message may lack results.
pub(super) struct TurnCalls {
    answer_count: usize,
    closed_calls: Vec<ToolCall>,
    open: Option<(MessageId, Vec<ToolCall>)>,
}

impl TurnCalls {
    /// Returns the number of the model's messages in the turn.
    pub(super) fn answer_count(&self) -> usize {
        self.answer_count
    }

    /// Returns the calls that have results in the conversation.
    pub(super) fn closed_calls(&self) -> &[ToolCall] {
        &self.closed_calls
    }

    /// Returns the message whose calls have no results.
    pub(super) fn open_message(&self) -> Option<MessageId> {
        self.open.as_ref().map(|(message, _)| *message)
    }

    /// Returns the calls without results, each with its message.
    pub(super) fn open(&self) -> impl Iterator<Item = (MessageId, &ToolCall)> {
        self.open.iter().flat_map(|(message, calls)| calls.iter().map(|call| (*message, call)))
    }
}

impl Deref for Conversation {
    type Target = [Message];

    fn deref(&self) -> &[Message] {
        &self.0
    }
}

impl Conversation {
    pub(super) fn new(messages: Vec<Message>) -> Self {
        Self(messages)
    }

    /// Returns the messages in the form that is sent: every call has a result.
    pub(super) fn with_paired_results(&self) -> Vec<Message> {
        pair_results(&self.0).into_owned()
    }

    /// Returns the estimated size in tokens.
    pub(super) fn tokens(&self) -> u64 {
        self.0.iter().map(compaction::estimate).sum()
    }

    pub(super) fn ids(&self) -> Vec<MessageId> {
        self.0.iter().map(|message| message.id).collect()
    }

    pub(super) fn add(&mut self, message: Message) {
        self.0.push(message);
    }

    /// Returns the last message if it has this id.
    pub(super) fn last_mut(&mut self, id: MessageId) -> Option<&mut Message> {
        self.0.last_mut().filter(|message| message.id == id)
    }

    /// Whether the last message has this id and is empty.
    pub(super) fn ends_empty(&self, id: MessageId) -> bool {
        self.0.last().is_some_and(|message| message.id == id && message.blocks.is_empty())
    }

    /// Whether the last message has this id and makes no calls.
    pub(super) fn ends_without_calls(&self, id: MessageId) -> bool {
        self.0.last().is_some_and(|message| message.id == id && message.calls().next().is_none())
    }

    /// Removes the last message if it has this id.
    pub(super) fn remove_last(&mut self, id: MessageId) {
        self.0.pop_if(|message| message.id == id);
    }

    /// Replaces all messages.
    pub(super) fn replace(&mut self, messages: Vec<Message>) {
        self.0 = messages;
    }

    /// Replaces this number of messages at the start with a summary.
    pub(super) fn replace_start(&mut self, count: usize, summary: Message) {
        let kept = self.0.split_off(count.min(self.0.len()));
        self.0 = std::iter::once(summary).chain(kept).collect();
    }

    /// Returns the newest notice about date, model and folder.
    pub(super) fn surroundings(&self) -> Option<&Block> {
        let mut blocks = self.0.iter().rev().flat_map(|message| message.blocks.iter().rev());
        blocks.find(|block| matches!(block, Block::Notice { kind: NoticeKind::Context, .. }))
    }

    /// Returns the texts of the notices about new skills.
    pub(super) fn skill_notices(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.iter().flat_map(|message| &message.blocks).filter_map(|block| match block {
            Block::Notice { kind: NoticeKind::NewSkills, text } => Some(text.as_str()),
            _ => None,
        })
    }

    /// Returns the model's last text of a turn.
    pub(super) fn last_answer(&self, turn: TurnId) -> Option<String> {
        let mut answers = self
            .0
            .iter()
            .rev()
            .filter(|message| message.turn == turn && message.role == Role::Assistant)
            .map(Message::text);
        answers.find(|text| !text.trim().is_empty())
    }

    /// Returns the person's message of a turn, or of the turn it continues.
    pub(super) fn request_of(&self, turn: TurnId) -> Option<String> {
        let request = |turn: TurnId| {
            self.0.iter().find(|message| message.turn == turn && message.meta.origin == Origin::Person)
        };
        self.requesting_turns(turn).into_iter().find_map(request).map(Message::text)
    }

    /// Returns a turn and, if it has no message of the person, the earlier turns it continues: a turn restarted
    /// after a stop or a failure still answers the request of an earlier one. A turn without messages counts as
    /// the last one.
    pub(super) fn requesting_turns(&self, turn: TurnId) -> Vec<TurnId> {
        let mut turns = vec![turn];
        let mut current = turn;
        loop {
            let start = self.0.iter().position(|message| message.turn == current).unwrap_or(self.0.len());
            let has_words =
                self.0.iter().any(|message| message.turn == current && message.meta.origin == Origin::Person);
            let Some(previous) = start.checked_sub(1).and_then(|previous| self.0.get(previous)) else {
                break;
            };
            // A turn started by the end of a command follows an answer directly; a turn restarted after an
            // answer has a notice first.
            let tells_ends = |message: &Message| {
                message.blocks.iter().any(|block| matches!(block, Block::CommandsEnded { .. }))
            };
            let by_itself = previous.role == Role::Assistant && self.0.get(start).is_some_and(tells_ends);
            if has_words || by_itself || turns.contains(&previous.turn) {
                break;
            }
            current = previous.turn;
            turns.push(current);
        }
        turns
    }

    /// Returns the calls that a turn made.
    pub(super) fn calls_of(&self, turn: TurnId) -> TurnCalls {
        let mut calls = TurnCalls { answer_count: 0, closed_calls: Vec::new(), open: None };
        for message in self.0.iter().filter(|message| message.turn == turn) {
            if message.role == Role::Assistant {
                calls.answer_count += 1;
                let calls_made: Vec<ToolCall> = message.calls().cloned().collect();
                calls.open = (!calls_made.is_empty()).then_some((message.id, calls_made));
            } else if message.blocks.iter().any(|block| matches!(block, Block::ToolResult(_)))
                && let Some((_, open_calls)) = calls.open.take()
            {
                calls.closed_calls.extend(open_calls);
            }
        }
        calls
    }
}
