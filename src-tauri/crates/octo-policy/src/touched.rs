//! Inspects the folder for a line that changes files, because its words do not name every path it touches.

use crate::{
    changes::{Hooks, Touch},
    folder::{self, FolderQueries, GitQuery, contents, settings::GitUse},
    follow::LineEffects,
    footprint::{Footprint, NameChange, Reliance},
    found::{Splitting, is_plain_word},
    grammar::Reads,
    names,
    placement::Placement,
    plain::Simple,
    programs::git::shown_contents,
    search::RestrictionLookup,
};
use octo_workspace::PathRestriction;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Maximum number of entries inspected below a folder that a line copies or moves. A line with more asks.
const MAX_ENTRIES: usize = 20_000;

/// The paths a line would touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TouchedPaths {
    /// Every word that may name a path the line reads, relative to the line's folder.
    pub reads: Vec<String>,
    /// The paths the line would create or overwrite.
    pub writes: Vec<String>,
    /// The paths the line would remove; a plain `rm` moves them into the trash.
    pub removes: Vec<String>,
    /// The roots of the repositories the line would write to, with links resolved.
    pub repositories: Vec<PathBuf>,
    /// The effects on lines that run at the same time, and of those on it.
    pub footprint: Footprint,
}

impl TouchedPaths {
    /// Returns the paths of a line that reads only these.
    pub(crate) fn reading(reads: Vec<String>) -> Self {
        let mut known = Self { reads, ..Self::default() };
        if !known.reads.is_empty() {
            known.footprint.relies_on = Reliance::Paths;
        }
        known
    }
}

/// Returns the paths that a line would touch if it runs in `line_folder`; `None` if the line must ask because of the
/// folder's content.
pub(crate) fn inspect(
    followed: &LineEffects,
    line_folder: &Path,
    queries: FolderQueries<'_>,
) -> Option<TouchedPaths> {
    let mut known = TouchedPaths::default();
    let mut replaced: Vec<PathBuf> = Vec::new();
    let is_replaced =
        |replaced: &[PathBuf], path: &Path| replaced.iter().any(|replaced| path.starts_with(replaced));
    for touch in &followed.touched {
        let Footprint { relies_on, changes } = touch.footprint();
        known.footprint.add(relies_on, changes);
        let (text, list) = match touch {
            Touch::Read(text) => (text, &mut known.reads),
            Touch::Write(text) => (text, &mut known.writes),
            Touch::Remove(text) => (text, &mut known.removes),
            Touch::Replace(text) => {
                let path = octo_workspace::resolve(text, line_folder).ok()?;
                let written = line_folder.join(text);
                let removed =
                    known.removes.iter().any(|removed| written.starts_with(line_folder.join(removed)));
                // A copy or a move into an existing folder creates an entry in it.
                let remains = !removed
                    && !is_replaced(&replaced, &path)
                    && written.symlink_metadata().is_ok_and(|meta| meta.is_dir());
                if !remains && [&path, &written].into_iter().any(|path| (queries.begins_role)(path)) {
                    return None;
                }
                replaced.push(path);
                continue;
            }
            Touch::Place(source, target) => {
                let placement = Placement { source, target, folder: line_folder };
                let placed = placement.writes(&known.writes, queries)?;
                known.writes.extend(placed);
                continue;
            }
            Touch::Tree(text) => {
                let folder = octo_workspace::resolve(text, line_folder).ok()?;
                if let Some(root) = folder::repository(&folder)? {
                    known.writes.push(names::text_of_path(&root)?);
                    replaced.push(root);
                }
                continue;
            }
            Touch::CopyTree(text) => {
                let mut names = Reads::new();
                expand(text, line_folder, &mut names)?;
                let mut entries_left = MAX_ENTRIES;
                for name in names {
                    let folder = octo_workspace::resolve(&name, line_folder).ok()?;
                    let closed = closed_below(&folder, &mut entries_left, queries.restriction)?;
                    known.reads.extend(names::texts_of_paths(&closed)?);
                }
                continue;
            }
            Touch::Merge(text) => {
                if octo_workspace::resolve(text, line_folder).ok()?.is_dir() {
                    return None;
                }
                continue;
            }
            Touch::Repository(text, hooks) => {
                let folder = octo_workspace::resolve(text, line_folder).ok()?;
                known.repositories.extend(repository(&folder, *hooks, queries.git)?);
                continue;
            }
            Touch::Rewrite(text, query) => {
                let folder = octo_workspace::resolve(text, line_folder).ok()?;
                if let Some((root, names)) = contents::answer(queries.git, &folder, query)? {
                    let paths = names::names_in(&names)?.into_iter().map(|name| root.join(name));
                    let with_role: Vec<PathBuf> = paths.filter(|path| (queries.has_role)(path)).collect();
                    known.writes.extend(names::texts_of_paths(&with_role)?);
                }
                continue;
            }
            Touch::Commit(text, word) => {
                let folder = octo_workspace::resolve(text, line_folder).ok()?;
                if contents::object_kind(queries.git, &folder, word)? != "commit" {
                    return None;
                }
                continue;
            }
            Touch::Switch => {
                // The content of the other commit is not known yet.
                if followed.commands.iter().any(|placed| shows_contents(&placed.command)) {
                    return None;
                }
                continue;
            }
            Touch::Record(text, query) => {
                let folder = octo_workspace::resolve(text, line_folder).ok()?;
                let ignores =
                    |path: &String| path.ends_with(".gitignore") || path.ends_with(".gitattributes");
                let changes = known.writes.iter().chain(&known.removes).any(ignores);
                // A change of the ignore rules would change the answer.
                if changes || is_replaced(&replaced, &folder) {
                    return None;
                }
                if let Some((root, names)) = contents::answer(queries.git, &folder, query)? {
                    known.reads.extend(contents::closed_names(&names, &root, &folder, queries.restriction)?);
                }
                continue;
            }
            Touch::Discover(found) => {
                let splits = found.splitting == Splitting::AtBlanks;
                if !replaced.is_empty() || (splits && !(known.writes.is_empty())) {
                    return None;
                }
                known.reads.extend(found.closed(line_folder, queries.restriction, queries.git)?);
                continue;
            }
            Touch::Split(text) => {
                let mut names = Reads::new();
                if text.contains(['*', '?', '[']) {
                    folder::matching(text, line_folder, &mut names)?;
                }
                // A file that the line itself creates cannot be inspected.
                if !known.writes.is_empty()
                    || !replaced.is_empty()
                    || !names.iter().all(|name| is_plain_word(name))
                {
                    return None;
                }
                continue;
            }
        };
        let from = list.len();
        expand(text, line_folder, list)?;
        // Below a path that an earlier command of the line replaces, the disk will change before this command runs.
        for name in list.iter().skip(from).filter(|_| !replaced.is_empty()) {
            let path = octo_workspace::resolve(name, line_folder).ok()?;
            if is_replaced(&replaced, &path) && !is_same_command(touch, followed, text) {
                return None;
            }
        }
    }
    known.reads =
        folder::inspect(&followed.commands, std::mem::take(&mut known.reads), line_folder, queries)?;
    if !known.reads.is_empty() {
        known.footprint.add(Reliance::Paths, NameChange::Nothing);
    }
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

/// Returns whether a touch belongs to the command that replaces `text`. The other touches of a command come before its
/// replacements.
fn is_same_command(touch: &Touch, followed: &LineEffects, text: &str) -> bool {
    let at = followed.touched.iter().position(|other| other == touch);
    let replacement =
        followed.touched.iter().position(|other| matches!(other, Touch::Replace(path) if path == text));
    matches!((at, replacement), (Some(at), Some(replacement)) if at < replacement)
}

/// Adds a path, and the names it matches if it is a pattern. Returns `None` if there are too many.
pub(crate) fn expand(text: &str, folder: &Path, names: &mut Reads) -> Option<()> {
    if text.contains(['*', '?', '[']) {
        folder::matching(text, folder, names)?;
    }
    names.push(text.to_owned());
    Some(())
}

/// Returns a denied path or a secret below a folder that a line copies or moves, because the line touches it as if it
/// named it. `None` if the folder is too large to check or contains a repository, whose hooks and settings would come
/// along.
fn closed_below(
    path: &Path,
    entries_left: &mut usize,
    restriction: RestrictionLookup<'_>,
) -> Option<Vec<PathBuf>> {
    let (mut secret, mut folders) = (None, vec![path.to_owned()]);
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            *entries_left = entries_left.checked_sub(1)?;
            if entry.file_name().eq_ignore_ascii_case(".git") {
                return None;
            }
            names::text_of(&entry.file_name())?;
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

/// Returns the root of the repository that contains a folder, or `Some(None)` if there is none. `None` if a write to
/// the repository could start a program it names, if it has hooks that the person would expect to run, or if its data
/// is elsewhere.
#[expect(clippy::option_option, reason = "no repository and an unusable one are different answers")]
fn repository(folder: &Path, hooks: Hooks, git: GitQuery) -> Option<Option<PathBuf>> {
    let Some(root) = folder::repository(folder)? else { return Some(None) };
    let inner = root.join(".git");
    if !inner.symlink_metadata().ok()?.is_dir()
        || inner.join("commondir").exists()
        || !folder::settings::is_harmless(&root, git, GitUse::default())
    {
        return None;
    }
    if hooks == Hooks::Run {
        let entries = fs::read_dir(inner.join("hooks")).into_iter().flatten().flatten();
        if entries.into_iter().any(|entry| !entry.file_name().as_encoded_bytes().ends_with(b".sample")) {
            return None;
        }
        let settings = git(&root, &["config", "--list", "--null", "--show-scope"])?;
        let mut fields = settings.split('\0');
        while let (Some(scope), Some(setting)) = (fields.next(), fields.next()) {
            let (name, value) = setting.split_once('\n').unwrap_or((setting, "true"));
            let is_enabled = !matches!(value, "false" | "no" | "off" | "0" | "");
            // Settings of the scope `command` are the overrides of this query itself.
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
