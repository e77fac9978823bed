//! What a call would touch, found at the live page: which site, which real element, what it would set off.

mod about;

use super::{
    Seat,
    card::{line, name_of, view_of},
    risks::risks,
    seat::Work,
    tabs,
};
use about::About;
use octo_browser::{
    Connected, Owner, Tab,
    safety::{
        self, Act, Action, Address, Dialog, Grants, Lifetime, Origin, PlaceKind, Step, Target, Verdict, judge,
    },
    snapshot::Place,
};
use octo_protocol::{BrowserView, PageElement};
use octo_tools::{BrowserLeave, BrowserWish, DialogAnswer, Entry, Roam, ToolError, Weight, WishedDeed};

/// What was found.
#[derive(Default)]
pub(super) struct Found {
    pub weight: Weight,
    /// The tab it is about.
    pub tab: Option<Tab>,
    /// The element it is done to, and the one it is dragged onto.
    pub element: Option<Place>,
    pub onto: Option<Place>,
    /// The document that was looked at; empty for what touches none.
    pub document: String,
    /// That a number was found again on another element like it.
    pub note: Option<String>,
}

/// Which kind of step a deed is.
fn step(deed: &WishedDeed) -> Step {
    match deed {
        WishedDeed::Open { .. } | WishedDeed::Navigate { .. } => Step::Navigate,
        WishedDeed::Snapshot { .. }
        | WishedDeed::Find { .. }
        | WishedDeed::Read { .. }
        | WishedDeed::Screenshot { .. }
        | WishedDeed::Focus => Step::Read,
        WishedDeed::Status
        | WishedDeed::Tabs
        | WishedDeed::Back
        | WishedDeed::Close
        | WishedDeed::Act(_)
        | WishedDeed::Dialog(_)
        | WishedDeed::Download { .. }
        | WishedDeed::Evaluate { .. } => Step::Act,
    }
}

impl Seat {
    /// Weighs a call.
    pub(super) async fn look(&self, wish: &BrowserWish) -> Result<Found, ToolError> {
        if wish.deed == WishedDeed::Status {
            return Ok(Found::default());
        }
        let connected = self.connect().await?;
        let mut work = self.work().await;
        self.look_in(&mut work, &connected, wish).await
    }

    pub(super) async fn look_in(
        &self,
        work: &mut Work,
        connected: &Connected,
        wish: &BrowserWish,
    ) -> Result<Found, ToolError> {
        let step = step(&wish.deed);
        match &wish.deed {
            WishedDeed::Status | WishedDeed::Tabs => Ok(Found::default()),
            WishedDeed::Open { url } => {
                let address = Address::of(url);
                let weight = Weight { mark: url.clone(), ..self.leads(work, step, &address, url) };
                Ok(Found { weight, ..Found::default() })
            }
            WishedDeed::Navigate { url } => {
                let tab = tabs::in_use(work, connected, wish).await?;
                let address = Address::of(url);
                let mark = format!("{} {url}", tab.number);
                let weight = Weight { mark, ..self.leads(work, step, &address, url) };
                Ok(Found { weight, tab: Some(tab), ..Found::default() })
            }
            WishedDeed::Close => {
                let tab = tabs::named(connected, wish).await?;
                if tab.owner == Owner::Person {
                    return Err(ToolError::new(format!(
                        "Tab {} is the person's own. Only tabs that were opened from here are closed; ask the person to close it.",
                        tab.number
                    )));
                }
                let weight = Weight { mark: tab.number.to_string(), ..Weight::default() };
                Ok(Found { weight, tab: Some(tab), ..Found::default() })
            }
            WishedDeed::Focus
            | WishedDeed::Snapshot { .. }
            | WishedDeed::Find { .. }
            | WishedDeed::Read { .. }
            | WishedDeed::Screenshot { .. } => {
                let tab = tabs::for_reading(work, connected, wish).await?;
                let address = tabs::address_of(work, &tab);
                let place = self.place(step, &address);
                let weight = Weight { place, mark: tab.number.to_string(), ..Weight::default() };
                Ok(Found { weight, tab: Some(tab), ..Found::default() })
            }
            WishedDeed::Back
            | WishedDeed::Act(_)
            | WishedDeed::Dialog(_)
            | WishedDeed::Download { .. }
            | WishedDeed::Evaluate { .. } => self.look_at_act(work, connected, wish).await,
        }
    }

    async fn look_at_act(
        &self,
        work: &mut Work,
        connected: &Connected,
        wish: &BrowserWish,
    ) -> Result<Found, ToolError> {
        let tab = tabs::in_use(work, connected, wish).await?;
        let page = work.attached(connected, &tab).await?;
        // Read before the address: where the page goes elsewhere in between, what is done to this document is refused.
        let document = page.document();
        let committed = page.committed();
        let address = Address::of_frame(&committed.url, &committed.origin);
        let place = self.place(Step::Act, &address);
        let mut found = Found {
            weight: Weight { place, mark: format!("{} {document}", tab.number), ..Weight::default() },
            tab: Some(tab.clone()),
            document,
            ..Found::default()
        };
        // Nothing of a page is looked at before its site is granted; what could be asked about it comes after that.
        if matches!(found.weight.place.as_ref().map(|place| &place.entry), Some(Entry::Never { .. })) {
            return Ok(found);
        }
        let about = About { page: &page, address: &address, tab: tab.number };
        match &wish.deed {
            WishedDeed::Dialog(answer) => {
                let dialog = page.dialog().ok_or_else(|| ToolError::new("No dialog is open."))?;
                if let DialogAnswer::Accept(text) = answer {
                    let kind = match dialog.kind {
                        octo_browser::DialogKind::Alert => Dialog::Alert,
                        octo_browser::DialogKind::Confirm => Dialog::Confirm,
                        octo_browser::DialogKind::Prompt => Dialog::Prompt,
                        octo_browser::DialogKind::BeforeUnload => Dialog::BeforeUnload,
                    };
                    let text = text.as_deref().unwrap_or_default();
                    let action = Action::AcceptDialog { kind, message: &dialog.message, text };
                    about.judged(&mut found.weight, work, None, &Origin::read(&dialog.url), action);
                    found.weight.target = Some(PageElement {
                        role: dialog.kind.name().to_owned(),
                        name: line(&dialog.message),
                    });
                }
                found.weight.mark.push_str(&format!(" {} {}", dialog.kind.name(), dialog.message));
            }
            WishedDeed::Evaluate { script } => {
                about.judged(
                    &mut found.weight,
                    work,
                    None,
                    &Origin::read(&committed.origin),
                    Action::Evaluate,
                );
                found.weight.mark.push_str(&format!(" {script}"));
            }
            WishedDeed::Download { target } => {
                let (place, facts) = about.element(work, *target, &mut found).await?;
                let name =
                    facts.as_ref().and_then(|facts| facts.element.download.clone()).unwrap_or_default();
                about.judged(
                    &mut found.weight,
                    work,
                    facts.as_ref(),
                    &Origin::read(&place.origin),
                    Action::Download { name: &name },
                );
                found.element = Some(place);
            }
            WishedDeed::Act(act) => about.act(work, act, &mut found).await?,
            _ => {}
        }
        Ok(found)
    }

    /// Where an address leads, and what it would tell the place.
    fn leads(&self, work: &Work, step: Step, address: &Address, url: &str) -> Weight {
        let frame = Origin::Opaque;
        let act = Act {
            page: address,
            frame: &frame,
            language: None,
            loose_fields: None,
            target: Target::Unknown,
            action: Action::Navigate { url },
        };
        let place = self.place(step, address);
        let forbidden = matches!(place.as_ref().map(|place| &place.entry), Some(Entry::Never { .. }));
        let risks = if forbidden { Vec::new() } else { risks(&judge(&act, &work.memory)) };
        Weight { place, risks, ..Weight::default() }
    }

    /// Whether a task may be somewhere.
    fn place(&self, step: Step, address: &Address) -> Option<octo_tools::Place> {
        let entry = match self.grants().check(safety::TabNumber(0), step, address) {
            Verdict::Allowed(_) => Entry::Open,
            Verdict::Refused(why) => Entry::Never { why: why.to_string() },
            Verdict::Ask(question) => match question.longest() {
                Lifetime::Always => Entry::Asks,
                Lifetime::Task => Entry::AsksEachTask,
                Lifetime::Once => Entry::AsksEachTime,
            },
        };
        let site = name_of(address);
        (entry != Entry::Open || !site.is_empty()).then_some(octo_tools::Place { site, entry })
    }

    fn grants(&self) -> Grants {
        let mut grants = Grants::default();
        for port in self.0.browser.ports() {
            grants.refuse_port(port);
        }
        grants
    }

    /// Whether a call with this leave may be where the page is now.
    pub(super) fn may_be_at(&self, leave: &BrowserLeave, address: &Address) -> bool {
        let (mut grants, tab) = (self.grants(), safety::TabNumber(0));
        let place = leave.weight.place.iter().map(|place| &place.site);
        for site in leave.granted.iter().chain(place) {
            if let Verdict::Ask(question) = grants.check(tab, Step::Navigate, &Address::of(site)) {
                let _kept = grants.allow(tab, question, Lifetime::Task);
            }
        }
        match grants.check(tab, Step::Commit, address) {
            Verdict::Allowed(_) => true,
            Verdict::Ask(question) => {
                leave.roam == Roam::Web && matches!(question.kind(), PlaceKind::Web | PlaceKind::Near)
            }
            Verdict::Refused(_) => false,
        }
    }

    /// What the person is shown of a call before it runs.
    pub(super) async fn view(&self, wish: &BrowserWish) -> Result<BrowserView, ToolError> {
        let found = self.look(wish).await?;
        let mut view = view_of(wish, &found);
        // What is asked about is shown as it looks in the page.
        if !found.weight.risks.is_empty()
            && let (Some(place), Some(page)) = (&found.element, self.work().await.page.clone())
            && place.session == *page.session().inner()
        {
            view.picture = self.crop(&page, place).await;
        }
        Ok(view)
    }
}
