//! MiniWoB++ (Farama, MIT): 130 small pages from outside this project, each with a task in one sentence and a
//! reward.
//!
//! Oracles with a few rules solve them, acting as a model does: they read the text of snapshots and address
//! elements by number. They prove that the text contains everything a task needs and that its numbers suffice.
//!
//! `OCTO_MINIWOB=click-link,enter-text` runs only these; with `OCTO_MINIWOB_TEXT` the test of all pages prints
//! them.

mod coverage;
mod oracles;
mod player;

use crate::kit::{DebuggingMode, RealChromium, TestDisplay, WindowFrames, chromium, tab};
use octo_browser::Page;
use player::Player;
use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

/// Returns the folder where the test setup unpacks the pages, or `None` if they are missing and not required.
fn pages() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("miniwob").join("miniwob").join("html");
    if !folder.join("miniwob").is_dir() {
        assert!(std::env::var_os("CI").is_none(), "MiniWoB++ is missing; cargo xtask test fetches it");
        eprintln!("skipped: MiniWoB++ is not there; cargo xtask test fetches it");
        return None;
    }
    Some(folder)
}

fn is_soak() -> bool {
    std::env::var_os("OCTO_SOAK").is_some()
}

/// A browser with one page, which moves from task to task.
struct Playground {
    _display: TestDisplay,
    _chromium: RealChromium,
    _connection: octo_browser::BrowserConnection,
    page: Page,
    folder: PathBuf,
}

impl Playground {
    async fn start() -> Option<Self> {
        chromium()?;
        let folder = pages()?;
        let display = TestDisplay::start(WindowFrames::None).await;
        let chromium = RealChromium::start(&display, DebuggingMode::Flag, &["about:blank"]).await;
        let connection = RealChromium::browser(&display).connect().await.expect("connected");
        let start = tab(&connection.tabs, "about:blank").await;
        let page = Page::attach(&connection.link, &start.target).await.expect("attached");
        page.begin_focus_emulation().await.expect("acting");
        Some(Self { _display: display, _chromium: chromium, _connection: connection, page, folder })
    }

    fn url(&self, task: &str) -> String {
        format!("file://{}", self.folder.join("miniwob").join(format!("{task}.html")).display())
    }
}

/// An oracle's answer to a task that does not specify its target: two mails by the same person, only one of
/// them wanted. The task is tried again with another seed.
const AMBIGUOUS: &str = "the task means one of two and does not say which";

/// Plays one task. Returns the reason if it was not solved.
async fn play(playground: &Playground, task: &str, oracle: oracles::Oracle, seed: u32) -> Option<String> {
    for seed in [seed, seed + 100, seed + 200] {
        let started = Instant::now();
        let mut player = Player::begin(&playground.page, &playground.url(task), seed).await;
        let result = tokio::time::timeout(Duration::from_secs(60), oracle(&mut player)).await;
        let reward = player.reward().await;
        let reason = match result {
            Err(_) => "it took longer than a minute".to_owned(),
            Ok(Err(reason)) if reason == AMBIGUOUS => {
                eprintln!("{task} {seed}: {AMBIGUOUS}");
                continue;
            }
            Ok(Err(reason)) => reason,
            Ok(Ok(())) => String::new(),
        };
        eprintln!("{task} {seed}: {reward} in {} acts, {} ms", player.acts, started.elapsed().as_millis());
        // Some tasks pay less for slow input.
        if reward > 0.0 {
            return None;
        }
        let end = player.text().await;
        let Player { goal, initial_text, .. } = player;
        return Some(format!(
            "{task} (seed {seed}): reward {reward}. {reason}\ngoal: {goal}\nat first: {initial_text}\nin the end: {end}"
        ));
    }
    Some(format!("{task} (seed {seed}): {AMBIGUOUS}, three times"))
}

/// Each task kind that has an oracle, with one seed in the gate and five in a soak.
#[tokio::test]
async fn oracles_solve_their_tasks_from_text_and_numbers() {
    let Some(playground) = Playground::start().await else { return };
    let seeds = if is_soak() { 5 } else { 1 };
    let only = std::env::var("OCTO_MINIWOB").ok();
    let started = Instant::now();
    let mut failed = Vec::new();
    let mut played = 0;
    for (task, oracle) in oracles::all() {
        if only.as_ref().is_some_and(|only| !only.split(',').any(|it| it == *task)) {
            continue;
        }
        for seed in 1..=seeds {
            played += 1;
            failed.extend(play(&playground, task, *oracle, seed).await);
        }
    }
    eprintln!("{played} tasks played in {:.0} s", started.elapsed().as_secs_f64());
    assert!(failed.is_empty(), "{} of {played} failed:\n{}", failed.len(), failed.join("\n\n"));
}

/// Returns the names of all pages, in alphabetical order.
fn tasks(folder: &std::path::Path) -> Vec<String> {
    let pages = std::fs::read_dir(folder.join("miniwob")).expect("pages");
    let name = |page: std::fs::DirEntry| page.file_name().to_str()?.strip_suffix(".html").map(str::to_owned);
    let mut tasks: Vec<String> = pages.filter_map(|page| name(page.expect("a page"))).collect();
    tasks.sort();
    tasks
}

/// No task is skipped silently: every page is listed as attempted or with the reason why not.
#[test]
fn every_task_is_attempted_or_left_out_for_a_reason() {
    let Some(folder) = pages() else { return };
    let attempted: Vec<&str> = oracles::all().map(|(task, _)| *task).collect();
    let not_attempted = oracles::NOT_ATTEMPTED.iter().flat_map(|(_, tasks)| tasks.iter().copied());
    let mut listed: Vec<&str> = attempted.iter().copied().chain(not_attempted).collect();
    listed.sort_unstable();
    assert_eq!(listed, tasks(&folder), "each once");
    assert_eq!(listed.len(), 130);
    assert!(attempted.len() >= 60, "{} are attempted", attempted.len());
    for (reason, tasks) in oracles::NOT_ATTEMPTED {
        eprintln!("{reason:?}: {} left out", tasks.len());
    }
}
