//! What the person allowed a session.

use octo_protocol::Rule;

/// Standing rules, and grants for the turn that runs.
pub(super) struct Grants {
    /// Rules of the folder and of this session.
    rules: Vec<Rule>,
    /// Sites the person granted to the turn that runs and to turns that continue it.
    sites: Vec<String>,
}

impl Grants {
    pub(super) fn new(rules: Vec<Rule>) -> Self {
        Self { rules, sites: Vec::new() }
    }

    /// The rules as they are now.
    pub(super) fn rules(&self) -> Vec<Rule> {
        self.rules.clone()
    }

    /// The granted sites as they are now.
    pub(super) fn sites(&self) -> Vec<String> {
        self.sites.clone()
    }

    /// Another folder has other rules.
    pub(super) fn replace_rules(&mut self, rules: Vec<Rule>) {
        self.rules = rules;
    }

    pub(super) fn add_rule(&mut self, rule: Rule) {
        self.rules.push(rule);
    }

    pub(super) fn grant_site(&mut self, site: String) {
        self.sites.push(site);
    }

    /// A sub-agent has the sites of its parent's turn.
    pub(super) fn inherit_sites(&mut self, sites: Vec<String>) {
        self.sites = sites;
    }

    /// The person took a rule back.
    pub(super) fn forget(&mut self, rule: &Rule) {
        self.rules.retain(|known| known != rule);
        if let Rule::Site { site } = rule {
            self.sites.retain(|known| known != site);
        }
    }

    /// A turn begins: the sites of the one before are granted no longer.
    pub(super) fn begin_turn(&mut self) {
        self.sites.clear();
    }
}
