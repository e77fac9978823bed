//! Permission: decides whether a call may run, based on its effects. Decisions about files are pure, because
//! paths are already resolved; a command's folder is inspected (see [`octo_policy::assess`]), so commands are
//! decided on off the async threads, by [`decide_off_thread`].
//!
//! It fails closed: every call not known to be harmless asks, and in the two asking modes an unknown is never a
//! yes.

mod browser;
mod context;
mod decided;
mod desk;

pub(crate) use browser::{browser_permissions, entry_permissions};
pub(crate) use context::PermissionContext;
pub(crate) use decided::{CallDecision, CommandFacts, Decision, KnownExtent, RunBasis};

use octo_policy::{Doubtful, FileRole, PathVerdict, PolicyContext, RoleChange, TouchedPaths, Verdict};
use octo_protocol::{AskReason, Mode, Risk, Rule, TrashTotals};
use octo_tools::{AsksPerson, CommandEffect, Effects, Site, SiteDistance, SiteGrant};
use octo_workspace::is_inside;
use std::{path::Path, time::Duration};

/// Decides on a call. If it would run unasked, it asks where it and a running call could redirect each other.
pub(crate) fn decide(context: &PermissionContext, effects: &Effects) -> CallDecision {
    let decided = decide_alone(context, effects);
    if decided.decision != Decision::Run(RunBasis::Policy) {
        return decided;
    }
    match context.running.conflict(&context.running_call(effects, &decided.facts)) {
        Some(command) => CallDecision {
            decision: Decision::Ask { reason: AskReason::Redirects { command }, rule: None },
            ..decided
        },
        None => decided,
    }
}

fn decide_alone(context: &PermissionContext, effects: &Effects) -> CallDecision {
    // An unreadable policy may contain prohibitions: then no mode runs everything.
    if context.policy.is_strict() && context.mode == Mode::Autonomous {
        return decide_alone(&PermissionContext { mode: Mode::AskRisky, ..context.clone() }, effects);
    }
    let decided = |decision| CallDecision { decision, rewritten: None, facts: CommandFacts::default() };
    if effects.asks_person == AsksPerson::Yes {
        return decided(Decision::Feedback);
    }
    // This cannot be undone, so no mode and no rule covers it. The amount is filled in where it is known.
    if let Some(days) = effects.empties_trash {
        let reason = AskReason::EmptiesTrash { totals: TrashTotals::default(), days };
        return decided(Decision::Ask { reason, rule: None });
    }
    let mut basis = RunBasis::Policy;
    let touched = effects
        .writes
        .iter()
        .map(|path| decide_write(context, path))
        .chain(effects.reads.iter().map(|path| decide_read(context, path)));
    let (mut question, mut forced_question) = (None, None);
    for decision in touched {
        match decision {
            Decision::Run(RunBasis::Policy) => {}
            Decision::Run(RunBasis::Person) => basis = RunBasis::Person,
            // A denial is stricter than any question.
            Decision::Deny { .. } => return decided(decision),
            other if always_asks(&other) => forced_question = forced_question.or(Some(other)),
            other => question = question.or(Some(other)),
        }
    }
    let question = forced_question.or(question);
    if let Some(effect) = &effects.browser {
        return decided(browser::decide(context, effect, &effects.reads, question));
    }
    if let Some(effect) = effects.builtin {
        let question = question.or_else(|| {
            let mut sites = effects.sites.iter().map(|site| self::decide_site(context, site));
            sites.find(|decision| matches!(decision, Decision::Ask { .. }))
        });
        return decided(desk::decide(context, effect, question));
    }
    if let Some(question) =
        question.filter(|question| context.mode != Mode::Autonomous || always_asks(question))
    {
        return decided(question);
    }
    for site in &effects.sites {
        match self::decide_site(context, site) {
            Decision::Run(RunBasis::Policy) => {}
            Decision::Run(RunBasis::Person) => basis = RunBasis::Person,
            question if context.mode != Mode::Autonomous => return decided(question),
            _ => {}
        }
    }
    match &effects.command {
        Some(effect) => decide_command(context, effect),
        None if context.mode == Mode::Autonomous => decided(Decision::Run(RunBasis::Person)),
        None => decided(Decision::Run(basis)),
    }
}

/// Nothing becomes instructions of the agent's in other sessions, or a command that a shell or another program runs,
/// without the person's yes.
fn always_asks(decision: &Decision) -> bool {
    matches!(
        decision,
        Decision::Ask {
            reason: AskReason::Instructs { .. } | AskReason::Startup { .. } | AskReason::RunsLater { .. },
            ..
        }
    )
}

/// Time limit of inspecting a command's folder. If a network folder hangs the call asks.
const INSPECT_TIMEOUT: Duration = Duration::from_secs(3);

/// As [`decide`], without blocking an async thread. Asks if the decision takes too long.
pub(crate) async fn decide_off_thread(context: &PermissionContext, effects: &Effects) -> CallDecision {
    if effects.command.is_none() {
        return decide(context, effects);
    }
    let (context, effects) = (context.clone(), effects.clone());
    let deciding = tokio::task::spawn_blocking(move || decide(&context, &effects));
    match tokio::time::timeout(INSPECT_TIMEOUT, deciding).await {
        Ok(Ok(decision)) => decision,
        Ok(Err(_)) | Err(_) => {
            tracing::warn!("a command could not be decided on in time");
            CallDecision {
                decision: Decision::Ask { reason: AskReason::Unparsed, rule: None },
                rewritten: None,
                facts: CommandFacts::default(),
            }
        }
    }
}

/// Decides without inspecting any folder whether a call allowed by another mode is forbidden now. A starting
/// command is not inspected again, so a stricter mode always stops it.
pub(crate) fn is_forbidden_now(context: &PermissionContext, effects: &Effects) -> bool {
    match effects.command {
        Some(CommandEffect::Start { .. }) => true,
        Some(CommandEffect::Input { .. } | CommandEffect::Control) | None => {
            matches!(decide(context, effects).decision, Decision::Ask { .. } | Decision::Deny { .. })
        }
    }
}

fn decide_write(context: &PermissionContext, path: &Path) -> Decision {
    let path_text = path.display().to_string();
    let rule = Some(Rule::Write { path: path_text.clone() });
    let ask = |reason| Decision::Ask { reason, rule: rule.clone() };
    let shell_context = context.shell_context(&context.folder);
    let verdict = octo_policy::write_path(
        path,
        context.open(),
        &shell_context,
        &context.policy,
        &context.startup_files,
    );
    if let PathVerdict::Denied(refusal) = verdict {
        return Decision::Deny { refusal, subject: path_text, part: None };
    }
    let always =
        matches!(verdict, PathVerdict::Role(FileRole::Startup | FileRole::Instructs | FileRole::Code));
    let is_granted = !always
        && !context.policy.is_strict()
        && context.rules.contains(&Rule::Write { path: path_text.clone() });
    if is_granted {
        return Decision::Run(RunBasis::Person);
    }
    let scratch = context.writable.iter().any(|folder| is_inside(folder, path));
    match verdict {
        PathVerdict::Secret => ask(AskReason::Secret { path: path_text }),
        PathVerdict::Outside => ask(AskReason::WritesOutside { path: path_text }),
        PathVerdict::Protected => ask(AskReason::Protected { path: path_text }),
        PathVerdict::Role(role) => {
            let reason = role_reason(role, path_text);
            // Rules of a project are a matter of the mode, and "always" may cover them.
            let rule = rule.filter(|_| role == FileRole::ProjectRules);
            Decision::Ask { reason, rule }
        }
        PathVerdict::Denied(_) | PathVerdict::Open
            if !scratch && (context.mode == Mode::Ask || context.policy.is_strict()) =>
        {
            ask(AskReason::Mode)
        }
        PathVerdict::Denied(_) | PathVerdict::Open => Decision::Run(RunBasis::Policy),
    }
}

/// Why a change of a file with a role asks.
fn role_reason(role: FileRole, path: String) -> AskReason {
    match role {
        FileRole::Startup => AskReason::Startup { path },
        FileRole::Instructs => AskReason::Instructs { path },
        FileRole::Code => AskReason::RunsLater { path },
        FileRole::ProjectRules => AskReason::ProjectRules { path },
    }
}

fn decide_read(context: &PermissionContext, path: &Path) -> Decision {
    let path_text = path.display().to_string();
    let exact_rule = Rule::Read { path: path_text.clone() };
    match octo_policy::read_path(
        path,
        context.open(),
        &context.shell_context(&context.folder),
        &context.policy,
    ) {
        PathVerdict::Denied(refusal) => Decision::Deny { refusal, subject: path_text, part: None },
        // A rule for a folder does not cover the secrets in it.
        PathVerdict::Secret if context.rules.contains(&exact_rule) => Decision::Run(RunBasis::Person),
        PathVerdict::Secret => {
            Decision::Ask { reason: AskReason::Secret { path: path_text }, rule: Some(exact_rule) }
        }
        PathVerdict::Open => Decision::Run(RunBasis::Policy),
        PathVerdict::Outside | PathVerdict::Protected | PathVerdict::Role(_) => {
            let has_rule = context.rules.iter().any(|rule| match rule {
                Rule::Read { path: allowed } => is_inside(Path::new(allowed), path),
                Rule::Write { .. }
                | Rule::Command { .. }
                | Rule::Line { .. }
                | Rule::Host { .. }
                | Rule::Network { .. }
                | Rule::Site { .. } => false,
            });
            if has_rule {
                Decision::Run(RunBasis::Person)
            } else {
                Decision::Ask { reason: AskReason::ReadsOutside { path: path_text }, rule: Some(exact_rule) }
            }
        }
    }
}

/// Reading public sites runs in every mode. A site on the local network or machine asks: its contents were not
/// meant to be reached through strangers' pages.
fn decide_site(context: &PermissionContext, site: &Site) -> Decision {
    match site.distance {
        SiteDistance::Internet => Decision::Run(RunBasis::Policy),
        SiteDistance::Private | SiteDistance::Metadata if is_ruled(context, site) => {
            Decision::Run(RunBasis::Person)
        }
        SiteDistance::Private | SiteDistance::Metadata => {
            let host = site.to_string();
            let rule = Some(Rule::Host { host: host.clone() });
            Decision::Ask { reason: AskReason::PrivateAddress { host }, rule }
        }
    }
}

fn is_ruled(context: &PermissionContext, site: &Site) -> bool {
    context.rules.contains(&Rule::Host { host: site.to_string() })
}

/// Returns the local sites a running call may visit, and how they were allowed. A mode without questions names
/// no sites.
pub(crate) fn granted_sites(
    context: &PermissionContext,
    effects: &Effects,
    decision: &Decision,
) -> Vec<(Site, SiteGrant)> {
    let granted = |site: &Site| match decision {
        Decision::Ask { .. } => Some(SiteGrant::ByName),
        _ if is_ruled(context, site) => Some(SiteGrant::ByName),
        Decision::Run(_) if context.mode == Mode::Autonomous => Some(SiteGrant::ByMode),
        Decision::Run(_) | Decision::Feedback | Decision::Deny { .. } => None,
    };
    effects.sites.iter().filter_map(|site| Some((site.clone(), granted(site)?))).collect()
}

fn decide_command(context: &PermissionContext, effect: &CommandEffect) -> CallDecision {
    let decided = |decision| CallDecision { decision, rewritten: None, facts: CommandFacts::default() };
    let (line, cwd, env) = match effect {
        CommandEffect::Start { line, cwd, env } => {
            (line, cwd.as_deref().unwrap_or(&context.shell_folder), env.as_slice())
        }
        CommandEffect::Input { .. } if context.mode == Mode::Autonomous => {
            return decided(Decision::Run(RunBasis::Person));
        }
        // Text typed into a running program may do anything the program can.
        CommandEffect::Input { .. } => {
            return decided(Decision::Ask { reason: AskReason::Command { part: None }, rule: None });
        }
        CommandEffect::Control => return decided(Decision::Run(RunBasis::Policy)),
    };
    // In another folder, or with its own variables, it is not the command that was allowed.
    let rules_apply = env.is_empty() && is_inside(&context.folder, cwd);
    let words: Vec<Vec<String>> = context
        .rules
        .iter()
        .filter_map(|rule| match rule {
            Rule::Command { words } if rules_apply => Some(words.clone()),
            _ => None,
        })
        .collect();
    let shell_context = context.shell_context(cwd);
    let policy_context = PolicyContext {
        context: &shell_context,
        policy: &context.policy,
        rules: &words,
        startup: &context.startup_files,
        git: octo_workspace::git_answer,
    };
    let assessment = octo_policy::assess(line, env, policy_context);
    let facts = CommandFacts::of(&assessment.verdict, assessment.lasting, cwd);
    let decision = match assessment.verdict {
        Verdict::Deny { why, part } => Decision::Deny { refusal: why, subject: line.clone(), part },
        verdict => {
            let decision = decide_verdict(context, line, cwd, rules_apply, verdict);
            match assessment.change {
                Some(change) => with_role(decision, change),
                None => decision,
            }
        }
    };
    CallDecision { decision, rewritten: assessment.rewritten, facts }
}

/// Decides about a line that writes a file which a program runs later. A risk says more than that; no rule covers
/// either.
fn with_role(decision: Decision, change: RoleChange) -> Decision {
    match decision {
        Decision::Deny { .. } => decision,
        Decision::Ask {
            reason: reason @ (AskReason::Risky { .. } | AskReason::Instructs { .. }), ..
        } => Decision::Ask { reason, rule: None },
        Decision::Run(_) | Decision::Feedback | Decision::Ask { .. } => {
            Decision::Ask { reason: role_reason(change.role, change.path.display().to_string()), rule: None }
        }
    }
}

/// Decides on a line that is not denied.
fn decide_verdict(
    context: &PermissionContext,
    line: &str,
    cwd: &Path,
    rules_apply: bool,
    verdict: Verdict,
) -> Decision {
    let exact_rule = Rule::Line { line: line.to_owned() };
    let touched_paths = match &verdict {
        Verdict::Known(paths) | Verdict::Ruled(paths) => Some(paths),
        Verdict::Ask { .. } | Verdict::Deny { .. } => None,
    };
    let touched =
        touched_paths.map_or(Decision::Run(RunBasis::Policy), |paths| decide_paths(context, cwd, paths));
    if matches!(touched, Decision::Deny { .. }) || always_asks(&touched) {
        return touched;
    }
    if context.mode == Mode::Autonomous {
        return Decision::Run(RunBasis::Person);
    }
    let asked_by_rule =
        matches!(verdict, Verdict::Ask { why: Doubtful::Risky { risk: Risk::Ruled, .. }, .. });
    if rules_apply && !asked_by_rule && !context.policy.is_strict() && context.rules.contains(&exact_rule) {
        return Decision::Run(RunBasis::Person);
    }
    match verdict {
        Verdict::Ruled(_) => match touched {
            Decision::Run(_) => Decision::Run(RunBasis::Person),
            question => question,
        },
        // Its effects are a better reason than the mode.
        Verdict::Known(_) if context.mode == Mode::Ask && matches!(touched, Decision::Run(_)) => {
            Decision::Ask { reason: AskReason::Mode, rule: Some(exact_rule) }
        }
        Verdict::Known(_) => match decide_read(context, cwd) {
            // A rule for the folder would open everything below it to every tool.
            Decision::Ask { reason, .. } => Decision::Ask { reason, rule: None },
            Decision::Run(_) => limited_to_line(touched, exact_rule),
            other => other,
        },
        Verdict::Ask { why, part, rule } => {
            let rule = rule.map(|words| Rule::Command { words }).or(Some(exact_rule));
            let reason = match why {
                Doubtful::Unparsed => AskReason::Unparsed,
                Doubtful::Unknown => AskReason::Command { part },
                Doubtful::Risky { risk, instead } => AskReason::Risky { risk, part, instead },
            };
            Decision::Ask { reason, rule }
        }
        Verdict::Deny { why, part } => Decision::Deny { refusal: why, subject: line.to_owned(), part },
    }
}

/// Limits "always" to this exact line if it touches outside or secret paths.
fn limited_to_line(touched: Decision, exact_rule: Rule) -> Decision {
    match touched {
        Decision::Ask {
            reason:
                reason @ (AskReason::ReadsOutside { .. }
                | AskReason::WritesOutside { .. }
                | AskReason::Secret { .. }),
            ..
        } => Decision::Ask { reason, rule: Some(exact_rule) },
        other => other,
    }
}

/// Returns the strictest decision on a line's paths. A word that is not a path resolves to a name inside the
/// folder. A path's rule is a rule about that path, not about the command that mentions it.
fn decide_paths(context: &PermissionContext, cwd: &Path, paths: &TouchedPaths) -> Decision {
    let resolved =
        |word: &String, decide: fn(&PermissionContext, &Path) -> Decision| match octo_workspace::resolve(
            word, cwd,
        ) {
            Ok(path) => decide(context, &path),
            Err(_) => Decision::Ask { reason: AskReason::ReadsOutside { path: word.clone() }, rule: None },
        };
    let reads = paths.reads.iter().map(|word| resolved(word, decide_read));
    let writes = paths.writes.iter().map(|word| resolved(word, decide_write));
    let removes = paths.removes.iter().map(|word| resolved(word, decide_remove));
    let repositories = paths.repositories.iter().map(|path| {
        if !is_inside(&context.folder, path) {
            let path = path.display().to_string();
            Decision::Ask { reason: AskReason::WritesOutside { path }, rule: None }
        } else if context.policy.is_strict() {
            Decision::Ask { reason: AskReason::Mode, rule: None }
        } else {
            Decision::Run(RunBasis::Policy)
        }
    });
    let (mut question, mut forced_question) = (None, None);
    for decision in reads.chain(writes).chain(removes).chain(repositories) {
        match decision {
            Decision::Deny { .. } => return decision,
            Decision::Ask { reason, .. } => {
                let ask = Decision::Ask { reason, rule: None };
                let slot = if always_asks(&ask) { &mut forced_question } else { &mut question };
                slot.get_or_insert(ask);
            }
            Decision::Run(_) | Decision::Feedback => {}
        }
    }
    forced_question.or(question).unwrap_or(Decision::Run(RunBasis::Policy))
}

/// The agent may not remove the session's folder itself.
fn decide_remove(context: &PermissionContext, path: &Path) -> Decision {
    if is_inside(path, &context.folder) {
        let reason = AskReason::Risky { risk: Risk::Deletes, part: None, instead: None };
        return Decision::Ask { reason, rule: None };
    }
    decide_write(context, path)
}

#[cfg(test)]
mod tests;
