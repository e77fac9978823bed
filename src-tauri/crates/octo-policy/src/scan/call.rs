//! A call that a line would make, inferred from its words.

use crate::{plain, script::RedirectKind};
use std::ops::Range;

/// A program, builtin or function that a line would start.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The name and the arguments; unknown parts are [`UNKNOWN`](crate::context::UNKNOWN).
    pub words: Vec<CallWord>,
    /// The redirections, each with its target.
    pub redirects: Vec<(RedirectKind, String)>,
    /// The directories it may run in, relative to the directory in which the line starts (`.`).
    pub directories: Vec<String>,
    /// Names of the commands that start it, outermost first: `sudo`, `xargs`, `bash`.
    pub wrappers: Vec<String>,
    /// Names of the commands whose output it gets through a pipe or a substitution.
    pub input_commands: Vec<String>,
    /// The byte range of its simple command in the line; `None` if the line does not literally contain the command.
    pub span: Option<Range<usize>>,
}

/// A word of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallWord {
    /// The value, with [`UNKNOWN`](crate::context::UNKNOWN) for unknown parts.
    pub text: String,
    /// The byte range in the line; `None` if the line does not literally contain the word.
    pub span: Option<Range<usize>>,
}

impl Call {
    /// Creates the call of a command with known words.
    pub fn of(command: &plain::Simple) -> Self {
        let call_word =
            |word: &plain::Word| CallWord { text: word.text.clone(), span: Some(word.span.clone()) };
        Self {
            words: command.words.iter().map(call_word).collect(),
            redirects: Vec::new(),
            directories: Vec::new(),
            wrappers: Vec::new(),
            input_commands: Vec::new(),
            span: Some(command.span.clone()),
        }
    }

    /// Returns the name of the program, without its folder and without `.exe`.
    pub fn name(&self) -> String {
        let text = self.words.first().map_or("", |word| word.text.as_str());
        let base = text.rsplit('/').next().unwrap_or(text);
        base.strip_suffix(".exe").unwrap_or(base).to_owned()
    }

    /// Returns the words after the name.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        self.words.iter().skip(1).map(|word| word.text.as_str())
    }

    /// Returns the arguments that are not options.
    pub fn operands(&self) -> Vec<&str> {
        let mut options_ended = false;
        self.arguments()
            .filter(|text| {
                if *text == "--" && !options_ended {
                    options_ended = true;
                    return false;
                }
                options_ended || !text.starts_with('-') || *text == "-"
            })
            .collect()
    }

    /// Returns whether an option was given: by its letter, or by its long name or a prefix of that name.
    pub fn has_option(&self, short: Option<char>, long: &str) -> bool {
        self.arguments().take_while(|text| *text != "--").any(|text| {
            if let Some(given) = text.strip_prefix("--") {
                let given = given.split('=').next().unwrap_or(given);
                !given.is_empty() && long.starts_with(given)
            } else {
                short.is_some_and(|short| {
                    text.strip_prefix('-').is_some_and(|letters| letters.contains(short))
                })
            }
        })
    }
}
