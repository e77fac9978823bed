//! Follows a line that both parsers interpret in the same way: the directory of each of its commands, and the
//! paths it touches.
//!
//! The strict counterpart of [`crate::scan`]: anything unknown ends it. An unknown value may appear only where
//! any value is harmless. Variables are followed where nothing is left to chance: a loop over words, a plain
//! assignment that is always made.

mod command;
mod condition;
mod feeds;
mod names;
mod paths;
mod state;
mod values;

use crate::{
    changes::Touch,
    context::LineContext,
    judge::{PlacedCommand, union},
    plain, rules,
    script::{Command, Compound, Document, GroundKind, Joint, Parsed, Part, Pipeline, Quoting, Script, Word},
};
use feeds::Feed;
use names::{is_private, is_shown};
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
    /// The commands with their values and places, for the look at the folder.
    pub commands: Vec<PlacedCommand>,
    /// Whether a rule of the person's was needed.
    pub ruled: bool,
}

/// The command that is not known to be harmless; an empty range when it is the whole line.
#[derive(Debug)]
pub(crate) struct Stop(pub Range<usize>);

/// Returns a rule's decision about a command.
pub(crate) type Covers<'a> = &'a dyn Fn(&plain::Simple) -> bool;

/// Follows a line.
pub(crate) fn follow(
    parsed: &Parsed,
    context: &LineContext,
    covers: Covers<'_>,
) -> Result<LineEffects, Stop> {
    let follower = |strict| Follower {
        documents: &parsed.documents,
        context,
        covers,
        effects: LineEffects::default(),
        strict,
        feed: None,
    };
    let mut first = follower(false);
    first.script(&parsed.script, &mut State::default(), Course::Sure)?;
    if !first.effects.ruled {
        return Ok(first.effects);
    }
    // With a rule the line runs in the person's own environment, where patterns may become options.
    let mut strict = follower(true);
    strict.script(&parsed.script, &mut State::default(), Course::Sure)?;
    Ok(strict.effects)
}

/// Whether a command surely runs once, or perhaps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Course {
    Sure,
    Perhaps,
}

struct Follower<'a> {
    documents: &'a [Document],
    context: &'a LineContext,
    covers: Covers<'a>,
    effects: LineEffects,
    /// Whether the line runs in an environment where only literal words mean what they say.
    strict: bool,
    /// The names that the command being followed reads from a pipe.
    feed: Option<Feed>,
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
                // Each stage is a separate shell: its state does not last.
                let mut feed = None;
                for stage in stages {
                    let mut inner = state.clone();
                    inner.set_places(here.clone());
                    self.feed = feed.take();
                    feed = self.names_from(stage, state, &here);
                    self.command(stage, &mut inner, Course::Perhaps)?;
                    self.feed = None;
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
                    values.extend(self.loop_values(word, state).ok_or_else(stop_at_line)?);
                }
                // An unknown value makes the variable unknown.
                let known: Option<Vec<Value>> = values.into_iter().collect();
                let known = known.filter(|known| known.len() <= MAX_FORMS);
                if uses_bare(body, name) {
                    let here = union(&state.success, &state.failure);
                    for value in known.iter().flatten() {
                        if let Value::Match(pattern) = value {
                            self.touch(&here, Touch::Split(pattern.clone()))?;
                        }
                    }
                }
                state.variables.insert(name.clone(), known.unwrap_or_else(|| vec![Value::Any]));
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
                    for name in names::set_by(simple) {
                        state.variables.insert(name, vec![Value::Any]);
                    }
                }
                Command::Compound { what: Compound::For { name, .. }, .. } => {
                    state.variables.insert(name.clone(), vec![Value::Any]);
                }
                Command::Compound { .. } | Command::Function { .. } => {}
            });
        }
    }

    /// Follows the commands in a word's expansions, which run in separate shells.
    fn inner(&mut self, word: &Word, state: &State) -> Step {
        for part in &word.parts {
            match part {
                Part::Command(script, _) | Part::Process(script) => {
                    let mut inner = state.clone();
                    let here = union(&state.success, &state.failure);
                    inner.set_places(here);
                    self.script(script, &mut inner, Course::Perhaps)?;
                }
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
}

/// Whether a script uses a variable outside quotes, where its value is split and matched against names.
fn uses_bare(script: &Script, name: &str) -> bool {
    let is_use = |part: &Part| matches!(part, Part::Variable(used, Quoting::Bare) if used == name);
    let mut found = false;
    script.each(&mut |command| {
        let words: Vec<&Word> = match command {
            Command::Simple(simple) => {
                let targets = simple.redirects.iter().map(|redirect| &redirect.target);
                simple.words.iter().chain(targets).collect()
            }
            Command::Compound { what, redirects } => {
                what.words().into_iter().chain(redirects.iter().map(|redirect| &redirect.target)).collect()
            }
            Command::Function { .. } => Vec::new(),
        };
        found |= words.iter().flat_map(|word| &word.parts).any(is_use);
    });
    found
}

/// Whether a rule made of words covers a command.
pub(crate) fn covered_by(rules: &[Vec<String>], command: &plain::Simple) -> bool {
    rules::cover(rules, command)
}
