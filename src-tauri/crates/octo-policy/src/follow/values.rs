//! What words become, where that is certain.

use super::{Follower, MAX_FORMS, State};
use crate::{
    context::UNKNOWN,
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

/// A word in the making.
#[derive(Clone)]
struct Making {
    text: String,
    form: Form,
    /// Whether quotes make it a word even when it is empty.
    stands: bool,
}

impl Follower<'_> {
    /// Every way in which a command's words may turn out; none when there are too many.
    pub(super) fn forms(&self, words: &[Word], state: &State) -> Option<Vec<Vec<plain::Word>>> {
        let mut forms: Vec<Vec<plain::Word>> = vec![Vec::new()];
        for word in words {
            let values = self.values(word, state);
            if forms.len() * values.len() > MAX_FORMS {
                return None;
            }
            forms = forms
                .iter()
                .flat_map(|before| {
                    values.iter().map(move |more| before.iter().chain(more).cloned().collect())
                })
                .collect();
        }
        Some(forms)
    }

    /// The ways in which one word may turn out: each is the words it becomes.
    pub(super) fn values(&self, word: &Word, state: &State) -> Vec<Vec<plain::Word>> {
        // Each way; in each, each word braces make of it.
        let empty = Making { text: String::new(), form: Form::Literal, stands: false };
        let mut ways: Vec<Vec<Making>> = vec![vec![empty]];
        for (at, part) in word.parts.iter().enumerate() {
            let next = word.parts.get(at + 1);
            // A pair of quotes that opens is a part without text.
            let first =
                word.parts.iter().take(at).all(|part| matches!(part, Part::Text(text, _) if text.is_empty()));
            ways = match part {
                Part::Braces(words) => ways
                    .into_iter()
                    .map(|way| {
                        way.iter()
                            .flat_map(|making| {
                                words.iter().map(|word| Making {
                                    text: format!("{}{word}", making.text),
                                    ..making.clone()
                                })
                            })
                            .collect()
                    })
                    .collect(),
                _ => {
                    let values = self.part(part, first, next, state);
                    ways.into_iter()
                        .flat_map(|way| {
                            values.iter().map(move |value| {
                                way.iter().map(|making| making.clone().with(value)).collect::<Vec<_>>()
                            })
                        })
                        .take(MAX_FORMS + 1)
                        .collect()
                }
            };
        }
        ways.into_iter()
            .map(|way| {
                way.into_iter()
                    // An unquoted nothing is no word.
                    .filter(|making| making.stands || !making.text.is_empty() || making.form != Form::Literal)
                    .map(|making| plain::Word {
                        text: making.text,
                        form: making.form,
                        span: word.span.clone(),
                    })
                    .collect()
            })
            .collect()
    }

    fn part(&self, part: &Part, first: bool, next: Option<&Part>, state: &State) -> Vec<Making> {
        let made =
            |text: &str, form: Form, stands: bool| vec![Making { text: text.to_owned(), form, stands }];
        let unknown = |quoting: &Quoting| match quoting {
            Quoting::Quoted => made(&UNKNOWN.to_string(), Form::Unknown, true),
            Quoting::Bare => made(&UNKNOWN.to_string(), Form::Split, true),
        };
        match part {
            Part::Text(text, quoting) => made(text, Form::Literal, *quoting == Quoting::Quoted),
            Part::Pattern(c) => made(&c.to_string(), Form::Pattern, true),
            // Only at a word's start, and only one's own.
            Part::Home(user) if user.is_empty() && first => made("~", Form::Literal, true),
            Part::Home(_) => made(&UNKNOWN.to_string(), Form::Unknown, true),
            Part::Number => made("0", Form::Literal, true),
            Part::Variable(name, quoting) => {
                let Some(values) = state.variables.get(name) else {
                    return if name == "HOME" && first && begins_path(next) {
                        made("~", Form::Literal, true)
                    } else if name == "PWD" && first && begins_path(next) {
                        made(".", Form::Literal, true)
                    } else {
                        unknown(quoting)
                    };
                };
                values
                    .iter()
                    .flat_map(|value| match (value, quoting) {
                        (Value::Text(text), Quoting::Quoted) => made(text, Form::Literal, true),
                        (Value::Text(text), Quoting::Bare) if is_one_word(text) => {
                            made(text, Form::Literal, false)
                        }
                        (Value::Match(pattern), Quoting::Quoted) => made(pattern, Form::Pattern, true),
                        (_, quoting) => unknown(quoting),
                    })
                    .collect()
            }
            Part::Command(script, _) if is_pwd(script) && first && begins_path(next) => {
                made(".", Form::Literal, true)
            }
            Part::Command(_, quoting) | Part::Derived(_, quoting) | Part::Opaque(_, quoting) => {
                unknown(quoting)
            }
            Part::Process(_) | Part::Braces(_) => unknown(&Quoting::Bare),
        }
    }

    /// The values a loop's variable takes from one word; none of them known when the word is not.
    pub(super) fn loop_values(&self, word: &Word, state: &State) -> Vec<Option<Value>> {
        let forms = self.values(word, state);
        forms
            .into_iter()
            .flatten()
            .map(|word| match word.form {
                Form::Literal => Some(Value::Text(word.text)),
                Form::Pattern => Some(Value::Match(word.text)),
                Form::Unknown | Form::Split => None,
            })
            .collect()
    }

    /// The value of an assignment, where it is certain. Nothing is split or matched in one.
    pub(super) fn assigned(&self, word: &Word, state: &State) -> Option<Value> {
        if word.parts.iter().any(|part| matches!(part, Part::Braces(_) | Part::Pattern(_))) {
            return None;
        }
        if word.parts.is_empty() {
            return Some(Value::Text(String::new()));
        }
        let forms = self.values(word, state);
        let [words] = forms.as_slice() else { return None };
        match words.as_slice() {
            [word] if word.form == Form::Literal => Some(Value::Text(word.text.clone())),
            _ => None,
        }
    }
}

impl Making {
    fn with(mut self, value: &Self) -> Self {
        self.text.push_str(&value.text);
        self.stands |= value.stands;
        self.form = match (self.form, value.form) {
            (Form::Split, _) | (_, Form::Split) => Form::Split,
            (Form::Unknown, _) | (_, Form::Unknown) => Form::Unknown,
            (Form::Pattern, _) | (_, Form::Pattern) => Form::Pattern,
            (Form::Literal, Form::Literal) => Form::Literal,
        };
        self
    }
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
