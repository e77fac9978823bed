//! Golden files: what an earlier Octo wrote, or what must go on being called the same.
//!
//! A golden file is only ever written by hand: run the test with `OCTO_WRITE_GOLDENS=1`, read the difference, and commit
//! it if it is meant. Without the variable a test compares and writes nothing.

use std::{fs, path::Path};

/// The variable that has golden files written instead of compared.
const WRITE: &str = "OCTO_WRITE_GOLDENS";

/// The text of a golden file.
///
/// # Panics
/// Where it cannot be read.
pub fn golden_text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Makes a database of the commands that write it.
///
/// # Panics
/// Where they fail.
pub fn restore_database(commands: &str, to: &Path) {
    let file = rusqlite::Connection::open(to).expect("a new database");
    file.execute_batch(&format!("BEGIN;{commands}COMMIT;")).expect("the golden database");
    file.close().expect("the golden database");
}

/// Compares a text with its golden file, byte for byte.
///
/// # Panics
/// Where they differ, with the first line that does.
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

/// Compares the lines of a section with those in a golden list: `[section]`, then its lines, then an empty one.
///
/// # Panics
/// Where they differ, with the lines that are gone and those that are new.
pub fn check_names(path: &Path, section: &str, names: &[String]) {
    let all = if path.exists() { golden_text(path) } else { String::new() };
    let head = format!("[{section}]");
    let of_section = |block: &&str| block.lines().next() == Some(head.as_str());
    let mut blocks: Vec<&str> = all.split("\n\n").map(str::trim).filter(|block| !block.is_empty()).collect();
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
    let gone: Vec<&&str> = golden.iter().filter(|name| !names.iter().any(|known| known == *name)).collect();
    let new: Vec<&String> = names.iter().filter(|name| !golden.contains(&name.as_str())).collect();
    assert!(gone.is_empty() && new.is_empty(), "{}, {head}: gone {gone:#?}, new {new:#?}", path.display());
    assert_eq!(names, golden, "{}, {head}: the order", path.display());
}
