//! Paths as text: the location a word of a command would have, and whether it must never be wiped.
//!
//! Nothing here reads the disk: the words of a line must suffice to refuse it.

use crate::Language;
use octo_workspace::{FORMER_HOME_INFIX, HOME_SIBLING_SUFFIXES, is_inside};
use std::path::{Component, Path, PathBuf};

/// A placeholder for an unknown part of a word.
pub(crate) const UNKNOWN: char = '\0';

/// The context in which a line would run, for judgements by its words.
#[derive(Clone, Debug)]
pub struct LineContext {
    /// The folder the line runs in, absolute.
    pub folder: PathBuf,
    /// The person's home, absolute.
    pub home: Option<PathBuf>,
    /// Octo's own home, absolute.
    pub octo_home: PathBuf,
    /// Other paths of it, and where it was before, absolute.
    pub octo_others: Vec<PathBuf>,
    /// Ids of Octo's own processes.
    pub processes: Vec<u32>,
    /// What the line is written in.
    pub language: Language,
}

/// System folders that are never wiped: those at the root, and a few below them.
const SYSTEM: &[&str] = &[
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

/// Files of Octo's own home no command may touch, by the start of their names.
const OWN: &[&str] = &["octo.db", "policy.toml", "hooks.toml"];

/// Folders of Octo's own home whose files instruct the agent or are run by its commands: skills, memories,
/// tasks, its identity, the person's profile, and programs.
const INSTRUCTIONS: &[&str] = &["agents", "bin", "bundled-skills", "memories", "scripts", "skills", "tasks"];

/// Folders of the person's home in which other agents keep skills, which Octo may be told to read too.
const SKILLS_OF_OTHERS: &[&str] = &[".agents/skills", ".claude/skills"];

impl LineContext {
    /// Whether the content of a real path instructs the agent, in every session.
    pub(crate) fn instructs(&self, path: &Path) -> bool {
        let default = self.home.as_ref().map(|home| home.join(".octo"));
        let homes = [&self.octo_home].into_iter().chain(&self.octo_others).chain(&default);
        let own = homes.flat_map(|home| INSTRUCTIONS.iter().map(move |name| home.join(name)));
        let others =
            self.home.iter().flat_map(|home| SKILLS_OF_OTHERS.iter().map(move |name| home.join(name)));
        own.chain(others).any(|folder| is_inside(&folder, path))
    }

    /// Returns the path a word names relative to `base`; `None` if part of it is unknown.
    pub(crate) fn locate(&self, text: &str, base: &str) -> Option<PathBuf> {
        if text.contains(UNKNOWN) || text.is_empty() {
            return None;
        }
        let base = match base {
            "." => self.folder.clone(),
            other => self.folder.join(other),
        };
        let mut plain = PathBuf::new();
        for part in base.join(text).components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir => {
                    plain.pop();
                }
                other => plain.push(other),
            }
        }
        Some(plain)
    }

    /// Whether removing, moving or re-owning this whole path would wipe a system, a home or Octo's own.
    pub(crate) fn is_root(&self, path: &Path) -> bool {
        // `/etc/*` is all of `/etc`.
        let wild = |path: &Path| {
            path.file_name().is_some_and(|name| {
                let name = name.to_string_lossy();
                name.contains(['*', '?']) && name.chars().all(|c| "*?.[]!^".contains(c))
            })
        };
        let mut whole = path.to_owned();
        while wild(&whole) && whole.pop() {}
        let text = whole.to_string_lossy();
        let deep = whole.components().count();
        if deep <= 1 {
            return true;
        }
        let pattern = text.contains(['*', '?', '[']);
        let is = |other: &str| {
            if pattern {
                let same = other.split('/').count() == text.split('/').count();
                same && text.split('/').zip(other.split('/')).all(|(a, b)| crate::folder::matches(a, b))
            } else {
                // File systems that ignore case are common.
                text.eq_ignore_ascii_case(other)
            }
        };
        let octos = [&self.octo_home].into_iter().chain(&self.octo_others);
        let above_home = self
            .home
            .iter()
            .chain(octos)
            .flat_map(|home| home.ancestors())
            .any(|above| above.components().count() > 1 && is(&above.to_string_lossy()));
        let another_home = deep == 3
            && ["/home", "/Users"].iter().any(|homes| text.starts_with(&format!("{homes}/")))
            && !self.folder.starts_with(&whole);
        SYSTEM.iter().any(|system| is(system)) || above_home || another_home
    }

    /// Whether a path is one of the files of Octo's own no command may touch, or a pattern that may become one.
    pub(crate) fn is_own(&self, path: &Path) -> bool {
        let default = self.home.as_ref().map(|home| home.join(".octo"));
        let homes = || [&self.octo_home].into_iter().chain(&self.octo_others).chain(&default);
        if !path.starts_with(&self.octo_home) && homes().any(|home| is_home_sibling(path, home)) {
            return true;
        }
        homes().filter_map(|home| path.strip_prefix(home).ok()).any(|rest| {
            let mut parts = rest.components();
            let (Some(Component::Normal(name)), None) = (parts.next(), parts.next()) else { return false };
            let name = name.to_string_lossy();
            OWN.iter().any(|own| name.starts_with(own))
                || (name.contains(['*', '?', '['])
                    && OWN.iter().any(|own| crate::folder::matches(&name, own)))
        })
    }

    /// Whether a text holds the path of such a file somewhere inside: `file:/…/octo.db?mode=ro`.
    pub(crate) fn mentions_own(&self, text: &str) -> bool {
        let mentions = |home: &str| {
            text.match_indices(home).any(|(at, _)| {
                let (before, rest) = text.split_at(at);
                let rest = rest.strip_prefix(home).unwrap_or_default();
                let inside =
                    rest.strip_prefix('/').is_some_and(|rest| OWN.iter().any(|own| rest.starts_with(own)));
                // `x.octo.place` is a site.
                let is_whole_name = home.starts_with('/') || !before.ends_with(char::is_alphanumeric);
                inside
                    || (is_whole_name && rest.starts_with(['.', '-']) && is_sibling_suffix(name_part(rest)))
            })
        };
        mentions(".octo")
            || [&self.octo_home]
                .into_iter()
                .chain(&self.octo_others)
                .any(|home| mentions(&home.to_string_lossy()))
    }
}

/// Whether a path is one of the files next to a home, or below one of them; a name may be a pattern.
fn is_home_sibling(path: &Path, home: &Path) -> bool {
    let Some((above, home)) = home.parent().zip(home.file_name()) else { return false };
    let Ok(inside) = path.strip_prefix(above) else { return false };
    let Some(Component::Normal(name)) = inside.components().next() else { return false };
    let (name, home) = (name.to_string_lossy(), home.to_string_lossy());
    if let Some(word) = name.strip_prefix(&*home).filter(|word| word.starts_with(['.', '-'])) {
        return is_sibling_suffix(word);
    }
    // A pure pattern, such as `.*` and `.[!.]*`, matches everything there and nothing of Octo's in particular.
    // A pattern does not match hidden names on its own.
    let names = name.contains(['*', '?', '[']) && name.chars().any(|c| !"*?.[]!^".contains(c));
    names
        && (name.starts_with('.') || !home.starts_with('.'))
        && (HOME_SIBLING_SUFFIXES.iter().any(|word| crate::folder::matches(&name, &format!("{home}{word}")))
            || may_be_former_home(&name, &format!("{home}{FORMER_HOME_INFIX}")))
}

/// Whether a suffix after a home's name makes it one of the files next to the home; it may be a pattern.
fn is_sibling_suffix(word: &str) -> bool {
    let pattern = word.contains(['*', '?', '[']);
    may_be_former_home(word, FORMER_HOME_INFIX)
        || HOME_SIBLING_SUFFIXES.iter().any(|beside| {
            // What follows a name in a text may look like more of it: `.place?mode=ro`.
            let same = word.strip_prefix(beside).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
            same || (pattern && crate::folder::matches(word, beside))
        })
}

/// Whether the name of a former home, which is `start` and a time, begins with or could match a pattern.
fn may_be_former_home(pattern: &str, start: &str) -> bool {
    let begins = pattern.chars().count() >= start.chars().count()
        && pattern.chars().zip(start.chars()).all(|(a, b)| a == '?' || a == b);
    // Which time it is does not matter.
    let any_time = |name: &str| name.replace(|c: char| c.is_ascii_digit(), "0");
    begins
        || (pattern.contains(['*', '?', '['])
            && crate::folder::matches(&any_time(pattern), &any_time(&format!("{start}2026-01-02-030405"))))
}

/// The part of a text that could still be of a path's last name.
fn name_part(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && !"._-*?[]!^".contains(c)).next().unwrap_or_default()
}

/// Whether a path is a disk, memory or another device whose content a write would destroy.
pub(crate) fn is_device(text: &str) -> bool {
    const DEVICES: &[&str] = &[
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper", "dm-", "md", "loop", "sr",
        "nbd", "zram", "mem", "kmem", "port", "mtd", "ram", "block", "bcache", "drbd", "zd",
    ];
    let plain = text.replace("/./", "/").replace("//", "/");
    let Some(name) = plain.strip_prefix("/dev/") else { return plain.contains("PhysicalDrive") };
    DEVICES.iter().any(|device| {
        name.starts_with(device)
            || (name.contains(['*', '?', '['])
                && crate::folder::matches(name.split('/').next().unwrap_or(name), &format!("{device}a")))
    })
}
