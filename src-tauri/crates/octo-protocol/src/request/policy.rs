//! Requests about the person's own rules.

use super::{Call, Request};
use crate::{CommandTrial, Grants, PolicyRule, PolicyState, Rule};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

super::domain! {
    /// Requests about the person's own rules.
    PolicyRequest in Policy, PolicyReplies {
        /// `policy.toml` as it stands.
        GetPolicy {} -> PolicyState;
        /// Add a rule to `policy.toml`. The file's comments and layout stay; one that is broken is never written to.
        AddPolicyRule {
            /// The rule.
            rule: PolicyRule,
            /// What the file held when the person decided, as [`PolicyState::stamp`].
            stamp: String,
        } -> PolicyState;
        /// Take a rule out of `policy.toml`, in the same way.
        RemovePolicyRule {
            /// The rule.
            rule: PolicyRule,
            /// As in [`AddPolicyRule`].
            stamp: String,
        } -> PolicyState;
        /// What was allowed with "always", in all folders.
        ListGrants {} -> Grants;
        /// Allow something no more. Holds for calls decided on from now on.
        RemoveGrant {
            /// The folder it was allowed in.
            folder: String,
            /// What was allowed.
            rule: Rule,
        } -> Grants;
        /// What would be done with a command. Nothing is run.
        TryCommand {
            /// The command line.
            line: String,
            /// The folder it would run in; none for the one used last.
            folder: Option<String>,
        } -> CommandTrial;
    }
}
