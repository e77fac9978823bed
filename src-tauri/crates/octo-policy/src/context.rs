//! Paths in a line, judged as text: the path that a word names, and whether a command may remove or touch it.
//!
//! Nothing here reads the disk, because the words of a line must suffice to refuse it.

use crate::{Language, names};
use octo_workspace::{FORMER_HOME_INFIX, HOME_SIBLING_SUFFIXES, is_inside};
use std::path::{Component, Path, PathBuf};

/// A placeholder for an unknown part of a word.
pub(crate) const UNKNOWN: char = '\0';

/// The context in which a line would run, as far as its words need one to be judged.
#[derive(Clone, Debug)]
pub struct LineContext {
    /// The folder the line runs in, absolute.
    pub folder: PathBuf,
    /// The person's home, absolute.
    pub home: Option<PathBuf>,
    /// Octo's own home, absolute.
    pub octo_home: PathBuf,
    /// Other paths of Octo's home, and its former ones; absolute.
    pub octo_others: Vec<PathBuf>,
    /// Ids of Octo's own processes.
    pub processes: Vec<u32>,
    /// The language of the line.
    pub language: Language,
}

/// System folders that are never wiped: those at the root, and a few below them.
const SYSTEM_FOLDERS: &[&str] = &[
    "/Applications",
    "/Library",
    "/System",
    "/Users",
    "/Volumes",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/lib",
    "/lib32",
    "/lib64",
    "/media",
    "/mnt",
    "/nix",
    "/opt",
    "/private",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/snap",
    "/srv",
    "/sys",
    "/usr",
    "/usr/bin",
    "/usr/include",
    "/usr/lib",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/local",
    "/usr/local/bin",
    "/usr/local/lib",
    "/usr/sbin",
    "/usr/share",
    "/var",
    "/var/lib",
    "/var/log",
    "/var/spool",
];

/// Files of Octo's home that no command may touch, by the start of their names.
const OWN_FILES: &[&str] = &["octo.db", "policy.toml", "hooks.toml"];

/// Folders of Octo's home whose files instruct the agent or run in its commands: skills, memories, tasks, its
/// identity, the person's profile, and programs.
const INSTRUCTION_FOLDERS: &[&str] =
    &["agents", "bin", "bundled-skills", "memories", "scripts", "skills", "tasks"];

/// Folders of the person's home in which other agents keep skills. Octo may read these too.
const OTHER_AGENTS_SKILL_FOLDERS: &[&str] = &[".agents/skills", ".claude/skills"];

impl LineContext {
    /// Returns whether the content of a real path instructs the agent in every session.
    pub(crate) fn instructs(&self, path: &Path) -> bool {
        let default = self.home.as_ref().map(|home| home.join(".octo"));
        let homes = [&self.octo_home].into_iter().chain(&self.octo_others).chain(&default);
        let own = homes.flat_map(|home| INSTRUCTION_FOLDERS.iter().map(move |name| home.join(name)));
        let others = self
            .home
            .iter()
            .flat_map(|home| OTHER_AGENTS_SKILL_FOLDERS.iter().map(move |name| home.join(name)));
        own.chain(others).any(|folder| is_inside(&folder, path))
    }

    /// Returns the path that a word names in `directory`, which is relative to the line's folder; `None` if a part of
    /// the word is unknown.
    pub(crate) fn locate(&self, text: &str, directory: &str) -> Option<PathBuf> {
        if text.contains(UNKNOWN) || text.is_empty() {
            return None;
        }
        let directory = match directory {
            "." => self.folder.clone(),
            other => self.folder.join(other),
        };
        let mut located = PathBuf::new();
        for part in directory.join(text).components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir => {
                    located.pop();
                }
                other => located.push(other),
            }
        }
        Some(located)
    }

    /// Returns whether to remove, move or re-own this whole path would destroy the system, a home or Octo's home.
    pub(crate) fn is_essential(&self, path: &Path) -> bool {
        // `/etc/*` means all of `/etc`.
        let is_wildcard = |path: &Path| {
            path.file_name().is_some_and(|name| {
                let name = names::for_comparison(name);
                name.contains(['*', '?']) && name.chars().all(|c| "*?.[]!^".contains(c))
            })
        };
        let mut target = path.to_owned();
        while is_wildcard(&target) && target.pop() {}
        let text = names::for_comparison(target.as_os_str());
        let depth = target.components().count();
        if depth <= 1 {
            return true;
        }
        let is_pattern = text.contains(['*', '?', '[']);
        let matches_target = |other: &str| {
            if is_pattern {
                let same = other.split('/').count() == text.split('/').count();
                same && text.split('/').zip(other.split('/')).all(|(a, b)| crate::folder::matches(a, b))
            } else {
                // File systems that ignore case are common.
                text.eq_ignore_ascii_case(other)
            }
        };
        let octo_homes = [&self.octo_home].into_iter().chain(&self.octo_others);
        let above_home = self.home.iter().chain(octo_homes).flat_map(|home| home.ancestors()).any(|above| {
            above.components().count() > 1 && matches_target(&names::for_comparison(above.as_os_str()))
        });
        let another_home = depth == 3
            && ["/home", "/Users"].iter().any(|homes| text.starts_with(&format!("{homes}/")))
            && !self.folder.starts_with(&target);
        SYSTEM_FOLDERS.iter().any(|system| matches_target(system)) || above_home || another_home
    }

    /// Returns whether a path is a file of Octo's that no command may touch, or a pattern that may match one.
    pub(crate) fn is_octo_file(&self, path: &Path) -> bool {
        let default = self.home.as_ref().map(|home| home.join(".octo"));
        let homes = || [&self.octo_home].into_iter().chain(&self.octo_others).chain(&default);
        if !path.starts_with(&self.octo_home) && homes().any(|home| is_home_sibling(path, home)) {
            return true;
        }
        homes().filter_map(|home| path.strip_prefix(home).ok()).any(|rest| {
            let mut parts = rest.components();
            let (Some(Component::Normal(name)), None) = (parts.next(), parts.next()) else { return false };
            let name = names::for_comparison(name);
            OWN_FILES.iter().any(|own| name.starts_with(own))
                || (name.contains(['*', '?', '['])
                    && OWN_FILES.iter().any(|own| crate::folder::matches(&name, own)))
        })
    }

    /// Returns whether a text contains the path of such a file: `file:/…/octo.db?mode=ro`.
    pub(crate) fn mentions_octo_file(&self, text: &str) -> bool {
        let mentions = |home: &str| {
            text.match_indices(home).any(|(at, _)| {
                let (before, rest) = text.split_at(at);
                let rest = rest.strip_prefix(home).unwrap_or_default();
                let inside = rest
                    .strip_prefix('/')
                    .is_some_and(|rest| OWN_FILES.iter().any(|own| rest.starts_with(own)));
                // `x.octo.place` is the name of a site.
                let is_whole_name = home.starts_with('/') || !before.ends_with(char::is_alphanumeric);
                inside
                    || (is_whole_name && rest.starts_with(['.', '-']) && is_sibling_suffix(name_part(rest)))
            })
        };
        mentions(".octo")
            || [&self.octo_home]
                .into_iter()
                .chain(&self.octo_others)
                .any(|home| mentions(&names::for_comparison(home.as_os_str())))
    }
}

/// Returns whether a path is one of Octo's files next to a home, or below one; names in it may be patterns.
fn is_home_sibling(path: &Path, home: &Path) -> bool {
    let Some((above, home)) = home.parent().zip(home.file_name()) else { return false };
    let Ok(inside) = path.strip_prefix(above) else { return false };
    let Some(Component::Normal(name)) = inside.components().next() else { return false };
    let (name, home) = (names::for_comparison(name), names::for_comparison(home));
    if let Some(suffix) = name.strip_prefix(home.as_str()).filter(|suffix| suffix.starts_with(['.', '-'])) {
        return is_sibling_suffix(suffix);
    }
    // A pattern without letters, such as `.*` or `.[!.]*`, is not about Octo's files in particular. A pattern that does
    // not begin with a dot matches no hidden name.
    let is_specific_pattern = name.contains(['*', '?', '[']) && name.chars().any(|c| !"*?.[]!^".contains(c));
    is_specific_pattern
        && (name.starts_with('.') || !home.starts_with('.'))
        && (HOME_SIBLING_SUFFIXES
            .iter()
            .any(|suffix| crate::folder::matches(&name, &format!("{home}{suffix}")))
            || may_be_former_home(&name, &format!("{home}{FORMER_HOME_INFIX}")))
}

/// Returns whether a suffix of a home's name makes it the name of a file next to the home. It may be a pattern.
fn is_sibling_suffix(suffix: &str) -> bool {
    let is_pattern = suffix.contains(['*', '?', '[']);
    may_be_former_home(suffix, FORMER_HOME_INFIX)
        || HOME_SIBLING_SUFFIXES.iter().any(|known| {
            // In a text other characters may follow the name: `.place?mode=ro`.
            let same =
                suffix.strip_prefix(known).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
            same || (is_pattern && crate::folder::matches(suffix, known))
        })
}

/// Returns whether a pattern could match the name of a former home, which is `start` and a time, or its beginning.
fn may_be_former_home(pattern: &str, start: &str) -> bool {
    let begins = pattern.chars().count() >= start.chars().count()
        && pattern.chars().zip(start.chars()).all(|(a, b)| a == '?' || a == b);
    // The time itself does not matter.
    let with_zero_digits = |name: &str| name.replace(|c: char| c.is_ascii_digit(), "0");
    begins
        || (pattern.contains(['*', '?', '['])
            && crate::folder::matches(
                &with_zero_digits(pattern),
                &with_zero_digits(&format!("{start}2026-01-02-030405")),
            ))
}

/// Returns the beginning of a text that could belong to a path's last name.
fn name_part(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && !"._-*?[]!^".contains(c)).next().unwrap_or_default()
}

/// Returns whether a path is a disk, memory or another device whose content a write would destroy.
pub(crate) fn is_device(text: &str) -> bool {
    const DEVICES: &[&str] = &[
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper", "dm-", "md", "loop", "sr",
        "nbd", "zram", "mem", "kmem", "port", "mtd", "ram", "block", "bcache", "drbd", "zd",
    ];
    let path = text.replace("/./", "/").replace("//", "/");
    let Some(name) = path.strip_prefix("/dev/") else { return path.contains("PhysicalDrive") };
    DEVICES.iter().any(|device| {
        name.starts_with(device)
            || (name.contains(['*', '?', '['])
                && crate::folder::matches(name.split('/').next().unwrap_or(name), &format!("{device}a")))
    })
}
