//! Discovers skills: in every root, one level of categories, sorted, bounded, without following links outside.

use crate::{
    Catalogue, Root, Roots, ShadowedBy, Skill, Trust, Warning,
    format::{self, MAX_SKILL_BYTES, SkillDocument},
    tree::{self, HashingBudget},
};
use octo_protocol::SkillOrigin;
use std::{
    collections::{HashMap, HashSet},
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

/// Maximum skills taken from one root.
pub const MAX_SKILLS: usize = 500;
/// Maximum entries inspected in one folder.
pub const MAX_FOLDER_ENTRIES: usize = 5_000;
/// Maximum files of the session's folder hashed in one search for changed skills; the next constant limits
/// their bytes.
const MAX_HASHED_FILES: usize = 20_000;
const MAX_HASHED_BYTES: u64 = 256 << 20;
/// Name of a skill's file.
pub(crate) const SKILL_FILE: &str = "SKILL.md";

/// Discovers the skills. `trust` is called only for those of the session's folder; the others are the person's.
///
/// Among several with one name, the one from the highest source is used. An untrusted skill never replaces a
/// trusted one: it waits in [`Catalogue::shadowed`] until the person accepts it.
pub fn discover(roots: &Roots, trust: &dyn Fn(&Skill) -> Trust) -> Catalogue {
    let mut found = Vec::new();
    let mut problems = Vec::new();
    let mut visited = HashSet::new();
    for root in roots.iter() {
        let before = found.len();
        let looked = real_root(root).and_then(|resolved| {
            let Some(resolved) = resolved else { return Ok(()) };
            // The person's home may be the session's folder: one root is one source, and the first is the
            // safer.
            if !visited.insert(resolved.clone()) {
                return Ok(());
            }
            RootSearch { root, resolved: &resolved, found: &mut found, problems: &mut problems }
                .search(before)
        });
        if let Err(warning) = looked {
            problems.push(warning);
        }
    }
    let mut allowance = HashingBudget { files: MAX_HASHED_FILES, bytes: MAX_HASHED_BYTES };
    for skill in &mut found {
        skill.trust = if skill.source.is_from_folder() {
            decide_trust(skill, trust, &mut allowance)
        } else {
            Trust::Trusted
        };
    }
    resolve_duplicates(found, problems)
}

/// Sets a skill's trust. A skill without a fingerprint cannot have been accepted.
fn decide_trust(skill: &mut Skill, trust: &dyn Fn(&Skill) -> Trust, allowance: &mut HashingBudget) -> Trust {
    // An unusable skill cannot be accepted; its folder may be anywhere.
    if skill.error.is_some() {
        return Trust::Untrusted;
    }
    skill.fingerprint = tree::fingerprint_within(&skill.folder, allowance);
    if skill.fingerprint.is_none() {
        skill.warnings.push(Warning::new("skills.warning.too_big_to_accept"));
        return Trust::Untrusted;
    }
    trust(skill)
}

/// Returns a root's real path; `None` if it does not exist.
fn real_root(root: &Root) -> Result<Option<PathBuf>, Warning> {
    let resolved = match root.path.canonicalize() {
        Ok(resolved) => resolved,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(unreadable(&root.path, &error)),
    };
    let leaves = root
        .must_stay_within
        .as_ref()
        .is_some_and(|folder| !folder.canonicalize().is_ok_and(|folder| resolved.starts_with(folder)));
    if leaves {
        return Err(Warning::new("skills.error.root_link").arg("path", root.path.display()));
    }
    Ok(resolved.is_dir().then_some(resolved))
}

fn unreadable(path: &Path, error: &io::Error) -> Warning {
    Warning::new("skills.error.unreadable").arg("path", path.display()).arg("reason", error)
}

struct RootSearch<'a> {
    root: &'a Root,
    resolved: &'a Path,
    found: &'a mut Vec<Skill>,
    problems: &'a mut Vec<Warning>,
}

impl RootSearch<'_> {
    fn search(&mut self, before: usize) -> Result<(), Warning> {
        for (name, path) in self.children(self.resolved)? {
            if self.is_full(before) {
                break;
            }
            if self.add_skill(&name, &path, None) || !path.is_dir() {
                continue;
            }
            match self.children(&path) {
                Ok(children) => {
                    for (inner, path) in children {
                        if self.is_full(before) {
                            break;
                        }
                        self.add_skill(&inner, &path, Some(&name));
                    }
                }
                Err(warning) => self.problems.push(warning),
            }
        }
        Ok(())
    }

    fn is_full(&mut self, before: usize) -> bool {
        let reached_limit = self.found.len() - before >= MAX_SKILLS;
        if reached_limit && !self.problems.iter().any(|problem| problem.key == "skills.error.too_many") {
            self.problems.push(
                Warning::new("skills.error.too_many")
                    .arg("path", self.root.path.display())
                    .arg("most", MAX_SKILLS),
            );
        }
        reached_limit
    }

    /// Returns the folders in a folder, and links that may be folders, sorted by name. Hidden ones are
    /// excluded.
    fn children(&mut self, folder: &Path) -> Result<Vec<(String, PathBuf)>, Warning> {
        let entries = fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
        let mut children = Vec::new();
        for (index, entry) in entries.enumerate() {
            if index >= MAX_FOLDER_ENTRIES {
                self.problems.push(
                    Warning::new("skills.error.folder_full")
                        .arg("path", folder.display())
                        .arg("most", MAX_FOLDER_ENTRIES),
                );
                break;
            }
            let Ok(entry) = entry else { continue };
            let name = entry.file_name().to_string_lossy().into_owned();
            let may_be = entry.file_type().is_ok_and(|kind| kind.is_dir() || kind.is_symlink());
            if may_be && !name.starts_with('.') && name != "node_modules" {
                children.push((name, entry.path()));
            }
        }
        children.sort();
        Ok(children)
    }

    /// Adds the folder if it is a skill; returns whether it was one, or was refused as one.
    fn add_skill(&mut self, name: &str, path: &Path, category: Option<&str>) -> bool {
        let Ok(resolved) = path.canonicalize() else { return true };
        if !resolved.starts_with(self.resolved) {
            // A link to a single file cannot be a skill.
            if resolved.is_dir() {
                self.add_refused(name, path, category, Warning::new("skills.error.link_outside"));
            }
            return true;
        }
        // A link to another skill of the same root would duplicate it.
        if path.is_symlink() {
            return true;
        }
        let Some((file, exact)) = skill_file(&resolved) else { return false };
        let document = read_file(&file, &resolved, name);
        let mut skill = Skill::new(document, self.root.source, resolved);
        skill.category = category.map(str::to_owned);
        skill.modified = fs::metadata(&file).and_then(|meta| meta.modified()).ok();
        if exact == FileNameCase::No {
            skill.warnings.push(Warning::new("skills.warning.file_name"));
        }
        self.found.push(skill);
        true
    }

    fn add_refused(&mut self, name: &str, path: &Path, category: Option<&str>, error: Warning) {
        let document = SkillDocument::unreadable(name, error);
        let mut skill = Skill::new(document, self.root.source, path.to_owned());
        skill.category = category.map(str::to_owned);
        self.found.push(skill);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileNameCase {
    Yes,
    No,
}

/// Finds SKILL.md in a folder, ignoring case.
pub(crate) fn skill_file(folder: &Path) -> Option<(PathBuf, FileNameCase)> {
    let exact = folder.join(SKILL_FILE);
    if exact.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
        return Some((exact, FileNameCase::Yes));
    }
    let mut names: Vec<_> = fs::read_dir(folder)
        .ok()?
        .take(MAX_FOLDER_ENTRIES)
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.eq_ignore_ascii_case(SKILL_FILE))
        .collect();
    names.sort();
    names.first().map(|name| (folder.join(name), FileNameCase::No))
}

/// Reads a SKILL.md that must be in `folder`.
pub(crate) fn read_file(file: &Path, folder: &Path, name: &str) -> SkillDocument {
    let failed = |error: &io::Error| SkillDocument::unreadable(name, unreadable(file, error));
    let resolved = match file.canonicalize() {
        Ok(resolved) => resolved,
        Err(error) => return failed(&error),
    };
    if !resolved.starts_with(folder) {
        return SkillDocument::unreadable(name, Warning::new("skills.error.file_link_outside"));
    }
    let read = || -> io::Result<Vec<u8>> {
        // Checked before opening: opening a pipe would wait for its other end.
        if !fs::metadata(&resolved)?.is_file() {
            return Err(io::Error::other("no ordinary file"));
        }
        let mut content = Vec::new();
        File::open(&resolved)?.take(MAX_SKILL_BYTES + 1).read_to_end(&mut content)?;
        Ok(content)
    };
    match read() {
        Ok(content) if content.len() as u64 > MAX_SKILL_BYTES => {
            let size = fs::metadata(&resolved).map_or(content.len() as u64, |meta| meta.len());
            SkillDocument::unreadable(name, format::too_large(size))
        }
        Ok(content) => format::read(&content, name),
        Err(error) => failed(&error),
    }
}

/// Decides which of several with one name is used.
fn resolve_duplicates(mut found: Vec<Skill>, problems: Vec<Warning>) -> Catalogue {
    // Stable: within a source, the order of the folders is kept.
    found.sort_by_key(|skill| std::cmp::Reverse(rank(skill)));
    let mut winners: HashMap<String, ShadowedBy> = HashMap::new();
    let (mut skills, mut shadowed): (Vec<Skill>, Vec<Skill>) = (Vec::new(), Vec::new());
    for mut skill in found {
        match winners.get(&skill.name) {
            None => {
                let shadowing = ShadowedBy { source: skill.source, folder: skill.folder.clone() };
                winners.insert(skill.name.clone(), shadowing);
                skills.push(skill);
            }
            Some(winner) => {
                let key = if skill.trust == Trust::Untrusted && skill.source > winner.source {
                    "skills.warning.would_shadow"
                } else if skill.source == winner.source {
                    "skills.warning.same_name"
                } else {
                    "skills.warning.shadowed"
                };
                skill.warnings.push(Warning::new(key).arg("path", winner.folder.display()));
                skill.shadowed_by = Some(winner.clone());
                shadowed.push(skill);
            }
        }
    }
    for skill in &mut skills {
        let hidden = shadowed.iter().filter(|other| other.name == skill.name);
        if hidden.into_iter().any(|other| other.source == SkillOrigin::Bundled) {
            skill.warnings.push(Warning::new("skills.warning.shadows_bundled").arg("name", &skill.name));
        }
    }
    skills.sort_by(|a, other| a.name.cmp(&other.name));
    shadowed.sort_by(|a, other| (&a.name, other.source).cmp(&(&other.name, a.source)));
    Catalogue::new(skills, shadowed, problems)
}

/// Ranks a skill: an unusable one never replaces a usable one, and an untrusted one never replaces a trusted
/// one.
fn rank(skill: &Skill) -> (bool, bool, SkillOrigin) {
    (skill.error.is_none(), skill.trust == Trust::Trusted, skill.source)
}
