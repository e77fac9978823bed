//! The options of a program, how each takes its value, and how the program parses its words.
//!
//! An [`OptionGrammar`] is an allow-list. A command with an unknown or a refused option asks. The grammar lists refused
//! options so that it resolves an abbreviation as the program does: `sort --out=x` is `sort --output=x`.

mod reading;
mod spec;

pub(crate) use reading::{Options, Reads, patterns};

/// The options of one program, or of one subcommand.
#[derive(Debug, Default)]
pub(crate) struct OptionGrammar {
    short: Vec<(char, OptionRule)>,
    long: Vec<(&'static str, OptionRule)>,
    /// Whether a number is an option: `head -20`.
    numbers: bool,
    spelling: LongSpelling,
    clusters: Clusters,
}

/// How a grammar treats one option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OptionRule {
    attachment: Attachment,
    value: ValueKind,
    standing: Standing,
}

/// How an option takes its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attachment {
    /// It has no value.
    None,
    /// It has a value: attached, or else the next word.
    Required,
    /// It may have an attached value; the next word is never its value (`-U[n]`, `--color[=when]`).
    Optional,
}

/// The meaning of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueKind {
    /// Text that names no file.
    Text,
    /// The path of a file the program reads.
    File,
}

/// Whether a command with an option may run unasked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Allowed,
    Refused,
}

/// How the name of a long option may be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LongSpelling {
    /// Only in full.
    #[default]
    Exact,
    /// As `getopt_long` does: any prefix of a single option.
    UniquePrefix,
}

/// How letters after one dash are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Clusters {
    /// As several options: `-la` is `-l -a`.
    #[default]
    Several,
    /// By the first letter alone: to `xxd`, `-ps` is `-p`.
    FirstLetter,
}

impl OptionGrammar {
    fn short(&self, letter: char) -> Option<OptionRule> {
        self.short.iter().find(|(known, _)| *known == letter).map(|(_, rule)| *rule)
    }

    /// Returns the option that a long name, possibly abbreviated, stands for.
    fn long(&self, written: &str) -> Option<(&'static str, OptionRule)> {
        if let Some((name, rule)) = self.long.iter().find(|(name, _)| *name == written) {
            return Some((name, *rule));
        }
        if self.spelling == LongSpelling::Exact || written.is_empty() {
            return None;
        }
        let mut beginning = self.long.iter().filter(|(name, _)| name.starts_with(written));
        match (beginning.next(), beginning.next()) {
            (Some((name, rule)), None) => Some((name, *rule)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
