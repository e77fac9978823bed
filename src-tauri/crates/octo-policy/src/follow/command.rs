//! Follows the simple commands of a line.

use super::{
    Certainty, Follower, State, Step, Stop,
    paths::cd_targets,
    values::Value,
    variables::{self, HARMLESS_VARIABLES, is_control_command, is_line_variable},
    whole_line_stop,
};
use crate::{
    changes::{self, Touch},
    found::{FOUND, FoundFiles, Splitting},
    judge::{PlacedCommand, union},
    plain::{self, Form, Join},
    programs::{self, find::FindCommand},
    script::{Assignment, AssignmentForm, Simple, Word},
    search::Search,
};

impl Follower<'_> {
    /// Returns the possible values of a word, each of which must be a single word.
    pub(super) fn single_words(&self, word: &Word, state: &State) -> Result<Vec<plain::Word>, Stop> {
        let mut single = Vec::new();
        for words in self.word_expansions(word, state).ok_or_else(whole_line_stop)? {
            match <[plain::Word; 1]>::try_from(words) {
                Ok([word]) if matches!(word.form, Form::Literal | Form::Pattern | Form::Pipe) => {
                    single.push(word)
                }
                _ => return Err(whole_line_stop()),
            }
        }
        if single.is_empty() { Err(whole_line_stop()) } else { Ok(single) }
    }

    pub(super) fn simple(&mut self, simple: &Simple, state: &mut State, certainty: Certainty) -> Step {
        let directories = union(&state.after_success, &state.after_failure);
        for assignment in &simple.assignments {
            self.substitutions(&assignment.value, state)?;
        }
        for word in &simple.words {
            self.substitutions(word, state)?;
        }
        self.redirects(&simple.redirects, state, &directories)?;
        if simple.words.is_empty() {
            return self.assign(simple, state, certainty);
        }
        if variables::is_read_builtin(simple) {
            return variables::variables_of_read(simple)
                .map(|names| state.forget(names))
                .ok_or_else(whole_line_stop);
        }
        if !simple.assignments.iter().all(is_harmless) {
            return Err(whole_line_stop());
        }
        let expansions = self.expansions(&simple.words, state).ok_or_else(whole_line_stop)?;
        let mut targets = Vec::new();
        for words in expansions {
            if self.strict && words.iter().any(|word| word.form == Form::Pattern) {
                return Err(whole_line_stop());
            }
            let command = plain::Simple {
                join: Join::Sequence,
                words,
                redirects: Vec::new(),
                span: simple.span.clone(),
            };
            targets = union(&targets, &self.run(command, &directories, simple)?);
        }
        if targets != directories {
            state.after_failure = directories;
            state.after_success = targets;
        }
        Ok(())
    }

    /// Follows a command that only assigns variables.
    fn assign(&self, simple: &Simple, state: &mut State, certainty: Certainty) -> Step {
        for assignment in &simple.assignments {
            if assignment.form == AssignmentForm::Other || !is_line_variable(&assignment.name) {
                return Err(whole_line_stop());
            }
            let values = match (certainty, self.assigned_value(&assignment.value, state)) {
                (Certainty::Certain, Some(value)) => vec![value],
                _ => vec![Value::Unknown],
            };
            state.variables.insert(assignment.name.clone(), values);
        }
        Ok(())
    }

    /// Follows one expansion of a command; `source` is the command as written. Returns the directories the line is in
    /// if the command succeeds.
    fn run(
        &mut self,
        command: plain::Simple,
        directories: &[String],
        source: &Simple,
    ) -> Result<Vec<String>, Stop> {
        let words = started_words(&command.words).ok_or_else(whole_line_stop)?;
        let (name, arguments) = words.split_first().ok_or_else(whole_line_stop)?;
        if name.form != Form::Literal {
            return Err(whole_line_stop());
        }
        if name.text == "command" {
            // `command -v` shows the meaning of a name.
            let literal = words.iter().all(|word| word.form == Form::Literal);
            return if literal { Ok(directories.to_vec()) } else { Err(whole_line_stop()) };
        }
        let command = plain::Simple { words: words.to_vec(), ..command.clone() };
        if is_control_command(&name.text, arguments) {
            return Ok(directories.to_vec());
        }
        let mut targets = directories.to_vec();
        match name.text.as_str() {
            "cd" => {
                targets =
                    cd_targets(directories, &programs::reads("cd", arguments).ok_or_else(whole_line_stop)?)
                        .ok_or_else(whole_line_stop)?;
                for target in &targets {
                    self.touch(&[".".to_owned()], Touch::Read(target.clone()))?;
                }
            }
            "xargs" => {
                let started = self.xargs_command(arguments, directories).ok_or_else(whole_line_stop)?;
                self.start(started, directories, source)?;
            }
            "find" => self.find(arguments, directories, source)?,
            program => {
                if let Some(reads) = programs::reads(program, arguments) {
                    for read in reads {
                        self.read(directories, &read)?;
                    }
                } else if let Some(touched) = changes::touches(program, arguments) {
                    for touch in touched {
                        self.touch(directories, touch)?;
                    }
                } else if source.assignments.is_empty()
                    && command.words.iter().all(|word| word.form == Form::Literal)
                    && (self.covers)(&command)
                {
                    self.effects.ruled = true;
                } else {
                    return Err(whole_line_stop());
                }
            }
        }
        self.effects.commands.push(PlacedCommand { command, directories: directories.to_vec() });
        Ok(targets)
    }

    fn find(&mut self, arguments: &[plain::Word], directories: &[String], source: &Simple) -> Step {
        let find = FindCommand::read(arguments).ok_or_else(whole_line_stop)?;
        for read in &find.reads {
            self.read(directories, read)?;
        }
        for command in find.started.iter().cloned() {
            self.start((command, Some(find.found(Splitting::None))), directories, source)?;
        }
        Ok(())
    }

    /// Follows a command that another command starts with the names of files it found. It may only read.
    fn start(
        &mut self,
        started: (Vec<plain::Word>, Option<FoundFiles>),
        directories: &[String],
        source: &Simple,
    ) -> Step {
        let (words, found) = started;
        let (name, arguments) = words.split_first().ok_or_else(whole_line_stop)?;
        // A program cannot start a builtin of the shell.
        if matches!(name.text.as_str(), "cd" | "find" | "git" | "type" | "ulimit") {
            return Err(whole_line_stop());
        }
        let command = plain::Simple {
            join: Join::Sequence,
            words: words.clone(),
            redirects: Vec::new(),
            span: source.span.clone(),
        };
        // Without a file name the command would search its directory.
        if Search::of(std::slice::from_ref(&command), &|_| true).is_some() {
            return Err(whole_line_stop());
        }
        for read in programs::reads(&name.text, arguments).ok_or_else(whole_line_stop)? {
            match &found {
                Some(found) if read == FOUND => self.touch(directories, Touch::Discover(found.clone()))?,
                _ => self.read(directories, &read)?,
            }
        }
        self.effects.commands.push(PlacedCommand { command, directories: directories.to_vec() });
        Ok(())
    }
}

/// Returns the words of the command that `command`, `time`, `nice` or `timeout` starts; `None` if they are unknown.
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

/// Returns whether an assignment for a single command sets only a language, a width or the like.
fn is_harmless(assignment: &Assignment) -> bool {
    let value = assignment.value.literal();
    let plain = value.is_some_and(|value| {
        !value.starts_with(['/', ':', '.'])
            && !value.contains("..")
            && value.chars().all(|c| c.is_ascii_alphanumeric() || "._-/+".contains(c))
    });
    assignment.form == AssignmentForm::Plain
        && HARMLESS_VARIABLES.contains(&assignment.name.as_str())
        && plain
}
