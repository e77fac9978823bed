//! Golden files: the output of an earlier Octo, or names that must not change.
//!
//! A golden file is written only on request: run the test with `OCTO_WRITE_GOLDENS=1`, read the difference, and
//! commit it if it is intended. Without the variable a test compares and writes nothing.

use std::{fs, path::Path};

/// The environment variable that makes tests write golden files instead of comparing them.
const WRITE: &str = "OCTO_WRITE_GOLDENS";

/// Returns the text of a golden file.
///
/// # Panics
/// If the file cannot be read.
pub fn golden_text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Creates a database by running SQL commands.
///
/// # Panics
/// If a command fails.
pub fn restore_database(commands: &str, path: &Path) {
    let file = rusqlite::Connection::open(path).expect("a new database");
    file.execute_batch(&format!("BEGIN;{commands}COMMIT;")).expect("the golden database");
    file.close().expect("the golden database");
}

/// Compares a text with its golden file, byte for byte.
///
/// # Panics
/// If they differ, with the first line that differs.
pub fn check_golden(path: &Path, text: &str) {
    if std::env::var_os(WRITE).is_some() {
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder of golden files");
        fs::write(path, text).expect("the golden file");
        return;
    }
    let golden = golden_text(path);
    if golden == text {
        return;
    }
    let mut lines = golden.lines().zip(text.lines()).enumerate();
    let differs = lines.find(|(_, (golden, text))| golden != text);
    match differs {
        Some((line, (golden, text))) => {
            panic!("{}:{}\n  golden: {golden}\n  now:    {text}", path.display(), line + 1)
        }
        None => panic!("{}: {} bytes in the golden file, {} now", path.display(), golden.len(), text.len()),
    }
}

/// Compares lines with a section of a golden list: `[section]`, its lines, and an empty line.
///
/// # Panics
/// If they differ, with the missing and the new lines.
pub fn check_names(path: &Path, section: &str, names: &[String]) {
    let content = if path.exists() { golden_text(path) } else { String::new() };
    let head = format!("[{section}]");
    let of_section = |block: &&str| block.lines().next() == Some(head.as_str());
    let mut blocks: Vec<&str> =
        content.split("\n\n").map(str::trim).filter(|block| !block.is_empty()).collect();
    if std::env::var_os(WRITE).is_some() {
        let block = format!("{head}\n{}", names.join("\n"));
        blocks.retain(|block| !of_section(block));
        blocks.push(&block);
        blocks.sort_unstable();
        fs::write(path, blocks.join("\n\n") + "\n").expect("the golden list");
        return;
    }
    let golden: Vec<&str> =
        blocks.into_iter().find(of_section).into_iter().flat_map(str::lines).skip(1).collect();
    let removed: Vec<&&str> =
        golden.iter().filter(|name| !names.iter().any(|current_name| current_name == *name)).collect();
    let added: Vec<&String> = names.iter().filter(|name| !golden.contains(&name.as_str())).collect();
    assert!(
        removed.is_empty() && added.is_empty(),
        "{}, {head}: gone {removed:#?}, new {added:#?}",
        path.display()
    );
    assert_eq!(names, golden, "{}, {head}: the order", path.display());
}
