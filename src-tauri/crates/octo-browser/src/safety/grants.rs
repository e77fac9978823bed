//! [`Grants`]: where a task may be. Asked at first use, checked before every navigation, whenever a tab's main
//! frame has become another page, and before every look and every action: a redirect moves you, and nothing is
//! granted by having been somewhere else before.

use super::{
    address::{Address, Forbidden},
    nearness::Nearness,
    site::Site,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

/// A tab, by the number Octo gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TabNumber(pub u32);

/// What is about to happen in a tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// The tab is sent to the address.
    Navigate,
    /// The tab's main frame has become the address.
    Commit,
    /// The page is read: a snapshot, a picture, its text.
    Read,
    /// Something is done in the page.
    Act,
}

/// For how long the person allows something, shortest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lifetime {
    /// In this tab, until it is somewhere else.
    Once,
    /// Until the task ends.
    Task,
    /// For this folder from now on. Kept by the caller, who gives it to [`Grants::new`] the next time.
    Always,
}

/// What a grant is for. Made only from an [`Address`], so nothing wider can be granted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// A site.
    Site(Site),
    /// Exactly this page of the browser, of an extension or of this machine's files.
    Page(String),
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Site(site) => f.write_str(&site.shown()),
            Self::Page(page) => f.write_str(page),
        }
    }
}

/// What kind of place is asked for: the words of the question depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlaceKind {
    /// A site of the web.
    Web,
    /// A site of this machine or its network.
    Near,
    /// A page on which something is administered.
    Administration,
    /// A cloud's own services, which hold a machine's keys.
    Metadata,
    /// A page of the browser itself.
    Browser,
    /// Where passwords are kept.
    Passwords,
    /// A page of an extension.
    Extension,
    /// A file of this machine.
    File,
}

/// May the task be there? Only [`Grants::check`] makes one, so only what was really met can be granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteQuestion {
    scope: Scope,
    kind: PlaceKind,
    longest: Lifetime,
}

impl SiteQuestion {
    /// What would be granted.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// What kind of place it is.
    pub fn kind(&self) -> PlaceKind {
        self.kind
    }

    /// The longest that may be offered.
    pub fn longest(&self) -> Lifetime {
        self.longest
    }
}

/// Leave for one step in one tab at one place. It says nothing about the next step: check again.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub struct Pass {
    tab: TabNumber,
    step: Step,
    address: Address,
}

impl Pass {
    /// Whether this is for that. To be asked by whoever carries the step out.
    pub fn is_for(&self, tab: TabNumber, step: Step, address: &Address) -> bool {
        self.tab == tab && self.step == step && self.address == *address
    }
}

/// May a step happen?
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// Yes.
    Allowed(Pass),
    /// The person is to be asked.
    Ask(SiteQuestion),
    /// No, whatever the person said.
    Refused(NoEntry),
}

/// Why a step does not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum NoEntry {
    /// Nothing leads there.
    #[error("{0}")]
    Forbidden(#[from] Forbidden),
    /// The browser shows an error or a warning; only the person goes past it.
    #[error("the browser shows an error or a warning there, and only the person may go past it")]
    ErrorPage,
    /// The port on which the browser itself is controlled.
    #[error("the browser itself is controlled on that port")]
    DebuggingPort,
}

/// How a grant was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Kept {
    /// In that tab, until it is somewhere else.
    Once,
    /// Until the task ends.
    Task,
    /// Until the task ends, and to be stored for the folder: [`Site`] reads and writes itself as text.
    Always(Site),
}

/// What the person allowed one task. Nothing is allowed that is not in here.
#[derive(Clone, Debug, Default)]
pub struct Grants {
    task: BTreeSet<Scope>,
    once: BTreeMap<TabNumber, BTreeSet<Scope>>,
    debugging: BTreeSet<u16>,
}

impl Grants {
    /// For a task in a folder for which these sites are always allowed. Sites that can only be allowed for shorter
    /// are left out.
    pub fn new(always: impl IntoIterator<Item = Site>) -> Self {
        let task = always.into_iter().filter(|site| site.nearness() == Nearness::World).map(Scope::Site);
        Self { task: task.collect(), ..Self::default() }
    }

    /// The browser itself is controlled on this port of this machine: nothing leads there.
    pub fn refuse_port(&mut self, port: u16) {
        self.debugging.insert(port);
    }

    /// May this happen in that tab, which is at (or is sent to) that address?
    pub fn check(&self, tab: TabNumber, step: Step, address: &Address) -> Verdict {
        let allowed = || Verdict::Allowed(Pass { tab, step, address: address.clone() });
        let question = match address {
            Address::Blank => return allowed(),
            Address::Forbidden(why) => return Verdict::Refused(NoEntry::Forbidden(*why)),
            Address::ErrorPage => {
                return match step {
                    // That there is an error can be told; nothing is done about it.
                    Step::Commit | Step::Read => allowed(),
                    Step::Navigate | Step::Act => Verdict::Refused(NoEntry::ErrorPage),
                };
            }
            Address::Web(site) => question(Scope::Site(site.clone()), PlaceKind::Web, Lifetime::Always),
            Address::Near(site) if self.is_debugging(site) => {
                return Verdict::Refused(NoEntry::DebuggingPort);
            }
            Address::Near(site) => near(site),
            Address::Internal { page } => page_question(page, PlaceKind::Browser),
            Address::Passwords { page } => page_question(page, PlaceKind::Passwords),
            Address::Extension { id } => page_question(id, PlaceKind::Extension),
            Address::File { page } => page_question(page, PlaceKind::File),
        };
        if self.is_granted(tab, &question) { allowed() } else { Verdict::Ask(question) }
    }

    fn is_debugging(&self, site: &Site) -> bool {
        site.nearness() != Nearness::World && self.debugging.contains(&site.port())
    }

    fn is_granted(&self, tab: TabNumber, question: &SiteQuestion) -> bool {
        let holds = |scope: &Scope| {
            let once = self.once.get(&tab).is_some_and(|scopes| scopes.contains(scope));
            once || (question.longest > Lifetime::Once && self.task.contains(scope))
        };
        // The same host, only encrypted: where plain addresses of the standard port lead nearly always.
        let plain = |site: &Site| {
            let granted = self.task.iter().chain(self.once.get(&tab).into_iter().flatten());
            granted
                .clone()
                .any(|scope| matches!(scope, Scope::Site(plain) if plain.encrypted().as_ref() == Some(site)))
        };
        holds(&question.scope)
            || matches!(&question.scope, Scope::Site(site) if question.kind == PlaceKind::Web && plain(site))
    }

    /// The person said yes to a question. What is longer than the question offers is shortened.
    pub fn allow(&mut self, tab: TabNumber, question: SiteQuestion, lifetime: Lifetime) -> Kept {
        let SiteQuestion { scope, longest, .. } = question;
        match lifetime.min(longest) {
            Lifetime::Once => {
                self.once.entry(tab).or_default().insert(scope);
                Kept::Once
            }
            Lifetime::Task => {
                self.task.insert(scope);
                Kept::Task
            }
            Lifetime::Always => {
                let kept = match &scope {
                    Scope::Site(site) => Kept::Always(site.clone()),
                    Scope::Page(_) => Kept::Task,
                };
                self.task.insert(scope);
                kept
            }
        }
    }

    /// A tab's main frame has become another page: what was allowed once elsewhere is over, and the new place is
    /// judged for itself.
    pub fn committed(&mut self, tab: TabNumber, address: &Address) -> Verdict {
        let verdict = self.check(tab, Step::Commit, address);
        let here = match &verdict {
            Verdict::Allowed(_) => scope_of(address),
            Verdict::Ask(_) | Verdict::Refused(_) => None,
        };
        if let Some(scopes) = self.once.get_mut(&tab) {
            scopes.retain(|scope| is_at(scope, here.as_ref()));
        }
        verdict
    }

    /// A tab is gone, and what was allowed in it once.
    pub fn closed(&mut self, tab: TabNumber) {
        self.once.remove(&tab);
    }

    /// The person takes a grant back.
    pub fn revoke(&mut self, scope: &Scope) {
        self.task.remove(scope);
        for scopes in self.once.values_mut() {
            scopes.remove(scope);
        }
    }

    /// What holds until the task ends, in order.
    pub fn held(&self) -> impl Iterator<Item = &Scope> {
        self.task.iter()
    }
}

/// Whether a tab that is at `here` is still where a grant for once is for.
fn is_at(scope: &Scope, here: Option<&Scope>) -> bool {
    match (scope, here) {
        (Scope::Site(granted), Some(Scope::Site(here))) => {
            granted == here || granted.encrypted().as_ref() == Some(here)
        }
        (granted, Some(here)) => granted == here,
        (_, None) => false,
    }
}

fn question(scope: Scope, kind: PlaceKind, longest: Lifetime) -> SiteQuestion {
    SiteQuestion { scope, kind, longest }
}

fn page_question(page: &str, kind: PlaceKind) -> SiteQuestion {
    question(Scope::Page(page.to_owned()), kind, Lifetime::Once)
}

fn near(site: &Site) -> SiteQuestion {
    let (kind, longest) = match site.nearness() {
        Nearness::Metadata => (PlaceKind::Metadata, Lifetime::Once),
        _ if site.is_administration() => (PlaceKind::Administration, Lifetime::Once),
        Nearness::World | Nearness::Network | Nearness::Machine => (PlaceKind::Near, Lifetime::Task),
    };
    question(Scope::Site(site.clone()), kind, longest)
}

fn scope_of(address: &Address) -> Option<Scope> {
    match address {
        Address::Web(site) | Address::Near(site) => Some(Scope::Site(site.clone())),
        Address::Internal { page } | Address::Passwords { page } | Address::File { page } => {
            Some(Scope::Page(page.clone()))
        }
        Address::Extension { id } => Some(Scope::Page(id.clone())),
        Address::Blank | Address::ErrorPage | Address::Forbidden(_) => None,
    }
}
