//! The person's grants to a session.

use octo_network::PendingConnections;
use octo_protocol::Rule;

/// Permanent rules, and grants for the running turn.
pub(super) struct Grants {
    /// Rules of the folder and of this session.
    rules: Vec<Rule>,
    /// Sites the person granted to the running turn and to turns that continue it.
    sites: Vec<String>,
    /// Connections of commands that wait for an answer, and answers for single commands.
    connections: PendingConnections,
}

impl Grants {
    pub(super) fn new(rules: Vec<Rule>) -> Self {
        Self { rules, sites: Vec::new(), connections: PendingConnections::default() }
    }

    /// Returns the current rules.
    pub(super) fn rules(&self) -> Vec<Rule> {
        self.rules.clone()
    }

    /// Returns the connections that wait for an answer.
    pub(super) fn connections(&mut self) -> &mut PendingConnections {
        &mut self.connections
    }

    /// Returns the currently granted sites.
    pub(super) fn sites(&self) -> Vec<String> {
        self.sites.clone()
    }

    /// Replaces the rules because the folder changed.
    pub(super) fn replace_rules(&mut self, rules: Vec<Rule>) {
        self.rules = rules;
    }

    pub(super) fn add_rule(&mut self, rule: Rule) {
        self.rules.push(rule);
    }

    pub(super) fn grant_site(&mut self, site: String) {
        self.sites.push(site);
    }

    /// Takes over the granted sites of a sub-agent's parent turn.
    pub(super) fn inherit_sites(&mut self, sites: Vec<String>) {
        self.sites = sites;
    }

    /// Removes a rule that the person revoked.
    pub(super) fn forget(&mut self, rule: &Rule) {
        self.rules.retain(|granted| granted != rule);
        if let Rule::Site { site } = rule {
            self.sites.retain(|granted| granted != site);
        }
    }

    /// Drops the granted sites of the previous turn.
    pub(super) fn begin_turn(&mut self) {
        self.sites.clear();
    }
}
