//! Writing, reading and closing.

use crate::{create, emit, emit_all, fold, home, new, sample};
use octo_protocol::*;
use octo_store::{Store, StoreError};

#[tokio::test]
async fn a_failed_write_changes_and_publishes_nothing() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let mut published = store.published();
    let info = sample::head("never");
    let id = info.id;
    let created = new(info.clone());
    let failed = store
        .write(move |tx| {
            tx.create_session(&created)?;
            Err::<(), _>(StoreError::Failed("on purpose".to_owned()))
        })
        .await;
    assert!(matches!(failed, Err(StoreError::Failed(_))));
    assert!(published.try_recv().is_err());
    assert_eq!(store.read(move |reader| reader.session(id)).await.unwrap(), None);
    let unknown = emit(&store, id, vec![Event::RetryStarted]).await;
    assert!(matches!(unknown, Err(StoreError::UnknownSession(_))), "{unknown:?}");

    // The same session can be created afterwards, and the numbers start at one.
    create(&store, &info).await;
    assert_eq!(published.try_recv().unwrap().seq, 1);
    store.close();
}

#[tokio::test]
async fn a_write_that_panics_is_undone_and_the_next_one_works() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let created = new(sample::head("never"));
    let failed = store
        .write(move |tx| -> Result<(), StoreError> {
            tx.create_session(&created)?;
            panic!("on purpose")
        })
        .await;
    assert!(matches!(failed, Err(StoreError::Failed(_))));
    create(&store, &sample::head("after")).await;
    let list = store.read(|reader| reader.list_snapshot(9)).await.unwrap();
    assert_eq!((list.total, list.seq), (1, 1));
    store.close();
}

#[tokio::test]
async fn events_that_contradict_what_is_stored_are_refused_whole() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let info = sample::head("strict");
    let id = info.id;
    create(&store, &info).await;
    let message = sample::person(TurnId::new(), vec![sample::text("once")]);
    let duplicate = Event::MessageAdded { message: message.clone() };
    emit(&store, id, vec![duplicate.clone()]).await.unwrap();
    let unrelated = sample::head("stranger");
    let contradictions = vec![
        duplicate,
        Event::BlockAdded { message: MessageId::new(), index: 0, block: sample::text("x") },
        Event::BlockAdded { message: message.id, index: 0, block: sample::text("taken") },
        Event::BlockAdded { message: message.id, index: 65_536, block: sample::text("far") },
        Event::MessageEnded { message: MessageId::new(), end: MessageEnd::Cut, usage: None },
        Event::MessageDiscarded { message: MessageId::new() },
        Event::QuestionClosed { question: QuestionId::new(), answer: None },
        Event::TurnEnded { turn: sample::turn() },
        Event::SessionChanged { info: unrelated.clone() },
        Event::SessionListed { info: info.clone() },
        Event::SessionRemoved { id },
    ];
    for event in contradictions {
        let error = emit(&store, id, vec![Event::RetryStarted, event.clone()]).await;
        assert!(
            matches!(error, Err(StoreError::Failed(_) | StoreError::UnknownMessage(_))),
            "{event:?}: {error:?}"
        );
    }
    let settings_event = store.write(|tx| tx.emit(StoredTopic::Settings, Event::RetryStarted)).await;
    assert!(settings_event.is_err());
    let nobody =
        store.write(move |tx| tx.emit(StoredTopic::Sessions, Event::SessionListed { info: unrelated })).await;
    assert!(matches!(nobody, Err(StoreError::UnknownSession(_))));
    let page = store
        .read(move |reader| Ok((reader.page(id, None, 9)?, reader.topic_seq(&StoredTopic::Session { id })?)));
    let (page, seq) = page.await.unwrap();
    assert_eq!((page.messages, seq), (vec![message], 2));
    store.close();
}

#[tokio::test]
async fn requested_writes_finish_and_publish_in_order() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let mut published = store.published();
    let info = sample::head("order");
    let id = info.id;
    create(&store, &info).await;
    for n in 0..50 {
        let mut write =
            Box::pin(emit(&store, id, vec![Event::CommandAnswered { note: ApiError::new(n.to_string()) }]));
        // Polled once, so that the write is requested; then dropped without waiting.
        let _ = futures_poll(&mut write);
    }
    store.close();
    let mut events = Vec::new();
    while let Ok(envelope) = published.try_recv() {
        if let Event::CommandAnswered { note } = &envelope.event {
            events.push((envelope.seq, note.key.clone()));
        }
    }
    assert_eq!(events, (0..50).map(|n| (n + 2, n.to_string())).collect::<Vec<_>>());
    assert!(matches!(store.write(|_| Ok(())).await, Err(StoreError::Closed)));
    assert!(matches!(store.read(|_| Ok(())).await, Err(StoreError::Closed)));
    store.close();

    assert!(!home.path().join("octo.db-wal").exists(), "the log was moved into the database");
    let store = Store::open(home.path()).unwrap();
    assert_eq!(store.read(move |reader| reader.topic_seq(&StoredTopic::Session { id })).await.unwrap(), 51);
    store.close();
}

fn futures_poll<F: Future + Unpin>(future: &mut F) -> std::task::Poll<F::Output> {
    std::pin::Pin::new(future).poll(&mut std::task::Context::from_waker(std::task::Waker::noop()))
}

#[tokio::test]
async fn missing_and_slow_subscribers_never_block_a_write() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let info = sample::head("slow");
    let id = info.id;
    create(&store, &info).await;
    let mut slow = store.published();
    store.write(move |tx| emit_all(tx, id, vec![Event::RetryStarted; 5_000])).await.unwrap();
    let lagged = slow.try_recv();
    assert!(matches!(lagged, Err(tokio::sync::broadcast::error::TryRecvError::Lagged(_))), "{lagged:?}");
    store.close();
}

#[tokio::test]
async fn a_read_sees_one_moment() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let info = sample::head("moment");
    let id = info.id;
    create(&store, &info).await;
    let (started, wait_started) = std::sync::mpsc::channel();
    let (go, was_written) = std::sync::mpsc::channel::<()>();
    let reading = tokio::spawn({
        let store = store.clone();
        async move {
            store
                .read(move |reader| {
                    let before = reader.topic_seq(&StoredTopic::Session { id })?;
                    started.send(()).unwrap();
                    was_written.recv().unwrap();
                    Ok((before, reader.topic_seq(&StoredTopic::Session { id })?))
                })
                .await
                .unwrap()
        }
    });
    tokio::task::spawn_blocking(move || wait_started.recv().unwrap()).await.unwrap();
    emit(&store, id, vec![Event::RetryStarted]).await.unwrap();
    go.send(()).unwrap();
    assert_eq!(reading.await.unwrap(), (1, 1));
    assert_eq!(store.read(move |reader| reader.topic_seq(&StoredTopic::Session { id })).await.unwrap(), 2);
    store.close();
}

#[tokio::test]
async fn two_handles_on_one_home_interleave_without_gaps() {
    let home = home();
    let first_store = Store::open(home.path()).unwrap();
    let second = Store::open(home.path()).unwrap();
    let info = sample::head("shared");
    let id = info.id;
    create(&first_store, &info).await;
    let write = |store: &Store| {
        let store = store.clone();
        tokio::spawn(async move {
            for n in 0..100 {
                let message = sample::person(TurnId::new(), vec![sample::text(&n.to_string())]);
                let events = vec![Event::MessageAdded { message }, Event::RetryStarted];
                emit(&store, id, events).await.unwrap();
            }
        })
    };
    let (a, b) = (write(&first_store), write(&second));
    a.await.unwrap();
    b.await.unwrap();
    let mut folded = fold::Fold::new();
    let events =
        second.read(move |reader| fold::all_events(reader, StoredTopic::Session { id })).await.unwrap();
    assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), (1..=401).collect::<Vec<_>>());
    events.iter().for_each(|envelope| folded.apply(&envelope.event));
    first_store.close();
    let snapshot = second.read(move |reader| reader.snapshot(id, 1_000)).await.unwrap().unwrap();
    assert_eq!(snapshot, folded.snapshot(&events));
    second.close();
}
