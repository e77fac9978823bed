//! Inspects the folder for a line that changes something, because its words do not name every path it touches.

use crate::{
    changes::{Hooks, Touch},
    folder::{self, FolderQueries, GitQuery, contents},
    follow::LineEffects,
    found::{Splitting, is_plain_word},
    grammar::Reads,
    plain::Simple,
    programs::git::shown_contents,
    search::RestrictionLookup,
};
use octo_workspace::PathRestriction;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Maximum number of entries inspected below a folder that is copied or moved whole.
const MAX_ENTRIES: usize = 20_000;

/// The paths a line would touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TouchedPaths {
    /// Every word that may name a path it reads, relative to the folder in which the line runs.
    pub reads: Vec<String>,
    /// The paths it would create or overwrite.
    pub writes: Vec<String>,
    /// The paths it would remove; a plain `rm` moves them into the trash.
    pub removes: Vec<String>,
    /// Folders of repositories it would write to, with links resolved.
    pub repositories: Vec<PathBuf>,
}

/// Returns the paths a followed line would touch in `place`; `None` if the folder's content requires a
/// question.
pub(crate) fn inspect(
    followed: &LineEffects,
    place: &Path,
    queries: FolderQueries<'_>,
) -> Option<TouchedPaths> {
    let mut known = TouchedPaths::default();
    let mut placed: Vec<PathBuf> = Vec::new();
    let is_placed = |placed: &[PathBuf], path: &Path| placed.iter().any(|placed| path.starts_with(placed));
    for touch in &followed.touched {
        let (text, list) = match touch {
            Touch::Read(text) => (text, &mut known.reads),
            Touch::Write(text) => (text, &mut known.writes),
            Touch::Remove(text) => (text, &mut known.removes),
            Touch::Replace(text) => {
                placed.push(octo_workspace::resolve(text, place).ok()?);
                continue;
            }
            Touch::Tree(text) => {
                let folder = octo_workspace::resolve(text, place).ok()?;
                if let Some(root) = folder::repository(&folder)? {
                    known.writes.push(root.to_string_lossy().into_owned());
                    placed.push(root);
                }
                continue;
            }
            Touch::CopyTree(text) => {
                let mut names = Reads::new();
                expand(text, place, &mut names)?;
                let mut budget = MAX_ENTRIES;
                for name in names {
                    let folder = octo_workspace::resolve(&name, place).ok()?;
                    let closed = closed_below(&folder, &mut budget, queries.restriction)?;
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
            Touch::Rewrite(text, query) => {
                let folder = octo_workspace::resolve(text, place).ok()?;
                if let Some((root, names)) = contents::answer(queries.git, &folder, query)? {
                    let names = names.split(['\0', '\n']).filter(|name| !name.is_empty());
                    let with_role = names.map(|name| root.join(name)).filter(|path| (queries.has_role)(path));
                    known.writes.extend(with_role.map(|path| path.to_string_lossy().into_owned()));
                }
                continue;
            }
            Touch::Switch => {
                // What another commit holds is not known yet.
                if followed.commands.iter().any(|placed| shows_contents(&placed.command)) {
                    return None;
                }
                continue;
            }
            Touch::Record(text, query) => {
                let folder = octo_workspace::resolve(text, place).ok()?;
                let ignores =
                    |path: &String| path.ends_with(".gitignore") || path.ends_with(".gitattributes");
                let changes = known.writes.iter().chain(&known.removes).any(ignores);
                // With other rules about what is ignored the answer would be another one.
                if changes || is_placed(&placed, &folder) {
                    return None;
                }
                if let Some((root, names)) = contents::answer(queries.git, &folder, query)? {
                    known.reads.extend(contents::closed_names(&names, &root, &folder, queries.restriction));
                }
                continue;
            }
            Touch::Discover(found) => {
                let splits = found.splitting == Splitting::AtBlanks;
                if !placed.is_empty() || (splits && !(known.writes.is_empty())) {
                    return None;
                }
                known.reads.extend(found.closed(place, queries.restriction, queries.git)?);
                continue;
            }
            Touch::Split(text) => {
                let mut names = Reads::new();
                if text.contains(['*', '?', '[']) {
                    folder::matching(text, place, &mut names)?;
                }
                // A name that the line makes itself is not there to be looked at.
                if !known.writes.is_empty()
                    || !placed.is_empty()
                    || !names.iter().all(|name| is_plain_word(name))
                {
                    return None;
                }
                continue;
            }
        };
        let from = list.len();
        expand(text, place, list)?;
        // Below a path that an earlier command of the line puts in place, the disk will not be as it is now.
        for name in list.iter().skip(from).filter(|_| !placed.is_empty()) {
            let path = octo_workspace::resolve(name, place).ok()?;
            if is_placed(&placed, &path) && !is_same_command(touch, followed, text) {
                return None;
            }
        }
    }
    known.reads = folder::inspect(&followed.commands, std::mem::take(&mut known.reads), place, queries)?;
    for list in [&mut known.reads, &mut known.writes, &mut known.removes] {
        list.sort();
        list.dedup();
    }
    Some(known)
}

fn shows_contents(command: &Simple) -> bool {
    let is_git = command.words.first().is_some_and(|name| name.text == "git");
    is_git && shown_contents(command.words.get(1..).unwrap_or_default()).is_some()
}

/// Returns whether a touch belongs to the same command as the placing of `text`: a command's touches come
/// before its placing.
fn is_same_command(touch: &Touch, followed: &LineEffects, text: &str) -> bool {
    let at = followed.touched.iter().position(|other| other == touch);
    let placed =
        followed.touched.iter().position(|other| matches!(other, Touch::Replace(place) if place == text));
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

/// Returns the closed paths, at any depth, of a folder that is copied or moved whole: the line touches them as
/// if it named them. One path of each kind is enough. `None` if the folder contains a repository, whose hooks
/// and settings would come along, or is too large to check.
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
                // No restriction is stricter, so the search can end.
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

/// Returns the repository that contains a folder: `Some(None)` if none does. Returns `None` if writing to the
/// repository could start a program of its own, if it has hooks the person would expect to run, or if its data
/// is elsewhere.
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
            let is_enabled = !matches!(value, "false" | "no" | "off" | "0" | "");
            // Settings of the scope `command` are the overrides of this query itself, not anybody's settings.
            if scope != "command"
                && (name == "core.hookspath"
                    || (is_enabled && matches!(name, "commit.gpgsign" | "tag.gpgsign")))
            {
                return None;
            }
        }
    }
    Some(Some(root))
}
