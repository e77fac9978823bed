//! The look at the folder for lines that change something: what their words do not tell.

use crate::{
    changes::{Hooks, Touch},
    folder::{self, FolderQueries, GitQuery},
    follow::LineEffects,
    options::Reads,
    plain,
    search::RestrictionLookup,
};
use octo_workspace::PathRestriction;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Entries looked at for a repository inside a folder that is copied or moved whole.
const MAX_ENTRIES: usize = 20_000;

/// The paths a line would touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TouchedPaths {
    /// Every word that may name a path it reads, as seen from where the line runs.
    pub reads: Vec<String>,
    /// What it would make or overwrite.
    pub writes: Vec<String>,
    /// What it would take away; a plain `rm` puts it into the trash.
    pub removes: Vec<String>,
    /// Folders of repositories it would write to, real.
    pub repositories: Vec<PathBuf>,
}

/// Returns the paths a followed line would touch in `place`; `None` if the folder makes it ask.
pub(crate) fn inspect(
    followed: &LineEffects,
    place: &Path,
    queries: FolderQueries<'_>,
) -> Option<TouchedPaths> {
    let mut known = TouchedPaths::default();
    let mut placed: Vec<PathBuf> = Vec::new();
    for touch in &followed.touched {
        let (text, list) = match touch {
            Touch::Read(text) => (text, &mut known.reads),
            Touch::Write(text) => (text, &mut known.writes),
            Touch::Remove(text) => (text, &mut known.removes),
            Touch::Place(text) => {
                placed.push(octo_workspace::resolve(text, place).ok()?);
                continue;
            }
            Touch::Whole(text) => {
                let mut names = Reads::new();
                expand(text, place, &mut names)?;
                let mut budget = MAX_ENTRIES;
                for name in names {
                    let whole = octo_workspace::resolve(&name, place).ok()?;
                    let closed = closed_below(&whole, &mut budget, queries.restriction)?;
                    known.reads.extend(closed.into_iter().map(|path| path.to_string_lossy().into_owned()));
                }
                continue;
            }
            Touch::Merge(text) => {
                if octo_workspace::resolve(text, place).ok()?.is_dir() {
                    return None;
                }
                continue;
            }
            Touch::Repository(text, hooks) => {
                let folder = octo_workspace::resolve(text, place).ok()?;
                known.repositories.extend(repository(&folder, *hooks, queries.git)?);
                continue;
            }
        };
        let from = list.len();
        expand(text, place, list)?;
        // What lies below something that was just put there is not what lies there now.
        for name in list.iter().skip(from).filter(|_| !placed.is_empty()) {
            let path = octo_workspace::resolve(name, place).ok()?;
            if placed.iter().any(|placed| path.starts_with(placed)) && !is_same_command(touch, followed, text)
            {
                return None;
            }
        }
    }
    let line = plain::Line { commands: followed.commands.clone(), operators: Vec::new() };
    known.reads = folder::inspect(&line, std::mem::take(&mut known.reads), place, queries)?;
    for list in [&mut known.reads, &mut known.writes, &mut known.removes] {
        list.sort();
        list.dedup();
    }
    Some(known)
}

/// Whether a touch belongs to the command that put something there: it comes before its own placing.
fn is_same_command(touch: &Touch, followed: &LineEffects, text: &str) -> bool {
    let at = followed.touched.iter().position(|other| other == touch);
    let placed =
        followed.touched.iter().position(|other| matches!(other, Touch::Place(place) if place == text));
    matches!((at, placed), (Some(at), Some(placed)) if at < placed)
}

/// Expands a pattern to the names it matches, in addition to itself.
fn expand(text: &str, place: &Path, names: &mut Reads) -> Option<()> {
    if text.contains(['*', '?', '[']) {
        folder::matching(text, place, names)?;
    }
    names.push(text.to_owned());
    Some(())
}

/// Returns the closed paths, at any depth, of a folder that is copied or moved whole: they are touched as if
/// they were named. One of each kind is enough. `None` if the folder contains a repository, whose hooks and
/// settings would come along, or is too large to check.
fn closed_below(path: &Path, budget: &mut usize, restriction: RestrictionLookup<'_>) -> Option<Vec<PathBuf>> {
    let (mut secret, mut folders) = (None, vec![path.to_owned()]);
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            *budget = budget.checked_sub(1)?;
            if entry.file_name().eq_ignore_ascii_case(".git") {
                return None;
            }
            match restriction(&entry.path()) {
                // Nothing is stricter.
                PathRestriction::Denied => return Some(vec![entry.path()]),
                PathRestriction::Secret => secret = secret.or_else(|| Some(entry.path())),
                PathRestriction::No => {}
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
        }
    }
    Some(secret.into_iter().collect())
}

/// The repository a folder lies in. None when writing to it could start a program of its own, when it has hooks the
/// person would expect to run, or when it lies elsewhere.
#[expect(clippy::option_option, reason = "no repository and an unusable one are different answers")]
fn repository(place: &Path, hooks: Hooks, git: GitQuery) -> Option<Option<PathBuf>> {
    let Some(root) = folder::repository(place)? else { return Some(None) };
    let inner = root.join(".git");
    if !inner.symlink_metadata().ok()?.is_dir()
        || inner.join("commondir").exists()
        || !folder::is_harmless(&root, git)
    {
        return None;
    }
    if hooks == Hooks::Run {
        let entries = fs::read_dir(inner.join("hooks")).into_iter().flatten().flatten();
        if entries.into_iter().any(|entry| !entry.file_name().to_string_lossy().ends_with(".sample")) {
            return None;
        }
        let settings = git(&root, &["config", "--list", "--null", "--show-scope"])?;
        let mut fields = settings.split('\0');
        while let (Some(scope), Some(setting)) = (fields.next(), fields.next()) {
            let (name, value) = setting.split_once('\n').unwrap_or((setting, "true"));
            let on = !matches!(value, "false" | "no" | "off" | "0" | "");
            // The overrides this very question is asked with are no settings of anybody's.
            if scope != "command"
                && (name == "core.hookspath" || (on && matches!(name, "commit.gpgsign" | "tag.gpgsign")))
            {
                return None;
            }
        }
    }
    Some(Some(root))
}
