//! Inspects a folder, which could change the meaning of a line whose words are read-only:
//!
//! * A pattern matches files. The caller gets their names and detects a secret or a link out of the folder. It also
//!   gets the closed paths that a search through folders would encounter.
//! * A repository's own settings can name programs that git starts (filters, text converters, external diffs, promised
//!   objects fetched through a command), and a submodule has settings of its own. A line asks in a repository with any
//!   setting not known to be harmless, or with submodules.
//! * Version managers let a folder choose the program that a name like `node` starts. `node --version` asks in a folder
//!   with such a file.

pub(crate) mod contents;

use crate::{
    grammar::Reads,
    judge::PlacedCommand,
    plain::Simple,
    programs::version::is_versioned,
    search::{self, RestrictionLookup, Search},
};
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

/// Returns what `git` with these arguments prints in a repository, or `None` if it fails. It must run in an
/// environment with [`crate::git_overrides`] and a [`crate::trusted_path`].
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
        let repositories: BTreeSet<PathBuf> = folders
            .iter()
            .map(|folder| repository(folder))
            .collect::<Option<Vec<_>>>()?
            .into_iter()
            .flatten()
            .collect();
        if repositories.len() > MAX_REPOSITORIES
            || !repositories.iter().all(|repository| is_harmless(repository, queries.git))
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
        names.extend(closed.into_iter().map(|path| path.to_string_lossy().into_owned()));
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
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        if !part.contains(['*', '?', '[']) {
            for name in &mut found {
                name.push_str(part);
                name.push('/');
            }
            continue;
        }
        let mut next = Vec::new();
        for above in &found {
            for entry in fs::read_dir(folder.join(above.as_str())).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
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

/// Returns whether a repository's own settings cannot start a program, and it has no submodules.
pub(crate) fn is_harmless(repository: &Path, git: GitQuery) -> bool {
    let Some(settings) = git(repository, &["config", "--list", "--null", "--name-only", "--show-scope"])
    else {
        return false;
    };
    let mut fields = settings.split('\0');
    while let Some(scope) = fields.next().filter(|scope| !scope.is_empty()) {
        let Some(name) = fields.next() else { return false };
        if !matches!(scope, "system" | "global" | "command") && !is_harmless_setting(name) {
            return false;
        }
    }
    let Some(index) = git(repository, &["ls-files", "--stage", "-z"]) else { return false };
    !index.split('\0').any(|entry| entry.starts_with("160000"))
}

/// Returns whether a repository may have this setting. `name` is as git prints it: in lower case except for the middle
/// part.
fn is_harmless_setting(name: &str) -> bool {
    #[rustfmt::skip]
    const CORE: &[&str] = &[
        "abbrev", "autocrlf", "bare", "bigfilethreshold", "checkstat", "commitgraph", "compression", "eol",
        "filemode", "ignorecase", "logallrefupdates", "longpaths", "multipackindex", "precomposeunicode",
        "preloadindex", "protecthfs", "protectntfs", "quotepath", "repositoryformatversion", "safecrlf",
        "sharedrepository", "sparsecheckout", "sparsecheckoutcone", "symlinks", "trustctime", "untrackedcache",
        "whitespace",
    ];
    #[rustfmt::skip]
    const DIFF: &[&str] = &[
        "algorithm", "colormoved", "colormovedws", "context", "indentheuristic", "interhunkcontext",
        "mnemonicprefix", "noprefix", "renamelimit", "renames", "wserrorhighlight",
    ];
    #[rustfmt::skip]
    const EXTENSIONS: &[&str] = &["compatobjectformat", "noop", "objectformat", "refstorage", "relativeworktrees", "worktreeconfig"];
    // Without `recentobjectshook`, which names a program.
    #[rustfmt::skip]
    const GC: &[&str] = &[
        "aggressivedepth", "aggressivewindow", "auto", "autodetach", "autopacklimit", "bigpackthreshold", "cruftpacks",
        "logexpiry", "maxcruftsize", "packrefs", "pruneexpire", "reflogexpire", "reflogexpireunreachable",
        "rerereresolved", "rerereunresolved", "worktreepruneexpire", "writecommitgraph",
    ];
    // Without `templatedir`, whose folder may contain hooks.
    const INIT: &[&str] = &["defaultbranch", "defaultobjectformat", "defaultrefformat"];
    // Without extensions and transfer agents, which are programs, and `lfs.url`, from which the filter fetches.
    const LFS: &[&str] = &["fetchexclude", "fetchinclude", "repositoryformatversion"];
    const LFS_OF_URL: &[&str] = &["access", "locksverify"];
    // Without drivers, which are programs that `.gitattributes` assigns to files.
    #[rustfmt::skip]
    const MERGE: &[&str] = &[
        "autostash", "branchdesc", "conflictstyle", "defaulttoupstream", "directoryrenames", "ff", "log", "renamelimit",
        "renames", "renormalize", "stat", "suppressdest", "verbosity", "verifysignatures",
    ];
    #[rustfmt::skip]
    const PACK: &[&str] = &[
        "allowpackreuse", "compression", "deltacachelimit", "deltacachesize", "depth", "indexversion", "packsizelimit",
        "readreverseindex", "threads", "usebitmaps", "usesparse", "window", "windowmemory", "writebitmaphashcache",
        "writereverseindex",
    ];
    const REMOTE: &[&str] =
        &["fetch", "gh-resolved", "prune", "prunetags", "push", "pushurl", "tagopt", "url"];
    let Some((section, rest)) = name.split_once('.') else { return false };
    let last = rest.rsplit('.').next().unwrap_or(rest);
    match section {
        "core" => CORE.contains(&rest),
        "diff" => DIFF.contains(&rest),
        "extensions" => EXTENSIONS.contains(&rest),
        "gc" => GC.contains(&rest),
        "init" => INIT.contains(&rest),
        // `git lfs install --local` writes a filter, which asks like any other filter.
        "lfs" => LFS.contains(&rest) || LFS_OF_URL.contains(&last),
        "merge" => MERGE.contains(&rest),
        "pack" => PACK.contains(&rest),
        "remote" => REMOTE.contains(&last),
        // No setting of these sections names a program for a command that runs unasked.
        "advice" | "apply" | "branch" | "checkout" | "clean" | "color" | "column" | "commit" | "fetch"
        | "gui" | "i18n" | "index" | "maintenance" | "notes" | "pull" | "push" | "rebase" | "receive"
        | "rerere" | "reset" | "stash" | "status" | "tag" | "transfer" | "user" | "versionsort" => true,
        _ => false,
    }
}
