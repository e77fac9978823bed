//! The commands of git that only read.
//!
//! Git runs programs that the repository's own settings name: a file-system monitor, filters, text converters, external
//! diffs. The environment switches some of them off ([`crate::unattended`]); a command asks if the settings name others
//! (see [`crate::folder`]). This module judges only words. The contents that a command would print depend on the
//! repository, see [`contents`].

mod contents;
mod format;

pub(crate) use contents::{Contents, shown_contents};

use crate::{
    changes,
    context::UNKNOWN,
    grammar::{LongSpelling, OptionGrammar, Options, Reads},
    plain::{Form, Word},
};
use std::{collections::BTreeMap, sync::LazyLock};

/// Options of the commands that show differences. `--output` writes, `--ext-diff` and `--textconv` start programs,
/// `--no-index` compares any two files, `-O` takes a file.
macro_rules! diff_options {
    () => {
        "-abBpRsuwWMCDz -GS=TEXT -U[NUM] --abbrev[=NUM] --binary --check --color-moved[=MODE] --color-words[=TEXT] \
         --color[=WHEN] --compact-summary --cumulative --diff-filter=TEXT --dirstat[=TEXT] --exit-code \
         --find-copies[=NUM] --find-renames[=NUM] --full-index --function-context --histogram --ignore-all-space \
         --ignore-blank-lines --ignore-space-at-eol --ignore-space-change --inter-hunk-context=NUM --minimal \
         --name-only --name-status --no-color --no-ext-diff --no-patch --no-prefix --no-renames --no-textconv \
         --numstat --patch --patch-with-stat --patience --quiet --raw --relative[=PATH] --shortstat --stat[=TEXT] \
         --summary --text --unified[=NUM] --word-diff[=MODE] --word-diff-regex=TEXT !--output=FILE !--ext-diff \
         !--textconv !--no-index !-O=FILE !--submodule[=FORMAT] "
    };
}

/// Options that choose commits.
macro_rules! commit_options {
    () => {
        "-# -n=NUM --after=TEXT --all --author=TEXT --before=TEXT --branches[=TEXT] --committer=TEXT --count \
         --first-parent --grep=TEXT --left-right --max-count=NUM --merges --no-merges --remotes[=TEXT] --reverse \
         --since=TEXT --skip=NUM --tags[=TEXT] --until=TEXT --abbrev-commit "
    };
}

const LOG: &str = concat!(
    diff_options!(),
    commit_options!(),
    "-cgim -L=TEXT --cherry-pick --date-order --date=TEXT --decorate[=HOW] --follow --format[=TEXT] --full-history \
     --graph --max-parents[=NUM] --min-parents[=NUM] --name-rev --no-abbrev-commit --no-decorate --no-notes --no-walk \
     --oneline --parents --pickaxe-all --pickaxe-regex --pretty[=TEXT] --regexp-ignore-case --relative-date \
     --simplify-by-decoration --source --topo-order !--show-signature !--exec=TEXT"
);

const BLAME: &str = "-belnstwCM -L=TEXT --color-by-age --color-lines --date=TEXT --line-porcelain --porcelain --root \
    --show-email --show-name --show-number !--contents=FILE !-S=FILE !--ignore-revs-file=FILE";

/// The subcommands, with their options in the notation of [`crate::grammar`].
#[rustfmt::skip]
pub(crate) const ROWS: &[(&str, &str)] = &[
    ("annotate", BLAME),
    ("blame", BLAME),
    ("branch", "-alrvi --all --contains=REV --format=TEXT --ignore-case --list --merged[=REV] --no-color --no-contains=REV --no-merged[=REV] --points-at=REV --remotes --show-current --sort=KEY --verbose"),
    ("cat-file", "-tsep"),
    ("cherry", "-v --verbose --abbrev[=NUM]"),
    ("check-ignore", "-nqvz --quiet --verbose --non-matching --no-index"),
    ("config", "-lz --get --get-all --list --show-origin --show-scope --name-only --local --global --system"),
    ("count-objects", "-vH --verbose --human-readable"),
    // `--dirty` refreshes the index, but the environment keeps git from writing it.
    ("describe", "--abbrev[=NUM] --all --always --candidates=NUM --contains --exact-match --exclude=TEXT --first-parent --long --match=TEXT --tags --dirty[=TEXT] !--broken[=TEXT]"),
    ("diff", concat!(diff_options!(), "--cached --merge-base --staged")),
    ("diff-tree", concat!(diff_options!(), "-rt --no-commit-id --root --always")),
    ("for-each-ref", "--count=NUM --format=TEXT --sort=KEY --points-at=REV --merged[=REV] --no-merged[=REV] --contains[=REV] --no-contains[=REV] --ignore-case"),
    // `-O` starts a pager, `-f` takes patterns from a file, the others search files that git does not track.
    ("grep", "-# -aciEFGhHIlLnopPqvwWz -ABCem=TEXT --after-context=NUM --before-context=NUM --basic-regexp --break --cached --color[=WHEN] --column --context=NUM --count --extended-regexp --files-with-matches --files-without-match --fixed-strings --function-context --heading --ignore-case --invert-match --line-number --max-depth=NUM --name-only --no-color --null --only-matching --perl-regexp --quiet --show-function --text --word-regexp !-O[PAGER] !--open-files-in-pager[=PAGER] !-f=FILE !--no-index !--untracked !--textconv !--ext-grep !--recurse-submodules"),
    ("log", LOG),
    ("ls-files", "-cdikmostuvz --cached --deleted --directory --eol --error-unmatch --exclude-standard --full-name --ignored --killed --modified --no-empty-directory --others --stage --unmerged"),
    ("ls-tree", "-drtlz --abbrev[=NUM] --full-name --full-tree --long --name-only --name-status --object-only"),
    ("merge-base", "-a --all --fork-point --independent --is-ancestor --octopus"),
    ("name-rev", "--all --always --name-only --no-undefined --refs=TEXT --tags --exclude=TEXT"),
    ("reflog", LOG),
    ("remote", "-v --verbose"),
    ("rev-list", concat!(commit_options!(), "--parents --objects-edge")),
    ("rev-parse", "-q --abbrev-ref[=MODE] --absolute-git-dir --git-common-dir --git-dir --is-bare-repository --is-inside-git-dir --is-inside-work-tree --is-shallow-repository --quiet --short[=NUM] --show-cdup --show-prefix --show-superproject-working-tree --show-toplevel --symbolic-full-name --verify"),
    ("shortlog", "-censz --after=TEXT --all --author=TEXT --before=TEXT --email --no-merges --numbered --since=TEXT --summary --until=TEXT"),
    ("show", LOG),
    ("show-branch", "-ar --all --color[=WHEN] --current --list --merge-base --more[=NUM] --no-color --no-name --remotes --sha1-name --topo-order"),
    ("show-ref", "-dqs --abbrev[=NUM] --branches --dereference --hash[=NUM] --head --heads --quiet --tags --verify"),
    ("stash", "-# -p -n=NUM --max-count=NUM --name-only --name-status --oneline --patch --stat"),
    // `-u` and `--untracked-files` take only an attached mode. `-v` prints differences.
    ("status", "-bsz !-v !--verbose -u[MODE] --ahead-behind --branch --column[=TEXT] --ignored[=MODE] --long --no-ahead-behind --no-renames --porcelain[=VERSION] --renames --short --show-stash --untracked-files[=MODE]"),
    ("symbolic-ref", "-q --quiet --short"),
    ("tag", "-li -n[NUM] --contains=REV --format=TEXT --ignore-case --list --merged[=REV] --no-contains=REV --no-merged[=REV] --points-at=REV --sort=KEY"),
    ("var", ""),
    ("whatchanged", LOG),
    ("worktree", "-vz --porcelain --verbose"),
];

static COMMANDS: LazyLock<BTreeMap<&'static str, OptionGrammar>> = LazyLock::new(|| {
    let grammar = |spec| OptionGrammar::new(spec).spelled(LongSpelling::Exact);
    ROWS.iter().map(|(name, spec)| (*name, grammar(spec))).collect()
});

/// Options with which `git branch` and `git tag` list.
const LISTING_OPTIONS: &[&str] = &["list", "contains", "no-contains", "merged", "no-merged", "points-at"];

/// A git command with its words parsed.
struct GitCommand<'a> {
    name: &'a str,
    options: Options<'a>,
    /// The folder that git changes to first (`-C`); `None` without one.
    folder: Option<&'a str>,
}

impl<'a> GitCommand<'a> {
    fn read(arguments: &'a [Word]) -> Option<Self> {
        let arguments = match arguments {
            [first, rest @ ..] if first.text == "--no-pager" => rest,
            all => all,
        };
        let (folder, arguments) = match arguments {
            [first, folder, rest @ ..] if first.text == "-C" && folder.form == Form::Literal => {
                (Some(folder.text.as_str()).filter(|folder| !folder.is_empty()), rest)
            }
            all => (None, all),
        };
        let (name, rest) = arguments.split_first()?;
        let grammar = COMMANDS.get(name.text.as_str()).filter(|_| name.form == Form::Literal)?;
        let options = grammar.read(&rest.iter().collect::<Vec<_>>())?;
        Some(Self { name: name.text.as_str(), options, folder })
    }

    /// Returns a path relative to the directory in which git starts.
    fn path_from_start(&self, path: String) -> String {
        match self.folder {
            Some(folder) if !path.starts_with('/') => format!("{}/{path}", folder.trim_end_matches('/')),
            _ => path,
        }
    }

    fn operands(&self) -> Vec<&'a str> {
        self.options.operands.iter().map(|word| word.text.as_str()).collect()
    }
}

/// Returns the paths a git command would read; `None` if it may do more. Revisions count as paths too: taken for names
/// they lie inside the folder, and `git diff` compares files if a path is outside.
pub(crate) fn reads(arguments: &[Word]) -> Option<Reads> {
    if let [only] = arguments
        && only.text == "--version"
    {
        return Some(Reads::new());
    }
    let command = GitCommand::read(arguments)?;
    let options = &command.options;
    let operands = command.operands();
    let piped = options.operands.iter().any(|word| word.form == Form::Pipe);
    if piped || options.values.iter().any(|(_, value)| value.contains(UNKNOWN)) {
        return None;
    }
    let is_harmless = options.values_of(&["format", "pretty"]).all(format::is_harmless)
        && options.values_of(&["sort"]).all(format::is_harmless_key);
    if !is_harmless || finds_unchanged_copies(options) || !is_listing(&command, &operands) {
        return None;
    }
    let mut reads = options.option_reads();
    match command.name {
        // `-L 1,2:file` prints lines of that file.
        "log" | "show" | "reflog" | "whatchanged" => {
            for range in options.values_of(&["L"]) {
                reads.push(range.rsplit_once(':')?.1.to_owned());
            }
        }
        _ => {}
    }
    const NAMES_ONLY: &[&str] = &[
        "branch",
        "cherry",
        "config",
        "grep",
        "remote",
        "show-branch",
        "show-ref",
        "stash",
        "tag",
        "var",
        "worktree",
    ];
    if !NAMES_ONLY.contains(&command.name) {
        reads.extend(operands.iter().flat_map(|operand| named_paths(operand)));
    }
    let mut reads: Reads = reads.into_iter().map(|path| command.path_from_start(path)).collect();
    reads.extend(command.folder.map(str::to_owned));
    Some(reads)
}

/// Whether this is the name of a command that may run without approval.
pub(crate) fn is_known_command(name: &str) -> bool {
    COMMANDS.contains_key(name) || changes::git::ROWS.iter().any(|(known, _)| *known == name)
}

/// Whether a command may show differences or search in them, for which git starts external diffs and text converters.
pub(crate) fn may_show_differences(arguments: &[Word]) -> bool {
    const NEVER: &[&str] = &[
        "branch",
        "cat-file",
        "check-ignore",
        "config",
        "count-objects",
        "describe",
        "for-each-ref",
        "grep",
        "ls-files",
        "ls-tree",
        "merge-base",
        "name-rev",
        "remote",
        "rev-list",
        "rev-parse",
        "shortlog",
        "show-branch",
        "show-ref",
        "symbolic-ref",
        "tag",
        "var",
        "worktree",
    ];
    let Some(command) = GitCommand::read(arguments) else {
        // Those that change something show none.
        let verb = arguments.first().map(|word| word.text.as_str()).unwrap_or_default();
        return verb != "--version" && !changes::git::ROWS.iter().any(|(known, _)| *known == verb);
    };
    let options = &command.options;
    match command.name {
        "log" | "reflog" | "whatchanged" => contents::shows_patches(options) || options.has(&["G", "S"]),
        "status" => options.has(&["v", "verbose"]),
        "stash" => options.has(&["p", "patch"]) || command.operands().first() == Some(&"show"),
        name => !NEVER.contains(&name),
    }
}

/// Returns the paths that a revision or path may name: `HEAD:a` prints `a`, and so does `:0:a`.
fn named_paths(operand: &str) -> Reads {
    let mut names = vec![operand.to_owned()];
    let sides = contents::range_sides(operand);
    for revision in sides.into_iter().chain([operand]) {
        let Some((_, path)) = revision.split_once(':') else { continue };
        let path = path.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(':');
        names.extend((!path.is_empty()).then(|| path.to_owned()));
        names.extend(
            revision.rsplit_once(':').map(|(_, last)| last.to_owned()).filter(|last| !last.is_empty()),
        );
    }
    names
}

/// Returns whether a command with these operands only lists.
fn is_listing(command: &GitCommand<'_>, operands: &[&str]) -> bool {
    let options = &command.options;
    let pattern = options.operands.iter().any(|word| word.form == Form::Pattern);
    match command.name {
        // Without an option that lists, an operand creates a branch or a tag. The `-l` of `git branch` does not count,
        // because it has another meaning in old versions.
        "tag" if options.has(&["l"]) => !pattern,
        "branch" | "tag" => operands.is_empty() || (options.has(LISTING_OPTIONS) && !pattern),
        "cat-file" => operands.len() == 1 && !pattern && options.given.len() == 1,
        "check-ignore" => !operands.is_empty(),
        "config" => shows_setting(options, operands) && !pattern,
        "remote" => matches!(operands, [] | ["get-url", _]) && !pattern,
        // `expire` and `delete` lose entries.
        "reflog" => matches!(operands, [] | ["show", ..]) && !pattern && !contents::shows_patches(options),
        "stash" => matches!(operands, ["list"] | ["show"] | ["show", _]) && !pattern,
        "symbolic-ref" => operands.len() == 1 && !pattern,
        // `GIT_EDITOR` and `GIT_PAGER` only name programs; a list shows every setting.
        "var" => operands.len() == 1 && !options.has(&["l"]) && !pattern,
        "worktree" => operands == ["list"],
        // It prints references that are blobs.
        "show" if options.has(&["all", "branches", "remotes", "tags"]) => false,
        // It counts only commits with differences, so that a query with its limits would list others.
        "whatchanged" if contents::shows_patches(options) => false,
        "log" | "show" | "whatchanged" => options.values_of(&["L"]).all(is_line_range),
        _ => true,
    }
}

/// Returns whether differences would show files that did not change: given twice, `-C` compares new files with all
/// others.
fn finds_unchanged_copies(options: &Options<'_>) -> bool {
    options.given.iter().filter(|given| matches!(**given, "C" | "find-copies")).count() > 1
}

/// Returns whether the value of `-L` is a range of lines. A function's name instead would be searched with a pattern
/// that the repository's attributes choose.
fn is_line_range(range: &str) -> bool {
    range.split_once(':').is_some_and(|(lines, path)| {
        !path.contains(':') && lines.chars().all(|c| c.is_ascii_digit() || ",+".contains(c))
    })
}

/// Returns whether `git config` shows a single setting that is not secret. The headers of a remote may be secret.
fn shows_setting(options: &Options<'_>, operands: &[&str]) -> bool {
    const SECTIONS: &[&str] = &[
        "branch", "color", "commit", "core", "diff", "fetch", "init", "merge", "pull", "push", "rebase",
        "user",
    ];
    let [name] = operands else { return false };
    // After the name, an option would be the value to set.
    if options.late {
        return false;
    }
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
    let section = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    // `git remote -v` shows it too.
    let is_address = name.starts_with("remote.") && name.ends_with(".url");
    !options.has(&["l", "list"])
        && plain
        && name.contains('.')
        && (SECTIONS.contains(&section.as_str()) || is_address)
}
