//! A call that a line would make, inferred from its words.

use crate::{plain, script::RedirectKind};
use std::ops::Range;

/// Something a line would start.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// Name and arguments; unknown parts are [`UNKNOWN`].
    pub words: Vec<Guess>,
    /// Where it reads and writes.
    pub redirects: Vec<(RedirectKind, String)>,
    /// Folders it may run in, as seen from where the line begins (`.`).
    pub bases: Vec<String>,
    /// The commands that run it, outermost first: `sudo`, `xargs`, `bash`.
    pub through: Vec<String>,
    /// Names of the commands that feed it through a pipe or a substitution.
    pub fed: Vec<String>,
    /// The range of its simple command in the line, if it is literally in the line.
    pub span: Option<Range<usize>>,
}

/// A word of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Guess {
    /// The known part of its value.
    pub text: String,
    /// Its range in the line, if it is literally there as one word.
    pub span: Option<Range<usize>>,
}

impl Call {
    /// Creates a call for a command whose words are known.
    pub fn of(command: &plain::Simple) -> Self {
        let guess = |word: &plain::Word| Guess { text: word.text.clone(), span: Some(word.span.clone()) };
        Self {
            words: command.words.iter().map(guess).collect(),
            redirects: Vec::new(),
            bases: Vec::new(),
            through: Vec::new(),
            fed: Vec::new(),
            span: Some(command.span.clone()),
        }
    }

    /// Its name without a path, in lower case on purpose: some file systems ignore case.
    pub fn name(&self) -> String {
        let text = self.words.first().map_or("", |word| word.text.as_str());
        let base = text.rsplit('/').next().unwrap_or(text);
        base.strip_suffix(".exe").unwrap_or(base).to_owned()
    }

    /// Its arguments.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        self.words.iter().skip(1).map(|word| word.text.as_str())
    }

    /// Its arguments that are no options.
    pub fn operands(&self) -> Vec<&str> {
        let mut all = false;
        self.arguments()
            .filter(|text| {
                if *text == "--" && !all {
                    all = true;
                    return false;
                }
                all || !text.starts_with('-') || *text == "-"
            })
            .collect()
    }

    /// Whether an option was given: a letter among short ones, or a long one by its name or a start of it.
    pub fn has(&self, letter: Option<char>, long: &str) -> bool {
        self.arguments().take_while(|text| *text != "--").any(|text| {
            if let Some(given) = text.strip_prefix("--") {
                let given = given.split('=').next().unwrap_or(given);
                !given.is_empty() && long.starts_with(given)
            } else {
                letter
                    .is_some_and(|letter| text.strip_prefix('-').is_some_and(|short| short.contains(letter)))
            }
        })
    }
}
