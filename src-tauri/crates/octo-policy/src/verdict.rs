//! The verdict on a line: refuse it, ask, or run it, and in which words.

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
    rewrite, risk, roles, rules,
    scan::{self, Scan},
    script::Parsed,
    startup::StartupFiles,
    targets::{RoleChange, changed_role},
    touched::{self, TouchedPaths},
    tree,
};
use octo_protocol::{Refusal, Risk};
use octo_workspace::{ClosedPaths, PathRestriction, is_secret};
use std::path::Path;

/// What the policy says about a line. A refusal is stricter than a question, a question than leave to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assessment {
    /// The verdict.
    pub verdict: Verdict,
    /// The line to run instead of the given one, whatever the verdict: removals that would bypass the trash use
    /// it.
    pub rewritten: Option<String>,
    /// Its lasting effects outside files, inferred from its words.
    pub lasting: Vec<LastingPart>,
    /// A file it would write that a shell or another program runs, as far as its words tell; also where what it does
    /// is not known.
    pub change: Option<RoleChange>,
}

/// The verdict on a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every command in it is known, and only touches these paths. The policy on paths decides whether it may.
    Known(TouchedPaths),
    /// At least one of its commands is covered by a rule of the person's, and the others are known.
    Ruled(TouchedPaths),
    /// The person is asked.
    Ask {
        /// Why.
        why: Doubtful,
        /// The part of the line it is about, where one can be named.
        part: Option<String>,
        /// The words of an "always" rule; `None` if no such rule is safe.
        rule: Option<Vec<String>>,
    },
    /// It does not run.
    Deny {
        /// Why.
        why: Refusal,
        /// The part of the line it is about, where one can be named.
        part: Option<String>,
    },
}

/// Why a line asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubtful {
    /// It is not known to be harmless.
    Unknown,
    /// It cannot be read with certainty.
    Unparsed,
    /// It does something that always asks.
    Risky {
        /// What.
        risk: Risk,
        /// A safer line to run instead.
        instead: Option<String>,
    },
}

/// The context in which a line is judged, apart from its words.
#[derive(Clone, Copy, Debug)]
pub struct PolicyContext<'a> {
    /// Where it would run.
    pub context: &'a LineContext,
    /// The person's own policy.
    pub policy: &'a Policy,
    /// Words of the rules the person gave by answering "always".
    pub rules: &'a [Vec<String>],
    /// The start-up files of shells.
    pub startup: &'a StartupFiles,
    /// A query of git.
    pub git: GitQuery,
}

/// Returns the verdict that the words of a line alone allow.
pub(crate) struct LineWords {
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
        // A line that was not followed to its end is at least scanned roughly.
        if scan.cut && parsed.is_some() {
            scan.calls.extend(scan::rough_scan(line, context).calls);
        }
        Self { parsed, scan }
    }
}

/// Returns the verdict on a line, with a check of the folder it would run in ([`LineContext::folder`]). May query
/// git; takes milliseconds. `env` are the extra variables it would run with: with any, a name may mean
/// another command.
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
    // Read as bash's it would be misread: nothing in another language is known, and nothing is put in its place.
    if context.language != Language::Bash {
        let verdict = Verdict::Ask { why: Doubtful::Unparsed, part: None, rule: None };
        return Assessment { verdict, rewritten: None, lasting, change };
    }
    let rewritten =
        words.parsed.as_ref().and_then(|parsed| rewrite::rewrite(line, parsed, &words.scan.calls));
    let runs = rewritten.as_deref().unwrap_or(line);
    let verdict = if let Some(call) = policy.asked(&words.scan.calls) {
        let why = Doubtful::Risky { risk: Risk::Ruled, instead: None };
        Verdict::Ask { why, part: part(call.span.clone()), rule: None }
    } else {
        harmless(runs, env, policy_context)
            .unwrap_or_else(|stop| question(runs, env, &words, context, stop.as_ref()))
    };
    Assessment { verdict, rewritten, lasting, change }
}

/// Returns the paths a line touches, if everything in it is known.
fn harmless(
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
    let has_role = |path: &Path| {
        octo_workspace::resolve_links(path).is_ok_and(|path| roles::role(&path, context, startup).is_some())
    };
    let queries = FolderQueries { restriction: &restriction, git, has_role: &has_role };
    // Lines without any construct take the short way: a third and stricter reader must see the same in them.
    if let Judgement::ReadOnly { reads } = judge_at(line, env, &context.folder, queries) {
        return Ok(Verdict::Known(TouchedPaths { reads, ..TouchedPaths::default() }));
    }
    if !policy.is_strict()
        && let LinePermission::Yes { reads } = allowed_at(line, rules, &context.folder, queries)
    {
        return Ok(Verdict::Ruled(TouchedPaths { reads, ..TouchedPaths::default() }));
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

/// Returns the kind of question a line asks.
fn question(
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
    let unread = words.parsed.as_ref().is_none_or(|parsed| !parsed.doubts.is_empty());
    let (part, rule) = plain_question(line, env);
    let stopped =
        stop.filter(|stop| !stop.0.is_empty()).and_then(|stop| line.get(stop.0.clone())).map(shortened);
    let rule = rule.or_else(|| stop.and_then(|stop| stopped_rule(line, context, stop)));
    Verdict::Ask {
        why: if unread { Doubtful::Unparsed } else { Doubtful::Unknown },
        part: stopped.or(part),
        rule,
    }
}

fn plain_question(line: &str, env: &[(String, String)]) -> (Option<String>, Option<Vec<String>>) {
    match judge(line, env) {
        Judgement::Ask { part, rule } => (part, rule),
        Judgement::ReadOnly { .. } | Judgement::Unparsed => (None, None),
    }
}

/// The rule for the one command a line with constructs stopped at, if with it the line would go on.
fn stopped_rule(line: &str, context: &LineContext, stop: &Stop) -> Option<Vec<String>> {
    let part = line.get(stop.0.clone())?;
    let simple = crate::plain::read(part).ok()?;
    let [command] = simple.commands.as_slice() else { return None };
    let rule = rules::words(command)?;
    let parsed = bash::parse(line).ok().filter(|parsed| parsed.doubts.is_empty())?;
    let covers = |command: &crate::plain::Simple| follow::covered_by(std::slice::from_ref(&rule), command);
    follow::follow(&parsed, context, &covers).is_ok().then_some(rule)
}
