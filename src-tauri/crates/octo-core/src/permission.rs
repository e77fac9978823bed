//! May this call run? A decision on what the call would touch. About files it is pure, for paths are resolved
//! already; a command's folder is looked at (see [`octo_shell::judge_at`]), so commands are decided on beside
//! the async threads, by [`decide_beside`].
//!
//! It fails closed: whatever is not known to be harmless asks, and in the two asking modes an unknown is
//! never a yes.

use octo_protocol::{AskReason, Mode, Rule, TrashTotals};
use octo_shell::{Judgement, Permitted};
use octo_tools::{AsksPerson, CommandEffect, Effects};
use octo_workspace::{is_inside, is_secret};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// What a decision is made on, apart from the call itself.
#[derive(Clone, Debug)]
pub(crate) struct Ground {
    /// The session's mode.
    pub mode: Mode,
    /// The session's folder, resolved.
    pub folder: PathBuf,
    /// Where a command without a folder of its own would run, resolved.
    pub shell_folder: PathBuf,
    /// Folders that may be read without asking: Octo's own logs, outputs, skills and memories, and the
    /// session's scratch folder.
    pub readable: Vec<PathBuf>,
    /// Folders besides the session's that may be written without asking: its scratch folder.
    pub writable: Vec<PathBuf>,
    /// What the person allowed for the session or the folder.
    pub rules: Vec<Rule>,
}

/// What is to be done with a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Run it: the mode, a rule or the policy allows it.
    Run(Basis),
    /// Ask the person.
    Ask {
        /// Why.
        reason: AskReason,
        /// What "always" would allow.
        rule: Option<Rule>,
    },
    /// The call itself is a question to the person.
    Feedback,
}

/// Why a call may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// The person said so: by the mode, a rule, or an answer.
    Person,
    /// It was found harmless; the person was not asked.
    Policy,
}

/// Decides on a call.
pub(crate) fn decide(ground: &Ground, effects: &Effects) -> Decision {
    if effects.asks_person == AsksPerson::Yes {
        return Decision::Feedback;
    }
    // Nothing brings that back, so no mode and no rule covers it. How much it is, is filled in where it is known.
    if let Some(days) = effects.empties_trash {
        let reason = AskReason::EmptiesTrash { totals: TrashTotals::default(), days };
        return Decision::Ask { reason, rule: None };
    }
    if ground.mode == Mode::Autonomous {
        return Decision::Run(Basis::Person);
    }
    let mut basis = Basis::Policy;
    for path in &effects.writes {
        match write(ground, path) {
            Decision::Run(Basis::Policy) => {}
            Decision::Run(Basis::Person) => basis = Basis::Person,
            asks => return asks,
        }
    }
    for path in &effects.reads {
        match read(ground, path) {
            Decision::Run(Basis::Policy) => {}
            Decision::Run(Basis::Person) => basis = Basis::Person,
            asks => return asks,
        }
    }
    match &effects.command {
        Some(effect) => command(ground, effect),
        None => Decision::Run(basis),
    }
}

/// How long looking at a command's folder may take. One on a network that hangs asks instead.
const PATIENCE: Duration = Duration::from_secs(3);

/// As [`decide`], never holding up an async thread. What cannot be decided in bearable time asks.
pub(crate) async fn decide_beside(ground: &Ground, effects: &Effects) -> Decision {
    if effects.command.is_none() {
        return decide(ground, effects);
    }
    let (ground, effects) = (ground.clone(), effects.clone());
    let deciding = tokio::task::spawn_blocking(move || decide(&ground, &effects));
    match tokio::time::timeout(PATIENCE, deciding).await {
        Ok(Ok(decision)) => decision,
        Ok(Err(_)) | Err(_) => {
            tracing::warn!("a command could not be decided on in time");
            Decision::Ask { reason: AskReason::Unparsed, rule: None }
        }
    }
}

/// What would be decided without looking at any folder: whether a call that was let through by another mode
/// may still run. A command that starts is not looked at again, so a stricter mode always stops it.
pub(crate) fn forbids_by_now(ground: &Ground, effects: &Effects) -> bool {
    match effects.command {
        Some(CommandEffect::Start { .. }) => true,
        Some(CommandEffect::Input { .. } | CommandEffect::Control) | None => {
            matches!(decide(ground, effects), Decision::Ask { .. })
        }
    }
}

fn write(ground: &Ground, path: &Path) -> Decision {
    if ground.rules.contains(&Rule::Write { path: path.display().to_string() }) {
        return Decision::Run(Basis::Person);
    }
    let shown = path.display().to_string();
    let rule = Some(Rule::Write { path: shown.clone() });
    let ask = |reason| Decision::Ask { reason, rule: rule.clone() };
    if is_secret(path) {
        return ask(AskReason::Secret { path: shown });
    }
    let scratch = ground.writable.iter().any(|folder| is_inside(folder, path));
    if !scratch && !is_inside(&ground.folder, path) {
        return ask(AskReason::WritesOutside { path: shown });
    }
    if is_protected(path) {
        return ask(AskReason::Protected { path: shown });
    }
    if ground.mode == Mode::Ask && !scratch {
        return ask(AskReason::Mode);
    }
    Decision::Run(Basis::Policy)
}

/// Files that make later commands run something else: a repository's hooks and settings.
fn is_protected(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git"))
}

fn read(ground: &Ground, path: &Path) -> Decision {
    let shown = path.display().to_string();
    let ruled = ground.rules.iter().any(|rule| match rule {
        Rule::Read { path: allowed } => is_inside(Path::new(allowed), path),
        Rule::Write { .. } | Rule::Command { .. } | Rule::Line { .. } => false,
    });
    // A rule for a folder is no rule for the secrets in it.
    if is_secret(path) {
        let exact = Rule::Read { path: shown.clone() };
        return if ground.rules.contains(&exact) {
            Decision::Run(Basis::Person)
        } else {
            Decision::Ask { reason: AskReason::Secret { path: shown }, rule: Some(exact) }
        };
    }
    if ruled {
        return Decision::Run(Basis::Person);
    }
    let open = ground.readable.iter().chain(&ground.writable).any(|folder| is_inside(folder, path));
    if open || is_inside(&ground.folder, path) {
        Decision::Run(Basis::Policy)
    } else {
        let rule = Some(Rule::Read { path: shown.clone() });
        Decision::Ask { reason: AskReason::ReadsOutside { path: shown }, rule }
    }
}

fn command(ground: &Ground, effect: &CommandEffect) -> Decision {
    let (line, cwd, env) = match effect {
        CommandEffect::Start { line, cwd, env } => {
            (line, cwd.as_deref().unwrap_or(&ground.shell_folder), env.as_slice())
        }
        // What is typed into a running program may do anything the program can.
        CommandEffect::Input { .. } => {
            return Decision::Ask { reason: AskReason::Command { part: None }, rule: None };
        }
        CommandEffect::Control => return Decision::Run(Basis::Policy),
    };
    let exact = Rule::Line { line: line.clone() };
    if env.is_empty() && is_inside(&ground.folder, cwd) {
        if ground.rules.contains(&exact) {
            return Decision::Run(Basis::Person);
        }
        let words: Vec<Vec<String>> = ground
            .rules
            .iter()
            .filter_map(|rule| match rule {
                Rule::Command { words } => Some(words.clone()),
                Rule::Line { .. } | Rule::Write { .. } | Rule::Read { .. } => None,
            })
            .collect();
        if let Permitted::Yes { reads } = octo_shell::allowed_at(line, &words, cwd)
            && command_reads(ground, cwd, &reads).is_none()
        {
            return Decision::Run(Basis::Person);
        }
    }
    let judgement = octo_shell::judge_at(line, env, cwd);
    let words_rule = |words: Option<Vec<String>>| words.map(|words| Rule::Command { words });
    match judgement {
        Judgement::ReadOnly { reads } if ground.mode != Mode::Ask => {
            if let Decision::Ask { reason, .. } = read(ground, cwd) {
                // A rule for the folder would open everything below it to every tool.
                return Decision::Ask { reason, rule: None };
            }
            command_reads(ground, cwd, &reads).unwrap_or(Decision::Run(Basis::Policy))
        }
        Judgement::ReadOnly { .. } => Decision::Ask { reason: AskReason::Mode, rule: Some(exact) },
        Judgement::Ask { part, rule } => {
            Decision::Ask { reason: AskReason::Command { part }, rule: words_rule(rule).or(Some(exact)) }
        }
        Judgement::Unparsed => Decision::Ask { reason: AskReason::Unparsed, rule: Some(exact) },
    }
}

/// The first of a command's reads that asks. A word that is no path resolves to a name inside the folder.
fn command_reads(ground: &Ground, cwd: &Path, reads: &[String]) -> Option<Decision> {
    reads.iter().find_map(|word| {
        let decision = match octo_workspace::resolve(word, cwd) {
            Ok(path) => read(ground, &path),
            Err(_) => Decision::Ask { reason: AskReason::ReadsOutside { path: word.clone() }, rule: None },
        };
        match decision {
            // The rule of a read is a rule about that path, not about the command that mentions it.
            Decision::Ask { reason, .. } => Some(Decision::Ask { reason, rule: None }),
            Decision::Run(_) | Decision::Feedback => None,
        }
    })
}

#[cfg(test)]
mod tests;
