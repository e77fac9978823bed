//! Octo's own overhead between two model calls.

use crate::{
    seed,
    table::{Figures, Table, Unit},
};
use anyhow::{Context as _, Result, bail, ensure};
use octo_protocol::{
    Block, ChangeSettings, Event, LibrarySettings, Mode, Profile, SettingsPatch, StartSession, StoredTopic,
    Switch, TurnEnd,
};
use octo_testkit::{ModelServer, Script, TempHome};
use serde_json::json;
use std::time::Duration;

/// Tool calls in a turn.
const CALLS: usize = 60;
/// Turns, each in a separate home.
const TURNS: usize = 5;
/// The goal of the project's second issue, in milliseconds.
const AIM: f64 = 3.0;
/// A longer turn counts as hung.
const PATIENCE: Duration = Duration::from_secs(120);

/// Size of the context before the calls, in words of some seven bytes.
const CONTEXTS: [(&str, usize); 2] = [("a new session", 10), ("a session of about 400 kB", 57_000)];

/// Adds the rows.
///
/// # Errors
/// When a turn deviates from the script.
pub async fn measure(table: &mut Table) -> Result<()> {
    // The first turn in a process includes one-time setup.
    turn(CONTEXTS[0].1).await?;
    for (context, words) in CONTEXTS {
        let mut overheads = Vec::new();
        for _ in 0..TURNS {
            overheads.extend(turn(words).await?);
        }
        let label = format!("From the model's last byte to the next request, {context}");
        table.add_with_goal(label, Unit::Milliseconds, Figures::of_times(&overheads)?, AIM);
    }
    table.note(format!(
        "A turn is {CALLS} calls of a tool that does nothing (`todo_manager list`), one after the other, stored \
         and shown as any; the tool's own time is not taken off."
    ));
    Ok(())
}

/// Returns the gaps between calls of one turn.
async fn turn(word_count: usize) -> Result<Vec<Duration>> {
    let home = TempHome::new();
    // The number is ignored; it makes the calls differ from each other.
    let script = (0..CALLS).fold(Script::new(), |script, number| {
        script.call("todo_manager", json!({ "action": "list", "id": number }))
    });
    let server = ModelServer::start(script.text("Done."));
    let octo = seed::start(&home).await?;
    seed::add_model(&octo, server.url()).await?;
    // Such a long turn would end with a look back, which is a separate call.
    let library =
        LibrarySettings { propose: Switch::Off, remember: Switch::Off, ..LibrarySettings::default() };
    let patch = SettingsPatch { library: Some(library), ..SettingsPatch::default() };
    octo.call(ChangeSettings { patch }).await?;
    let mut events = octo.events();
    let session = octo
        .call(StartSession {
            folder: home.work().to_str().context("a path in Unicode")?.to_owned(),
            profile: Profile::GENERAL,
            mode: Mode::AskRisky,
            model: None,
            effort: None,
            title: None,
            blocks: vec![Block::Text { text: seed::words(word_count, word_count) }],
        })
        .await?;
    // A window watches.
    let mut watching = octo.subscribe(StoredTopic::Session { id: session.id }).await?;
    let window = tokio::spawn(async move { while watching.next().await.is_some() {} });
    let ended = tokio::time::timeout(PATIENCE, async {
        loop {
            if let Event::TurnEnded { turn } = &events.recv().await?.event {
                return anyhow::Ok(turn.end.clone());
            }
        }
    });
    match ended.await.context("the turn hangs")?? {
        Some(TurnEnd::Finished) => {}
        end => bail!("the turn ended so: {end:?}"),
    }
    octo.shutdown().await;
    window.abort();

    let faults = server.faults();
    ensure!(faults.is_empty(), "requests no provider would take: {faults:?}");
    let timings = server.timings();
    ensure!(timings.len() == CALLS + 1, "{} requests", timings.len());
    let results: usize = server.requests().iter().map(|request| request.results().len()).sum();
    ensure!(results == CALLS, "{results} results");
    let gaps = timings.windows(2).map(|pair| {
        let last = pair[0].last_byte.context("every answer has an end")?;
        Ok(pair[1].received_at.duration_since(last))
    });
    gaps.collect()
}
