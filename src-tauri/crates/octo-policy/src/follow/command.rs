//! Simple commands of a line that is followed.

use super::{
    Course, Follower, State, Step, Stop,
    names::{self, HARMLESS, control, is_private},
    paths::arrival,
    stop_at_line,
    values::Value,
};
use crate::{
    changes::{self, Touch},
    found::{FOUND, FoundFiles, Splitting},
    judge::{PlacedCommand, union},
    plain::{self, Form, Join},
    programs::{self, find::FindCommand},
    script::{Assignment, Plain, Simple, Word},
    search::Search,
};

impl Follower<'_> {
    /// The values of a word that must be one word.
    pub(super) fn one(&self, word: &Word, state: &State) -> Result<Vec<plain::Word>, Stop> {
        let mut words = Vec::new();
        for form in self.values(word, state).ok_or_else(stop_at_line)? {
            match <[plain::Word; 1]>::try_from(form) {
                Ok([word]) if matches!(word.form, Form::Literal | Form::Pattern | Form::Pipe) => {
                    words.push(word)
                }
                _ => return Err(stop_at_line()),
            }
        }
        if words.is_empty() { Err(stop_at_line()) } else { Ok(words) }
    }

    pub(super) fn simple(&mut self, simple: &Simple, state: &mut State, course: Course) -> Step {
        let here = union(&state.success, &state.failure);
        for assignment in &simple.assignments {
            self.inner(&assignment.value, state)?;
        }
        for word in &simple.words {
            self.inner(word, state)?;
        }
        self.redirects(&simple.redirects, state, &here)?;
        if simple.words.is_empty() {
            return self.assign(simple, state, course);
        }
        if names::is_read(simple) {
            return names::read_names(simple).map(|names| state.forget(names)).ok_or_else(stop_at_line);
        }
        if !simple.assignments.iter().all(is_harmless) {
            return Err(stop_at_line());
        }
        let forms = self.forms(&simple.words, state).ok_or_else(stop_at_line)?;
        let mut arrived = Vec::new();
        for words in forms {
            if self.strict && words.iter().any(|word| word.form == Form::Pattern) {
                return Err(stop_at_line());
            }
            let command = plain::Simple {
                join: Join::Sequence,
                words,
                redirects: Vec::new(),
                span: simple.span.clone(),
            };
            arrived = union(&arrived, &self.run(command, &here, simple)?);
        }
        if arrived != here {
            state.failure = here;
            state.success = arrived;
        }
        Ok(())
    }

    /// A line's own variables.
    fn assign(&self, simple: &Simple, state: &mut State, course: Course) -> Step {
        for assignment in &simple.assignments {
            if assignment.plain == Plain::No || !is_private(&assignment.name) {
                return Err(stop_at_line());
            }
            let known = match (course, self.assigned(&assignment.value, state)) {
                (Course::Sure, Some(value)) => vec![value],
                _ => vec![Value::Any],
            };
            state.variables.insert(assignment.name.clone(), known);
        }
        Ok(())
    }

    /// Follows one command with its values; returns the line's directory afterwards if it succeeds.
    fn run(
        &mut self,
        command: plain::Simple,
        here: &[String],
        written: &Simple,
    ) -> Result<Vec<String>, Stop> {
        let words = started_words(&command.words).ok_or_else(stop_at_line)?;
        let (name, arguments) = words.split_first().ok_or_else(stop_at_line)?;
        if name.form != Form::Literal {
            return Err(stop_at_line());
        }
        if name.text == "command" {
            // `command -v` shows what a name means.
            let literal = words.iter().all(|word| word.form == Form::Literal);
            return if literal { Ok(here.to_vec()) } else { Err(stop_at_line()) };
        }
        let command = plain::Simple { words: words.to_vec(), ..command.clone() };
        if control(&name.text, arguments).is_some() {
            return Ok(here.to_vec());
        }
        let mut arrived = here.to_vec();
        match name.text.as_str() {
            "cd" => {
                arrived = arrival(here, &programs::reads("cd", arguments).ok_or_else(stop_at_line)?)
                    .ok_or_else(stop_at_line)?;
                for place in &arrived {
                    self.touch(&[".".to_owned()], Touch::Read(place.clone()))?;
                }
            }
            "xargs" => {
                let started = self.fed(arguments, here).ok_or_else(stop_at_line)?;
                self.start(started, here, written)?;
            }
            "find" => self.find(arguments, here, written)?,
            known => {
                if let Some(reads) = programs::reads(known, arguments) {
                    for read in reads {
                        self.read(here, &read)?;
                    }
                } else if let Some(touched) = changes::touches(known, arguments) {
                    for touch in touched {
                        self.touch(here, touch)?;
                    }
                } else if written.assignments.is_empty()
                    && command.words.iter().all(|word| word.form == Form::Literal)
                    && (self.covers)(&command)
                {
                    self.effects.ruled = true;
                } else {
                    return Err(stop_at_line());
                }
            }
        }
        self.effects.commands.push(PlacedCommand { command, places: here.to_vec() });
        Ok(arrived)
    }

    fn find(&mut self, arguments: &[plain::Word], here: &[String], written: &Simple) -> Step {
        let find = FindCommand::read(arguments).ok_or_else(stop_at_line)?;
        for read in &find.reads {
            self.read(here, read)?;
        }
        for command in find.started.iter().cloned() {
            self.start((command, Some(find.found(Splitting::None))), here, written)?;
        }
        Ok(())
    }

    /// Follows a command that another one starts with the names of files it found. It may only read.
    fn start(
        &mut self,
        started: (Vec<plain::Word>, Option<FoundFiles>),
        here: &[String],
        written: &Simple,
    ) -> Step {
        let (words, found) = started;
        let (name, arguments) = words.split_first().ok_or_else(stop_at_line)?;
        // Another program cannot start a shell's builtin.
        if matches!(name.text.as_str(), "cd" | "find" | "git" | "type" | "ulimit") {
            return Err(stop_at_line());
        }
        let command = plain::Simple {
            join: Join::Sequence,
            words: words.clone(),
            redirects: Vec::new(),
            span: written.span.clone(),
        };
        // Without a name it would search where it is.
        if Search::of(std::slice::from_ref(&command), &|_| true).is_some() {
            return Err(stop_at_line());
        }
        for read in programs::reads(&name.text, arguments).ok_or_else(stop_at_line)? {
            match &found {
                Some(found) if read == FOUND => self.touch(here, Touch::Discover(found.clone()))?,
                _ => self.read(here, &read)?,
            }
        }
        self.effects.commands.push(PlacedCommand { command, places: here.to_vec() });
        Ok(())
    }
}

/// Returns the words after programs that only start another one.
fn started_words(mut words: &[plain::Word]) -> Option<&[plain::Word]> {
    loop {
        let text = |at: usize| {
            words.get(at).filter(|word| word.form == Form::Literal).map(|word| word.text.as_str())
        };
        let skip = match (text(0)?, text(1)) {
            ("command", Some("-v" | "-V")) => return Some(words),
            ("command" | "time" | "nice", Some(word)) if !word.starts_with('-') => 1,
            ("timeout", Some(word)) if word.starts_with(|c: char| c.is_ascii_digit()) => 2,
            ("command", _) => return None,
            _ => return Some(words),
        };
        words = words.get(skip..)?;
    }
}

/// Whether a variable set for one command means nothing to it but a language or a width.
fn is_harmless(assignment: &Assignment) -> bool {
    let value = assignment.value.literal();
    let plain = value.is_some_and(|value| {
        !value.starts_with(['/', ':', '.'])
            && value.chars().all(|c| c.is_ascii_alphanumeric() || "._-/+".contains(c))
    });
    assignment.plain == Plain::Yes && HARMLESS.contains(&assignment.name.as_str()) && plain
}
