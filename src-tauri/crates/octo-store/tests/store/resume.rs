//! Data other than events: the context, results, drafts, settings, rules, leases.

use crate::{create, emit, emit_all, home, new, sample};
use octo_protocol::*;
use octo_store::{Holder, HolderState, LeaseOutcome, NewSession, Store, StoreError, ToolsetRow};

#[tokio::test]
async fn an_interrupted_turn_resumes_with_its_calls_and_results() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let info = sample::head("cut");
    let id = info.id;
    create(&store, &info).await;
    let turn = sample::turn();
    let person_message = sample::person(turn.id, vec![sample::text("go")]);
    let reply = sample::model(turn.id);
    let calls = [CallId::new(), CallId::new(), CallId::new()];
    let states = [sample::ended(), CallState::Started { at: 5 }, CallState::Asking];
    let question = Question {
        id: QuestionId::new(),
        call: calls[2],
        tool: "terminal".to_owned(),
        ask: QuestionContent::Permission {
            preview: ToolView::Plain { text: "rm x".to_owned() },
            reason: AskReason::Unparsed,
            rule: None,
        },
        at: 7,
    };
    let mut events = vec![
        Event::TurnStarted { turn: turn.clone() },
        Event::MessageAdded { message: person_message.clone() },
        Event::MessageStarted { message: reply.clone() },
    ];
    for (index, call) in (0..).zip(calls) {
        events.push(Event::BlockAdded { message: reply.id, index, block: sample::tool_call(call) });
        events.push(Event::CallChanged { call: sample::call(call, turn.id, CallState::Planned) });
    }
    for (call, state) in calls.into_iter().zip(states.clone()) {
        events.push(Event::CallChanged { call: sample::call(call, turn.id, state) });
    }
    events.push(Event::QuestionAsked { question: question.clone() });
    let (person, model) = (person_message.id, reply.id);
    store
        .write(move |tx| {
            emit_all(tx, id, events)?;
            tx.append_context(id, person)?;
            tx.append_context(id, model)?;
            tx.set_call(calls[0], &sample::result(calls[0]))?;
            tx.set_draft(id, &typed("half a thought"))
        })
        .await
        .unwrap();
    store.close();

    let store = Store::open(home.path()).unwrap();
    let unfinished = store.read(|reader| reader.unfinished_sessions(Source::Window)).await.unwrap();
    assert_eq!(unfinished, [id]);
    assert_eq!(store.read(|reader| reader.unfinished_sessions(Source::Headless)).await.unwrap(), []);
    let resumed = store.read(move |reader| reader.resume(id)).await.unwrap().unwrap();
    let stored = resumed.unfinished.unwrap();
    assert_eq!(stored.turn, turn);
    assert_eq!(stored.messages, [person_message.id, reply.id]);
    assert_eq!(stored.open_message, Some(reply.id));
    assert_eq!(stored.calls.iter().map(|call| call.view.id).collect::<Vec<_>>(), calls);
    assert_eq!(stored.calls.iter().map(|call| call.view.state.clone()).collect::<Vec<_>>(), states);
    assert_eq!(
        stored.calls.into_iter().map(|call| call.result).collect::<Vec<_>>(),
        [Some(sample::result(calls[0])), None, None]
    );
    assert_eq!(resumed.questions, [question]);
    assert_eq!(resumed.draft, typed("half a thought"));
    assert_eq!(resumed.system, "You are Octo.");
    assert_eq!(
        resumed.context.iter().map(|message| message.id).collect::<Vec<_>>(),
        [person_message.id, reply.id]
    );
    assert_eq!(resumed.context[1].calls().map(|call| call.id).collect::<Vec<_>>(), calls);

    // The discarded message takes its calls, its place in the context and its blocks with it.
    emit(&store, id, vec![Event::MessageDiscarded { message: reply.id }]).await.unwrap();
    let resumed = store.read(move |reader| reader.resume(id)).await.unwrap().unwrap();
    let stored = resumed.unfinished.unwrap();
    assert_eq!((stored.messages, stored.calls, stored.open_message), (vec![person_message.id], vec![], None));
    assert_eq!(resumed.context, [person_message]);
    store.close();
}

#[tokio::test]
async fn the_context_has_generations_and_the_transcript_keeps_everything() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let info = sample::head("context");
    let id = info.id;
    create(&store, &info).await;
    let messages: Vec<Message> =
        (0..5).map(|n| sample::person(TurnId::new(), vec![sample::text(&n.to_string())])).collect();
    let ids: Vec<MessageId> = messages.iter().map(|message| message.id).collect();
    emit(&store, id, messages.into_iter().map(|message| Event::MessageAdded { message }).collect())
        .await
        .unwrap();

    let context = async |expected: &[usize]| {
        let (resumed, page) =
            store.read(move |reader| Ok((reader.resume(id)?, reader.page(id, None, 9)?))).await.unwrap();
        let texts: Vec<String> = resumed.unwrap().context.iter().map(Message::text).collect();
        assert_eq!(texts, expected.iter().map(usize::to_string).collect::<Vec<_>>());
        assert_eq!(page.messages.len(), 5);
    };
    context(&[]).await;
    let order = [ids[0], ids[1], ids[2]];
    store
        .write(move |tx| order.into_iter().try_for_each(|message| tx.append_context(id, message)))
        .await
        .unwrap();
    context(&[0, 1, 2]).await;
    let dropped = ids[1];
    store.write(move |tx| tx.drop_from_context(id, dropped)).await.unwrap();
    context(&[0, 2]).await;
    let context_ids = vec![ids[4], ids[2]];
    store.write(move |tx| tx.new_generation(id, &context_ids)).await.unwrap();
    context(&[4, 2]).await;
    let last_id = ids[3];
    store.write(move |tx| tx.append_context(id, last_id)).await.unwrap();
    context(&[4, 2, 3]).await;
    // The message dropped now was part of the earlier generation too: going back does not restore it.
    let dropped = ids[2];
    store.write(move |tx| tx.drop_from_context(id, dropped)).await.unwrap();
    let no_turns = std::collections::HashSet::new();
    let restored = store.read(move |reader| reader.conversation_without(id, &no_turns)).await.unwrap();
    let mut copied = vec![ids[0], ids[3], ids[4]];
    copied.sort();
    assert_eq!(restored, copied);
    store.write(move |tx| tx.new_generation(id, &[])).await.unwrap();
    context(&[]).await;
    store.close();
}

#[tokio::test]
async fn messages_of_another_session_cannot_be_touched() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let (own_session, other) = (sample::head("mine"), sample::head("other"));
    create(&store, &own_session).await;
    create(&store, &other).await;
    let message = sample::model(TurnId::new());
    let (id, other_message) = (own_session.id, message.id);
    emit(&store, other.id, vec![Event::MessageStarted { message }]).await.unwrap();
    let attempts: Vec<Result<(), StoreError>> = vec![
        store.write(move |tx| tx.append_context(id, other_message)).await,
        store.write(move |tx| tx.new_generation(id, &[other_message])).await,
        store.read(move |reader| reader.page(id, Some(other_message), 5).map(drop)).await,
        emit(&store, id, vec![Event::MessageDiscarded { message: other_message }]).await,
        emit(
            &store,
            id,
            vec![Event::BlockAdded { message: other_message, index: 0, block: sample::text("x") }],
        )
        .await,
        emit(
            &store,
            id,
            vec![Event::MessageEnded { message: other_message, end: MessageEnd::Cut, usage: None }],
        )
        .await,
    ];
    for attempt in attempts {
        assert!(matches!(attempt, Err(StoreError::UnknownMessage(_))), "{attempt:?}");
    }
    assert_eq!(store.read(move |reader| reader.topic_seq(&StoredTopic::Session { id })).await.unwrap(), 1);
    store.close();
}

#[tokio::test]
async fn prompts_and_tools_are_frozen_until_refrozen() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let info = sample::head("frozen");
    let id = info.id;
    create(&store, &info).await;
    let forged = ToolsetRow { hash: "t1".to_owned(), version: 1, tools_json: "[1]".to_owned() };
    let conflicting = NewSession { toolset: forged, ..new(sample::head("forged")) };
    assert!(store.write(move |tx| tx.create_session(&conflicting)).await.is_err());
    let newer = ToolsetRow { hash: "t2".to_owned(), version: 2, tools_json: "[2]".to_owned() };
    let newer_prompt = newer.clone();
    store.write(move |tx| tx.replace_frozen_prompt(id, "You are Octo 2.", &newer)).await.unwrap();
    let resumed = store.read(move |reader| reader.resume(id)).await.unwrap().unwrap();
    assert_eq!((resumed.system.as_str(), resumed.toolset), ("You are Octo 2.", newer_prompt));
    store.close();
}

#[tokio::test]
async fn settings_models_and_rules_are_kept_and_settings_events_win() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let settings =
        Settings { language: Language::Zh, recent_folders: vec!["/a".to_owned()], ..Settings::default() };
    let [a, mut b, c] = ["a", "b", "c"].map(entry);
    let rule = |subcommand: &str| Rule::Command { words: vec!["cargo".to_owned(), subcommand.to_owned()] };
    let (test, check) = (rule("test"), rule("check"));
    assert_eq!(store.read(|reader| reader.settings()).await.unwrap(), Settings::default());
    let values = (settings.clone(), a.clone(), b.clone(), c.clone(), test.clone(), check.clone());
    store
        .write(move |tx| {
            let (settings, a, b, c, test, check) = values;
            tx.put_settings(&settings)?;
            tx.put_model(&a)?;
            tx.put_model(&b)?;
            tx.put_model(&c)?;
            tx.remove_model(a.id)?;
            for rule in [&test, &check, &test] {
                tx.add_rule("/a", rule)?;
            }
            Ok(())
        })
        .await
        .unwrap();
    b.key = KeyState::ThisRun { last4: "abcd".to_owned() };
    let changed = b.clone();
    store.write(move |tx| tx.put_model(&changed)).await.unwrap();
    let state = store.read(|reader| reader.settings_state()).await.unwrap();
    assert_eq!((state.seq, &state.settings, &state.models), (0, &settings, &vec![b.clone(), c.clone()]));
    assert_eq!(store.read(|reader| reader.rules("/a")).await.unwrap(), [test, check]);
    assert_eq!(store.read(|reader| reader.rules("/a/b")).await.unwrap(), []);

    let snapshot = SettingsSnapshot {
        settings: Settings { welcomed: true, ..settings },
        models: vec![c, a],
        keychain: KeychainState::Available,
    };
    let emitted = snapshot.clone();
    store
        .write(move |tx| tx.emit(StoredTopic::Settings, Event::SettingsChanged { snapshot: emitted }))
        .await
        .unwrap();
    let state = store.read(|reader| reader.settings_state()).await.unwrap();
    assert_eq!((state.seq, state.settings, state.models), (1, snapshot.settings, snapshot.models));
    store.close();
}

#[tokio::test]
async fn the_ledger_and_drafts_belong_to_sessions_that_exist() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let info = sample::head("ledger");
    create(&store, &info).await;
    let turn = TurnId::new();
    let copied = sample::billed(turn, MessageId::new(), Some(sample::usage(3)));
    let silent = BilledCall { miss: None, ..sample::billed(turn, MessageId::new(), None) };
    let nonsense = Usage { input: u64::MAX, cache_read: u64::MAX, cache_write: 0, output: u64::MAX };
    let nonsense = BilledCall {
        turn: None,
        message: None,
        cost: Some(Cost::from_nano_dollars(u64::MAX)),
        at: 2_000_000_000_000,
        ..sample::billed(turn, MessageId::new(), Some(nonsense))
    };
    let (id, nobody) = (info.id, SessionId::new());
    let lines = [copied.clone(), silent.clone(), nonsense];
    store
        .write(move |tx| {
            for call in lines {
                tx.emit(StoredTopic::Session { id }, Event::CallBilled { call })?;
            }
            Ok(())
        })
        .await
        .unwrap();
    assert_eq!(store.read(move |reader| reader.calls_billed(turn)).await.unwrap(), [copied.clone(), silent]);
    let of_turn = store.read(move |reader| reader.turn_spending(turn)).await.unwrap();
    let cost = copied.cost.unwrap();
    assert_eq!(of_turn, Spending { calls: 2, usage: sample::usage(3), cost, unpriced: 1 });
    let total = store.read(move |reader| reader.session_spending(id)).await.unwrap();
    assert_eq!((total.calls, total.unpriced), (3, 1));
    assert!(total.usage.input >= u64::MAX / 4, "sums stop, they do not wrap or fail");
    let report = store.read(|reader| reader.spending_lines(0, 1_000_000_000_000)).await.unwrap();
    assert_eq!(report.len(), 1, "{report:?}");
    assert_eq!(
        (report[0].name.as_str(), report[0].purpose, report[0].spending),
        ("model-1", Purpose::Turn, of_turn)
    );
    let later = store.read(|reader| reader.spending_since(1_000_000_000_000)).await.unwrap();
    assert_eq!(later.calls, 1);
    assert!(matches!(
        store
            .write(move |tx| tx.emit(StoredTopic::Session { id: nobody }, Event::CallBilled { call: copied }))
            .await,
        Err(StoreError::UnknownSession(_))
    ));
    let attached = Draft {
        text: String::new(),
        attachments: vec![
            Block::Image {
                blob: BlobHash("00".repeat(32)),
                media_type: "image/png".to_owned(),
                name: "a.png".to_owned(),
            },
            Block::File { path: "/home/me/\"b\".txt".to_owned() },
        ],
        foreign: false,
    };
    for draft in [typed("one"), attached, typed(" two\n"), Draft::default()] {
        let (own_draft, new_draft) =
            (draft.clone(), Draft { text: format!("new {}", draft.text), ..draft.clone() });
        let stored_draft = new_draft.clone();
        store
            .write(move |tx| {
                tx.set_draft(id, &own_draft)?;
                tx.set_new_draft(&new_draft)
            })
            .await
            .unwrap();
        let snapshot = store.read(move |reader| reader.snapshot(id, 1)).await.unwrap().unwrap();
        assert_eq!(snapshot.draft, draft);
        assert_eq!(store.read(|reader| reader.new_draft()).await.unwrap(), stored_draft);
    }
    assert!(matches!(
        store.write(move |tx| tx.set_draft(nobody, &typed("x"))).await,
        Err(StoreError::UnknownSession(_))
    ));
    store.write(|tx| tx.set_new_draft(&Draft::default())).await.unwrap();
    assert_eq!(store.read(|reader| reader.new_draft()).await.unwrap(), Draft::default());
    store.close();
}

fn typed(text: &str) -> Draft {
    Draft { text: text.to_owned(), attachments: Vec::new(), foreign: false }
}

#[tokio::test]
async fn a_draft_is_trashed_and_restored_with_its_session() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let info = sample::head("thrown away");
    let id = info.id;
    create(&store, &info).await;
    store.write(move |tx| tx.set_draft(id, &typed("half"))).await.unwrap();
    store.write(move |tx| tx.soft_delete(id, 5)).await.unwrap();
    assert!(store.read(move |reader| reader.snapshot(id, 1)).await.unwrap().is_none());
    store.write(move |tx| tx.undelete(id)).await.unwrap();
    let snapshot = store.read(move |reader| reader.snapshot(id, 1)).await.unwrap().unwrap();
    assert_eq!(snapshot.draft, typed("half"));
    store.close();
}

fn entry(model: &str) -> ModelEntry {
    ModelEntry {
        id: ModelId::new(),
        protocol: Protocol::Anthropic,
        base_url: "https://models.example".to_owned(),
        model: model.to_owned(),
        context_window: 200_000,
        max_output: 8_192,
        vision: true,
        key: KeyState::Stored { last4: "wxyz".to_owned() },
        headers: Vec::new(),
        facts: ModelFacts::default(),
        fallback: None,
    }
}

fn holder(token: &str) -> Holder {
    Holder { process: 7, started: 70, boot: "b".to_owned(), token: token.to_owned() }
}

#[tokio::test]
async fn a_lease_is_taken_kept_and_taken_over_only_from_the_dead() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let info = sample::head("lease");
    let id = info.id;
    create(&store, &info).await;
    let take = async |token: &'static str, others: HolderState| {
        store.write(move |tx| tx.take_lease(id, &holder(token), |_| others)).await.unwrap()
    };
    assert_eq!(take("a", HolderState::Alive).await, LeaseOutcome::Taken);
    assert_eq!(take("a", HolderState::Alive).await, LeaseOutcome::Taken);
    assert_eq!(take("b", HolderState::Alive).await, LeaseOutcome::HeldBy(holder("a")));
    assert_eq!(take("b", HolderState::Dead).await, LeaseOutcome::TakenOver(holder("a")));
    assert_eq!(take("a", HolderState::Alive).await, LeaseOutcome::HeldBy(holder("b")));
    store.write(move |tx| tx.release_lease(id, "a")).await.unwrap();
    assert_eq!(store.read(move |reader| reader.lease(id)).await.unwrap(), Some(holder("b")));
    store.write(move |tx| tx.release_lease(id, "b")).await.unwrap();
    assert_eq!(take("a", HolderState::Alive).await, LeaseOutcome::Taken);
    store.write(|tx| tx.release_all_leases("a")).await.unwrap();
    assert_eq!(store.read(move |reader| reader.lease(id)).await.unwrap(), None);
    store.close();
}
