//! A folder's own rules for agents, limited in size because every request contains them.

use octo_workspace::{is_inside, is_secret, resolve_links};
use std::{fs::File, io::Read, path::Path};

/// The rule files; the first non-empty one counts.
const FILES: &[&str] = &[".octorules", "AGENTS.md", "CLAUDE.md", ".cursorrules"];
/// Maximum size of the rules, in bytes: about 4,000 tokens.
const LONGEST: usize = 16 * 1024;
/// Number of subfolders searched for rules of their own.
const FOLDERS: usize = 20;
/// Number of lines shown of a subfolder's rules.
const FIRST_LINES: usize = 5;

/// Returns the folder's rules as part of the system prompt, or `None` if it has none.
pub(super) fn project_rules(folder: &Path) -> Option<String> {
    let folder_rules = FILES.iter().find_map(|name| {
        let (text, cut) = read_beginning(folder, &folder.join(name), LONGEST)?;
        Some(section(name, &text, cut))
    });
    let below = rules_below(folder);
    let parts: Vec<String> = folder_rules.into_iter().chain(below).collect();
    if parts.is_empty() {
        return None;
    }
    Some(format!(
        "# Rules of this project\n\nThe project's own files ask you to work by these rules. The person's words come before them.\n\n{}",
        parts.join("\n\n")
    ))
}

fn section(name: &str, text: &str, cut: Truncation) -> String {
    let ending = match cut {
        Truncation::No => String::new(),
        Truncation::Yes => format!("\n\n(Cut here: {name} is longer. Read the file for the rest.)"),
    };
    format!("## {name}\n\n{}{ending}", text.trim())
}

fn rules_below(folder: &Path) -> Option<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .ok()?
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    let found: Vec<String> = names
        .iter()
        .filter_map(|name| {
            let (text, _) = read_beginning(folder, &folder.join(name).join(".octorules"), 2_048)?;
            let lines: Vec<&str> = text.lines().take(FIRST_LINES).collect();
            Some(format!("- {name}/.octorules begins:\n{}", indent(&lines)))
        })
        .take(FOLDERS)
        .collect();
    if found.is_empty() {
        return None;
    }
    Some(format!(
        "## Rules of folders below\n\nRead the whole file before you work in such a folder.\n\n{}",
        found.join("\n")
    ))
}

fn indent(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Truncation {
    Yes,
    No,
}

/// Returns the beginning of a regular file, cut at a character. `None` if it is missing, empty, not a regular
/// file (a pipe would block the read), or a link that leads out of the folder or to a secret: a project's files
/// are written by strangers, and their text goes to the model without asking.
fn read_beginning(folder: &Path, path: &Path, limit: usize) -> Option<(String, Truncation)> {
    let real_path = resolve_links(path).ok()?;
    if !is_inside(folder, &real_path)
        || is_secret(&real_path)
        || !std::fs::metadata(&real_path).ok()?.is_file()
    {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(real_path).ok()?.take(limit as u64 + 1).read_to_end(&mut bytes).ok()?;
    let cut = if bytes.len() > limit { Truncation::Yes } else { Truncation::No };
    bytes.truncate(limit);
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid_length = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            if cut == Truncation::Yes && limit - valid_length < 4 {
                bytes.truncate(valid_length);
            }
            String::from_utf8_lossy(&bytes).into_owned()
        }
    };
    (!text.trim().is_empty()).then_some((text, cut))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_folder_or_to_a_secret_is_no_rule() {
        let base = tempfile::tempdir().unwrap();
        let base = base.path().canonicalize().unwrap();
        let (folder, out) = (base.join("project"), base.join("out"));
        std::fs::create_dir_all(folder.join("sub")).unwrap();
        std::fs::write(&out, "from outside").unwrap();
        std::fs::write(folder.join(".env"), "KEY=1").unwrap();
        std::os::unix::fs::symlink(&out, folder.join("AGENTS.md")).unwrap();
        std::os::unix::fs::symlink(folder.join(".env"), folder.join("CLAUDE.md")).unwrap();
        std::os::unix::fs::symlink(&out, folder.join("sub/.octorules")).unwrap();
        assert_eq!(project_rules(&folder), None);
    }

    #[test]
    fn the_first_non_empty_file_counts() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(project_rules(&folder.path().canonicalize().unwrap()), None);
        std::fs::write(folder.path().join(".octorules"), "  \n").unwrap();
        std::fs::write(folder.path().join("CLAUDE.md"), "Claude's").unwrap();
        std::fs::write(folder.path().join("AGENTS.md"), "Agents'").unwrap();
        let rules = project_rules(&folder.path().canonicalize().unwrap()).unwrap();
        assert!(rules.contains("## AGENTS.md\n\nAgents'") && !rules.contains("Claude's"));
    }

    #[test]
    fn long_rules_are_cut_at_a_character_and_say_so() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("AGENTS.md"), "规".repeat(LONGEST)).unwrap();
        let rules = project_rules(&folder.path().canonicalize().unwrap()).unwrap();
        assert!(rules.len() < LONGEST + 400);
        assert!(rules.contains("Cut here: AGENTS.md is longer"));
        assert!(!rules.contains('\u{FFFD}'));
    }

    #[test]
    fn rules_of_folders_below_are_named() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b", "a"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
            std::fs::write(folder.path().join(name).join(".octorules"), "1\n2\n3\n4\n5\n6\n").unwrap();
        }
        let rules = project_rules(&folder.path().canonicalize().unwrap()).unwrap();
        assert!(rules.find("- a/.octorules").unwrap() < rules.find("- b/.octorules").unwrap());
        assert!(rules.contains("  5") && !rules.contains("  6"));
    }
}
