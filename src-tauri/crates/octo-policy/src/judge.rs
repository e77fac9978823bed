//! Decides which command lines are known to be read-only, and which ones rules cover.
//!
//! The only question is how bash would interpret a line. The answer is certain only for lines whose meaning
//! depends on nothing but the line itself: simple commands of literal words and file patterns, joined by `;`,
//! line ends, `&&`, `||` and `|`, with redirections that only read or discard. Two parsers must agree on it:
//! [`crate::plain`], our own strict one, and [`crate::tree`], the bash grammar of tree-sitter. Every command must then be in
//! the tables ([`crate::programs`]), with only the options they list. Everything else asks:
//! expansions, substitutions, here-documents, assignments, background commands, functions, groups, braces,
//! comments, history, tildes.
//!
//! These decisions apply to an environment in which names have their usual meaning: [`crate::unattended`].

use crate::{
    folder::{self, FolderQueries},
    grammar::Reads,
    plain::{self, Join, PlainLine, RedirectKind, Simple},
    programs, rules, tree,
};
use std::path::Path;

/// A command, and where it may run, as paths from where its line begins.
#[derive(Clone, Debug)]
pub(crate) struct PlacedCommand {
    pub command: Simple,
    pub places: Vec<String>,
}

/// The judgement about a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// Every command in it is known to be read-only.
    ReadOnly {
        /// Every word that may name a path it reads, relative ones as seen from where the line runs. From
        /// [`judge_at`] these are existing names; from [`judge`] some may still be patterns.
        reads: Vec<String>,
    },
    /// It may do more than read.
    Ask {
        /// The first simple command not known to be read-only, as written in the line; `None` when the whole
        /// line is the reason (extra variables, constructs outside any command).
        part: Option<String>,
        /// The words of an "always" rule: the command's name and subcommand. `None` if no such rule is safe.
        rule: Option<Vec<String>>,
    },
    /// The two parsers disagree about the line, or one cannot parse it.
    Unparsed,
}

/// Whether rules cover a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LinePermission {
    /// At least one of its commands is covered by a rule, and all others are known to only read.
    Yes {
        /// As in [`Judgement::ReadOnly`], for the commands that only read.
        reads: Vec<String>,
    },
    /// Not covered; also for a read-only line that needs no rule.
    No,
}

/// The maximum length of a displayed part of a line.
pub(crate) const MAX_PART: usize = 400;

/// The maximum number of directories a line may be in at one point (`cd a || cd b`); with more it asks.
const MAX_PLACES: usize = 8;

/// Judges a line by its words alone. `env` are the extra variables it would run with: a variable can turn a
/// harmless command into another one, so with any the line asks.
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

/// Judges a line that would run in `folder`: [`judge`], then a check of the folder. Replaces patterns by the
/// names they match, which lets the caller judge each; asks if the folder itself could change the meaning of a
/// harmless command (see [`folder`]). Reads the disk and may query git; takes milliseconds.
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

/// Whether rules cover a line: every simple command of it only reads or begins with a rule's words, under the
/// restrictions of [`judge`]; patterns are not covered, for a file's name could pass for an option.
#[cfg(test)]
pub(crate) fn allowed_by(line: &str, rules: &[Vec<String>]) -> LinePermission {
    match ruled(line, rules) {
        Some((_, reads)) => LinePermission::Yes { reads },
        None => LinePermission::No,
    }
}

/// The commands of a line that rules cover, and what those that only read would read.
fn ruled(line: &str, rules: &[Vec<String>]) -> Option<(Vec<PlacedCommand>, Reads)> {
    let plain = plain::read(line).ok()?;
    if !tree::outline(line)?.agrees(&plain) {
        return None;
    }
    let words = plain.commands.iter().flat_map(|command| &command.words);
    let literal = words.into_iter().all(|word| word.form == plain::Form::Literal);
    match walk(&plain, rules) {
        Walk::Reads { reads, commands, ruled: RuleCoverage::Some } if literal => Some((commands, reads)),
        Walk::Reads { .. } | Walk::Unknown(_) => None,
    }
}

/// Whether rules cover a line, with the look at the folder of [`judge_at`], for the commands that only read.
pub(crate) fn allowed_at(
    line: &str,
    rules: &[Vec<String>],
    folder: &Path,
    queries: FolderQueries<'_>,
) -> LinePermission {
    let reads =
        ruled(line, rules).and_then(|(commands, reads)| folder::inspect(&commands, reads, folder, queries));
    reads.map_or(LinePermission::No, |reads| LinePermission::Yes { reads })
}

/// The result of following a line's commands.
enum Walk {
    /// All are known to only read or covered by a rule.
    Reads { reads: Reads, commands: Vec<PlacedCommand>, ruled: RuleCoverage },
    /// The command with this index is neither.
    Unknown(usize),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RuleCoverage {
    None,
    Some,
}

/// Where a line may be at one point, as paths from where it began (`.` is there), by whether the last command
/// succeeded: `cd a && cat b` reads `a/b`; `cd a; cat b` reads `a/b` or, when there is no `a`, `b`.
#[derive(Clone)]
struct Places {
    after_success: Vec<String>,
    after_failure: Vec<String>,
}

fn walk(line: &PlainLine, rules: &[Vec<String>]) -> Walk {
    let mut places = Places { after_success: vec![".".to_owned()], after_failure: Vec::new() };
    let mut here: Vec<String> = Vec::new();
    let (mut reads, mut ruled) = (Reads::new(), RuleCoverage::None);
    let mut commands = Vec::new();
    for (at, command) in line.commands.iter().enumerate() {
        let piped = line.commands.get(at + 1).is_some_and(|next| next.join == Join::Pipe);
        here = match command.join {
            Join::Sequence => union(&places.after_success, &places.after_failure),
            Join::And => places.after_success.clone(),
            Join::Or => places.after_failure.clone(),
            Join::Pipe => here,
        };
        let known = match command_reads(command) {
            Some(known) => known,
            None if rules::cover(rules, command) => {
                ruled = RuleCoverage::Some;
                redirect_reads(command)
            }
            None => return Walk::Unknown(at),
        };
        let Some(seen) = seen_from(&here, &known) else { return Walk::Unknown(at) };
        let moves = command.words.first().is_some_and(|name| name.text == "cd");
        let arrived = if moves {
            // In a pipeline `cd` has no effect, which is never intended.
            if piped || command.join == Join::Pipe {
                return Walk::Unknown(at);
            }
            // `cd`'s operand is its last read: seen from every place, it is where the line goes.
            match known.last().and_then(|folder| seen_from(&here, std::slice::from_ref(folder))) {
                Some(arrived) => arrived,
                None => return Walk::Unknown(at),
            }
        } else {
            here.clone()
        };
        reads.extend(seen);
        commands.push(PlacedCommand { command: command.clone(), places: here.clone() });
        places = match command.join {
            Join::And => {
                Places { after_success: arrived, after_failure: union(&places.after_failure, &here) }
            }
            Join::Or => {
                Places { after_success: union(&places.after_success, &arrived), after_failure: here.clone() }
            }
            Join::Sequence | Join::Pipe => Places { after_success: arrived, after_failure: here.clone() },
        };
        if places.after_success.len() + places.after_failure.len() > MAX_PLACES {
            return Walk::Unknown(at);
        }
    }
    reads.sort();
    reads.dedup();
    Walk::Reads { reads, commands, ruled }
}

pub(crate) fn union(one: &[String], other: &[String]) -> Vec<String> {
    let mut all = one.to_vec();
    all.extend(other.iter().filter(|place| !one.contains(place)).cloned());
    all
}

/// Returns the paths a read-only command would read, relative to its directory.
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

/// Returns paths relative to the line's start. A `~` is a name here: bash has replaced those that mean a home. `None` if `..` makes that a guess: after a link, `a/..` is not
/// the apparent folder.
pub(crate) fn seen_from(places: &[String], paths: &[String]) -> Option<Reads> {
    let mut seen = Reads::new();
    for path in paths {
        let mut named = false;
        for part in path.split('/') {
            if part == ".." && named {
                return None;
            }
            named |= !matches!(part, "" | "." | "..");
        }
        for place in places {
            if path.starts_with('/') || (place == "." && !path.starts_with('~')) {
                seen.push(path.clone());
            } else if path == ".." || path.starts_with("../") || path.starts_with("./..") {
                return None;
            } else {
                seen.push(format!("{}/{path}", place.trim_end_matches('/')));
            }
        }
    }
    Some(seen)
}

/// The rule that would cover all of a line's commands that need one, if a single one does.
fn only_rule(line: &PlainLine) -> Option<Vec<String>> {
    let mut unknown = line.commands.iter().filter(|command| command_reads(command).is_none());
    let rule = rules::words(unknown.next()?)?;
    let literal =
        line.commands.iter().flat_map(|command| &command.words).all(|word| word.form == plain::Form::Literal);
    (literal && unknown.all(|command| rules::words(command).as_ref() == Some(&rule))).then_some(rule)
}

/// Returns the first simple command, in a line that is not plain, which on its own is not known to be
/// read-only.
fn first_unknown(line: &str, outline: &tree::Outline) -> Option<String> {
    let reads = |text: &str| {
        plain::read(text)
            .is_ok_and(|plain| matches!(walk(&plain, &[]), Walk::Reads { ruled: RuleCoverage::None, .. }))
    };
    outline.commands().filter_map(|span| line.get(span)).find(|text| !reads(text)).map(shortened)
}

pub(crate) fn shortened(text: &str) -> String {
    let mut chars = text.chars();
    let mut part: String = chars.by_ref().take(MAX_PART).collect();
    if chars.next().is_some() {
        part.push('…');
    }
    part
}
