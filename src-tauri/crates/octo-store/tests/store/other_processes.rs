//! Two processes on one file, as two stores: each notices the other's writes, and receives its stop requests.

use super::sample;
use octo_protocol::{Event, SessionId, StoredTopic, TurnId};
use octo_store::{Holder, HolderState, LeaseOutcome, NewSession, StopRequest, Store, ToolsetRow};

fn holder(token: &str) -> Holder {
    Holder { token: token.to_owned(), ..Holder::current() }
}

async fn session(store: &Store, holder: &Holder) -> SessionId {
    let info = sample::head("a session");
    let id = info.id;
    let toolset = ToolsetRow { hash: "t".to_owned(), version: 1, tools_json: "[]".to_owned() };
    let session = NewSession { info, system: "system".to_owned(), toolset };
    let holder = holder.clone();
    let leased = store.write(move |tx| {
        tx.create_session(&session)?;
        tx.take_lease(id, &holder, |_| HolderState::Alive)
    });
    assert_eq!(leased.await.unwrap(), LeaseOutcome::Taken);
    id
}

#[tokio::test]
async fn writes_of_other_processes_are_noticed_once() {
    let home = octo_testkit::test_folder();
    let (first, right) = (Store::open(home.path()).unwrap(), Store::open(home.path()).unwrap());
    assert!(!first.has_foreign_writes().await.unwrap());
    let id = session(&first, &holder("left")).await;
    assert!(!first.has_foreign_writes().await.unwrap(), "its own");
    assert!(right.has_foreign_writes().await.unwrap());
    assert!(!right.has_foreign_writes().await.unwrap(), "told already");
    let events = right.read(|reader| reader.events_since(&StoredTopic::Sessions, 0, 10)).await.unwrap();
    assert!(matches!(&events[0].event, Event::SessionListed { info } if info.id == id));
    // Also when own events follow.
    session(&right, &holder("right")).await;
    session(&first, &holder("left")).await;
    assert!(first.has_foreign_writes().await.unwrap());
    right.close();
    assert!(right.has_foreign_writes().await.is_err());
}

#[tokio::test]
async fn a_stop_request_reaches_the_sessions_process_once() {
    let home = octo_testkit::test_folder();
    let store = Store::open(home.path()).unwrap();
    let (own_session, other_session) =
        (session(&store, &holder("me")).await, session(&store, &holder("they")).await);
    let turn = TurnId::new();
    let requests = [StopRequest::Turn(turn), StopRequest::Command("a:b".to_owned())];
    for request in requests.clone() {
        let repeated = request.clone();
        store.write(move |tx| tx.request_stop(other_session, &request)).await.unwrap();
        store.write(move |tx| tx.request_stop(other_session, &repeated)).await.unwrap();
    }
    assert!(!store.read(|reader| reader.has_stop_requests("me")).await.unwrap());
    assert!(store.write(|tx| tx.take_stop_requests("me")).await.unwrap().is_empty());
    assert!(store.read(|reader| reader.has_stop_requests("they")).await.unwrap());
    let mut taken_requests = store.write(|tx| tx.take_stop_requests("they")).await.unwrap();
    taken_requests.sort_by_key(|(_, request)| matches!(request, StopRequest::Command(_)));
    assert_eq!(taken_requests, requests.map(|request| (other_session, request)));
    assert!(store.write(|tx| tx.take_stop_requests("they")).await.unwrap().is_empty());

    let works = store.read(|reader| reader.sessions_of_other_processes("me")).await.unwrap();
    assert_eq!(works.iter().map(|work| work.info.id).collect::<Vec<_>>(), [other_session]);
    assert_eq!((works[0].holder.token.as_str(), works[0].turn), ("they", None));
    // Deleting a session permanently deletes its stop requests.
    store.write(move |tx| tx.request_stop(own_session, &StopRequest::Turn(turn))).await.unwrap();
    store.write(move |tx| tx.soft_delete(own_session, 1)).await.unwrap();
    store.write(move |tx| tx.purge_session(own_session)).await.unwrap();
    assert!(!store.read(|reader| reader.has_stop_requests("me")).await.unwrap());
}
