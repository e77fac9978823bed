//! `exec` when it is interrupted.

use crate::support::{PATIENCE, RunningExec, connect, exec, is_gone, model, run, serve, until};
use nix::sys::signal::Signal;
use octo_protocol::{CallState, CallStatus, MessageEnd, OpenSession, Role, SessionStatus, TurnEnd};
use octo_testkit::{AnswerOutcome, Gate, ModelServer, Reply, Script, TempHome};
use serde_json::json;
use std::time::{Duration, Instant};

fn start(home: &TempHome, server: &ModelServer, arguments: &[&str]) -> RunningExec {
    let mut all = model(server);
    all.extend(arguments.iter().map(|&argument| argument.to_owned()));
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    RunningExec::start(&mut exec(home, &all))
}

#[test]
fn an_interrupt_keeps_the_text_streamed_so_far() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let home = TempHome::new();
        let gate = Gate::new();
        let answer = Reply::text("One.").and_text("two three four").in_chunks(1).hold_after(1, &gate);
        let server = ModelServer::start(Script::from(answer).text("And on."));
        let mut running = start(&home, &server, &["--json", "count"]);
        running.wait_output("block_added");
        let pressed = Instant::now();
        running.signal(signal);
        let exec_result = running.end().expect(130);
        assert!(pressed.elapsed() < Duration::from_secs(5), "{:?}", pressed.elapsed());
        assert_eq!(server.wait_outcome(0), AnswerOutcome::Dropped, "the connection was closed");
        assert!(
            exec_result.out.contains(r#""end":{"type":"stopped"}"#),
            "the stop is told: {}",
            exec_result.out
        );

        let mut core = serve(&home);
        let snapshot = core.call(OpenSession { session: exec_result.session() }).unwrap();
        assert_eq!(snapshot.info.status, SessionStatus::Idle);
        assert_eq!(snapshot.page.turns[0].end, Some(TurnEnd::Stopped));
        let last = snapshot.page.messages.last().unwrap();
        assert_eq!((last.role, last.meta.end), (Role::Assistant, Some(MessageEnd::Stopped)));
        assert_eq!(last.text(), "One.");
        core.close(PATIENCE);

        let after = run(&home, &server, &["--session", "last", "go on"]).expect(0);
        assert_eq!(after.out, "And on.\n");
        server.assert_clean();
    }
}

#[test]
fn an_interrupt_ends_the_running_command() {
    let home = TempHome::new();
    let command = "sleep 300 & echo $$ $! > pids; echo begun; wait";
    let script =
        Script::new().call("terminal", json!({ "command": command })).text("Never said.").text("Fine.");
    let server = ModelServer::start(script);
    let running = start(&home, &server, &["--mode", "autonomous", "sleep"]);
    let pids: Vec<i32> = until("the command's process ids", || {
        let text = std::fs::read_to_string(home.work().join("pids")).ok()?;
        text.ends_with('\n').then(|| text.split_whitespace().map(|pid| pid.parse().unwrap()).collect())
    });
    assert!(pids.iter().all(|&pid| !is_gone(pid)));
    let pressed = Instant::now();
    running.signal(Signal::SIGINT);
    let exec_result = running.end().expect(130);
    assert!(pressed.elapsed() < Duration::from_secs(5), "{:?}", pressed.elapsed());
    until("the end of the command's processes", || pids.iter().all(|&pid| is_gone(pid)).then_some(()));
    assert_eq!(server.requests().len(), 1, "no model call after a stop");

    let mut core = serve(&home);
    connect(&mut core, &server);
    let snapshot = core.call(OpenSession { session: exec_result.session() }).unwrap();
    let call = &snapshot.page.calls[0];
    assert!(matches!(call.state, CallState::Ended { status: CallStatus::Stopped, .. }), "{call:?}");
    core.close(PATIENCE);
    // "Never said." answers the next message: the stopped turn did not ask for it.
    let after = run(&home, &server, &["--session", "last", "well?"]).expect(0);
    assert_eq!(after.out, "Never said.\n");
    let results = server.requests()[1].all_results();
    assert_eq!(results.len(), 1, "the call has its one result");
    server.assert_clean();
}

#[test]
fn an_interrupt_before_the_prompt_does_nothing() {
    let home = TempHome::new();
    let mut command = exec(&home, &["--protocol", "demo", "-"]);
    command.stdin(std::process::Stdio::piped());
    let running = RunningExec::start(&mut command);
    running.wait_handles(Signal::SIGINT);
    running.signal(Signal::SIGINT);
    running.end().expect(130);
    assert!(!home.octo().join("octo.db").exists());
}
