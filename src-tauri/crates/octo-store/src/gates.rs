//! The deterministic part of performance: the number of statements per turn, and no full table scan in reads
//! that a person waits for.

use crate::{NewSession, Reader, Store, StoreError, ToolsetRow, Tx};
use octo_protocol::{
    Block, CallId, CallState, Event, MessageEnd, SessionInfo, SessionStatus, Source, StoredTopic, TurnEnd,
};
use rusqlite::{
    Connection,
    trace::{TraceEvent, TraceEventCodes},
};
use std::cell::RefCell;

#[path = "../tests/store/sample.rs"]
mod sample;

thread_local! {
    static STATEMENTS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn record(event: TraceEvent<'_>) {
    // Statements within triggers and within the search index are reported as comments.
    if let TraceEvent::Stmt(statement, text) = event
        && !text.starts_with("--")
    {
        STATEMENTS.with_borrow_mut(|statements| statements.push(statement.sql().into_owned()));
    }
}

fn start(connection: &Connection) {
    STATEMENTS.with_borrow_mut(Vec::clear);
    connection.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(record));
}

fn finish(connection: &Connection) -> Vec<String> {
    connection.trace_v2(TraceEventCodes::empty(), None);
    STATEMENTS.take()
}

fn home_with_store() -> (tempfile::TempDir, Store) {
    let home = octo_testkit::test_folder();
    let store = Store::open(home.path()).unwrap();
    (home, store)
}

async fn session(store: &Store) -> SessionInfo {
    let info = sample::head("a session");
    let toolset = ToolsetRow { hash: "t".to_owned(), version: 1, tools_json: "[]".to_owned() };
    let new_session = NewSession { info: info.clone(), system: "system".to_owned(), toolset };
    store.write(move |tx| tx.create_session(&new_session)).await.unwrap();
    info
}

type Step = Box<dyn FnOnce(&mut Tx<'_>) -> Result<(), StoreError> + Send>;

/// A turn with one tool call, as the core writes it: one transaction per block and per change of state.
fn typical_turn(info: SessionInfo) -> Vec<Step> {
    let id = info.id;
    let topic = StoredTopic::Session { id };
    let turn = sample::turn();
    let question = sample::person(turn.id, vec![sample::text("please look at the folder")]);
    let (first_answer, second) = (sample::model(turn.id), sample::model(turn.id));
    let call = CallId::new();
    let results = sample::octo(turn.id, vec![Block::ToolResult(sample::result(call))]);
    let head = move |status| SessionInfo { status, ..info.clone() };
    let status = move |tx: &mut Tx<'_>, info: SessionInfo| {
        tx.emit(topic, Event::SessionChanged { info: info.clone() })?;
        tx.emit(StoredTopic::Sessions, Event::SessionListed { info }).map(drop)
    };
    let mut steps: Vec<Step> = Vec::new();
    let (running, begun_turn) = (head(SessionStatus::Running), turn.clone());
    steps.push(Box::new(move |tx| {
        tx.emit(topic, Event::TurnStarted { turn: begun_turn })?;
        let message = question.id;
        tx.emit(topic, Event::MessageAdded { message: question })?;
        tx.append_context(id, message)?;
        status(tx, running)
    }));
    for (message, blocks) in [
        (first_answer, vec![sample::text("I will look."), sample::tool_call(call)]),
        (second, vec![sample::text("There are two files.")]),
    ] {
        let (started, message_id) = (message.clone(), message.id);
        steps.push(Box::new(move |tx| {
            tx.emit(topic, Event::MessageStarted { message: started })?;
            tx.append_context(id, message_id)
        }));
        for (index, block) in (0..).zip(blocks.clone()) {
            steps.push(Box::new(move |tx| {
                tx.emit(topic, Event::BlockAdded { message: message_id, index, block }).map(drop)
            }));
        }
        let billed = sample::billed(turn.id, message_id, Some(sample::usage(9)));
        steps.push(Box::new(move |tx| {
            let usage = billed.usage;
            tx.emit(topic, Event::MessageEnded { message: message_id, end: MessageEnd::Complete, usage })?;
            tx.emit(topic, Event::CallBilled { call: billed }).map(drop)
        }));
        if blocks.len() > 1 {
            let results = results.clone();
            for state in [CallState::Planned, CallState::Started { at: 1 }] {
                let call = sample::call(call, turn.id, state);
                steps.push(Box::new(move |tx| tx.emit(topic, Event::CallChanged { call }).map(drop)));
            }
            let ended_call = sample::call(call, turn.id, sample::ended());
            steps.push(Box::new(move |tx| {
                tx.set_call(call, &sample::result(call))?;
                tx.emit(topic, Event::CallChanged { call: ended_call }).map(drop)
            }));
            steps.push(Box::new(move |tx| {
                let message = results.id;
                tx.emit(topic, Event::MessageAdded { message: results })?;
                tx.append_context(id, message)
            }));
        }
    }
    let (idle, mut ended_turn) = (head(SessionStatus::Idle), turn);
    (ended_turn.ended_at, ended_turn.end) = (Some(9), Some(TurnEnd::Finished));
    steps.push(Box::new(move |tx| {
        tx.emit(topic, Event::TurnEnded { turn: ended_turn })?;
        status(tx, idle)
    }));
    steps
}

/// Raising one of these numbers is a decision: the harness has 3 ms per turn in total.
#[tokio::test]
async fn a_turn_with_one_call_costs_so_many_statements() {
    let (_home, store) = home_with_store();
    let info = session(&store).await;
    let steps = typical_turn(info);
    let transactions = steps.len();
    let mut statements = Vec::new();
    for step in steps {
        let more = store
            .write(move |tx| {
                start(tx.connection);
                step(tx)?;
                Ok(finish(tx.connection))
            })
            .await
            .unwrap();
        statements.extend(more);
    }
    assert_eq!(transactions, 13);
    assert_eq!(statements.len(), 84, "{statements:#?}");
}

/// Runs a read and returns SQLite's query plans for its statements.
async fn plans<T>(
    store: &Store,
    read: impl FnOnce(&Reader<'_>) -> Result<T, StoreError> + Send + 'static,
) -> Vec<String> {
    store
        .read(move |reader| {
            start(reader.connection);
            let outcome = read(reader);
            let statements = finish(reader.connection);
            outcome?;
            assert!(!statements.is_empty());
            let mut plans = Vec::new();
            // The index's own tables are read by the index's own code.
            for sql in statements.iter().filter(|sql| !sql.contains("'main'.")) {
                let mut explain = reader.connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
                let count = explain.parameter_count();
                let nulls = std::iter::repeat_n(rusqlite::types::Null, count);
                let mut rows = explain.query(rusqlite::params_from_iter(nulls))?;
                while let Some(row) = rows.next()? {
                    plans.push(format!("{}  <- {sql}", row.get::<_, String>(3)?));
                }
            }
            Ok(plans)
        })
        .await
        .unwrap()
}

#[tokio::test]
async fn interactive_queries_never_scan_a_whole_table() {
    let (_home, store) = home_with_store();
    let info = session(&store).await;
    let id = info.id;
    for step in typical_turn(info.clone()) {
        store.write(step).await.unwrap();
    }
    let before = store.read(move |reader| reader.page(id, None, 1)).await.unwrap().messages[0].id;
    let topic = StoredTopic::Session { id };
    let queries = [
        ("list", plans(&store, |reader| reader.list_snapshot(50)).await),
        ("list by title", plans(&store, |reader| reader.sessions("sess", 0, 50)).await),
        ("list by short title", plans(&store, |reader| reader.sessions("se", 0, 50)).await),
        ("search", plans(&store, |reader| reader.search("folder", &Default::default(), 50)).await),
        (
            "search with short words",
            plans(&store, |reader| reader.search("at folder", &Default::default(), 50)).await,
        ),
        ("search short", plans(&store, |reader| reader.search("lo", &Default::default(), 50)).await),
        ("page", plans(&store, move |reader| reader.page(id, Some(before), 50)).await),
        ("snapshot", plans(&store, move |reader| reader.snapshot(id, 200)).await),
        ("resume", plans(&store, move |reader| reader.resume(id)).await),
        ("events", plans(&store, move |reader| reader.events_since(&topic, 3, 50)).await),
        ("newest", plans(&store, |reader| reader.newest_session_in("/home/me/project")).await),
        ("unfinished", plans(&store, |reader| reader.unfinished_sessions(Source::Window)).await),
        ("settings", plans(&store, |reader| reader.settings()).await),
        ("rules", plans(&store, |reader| reader.rules("/")).await),
        ("lease", plans(&store, move |reader| reader.lease(id)).await),
    ];
    for (name, plan) in queries {
        assert!(!plan.is_empty(), "{name}");
        for step in plan {
            let is_full_scan = step.starts_with("SCAN")
                // The virtual tables: a word query of the search index, and the list of ids passed in.
                && !step.contains("VIRTUAL TABLE INDEX")
                // This index contains only running turns.
                && !step.contains("USING INDEX turns_unfinished");
            assert!(!is_full_scan, "{name}: {step}");
            // A folder has a handful of rules.
            let sorted = step.starts_with("USE TEMP B-TREE FOR ORDER BY") && name != "rules";
            assert!(!sorted, "{name}: {step}");
        }
    }
}
