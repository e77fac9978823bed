//! `exec` next to another Octo on the same home: it is listed with its process, and ends when stopped from
//! there.

use crate::support::{PATIENCE, RunningExec, exec, model, serve, until};
use octo_protocol::{ActivityId, GetActivity, ListSessions, SessionStatus, StopActivity};
use octo_testkit::{Gate, ModelServer, Reply, Script, TempHome};

#[test]
fn a_run_in_a_terminal_is_listed_and_stopped_by_another_octo() {
    let home = TempHome::new();
    let gate = Gate::new();
    let server = ModelServer::start(
        Script::new().reply(Reply::text("One.").and_text("two").in_chunks(1).hold_after(1, &gate)),
    );
    let mut core = serve(&home);
    let arguments: Vec<String> =
        model(&server).into_iter().chain(["--json", "count"].map(str::to_owned)).collect();
    let mut running =
        RunningExec::start(&mut exec(&home, &arguments.iter().map(String::as_str).collect::<Vec<_>>()));
    running.wait_output("block_added");
    let row = until("the run among what runs", || core.call(GetActivity {}).unwrap().rows.into_iter().next());
    assert_eq!(row.process, Some(running.process()));
    let session = row.session.unwrap();
    assert_eq!(row.id, ActivityId::Session { session });

    core.call(StopActivity { id: row.id }).unwrap();
    let exec_result = running.end().expect(130);
    assert!(exec_result.out.contains(r#""end":{"type":"stopped"}"#), "the stop is told: {}", exec_result.out);
    until("nothing to run any more", || core.call(GetActivity {}).unwrap().rows.is_empty().then_some(()));
    let list = ListSessions { query: String::new(), filter: Default::default(), offset: 0, limit: 9 };
    assert_eq!(core.call(list).unwrap().sessions[0].status, SessionStatus::Idle);
    gate.open();
    core.close(PATIENCE);
}
