//! A crash after every single write of a run: the next process finds exactly the data stored up to then.
//!
//! SQLite appends each transaction to its log, and a log that ends after a complete transaction is valid. So
//! the log of a run from its time to its end, cut after each transaction in turn, is each state a crash can
//! leave.

use super::{crash::dead, world::*};
use crate::agent::rig::Rig;
use octo_protocol::{
    ListSessions, Millis, MissedRun, OpenSession, RunCause, RunStatus, SkipReason, TaskPlan, TaskRetry,
    TaskRun, TurnEnd,
};
use octo_store::{HolderState, Store};
use octo_testkit::{PrefixRule, RecordedRequest, Reply, Script, ServerOptions};
use serde_json::json;
use std::{collections::BTreeMap, fs, path::Path, path::PathBuf, sync::Arc};

/// The normal run checks one of this many states; a soak checks all.
const ONE_OF: usize = 3;

/// The time of the run.
const SLOT: Millis = DAY + 10 * HOUR;

/// The home of a finished run, as each of its transactions left it.
struct CrashRecording {
    /// All files except the log.
    files: BTreeMap<PathBuf, Vec<u8>>,
    log: Vec<u8>,
    /// Positions where the log may be cut, the first before the run's time.
    cuts: Vec<usize>,
}

impl CrashRecording {
    /// Lets a task reach its time, and its run end.
    async fn of(rig: &Rig, clock: &Arc<HandClock>, plan: TaskPlan, over: fn(&[TaskRun]) -> bool) -> Self {
        save(rig, plan).await;
        settled(rig, clock, 0).await;
        let before = files(&rig.home.octo());
        clock.set(SLOT);
        runs_when(rig, "over", over).await;
        settled(rig, clock, runs(rig).await.len()).await;
        let mut files = files(&rig.home.octo());
        let (database, log) = (Path::new("octo.db"), Path::new("octo.db-wal"));
        assert_eq!(before[database], files[database], "all that was stored is in the log");
        let (begun, log) = (&before[log], files.remove(log).expect("the log"));
        assert!(log.starts_with(begun), "the log went on");
        files.remove(Path::new("octo.db-shm"));
        let cuts = commits(&log).into_iter().filter(|end| *end >= begun.len()).collect();
        Self { files, log, cuts }
    }

    /// Resets a home to one of its moments, left by a process that is gone.
    async fn rewind(&self, rig: &Rig, cut: usize) {
        let home = rig.home.octo();
        fs::remove_dir_all(&home).expect("the home goes");
        for (path, bytes) in &self.files {
            let path = home.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder of the home");
            fs::write(path, bytes).expect("a file of the home");
        }
        fs::write(home.join("octo.db-wal"), &self.log[..cut]).expect("the log");
        let _none = fs::remove_file(rig.home.work().join("log.txt"));
        let store = tokio::task::spawn_blocking(move || Store::open(&home)).await.unwrap().unwrap();
        let left = store.write(|tx| {
            // This process has the number of the crashed one, and is alive.
            tx.take_schedule_lease(&dead(), |_| HolderState::Dead)?;
            for session in tx.open_runs()?.iter().filter_map(|row| row.run.session) {
                tx.take_lease(session, &dead(), |_| HolderState::Dead)?;
            }
            Ok(())
        });
        left.await.unwrap();
        tokio::task::spawn_blocking(move || store.close()).await.unwrap();
    }

    /// Returns the moments to check.
    fn moments(&self) -> impl Iterator<Item = usize> {
        let step = if std::env::var_os("OCTO_SOAK").is_some() { 1 } else { ONE_OF };
        assert!(self.cuts.len() > 6, "a run is more than {} transactions", self.cuts.len());
        self.cuts.iter().copied().step_by(step)
    }
}

/// Every file below a folder.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a folder").flatten() {
            let path = entry.path();
            match entry.file_type().expect("a kind") {
                kind if kind.is_dir() => folders.push(path),
                kind if kind.is_file() => {
                    let bytes = fs::read(&path).expect("a file");
                    found.insert(path.strip_prefix(folder).expect("below it").to_owned(), bytes);
                }
                // Links to programs, which every start recreates.
                _ => {}
            }
        }
    }
    found
}

/// The ends of the transactions in a write-ahead log (<https://www.sqlite.org/fileformat2.html#walformat>).
fn commits(log: &[u8]) -> Vec<usize> {
    const HEADER: usize = 32;
    const FRAME: usize = 24;
    let number = |at: usize| u32::from_be_bytes(log[at..at + 4].try_into().expect("four bytes"));
    let size = FRAME + number(8) as usize;
    let frames = (HEADER..).step_by(size).take_while(|start| start + size <= log.len());
    // Frames left from before the log restarted have other salts.
    let frames = frames.filter(|start| log[start + 8..start + 16] == log[16..24]);
    frames.filter(|start| number(start + 4) > 0).map(|start| start + size).collect()
}

/// Returns a rig before the run's time, with a server that accepts a conversation continued from an earlier
/// point.
async fn rewindable(script: Script) -> (Rig, Arc<HandClock>) {
    let clock = HandClock::at(DAY + 9 * HOUR);
    let options = ServerOptions { prefix: PrefixRule::Free, ..ServerOptions::default() };
    (Rig::by_clock_with(script, clock.clone(), options).await, clock)
}

/// Returns the reply that writes a line to a file, then the brief.
fn brief(request: &RecordedRequest) -> Reply {
    match request.answers() {
        0 => Reply::call("terminal", json!({ "command": "echo line >> log.txt" })),
        _ => Reply::text("The brief is written."),
    }
}

fn finished(runs: &[TaskRun]) -> bool {
    runs.iter().any(|run| run.status == RunStatus::Finished)
}

fn over(runs: &[TaskRun]) -> bool {
    !runs.is_empty() && runs.iter().all(|run| run.ended_at.is_some())
}

/// Checks that exactly one complete session exists, with the one run's words.
async fn check_session(rig: &Rig, run: &TaskRun) {
    let call = ListSessions { query: String::new(), filter: Default::default(), offset: 0, limit: 9 };
    let listed = rig.octo.call(call).await.unwrap();
    let session = run.session.expect("its session");
    assert_eq!(listed.sessions.iter().map(|info| info.id).collect::<Vec<_>>(), [session]);
    let page = rig.octo.call(OpenSession { session }).await.unwrap().page;
    assert_eq!(page.turns.iter().map(|turn| turn.end.clone()).collect::<Vec<_>>(), [Some(TurnEnd::Finished)]);
    let messages_there = page.messages.iter().filter(|message| message.text() == "Write the brief.").count();
    assert_eq!(messages_there, 1, "{page:#?}");
}

#[tokio::test]
async fn a_crash_after_any_write_of_a_run_leaves_one_run_that_comes_to_its_end() {
    let (mut rig, clock) = rewindable(Script::from_fn(brief)).await;
    let plan = at_ten(&rig);
    let film = CrashRecording::of(&rig, &clock, plan, finished).await;
    rig.end().await;
    for cut in film.moments() {
        film.rewind(&rig, cut).await;
        clock.set(SLOT + MINUTE);
        rig.begin_by_clock(clock.clone()).await;
        let all = runs_when(&rig, "over", over).await;
        assert_eq!(all.len(), 1, "cut at {cut}: {all:#?}");
        assert_eq!((&all[0].status, all[0].cause, all[0].due), (&RunStatus::Finished, RunCause::Time, SLOT));
        check_session(&rig, &all[0]).await;
        settled(&rig, &clock, 1).await;
        let log = fs::read_to_string(rig.home.work().join("log.txt")).unwrap_or_default();
        assert!(log.lines().count() <= 1, "cut at {cut}: {log}");
        rig.end().await;
    }
    rig.server.assert_clean();
}

#[tokio::test]
async fn found_hours_later_it_goes_on_where_it_had_begun_and_goes_by_the_policy_where_it_had_not() {
    let (mut rig, clock) = rewindable(Script::from_fn(brief)).await;
    let plan = TaskPlan { missed: MissedRun::Skip, ..at_ten(&rig) };
    let film = CrashRecording::of(&rig, &clock, plan, finished).await;
    rig.end().await;
    let (mut skipped, mut gone_on) = (0, 0);
    for cut in film.moments() {
        film.rewind(&rig, cut).await;
        clock.set(SLOT + 5 * HOUR);
        rig.begin_by_clock(clock.clone()).await;
        let all = runs_when(&rig, "over", over).await;
        let [run] = all.as_slice() else { panic!("cut at {cut}: {all:#?}") };
        assert_eq!(run.due, SLOT);
        if run.status == RunStatus::Finished {
            gone_on += 1;
            check_session(&rig, run).await;
        } else {
            assert_eq!(run.status, RunStatus::Skipped { reason: SkipReason::Missed { times: 1 } });
            assert_eq!((run.session, gone_on), (None, 0), "once it began it is not left out");
            skipped += 1;
        }
        settled(&rig, &clock, 1).await;
        rig.end().await;
    }
    assert!(skipped > 0 && gone_on > 0, "{skipped} left out, {gone_on} gone on with");
    rig.server.assert_clean();
}

#[tokio::test]
async fn a_run_that_fails_is_tried_again_once_whatever_write_was_the_last() {
    let fails = |_: &RecordedRequest| Reply::error(400, "invalid_request_error", "not today");
    let (mut rig, clock) = rewindable(Script::from_fn(fails)).await;
    let plan = TaskPlan { retry: TaskRetry { times: 1, minutes: 10 }, ..at_ten(&rig) };
    let waits = |runs: &[TaskRun]| runs.len() == 2;
    let film = CrashRecording::of(&rig, &clock, plan, waits).await;
    rig.end().await;
    for cut in film.moments() {
        film.rewind(&rig, cut).await;
        clock.set(SLOT + MINUTE);
        rig.begin_by_clock(clock.clone()).await;
        runs_when(&rig, "waiting to be tried again", |runs| {
            runs.len() == 2 && matches!(runs[0].status, RunStatus::Failed { .. })
        })
        .await;
        clock.set(SLOT + 12 * MINUTE);
        let all = runs_when(&rig, "over", |runs| runs.len() > 1 && over(runs)).await;
        let failed = |run: &TaskRun| matches!(run.status, RunStatus::Failed { .. });
        assert!(all.len() == 2 && all.iter().all(failed), "cut at {cut}: {all:#?}");
        assert_eq!(all[1].cause, RunCause::Retry { of: all[0].id, number: 1 }, "cut at {cut}");
        settled(&rig, &clock, 2).await;
        rig.end().await;
    }
}
