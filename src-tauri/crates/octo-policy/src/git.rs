//! Git commands known to be read-only.
//!
//! Git runs programs named in the repository's own settings: a file-system monitor, filters, text converters,
//! external diffs. The environment switches off those it can ([`crate::unattended`]); a repository
//! whose settings name the rest asks (see [`crate::folder`]). Only words are judged here.

use crate::{
    options::{Options, Reads},
    plain::{Form, Word},
    table::{Operands, Tool},
};

const fn row(
    name: &'static str,
    flags: &'static str,
    values: &'static str,
    long: &'static [&'static str],
) -> Tool {
    Tool { name, flags, values, attached: "", files: "", long, operands: Operands::Git }
}

/// Options of everything that shows differences. Left out: `--output` writes, `--ext-diff` and `--textconv`
/// start programs, `--no-index` compares any two files, `-O` takes a file.
#[rustfmt::skip]
macro_rules! diff_options {
    ($($more:literal),* $(,)?) => {
        &["abbrev?", "binary", "check", "color-moved?", "color-words?", "color?", "compact-summary", "cumulative",
          "diff-filter=", "dirstat?", "exit-code", "find-copies?", "find-renames?", "full-index", "function-context",
          "histogram", "ignore-all-space", "ignore-blank-lines", "ignore-space-at-eol", "ignore-space-change",
          "inter-hunk-context=", "minimal", "name-only", "name-status", "no-color", "no-ext-diff", "no-patch",
          "no-prefix", "no-renames", "no-textconv", "numstat", "patch", "patch-with-stat", "patience", "quiet",
          "raw", "relative?", "shortstat", "stat?", "summary", "text", "unified?", "word-diff?", $($more),*]
    };
}

#[rustfmt::skip]
const LOG: &[&str] = diff_options![
    "abbrev-commit", "after=", "all", "author=", "before=", "branches?", "cherry-pick", "committer=", "count",
    "date-order", "date=", "decorate?", "first-parent", "follow", "format?", "full-history", "graph", "grep=",
    "left-right", "max-count=", "max-parents?", "merges", "min-parents?", "name-rev", "no-abbrev-commit",
    "no-decorate", "no-merges", "no-notes", "no-walk", "oneline", "parents", "pickaxe-all", "pickaxe-regex",
    "pretty?", "regexp-ignore-case", "remotes?", "reverse", "simplify-by-decoration", "since=", "skip=", "source",
    "tags?", "topo-order", "until=",
];

/// The subcommands whose operands are revisions and paths.
#[rustfmt::skip]
const TOOLS: &[Tool] = &[
    row("blame", "belnstwCM", "L", &["color-by-age", "color-lines", "date=", "line-porcelain", "porcelain", "root", "show-email", "show-name", "show-number"]),
    row("branch", "alrvi", "", &["all", "contains=", "format=", "ignore-case", "list", "merged?", "no-color", "no-contains=", "no-merged?", "points-at=", "remotes", "show-current", "sort=", "verbose"]),
    // `--dirty` refreshes the index, which writes it.
    row("describe", "", "", &["abbrev?", "all", "always", "candidates=", "contains", "exact-match", "exclude=", "first-parent", "long", "match=", "tags"]),
    row("diff", "abBpRsuwWMCDz", "GS", diff_options!["cached", "merge-base", "staged"]).attached("U"),
    row("log", "#abBcigmpRsuwWMCz", "nGS", LOG).attached("U"),
    row("ls-files", "cdikmostuvz", "", &["cached", "deleted", "directory", "error-unmatch", "exclude-standard", "full-name", "ignored", "killed", "modified", "no-empty-directory", "others", "stage", "unmerged"]),
    row("ls-tree", "drtlz", "", &["abbrev?", "full-name", "full-tree", "long", "name-only", "name-status", "object-only"]),
    row("merge-base", "a", "", &["all", "fork-point", "independent", "is-ancestor", "octopus"]),
    row("remote", "v", "", &["verbose"]),
    row("rev-list", "#", "n", &["abbrev-commit", "after=", "all", "author=", "before=", "branches?", "count", "first-parent", "grep=", "left-right", "max-count=", "merges", "no-merges", "remotes?", "reverse", "since=", "tags?", "until="]),
    row("rev-parse", "q", "", &["abbrev-ref?", "absolute-git-dir", "git-common-dir", "git-dir", "is-bare-repository", "is-inside-git-dir", "is-inside-work-tree", "is-shallow-repository", "quiet", "short?", "show-cdup", "show-prefix", "show-superproject-working-tree", "show-toplevel", "symbolic-full-name", "verify"]),
    row("shortlog", "censz", "", &["after=", "all", "author=", "before=", "email", "no-merges", "numbered", "since=", "summary", "until="]),
    row("show", "#abBcmpRsuwWMCz", "nGS", LOG).attached("U"),
    row("stash", "#p", "n", &["max-count=", "name-only", "name-status", "oneline", "stat"]),
    row("status", "bsuz", "", &["ahead-behind", "branch", "column?", "ignored?", "long", "no-ahead-behind", "no-renames", "porcelain?", "renames", "short", "show-stash", "untracked-files?"]),
    row("tag", "li", "", &["contains=", "format=", "ignore-case", "list", "merged?", "no-contains=", "no-merged?", "points-at=", "sort="]),
];

/// Options that make `git branch` and `git tag` a listing.
const LISTING: &[&str] = &["list", "contains", "no-contains", "merged", "no-merged", "points-at"];

/// What this `git` would read; none when it may do more. Revisions count as paths too: as names they lie inside
/// the folder, and a path outside makes `git diff` compare files.
pub(crate) fn reads(arguments: &[Word]) -> Option<Reads> {
    let arguments = match arguments {
        [first, rest @ ..] if first.text == "--no-pager" => rest,
        all => all,
    };
    let (subcommand, rest) = arguments.split_first()?;
    if subcommand.text == "--version" && rest.is_empty() {
        return Some(Reads::new());
    }
    let tool = TOOLS.iter().find(|tool| tool.name == subcommand.text && subcommand.form == Form::Literal)?;
    // `-uno`: the letters are the option's value.
    let rest: Vec<&Word> = rest
        .iter()
        .filter(|word| tool.name != "status" || !matches!(word.text.as_str(), "-uno" | "-unormal" | "-uall"))
        .collect();
    judge(tool, &rest)
}

fn judge(tool: &Tool, words: &[&Word]) -> Option<Reads> {
    let options = Options::read(tool, words)?;
    let operands: Vec<&str> = options.operands.iter().map(|word| word.text.as_str()).collect();
    let patterns = options.operands.iter().any(|word| word.form == Form::Pattern);
    if options.values.iter().any(|(_, value)| value.contains(crate::context::UNKNOWN)) {
        return None;
    }
    let formats_are_harmless = options
        .values
        .iter()
        .filter(|(name, _)| matches!(*name, "format" | "pretty"))
        .all(|(_, format)| is_harmless_format(format));
    let allowed = match tool.name {
        _ if !formats_are_harmless => false,
        // Unless an option makes it a listing, an operand makes a branch or a tag. `-l` does not count: old
        // versions of git took it for something else.
        "branch" | "tag" => operands.is_empty() || (options.has(LISTING) && !patterns),
        "remote" => matches!(operands.as_slice(), [] | ["get-url", _]) && !patterns,
        "stash" => matches!(operands.as_slice(), ["list"] | ["show"] | ["show", _]) && !patterns,
        _ => true,
    };
    if !allowed {
        return None;
    }
    let paths = match tool.name {
        "branch" | "tag" | "remote" | "stash" => Vec::new(),
        _ => operands.into_iter().map(str::to_owned).collect(),
    };
    Some(paths)
}

/// Whether a format starts nothing: `%G…` and `%(signature…)` start the verifier, and a name that is not git's
/// own may stand for such a format in the repository's settings.
fn is_harmless_format(format: &str) -> bool {
    const NAMES: &[&str] = &["oneline", "short", "medium", "full", "fuller", "reference", "email", "raw"];
    if NAMES.contains(&format) {
        return true;
    }
    let text = format.strip_prefix("format:").or_else(|| format.strip_prefix("tformat:")).unwrap_or(format);
    text.contains('%') && !text.contains("%G") && !text.to_ascii_lowercase().contains("signature")
}
