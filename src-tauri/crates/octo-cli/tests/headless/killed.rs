//! `kill -9` at critical moments: stopped work stays stopped, and no run resumes another's work.

use crate::support::{PATIENCE, connect, run, serve, until};
use octo_protocol::{
    Block, CallState, Event, Mode, ModelId, OpenSession, Profile, SessionStatus, StartSession, Stop, TurnEnd,
};
use octo_testkit::{Gate, ModelServer, Reply, Script, ServeProcess, TempHome};
use serde_json::json;

fn start(core: &mut ServeProcess, home: &TempHome, model: ModelId, text: &str) -> octo_protocol::SessionId {
    let call = StartSession {
        folder: home.work().display().to_string(),
        profile: Profile::GENERAL,
        mode: Mode::Autonomous,
        model: Some(model),
        blocks: vec![Block::Text { text: text.to_owned() }],
        effort: None,
        title: None,
    };
    core.call(call).expect("the session starts").id
}

#[test]
fn a_stopping_turn_does_not_resume_after_kill_9() {
    let home = TempHome::new();
    // It ignores its termination, so that there is time to kill Octo while it is stopping.
    let line = "trap '' TERM; touch up; while :; do sleep 0.2; done";
    let script = Script::new().call("terminal", json!({ "command": line })).text("never asked for");
    let server = ModelServer::start(script);
    let mut core = serve(&home);
    let model = connect(&mut core, &server).id;
    let session = start(&mut core, &home, model, "run");
    core.wait_for(PATIENCE, |envelope| {
        matches!(&envelope.event, Event::CallChanged { call } if matches!(call.state, CallState::Started { .. }))
    });
    until("the command runs", || home.work().join("up").exists().then_some(()));
    core.send(&Stop { session }.into());
    core.wait_for(PATIENCE, |envelope| matches!(envelope.event, Event::TurnStopping { .. }));
    core.kill();

    let mut core = serve(&home);
    let snapshot = core.call(OpenSession { session }).expect("the session opens");
    assert_eq!(snapshot.page.turns[0].end, Some(TurnEnd::Stopped));
    assert_eq!(snapshot.info.status, SessionStatus::Idle);
    assert_eq!(server.requests().len(), 1);
    core.close(PATIENCE);
    server.assert_clean();
}

#[test]
fn a_run_leaves_the_open_turns_of_other_sessions_alone() {
    let home = TempHome::new();
    let gate = Gate::new();
    let held_reply = Reply::text("half of").in_chunks(2).hold_after(1, &gate);
    let server = ModelServer::start(Script::from(held_reply).text("Mine."));
    let mut core = serve(&home);
    let model = connect(&mut core, &server).id;
    let session = start(&mut core, &home, model, "say it");
    gate.wait_reached(PATIENCE);
    core.kill();

    let exec_result = run(&home, &server, &["something else"]).expect(0);
    assert_eq!(exec_result.out, "Mine.\n");
    assert_eq!(server.requests().len(), 2, "one for each");
    assert_ne!(exec_result.session(), session);

    server.push(Reply::text("the whole of it"));
    let mut core = serve(&home);
    until("the first turn's end", || {
        let snapshot = core.call(OpenSession { session }).expect("the session opens");
        (snapshot.info.status == SessionStatus::Idle).then_some(())
    });
    assert_eq!(server.requests().len(), 3);
    core.close(PATIENCE);
    server.assert_clean();
}
