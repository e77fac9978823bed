//! Requests about the person's own rules.

use super::{Request, TypedRequest};
use crate::{CommandTrial, Grants, PolicyRule, PolicyState, Rule};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

super::domain! {
    /// Requests about the person's own rules.
    PolicyRequest in Policy, PolicyReplies {
        /// Returns the current `policy.toml`.
        GetPolicy {} -> PolicyState;
        /// Adds a rule to `policy.toml`. Preserves comments and layout; never writes to a broken file.
        AddPolicyRule {
            /// The rule.
            rule: PolicyRule,
            /// The content the person's decision was based on, as [`PolicyState::stamp`].
            stamp: String,
        } -> PolicyState;
        /// Removes a rule from `policy.toml`, in the same way.
        RemovePolicyRule {
            /// The rule.
            rule: PolicyRule,
            /// As in [`AddPolicyRule`].
            stamp: String,
        } -> PolicyState;
        /// Returns the permissions granted with "always", in all folders.
        ListGrants {} -> Grants;
        /// Revokes a grant. Affects all later decisions.
        RemoveGrant {
            /// The folder of the grant.
            folder: String,
            /// The permission.
            rule: Rule,
        } -> Grants;
        /// Returns the verdict on a command. Runs nothing.
        TryCommand {
            /// The command line.
            line: String,
            /// The folder it would run in; `None` for the last one used.
            folder: Option<String>,
        } -> CommandTrial;
    }
}
