//! Commands known to only change files, and the files they would create, overwrite, move and remove.
//!
//! The caller judges where these files lie, by the same policy as for the tools `write` and `edit`. The time machine
//! can undo changes that run unasked in the session's folder, and removed files are in the trash.

pub(crate) mod git;

use crate::{
    footprint::{Footprint, NameChange, Reliance},
    found::FoundFiles,
    grammar::{LongSpelling, OptionGrammar, Options},
    plain::{Form, Word},
    programs::{self, sed},
};
use std::{collections::BTreeMap, sync::LazyLock};

/// The effect of a command on a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    /// Reads it.
    Read(String),
    /// Creates or overwrites it.
    Write(String),
    /// Removes it.
    Remove(String),
    /// Replaces it with something that may contain links, so that its present content does not tell what lies below it
    /// afterwards.
    Replace(String),
    /// Copies, moves or changes everything below it, including a repository.
    CopyTree(String),
    /// Copies a folder's content into it. If it exists, writes follow the links in it.
    Merge(String),
    /// Gives the first path, or each path that the first matches, the second as its new path or as its folder.
    Place(String, String),
    /// Writes to the repository that contains this folder.
    Repository(String, Hooks),
    /// Changes files in the working tree of the repository that contains this folder; may create links.
    Tree(String),
    /// Adds the files that a git query lists to the repository that contains this folder.
    Record(String, Vec<String>),
    /// Changes the files that a git query lists, in the repository that contains this folder.
    Rewrite(String, Vec<String>),
    /// Names a commit in the repository that contains this folder. The word may name another object.
    Commit(String, String),
    /// Makes another commit the current one.
    Switch,
    /// Reads the files that a command finds.
    Discover(FoundFiles),
    /// Splits the names that this pattern matches, each of which must be one plain word.
    Split(String),
}

impl Touch {
    /// Returns the paths it names.
    pub(crate) fn paths(&self) -> Vec<&str> {
        match self {
            Self::Read(path)
            | Self::Write(path)
            | Self::Remove(path)
            | Self::Replace(path)
            | Self::CopyTree(path)
            | Self::Merge(path)
            | Self::Repository(path, _)
            | Self::Tree(path)
            | Self::Record(path, _)
            | Self::Rewrite(path, _)
            | Self::Commit(path, _)
            | Self::Split(path) => vec![path],
            Self::Place(source, target) => vec![source, target],
            Self::Switch => Vec::new(),
            Self::Discover(found) => found.roots.iter().map(String::as_str).collect(),
        }
    }

    /// Returns the names on which it relies and those it changes.
    pub(crate) fn footprint(&self) -> Footprint {
        let (relies_on, changes) = match self {
            Self::Write(_) | Self::Remove(_) | Self::Place(..) => (Reliance::Paths, NameChange::Entries),
            Self::Replace(_) | Self::CopyTree(_) | Self::Merge(_) | Self::Tree(_) => {
                (Reliance::Paths, NameChange::Links)
            }
            Self::Read(_)
            | Self::Repository(..)
            | Self::Record(..)
            | Self::Rewrite(..)
            | Self::Commit(..)
            | Self::Switch => (Reliance::Paths, NameChange::Nothing),
            Self::Discover(_) | Self::Split(_) => (Reliance::Names, NameChange::Nothing),
        };
        Footprint { relies_on, changes }
    }

    /// Returns the touch with mapped paths; `None` if `map` returns `None` for a path.
    pub(crate) fn map_paths(self, map: &dyn Fn(String) -> Option<String>) -> Option<Self> {
        Some(match self {
            Self::Read(path) => Self::Read(map(path)?),
            Self::Write(path) => Self::Write(map(path)?),
            Self::Remove(path) => Self::Remove(map(path)?),
            Self::Replace(path) => Self::Replace(map(path)?),
            Self::CopyTree(path) => Self::CopyTree(map(path)?),
            Self::Merge(path) => Self::Merge(map(path)?),
            Self::Repository(path, hooks) => Self::Repository(map(path)?, hooks),
            Self::Tree(path) => Self::Tree(map(path)?),
            Self::Record(path, query) => Self::Record(map(path)?, query),
            Self::Rewrite(path, query) => Self::Rewrite(map(path)?, query),
            Self::Place(source, target) => Self::Place(map(source)?, map(target)?),
            Self::Commit(path, word) => Self::Commit(map(path)?, word),
            Self::Split(path) => Self::Split(map(path)?),
            Self::Switch => Self::Switch,
            Self::Discover(found) => {
                let roots = found.roots.into_iter().map(map).collect::<Option<_>>()?;
                Self::Discover(FoundFiles { roots, ..found })
            }
        })
    }
}

/// Whether a git command would run hooks or sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hooks {
    /// It would run hooks or sign.
    Run,
    /// It runs no hooks and does not sign.
    None,
}

/// The programs and their options. Refused or missing are options that make backups under other names, follow links out
/// of the folder, link instead of copying, or take the target as a value.
#[rustfmt::skip]
const ROWS: &[(&str, &str)] = &[
    ("chmod", "-cfvR --recursive --verbose --changes --quiet --silent !--reference=FILE !--preserve-root !--no-preserve-root"),
    ("cp", "-afinprRTuvdPx --archive --force --interactive --no-clobber --no-dereference --no-target-directory --preserve[=LIST] --recursive --update[=HOW] --verbose !-b !--backup[=HOW] !-S=TEXT !--suffix=TEXT !-t=DIR !--target-directory=DIR !-l !--link !-s !--symbolic-link !-H !-L !--dereference !--parents !--remove-destination !--reflink[=WHEN] !--sparse=WHEN !--copy-contents !--attributes-only !--strip-trailing-slashes !--one-file-system !--no-preserve=LIST"),
    ("ln", "-sfnTvr --symbolic --force --no-dereference --no-target-directory --relative --verbose !-b !--backup[=HOW] !-t=DIR !--target-directory=DIR !-i !--interactive !-L !--logical !-P !--physical !-S=TEXT !--suffix=TEXT !-d !-F !--directory"),
    ("mkdir", "-pv -m=MODE --parents --verbose --mode=MODE !-Z !--context[=CTX]"),
    ("mv", "-finTuv --force --interactive --no-clobber --no-target-directory --update[=HOW] --verbose !-b !--backup[=HOW] !-t=DIR !--target-directory=DIR !-S=TEXT !--suffix=TEXT !--strip-trailing-slashes !--exchange !--no-copy !--debug !-Z !--context"),
    ("rm", "-dfirRv --dir --force --recursive --verbose !-I !--interactive[=WHEN] !--one-file-system !--no-preserve-root !--preserve-root[=WHAT]"),
    ("rmdir", "-pv --parents --verbose --ignore-fail-on-non-empty"),
    ("sed", sed::IN_PLACE_OPTIONS),
    ("tee", "-ai --append --ignore-interrupts !-p !--output-error[=MODE]"),
    ("touch", "-acm -dt=TIME --no-create --date=TIME --time=WORD !-r=FILE !--reference=FILE !-h !--no-dereference !-f"),
];

static PROGRAMS: LazyLock<BTreeMap<&'static str, OptionGrammar>> = LazyLock::new(|| {
    let grammar = |spec| OptionGrammar::new(spec).spelled(LongSpelling::UniquePrefix);
    ROWS.iter().map(|(name, spec)| (*name, grammar(spec))).collect()
});

/// Returns every row, including those of git's commands.
#[cfg(test)]
pub(crate) fn specs() -> impl Iterator<Item = (&'static str, &'static str)> {
    ROWS.iter().chain(git::ROWS).copied()
}

/// Returns the effects of a command; `None` if it may have others.
pub(crate) fn touches(name: &str, arguments: &[Word]) -> Option<Vec<Touch>> {
    match name {
        "git" => return git::touches(arguments),
        "awk" | "gawk" | "mawk" => return awk_touches(name, arguments),
        _ => {}
    }
    let options = PROGRAMS.get(name)?.read(&arguments.iter().collect::<Vec<_>>())?;
    // To a program that stops parsing at its first operand, a value after it is an operand.
    if !options.late_values.is_empty() {
        return None;
    }
    let texts: Vec<String> = options.operands.iter().map(|word| word.text.clone()).collect();
    let has_patterns =
        options.operands.iter().any(|word| word.form != Form::Literal) || !options.patterns.is_empty();
    // The names that these commands remove or copy can be looked up, but the names that others create cannot.
    if texts.is_empty() || (has_patterns && !matches!(name, "rm" | "chmod" | "cp" | "mv")) {
        return None;
    }
    let all = |effect: fn(String) -> Touch| Some(texts.iter().cloned().map(effect).collect());
    match name {
        "mkdir" | "touch" | "tee" => all(Touch::Write),
        "rm" | "rmdir" => {
            // A pattern that matches everything asks, which is safer.
            let is_everything = |text: &String| {
                text.trim_start_matches("./")
                    .trim_end_matches('/')
                    .chars()
                    .all(|c| matches!(c, '*' | '.' | '?'))
            };
            if texts.iter().any(is_everything) { None } else { all(Touch::Remove) }
        }
        "chmod" => {
            let (mode, files) = texts.split_first()?;
            if !is_plain_mode(mode) || options.operands.first()?.form != Form::Literal {
                return None;
            }
            if files.is_empty() {
                return None;
            }
            let mut touched: Vec<Touch> = files.iter().cloned().map(Touch::Write).collect();
            // A recursive change may make the hooks of a repository executable.
            if options.has(&["R", "recursive"]) {
                touched.extend(files.iter().cloned().map(Touch::CopyTree));
            }
            Some(touched)
        }
        "sed" => sed_in_place(&options),
        "ln" => {
            let [target, link] = texts.as_slice() else { return None };
            let source = match link.trim_end_matches('/').rsplit_once('/') {
                Some((above, _)) if !target.starts_with('/') && options.has(&["s", "symbolic"]) => {
                    format!("{above}/{target}")
                }
                _ => target.clone(),
            };
            // If `link` is a folder, the link is created in it, and a relative target means another file.
            let inner = below(link, target);
            Some(vec![
                Touch::Write(source),
                Touch::Write(format!("{link}/{target}")),
                Touch::Write(link.clone()),
                Touch::Write(inner.clone()),
                Touch::Replace(link.clone()),
                Touch::Replace(inner),
            ])
        }
        "cp" | "mv" => {
            let (to, from) = texts.split_last()?;
            if from.is_empty() || options.operands.last()?.form != Form::Literal {
                return None;
            }
            let copies_trees = name == "mv"
                || options.has(&["a", "r", "R", "d", "P", "archive", "recursive", "no-dereference"]);
            let mut touched = Vec::new();
            for source in from {
                touched.push(Touch::Read(source.clone()));
                if name == "mv" {
                    touched.push(Touch::Remove(source.clone()));
                }
                if copies_trees {
                    touched.push(Touch::CopyTree(source.clone()));
                }
                // `cp` merges folders; files are among the writes below.
                if copies_trees && name == "cp" {
                    touched.push(Touch::Merge(below(to, source)));
                    let inner = source.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
                    if matches!(inner, "" | "." | "..") || options.has(&["T", "no-target-directory"]) {
                        touched.push(Touch::Merge(to.clone()));
                    }
                }
                // If the target is a folder, the file gets into it.
                touched.push(Touch::Write(below(to, source)));
                touched.push(Touch::Place(source.clone(), to.clone()));
                if copies_trees {
                    touched.push(Touch::Replace(below(to, source)));
                }
            }
            touched.push(Touch::Write(to.clone()));
            if copies_trees {
                touched.push(Touch::Replace(to.clone()));
            }
            Some(touched)
        }
        _ => None,
    }
}

/// Returns the effects of an `awk` whose program may write files that it names.
fn awk_touches(name: &str, arguments: &[Word]) -> Option<Vec<Touch>> {
    let (reads, writes) = programs::awk::touched(&programs::find_program(name)?.grammar, arguments)?;
    Some(reads.into_iter().map(Touch::Read).chain(writes.into_iter().map(Touch::Write)).collect())
}

/// Returns the path of a file after it is copied or moved into a folder.
pub(crate) fn below(folder: &str, file: &str) -> String {
    let name = file.trim_end_matches('/').rsplit('/').next().unwrap_or(file);
    format!("{}/{name}", folder.trim_end_matches('/'))
}

/// Returns whether a mode has no set-user-ID, set-group-ID or sticky bit.
fn is_plain_mode(mode: &str) -> bool {
    let octal = (3..=4).contains(&mode.len()) && mode.chars().all(|c| c.is_digit(8));
    if octal {
        return mode.len() == 3 || mode.starts_with('0');
    }
    !mode.is_empty()
        && mode.split(',').all(|part| {
            part.find(['+', '-', '=']).is_some_and(|at| {
                let (who, how) = part.split_at(at);
                who.chars().all(|c| "ugoa".contains(c)) && how.chars().skip(1).all(|c| "rwxX".contains(c))
            })
        })
}

/// Whether `-i` takes no value from the next word. To BSD sed the next word is the backup suffix, so that the first
/// file would be the script.
const IN_PLACE_TAKES_NO_WORD: bool = !cfg!(target_os = "macos");

/// Returns the files that `sed -i` overwrites; `None` without `-i`, because another table has the `sed` that only
/// reads.
fn sed_in_place(options: &Options<'_>) -> Option<Vec<Touch>> {
    if !IN_PLACE_TAKES_NO_WORD || !options.has(&["i", "in-place"]) {
        return None;
    }
    // A suffix makes a backup copy: `-in` is `-i` with the suffix `n`.
    if options.values_of(&["i", "in-place"]).any(|suffix| !suffix.is_empty()) {
        return None;
    }
    let files = sed::files(options).filter(|files| !files.is_empty())?;
    Some(files.into_iter().map(Touch::Write).collect())
}
