//! Permission for builtin commands. Reading is allowed. Changes ask, and changes that become instructions ask
//! in every mode. No answer is permanent: a rule for such a command would cover whatever its files contain
//! later.

use super::{Decision, PermissionContext, RunBasis};
use octo_protocol::{AskReason, LibraryChange, Mode};
use octo_tools::BuiltinCommandEffect;

/// Decides on a command. `places` is the decision on the files and addresses it names.
pub(super) fn decide(
    context: &PermissionContext,
    effect: BuiltinCommandEffect,
    places: Option<Decision>,
) -> Decision {
    let change = match effect {
        BuiltinCommandEffect::Reads => None,
        BuiltinCommandEffect::Changes(change) => Some(change),
    };
    if let Some(change) = change.filter(|change| change.asks_in_every_mode()) {
        return ask(change);
    }
    if context.mode == Mode::Autonomous {
        return Decision::Run(RunBasis::Person);
    }
    // One question at a time: a rule about a file would not cover its further use.
    if let Some(Decision::Ask { reason, .. }) = places {
        return Decision::Ask { reason, rule: None };
    }
    match change {
        None => Decision::Run(RunBasis::Policy),
        Some(change) if context.builtin.covers(change) && !context.policy.is_strict() => {
            Decision::Run(RunBasis::Policy)
        }
        Some(change) => ask(change),
    }
}

fn ask(change: LibraryChange) -> Decision {
    Decision::Ask { reason: AskReason::Library { change }, rule: None }
}
