//! File search compared with the ripgrep program: same tree, same queries, same results, alternating.

use crate::{
    seed::SeedRandom,
    table::{Figures, Table, Unit},
};
use anyhow::{Context as _, Result, ensure};
use octo_workspace::{CaseSensitivity, FileScope, Files, GrepQuery, grep};
use std::{
    fmt::Write as _,
    fs,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

/// Measured runs of each. A run before them fills the caches.
const RUNS: usize = 9;
/// The goal of the project's second issue: multiple of ripgrep's time.
const AIM: f64 = 1.2;

const FOLDERS: usize = 200;
const FILES_IN_EACH: usize = 100;
/// Bytes of a file, at least.
const FILE: usize = 10_000;

struct Question {
    what: &'static str,
    pattern: &'static str,
    case: CaseSensitivity,
}

const QUESTIONS: [Question; 3] = [
    Question { what: "a rare word", pattern: "needle_in_the_haystack", case: CaseSensitivity::Sensitive },
    Question { what: "a word of every file", pattern: "octopus", case: CaseSensitivity::Sensitive },
    Question {
        what: "a pattern in any case",
        pattern: r"ERROR\w* (when|after)",
        case: CaseSensitivity::Insensitive,
    },
];

/// Adds the rows.
///
/// # Errors
/// When `rg` is not there, or the two do not find the same.
pub fn measure(table: &mut Table) -> Result<()> {
    let version = Command::new("rg").arg("--version").output().context("rg (package ripgrep)")?.stdout;
    let version = String::from_utf8_lossy(&version).lines().next().unwrap_or_default().to_owned();
    let folder = tempfile::tempdir()?;
    let tree = fs::canonicalize(folder.path())?;
    let bytes = create_tree(&tree)?;
    for question in &QUESTIONS {
        let (mut octo_times, mut rg_times) = (Vec::new(), Vec::new());
        let mut matches = 0;
        for _ in 0..=RUNS {
            let (elapsed, found) = octo(&tree, question)?;
            let (took_rg, found_rg) = rg(&tree, question)?;
            ensure!(
                found == found_rg && found > 0,
                "{}: {found} lines found, {found_rg} by rg",
                question.pattern
            );
            octo_times.push(elapsed);
            rg_times.push(took_rg);
            matches = found;
        }
        let label = format!("grep for {} ({matches} lines)", question.what);
        let (octo, rg) = (Figures::of_times(&octo_times[1..])?, Figures::of_times(&rg_times[1..])?);
        let pairs = octo_times[1..].iter().zip(&rg_times[1..]);
        let ratio = Figures::of(
            pairs.map(|(octo_times, rg_times)| octo_times.as_secs_f64() / rg_times.as_secs_f64()),
        )?;
        table.add(format!("{label}: Octo"), Unit::Milliseconds, octo);
        table.add(format!("{label}: `rg`"), Unit::Milliseconds, rg);
        // The ratio of the medians, like the two above.
        let ratio = Figures { median: octo.median / rg.median, ..ratio };
        table.add_with_goal(format!("{label}: Octo to `rg`"), Unit::Times, ratio, AIM);
    }
    table.note(format!(
        "The tree has {} files in {FOLDERS} folders, {} MB; both search in {} threads, by turns, with warm caches. \
         `rg` is {version}; its time holds the start of its process.",
        FOLDERS * FILES_IN_EACH,
        bytes / 1_000_000,
        threads(),
    ));
    Ok(())
}

/// How many threads Octo uses.
fn threads() -> usize {
    thread::available_parallelism().map_or(1, |count| count.get().min(8))
}

fn octo(tree: &Path, question: &Question) -> Result<(Duration, u64)> {
    let scope = FileScope { folder: tree.to_owned(), readable: Vec::new(), writable: Vec::new() };
    let query = GrepQuery {
        base: tree.to_owned(),
        pattern: question.pattern.to_owned(),
        file_pattern: None,
        case: question.case,
        context: 0,
        // Without a limit, like `rg`.
        max_files: usize::MAX,
        max_matches_per_file: usize::MAX,
        max_matches: usize::MAX,
        max_file_size: None,
        max_bytes: usize::MAX,
        max_line: usize::MAX,
    };
    let files = Files::new(scope);
    let started = Instant::now();
    let found = grep(&files, &query, &CancellationToken::new())?;
    let elapsed = started.elapsed();
    ensure!(found.cut_short.is_none(), "all lines are given");
    Ok((elapsed, found.total_matches))
}

fn rg(tree: &Path, question: &Question) -> Result<(Duration, u64)> {
    let mut command = Command::new("rg");
    command
        .args(["--no-config", "--hidden", "--no-require-git", "--crlf", "--line-number", "--no-heading"])
        .arg(format!("--threads={}", threads()));
    if question.case == CaseSensitivity::Insensitive {
        command.arg("--ignore-case");
    }
    command.arg("--regexp").arg(question.pattern).arg(tree);
    let started = Instant::now();
    let output = command.output().context("rg")?;
    let elapsed = started.elapsed();
    ensure!(output.status.success(), "rg: {}", String::from_utf8_lossy(&output.stderr));
    Ok((elapsed, output.stdout.iter().filter(|byte| **byte == b'\n').count() as u64))
}

/// Creates the tree, always the same, and returns its size in bytes. Every tenth folder has files that its
/// `.gitignore` excludes; the searches agree only if both honour it.
fn create_tree(tree: &Path) -> Result<usize> {
    let mut size = 0;
    for folder in 0..FOLDERS {
        let path = tree.join(format!("part{}/module{folder}", folder % 20));
        fs::create_dir_all(&path)?;
        for file in 0..FILES_IN_EACH {
            let number = folder * FILES_IN_EACH + file;
            let text = source(number);
            size += text.len();
            fs::write(path.join(format!("file{file}.rs")), text)?;
        }
        if folder % 10 == 0 {
            fs::write(path.join(".gitignore"), "*.log\n")?;
            fs::write(path.join("run.log"), "a needle_in_the_haystack and an octopus\n")?;
        }
    }
    Ok(size)
}

/// Returns a file that resembles code.
fn source(number: usize) -> String {
    const WORDS: [&str; 48] = [
        "let", "fn", "match", "if", "else", "return", "struct", "impl", "pub", "mut", "self", "value",
        "result", "error", "errors", "when", "after", "before", "window", "session", "message", "block",
        "turn", "call", "tool", "file", "path", "folder", "state", "event", "store", "table", "index",
        "count", "limit", "offset", "=", "+", "->", "=>", "(", ")", "{", "}", "::", "//", "\"text\"", "0x2a",
    ];
    let mut disorder = SeedRandom::new(number as u64);
    let mut text = String::with_capacity(FILE + 200);
    while text.len() < FILE {
        let indent = disorder.below(4) * 4;
        // Writing to a string cannot fail.
        let _ = write!(text, "{:indent$}", "");
        for _ in 0..3 + disorder.below(12) {
            text.push_str(WORDS[disorder.below(WORDS.len())]);
            text.push(' ');
        }
        text.push('\n');
    }
    text.push_str("// the octopus was here\n");
    if number % 1_000 == 7 {
        text.push_str("let needle_in_the_haystack = 1;\n");
    }
    text
}
