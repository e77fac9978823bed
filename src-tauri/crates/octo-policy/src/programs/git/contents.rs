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
            ..named(query(&["diff", "--name-only", "-z", "--no-renames"], &command))
        },
        "diff-tree" if options.has(PATCH_OPTIONS) => ShownContents {
            objects: revisions(&command),
            ..named(query(&["diff-tree", "--name-only", "-z", "--no-renames"], &command))
        },
        "log" | "whatchanged" if options.has(PATCH_OPTIONS) => {
            named(query(&["log", "--name-only", "-z", "--format=", "-m"], &command))
        }
        // It prints only files that the line names.
        "show" if !operands.is_empty() && operands.iter().all(|operand| names_file(operand)) => return None,
        "show" => ShownContents {
            objects: revisions(&command),
            ..named(query(&["show", "--name-only", "-z", "--format=", "-m", "--no-renames"], &command))
        },
        "stash" if operands.first().is_some_and(|verb| verb == "show") => {
            let head = ["stash", "show", "--name-only", "-z", "--no-renames", "--include-untracked"];
            let stash = operands.into_iter().skip(1);
            named(head.into_iter().map(str::to_owned).chain(stash).collect())
        }
        "stash" if options.has(&["p", "patch"]) => {
            named(["stash", "list", "--name-only", "-z", "--format=", "-m"].map(str::to_owned).to_vec())
        }
        "grep" => {
            let words = arguments.iter().skip_while(|word| word.text != "grep").skip(1);
            let search = ["grep", "-l", "-z"].map(str::to_owned).into_iter();
            let search = search.chain(words.map(|word| word.text.clone())).collect();
            let tracked = ["ls-files", "-z"].map(str::to_owned).to_vec();
            ShownContents { contents: Some(Contents::Matching(search, tracked)), ..Default::default() }
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

/// Returns a query that begins with `head` and has the command's choice of commits and paths.
fn query(head: &[&str], command: &GitCommand<'_>) -> Vec<String> {
    let mut query: Vec<String> = head.iter().map(|word| (*word).to_owned()).collect();
    let options = &command.options;
    let mut values = options.values.iter().peekable();
    for name in &options.given {
        let value = values.next_if(|(option, _)| option == name).map(|(_, value)| *value);
        if PRESENTATION_OPTIONS.contains(name) {
            continue;
        }
        if name.chars().all(|c| c.is_ascii_digit()) {
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

/// Returns the operands that may be revisions. A revision with a path is left out, because it names the file it prints.
fn revisions(command: &GitCommand<'_>) -> Vec<String> {
    let operands = command.operands();
    let split = operands.len() - command.options.after_end.min(operands.len());
    operands.into_iter().take(split).filter(|operand| !names_file(operand)).map(str::to_owned).collect()
}
