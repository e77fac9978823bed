//! An idle window: the activity of its processes while nothing happens, visible and hidden.

use anyhow::{Context as _, Result, ensure};
use octo_testkit::{
    ModelServer, Script, ServerOptions,
    processes::{ProcessWork, program, with_descendants},
};
use octo_tests::{Application, BareApplication, Desktop, Panel, Theme};
use std::{
    collections::BTreeMap,
    fs,
    time::{Duration, Instant},
};

use crate::first_task::{KEY, connect};

/// How long to wait before the measurement, so that all startup work is done.
const SETTLED: Duration = Duration::from_secs(8);
/// Duration of the measurement.
const LOOK: Duration = Duration::from_secs(10);
/// Maximum wakeups of one program's threads in that time while the window is visible, with a blinking caret.
/// Measured: 720, half of it by the screen's own refresh; a page that draws sixty times a second reaches twice
/// that.
const SHOWN: u64 = 1_200;
/// The same while it is hidden. Measured: 90, a fifth of it by an idle thread pool, more than half of it by the
/// threads that check each second for data stored by other processes. Another timer of four per second exceeds
/// it.
const HIDDEN: u64 = 120;
/// A thread that works without ever waiting is not woken, so this limits the CPU time of each program, in
/// ticks: a quarter of a core. Measured: 10 and 2, but on a shared machine the load of others counts here too.
const TICKS: u64 = 250;

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn an_idle_window_uses_almost_no_cpu() -> Result<()> {
    let desktop = Desktop::start()?;
    let panel = Panel::start(&desktop).await?;
    let (home, work) = (desktop.folder().join("octo"), desktop.home().join("notes"));
    fs::create_dir(&work)?;
    let server = ModelServer::start_with(
        Script::new().text("ok").text("There is **nothing** to do.\n\n".repeat(30)),
        ServerOptions { key: Some(KEY.to_owned()), ..ServerOptions::default() },
    );
    // A session to show, and the setting that closing hides.
    let app = Application::open(&desktop, &home, Theme::Light).await?;
    connect(&app, &server.url(), "idle").await?;
    app.fill("new-folder", work.to_str().context("a path in Unicode")?).await?;
    app.fill("composer", "Is there something to do?").await?;
    app.click("send").await?;
    app.find("turn-end[data-end=finished]").await?;
    app.press_close()?;
    app.click("closing-hide").await?;
    app.until("the window to go", async || Ok((app.windows_shown()? == 0).then_some(()))).await?;
    panel.choose("Quit Octo").await?;
    app.ended().await?;

    // Started as a person does: a driver would query the page all the time.
    let mut app = BareApplication::start(&desktop, &home)?;
    app.painted()?;
    let visible_load = look(app.process()).await;
    println!("shown: {visible_load:?}");
    check(&visible_load, SHOWN);
    app.press_close()?;
    let started = Instant::now();
    while app.windows_shown()? > 0 {
        ensure!(started.elapsed() < SETTLED, "the window does not go");
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    let hidden = look(app.process()).await;
    println!("hidden: {hidden:?}");
    check(&hidden, HIDDEN);
    panel.choose("Quit Octo").await?;
    app.ended()?;
    Ok(())
}

/// The activity of a program during the measurement.
#[derive(Debug, Default)]
struct ProgramLoad {
    /// CPU time of all its processes, in ticks, including ended threads.
    ticks: u64,
    /// Its active threads, by name.
    threads: BTreeMap<String, ProcessWork>,
}

/// Checks that no program is woken more often than `wakes`, and none works all the time.
fn check(loads: &BTreeMap<String, ProgramLoad>, wakes: u64) {
    let woken = |load: &ProgramLoad| load.threads.values().map(|work| work.wakes).sum::<u64>();
    let busy_programs: Vec<_> =
        loads.iter().filter(|(_, load)| woken(load) > wakes || load.ticks > TICKS).collect();
    assert!(
        busy_programs.is_empty(),
        "more than {wakes} wakes or {TICKS} ticks in {LOOK:?}: {busy_programs:#?}"
    );
}

/// Measures the activity of each program.
async fn look(process: u32) -> BTreeMap<String, ProgramLoad> {
    tokio::time::sleep(SETTLED).await;
    let processes = || -> BTreeMap<u32, _> {
        let load_of = |id| Some((id, (ProcessWork::ticks(id)?, ProcessWork::by_thread(id))));
        with_descendants(process).into_iter().filter_map(load_of).collect()
    };
    let before = processes();
    tokio::time::sleep(LOOK).await;
    let mut loads = BTreeMap::new();
    for (id, (ticks, threads)) in processes() {
        let Some(name) = program(id) else { continue };
        let (had, earlier) = before.get(&id).cloned().unwrap_or_default();
        let load: &mut ProgramLoad = loads.entry(name).or_default();
        load.ticks += ticks.saturating_sub(had);
        for (thread, (name, work)) in threads {
            let previous = earlier.get(&thread).map(|(_, work)| *work).unwrap_or_default();
            let work = work.since(previous);
            if work != ProcessWork::default() {
                *load.threads.entry(name).or_default() += work;
            }
        }
    }
    loads
}
