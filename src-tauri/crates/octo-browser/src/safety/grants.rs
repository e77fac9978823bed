//! [`SiteGrants`]: the sites at which a turn may act. The person is asked at first use; grants are checked before every
//! navigation, whenever a tab's main frame shows another page, and before every read and action. A redirect can
//! move the tab, and an earlier visit elsewhere grants nothing.

use super::{
    address::{ForbiddenReason, PageAddress},
    site::Site,
};
use octo_network::Nearness;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

/// A tab's number, assigned by Octo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TabNumber(pub u32);

/// A step about to happen in a tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PageStep {
    /// The tab is navigated to the address.
    Navigate,
    /// The tab's main frame now shows the address.
    Commit,
    /// The page is read: a snapshot, a picture, its text.
    Read,
    /// An action in the page.
    Act,
}

/// The duration of a grant, shortest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GrantLifetime {
    /// In this tab, until it navigates elsewhere.
    Once,
    /// Until the turn ends.
    Turn,
    /// For this folder from now on. Stored by the caller, who passes it to [`SiteGrants::new`] the next time.
    Always,
}

/// The scope of a grant. Made only from a [`PageAddress`], so nothing wider can be granted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GrantScope {
    /// A site.
    Site(Site),
    /// Exactly this page of the browser, of an extension or of the local files.
    Page(String),
}

impl fmt::Display for GrantScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Site(site) => f.write_str(&site.display_name()),
            Self::Page(page) => f.write_str(page),
        }
    }
}

/// The kind of site asked about, which determines the question's wording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SiteKind {
    /// A public web site.
    Web,
    /// A site of this machine or its network.
    Near,
    /// An administration page.
    Administration,
    /// A cloud's metadata service, which exposes a machine's keys.
    Metadata,
    /// A page of the browser itself.
    Browser,
    /// A password store.
    Passwords,
    /// A page of an extension.
    Extension,
    /// A local file.
    File,
}

/// The question whether the turn may act at a site. Only [`SiteGrants::check`] makes one, so only an address
/// actually encountered can be granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteQuestion {
    scope: GrantScope,
    kind: SiteKind,
    max_lifetime: GrantLifetime,
}

impl SiteQuestion {
    /// Returns the scope that would be granted.
    pub fn scope(&self) -> &GrantScope {
        &self.scope
    }

    /// Returns the kind of site.
    pub fn kind(&self) -> SiteKind {
        self.kind
    }

    /// Returns the longest duration that may be offered.
    pub fn max_lifetime(&self) -> GrantLifetime {
        self.max_lifetime
    }
}

/// Permission for one step in one tab at one address. It does not cover the next step: check again.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub struct StepPermit {
    tab: TabNumber,
    step: PageStep,
    address: PageAddress,
}

impl StepPermit {
    /// Returns whether this permits that step. The code that performs the step must check this.
    pub fn is_for(&self, tab: TabNumber, step: PageStep, address: &PageAddress) -> bool {
        self.tab == tab && self.step == step && self.address == *address
    }
}

/// The verdict on a step.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub enum SiteVerdict {
    /// Allowed.
    Allowed(StepPermit),
    /// The person must be asked.
    Ask(SiteQuestion),
    /// Refused regardless of the person's answers.
    Refused(StepRefusal),
}

/// The reason why a step is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum StepRefusal {
    /// The address is never allowed.
    #[error("{0}")]
    Forbidden(#[from] ForbiddenReason),
    /// The browser shows an error or a warning; only the person may bypass it.
    #[error("the browser shows an error or a warning there, and only the person may go past it")]
    ErrorPage,
    /// The port that controls the browser itself.
    #[error("the browser itself is controlled on that port")]
    DebuggingPort,
}

/// A recorded grant, by its duration.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum RecordedGrant {
    /// In that tab, until it navigates elsewhere.
    Once,
    /// Until the turn ends.
    Turn,
    /// Until the turn ends, and to be stored for the folder: [`Site`] converts to and from text.
    Always(Site),
}

/// The sites that the person allowed for one turn. Anything else is not allowed.
#[derive(Clone, Debug, Default)]
pub struct SiteGrants {
    turn: BTreeSet<GrantScope>,
    once: BTreeMap<TabNumber, BTreeSet<GrantScope>>,
    debugging_ports: BTreeSet<u16>,
}

impl SiteGrants {
    /// Creates the grants of a turn in a folder where these sites are always allowed. Sites that only permit a
    /// shorter grant are left out.
    pub fn new(always: impl IntoIterator<Item = Site>) -> Self {
        let scopes =
            always.into_iter().filter(|site| site.nearness() == Nearness::World).map(GrantScope::Site);
        Self { turn: scopes.collect(), ..Self::default() }
    }

    /// Refuses the port on this machine that controls the browser itself.
    pub fn refuse_port(&mut self, port: u16) {
        self.debugging_ports.insert(port);
    }

    /// Decides whether a step may happen in a tab that is at an address, or is sent to it.
    pub fn check(&self, tab: TabNumber, step: PageStep, address: &PageAddress) -> SiteVerdict {
        let allowed = || SiteVerdict::Allowed(StepPermit { tab, step, address: address.clone() });
        let question = match address {
            PageAddress::Blank => return allowed(),
            PageAddress::Forbidden(reason) => return SiteVerdict::Refused(StepRefusal::Forbidden(*reason)),
            PageAddress::ErrorPage => {
                return match step {
                    // The error may be reported; no action is possible on it.
                    PageStep::Commit | PageStep::Read => allowed(),
                    PageStep::Navigate | PageStep::Act => SiteVerdict::Refused(StepRefusal::ErrorPage),
                };
            }
            PageAddress::Web(site) => {
                site_question(GrantScope::Site(site.clone()), SiteKind::Web, GrantLifetime::Always)
            }
            PageAddress::Near(site) if self.is_debugging_port(site) => {
                return SiteVerdict::Refused(StepRefusal::DebuggingPort);
            }
            PageAddress::Near(site) => near_question(site),
            PageAddress::Internal { page } => page_question(page, SiteKind::Browser),
            PageAddress::Passwords { page } => page_question(page, SiteKind::Passwords),
            PageAddress::Extension { id } => page_question(id, SiteKind::Extension),
            PageAddress::File { page } => page_question(page, SiteKind::File),
        };
        if self.is_granted(tab, &question) { allowed() } else { SiteVerdict::Ask(question) }
    }

    fn is_debugging_port(&self, site: &Site) -> bool {
        site.nearness() != Nearness::World && self.debugging_ports.contains(&site.port())
    }

    fn is_granted(&self, tab: TabNumber, question: &SiteQuestion) -> bool {
        let is_covered = |scope: &GrantScope| {
            let allowed_once = self.once.get(&tab).is_some_and(|scopes| scopes.contains(scope));
            allowed_once || (question.max_lifetime > GrantLifetime::Once && self.turn.contains(scope))
        };
        // The same host over https: an http address on the standard port nearly always redirects there.
        let is_https_upgrade = |site: &Site| {
            let granted = self.turn.iter().chain(self.once.get(&tab).into_iter().flatten());
            granted.clone().any(
                |scope| matches!(scope, GrantScope::Site(plain) if plain.encrypted().as_ref() == Some(site)),
            )
        };
        is_covered(&question.scope)
            || matches!(&question.scope, GrantScope::Site(site)
                if question.kind == SiteKind::Web && is_https_upgrade(site))
    }

    /// Records the person's consent to a question. A longer duration than the question offers is shortened.
    pub fn allow(
        &mut self,
        tab: TabNumber,
        question: SiteQuestion,
        lifetime: GrantLifetime,
    ) -> RecordedGrant {
        let SiteQuestion { scope, max_lifetime, .. } = question;
        match lifetime.min(max_lifetime) {
            GrantLifetime::Once => {
                self.once.entry(tab).or_default().insert(scope);
                RecordedGrant::Once
            }
            GrantLifetime::Turn => {
                self.turn.insert(scope);
                RecordedGrant::Turn
            }
            GrantLifetime::Always => {
                let recorded = match &scope {
                    GrantScope::Site(site) => RecordedGrant::Always(site.clone()),
                    GrantScope::Page(_) => RecordedGrant::Turn,
                };
                self.turn.insert(scope);
                recorded
            }
        }
    }

    /// Records that a tab's main frame shows another page: one-time grants for the old page end, and the new
    /// one is judged separately.
    pub fn record_commit(&mut self, tab: TabNumber, address: &PageAddress) -> SiteVerdict {
        let verdict = self.check(tab, PageStep::Commit, address);
        let current = match &verdict {
            SiteVerdict::Allowed(_) => scope_of(address),
            SiteVerdict::Ask(_) | SiteVerdict::Refused(_) => None,
        };
        if let Some(scopes) = self.once.get_mut(&tab) {
            scopes.retain(|scope| still_covers(scope, current.as_ref()));
        }
        verdict
    }

    /// Forgets a closed tab and its one-time grants.
    pub fn forget_tab(&mut self, tab: TabNumber) {
        self.once.remove(&tab);
    }

    /// Revokes a grant at the person's request.
    pub fn revoke(&mut self, scope: &GrantScope) {
        self.turn.remove(scope);
        for scopes in self.once.values_mut() {
            scopes.remove(scope);
        }
    }

    /// Returns the scopes granted until the turn ends, in order.
    pub fn turn_scopes(&self) -> impl Iterator<Item = &GrantScope> {
        self.turn.iter()
    }
}

/// Returns whether a one-time grant still covers a tab that is now at `current`.
fn still_covers(scope: &GrantScope, current: Option<&GrantScope>) -> bool {
    match (scope, current) {
        (GrantScope::Site(granted), Some(GrantScope::Site(current))) => {
            granted == current || granted.encrypted().as_ref() == Some(current)
        }
        (granted, Some(current)) => granted == current,
        (_, None) => false,
    }
}

fn site_question(scope: GrantScope, kind: SiteKind, max_lifetime: GrantLifetime) -> SiteQuestion {
    SiteQuestion { scope, kind, max_lifetime }
}

fn page_question(page: &str, kind: SiteKind) -> SiteQuestion {
    site_question(GrantScope::Page(page.to_owned()), kind, GrantLifetime::Once)
}

fn near_question(site: &Site) -> SiteQuestion {
    let (kind, max_lifetime) = match site.nearness() {
        Nearness::Metadata => (SiteKind::Metadata, GrantLifetime::Once),
        _ if site.is_administration() => (SiteKind::Administration, GrantLifetime::Once),
        Nearness::World | Nearness::Network | Nearness::Machine => (SiteKind::Near, GrantLifetime::Turn),
    };
    site_question(GrantScope::Site(site.clone()), kind, max_lifetime)
}

fn scope_of(address: &PageAddress) -> Option<GrantScope> {
    match address {
        PageAddress::Web(site) | PageAddress::Near(site) => Some(GrantScope::Site(site.clone())),
        PageAddress::Internal { page } | PageAddress::Passwords { page } | PageAddress::File { page } => {
            Some(GrantScope::Page(page.clone()))
        }
        PageAddress::Extension { id } => Some(GrantScope::Page(id.clone())),
        PageAddress::Blank | PageAddress::ErrorPage | PageAddress::Forbidden(_) => None,
    }
}
