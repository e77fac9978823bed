//! What a folder could make of a line that by its words only reads.
//!
//! * A pattern names files: each is given to the caller, so that one which is a link out of the folder or a
//!   secret is seen as such. So are the secrets a recursive search would come across.
//! * A repository's own settings can name programs git starts (filters, text converters, external diffs,
//!   promised objects fetched through a command), and a submodule has settings of its own. A repository with
//!   any setting that is not known to be harmless, or with submodules, asks.
//! * Version managers let a folder choose which program a name like `node` starts. A folder with such a file
//!   asks before `node --version`.

use super::{
    options::Reads,
    plain::{Line, Simple},
    table::{self, Operands},
};
use crate::environment;
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Names a pattern may match before it asks: more cannot be looked at one by one.
const MAX_NAMES: usize = 2_000;

/// Entries of folders looked at for secrets before a recursive search asks.
const MAX_ENTRIES: usize = 100_000;

/// Secrets told to the caller; one is enough to ask.
const MAX_SECRETS: usize = 3;

/// Folders one line may look into repositories of.
const MAX_REPOSITORIES: usize = 8;

/// Files by which a folder chooses what a version manager starts.
#[rustfmt::skip]
const VERSION_FILES: &[&str] = &[
    ".java-version", ".mise.toml", ".node-version", ".nvmrc", ".python-version", ".ruby-version", ".sdkmanrc",
    ".tool-versions", "mise.toml", "rust-toolchain", "rust-toolchain.toml",
];

/// Everything the line would read, as far as the folder tells; none when the folder makes it ask.
pub(super) fn look(line: &Line, reads: Reads, folder: &Path) -> Option<Reads> {
    let mut names = Reads::new();
    for read in &reads {
        if read.contains(['*', '?', '[']) {
            matching(read, folder, &mut names)?;
        }
    }
    names.extend(reads);
    let folders = || {
        std::iter::once(folder.to_owned())
            .chain(names.iter().map(|name| folder.join(name)).filter(|path| path.is_dir()))
    };
    if line.commands.iter().any(asks_version) && folders().any(|folder| chooses_versions(&folder)) {
        return None;
    }
    if line.commands.iter().any(|command| is(command, "git")) {
        let repositories: BTreeSet<PathBuf> = folders()
            .map(|folder| repository(&folder))
            .collect::<Option<Vec<_>>>()?
            .into_iter()
            .flatten()
            .collect();
        if repositories.len() > MAX_REPOSITORIES
            || !repositories.iter().all(|repository| is_harmless(repository))
        {
            return None;
        }
    }
    let searches: Vec<Search> = line.commands.iter().filter_map(Search::of).collect();
    if !searches.is_empty() {
        // With several searches in a line their filters cannot be told apart here.
        let search = match <[Search; 1]>::try_from(searches) {
            Ok([search]) => search,
            Err(_) => Search::default(),
        };
        let mut secrets = Vec::new();
        let mut budget = MAX_ENTRIES;
        for root in names.iter().map(|name| folder.join(name)).filter(|path| path.is_dir()) {
            search.secrets(&root, &mut secrets, &mut budget)?;
        }
        names.extend(secrets.into_iter().map(|path| path.to_string_lossy().into_owned()));
    }
    Some(names)
}

fn is(command: &Simple, name: &str) -> bool {
    command.words.first().is_some_and(|word| word.text == name)
}

fn asks_version(command: &Simple) -> bool {
    let row = command.words.first().and_then(|name| table::find(&name.text));
    row.is_some_and(|row| matches!(row.operands, Operands::Only(_)))
}

fn chooses_versions(folder: &Path) -> bool {
    folder.ancestors().any(|above| VERSION_FILES.iter().any(|name| above.join(name).exists()))
}

/// The names a pattern matches, and possibly more: `?` and brackets are read as `*`. None beyond the bound.
pub(super) fn matching(pattern: &str, folder: &Path, names: &mut Reads) -> Option<()> {
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
            let Ok(entries) = fs::read_dir(folder.join(above)) else { continue };
            for entry in entries.flatten() {
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

/// Whether a name could match a pattern. A bracket makes the rest of the pattern match anything.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, open_end) = match pattern.split_once('[') {
        Some((before, _)) => (before, true),
        None => (pattern, false),
    };
    let mut parts = pattern.split(['*', '?']);
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return open_end || rest.is_empty() };
    for part in middle {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    if open_end { rest.contains(last) } else { rest.ends_with(last) }
}

/// The folder of the repository `folder` lies in, if any. None from outside means a bare repository or a folder
/// that cannot be looked at: git would take what it finds there for settings.
#[expect(clippy::option_option, reason = "no repository and an unusable one are different answers")]
pub(super) fn repository(folder: &Path) -> Option<Option<PathBuf>> {
    let real = octo_workspace::real(folder).ok()?;
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

/// Whether nothing in a repository's own settings could start a program, and it has no submodules.
pub(super) fn is_harmless(repository: &Path) -> bool {
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

/// Settings a repository may have of its own; names as git prints them, in lower case but for the middle.
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
    const REMOTE: &[&str] =
        &["fetch", "gh-resolved", "prune", "prunetags", "push", "pushurl", "tagopt", "url"];
    let Some((section, rest)) = name.split_once('.') else { return false };
    let last = rest.rsplit('.').next().unwrap_or(rest);
    match section {
        "core" => CORE.contains(&rest),
        "diff" => DIFF.contains(&rest),
        "extensions" => EXTENSIONS.contains(&rest),
        "remote" => REMOTE.contains(&last),
        // Nothing a reading command looks at in these starts a program.
        "advice" | "apply" | "branch" | "checkout" | "clean" | "color" | "column" | "commit" | "fetch"
        | "gc" | "gui" | "i18n" | "index" | "init" | "lfs" | "maintenance" | "merge" | "notes" | "pack"
        | "pull" | "push" | "rebase" | "receive" | "rerere" | "reset" | "stash" | "status" | "tag"
        | "transfer" | "user" | "versionsort" => true,
        _ => false,
    }
}

/// What git answers in a repository, in the environment commands nobody was asked about run in.
pub(super) fn git(repository: &Path, arguments: &[&str]) -> Option<String> {
    let path = environment::searched(std::env::var_os("PATH")?.to_str()?, repository);
    let program = std::env::split_paths(&path).map(|folder| folder.join("git")).find(|git| git.is_file())?;
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os().filter(|(name, _)| environment::bends_git(&name.to_string_lossy())) {
        command.env_remove(name);
    }
    let output = command
        .envs(environment::git_overrides())
        .env("PATH", path)
        .current_dir(repository)
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A search through whole folders.
#[derive(Default)]
struct Search {
    /// Whether hidden files are searched too.
    hidden: Hidden,
    /// Patterns one of which a file's name must match; none for all files.
    include: Vec<String>,
    /// Names of folders left out.
    exclude: Vec<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Hidden {
    #[default]
    Searched,
    Skipped,
}

impl Search {
    /// The search a command is, if it reads the content of whole folders.
    fn of(command: &Simple) -> Option<Self> {
        let (name, words) = command.words.split_first()?;
        let texts = || words.iter().map(|word| word.text.as_str());
        let short = |letter: char| {
            texts().any(|text| text.starts_with('-') && !text.starts_with("--") && text.contains(letter))
        };
        let long = |option: &str| texts().any(|text| text == option);
        let values =
            |option: &str| texts().filter_map(|text| text.strip_prefix(option)).map(str::to_owned).collect();
        match name.text.as_str() {
            "rg" => {
                let all = short('u')
                    || short('.')
                    || short('g')
                    || ["--hidden", "--unrestricted", "--glob", "--iglob"].iter().any(|option| long(option))
                    || texts().any(|text| text.starts_with("--glob=") || text.starts_with("--iglob="));
                Some(Self { hidden: if all { Hidden::Searched } else { Hidden::Skipped }, ..Self::default() })
            }
            "grep" | "egrep" | "fgrep"
                if short('r') || long("--recursive") || texts().any(|text| text.contains("recurse")) =>
            {
                Some(Self {
                    include: values("--include="),
                    exclude: values("--exclude-dir="),
                    ..Self::default()
                })
            }
            "diff" if short('r') || long("--recursive") => Some(Self::default()),
            _ => None,
        }
    }

    /// Adds secrets the search would come across below `root`. None when there is more than can be looked at.
    fn secrets(&self, root: &Path, secrets: &mut Vec<PathBuf>, budget: &mut usize) -> Option<()> {
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                *budget = budget.checked_sub(1)?;
                let name = entry.file_name().to_string_lossy().into_owned();
                let Ok(kind) = entry.file_type() else { continue };
                if self.hidden == Hidden::Skipped && name.starts_with('.') {
                    continue;
                }
                if kind.is_dir() {
                    if !self.exclude.contains(&name) {
                        folders.push(entry.path());
                    }
                } else if kind.is_file()
                    && (self.include.is_empty() || self.include.iter().any(|pattern| matches(pattern, &name)))
                    && octo_workspace::is_secret(&entry.path())
                {
                    secrets.push(entry.path());
                    if secrets.len() >= MAX_SECRETS {
                        return Some(());
                    }
                }
            }
        }
        Some(())
    }
}
