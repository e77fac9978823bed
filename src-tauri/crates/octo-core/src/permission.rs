//! Permission: decides whether a call may run, based on its effects. Decisions about files are pure, because
//! paths are already resolved; a command's folder is inspected (see [`octo_policy::assess`]), so commands are
//! decided on off the async threads, by [`decide_off_thread`].
//!
//! It fails closed: every call not known to be harmless asks, and in the two asking modes an unknown is never a
//! yes.

mod browser;
mod decided;
mod desk;

pub(crate) use browser::{browser_permissions, entry_permissions};
pub(crate) use decided::{CallDecision, CommandFacts, Decision, KnownExtent, RunBasis};

use octo_policy::{
    Doubtful, LineContext, OpenPaths, PathVerdict, Policy, PolicyContext, StartupFiles, TouchedPaths, Verdict,
};
use octo_protocol::{AskReason, Mode, Risk, Rule, TrashTotals};
use octo_tools::{AsksPerson, BuiltinGrant, CommandEffect, Effects, Site, SiteDistance, SiteGrant};
use octo_workspace::is_inside;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

/// The inputs of a decision, apart from the call itself.
#[derive(Clone, Debug)]
pub(crate) struct PermissionContext {
    /// The session's mode.
    pub mode: Mode,
    /// The session's folder, resolved.
    pub folder: PathBuf,
    /// The resolved working directory of a command that names none.
    pub shell_folder: PathBuf,
    /// Folders that may be read without asking: Octo's own logs, outputs, skills and memories, and the
    /// session's scratch folder.
    pub readable: Vec<PathBuf>,
    /// Folders in addition to the session's that may be written without asking: its scratch folder.
    pub writable: Vec<PathBuf>,
    /// Grants for the session or the folder.
    pub rules: Vec<Rule>,
    /// Sites the person granted to the running turn.
    pub granted: Vec<String>,
    /// Octo's home, resolved.
    pub home: PathBuf,
    /// Other paths of the home, including former ones.
    pub home_others: Vec<PathBuf>,
    /// The person's own policy.
    pub policy: Arc<Policy>,
    /// Octo's own data that may be changed without asking; non-empty only for Octo's own sub-agents.
    pub desk: BuiltinGrant,
    /// The start-up files of shells.
    pub startup: StartupFiles,
}

impl PermissionContext {
    pub(crate) fn shell_context(&self, folder: &Path) -> LineContext {
        LineContext {
            folder: folder.to_owned(),
            home: std::env::home_dir().filter(|home| home.is_absolute()),
            octo_home: self.home.clone(),
            octo_others: self.home_others.clone(),
            processes: vec![std::process::id()],
            language: octo_shell::language(),
        }
    }

    fn open(&self) -> OpenPaths<'_> {
        OpenPaths { folder: &self.folder, readable: &self.readable, writable: &self.writable }
    }
}

/// Decides on a call.
pub(crate) fn decide(ground: &PermissionContext, effects: &Effects) -> CallDecision {
    // An unreadable policy may contain prohibitions: then no mode runs everything.
    if ground.policy.is_strict() && ground.mode == Mode::Autonomous {
        return decide(&PermissionContext { mode: Mode::AskRisky, ..ground.clone() }, effects);
    }
    let plain = |decision| CallDecision { decision, rewritten: None, nature: CommandFacts::default() };
    if effects.asks_person == AsksPerson::Yes {
        return plain(Decision::Feedback);
    }
    // This cannot be undone, so no mode and no rule covers it. The amount is filled in where it is known.
    if let Some(days) = effects.empties_trash {
        let reason = AskReason::EmptiesTrash { totals: TrashTotals::default(), days };
        return plain(Decision::Ask { reason, rule: None });
    }
    let mut basis = RunBasis::Policy;
    let touched = effects
        .writes
        .iter()
        .map(|path| write(ground, path))
        .chain(effects.reads.iter().map(|path| read(ground, path)));
    let (mut asks, mut always) = (None, None);
    for decision in touched {
        match decision {
            Decision::Run(RunBasis::Policy) => {}
            Decision::Run(RunBasis::Person) => basis = RunBasis::Person,
            // A denial is stricter than any question.
            Decision::Deny { .. } => return plain(decision),
            other if always_asks(&other) => always = always.or(Some(other)),
            other => asks = asks.or(Some(other)),
        }
    }
    let asks = always.or(asks);
    if let Some(effect) = &effects.browser {
        return plain(browser::decide(ground, effect, &effects.reads, asks));
    }
    if let Some(effect) = effects.builtin {
        let asks = asks.or_else(|| {
            let mut sites = effects.sites.iter().map(|site| self::site(ground, site));
            sites.find(|decision| matches!(decision, Decision::Ask { .. }))
        });
        return plain(desk::decide(ground, effect, asks));
    }
    if let Some(asks) = asks.filter(|asks| ground.mode != Mode::Autonomous || always_asks(asks)) {
        return plain(asks);
    }
    for site in &effects.sites {
        match self::site(ground, site) {
            Decision::Run(RunBasis::Policy) => {}
            Decision::Run(RunBasis::Person) => basis = RunBasis::Person,
            asks if ground.mode != Mode::Autonomous => return plain(asks),
            _ => {}
        }
    }
    match &effects.command {
        Some(effect) => command(ground, effect),
        None if ground.mode == Mode::Autonomous => plain(Decision::Run(RunBasis::Person)),
        None => plain(Decision::Run(basis)),
    }
}

/// Nothing becomes instructions of the agent's, or a command of the person's shells, without the person's yes.
fn always_asks(decision: &Decision) -> bool {
    matches!(decision, Decision::Ask { reason: AskReason::Instructs { .. } | AskReason::Startup { .. }, .. })
}

/// Time limit of inspecting a command's folder. If a network folder hangs the call asks.
const INSPECT_TIMEOUT: Duration = Duration::from_secs(3);

/// As [`decide`], without blocking an async thread. Asks if the decision takes too long.
pub(crate) async fn decide_off_thread(ground: &PermissionContext, effects: &Effects) -> CallDecision {
    if effects.command.is_none() {
        return decide(ground, effects);
    }
    let (ground, effects) = (ground.clone(), effects.clone());
    let deciding = tokio::task::spawn_blocking(move || decide(&ground, &effects));
    match tokio::time::timeout(INSPECT_TIMEOUT, deciding).await {
        Ok(Ok(decision)) => decision,
        Ok(Err(_)) | Err(_) => {
            tracing::warn!("a command could not be decided on in time");
            CallDecision {
                decision: Decision::Ask { reason: AskReason::Unparsed, rule: None },
                rewritten: None,
                nature: CommandFacts::default(),
            }
        }
    }
}

/// Decides without inspecting any folder whether a call allowed by another mode is forbidden now. A starting
/// command is not inspected again, so a stricter mode always stops it.
pub(crate) fn is_forbidden_now(ground: &PermissionContext, effects: &Effects) -> bool {
    match effects.command {
        Some(CommandEffect::Start { .. }) => true,
        Some(CommandEffect::Input { .. } | CommandEffect::Control) | None => {
            matches!(decide(ground, effects).decision, Decision::Ask { .. } | Decision::Deny { .. })
        }
    }
}

fn write(ground: &PermissionContext, path: &Path) -> Decision {
    let shown = path.display().to_string();
    let rule = Some(Rule::Write { path: shown.clone() });
    let ask = |reason| Decision::Ask { reason, rule: rule.clone() };
    let around = ground.shell_context(&ground.folder);
    let verdict = octo_policy::write_path(path, ground.open(), &around, &ground.policy, &ground.startup);
    if let PathVerdict::Denied(refusal) = verdict {
        return Decision::Deny { refusal, subject: shown, part: None };
    }
    let ruled = !matches!(verdict, PathVerdict::Instructs | PathVerdict::Startup)
        && !ground.policy.is_strict()
        && ground.rules.contains(&Rule::Write { path: shown.clone() });
    if ruled {
        return Decision::Run(RunBasis::Person);
    }
    let scratch = ground.writable.iter().any(|folder| is_inside(folder, path));
    match verdict {
        PathVerdict::Secret => ask(AskReason::Secret { path: shown }),
        PathVerdict::Outside => ask(AskReason::WritesOutside { path: shown }),
        PathVerdict::Protected => ask(AskReason::Protected { path: shown }),
        PathVerdict::Instructs => Decision::Ask { reason: AskReason::Instructs { path: shown }, rule: None },
        PathVerdict::Startup => Decision::Ask { reason: AskReason::Startup { path: shown }, rule: None },
        PathVerdict::Denied(_) | PathVerdict::Open
            if !scratch && (ground.mode == Mode::Ask || ground.policy.is_strict()) =>
        {
            ask(AskReason::Mode)
        }
        PathVerdict::Denied(_) | PathVerdict::Open => Decision::Run(RunBasis::Policy),
    }
}

fn read(ground: &PermissionContext, path: &Path) -> Decision {
    let shown = path.display().to_string();
    let exact = Rule::Read { path: shown.clone() };
    match octo_policy::read_path(path, ground.open(), &ground.shell_context(&ground.folder), &ground.policy) {
        PathVerdict::Denied(refusal) => Decision::Deny { refusal, subject: shown, part: None },
        // A rule for a folder does not cover the secrets in it.
        PathVerdict::Secret if ground.rules.contains(&exact) => Decision::Run(RunBasis::Person),
        PathVerdict::Secret => Decision::Ask { reason: AskReason::Secret { path: shown }, rule: Some(exact) },
        PathVerdict::Open => Decision::Run(RunBasis::Policy),
        PathVerdict::Outside | PathVerdict::Protected | PathVerdict::Instructs | PathVerdict::Startup => {
            let ruled = ground.rules.iter().any(|rule| match rule {
                Rule::Read { path: allowed } => is_inside(Path::new(allowed), path),
                Rule::Write { .. }
                | Rule::Command { .. }
                | Rule::Line { .. }
                | Rule::Host { .. }
                | Rule::Site { .. } => false,
            });
            if ruled {
                Decision::Run(RunBasis::Person)
            } else {
                Decision::Ask { reason: AskReason::ReadsOutside { path: shown }, rule: Some(exact) }
            }
        }
    }
}

/// Reading public sites runs in every mode. A site on the local network or machine asks: its contents were not
/// meant to be reached through strangers' pages.
fn site(ground: &PermissionContext, site: &Site) -> Decision {
    match site.distance {
        SiteDistance::Internet => Decision::Run(RunBasis::Policy),
        SiteDistance::Private | SiteDistance::Metadata if is_ruled(ground, site) => {
            Decision::Run(RunBasis::Person)
        }
        SiteDistance::Private | SiteDistance::Metadata => {
            let host = site.to_string();
            let rule = Some(Rule::Host { host: host.clone() });
            Decision::Ask { reason: AskReason::PrivateAddress { host }, rule }
        }
    }
}

fn is_ruled(ground: &PermissionContext, site: &Site) -> bool {
    ground.rules.contains(&Rule::Host { host: site.to_string() })
}

/// Returns the local sites a running call may visit, and how they were allowed. A mode without questions names
/// no sites.
pub(crate) fn granted_sites(
    ground: &PermissionContext,
    effects: &Effects,
    decision: &Decision,
) -> Vec<(Site, SiteGrant)> {
    let granted = |site: &Site| match decision {
        Decision::Ask { .. } => Some(SiteGrant::ByName),
        _ if is_ruled(ground, site) => Some(SiteGrant::ByName),
        Decision::Run(_) if ground.mode == Mode::Autonomous => Some(SiteGrant::ByMode),
        Decision::Run(_) | Decision::Feedback | Decision::Deny { .. } => None,
    };
    effects.sites.iter().filter_map(|site| Some((site.clone(), granted(site)?))).collect()
}

fn command(ground: &PermissionContext, effect: &CommandEffect) -> CallDecision {
    let plain = |decision| CallDecision { decision, rewritten: None, nature: CommandFacts::default() };
    let (line, cwd, env) = match effect {
        CommandEffect::Start { line, cwd, env } => {
            (line, cwd.as_deref().unwrap_or(&ground.shell_folder), env.as_slice())
        }
        CommandEffect::Input { .. } if ground.mode == Mode::Autonomous => {
            return plain(Decision::Run(RunBasis::Person));
        }
        // Text typed into a running program may do anything the program can.
        CommandEffect::Input { .. } => {
            return plain(Decision::Ask { reason: AskReason::Command { part: None }, rule: None });
        }
        CommandEffect::Control => return plain(Decision::Run(RunBasis::Policy)),
    };
    // In another folder, or with its own variables, it is not the command that was allowed.
    let ruled = env.is_empty() && is_inside(&ground.folder, cwd);
    let words: Vec<Vec<String>> = ground
        .rules
        .iter()
        .filter_map(|rule| match rule {
            Rule::Command { words } if ruled => Some(words.clone()),
            _ => None,
        })
        .collect();
    let around = ground.shell_context(cwd);
    let standing = PolicyContext {
        context: &around,
        policy: &ground.policy,
        rules: &words,
        startup: &ground.startup,
        git: octo_shell::git_answer,
    };
    let assessment = octo_policy::assess(line, env, standing);
    let nature = CommandFacts::of(&assessment.verdict, assessment.lasting, cwd);
    let decision = match assessment.verdict {
        Verdict::Deny { why, part } => Decision::Deny { refusal: why, subject: line.clone(), part },
        verdict => {
            let decision = allowed(ground, line, cwd, ruled, verdict);
            match &assessment.startup {
                Some(path) => with_startup(decision, path),
                None => decision,
            }
        }
    };
    CallDecision { decision, rewritten: assessment.rewritten, nature }
}

/// What is done with a line that writes a start-up file of a shell. A risk says more than that; no rule covers either.
fn with_startup(decision: Decision, path: &Path) -> Decision {
    match decision {
        Decision::Deny { .. } => decision,
        Decision::Ask {
            reason: reason @ (AskReason::Risky { .. } | AskReason::Instructs { .. }), ..
        } => Decision::Ask { reason, rule: None },
        Decision::Run(_) | Decision::Feedback | Decision::Ask { .. } => {
            let path = path.display().to_string();
            Decision::Ask { reason: AskReason::Startup { path }, rule: None }
        }
    }
}

/// Decides on a line that is not denied.
fn allowed(ground: &PermissionContext, line: &str, cwd: &Path, ruled: bool, verdict: Verdict) -> Decision {
    let exact = Rule::Line { line: line.to_owned() };
    let known = match &verdict {
        Verdict::Known(known) | Verdict::Ruled(known) => Some(known),
        Verdict::Ask { .. } | Verdict::Deny { .. } => None,
    };
    let touched = known.map_or(Decision::Run(RunBasis::Policy), |known| decide_paths(ground, cwd, known));
    if matches!(touched, Decision::Deny { .. }) || always_asks(&touched) {
        return touched;
    }
    if ground.mode == Mode::Autonomous {
        return Decision::Run(RunBasis::Person);
    }
    let asked_for = matches!(verdict, Verdict::Ask { why: Doubtful::Risky { risk: Risk::Ruled, .. }, .. });
    if ruled && !asked_for && !ground.policy.is_strict() && ground.rules.contains(&exact) {
        return Decision::Run(RunBasis::Person);
    }
    match verdict {
        Verdict::Ruled(_) => match touched {
            Decision::Run(_) => Decision::Run(RunBasis::Person),
            asks => asks,
        },
        // Its effects are a better reason than the mode.
        Verdict::Known(_) if ground.mode == Mode::Ask && matches!(touched, Decision::Run(_)) => {
            Decision::Ask { reason: AskReason::Mode, rule: Some(exact) }
        }
        Verdict::Known(_) => match read(ground, cwd) {
            // A rule for the folder would open everything below it to every tool.
            Decision::Ask { reason, .. } => Decision::Ask { reason, rule: None },
            Decision::Run(_) => limited_to_line(touched, exact),
            other => other,
        },
        Verdict::Ask { why, part, rule } => {
            let rule = rule.map(|words| Rule::Command { words }).or(Some(exact));
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
fn limited_to_line(touched: Decision, exact: Rule) -> Decision {
    match touched {
        Decision::Ask {
            reason:
                reason @ (AskReason::ReadsOutside { .. }
                | AskReason::WritesOutside { .. }
                | AskReason::Secret { .. }),
            ..
        } => Decision::Ask { reason, rule: Some(exact) },
        other => other,
    }
}

/// Returns the strictest decision on a line's paths. A word that is not a path resolves to a name inside the
/// folder. A path's rule is a rule about that path, not about the command that mentions it.
fn decide_paths(ground: &PermissionContext, cwd: &Path, known: &TouchedPaths) -> Decision {
    let resolved =
        |word: &String, how: fn(&PermissionContext, &Path) -> Decision| match octo_workspace::resolve(
            word, cwd,
        ) {
            Ok(path) => how(ground, &path),
            Err(_) => Decision::Ask { reason: AskReason::ReadsOutside { path: word.clone() }, rule: None },
        };
    let reads = known.reads.iter().map(|word| resolved(word, read));
    let writes = known.writes.iter().map(|word| resolved(word, write));
    let removes = known.removes.iter().map(|word| resolved(word, remove));
    let repositories = known.repositories.iter().map(|path| {
        if !is_inside(&ground.folder, path) {
            let path = path.display().to_string();
            Decision::Ask { reason: AskReason::WritesOutside { path }, rule: None }
        } else if ground.policy.is_strict() {
            Decision::Ask { reason: AskReason::Mode, rule: None }
        } else {
            Decision::Run(RunBasis::Policy)
        }
    });
    let (mut asks, mut always) = (None, None);
    for decision in reads.chain(writes).chain(removes).chain(repositories) {
        match decision {
            Decision::Deny { .. } => return decision,
            Decision::Ask { reason, .. } => {
                let ask = Decision::Ask { reason, rule: None };
                let kept = if always_asks(&ask) { &mut always } else { &mut asks };
                kept.get_or_insert(ask);
            }
            Decision::Run(_) | Decision::Feedback => {}
        }
    }
    always.or(asks).unwrap_or(Decision::Run(RunBasis::Policy))
}

/// The agent may not remove the session's folder itself.
fn remove(ground: &PermissionContext, path: &Path) -> Decision {
    if is_inside(path, &ground.folder) {
        let reason = AskReason::Risky { risk: Risk::Deletes, part: None, instead: None };
        return Decision::Ask { reason, rule: None };
    }
    write(ground, path)
}

#[cfg(test)]
mod tests;
