//! Two applications on one home: each shows the other's running work and can stop it.

use super::{
    resting::start_second_octo,
    rig::{PATIENCE, Rig, reached},
};
use octo_core::{Octo, Subscription};
use octo_protocol::{
    ActivityId, ActivityRow, ErrorCode, Event, GetActivity, Mode, SessionInfo, SessionStatus, Snapshot, Stop,
    StopActivity, StopAllActivity, StoredTopic, TurnEnd, Update,
};
use octo_testkit::{Gate, Reply, Script};
use serde_json::json;
use std::time::Duration;

/// Waits for the first update in which `find` finds something, and returns it.
async fn wait_for_update<T>(
    description: &str,
    updates: &mut Subscription,
    mut find: impl FnMut(&Update) -> Option<T>,
) -> T {
    let wait = async {
        loop {
            let batch = updates.next().await.expect("updates continue");
            if let Some(value) = batch.iter().find_map(&mut find) {
                return value;
            }
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.unwrap_or_else(|_| panic!("no {description} came"))
}

fn listed_session(update: &Update) -> Option<SessionInfo> {
    match update {
        Update::Event { envelope } => match &envelope.event {
            Event::SessionListed { info } => Some(info.clone()),
            _ => None,
        },
        _ => None,
    }
}

async fn rows(octo: &Octo) -> Vec<ActivityRow> {
    octo.call(GetActivity {}).await.unwrap().rows
}

async fn wait_until_idle(octo: &Octo) {
    let wait = async {
        while !rows(octo).await.is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("all work ends");
}

#[tokio::test]
async fn a_turn_is_shown_and_stopped_by_another_application() {
    let gate = Gate::new();
    let held_reply = Reply::text("begun and not ended").in_chunks(2).hold_after(1, &gate);
    let mut rig = Rig::new(Script::new().reply(held_reply).text("And again.")).await;
    let other = start_second_octo(&rig).await;
    let mut list_updates = other.subscribe(StoredTopic::Sessions).await.unwrap();
    list_updates.next().await.expect("a snapshot");
    let session = rig.start(Mode::Ask, "begin").await;
    reached(&gate).await;

    // The list updates without a reload, and so does an open session.
    let running =
        |update: &Update| listed_session(update).filter(|info| info.status == SessionStatus::Running);
    assert_eq!(wait_for_update("session in the list", &mut list_updates, running).await.id, session);
    let mut session_updates = other.subscribe(StoredTopic::Session { id: session }).await.unwrap();
    let first = session_updates.next().await.expect("a snapshot");
    assert!(matches!(&first[0], Update::Snapshot { snapshot: Snapshot::Session(_) }), "{first:?}");
    let other_rows = rows(&other).await;
    let [row] = other_rows.as_slice() else { panic!("{other_rows:?}") };
    assert_eq!((&row.id, row.session), (&ActivityId::Session { session }, Some(session)));
    assert_eq!(row.process, Some(std::process::id()), "the process that runs it");
    assert_eq!(rows(&rig.octo).await[0].process, None, "its own work has no process id");

    other.call(StopActivity { id: row.id.clone() }).await.unwrap();
    assert_eq!(rig.turn_end().await, TurnEnd::Stopped);
    let end = |update: &Update| match update {
        Update::Event { envelope } => match &envelope.event {
            Event::TurnEnded { turn } => turn.end.clone(),
            _ => None,
        },
        _ => None,
    };
    assert_eq!(wait_for_update("end of the turn", &mut session_updates, end).await, TurnEnd::Stopped);
    wait_for_update("session at rest", &mut list_updates, |update| {
        listed_session(update).filter(|info| info.status == SessionStatus::Idle)
    })
    .await;
    wait_until_idle(&other).await;

    // A stop request applies to the turn it was made for, and a finished turn has none.
    other.call(StopActivity { id: ActivityId::Session { session } }).await.unwrap();
    gate.open();
    rig.send(session, "go on").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished, "a later turn is not ended");
    other.shutdown().await;
    rig.server.assert_clean();
}

#[tokio::test]
async fn stopping_a_session_stops_its_turn_in_another_application() {
    let gate = Gate::new();
    let mut rig = Rig::new(Script::new().reply(Reply::text("held back").hold_after(0, &gate))).await;
    let session = rig.start(Mode::Ask, "begin").await;
    reached(&gate).await;
    let other = start_second_octo(&rig).await;
    other.call(Stop { session }).await.unwrap();
    assert_eq!(rig.turn_end().await, TurnEnd::Stopped);
    gate.open();
    other.shutdown().await;
}

#[cfg(unix)]
#[tokio::test]
async fn commands_are_shown_and_stopped_by_another_application() {
    let gate = Gate::new();
    let script = Script::new()
        .call("terminal", json!({ "command": "sleep 1000", "async": true }))
        .call("terminal", json!({ "command": "sleep 2000", "async": true }))
        .reply(Reply::text("held back").hold_after(0, &gate));
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Autonomous, "serve").await;
    reached(&gate).await;
    let other = start_second_octo(&rig).await;
    let other_rows = rows(&other).await;
    assert_eq!(
        other_rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(),
        ["serve", "sleep 1000", "sleep 2000"]
    );
    assert!(other_rows.iter().all(|row| row.process.is_some()), "{other_rows:?}");
    other.call(StopActivity { id: other_rows[1].id.clone() }).await.unwrap();
    let ended = rig
        .event("end of a command", |event| match event {
            Event::CommandsChanged { commands } => {
                commands.iter().find(|command| command.state.is_over()).cloned()
            }
            _ => None,
        })
        .await;
    assert_eq!(ended.command, "sleep 1000");

    let count = other.call(StopAllActivity {}).await.unwrap().count;
    assert_eq!(count, 2, "the turn and the other command");
    assert_eq!(rig.turn_end().await, TurnEnd::Stopped);
    wait_until_idle(&other).await;
    gate.open();
    let gone = ActivityId::Command { session, handle: ended.handle.clone() };
    other.call(StopActivity { id: gone }).await.unwrap();
    let late = octo_protocol::StopCommand { session, handle: ended.handle };
    assert_eq!(other.call(late).await.unwrap_err().code, Some(ErrorCode::Gone));
    other.shutdown().await;
}
