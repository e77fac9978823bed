//! The programs known to only read, each with its grammar.
//!
//! A row of a table has the options of a program ([`crate::grammar`]) and the meaning of its operands. A program with a
//! language of its own has a reader: [`awk`], [`find`], [`git`], [`jq`], [`sed`], [`test`]. A reader accepts the part
//! of the language that only prints and refuses the rest, so a program text with anything else asks.

pub(crate) mod awk;
pub(crate) mod find;
pub(crate) mod git;
pub(crate) mod jq;
pub(crate) mod listing;
pub(crate) mod printf;
pub(crate) mod processes;
pub(crate) mod search;
pub(crate) mod sed;
pub(crate) mod system;
pub(crate) mod test;
pub(crate) mod text;
pub(crate) mod version;

use crate::{
    grammar::{Clusters, LongSpelling, OptionGrammar, Options, Reads, patterns},
    plain::{Form, Word},
};
use std::{collections::BTreeMap, sync::LazyLock};

/// A program known to only read.
#[derive(Debug)]
pub(crate) struct Program {
    /// Its options.
    pub grammar: OptionGrammar,
    /// The meaning of its operands.
    pub operands: Operands,
}

/// The meaning of a program's operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operands {
    /// Paths that the program reads.
    Paths,
    /// Paths that the program reads. It replaces a word `@file` with the words in that file, so no word may begin with
    /// `@`, and no word may be a name of the folder that could.
    PathsOrResponseFiles,
    /// At most this many paths that the program reads; it would write the next one. No path may be a pattern, and no
    /// option may follow a path, because not every system would take it for one.
    AtMost(usize),
    /// A pattern, unless an option has it, and then paths that the program reads.
    PatternThenPaths,
    /// Text.
    Text,
    /// Text; the program has no options.
    OnlyText,
    /// Only `+FORMAT`: anything else sets the clock.
    DateFormat,
    /// No operands.
    None,
    /// The path of the folder to change to.
    Folder,
    /// Exactly one of these sequences of words.
    Only(&'static [&'static [&'static str]]),
    /// A language of its own.
    Language(LanguageReader),
}

/// The reader of a program's language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LanguageReader {
    Awk,
    Find,
    Git,
    Jq,
    Printenv,
    Printf,
    Ps,
    Sed,
    Test,
}

/// A row of a table: a program's name, its options in the notation of [`crate::grammar`], and its operands.
pub(crate) type ProgramRow = (&'static str, &'static str, Operands);

/// Programs that do not accept abbreviated long options.
const EXACT: &[&str] = &["awk", "find", "gawk", "git", "jq", "mawk", "rg", "tree", "xxd"];

static PROGRAMS: LazyLock<BTreeMap<&'static str, Program>> = LazyLock::new(|| {
    rows().map(|(name, spec, operands)| (name, Program::new(name, spec, operands))).collect()
});

/// Returns the rows of all tables.
pub(crate) fn rows() -> impl Iterator<Item = ProgramRow> {
    let tables = [text::ROWS, listing::ROWS, search::ROWS, system::ROWS, version::ROWS, FILTERS];
    tables.into_iter().flatten().copied()
}

/// Programs with a language. The readers of those without options here parse all words themselves.
const FILTERS: &[ProgramRow] = &[
    ("[", "", Operands::Language(LanguageReader::Test)),
    ("awk", awk::OPTIONS, Operands::Language(LanguageReader::Awk)),
    ("find", "", Operands::Language(LanguageReader::Find)),
    ("gawk", awk::OPTIONS, Operands::Language(LanguageReader::Awk)),
    ("git", "", Operands::Language(LanguageReader::Git)),
    ("jq", jq::OPTIONS, Operands::Language(LanguageReader::Jq)),
    ("mawk", awk::OPTIONS, Operands::Language(LanguageReader::Awk)),
    ("printf", "", Operands::Language(LanguageReader::Printf)),
    ("sed", sed::OPTIONS, Operands::Language(LanguageReader::Sed)),
    ("test", "", Operands::Language(LanguageReader::Test)),
];

/// Returns the names of the programs known to only read, in no particular order.
pub fn known_programs() -> impl Iterator<Item = &'static str> {
    rows().map(|(name, ..)| name)
}

/// Returns a program by its name.
pub(crate) fn find_program(name: &str) -> Option<&'static Program> {
    PROGRAMS.get(name)
}

/// Returns the paths a command would read; `None` if it is not known to only read.
pub(crate) fn reads(name: &str, arguments: &[Word]) -> Option<Reads> {
    find_program(name)?.reads(name, arguments)
}

impl Program {
    fn new(name: &'static str, spec: &'static str, operands: Operands) -> Self {
        let spelling = if EXACT.contains(&name) { LongSpelling::Exact } else { LongSpelling::UniquePrefix };
        let clusters = if name == "xxd" { Clusters::FirstLetter } else { Clusters::Several };
        Self { grammar: OptionGrammar::new(spec).spelled(spelling).clustered(clusters), operands }
    }

    /// Parses a command's words by the grammar; see [`OptionGrammar::read`].
    pub(crate) fn options<'a>(&self, words: &[&'a Word]) -> Option<Options<'a>> {
        self.grammar.read(words)
    }

    fn reads(&self, name: &str, arguments: &[Word]) -> Option<Reads> {
        if let [only] = arguments
            && only.form == Form::Literal
            && only.text == "--version"
            && !matches!(self.operands, Operands::Only(_) | Operands::Folder)
        {
            return Some(Reads::new());
        }
        match self.operands {
            Operands::Only(allowed) => {
                let literal = arguments.iter().all(|word| word.form == Form::Literal);
                let same = |words: &&[&str]| words.iter().eq(arguments.iter().map(|word| &word.text));
                (literal && allowed.iter().any(same)).then(Reads::new)
            }
            Operands::OnlyText => Some(patterns(arguments)),
            Operands::Language(reader) => match reader {
                LanguageReader::Awk => awk::reads(&self.grammar, arguments),
                LanguageReader::Find => find::reads(arguments),
                LanguageReader::Git => git::reads(arguments),
                LanguageReader::Jq => jq::reads(&self.grammar, arguments),
                LanguageReader::Printenv => processes::printenv(arguments),
                LanguageReader::Printf => printf::reads(arguments),
                LanguageReader::Ps => processes::ps(arguments),
                LanguageReader::Sed => sed::reads(&self.grammar, arguments),
                LanguageReader::Test => test::reads(name, arguments),
            },
            Operands::PathsOrResponseFiles if arguments.iter().any(may_be_response_file) => None,
            _ => {
                let options = self.grammar.read(&arguments.iter().collect::<Vec<_>>())?;
                // A listing that follows links leaves the folder.
                let follows_links =
                    options.has(&["L", "H", "dereference"]) && options.has(&["R", "recursive"]);
                if name == "ls" && follows_links {
                    return None;
                }
                // It prints the target of a link without following it.
                if name == "readlink"
                    && options.given.iter().all(|given| matches!(*given, "n" | "no-newline"))
                {
                    return Some(options.paths().iter().map(|path| parent_folder(path)).collect());
                }
                self.operand_reads(&options)
            }
        }
    }

    fn operand_reads(&self, options: &Options<'_>) -> Option<Reads> {
        let operands = &options.operands;
        let pattern = options.has_pattern();
        let mut reads = options.option_reads();
        match self.operands {
            Operands::Paths | Operands::PathsOrResponseFiles => reads.extend(options.paths()),
            Operands::PatternThenPaths => {
                let pattern_in_option =
                    options.has(&["e", "f", "regexp", "file", "files", "type-list", "version"]);
                let first_is_pattern =
                    !pattern_in_option && operands.first().is_some_and(|word| word.form == Form::Literal);
                let paths = options.paths().split_off(usize::from(first_is_pattern));
                // Without a path `rg` and a recursive `grep` search their directory.
                if operands.len() <= usize::from(first_is_pattern) {
                    reads.push(".".to_owned());
                }
                reads.extend(paths);
            }
            Operands::AtMost(most) if operands.len() <= most && !pattern && !options.late => {
                reads.extend(options.paths());
            }
            Operands::Text => {
                let matched = operands.iter().filter(|word| word.form == Form::Pattern);
                reads.extend(matched.map(|word| word.text.clone()));
            }
            Operands::DateFormat if !pattern && operands.iter().all(|word| word.text.starts_with('+')) => {}
            Operands::None if operands.is_empty() && !pattern => {}
            Operands::Folder => match operands.as_slice() {
                [folder] if !pattern && folder.text != "-" && !folder.text.is_empty() => {
                    reads.extend(options.paths());
                }
                _ => return None,
            },
            _ => return None,
        }
        Some(reads)
    }
}

/// Returns whether a program could receive a word that begins with `@`, at any position.
fn may_be_response_file(word: &Word) -> bool {
    match word.form {
        Form::Literal | Form::Pipe | Form::Number => word.text.starts_with('@'),
        Form::Pattern => word.text.starts_with(['@', '*', '?', '[']),
        Form::Unknown | Form::Split | Form::Found => true,
    }
}

/// Returns the folder that contains a path.
fn parent_folder(path: &str) -> String {
    match path.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) => "/".to_owned(),
        Some((folder, _)) => folder.to_owned(),
        None => ".".to_owned(),
    }
}
