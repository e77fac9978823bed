//! Opening, listing and searching through the core's public API: the times a window waits for.

use crate::{
    seed::{self, LONG, RARE, SESSIONS, SeededHome},
    table::{Figures, Table, Unit},
};
use anyhow::{Context as _, Result, ensure};
use octo_core::Octo;
use octo_protocol::{ListSessions, SearchSessions, Snapshot, StoredTopic, TypedRequest, Update};
use std::time::{Duration, Instant};

/// Measured runs. A run before them fills the caches.
const RUNS: usize = 9;
/// Goal of the project's second issue for a session of 10,000 messages, in milliseconds.
const OPEN: f64 = 200.0;
/// Its goal for a search among 10,000 sessions, in milliseconds.
const SEARCH: f64 = 30.0;

/// Adds the rows.
///
/// # Errors
/// When the core does not do as asked.
pub async fn measure(table: &mut Table, seeded: &SeededHome) -> Result<()> {
    let (mut first, mut again) = (Vec::new(), Vec::new());
    for _ in 0..=RUNS {
        // Only a fresh core has to load it.
        let octo = seed::start(&seeded.home).await?;
        first.push(open(&octo, seeded).await?);
        again.push(open(&octo, seeded).await?);
        octo.shutdown().await;
    }
    let what = "Open a session of 10,000 messages";
    table.add_with_goal(what, Unit::Milliseconds, Figures::of_times(&first[1..])?, OPEN);
    table.add(format!("{what} again"), Unit::Milliseconds, Figures::of_times(&again[1..])?);

    let octo = seed::start(&seeded.home).await?;
    let list = |query: &str, offset| ListSessions {
        query: query.to_owned(),
        filter: Default::default(),
        offset,
        limit: 50,
    };
    let total = octo.call(list("", 0)).await?.total;
    ensure!(total == SESSIONS as u64, "{total} sessions");
    for (what, call) in [
        ("List 50 of 10,000 sessions", list("", 0)),
        ("List 50 of 10,000 sessions, from the 9,000th on", list("", 9_000)),
        ("List sessions whose title has a word", list("parser", 0)),
    ] {
        table.add(what, Unit::Milliseconds, time(&octo, &call).await?);
    }
    for (what, query, there) in [
        ("a common word", "parser", true),
        ("three common words", "parser window never", true),
        ("a rare word", "needle", true),
        ("a rare word and a Chinese one", RARE, true),
        ("three Chinese characters", "解析器", true),
        ("two common Chinese characters", "解析", true),
        ("two rare Chinese characters", "针线", true),
        ("two letters that occur nowhere", "qx", false),
    ] {
        let call = SearchSessions { query: query.to_owned(), filter: Default::default(), limit: 50 };
        let found = !octo.call(call.clone()).await?.hits.is_empty();
        ensure!(found == there, "searching {query:?} found something: {found}");
        let what = format!("Search 10,000 sessions: {what}");
        table.add_with_goal(what, Unit::Milliseconds, time(&octo, &call).await?, SEARCH);
    }
    octo.shutdown().await;
    Ok(())
}

/// Measures from the request to the first batch, which is the snapshot.
async fn open(octo: &Octo, seeded: &SeededHome) -> Result<Duration> {
    let started = Instant::now();
    let mut subscription = octo.subscribe(StoredTopic::Session { id: seeded.long }).await?;
    let batch = subscription.next().await.context("a first batch")?;
    let elapsed = started.elapsed();
    let Some(Update::Snapshot { snapshot: Snapshot::Session(session) }) = batch.first() else {
        anyhow::bail!("the first batch is not the session: {batch:?}");
    };
    let message_count = session.page.messages.len();
    ensure!(
        session.page.earlier && message_count > 0 && message_count < LONG,
        "a page of {message_count} messages"
    );
    Ok(elapsed)
}

async fn time<C: TypedRequest + Clone>(octo: &Octo, call: &C) -> Result<Figures> {
    let mut runs = Vec::new();
    for _ in 0..=RUNS {
        let call = call.clone();
        let started = Instant::now();
        octo.call(call).await?;
        runs.push(started.elapsed());
    }
    Figures::of_times(&runs[1..])
}
