//! Names of files that one command of a pipeline prints and the next one reads: `find … | xargs wc`.

use super::{Follower, State};
use crate::{
    found::{FoundFiles, FoundSource, Splitting, found_word, is_plain_word},
    plain::{Form, Word},
    programs::{self, find::FindCommand},
    script::Command,
};

/// The names that a command prints into a pipe.
#[derive(Clone, Debug)]
pub(super) struct PipedNames {
    source: NameSource,
    terminator: Terminator,
    /// The directories of the command: in others, the names would mean other files.
    directories: Vec<String>,
}

/// The origin of the names: words of the line, or a search.
#[derive(Clone, Debug)]
enum NameSource {
    Literal(Vec<Word>),
    Search(FoundFiles),
}

/// The terminator of each name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Terminator {
    Newline,
    Nul,
}

impl Follower<'_> {
    /// Returns the names that a stage of a pipeline prints; `None` if it may print anything else.
    pub(super) fn printed_names(
        &self,
        stage: &Command,
        state: &State,
        directories: &[String],
    ) -> Option<PipedNames> {
        let Command::Simple(simple) = stage else { return None };
        if !simple.assignments.is_empty() {
            return None;
        }
        let expansions = self.expansions(&simple.words, state)?;
        let [words] = expansions.as_slice() else { return None };
        let (name, arguments) = words.split_first()?;
        let piped = match name.text.as_str() {
            "echo" => written_names(arguments),
            "find" => find_names(arguments),
            "git" => git_names(arguments),
            "rg" => ripgrep_names(arguments),
            // These print some of their input lines, each in full.
            "head" | "tail" | "sort" | "uniq" | "grep" => {
                let piped =
                    self.piped_names.clone().filter(|piped| piped.terminator == Terminator::Newline)?;
                passes_lines(&name.text, arguments).then_some(piped)
            }
            _ => None,
        };
        piped.map(|piped| PipedNames { directories: directories.to_vec(), ..piped })
    }

    /// Returns the command that `xargs` starts with the piped names, and the files it gets; `None` if unknown.
    pub(super) fn xargs_command(
        &self,
        arguments: &[Word],
        directories: &[String],
    ) -> Option<(Vec<Word>, Option<FoundFiles>)> {
        let piped = self.piped_names.clone().filter(|piped| piped.directories == directories)?;
        let mut words = arguments.iter();
        let mut terminator = Terminator::Newline;
        let mut started: Vec<Word> = Vec::new();
        while let Some(word) = words.next() {
            if word.form != Form::Literal {
                return None;
            }
            match word.text.as_str() {
                "-0" | "--null" => terminator = Terminator::Nul,
                "-r" | "--no-run-if-empty" => {}
                "-0r" | "-r0" => terminator = Terminator::Nul,
                "-n" | "-P" | "-L" => {
                    words.next().filter(|number| is_number(&number.text))?;
                }
                text if ["-n", "-P", "-L"]
                    .iter()
                    .any(|option| text.strip_prefix(option).is_some_and(is_number)) => {}
                text if text.starts_with('-') => return None,
                _ => {
                    started.push(word.clone());
                    started.extend(words.by_ref().cloned());
                }
            }
        }
        let last = started.last()?.clone();
        if terminator != piped.terminator {
            return None;
        }
        // `xargs` appends the names, as many as fit.
        match piped.source {
            NameSource::Literal(words) => {
                started.extend(words);
                Some((started, None))
            }
            NameSource::Search(found) => {
                started.extend([found_word(&last), found_word(&last)]);
                let splitting =
                    if terminator == Terminator::Nul { Splitting::None } else { Splitting::AtBlanks };
                Some((started, Some(FoundFiles { splitting, ..found })))
            }
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

/// Returns the names that `echo` prints, if its words mean themselves.
fn written_names(arguments: &[Word]) -> Option<PipedNames> {
    let plain = |word: &Word| word.form == Form::Literal && is_plain_word(&word.text);
    let source = NameSource::Literal(arguments.to_vec());
    arguments.iter().all(plain).then_some(PipedNames {
        source,
        terminator: Terminator::Newline,
        directories: Vec::new(),
    })
}

fn find_names(arguments: &[Word]) -> Option<PipedNames> {
    let find = FindCommand::read(arguments).filter(|find| find.started.is_empty())?;
    let has = |names: &[&str]| arguments.iter().any(|word| names.contains(&word.text.as_str()));
    let starts_plain = find.starts().iter().all(|start| !start.contains(char::is_whitespace));
    if has(&["-ls", "-printf"]) || !starts_plain {
        return None;
    }
    let terminator = match (has(&["-print0"]), has(&["-print"])) {
        (true, true) => return None,
        (true, false) => Terminator::Nul,
        (false, _) => Terminator::Newline,
    };
    Some(PipedNames {
        source: NameSource::Search(find.found(Splitting::AtBlanks)),
        terminator,
        directories: Vec::new(),
    })
}

fn git_names(arguments: &[Word]) -> Option<PipedNames> {
    let words: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    let literal = arguments.iter().all(|word| word.form == Form::Literal);
    let is_listing = match words.as_slice() {
        ["ls-files", rest @ ..] => rest.iter().all(|word| {
            matches!(
                *word,
                "-z" | "-m" | "-o" | "-c" | "--cached" | "--modified" | "--others" | "--exclude-standard"
            ) || !word.starts_with('-')
        }),
        _ => false,
    };
    if !literal || !is_listing {
        return None;
    }
    let terminator = if words.contains(&"-z") { Terminator::Nul } else { Terminator::Newline };
    let query = words.into_iter().map(str::to_owned).collect();
    let found = FoundFiles {
        roots: vec![".".to_owned()],
        source: FoundSource::Git(query),
        splitting: Splitting::AtBlanks,
    };
    Some(PipedNames { source: NameSource::Search(found), terminator, directories: Vec::new() })
}

/// Returns the names that `rg -l` or `rg --files` prints: files below its starting points.
fn ripgrep_names(arguments: &[Word]) -> Option<PipedNames> {
    let options = programs::find_program("rg")?.options(&arguments.iter().collect::<Vec<_>>())?;
    let lists_files = options.has(&["files"]);
    if !lists_files && !options.has(&["l", "files-with-matches"]) {
        return None;
    }
    if options.has(&["0", "null", "json", "stats", "path-separator", "pretty", "p"]) {
        return None;
    }
    let from = usize::from(!lists_files && !options.has(&["e", "regexp", "f", "file"]));
    let mut roots: Vec<String> = options.paths().into_iter().skip(from).collect();
    if roots.is_empty() {
        roots.push(".".to_owned());
    }
    let found = FoundFiles { roots, source: FoundSource::Tree(Vec::new()), splitting: Splitting::AtBlanks };
    Some(PipedNames {
        source: NameSource::Search(found),
        terminator: Terminator::Newline,
        directories: Vec::new(),
    })
}

/// Returns whether a filter passes on complete lines and reads only its input.
fn passes_lines(name: &str, arguments: &[Word]) -> bool {
    let Some(options) = programs::find_program(name)
        .and_then(|program| program.options(&arguments.iter().collect::<Vec<_>>()))
    else {
        return false;
    };
    let operands = if name == "grep" { 1 } else { 0 };
    let allowed: &[&str] = match name {
        "grep" => {
            &["v", "i", "E", "F", "e", "invert-match", "ignore-case", "extended-regexp", "fixed-strings"]
        }
        "sort" => &["u", "r", "n", "V", "f", "unique", "reverse", "version-sort"],
        "uniq" => &["u", "i"],
        _ => &["n", "lines"],
    };
    options.operands.len() <= operands
        && options.operands.iter().all(|word| word.form == Form::Literal)
        && options
            .given
            .iter()
            .all(|given| allowed.contains(given) || given.chars().all(|c| c.is_ascii_digit()))
}
