//! Follows a line that both parsers interpret in the same way, to find the directory of each command and the paths
//! that the line touches.
//!
//! This is the strict counterpart of [`crate::scan`]: it stops at anything unknown. An unknown value may appear only
//! where every value is harmless. A variable is known only if its values are certain: in a loop over words, or after a
//! plain assignment that always runs.

mod command;
mod condition;
mod paths;
mod piped_names;
mod state;
mod values;
mod variables;

use crate::{
    changes::Touch,
    context::LineContext,
    judge::{PlacedCommand, union},
    plain, rules,
    script::{Command, Compound, Document, Execution, Join, Parsed, Part, Pipeline, Quoting, Script, Word},
};
use piped_names::PipedNames;
use state::State;
use std::ops::Range;
use values::Value;
use variables::{is_line_variable, may_show};

/// Maximum number of expansions of one command.
const MAX_EXPANSIONS: usize = 128;

/// Maximum number of directories a line may be in at one point.
const MAX_DIRECTORIES: usize = 8;

/// The effects of a line, in order.
#[derive(Debug, Default)]
pub(crate) struct LineEffects {
    /// The touched paths, relative to the line's start.
    pub touched: Vec<Touch>,
    /// The expanded commands and their directories, for the inspection of the folder.
    pub commands: Vec<PlacedCommand>,
    /// Whether the line needs a rule of the person's.
    pub ruled: bool,
}

/// The range of the command that is not known to be harmless; empty for the whole line.
#[derive(Debug)]
pub(crate) struct Stop(pub Range<usize>);

/// Returns whether a rule covers a command.
pub(crate) type Covers<'a> = &'a dyn Fn(&plain::Simple) -> bool;

/// Returns the effects of a line, or the command that is not known to be harmless.
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
        piped_names: None,
    };
    let mut first = follower(false);
    first.script(&parsed.script, &mut State::default(), Certainty::Certain)?;
    if !first.effects.ruled {
        return Ok(first.effects);
    }
    // A line that needs a rule runs in the person's environment, in which names that a pattern matches may be options.
    let mut strict = follower(true);
    strict.script(&parsed.script, &mut State::default(), Certainty::Certain)?;
    Ok(strict.effects)
}

/// The certainty that a command runs exactly once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Certainty {
    Certain,
    Possible,
}

struct Follower<'a> {
    documents: &'a [Document],
    context: &'a LineContext,
    covers: Covers<'a>,
    effects: LineEffects,
    /// Whether patterns are refused, because the line runs in the person's environment.
    strict: bool,
    /// The names that the command being followed reads from a pipe.
    piped_names: Option<PipedNames>,
}

type Step = Result<(), Stop>;

/// Returns the stop of a line without a single unknown command.
fn whole_line_stop() -> Stop {
    Stop(0..0)
}

impl Follower<'_> {
    fn script(&mut self, script: &Script, state: &mut State, certainty: Certainty) -> Step {
        for list in &script.lists {
            // The time at which a background command runs is unknown.
            if list.execution == Execution::Background {
                return Err(whole_line_stop());
            }
            for (at, (join, pipeline)) in list.pipelines.iter().enumerate() {
                let certainty = if at == 0 { certainty } else { Certainty::Possible };
                self.pipeline(pipeline, *join, state, certainty)?;
                if state.after_success.len() + state.after_failure.len() > MAX_DIRECTORIES {
                    return Err(whole_line_stop());
                }
            }
        }
        Ok(())
    }

    fn pipeline(&mut self, pipeline: &Pipeline, join: Join, state: &mut State, certainty: Certainty) -> Step {
        let directories = state.directories(join);
        match pipeline.stages.as_slice() {
            [only] => {
                let mut inner = state.clone();
                inner.set_directories(directories.clone());
                self.command(only, &mut inner, certainty)?;
                let succeeded = union(&inner.after_success, &[]);
                let failed = union(&directories, &inner.after_failure);
                let (success, failure) = match pipeline.negation {
                    crate::script::Negation::No => (succeeded, failed),
                    crate::script::Negation::Yes => (union(&succeeded, &failed), union(&succeeded, &failed)),
                };
                match join {
                    Join::Sequence => {
                        state.after_success = success;
                        state.after_failure = failure;
                    }
                    Join::And => {
                        state.after_failure = union(&state.after_failure, &failure);
                        state.after_success = success;
                    }
                    Join::Or => {
                        state.after_success = union(&state.after_success, &success);
                        state.after_failure = failure;
                    }
                }
                state.variables = inner.variables;
            }
            stages => {
                // Each stage is a separate shell: its state does not last.
                let mut piped_names = None;
                for stage in stages {
                    let mut inner = state.clone();
                    inner.set_directories(directories.clone());
                    self.piped_names = piped_names.take();
                    piped_names = self.printed_names(stage, state, &directories);
                    self.command(stage, &mut inner, Certainty::Possible)?;
                    self.piped_names = None;
                    if union(&inner.after_success, &inner.after_failure) != directories {
                        return Err(whole_line_stop());
                    }
                }
                match join {
                    Join::Sequence => state.set_directories(directories),
                    Join::And => state.after_failure = union(&state.after_failure, &directories),
                    Join::Or => state.after_success = union(&state.after_success, &directories),
                }
            }
        }
        Ok(())
    }

    fn command(&mut self, command: &Command, state: &mut State, certainty: Certainty) -> Step {
        match command {
            Command::Simple(simple) => self
                .simple(simple, state, certainty)
                .map_err(|Stop(span)| Stop(if span.is_empty() { simple.span.clone() } else { span })),
            Command::Compound { compound, redirects } => {
                let directories = union(&state.after_success, &state.after_failure);
                self.redirects(redirects, state, &directories)?;
                self.compound(compound, state, certainty)
            }
            Command::Function { .. } => Err(whole_line_stop()),
        }
    }

    fn compound(&mut self, compound: &Compound, state: &mut State, certainty: Certainty) -> Step {
        match compound {
            Compound::Subshell(script) => {
                let mut inner = state.clone();
                self.script(script, &mut inner, certainty)
            }
            Compound::Group(script) => self.script(script, state, certainty),
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
                if !is_line_variable(name) {
                    return Err(whole_line_stop());
                }
                self.forget(&[body], state);
                let mut values = Vec::new();
                for word in words {
                    self.substitutions(word, state)?;
                    values.extend(self.loop_values(word, state).ok_or_else(whole_line_stop)?);
                }
                // An unknown value makes the variable unknown.
                let known_values: Option<Vec<Value>> = values.into_iter().collect();
                let known_values = known_values.filter(|values| values.len() <= MAX_EXPANSIONS);
                if uses_unquoted(body, name) {
                    let directories = union(&state.after_success, &state.after_failure);
                    for value in known_values.iter().flatten() {
                        if let Value::Pattern(pattern) = value {
                            self.touch(&directories, Touch::Split(pattern.clone()))?;
                        }
                    }
                }
                state.variables.insert(name.clone(), known_values.unwrap_or_else(|| vec![Value::Unknown]));
                self.branch(body, state)?;
                state.variables.remove(name);
                Ok(())
            }
            Compound::Case { word, arms } => {
                self.substitutions(word, state)?;
                self.forget(&arms.iter().map(|(_, script)| script).collect::<Vec<_>>(), state);
                for (patterns, script) in arms {
                    for pattern in patterns {
                        self.substitutions(pattern, state)?;
                    }
                    self.branch(script, state)?;
                }
                Ok(())
            }
            Compound::Test(words) => self.test(words, state),
            Compound::Arithmetic(_) => Err(whole_line_stop()),
        }
    }

    /// Follows a script that may run never, once or several times. It must not change the line's directory.
    fn branch(&mut self, script: &Script, state: &State) -> Step {
        let directories = union(&state.after_success, &state.after_failure);
        let mut inner = state.clone();
        inner.set_directories(directories.clone());
        self.script(script, &mut inner, Certainty::Possible)?;
        if inner
            .after_success
            .iter()
            .chain(&inner.after_failure)
            .all(|directory| directories.contains(directory))
        {
            Ok(())
        } else {
            Err(whole_line_stop())
        }
    }

    /// Makes the variables unknown that these scripts set, because the scripts may not run, or may run again.
    fn forget(&self, scripts: &[&Script], state: &mut State) {
        for script in scripts {
            script.visit_commands(&mut |command| match command {
                Command::Simple(simple) => {
                    for name in variables::variables_set_by(simple) {
                        state.variables.insert(name, vec![Value::Unknown]);
                    }
                }
                Command::Compound { compound: Compound::For { name, .. }, .. } => {
                    state.variables.insert(name.clone(), vec![Value::Unknown]);
                }
                Command::Compound { .. } | Command::Function { .. } => {}
            });
        }
    }

    /// Follows the commands in a word's expansions, which run in separate shells.
    fn substitutions(&mut self, word: &Word, state: &State) -> Step {
        for part in &word.parts {
            match part {
                Part::Command(script, _) | Part::Process(script) => {
                    let mut inner = state.clone();
                    let directories = union(&state.after_success, &state.after_failure);
                    inner.set_directories(directories);
                    self.script(script, &mut inner, Certainty::Possible)?;
                }
                Part::Opaque(..) => return Err(whole_line_stop()),
                // A variable of the environment may hold a key.
                Part::Variable(name, _) | Part::Derived(name, _) if !may_show(name, state) => {
                    return Err(whole_line_stop());
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Returns whether a script uses a variable outside quotes, where bash splits its value and matches it against names.
fn uses_unquoted(script: &Script, name: &str) -> bool {
    let is_use = |part: &Part| matches!(part, Part::Variable(used, Quoting::Unquoted) if used == name);
    let mut found = false;
    script.visit_commands(&mut |command| {
        let words: Vec<&Word> = match command {
            Command::Simple(simple) => {
                let targets = simple.redirects.iter().map(|redirect| &redirect.target);
                simple.words.iter().chain(targets).collect()
            }
            Command::Compound { compound, redirects } => compound
                .words()
                .into_iter()
                .chain(redirects.iter().map(|redirect| &redirect.target))
                .collect(),
            Command::Function { .. } => Vec::new(),
        };
        found |= words.iter().flat_map(|word| &word.parts).any(is_use);
    });
    found
}

/// Returns whether a rule made of words covers a command.
pub(crate) fn covered_by(rules: &[Vec<String>], command: &plain::Simple) -> bool {
    rules::cover(rules, command)
}
