//! `exec --budget`: the turn ends, with a message, before the call it cannot pay for, and the session continues
//! later.

use crate::support::{ExecResult, exec};
use octo_protocol::{BudgetScope, Cost, Event, TurnEnd};
use octo_testkit::{ModelServer, Script, TempHome};
use serde_json::json;

/// Writes a preset table in which the scripted model costs a dollar per million tokens of any kind.
fn price(home: &TempHome, server: &ModelServer) {
    let rates = json!({ "input": 1, "output": 1, "read": 1, "write": 1, "write_hour": 1 });
    let presets = json!({
        "version": 1,
        "providers": [{
            "id": "scripted",
            "name": "Scripted",
            "addresses": [{ "url": server.url() }],
            "protocol": "anthropic",
            "rows": [{ "name": "scripted", "prices": { "rates": rates, "date": "2026-11-22", "source": "a test" } }],
        }],
    });
    std::fs::create_dir_all(home.octo()).unwrap();
    std::fs::write(home.octo().join("presets.json"), presets.to_string()).unwrap();
}

fn script() -> Script {
    Script::new().call("todo_manager", json!({ "action": "list" })).text("Done.").text("Gone on.")
}

fn run(home: &TempHome, server: &ModelServer, language: &str, arguments: &[&str]) -> ExecResult {
    let url = server.url();
    let model = ["--protocol", "anthropic", "--base-url", &url, "--model", "scripted"];
    ExecResult::of(exec(home, &[&model, arguments].concat()).env("LC_ALL", language).output().unwrap())
}

#[test]
fn an_exhausted_budget_ends_the_turn_and_a_higher_one_continues_it() {
    for (language, words) in [
        ("C.UTF-8", ["it has spent $0.0", ", and its budget is $0.000001."]),
        ("zh_CN.UTF-8", ["已花费 $0.0", "，预算为 $0.000001。"]),
    ] {
        let home = TempHome::new();
        let server = ModelServer::start(script());
        price(&home, &server);
        let exec_result = run(&home, &server, language, &["--budget", "0.000001", "list it"]).expect(1);
        assert!(words.iter().all(|words| exec_result.err.contains(words)), "{}", exec_result.err);
        assert_eq!(exec_result.out, "");
        assert_eq!(server.requests().len(), 1, "the second call was not paid");

        let session = exec_result.session().to_string();
        let exec_result =
            run(&home, &server, language, &["--session", &session, "--budget", "5", "go on"]).expect(0);
        assert_eq!(exec_result.out, "Done.\n");
        assert_eq!(server.requests()[1].results().len(), 1, "what was done is there");
        server.assert_clean();
    }
}

#[test]
fn with_json_the_budget_stop_is_an_event_and_the_message_stays_on_stderr() {
    let home = TempHome::new();
    let server = ModelServer::start(script());
    price(&home, &server);
    let exec_result =
        run(&home, &server, "C.UTF-8", &["--json", "--budget", "0.000001", "list it"]).expect(1);
    let (mut stops, mut ends, mut billed) = (Vec::new(), Vec::new(), Vec::new());
    for envelope in exec_result.events() {
        match envelope.event {
            Event::BudgetReached { stop } => stops.push(stop),
            Event::TurnEnded { turn } => ends.push(turn.end),
            Event::CallBilled { call } => billed.push(call.cost),
            _ => {}
        }
    }
    assert_eq!(stops.len(), 1);
    assert_eq!(stops[0].scope, BudgetScope::Task);
    assert_eq!(stops[0].limit, Cost::from_nano_dollars(1_000));
    assert_eq!(ends, [Some(TurnEnd::Stopped)]);
    assert_eq!(billed, [Some(stops[0].spent)]);
    // A few thousand tokens at a dollar per million, in dollars with nine digits.
    let spent = stops[0].spent.to_string();
    assert!(
        spent.starts_with("$0.00") && exec_result.err.contains(spent.trim_end_matches('0')),
        "{spent}: {}",
        exec_result.err
    );
}

#[test]
fn a_turn_within_its_budget_finishes() {
    let home = TempHome::new();
    let server = ModelServer::start(script());
    price(&home, &server);
    let exec_result = run(&home, &server, "C.UTF-8", &["--budget", "5", "list it"]).expect(0);
    assert_eq!(exec_result.out, "Done.\n");
    assert_eq!(exec_result.err, format!("session: {}\n", exec_result.session()));
}

#[test]
fn unpriced_calls_are_reported_once() {
    let home = TempHome::new();
    let server = ModelServer::start(script());
    let exec_result = run(&home, &server, "C.UTF-8", &["--budget", "0.000001", "list it"]).expect(0);
    assert_eq!(exec_result.out, "Done.\n");
    assert_eq!(exec_result.err.matches("do not count toward the budget").count(), 1, "{}", exec_result.err);
    let exec_result = run(&home, &server, "C.UTF-8", &["no budget, no word"]).expect(0);
    assert!(!exec_result.err.contains("budget"), "{}", exec_result.err);
}

#[test]
fn an_invalid_amount_is_a_usage_error() {
    let home = TempHome::new();
    for invalid in ["0", "-1", "1e3", "$2", "1,5", "inf", "0.0000000001", ""] {
        let exec_result =
            ExecResult::of(exec(&home, &[&format!("--budget={invalid}"), "x"]).output().unwrap()).expect(2);
        assert!(exec_result.err.contains("--budget"), "{invalid}: {}", exec_result.err);
    }
    assert!(!home.octo().join("octo.db").exists(), "nothing was begun");
}
