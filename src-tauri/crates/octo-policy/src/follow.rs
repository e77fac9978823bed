//! Follows a line that both parsers interpret in the same way: the directory of each of its commands, and the
//! paths it touches.
//!
//! The strict counterpart of [`crate::scan`]: anything unknown ends it. An unknown value may appear only where
//! any value is harmless. Variables are followed where nothing is left to chance: a loop over words, a plain
//! assignment that is always made.

mod names;
mod paths;
mod state;
mod values;

use crate::{
    changes::{self, Touch},
    context::UNKNOWN,
    judge::{seen_from, union},
    options::{self, Reads},
    plain::{self, Form, Join},
    rules,
    script::{
        Command, Compound, Document, GroundKind, Joint, Parsed, Part, Pipeline, Plain, Script, Simple, Word,
    },
    table,
};
use names::{HARMLESS, control, is_private, is_shown};
use state::State;
use std::ops::Range;
use values::Value;

/// The maximum number of value combinations with which one command is checked.
const MAX_FORMS: usize = 128;

/// Folders a line may be in at one point.
const MAX_PLACES: usize = 8;

/// The effects of a line, in order.
#[derive(Debug, Default)]
pub(crate) struct LineEffects {
    /// The touched paths, relative to the line's start.
    pub touched: Vec<Touch>,
    /// The commands with their values, for the look at the folder.
    pub commands: Vec<plain::Simple>,
    /// Whether a rule of the person's was needed.
    pub ruled: bool,
}

/// The command that is not known to be harmless; an empty range when it is the whole line.
#[derive(Debug)]
pub(crate) struct Stop(pub Range<usize>);

/// Returns a rule's decision about a command.
pub(crate) type Covers<'a> = &'a dyn Fn(&plain::Simple) -> bool;

/// Follows a line.
pub(crate) fn follow(parsed: &Parsed, covers: Covers<'_>) -> Result<LineEffects, Stop> {
    let mut follower =
        Follower { documents: &parsed.documents, covers, found: LineEffects::default(), strict: false };
    let mut state = State::default();
    follower.script(&parsed.script, &mut state, Course::Sure)?;
    if follower.found.ruled {
        // With a rule the line runs in the person's own environment, where patterns may become options.
        follower =
            Follower { documents: &parsed.documents, covers, found: LineEffects::default(), strict: true };
        follower.script(&parsed.script, &mut State::default(), Course::Sure)?;
    }
    Ok(follower.found)
}

/// Whether a command surely runs once, or perhaps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Course {
    Sure,
    Perhaps,
}

struct Follower<'a> {
    documents: &'a [Document],
    covers: Covers<'a>,
    found: LineEffects,
    /// Whether the line runs in an environment where only literal words mean what they say.
    strict: bool,
}

type Step = Result<(), Stop>;

fn stop_at_line() -> Stop {
    Stop(0..0)
}

impl Follower<'_> {
    fn script(&mut self, script: &Script, state: &mut State, course: Course) -> Step {
        for list in &script.lists {
            // A background command runs at an unknown time.
            if list.ground == GroundKind::Back {
                return Err(stop_at_line());
            }
            for (at, (joint, pipeline)) in list.pipelines.iter().enumerate() {
                let course = if at == 0 { course } else { Course::Perhaps };
                self.pipeline(pipeline, *joint, state, course)?;
                if state.success.len() + state.failure.len() > MAX_PLACES {
                    return Err(stop_at_line());
                }
            }
        }
        Ok(())
    }

    fn pipeline(&mut self, pipeline: &Pipeline, joint: Joint, state: &mut State, course: Course) -> Step {
        let here = state.here(joint);
        match pipeline.stages.as_slice() {
            [only] => {
                let mut inner = state.clone();
                inner.set_places(here.clone());
                self.command(only, &mut inner, course)?;
                let arrived = union(&inner.success, &[]);
                let failed = union(&here, &inner.failure);
                let (success, failure) = match pipeline.negated {
                    crate::script::Negated::No => (arrived, failed),
                    crate::script::Negated::Yes => (union(&arrived, &failed), union(&arrived, &failed)),
                };
                match joint {
                    Joint::Sequence => {
                        state.success = success;
                        state.failure = failure;
                    }
                    Joint::And => {
                        state.failure = union(&state.failure, &failure);
                        state.success = success;
                    }
                    Joint::Or => {
                        state.success = union(&state.success, &success);
                        state.failure = failure;
                    }
                }
                state.variables = inner.variables;
            }
            stages => {
                // Each stage is a shell of its own: nothing of it lasts.
                for stage in stages {
                    let mut inner = state.clone();
                    inner.set_places(here.clone());
                    self.command(stage, &mut inner, Course::Perhaps)?;
                    if union(&inner.success, &inner.failure) != here {
                        return Err(stop_at_line());
                    }
                }
                match joint {
                    Joint::Sequence => state.set_places(here),
                    Joint::And => state.failure = union(&state.failure, &here),
                    Joint::Or => state.success = union(&state.success, &here),
                }
            }
        }
        Ok(())
    }

    fn command(&mut self, command: &Command, state: &mut State, course: Course) -> Step {
        match command {
            Command::Simple(simple) => self
                .simple(simple, state, course)
                .map_err(|Stop(span)| Stop(if span.is_empty() { simple.span.clone() } else { span })),
            Command::Compound { what, redirects } => {
                let here = union(&state.success, &state.failure);
                self.redirects(redirects, state, &here)?;
                self.compound(what, state, course)
            }
            Command::Function { .. } => Err(stop_at_line()),
        }
    }

    fn compound(&mut self, what: &Compound, state: &mut State, course: Course) -> Step {
        match what {
            Compound::Subshell(script) => {
                let mut inner = state.clone();
                self.script(script, &mut inner, course)
            }
            Compound::Group(script) => self.script(script, state, course),
            Compound::If(scripts) => {
                self.forget(&scripts.iter().collect::<Vec<_>>(), state);
                scripts.iter().try_for_each(|script| self.branch(script, state))
            }
            Compound::While { condition, body } => {
                self.forget(&[condition, body], state);
                self.branch(condition, state)?;
                self.branch(body, state)
            }
            Compound::For { name, words, body } => {
                if !is_private(name) {
                    return Err(stop_at_line());
                }
                self.forget(&[body], state);
                let mut values = Vec::new();
                for word in words {
                    self.inner(word, state)?;
                    values.extend(self.loop_values(word, state));
                }
                // A value that is not known makes the variable one.
                if values.len() <= MAX_FORMS && values.iter().all(Option::is_some) {
                    state.variables.insert(name.clone(), values.into_iter().flatten().collect());
                } else {
                    state.variables.insert(name.clone(), vec![Value::Any]);
                }
                self.branch(body, state)?;
                state.variables.remove(name);
                Ok(())
            }
            Compound::Case { word, arms } => {
                self.inner(word, state)?;
                self.forget(&arms.iter().map(|(_, script)| script).collect::<Vec<_>>(), state);
                for (patterns, script) in arms {
                    for pattern in patterns {
                        self.inner(pattern, state)?;
                    }
                    self.branch(script, state)?;
                }
                Ok(())
            }
            Compound::Test(words) => self.test(words, state),
            Compound::Arithmetic(_) => Err(stop_at_line()),
        }
    }

    /// Follows a part that may run or not, or several times: it must leave the line in its directory.
    fn branch(&mut self, script: &Script, state: &State) -> Step {
        let here = union(&state.success, &state.failure);
        let mut inner = state.clone();
        inner.set_places(here.clone());
        self.script(script, &mut inner, Course::Perhaps)?;
        if inner.success.iter().chain(&inner.failure).all(|place| here.contains(place)) {
            Ok(())
        } else {
            Err(stop_at_line())
        }
    }

    /// Variables that are set in parts that may not run are not known afterwards, nor when they run again.
    fn forget(&self, scripts: &[&Script], state: &mut State) {
        for script in scripts {
            script.each(&mut |command| match command {
                Command::Simple(simple) => {
                    for assignment in &simple.assignments {
                        state.variables.insert(assignment.name.clone(), vec![Value::Any]);
                    }
                }
                Command::Compound { what: Compound::For { name, .. }, .. } => {
                    state.variables.insert(name.clone(), vec![Value::Any]);
                }
                Command::Compound { .. } | Command::Function { .. } => {}
            });
        }
    }

    /// The commands in a word's expansions: shells of their own.
    fn inner(&mut self, word: &Word, state: &State) -> Step {
        for part in &word.parts {
            match part {
                Part::Command(script, _) => {
                    let mut inner = state.clone();
                    let here = union(&state.success, &state.failure);
                    inner.set_places(here);
                    self.script(script, &mut inner, Course::Perhaps)?;
                }
                Part::Process(_) => return Err(stop_at_line()),
                Part::Opaque(..) => return Err(stop_at_line()),
                // What the environment holds may be a key.
                Part::Variable(name, _) | Part::Derived(name, _) if !is_shown(name, state) => {
                    return Err(stop_at_line());
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn test(&mut self, words: &[Word], state: &State) -> Step {
        const FILES: &[&str] = &["-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h"];
        const NUMBERS: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
        let here = union(&state.success, &state.failure);
        let texts: Vec<Option<String>> = words.iter().map(Word::literal).collect();
        let numeric = texts.iter().flatten().any(|text| NUMBERS.contains(&text.as_str()));
        for (at, word) in words.iter().enumerate() {
            self.inner(word, state)?;
            let number = word.parts.iter().all(|part| matches!(part, Part::Number));
            let text = texts.get(at).cloned().flatten();
            if let Some(text) = &text
                && text.starts_with('-')
                && !FILES.contains(&text.as_str())
                && !NUMBERS.contains(&text.as_str())
                && !matches!(text.as_str(), "-z" | "-n")
            {
                return Err(stop_at_line());
            }
            let digits = |text: &str| NUMBERS.contains(&text) || text.chars().all(|c| c.is_ascii_digit());
            if numeric && !number && !text.as_deref().is_some_and(digits) {
                return Err(stop_at_line());
            }
            let before = at.checked_sub(1).and_then(|at| texts.get(at)).cloned().flatten();
            if before.is_some_and(|before| FILES.contains(&before.as_str())) {
                for word in self.one(word, state)? {
                    self.read(&here, &word.text)?;
                }
            }
        }
        Ok(())
    }

    /// The values of a word that must be one word.
    fn one(&self, word: &Word, state: &State) -> Result<Vec<plain::Word>, Stop> {
        let forms = self.values(word, state);
        let mut words = Vec::new();
        for form in forms {
            match <[plain::Word; 1]>::try_from(form) {
                Ok([word]) if !matches!(word.form, Form::Unknown | Form::Split) => words.push(word),
                _ => return Err(stop_at_line()),
            }
        }
        if words.is_empty() { Err(stop_at_line()) } else { Ok(words) }
    }

    fn simple(&mut self, simple: &Simple, state: &mut State, course: Course) -> Step {
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
        for assignment in &simple.assignments {
            let value = assignment.value.literal();
            let harmless = value.is_some_and(|value| {
                !value.starts_with(['/', ':', '.'])
                    && value.chars().all(|c| c.is_ascii_alphanumeric() || "._-/+".contains(c))
            });
            if assignment.plain == Plain::No || !HARMLESS.contains(&assignment.name.as_str()) || !harmless {
                return Err(stop_at_line());
            }
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
        let mut words = command.words.as_slice();
        // Programs that do nothing but start another one.
        loop {
            let Some(name) = words.first().filter(|name| name.form == Form::Literal) else {
                return Err(stop_at_line());
            };
            let next = |at: usize| {
                words.get(at).filter(|word| word.form == Form::Literal).map(|word| word.text.as_str())
            };
            let skip = match (name.text.as_str(), next(1)) {
                ("command", Some(word)) if !word.starts_with('-') => 1,
                ("command", Some("-v" | "-V")) => {
                    return if words.iter().all(|word| word.form == Form::Literal) {
                        Ok(here.to_vec())
                    } else {
                        Err(stop_at_line())
                    };
                }
                ("time", Some(word)) if !word.starts_with('-') => 1,
                ("nice", Some(word)) if !word.starts_with('-') => 1,
                ("timeout", Some(word)) if word.starts_with(|c: char| c.is_ascii_digit()) => 2,
                _ => break,
            };
            words = words.get(skip..).unwrap_or_default();
        }
        let (name, arguments) = words.split_first().ok_or_else(stop_at_line)?;
        let command = plain::Simple { words: words.to_vec(), ..command.clone() };
        if let Some(()) = control(&name.text, arguments) {
            return Ok(here.to_vec());
        }
        let mut arrived = here.to_vec();
        let reads = table::find(&name.text).and_then(|tool| options::reads(tool, arguments));
        if let Some(reads) = reads {
            if name.text == "cd" {
                let folder: Reads = reads.last().cloned().into_iter().collect();
                arrived = match folder.first() {
                    Some(home) if home.starts_with('~') => folder,
                    Some(text) if !text.contains(UNKNOWN) => {
                        seen_from(here, &folder).ok_or_else(stop_at_line)?
                    }
                    _ => return Err(stop_at_line()),
                };
            }
            for read in reads {
                self.read(here, &read)?;
            }
        } else if let Some(touched) = changes::touches(&name.text, arguments) {
            for touch in touched {
                self.touch(here, touch)?;
            }
        } else if written.assignments.is_empty()
            && command.words.iter().all(|word| word.form == Form::Literal)
            && (self.covers)(&command)
        {
            self.found.ruled = true;
        } else {
            return Err(stop_at_line());
        }
        self.found.commands.push(command);
        Ok(arrived)
    }
}

/// Whether a rule made of words covers a command.
pub(crate) fn covered_by(rules: &[Vec<String>], command: &plain::Simple) -> bool {
    rules::cover(rules, command)
}
