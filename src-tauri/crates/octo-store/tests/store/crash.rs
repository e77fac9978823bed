//! `kill -9` in the middle of writing.

use crate::{emit_all, fold, home, new, sample};
use octo_protocol::*;
use octo_store::Store;
use std::{
    env,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

const HOME: &str = "OCTO_STORE_CRASH_HOME";
const KILLS: usize = 20;

/// Returns the events one turn of the writer stores, as separate transactions.
fn turn_of(n: usize) -> Vec<Vec<Event>> {
    let turn = sample::turn();
    let question = sample::person(turn.id, vec![sample::text(&format!("question {n}"))]);
    let reply = sample::model(turn.id);
    let call = CallId::new();
    let mut ended = turn.clone();
    (ended.ended_at, ended.end, ended.usage) = (Some(9), Some(TurnEnd::Finished), sample::usage(n as u64));
    vec![
        vec![Event::TurnStarted { turn: turn.clone() }, Event::MessageAdded { message: question }],
        vec![Event::MessageStarted { message: reply.clone() }],
        vec![Event::BlockAdded {
            message: reply.id,
            index: 0,
            block: sample::text(&"words ".repeat(n % 900)),
        }],
        vec![
            Event::BlockAdded { message: reply.id, index: 1, block: sample::tool_call(call) },
            Event::CallChanged { call: sample::call(call, turn.id, CallState::Planned) },
        ],
        vec![Event::CallChanged { call: sample::call(call, turn.id, CallState::Started { at: 5 }) }],
        vec![Event::CallChanged { call: sample::call(call, turn.id, sample::ended()) }],
        vec![Event::MessageEnded {
            message: reply.id,
            end: MessageEnd::Complete,
            usage: Some(sample::usage(n as u64)),
        }],
        vec![Event::TurnEnded { turn: ended }],
    ]
}

/// The process that is killed: run by the test below, which reads a line per commit.
#[test]
#[ignore = "run by the crash test as a process of its own"]
fn writer() {
    let Some(home) = env::var_os(HOME) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let store = Store::open(home.as_ref()).unwrap();
        let info = sample::head("crash");
        let id = info.id;
        let created = new(info);
        store.write(move |tx| tx.create_session(&created)).await.unwrap();
        println!("session {id}");
        for n in 0.. {
            for events in turn_of(n) {
                let seq = store
                    .write(move |tx| {
                        emit_all(tx, id, events)?;
                        tx.topic_seq(&StoredTopic::Session { id })
                    })
                    .await
                    .unwrap();
                println!("stored {seq}");
            }
        }
    });
}

#[tokio::test]
async fn kill_9_at_any_moment_loses_nothing_that_was_stored() {
    let home = home();
    let mut sessions = 0;
    // A fixed series of numbers; the machine's timing around them decides where each kill happens.
    let mut salt = 0x2545_f491_u64;
    for kill in 0..KILLS {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "crash::writer", "--ignored", "--nocapture", "--test-threads=1"])
            .env(HOME, home.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        salt ^= salt << 13;
        salt ^= salt >> 7;
        salt ^= salt << 17;
        let commits = salt % 120;
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let session: SessionId =
            lines.find_map(|line| line.split_once("session ").map(|(_, id)| id.parse().unwrap())).unwrap();
        let seq = |line: &str| line.split_once("stored ").map(|(_, seq)| seq.parse::<u64>().unwrap());
        let mut acknowledged =
            lines.by_ref().filter_map(|line| seq(&line)).take(commits as usize).last().unwrap_or(1);
        child.kill().unwrap();
        child.wait().unwrap();
        // Its output before it died counts too; the last line may be cut.
        for line in lines {
            acknowledged = line
                .split_once("stored ")
                .and_then(|(_, seq)| seq.parse().ok())
                .unwrap_or(acknowledged)
                .max(acknowledged);
        }
        sessions += 1;

        let store = Store::open(home.path()).unwrap_or_else(|error| panic!("after kill {kill}: {error}"));
        let (snapshot, resumed, events, total) = store
            .read(move |reader| {
                Ok((
                    reader.snapshot(session, 100_000)?.unwrap(),
                    reader.resume(session)?.unwrap(),
                    fold::all_events(reader, StoredTopic::Session { id: session })?,
                    reader.list_snapshot(1)?.total,
                ))
            })
            .await
            .unwrap();
        assert_eq!(total, sessions);
        assert!(
            events.len() as u64 >= acknowledged,
            "kill {kill}: {} stored, {acknowledged} told",
            events.len()
        );
        assert!(events.iter().map(|event| event.seq).eq(1..=events.len() as u64), "kill {kill}: a gap");
        let mut folded = fold::Fold::new();
        events.iter().for_each(|envelope| folded.apply(&envelope.event));
        assert_eq!(snapshot, folded.snapshot(&events), "kill {kill}");
        let unfinished = folded.turns.iter().find(|turn| turn.end.is_none());
        assert_eq!(resumed.unfinished.as_ref().map(|turn| &turn.turn), unfinished, "kill {kill}");
        store.close();
    }
}
