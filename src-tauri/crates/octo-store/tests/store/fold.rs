//! Whatever was emitted, reading the tables equals folding the events.

use crate::{emit_all, home, new, sample};
use octo_protocol::*;
use octo_store::{Reader, Store, StoreError};
use proptest::{collection::vec, prelude::*};
use std::collections::{BTreeMap, BTreeSet};

/// The state of a session derived from its events: an independent implementation without tables.
#[derive(Clone, Debug)]
pub struct Fold {
    pub seq: u64,
    pub info: Option<SessionInfo>,
    pub messages: Vec<Message>,
    pub open: BTreeSet<MessageId>,
    pub turns: Vec<TurnView>,
    pub calls: BTreeMap<CallId, CallView>,
    pub questions: Vec<Question>,
    pub queue: Vec<QueuedMessage>,
    pub todos: Vec<Todo>,
    pub commands: Vec<BackgroundCommand>,
    pub todo_last_id: u32,
    pub retry: Option<Retry>,
    pub context_tokens: u64,
    pub spending: Spending,
    pub suggestion: Option<Suggestion>,
    pub budget: Option<BudgetStop>,
    /// Without the times, which the store adds.
    pub notes: Vec<(u64, NoteKind, ApiError)>,
}

impl Fold {
    pub fn new() -> Self {
        Self {
            seq: 0,
            info: None,
            messages: Vec::new(),
            open: BTreeSet::new(),
            turns: Vec::new(),
            calls: BTreeMap::new(),
            questions: Vec::new(),
            queue: Vec::new(),
            todos: Vec::new(),
            commands: Vec::new(),
            todo_last_id: 0,
            retry: None,
            context_tokens: 0,
            spending: Spending::default(),
            suggestion: None,
            budget: None,
            notes: Vec::new(),
        }
    }

    fn message(&mut self, id: MessageId) -> &mut Message {
        self.messages.iter_mut().find(|message| message.id == id).unwrap()
    }

    pub fn apply(&mut self, event: &Event) {
        self.seq += 1;
        match event {
            Event::SessionChanged { info } => self.info = Some(info.clone()),
            Event::TurnStarted { turn } => {
                self.turns.push(turn.clone());
                self.suggestion = None;
            }
            Event::Suggested { suggestion } => self.suggestion = Some(suggestion.clone()),
            Event::BudgetReached { stop } => self.budget = Some(*stop),
            Event::BudgetAnswered => self.budget = None,
            Event::MessageAdded { message } => self.messages.push(message.clone()),
            Event::MessageStarted { message } => {
                self.messages.push(message.clone());
                self.open.insert(message.id);
            }
            Event::BlockAdded { message, block, .. } => self.message(*message).blocks.push(block.clone()),
            Event::MessageEnded { message, end, usage } => {
                let meta = &mut self.message(*message).meta;
                (meta.end, meta.usage) = (Some(*end), *usage);
                self.open.remove(message);
                self.context_tokens = usage.map_or(self.context_tokens, |usage| usage.context_tokens());
            }
            Event::MessageDiscarded { message } => {
                let discarded_calls: Vec<CallId> =
                    self.message(*message).calls().map(|call| call.id).collect();
                self.calls.retain(|id, _| !discarded_calls.contains(id));
                self.messages.retain(|stored_message| stored_message.id != *message);
                self.open.remove(message);
            }
            Event::CallChanged { call } => drop(self.calls.insert(call.id, call.clone())),
            Event::QuestionAsked { question } => self.questions.push(question.clone()),
            Event::QuestionClosed { question, .. } => self.questions.retain(|open| open.id != *question),
            Event::TodosChanged { todos } => {
                self.todo_last_id =
                    todos.iter().map(|todo| todo.id).chain([self.todo_last_id]).max().unwrap();
                self.todos = todos.clone();
            }
            Event::QueueChanged { queue } => self.queue = queue.clone(),
            Event::CommandsChanged { commands } => self.commands = commands.clone(),
            Event::RetryScheduled { retry } => self.retry = Some(retry.clone()),
            Event::RetryStarted => self.retry = None,
            Event::TurnEnded { turn } => {
                *self.turns.iter_mut().find(|started| started.id == turn.id).unwrap() = turn.clone();
                self.retry = None;
            }
            Event::CallBilled { call } => self.spending += call,
            Event::ContextCompacted { tokens } => self.context_tokens = *tokens,
            // Says only how the turn will end.
            Event::TurnStopping { .. } | Event::CompactionStarted | Event::TasksChanged => {}
            Event::WentTo { task: _, undone } => {
                self.turns.iter_mut().for_each(|turn| turn.undone = undone.contains(&turn.id));
            }
            Event::CommandAnswered { note } => self.notes.push((self.seq, NoteKind::Answer, note.clone())),
            Event::CompactionFailed { error } => {
                self.notes.push((self.seq, NoteKind::NotCompacted, error.clone()));
            }
            Event::SessionListed { .. }
            | Event::SessionRemoved { .. }
            | Event::SettingsChanged { .. }
            | Event::TrashChanged { .. } => {
                panic!("not of a session")
            }
        }
    }

    /// Returns the expected snapshot; the session's events, from the first, provide the times of storing.
    pub fn snapshot(&self, events: &[Envelope]) -> SessionSnapshot {
        let time_of = |seq: u64| events.iter().find(|envelope| envelope.seq == seq).unwrap().at;
        let calls = self.messages.iter().flat_map(Message::calls).filter_map(|call| self.calls.get(&call.id));
        let mentioned: BTreeSet<TurnId> = self.messages.iter().map(|message| message.turn).collect();
        SessionSnapshot {
            seq: self.seq,
            info: self.info.clone().unwrap(),
            page: TranscriptPage {
                messages: self.messages.clone(),
                turns: self.turns.iter().filter(|turn| mentioned.contains(&turn.id)).cloned().collect(),
                calls: calls.cloned().collect(),
                earlier: false,
            },
            questions: self.questions.clone(),
            queue: self.queue.clone(),
            todos: self.todos.clone(),
            commands: self.commands.clone(),
            streaming: Vec::new(),
            retry: self.retry.clone(),
            draft: Draft::default(),
            notes: self
                .notes
                .iter()
                .map(|(seq, kind, notice)| Note {
                    seq: *seq,
                    at: time_of(*seq),
                    kind: *kind,
                    note: notice.clone(),
                })
                .collect(),
            context_tokens: self.context_tokens,
            spending: self.spending,
            suggestion: self.suggestion.clone(),
            budget: self.budget,
            fork: None,
            origin: None,
        }
    }
}

/// Reads everything of a topic through `events_since` in small batches.
pub fn all_events(reader: &Reader<'_>, topic: StoredTopic) -> Result<Vec<Envelope>, StoreError> {
    let mut events: Vec<Envelope> = Vec::new();
    loop {
        let more = reader.events_since(&topic, events.len() as u64, 7)?;
        if more.is_empty() {
            return Ok(events);
        }
        events.extend(more);
    }
}

const TEXTS: [&str; 8] = [
    "",
    "plain words",
    "quotes \" and \\ and 'single'",
    "中文的内容，不分词",
    "a\0b",
    "line\r\nline\ttab",
    "🐙 e\u{301}\u{202e}",
    "%_*\" OR 1=1 --",
];

/// Picks a possible next event. `salt` decides everything that is free.
fn next(fold: &Fold, kind: u8, salt: u16) -> Option<Event> {
    let n = usize::from(salt);
    let text = TEXTS[n % TEXTS.len()];
    let open_turn = fold.turns.iter().rev().find(|turn| turn.end.is_none()).cloned();
    let turn = open_turn.as_ref().map_or_else(TurnId::new, |turn| turn.id);
    let open_message = fold.open.iter().nth(n % fold.open.len().max(1)).copied();
    let error = ApiError::new("provider.overloaded").arg("words", text).detail(text).retryable();
    Some(match kind {
        0 => {
            let mut info = fold.info.clone()?;
            info.title = format!("{text} {n}");
            info.pinned = n % 2 == 0;
            info.status =
                [SessionStatus::Idle, SessionStatus::Running, SessionStatus::Waiting, SessionStatus::Failed]
                    [n % 4];
            info.mode = [Mode::Ask, Mode::AskRisky, Mode::Autonomous][n % 3];
            info.model = (n % 5 > 0).then(ModelId::new);
            info.usage = sample::usage(u64::from(salt));
            Event::SessionChanged { info }
        }
        1 => match open_turn {
            None => Event::TurnStarted { turn: sample::turn() },
            Some(mut turn) => {
                turn.ended_at = Some(9_000 + i64::from(salt));
                turn.end = Some(match n % 3 {
                    0 => TurnEnd::Finished,
                    1 => TurnEnd::Stopped,
                    _ => TurnEnd::Failed { error },
                });
                turn.usage = sample::usage(u64::from(salt));
                Event::TurnEnded { turn }
            }
        },
        2 => {
            let blocks = TEXTS.iter().cycle().skip(n).take(n % 4).map(|text| sample::text(text)).collect();
            let message = if n % 3 == 0 { sample::octo(turn, blocks) } else { sample::person(turn, blocks) };
            Event::MessageAdded { message }
        }
        3 => {
            let called = fold.messages.iter().flat_map(Message::calls).nth(n % 7)?.id;
            let images = vec![ResultImage {
                blob: BlobHash("00".repeat(32)),
                media_type: "image/png".to_owned(),
                name: text.to_owned(),
            }];
            let result = ToolResult { images, text: text.to_owned(), ..sample::result(called) };
            let notice = Block::Notice { kind: NoticeKind::Todos, text: text.to_owned() };
            Event::MessageAdded { message: sample::octo(turn, vec![Block::ToolResult(result), notice]) }
        }
        4 | 5 => Event::MessageStarted { message: sample::model(turn) },
        6..=9 => {
            let message = open_message?;
            let index = fold.messages.iter().find(|open| open.id == message)?.blocks.len();
            let block = match n % 4 {
                0 => sample::tool_call(CallId::new()),
                1 => Block::Reasoning {
                    text: text.to_owned(),
                    replay: Some(Replay {
                        provider: "anthropic".to_owned(),
                        raw: serde_json::json!({ "b": 1, "a": text }),
                    }),
                },
                _ => sample::text(text),
            };
            Event::BlockAdded { message, index: u32::try_from(index).unwrap(), block }
        }
        10 => {
            let end =
                [MessageEnd::Complete, MessageEnd::Truncated, MessageEnd::Stopped, MessageEnd::Cut][n % 4];
            let usage = (n % 3 > 0).then(|| sample::usage(u64::from(salt)));
            Event::MessageEnded { message: open_message?, end, usage }
        }
        11 => Event::MessageDiscarded { message: open_message? },
        12 | 13 => {
            let call_ids: Vec<CallId> =
                fold.messages.iter().flat_map(Message::calls).map(|call| call.id).collect();
            let id = *call_ids.get(n % call_ids.len().max(1))?;
            let state = match n % 4 {
                0 => CallState::Planned,
                1 => CallState::Asking,
                2 => CallState::Started { at: i64::from(salt) },
                _ => sample::ended(),
            };
            let mut call = sample::call(id, turn, state);
            call.view = (n % 5 > 0).then(|| ToolView::Plain { text: text.to_owned() });
            Event::CallChanged { call }
        }
        14 => match fold.questions.first() {
            Some(question) if n % 2 == 0 => {
                let reply = (n % 4 == 0).then(|| Answer::No { reason: Some(text.to_owned()) });
                Event::QuestionClosed { question: question.id, answer: reply }
            }
            _ => {
                let content = QuestionContent::Feedback {
                    question: text.to_owned(),
                    context: None,
                    options: vec![text.to_owned()],
                };
                let tool = "request_user_feedback".to_owned();
                Event::QuestionAsked {
                    question: Question {
                        id: QuestionId::new(),
                        call: CallId::new(),
                        tool,
                        ask: content,
                        at: 1,
                    },
                }
            }
        },
        15 => {
            let number = u32::from(salt % 50);
            let todo = |id| Todo { id, task: text.to_owned(), status: TodoStatus::InProgress };
            Event::TodosChanged { todos: (number..number + u32::from(salt % 4)).map(todo).collect() }
        }
        16 => {
            let queued =
                |_| QueuedMessage { id: QueuedId::new(), blocks: vec![sample::text(text)], at: 3, via: None };
            Event::QueueChanged { queue: (0..n % 3).map(queued).collect() }
        }
        17 => Event::RetryScheduled { retry: Retry { attempt: 2, attempts: 5, at: i64::from(salt), error } },
        18 => Event::RetryStarted,
        19 => {
            let states = [
                CommandState::Running,
                CommandState::Exited { code: i32::from(salt) - 9 },
                CommandState::EndedWithOcto,
            ];
            let command = |command_at: usize| BackgroundCommand {
                handle: format!("{salt}-{command_at}"),
                call: CallId::new(),
                command: text.to_owned(),
                cwd: "/home/me".to_owned(),
                started_at: i64::from(salt),
                ended_at: (command_at > 0).then_some(7),
                state: states[(n + command_at) % 3],
                log: (n % 2 == 0).then(|| text.to_owned()),
                last_line: text.to_owned(),
            };
            Event::CommandsChanged { commands: (0..n % 4).map(command).collect() }
        }
        _ => Event::CommandAnswered { note: error },
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn tables_equal_the_folded_events(
        steps in vec((0u8..21, any::<u16>()), 1..90), batch in 1usize..6, page in 1u32..6,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(check(steps, batch, page))?;
    }
}

async fn check(steps: Vec<(u8, u16)>, batch: usize, page: u32) -> Result<(), TestCaseError> {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let info = sample::head("first");
    let id = info.id;
    let topic = StoredTopic::Session { id };
    let created = new(info.clone());
    store.write(move |tx| tx.create_session(&created)).await.unwrap();
    let mut published = store.published();

    let mut fold = Fold::new();
    fold.apply(&Event::SessionChanged { info: info.clone() });
    let mut events = vec![Event::SessionChanged { info }];
    for (kind, salt) in steps {
        if let Some(event) = next(&fold, kind, salt) {
            fold.apply(&event);
            events.push(event);
        }
    }
    // The model sees every message.
    for chunk in events[1..].chunks(batch) {
        let chunk = chunk.to_vec();
        store
            .write(move |tx| {
                for event in chunk {
                    let added = match &event {
                        Event::MessageAdded { message } | Event::MessageStarted { message } => {
                            Some(message.id)
                        }
                        _ => None,
                    };
                    emit_all(tx, id, vec![event])?;
                    if let Some(message) = added {
                        tx.append_context(id, message)?;
                    }
                }
                Ok(())
            })
            .await
            .unwrap();
    }

    let (snapshot, stored, resumed) = store
        .read(move |reader| Ok((reader.snapshot(id, 1000)?, all_events(reader, topic)?, reader.resume(id)?)))
        .await
        .unwrap();
    prop_assert_eq!(snapshot.unwrap(), fold.snapshot(&stored));
    prop_assert_eq!(
        stored.iter().map(|envelope| envelope.seq).collect::<Vec<_>>(),
        (1..=fold.seq).collect::<Vec<_>>()
    );
    prop_assert_eq!(stored.iter().map(|envelope| envelope.event.clone()).collect::<Vec<_>>(), events);
    for envelope in &stored[1..] {
        prop_assert_eq!(envelope, &*published.try_recv().unwrap());
    }
    prop_assert!(published.try_recv().is_err());

    // Small pages, joined, equal the whole.
    let mut messages: Vec<Message> = Vec::new();
    loop {
        let before = messages.first().map(|message| message.id);
        let part = store.read(move |reader| reader.page(id, before, page)).await.unwrap();
        prop_assert!(part.messages.len() <= page as usize);
        messages.splice(0..0, part.messages);
        if !part.earlier {
            break;
        }
    }
    prop_assert_eq!(&messages, &fold.messages);

    let resumed = resumed.unwrap();
    let unfinished = fold.turns.iter().rev().find(|turn| turn.end.is_none());
    prop_assert_eq!(&resumed.context, &fold.messages);
    prop_assert_eq!(resumed.unfinished.as_ref().map(|turn| &turn.turn), unfinished);
    prop_assert_eq!(resumed.last_turn.as_ref(), fold.turns.last());
    prop_assert_eq!(resumed.todo_last_id, fold.todo_last_id);
    if let Some(turn) = &resumed.unfinished {
        let of_turn = fold.messages.iter().filter(|message| message.turn == turn.turn.id);
        prop_assert_eq!(&turn.messages, &of_turn.clone().map(|message| message.id).collect::<Vec<_>>());
        let open = of_turn.rev().find(|message| fold.open.contains(&message.id)).map(|message| message.id);
        prop_assert_eq!(turn.open_message, open);
        let calls: BTreeMap<CallId, CallView> =
            turn.calls.iter().map(|call| (call.view.id, call.view.clone())).collect();
        let mut expected = fold.calls.clone();
        expected.retain(|_, call| call.turn == turn.turn.id);
        prop_assert_eq!(calls, expected);
    }

    store.close();
    let store = Store::open(home.path()).unwrap();
    let (second_read, reopened) =
        store.read(move |reader| Ok((reader.resume(id)?, reader.snapshot(id, 1000)?))).await.unwrap();
    prop_assert_eq!(second_read.unwrap(), resumed);
    prop_assert_eq!(reopened.unwrap(), fold.snapshot(&stored));
    store.close();
    Ok(())
}
