//! The expansions of words, as far as they are certain.

use super::{Follower, MAX_EXPANSIONS, State};
use crate::{
    context::UNKNOWN,
    judge::union,
    plain::{self, Form},
    script::{Command, Part, Quoting, Script, Word},
};

/// A possible value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// This text.
    Text(String),
    /// The name of a file that matches this pattern.
    Pattern(String),
    /// An unknown value.
    Unknown,
}

/// A name as bash gives it to the pipe of a process substitution.
const PIPE: &str = "/dev/fd/63";

/// The position of a part in its word.
#[derive(Clone, Copy)]
struct PartPosition<'a> {
    is_first: bool,
    is_alone: bool,
    next: Option<&'a Part>,
}

/// A word made from the first parts of a [`Word`].
#[derive(Clone)]
struct PartialWord {
    text: String,
    form: Form,
    /// Whether quotes make it a word even when it is empty.
    keeps_empty: bool,
}

impl Follower<'_> {
    /// Returns every list of words that a command's words may expand to; `None` if there are too many.
    pub(super) fn expansions(&self, words: &[Word], state: &State) -> Option<Vec<Vec<plain::Word>>> {
        let mut expansions: Vec<Vec<plain::Word>> = vec![Vec::new()];
        for word in words {
            let word_expansions = self.word_expansions(word, state)?;
            expansions = product(&expansions, &word_expansions)?;
        }
        Some(expansions)
    }

    /// Returns every list of words that one word may expand to; `None` if there are too many.
    pub(super) fn word_expansions(&self, word: &Word, state: &State) -> Option<Vec<Vec<plain::Word>>> {
        // Each alternative is a list, because braces make several words.
        let empty = PartialWord { text: String::new(), form: Form::Literal, keeps_empty: false };
        let mut alternatives: Vec<Vec<PartialWord>> = vec![vec![empty]];
        for (at, part) in word.parts.iter().enumerate() {
            let before = word.parts.get(..at).unwrap_or_default();
            let next = word.parts.get(at + 1);
            // An opening pair of quotes is a part without text.
            let is_first = before.iter().all(|part| matches!(part, Part::Text(text, _) if text.is_empty()));
            let mut extended = Vec::new();
            if let Part::Braces(words) = part {
                for alternative in alternatives {
                    let texts = |partial: &PartialWord| {
                        let partial = partial.clone();
                        words.iter().map(move |word| partial.clone().with_suffix(word)).collect::<Vec<_>>()
                    };
                    extended.push(alternative.iter().flat_map(texts).collect::<Vec<_>>());
                }
            } else {
                let is_alone = word.parts.len() == 1;
                let values = self.part_values(part, PartPosition { is_first, is_alone, next }, state);
                for alternative in &alternatives {
                    for value in &values {
                        extended
                            .push(alternative.iter().map(|partial| partial.clone().joined(value)).collect());
                    }
                }
            }
            if extended.iter().map(Vec::len).sum::<usize>() > MAX_EXPANSIONS {
                return None;
            }
            alternatives = extended;
        }
        let finish = |partial: PartialWord| plain::Word {
            text: partial.text,
            form: partial.form,
            span: word.span.clone(),
        };
        // An empty expansion outside quotes is no word.
        let is_word = |partial: &PartialWord| {
            partial.keeps_empty || !partial.text.is_empty() || partial.form != Form::Literal
        };
        Some(
            alternatives
                .into_iter()
                .map(|alternative| alternative.into_iter().filter(is_word).map(finish).collect())
                .collect(),
        )
    }

    fn part_values(&self, part: &Part, position: PartPosition<'_>, state: &State) -> Vec<PartialWord> {
        let made = |text: &str, form: Form, keeps_empty: bool| {
            vec![PartialWord { text: text.to_owned(), form, keeps_empty }]
        };
        let unknown = |quoting: &Quoting| match quoting {
            Quoting::Quoted => made(&UNKNOWN.to_string(), Form::Unknown, true),
            Quoting::Unquoted => made(&UNKNOWN.to_string(), Form::Split, true),
        };
        let path = |path: Option<String>, quoting: &Quoting| match path {
            Some(path) if *quoting == Quoting::Quoted || is_one_word(&path) => {
                made(&path, Form::Literal, true)
            }
            _ => unknown(quoting),
        };
        let may_begin_path = position.is_first && begins_path(position.next);
        match part {
            Part::Text(text, quoting) => made(text, Form::Literal, *quoting == Quoting::Quoted),
            Part::Pattern(c) => made(&c.to_string(), Form::Pattern, true),
            // Only the person's own home, and only at the start of a word. Bash does not split it.
            Part::Home(user) if user.is_empty() && may_begin_path => path(self.home(), &Quoting::Quoted),
            Part::Home(_) => made(&UNKNOWN.to_string(), Form::Unknown, true),
            Part::Number => made(&UNKNOWN.to_string(), Form::Number, true),
            Part::Variable(name, quoting) => match (state.variables.get(name), name.as_str()) {
                (Some(values), _) => values
                    .iter()
                    .flat_map(|value| match (value, quoting) {
                        (Value::Text(text), Quoting::Quoted) => made(text, Form::Literal, true),
                        (Value::Text(text), Quoting::Unquoted) if is_one_word(text) => {
                            made(text, Form::Literal, false)
                        }
                        // The loop checks whether each name is one word.
                        (Value::Pattern(pattern), _) => made(pattern, Form::Pattern, true),
                        (_, quoting) => unknown(quoting),
                    })
                    .collect(),
                (None, "HOME") if may_begin_path => path(self.home(), quoting),
                (None, "PWD") if may_begin_path => path(self.directory(state), quoting),
                (None, _) => unknown(quoting),
            },
            Part::Command(script, quoting) if is_pwd(script) && may_begin_path => {
                path(self.directory(state), quoting)
            }
            Part::Process(_) if position.is_alone => made(PIPE, Form::Pipe, true),
            Part::Command(_, quoting) | Part::Derived(_, quoting) | Part::Opaque(_, quoting) => {
                unknown(quoting)
            }
            Part::Process(_) | Part::Braces(_) => unknown(&Quoting::Unquoted),
        }
    }

    /// Returns the path of the person's home.
    fn home(&self) -> Option<String> {
        Some(self.context.home.as_ref()?.to_str()?.to_owned())
    }

    /// Returns the absolute path of the line's directory at this point; `None` if there are several.
    fn directory(&self, state: &State) -> Option<String> {
        let directories = union(&state.after_success, &state.after_failure);
        let [directory] = directories.as_slice() else { return None };
        let folder = self.context.folder.to_str()?;
        Some(match directory.as_str() {
            "." => folder.to_owned(),
            directory if directory.starts_with('/') => directory.to_owned(),
            directory => format!("{}/{directory}", folder.trim_end_matches('/')),
        })
    }

    /// Returns the values that a loop's variable takes from a word, each `None` if unknown; `None` if there are too
    /// many.
    pub(super) fn loop_values(&self, word: &Word, state: &State) -> Option<Vec<Option<Value>>> {
        let value = |word: plain::Word| match word.form {
            Form::Literal => Some(Value::Text(word.text)),
            Form::Pattern => Some(Value::Pattern(word.text)),
            Form::Unknown | Form::Split | Form::Number | Form::Pipe | Form::Found => None,
        };
        Some(self.word_expansions(word, state)?.into_iter().flatten().map(value).collect())
    }

    /// Returns the value of an assignment, in which bash splits and matches nothing; `None` if it is uncertain.
    pub(super) fn assigned_value(&self, word: &Word, state: &State) -> Option<Value> {
        if word.parts.iter().any(|part| matches!(part, Part::Braces(_) | Part::Pattern(_))) {
            return None;
        }
        if word.parts.is_empty() {
            return Some(Value::Text(String::new()));
        }
        let expansions = self.word_expansions(word, state)?;
        let [words] = expansions.as_slice() else { return None };
        match words.as_slice() {
            [word] if word.form == Form::Literal => Some(Value::Text(word.text.clone())),
            _ => None,
        }
    }
}

impl PartialWord {
    fn with_suffix(mut self, text: &str) -> Self {
        self.text.push_str(text);
        self
    }

    fn joined(mut self, value: &Self) -> Self {
        self.text.push_str(&value.text);
        self.keeps_empty |= value.keeps_empty;
        // The less certain of the two.
        self.form = *FORMS_BY_CERTAINTY
            .iter()
            .find(|form| **form == self.form || **form == value.form)
            .unwrap_or(&Form::Split);
        self
    }
}

/// The forms of words, the least certain first. A word is as certain as its least certain part.
const FORMS_BY_CERTAINTY: &[Form] =
    &[Form::Split, Form::Unknown, Form::Found, Form::Pipe, Form::Pattern, Form::Number, Form::Literal];

/// Returns every item of one list followed by every item of another; `None` if there are too many.
fn product(expansions: &[Vec<plain::Word>], values: &[Vec<plain::Word>]) -> Option<Vec<Vec<plain::Word>>> {
    if expansions.len() * values.len() > MAX_EXPANSIONS {
        return None;
    }
    let joined =
        |before: &Vec<plain::Word>, more: &Vec<plain::Word>| before.iter().chain(more).cloned().collect();
    Some(expansions.iter().flat_map(|before| values.iter().map(move |more| joined(before, more))).collect())
}

/// Returns whether an unquoted value stays one word and matches no files.
fn is_one_word(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(|c| c.is_whitespace() || "*?[\\".contains(c))
}

/// Returns whether the next part of a word continues a path with `/`, or the word ends.
fn begins_path(next: Option<&Part>) -> bool {
    match next {
        None => true,
        Some(Part::Text(text, _)) => text.is_empty() || text.starts_with('/'),
        Some(_) => false,
    }
}

fn is_pwd(script: &Script) -> bool {
    let [list] = script.lists.as_slice() else { return false };
    let [(_, pipeline)] = list.pipelines.as_slice() else { return false };
    let [Command::Simple(simple)] = pipeline.stages.as_slice() else { return false };
    let [word] = simple.words.as_slice() else { return false };
    simple.assignments.is_empty() && simple.redirects.is_empty() && word.literal().as_deref() == Some("pwd")
}
