//! Decides which command lines are known to be read-only, and which lines the person's rules cover.
//!
//! The only question is how bash would interpret a line. The answer is certain only for lines whose meaning
//! depends on nothing but the line itself: simple commands of literal words and file patterns, joined by `;`,
//! line ends, `&&`, `||` and `|`, with redirections that only read or discard. Two parsers must agree on the line:
//! [`crate::plain`], our own strict one, and [`crate::tree`], the bash grammar of tree-sitter. Every command must then
//! be in the tables ([`crate::programs`]), with only the options they list. Everything else asks: expansions,
//! substitutions, here-documents, assignments, background commands, functions, groups, braces, comments, history,
//! tildes.
//!
//! These decisions apply to an environment in which names have their usual meaning: [`crate::unattended`].

use crate::{
    folder::{self, FolderQueries},
    grammar::Reads,
    plain::{self, Join, PlainLine, RedirectKind, Simple},
    programs, rules, tree,
};
use std::path::Path;

/// A command and the directories it may run in, relative to the directory in which its line starts.
#[derive(Clone, Debug)]
pub(crate) struct PlacedCommand {
    pub command: Simple,
    pub directories: Vec<String>,
}

/// The judgement of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// Every command of the line is known to be read-only.
    ReadOnly {
        /// Every word that may name a path the line reads; relative ones are relative to the line's folder.
        /// [`judge_at`] returns existing names, [`judge`] may return patterns.
        reads: Vec<String>,
    },
    /// The line may do more than read.
    Ask {
        /// The first simple command not known to be read-only, as written in the line; `None` when the whole
        /// line is the reason (extra variables, constructs outside any command).
        part: Option<String>,
        /// The words of an "always" rule, which are the command's name and subcommand; `None` if no such rule is safe.
        rule: Option<Vec<String>>,
    },
    /// The two parsers disagree about the line, or one cannot parse it.
    Unparsed,
}

/// The permission that rules give to a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LinePermission {
    /// Rules cover at least one command, and the others are known to only read.
    Yes {
        /// As in [`Judgement::ReadOnly`], for the commands that only read.
        reads: Vec<String>,
    },
    /// Rules do not cover the line, or it only reads and needs no rule.
    No,
}

/// Maximum length of a displayed part of a line, in characters.
pub(crate) const MAX_PART: usize = 400;

/// Maximum number of directories a line may be in at one point (`cd a || cd b`). A line with more asks.
const MAX_DIRECTORIES: usize = 8;

/// Judges a line by its words alone. `env` are the extra variables it would run with. With any of them the line asks,
/// because a variable can turn a harmless command into another one.
pub(crate) fn judge(line: &str, env: &[(String, String)]) -> Judgement {
    let Some(outline) = tree::outline(line) else { return Judgement::Unparsed };
    let Ok(plain) = plain::read(line) else {
        return Judgement::Ask { part: first_unknown(line, &outline), rule: None };
    };
    if !outline.agrees(&plain) {
        return Judgement::Unparsed;
    }
    if !env.is_empty() {
        return Judgement::Ask { part: None, rule: None };
    }
    match walk(&plain, &[]) {
        Walk::Reads { reads, .. } => Judgement::ReadOnly { reads },
        Walk::Unknown(at) => {
            let part =
                plain.commands.get(at).and_then(|command| line.get(command.span.clone())).map(shortened);
            Judgement::Ask { part, rule: only_rule(&plain) }
        }
    }
}

/// Judges a line that would run in `folder`: by its words, then by the folder. Replaces patterns with the names they
/// match, so that the caller can judge each name, and asks if the folder could change the meaning of a harmless
/// command (see [`folder`]). Reads the disk and may query git, which takes milliseconds.
pub(crate) fn judge_at(
    line: &str,
    env: &[(String, String)],
    folder: &Path,
    queries: FolderQueries<'_>,
) -> Judgement {
    let judgement = judge(line, env);
    let Judgement::ReadOnly { .. } = judgement else { return judgement };
    let inspected = plain::read(line).ok().and_then(|plain| match walk(&plain, &[]) {
        Walk::Reads { reads, commands, .. } => folder::inspect(&commands, reads, folder, queries),
        Walk::Unknown(_) => None,
    });
    match inspected {
        Some(reads) => Judgement::ReadOnly { reads },
        None => Judgement::Ask { part: None, rule: None },
    }
}

/// Returns whether rules cover a line, under the restrictions of [`judge`]: every simple command only reads or begins
/// with the words of a rule. Rules cover no patterns, because a file's name could become an option.
#[cfg(test)]
pub(crate) fn allowed_by(line: &str, rules: &[Vec<String>]) -> LinePermission {
    match covered_commands(line, rules) {
        Some((_, reads)) => LinePermission::Yes { reads },
        None => LinePermission::No,
    }
}

/// Returns the commands of a line that rules cover, and the paths that its read-only commands read; `None` if rules do
/// not cover the line.
fn covered_commands(line: &str, rules: &[Vec<String>]) -> Option<(Vec<PlacedCommand>, Reads)> {
    let plain = plain::read(line).ok()?;
    if !tree::outline(line)?.agrees(&plain) {
        return None;
    }
    let words = plain.commands.iter().flat_map(|command| &command.words);
    let literal = words.into_iter().all(|word| word.form == plain::Form::Literal);
    match walk(&plain, rules) {
        Walk::Reads { reads, commands, coverage: RuleCoverage::SomeCommands } if literal => {
            Some((commands, reads))
        }
        Walk::Reads { .. } | Walk::Unknown(_) => None,
    }
}

/// Returns whether rules cover a line that would run in `folder`. Checks the folder as [`judge_at`] does, for the
/// commands that only read.
pub(crate) fn allowed_at(
    line: &str,
    rules: &[Vec<String>],
    folder: &Path,
    queries: FolderQueries<'_>,
) -> LinePermission {
    let reads = covered_commands(line, rules)
        .and_then(|(commands, reads)| folder::inspect(&commands, reads, folder, queries));
    reads.map_or(LinePermission::No, |reads| LinePermission::Yes { reads })
}

/// The result of [`walk`].
enum Walk {
    /// Every command is known to only read, or a rule covers it.
    Reads { reads: Reads, commands: Vec<PlacedCommand>, coverage: RuleCoverage },
    /// The command with this index neither only reads nor is covered.
    Unknown(usize),
}

/// The commands of a line that rules cover.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RuleCoverage {
    NoCommand,
    SomeCommands,
}

/// The directories a line may be in at one point, relative to the one in which it started (`.`), after the success and
/// after the failure of the last command: `cd a && cat b` reads `a/b`; `cd a; cat b` reads `a/b` or, without an `a`,
/// `b`.
#[derive(Clone)]
struct WorkingDirectories {
    after_success: Vec<String>,
    after_failure: Vec<String>,
}

/// Follows the commands of a line through their directories.
fn walk(line: &PlainLine, rules: &[Vec<String>]) -> Walk {
    let mut current = WorkingDirectories { after_success: vec![".".to_owned()], after_failure: Vec::new() };
    let mut directories: Vec<String> = Vec::new();
    let (mut reads, mut coverage) = (Reads::new(), RuleCoverage::NoCommand);
    let mut commands = Vec::new();
    for (at, command) in line.commands.iter().enumerate() {
        let piped = line.commands.get(at + 1).is_some_and(|next| next.join == Join::Pipe);
        directories = match command.join {
            Join::Sequence => union(&current.after_success, &current.after_failure),
            Join::And => current.after_success.clone(),
            Join::Or => current.after_failure.clone(),
            Join::Pipe => directories,
        };
        let paths = match command_reads(command) {
            Some(paths) => paths,
            None if rules::cover(rules, command) => {
                coverage = RuleCoverage::SomeCommands;
                redirect_reads(command)
            }
            None => return Walk::Unknown(at),
        };
        let Some(from_start) = paths_from_start(&directories, &paths) else { return Walk::Unknown(at) };
        let moves = command.words.first().is_some_and(|name| name.text == "cd");
        let destinations = if moves {
            // `cd` has no effect in a pipeline, so the line is a mistake.
            if piped || command.join == Join::Pipe {
                return Walk::Unknown(at);
            }
            // The last path that `cd` reads is its operand.
            match paths.last().and_then(|folder| paths_from_start(&directories, std::slice::from_ref(folder)))
            {
                Some(destinations) => destinations,
                None => return Walk::Unknown(at),
            }
        } else {
            directories.clone()
        };
        reads.extend(from_start);
        commands.push(PlacedCommand { command: command.clone(), directories: directories.clone() });
        current = match command.join {
            Join::And => WorkingDirectories {
                after_success: destinations,
                after_failure: union(&current.after_failure, &directories),
            },
            Join::Or => WorkingDirectories {
                after_success: union(&current.after_success, &destinations),
                after_failure: directories.clone(),
            },
            Join::Sequence | Join::Pipe => {
                WorkingDirectories { after_success: destinations, after_failure: directories.clone() }
            }
        };
        if current.after_success.len() + current.after_failure.len() > MAX_DIRECTORIES {
            return Walk::Unknown(at);
        }
    }
    reads.sort();
    reads.dedup();
    Walk::Reads { reads, commands, coverage }
}

/// Returns the items of `first`, then the other items of `second`.
pub(crate) fn union(first: &[String], second: &[String]) -> Vec<String> {
    let mut all = first.to_vec();
    all.extend(second.iter().filter(|directory| !first.contains(directory)).cloned());
    all
}

/// Returns the paths a read-only command would read, relative to its directory; `None` if it may do more.
fn command_reads(command: &Simple) -> Option<Reads> {
    let (name, arguments) = command.words.split_first()?;
    if name.form == plain::Form::Pattern {
        return None;
    }
    let mut reads = redirect_reads(command);
    reads.extend(programs::reads(&name.text, arguments)?);
    Some(reads)
}

fn redirect_reads(command: &Simple) -> Reads {
    let read = command.redirects.iter().filter(|redirect| redirect.kind == RedirectKind::Read);
    read.map(|redirect| redirect.target.text.clone()).collect()
}

/// Returns the paths that a command names in any of these directories, relative to the directory in which the line
/// starts. `None` if the words do not determine them: after a link, `a/..` is not the apparent folder. A `~` is part of
/// a name here, because bash has replaced those that mean a home.
pub(crate) fn paths_from_start(directories: &[String], paths: &[String]) -> Option<Reads> {
    let mut from_start = Reads::new();
    for path in paths {
        let mut named = false;
        for part in path.split('/') {
            if part == ".." && named {
                return None;
            }
            named |= !matches!(part, "" | "." | "..");
        }
        for directory in directories {
            if path.starts_with('/') || (directory == "." && !path.starts_with('~')) {
                from_start.push(path.clone());
            } else if path == ".." || path.starts_with("../") || path.starts_with("./..") {
                return None;
            } else {
                from_start.push(format!("{}/{path}", directory.trim_end_matches('/')));
            }
        }
    }
    Some(from_start)
}

/// Returns the rule that would cover every command of a line that needs a rule; `None` if no single rule does.
fn only_rule(line: &PlainLine) -> Option<Vec<String>> {
    let mut unknown = line.commands.iter().filter(|command| command_reads(command).is_none());
    let rule = rules::words(unknown.next()?)?;
    let literal =
        line.commands.iter().flat_map(|command| &command.words).all(|word| word.form == plain::Form::Literal);
    (literal && unknown.all(|command| rules::words(command).as_ref() == Some(&rule))).then_some(rule)
}

/// Returns the text of the first simple command that alone is not known to be read-only, in a line that is not plain.
fn first_unknown(line: &str, outline: &tree::Outline) -> Option<String> {
    let reads = |text: &str| {
        plain::read(text).is_ok_and(|plain| {
            matches!(walk(&plain, &[]), Walk::Reads { coverage: RuleCoverage::NoCommand, .. })
        })
    };
    outline.commands().filter_map(|span| line.get(span)).find(|text| !reads(text)).map(shortened)
}

/// Returns a text with at most [`MAX_PART`] characters, and `…` if it is longer.
pub(crate) fn shortened(text: &str) -> String {
    let mut chars = text.chars();
    let mut part: String = chars.by_ref().take(MAX_PART).collect();
    if chars.next().is_some() {
        part.push('…');
    }
    part
}
