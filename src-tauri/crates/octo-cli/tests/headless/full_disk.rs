//! A full disk: it is reported, a signal still ends the run, and pending data is stored once there is space.
#![cfg(target_os = "linux")]

use crate::support::{PATIENCE, RunningExec, connect, exec, model, run, serve, until};
use nix::sys::signal::Signal;
use octo_protocol::{Block, Event, ListSessions, Mode, Profile, StartSession, StoredTopic};
use octo_testkit::{DiskMode, Gate, ModelServer, Reply, Script, SmallDisk, TempHome};
use std::time::{Duration, Instant};

/// Reason why a test is skipped.
const NO_DISK: &str = "skipped: this user cannot mount a small disk";

/// Returns a home on a small disk, or `None` if this user cannot create one.
fn small_home() -> Option<(TempHome, SmallDisk)> {
    let home = TempHome::new();
    SmallDisk::mount(&home.octo()).map(|disk| (home, disk))
}

/// Returns an answer that does not fit on the disk and stops halfway.
fn too_long(gate: &Gate) -> Script {
    Script::new().reply(Reply::text("more than is left ".repeat(60_000)).in_chunks(2).hold_after(1, gate))
}

/// Returns a run whose disk was filled during an answer, once it reported that.
fn stuck(home: &TempHome, disk: &SmallDisk) -> (ModelServer, RunningExec) {
    let gate = Gate::new();
    let server = ModelServer::start(too_long(&gate));
    let mut arguments = model(&server);
    arguments.push("go".to_owned());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut running = RunningExec::start(&mut exec(home, &arguments));
    gate.wait_reached(PATIENCE);
    disk.fill();
    gate.open();
    running.wait_error("The disk is full.");
    (server, running)
}

#[test]
fn a_turn_that_cannot_be_stored_is_reported_and_still_handles_signals() {
    let Some((home, disk)) = small_home() else { return println!("{NO_DISK}") };
    let (_server, running) = stuck(&home, &disk);
    running.signal(Signal::SIGINT);
    // The first signal asks the session to stop, which it does once that can be stored; the second does not
    // wait for that.
    let started = Instant::now();
    std::thread::sleep(Duration::from_millis(500));
    running.signal(Signal::SIGINT);
    let exec_result = running.end().expect(130);
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
    assert_eq!(
        exec_result.err.matches("The disk is full.").count(),
        1,
        "it is said once: {}",
        exec_result.err
    );
    drop(disk);
}

#[test]
fn a_turn_that_cannot_be_stored_continues_when_space_returns() {
    let Some((home, disk)) = small_home() else { return println!("{NO_DISK}") };
    let (_server, running) = stuck(&home, &disk);
    disk.free();
    let exec_result = running.end().expect(0);
    assert_eq!(exec_result.out.trim_end(), "more than is left ".repeat(60_000).trim_end());
    drop(disk);
}

#[test]
fn serve_reports_a_session_that_cannot_be_stored() {
    let Some((home, disk)) = small_home() else { return println!("{NO_DISK}") };
    let gate = Gate::new();
    let server = ModelServer::start(too_long(&gate));
    let mut core = serve(&home);
    let model = connect(&mut core, &server);
    let folder = home.work().to_str().unwrap().to_owned();
    let (profile, mode) = (Profile::GENERAL, Mode::Autonomous);
    let blocks = vec![Block::Text { text: "go".to_owned() }];
    let begin =
        StartSession { folder, profile, mode, model: Some(model.id), effort: None, title: None, blocks };
    let session = core.call(begin).unwrap().id;
    gate.wait_reached(PATIENCE);
    disk.fill();
    gate.open();
    let reported = until("the line that tells of it", || core.unmatched_errors().into_iter().next());
    assert_eq!(reported.key, "serve.session_waits");
    assert_eq!(reported.args["session"], session.to_string());
    assert_eq!(reported.args["cause"], "store.full");
    disk.free();
    core.wait_for(PATIENCE, |envelope| {
        envelope.topic == (StoredTopic::Session { id: session })
            && matches!(envelope.event, Event::TurnEnded { .. })
    });
    let stored = until("the line that it is over", || core.unmatched_errors().into_iter().nth(1));
    assert_eq!(
        (stored.key.as_str(), &stored.args["session"]),
        ("serve.session_stored", &session.to_string())
    );
    assert!(core.noise().is_empty());
    core.close(PATIENCE);
    drop(disk);
}

#[test]
fn a_read_only_or_full_home_is_reported_at_start_and_loses_nothing() {
    let Some((home, disk)) = small_home() else { return println!("{NO_DISK}") };
    let server = ModelServer::start(Script::new().text("first").text("second").text("third"));
    run(&home, &server, &["one"]).expect(0);
    disk.remount(DiskMode::No);
    let exec_result = run(&home, &server, &["two"]).expect(1);
    assert!(exec_result.err.contains("Octo cannot use its home"), "{}", exec_result.err);
    assert!(exec_result.err.contains(&home.octo().display().to_string()), "{}", exec_result.err);
    disk.remount(DiskMode::Yes);
    disk.fill();
    let exec_result = run(&home, &server, &["two"]);
    assert_ne!(exec_result.status, Some(0), "{exec_result:#?}");
    assert!(
        exec_result.err.contains("disk is full") || exec_result.err.contains("has space left"),
        "{}",
        exec_result.err
    );
    assert_eq!(server.requests().len(), 1, "nothing was sent that could not be kept");
    disk.free();
    let exec_result = run(&home, &server, &["two"]).expect(0);
    assert_eq!(exec_result.out.trim_end(), "second");
    let mut core = serve(&home);
    let list = ListSessions { query: String::new(), filter: Default::default(), offset: 0, limit: 10 };
    assert_eq!(core.call(list).unwrap().sessions.len(), 2);
    core.close(PATIENCE);
    drop(disk);
}
