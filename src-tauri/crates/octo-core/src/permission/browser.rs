//! Permission for actions in the person's browser, based on the live page: a site is granted once for a turn,
//! or by a rule; irreversible actions ask every time and in every mode.

use super::{Decision, PermissionContext, RunBasis};
use octo_browser::safety::PageAddress;
use octo_protocol::{AskReason, Mode, PageFile, Refusal, Rule};
use octo_tools::{
    BrowserEffect, BrowserLocation, BrowserPermission, Effects, InspectionDepth, LocationAccess,
    NavigationScope,
};
use std::path::PathBuf;

/// Decides on a browser call that gives these files away. `file_decision` is the decision on reading them
/// anywhere.
pub(super) fn decide(
    context: &PermissionContext,
    effect: &BrowserEffect,
    files: &[PathBuf],
    file_decision: Option<Decision>,
) -> Decision {
    // An action that was not inspected is not known to be harmless.
    let Some(assessment) = &effect.assessment else {
        return Decision::Ask { reason: AskReason::Mode, rule: None };
    };
    let site = assessment.location.as_ref().map(|location| location.site.clone()).unwrap_or_default();
    if let Some(BrowserLocation { access: LocationAccess::Never { why }, .. }) = &assessment.location {
        return Decision::Deny { refusal: Refusal::Address, subject: site, part: Some(why.clone()) };
    }
    // A yes covers everything the action triggers, so one question names all of it: the site, the element and
    // the files. A question about the files alone would not say where they are sent.
    if let Some((risk, other_risks)) = assessment.risks.split_first() {
        let (target, files) = (assessment.target.clone(), files_to_mention(context, files));
        let reason = AskReason::Page { risk: *risk, besides: other_risks.to_vec(), site, target, files };
        return Decision::Ask { reason, rule: None };
    }
    // A page of an ungranted site was not inspected and receives nothing: the question about the files is asked
    // once the action is known.
    let file_decision = file_decision.filter(|_| {
        context.mode != Mode::Autonomous && assessment.inspected != InspectionDepth::LocationOnly
    });
    if let Some(Decision::Ask { reason, .. }) = file_decision {
        return Decision::Ask { reason, rule: None };
    }
    let changes = asks_about_changes(context) && effect.request.action.changes_something();
    let by_mode = || Decision::Ask { reason: AskReason::Mode, rule: None };
    let Some(browser_location) = &assessment.location else {
        return if changes { by_mode() } else { Decision::Run(RunBasis::Policy) };
    };
    match &browser_location.access {
        LocationAccess::Open if changes => by_mode(),
        LocationAccess::Open => Decision::Run(RunBasis::Policy),
        LocationAccess::Asks | LocationAccess::AsksEachTurn
            if is_granted(context, browser_location) || context.mode == Mode::Autonomous =>
        {
            if changes {
                by_mode()
            } else {
                Decision::Run(RunBasis::Person)
            }
        }
        LocationAccess::Asks => {
            let rule = Some(Rule::Site { site: site.clone() });
            Decision::Ask { reason: AskReason::Site { site }, rule }
        }
        LocationAccess::AsksEachTurn | LocationAccess::AsksEachTime | LocationAccess::Never { .. } => {
            Decision::Ask { reason: AskReason::Site { site }, rule: None }
        }
    }
}

/// Returns the files a page would receive that must be mentioned, whatever the mode.
fn files_to_mention(context: &PermissionContext, files: &[PathBuf]) -> Vec<PageFile> {
    let page_file = |path: &PathBuf| match super::decide_read(context, path) {
        Decision::Ask { reason: AskReason::Secret { path }, .. } => Some(PageFile::Secret { path }),
        Decision::Ask { reason: AskReason::ReadsOutside { path }, .. } => Some(PageFile::Outside { path }),
        Decision::Ask { .. } | Decision::Run(_) | Decision::Feedback | Decision::Deny { .. } => None,
    };
    files.iter().filter_map(page_file).collect()
}

/// Whether every change asks: in that mode, and while the person's policy cannot be read.
fn asks_about_changes(context: &PermissionContext) -> bool {
    context.mode == Mode::Ask || context.policy.is_strict()
}

fn is_granted(context: &PermissionContext, location: &BrowserLocation) -> bool {
    let by_rule = || context.rules.contains(&Rule::Site { site: location.site.clone() });
    // A site that can only be granted for one turn is covered by no rule.
    context.granted_to_turn.iter().any(|site| *site == location.site || is_encrypted(site, &location.site))
        || (location.access == LocationAccess::Asks && by_rule())
}

/// Whether `site` is the encrypted form of `granted`, to which plain addresses of the usual port nearly always
/// lead.
fn is_encrypted(granted: &str, site: &str) -> bool {
    let host = |site: &str, scheme| {
        site.strip_prefix(scheme).filter(|host: &&str| !host.contains(':')).map(str::to_owned)
    };
    host(granted, "http://").is_some_and(|encrypted_host| host(site, "https://") == Some(encrypted_host))
}

/// Returns the permissions of a running browser call.
pub(crate) fn browser_permissions(
    context: &PermissionContext,
    effects: &Effects,
) -> Option<BrowserPermission> {
    let assessment = effects.browser.as_ref()?.assessment.clone()?;
    Some(BrowserPermission { assessment, ..entry_permissions(context) })
}

/// Returns the sites a turn may visit before any action is weighed.
pub(crate) fn entry_permissions(context: &PermissionContext) -> BrowserPermission {
    let ruled = context.rules.iter().filter_map(|rule| match rule {
        // A site that can only be granted for one turn is covered by no rule.
        Rule::Site { site } if matches!(PageAddress::of(site), PageAddress::Web(_)) => Some(site.clone()),
        Rule::Site { .. }
        | Rule::Command { .. }
        | Rule::Line { .. }
        | Rule::Write { .. }
        | Rule::Read { .. }
        | Rule::Host { .. }
        | Rule::Network { .. } => None,
    });
    let granted = context.granted_to_turn.iter().cloned().chain(ruled).collect();
    let navigation =
        if context.mode == Mode::Autonomous { NavigationScope::Web } else { NavigationScope::Granted };
    BrowserPermission::before_assessment(granted, navigation)
}
