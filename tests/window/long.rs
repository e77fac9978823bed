//! Long use of the real window: a day's work with a clock that runs faster. Sessions are started, used, shown
//! and left through the page, the window is hidden and shown again, every page is opened, and tasks run on
//! schedule. After a warm-up only stored data may grow, in no process anything else, and only in proportion to
//! the work done.
//!
//! 50 sessions with 40 turns each and at least eight hours of tasks: `cargo xtask soak` runs it, the gate does
//! not.

mod page;

use anyhow::{Result, ensure};
use octo_protocol::{
    Block, ChangeSettings, CompactionLimit, ListSessions, Millis, Mode, PinSession, SaveTask, Send,
    SessionFilter, SessionId, SessionStatus, SettingsPatch, TypedRequest,
};
use octo_testkit::{
    FastTime, GrowthCheck, ModelServer, ResourceMeasure, Script, ServerOptions, check_database, day,
    processes::stray_processes,
};
use octo_tests::{Application, Desktop, Panel, Theme};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use crate::first_task::{KEY, skip_the_rest};

/// Eight hours take eight minutes.
const SPEED: u32 = 60;
const HOUR: Millis = 3_600_000;
/// A session is idle after this much real time, and unloaded after ten times as much.
const IDLE_AFTER: Duration = Duration::from_millis(300);
/// How long until all work of a wave has ended and the page's garbage was collected.
const QUIET: Duration = Duration::from_secs(8);
/// Size in tokens from which conversations are compacted, so that each session is compacted several times.
const SUMMED_UP_AT: u64 = 16_000;
/// Number of tasks that run every five minutes.
const TASKS: usize = 3;
/// Timeout of a turn or an exit on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Amount of work.
struct Load {
    /// Groups of sessions, run in succession; the sessions of a group run at the same time.
    waves: usize,
    sessions: usize,
    turns: usize,
    /// Minimum duration by the fast clock.
    lasts: Millis,
    /// Number of waves after which everything has been used once.
    warm_up: usize,
}

/// A day. After four waves the pools of connections and threads have reached their size.
const FULL: Load = Load { waves: 10, sessions: 5, turns: 40, lasts: 8 * HOUR, warm_up: 4 };

/// The page's engine collects garbage later if the machine has more memory, and this test measures retained
/// memory: here the engine must believe that memory is scarce.
const PROMPT: [(&str, &str); 2] = [("JSC_forceRAMSize", "134217728"), ("JSC_largeHeapSize", "8388608")];

/// Allowed growth of each program's memory, in kB, for memory the allocator keeps and caches that fill up.
const MEMORY: [(&str, u64); 3] =
    [("fast_window", 12_000), ("WebKitWebProcess", 30_000), ("WebKitNetworkProcess", 4_000)];

#[tokio::test]
#[ignore = "needs a private desktop and a quarter of an hour: cargo xtask soak runs it"]
async fn only_stored_data_grows_in_a_day_of_use() -> Result<()> {
    let load = FULL;
    let mut desktop = Desktop::start()?;
    for (name, value) in PROMPT {
        desktop.set_variable(name, value);
    }
    let panel = Panel::start(&desktop).await?;
    let (home, work) = (desktop.folder().join("octo"), desktop.home().join("work"));
    fs::create_dir(&home)?;
    fs::create_dir(&work)?;
    let options =
        ServerOptions { kept_requests: Some(100), key: Some(KEY.to_owned()), ..ServerOptions::default() };
    let server = ModelServer::start_with(Script::from_fn(day::answer), options);
    day::prepare(&home, &server.url());
    let time = FastTime::new(SPEED);
    let start = time.now();
    let app =
        Application::open_with(&desktop, &program()?, &[time.to_argument(IDLE_AFTER)], &home, Theme::Light)
            .await?;
    let day = Day { app: &app, panel: &panel, work: &work, sessions: load.sessions };
    day.begin().await?;
    let process = app.process()?;
    let mut growth = GrowthCheck::new(load.sessions * load.turns);
    let mut pages = Vec::new();
    for wave in 0..load.waves {
        let started = Instant::now();
        day.work(wave, load.turns).await?;
        day.look_round().await?;
        let worked = started.elapsed();
        // A day's hours pass evenly.
        let wave_end = start + load.lasts / load.waves as Millis * (wave as Millis + 1);
        while time.now() < wave_end {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let size = page::PageSize::read(&day.page(page::FRESH).await?)?;
        let measured = day.measure(process, &home).await?;
        println!("wave {wave}, worked for {:.0} s: {measured}, {size:?}", worked.as_secs_f64());
        growth.add(measured);
        pages.push(size);
    }
    println!("{} h by the fast clock", (time.now() - start) as f64 / HOUR as f64);
    let folders = [home.clone(), work.clone()];
    app.until("no process to be left behind", async || {
        Ok(stray_processes(&folders, Some(process)).is_empty().then_some(()))
    })
    .await?;
    panel.choose("Quit Octo").await?;
    app.ended().await?;
    server.assert_clean();
    let ended = Instant::now();
    loop {
        let strays = stray_processes(&folders, None);
        if strays.is_empty() {
            break;
        }
        ensure!(ended.elapsed() < PATIENCE, "processes are left: {strays:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    page::check(&pages[load.warm_up - 1..]);
    println!("bytes of database per turn: {:?}", growth.check(load.warm_up, &MEMORY));
    let anew = check_database(&home, &desktop.folder().join("anew.db"));
    println!("bytes of database, and made anew: {anew:?}");
    Ok(())
}

/// Returns the example next to the binary, which is built with the tests.
fn program() -> Result<PathBuf> {
    let example = octo_tests::example("fast_window")?;
    ensure!(example.exists(), "{} is not built: cargo build --examples", example.display());
    Ok(example)
}

struct Day<'a> {
    app: &'a Application,
    panel: &'a Panel,
    work: &'a Path,
    sessions: usize,
}

impl Day<'_> {
    /// Completes the first run, and prepares the day.
    async fn begin(&self) -> Result<()> {
        let Self { app, work, .. } = self;
        app.find("welcome").await?;
        app.fill("model-provider-find", "Scripted").await?;
        app.click("model-provider-scripted").await?;
        app.fill("model-name", "scripted").await?;
        app.fill("model-key", KEY).await?;
        app.click("model-save").await?;
        skip_the_rest(app).await?;
        let patch = SettingsPatch {
            default_mode: Some(Mode::Autonomous),
            compact_at: Some(CompactionLimit::Tokens { tokens: SUMMED_UP_AT }),
            ..SettingsPatch::default()
        };
        self.call(ChangeSettings { patch }).await?;
        for number in 0..TASKS {
            let plan = Box::new(day::task(work, number));
            self.call(SaveTask { task: None, plan, version: None }).await?;
        }
        // The first closing asks for the preferred behaviour.
        app.press_close()?;
        app.click("closing-hide").await?;
        self.come_back().await
    }

    /// Runs a wave of sessions, from their first turn to their last.
    async fn work(&self, wave: usize, turns: usize) -> Result<()> {
        let mut open: Vec<(usize, SessionId)> = Vec::new();
        for number in wave * self.sessions..(wave + 1) * self.sessions {
            let folder = self.work.join(format!("s{number}"));
            fs::create_dir_all(&folder)?;
            let session_json = self.page(&page::begin(&folder, &day::turn(number, 0))).await?;
            let session: SessionId = serde_json::from_value(session_json)?;
            // So that its row stays in view.
            self.call(PinSession { session, pinned: true }).await?;
            open.push((number, session));
        }
        for turn in 1..turns {
            // Halfway, the window is hidden for a turn.
            let hidden = turn == turns / 2;
            if hidden {
                self.rest(&open).await?;
                self.hide().await?;
            }
            for (number, session) in &open {
                let text = day::turn(*number, turn);
                if hidden {
                    let blocks = vec![Block::Text { text }];
                    self.call(Send { session: *session, blocks }).await?;
                } else {
                    self.page(&page::say(session, &text)).await?;
                }
            }
            if hidden {
                self.rest(&open).await?;
                self.come_back().await?;
            }
        }
        self.rest(&open).await?;
        for (_, session) in open {
            self.page(&page::show(&session)).await?;
            self.call(PinSession { session, pinned: false }).await?;
        }
        Ok(())
    }

    /// Waits until all work in these sessions is done.
    async fn rest(&self, open: &[(usize, SessionId)]) -> Result<()> {
        let started = Instant::now();
        loop {
            let all =
                ListSessions { query: String::new(), filter: SessionFilter::default(), offset: 0, limit: 50 };
            let list = self.call(all).await?.sessions;
            let wave = list.iter().filter(|info| open.iter().any(|(_, id)| *id == info.id));
            let states: Vec<SessionStatus> = wave.map(|info| info.status).collect();
            ensure!(states.len() == open.len(), "the wave's sessions are pinned");
            ensure!(!states.contains(&SessionStatus::Failed), "a turn failed");
            if states.iter().all(|status| *status == SessionStatus::Idle) {
                return Ok(());
            }
            ensure!(started.elapsed() < PATIENCE, "the turns do not end: {states:?}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Opens every other page once.
    async fn look_round(&self) -> Result<()> {
        for name in ["activity", "tasks", "skills", "memory", "usage", "trash", "settings"] {
            self.page(&page::open(name)).await?;
        }
        Ok(())
    }

    async fn hide(&self) -> Result<()> {
        self.app.press_close()?;
        self.windows(0).await
    }

    async fn come_back(&self) -> Result<()> {
        self.windows(0).await?;
        self.panel.choose("Open Octo").await?;
        self.windows(1).await
    }

    async fn windows(&self, count: usize) -> Result<()> {
        let expectation = format!("{count} windows");
        self.app.until(&expectation, async || Ok((self.app.windows_shown()? == count).then_some(()))).await
    }

    /// Measures all processes once they are quiet. Tasks continue, so each figure is the minimum of several
    /// measurements.
    async fn measure(&self, process: u32, home: &Path) -> Result<ResourceMeasure> {
        tokio::time::sleep(QUIET).await;
        let mut looks = Vec::new();
        for _ in 0..10 {
            tokio::time::sleep(Duration::from_millis(200)).await;
            looks.push(ResourceMeasure::sample(process, home));
        }
        Ok(ResourceMeasure::minimum(looks))
    }

    /// Runs a person's steps in the page.
    async fn page(&self, steps: &str) -> Result<Value> {
        page::outcome(self.app.script_async(&page::script(steps)).await?)
    }

    /// Asks the core through the page.
    async fn call<C: TypedRequest>(&self, call: C) -> Result<C::Reply> {
        let request = serde_json::to_string(&call.into())?;
        let reply = self.page(&page::ask(&request)).await?;
        Ok(serde_json::from_value(reply)?)
    }
}
