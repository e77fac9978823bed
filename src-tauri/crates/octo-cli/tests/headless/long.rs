//! Long use: a day's work in one process, with a clock that runs faster. Sessions are used and left, tasks run
//! on schedule, sub-agents and background commands start and end. After a warm-up only stored data may grow
//! (not the memory, open files or processes), and only in proportion to the work done.
//!
//! In full (`OCTO_SOAK`) 50 sessions with 40 turns each and at least eight hours of tasks; otherwise a small
//! part.

use crate::{
    campaign::is_full,
    fast_time::{self, MINUTE},
    support::{PATIENCE, connect, until},
};
use octo_protocol::{
    Block, ChangeSettings, CompactionLimit, Event, Millis, Mode, ModelId, Profile, SaveTask, Send, SessionId,
    SessionStatus, SettingsPatch, StartSession, StoredTopic,
};
use octo_testkit::{
    FastTime, GrowthCheck, ModelServer, ResourceMeasure, Script, ServeProcess, ServerOptions, TempHome,
    check_database, day, processes::stray_processes,
};
use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

/// Eight hours take eight minutes.
const SPEED: u32 = 60;
const HOUR: Millis = 60 * MINUTE;
/// A session is idle after this much real time, and unloaded after ten times as much.
const IDLE_AFTER: Duration = Duration::from_millis(300);
/// How long until all work of a wave has ended.
const QUIET: Duration = Duration::from_secs(5);
/// Size in tokens from which conversations are compacted, so that each session is compacted several times.
const SUMMED_UP_AT: u64 = 16_000;
/// Number of tasks that run every five minutes.
const TASKS: usize = 3;
/// Allowed growth of memory, in kB, for memory the allocator keeps and caches of the database that fill up. The
/// memory of one session, times the sessions of a wave, would exceed it over all waves.
const MEMORY: u64 = 8_000;

/// Amount of work.
struct WorkLoad {
    /// Groups of sessions, run in succession; the sessions of a group run at the same time.
    waves: usize,
    sessions: usize,
    turns: usize,
    /// Number of folders the sessions work in, in turn.
    folders: usize,
    /// Minimum duration by the fast clock.
    lasts: Millis,
    /// Number of waves after which everything has been used once.
    warm_up: usize,
}

/// Folder data is kept for sixteen folders, which four waves fill.
const FULL: WorkLoad =
    WorkLoad { waves: 10, sessions: 5, turns: 40, folders: 50, lasts: 8 * HOUR, warm_up: 4 };
const PART: WorkLoad = WorkLoad { waves: 4, sessions: 2, turns: 8, folders: 3, lasts: 0, warm_up: 2 };

#[test]
fn nothing_grows_in_a_day_of_work_but_what_is_stored() {
    let load = if is_full() { FULL } else { PART };
    let home = TempHome::new();
    let options = ServerOptions { kept_requests: Some(100), ..ServerOptions::default() };
    let server = ModelServer::start_with(Script::from_fn(day::answer), options);
    day::prepare(&home.octo(), &server.url());
    let time = FastTime::new(SPEED);
    let started_at = time.now();
    let mut day =
        Day { core: fast_time::serve(&time, &home, IDLE_AFTER), home: &home, place: 0, model: None };
    day.model = Some(connect(&mut day.core, &server).id);
    let patch = SettingsPatch {
        compact_at: Some(CompactionLimit::Tokens { tokens: SUMMED_UP_AT }),
        ..SettingsPatch::default()
    };
    day.core.call(ChangeSettings { patch }).expect("the setting is changed");
    for number in 0..TASKS {
        let plan = Box::new(day::task(&home.work(), number));
        day.core.call(SaveTask { task: None, plan, version: None }).expect("the task is saved");
    }
    let mut growth = GrowthCheck::new(load.sessions * load.turns);
    for wave in 0..load.waves {
        let started = Instant::now();
        day.work(wave, &load);
        // A day's hours pass evenly.
        let wanted = started_at + load.lasts / load.waves as Millis * (wave as Millis + 1);
        while time.now() < wanted {
            std::thread::sleep(Duration::from_millis(100));
        }
        let measured = day.measure();
        println!("wave {wave} in {:.0} s: {measured}", started.elapsed().as_secs_f64());
        growth.add(measured);
    }
    println!("{} h by the fast clock", (time.now() - started_at) as f64 / HOUR as f64);
    let root = [home.work().parent().expect("a folder above").to_owned()];
    let pid = day.core.pid();
    until("no process is left behind", || stray_processes(&root, Some(pid)).is_empty().then_some(()));
    day.core.close(PATIENCE);
    server.assert_clean();
    until("no process is left at all", || stray_processes(&root, None).is_empty().then_some(()));
    println!("bytes of database per turn: {:?}", growth.check(load.warm_up, &[("fast_clock", MEMORY)]));
    let rebuilt = check_database(&home.octo(), &home.home().join("anew.db"));
    println!("bytes of database, and made anew: {rebuilt:?}");
}

struct Day<'a> {
    core: ServeProcess,
    home: &'a TempHome,
    /// Events already looked at.
    place: usize,
    model: Option<ModelId>,
}

impl Day<'_> {
    /// Runs a wave of sessions, from their first turn to their last.
    fn work(&mut self, wave: usize, load: &WorkLoad) {
        let mut open: HashMap<SessionId, (usize, usize)> = HashMap::new();
        for number in 0..load.sessions {
            let session = wave * load.sessions + number;
            let folder = self.home.work().join(format!("s{}", session % load.folders));
            std::fs::create_dir_all(&folder).expect("a folder to work in");
            let start = StartSession {
                folder: folder.display().to_string(),
                profile: Profile::GENERAL,
                mode: Mode::Autonomous,
                model: self.model,
                effort: None,
                title: None,
                blocks: text(&day::turn(session, 0)),
            };
            let id = self.core.call(start).expect("the session starts").id;
            open.insert(id, (session, 0));
        }
        while !open.is_empty() {
            let (place, envelope) = self.core.wait_after(self.place, PATIENCE * 4, |_| true);
            self.place = place;
            let StoredTopic::Session { id } = envelope.topic else { continue };
            let Event::SessionChanged { info } = &envelope.event else { continue };
            assert_ne!(info.status, SessionStatus::Failed, "{info:?}");
            if info.status != SessionStatus::Idle {
                continue;
            }
            let Some((session, turn)) = open.get_mut(&id) else { continue };
            *turn += 1;
            if *turn == load.turns {
                open.remove(&id);
                continue;
            }
            let words = day::turn(*session, *turn);
            self.core.call(Send { session: id, blocks: text(&words) }).expect("the message is taken");
        }
    }

    /// Measures the process once it is quiet. Tasks continue, so each figure is the minimum of several
    /// measurements.
    fn measure(&self) -> ResourceMeasure {
        std::thread::sleep(QUIET);
        ResourceMeasure::minimum((0..10).map(|_| {
            std::thread::sleep(Duration::from_millis(200));
            ResourceMeasure::sample(self.core.pid(), &self.home.octo())
        }))
    }
}

fn text(content: &str) -> Vec<Block> {
    vec![Block::Text { text: content.to_owned() }]
}
