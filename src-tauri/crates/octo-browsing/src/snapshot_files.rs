//! Full snapshots stored as files, for the model to read in ranges and to search. A file is read line by line,
//! so each line names the site that its text is from.

use octo_browser::safety::Site;
use std::{fs, path::Path, time::SystemTime};

/// The start of each line, before the name of its site.
const LINE_PREFIX: &str = "[page of ";
/// The text between the name of the site and the rest of the line.
const SITE_END: &str = "] ";
/// Maximum number of a session's snapshots that are read again; older ones are left out.
const MAX_FILES: usize = 64;
/// Maximum size of a snapshot that is read again, in bytes. No text of a page is longer.
const MAX_BYTES: u64 = 8 << 20;

/// Returns the file name for a text.
pub(crate) fn name_of(text: &str) -> String {
    format!("page-{}.txt", blake3::hash(text.as_bytes()).to_hex().chars().take(12).collect::<String>())
}

/// Marks every line of a block with the site that its text is from.
pub(crate) fn mark_lines(block: &str, origin: &str) -> String {
    block.lines().map(|line| format!("{LINE_PREFIX}{origin}{SITE_END}{line}\n")).collect()
}

/// Returns the content of such a file, with the site it was read at.
fn unmark_lines(text: &str) -> Option<(Site, String)> {
    let (origin, _) = text.strip_prefix(LINE_PREFIX)?.split_once(SITE_END)?;
    let prefix = format!("{LINE_PREFIX}{origin}{SITE_END}");
    let lines = text.lines().map(|line| line.strip_prefix(prefix.as_str()).unwrap_or(line));
    Some((origin.parse().ok()?, lines.collect::<Vec<_>>().join("\n")))
}

/// Returns the newest full snapshots in a folder, oldest first. Unreadable ones are left out: no tool can read
/// them either.
pub(crate) fn load_snapshots(folder: &Path) -> Vec<(Site, String)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<_> = entries
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with("page-") && name.ends_with(".txt")
        })
        .filter_map(|entry| {
            let metadata =
                entry.metadata().ok().filter(|metadata| metadata.is_file() && metadata.len() <= MAX_BYTES)?;
            Some((metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH), entry.path()))
        })
        .collect();
    files.sort();
    let excess = files.len().saturating_sub(MAX_FILES);
    files.drain(..excess);
    files.iter().filter_map(|(_, path)| unmark_lines(&fs::read_to_string(path).ok()?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_snapshot_is_read_back_with_its_site() {
        let folder = tempfile::tempdir().unwrap();
        let text = mark_lines("one\n[page of https://other.example] two\n\nthree", "https://shop.example");
        assert!(text.lines().all(|line| line.starts_with("[page of https://shop.example] ")));
        fs::write(folder.path().join(name_of(&text)), &text).unwrap();
        fs::write(folder.path().join("page-none.txt"), "of no page").unwrap();
        fs::write(folder.path().join("other.txt"), &text).unwrap();
        let found = load_snapshots(folder.path());
        let [(site, content)] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(site.to_string(), "https://shop.example");
        assert_eq!(
            content, "one\n[page of https://other.example] two\n\nthree",
            "a page cannot attribute its text to another site"
        );
        assert!(load_snapshots(&folder.path().join("none")).is_empty());
    }
}
