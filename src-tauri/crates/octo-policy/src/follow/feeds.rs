//! Names of files that one command of a pipeline prints and the next one is given: `find … | xargs wc`.

use super::{Follower, State};
use crate::{
    found::{FoundFiles, FoundSource, Splitting, found_word, is_plain_word},
    plain::{Form, Word},
    programs::{self, find::FindCommand},
    script::Command,
};

/// Names that a command prints.
#[derive(Clone, Debug)]
pub(super) struct Feed {
    names: Names,
    ending: Ending,
    /// Where they are printed: elsewhere they would mean other files.
    places: Vec<String>,
}

/// Names that are written in the line, or that a command finds.
#[derive(Clone, Debug)]
enum Names {
    Literal(Vec<Word>),
    Search(FoundFiles),
}

/// The end of each name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Line,
    Nul,
}

impl Follower<'_> {
    /// Returns the names a stage of a pipeline prints, if it prints nothing else.
    pub(super) fn names_from(&self, stage: &Command, state: &State, here: &[String]) -> Option<Feed> {
        let Command::Simple(simple) = stage else { return None };
        if !simple.assignments.is_empty() {
            return None;
        }
        let forms = self.forms(&simple.words, state)?;
        let [words] = forms.as_slice() else { return None };
        let (name, arguments) = words.split_first()?;
        let feed = match name.text.as_str() {
            "echo" => written_names(arguments),
            "find" => find_names(arguments),
            "git" => git_names(arguments),
            "rg" => ripgrep_names(arguments),
            // These print some of their input lines, each complete.
            "head" | "tail" | "sort" | "uniq" | "grep" => {
                let feed = self.feed.clone().filter(|feed| feed.ending == Ending::Line)?;
                passes_lines(&name.text, arguments).then_some(feed)
            }
            _ => None,
        };
        feed.map(|feed| Feed { places: here.to_vec(), ..feed })
    }

    /// The command that `xargs` starts with the names it is given.
    pub(super) fn fed(&self, arguments: &[Word], here: &[String]) -> Option<(Vec<Word>, Option<FoundFiles>)> {
        let feed = self.feed.clone().filter(|feed| feed.places == here)?;
        let mut words = arguments.iter();
        let mut ending = Ending::Line;
        let mut started: Vec<Word> = Vec::new();
        while let Some(word) = words.next() {
            if word.form != Form::Literal {
                return None;
            }
            match word.text.as_str() {
                "-0" | "--null" => ending = Ending::Nul,
                "-r" | "--no-run-if-empty" => {}
                "-0r" | "-r0" => ending = Ending::Nul,
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
        if ending != feed.ending {
            return None;
        }
        // The names come last, and as many as fit.
        match feed.names {
            Names::Literal(words) => {
                started.extend(words);
                Some((started, None))
            }
            Names::Search(found) => {
                started.extend([found_word(&last), found_word(&last)]);
                let splitting = if ending == Ending::Nul { Splitting::None } else { Splitting::AtBlanks };
                Some((started, Some(FoundFiles { splitting, ..found })))
            }
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

/// `echo` of words that mean themselves.
fn written_names(arguments: &[Word]) -> Option<Feed> {
    let plain = |word: &Word| word.form == Form::Literal && is_plain_word(&word.text);
    let names = Names::Literal(arguments.to_vec());
    arguments.iter().all(plain).then_some(Feed { names, ending: Ending::Line, places: Vec::new() })
}

fn find_names(arguments: &[Word]) -> Option<Feed> {
    let find = FindCommand::read(arguments).filter(|find| find.started.is_empty())?;
    let has = |names: &[&str]| arguments.iter().any(|word| names.contains(&word.text.as_str()));
    let starts_plain = find.starts().iter().all(|start| !start.contains(char::is_whitespace));
    if has(&["-ls", "-printf"]) || !starts_plain {
        return None;
    }
    let ending = match (has(&["-print0"]), has(&["-print"])) {
        (true, true) => return None,
        (true, false) => Ending::Nul,
        (false, _) => Ending::Line,
    };
    Some(Feed { names: Names::Search(find.found(Splitting::AtBlanks)), ending, places: Vec::new() })
}

fn git_names(arguments: &[Word]) -> Option<Feed> {
    let words: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    let literal = arguments.iter().all(|word| word.form == Form::Literal);
    let names = match words.as_slice() {
        ["ls-files", rest @ ..] => rest.iter().all(|word| {
            matches!(
                *word,
                "-z" | "-m" | "-o" | "-c" | "--cached" | "--modified" | "--others" | "--exclude-standard"
            ) || !word.starts_with('-')
        }),
        _ => false,
    };
    if !literal || !names {
        return None;
    }
    let ending = if words.contains(&"-z") { Ending::Nul } else { Ending::Line };
    let query = words.into_iter().map(str::to_owned).collect();
    let found = FoundFiles {
        roots: vec![".".to_owned()],
        source: FoundSource::Git(query),
        splitting: Splitting::AtBlanks,
    };
    Some(Feed { names: Names::Search(found), ending, places: Vec::new() })
}

/// `rg -l` and `rg --files` print files below where they search.
fn ripgrep_names(arguments: &[Word]) -> Option<Feed> {
    let options = programs::find_program("rg")?.options(&arguments.iter().collect::<Vec<_>>())?;
    let lists = options.has(&["files"]);
    if !lists && !options.has(&["l", "files-with-matches"]) {
        return None;
    }
    if options.has(&["0", "null", "json", "stats", "path-separator", "pretty", "p"]) {
        return None;
    }
    let from = usize::from(!lists && !options.has(&["e", "regexp", "f", "file"]));
    let mut roots: Vec<String> = options.paths().into_iter().skip(from).collect();
    if roots.is_empty() {
        roots.push(".".to_owned());
    }
    let found = FoundFiles { roots, source: FoundSource::Tree(Vec::new()), splitting: Splitting::AtBlanks };
    Some(Feed { names: Names::Search(found), ending: Ending::Line, places: Vec::new() })
}

/// Whether a filter passes lines on whole and reads nothing but its input.
fn passes_lines(name: &str, arguments: &[Word]) -> bool {
    let Some(options) = programs::find_program(name)
        .and_then(|program| program.options(&arguments.iter().collect::<Vec<_>>()))
    else {
        return false;
    };
    let operands = if name == "grep" { 1 } else { 0 };
    let whole: &[&str] = match name {
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
            .all(|given| whole.contains(given) || given.chars().all(|c| c.is_ascii_digit()))
}
