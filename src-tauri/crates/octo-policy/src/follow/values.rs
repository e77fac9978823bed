//! What words become, where that is certain.

use super::{Follower, MAX_FORMS, State};
use crate::{
    context::UNKNOWN,
    judge::union,
    plain::{self, Form},
    script::{Command, Part, Quoting, Script, Word},
};

/// A value a variable may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// This text.
    Text(String),
    /// A name that matches this pattern.
    Match(String),
    /// Not known.
    Any,
}

/// The name bash gives the pipe of a process substitution.
const PIPE: &str = "/dev/fd/63";

/// The position of a part in its word.
#[derive(Clone, Copy)]
struct PartPosition<'a> {
    first: bool,
    alone: bool,
    next: Option<&'a Part>,
}

/// A word in the making.
#[derive(Clone)]
struct Making {
    text: String,
    form: Form,
    /// Whether quotes make it a word even when it is empty.
    stands: bool,
}

impl Follower<'_> {
    /// Every way in which a command's words may turn out; `None` if there are too many.
    pub(super) fn forms(&self, words: &[Word], state: &State) -> Option<Vec<Vec<plain::Word>>> {
        let mut forms: Vec<Vec<plain::Word>> = vec![Vec::new()];
        for word in words {
            let values = self.values(word, state)?;
            forms = product(&forms, &values)?;
        }
        Some(forms)
    }

    /// The ways in which one word may turn out, each being the words it becomes; `None` if there are too many.
    pub(super) fn values(&self, word: &Word, state: &State) -> Option<Vec<Vec<plain::Word>>> {
        // Each way; in each, each word braces make of it.
        let empty = Making { text: String::new(), form: Form::Literal, stands: false };
        let mut ways: Vec<Vec<Making>> = vec![vec![empty]];
        for (at, part) in word.parts.iter().enumerate() {
            let before = word.parts.get(..at).unwrap_or_default();
            let next = word.parts.get(at + 1);
            // A pair of quotes that opens is a part without text.
            let first = before.iter().all(|part| matches!(part, Part::Text(text, _) if text.is_empty()));
            let mut more = Vec::new();
            if let Part::Braces(words) = part {
                for way in ways {
                    let texts = |making: &Making| {
                        let making = making.clone();
                        words.iter().map(move |word| making.clone().followed_by(word)).collect::<Vec<_>>()
                    };
                    more.push(way.iter().flat_map(texts).collect::<Vec<_>>());
                }
            } else {
                let alone = word.parts.len() == 1;
                let values = self.part(part, PartPosition { first, alone, next }, state);
                for way in &ways {
                    for value in &values {
                        more.push(way.iter().map(|making| making.clone().with(value)).collect());
                    }
                }
            }
            if more.iter().map(Vec::len).sum::<usize>() > MAX_FORMS {
                return None;
            }
            ways = more;
        }
        let made =
            |making: Making| plain::Word { text: making.text, form: making.form, span: word.span.clone() };
        // An unquoted nothing is no word.
        let is_word =
            |making: &Making| making.stands || !making.text.is_empty() || making.form != Form::Literal;
        Some(ways.into_iter().map(|way| way.into_iter().filter(is_word).map(made).collect()).collect())
    }

    fn part(&self, part: &Part, position: PartPosition<'_>, state: &State) -> Vec<Making> {
        let made =
            |text: &str, form: Form, stands: bool| vec![Making { text: text.to_owned(), form, stands }];
        let unknown = |quoting: &Quoting| match quoting {
            Quoting::Quoted => made(&UNKNOWN.to_string(), Form::Unknown, true),
            Quoting::Bare => made(&UNKNOWN.to_string(), Form::Split, true),
        };
        let path = |path: Option<String>, quoting: &Quoting| match path {
            Some(path) if *quoting == Quoting::Quoted || is_one_word(&path) => {
                made(&path, Form::Literal, true)
            }
            _ => unknown(quoting),
        };
        let begins_path = position.first && begins_path(position.next);
        match part {
            Part::Text(text, quoting) => made(text, Form::Literal, *quoting == Quoting::Quoted),
            Part::Pattern(c) => made(&c.to_string(), Form::Pattern, true),
            // Only at a word's start, and only one's own. Bash does not split it.
            Part::Home(user) if user.is_empty() && begins_path => path(self.home(), &Quoting::Quoted),
            Part::Home(_) => made(&UNKNOWN.to_string(), Form::Unknown, true),
            Part::Number => made(&UNKNOWN.to_string(), Form::Number, true),
            Part::Variable(name, quoting) => match (state.variables.get(name), name.as_str()) {
                (Some(values), _) => values
                    .iter()
                    .flat_map(|value| match (value, quoting) {
                        (Value::Text(text), Quoting::Quoted) => made(text, Form::Literal, true),
                        (Value::Text(text), Quoting::Bare) if is_one_word(text) => {
                            made(text, Form::Literal, false)
                        }
                        // The loop looks whether each name is one word.
                        (Value::Match(pattern), _) => made(pattern, Form::Pattern, true),
                        (_, quoting) => unknown(quoting),
                    })
                    .collect(),
                (None, "HOME") if begins_path => path(self.home(), quoting),
                (None, "PWD") if begins_path => path(self.directory(state), quoting),
                (None, _) => unknown(quoting),
            },
            Part::Command(script, quoting) if is_pwd(script) && begins_path => {
                path(self.directory(state), quoting)
            }
            Part::Process(_) if position.alone => made(PIPE, Form::Pipe, true),
            Part::Command(_, quoting) | Part::Derived(_, quoting) | Part::Opaque(_, quoting) => {
                unknown(quoting)
            }
            Part::Process(_) | Part::Braces(_) => unknown(&Quoting::Bare),
        }
    }

    /// The person's home, as a path.
    fn home(&self) -> Option<String> {
        Some(self.context.home.as_ref()?.to_str()?.to_owned())
    }

    /// The line's directory at this point, as a path that means the same in every other directory.
    fn directory(&self, state: &State) -> Option<String> {
        let places = union(&state.success, &state.failure);
        let [place] = places.as_slice() else { return None };
        let folder = self.context.folder.to_str()?;
        Some(match place.as_str() {
            "." => folder.to_owned(),
            place if place.starts_with('/') => place.to_owned(),
            place => format!("{}/{place}", folder.trim_end_matches('/')),
        })
    }

    /// The values a loop's variable takes from one word, `None` for one that is not known; `None` if there are too
    /// many.
    pub(super) fn loop_values(&self, word: &Word, state: &State) -> Option<Vec<Option<Value>>> {
        let value = |word: plain::Word| match word.form {
            Form::Literal => Some(Value::Text(word.text)),
            Form::Pattern => Some(Value::Match(word.text)),
            Form::Unknown | Form::Split | Form::Number | Form::Pipe | Form::Found => None,
        };
        Some(self.values(word, state)?.into_iter().flatten().map(value).collect())
    }

    /// The value of an assignment, where it is certain. Nothing is split or matched in one.
    pub(super) fn assigned(&self, word: &Word, state: &State) -> Option<Value> {
        if word.parts.iter().any(|part| matches!(part, Part::Braces(_) | Part::Pattern(_))) {
            return None;
        }
        if word.parts.is_empty() {
            return Some(Value::Text(String::new()));
        }
        let forms = self.values(word, state)?;
        let [words] = forms.as_slice() else { return None };
        match words.as_slice() {
            [word] if word.form == Form::Literal => Some(Value::Text(word.text.clone())),
            _ => None,
        }
    }
}

impl Making {
    fn followed_by(mut self, text: &str) -> Self {
        self.text.push_str(text);
        self
    }

    fn with(mut self, value: &Self) -> Self {
        self.text.push_str(&value.text);
        self.stands |= value.stands;
        // The least certain of the two.
        self.form = *CERTAINTY
            .iter()
            .find(|form| **form == self.form || **form == value.form)
            .unwrap_or(&Form::Split);
        self
    }
}

/// Forms of parts, the least certain first: a word is as certain as its least certain part.
const CERTAINTY: &[Form] =
    &[Form::Split, Form::Unknown, Form::Found, Form::Pipe, Form::Pattern, Form::Number, Form::Literal];

/// Returns every item of one list followed by every item of another; `None` if there are too many.
fn product(forms: &[Vec<plain::Word>], values: &[Vec<plain::Word>]) -> Option<Vec<Vec<plain::Word>>> {
    if forms.len() * values.len() > MAX_FORMS {
        return None;
    }
    let joined =
        |before: &Vec<plain::Word>, more: &Vec<plain::Word>| before.iter().chain(more).cloned().collect();
    Some(forms.iter().flat_map(|before| values.iter().map(move |more| joined(before, more))).collect())
}

/// Whether a bare value stays one word and matches nothing.
fn is_one_word(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(|c| c.is_whitespace() || "*?[\\".contains(c))
}

/// Whether what follows makes the word a path below, or ends it.
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
