//! The hosts of a `policy.toml`.

use octo_network::{AccessRequest, HostPattern};
use serde::Deserialize;

/// The lists of hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NetworkRules {
    /// Commands of every folder may reach them, if they are limited to the folder's network allow list.
    pub allow: Vec<HostRule>,
}

/// A host or a pattern of hosts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct HostRule(HostPattern);

impl TryFrom<String> for HostRule {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let pattern = HostPattern::parse(&text).map(Self);
        pattern.ok_or_else(|| {
            format!("`{text}` is no host, such as example.com, example.com:8443 or *.example.com")
        })
    }
}

impl NetworkRules {
    /// Returns whether a connection is allowed in every folder.
    pub fn allow(&self, request: &AccessRequest) -> bool {
        self.allow.iter().any(|HostRule(pattern)| pattern.covers(&request.destination, request.scope))
    }
}
