//! The contents that a git command would print.
//!
//! `git diff --cached` and `git show` print files that the line does not name. Before such a command runs, a query with
//! the same command lists the names alone, and the closed ones count as read.

use super::GitCommand;
use crate::{grammar::Options, plain::Word};

/// The files whose contents a git command would print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Contents {
    /// The files that this query lists, separated by NUL.
    Named(Vec<String>),
    /// The files that the first query lists. If it fails because nothing matches, the second query lists the files that
    /// could match.
    Matching(Vec<String>, Vec<String>),
}

/// The part of the repository that a git command prints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShownContents {
    /// The files whose contents it prints; `None` if it prints no file.
    pub contents: Option<Contents>,
    /// The folder that git changes to first; `None` without one.
    pub folder: Option<String>,
    /// Words that may name an object. A file's content named by its hash has no path to judge.
    pub objects: Vec<String>,
}

/// Options that choose how differences are shown, and not of which files. A query for the names leaves them out.
const PRESENTATION_OPTIONS: &[&str] = &[
    "a",
    "b",
    "B",
    "p",
    "s",
    "u",
    "w",
    "W",
    "U",
    "D",
    "z",
    "c",
    "abbrev",
    "abbrev-commit",
    "binary",
    "check",
    "color",
    "color-moved",
    "color-words",
    "compact-summary",
    "count",
    "cumulative",
    "date",
    "decorate",
    "diff-filter",
    "dirstat",
    "exit-code",
    "format",
    "full-index",
    "function-context",
    "graph",
    "histogram",
    "ignore-all-space",
    "ignore-blank-lines",
    "ignore-space-at-eol",
    "ignore-space-change",
    "inter-hunk-context",
    "left-right",
    "minimal",
    "name-only",
    "name-rev",
    "name-status",
    "no-abbrev-commit",
    "no-color",
    "no-decorate",
    "no-ext-diff",
    "no-notes",
    "no-patch",
    "no-prefix",
    "no-textconv",
    "numstat",
    "oneline",
    "parents",
    "patch",
    "patch-with-stat",
    "patience",
    "pretty",
    "quiet",
    "raw",
    "relative",
    "relative-date",
    "shortstat",
    "source",
    "stat",
    "summary",
    "text",
    "unified",
    "word-diff",
    "word-diff-regex",
    "L",
    "M",
    "C",
    "R",
    "find-copies",
    "find-renames",
    "no-renames",
];

/// Options that choose commits by their differences, and so after the detection of renames, which a query switches off.
const DIFFERENCE_FILTERS: &[&str] = &["G", "L", "S", "diff-filter", "follow"];

/// Options that limit the number of commits.
const COUNT_OPTIONS: &[&str] = &["max-count", "n", "skip"];

/// Options with which `git log` prints differences.
const PATCH_OPTIONS: &[&str] = &[
    "p",
    "u",
    "U",
    "W",
    "c",
    "m",
    "L",
    "D",
    "binary",
    "check",
    "color-words",
    "function-context",
    "patch",
    "patch-with-stat",
    "unified",
    "word-diff",
    "word-diff-regex",
];

/// Options with which a command that shows differences prints names and numbers instead.
const SUMMARY_OPTIONS: &[&str] = &[
    "compact-summary",
    "cumulative",
    "dirstat",
    "name-only",
    "name-status",
    "no-patch",
    "numstat",
    "q",
    "quiet",
    "raw",
    "s",
    "shortstat",
    "stat",
    "summary",
];

/// Returns the part of the repository that a command prints; `None` if it prints no content.
pub(crate) fn shown_contents(arguments: &[Word]) -> Option<ShownContents> {
    let command = GitCommand::read(arguments)?;
    let options = &command.options;
    let operands: Vec<String> = command.operands().into_iter().map(str::to_owned).collect();
    let is_summary = options.has(SUMMARY_OPTIONS) && !options.has(PATCH_OPTIONS);
    let named = |query: Vec<String>| {
        let contents = (!is_summary).then_some(Contents::Named(query));
        ShownContents { contents, ..Default::default() }
    };
    let shown = match command.name {
        "diff" => ShownContents {
            objects: revisions(&command),
            ..named(query(&["diff", "--name-status", "-z", "--no-renames"], &command))
        },
        "diff-tree" if options.has(PATCH_OPTIONS) => ShownContents {
            objects: revisions(&command),
            ..named(query(&["diff-tree", "--name-status", "-z", "--no-renames"], &command))
        },
        "log" if options.has(PATCH_OPTIONS) => {
            named(query(&["log", "--name-status", "-z", "--format=", "-m", "--no-renames"], &command))
        }
        // It prints only files that the line names.
        "show" if !operands.is_empty() && operands.iter().all(|operand| names_file(operand)) => return None,
        "show" => ShownContents {
            objects: revisions(&command),
            ..named(query(&["show", "--name-status", "-z", "--format=", "-m", "--no-renames"], &command))
        },
        "stash" if operands.first().is_some_and(|verb| verb == "show") => {
            let head = ["stash", "show", "--name-status", "-z", "--no-renames", "--include-untracked"];
            let stash = operands.into_iter().skip(1);
            named(head.into_iter().map(str::to_owned).chain(stash).collect())
        }
        "stash" if options.has(&["p", "patch"]) => {
            let list = ["stash", "list", "--name-status", "-z", "--format=", "-m", "--no-renames"];
            named(list.map(str::to_owned).to_vec())
        }
        "grep" => {
            let words = arguments.iter().skip_while(|word| word.text != "grep").skip(1);
            let search = ["grep", "-l", "-z"].map(str::to_owned).into_iter();
            let search = search.chain(words.map(|word| word.text.clone())).collect();
            let tracked = ["ls-files", "-z"].map(str::to_owned).to_vec();
            ShownContents {
                contents: Some(Contents::Matching(search, tracked)),
                objects: revisions(&command),
                ..Default::default()
            }
        }
        "cat-file" if options.has(&["p"]) => {
            ShownContents { objects: revisions(&command), ..Default::default() }
        }
        _ => return None,
    };
    Some(ShownContents { folder: command.folder.map(str::to_owned), ..shown })
}

/// Returns whether a revision names a file: `HEAD:a`.
fn names_file(operand: &str) -> bool {
    operand.split_once(':').is_some_and(|(_, path)| !path.is_empty() && !path.starts_with('/'))
}

/// Returns whether options make a list of commits show differences too.
pub(super) fn shows_patches(options: &Options<'_>) -> bool {
    options.has(PATCH_OPTIONS)
}

/// Returns a query that begins with `head` and has the command's choice of commits and paths. If the differences decide
/// which commits the command counts, the query has no limit, because it may count others.
fn query(head: &[&str], command: &GitCommand<'_>) -> Vec<String> {
    let mut query: Vec<String> = head.iter().map(|word| (*word).to_owned()).collect();
    let options = &command.options;
    // A search in the differences must not leave out one side of a rename.
    if options.has(&["G", "S"]) {
        query.push("--pickaxe-all".to_owned());
    }
    let mut values = options.values.iter().peekable();
    for name in &options.given {
        let value = values.next_if(|(option, _)| option == name).map(|(_, value)| *value);
        let is_number = name.chars().all(|c| c.is_ascii_digit());
        let is_limit = is_number || COUNT_OPTIONS.contains(name);
        if PRESENTATION_OPTIONS.contains(name) || (is_limit && options.has(DIFFERENCE_FILTERS)) {
            continue;
        }
        if is_number {
            query.push(format!("-{name}"));
            continue;
        }
        let dashes = if name.chars().count() == 1 { "-" } else { "--" };
        match value {
            Some(value) if dashes == "--" => query.push(format!("--{name}={value}")),
            Some(value) => query.push(format!("-{name}{value}")),
            None => query.push(format!("{dashes}{name}")),
        }
    }
    let operands = command.operands();
    let split = operands.len() - options.after_end.min(operands.len());
    let (before, after) = operands.split_at(split);
    query.extend(before.iter().map(|word| (*word).to_owned()));
    if !after.is_empty() {
        query.push("--".to_owned());
        query.extend(after.iter().map(|word| (*word).to_owned()));
    }
    query
}

/// Returns the revisions that the operands may be. A revision with a path is left out, because it names the file it
/// prints.
fn revisions(command: &GitCommand<'_>) -> Vec<String> {
    let operands = command.operands();
    let split = operands.len() - command.options.after_end.min(operands.len());
    let operands = operands.into_iter().take(split).flat_map(range_sides);
    operands.filter(|operand| !names_file(operand)).map(str::to_owned).collect()
}

/// Returns the two sides of a range (`a..b`, `a...b`), without the sign of an exclusion; the whole text if it is none.
/// To `git diff`, both sides may be any objects.
pub(super) fn range_sides(operand: &str) -> Vec<&str> {
    let operand = operand.strip_prefix('^').unwrap_or(operand);
    match operand.split_once("..") {
        Some((left, right)) if !right.starts_with('/') && !left.ends_with('/') => {
            let right = right.strip_prefix('.').unwrap_or(right);
            [left, right].into_iter().filter(|side| !side.is_empty()).collect()
        }
        _ => vec![operand],
    }
}
