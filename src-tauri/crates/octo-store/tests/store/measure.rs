//! Figures, for whoever wants them: `cargo nextest run -p octo-store --release --run-ignored only
//! --no-capture -E 'test(figures)'`. They gate nothing, since they depend on the machine; `gates.rs` in
//! the crate gates what does not.

use crate::{emit_all, home, new, sample};
use octo_protocol::{Block, CallId, Event, MessageEnd, SessionInfo, ToolResult, TurnId};
use octo_store::{Reader, Store, StoreError};
use std::{
    hint::black_box,
    time::{Duration, Instant},
};

const SESSIONS: usize = 10_000;
const MESSAGES: usize = 10_000;

/// Words in a fixed disorder, so that texts differ and some words are rare.
fn words(seed: usize, count: usize) -> String {
    const WORDS: [&str; 24] = [
        "build",
        "parser",
        "fails",
        "when",
        "the",
        "file",
        "is",
        "empty",
        "because",
        "window",
        "never",
        "closes",
        "写一个",
        "解析器",
        "测试",
        "代码",
        "文件",
        "运行",
        "please",
        "check",
        "again",
        "after",
        "update",
        "error",
    ];
    let mut state = seed as u64 * 2_654_435_761 + 12_345;
    let mut text = String::new();
    for _ in 0..count {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(WORDS[(state >> 33) as usize % WORDS.len()]);
        text.push(' ');
    }
    text
}

/// The median of nine runs; the first, which fills the caches, is not counted.
async fn time<T: Send + 'static>(
    store: &Store,
    name: &str,
    read: impl Fn(&Reader<'_>) -> Result<T, StoreError> + Send + Clone + 'static,
) {
    let mut runs: Vec<Duration> = Vec::new();
    for _ in 0..10 {
        let read = read.clone();
        let begun = Instant::now();
        black_box(store.read(read).await.unwrap());
        runs.push(begun.elapsed());
    }
    let first = runs.remove(0);
    runs.sort();
    println!(
        "{name:<44} {:>8.2} ms  (first {:.2} ms)",
        runs[4].as_secs_f64() * 1e3,
        first.as_secs_f64() * 1e3
    );
}

#[tokio::test]
#[ignore = "prints figures, checks nothing"]
async fn figures() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let begun = Instant::now();
    for chunk in 0..SESSIONS / 100 {
        store
            .write(move |tx| {
                for n in chunk * 100..(chunk + 1) * 100 {
                    let info = SessionInfo {
                        updated_at: n as i64,
                        pinned: n % 997 == 0,
                        ..sample::head(&words(n, 6))
                    };
                    let id = info.id;
                    tx.create_session(&new(info))?;
                    let message = |m: usize| Event::MessageAdded {
                        message: sample::person(TurnId::new(), vec![sample::text(&words(n * 31 + m, 60))]),
                    };
                    emit_all(tx, id, (0..8).map(message).collect())?;
                    if n == 137 {
                        let rare = sample::text("a needle in the haystack 针线");
                        emit_all(
                            tx,
                            id,
                            vec![Event::MessageAdded { message: sample::person(TurnId::new(), vec![rare]) }],
                        )?;
                    }
                }
                Ok(())
            })
            .await
            .unwrap();
    }
    let long = sample::head("the long one");
    let id = long.id;
    store
        .write(move |tx| {
            tx.create_session(&new(long))?;
            let mut turn = sample::turn();
            for n in 0..MESSAGES / 4 {
                if n % 5 == 0 {
                    turn = sample::turn();
                    emit_all(tx, id, vec![Event::TurnStarted { turn: turn.clone() }])?;
                }
                let answer = sample::model(turn.id);
                let call = CallId::new();
                let result = ToolResult { text: words(n, 400), ..sample::result(call) };
                let events = vec![
                    Event::MessageAdded {
                        message: sample::person(turn.id, vec![sample::text(&words(n, 30))]),
                    },
                    Event::MessageStarted { message: answer.clone() },
                    Event::BlockAdded {
                        message: answer.id,
                        index: 0,
                        block: sample::text(&words(n + 7, 120)),
                    },
                    Event::BlockAdded { message: answer.id, index: 1, block: sample::tool_call(call) },
                    Event::MessageEnded { message: answer.id, end: MessageEnd::Complete, usage: None },
                    Event::CallChanged { call: sample::call(call, turn.id, sample::ended()) },
                    Event::MessageAdded { message: sample::octo(turn.id, vec![Block::ToolResult(result)]) },
                    Event::MessageAdded {
                        message: sample::person(turn.id, vec![sample::text(&words(n + 9, 30))]),
                    },
                ];
                for event in &events {
                    if let Event::MessageAdded { message } | Event::MessageStarted { message } = event {
                        let message = message.id;
                        emit_all(tx, id, vec![event.clone()])?;
                        tx.append_context(id, message)?;
                    } else {
                        emit_all(tx, id, vec![event.clone()])?;
                    }
                }
            }
            Ok(())
        })
        .await
        .unwrap();
    println!("filled in {:.1} s", begun.elapsed().as_secs_f64());
    store.close();
    let size = std::fs::metadata(home.path().join("octo.db")).unwrap().len();
    let begun = Instant::now();
    let store = Store::open(home.path()).unwrap();
    println!("open ({} MB) {:.1} ms", size >> 20, begun.elapsed().as_secs_f64() * 1e3);

    time(&store, "snapshot, newest 200 of 10,000 messages", move |reader| reader.snapshot(id, 200)).await;
    time(&store, "resume, 10,000 messages in the context", move |reader| reader.resume(id)).await;
    time(&store, "list, first 50 of 10,000", |reader| reader.list_snapshot(50)).await;
    time(&store, "list, 50 from 9,000 on", |reader| reader.sessions("", 9_000, 50)).await;
    for query in ["parser", "解析", "nothing like it", "qx"] {
        time(&store, &format!("list by title, {query:?}"), move |reader| reader.sessions(query, 0, 50)).await;
    }
    for query in [
        "parser",
        "needle",
        "haystack 针线",
        "parser window never",
        "解析器",
        "解析",
        "针线",
        "qx",
        "nothing like it",
    ] {
        time(&store, &format!("search, {query:?}"), move |reader| reader.search(query, 50)).await;
    }
    let mut writes: Vec<Duration> = Vec::new();
    for n in 0..200 {
        let message = sample::person(TurnId::new(), vec![sample::text(&words(n, 60))]);
        let begun = Instant::now();
        store.write(move |tx| emit_all(tx, id, vec![Event::MessageAdded { message }])).await.unwrap();
        writes.push(begun.elapsed());
    }
    writes.sort();
    println!(
        "write of one message: median {:.2} ms, worst {:.2} ms",
        writes[100].as_secs_f64() * 1e3,
        writes[199].as_secs_f64() * 1e3
    );
    store.close();
}
