//! Figures of the house: names, prose, sizes. Each limit is the figure of the commit that set it. A commit that improves a
//! figure lowers its limit; no commit raises one.

use regex::Regex;
use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

/// Type names that are bare participles, adjectives or verbs, in ten-thousandths of all type declarations.
const PARTICIPLES: usize = 50;
/// Type declarations whose name is declared three times or more, in ten-thousandths of all.
const REPEATED: usize = 150;
/// Phrases of translated prose per 10,000 comment lines.
const PHRASES: usize = 60;
/// Least share of comment lines in Rust sources, in percent of all lines.
const COMMENTS: usize = 12;
/// Fields of the session actor's structs that are visible outside their own file.
const OPEN_SESSION_FIELDS: usize = 38;
/// Lines of the README.
const README: usize = 150;
/// Generated TypeScript files.
const GENERATED: usize = 1;
/// Lines of a production file.
const LONGEST: usize = 500;

/// Lines of `octo-core` without its tests. What is free of the agent has a crate of its own.
const CORE: usize = 28_000;

/// Files that may be longer than [`LONGEST`], each with its reason.
const MAY_BE_LONG: &[(&str, &str)] = &[
    ("ui/scripts/pictures.mjs", "a script: the list of scenes that pictures are taken of"),
    ("ui/scripts/try.mjs", "a script: one walk through the page for a person who tries it by hand"),
];

/// Names that describe how something came about instead of naming the thing.
const WORDS: &str = "Told Said Asked Shown Found Known Held Kept Seen Heard Named Taken Given Made Done Begun Began Over Gone Left \
    Lost Read Written Fetched Opened Closed Closing Standing Stands Waits Waiting Watching Looked LookedBack Forked Listed Listing \
    Locked Frozen Arrived Away Placed Moved Played Prepared Decided Expecting Tending Followed Loaded Archived Restored Strayed \
    Living Asking Reading Spent Settled Untold Counted Bound Bent Grown Turned Wished Weighed Felt Met Sent Received Stored Added \
    Removed Changed Drawn Built Paired";

/// Names every crate may declare: the field's own words for a codec, an input and a result.
const SHARED_NAMES: &[&str] = &["Input", "Error", "Decoder", "Encoder", "Output", "Result", "State"];

/// Phrases that a native writer does not use in a comment.
const TRANSLATED: &[&str] = &[
    "what is",
    "what was",
    "what a ",
    "none where",
    "none for",
    "nobody",
    "somebody",
    "is told",
    "beside",
    "whoever",
    "by itself",
    "as far as",
    "anew",
    "for ever",
    "stands",
    "gone on with",
    "of which",
    "that which",
    "one that",
];

struct Source {
    path: PathBuf,
    text: String,
}

fn root() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).expect("the checkout")
}

/// Every tracked kind of source file, by its path in the checkout.
static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| {
    let root = root();
    let files = ignore::WalkBuilder::new(&root).require_git(false).follow_links(false).build();
    files
        .map(|entry| entry.expect("a readable folder").into_path())
        .filter(|path| {
            path.extension().is_some_and(|it| ["rs", "ts", "svelte", "mjs"].iter().any(|other| it == *other))
        })
        .filter_map(|path| {
            let text = fs::read_to_string(&path).ok()?;
            Some(Source { path: path.strip_prefix(&root).ok()?.to_owned(), text })
        })
        .collect()
});

impl Source {
    fn shown(&self) -> String {
        self.path.to_string_lossy().replace('\\', "/")
    }

    fn is_generated(&self) -> bool {
        self.shown().contains("/generated/")
    }

    /// Whether the file is Rust that is not only for tests.
    fn is_production_rust(&self) -> bool {
        let displayed_path = self.shown();
        let is_test = displayed_path.starts_with("tests/")
            || displayed_path.contains("/tests/")
            || displayed_path.ends_with("/tests.rs");
        displayed_path.ends_with(".rs") && !is_test
    }
}

fn production() -> impl Iterator<Item = &'static Source> {
    SOURCES.iter().filter(|source| source.is_production_rust())
}

fn type_names() -> Vec<&'static str> {
    let declaration =
        Regex::new(r"(?m)^\s*(?:pub(?:\([a-z: ]+\))? )?(?:struct|enum|trait|union|type) ([A-Z]\w*)")
            .expect("a pattern");
    production()
        .flat_map(|source| {
            declaration.captures_iter(&source.text).filter_map(|found| Some(found.get(1)?.as_str()))
        })
        .collect()
}

fn comments() -> Vec<&'static str> {
    let lines = production().flat_map(|source| source.text.lines());
    lines
        .map(str::trim)
        .filter(|line| line.starts_with("//"))
        .map(|line| line.trim_start_matches(['/', '!']).trim())
        .collect()
}

#[test]
fn type_names_are_nouns() {
    let names = type_names();
    assert!(names.len() > 1_000, "the declarations are found");
    let found: Vec<&str> =
        names.iter().copied().filter(|name| WORDS.split_whitespace().any(|word| word == *name)).collect();
    let share = 10_000 * found.len() / names.len();
    assert!(
        share <= PARTICIPLES,
        "{share} of 10,000 types are named by a participle, at most {PARTICIPLES}: {found:?}"
    );
}

#[test]
fn a_type_name_has_one_meaning() {
    let names = type_names();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for name in names.iter().filter(|name| !SHARED_NAMES.contains(name)) {
        *counts.entry(name).or_default() += 1;
    }
    let mut repeated: Vec<(&str, usize)> = counts.into_iter().filter(|(_, count)| *count >= 3).collect();
    repeated.sort_unstable_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    let share = 10_000 * repeated.iter().map(|(_, count)| count).sum::<usize>() / names.len();
    assert!(
        share <= REPEATED,
        "{share} of 10,000 declarations repeat a name, at most {REPEATED}: {repeated:?}"
    );
}

#[test]
fn comments_are_plain_english() {
    let comments = comments();
    let text = comments.join("\n").to_lowercase();
    let mut found: Vec<(usize, &str)> =
        TRANSLATED.iter().map(|phrase| (text.matches(phrase).count(), *phrase)).collect();
    found.sort_unstable_by(|one, other| other.cmp(one));
    let share = 10_000 * found.iter().map(|(count, _)| count).sum::<usize>() / comments.len();
    assert!(
        share <= PHRASES,
        "{share} translated phrases in 10,000 comment lines, at most {PHRASES}: {found:?}"
    );
    let lines: usize = production().map(|source| source.text.lines().count()).sum();
    let share = 100 * comments.len() / lines;
    assert!(share >= COMMENTS, "{share} % of the lines are comments, at least {COMMENTS}");
}

#[test]
fn the_session_owns_its_fields() {
    let field = Regex::new(r"(?m)^    pub(?:\((?:super|crate|in [^)]*)\))? \w+:").expect("a pattern");
    let files: Vec<&Source> = production()
        .filter(|source| source.shown().starts_with("src-tauri/crates/octo-core/src/session"))
        .collect();
    assert!(files.len() > 20, "the session's files are found");
    let open: usize = files.iter().map(|source| field.find_iter(&source.text).count()).sum();
    assert!(
        open <= OPEN_SESSION_FIELDS,
        "{open} fields of the session are open, at most {OPEN_SESSION_FIELDS}"
    );
}

#[test]
fn files_are_short() {
    let mut excused = Vec::new();
    let mut too_long = Vec::new();
    for source in SOURCES.iter().filter(|source| !source.is_generated()) {
        let displayed_path = source.shown();
        let is_test = displayed_path.ends_with(".rs") && !source.is_production_rust()
            || displayed_path.contains(".test.")
            || displayed_path.starts_with("ui/e2e/");
        let lines = source.text.lines().count();
        if is_test || lines <= LONGEST {
            continue;
        }
        match MAY_BE_LONG.iter().find(|(path, _)| *path == displayed_path) {
            Some((path, _)) => excused.push(*path),
            None => too_long.push(format!("{lines} {displayed_path}")),
        }
    }
    assert!(too_long.is_empty(), "split along what they are about:\n{}", too_long.join("\n"));
    assert_eq!(
        excused.len(),
        MAY_BE_LONG.len(),
        "these are short enough by now: remove them from the list, {excused:?} stay"
    );
}

#[test]
fn the_core_contains_only_the_agent() {
    let core = production().filter(|source| source.shown().starts_with("src-tauri/crates/octo-core/src/"));
    let lines: usize = core.map(|source| source.text.lines().count()).sum();
    assert!(lines > 10_000, "the core's files are found");
    assert!(lines <= CORE, "octo-core has {lines} lines, at most {CORE}");
}

#[test]
fn the_readme_is_a_first_page() {
    let lines = fs::read_to_string(root().join("README.md")).expect("the README").lines().count();
    assert!(lines <= README, "README.md has {lines} lines, at most {README}");
}

#[test]
fn the_types_of_the_page_are_one_file() {
    let generated: Vec<String> =
        SOURCES.iter().filter(|source| source.is_generated()).map(Source::shown).collect();
    assert!(
        !generated.is_empty() && generated.len() <= GENERATED,
        "at most {GENERATED}: {} files",
        generated.len()
    );
}
