//! The verdict on a line: refuse it, ask, or run it, possibly rewritten.

use crate::{
    bash,
    context::LineContext,
    deny,
    file::Policy,
    folder::{FolderQueries, GitQuery},
    follow::{self, Stop},
    judge::{Judgement, LinePermission, allowed_at, judge, judge_at, shortened},
    language::Language,
    lasting::{self, LastingPart},
    paths::PolicyPaths,
    rewrite, risk,
    roles::{self, RoleLinks},
    rules,
    scan::{self, Scan},
    script::Parsed,
    startup::StartupFiles,
    targets::{RoleChange, changed_role},
    touched::{self, TouchedPaths},
    tree,
};
use octo_protocol::{Refusal, Risk};
use octo_workspace::{ClosedPaths, PathRestriction, is_secret};
use std::{cell::OnceCell, path::Path};

/// The policy's assessment of a line. A refusal takes precedence over a question, and a question over permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assessment {
    /// The verdict.
    pub verdict: Verdict,
    /// The line to run instead of the given one, whatever the verdict; its removals use the trash. `None` if the given
    /// line needs no change.
    pub rewritten: Option<String>,
    /// The lasting effects outside files, inferred from the words.
    pub lasting: Vec<LastingPart>,
    /// A file that the line would write and that a shell or another program runs, inferred from the words. It may be
    /// present even if the other effects of the line are unknown.
    pub change: Option<RoleChange>,
}

/// The verdict on a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every command is known, and together they touch only these paths. The policy on paths decides about these.
    Known(TouchedPaths),
    /// A rule of the person's covers at least one command, and the other commands are known.
    Ruled(TouchedPaths),
    /// The policy asks the person.
    Ask {
        /// The reason for the question.
        why: Doubtful,
        /// The part of the line that asks; `None` for the whole line.
        part: Option<String>,
        /// The words of an "always" rule; `None` if no such rule is safe.
        rule: Option<Vec<String>>,
    },
    /// The line does not run.
    Deny {
        /// The reason for the refusal.
        why: Refusal,
        /// The refused part of the line; `None` for the whole line.
        part: Option<String>,
    },
}

/// The reason why a line asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubtful {
    /// The line is not known to be harmless.
    Unknown,
    /// The line cannot be parsed with certainty.
    Unparsed,
    /// A command of the line always asks.
    Risky {
        /// The risk of that command.
        risk: Risk,
        /// A safer line to run instead, if there is one.
        instead: Option<String>,
    },
}

/// Everything besides its words that the verdict on a line depends on.
#[derive(Clone, Copy, Debug)]
pub struct PolicyContext<'a> {
    /// The context in which the line would run.
    pub context: &'a LineContext,
    /// The person's own policy.
    pub policy: &'a Policy,
    /// The words of the rules that the person made by answering "always".
    pub rules: &'a [Vec<String>],
    /// The start-up files of shells.
    pub startup: &'a StartupFiles,
    /// Queries git.
    pub git: GitQuery,
}

/// A parsed and scanned line.
pub(crate) struct LineWords {
    /// `None` if the line cannot be parsed.
    parsed: Option<Parsed>,
    pub(crate) scan: Scan,
}

impl LineWords {
    pub(crate) fn read(line: &str, context: &LineContext) -> Self {
        let parsed = bash::parse(line).ok().filter(|_| context.language == Language::Bash);
        let mut scan = match &parsed {
            Some(parsed) => scan::scan(parsed, context),
            None => scan::rough_scan(line, context),
        };
        // After an incomplete scan, at least a rough scan covers the whole line.
        if scan.incomplete && parsed.is_some() {
            scan.calls.extend(scan::rough_scan(line, context).calls);
        }
        Self { parsed, scan }
    }
}

/// Returns the assessment of a line, and inspects the folder it would run in ([`LineContext::folder`]). May query git,
/// which takes milliseconds. `env` are the extra variables the line would run with. With any of them a line is not
/// known, because a name may mean another command.
pub fn assess(line: &str, env: &[(String, String)], policy_context: PolicyContext<'_>) -> Assessment {
    let PolicyContext { context, policy, .. } = policy_context;
    let words = LineWords::read(line, context);
    let part = |span: Option<std::ops::Range<usize>>| {
        span.and_then(|span| line.get(span)).filter(|part| *part != line.trim()).map(shortened)
    };
    if let Some(refused) = deny::refused(&words.scan, context) {
        return Assessment {
            verdict: Verdict::Deny { why: refused.why, part: part(refused.span) },
            rewritten: None,
            lasting: Vec::new(),
            change: None,
        };
    }
    if let Some(call) = policy.denied(&words.scan.calls) {
        let verdict = Verdict::Deny { why: Refusal::Ruled, part: part(call.span.clone()) };
        return Assessment { verdict, rewritten: None, lasting: Vec::new(), change: None };
    }
    let lasting = lasting::of(line, &words.scan);
    let change = changed_role(&words.scan, context, policy_context.startup);
    // No line in another language is known or rewritten, because the parsers would misread it as bash.
    if context.language != Language::Bash {
        let verdict = Verdict::Ask { why: Doubtful::Unparsed, part: None, rule: None };
        return Assessment { verdict, rewritten: None, lasting, change };
    }
    let rewritten =
        words.parsed.as_ref().and_then(|parsed| rewrite::rewrite(line, parsed, &words.scan.calls));
    let effective = rewritten.as_deref().unwrap_or(line);
    let verdict = if let Some(call) = policy.asked(&words.scan.calls) {
        let why = Doubtful::Risky { risk: Risk::Ruled, instead: None };
        Verdict::Ask { why, part: part(call.span.clone()), rule: None }
    } else {
        known_verdict(effective, env, policy_context)
            .unwrap_or_else(|stop| ask_verdict(effective, env, &words, context, stop.as_ref()))
    };
    Assessment { verdict, rewritten, lasting, change }
}

/// Returns the verdict that lets a line run, if everything in it is known; otherwise the unknown command, if there is a
/// single one.
fn known_verdict(
    line: &str,
    env: &[(String, String)],
    policy_context: PolicyContext<'_>,
) -> Result<Verdict, Option<Stop>> {
    let PolicyContext { context, policy, rules, startup, git } = policy_context;
    if !env.is_empty() {
        return Err(None);
    }
    let closed = PolicyPaths::new(policy, context);
    let restriction = |path: &Path| match closed.restriction(path) {
        PathRestriction::No if is_secret(path) => PathRestriction::Secret,
        other => other,
    };
    let links = OnceCell::new();
    let has_role = |path: &Path| {
        octo_workspace::resolve_links(path).is_ok_and(|path| {
            let links: &RoleLinks = links.get_or_init(|| RoleLinks::of_folder(context));
            roles::own_role(&path, context, startup).or_else(|| links.role(&path)).is_some()
        })
    };
    let begins_role = |path: &Path| roles::begins_role(path, context);
    let queries =
        FolderQueries { restriction: &restriction, git, has_role: &has_role, begins_role: &begins_role };
    // A line without constructs takes a shorter path, in which a third and stricter parser must see the same.
    if let Judgement::ReadOnly { reads } = judge_at(line, env, &context.folder, queries) {
        return Ok(Verdict::Known(TouchedPaths::reading(reads)));
    }
    if !policy.is_strict()
        && let LinePermission::Yes { reads } = allowed_at(line, rules, &context.folder, queries)
    {
        return Ok(Verdict::Ruled(TouchedPaths::reading(reads)));
    }
    let parsed = bash::parse(line).map_err(|_| None)?;
    let outline = tree::outline(line).ok_or(None)?;
    if !parsed.doubts.is_empty() || !outline.agrees_on_commands(&parsed) {
        return Err(None);
    }
    let covers = |command: &crate::plain::Simple| {
        !policy.is_strict() && (follow::covered_by(rules, command) || policy.allows(command))
    };
    let followed = follow::follow(&parsed, context, &covers).map_err(Some)?;
    let known = touched::inspect(&followed, &context.folder, queries).ok_or(None)?;
    Ok(if followed.ruled { Verdict::Ruled(known) } else { Verdict::Known(known) })
}

/// Returns the verdict that asks about a line.
fn ask_verdict(
    line: &str,
    env: &[(String, String)],
    words: &LineWords,
    context: &LineContext,
    stop: Option<&Stop>,
) -> Verdict {
    let calls = &words.scan.calls;
    if let Some((risk, span)) = calls.iter().find_map(|call| Some((risk::of(call)?, call.span.clone()))) {
        let instead = (risk == Risk::RunsDownload).then(|| risk::download_only(calls)).flatten();
        let part = span.and_then(|span| line.get(span)).filter(|part| *part != line.trim()).map(shortened);
        let (_, rule) = plain_question(line, env);
        return Verdict::Ask { why: Doubtful::Risky { risk, instead }, part, rule };
    }
    let is_unparsed = words.parsed.as_ref().is_none_or(|parsed| !parsed.doubts.is_empty());
    let (part, rule) = plain_question(line, env);
    let stop_part =
        stop.filter(|stop| !stop.0.is_empty()).and_then(|stop| line.get(stop.0.clone())).map(shortened);
    let rule = rule.or_else(|| stop.and_then(|stop| stopped_rule(line, context, stop)));
    Verdict::Ask {
        why: if is_unparsed { Doubtful::Unparsed } else { Doubtful::Unknown },
        part: stop_part.or(part),
        rule,
    }
}

/// Returns the part of a line that asks and the words of a rule for it, judged by the words alone.
fn plain_question(line: &str, env: &[(String, String)]) -> (Option<String>, Option<Vec<String>>) {
    match judge(line, env) {
        Judgement::Ask { part, rule } => (part, rule),
        Judgement::ReadOnly { .. } | Judgement::Unparsed => (None, None),
    }
}

/// Returns the rule for the unknown command of a line with constructs, if the rule would make the whole line known.
fn stopped_rule(line: &str, context: &LineContext, stop: &Stop) -> Option<Vec<String>> {
    let part = line.get(stop.0.clone())?;
    let simple = crate::plain::read(part).ok()?;
    let [command] = simple.commands.as_slice() else { return None };
    let rule = rules::words(command)?;
    let parsed = bash::parse(line).ok().filter(|parsed| parsed.doubts.is_empty())?;
    let covers = |command: &crate::plain::Simple| follow::covered_by(std::slice::from_ref(&rule), command);
    follow::follow(&parsed, context, &covers).is_ok().then_some(rule)
}
