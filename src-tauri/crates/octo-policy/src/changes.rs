//! Commands known to do nothing but change files: the files they would create, overwrite, move and remove.
//!
//! The location of these files is not judged here: the caller applies the same policy as for `write` and
//! `edit`. The time machine can undo changes that run unasked in the session's folder, and removed files are in
//! the trash.

mod git;

use crate::{
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
    /// Makes or overwrites it.
    Write(String),
    /// Removes it.
    Remove(String),
    /// Puts something there that may contain links, so what is below it afterwards is not known from its present
    /// content.
    Replace(String),
    /// Copies, moves or changes everything below it, including a repository.
    CopyTree(String),
    /// Copies a folder's content into it. If it exists, writes follow the links in it.
    Merge(String),
    /// Writes to the repository this folder lies in.
    Repository(String, Hooks),
    /// Changes files in the repository's working tree; may create links.
    Tree(String),
    /// Adds the files that this git query lists to the repository of this folder.
    Record(String, Vec<String>),
    /// Changes the content of the files that this git query lists, in the repository of this folder.
    Rewrite(String, Vec<String>),
    /// Makes another commit the current one.
    Switch,
    /// Reads files whose names a command found.
    Discover(FoundFiles),
    /// Splits the names that this pattern matches: none of them may be more than one plain word.
    Split(String),
}

impl Touch {
    /// The paths it names.
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
            | Self::Split(path) => vec![path],
            Self::Switch => Vec::new(),
            Self::Discover(found) => found.roots.iter().map(String::as_str).collect(),
        }
    }

    /// Returns the touch with its paths mapped; `None` if one of them cannot be.
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
            Self::Split(path) => Self::Split(map(path)?),
            Self::Switch => Self::Switch,
            Self::Discover(found) => {
                let roots = found.roots.into_iter().map(map).collect::<Option<_>>()?;
                Self::Discover(FoundFiles { roots, ..found })
            }
        })
    }
}

/// Whether the git command runs hooks or signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hooks {
    /// The command would run hooks or sign.
    Run,
    /// It runs none.
    None,
}

/// The programs and the options they may have. Left out: what makes backups under other names, follows links out
/// of the folder, links instead of copying, or takes its target as an option.
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

/// Every row, and those of git's commands.
#[cfg(test)]
pub(crate) fn specs() -> impl Iterator<Item = (&'static str, &'static str)> {
    ROWS.iter().chain(git::ROWS).copied()
}

/// Returns the effects of a command; `None` if they are unknown, or it may do more.
pub(crate) fn touches(name: &str, arguments: &[Word]) -> Option<Vec<Touch>> {
    match name {
        "git" => return git::touches(arguments),
        "awk" | "gawk" | "mawk" => return awk(name, arguments),
        _ => {}
    }
    let options = PROGRAMS.get(name)?.read(&arguments.iter().collect::<Vec<_>>())?;
    // A value after an operand counts as an operand for programs that stop parsing there.
    if !options.late_values.is_empty() {
        return None;
    }
    let texts: Vec<String> = options.operands.iter().map(|word| word.text.clone()).collect();
    let patterns =
        options.operands.iter().any(|word| word.form != Form::Literal) || !options.patterns.is_empty();
    // A name created from a pattern is unknown; a removed or copied one can be looked up.
    if texts.is_empty() || (patterns && !matches!(name, "rm" | "chmod" | "cp" | "mv")) {
        return None;
    }
    let all = |made: fn(String) -> Touch| Some(texts.iter().cloned().map(made).collect());
    match name {
        "mkdir" | "touch" | "tee" => all(Touch::Write),
        "rm" | "rmdir" => {
            // Everything: one question too many is safer.
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
            // Below them it may make hooks of a repository executable.
            if options.has(&["R", "recursive"]) {
                touched.extend(files.iter().cloned().map(Touch::CopyTree));
            }
            Some(touched)
        }
        "sed" => in_place(&options),
        "ln" => {
            let [target, link] = texts.as_slice() else { return None };
            let seen = match link.trim_end_matches('/').rsplit_once('/') {
                Some((above, _)) if !target.starts_with('/') && options.has(&["s", "symbolic"]) => {
                    format!("{above}/{target}")
                }
                _ => target.clone(),
            };
            // In a folder the link would get another name, and a relative target another meaning.
            let inner = below(link, target);
            Some(vec![
                Touch::Write(seen),
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
            let whole = name == "mv"
                || options.has(&["a", "r", "R", "d", "P", "archive", "recursive", "no-dereference"]);
            let mut touched = Vec::new();
            for source in from {
                touched.push(Touch::Read(source.clone()));
                if name == "mv" {
                    touched.push(Touch::Remove(source.clone()));
                }
                if whole {
                    touched.push(Touch::CopyTree(source.clone()));
                }
                // Folders are merged; a file's name is among the writes already.
                if whole && name == "cp" {
                    touched.push(Touch::Merge(below(to, source)));
                    let inner = source.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
                    if matches!(inner, "" | "." | "..") || options.has(&["T", "no-target-directory"]) {
                        touched.push(Touch::Merge(to.clone()));
                    }
                }
                // Into a folder, or in its place.
                touched.push(Touch::Write(below(to, source)));
                if whole {
                    touched.push(Touch::Replace(below(to, source)));
                }
            }
            touched.push(Touch::Write(to.clone()));
            if whole {
                touched.push(Touch::Replace(to.clone()));
            }
            Some(touched)
        }
        _ => None,
    }
}

/// `awk` with a program that writes files it names.
fn awk(name: &str, arguments: &[Word]) -> Option<Vec<Touch>> {
    let (reads, writes) = programs::awk::touched(&programs::find_program(name)?.grammar, arguments)?;
    Some(reads.into_iter().map(Touch::Read).chain(writes.into_iter().map(Touch::Write)).collect())
}

/// The name a file gets inside a folder.
pub(crate) fn below(folder: &str, file: &str) -> String {
    let name = file.trim_end_matches('/').rsplit('/').next().unwrap_or(file);
    format!("{}/{name}", folder.trim_end_matches('/'))
}

/// A mode without the bits that lend an owner's rights.
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

/// Whether `-i` takes no value from the next word. BSD sed takes the next word as the backup suffix, so our first
/// file would be its script.
const IN_PLACE_STANDS_ALONE: bool = !cfg!(target_os = "macos");

/// `sed -i`: its files are overwritten. Without `-i` it only reads, which another table knows.
fn in_place(options: &Options<'_>) -> Option<Vec<Touch>> {
    if !IN_PLACE_STANDS_ALONE || !options.has(&["i", "in-place"]) {
        return None;
    }
    // A suffix names a copy: `-in` is `-i` with the suffix `n`.
    if options.of(&["i", "in-place"]).any(|suffix| !suffix.is_empty()) {
        return None;
    }
    let files = sed::files(options).filter(|files| !files.is_empty())?;
    Some(files.into_iter().map(Touch::Write).collect())
}
