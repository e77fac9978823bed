//! The cost of the snapshots around a command in a large repository, and of undoing a command that changed much.

use crate::table::{Figures, Table, Unit};
use anyhow::{Context as _, Result, ensure};
use octo_protocol::{Mode, SessionId, SessionInfo, Source, TurnId};
use octo_store::{NewSession, Store, ToolsetRow};
use octo_workspace::{Blobs, RestoreSelection, TimeLimits, TimeMachine};
use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    time::{Duration, Instant},
};

const FOLDERS: usize = 1_000;
const FILES_IN_EACH: usize = 100;
/// Measured commands. A command before them fills the caches.
const COMMANDS: usize = 15;
/// Files a command changes.
const CHANGED: usize = 5;
/// The goal of the project's fourth issue for a warm snapshot, in milliseconds.
const AIM: f64 = 150.0;

/// Folders whose files the undone command changes, and adds to.
const CHANGED_FOLDERS: usize = 100;
/// Folders that the undone command empties.
const EMPTIED_FOLDERS: usize = 2;
/// Files the undone command adds to each changed folder.
const ADDED_TO_EACH: usize = 10;
/// Measured undos, with a redo after each.
const UNDOS: usize = 3;
/// The goal of the project's twenty-fifth issue for an undo, in milliseconds.
const UNDO_AIM: f64 = 5_000.0;

/// Adds the rows. Blocking: run it on a separate thread.
///
/// # Errors
/// When something is not recorded.
pub fn measure(table: &mut Table) -> Result<()> {
    measure_snapshots(table)?;
    measure_undo(table)
}

fn measure_snapshots(table: &mut Table) -> Result<()> {
    let folder_guard = tempfile::tempdir()?;
    let base = fs::canonicalize(folder_guard.path())?;
    let folder = base.join("tree");
    let bytes = create_tree(&folder, FOLDERS)?;
    let store = Store::open(&base.join("octo"))?;
    let session = SessionId::new();
    let session_row = session_in(session, &folder);
    store.write_blocking(move |tx| tx.create_session(&session_row))?;
    let blobs = Blobs::new(base.join("octo/blobs"));
    let machine = TimeMachine::new(store.clone(), blobs, &base.join("octo"), TimeLimits::default());
    let task = machine.begin_step(session, TurnId::new(), &folder, "measure")?;

    let resident = memory("VmRSS:")?;
    reset_peak();
    let started = Instant::now();
    let running = machine.before_command(task, &folder)?;
    let first_time = started.elapsed();
    let peak = memory("VmHWM:")? - resident;
    machine.after_command(&running)?;

    let (mut before, mut after) = (Vec::new(), Vec::new());
    for round in 0..=COMMANDS {
        let started = Instant::now();
        let running = machine.before_command(task, &folder)?;
        before.push(started.elapsed());
        for file in 0..CHANGED {
            let path = folder.join(format!("d{}", (round * 37 + file * 101) % FOLDERS)).join("f0.txt");
            fs::write(path, format!("round {round}, file {file}\n"))?;
        }
        let started = Instant::now();
        let changed = machine.after_command(&running)?;
        after.push(started.elapsed());
        ensure!(changed == CHANGED, "{changed} changes were found");
    }
    let started = Instant::now();
    machine.end_step(task)?;
    let end = started.elapsed();
    store.close();

    let label = format!("Picture of {} files", FOLDERS * FILES_IN_EACH);
    table.add(format!("{label}: the first"), Unit::Milliseconds, Figures::of_times(&[first_time])?);
    table.add_with_goal(format!("{label}: before a command"), Unit::Milliseconds, figures(&before)?, AIM);
    table.add_with_goal(format!("{label}: after a command"), Unit::Milliseconds, figures(&after)?, AIM);
    table.add(
        format!("{label}: the end of a task with commands"),
        Unit::Milliseconds,
        Figures::of_times(&[end])?,
    );
    table.add(format!("{label}: peak memory of the first"), Unit::Megabytes, Figures::of([peak])?);
    table.note(format!(
        "The tree has {FOLDERS} folders and {} MB and is no repository, so that the first picture keeps a copy of \
         everything; each command changes {CHANGED} files. On Linux \
         the system says what changes between two pictures; at a task's end the whole folder is looked at.",
        bytes / 1_000_000,
    ));
    Ok(())
}

/// Measures the undo and the redo of a command, from the plan to the last flush.
fn measure_undo(table: &mut Table) -> Result<()> {
    let folder_guard = tempfile::tempdir()?;
    let base = fs::canonicalize(folder_guard.path())?;
    let folder = base.join("tree");
    create_tree(&folder, CHANGED_FOLDERS + EMPTIED_FOLDERS)?;
    let store = Store::open(&base.join("octo"))?;
    let session = SessionId::new();
    let session_row = session_in(session, &folder);
    store.write_blocking(move |tx| tx.create_session(&session_row))?;
    let blobs = Blobs::new(base.join("octo/blobs"));
    let machine = TimeMachine::new(store.clone(), blobs, &base.join("octo"), TimeLimits::default());
    let task = machine.begin_step(session, TurnId::new(), &folder, "measure")?;
    let running = machine.before_command(task, &folder)?;
    let changes = change_tree(&folder)?;
    machine.after_command(&running)?;
    machine.end_step(task)?;

    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..UNDOS {
        for (target, times) in [0, task.number].into_iter().zip(&mut times) {
            let started = Instant::now();
            let plan = machine.plan(session, target, RestoreSelection::All)?;
            let report = machine.restore(&plan, &BTreeSet::new())?;
            times.push(started.elapsed());
            ensure!(usize::try_from(report.changed)? == changes, "{} changes were restored", report.changed);
        }
    }
    store.close();
    for (name, times) in ["Undo", "Redo"].into_iter().zip(&times) {
        let label = format!("{name} of a command that changed {changes} files");
        table.add_with_goal(label, Unit::Milliseconds, Figures::of_times(times)?, UNDO_AIM);
    }
    Ok(())
}

/// Changes, adds and removes files, and returns their number.
fn change_tree(folder: &Path) -> Result<usize> {
    let mut changes = 0;
    for number in 0..CHANGED_FOLDERS {
        for file in 0..FILES_IN_EACH {
            let line = format!("changed line of file {file} in folder {number}\n");
            let path = folder.join(format!("d{number}/f{file}.txt"));
            fs::write(path, line.repeat(10 + (number * 7 + file * 13) % 90))?;
        }
        for file in 0..ADDED_TO_EACH {
            fs::write(folder.join(format!("d{number}/added{file}.txt")), format!("{number} {file}\n"))?;
        }
        changes += FILES_IN_EACH + ADDED_TO_EACH;
    }
    for number in CHANGED_FOLDERS..CHANGED_FOLDERS + EMPTIED_FOLDERS {
        for file in 0..FILES_IN_EACH {
            fs::remove_file(folder.join(format!("d{number}/f{file}.txt")))?;
        }
        changes += FILES_IN_EACH;
    }
    Ok(changes)
}

fn figures(runs: &[Duration]) -> Result<Figures> {
    Figures::of_times(runs.get(1..).context("runs")?)
}

/// Creates the tree, always the same, and returns its size in bytes.
fn create_tree(folder: &Path, folders: usize) -> Result<u64> {
    let mut bytes = 0;
    for number in 0..folders {
        let subfolder = folder.join(format!("d{number}"));
        fs::create_dir_all(&subfolder)?;
        for file in 0..FILES_IN_EACH {
            let line = format!("line of file {file} in folder {number}\n");
            let content = line.repeat(10 + (number * 7 + file * 13) % 90);
            bytes += content.len() as u64;
            fs::write(subfolder.join(format!("f{file}.txt")), content)?;
        }
    }
    Ok(bytes)
}

fn session_in(id: SessionId, folder: &Path) -> NewSession {
    let info = SessionInfo {
        mode: Mode::Autonomous,
        ..SessionInfo::new(id, folder.to_string_lossy(), Source::Window, 0)
    };
    let toolset = ToolsetRow { hash: "bench".to_owned(), version: 1, tools_json: "[]".to_owned() };
    NewSession { info, system: String::new(), toolset }
}

/// Returns a field of this process's `status`, in millions of bytes.
fn memory(line: &str) -> Result<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let found =
        status.lines().find_map(|status_line| status_line.strip_prefix(line)).context("a line of memory")?;
    let kibibytes: f64 = found.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kibibytes * 1024.0 / 1e6)
}

/// Resets the peak memory. If that is not permitted, the figure includes the earlier peak.
fn reset_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}
