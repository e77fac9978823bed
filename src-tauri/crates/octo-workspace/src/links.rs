//! Files that the text of a conversation links to.

use crate::paths;
use percent_encoding::percent_decode_str;
use std::path::{Path, PathBuf};

/// Returns the local file that a link's address names: a path relative to `folder`, an absolute path, one with
/// `~`, or a `file:` address. Returns `None` for other schemes, for an anchor on the page, and for files on
/// another machine, because merely looking would reveal the person's presence to that machine.
///
/// Addresses may be escaped or not, and often point to a part of the file (`main.rs#L12`, `main.rs:12`). The
/// interpretation that exists wins; if none exists, the first one counts.
#[must_use]
pub fn linked_file(address: &str, folder: &Path) -> Option<PathBuf> {
    let path = match address.split_once(':') {
        Some((scheme, address_path)) if scheme.eq_ignore_ascii_case("file") => local_file_path(address_path)?,
        // A single letter is a drive, and text that is not a valid scheme is a file name.
        Some((scheme, _)) if scheme.len() > 1 && is_scheme(scheme) && !is_file_position(address) => {
            return None;
        }
        _ => address,
    };
    let without_escapes = percent_decode_str(path).decode_utf8().ok();
    let readings: Vec<&str> = without_escapes.as_deref().into_iter().chain([path]).collect();
    if readings.iter().any(|path| is_elsewhere(path) || path.contains(char::is_control)) {
        return None;
    }
    let readings = readings.into_iter().flat_map(|path| [path, without_position(path)]);
    let mut paths: Vec<PathBuf> = readings.filter_map(|path| paths::resolve(path, folder).ok()).collect();
    let index = paths.iter().position(|candidate| candidate.exists()).unwrap_or_default();
    (index < paths.len()).then(|| paths.swap_remove(index))
}

/// Whether the path is on another machine, or on the page itself.
fn is_elsewhere(path: &str) -> bool {
    path.starts_with("//") || path.starts_with(r"\\") || path.starts_with('#')
}

/// Returns the path of a `file:` address, after its scheme.
fn local_file_path(url_path: &str) -> Option<&str> {
    let path = match url_path.strip_prefix("//") {
        Some(host) => host.strip_prefix("localhost").filter(|path| path.starts_with('/')).unwrap_or(host),
        None => url_path,
    };
    let path = path.strip_prefix('/').filter(|path| has_drive(path)).unwrap_or(path);
    (path.starts_with('/') || has_drive(path)).then_some(path)
}

fn has_drive(path: &str) -> bool {
    cfg!(windows) && path.as_bytes().get(1) == Some(&b':')
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|character| character.is_ascii_alphanumeric() || "+-.".contains(character))
}

/// Whether the address is like `main.rs:12`, which also looks like a scheme.
fn is_file_position(address: &str) -> bool {
    without_position(address) != address && !without_position(address).contains(':')
}

/// Returns the path without the position in the file: `#L12`, `:12` or `:12:5`.
fn without_position(path: &str) -> &str {
    if let Some((path, _)) = path.split_once('#') {
        return path;
    }
    let mut trimmed = path;
    for _ in 0..2 {
        match trimmed.rsplit_once(':') {
            Some((rest, number))
                if !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()) =>
            {
                trimmed = rest;
            }
            _ => break,
        }
    }
    trimmed
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn an_address_names_a_file_of_this_machine_or_none() {
        let folder = octo_testkit::test_folder();
        let folder = crate::resolve_links(folder.path()).unwrap();
        for name in ["a.png", "two words.txt", "100%25.txt", "图.png", "a#1.md", "main.rs"] {
            fs::write(folder.join(name), "").unwrap();
        }
        let link = |address: &str| linked_file(address, &folder);
        let expected = |name: &str| Some(folder.join(name));
        for (address, name) in [
            ("a.png", "a.png"),
            ("./out/../a.png", "a.png"),
            ("two words.txt", "two words.txt"),
            ("two%20words.txt", "two words.txt"),
            ("100%25.txt", "100%25.txt"),
            ("%E5%9B%BE.png", "图.png"),
            ("图.png", "图.png"),
            ("a#1.md", "a#1.md"),
            ("main.rs#L12", "main.rs"),
            ("main.rs:12", "main.rs"),
            ("main.rs:12:5", "main.rs"),
            // Does not exist: the first interpretation counts.
            ("gone%20now.txt", "gone now.txt"),
        ] {
            assert_eq!(link(address), expected(name), "{address}");
        }
        let whole = folder.join("a.png");
        for address in [format!("file://{}", whole.display()), format!("FILE://localhost{}", whole.display())]
        {
            assert_eq!(link(&address), Some(whole.clone()), "{address}");
        }
        for address in [
            "",
            "#part",
            "https://example.org/a.png",
            "javascript:alert(1)",
            "mailto:a@example.org",
            "data:image/png;base64,",
            "vscode://file/etc/passwd",
            "file://server/share/a.png",
            "file:////server/share/a.png",
            "file:a.png",
            "//server/share/a.png",
            r"\\server\share\a.png",
            "%2F%2Fserver/share",
            "a\nb.png",
            "a%00.png",
        ] {
            assert_eq!(link(address), None, "{address}");
        }
    }
}
