//! Sub-agents: sessions that start with their parent's view and follow its deletion.

use crate::{create, emit, emit_all, home, sample};
use octo_protocol::*;
use octo_store::{InheritedContext, NewSubAgent, Store, StoreError, StoredSubAgent};

/// A parent whose turn is at a call: its view, and the message with the call.
struct Parent {
    info: SessionInfo,
    turn: TurnId,
    said: Message,
    calling: Message,
    call: CallId,
}

async fn parent(store: &Store) -> Parent {
    let info = sample::head("parent");
    let id = info.id;
    create(store, &info).await;
    let turn = sample::turn();
    let (question, calling, call) = (
        sample::person(turn.id, vec![sample::text("find the heron")]),
        sample::model(turn.id),
        CallId::new(),
    );
    let (first, second, turn_id) = (question.clone(), calling.clone(), turn.id);
    store
        .write(move |tx| {
            emit_all(
                tx,
                id,
                vec![
                    Event::TurnStarted { turn },
                    Event::MessageAdded { message: first.clone() },
                    Event::MessageStarted { message: second.clone() },
                    Event::BlockAdded { message: second.id, index: 0, block: sample::tool_call(call) },
                    Event::MessageEnded {
                        message: second.id,
                        end: MessageEnd::Complete,
                        usage: Some(sample::usage(7)),
                    },
                    Event::CallBilled { call: sample::billed(turn_id, second.id, Some(sample::usage(7))) },
                ],
            )?;
            tx.append_context(id, first.id)?;
            tx.append_context(id, second.id)
        })
        .await
        .unwrap();
    Parent { info, turn: question.turn, said: question, calling, call }
}

fn forked(parent: &Parent, inherits: InheritedContext) -> NewSubAgent {
    let info = SessionInfo { source: Source::SubAgent, ..sample::head("explore") };
    let origin = SubAgentOrigin {
        session: parent.info.id,
        title: parent.info.title.clone(),
        turn: parent.turn,
        call: parent.call,
        name: "explore".to_owned(),
    };
    NewSubAgent { info, link: StoredSubAgent { origin, forbidden: vec!["terminal".to_owned()] }, inherits }
}

/// Stores a sub-agent with its first turn; returns its id and its message.
async fn fork(store: &Store, parent: &Parent, inherits: InheritedContext) -> (SessionId, Message) {
    let spec = forked(parent, inherits);
    let (id, turn) = (spec.info.id, sample::turn());
    let message = sample::octo(turn.id, vec![sample::text("a word nobody searches")]);
    let first_message = message.clone();
    store
        .write(move |tx| {
            tx.create_sub_agent(&spec)?;
            tx.begin_first_turn(id, turn, std::slice::from_ref(&first_message))
        })
        .await
        .unwrap();
    (id, message)
}

#[tokio::test]
async fn a_sub_agent_begins_with_its_parents_context_without_copies() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let parent = parent(&store).await;
    let (id, message) = fork(&store, &parent, InheritedContext::Before(parent.calling.id)).await;
    let stored = store.read(move |reader| reader.resume(id)).await.unwrap().unwrap();
    assert_eq!(stored.context, [parent.said.clone(), message.clone()]);
    assert_eq!(stored.sub_agent, Some(forked(&parent, InheritedContext::Nothing).link));
    assert_eq!(stored.context_tokens, sample::usage(7).context_tokens());
    let parent_id = parent.info.id;
    let parents = store.read(move |reader| reader.resume(parent_id)).await.unwrap().unwrap();
    assert_eq!((stored.system, stored.toolset), (parents.system, parents.toolset));
    assert_eq!(parents.context.len(), 2, "the parent's own is as it was");
    assert_eq!(parents.sub_agent, None);
    let page = store.read(move |reader| reader.page(id, None, 9)).await.unwrap();
    assert_eq!(page.messages, std::slice::from_ref(&message), "what it inherits is not its transcript");

    // Its view may be replaced and keep its parent's messages, but never another session's.
    let (parent_message, own_message) = (parent.said.id, message.id);
    store.write(move |tx| tx.new_generation(id, &[own_message, parent_message])).await.unwrap();
    let context = store.read(move |reader| reader.resume(id)).await.unwrap().unwrap().context;
    assert_eq!(context, [message, parent.said.clone()]);
    let unrelated = sample::head("stranger");
    create(&store, &unrelated).await;
    let error = store.write(move |tx| tx.new_generation(unrelated.id, &[parent_message])).await;
    assert!(matches!(error, Err(StoreError::UnknownMessage(_))), "{error:?}");

    let (other_agent, message) = fork(&store, &parent, InheritedContext::Nothing).await;
    let stored = store.read(move |reader| reader.resume(other_agent)).await.unwrap().unwrap();
    assert_eq!((stored.context, stored.context_tokens), (vec![message], 0));
    let forks = store.read(move |reader| reader.sub_agents(parent_id)).await.unwrap();
    assert_eq!(forks, [id, other_agent]);
    store.close();
}

#[tokio::test]
async fn recall_covers_summaries_and_sub_agents() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let parent = parent(&store).await;
    let parent_id = parent.info.id;
    let (id, _) = fork(&store, &parent, InheritedContext::Nothing).await;
    let reply = sample::model(TurnId::new());
    let message = reply.id;
    let called = Event::BlockAdded { message, index: 0, block: sample::tool_call(CallId::new()) };
    let block_added =
        Event::BlockAdded { message, index: 1, block: sample::text("I would call it \\\"ls\\\"") };
    emit(&store, id, vec![Event::MessageStarted { message: reply }, called, block_added]).await.unwrap();
    store.write(move |tx| tx.new_generation(parent_id, &[])).await.unwrap();
    let (sources, of_parent, of_sub, of_none, newest) = store
        .read(move |reader| {
            Ok((
                reader.conversation_sources(parent_id)?,
                reader.calls_containing(parent_id, "\\\"ls\\\"", 9)?,
                reader.calls_containing(id, "\\\"ls\\\"", 9)?,
                reader.calls_containing(parent_id, "never", 9)?,
                reader.calls_containing(parent_id, "\\\"ls\\\"", 0)?,
            ))
        })
        .await
        .unwrap();
    assert_eq!(sources, [id, parent_id]);
    assert_eq!(of_parent, [sample::tool_call(parent.call)], "though it is in no context any more");
    assert!(
        matches!(of_sub.as_slice(), [Block::ToolCall(_)]),
        "calls, and not what is said of them: {of_sub:?}"
    );
    assert_eq!((of_none.len(), newest.len()), (0, 0));
    let unknown = SessionId::new();
    assert_eq!(store.read(move |reader| reader.conversation_sources(unknown)).await.unwrap(), []);
    store.close();
}

#[tokio::test]
async fn a_sub_agent_is_unlisted_and_its_cost_counts_for_the_parent() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let parent = parent(&store).await;
    let (id, _) = fork(&store, &parent, InheritedContext::Nothing).await;
    let turn = TurnId::new();
    let reply = sample::model(turn);
    let billed =
        BilledCall { purpose: Purpose::SubAgent, ..sample::billed(turn, reply.id, Some(sample::usage(5))) };
    let block_added = Event::BlockAdded { message: reply.id, index: 0, block: sample::text("a rare word") };
    let events =
        vec![Event::MessageStarted { message: reply }, block_added, Event::CallBilled { call: billed }];
    emit(&store, id, events).await.unwrap();

    let parents = parent.info.id;
    store
        .read(move |reader| {
            let list = reader.list_snapshot(9)?;
            assert_eq!((list.total, list.sessions.len(), list.sessions[0].id), (1, 1, parents));
            assert_eq!(reader.sessions("expl", 0, 9)?, (vec![], 0));
            assert_eq!(reader.sessions("ex", 0, 9)?, (vec![], 0));
            for query in ["explore", "rare word", "ra"] {
                assert_eq!(reader.search(query, &Default::default(), 9)?, [], "{query}");
            }
            let newest = reader.newest_session_in("/home/me/project")?.unwrap();
            assert_eq!(newest.id, parents);
            assert_eq!(reader.unfinished_sessions(Source::SubAgent)?, [id]);

            let snapshot = reader.snapshot(id, 9)?.unwrap();
            assert_eq!(
                snapshot.fork.map(|fork| (fork.session, fork.title)),
                Some((parents, "parent".to_owned()))
            );
            assert_eq!(snapshot.spending.calls, 1);
            let mut both = sample::usage(7);
            both += sample::usage(5);
            let of_parent = reader.snapshot(parents, 9)?.unwrap();
            assert_eq!((of_parent.fork, of_parent.spending.calls, of_parent.spending.usage), (None, 2, both));
            assert_eq!(reader.session_spending(parents)?.usage, both);
            assert_eq!(reader.turn_spending(parent.turn)?.usage, both);
            assert_eq!(reader.turn_spending(turn)?.usage, sample::usage(5));
            let lines = reader.calls_billed(parent.turn)?;
            let purposes: Vec<_> = lines.iter().map(|line| line.purpose).collect();
            assert_eq!(purposes, [Purpose::Turn, Purpose::SubAgent]);
            assert_eq!(reader.spending_since(0)?.usage, both, "and once in all there is");
            Ok(())
        })
        .await
        .unwrap();
    store.close();
}

#[tokio::test]
async fn a_sub_agent_is_trashed_restored_and_purged_with_its_parent() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let parent = parent(&store).await;
    let (id, _) = fork(&store, &parent, InheritedContext::Before(parent.calling.id)).await;
    let parent_id = parent.info.id;
    let exists = async |store: &Store| store.read(move |reader| reader.session(id)).await.unwrap().is_some();
    store.write(move |tx| tx.soft_delete(parent_id, 9)).await.unwrap();
    assert!(!exists(&store).await);
    let trash = store.read(|reader| reader.trash_totals()).await.unwrap();
    assert_eq!(trash.things, 1, "one thing: it has no entry of its own");
    store.write(move |tx| tx.undelete(parent_id).map(drop)).await.unwrap();
    assert!(exists(&store).await);
    let context = store.read(move |reader| reader.resume(id)).await.unwrap().unwrap().context;
    assert_eq!(context.len(), 2);

    store.write(move |tx| tx.soft_delete(parent_id, 10)).await.unwrap();
    store.write(move |tx| tx.purge_session(parent_id)).await.unwrap();
    assert!(!exists(&store).await);
    store
        .read(move |reader| {
            assert_eq!(reader.sub_agent(id)?, None);
            assert_eq!(reader.sub_agents(parent_id)?, []);
            assert_eq!(reader.last_texts(id, 9)?, Vec::<String>::new());
            Ok(())
        })
        .await
        .unwrap();
    store.close();
    // Nothing refers to deleted rows: the file is sound.
    Store::open(home.path()).unwrap().close();
}

#[tokio::test]
async fn a_sub_agent_without_a_valid_parent_is_not_stored() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let parent = parent(&store).await;
    let strange = forked(&parent, InheritedContext::Before(MessageId::new()));
    let id = strange.info.id;
    let error = store.write(move |tx| tx.create_sub_agent(&strange)).await;
    assert!(matches!(error, Err(StoreError::UnknownMessage(_))), "{error:?}");
    assert_eq!(store.read(move |reader| reader.session(id)).await.unwrap(), None);
    let (parent_id, orphan) = (parent.info.id, forked(&parent, InheritedContext::Nothing));
    store.write(move |tx| tx.soft_delete(parent_id, 9)).await.unwrap();
    let error = store.write(move |tx| tx.create_sub_agent(&orphan)).await;
    assert!(matches!(error, Err(StoreError::UnknownSession(_))), "{error:?}");
    store.close();
}
