//! May this be done in the person's browser? Decided on what was found at the live page: a site is granted once for a
//! task, or by a rule; what cannot be taken back asks every time and in every mode.

use super::{Basis, Decision, Ground};
use octo_browser::safety::Address;
use octo_protocol::{AskReason, Mode, Refusal, Rule};
use octo_tools::{BrowserEffect, BrowserLeave, Effects, Entry, Place, Roam};

/// Decides on a call in the browser. `files` is what is to be asked about the files it gives away.
pub(super) fn decide(ground: &Ground, effect: &BrowserEffect, files: Option<Decision>) -> Decision {
    // Not looked at, it is nothing that is known to be harmless.
    let Some(weight) = &effect.weight else {
        return Decision::Ask { reason: AskReason::Mode, rule: None };
    };
    let site = weight.place.as_ref().map(|place| place.site.clone()).unwrap_or_default();
    if let Some(Place { entry: Entry::Never { why }, .. }) = &weight.place {
        return Decision::Deny { refusal: Refusal::Address, subject: site, part: Some(why.clone()) };
    }
    // One question at a time: a rule about a file would say nothing about where it goes.
    if let Some(Decision::Ask { reason, .. }) = files.filter(|_| ground.mode != Mode::Autonomous) {
        return Decision::Ask { reason, rule: None };
    }
    if let Some((risk, besides)) = weight.risks.split_first() {
        let target = weight.target.clone();
        let reason = AskReason::Page { risk: *risk, besides: besides.to_vec(), site, target };
        return Decision::Ask { reason, rule: None };
    }
    let changes = asks_about_changes(ground) && effect.wish.deed.changes_something();
    let by_mode = || Decision::Ask { reason: AskReason::Mode, rule: None };
    let Some(place) = &weight.place else {
        return if changes { by_mode() } else { Decision::Run(Basis::Policy) };
    };
    match &place.entry {
        Entry::Open if changes => by_mode(),
        Entry::Open => Decision::Run(Basis::Policy),
        Entry::Asks | Entry::AsksEachTask if is_granted(ground, place) || ground.mode == Mode::Autonomous => {
            if changes {
                by_mode()
            } else {
                Decision::Run(Basis::Person)
            }
        }
        Entry::Asks => {
            let rule = Some(Rule::Site { site: site.clone() });
            Decision::Ask { reason: AskReason::Site { site }, rule }
        }
        Entry::AsksEachTask | Entry::AsksEachTime | Entry::Never { .. } => {
            Decision::Ask { reason: AskReason::Site { site }, rule: None }
        }
    }
}

/// Whether every change is asked about: in that mode, and while the person's policy cannot be read.
fn asks_about_changes(ground: &Ground) -> bool {
    ground.mode == Mode::Ask || ground.policy.is_strict()
}

fn is_granted(ground: &Ground, place: &Place) -> bool {
    let by_rule = || ground.rules.contains(&Rule::Site { site: place.site.clone() });
    // What can be granted for one task only is covered by no rule, whoever wrote it.
    ground.granted.iter().any(|site| *site == place.site || is_encrypted(site, &place.site))
        || (place.entry == Entry::Asks && by_rule())
}

/// Whether one is the other, only encrypted: where plain addresses of the usual port lead nearly always.
fn is_encrypted(plain: &str, site: &str) -> bool {
    let host = |site: &str, scheme| {
        site.strip_prefix(scheme).filter(|rest: &&str| !rest.contains(':')).map(str::to_owned)
    };
    host(plain, "http://").is_some_and(|plain| host(site, "https://") == Some(plain))
}

/// What a call in the browser that runs may do.
pub(crate) fn browser_leave(ground: &Ground, effects: &Effects) -> Option<BrowserLeave> {
    let weight = effects.browser.as_ref()?.weight.clone()?;
    Some(BrowserLeave { weight, ..standing(ground) })
}

/// Where a task may be before anything is weighed.
pub(crate) fn standing(ground: &Ground) -> BrowserLeave {
    let ruled = ground.rules.iter().filter_map(|rule| match rule {
        // What can be granted for one task only is covered by no rule, whoever wrote it.
        Rule::Site { site } if matches!(Address::of(site), Address::Web(_)) => Some(site.clone()),
        Rule::Site { .. }
        | Rule::Command { .. }
        | Rule::Line { .. }
        | Rule::Write { .. }
        | Rule::Read { .. }
        | Rule::Host { .. } => None,
    });
    let granted = ground.granted.iter().cloned().chain(ruled).collect();
    let roam = if ground.mode == Mode::Autonomous { Roam::Web } else { Roam::Granted };
    BrowserLeave::standing(granted, roam)
}
