//! A decision about a call, and what is known of a command whatever is decided.

use octo_protocol::{AskReason, Millis, Refusal, Risk, Rule, SessionId};
use octo_shell::{DecisionEntry, Doubtful, Lasts, LoggedVerdict, Verdict};
use octo_tools::{CommandEffect, Effects};
use std::path::{Path, PathBuf};

/// A decision and what goes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decided {
    /// What is to be done.
    pub decision: Decision,
    /// The command line to run in place of the one that was given.
    pub rewritten: Option<String>,
    /// What is known of a command.
    pub nature: Nature,
}

/// What is known of a command, whatever is decided about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Nature {
    /// Whether it is known to change nothing.
    pub only_reads: bool,
    /// What it does that always asks.
    pub risk: Option<Risk>,
    /// Whether the person has a rule for a part of it.
    pub ruled: bool,
    /// What it is known to read, resolved.
    pub reads: Vec<PathBuf>,
    /// What it is known to change, resolved.
    pub writes: Vec<PathBuf>,
    /// How much of what it does is known.
    pub known: Extent,
    /// What it does beyond files that nothing takes back.
    pub lasting: Vec<Lasts>,
}

/// How much is known of what a command does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Everything, by its words.
    All,
    /// What its words name, which may not be all.
    #[default]
    Part,
}

impl Nature {
    pub(super) fn of(verdict: &Verdict, lasting: Vec<Lasts>, cwd: &Path) -> Self {
        let resolved = |words: &[String]| -> Vec<PathBuf> {
            words.iter().filter_map(|word| octo_workspace::resolve(word, cwd).ok()).collect()
        };
        match verdict {
            Verdict::Known(known) | Verdict::Ruled(known) => Self {
                only_reads: matches!(verdict, Verdict::Known(_))
                    && known.writes.is_empty()
                    && known.removes.is_empty()
                    && known.repositories.is_empty(),
                risk: None,
                reads: resolved(&known.reads),
                writes: resolved(&[known.writes.as_slice(), known.removes.as_slice()].concat())
                    .into_iter()
                    .chain(known.repositories.iter().cloned())
                    .collect(),
                ruled: matches!(verdict, Verdict::Ruled(_)),
                known: if matches!(verdict, Verdict::Known(_)) { Extent::All } else { Extent::Part },
                lasting,
            },
            Verdict::Ask { why: Doubtful::Risky { risk, .. }, .. } => {
                Self { risk: Some(*risk), lasting, ..Self::default() }
            }
            Verdict::Ask { .. } | Verdict::Deny { .. } => Self { lasting, ..Self::default() },
        }
    }
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
    /// It does not run, whatever the mode and the rules.
    Deny {
        /// Why.
        refusal: Refusal,
        /// What it would have been: a command line, a path.
        subject: String,
        /// The part it is refused for, where one part can be named.
        part: Option<String>,
    },
}

/// Why a call may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// The person said so: by the mode, a rule, or an answer.
    Person,
    /// It was found harmless; the person was not asked.
    Policy,
}

impl Decided {
    /// What is logged of it; none for a plain leave to run.
    pub fn logged(&self, effects: &Effects, session: SessionId, at: Millis) -> Option<DecisionEntry> {
        // Reasons are logged by their names, which say nothing about the call.
        let named = |value: serde_json::Value| {
            let name =
                value.get("risk").or_else(|| value.get("type")).unwrap_or(&value).as_str().map(str::to_owned);
            name.unwrap_or_default()
        };
        let (verdict, reason) = match &self.decision {
            Decision::Deny { refusal, .. } => {
                (LoggedVerdict::Deny, serde_json::to_value(refusal).ok().map(named))
            }
            Decision::Ask { reason, .. } => {
                (LoggedVerdict::Ask, serde_json::to_value(reason).ok().map(named))
            }
            Decision::Run(_) if self.rewritten.is_some() => {
                (LoggedVerdict::Rewrite, Some("trash".to_owned()))
            }
            Decision::Run(_) | Decision::Feedback => return None,
        };
        let site = || Some(effects.browser.as_ref()?.weight.as_ref()?.place.as_ref()?.site.clone());
        let path = || effects.writes.first().or(effects.reads.first()).map(|path| path.display().to_string());
        let line = match &effects.command {
            Some(CommandEffect::Start { line, .. }) => Some(line.clone()),
            // What is typed may be a password.
            Some(CommandEffect::Input { .. } | CommandEffect::Control) => None,
            None => path().or_else(site),
        };
        let line = line.unwrap_or_default();
        let reason = reason.unwrap_or_default();
        Some(DecisionEntry::new(at, session, verdict, reason, (&line, self.rewritten.as_deref())))
    }
}
