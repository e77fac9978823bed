//! The part of a conversation that a branch contains.

use crate::{create, home, sample};
use octo_protocol::*;
use octo_store::{NewBranch, Store, StoreError, Tx};

/// Stores a turn of a question and an answer, both visible to the model.
fn say(tx: &mut Tx<'_>, id: SessionId, text: &str) -> Result<(TurnId, [MessageId; 2]), StoreError> {
    let topic = StoredTopic::Session { id };
    let mut turn = sample::turn();
    tx.emit(topic, Event::TurnStarted { turn: turn.clone() })?;
    let question = sample::person(turn.id, vec![sample::text(text)]);
    let mut reply = sample::model(turn.id);
    reply.blocks = vec![sample::text(&format!("re: {text}"))];
    reply.meta.usage = Some(sample::usage(10));
    let ids = [question.id, reply.id];
    for message in [question, reply] {
        let id_of = message.id;
        tx.emit(topic, Event::MessageAdded { message })?;
        tx.append_context(id, id_of)?;
    }
    (turn.ended_at, turn.end) = (Some(9), Some(TurnEnd::Finished));
    let ended = turn.id;
    tx.emit(topic, Event::TurnEnded { turn })?;
    Ok((ended, ids))
}

/// Returns the transcript and the model's view of a branch.
async fn branched(
    store: &Store,
    source: &SessionInfo,
    point: BranchPoint,
) -> Result<(Vec<String>, Vec<String>), StoreError> {
    let info = SessionInfo { id: SessionId::new(), ..source.clone() };
    let (id, source) = (info.id, source.id);
    store.write(move |tx| tx.create_branch(&NewBranch { info, from: source, at: point })).await?;
    let texts = |messages: Vec<Message>| {
        let text_of = |message: &Message| {
            let summary = message.blocks.iter().find_map(|block| match block {
                Block::Summary { text, .. } => Some(format!("sum: {text}")),
                _ => None,
            });
            summary.unwrap_or_else(|| message.text())
        };
        messages.iter().map(text_of).collect::<Vec<String>>()
    };
    let (copied, context) = store
        .read(move |reader| {
            let resumed = reader.resume(id)?.unwrap();
            assert!(resumed.unfinished.is_none() && resumed.last_turn.is_none_or(|turn| turn.end.is_some()));
            Ok((reader.snapshot(id, 1000)?.unwrap().page.messages, reader.context_of(id)?))
        })
        .await?;
    let ids: Vec<MessageId> = copied.iter().map(|message| message.id).collect();
    assert!(
        context.iter().all(|message| ids.contains(&message.id)),
        "the model sees nothing that is not there"
    );
    Ok((texts(copied), texts(context)))
}

#[tokio::test]
async fn a_branch_has_the_context_of_its_point() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let info = sample::head("whole");
    create(&store, &info).await;
    let id = info.id;
    let (first_turn, second, third) = store
        .write(move |tx| {
            let (_, first_turn) = say(tx, id, "one")?;
            let (turn, second) = say(tx, id, "two")?;
            let block = Block::Summary { text: "so far".to_owned(), covers: 3, archive: None };
            let summary = sample::octo(turn, vec![block]);
            let summed = summary.id;
            tx.emit(StoredTopic::Session { id }, Event::MessageAdded { message: summary })?;
            tx.new_generation(id, &[summed, second[1]])?;
            let (_, third) = say(tx, id, "three")?;
            Ok((first_turn, second, third))
        })
        .await
        .unwrap();
    let expected_messages = ["one", "re: one", "two", "re: two", "sum: so far", "three", "re: three"];
    let current = ["sum: so far", "re: two", "three", "re: three"];
    let cases: [(BranchPoint, &[&str], &[&str]); 6] = [
        (BranchPoint::Whole, &expected_messages, &current),
        (BranchPoint::Through { message: third[1] }, &expected_messages, &current),
        (BranchPoint::Before { message: third[0] }, &expected_messages[..5], &current[..2]),
        (BranchPoint::Through { message: first_turn[1] }, &expected_messages[..2], &expected_messages[..2]),
        (BranchPoint::Before { message: second[0] }, &expected_messages[..2], &expected_messages[..2]),
        // Its answer is in both views; this is the view with nothing from later.
        (BranchPoint::Through { message: second[1] }, &expected_messages[..4], &expected_messages[..4]),
    ];
    for (point, copied, in_context) in cases {
        let (found, context) = branched(&store, &info, point).await.unwrap();
        assert_eq!((found, context), (to_vec(copied), to_vec(in_context)), "{point:?}");
    }
    store.close();
}

#[tokio::test]
async fn undone_turns_are_copied_only_if_the_branch_continues_them() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let info = sample::head("undone");
    create(&store, &info).await;
    let id = info.id;
    let (wrong, right) = store
        .write(move |tx| {
            let (_, first) = say(tx, id, "one")?;
            let (undone_turn, wrong) = say(tx, id, "wrong")?;
            tx.emit(StoredTopic::Session { id }, Event::WentTo { task: 1, undone: vec![undone_turn] })?;
            tx.new_generation(id, &first)?;
            let (_, right) = say(tx, id, "right")?;
            Ok((wrong, right))
        })
        .await
        .unwrap();
    let through = |message| BranchPoint::Through { message };
    let right_way = ["one", "re: one", "right", "re: right"];
    let wrong_way = ["one", "re: one", "wrong", "re: wrong"];
    for (point, expected) in
        [(BranchPoint::Whole, right_way), (through(right[1]), right_way), (through(wrong[1]), wrong_way)]
    {
        let (copied, context) = branched(&store, &info, point).await.unwrap();
        assert_eq!((copied, context), (to_vec(&expected), to_vec(&expected)), "{point:?}");
    }
    let unseen = BranchPoint::Through { message: MessageId::new() };
    assert!(matches!(branched(&store, &info, unseen).await, Err(StoreError::UnknownMessage(_))));
    store.close();
}

#[tokio::test]
async fn a_branch_is_created_atomically_and_purged() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let info = sample::head("origin");
    create(&store, &info).await;
    let id = info.id;
    store.write(move |tx| say(tx, id, "one").map(drop)).await.unwrap();
    let branch = SessionInfo { id: SessionId::new(), ..sample::head("origin (2)") };
    let (branch_spec, branched) =
        (NewBranch { info: branch.clone(), from: id, at: BranchPoint::Whole }, branch.id);
    let failing = branch_spec.clone();
    let failed: Result<(), StoreError> = store
        .write(move |tx| {
            tx.create_branch(&failing)?;
            Err(StoreError::Busy)
        })
        .await;
    assert!(failed.is_err());
    assert_eq!(store.read(move |reader| reader.session(branched)).await.unwrap(), None);

    store.write(move |tx| tx.create_branch(&branch_spec)).await.unwrap();
    let ancestors = store.read(move |reader| reader.ancestors(branched)).await.unwrap();
    assert_eq!(ancestors, [id]);
    store
        .write(move |tx| {
            tx.soft_delete(id, 5)?;
            tx.purge_session(id)
        })
        .await
        .unwrap();
    let snapshot = store.read(move |reader| reader.snapshot(branched, 10)).await.unwrap().unwrap();
    assert_eq!((snapshot.page.messages.len(), snapshot.origin), (2, None), "it needs nothing of the other");
    store
        .write(move |tx| {
            tx.soft_delete(branched, 6)?;
            tx.purge_session(branched)
        })
        .await
        .unwrap();
    store.close();
}

fn to_vec(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}
