//! Idle sessions are unloaded, and continued when they are used again.

use super::{
    rig::{PATIENCE, Rig, config},
    sub_agent_rig::end_of,
};
use octo_core::{Config, Octo, OpenTurnPolicy};
use octo_protocol::{ErrorCode, Mode, RenameSession, SessionId, TurnEnd};
use octo_testkit::{Reply, Script};
use serde_json::json;
use std::time::Duration;

const IDLE: Duration = Duration::from_millis(20);

/// Starts a second application on the home, which can change a session while no other has it open.
pub async fn start_second_octo(rig: &Rig) -> Octo {
    let config = Config { open_turns: OpenTurnPolicy::WaitForUse, ..config(&rig.home) };
    Octo::start(config).await.expect("a second application starts")
}

async fn is_open(other: &Octo, session: SessionId) -> bool {
    match other.call(RenameSession { session, title: "Renamed".to_owned() }).await {
        Ok(_) => false,
        Err(error) if error.code == Some(ErrorCode::InUse) => true,
        Err(error) => panic!("{error:?}"),
    }
}

async fn rests(other: &Octo, session: SessionId) {
    let wait = async {
        while is_open(other, session).await {
            tokio::time::sleep(IDLE).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("the session rests");
}

#[tokio::test]
async fn a_session_nobody_works_in_is_let_go_of_and_goes_on_when_somebody_does() {
    let uncached = json!({ "kind": "none", "minimum": 0 });
    let script = Script::new().text("first").text("second");
    let mut rig = Rig::priced_with(script, IDLE, &uncached).await;
    let session = rig.start(Mode::Ask, "one").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    let other = start_second_octo(&rig).await;
    rests(&other, session).await;
    // The conversation continues from the stored data, and its bytes are those sent before.
    rig.send(session, "two").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    let requests = rig.server.requests();
    assert_eq!(requests.len(), 2);
    assert!(requests[1].messages().len() > requests[0].messages().len());
    assert_eq!(rig.snapshot(session).await.info.title, "Renamed");
    other.shutdown().await;
    rig.server.assert_clean();
}

#[tokio::test]
async fn a_session_with_a_command_in_the_background_stays_open() {
    let uncached = json!({ "kind": "none", "minimum": 0 });
    let script =
        Script::from_fn(|request| match (request.user_text().contains("serve"), request.answers()) {
            (true, 0) => Reply::call("terminal", json!({ "command": "sleep 1000", "async": true })),
            _ => Reply::text("done"),
        });
    let mut rig = Rig::priced_with(script, IDLE, &uncached).await;
    let serving = rig.start(Mode::Autonomous, "serve").await;
    assert_eq!(end_of(&mut rig, serving).await, TurnEnd::Finished);
    let plain = rig.start(Mode::Ask, "talk").await;
    assert_eq!(end_of(&mut rig, plain).await, TurnEnd::Finished);
    let other = start_second_octo(&rig).await;
    // The session used later is idle; the other one would be by then.
    rests(&other, plain).await;
    assert!(is_open(&other, serving).await);
    let commands = rig.snapshot(serving).await.commands;
    assert_eq!(commands.len(), 1);
    assert!(!commands[0].state.is_over(), "it goes on: {commands:?}");
    other.shutdown().await;
    rig.assert_sound();
}
