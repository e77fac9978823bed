//! The store against a real SQLite file, through its public API.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "functions the tests share are tests too"
)]

mod branches;
mod crash;
mod disk;
mod fold;
mod golden;
mod list;
mod open;
mod other_processes;
mod resume;
mod runs;
mod sample;
mod session_filter;
mod sub_agents;
mod writes;

use octo_protocol::{Event, SessionId, SessionInfo, StoredTopic};
use octo_store::{NewSession, Store, StoreError, ToolsetRow, Tx};
use tempfile::TempDir;

fn home() -> TempDir {
    octo_testkit::test_folder()
}

fn new(info: SessionInfo) -> NewSession {
    let toolset = ToolsetRow { hash: "t1".to_owned(), version: 1, tools_json: "[]".to_owned() };
    NewSession { info, system: "You are Octo.".to_owned(), toolset }
}

async fn create(store: &Store, info: &SessionInfo) {
    let session = new(info.clone());
    store.write(move |tx| tx.create_session(&session)).await.unwrap();
}

async fn emit(store: &Store, session: SessionId, events: Vec<Event>) -> Result<(), StoreError> {
    store.write(move |tx| emit_all(tx, session, events)).await
}

fn emit_all(tx: &mut Tx<'_>, id: SessionId, events: Vec<Event>) -> Result<(), StoreError> {
    events.into_iter().try_for_each(|event| tx.emit(StoredTopic::Session { id }, event).map(drop))
}
