//! A decision about a call, and the facts about a command that do not depend on it.

use octo_policy::{DecisionEntry, Doubtful, Footprint, LastingPart, LoggedVerdict, Verdict};
use octo_protocol::{AskReason, Millis, Refusal, Risk, Rule, SessionId};
use octo_tools::{CommandEffect, Effects};
use std::path::{Path, PathBuf};

/// A decision with its accompanying facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallDecision {
    /// The decision.
    pub decision: Decision,
    /// The command line to run instead of the given one.
    pub rewritten: Option<String>,
    /// The facts about a command.
    pub facts: CommandFacts,
}

/// The facts about a command, whatever the decision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CommandFacts {
    /// Whether it is known to change nothing.
    pub only_reads: bool,
    /// Its effect that always asks, if any.
    pub risk: Option<Risk>,
    /// Whether the person has a rule for part of it.
    pub has_rule: bool,
    /// Paths it is known to read, resolved.
    pub reads: Vec<PathBuf>,
    /// Paths it is known to change, resolved.
    pub writes: Vec<PathBuf>,
    /// How much of its effects is known.
    pub extent: KnownExtent,
    /// Its irreversible effects apart from files.
    pub lasting: Vec<LastingPart>,
    /// The names on which it relies and those it changes, for concurrent calls.
    pub footprint: Footprint,
}

/// How much of a command's effects is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum KnownExtent {
    /// Everything, from its words.
    All,
    /// Only what its words name, which may be incomplete.
    #[default]
    Part,
}

impl CommandFacts {
    pub(super) fn of(verdict: &Verdict, lasting: Vec<LastingPart>, cwd: &Path) -> Self {
        let resolved = |words: &[String]| -> Vec<PathBuf> {
            words.iter().filter_map(|word| octo_workspace::resolve(word, cwd).ok()).collect()
        };
        match verdict {
            Verdict::Known(paths) | Verdict::Ruled(paths) => Self {
                only_reads: matches!(verdict, Verdict::Known(_))
                    && paths.writes.is_empty()
                    && paths.removes.is_empty()
                    && paths.repositories.is_empty(),
                risk: None,
                reads: resolved(&paths.reads),
                writes: resolved(&[paths.writes.as_slice(), paths.removes.as_slice()].concat())
                    .into_iter()
                    .chain(paths.repositories.iter().cloned())
                    .collect(),
                has_rule: matches!(verdict, Verdict::Ruled(_)),
                extent: if matches!(verdict, Verdict::Known(_)) {
                    KnownExtent::All
                } else {
                    KnownExtent::Part
                },
                lasting,
                footprint: paths.footprint,
            },
            Verdict::Ask { why: Doubtful::Risky { risk, .. }, .. } => {
                Self { risk: Some(*risk), lasting, ..Self::default() }
            }
            Verdict::Ask { .. } | Verdict::Deny { .. } => Self { lasting, ..Self::default() },
        }
    }
}

/// The decision on a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Run it: the mode, a rule or the policy allows it.
    Run(RunBasis),
    /// Ask the person.
    Ask {
        /// The reason.
        reason: AskReason,
        /// The rule that "always" would add.
        rule: Option<Rule>,
    },
    /// The call itself is a question to the person.
    Feedback,
    /// It is denied, whatever the mode and the rules.
    Deny {
        /// The reason.
        refusal: Refusal,
        /// The denied command line or path.
        subject: String,
        /// The part that causes the denial, if it can be named.
        part: Option<String>,
    },
}

/// Why a call may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunBasis {
    /// The person's word: the mode, a rule, or an answer.
    Person,
    /// It was judged harmless; the person was not asked.
    Policy,
}

impl CallDecision {
    /// Returns the log entry of a decision, or `None` for an ordinary permission to run.
    pub fn log_entry(&self, effects: &Effects, session: SessionId, at: Millis) -> Option<DecisionEntry> {
        // Reasons are logged by name, which reveals nothing about the call.
        let value_of = |value: serde_json::Value| {
            let name =
                value.get("risk").or_else(|| value.get("type")).unwrap_or(&value).as_str().map(str::to_owned);
            name.unwrap_or_default()
        };
        let (verdict, reason) = match &self.decision {
            Decision::Deny { refusal, .. } => {
                (LoggedVerdict::Deny, serde_json::to_value(refusal).ok().map(value_of))
            }
            Decision::Ask { reason, .. } => {
                (LoggedVerdict::Ask, serde_json::to_value(reason).ok().map(value_of))
            }
            Decision::Run(_) if self.rewritten.is_some() => {
                (LoggedVerdict::Rewrite, Some("trash".to_owned()))
            }
            Decision::Run(_) | Decision::Feedback => return None,
        };
        let site = || Some(effects.browser.as_ref()?.assessment.as_ref()?.location.as_ref()?.site.clone());
        let path = || effects.writes.first().or(effects.reads.first()).map(|path| path.display().to_string());
        let line = match &effects.command {
            Some(CommandEffect::Start { line, .. }) => Some(line.clone()),
            // Typed text may be a password.
            Some(CommandEffect::Input { .. } | CommandEffect::Control) => None,
            None => path().or_else(site),
        };
        let line = line.unwrap_or_default();
        let reason = reason.unwrap_or_default();
        Some(DecisionEntry::new(at, session, verdict, reason, (&line, self.rewritten.as_deref())))
    }
}
