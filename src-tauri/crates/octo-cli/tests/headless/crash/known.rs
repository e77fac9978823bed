//! Everything reported to a client, checked against later starts.

use octo_protocol::{
    Block, CallId, CallState, CallStatus, CallView, Envelope, Event, Message, MessageEnd, MessageId, Origin,
    Question, QuestionId, SessionSnapshot, ToolResult, TurnEnd, TurnId,
};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Situations a campaign met; a campaign that met none proves nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct CrashSituations {
    /// Questions that were still open after a kill.
    pub waiting: usize,
    /// Calls that ended as interrupted, effect unknown.
    pub interrupted: usize,
    /// Model messages that were cut off.
    pub cut: usize,
    /// Sent messages that were still in the queue.
    pub queued: usize,
}

/// Everything that killed processes had reported to a client.
#[derive(Debug, Default)]
pub struct ClientReport {
    pub situations: CrashSituations,
    last: u64,
    messages: BTreeMap<MessageId, Message>,
    discarded: HashSet<MessageId>,
    calls: HashMap<CallId, CallView>,
    questions: HashMap<QuestionId, Question>,
    /// Questions reported as closed, and those answered without a confirmation.
    closed: HashSet<QuestionId>,
    answered: HashSet<QuestionId>,
    ended: HashMap<TurnId, TurnEnd>,
}

impl ClientReport {
    /// Records a sent answer; whether it arrived is checked later.
    pub fn answered(&mut self, question: QuestionId) {
        self.answered.insert(question);
    }

    /// Takes a snapshot as the starting point for later checks.
    pub fn begin(&mut self, now: &SessionSnapshot) {
        let waits = |id: &QuestionId| now.questions.iter().any(|question| question.id == *id);
        self.situations.waiting += self.questions.keys().filter(|id| waits(id)).count();
        self.situations.queued += now.queue.len();
        let ended = |call: &CallView| matches!(call.state, CallState::Ended { .. });
        let before: HashSet<CallId> =
            self.calls.values().filter(|call| ended(call)).map(|call| call.id).collect();
        self.situations.interrupted += now
            .page
            .calls
            .iter()
            .filter(|call| {
                let interrupted = CallStatus::Interrupted;
                matches!(call.state, CallState::Ended { status, .. } if status == interrupted)
                    && !before.contains(&call.id)
            })
            .count();
        let is_cut = |message: &&Message| message.meta.end == Some(MessageEnd::Cut);
        self.situations.cut = now.page.messages.iter().filter(is_cut).count();
        self.last = now.seq;
        self.messages = now.page.messages.iter().map(|message| (message.id, message.clone())).collect();
        self.calls = now.page.calls.iter().map(|call| (call.id, call.clone())).collect();
        self.closed.extend(self.questions.keys().copied().filter(|id| !waits(id)));
        self.questions.extend(now.questions.iter().map(|question| (question.id, question.clone())));
        self.answered.retain(|id| !waits(id));
        let ended = now.page.turns.iter().filter_map(|turn| Some((turn.id, turn.end.clone()?)));
        self.ended.extend(ended);
    }

    /// Records the events a process reported after the snapshot: every number, without gaps.
    pub fn take<'a>(&mut self, events: impl Iterator<Item = &'a Envelope>) {
        for envelope in events.filter(|envelope| envelope.seq > self.last).collect::<Vec<_>>() {
            assert_eq!(envelope.seq, self.last + 1, "numbers go on without a gap: {:?}", envelope.event);
            self.last = envelope.seq;
            self.learn(&envelope.event);
        }
    }

    fn learn(&mut self, event: &Event) {
        match event {
            Event::MessageAdded { message } | Event::MessageStarted { message } => {
                let before = self.messages.insert(message.id, message.clone());
                assert!(before.is_none(), "told twice: {message:?}");
            }
            Event::BlockAdded { message, index, block } => {
                let open = self.messages.get_mut(message).expect("a block belongs to a message that began");
                assert_eq!(open.blocks.len(), *index as usize, "blocks come in order, each once");
                open.blocks.push(block.clone());
            }
            Event::MessageDiscarded { message } => {
                self.messages.remove(message);
                self.discarded.insert(*message);
            }
            Event::CallChanged { call } => {
                let before = self.calls.insert(call.id, call.clone());
                if let Some(CallView { state: CallState::Ended { .. }, .. }) = before {
                    panic!("a call that had ended changed: {call:?}");
                }
            }
            Event::QuestionAsked { question } => {
                let before = self.questions.insert(question.id, question.clone());
                assert!(before.is_none(), "asked twice: {question:?}");
            }
            Event::QuestionClosed { question, .. } => {
                assert!(self.closed.insert(*question), "closed twice: {question}");
            }
            Event::TurnEnded { turn } => {
                let end = turn.end.clone().expect("a turn that ended says how");
                assert!(self.ended.insert(turn.id, end).is_none(), "ended twice: {turn:?}");
            }
            Event::SessionChanged { .. }
            | Event::TurnStarted { .. }
            | Event::MessageEnded { .. }
            | Event::TodosChanged { .. }
            | Event::QueueChanged { .. }
            | Event::RetryScheduled { .. }
            | Event::RetryStarted
            | Event::TurnStopping { .. }
            | Event::CallBilled { .. }
            | Event::Suggested { .. }
            | Event::BudgetReached { .. }
            | Event::BudgetAnswered
            | Event::CompactionStarted
            | Event::CommandsChanged { .. }
            | Event::TasksChanged
            | Event::WentTo { .. }
            | Event::CompactionFailed { .. }
            | Event::ContextCompacted { .. }
            | Event::CommandAnswered { .. } => {}
            Event::SessionListed { .. }
            | Event::SessionRemoved { .. }
            | Event::SettingsChanged { .. }
            | Event::TrashChanged { .. } => {
                panic!("no event of a session: {event:?}")
            }
        }
    }

    /// Checks a later process's snapshot against everything known.
    pub fn check(&self, now: &SessionSnapshot) {
        assert!(now.seq >= self.last, "the numbers went back from {} to {}", self.last, now.seq);
        self.check_messages(now);
        self.check_calls(now);
        for question in self.questions.values() {
            if !self.closed.contains(&question.id) && !self.answered.contains(&question.id) {
                assert!(
                    now.questions.contains(question),
                    "no longer waits: {question:?}\nbut {:?}",
                    now.questions
                );
            }
        }
        for question in &now.questions {
            assert!(!self.closed.contains(&question.id), "waits again though it was closed: {question:?}");
        }
        for (turn, end) in &self.ended {
            let shown =
                now.page.turns.iter().find(|shown| shown.id == *turn).expect("a turn that was told is there");
            assert_eq!(shown.end.as_ref(), Some(end));
        }
        check_pairs(now);
    }

    fn check_messages(&self, now: &SessionSnapshot) {
        let ids: Vec<MessageId> = now.page.messages.iter().map(|message| message.id).collect();
        assert!(ids.is_sorted_by(|one, other| one < other), "messages in order, each once: {ids:?}");
        for event_message in self.messages.values() {
            let Some(shown) = now.page.messages.iter().find(|message| message.id == event_message.id) else {
                // The restart may discard a message without a complete block.
                assert!(event_message.blocks.is_empty(), "lost: {event_message:?}");
                continue;
            };
            assert_eq!((shown.role, shown.turn), (event_message.role, event_message.turn));
            let whole = shown.blocks.get(..event_message.blocks.len());
            assert_eq!(whole, Some(&event_message.blocks[..]), "every block that was told is there");
        }
        for id in &ids {
            assert!(!self.discarded.contains(id), "shown though it was taken back: {id}");
        }
    }

    fn check_calls(&self, now: &SessionSnapshot) {
        for event_call in self.calls.values() {
            let shown = now.page.calls.iter().find(|call| call.id == event_call.id);
            let shown = shown.unwrap_or_else(|| panic!("lost: {event_call:?}"));
            match event_call.state {
                CallState::Planned | CallState::Asking => {}
                // It ended before the kill without a report, or the restart ended it.
                CallState::Started { .. } => {
                    let CallState::Ended { status, .. } = shown.state else {
                        panic!("it had started, and is run again: {shown:?}")
                    };
                    if status == CallStatus::Interrupted
                        && let Some(result) = result_of(now, event_call.id)
                    {
                        assert!(result.text.contains("effect unknown"), "{}", result.text);
                    }
                }
                CallState::Ended { .. } => assert_eq!(shown, event_call, "what had ended stays as it was"),
            }
        }
    }
}

/// Checks that every call has at most one result, in the message after it, and exactly one once its turn
/// continued.
pub fn check_pairs(now: &SessionSnapshot) {
    let mut results: HashMap<CallId, usize> = HashMap::new();
    for block in now.page.messages.iter().flat_map(|message| &message.blocks) {
        if let Block::ToolResult(result) = block {
            *results.entry(result.call).or_default() += 1;
        }
    }
    let mut calls = HashSet::new();
    for (place, message) in now.page.messages.iter().enumerate() {
        let went_on = now
            .page
            .messages
            .get(place + 1..)
            .is_some_and(|later| later.iter().any(|later| later.meta.origin == Origin::Model));
        for call in message.calls() {
            assert!(calls.insert(call.id), "a call twice: {call:?}");
            let count = results.get(&call.id).copied().unwrap_or(0);
            assert!(count <= 1, "{count} results: {call:?}");
            assert!(count == 1 || !went_on, "the model went on without a result: {call:?}");
        }
    }
    for call in results.keys() {
        assert!(calls.contains(call), "a result of no call: {call}");
    }
}

/// Returns a call's result once it is part of the conversation.
pub fn result_of(now: &SessionSnapshot, call: CallId) -> Option<&ToolResult> {
    now.page.messages.iter().flat_map(|message| &message.blocks).find_map(|block| match block {
        Block::ToolResult(result) if result.call == call => Some(result),
        _ => None,
    })
}

/// Counts the occurrences of the person's message, in the transcript or the queue.
pub fn count(now: &SessionSnapshot, content: &str) -> usize {
    let text_of = |blocks: &[Block]| {
        blocks.iter().any(|block| matches!(block, Block::Text { text } if text == content))
    };
    let messages_there = now.page.messages.iter().filter(|message| message.meta.origin == Origin::Person);
    messages_there.filter(|message| text_of(&message.blocks)).count()
        + now.queue.iter().filter(|queued| text_of(&queued.blocks)).count()
}
