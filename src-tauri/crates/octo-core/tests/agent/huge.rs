//! A log far larger than a model's window, or memory.

use super::rig::{Rig, results};
use octo_protocol::{Mode, TurnEnd};
use octo_testkit::Script;
use serde_json::json;
use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

/// Bytes per line, including its end.
const LINE: usize = 64;

/// Returns whether the log has its full size: 2 GiB in a soak, a part of it otherwise.
fn is_whole() -> bool {
    std::env::var_os("OCTO_SOAK").is_some()
}

fn write_log(path: &Path, lines: usize) {
    let mut log = BufWriter::with_capacity(1 << 20, File::create(path).unwrap());
    for line in 1..=lines {
        let what = if line == lines / 2 { "disk on fire" } else { "request served" };
        writeln!(log, "{:<width$}", format!("2026-11-22 INFO {line:>10} {what}"), width = LINE - 1).unwrap();
    }
    log.flush().unwrap();
}

/// Returns this process's peak memory in bytes, or `None` if the system does not report it.
fn most_memory() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok().map(|kib| kib * 1024)
}

#[tokio::test]
async fn a_huge_log_is_read_in_parts_searched_and_never_held() {
    let lines = 2 * 1024 * 1024 * 1024 / LINE / if is_whole() { 1 } else { 128 };
    let script = Script::new()
        .calls([
            ("file_reader", json!({ "path": "huge.log" })),
            ("file_reader", json!({ "path": "huge.log", "start_line": lines - 1 })),
            ("grep", json!({ "path": "huge.log", "pattern": "on fire" })),
            ("terminal", json!({ "command": "tail -n 1 huge.log" })),
            ("terminal", json!({ "command": "head -c 2000000 huge.log" })),
            ("edit", json!({ "path": "huge.log", "old_string": "on fire", "new_string": "fine" })),
        ])
        .text("Found it.");
    let mut rig = Rig::new(script).await;
    let log = rig.home.work().join("huge.log");
    write_log(&log, lines);
    let before = most_memory();
    let session = rig.start(Mode::Autonomous, "What happened?").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let results = results(&rig.snapshot(session).await);
    let [head, tail, found, last, flood, edit] = results.as_slice() else { panic!("{results:?}") };
    assert!(head.contains("INFO          1 request") && head.len() < 100_000, "{}", head.len());
    assert!(tail.contains(&format!("INFO {:>10}", lines)), "{tail}");
    assert!(found.contains(&format!("INFO {:>10} disk on fire", lines / 2)), "{found}");
    assert!(last.contains(&format!("INFO {:>10}", lines)), "{last}");
    assert!(flood.len() < 20_000 && flood.contains("whole output"), "{}", flood.len());
    if is_whole() {
        assert!(edit.contains("huge.log"), "it is refused by name: {edit}");
        assert_eq!(std::fs::metadata(&log).unwrap().len(), (lines * LINE) as u64, "and left alone");
    }
    if let (Some(before), Some(after)) = (before, most_memory()) {
        assert!(after - before < 200 << 20, "{} MiB more than before", (after - before) >> 20);
    }
    rig.assert_sound();
}
