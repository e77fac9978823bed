//! Commands known to do nothing but change files: the files they would create, overwrite, move and remove.
//!
//! The location of these files is not judged here: the caller applies the same policy as for `write` and
//! `edit`. The time machine can undo changes that run unasked in the session's folder, and removed files are in
//! the trash.

mod git;

use crate::{
    filters,
    options::Options,
    plain::{Form, Word},
    table::{Operands, Tool},
};

/// The effect of a command on a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    /// Reads it.
    Read(String),
    /// Makes or overwrites it.
    Write(String),
    /// Removes it.
    Remove(String),
    /// Puts something there that may contain links: the content below it afterwards is not the present content.
    Place(String),
    /// Copies all of it: a repository inside would come along.
    Whole(String),
    /// Copies a folder's content into it: where it exists, links in it would be written through.
    Merge(String),
    /// Writes to the repository this folder lies in.
    Repository(String, Hooks),
}

/// Whether a command that runs unasked would bypass a repository's own hooks and settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hooks {
    /// The command would run hooks or sign.
    Run,
    /// It runs none.
    None,
}

const fn row(
    name: &'static str,
    flags: &'static str,
    values: &'static str,
    long: &'static [&'static str],
) -> Tool {
    Tool { name, flags, values, attached: "", files: "", long, operands: Operands::Paths }
}

/// The commands and the options they may have. Left out: what makes backups under other names, follows links out
/// of the folder, links instead of copying, or takes its target as an option.
#[rustfmt::skip]
const TOOLS: &[Tool] = &[
    row("chmod", "cfvR", "", &["recursive", "verbose", "changes", "quiet", "silent"]),
    row("cp", "afinprRTuvdPx", "", &["archive", "force", "interactive", "no-clobber", "no-dereference", "no-target-directory", "preserve?", "recursive", "update?", "verbose"]),
    row("ln", "sfnTvr", "", &["symbolic", "force", "no-dereference", "no-target-directory", "relative", "verbose"]),
    row("mkdir", "pv", "m", &["parents", "verbose", "mode="]),
    row("mv", "finTuv", "", &["force", "interactive", "no-clobber", "no-target-directory", "update?", "verbose"]),
    row("rm", "dfirRv", "", &["dir", "force", "recursive", "verbose"]),
    row("rmdir", "pv", "", &["parents", "verbose", "ignore-fail-on-non-empty"]),
    row("sed", "nErsuzi", "e", &["quiet", "silent", "regexp-extended", "separate", "null-data", "expression=", "in-place", "posix"]),
    row("tee", "ai", "", &["append", "ignore-interrupts"]),
    row("touch", "acm", "dt", &["no-create", "date=", "time="]),
    row("truncate", "co", "s", &["no-create", "size="]),
];

/// Returns the effects of a command; `None` if they are unknown, or it may do more.
pub(crate) fn touches(name: &str, arguments: &[Word]) -> Option<Vec<Touch>> {
    if name == "git" {
        return git::touches(arguments);
    }
    let tool = TOOLS.iter().find(|tool| tool.name == name)?;
    let words: Vec<&Word> = arguments.iter().collect();
    let options = Options::read(tool, &words)?;
    let texts: Vec<String> = options.operands.iter().map(|word| word.text.clone()).collect();
    let patterns =
        options.operands.iter().any(|word| word.form != Form::Literal) || !options.patterns.is_empty();
    // A name created from a pattern is unknown; a removed or copied one can be looked up.
    if texts.is_empty() || (patterns && !matches!(name, "rm" | "chmod" | "cp" | "mv")) {
        return None;
    }
    let all = |made: fn(String) -> Touch| Some(texts.iter().cloned().map(made).collect());
    match name {
        "mkdir" | "touch" | "tee" | "truncate" => all(Touch::Write),
        "rm" | "rmdir" => {
            // Everything: one question too many is safer.
            let whole = |text: &String| {
                text.trim_start_matches("./")
                    .trim_end_matches('/')
                    .chars()
                    .all(|c| matches!(c, '*' | '.' | '?'))
            };
            if texts.iter().any(whole) { None } else { all(Touch::Remove) }
        }
        "chmod" => {
            let (mode, files) = texts.split_first()?;
            if !is_plain_mode(mode) || options.operands.first()?.form != Form::Literal {
                return None;
            }
            (!files.is_empty()).then(|| files.iter().cloned().map(Touch::Write).collect())
        }
        "sed" => sed(&options, &texts, &words),
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
                Touch::Place(link.clone()),
                Touch::Place(inner),
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
                    touched.push(Touch::Whole(source.clone()));
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
                    touched.push(Touch::Place(below(to, source)));
                }
            }
            touched.push(Touch::Write(to.clone()));
            if whole {
                touched.push(Touch::Place(to.clone()));
            }
            Some(touched)
        }
        _ => None,
    }
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

/// Whether `-i` is a word of its own. BSD's `sed` takes the next one for the ending of a copy, and then what reads
/// here as the first file is its program.
const IN_PLACE_STANDS_ALONE: bool = !cfg!(target_os = "macos");

/// `sed -i`: its files are overwritten. Without `-i` it only reads, which another row knows.
fn sed(options: &Options<'_>, texts: &[String], words: &[&Word]) -> Option<Vec<Touch>> {
    if !IN_PLACE_STANDS_ALONE || !options.has(&["i", "in-place"]) {
        return None;
    }
    let given: Vec<&str> = options
        .values
        .iter()
        .filter(|(option, _)| matches!(*option, "e" | "expression"))
        .map(|(_, script)| *script)
        .collect();
    let (programs, files) = if given.is_empty() {
        let (program, files) = texts.split_first()?;
        (vec![program.as_str()], files)
    } else {
        (given, texts)
    };
    let harmless = programs.iter().all(|program| filters::sed(program)) && !files.is_empty();
    // `-in` names a suffix for a copy.
    let suffix = words.iter().map(|word| word.text.as_str()).any(|text| {
        !text.starts_with("--") && text.starts_with('-') && text.trim_end_matches('i').contains('i')
    });
    (harmless && !suffix).then(|| files.iter().cloned().map(Touch::Write).collect())
}
