//! Inspects a folder, which could change the meaning of a line whose words are read-only:
//!
//! * A pattern matches files. The caller gets their names and detects a secret or a link out of the folder. It also
//!   gets the closed paths that a search through folders would encounter.
//! * Settings can name programs that git starts (filters, text converters, external diffs, promised objects fetched
//!   through a command), and a submodule has settings of its own. A line asks in a repository with any setting of its
//!   own that is not known to be harmless, or with submodules, and where settings in the person's home name a program
//!   that the environment cannot switch off. See [`settings`].
//! * Version managers let a folder choose the program that a name like `node` starts. `node --version` asks in a folder
//!   with such a file.

pub(crate) mod contents;
pub(crate) mod settings;

use crate::{
    grammar::Reads,
    judge::PlacedCommand,
    names,
    plain::Simple,
    programs::version::is_versioned,
    search::{self, RestrictionLookup, Search},
};
use settings::GitUse;
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Maximum number of names a pattern may match. A line with more asks.
const MAX_NAMES: usize = 2_000;

/// Maximum number of repositories that one line may read. A line with more asks.
const MAX_REPOSITORIES: usize = 8;

/// Files with which a folder chooses the programs that a version manager starts.
#[rustfmt::skip]
const VERSION_FILES: &[&str] = &[
    ".java-version", ".mise.toml", ".node-version", ".nvmrc", ".python-version", ".ruby-version", ".sdkmanrc",
    ".tool-versions", "mise.toml", "rust-toolchain", "rust-toolchain.toml",
];

/// Returns what `git` with these arguments prints in a folder, or `None` if it fails: [`octo_workspace::git_answer`].
pub type GitQuery = fn(&Path, &[&str]) -> Option<String>;

/// The callbacks that the inspection of a folder uses.
#[derive(Clone, Copy)]
pub(crate) struct FolderQueries<'a> {
    /// Returns the restriction of a real path.
    pub restriction: RestrictionLookup<'a>,
    /// Queries git.
    pub git: GitQuery,
    /// Returns whether a file has a role: it becomes code or instructions.
    pub has_role: &'a dyn Fn(&Path) -> bool,
    /// Returns whether a folder may contain files that get a role by being in it.
    pub begins_role: &'a dyn Fn(&Path) -> bool,
}

/// Returns the paths the line would read, including names found in the folder; `None` if the line must ask because of
/// the folder.
pub(crate) fn inspect(
    commands: &[PlacedCommand],
    reads: Reads,
    folder: &Path,
    queries: FolderQueries<'_>,
) -> Option<Reads> {
    let mut names = Reads::new();
    for read in &reads {
        if read.contains(['*', '?', '[']) {
            matching(read, folder, &mut names)?;
        }
    }
    names.extend(reads);
    let named_folders: Vec<PathBuf> =
        names.iter().map(|name| folder.join(name)).filter(|path| path.is_dir()).collect();
    let working_folders =
        commands.iter().flat_map(|placed| &placed.directories).map(|directory| folder.join(directory));
    let mut folders: Vec<PathBuf> =
        std::iter::once(folder.to_owned()).chain(named_folders.clone()).chain(working_folders).collect();
    folders.sort();
    folders.dedup();
    if commands.iter().any(|placed| asks_version(&placed.command))
        && folders.iter().any(|folder| chooses_versions(folder))
    {
        return None;
    }
    if commands.iter().any(|placed| runs_program(&placed.command, "git")) {
        let git_use = GitUse::of(commands.iter().map(|placed| &placed.command));
        let mut repositories = BTreeSet::new();
        for folder in &folders {
            match repository(folder)? {
                Some(root) => {
                    repositories.insert(root);
                }
                // There too the person's own settings apply.
                None if !folder.is_dir() || settings::are_harmless(folder, queries.git, git_use) => {}
                None => return None,
            }
        }
        if repositories.len() > MAX_REPOSITORIES
            || !repositories.iter().all(|root| settings::is_harmless(root, queries.git, git_use))
        {
            return None;
        }
        for placed in commands.iter().filter(|placed| runs_program(&placed.command, "git")) {
            for directory in &placed.directories {
                names.extend(contents::closed(&placed.command, &folder.join(directory), queries)?);
            }
        }
    }
    let simples = commands.iter().map(|placed| &placed.command);
    if let Some(search) = Search::of(simples, &|word| search::is_one_of(word, &named_folders)) {
        let closed = search.find_closed(&named_folders, queries.restriction)?;
        names.extend(names::texts_of_paths(&closed)?);
    }
    Some(names)
}

fn runs_program(command: &Simple, name: &str) -> bool {
    command.words.first().is_some_and(|word| word.text == name)
}

fn asks_version(command: &Simple) -> bool {
    command.words.first().is_some_and(|name| is_versioned(&name.text))
}

fn chooses_versions(folder: &Path) -> bool {
    folder.ancestors().any(|above| VERSION_FILES.iter().any(|name| above.join(name).exists()))
}

/// Adds the names a pattern matches, and possibly others, because `?` and brackets count as `*`. Returns `None` if
/// there are more than [`MAX_NAMES`].
pub(crate) fn matching(pattern: &str, folder: &Path, names: &mut Reads) -> Option<()> {
    let mut found = vec![if pattern.starts_with('/') { "/".to_owned() } else { String::new() }];
    let parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
    for (at, part) in parts.iter().copied().enumerate() {
        if !part.contains(['*', '?', '[']) {
            for name in &mut found {
                name.push_str(part);
                name.push('/');
            }
            continue;
        }
        let mut next = Vec::new();
        for above in &found {
            // Bash leaves these out where they are the last part of a whole pattern.
            if part.starts_with('.') && (at + 1 < parts.len() || !above.is_empty()) {
                let links = [".", ".."].into_iter().filter(|name| matches(part, name));
                next.extend(links.map(|name| format!("{above}{name}/")));
            }
            for entry in fs::read_dir(folder.join(above.as_str())).into_iter().flatten().flatten() {
                let name = names::text_of(&entry.file_name())?;
                if (part.starts_with('.') || !name.starts_with('.')) && matches(part, &name) {
                    next.push(format!("{above}{name}/"));
                }
                if next.len() > MAX_NAMES {
                    return None;
                }
            }
        }
        found = next;
    }
    names.extend(
        found.into_iter().map(|name| name.trim_end_matches('/').to_owned()).filter(|name| !name.is_empty()),
    );
    (names.len() <= MAX_NAMES).then_some(())
}

/// Returns whether a name could match a pattern. After a bracket the rest of the pattern matches anything.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, has_open_end) = match pattern.split_once('[') {
        Some((before, _)) => (before, true),
        None => (pattern, false),
    };
    let mut parts = pattern.split(['*', '?']);
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return has_open_end || rest.is_empty() };
    for part in middle {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    if has_open_end { rest.contains(last) } else { rest.ends_with(last) }
}

/// Returns the root of the repository that contains `folder`, or `Some(None)` if there is none. `None` means a bare
/// repository, whose files git would take for settings, or an unreadable folder.
#[expect(clippy::option_option, reason = "no repository and an unusable one are different answers")]
pub(crate) fn repository(folder: &Path) -> Option<Option<PathBuf>> {
    let real = octo_workspace::resolve_links(folder).ok()?;
    for above in real.ancestors() {
        if above.join(".git").symlink_metadata().is_ok() {
            return Some(Some(above.to_owned()));
        }
        if above.join("HEAD").exists() && above.join("objects").exists() {
            return None;
        }
    }
    Some(None)
}
